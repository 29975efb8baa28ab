"""Evidence that no simulation of a user needs: a noise that has changed, common and uneven layouts, a memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gate.commands.simulate.draws import CREATED, NORMAL, CaseNoise, Shape, cases_of, evidence_of, levels_of
from gate.model import Evidence, FindingMemory, Memory, RelativeVariance, Remembered, Run
from gate.model.case import MEAN
from gate.stats.prior import MOST_DF
from gate.stats.rounding import Array

MEMORY_DF = 20
"""The most degrees that a memory is worth."""


@dataclass(frozen=True, slots=True)
class Varied:
    """Independent cases, as those of `perfgate simulate`, and what may set them apart from these."""

    components: tuple[CaseNoise, ...]
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
        memory = self._memory(rng) if self.memory else None
        run = Run(created=CREATED, seed=1, memory=memory)
        return evidence_of(cases_of(base, head), run, rounds, looks, layouts=None if memory else "common")

    def _means(self, rng: np.random.Generator, rounds: int, *, now: bool) -> tuple[Array, Array]:
        """Draw the means of the builds of both sides around 1, shape (cases, rounds); now: with the noise of now."""
        size = (len(self.components), rounds)
        build, below, drift = levels_of(self.components)
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
                build=RelativeVariance(value=float(side), df=min(2.0 * self.memory, MOST_DF)),
                contrast=RelativeVariance(value=float(contrast), df=self.memory),
            )])
            for k, (contrast, side) in enumerate(zip(contrasts, within, strict=True))
        ]  # fmt: skip
        return Memory(findings=findings, contrast_nu=None, build_nu=None, unused=[])
