"""The studies of a simulation: each draws reports or comparisons and counts the verdicts.

A study is data, so that it can be sent to another process; its counts add up over the chunks of a simulation.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

import numpy as np

from gate.commands.simulate.arrays.draws import Source, build_means, remembered
from gate.commands.simulate.arrays.pairs import (
    Estimates,
    Interval,
    Moments,
    by_round,
    host_factors,
    is_logarithmic,
    is_moderated,
    moderated,
    moments,
    unmoderated,
)
from gate.commands.simulate.arrays.verdicts import Rules, decide

if TYPE_CHECKING:
    from gate.commands.simulate.arrays.pairs import Array

_VALUES_AT_ONCE = 1_000_000
"""Numbers that a chunk may draw for one side: small enough for the caches, large enough for vectors."""


class Counts:
    """Numbers that add up; a base of frozen dataclasses of arrays and integers."""

    def __add__(self, other: Self) -> Self:
        """Add every field."""
        return type(self)(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))  # type: ignore[arg-type]


C_co = TypeVar("C_co", bound=Counts, covariant=True)


class Study(Protocol[C_co]):
    """What can be simulated in chunks. Its repr names it, and with it the random numbers it is given."""

    @property
    def effort(self) -> float:
        """How many to draw, as a share of the reports that are asked for."""
        ...

    @property
    def chunk(self) -> int:
        """How many to draw at once."""
        ...

    def run(self, rng: np.random.Generator, n: int) -> C_co:
        """Draw n of them and count."""
        ...


# --- single comparisons ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Comparisons:
    """Comparisons each judged alone, by several intervals on the same draws at the nominal level.

    The cases of the source matter to the factor of the host only; all are counted, or only the one that is noisy.
    """

    source: Source
    builds: int
    ratio: float
    """The truth."""
    intervals: tuple[Interval, ...]
    thresholds: tuple[float, ...] = (0.0,)
    """Ascending."""
    df: int = 20
    """Degrees of the memory."""
    alpha: float = 0.05

    @property
    def effort(self) -> float:
        """As many as are asked for."""
        return 1.0

    @property
    def chunk(self) -> int:
        """How many reports to draw at once."""
        return max(1, _VALUES_AT_ONCE // (self.builds * len(self.source.components)))

    def run(self, rng: np.random.Generator, n: int) -> ComparisonCounts:
        """Draw n reports and count over their cases."""
        sides = build_means(rng, self.source, n, self.builds, self.ratio)
        logs = any(map(is_logarithmic, self.intervals))
        m = moments(sides.base, sides.head, logs=logs)
        counted = slice(0, 1) if self.source.one_noisy else slice(None)
        comparisons = n * (1 if self.source.one_noisy else len(self.source.components))
        rows = []
        for interval in self.intervals:
            pairs = self._pairs(rng, m, interval, n)
            bounds = pairs.bounds(self.alpha)
            low, high = bounds.low[:, counted].ravel(), bounds.high[:, counted].ravel()
            rows.append(_one_interval(low, high, self.ratio, self.thresholds))
        return ComparisonCounts(comparisons, *(np.array(column) for column in zip(*rows, strict=True)))

    def _pairs(self, rng: np.random.Generator, m: Moments, interval: Interval, n: int) -> Estimates:
        if not is_moderated(interval):
            return unmoderated(m, interval)
        memory = remembered(rng, self.source, n, self.df, by_round=by_round(interval))
        factors = host_factors(m, memory, np.ones(m.x.shape, dtype=np.bool_))
        of_findings = factors.at(np.arange(n)[:, None])
        return moderated(m, memory, of_findings, "fieller").pairs


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonCounts(Counts):
    """Of comparisons, per interval: those covered and bounded, and the sum of half-widths."""

    comparisons: int
    covered: Array
    bounded: Array
    half_width: Array
    worse: Array
    better: Array
    """worse and better: shape (intervals, thresholds): whose interval lies wholly beyond the threshold."""

    @property
    def coverage(self) -> Array:
        """The share of sets that hold the truth; what has no bounds holds it."""
        return self.covered / self.comparisons

    @property
    def mean_half_width(self) -> Array:
        """The mean half-width of the bounded ones."""
        return self.half_width / self.bounded

    @property
    def power(self) -> Array:
        """The share called worse, shape (intervals, thresholds)."""
        return self.worse / self.comparisons

    @property
    def different(self) -> Array:
        """The share called worse or better, shape (intervals, thresholds)."""
        return (self.worse + self.better) / self.comparisons


def _one_interval(
    low: Array, high: Array, ratio: float, thresholds: tuple[float, ...]
) -> tuple[float, float, float, Array, Array]:
    bounded = np.isfinite(low)
    missed = bounded & ~((low <= ratio) & (ratio <= high))
    limits = 1 + np.array(thresholds)
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.where(high > 0, 1 / high, np.inf)
    return (
        float(len(low) - missed.sum()),
        float(bounded.sum()),
        float(((high - low) / 2)[bounded].sum()),
        _beyond(low[bounded], limits),
        _beyond(inverse[bounded], limits),
    )


def _beyond(values: Array, limits: Array) -> Array:
    """Count the values above each limit."""
    return (len(values) - np.searchsorted(np.sort(values), limits, side="right")).astype(np.float64)


# --- reports ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reports:
    """Whole reports under one set of rules."""

    source: Source
    ratios: tuple[float, ...]
    """The truth of each case."""
    rules: Rules
    df: int = 20
    """Degrees of the memory, if any."""

    @property
    def effort(self) -> float:
        """As many as are asked for."""
        return 1.0

    @property
    def chunk(self) -> int:
        """How many reports to draw at once."""
        return max(1, _VALUES_AT_ONCE // (self.rules.looks[-1] * len(self.source.components)))

    def run(self, rng: np.random.Generator, n: int) -> ReportCounts:
        """Draw n reports, decide them and count."""
        interval = self.rules.interval
        sides = build_means(rng, self.source, n, self.rules.looks[-1], np.array(self.ratios))
        memory = None
        if is_moderated(interval):
            memory = remembered(rng, self.source, n, self.df, by_round=by_round(interval))
        outcome = decide(sides, self.rules, memory)
        return ReportCounts(
            reports=n,
            failed=int(outcome.failed.sum()),
            regression=outcome.regression.sum(axis=0),
            improvement=outcome.improvement.sum(axis=0),
            not_worse=outcome.not_worse.sum(axis=0),
            unchanged=outcome.unchanged.sum(axis=0),
            no_sign=outcome.no_sign.sum(axis=0),
            rounds=outcome.rounds.sum(axis=0),
            report_rounds=int(outcome.rounds.max(axis=1).sum()),
        )


@dataclass(frozen=True, slots=True, eq=False)
class ReportCounts(Counts):
    """Of reports: those that fail; per case (shape (cases,)) the findings of each kind and the rounds they took."""

    reports: int
    failed: int
    regression: Array
    improvement: Array
    not_worse: Array
    unchanged: Array
    no_sign: Array
    rounds: Array
    report_rounds: int
    """Rounds until every finding of a report was settled, which is what builds cost."""

    @property
    def failing(self) -> float:
        """The share of reports that fail."""
        return self.failed / self.reports

    def share(self, of_findings: Array) -> float:
        """Return the share of all findings that are of a kind."""
        return float(of_findings.mean()) / self.reports
