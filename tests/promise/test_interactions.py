"""Interactions of the gate where builds differ: false ones, and the power that is left (docs/method.md, by factor).

`python -m tests.promise.test_interactions` prints the table of docs/method.md.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from gate.decide.contrasts import contrasts_of
from gate.decide.design import subjects_of
from gate.model import Evidence, Sample
from tests.promise.test_fieller import standard_error
from tests.support.treated import RULES, Shape, crossed, report

PLAIN = Shape()
SHAPES = {
    "builds alike": PLAIN,
    "builds, 1 sd": Shape(builds=1),
    "builds, 3 sd": Shape(builds=3),
    "builds, 3 sd, 50:50": Shape(builds=3, effects="bimodal 50:50"),
    "build x treatment, 0.5 sd": Shape(by_treatment=0.5, common=0.0),
    "build x treatment, 1 sd": Shape(by_treatment=1, common=0.0),
    "build x treatment, 1 sd, skewed": Shape(by_treatment=1, common=0.0, effects="skewed"),
    "build x factor, 3 sd": Shape(by_factor=3, common=0.0),
    "drift of 3 sd, and of 6": Shape(drift=3),
    "one setting 4 times as noisy": Shape(noisy=4),
    "builds of each setting, 1 sd": Shape(builds=1, common=0.0, own=True),
}
DESIGNS = ((1, (2, 2)), (5, (2, 2)))
"""Benchmarks and settings of each factor: too few interactions to share their variance, and enough."""


@dataclass(frozen=True)
class Rates:
    """Shares of reports with a false interaction, and of true ones that are found."""

    false: float
    power: float


def rates(reports: int, rounds: int, benchmarks: int, factors: tuple[int, ...], shape: Shape) -> Rates:
    """Simulate; the true interaction is 3 standard deviations of the noise, of the first factor of every benchmark."""
    rng = np.random.default_rng([20, reports, rounds, benchmarks])
    false = found = 0
    for _ in range(reports):
        null = crossed(report(rng, rounds, benchmarks, factors, shape))
        false += any(c.regression.rejected or c.improvement.rejected for c in null)
    for _ in range(reports // 4):
        true = crossed(report(rng, rounds, benchmarks, factors, shape, interaction=0.06))
        found += sum(c.regression.rejected for c in true if c.contrast.factor == "f0")
    return Rates(false / reports, found / (reports // 4) / benchmarks)


@pytest.mark.promise
@pytest.mark.parametrize("rounds", [5, 10])
@pytest.mark.parametrize(("benchmarks", "factors"), DESIGNS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_at_most_one_report_in_twenty_claims_anything(
    shape: Shape, benchmarks: int, factors: tuple[int, ...], rounds: int
) -> None:
    found = rates(400, rounds, benchmarks, factors, shape)
    assert found.false <= 0.05 + 3 * standard_error(0.05, 400), found


@pytest.mark.promise
@pytest.mark.parametrize(("benchmarks", "factors"), DESIGNS)
def test_three_rounds_claim_nothing(benchmarks: int, factors: tuple[int, ...]) -> None:
    assert rates(200, 3, benchmarks, factors, PLAIN) == Rates(0.0, 0.0)


@pytest.mark.promise
@pytest.mark.parametrize(("benchmarks", "factors"), DESIGNS)
def test_what_builds_have_in_common_costs_no_power(benchmarks: int, factors: tuple[int, ...]) -> None:
    alike = rates(400, 10, benchmarks, factors, PLAIN).power
    assert alike >= 0.95
    for shape in (Shape(builds=3), Shape(builds=3, common=0.0), replace(PLAIN, drift=3)):
        assert rates(400, 10, benchmarks, factors, shape).power >= alike - 0.05, shape


def pooled(reports: int, rounds: int, benchmarks: int, shape: Shape, *, interaction: float = 0.0) -> float:
    """Return the share of reports that claim anything by the error of an analysis of variance.

    That is builds x treatment, over all factors together. The correction is Bonferroni's, for findings and interactions.
    """
    rng = np.random.default_rng([20, reports, rounds, benchmarks])
    drawn = (report(rng, rounds, benchmarks, (2, 2), shape, interaction=interaction) for _ in range(reports))
    return sum(map(_claims, drawn)) / reports


def _claims(found: Evidence) -> bool:
    """Return whether any interaction is claimed."""
    subjects = subjects_of(found, RULES)
    contrasts = contrasts_of(subjects, None).found
    level = 0.025 / (len(subjects) + len(contrasts))
    claimed = False
    for contrast in contrasts:
        name = contrast.subject.case.benchmark
        d = {id(s): _rounds(s.case.head) - _rounds(s.case.base) for s in subjects if s.case.benchmark == name}
        every = np.array(list(d.values()))
        rest = every - every.mean(axis=0) - every.mean(axis=1)[:, None] + every.mean()
        df = (every.shape[0] - 1) * (every.shape[1] - 1)
        error = math.sqrt((rest**2).sum() / df * contrast.squares / every.shape[1])
        value = sum(part.weight * d[id(part.subject)].mean() for part in contrast.parts)
        claimed |= bool(stats.t.sf(abs(value) / error, df) < level)
    return claimed


def _rounds(side: Sample) -> npt.NDArray[np.float64]:
    means: npt.NDArray[np.float64] = np.log(side.values.reshape(len(side.builds), -1).mean(axis=1))
    return means


@pytest.mark.promise
@pytest.mark.parametrize("benchmarks", [1, 5])
def test_the_pooled_error_of_a_stratum_calls_chance_an_interaction(benchmarks: int) -> None:
    assert pooled(400, 5, benchmarks, SHAPES["build x factor, 3 sd"]) > 0.08


def table(reports: int) -> None:
    """Print the rows of docs/method.md."""
    for name, shape in SHAPES.items():
        cells = []
        for benchmarks, factors in DESIGNS:
            for rounds in (3, 5, 10):
                found = rates(reports, rounds, benchmarks, factors, shape)
                cells.append(f"{found.false:.1%}, {found.power:.0%}")
        sys.stdout.write(f"| {name} | {' | '.join(cells)} |\n")
        sys.stdout.flush()
    for benchmarks in (1, 5):
        wrong = pooled(reports, 5, benchmarks, SHAPES["build x factor, 3 sd"])
        sys.stdout.write(f"pooled, build x factor, {benchmarks} benchmarks, 5 rounds: {wrong:.1%}\n")
    found_pooled = pooled(reports, 5, 1, PLAIN, interaction=0.06)
    sys.stdout.write(f"pooled, builds alike, 1 benchmark, 5 rounds, true: {found_pooled:.0%}\n")


if __name__ == "__main__":
    table(int(sys.argv[1]))
