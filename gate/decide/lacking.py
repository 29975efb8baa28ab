"""How many more builds an inconclusive finding lacks (docs/method.md, how many more builds)."""

from __future__ import annotations

import math

from gate.decide.design import Design
from gate.decide.detectable import POWER, degrees, size_at
from gate.decide.estimates import Estimated, needed_builds
from gate.decide.futility import asks_for_no_sign, edge, in_sight, is_beyond
from gate.decide.looks import Judged
from gate.stats.ratio import Rounded, t_quantile

MOST = 100
"""More builds than this are no advice."""


def more_builds(judged: Judged, design: Design) -> int | None:
    """Return how many builds a side, beyond those measured, would probably settle an inconclusive finding.

    Settled for the gate is a regression or "not worse" (where no sign of a slowdown is enough: that one of the wanted
    size would have shown), whichever the estimate lies on the side of, in a design of so many builds without looks. A
    test statistic grows with the square root of the builds and its degrees with their number; it is to be beyond its
    limit with POWER if estimate and noise are true. They are not, and so it is less often, but more often than not
    (tests/gate/decide/test_lacking.py). None: settled already, nothing is known of the noise, builds are not what it
    lacks, or it takes more than MOST.
    """
    found = judged.estimated
    df, builds = found.ratio.df, found.builds_each
    settled = (judged.settled and not judged.futile) or judged.position.not_worse
    if settled or found.exact or found.reduced.trouble or df is None:
        return None
    if isinstance(found.ratio, Rounded) and found.ratio.leaves_open(edge(found)):
        return None
    if design.sessions > 1 and not design.machines:
        # the unit is the session: builds of the same sessions tell little more
        return None
    beyond = is_beyond(found)
    given_up = judged.futile and not in_sight(found, design.alpha)
    if asks_for_no_sign(found) and (given_up or not beyond):
        return _until_seen(found, design)
    p = _p(found, beyond=beyond)
    alpha = judged.regression.alpha if beyond else design.alpha
    least = _least(found, design, beyond=beyond)
    if p is None:
        return None
    statistic = t_quantile(df, p / 2)
    for more in range(max(1, least - builds), MOST + 1):
        grown = builds + more
        grown_df = degrees(found, df, grown)
        wanted = t_quantile(grown_df, alpha / 2) + t_quantile(grown_df, 1 - POWER)
        if statistic * math.sqrt(grown / builds) > wanted:
            return more
    return None


def _until_seen(found: Estimated, design: Design) -> int | None:
    """Return how many more builds a side show a slowdown of the wanted size in POWER of such runs."""
    look, builds = max(len(design.looks) - 1, 0), found.builds_each
    least = math.ceil(needed_builds(found, design.policy.config.gate) / max(1, len(found.machines)))

    def seen(more: int) -> bool:
        size = size_at(found, design, builds + more, look)
        return size is not None and size <= found.subject.wanted

    few, many = max(1, least - builds), MOST
    if not seen(many):
        return None
    while few < many:
        middle = (few + many) // 2
        few, many = (few, middle) if seen(middle) else (middle + 1, many)
    return many


def _p(found: Estimated, *, beyond: bool) -> float | None:
    """Return the p of what is to be shown: beyond needs threshold and floor, not worse is either of them."""
    subject, ratio = found.subject, found.ratio
    worse, better = subject.tails
    tail = worse if beyond else better
    p = ratio.p(edge(found), tail)
    if subject.floor is None or p is None:
        return p
    p_floor = ratio.p_difference(subject.floor if subject.lower else -subject.floor, tail)
    return p if p_floor is None else max(p, p_floor) if beyond else min(p, p_floor)


def _least(found: Estimated, design: Design, *, beyond: bool) -> int:
    """Return the builds a side below which the rules would not call it, however clear it were."""
    # of each machine, where there are several
    needed = math.ceil(needed_builds(found, design.policy.config.gate) / max(1, len(found.machines)))
    if found.hold == "memory":
        return needed if beyond else 2
    return needed if found.hold == "builds" and beyond else 0
