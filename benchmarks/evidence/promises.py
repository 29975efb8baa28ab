"""The promises of docs/method.md beside what was simulated."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from gate.commands.simulate.sections import Ask, Row, SimulatedSection, SimulatedTable, percent, plain
from gate.commands.simulate.studies import AnyStudy, ComparisonCounts, Results, Study, Tally

C = TypeVar("C", bound=Tally)


@dataclass(frozen=True, slots=True)
class Promise:
    """One line: what is promised, the bound, and the measured values that must all keep it."""

    words: str
    bound: float
    at_least: bool
    """Whether the bound is one from below."""
    studies: tuple[AnyStudy, ...]
    values: Callable[[Results], Sequence[float]]
    number: bool = False
    """Written as a number instead of a share; its error is not known."""
    variance: float | None = None
    """Of one draw, for the standard error; None: that of a share as large as the bound."""
    draws: float = 1.0
    """Behind each value, as a share of the reports that are asked for."""

    def row(self, reports: int) -> Row:
        """Make the row: promise, bound, the worst that was measured, and whether it is kept."""

        def worst(results: Results) -> float:
            values = self.values(results)
            return min(values) if self.at_least else max(values)

        def kept(results: Results) -> str:
            by = (worst(results) - self.bound) * (1 if self.at_least else -1)
            variance = self.bound * (1 - self.bound) if self.variance is None else self.variance
            error = 0.0 if self.number else math.sqrt(variance / (reports * self.draws))
            return "yes" if by >= 0 else "within 3 errors" if by >= -3 * error else "no"

        def measured(results: Results) -> str:
            return f"{worst(results):.3f}" if self.number else percent(worst(results), 2)

        sign = "at least" if self.at_least else "at most"
        return (
            self.words,
            f"{sign} {self.bound if self.number else plain(self.bound)}",
            Ask(self.studies, measured),
            Ask(self.studies, kept),
        )


def of_each(studies: Sequence[Study[C]], value: Callable[[C], float]) -> Callable[[Results], list[float]]:
    """Take one value of the counts of each study."""
    return lambda results: [value(results.of(study)) for study in studies]


def at_most(
    words: str, bound: float, studies: Sequence[Study[C]], value: Callable[[C], float], draws: float = 1.0
) -> Promise:
    """Promise that no study has more than the bound."""
    return Promise(words, bound, False, tuple(studies), of_each(studies, value), draws=draws)


def at_least(
    words: str, bound: float, studies: Sequence[Study[C]], value: Callable[[C], float], draws: float = 1.0
) -> Promise:
    """Promise that no study has less than the bound."""
    return Promise(words, bound, True, tuple(studies), of_each(studies, value), draws=draws)


def draft(found: Sequence[Promise], reports: int) -> SimulatedSection:
    """Write the chapter."""
    return SimulatedSection(
        "Promises",
        (
            (
                "The promises of docs/method.md, each with the worst simulated value. Within 3 errors: the bound is "
                "missed by less than three standard errors of the simulation. `perfgate simulate` prints coverage, "
                "false alarms, power and early stopping by case."
            ),
            SimulatedTable(("promise", "bound", "measured", "kept"), tuple(p.row(reports) for p in found), names=1),
        ),
    )


def covered(k: int) -> Callable[[ComparisonCounts], float]:
    """Return what takes the coverage of the finding of one number."""
    return lambda counts: float(counts.covered[k] / counts.comparisons[k])


def percent_of(value: Callable[[C], float], digits: int = 1) -> Callable[[C], str]:
    """Write a share that is taken of counts."""
    return lambda counts: percent(value(counts), digits)
