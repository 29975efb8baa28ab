"""A source -> its format, and what it says; errors name the file."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from gate.adapters.values import OutputError
from gate.model import UserError
from gate.model.visible import visible
from gate.results.checking import checked, usable
from gate.results.formats import adapter, names
from gate.results.result import About, Adapter, Aggregate, Failed, Format, LeftOut, Measured
from gate.results.source import Source

_LONGEST = 200
"""Characters of what is wrong with a file."""
_EXPORTS = (".json", ".jsonl", ".xml", ".csv", ".txt", ".log")
"""Ends of the names of a run's files, of which the first hold most."""
_QUOTES = (
    ".md", ".markdown", ".rst", ".adoc", ".html", ".ipynb",
    ".go", ".rs", ".py", ".java", ".kt", ".scala", ".cs", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".ts", ".sh",
    ".yml", ".yaml", ".toml",
)  # fmt: skip
"""Ends of the names of texts and sources, which quote results of another day."""


class Reading(msgspec.Struct, frozen=True, eq=False):
    """All that a file says."""

    name: str
    """As the user named it."""
    format: Format
    about: About
    measured: list[Measured]
    aggregates: list[Aggregate]
    failed: list[Failed]
    left_out: list[str]
    """Of what was left out or read in part, what and where."""


def recognised(source: Source) -> str | None:
    """Return the name of the format of a source, by what it holds; None: it is in none that is known."""
    return next((name for name in names() if adapter(name).recognises(source)), None)


def is_result(source: Source) -> bool:
    """Return whether a file of a folder is a result, and nothing that lies beside one.

    That is what a tool writes for other purposes (`is_aside`), and a README or a source that quotes results.
    """
    if source.path is not None and source.path.suffix.lower() in _QUOTES:
        return False
    name = recognised(source)
    return name is not None and not getattr(adapter(name), "is_aside", _never)(source)


def without_copies(found: Sequence[Source]) -> list[Source]:
    """Leave out of a folder's results what is another file's run once more: x.csv beside x.json, or x.json.gz.

    Several files are several builds, and one run in two files is one.
    """
    copies: dict[tuple[str, Path, str], list[tuple[int, int]]] = {}
    for place, source in enumerate(found):
        path, name = source.path or Path(), recognised(source) or ""
        ends = getattr(adapter(name), "EXPORTS", _EXPORTS)
        plain = path.name.removesuffix(".gz")
        end = next((end for end in ends if plain.endswith(end)), "")
        rank = 2 * (ends.index(end) if end else 0) + (plain != path.name)
        copies.setdefault((name, path.parent, plain.removesuffix(end)), []).append((rank, place))
    return [found[place] for place in sorted(min(same)[1] for same in copies.values())]


def _never(_: Source) -> bool:
    return False


def read(source: Source, wanted: str | None = None) -> Reading:
    """Read a result file of another tool.

    Args:
        wanted: the name of its format; None: it is recognised by its content.

    Raises:
        UserError: it is in no format that is known, cannot be read, or holds no benchmark.
    """
    name = wanted or recognised(source)
    if name is None:
        raise UserError(f"{source.name}: {_why_unknown(source)}")
    found = _read(source, adapter(name))
    if not (found.measured or found.aggregates or found.failed):
        raise UserError(f"{source.name}: {found.format.tool}: no benchmark in it")
    return found


def _why_unknown(source: Source) -> str:
    if not source.is_folder and source.head.text.lstrip().startswith('{"type":'):
        return "is a measurements file already: `perfgate decide` reads it as it is"
    if not source.is_folder and not source.head.data.strip():
        return "is empty"
    return "is in no format that perfgate knows; `perfgate import --help` lists them, and --from names one"


def _read(source: Source, own: Adapter) -> Reading:
    about = About()
    reading = Reading(source.name, own.FORMAT, about, [], [], [], [])
    try:
        for result in own.read(source):
            if isinstance(result, About):
                about = result
            elif isinstance(result, LeftOut):
                reading.left_out.append(visible(result.status))
            else:
                _keep(reading, result)
    except OutputError as error:
        raise UserError(f"{source.name}: {own.FORMAT.tool}: {error}") from None
    except (ValueError, OverflowError, csv.Error) as error:
        if os.environ.get("PERFGATE_TRACEBACK"):
            raise
        why = visible(str(error))[:_LONGEST]
        raise UserError(
            f"{source.name}: {own.FORMAT.tool}: something in it is not as the tool writes it: {why}"
        ) from None
    except OSError as error:
        raise UserError(f"{source.name}: cannot be read: {visible(error.strerror or str(error))}") from None
    return msgspec.structs.replace(reading, about=about)


def _keep(reading: Reading, result: Measured | Aggregate | Failed) -> None:
    kept: Measured | Aggregate | Failed = result
    if isinstance(result, Measured):
        kept = usable(result)
    elif isinstance(result, Aggregate):
        kept = checked(result)
    if isinstance(kept, Measured):
        reading.measured.append(kept)
    elif isinstance(kept, Aggregate):
        reading.aggregates.append(kept)
    else:
        reading.failed.append(kept)


def named_alike(readings: Sequence[Reading]) -> list[Reading]:
    """Choose among the names that a result may have the one that more of all files that are compared may have.

    Of Go's "BenchmarkParse/size-8" in a file, "-8" is GOMAXPROCS or a part of the name: where other files have
    "BenchmarkParse/size-8-8" it is the latter. What ends the names of a file with one setting is one or the other in
    all of them.
    """
    found: Counter[str] = Counter()
    for reading in readings:
        own: list[Measured | Failed] = [*reading.measured, *reading.failed]
        found.update({r.benchmark or "" for r in own} | {r.otherwise.benchmark for r in own if r.otherwise})
    return [_named_as(reading, found) for reading in readings]


_Of = TypeVar("_Of", bound=Measured | Failed)


def _named_as(reading: Reading, found: Counter[str]) -> Reading:
    # a positive sum: more files have the other names
    sums: Counter[str] = Counter()
    for each in reading.measured:
        if each.otherwise is not None:
            sums[_ending(each)] += found[each.otherwise.benchmark] - found[each.benchmark]
    if not any(total > 0 for total in sums.values()) and not any(r.otherwise for r in reading.failed):
        return reading

    def named(each: _Of) -> _Of:
        other = each.otherwise
        if other is None:
            return each
        # what failed may stand under its bare name, whatever ends the others
        alone = isinstance(each, Failed) and found[other.benchmark] > found[each.benchmark or ""]
        if not alone and sums[_ending(each)] <= 0:
            return each
        return msgspec.structs.replace(each, benchmark=other.benchmark, labels=other.labels, otherwise=None)

    return msgspec.structs.replace(
        reading, measured=[named(r) for r in reading.measured], failed=[named(r) for r in reading.failed]
    )


def _ending(each: Measured | Failed) -> str:
    """Return what was taken from the end of a name."""
    return each.otherwise.benchmark.removeprefix(each.benchmark or "") if each.otherwise else ""


def columns(reading: Reading) -> Iterator[tuple[str, Reading]]:
    """Take the measurings apart that a file holds, in its order: the baselines of a folder, the commits of a log.

    Of a file that holds one only, its label is "".
    """
    key = reading.format.column
    if not key:
        yield "", reading
        return
    own: list[Measured | Aggregate | Failed] = [*reading.measured, *reading.aggregates, *reading.failed]
    for label in dict.fromkeys(r.labels.get(key, "") for r in own):
        yield (
            label,
            msgspec.structs.replace(
                reading,
                measured=[r for r in reading.measured if r.labels.get(key, "") == label],
                aggregates=[r for r in reading.aggregates if r.labels.get(key, "") == label],
                failed=[r for r in reading.failed if r.labels.get(key, "") == label],
            ),
        )
