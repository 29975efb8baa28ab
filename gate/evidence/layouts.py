"""Whether base and head of a round were laid out alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from gate.model import SIDES, Build, Layouts, Run, Side
from gate.model.case import canonical


def layouts_of(run: Run | None, builds: Sequence[Build]) -> Layouts | None:
    """Return whether both sides of a round were laid out alike; None: the measurements do not say."""
    build = (run.config or {}).get("build") if run else None
    if not isinstance(build, Mapping):
        return None
    return "independent" if build.get("layouts") == "independent" or shuffled(builds) == "independent" else "common"


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


def both(builds: Sequence[Build]) -> list[tuple[Build, Build]]:
    """Return base's and head's build of each round, with the same settings, of those whose functions are known."""
    rounds: dict[tuple[int, int, str], dict[Side, Build]] = defaultdict(dict)
    for build in builds:
        if build.layout is not None:
            rounds[build.session, build.build, canonical(build.factors)][build.side] = build
    return [(each["base"], each["head"]) for each in rounds.values() if len(each) == len(SIDES)]
