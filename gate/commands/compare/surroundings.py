"""What stands around the rows of a comparison: cautions, warnings, what failed and what cannot be compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from gate.commands.compare.columns import Chosen
from gate.commands.compare.one_run import is_one_run
from gate.commands.compare.pairs import Compared, Pair
from gate.commands.compare.table import Table
from gate.evidence.repeated import one_measurement
from gate.model import Failure
from gate.model.reasons import SameProgram
from gate.model.warnings.measured import MeasuredSeparately
from gate.words import failures
from gate.writing.phrases import named
from gate.writing.plain import clip, visible

_ONE = f"{one_measurement().status}: every ratio is 1, whatever was measured"
_EARLY = (
    "measured with early stopping: intervals here treat the number of builds as fixed, so they cover somewhat less; "
    "`perfgate decide` allows for it"
)
_FAILURES = 10
_NAMES = 20


class Against(msgspec.Struct, frozen=True, eq=False):
    """A column against the base."""

    place: int
    pair: Pair
    found: Compared


def _title(side: Against, chosen: Sequence[Chosen]) -> str:
    """Name the column that a sentence about base and head is of, where these are not its words."""
    titles = [own.title for own in chosen]
    return "" if titles == ["base", "head"] else f"{titles[side.place]}: "


def cautions(sides: Sequence[Against], chosen: Sequence[Chosen]) -> list[str]:
    """Say what all changes rest on: first what is of single columns."""
    told: list[str] = []
    for side in sides:
        one = [_ONE] if side.pair.twice or (side.found.same and len(sides) > 1) else []
        told += [_title(side, chosen) + each for each in (*one, *(each.sentence() for each in side.found.cautions))]
    if any(side.pair.apart and not side.found.alike for side in sides):
        told.append(MeasuredSeparately().sentence())
    if any(side.pair.rounds is not None and not is_one_run(side.pair) for side in sides):
        told.append(_EARLY)
    return list(dict.fromkeys(told))


def warnings(sides: Sequence[Against], chosen: Sequence[Chosen]) -> list[str]:
    """Say what the evidence of each column warns about."""
    told = [_title(side, chosen) + each.sentence() for side in sides for each in side.found.evidence.warnings]
    return list(dict.fromkeys(told))


def rest(sides: Sequence[Against], chosen: Sequence[Chosen], base: int) -> list[str]:
    """Name what is not in the table: what cannot be compared, and what failed."""
    found = [(side, each.sentence()) for side in sides for each in side.found.unlike]
    unlike = [clip(visible(_title(side, chosen) + said), 1000) for side, said in found]
    lines = [*unlike, *_not_measured(chosen)]
    failed: dict[str, None] = {}
    for side in sides:
        own = side.found.evidence.failures
        if _title(side, chosen):
            for which, place in (("base", base), ("head", side.place)):
                some = [msgspec.structs.replace(f, side=None) for f in own if f.side in (which, None)]
                failed |= dict.fromkeys(f"{chosen[place].title}: {said}" for said in _failures(some))
        else:
            failed |= dict.fromkeys(_failures(own))
    if not sides:
        records = [located.record for own in chosen for located in own.records]
        own = [msgspec.structs.replace(r, side=None) for r in records if isinstance(r, Failure)]
        failed |= dict.fromkeys(_failures(own))
    said = list(failed)
    more = len(said) - _FAILURES
    return [
        *lines,
        *said[:_FAILURES],
        *([f"{more} more failures" if more > 1 else "1 more failure"] if more > 0 else []),
    ]


def _failures(found: Sequence[Failure]) -> Iterator[str]:
    for group in failures.grouped(found, by_output=False):
        where = failures.places(group, 3)
        yield failures.heading(group) + (f" ({where})" if where else "")


def _not_measured(chosen: Sequence[Chosen]) -> list[str]:
    found: dict[tuple[str, ...], str] = {}
    for own in chosen:
        names = own.proved if own.ours else []
        if names:
            said = named(list(names), _NAMES)
            why = f"base and head run {SameProgram.same}"
            found[own.name, *names] = f"not measured by {visible(own.name)}, because {why}: {said}"
    return list(found.values())


def nothing(table: Table, sides: Sequence[Against]) -> str:
    """Say that there is nothing to compare."""
    if sides and all(side.found.same for side in sides):
        return one_measurement().status
    rows = [row for block in table.blocks for row in block.rows]
    if any(change for row in rows for change in row.changes) or (len(table.columns) == 1 and rows):
        return ""
    if table.identical:
        return f"all benchmarks run {SameProgram.same}"
    if len(table.columns) == 1:
        return "no values"
    if any(side.found.unlike for side in sides):
        return "what base and head have in common is in other units or directions"
    failed = any(side.found.evidence.failures for side in sides)
    return f"base and head have no benchmark in common{' that did not fail' if failed else ''}"
