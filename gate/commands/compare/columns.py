"""Pieces -> columns: files of one label together, the measurings of one file apart, both sides of a run, or by keys."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import PurePath

import msgspec

from gate.commands.compare.keys import ordered
from gate.commands.compare.projection import Piece, Projection, measurings, projected, renumbered
from gate.evidence.foreign import Level
from gate.evidence.lines import Inputs, Located
from gate.evidence.sameness import identical
from gate.model import SIDES, Build, Commit, Execution, Failure, Record, Run, Side, SummaryRecord, UserError
from gate.writing.phrases import listed

LAST = 5
"""Commits of one file that are shown unless --by asks for all."""
_COMMIT = re.compile(r"[0-9a-f]{12,64}")


class Chosen(msgspec.Struct, frozen=True, eq=False):
    """One column: a side of a run, the files of a label, or what has one value of a key."""

    title: str
    name: str
    """What it was read from, as the user named it."""
    side: Side
    inputs: Inputs
    """All that was read, also what is not shown."""
    records: list[Located]
    """What is shown of it, and is of this side."""
    run: Run | None
    ours: bool
    """Measured by perfgate."""
    pieces: tuple[str, ...]
    """The files."""

    @property
    def values(self) -> list[Execution | SummaryRecord]:
        """What was measured of this side, or given by another tool."""
        return [r.record for r in self.records if isinstance(r.record, (Execution, SummaryRecord))]

    @property
    def commit(self) -> Commit | None:
        """What was measured."""
        return None if self.run is None else self.run.base if self.side == "base" else self.run.head

    @property
    def proved(self) -> list[str]:
        """Benchmarks that are the same on both sides of the run, so that it has no values of them."""
        return [same.benchmark for same in identical(self.inputs.records, self.run)]


def place_of(label: str | None, columns: Sequence[Chosen]) -> int:
    """Return the number of the column that a label names; None: the first. Raises UserError: no column, or several."""
    titles = [chosen.title for chosen in columns]
    if label is None or label in titles:
        return 0 if label is None else titles.index(label)
    found = [place for place, chosen in enumerate(columns) if chosen.name == label]
    # a commit may be given in full
    found = found or [place for place, title in enumerate(titles) if label.startswith(title)]
    if len(found) != 1:
        raise UserError(f"--base {label}: no column has this label; there are {', '.join(titles)}")
    return found[0]


def settled(pieces: Sequence[Piece], projection: Projection) -> tuple[Projection, list[str]]:
    """Choose what columns are made of where nobody asked, and say what was chosen."""
    if not any(isinstance(r.record, (Execution, SummaryRecord)) for piece in pieces for r in piece.inputs.records):
        # what failed has no keys
        return Projection(level=projection.level), []
    if len(pieces) > 1 or projection.by not in ((), ("side",)):
        return projection, []
    (piece,) = pieces
    if piece.ours:
        # both sides of one run are its columns
        return msgspec.structs.replace(projection, by=()), []
    labels = measurings(piece)
    if projection.by or len(labels) < 2:
        return projection, []
    # of one file each measuring, of commits the last few
    kept = labels[-LAST:] if piece.column == "commit" else labels
    told = []
    if len(kept) < len(labels):
        last = f"the last {len(kept)} of {len(labels)} commits in {piece.name}"
        told.append(f"{last}; `--by commit` shows all, `--filter commit:(A OR B)` some")
    return msgspec.structs.replace(projection, by=(piece.column,), newest=tuple(kept)), told


def columns_of(pieces: Sequence[Piece], projection: Projection) -> tuple[list[Chosen], list[str]]:
    """Arrange what was read in columns, and say what was chosen without being asked.

    Raises: UserError: a key that no value has, or a label of files of both kinds.
    """
    if projection.by:
        return _by_keys(pieces, projection)
    parts = [(piece, own.get((), [])) for piece, own in zip(pieces, projected(pieces, projection), strict=True)]
    if len(pieces) == 1 and pieces[0].ours:
        has = _sides(pieces[0].inputs.records)
        if len(has) == 1:
            return [_column(pieces[0].label or has[0], parts, has[0])], []
        both = [_column(side, parts, side) for side in SIDES]
        # a filter may leave one side
        left = [column for column in both if _sides(column.records)] if projection.filter is not None else []
        return left or both, []
    groups: dict[object, list[tuple[Piece, list[Located]]]] = defaultdict(list)
    for number, part in enumerate(parts):
        groups[part[0].label if part[0].label is not None else number].append(part)
    # by their labels, two without labels base and head, otherwise by what tells their files apart
    labels: list[str | None] = [own[0][0].label for own in groups.values()]
    names = iter(_distinguished([own[0][0].name for own in groups.values() if own[0][0].label is None]))
    titles = [*SIDES] if labels == [None, None] else [next(names) if each is None else each for each in labels]
    found = [_column(title, own, None, projection.level) for title, own in zip(titles, groups.values(), strict=True)]
    return found, [line for piece in pieces for line in _newest(piece)]


def _newest(piece: Piece) -> list[str]:
    labels = measurings(piece)
    if len(labels) < 2:
        return []
    return [f"{piece.name} holds {len(labels)} {piece.column}s, of which {_short(labels[-1])} is shown, the newest"]


def _by_keys(pieces: Sequence[Piece], projection: Projection) -> tuple[list[Chosen], list[str]]:
    both = [piece for piece in pieces if piece.ours and len(_sides(piece.inputs.records)) > 1]
    named = {*projection.by, *(projection.filter.keys if projection.filter else ())}
    told = [line for piece in pieces if piece.column not in named for line in _newest(piece)]
    if both and "side" not in named:
        # what base and head have in common is no column of both
        for piece in both:
            kept = [located for located in piece.inputs.records if of_side(located.record, "head")]
            head = msgspec.structs.replace(piece, inputs=Inputs(kept, piece.inputs.warnings, piece.inputs.files))
            pieces = [head if each is piece else each for each in pieces]
        told.append(f"only head of {listed(_names(both))} is shown; `--by side,...` shows base, too")
    parts = projected(pieces, projection)
    found = []
    every = dict.fromkeys(value for part in parts for value in part)
    for value in ordered([value for value in every if not projection.newest or value[0] in projection.newest]):
        own = [(piece, part[value]) for piece, part in zip(pieces, parts, strict=True) if value in part]
        title = " ".join(
            _short(each) if each is not None else f"no {key}" for each, key in zip(value, projection.by, strict=True)
        )
        found.append(_column(title, own, None, projection.level))
    return found, told


def _column(
    title: str, lines: Sequence[tuple[Piece, Sequence[Located]]], side: Side | None, level: Level = "build"
) -> Chosen:
    pieces = [piece for piece, _ in lines]
    ours = {piece.ours for piece in pieces}
    if len(ours) > 1:
        names = ", ".join(piece.name for piece in pieces)
        raise UserError(f"{title}: {names}: runs of perfgate and files of other tools cannot be one column")
    name = listed(_names(pieces))
    runs = [piece.run for piece in pieces if piece.run is not None]
    taken: set[tuple[object, ...]] = set()
    records: list[Located] = []
    if ours == {False}:
        # the files are its builds, its sessions, or further executions of its one build
        for number, (_, own) in enumerate(lines):
            build, session = (number if level == each else 0 for each in ("build", "session"))
            records += renumbered(own, taken, build=build, session=session)
        return Chosen(title, name, "head", Inputs(records, [], []), records, _run(runs), False, _names(pieces))
    together = [located for piece in pieces for located in piece.inputs.records]
    has = _sides(together)
    found: Side = side if side is not None else "base" if has == ["base"] else "head"
    inputs, run = pieces[0].inputs, runs[0] if runs else None
    if len(pieces) > 1:
        warnings = [warning for piece in pieces for warning in piece.inputs.warnings]
        inputs = Inputs(together, warnings, [file for piece in pieces for file in piece.inputs.files])
    if len(runs) > 1:
        # one run line for several runs of a label: the rules of the last one, and no commit
        run = msgspec.structs.replace(runs[0], base=None, head=None, config=runs[-1].config)
    for number, (_, own) in enumerate(lines):
        records += renumbered(own, taken, found, session=number if len(pieces) > 1 else None)
    return Chosen(title, name, found, inputs, records, run, True, _names(pieces))


def _names(pieces: Sequence[Piece]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(piece.name for piece in pieces))


def _run(runs: Sequence[Run]) -> Run | None:
    """Give one run line for the result files of a column: what they agree in."""
    if not runs:
        return None
    commits = {run.head.sha for run in runs if run.head is not None}
    sha = commits.pop() if len(commits) == 1 else None
    hosts = [run.host for run in runs]
    created = runs[0].created if len(runs) == 1 else None
    host = hosts[0] if all(host == hosts[0] for host in hosts) else None
    return msgspec.structs.replace(runs[0], head=Commit(sha=sha) if sha else None, host=host, created=created)


def _sides(records: Sequence[Located]) -> list[Side]:
    found = {r.record.side for r in records if isinstance(r.record, (Execution, SummaryRecord))}
    return [side for side in SIDES if side in found]


def of_side(record: Record, side: Side) -> bool:
    """Return whether a record is of a side, or of none."""
    if isinstance(record, (Build, Execution, Failure, SummaryRecord)):
        # a failure may be of no side, and then it is of both
        return record.side in (side, None)
    return True


def _distinguished(names: Sequence[str]) -> list[str]:
    """Take of paths the shortest ends that differ, without an ending that they share."""
    if len(set(names)) < len(names):
        return [
            f"{name} ({names[: place + 1].count(name)})" if names.count(name) > 1 else name
            for place, name in enumerate(names)
        ]
    paths = [PurePath(name) for name in names]
    for count in range(1, max((len(path.parts) for path in paths), default=0) + 1):
        cut = ["/".join(path.parts[-count:]) for path in paths]
        if len(set(cut)) == len(cut):
            stems = [each.removesuffix(path.suffix) for each, path in zip(cut, paths, strict=True)]
            return stems if len({path.suffix for path in paths}) == 1 and len(set(stems)) == len(stems) else cut
    return list(names)


def _short(label: str) -> str:
    return label[:10] if _COMMIT.fullmatch(label) else label
