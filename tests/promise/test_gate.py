"""The whole gate against its promises (docs/method.md): reports that fail though nothing changed, and wrong "not worse".

Everything goes through decide, with looks, family, memory and min_builds as a user has them. Each bound is the promise
plus three standard errors of the simulation.
"""

import datetime
from dataclasses import dataclass

import msgspec
import numpy as np
import pytest

from gate.config.rules import Policy
from gate.config.types import Config, Gate
from gate.decide import decide
from gate.model import Evidence, FindingMemory, MeanSquare, Memory, Remembered, Round, Run, Sample
from gate.units import Quantity, Share
from tests.promise.test_fieller import standard_error
from tests.support import simulate

TODAY = datetime.date(2026, 11, 20)
NOW = "2026-11-20T09:00:00Z"
LOOKS = [4, 6, 8, 12]
COUNTS = (3, 3)
CASES = 20


@dataclass(frozen=True)
class Setting:
    """One row of the promises. noise: of the whole host, as a factor of what is remembered; 0: no memory."""

    effects: str
    threshold: float
    looks: bool = False
    builds: int = 5
    noise: float = 0.0
    change: float = 1.0


def mean_variance(components: tuple[float, float, float]) -> float:
    build, execution, iteration = components
    executions, iterations = COUNTS
    return build**2 + execution**2 / executions + iteration**2 / (executions * iterations)


def remembered(rng: np.random.Generator, name: str, variance: float) -> FindingMemory:
    """One calibration of 20 degrees, right about the variance of a round's contrast."""
    contrast = 2 * variance * float(rng.chisquare(20)) / 20
    session = Remembered(
        session="calibration", created=NOW, rounds=21, executions=COUNTS[0], iterations=COUNTS[1], iteration=None,
        execution=None, build=None, contrast=MeanSquare(value=contrast, df=20),
    )  # fmt: skip
    return FindingMemory(benchmark=name, metric="time", factors={}, statistic="mean", sessions=[session])


def evidence(rng: np.random.Generator, setting: Setting) -> Evidence:
    rounds = LOOKS[-1] if setting.looks else setting.builds
    scale = setting.noise**0.5 if setting.noise else 1.0
    build, execution, iteration = simulate.FFT
    components = (build * scale, execution * scale, iteration * scale)

    def side(mean: float) -> Sample:
        return simulate.sample(rng, simulate.DISTRIBUTIONS[setting.effects], components, (rounds, *COUNTS), mean)

    found = simulate.evidence([(side(1.0), side(setting.change)) for _ in range(CASES)])
    memory = None
    if setting.noise:
        variance = mean_variance(simulate.FFT)
        memory = Memory(
            findings=[remembered(rng, case.benchmark, variance) for case in found.cases],
            contrast_nu=None, build_nu=None, unused=[],
        )  # fmt: skip
    return msgspec.structs.replace(
        found,
        run=Run(created=NOW, seed=1, memory=memory),
        looks=LOOKS if setting.looks else [],
        rounds=Round(done=rounds, planned=rounds),
    )


@dataclass(frozen=True)
class Rates:
    """Shares of reports that fail, and of findings that are said to be not worse; rounds is their mean number."""

    failed: float
    not_worse: float
    rounds: float


def rates(setting: Setting, reports: int, seed: int = 5) -> Rates:
    rng = np.random.default_rng([seed, setting.builds, int(setting.looks)])
    gate = Gate(threshold=Share(setting.threshold), floor=Quantity.parse("0"))
    policy = Policy(Config(gate=gate), "promise", TODAY)
    failed, not_worse, rounds = 0, 0, 0
    for _ in range(reports):
        found = decide(evidence(rng, setting), policy)
        failed += found.verdict == "regression"
        not_worse += sum(f.not_worse for f in found.findings)
        rounds += sum(f.base.counts.build for f in found.findings)
    return Rates(failed / reports, not_worse / reports / CASES, rounds / reports / CASES)


def check(rate: float, promise: float, count: int) -> None:
    assert rate <= promise + 3 * standard_error(promise, count), f"{rate:.4f} against {promise}"


A_A = [
    (Setting("normal", 0.0, looks=True), 0.03),
    (Setting("skewed", 0.0, looks=True), 0.03),
    (Setting("bimodal 50:50", 0.0, looks=True), 0.05),
    (Setting("normal", 0.02, looks=True), 0.005),
    (Setting("bimodal 50:50", 0.02, looks=True), 0.01),
    (Setting("bimodal 50:50", 0.02), 0.025),
    (Setting("normal", 0.0, noise=1.0, looks=True), 0.03),
    (Setting("normal", 0.0, noise=2.0), 0.035),
]


def test_false_alarms_with_looks_quick() -> None:
    check(rates(Setting("normal", 0.0, looks=True), 12).failed, 0.03, 12)


@pytest.mark.promise
@pytest.mark.parametrize(("setting", "promise"), A_A)
def test_false_alarms(setting: Setting, promise: float) -> None:
    check(rates(setting, 4000).failed, promise, 4000)


@pytest.mark.promise
@pytest.mark.parametrize(("effects", "promise"), [("normal", 0.03), ("skewed", 0.03), ("bimodal 50:50", 0.035)])
def test_a_change_as_large_as_the_threshold_is_seldom_called_not_worse(effects: str, promise: float) -> None:
    setting = Setting(effects, 0.03, looks=True, change=1.03)
    check(rates(setting, 1000).not_worse, promise, 1000 * CASES)
