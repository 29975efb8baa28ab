"""The rules of other tools beside perfgate's interval, on the same values of single comparisons."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.evidence.promises import Promise
from gate.commands.simulate.draws import (
    CASE,
    CREATED,
    NORMAL,
    TABLE_VII,
    CaseNoise,
    Shape,
    case,
    evidence_of,
    of_values,
)
from gate.commands.simulate.sections import (
    Ask,
    Scenario,
    SimulatedSection,
    SimulatedTable,
    percent,
    plain,
    row,
)
from gate.commands.simulate.studies import Results, Tally
from gate.model import Evidence, Run
from gate.stats.levels import Tops
from gate.stats.ratio import unpaired
from gate.stats.special import ndtr, stdtr

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Mask = npt.NDArray[np.bool_]

RULES = ("fieller", "pooled Welch", "Mann-Whitney", "open-loop t", "two means", "two minima")
THRESHOLDS = (0.0, 0.02)

_ALPHA = 0.05
_ROUNDS, _MOST = 5, 12
"""Builds of each side; open-loop testing may use all rounds."""
_MOST_VALUES = 2000
"""Of a build."""
_AT_ONCE = 2_000_000
"""Values that a chunk draws for one side."""


@dataclass(frozen=True, slots=True)
class Values:
    """One case of which every value is drawn; iterations are lognormal, with a tail of slow ones, as times are."""

    components: CaseNoise
    shape: Shape = NORMAL

    def evidence(
        self, rng: np.random.Generator, rounds: int, looks: Sequence[int], ratios: Sequence[float]
    ) -> Evidence:
        """Draw a run of one case."""
        base, head = (of_values(self.side(rng, 1, rounds, ratio)[0]) for ratio in (1.0, ratios[0]))
        return evidence_of([case(CASE, base, head)], Run(created=CREATED, seed=1), rounds, looks)

    def side(self, rng: np.random.Generator, n: int, rounds: int, mean: float) -> Array:
        """Draw one side n times, shape (n, builds, executions, iterations)."""
        c = self.components
        log_sd = math.sqrt(math.log1p(c.iteration**2))
        drawn = np.exp(log_sd * rng.standard_normal((n, rounds, c.executions, c.iterations)) - log_sd**2 / 2)
        of_execution = 1 + c.execution * rng.standard_normal((n, rounds, c.executions, 1))
        of_execution += c.build * self.shape.draw(rng, (n, rounds, 1, 1))
        drawn *= mean * of_execution
        return drawn


@dataclass(frozen=True, slots=True)
class Rivals:
    """Every rule on the same values, each at its own 95%, without a family."""

    components: CaseNoise
    ratio: float
    """The truth."""
    effort: float = 0.25

    @property
    def chunk(self) -> int:
        """How many comparisons to draw at once."""
        return max(1, _AT_ONCE // (_MOST * self.components.executions * self.components.iterations))

    def run(self, rng: np.random.Generator, n: int) -> RivalCounts:
        """Draw n comparisons and ask every rule."""
        source = Values(self.components)
        base, head = (source.side(rng, n, _MOST, mean) for mean in (1.0, self.ratio))
        called = [self._called(base, head, threshold) for threshold in THRESHOLDS]
        slower, faster = (
            np.array([[float(rule[side].sum()) for rule in rules] for rules in called]) for side in range(2)
        )
        return RivalCounts(n, slower, faster)

    def _called(self, base: Array, head: Array, threshold: float) -> list[tuple[Mask, Mask]]:
        """Return what each rule calls slower and faster."""
        of_base, of_head = base.mean(axis=(2, 3)), head.mean(axis=(2, 3))
        x, y = (side[:, :_ROUNDS].reshape(len(side), -1) for side in (base, head))
        ratio = y.mean(axis=1) / x.mean(axis=1)
        beyond = ratio > 1 + threshold, ratio < 1 / (1 + threshold)
        lowest = y.min(axis=1) / x.min(axis=1)
        welch, ranks = pooled_welch(x, y) < _ALPHA, mann_whitney(x, y) < _ALPHA
        return [
            over_builds(of_base, of_head, threshold, (_ROUNDS,)),
            (welch & beyond[0], welch & beyond[1]),
            (ranks & beyond[0], ranks & beyond[1]),
            over_builds(of_base, of_head, threshold, range(2, _MOST + 1)),
            beyond,
            (lowest > 1 + threshold, lowest < 1 / (1 + threshold)),
        ]


@dataclass(frozen=True, slots=True, eq=False)
class RivalCounts(Tally):
    """Of comparisons: those called slower and faster, shape (thresholds, rules)."""

    comparisons: int
    slower: Array
    faster: Array

    @property
    def different(self) -> Array:
        """The share called either."""
        return (self.slower + self.faster) / self.comparisons

    @property
    def failing(self) -> Array:
        """The share called slower, which fails a gate."""
        return self.slower / self.comparisons


def over_builds(base: Array, head: Array, threshold: float, rounds: Sequence[int]) -> tuple[Mask, Mask]:
    """Test means of builds (shape (comparisons, rounds)) by `fieller` after each number of rounds, until it calls one.

    Each test is sound alone; more than one is what open-loop testing does.
    """
    slower, faster = (np.zeros(len(base), dtype=np.bool_) for _ in range(2))
    for i, (x, y) in enumerate(zip(base, head, strict=True)):
        for count in rounds:
            sides = (Tops(side[:count], tuple((0, k) for k in range(count)), 0.0, log=False) for side in (x, y))
            pair = unpaired(*sides)
            above, below = pair.p(1 + threshold, "above"), pair.p(1 / (1 + threshold), "below")
            slower[i], faster[i] = above is not None and above < _ALPHA, below is not None and below < _ALPHA
            if slower[i] or faster[i]:
                break
    return slower, faster


def pooled_welch(base: Array, head: Array) -> Array:
    """Return the two-sided p of Welch's t test over all values of each side, as if they were independent.

    Args:
        base, head: shape (comparisons, values).
    """
    n, m = base.shape[1], head.shape[1]
    v, w = base.var(axis=1, ddof=1) / n, head.var(axis=1, ddof=1) / m
    t = np.abs(head.mean(axis=1) - base.mean(axis=1)) / np.sqrt(v + w)
    df = (v + w) ** 2 / (v**2 / (n - 1) + w**2 / (m - 1))
    p: Array = 2 * stdtr(df, -t)
    return p


def mann_whitney(base: Array, head: Array) -> Array:
    """Return the two-sided p of the Mann-Whitney U test over all values (normal approximation, no ties).

    Args:
        base, head: shape (comparisons, values).
    """
    n, m = base.shape[1], head.shape[1]
    order = np.argsort(np.concatenate([base, head], axis=1), axis=1)
    ranks_of_head = np.where(order >= n, np.arange(1, n + m + 1), 0).sum(axis=1)
    u = ranks_of_head - m * (m + 1) / 2
    distance = np.maximum(np.abs(u - n * m / 2) - 0.5, 0.0)
    p: Array = 2 * ndtr(-distance / np.sqrt(n * m * (n + m + 1) / 12))
    return p


def rivals(component: CaseNoise, change: float) -> Rivals:
    """Return the study of all rules on one case; at most _MOST_VALUES are drawn of long builds."""
    if component.executions * component.iterations > _MOST_VALUES:
        executions = min(component.executions, _MOST_VALUES)
        component = dataclasses.replace(component, executions=executions, iterations=_MOST_VALUES // executions)
    return Rivals(component, 1 + change)


def draft(setting: Scenario) -> SimulatedSection:
    """Write the chapter."""
    same = tuple(rivals(c, 0.0) for c in setting.components)
    slower = tuple(rivals(c, setting.effects[0]) for c in setting.components)
    rows: tuple[tuple[str, tuple[Rivals, ...], Callable[[RivalCounts, int], float]], ...] = (
        ("no change, 0%: different", same, lambda c, rule: float(c.different[0, rule])),
        (f"no change, {plain(THRESHOLDS[1])}: different", same, lambda c, rule: float(c.different[1, rule])),
        (
            f"+{plain(setting.effects[0])}, {plain(THRESHOLDS[1])}: slower",
            slower,
            lambda c, rule: float(c.failing[1, rule]),
        ),
    )

    def cell(studies: tuple[Rivals, ...], value: Callable[[RivalCounts, int], float], rule: int) -> Ask:
        return Ask(studies, lambda results: percent(sum(value(results.of(s), rule) for s in studies) / len(studies)))

    def alarms(rule: int) -> Ask:
        # cases are independent here
        def show(results: Results) -> str:
            silent = [1 - float(results.of(s).failing[1, rule]) for s in same]
            return percent(1 - math.prod(silent) ** (setting.cases / len(same)))

        return Ask(same, show)

    words = f"a report of {setting.cases}, {plain(THRESHOLDS[1])}: slower"
    lines = (
        *(row(title, *(cell(of, value, rule) for rule in range(len(RULES)))) for title, of, value in rows),
        row(words, *(alarms(rule) for rule in range(len(RULES)))),
    )
    return SimulatedSection(
        "Other rules on the same values",
        (
            (
                f"{_ROUNDS} builds per side, every value drawn; iterations are lognormal. A quarter of the comparisons "
                f"for each case, at most {_MOST_VALUES} values per build; the mean over cases. "
                "Each rule judges a single comparison. `fieller` is the interval over builds. **Pooled Welch** and "
                "**Mann-Whitney** test all values of a side as if they were independent. **Open-loop t** is the "
                f"correct test over builds, repeated at 95% after every round from 2 to {_MOST} until it is "
                "significant. **Two means** and **two minima** compare one number of each side with the threshold. The "
                "threshold applies to the estimate in the pooled tests, and to the interval in `fieller` and "
                "open-loop t. A row names the change, the threshold and what the rule calls it; the last one counts "
                "reports without any change in which some case is called slower."
            ),
            SimulatedTable(("called", *RULES), lines),
        ),
    )


def promises() -> Iterator[Promise]:
    """Give the promise on pooled tests, which is why builds are the unit."""
    same = tuple(rivals(c, 0.0) for c in TABLE_VII)

    def mean(results: Results) -> list[float]:
        return [sum(float(results.of(s).different[0, 1]) for s in same) / len(same)]

    words = "pooled Welch calls A/A different, mean of cases"
    yield Promise(words, 0.33, True, same, mean, draws=0.25 * len(same))
