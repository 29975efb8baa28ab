"""Where a change lies, how steep it is, and whether the code or the machine made it."""

from __future__ import annotations

import math
from typing import Literal

import msgspec
import numpy as np

from gate.stats.series.contrasts import Contrasts
from gate.stats.series.search import Point, of_window
from gate.stats.series.steps import Array, Indices, Steps
from gate.stats.series.sums import Interval, interval, summed

Cause = Literal["code", "machine", "both", "open"]
"""open: the ratios of the commits are too noisy to say."""

_LIKELY = -2 * math.log1p(-math.sqrt(0.95))
"""How far twice the log likelihood may fall within a 95% confidence set of a change's place (Eo and Morley 2015): 7.35."""
_ODDS = math.log(19)
_ALPHA = 0.05
_SURE = 0.01
"""Of the sum of ratios, whose steps were chosen by their ratios."""
_GRADUAL = 9.21
"""How much better twice the log likelihood of a slope must be, for two further parameters at 1% (chi-square)."""
_ENDS = 24
"""So many first and last steps of a slope are tried, of each."""
_WIDEST = 300
"""Steps on each side of a change that a slope is looked for in."""


class Shift(msgspec.Struct, frozen=True):
    """How far the same commits moved meanwhile, in log: by controls, which no code explains."""

    estimate: float
    variance: float


class Place(msgspec.Struct, frozen=True):
    """Where a change lies and what it rests on."""

    first: int
    last: int
    """first and last: the steps among which it lies, with 95% confidence if it is one step."""
    gradual: bool
    """Whether it is a slope over these steps, or several small changes, not one."""
    cause: Cause
    ratios: Interval
    """Sum of the ratios of these steps, at 95%: what the code did, as far as its commits were measured."""
    same: Interval
    """What commits that did not change did over these steps, at 95%: the machine."""


def place(steps: Steps, point: Point, control: Shift | None = None) -> Place:
    """Locate a change, and tell code from machine.

    Args:
        steps: of the case.
        point: the change.
        control: how far commits that were measured before and after it moved, if any was.
    """
    found = of_window(steps, point.first, point.last)
    at = np.arange(point.first, point.last + 1)
    one_step = _one_step(found)
    if one_step >= _ODDS:
        likely = _likelihood(found)
        within = at[likely >= likely.max() - _LIKELY]
        first, last, gradual = int(within.min()), int(within.max()), False
    else:
        slope = _slope(steps, point)
        first, last, gradual = slope.first, slope.last, slope.clear
    chain = summed(steps, first, last)
    by_levels = _around(steps, point, first, last)
    code = [(chain.estimate, chain.variance)]
    machine = [(by_levels.estimate - chain.estimate, by_levels.variance + chain.variance)]
    if control is not None:
        code.append((by_levels.estimate - control.estimate, by_levels.variance + control.variance))
        machine.append((control.estimate, control.variance))
    return Place(
        first=first,
        last=last,
        gradual=gradual,
        cause=_cause(one_step, _joined(code), _joined(machine), point.change),
        ratios=interval(chain.estimate, chain.variance, chain.df, _ALPHA),
        same=interval(*_pair(_joined(machine)), 1e6, _ALPHA),
    )


def _pair(shift: Shift) -> tuple[float, float]:
    return shift.estimate, shift.variance


def _cause(one_step: float, code: Shift, machine: Shift, change: float) -> Cause:
    if one_step >= _ODDS:
        return "code"
    sign = math.copysign(1.0, change)
    by_code = interval(sign * code.estimate, code.variance, 1e6, _SURE).low > 0
    by_machine = interval(sign * machine.estimate, machine.variance, 1e6, _SURE).low > 0
    if by_code and by_machine:
        return "both"
    return "code" if by_code else "machine" if by_machine else "open"


def _joined(estimates: list[tuple[float, float]]) -> Shift:
    """Join estimates by their precision."""
    weights = [0.0 if math.isinf(variance) else 1 / variance for _, variance in estimates]
    if not sum(weights):
        return Shift(0.0, math.inf)
    mean = sum(w * estimate for w, (estimate, _) in zip(weights, estimates, strict=True)) / sum(weights)
    return Shift(mean, 1 / sum(weights))


def _likelihood(found: Contrasts) -> Array:
    """Twice the log likelihood of one step of the code at each place, up to a constant."""
    return np.where(np.isfinite(found.variance), found.change**2 / found.variance, 0.0)


def _by_levels(found: Contrasts) -> Array:
    return np.where(np.isfinite(found.levels_variance), found.by_levels**2 / found.levels_variance, 0.0)


def _one_step(found: Contrasts) -> float:
    """Return the log odds of one step of the code, whose ratio shows it, against a move of levels that no ratio shows."""
    code, machine = _likelihood(found) / 2, _by_levels(found) / 2
    return float(np.logaddexp.reduce(code) - np.logaddexp.reduce(machine))


def _around(steps: Steps, point: Point, first: int, last: int) -> Shift:
    """Return how far levels lie apart before and after a range of steps, machine by machine."""
    parts = []
    for own in steps.machines:
        before, after = slice(point.first, first), slice(last + 1, point.last + 1)
        counts = [float(own.count[part].sum()) for part in (before, after)]
        if min(counts) > 0:
            means = [
                float((own.count[p] * own.level[p]).sum()) / n for p, n in zip((before, after), counts, strict=True)
            ]
            parts.append((means[1] - means[0], own.noise.variance * (1 / counts[0] + 1 / counts[1])))
    return _joined(parts) if parts else Shift(0.0, math.inf)


class _Slope(msgspec.Struct, frozen=True):
    first: int
    last: int
    clear: bool
    """Whether a slope fits clearly better than one step."""


def _slope(steps: Steps, point: Point) -> _Slope:
    """Find the longest slope of levels that fits about as well as the best; one step is the shortest."""
    low, high = max(point.first, point.at - _WIDEST), min(point.last, point.at + _WIDEST)
    firsts, lasts = (
        np.unique(np.concatenate([np.linspace(*ends, _ENDS).astype(np.int64), near]))
        for ends, near in (
            ((low, point.at), np.arange(max(low, point.at - 4), point.at + 1)),
            ((point.at, high), np.arange(point.at, min(high, point.at + 4) + 1)),
        )
    )
    single = np.column_stack((np.arange(low, high + 1),) * 2)
    pairs = np.concatenate((single, np.array([(a, b) for a in firsts for b in lasts])))
    likelihood = _slopes(steps, low, high, pairs)
    best = float(likelihood.max())
    within = pairs[likelihood >= best - _LIKELY]
    longest = within[int(np.argmax(within[:, 1] - within[:, 0]))]
    clear = best - float(likelihood[: len(single)].max()) >= _GRADUAL
    return _Slope(int(longest[0]), int(longest[1]), clear)


def _slopes(steps: Steps, low: int, high: int, pairs: Indices) -> Array:
    """Twice the log likelihood of slopes from a first to a last step, up to a constant.

    By levels alone: ratios without any change would make a slope of a machine that moved within a day.
    """
    at = np.arange(low, high + 1)
    first, last = pairs[:, :1], pairs[:, 1:]
    width = last - first + 1
    happened = np.clip((at - first + 0.5) / width, 0.0, 1.0)
    information, product = np.zeros(len(pairs)), np.zeros(len(pairs))
    for own in steps.machines:
        count = own.count[low : high + 1]
        if not count.sum():
            continue
        mean = (happened * count).sum(axis=1, keepdims=True) / count.sum()
        about = happened - mean
        information = information + (count * about**2).sum(axis=1) / own.noise.variance
        product = product + (about * (count * own.level[low : high + 1])).sum(axis=1) / own.noise.variance
    return np.where(information > 0, product**2 / np.maximum(information, 1e-300), 0.0)
