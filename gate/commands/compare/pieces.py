"""Arguments of compare -> what each file holds: runs of perfgate, and result files of other tools as lines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from gate.evidence import records as measurements
from gate.evidence.foreign import Named, is_plain, labelled, left_out, lines, named
from gate.evidence.inputs import MEASUREMENTS, is_ours, parts, read_inputs
from gate.evidence.records import Inputs, Located
from gate.evidence.runs import run_of
from gate.formats.parts.reading import Reading, named_alike, read, recognised
from gate.formats.parts.source import Source
from gate.model import Commit, Run, UserError
from gate.model.warnings.measured import TornLine


class Piece(msgspec.Struct, frozen=True, eq=False):
    """One file, folder or commit's file that an argument names."""

    name: str
    """As the user named it."""
    label: str | None
    ours: bool
    """Measured by perfgate."""
    inputs: Inputs
    """Of a result file its lines, all of one side."""
    run: Run | None
    column: str = ""
    """The label by which a result file holds several measurings; "": it holds one."""


def pieces(arguments: Sequence[str], wanted: str | None = None) -> list[Piece]:
    """Read all arguments, in their order.

    Args:
        wanted: the format of the result files; None: each is recognised by its content.

    Raises:
        UserError: a file that cannot be read, or standard input twice.
    """
    places = [labelled(argument) for argument in arguments]
    if sum(place == "-" for _, place in places) > 1:
        raise UserError("only one of the files can come from standard input")
    known: dict[str, tuple[str, Inputs | Reading]] = {}
    found: list[tuple[str | None, str, Inputs | Reading]] = []
    for argument, (label, place) in zip(arguments, places, strict=True):
        if place in known and not any(c in place for c in "*?["):
            # the same run twice is one reading
            found.append((label, *known[place]))
            continue
        path = Path(place)
        whole = place != "-" and is_plain(place) and (not path.exists() or (path.is_dir() and _holds_run(place)))
        sources = [Named(label, Source(place, path))] if whole else named([argument], arguments)
        own = [(each.label, each.source.name, _read(each.source, wanted)) for each in sources]
        found += own
        if len(own) == 1:
            known[place] = own[0][1:]
    alike = iter(named_alike([held for _, _, held in found if isinstance(held, Reading)]))
    read_in = []
    for label, name, held in found:
        if not isinstance(held, Reading):
            read_in.append(Piece(name, label, True, held, run_of(held.records)))
            continue
        reading = next(alike)
        about = reading.about
        (records,) = lines([("head", reading)])
        located = [Located(record, reading.name, place) for place, record in enumerate(records, 1)]
        run = Run(
            created=about.created, head=Commit(ref=reading.name, sha=about.commit), host=about.host or None, apart=True,
            tools=[about.tool or reading.format.title],
        )  # fmt: skip
        inputs = Inputs(located, [*left_out([reading])], [])
        read_in.append(Piece(reading.name, label, False, inputs, run, reading.format.column))
    return read_in


def _holds_run(place: str) -> bool:
    own = any((Path(place) / f"{MEASUREMENTS}{end}").exists() for end in ("", ".gz"))
    return own or parts(place) != [place]


def _read(file: Source, wanted: str | None) -> Inputs | Reading:
    name = wanted
    if name is None:
        absent = file.path is not None and not file.path.exists() and not file.name.startswith("git:")
        ours = _holds_run(file.name) if file.is_folder else absent or is_ours(file.head.data)
        name = None if ours else recognised(file)
        data = b"" if file.is_folder or absent else file.head.data.lstrip()
        # what nobody recognises is for the reader of measurements, whose errors name the line
        if ours or (name is None and not file.is_folder and (not data or data[:1] == b"{")):
            if (file.path is not None and file.name == str(file.path)) or file.is_folder:
                return read_inputs([file.name])
            reading = measurements.read(file.name, file.whole())
            return Inputs(reading.records, [TornLine(file.name)] if reading.torn else [], [])
    return read(file, name)
