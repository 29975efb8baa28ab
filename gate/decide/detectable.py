"""What a run could have shown: the smallest slowdown of a finding that it would probably have called."""

from __future__ import annotations

from gate.decide.design import Design
from gate.decide.estimates import Estimated
from gate.stats.detectable import needed, worse_ratio

POWER = 0.8


def detectable(found: Estimated, design: Design) -> float | None:
    """Return the smallest change for the worse that this run would have called in POWER of such runs, as a share.

    It is tested at the last look that was reached, at the level of the whole family, with the variances that were
    measured; 0.09 is a ratio of 1.09, or of 1/1.09 where higher is better. None: none would have been called, or
    counts are compared as numbers.
    """
    df = found.ratio.df
    if found.exact or found.reduced.trouble or found.hold or df is None:
        return None
    look = max(len(design.reached) - 1, 0)
    builds = design.reached[-1] if design.reached and found.unit == "build" else found.builds_each
    alpha = design.alpha if design.policy.config.gate.family == "none" else design.alpha / design.size
    ratio = worse_ratio(
        found.ratio,
        needed(degrees(found, df, builds), design.spending.nominal(look, alpha, paired=found.paired), POWER),
        threshold=found.subject.threshold,
        floor=found.subject.floor,
        share=found.builds_each / builds,
        lower=found.subject.lower,
    )
    return None if ratio is None else ratio - 1 if found.subject.lower else 1 / ratio - 1


def degrees(found: Estimated, df: float, builds: int) -> float:
    """Return the degrees of freedom that an estimate of df would have over so many builds.

    Of each machine, where they are judged each by itself.
    """
    if builds == found.builds_each:
        return df
    # what is remembered does not grow with the run
    moderated = found.moderation is not None and (found.moderation.result is None or found.moderation.result.used)
    return df + builds - found.builds_each if moderated else df * (builds - 1) / (found.builds_each - 1)
