"""The verdicts of gate.decide on arrays of reports: family, looks, min_builds, settling (docs/method.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from gate.commands.calibrate.simulation.arrays.pairs import (
    Factors,
    Interval,
    Memory,
    Pairs,
    host_factors,
    is_moderated,
    moderated,
    moments,
    unmoderated,
)
from gate.stats.prior import FEWEST_MODERATED
from gate.stats.sequential import spending

if TYPE_CHECKING:
    import numpy.typing as npt

    from gate.commands.calibrate.simulation.arrays.draws import Sides
    from gate.commands.calibrate.simulation.arrays.pairs import Array, Mask

    Integers = npt.NDArray[np.int64]


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


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What became of the findings, every array of shape (reports, cases)."""

    regression: Mask
    improvement: Mask
    not_worse: Mask
    unchanged: Mask
    """Shown to be neither worse nor better, and not called."""
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
        self.level = np.zeros(shape, dtype=np.int64)
        self.factors = Factors(np.ones(shape[0]), np.ones(shape[0]))

    def learn(self, now: Factors) -> None:
        """Keep the noise of the host as found at an earlier look, by more findings than are open now."""
        before = self.factors
        self.factors = Factors(np.maximum(before.deciding, now.deciding), np.maximum(before.sides, now.sides))

    @property
    def open(self) -> Mask:
        """The findings that take more executions."""
        not_worse = np.logical_and(self.not_worse, np.logical_not(self.promising))
        return np.logical_not(np.logical_or(np.logical_or(self.regression, self.improvement), not_worse))


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
    return Outcome(
        regression=state.regression,
        improvement=state.improvement,
        not_worse=state.not_worse & ~state.regression,
        unchanged=state.not_worse & state.not_better & ~state.improvement & ~state.regression,
        rounds=state.rounds,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Estimates:
    """Estimates of the active findings, one after the other."""

    pairs: Pairs
    may_call: Mask
    paired: Mask
    """Whose interval is paired by round."""


def _estimates(
    sides: Sides, state: _State, active: Mask, rounds: int, rules: Rules, memory: Memory | None
) -> _Estimates:
    m = moments(sides.base[active][:, :rounds], sides.head[active][:, :rounds])
    enough = np.full(m.x.shape, rounds >= rules.min_builds)
    if not is_moderated(rules.interval):
        pairs = unmoderated(m, rules.interval)
        return _Estimates(pairs, enough, np.full(m.x.shape, rules.interval == "fieller-paired"))
    if memory is None:
        raise ValueError(f"{rules.interval} needs a memory")
    known = memory.at(active)
    state.learn(host_factors(m, known, active))
    result = moderated(m, known, state.factors.at(np.nonzero(active)[0]), rules.fallback)
    paired = ~result.used if rules.fallback == "fieller-paired" else np.zeros(m.x.shape, dtype=np.bool_)
    remembered = result.used & (rounds >= min(FEWEST_MODERATED, rules.min_builds))
    return _Estimates(result.pairs, remembered | enough, paired)


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
    p[active] = np.where(found.may_call, above_worse, 1.0)
    state.p_improvement[active] = np.where(found.may_call, below_better, 1.0)
    _step_down(state.regression, p, state.level, levels)
    # one that is settled may still become an improvement, by the data it has, when others of its family are found
    _step_down(state.improvement, state.p_improvement, state.level, levels)
    one = levels[state.level[active], 1]
    # an improvement on its own, which min_builds or the family still forbid, waits for the next look
    state.promising[active] = below_better < one
    at_zero = rules.threshold == 0
    # both as this look sees them: what was shown at an earlier one did not settle it
    state.not_worse[active] = (below_better if at_zero else pairs.p_below(worse)) < one
    state.not_better[active] = (above_worse if at_zero else pairs.p_above(better)) < one


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
