"""Evidence drawn from known variance components: what a gate would decide over, with a known truth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import numpy as np

from gate.commands.simulate.components import NORMAL, Components, Shape
from gate.model import Case, Evidence, FindingMemory, Layouts, MeanSquare, Memory, Remembered, Round, Run, Sample
from gate.model.case import MEAN
from gate.stats.prior import MOST_DF
from gate.stats.rounding import Array, Ints

CREATED = "2026-11-20T09:00:00Z"
CASE = "case-0"
"""The only case whose values are all drawn."""
_LEAST = 1e-3
"""Of a mean of 1: a time is above 0, however much its components make it vary."""


class Draws(Protocol):
    """Where the reports of a study come from. Its repr names it, and with it the random numbers that it is given."""

    def evidence(
        self, rng: np.random.Generator, rounds: int, looks: Sequence[int], ratios: Sequence[float]
    ) -> Evidence:
        """Draw what one run of so many rounds measured; ratios: the truth of each case."""
        ...


@dataclass(frozen=True, slots=True)
class Source:
    """Independent cases, each measured `rounds` times a side; one value a build stands for all that is below it.

    Exact for means: with balanced normal lower levels a build's mean is its effect and one normal variate with the
    variance that the levels below leave.
    """

    components: tuple[Components, ...]
    """One per case."""
    shape: Shape = NORMAL
    noise: float = 1.0
    """Variance now over the variance given by the components, which is what a memory holds: of all cases, or of the
    first one only.
    """
    one_noisy: bool = False
    correlation: float = 0.0
    """Of the effects of a build on base and head, as layouts that both sides share give it."""
    uneven: float = 0.0
    """Standard deviation of the true change from layout to layout."""
    memory: int = 0
    """Degrees of what is remembered; 0: nothing is."""

    def evidence(
        self, rng: np.random.Generator, rounds: int, looks: Sequence[int], ratios: Sequence[float]
    ) -> Evidence:
        """Draw a run; layouts are common, as by default, but where there is a memory, which is of independent ones."""
        base, head = self._means(rng, rounds, now=True)
        head *= np.array(ratios)[:, None]
        cases = [
            case(f"case-{k}", of_builds(x), of_builds(y))
            for k, (x, y) in enumerate(zip(np.maximum(base, _LEAST), np.maximum(head, _LEAST), strict=True))
        ]
        memory = self._memory(rng) if self.memory else None
        run = Run(created=CREATED, seed=1, memory=memory)
        return run_of(cases, run, rounds, looks, layouts=None if memory else "common")

    def _means(self, rng: np.random.Generator, rounds: int, *, now: bool) -> tuple[Array, Array]:
        """Draw the means of the builds of both sides around 1, shape (cases, rounds); now: with the noise of now."""
        size = (len(self.components), rounds)
        build, below, drift = (
            np.array([value(c) for c in self.components])[:, None]
            for value in (lambda c: c.build, lambda c: math.sqrt(c.below), lambda c: c.drift)
        )
        common = math.sqrt(self.correlation) * self.shape.draw(rng, size) if self.correlation else 0.0
        alone = math.sqrt(1 - self.correlation)
        shared = drift * rng.standard_normal(size) if drift.any() else 0.0
        noise = np.full((len(self.components), 1), math.sqrt(self.noise) if now else 1.0)
        if self.one_noisy:
            noise[1:] = 1.0
        base, head = (
            1 + shared + noise * (
                build * (common + alone * self.shape.draw(rng, size)) + below * rng.standard_normal(size)
            )
            for _ in range(2)
        )  # fmt: skip
        return base, head * (1 + self.uneven * rng.standard_normal(size)) if self.uneven else head

    def _memory(self, rng: np.random.Generator) -> Memory:
        """Draw what one calibration of memory + 1 rounds found: contrasts of rounds, and variances within the sides."""
        base, head = self._means(rng, self.memory + 1, now=False)
        contrasts = (head - base).var(axis=1, ddof=1)
        within = (base.var(axis=1, ddof=1) + head.var(axis=1, ddof=1)) / 2
        findings = [
            FindingMemory(benchmark=f"case-{k}", metric="time", factors={}, statistic=MEAN, sessions=[Remembered(
                session="calibration", created=CREATED, rounds=self.memory + 1, executions=1, iterations=1,
                iteration=None, execution=None,
                build=MeanSquare(value=float(side), df=min(2.0 * self.memory, MOST_DF)),
                contrast=MeanSquare(value=float(contrast), df=self.memory),
            )])
            for k, (contrast, side) in enumerate(zip(contrasts, within, strict=True))
        ]  # fmt: skip
        return Memory(findings=findings, contrast_nu=None, build_nu=None, unused=[])


def case(name: str, base: Sample, head: Sample) -> Case:
    """Make a case of a time that is decided."""
    return Case(
        benchmark=name, metric="time", factors={}, unit="s", better="lower", exact=False, decided=True, base=base,
        head=head, warnings=[],
    )  # fmt: skip


def of_builds(means: Array) -> Sample:
    """Make a sample of one value a build."""
    return of_values(means[:, None, None])


def of_values(values: Array) -> Sample:
    """Make a sample of values of shape (builds, executions, iterations)."""
    return Sample(values.ravel(), *_nested(*values.shape))


@cache
def _nested(builds: int, executions: int, iterations: int) -> tuple[tuple[Ints, ...], tuple[tuple[int, int], ...]]:
    counts = (np.full(builds * executions, iterations), np.full(builds, executions), np.array([builds]))
    return counts, tuple((0, k) for k in range(builds))


def run_of(
    cases: list[Case], run: Run, rounds: int, looks: Sequence[int], *, layouts: Layouts | None = "common"
) -> Evidence:
    """Wrap cases as what one complete run of so many rounds measured; looks: () for a fixed design."""
    return Evidence(
        run=run, layouts=layouts, cases=cases, failures=[], new=[], rounds=Round(done=rounds, planned=rounds),
        looks=list(looks), seconds=None, slowest_round=None, builds=[], states=[], warnings=[],
    )  # fmt: skip
