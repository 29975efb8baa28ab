"""How many builds an inconclusive finding lacks, as far as its present estimate and noise tell."""

from __future__ import annotations

import math

from gate.decide.design import Design
from gate.decide.estimates import FEWEST_DEGREES, Estimated
from gate.decide.family import tails
from gate.decide.walk import Judged
from gate.stats.ratio import t_quantile

MOST = 100
"""More builds than this are no advice."""
POWER = 0.8


def more_builds(judged: Judged, design: Design) -> int | None:
    """Return how many builds a side, beyond those measured, would probably settle an inconclusive finding.

    Settled for the gate is a regression or "not worse", whichever the estimate lies on the side of, in a design of so
    many builds without looks. A test statistic grows with the square root of the builds and its degrees with their
    number; it is to be beyond its limit with POWER if estimate and noise are true. They are not, and so it is less
    often, but more often than not (tests/gate/decide/test_lacking.py). None: settled already, nothing is known of the
    noise, builds are not what it lacks, or it takes more than MOST.
    """
    found = judged.estimated
    df, builds = found.ratio.df, found.builds
    if judged.settled or judged.position.not_worse or found.exact or found.reduced.trouble or df is None:
        return None
    if design.sessions > 1:
        # the unit is the session: builds of the same sessions tell little more
        return None
    beyond = _beyond(found)
    p = _p(found, beyond=beyond)
    alpha = judged.regression.alpha if beyond else design.alpha
    least = _least(found, design, beyond=beyond)
    if p is None:
        return None
    statistic = t_quantile(df, p / 2)
    for more in range(max(1, least - builds), MOST + 1):
        grown = builds + more
        degrees = _degrees(found, df, grown)
        wanted = t_quantile(degrees, alpha / 2) + t_quantile(degrees, 1 - POWER)
        if statistic * math.sqrt(grown / builds) > wanted:
            return more
    return None


def _beyond(found: Estimated) -> bool:
    """Tell whether the estimate is what a regression would be: beyond threshold and floor."""
    subject, change = found.subject, found.ratio.y - found.ratio.x
    edge = _edge(found)
    if subject.lower:
        return found.ratio.y > edge * found.ratio.x and (subject.floor is None or change > subject.floor)
    return found.ratio.y < edge * found.ratio.x and (subject.floor is None or -change > subject.floor)


def _p(found: Estimated, *, beyond: bool) -> float | None:
    """Return the p of what is to be shown: beyond needs threshold and floor, not worse is either of them."""
    subject, ratio = found.subject, found.ratio
    worse, better = tails(subject)
    tail = worse if beyond else better
    p = ratio.p(_edge(found), tail)
    if subject.floor is None or p is None:
        return p
    p_floor = ratio.p_difference(subject.floor if subject.lower else -subject.floor, tail)
    return p if p_floor is None else max(p, p_floor) if beyond else min(p, p_floor)


def _edge(found: Estimated) -> float:
    edge = 1 + found.subject.threshold
    return edge if found.subject.lower else 1 / edge


def _least(found: Estimated, design: Design, *, beyond: bool) -> int:
    """Return the builds a side below which the rules would not call it, however clear it were."""
    min_builds = design.policy.config.gate.min_builds
    if found.hold == "memory":
        remembered = found.moderation is not None and found.moderation.prior.df >= FEWEST_DEGREES
        return 2 if remembered or not beyond else min_builds
    return min_builds if found.hold == "builds" and beyond else 0


def _degrees(found: Estimated, df: float, builds: int) -> float:
    # what is remembered does not grow with the run
    moderated = found.moderation is not None and (found.moderation.result is None or found.moderation.result.used)
    return df + builds - found.builds if moderated else df * (builds - 1) / (found.builds - 1)
