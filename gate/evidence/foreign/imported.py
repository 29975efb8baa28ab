"""Result files of other tools as measurements: which file is of which side."""

from __future__ import annotations

from collections.abc import Sequence

from gate.evidence.foreign.arguments import Named
from gate.evidence.foreign.records import Level, Placed, lines
from gate.evidence.records import Inputs, Located
from gate.formats.parts.reading import Reading, columns, named_alike, read
from gate.model import SIDES, Side, UserError
from gate.model.warnings import AnyWarning
from gate.model.warnings.measured import ColumnsOfFile, LinesLeftOut, SidesByOrder


def imported(
    files: Sequence[Named], *, side: Side | None = None, level: Level = "build", wanted: str | None = None
) -> Inputs:
    """Read result files as builds of base and head; the warnings are of what nobody said but was assumed.

    A file's label is its side. Without labels, the first of two files is base and the second head; of a file with
    several measurings the last is head and the one before it base; a single file is head.

    side: of all files that have no label. level: what each file is a repetition of. wanted: the format of all files;
    None: each is recognised.

    Raises:
        UserError: a file that cannot be read or is named twice, a label that is no side, or files of which nobody says
            the side.
    """
    _refuse_twice(files)
    for each in files:
        if each.label not in (None, *SIDES):
            raise UserError(f"{each.label}={each.source.name}: a side is base or head: write base=FILE or head=FILE")
    readings = named_alike([read(each.source, wanted) for each in files])
    sides: list[Side | None] = [next((side for side in SIDES if side == each.label), None) or side for each in files]
    placed, assumed = _placed(readings, sides)
    located = [
        Located(record, reading.name, number)
        for (_, reading), records in zip(placed, lines(placed, level), strict=True)
        for number, record in enumerate(records, 1)
    ]
    return Inputs(located, [*assumed, *left_out(readings)], [])


def _refuse_twice(files: Sequence[Named]) -> None:
    """Refuse a file that two builds would come from; the same files on both sides are found by their values."""
    by_place: dict[str, list[Named]] = {}
    for each in files:
        name, path = each.source.name, each.source.path
        by_place.setdefault(name if path is None or name.startswith("git:") else str(path.resolve()), []).append(each)
    labels = [{each.label for each in own} for own in by_place.values()]
    if len(files) == 2 * len(by_place) and (all(own == set(SIDES) for own in labels) or len(files) == 2):
        return
    for own in by_place.values():
        if len(own) == 1:
            continue
        how = "twice" if len({each.label for each in own}) == 1 else "for base and for head"
        only = "each file is a build of its own, of one side; does a glob match too much?"
        raise UserError(f"{own[0].source.name}: is named {how}: {only}")


def left_out(readings: Sequence[Reading]) -> list[LinesLeftOut]:
    """Say what looks like a result in files, and was left out or read in part."""
    found = [(reading.name, each) for reading in readings for each in reading.left_out]
    return [LinesLeftOut(*found[0], len(found) - 1)] if found else []


def _placed(readings: Sequence[Reading], sides: Sequence[Side | None]) -> tuple[list[Placed], list[AnyWarning]]:
    assumed: list[AnyWarning] = []
    if len(readings) == 1 and sides[0] is None:
        own = list(columns(readings[0]))
        if len(own) > 1:
            (old, base), (new, head) = own[-2:]
            key = readings[0].format.column
            return [("base", base), ("head", head)], [ColumnsOfFile(readings[0].name, key, old, new)]
        return [("head", readings[0])], []
    if None in sides:
        if len(readings) != 2 or sides != [None, None]:
            names = ", ".join(r.name for r, side in zip(readings, sides, strict=True) if side is None)
            raise UserError(f"{names}: of base or of head? write base=FILE or head=FILE for each file")
        sides = list(SIDES)
        assumed.append(SidesByOrder(readings[0].name, readings[1].name))
    # of several measurings in a file the newest
    return [(side, [*columns(own)][-1][1]) for side, own in zip(sides, readings, strict=True) if side], assumed
