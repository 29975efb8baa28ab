"""The whole gate against its promises (docs/method.md): reports that fail though nothing changed, and wrong "not worse".

All but the coverage of the default interval goes through decide, with looks, family, memory and min_builds as a user has
them, on the noise of FFT of Kalibera and Jones 2012, Table VII. Each bound is the promise plus three standard errors of
the simulation.
"""

import datetime
import math
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from benchmarks.evidence.sources import Varied
from gate.commands.simulate.draws import NORMAL, CaseNoise, Shape
from gate.commands.simulate.studies import ReportCounts, Reports, Rules
from gate.config.config_text import read_source
from gate.config.parse import parse
from gate.config.rules import Policy
from gate.config.types import Interval
from gate.decide.report import decide
from gate.model import Sample
from gate.stats.centers import reduce_to
from gate.stats.ratio import Limits, ratio_of
from tests.support import simulate
from tests.support.samples import nested
from tests.support.seeds import some


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


COVERED = [
    (name, builds, 8000, components)
    for components, name, builds in product((simulate.FFT, simulate.HTTP_OPT), simulate.DISTRIBUTIONS, (3, 5, 10, 20))
]


@pytest.mark.parametrize(
    ("name", "builds", "trials", "components"),
    some([("normal", 3, 1000, simulate.FFT), ("bimodal 50:50", 5, 1000, simulate.FFT), *COVERED], 2),
)
def test_coverage_by_default(name: str, builds: int, trials: int, components: tuple[float, float, float]) -> None:
    covered = coverage(name, builds, trials, components, seed=1)
    assert covered >= 0.94 - 3 * standard_error(0.94, trials), f"{covered:.4f}"
    if name == "normal":
        at_most(covered, 0.98, trials)


# --- reports ---

FIXED, LOOKS = (5,), (4, 6, 8, 12)
CASES = 20
FFT = CaseNoise("FFT", 0.041, 0.067, 0.046, executions=3, iterations=3)
SKEWED, BIMODAL = Shape("skewed"), Shape("bimodal", 0.5)


@dataclass(frozen=True)
class Setting:
    """One row of the promises. noise: of the whole host, as a factor of what is remembered; 0: no memory."""

    shape: Shape
    threshold: float
    looks: tuple[int, ...] = LOOKS
    noise: float = 0.0
    interval: Interval = "auto"
    change: float = 1.0


def counts(setting: Setting, reports: int) -> ReportCounts:
    memory = 20 if setting.noise else 0
    source = Varied((FFT,) * CASES, setting.shape, setting.noise or 1.0, memory=memory)
    study = Reports(source, Rules(setting.threshold, setting.looks, setting.interval), (setting.change,) * CASES)
    return study.run(np.random.default_rng([5, *setting.looks]), reports)


A_A = [
    *((Setting(shape, 0.0, interval=interval), bound)  # cases that share their variance, and that do not
      for shape, bound in ((NORMAL, 0.03), (SKEWED, 0.03), (BIMODAL, 0.05))
      for interval in ("auto", "paired")),
    # a fixed design of five builds, where auto does not pair
    *((Setting(shape, 0.0, FIXED), bound) for shape, bound in ((NORMAL, 0.03), (SKEWED, 0.03), (BIMODAL, 0.05))),
    (Setting(NORMAL, 0.02, FIXED), 0.005),
    (Setting(NORMAL, 0.02), 0.005),
    (Setting(BIMODAL, 0.02), 0.01),
    (Setting(BIMODAL, 0.02, FIXED, interval="fieller"), 0.025),
    (Setting(NORMAL, 0.0, noise=1.0), 0.03),
    (Setting(NORMAL, 0.0, FIXED, noise=2.0), 0.035),
]  # fmt: skip


@pytest.mark.parametrize(
    ("setting", "promise", "reports"), some([(Setting(NORMAL, 0.0), 0.03, 12), *((*row, 4000) for row in A_A)], 1)
)
def test_false_alarms(setting: Setting, promise: float, reports: int) -> None:
    at_most(counts(setting, reports).failing, promise, reports)


@pytest.mark.promise
@pytest.mark.parametrize(("shape", "promise"), [(NORMAL, 0.03), (SKEWED, 0.03), (BIMODAL, 0.035)])
def test_a_change_as_large_as_the_threshold_is_seldom_called_not_worse(shape: Shape, promise: float) -> None:
    for interval in ("auto", "paired"):
        found = counts(Setting(shape, 0.03, interval=interval, change=1.03), 1000)
        at_most(float(found.not_worse.mean()) / found.reports, promise, 1000 * CASES)


# --- values that are written in few digits, beside others that are not ---

REPORTS, ROUNDED, FINE, BUILDS = 500, 10, 10, 6


def side(values: list[float], step: float) -> Sample:
    return nested([[[value]] for value in values], step=step)


def pair(rng: np.random.Generator, change: float, *, rounded: bool) -> tuple[Sample, Sample]:
    """Draw a case: means of 8 to 60 steps, whose noise is none to six tenths of a step; or values of all digits."""
    mean, sd = math.exp(rng.uniform(math.log(8), math.log(60))), float(rng.choice([0.0, 0.1, 0.3, 0.6]))
    both = [
        rng.normal(mean * by, sd, BUILDS).round().tolist() if rounded else rng.normal(by, 0.01, BUILDS).tolist()
        for by in (1.0, change)
    ]
    return side(both[0], float(rounded)), side(both[1], float(rounded))


@pytest.mark.promise
@pytest.mark.parametrize("interval", ["auto", "fieller", "fieller-paired"])
@pytest.mark.parametrize("change", [1.0, 1.03])
def test_few_reports_fail_up_to_the_threshold(interval: str, change: float) -> None:
    rules = parse(read_source(f'[gate]\nthreshold = "3%"\ninterval = "{interval}"\n', "perfgate.toml"))
    policy, rng = Policy(rules, "promise", datetime.date(2026, 11, 28)), np.random.default_rng(3)
    failed = 0
    for _ in range(REPORTS):
        cases = [pair(rng, change, rounded=k < ROUNDED) for k in range(ROUNDED + FINE)]
        failed += decide(simulate.evidence(cases), policy).verdict == "regression"
    at_most(failed / REPORTS, 0.025, REPORTS)
