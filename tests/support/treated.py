"""Reports over treatments whose builds differ in known ways, for the promises of interactions."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt

from gate.config.rules import Policy
from gate.config.types import Config, Gate
from gate.decide.contrasts import contrasts_of
from gate.decide.design import design_of, subjects_of
from gate.decide.interaction_tests import Crossed
from gate.decide.looks import walk
from gate.model import Evidence, Round, Run, Sample
from gate.units import Quantity, Share
from tests.support import simulate

NOISE = 0.02
"""Of the mean of a build at one treatment, relative: everything else is in terms of it."""
_EXECUTIONS = 4
RULES = Policy(
    Config(gate=Gate(threshold=Share(0.0), floor=Quantity.parse("0"))), "promise", datetime.date(2026, 11, 20)
)


@dataclass(frozen=True)
class Shape:
    """What differs, in standard deviations of the noise. builds: at all treatments alike; common: the share of that
    variance, and of by_treatment and by_factor, that both sides of a round have. by_treatment: at each by itself.
    by_factor: at each setting of the first factor. drift: from the first round to the last, at each setting of it more.
    noisy: times the noise at its last setting. own: whether its settings have builds of their own."""

    builds: float = 0.0
    by_treatment: float = 0.0
    by_factor: float = 0.0
    drift: float = 0.0
    common: float = 0.9
    noisy: float = 1.0
    own: bool = False
    effects: str = "normal"


def report(
    rng: np.random.Generator,
    rounds: int,
    benchmarks: int,
    factors: Sequence[int],
    shape: Shape,
    *,
    interaction: float = 0.0,
    executions: int = _EXECUTIONS,
) -> Evidence:
    """Draw one report; factors: how many settings each has. interaction: head's change at the first one's last setting.

    executions: of a build; NOISE is that of a mean over _EXECUTIONS.
    """
    draw = simulate.DISTRIBUTIONS[shape.effects]
    cells = list(itertools.product(*map(range, factors)))

    def sides(size: float) -> list[npt.NDArray[np.float64]]:
        both = draw(rng, rounds)
        return [
            NOISE * size * (np.sqrt(shape.common) * both + np.sqrt(1 - shape.common) * draw(rng, rounds))
            for _ in range(2)
        ]

    pairs = []
    for _ in range(benchmarks):
        of_builds = [sides(shape.builds) for _ in range(factors[0] if shape.own else 1)]
        of_factor = [sides(shape.by_factor) for _ in range(factors[0])]
        for cell in cells:
            at = cell[0]
            last = at == factors[0] - 1
            apart = sides(shape.by_treatment)
            slope = NOISE * shape.drift * (1 + at) * np.linspace(0, 1, rounds)
            noise = NOISE * (shape.noisy if last else 1.0) * np.sqrt(_EXECUTIONS)
            pair = []
            for s in range(2):
                build = of_builds[at if shape.own else 0][s] + of_factor[at][s] + apart[s] + slope
                logs = build[:, None] + noise * rng.normal(0, 1, (rounds, executions)) + s * last * interaction
                pair.append(_sample(np.exp(logs)))
            pairs.append((pair[0], pair[1]))
    found = simulate.evidence(pairs)
    names = [(f"case-{k}", cell) for k in range(benchmarks) for cell in cells]
    return msgspec.structs.replace(
        found,
        # common layouts, as a run of perfgate's own says
        run=Run(config={"build": {}}),
        rounds=Round(done=rounds, planned=rounds),
        cases=[
            msgspec.structs.replace(case, benchmark=name, factors={f"f{i}": value for i, value in enumerate(cell)})
            for case, (name, cell) in zip(found.cases, names, strict=True)
        ],
    )


def _sample(values: npt.NDArray[np.float64]) -> Sample:
    builds, executions = values.shape
    sizes = (np.ones(builds * executions, dtype=int), np.full(builds, executions), np.array([builds]))
    return Sample(values.ravel(), sizes, tuple((0, k) for k in range(builds)))


def crossed(found: Evidence, rules: Policy = RULES) -> list[Crossed]:
    """Test the interactions of a report as gate.decide.report does."""
    subjects = subjects_of(found, rules)
    contrasts = contrasts_of(subjects, None).found
    return walk(subjects, design_of(found, rules, subjects, len(contrasts)), contrasts).crossed
