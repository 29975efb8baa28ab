"""One finding of a check to be, with its variance and its cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gate.model.case import canonical
from gate.stats import planning
from gate.stats.components import Estimated, PlannedLevel, Repetitions
from gate.store.memory import Costs
from gate.writing.phrases import listed


@dataclass(frozen=True, slots=True)
class Known:
    """One finding to be, its variance and its cost."""

    benchmark: str
    metric: str
    factors: dict[str, Any]
    statistic: str
    threshold: float
    estimated: Estimated
    levels: tuple[PlannedLevel, ...]
    """Those that were repeated, whose variance could be told apart."""
    builds_df: float
    """Degrees of the variance of builds."""
    costs: planning.Costs
    shared: float
    """Relative covariance of base and head of a round."""
    degrees: Callable[[float, float], float]
    """What its remembered variance is worth in a check with so many executions of so many iterations, 0 for nothing."""
    repeated: Repetitions
    """The executions and iterations that were measured."""
    values: int
    """Fewest values a build that a quantile needs; 1 for a mean."""
    detectable: float | None
    """The size that must show for no sign of a change to be green; None: it must be shown not to be worse."""

    @property
    def treatment(self) -> str:
        """The settings as one text."""
        return canonical(self.factors)


# --- what it costs ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Spending:
    """What was spent. of: by benchmark. at: by benchmark and its settings, where that is known."""

    of: Mapping[str, Costs]
    at: Mapping[tuple[str, str], Costs]

    def of_case(self, benchmark: str, factors: Mapping[str, Any]) -> Costs | None:
        """Return the costs of a benchmark's executions at its settings."""
        return self.at.get((benchmark, canonical(factors)), self.of.get(benchmark))


def planned_costs(spent: Costs | None, iterations: float) -> planning.Costs | None:
    """Return what a plan counts with, given the iterations that were measured."""
    if spent is None or spent.iteration is None:
        return None
    # of an execution whose start is not known all may be its start: a plan that takes longer than it says is worse
    # than one that takes less
    start = spent.iteration * iterations if spent.start is None else spent.start
    start += spent.other or 0.0
    return planning.Costs(build=spent.build or 0.0, start=start, warmup=spent.warmup or 0.0, iteration=spent.iteration)


def about_costs(used: Mapping[str, Costs]) -> list[str]:
    """Say what of the costs is not known."""
    notes = []
    if all(spent.build is None for spent in used.values()):
        notes.append("the cost of a build is not known: counted as 0")
    hidden = [name for name, spent in used.items() if spent.start is None]
    if hidden:
        notes.append(
            f"{listed([*hidden])}: the time of a value is not in the values, so starting is taken to cost as much as "
            "all values of a start"
        )
    return notes
