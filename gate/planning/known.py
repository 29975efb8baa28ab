"""One finding of a check to be, with its variance and its cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gate.model.case import canonical
from gate.stats.components import Estimated, PlannedLevel
from gate.stats.planning import Costs
from gate.stats.remembered_variance import Repetitions


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
    costs: Costs
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
