"""The whole gate against its promises (docs/method.md): reports that fail though nothing changed, and wrong "not worse".

Everything goes through decide, with looks, family, memory and min_builds as a user has them, on the noise of FFT of
Kalibera and Jones 2012, Table VII. Each bound is the promise plus three standard errors of the simulation.
"""

from dataclasses import dataclass

import numpy as np
import pytest

from benchmarks.evidence.sources import Varied
from gate.commands.simulate.draws import NORMAL, Components, Shape
from gate.commands.simulate.studies import ReportCounts, Reports, Rules
from gate.config.types import Interval
from tests.promise.test_fieller import at_most
from tests.support.seeds import some

FIXED, LOOKS = (5,), (4, 6, 8, 12)
CASES = 20
FFT = Components("FFT", 0.041, 0.067, 0.046, executions=3, iterations=3)
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
        at_most(found.wrongly_not_worse, promise, 1000 * CASES)
