"""What a run could have shown: the smallest slowdown of a finding that it would probably have called."""

from __future__ import annotations

from gate.decide.design import Design
from gate.decide.estimates import SHARED, Estimated, needed_builds
from gate.decide.machines import SHARED_METHOD
from gate.stats.power import needed, worse_ratio

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
    alpha = design.alpha if design.policy.config.gate.family == "none" else design.alpha / design.size
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
    moderated = found.moderation is not None and (found.moderation.result is None or found.moderation.result.used)
    moderated = moderated or found.method in (SHARED, SHARED_METHOD)
    return df + builds - found.builds_each if moderated else df * (builds - 1) / (found.builds_each - 1)
