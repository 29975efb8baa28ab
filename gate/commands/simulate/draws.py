"""Variance components of cases, the shapes of build effects, and the evidence that is drawn from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, Protocol, TextIO

import numpy as np

from gate.cli.groups import RulesOptions
from gate.model import (
    Case,
    Evidence,
    Layouts,
    RoundsDone,
    Run,
    Sample,
)
from gate.planning.basis import from_runs
from gate.planning.document import names
from gate.stats.planning import build_variance, without_shared
from gate.stats.rounding import Array, Ints
from gate.writing.plain import visible

Kind = Literal["normal", "skewed", "bimodal"]


@dataclass(frozen=True, slots=True)
class CaseNoise:
    """One case: the standard deviation of each level alone (T) as a share of the mean, and how often it is measured."""

    name: str
    build: float
    execution: float
    iteration: float
    executions: int = 10
    """In each build."""
    iterations: int = 10
    """In each execution."""
    drift: float = 0.0
    """Of a round, common to both sides."""

    @property
    def below(self) -> float:
        """What executions and iterations leave in the relative variance of a build's mean."""
        return self.execution**2 / self.executions + self.iteration**2 / (self.executions * self.iterations)

    @property
    def of_build_mean(self) -> float:
        """The relative variance of the mean of one build, without the drift of its round."""
        return self.build**2 + self.below


# Kalibera and Jones 2012, Table VII: T where it differs from S (in parentheses there), else S
TABLE_VII = (
    CaseNoise("FFT NA OPT", 0.034, 0.082, 0.014),
    CaseNoise("FFT NA", 0.034, 0.078, 0.014),
    CaseNoise("FFT OPT", 0.044, 0.082, 0.043),
    CaseNoise("FFT", 0.041, 0.067, 0.046),
    CaseNoise("HTTP OPT", 0.002, 0.0, 0.225),
    CaseNoise("HTTP", 0.002, 0.0, 0.215),
    CaseNoise("Rijndael OPT", 0.004, 0.035, 0.093),
    CaseNoise("Rijndael", 0.004, 0.032, 0.091),
    CaseNoise("TCP OPT", 0.006, 0.0, 0.418),
    CaseNoise("TCP", 0.006, 0.0, 0.386),
)


@dataclass(frozen=True, slots=True)
class Shape:
    """How the effects of builds are distributed, with mean 0 and standard deviation 1."""

    kind: Kind
    share: float = 0.5
    """Of the builds that have the slow one of two layouts."""
    residual: float = 0.3
    """Standard deviation within a layout, of that between the layouts."""

    @property
    def name(self) -> str:
        """Return the shape in words: "bimodal 20:80"."""
        if self.kind != "bimodal":
            return self.kind
        words = f"bimodal {self.share:.0%}:{1 - self.share:.0%}".replace("%", "")
        return words if self.residual == 0.3 else f"{words}, residual {self.residual:g}"

    def draw(self, rng: np.random.Generator, size: tuple[int, ...]) -> Array:
        """Draw effects of any shape of array."""
        if self.kind == "normal":
            return rng.standard_normal(size)
        if self.kind == "skewed":
            # a shifted gamma with skewness 1: a tail of slow layouts
            skewed: Array = (rng.standard_gamma(4.0, size) - 4) / 2
            return skewed
        between = ((rng.random(size) < self.share) - self.share) / math.sqrt(self.share * (1 - self.share))
        effects: Array = (between + self.residual * rng.standard_normal(size)) / math.sqrt(1 + self.residual**2)
        return effects


NORMAL = Shape("normal")
SHAPES = (NORMAL, Shape("skewed"), Shape("bimodal", 0.5), Shape("bimodal", 0.2), Shape("bimodal", 0.05))


def of_runs(runs: Sequence[str], err: TextIO) -> tuple[CaseNoise, ...]:
    """Take the components of every case that a plan from these runs would go by.

    What base and head of a round share, as a layout or the host's speed, is its drift and not in the levels.

    Args:
        err: where cases that are left out are named.

    Raises:
        UserError: a file that cannot be read, or nothing to take.
    """
    gathered, found = from_runs(runs, RulesOptions()), []
    err.writelines(f"perfgate: {visible(note)}\n" for note in gathered.left_out)
    for known, name in zip(gathered.known, names(gathered.known), strict=True):
        whole, often = known.components, known.repeated
        apart = without_shared(whole, known.shared, often[0])
        drift = max(build_variance(whole, *often) - build_variance(apart, *often), 0.0)
        build, execution, iteration = map(math.sqrt, (apart.build, apart.execution, apart.iteration))
        executions, iterations = (max(1, round(count)) for count in often)
        found.append(CaseNoise(name, build, execution, iteration, executions, iterations, math.sqrt(drift)))
    return tuple(found)


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
class CaseDraws:
    """Independent cases, each measured `rounds` times a side; one value a build stands for all that is below it.

    Exact for means: with balanced normal lower levels a build's mean is its effect and one normal variate with the
    variance that the levels below leave.
    """

    components: tuple[CaseNoise, ...]
    """One per case."""
    shape: Shape = NORMAL

    def evidence(
        self, rng: np.random.Generator, rounds: int, looks: Sequence[int], ratios: Sequence[float]
    ) -> Evidence:
        """Draw a run; layouts are common, as by default."""
        size = (len(self.components), rounds)
        build, below, drift = levels_of(self.components)
        shared = drift * rng.standard_normal(size) if drift.any() else 0.0
        base, head = (
            1 + shared + (build * self.shape.draw(rng, size) + below * rng.standard_normal(size)) for _ in range(2)
        )
        head *= np.array(ratios)[:, None]
        return evidence_of(cases_of(base, head), Run(created=CREATED, seed=1), rounds, looks)


def levels_of(components: Sequence[CaseNoise]) -> tuple[Array, Array, Array]:
    """Return the deviations of builds, of what is below them and of rounds, each of shape (cases, 1)."""
    of_build, below, of_round = (
        np.array(own)[:, None]
        for own in zip(*((c.build, math.sqrt(c.below), c.drift) for c in components), strict=True)
    )
    return of_build, below, of_round


def cases_of(base: Array, head: Array) -> list[Case]:
    """Make cases of the means of builds, of shape (cases, rounds)."""
    sides = zip(np.maximum(base, _LEAST), np.maximum(head, _LEAST), strict=True)
    return [case(f"case-{k}", of_builds(x), of_builds(y)) for k, (x, y) in enumerate(sides)]


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


def evidence_of(
    cases: list[Case], run: Run, rounds: int, looks: Sequence[int], *, layouts: Layouts | None = "common"
) -> Evidence:
    """Wrap cases as what one complete run of so many rounds measured; looks: () for a fixed design."""
    return Evidence(
        run=run, layouts=layouts, cases=cases, failures=[], new=[], rounds=RoundsDone(done=rounds, planned=rounds),
        looks=list(looks), seconds=None, slowest_round=None, builds=[], states=[], warnings=[],
    )  # fmt: skip
