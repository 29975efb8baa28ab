"""Whether base and head of a round were laid out alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from gate.config.types import Config
from gate.evidence.sameness import is_one_commit
from gate.model import SIDES, Build, Layouts, Record, Run, Side
from gate.model.case import canonical


def layouts_of(measured: Config | None, builds: Sequence[Build]) -> Layouts | None:
    """Return whether both sides of a round were laid out alike; None: the measurements do not say."""
    if measured is None:
        return None
    return "independent" if "independent" in (measured.build.layouts, shuffled(builds)) else "common"


def shuffled(builds: Sequence[Build]) -> Layouts | None:
    """Return whether Go's linker shuffled the functions of both sides of a round alike; None: nothing was shuffled.

    It draws another order for all of them where one side has a function more, whatever the seed.
    """
    orders: dict[tuple[Side, str], set[str]] = defaultdict(set)
    for build in builds:
        if build.layout is not None:
            orders[build.side, canonical(build.factors)].add(build.layout)
    pairs = both(builds)
    if not pairs or max(map(len, orders.values())) < 2:
        return None
    return "common" if all(base.layout == head.layout for base, head in pairs) else "independent"


def are_two_programs(run: Run, records: Iterable[Record]) -> bool:
    """Return whether base and head are two programs, as far as the measurements say.

    One commit is one program, and so are two whose artifacts were the same bytes in every round. Laid out alike, one
    program against itself holds nothing of what layouts do to a comparison.
    """
    if is_one_commit(run):
        return False
    made: dict[tuple[int, int, str], list[dict[str, str]]] = defaultdict(list)
    for record in records:
        if isinstance(record, Build) and record.artifacts:
            made[record.session, record.build, canonical(record.factors)].append(record.artifacts)
    pairs = [found for found in made.values() if len(found) == len(SIDES)]
    return not pairs or any(one != other for one, other in pairs)


def both(builds: Sequence[Build]) -> list[tuple[Build, Build]]:
    """Return base's and head's build of each round, with the same settings, of those whose functions are known."""
    rounds: dict[tuple[int, int, str], dict[Side, Build]] = defaultdict(dict)
    for build in builds:
        if build.layout is not None:
            rounds[build.session, build.build, canonical(build.factors)][build.side] = build
    return [(each["base"], each["head"]) for each in rounds.values() if len(each) == len(SIDES)]
