"""What docs/method.md promises: coverage of the default interval, false alarms of the gate.

Each bound is the promise plus three standard errors of the simulation.
"""

import datetime
import math

import numpy as np
import pytest

from gate.config.rules import Policy
from gate.config.types import Config, Gate
from gate.decide import decide
from gate.stats.estimate import ratio_of, reduce
from gate.units import Quantity, Share
from tests.support import simulate

TODAY = datetime.date(2026, 11, 20)


def standard_error(share: float, n: int) -> float:
    return math.sqrt(share * (1 - share) / n)


def coverage(name: str, builds: int, trials: int, components: tuple[float, float, float], seed: int) -> float:
    rng = np.random.default_rng([seed, builds])
    effects = simulate.DISTRIBUTIONS[name]
    inside = 0
    for _ in range(trials):
        base = simulate.sample(rng, effects, components, (builds, 3, 3))
        head = simulate.sample(rng, effects, components, (builds, 3, 3), mean=1.05)
        limits = ratio_of(reduce(base, head, None, exact=False), "fieller").limits(0.05)
        inside += limits.low is not None and limits.high is not None and limits.low < 1.05 < limits.high
    return inside / trials


def check_coverage(name: str, builds: int, trials: int, components: tuple[float, float, float]) -> None:
    covered = coverage(name, builds, trials, components, seed=1)
    assert covered >= 0.94 - 3 * standard_error(0.94, trials), f"{covered:.4f}"
    if name == "normal":
        assert covered <= 0.98 + 3 * standard_error(0.98, trials), f"{covered:.4f}"


def false_alarms(name: str, reports: int, threshold: float, builds: int = 5, cases: int = 20) -> float:
    rng = np.random.default_rng([2, builds, cases])
    effects = simulate.DISTRIBUTIONS[name]
    gate = Gate(threshold=Share(threshold), floor=Quantity.parse("0"))
    policy = Policy(Config(gate=gate), "test", TODAY)
    failed = 0
    for _ in range(reports):
        pairs = [
            (
                simulate.sample(rng, effects, simulate.FFT, (builds, 3, 3)),
                simulate.sample(rng, effects, simulate.FFT, (builds, 3, 3)),
            )
            for _ in range(cases)
        ]
        failed += decide(simulate.evidence(pairs), policy).verdict == "regression"
    return failed / reports


def check_false_alarms(name: str, reports: int, threshold: float, promise: float) -> None:
    rate = false_alarms(name, reports, threshold)
    assert rate <= promise + 3 * standard_error(promise, reports), f"{rate:.4f}"


@pytest.mark.parametrize(("name", "builds"), [("normal", 3), ("bimodal 50:50", 5)])
def test_coverage_of_the_default_interval_quick(name: str, builds: int) -> None:
    check_coverage(name, builds, 1000, simulate.FFT)


@pytest.mark.promise
@pytest.mark.parametrize("components", [simulate.FFT, simulate.HTTP_OPT], ids=["FFT", "HTTP OPT"])
@pytest.mark.parametrize("builds", [3, 5, 10, 20])
@pytest.mark.parametrize("name", simulate.DISTRIBUTIONS)
def test_coverage_of_the_default_interval(name: str, builds: int, components: tuple[float, float, float]) -> None:
    check_coverage(name, builds, 8000, components)


@pytest.mark.promise
@pytest.mark.parametrize(
    ("name", "threshold", "promise"),
    [
        ("normal", 0.0, 0.03),
        ("skewed", 0.0, 0.03),
        ("bimodal 50:50", 0.0, 0.05),
        ("normal", 0.02, 0.005),
        ("bimodal 50:50", 0.02, 0.025),
    ],
)
def test_false_alarms_of_the_whole_gate(name: str, threshold: float, promise: float) -> None:
    check_false_alarms(name, 4000, threshold, promise)
