"""The verdicts of gate.decide on arrays of reports: family, looks, min_builds, settling (docs/method.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from gate.commands.simulate.arrays.pairs import (
    Estimates,
    Factors,
    Interval,
    LogMoments,
    LogPairs,
    Memory,
    Moments,
    by_round,
    host_factors,
    is_logarithmic,
    is_moderated,
    moderated,
    moments,
    unmoderated,
)
from gate.commands.simulate.arrays.sharing import share_variance
from gate.stats.detectable import needed
from gate.stats.futility import FEWEST_BUILDS as FEWEST_FOR_NO_SIGN
from gate.stats.futility import FOUND, FUTILE
from gate.stats.prior import FEWEST_MODERATED
from gate.stats.sequential import spending
from gate.stats.shared_variance import FEWEST_BUILDS
from gate.stats.special import ndtr, ndtri

if TYPE_CHECKING:
    import numpy.typing as npt

    from gate.commands.simulate.arrays.draws import Sides
    from gate.commands.simulate.arrays.pairs import Array, Mask

    Integers = npt.NDArray[np.int64]


_GRID = np.concatenate([np.arange(1, 8, 0.25), np.arange(8, 20, 0.5), np.geomspace(20, 400, 24)])
"""Degrees between which noncentralities are interpolated."""
_FEWEST_BUILDS = 2
"""Below it a side has no variance, and nothing is decided from memory alone."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What decides."""

    threshold: float
    interval: Interval
    looks: tuple[int, ...]
    """Rounds after which a verdict may be reached; a single one is a fixed design."""
    fallback: Interval = "fieller"
    """The interval of a finding that is not moderated, although the others are."""
    alpha: float = 0.05
    min_builds: int = 5
    family: Literal["holm", "none"] = "holm"
    show: Literal["no-sign", "not-worse"] = "no-sign"
    wanted: float = 0.1
    """The size of a slowdown that must have shown for no sign of one."""


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What became of the findings, every array of shape (reports, cases)."""

    regression: Mask
    improvement: Mask
    not_worse: Mask
    unchanged: Mask
    """Shown to be neither worse nor better, and not called."""
    no_sign: Mask
    """Not called and not shown to be unchanged, but a slowdown of the size that is asked for would have shown."""
    rounds: Integers
    """After which a finding took no more."""

    @property
    def failed(self) -> Mask:
        """The reports that fail, shape (reports,)."""
        found: Mask = np.logical_or.reduce(self.regression, axis=1)
        return found


class _State:
    """What is known so far; each look adds to it. level: the row of the levels at which a finding was last tested."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.regression: Mask = np.zeros(shape, dtype=np.bool_)
        self.improvement: Mask = np.zeros(shape, dtype=np.bool_)
        self.not_worse: Mask = np.zeros(shape, dtype=np.bool_)
        self.not_better: Mask = np.zeros(shape, dtype=np.bool_)
        self.promising: Mask = np.zeros(shape, dtype=np.bool_)
        self.rounds = np.zeros(shape, dtype=np.int64)
        self.p_improvement = np.ones(shape)
        self.p = np.ones(shape)
        self.futile: Mask = np.zeros(shape, dtype=np.bool_)
        self.size = np.full(shape, np.nan)
        self.in_sight: Mask = np.zeros(shape, dtype=np.bool_)
        self.logs: LogMoments | None = None
        self.level = np.zeros(shape, dtype=np.int64)
        self.factors = Factors(np.ones(shape[0]), np.ones(shape[0]))

    def learn(self, now: Factors) -> None:
        """Keep the noise of the host as found at an earlier look, by more findings than are open now."""
        before = self.factors
        self.factors = Factors(np.maximum(before.deciding, now.deciding), np.maximum(before.sides, now.sides))

    def keep(self, logs: LogMoments, active: Mask) -> None:
        """Keep what rounds tell of the cases that are measured at this look."""
        if self.logs is None:
            self.logs = LogMoments(*(np.full(active.shape, np.nan) for _ in range(4)))
        for kept, now in zip(self._parts(self.logs), self._parts(logs), strict=True):
            kept[active] = now

    @property
    def known(self) -> LogMoments:
        """What rounds tell of every case."""
        if self.logs is None:
            raise ValueError("nothing was kept")
        return self.logs

    @staticmethod
    def _parts(logs: LogMoments) -> tuple[Array, Array, Array, Array]:
        return logs.ratio, logs.contrast, logs.total, logs.rounds

    @property
    def open(self) -> Mask:
        """The findings that take more executions."""
        quiet = np.logical_and(np.logical_or(self.not_worse, self.futile), np.logical_not(self.promising))
        return np.logical_not(np.logical_or(np.logical_or(self.regression, self.improvement), quiet))


def decide(sides: Sides, rules: Rules, memory: Memory | None) -> Outcome:
    """Judge reports of several cases each, look by look.

    Args:
        sides: at least as many builds as the last look.
        memory: for a moderated interval, else None.
    """
    state = _State(sides.base.shape[:2])
    levels = _levels(rules, sides.base.shape[1])
    for k, rounds in enumerate(rules.looks):
        active = state.open
        if not active.any():
            break
        state.rounds[active] = rounds
        if rounds < _FEWEST_BUILDS:
            continue
        found = _estimates(sides, state, active, rounds, rules, memory)
        _look(state, active, found, k, rules, levels)
    one = levels[state.level, 1]
    unchanged = state.not_worse & state.not_better & ~state.improvement & ~state.regression
    called = state.regression | state.improvement | unchanged
    return Outcome(
        regression=state.regression,
        improvement=state.improvement,
        not_worse=state.not_worse & ~state.regression,
        unchanged=unchanged,
        no_sign=~called & (state.size <= rules.wanted) & ~(state.p < one) & ~state.in_sight,
        rounds=state.rounds,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Estimates:
    """Estimates of the active findings, one after the other."""

    pairs: Estimates
    may_call: Mask
    paired: Mask
    """Whose interval is paired by round."""
    added: Array
    """Degrees that do not grow with the rounds: of what is remembered, or of other cases; NaN: there are none."""


def _estimates(
    sides: Sides, state: _State, active: Mask, rounds: int, rules: Rules, memory: Memory | None
) -> _Estimates:
    logs = is_logarithmic(rules.interval) or is_logarithmic(rules.fallback)
    m = moments(sides.base[active][:, :rounds], sides.head[active][:, :rounds], logs=logs)
    enough = np.full(m.x.shape, rounds >= rules.min_builds)
    none = np.full(m.x.shape, np.nan)
    if rules.interval == "paired-shared":
        return _shared(m, state, active, rounds, rules)
    if not is_moderated(rules.interval):
        pairs = unmoderated(m, rules.interval)
        return _Estimates(pairs, enough, np.full(m.x.shape, by_round(rules.interval)), none)
    if memory is None:
        raise ValueError(f"{rules.interval} needs a memory")
    known = memory.at(active)
    state.learn(host_factors(m, known, active))
    result = moderated(m, known, state.factors.at(np.nonzero(active)[0]), rules.fallback)
    paired = ~result.used if by_round(rules.fallback) else np.zeros(m.x.shape, dtype=np.bool_)
    remembered = result.used & (rounds >= min(FEWEST_MODERATED, rules.min_builds))
    return _Estimates(result.pairs, remembered | enough, paired, np.where(result.used, known.df, np.nan))


def _shared(m: Moments, state: _State, active: Mask, rounds: int, rules: Rules) -> _Estimates:
    """Estimate by the variance that cases share; settled ones stay in with the rounds that they have."""
    if m.logs is None:
        raise ValueError("paired-shared needs logarithms")
    state.keep(m.logs, active)
    shared = share_variance(state.known)
    variance, df, used = shared.variance[active], shared.df[active], shared.used[active]
    may_call = used & (rounds >= min(FEWEST_BUILDS, rules.min_builds)) | (rounds >= rules.min_builds)
    pairs = LogPairs(m.logs.ratio, variance / m.logs.rounds, df)
    added = np.where(used, df - (m.logs.rounds - 1), np.nan)
    return _Estimates(pairs, may_call, np.ones(df.shape, dtype=np.bool_), added)


def _levels(rules: Rules, cases: int) -> Array:
    """Return the two-sided levels, shape (2 looks, cases + 1): of a finding that shares alpha with how many.

    Row 2 k + paired of look k, column m - j for m findings of which j are rejected; column 1 is that of one finding.
    """
    found = np.zeros((2 * len(rules.looks), cases + 1))
    design = spending(rules.looks)
    for row in range(len(found)):
        k, paired = divmod(row, 2)
        for sharing in range(1, cases + 1):
            alpha = rules.alpha / (sharing if rules.family == "holm" else 1)
            found[row, sharing] = design.nominal(k, alpha, paired=bool(paired))
    return found


def _look(state: _State, active: Mask, found: _Estimates, k: int, rules: Rules, levels: Array) -> None:
    worse, better = 1 + rules.threshold, 1 / (1 + rules.threshold)
    pairs = found.pairs
    above_worse, below_better = pairs.p_above(worse), pairs.p_below(better)
    state.level[active] = 2 * k + found.paired
    p = np.ones(active.shape)
    state.p[active] = above_worse
    # a slowdown is shown at the plain level, and the estimate is beyond the threshold, where a two-sided p is below 1
    state.in_sight[active] = (pairs.p_above(1.0) < rules.alpha) & (above_worse < 1)
    p[active] = np.where(found.may_call, above_worse, 1.0)
    state.p_improvement[active] = np.where(found.may_call, below_better, 1.0)
    _step_down(state.regression, p, state.level, levels)
    # one that is settled may still become an improvement, by the data it has, when others of its family are found
    _step_down(state.improvement, state.p_improvement, state.level, levels)
    one = levels[state.level[active], 1]
    # an improvement at the plain level, which the look, min_builds or the family still forbid, waits for the next look
    state.promising[active] = below_better < rules.alpha
    at_zero = rules.threshold == 0
    # both as this look sees them: what was shown at an earlier one did not settle it
    state.not_worse[active] = (below_better if at_zero else pairs.p_below(worse)) < one
    state.not_better[active] = (above_worse if at_zero else pairs.p_above(better)) < one
    if rules.show == "no-sign":
        _give_up(state, active, found, k, rules, levels)


def _give_up(state: _State, active: Mask, found: _Estimates, k: int, rules: Rules, levels: Array) -> None:
    """Give up what can no longer be expected to regress, and say which size would have shown (gate.decide.futility)."""
    last = len(rules.looks) - 1
    cases = active.shape[1]
    rejected = np.broadcast_to(state.regression.sum(axis=1)[:, None], active.shape)[active]
    sharing = np.maximum(cases - rejected, 1)
    futile = np.zeros(found.paired.shape, dtype=np.bool_)
    if k < last and rules.looks[k] >= FEWEST_FOR_NO_SIGN:
        time = rules.looks[k] / rules.looks[last]
        level = levels[2 * last + found.paired, sharing] / 2
        critical = -ndtri(level)
        z = found.pairs.z_above(1 + rules.threshold)
        drift = (critical + float(ndtri(FOUND))) * (1 - time)
        beyond = (critical - z * math.sqrt(time) - drift) / math.sqrt(1 - time)
        futile = ndtr(-beyond) < FUTILE
    state.futile[active] = futile
    state.size[active] = np.nan
    told = futile | (k == last)
    if rules.looks[k] < FEWEST_FOR_NO_SIGN or not told.any():
        return
    builds, planned = rules.looks[k], rules.looks[last]
    remembered = np.isfinite(found.added)
    df = np.broadcast_to(found.pairs.df, told.shape)
    df = np.where(remembered, df + planned - builds, df * (planned - 1) / (builds - 1))
    alpha = levels[2 * last + found.paired, cases]
    t = _noncentrality(df, alpha)
    size = found.pairs.detectable(t, builds / planned, 1 + rules.threshold) - 1
    allowed = found.may_call | (planned >= rules.min_builds)
    state.size[active] = np.where(told & allowed, size, np.nan)


def _noncentrality(df: Array, alpha: Array) -> Array:
    """Return detectable.needed for each, by interpolation over 1/df: there are few levels and few degrees."""
    found = np.full(df.shape, np.nan)
    for level in np.unique(alpha):
        own = alpha == level
        low, high = float(df[own].min()), float(df[own].max())
        grid = np.unique(np.clip(np.concatenate([_GRID, [low, high]]), low, high))
        values = [needed(float(d), float(level), FOUND) for d in grid]
        found[own] = np.interp(1 / df[own], 1 / grid[::-1], values[::-1])
    return found


def _step_down(rejected: Mask, p: Array, level: Integers, levels: Array) -> None:
    """Add to what is rejected by Holm's procedure: as long as somebody is, the others are tested at more."""
    cases = p.shape[1]
    hopeful = p < levels[:, 1].max()
    rows = np.nonzero((hopeful & ~rejected).any(axis=1))[0]
    while len(rows):
        sharing = np.maximum(cases - rejected[rows].sum(axis=1), 1)
        new = (p[rows] < levels[level[rows], sharing[:, None]]) & ~rejected[rows]
        rejected[rows] |= new
        rows = rows[new.any(axis=1)]
