"""One case and one statistic: both sides reduced to their top units, and whether they have a ratio at all."""

from __future__ import annotations

import math
from typing import Literal

import msgspec
import numpy as np

from gate.model import Sample
from gate.model.bounds import COARSE
from gate.model.case import TYPICAL, Center
from gate.model.warnings import AnyWarning
from gate.model.warnings.base import Said
from gate.model.warnings.estimates import NotExact
from gate.stats.centers import needed_values, quantile_pair, type8, typical_pair
from gate.stats.levels import LevelVariance, Tops, measured_together, sessions_of, tops_of, variances
from gate.stats.ratio import LogPair, MeanPair, Ratio, matched, paired, rounded, unpaired
from gate.stats.round_ratio import Rounds, rounds_of
from gate.stats.rounding import ROUNDING, same, unknown_rounding
from gate.units import plural

Method = Literal["fieller", "fieller-kj", "fieller-paired", "paired"]
"""Those that need nothing but the case itself."""
PAIRED: tuple[Method, ...] = ("fieller-paired", "paired")
"""Those that take base and head of a round together."""
Trouble = Literal[
    "", "negative", "zero-base", "zero-quantile", "apart", "one-unit", "few-values", "no-spread", "no-rounds", "machine"
]
"""What stands in the way of an interval; "machine": it is that of one of several, each by itself."""

OF_QUANTILES = ("builds-cut", "builds-unlike", "few-executions")
"""Warnings about quantiles that matter where there is an interval."""
_FEWEST_EXECUTIONS = 3


class Reduced(msgspec.Struct, frozen=True):
    """Both sides of one case for one statistic, before a method makes an interval of them."""

    base: Tops
    head: Tops
    """base and head: the top units."""
    x: float
    y: float
    """x and y: the value of each side, in the metric's unit."""
    exact: bool
    """Compared as numbers."""
    trouble: Trouble
    """Why there is no ratio with an interval, "" when there is."""
    shortage: tuple[int, int] | None
    """Values per build that a quantile has, and that it needs; None: it is none."""
    warnings: tuple[AnyWarning, ...]
    rounding: tuple[float, float] = (0.0, 0.0)
    """How far x and y may be from what they were before the values were written, beside what averages out."""


def reduce(base: Sample, head: Sample, center: Center, *, exact: bool, sessions: bool = False) -> Reduced:
    """Reduce both sides to one number for each top unit, and say what stands in the way of a ratio.

    Source: docs/method.md, degenerate data and tails.

    Args:
        center: what is compared: a quantile, the typical value, or None: the mean.
        exact: the metric is declared exact; one that shows spread is treated as measured, with a warning.
        sessions: whether session is the top level, as it is anyway where a side has several.
    """
    sessions = sessions or max(len(base.counts[2]), len(head.counts[2])) > 1
    x, y = tops_of(base, sessions=sessions), tops_of(head, sessions=sessions)
    differing: Literal["values", "ratio"] | None = None
    if exact and (x.gap > 0 or y.gap > 0):
        differing = "values"
    elif exact and _of_sessions(x) and not _flat(x, y):
        # each session has one value a side
        together = measured_together(base, head)
        differing = "values" if not together else None if _one_ratio(x, y) else "ratio"
    warnings = (NotExact(differing),) if differing else ()
    is_exact = exact and not differing
    if center is not None and not is_exact:
        if center == TYPICAL:
            pair = typical_pair(base, head, sessions=sessions)
            trouble: Trouble
            if base.values.min() < 0 or head.values.min() < 0:
                trouble = "negative"
            elif pair is not None:
                x, y = _stepped(pair[0], base), _stepped(pair[1], head)
                values, rounding = (math.exp(x.mean), math.exp(y.mean)), (_unknown(base), _unknown(head))
                return Reduced(x, y, *values, False, _too_little(base, head, x, y), None, warnings, rounding)
            elif measured_together(base, head):
                trouble = "zero-quantile"
            else:
                trouble = "no-rounds" if _share_a_session(base, head) else "apart"
            x, y = (tops_of(side, sessions=sessions) for side in (base, head))
            return Reduced(x, y, x.mean, y.mean, False, trouble, None, warnings)
        return _quantile(base, head, center, warnings, sessions=sessions)
    if exact:
        # nothing rounds what is declared a count
        return Reduced(x, y, x.mean, y.mean, is_exact, _trouble(base, head, x, y, exact=is_exact), None, warnings)
    x, y = _stepped(x, base), _stepped(y, head)
    rounding = _unknown(base), _unknown(head)
    return Reduced(x, y, x.mean, y.mean, False, _trouble(base, head, x, y, exact=False), None, warnings, rounding)


def _stepped(tops: Tops, sample: Sample) -> Tops:
    """Give a side without spread the step that its values are written to, where that is coarse enough to hide it."""
    value = math.exp(tops.mean) if tops.log else tops.mean
    if tops.gap > 0 or not sample.step or sample.step < COARSE * abs(value):
        return tops
    return Tops(tops.values, tops.units, sample.step / value if tops.log else sample.step, tops.log)


def _unknown(sample: Sample) -> float:
    found = [unknown_rounding(values, sample.step) for values in sessions_of(sample)]
    return sum(found) / len(found)


def _of_sessions(tops: Tops) -> bool:
    return not isinstance(tops.units[0], tuple)


def _flat(x: Tops, y: Tops) -> bool:
    return same(x.values, log=x.log) and same(y.values, log=y.log)


def _one_ratio(x: Tops, y: Tops) -> bool:
    """Return whether all units have the same ratio, to rounding; what is 0 on both sides contradicts none."""
    x_values, y_values = (side.values for side in matched(x, y))
    if x.log:
        return not len(x_values) or float(np.ptp(y_values - x_values)) <= ROUNDING
    across, back = y_values * x_values.sum(), x_values * y_values.sum()
    return bool((np.abs(across - back) <= ROUNDING * np.maximum(across, back)).all())


def _trouble(base: Sample, head: Sample, x: Tops, y: Tops, *, exact: bool) -> Trouble:
    if base.values.min() < 0 or head.values.min() < 0:
        return "negative"
    if x.mean == 0:
        return "zero-base"
    if exact:
        return "" if _share_a_session(base, head) else "apart"
    return _too_little(base, head, x, y)


def _too_little(base: Sample, head: Sample, x: Tops, y: Tops) -> Trouble:
    if not _share_a_session(base, head):
        return "apart"
    if x.n < 2 or y.n < 2:
        return "one-unit"
    if x.gap > 0 or y.gap > 0:
        return ""
    # of machines that differ only the ratio is compared, and it may be the same on all
    pairs = _of_sessions(x) and measured_together(base, head)
    return "no-spread" if _flat(x, y) or (pairs and _one_ratio(x, y)) else ""


def _share_a_session(base: Sample, head: Sample) -> bool:
    return bool({session for session, _ in base.builds} & {session for session, _ in head.builds})


def _quantile(base: Sample, head: Sample, tau: float, warnings: tuple[AnyWarning, ...], *, sessions: bool) -> Reduced:
    pair = quantile_pair(base, head, tau, sessions=sessions)
    negative = min(base.values.min(), head.values.min()) < 0
    if pair is None:
        x, y = (tops_of(side, sessions=sessions) for side in (base, head))
        values = type8(base.values, tau), type8(head.values, tau)
        return Reduced(x, y, *values, False, "negative" if negative else "zero-quantile", None, warnings)
    has, needs = pair.fewest, needed_values(tau)
    tops = _stepped(pair.base, base), _stepped(pair.head, head)
    trouble = "negative" if negative else "few-values" if has < needs else _too_little(base, head, *tops)
    few = pair.fewest_executions < _FEWEST_EXECUTIONS
    if pair.cut:
        warnings += (Said("builds differ in their number of values: surplus starts are left out", "builds-cut"),)
    if pair.unlike:
        unlike = "builds differ by more than 1.5 times in their number of values, which biases a quantile"
        warnings += (Said(unlike, "builds-unlike"),)
    if few and not trouble:
        rests = f"the quantile of a build rests on {plural(pair.fewest_executions, 'start')}"
        warnings += (Said(f"{rests}: too few to show how starts differ", "few-executions"),)
    x_value, y_value = (math.exp(side.mean) for side in tops)
    # of values that are alike quantiles are too, however many values there are beside them
    one, other = (unknown_rounding(np.exp(own.values), side.step) for own, side in zip(tops, (base, head), strict=True))
    return Reduced(*tops, x_value, y_value, False, trouble, (has, needs), warnings, (one, other))


def level_variances(sample: Sample, tops: Tops) -> tuple[LevelVariance, ...]:
    """Return the variances of a side by level: of a mean at each, of logarithms at the top level only."""
    if not tops.log:
        return variances(sample, sessions=_of_sessions(tops))
    if tops.n < 2:
        return ()
    # of ln q, taken back to the metric's unit; what the levels below add to a quantile has no formula
    s2 = float(tops.values.var(ddof=1)) * math.exp(tops.mean) ** 2
    return (LevelVariance("session" if _of_sessions(tops) else "build", s2, math.nan),)


def ratio_of(reduced: Reduced, method: Method, rounds: Rounds | None = None) -> Ratio:
    """Make the interval of a reduced case by one of the methods that need no memory (docs/method.md).

    "paired" is the mean of the rounds' logarithms of head/base; where a value has no logarithm it is Fieller's set.

    Args:
        rounds: what its complete rounds tell, where that is known already.
    """
    base, head = reduced.base, reduced.head
    if reduced.exact or reduced.trouble in ("negative", "zero-quantile"):
        return MeanPair(reduced.x, reduced.y, 0.0, 0.0, 0.0, None)
    if method == "paired" or (method == "fieller-paired" and _of_sessions(base)):
        # of machines that differ by any factor Fieller's set would count that as variance of base's mean
        rounds = rounds or rounds_of(base, head)
        if rounds is not None:
            return rounded(rounds.pair(rounds.contrast, rounds.df), *reduced.rounding)
    pair = paired(base, head) if method in PAIRED else unpaired(base, head, kalibera_jones=method == "fieller-kj")
    return rounded(LogPair(pair) if base.log else pair, *reduced.rounding)
