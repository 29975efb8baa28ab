"""No sign of a slowdown: which findings are given up at a look, and which size would have shown (docs/method.md).

A finding that needs no proof of "not worse" is given up where it can no longer be expected to become a regression, were
its change one that is found in 80% of the runs by the first look that sees enough: from the end of the first stage on,
that whose size is no more than is wanted, else the last. What that one would nearly see is measured on: its noise is
not known well yet. That binds nothing: regressions keep their boundaries.
"""

from __future__ import annotations

import math

from gate.decide.design import FIXED_SESSIONS_SHARED, ONLY_REPORTS, PAIRED_SHARED, Design, Estimated, needed_builds
from gate.stats.power import needed, worse_ratio
from gate.stats.sequential import FEWEST_BUILDS, FIRST_STAGE, largest_futile, z_of

_NEARLY = 1.5
"""Times the wanted size that more rounds may yet show to be small enough."""


def asks_for_no_sign(found: Estimated) -> bool:
    """Return whether no sign of a slowdown is enough for a finding, and its interval one that decides."""
    subject = found.subject
    usable = not (found.exact or found.reduced.trouble or found.ratio.df is None or found.hold in ONLY_REPORTS)
    return usable and subject.show == "no-sign"


def is_futile(found: Estimated, look: int, alpha: float, design: Design, *, floor: bool = True) -> bool:
    """Return whether a finding need not be measured beyond a look (from 0) that is not the last one planned.

    alpha: the two-sided level that the family gives it now, over all looks. floor: by its floor too.
    """
    if look + 1 >= len(design.looks) or not asks_for_no_sign(found) or found.builds_each < FEWEST_BUILDS:
        return False
    # the p, one-sided and not cut at 1, of "worse by more than the threshold", and than the floor if asked
    subject, ratio = found.subject, found.ratio
    worse, better = subject.tails
    known = [_upper(ratio.p(edge(found), worse), ratio.p(edge(found), better))]
    if floor and subject.floor is not None:
        least = subject.floor if worse == "above" else -subject.floor
        known.append(_upper(ratio.p_difference(least, worse), ratio.p_difference(least, better)))
    found_p = [p for p in known if p is not None]
    upper = max(found_p) if len(found_p) == len(known) else None
    if upper is None:
        return False
    end = _asked(found, look, design)
    size = at_look(found, design, end)
    if size is not None and found.subject.must_detect < size <= _NEARLY * found.subject.must_detect:
        return False
    level = design.spending.nominal(end, alpha, paired=found.paired) / 2
    return z_of(upper) < largest_futile(design.looks[look] / design.looks[end], level)


def _asked(found: Estimated, look: int, design: Design) -> int:
    """Return the look that a finding must be seen by: the first after this one that sees enough, else the last.

    A long plan has looks that see much smaller changes than are worth failing for, and need not be waited for. But what
    has a sign of a slowdown is no pass, and so is measured on as long as any look may call it.
    """
    last = len(design.looks) - 1
    if in_sight(found, design.alpha, floor=False):
        return last
    for end in range(look + 1, last):
        size = at_look(found, design, end) if design.looks[end] >= FIRST_STAGE else None
        if size is not None and size <= found.subject.must_detect:
            return end
    return last


def is_beyond(found: Estimated, *, floor: bool = True, improvement: bool = False) -> bool:
    """Return whether the estimate is what would be called: worse, or better, than threshold and floor if asked for."""
    subject, ratio, factor = found.subject, found.ratio, 1 + found.subject.threshold
    least = subject.floor if floor and subject.floor is not None else -math.inf
    if subject.lower != improvement:
        return ratio.y > factor * ratio.x and ratio.y - ratio.x > least
    return ratio.y < ratio.x / factor and ratio.x - ratio.y > least


def in_sight(found: Estimated, alpha: float, *, floor: bool = True, improvement: bool = False) -> bool:
    """Return whether a slowdown is shown at the plain level, and its estimate beyond threshold and floor."""
    worse, better = found.subject.tails
    p = found.ratio.p(1.0, better if improvement else worse)
    return p is not None and p < alpha and is_beyond(found, floor=floor, improvement=improvement)


def edge(found: Estimated) -> float:
    """Return the ratio that is as much worse as the threshold."""
    worse = 1 + found.subject.threshold
    return worse if found.subject.lower else 1 / worse


def unseen(found: Estimated, look: int, *, futile: bool, design: Design) -> float | None:
    """Return the smallest slowdown that would have shown in 80% of such runs; None: that is not known.

    What was given up would have shown by the look that was asked for, the rest by the last of the plan.

    Known it is of what was given up, and of what was measured to the end, from FEWEST_BUILDS builds a side on.
    """
    done = design.complete and (not design.looks or look + 1 == len(design.looks))
    if not asks_for_no_sign(found) or found.builds_each < FEWEST_BUILDS or not (futile or done):
        return None
    if not design.looks:
        return detectable(found, design)
    return at_look(found, design, _asked(found, look, design) if futile else len(design.looks) - 1)


def _upper(p: float | None, opposite: float | None) -> float | None:
    # both are two-sided and at most 1
    if p is None or opposite is None:
        return None
    return p / 2 if p < 1 else 1 - opposite / 2


# --- the smallest slowdown that would probably have been called -------------------------------------------------------

POWER = 0.8


def detectable(found: Estimated, design: Design) -> float | None:
    """Return the smallest change for the worse that this run would have called in POWER of such runs, as a share.

    It is tested at the last look that was reached, at the level of the whole family, with the variances that were
    measured; 0.09 is a ratio of 1.09, or of 1/1.09 where higher is better. None: none would have been called, or counts
    are compared as numbers.
    """
    look = len(design.reached) - 1
    builds = design.looks[look] if design.looks and found.unit == "build" else found.builds_each
    return None if found.hold or not _has_size(found) else size_at(found, design, builds, max(look, 0))


def at_look(found: Estimated, design: Design, look: int) -> float | None:
    """Return that change for a look (from 0) that is planned, whether it was reached or not."""
    rounds = design.looks[look]
    held = found.hold and not (found.hold == "builds" and rounds >= needed_builds(found, design.policy.config.gate))
    builds = rounds if found.unit == "build" else found.builds_each
    return None if held or not _has_size(found) else size_at(found, design, builds, look)


def _has_size(found: Estimated) -> bool:
    return not (found.exact or found.reduced.trouble or found.ratio.df is None)


def size_at(found: Estimated, design: Design, builds: int, look: int, noise: float = 1.0) -> float | None:
    """Return that change for so many builds a side, tested at a look (from 0) of the design.

    noise: what the variance is as large as, over the one that was measured.
    """
    df = found.ratio.df
    if df is None:
        return None
    alpha = design.alpha if design.policy.config.gate.family == "none" else design.alpha / design.questions
    alpha *= found.subject.weight
    ratio = worse_ratio(
        found.ratio,
        needed(degrees(found, df, builds), design.spending.nominal(look, alpha, paired=found.paired), POWER),
        threshold=found.subject.threshold,
        floor=found.subject.floor,
        share=noise * found.builds_each / builds,
        lower=found.subject.lower,
    )
    return None if ratio is None else ratio - 1 if found.subject.lower else 1 / ratio - 1


def degrees(found: Estimated, df: float, builds: int) -> float:
    """Return the degrees of freedom that an estimate of df would have over so many builds.

    Of each machine, where they are judged each by itself.
    """
    if builds == found.builds_each:
        return df
    # what is remembered, and what other cases tell, does not grow with the run
    moderated = found.moderation is not None and found.moderation.used
    moderated = moderated or found.method in (PAIRED_SHARED, FIXED_SESSIONS_SHARED)
    return df + builds - found.builds_each if moderated else df * (builds - 1) / (found.builds_each - 1)
