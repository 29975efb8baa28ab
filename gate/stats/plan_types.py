"""The types of planning: aims, cases, rules, limits and the plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal

import msgspec

from gate.stats.planning import Components, Costs, Counts, Interval
from gate.stats.round_ratio import UNKNOWN, is_paired
from gate.stats.sequential import spending
from gate.stats.shared_variance import FEWEST_CASES, expected_degrees

Choice = Literal["auto", "fieller", "fieller-kj", "fieller-paired", "fieller-moderated", "paired", "paired-shared"]


class Aim(msgspec.Struct, frozen=True):
    """What a plan must reach for a case: a half-width at most, or a change found with a power (half_width None)."""

    half_width: float | None
    change: float = 0.0
    power: float = 0.0


class PlannedCase(msgspec.Struct, frozen=True):
    """One finding to be, with what is known of its variance and of its cost."""

    benchmark: str
    """All share builds."""
    components: Components
    costs: Costs
    threshold: float
    aims: tuple[Aim, ...]
    shared: float = 0.0
    """Relative covariance of the means of base and head of a round."""
    degrees: float = 0.0
    """What its remembered variance is worth, 0 for none."""
    values: int = 1
    """Fewest values of a build, for a quantile."""
    treatment: str = ""
    """Cases of one benchmark at one treatment share executions."""


class Terms(msgspec.Struct, frozen=True):
    """The rules of the verdict: two-sided alpha, findings that share it, fewest builds, interval as configured."""

    alpha: float
    family: int
    min_builds: int
    interval: Choice = "auto"
    correlation: float = UNKNOWN
    """Of base and head over rounds, as short plans assume it; 1: they are paired, however short the plan."""
    cases: int = 1
    """Findings that share their variance, where there are enough; 1: none do."""
    gives_up: bool = False
    """Whether what can no longer be expected to regress is measured no further."""

    @property
    def always_by_round(self) -> bool:
        """Return whether base and head of a round are taken together, however few builds are planned."""
        if self.interval == "auto":
            return self.correlation >= 1 or self.cases >= FEWEST_CASES
        return self.interval in ("paired", "paired-shared", "fieller-paired")

    def interval_of(self, case: PlannedCase, builds: int) -> Interval:
        """Return the interval that a case will get in a plan of so many builds, as the gate chooses it."""
        if case.degrees > 0 and self.interval in ("auto", "fieller-moderated"):
            return Interval("fieller-moderated", case.shared, case.degrees, paired=True)
        if self.interval == "fieller-kj":
            return Interval("fieller-kj")
        if self.interval == "fieller":
            return Interval("fieller")
        if self.interval == "fieller-paired":
            return Interval("fieller-paired", case.shared)
        degrees = expected_degrees(self.cases, builds) if self.interval in ("auto", "paired-shared") else 0.0
        if degrees:
            return Interval("paired-shared", case.shared, degrees)
        chosen = self.interval in ("paired", "paired-shared")
        paired = chosen or is_paired(builds, self.alpha, self.family, self.correlation)
        return Interval("paired", case.shared) if paired else Interval("fieller")

    def family_levels(self, looks: tuple[int, ...], interval: Interval) -> tuple[float, ...]:
        """Return the two-sided level of each look for the first that Holm's procedure tests."""
        return _levels(looks, self.alpha / max(self.family, 1), interval)

    def nominal_levels(self, looks: tuple[int, ...], interval: Interval) -> tuple[float, ...]:
        """Return the two-sided level of each look for one finding by itself."""
        return _levels(looks, self.alpha, interval)


class Limits(msgspec.Struct, frozen=True):
    """What a plan may be."""

    builds: int = 60
    executions: int = 1000
    iterations: int = 100_000
    budget: float | None = None
    """Seconds that it may take at most; None: any."""
    early: bool = True
    """Whether it may stop early."""


class Plan(msgspec.Struct, frozen=True):
    """Counts for all benchmarks."""

    looks: tuple[int, ...]
    """Rounds after which a verdict may be reached, the last one the number of builds."""
    executions: int
    iterations: int
    most: float
    """Seconds when nothing is settled early."""
    expected: float
    """Seconds expected when nothing has changed."""
    reached: bool
    """Whether every aim is met."""

    @property
    def counts(self) -> Counts:
        """The counts when nothing is settled early."""
        return Counts(self.looks[-1], self.executions, self.iterations)


def seconds(cases: Sequence[PlannedCase], counts: Counts) -> float:
    """Return the time of both sides together when nothing is settled early."""
    per_build = max(case.costs.build for case in cases)
    per_build += counts.executions * sum(c.of_execution(counts.iterations) for c in execution_costs(cases))
    return 2 * counts.builds * per_build


def execution_costs(cases: Iterable[PlannedCase]) -> list[Costs]:
    """Return the costs of each benchmark at each treatment once."""
    return list({(case.benchmark, case.treatment): case.costs for case in cases}.values())


@lru_cache(maxsize=1024)
def _levels(looks: tuple[int, ...], alpha: float, interval: Interval) -> tuple[float, ...]:
    paired, design = interval.spends_less, spending(looks)
    return tuple(design.nominal(k, alpha, paired=paired) for k in range(len(looks)))
