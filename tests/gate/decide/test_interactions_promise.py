"""The promises of interactions (docs/method.md, by factor), by simulation: false ones in a report, and coverage.

Builds are drawn once a side and round, and all settings share them. Each bound is the promise plus three standard errors.
"""

import datetime
import math
from dataclasses import dataclass
from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt
import pytest

from gate.config.rules import Policy
from gate.config.types import Config, Gate
from gate.decide.contrasts import contrasts_of
from gate.decide.design import Design, design_of, subjects_of
from gate.decide.findings import findings_of
from gate.decide.interaction_tests import Crossed
from gate.decide.interactions import explained
from gate.decide.looks import Walk, walk
from gate.model import Evidence, Sample
from gate.units import Quantity, Share
from tests.promise.test_fieller import standard_error
from tests.support import simulate
from tests.support.treated import Shape, crossed, report

TODAY = datetime.date(2026, 11, 20)
COUNTS = (3, 3)
Interval = Literal["fieller", "fieller-paired"]
BENCHMARKS = 10


def side(rng: np.random.Generator, builds: npt.NDArray[np.float64], mean: float) -> Sample:
    """Values of one setting around builds that all settings share; FFT of Kalibera and Jones, Table VII."""
    _, execution, iteration = simulate.FFT
    shape = (len(builds), *COUNTS)
    noise = execution * rng.normal(0, 1, (*shape[:2], 1)) + iteration * rng.normal(0, 1, shape)
    values = mean * builds[:, None, None] * (1 + noise)
    sizes = (np.full(len(builds) * COUNTS[0], COUNTS[1]), np.full(len(builds), COUNTS[0]), np.array([len(builds)]))
    return Sample(values.ravel(), sizes, tuple((0, k) for k in range(len(builds))))


def evidence(
    rng: np.random.Generator, builds: int, benchmarks: int, change: float, effects: str, own: float = 0.0
) -> Evidence:
    """Two settings, head/base the same at both; own: standard deviation of what a build adds at one setting alone."""
    pairs = []
    for _ in range(benchmarks):
        shared = [1 + simulate.FFT[0] * simulate.DISTRIBUTIONS[effects](rng, builds) for _ in range(2)]
        for place in (1.0, 2.0):
            apart = [each * (1 + own * simulate.DISTRIBUTIONS[effects](rng, builds)) for each in shared]
            pairs.append((side(rng, apart[0], place), side(rng, apart[1], place * change)))
    found = simulate.evidence(pairs)
    cases = [
        msgspec.structs.replace(case, benchmark=f"case-{k // 2}", factors={"load": ("idle", "busy")[k % 2]})
        for k, case in enumerate(found.cases)
    ]
    return msgspec.structs.replace(found, cases=cases)


def policy(threshold: float) -> Policy:
    return Policy(Config(gate=Gate(threshold=Share(threshold), floor=Quantity.parse("0"))), "promise", TODAY)


def walked(found: Evidence, rules: Policy) -> tuple[Walk, Design]:
    """Decide as gate.decide.report does, up to the tests."""
    subjects = subjects_of(found, rules)
    contrasts = contrasts_of(subjects, None).found
    design = design_of(found, rules, subjects, len(contrasts))
    return walk(subjects, design, contrasts), design


@dataclass(frozen=True)
class Rates:
    """Shares of reports: that fail, that have a false interaction, that say "only under"."""

    failed: float
    proven: float
    only: float


def rates(reports: int, change: float, threshold: float, effects: str, own: float = 0.0) -> Rates:
    rng = np.random.default_rng([11, reports, round(1000 * change)])
    failed = proven = only = 0
    for _ in range(reports):
        found, design = walked(evidence(rng, 5, BENCHMARKS, change, effects, own), policy(threshold))
        failed += any(j.regression.rejected for j in found.judged)
        if any(c.regression.rejected or c.improvement.rejected for c in found.crossed):
            proven += 1
            told = explained(found, findings_of(found.judged, design, 1))
            only += any(i.only for i in told.interactions)
    return Rates(failed / reports, proven / reports, only / reports)


def check(rate: float, promise: float, count: int) -> None:
    assert rate <= promise + 3 * standard_error(promise, count), f"{rate:.4f} against {promise}"


def test_false_alarms_quick() -> None:
    found = rates(25, 1.0, 0.0, "normal")
    check(found.failed, 0.03, 25)
    check(found.proven, 0.05, 25)


@pytest.mark.parametrize("benchmarks", [1, 5])
def test_what_builds_and_drift_have_in_common_changes_nothing(benchmarks: int) -> None:
    """Of the same draws; the prior of a shared variance also looks at the sum of both sides, which holds the drift."""

    def found(shape: Shape) -> list[Crossed]:
        return crossed(report(np.random.default_rng(5), 8, benchmarks, (2, 2), shape, interaction=0.05))

    alike = found(Shape())
    shapes = [Shape(builds=3), Shape(builds=3, common=0.0), *([Shape(drift=3)] if benchmarks == 1 else [])]
    for shape in shapes:
        for one, other in zip(alike, found(shape), strict=True):
            assert one.ratio is not None
            assert other.ratio is not None
            assert other.ratio.y / other.ratio.x == pytest.approx(one.ratio.y / one.ratio.x, rel=1e-9)
            assert other.p == pytest.approx(one.p, rel=1e-6)


def test_false_interactions_quick() -> None:
    rng = np.random.default_rng(6)
    for shape in (Shape(builds=3, effects="bimodal 50:50"), Shape(by_factor=3, common=0.0), Shape(by_treatment=1)):
        claims = [crossed(report(rng, 5, 2, (2, 2), shape)) for _ in range(20)]
        check(sum(any(c.regression.rejected or c.improvement.rejected for c in each) for each in claims) / 20, 0.05, 20)


@pytest.mark.promise
@pytest.mark.parametrize(("effects", "own"), [("normal", 0.0), ("skewed", 0.0), ("skewed", 0.04)])
def test_a_a_reports_keep_the_error_level(effects: str, own: float) -> None:
    found = rates(2000, 1.0, 0.0, effects, own)
    check(found.failed, 0.03, 2000)
    check(found.proven, 0.05, 2000)
    check(found.only, 0.05, 2000)


@pytest.mark.promise
@pytest.mark.parametrize("effects", ["normal", "skewed"])
def test_a_regression_that_is_everywhere_is_seldom_said_to_be_at_one_setting_only(effects: str) -> None:
    found = rates(2000, 1.12, 0.03, effects)
    check(found.proven, 0.05, 2000)
    check(found.only, 0.05, 2000)


def coverage(builds: int, effects: str, interval: Interval, own: float, trials: int) -> float:
    rng = np.random.default_rng([13, builds])
    gate = Gate(threshold=Share(0.03), floor=Quantity.parse("0"), interval=interval)
    rules = Policy(Config(gate=gate), "promise", TODAY)
    # many benchmarks at once share nothing but the rules
    together = 50
    held = 0
    for _ in range(trials // together):
        found = evidence(rng, builds, together, 1.05, effects, own)
        for each in walked(found, rules)[0].crossed:
            low, high = each.nominal.low, each.nominal.high
            held += low is not None and high is not None and low <= 1 <= high
    return held / trials


@pytest.mark.promise
@pytest.mark.parametrize("builds", [3, 5, 10])
@pytest.mark.parametrize("interval", ["fieller", "fieller-paired"])
@pytest.mark.parametrize(("effects", "own"), [("normal", 0.0), ("skewed", 0.0), ("skewed", 0.04)])
def test_the_interval_covers(builds: int, interval: Interval, effects: str, own: float) -> None:
    trials = 4000
    rate = coverage(builds, effects, interval, own, trials)
    spare = 3 * math.sqrt(0.05 * 0.95 / trials)
    assert 0.94 - spare <= rate <= 0.97 + spare, f"{rate:.4f}"
