"""A gate of values that are written in few digits, beside others that are not: how often it fails for nothing."""

import datetime
import math

import numpy as np
import pytest

from gate.config.config_text import read_source
from gate.config.parse import parse
from gate.config.rules import Policy
from gate.decide.report import decide
from gate.model import Sample
from tests.promise.test_fieller import at_most
from tests.support import simulate
from tests.support.samples import nested

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
