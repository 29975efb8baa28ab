"""What docs/method.md promises: coverage of the default interval, false alarms of the gate.

Each bound is the promise plus three standard errors of the simulation.
"""

import datetime
import math
from functools import partial
from itertools import product

import numpy as np
import pytest

from gate.config.rules import Policy
from gate.config.types import Config, Gate
from gate.decide.report import decide
from gate.stats.centers import reduce_to
from gate.stats.ratio import Limits, ratio_of
from gate.units import Quantity, Share
from tests.support import simulate
from tests.support.seeds import some

TODAY = datetime.date(2026, 11, 20)


def standard_error(share: float, n: int) -> float:
    return math.sqrt(share * (1 - share) / n)


def at_most(rate: float, promise: float, n: int, of: object = "") -> None:
    """The promise plus three standard errors of the simulation."""
    assert rate <= promise + 3 * standard_error(promise, n), f"{rate:.4f} against {promise} {of}"


def covers(limits: Limits, truth: float) -> bool:
    return limits.low is not None and limits.high is not None and limits.low < truth < limits.high


def coverage(name: str, builds: int, trials: int, components: tuple[float, float, float], seed: int) -> float:
    rng = np.random.default_rng([seed, builds])
    effects = simulate.DISTRIBUTIONS[name]
    inside = 0
    for _ in range(trials):
        base = simulate.sample(rng, effects, components, (builds, 3, 3))
        head = simulate.sample(rng, effects, components, (builds, 3, 3), mean=1.05)
        inside += covers(ratio_of(reduce_to(base, head, None, exact=False), "fieller").limits(0.05), 1.05)
    return inside / trials


def false_alarms(name: str, reports: int, threshold: float, builds: int = 5, cases: int = 20) -> float:
    rng = np.random.default_rng([2, builds, cases])
    draw = partial(simulate.sample, rng, simulate.DISTRIBUTIONS[name], simulate.FFT, (builds, 3, 3))
    gate = Gate(threshold=Share(threshold), floor=Quantity.parse("0"))
    policy = Policy(Config(gate=gate), "test", TODAY)
    found = (decide(simulate.evidence([(draw(), draw()) for _ in range(cases)]), policy) for _ in range(reports))
    return sum(report.verdict == "regression" for report in found) / reports


COVERED = [
    (name, builds, 8000, components)
    for components, name, builds in product((simulate.FFT, simulate.HTTP_OPT), simulate.DISTRIBUTIONS, (3, 5, 10, 20))
]


@pytest.mark.parametrize(
    ("name", "builds", "trials", "components"),
    some([("normal", 3, 1000, simulate.FFT), ("bimodal 50:50", 5, 1000, simulate.FFT), *COVERED], 2),
)
def test_coverage_of_the_default_interval(
    name: str, builds: int, trials: int, components: tuple[float, float, float]
) -> None:
    covered = coverage(name, builds, trials, components, seed=1)
    assert covered >= 0.94 - 3 * standard_error(0.94, trials), f"{covered:.4f}"
    if name == "normal":
        at_most(covered, 0.98, trials)


ALARMS = [
    ("normal", 0.0, 0.03),
    ("skewed", 0.0, 0.03),
    ("bimodal 50:50", 0.0, 0.05),
    ("normal", 0.02, 0.005),
    ("bimodal 50:50", 0.02, 0.025),
]


@pytest.mark.promise
@pytest.mark.parametrize(("name", "threshold", "promise"), ALARMS)
def test_false_alarms_of_the_whole_gate(name: str, threshold: float, promise: float) -> None:
    at_most(false_alarms(name, 4000, threshold), promise, 4000)
