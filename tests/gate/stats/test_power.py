"""Power by the noncentral t, against trials of the tests themselves."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import fdtrc, stdtrit

from benchmarks.evidence.sources import Varied
from gate.commands.simulate.draws import TABLE_VII
from gate.commands.simulate.studies import Reports, Rules
from gate.stats.planning import Components, Counts, Interval
from gate.stats.power import (
    GIVEN_UP,
    GIVEN_UP_AT_EVERY_LOOK,
    GIVEN_UP_BY_ROUND,
    detection,
    detection_by,
    largest_variance_for,
    minimum_detectable_change,
    needed_noncentrality,
    noncentrality,
    power,
)
from gate.stats.prior import FALL_BACK_BY_ROUND, FALL_BACK_UNLIKE
from gate.stats.rounding import Array, Flags
from gate.stats.sequential import spending
from tests.support.seeds import some

TRIALS = 40_000
THRESHOLD = 0.02


class Trials:
    """Means of builds of both sides with a true change, and the literal tests on them."""

    def __init__(self, variance: float, builds: int, change: float, shared: float = 0.0) -> None:
        self.rng = np.random.default_rng([1, builds])
        common, *own = self.rng.normal(0, 1, (3, TRIALS, builds))
        x, y = (1 + math.sqrt(shared) * common + math.sqrt(variance - shared) * each for each in own)
        sides = np.stack((x, (1 + change) * y))
        self.x, self.y = sides.mean(axis=2)
        self.v_xx, self.v_yy = sides.var(axis=2, ddof=1) / builds
        away = sides - sides.mean(axis=2, keepdims=True)
        self.v_xy = away.prod(axis=0).sum(axis=1) / (builds - 1) / builds
        self.builds, self.variance = builds, variance

    def called(self, df: Array | float, alpha: float, v_xx: Array, v_yy: Array, v_xy: Array | float = 0.0) -> Flags:
        theta = 1 + THRESHOLD
        t = (self.y - theta * self.x) / np.sqrt(v_yy + theta**2 * v_xx - 2 * theta * v_xy)
        return np.asarray(t > -stdtrit(df, alpha / 2))

    def fieller(self, alpha: float) -> Flags:
        w = (self.y / self.x) ** 2 * self.v_xx
        df = (w + self.v_yy) ** 2 / (w**2 + self.v_yy**2) * (self.builds - 1)
        return self.called(df, alpha, self.v_xx, self.v_yy)

    def kalibera_jones(self, alpha: float) -> Flags:
        return self.called(self.builds - 1, alpha, self.v_xx, self.v_yy)

    def paired(self, alpha: float) -> Flags:
        return self.called(self.builds - 1, alpha, self.v_xx, self.v_yy, self.v_xy)

    def moderated(self, alpha: float, degrees: float = 20, min_builds: int = 5) -> Flags:
        """Each side by itself, with the fall-back of docs/method.md."""
        builds, d = self.builds, 2 * (self.builds - 1)
        squares = np.stack((self.v_xx / self.x**2, self.v_yy / self.y**2)) * builds
        s = squares.mean(axis=0)
        s0 = self.variance * self.rng.chisquare(degrees, TRIALS) / degrees
        used = fdtrc(d, degrees, s / s0) >= 0.10
        expected = (degrees * s0 + (builds - 1) * squares.min(axis=0)) / (degrees + builds - 1)
        used &= fdtrc(builds - 1, degrees + builds - 1, squares.max(axis=0) / expected) >= FALL_BACK_UNLIKE
        s2 = (degrees * s0 + d * s) / (degrees + d)
        by_memory = self.called(degrees + d, alpha, s2 * self.x**2 / builds, s2 * self.y**2 / builds)
        alone = self.called(d, alpha, s * self.x**2 / builds, s * self.y**2 / builds)
        called = used & by_memory & (builds >= min(3, min_builds)) | ~used & alone & (builds >= min_builds)
        return np.asarray(called)


MODERATED = Interval("fieller-moderated", degrees=20)
PAIRED = Interval("fieller-paired", 0.02**2)
AT = [(2, 3.0), (3, 2.0), (5, 1.5), (5, 4.0), (12, 3.0)]


@pytest.mark.parametrize(
    ("interval", "builds", "strength", "alpha", "beside"),
    [
        *((Interval("fieller"), *at, alpha, 0.004) for at in AT for alpha in (0.05, 0.0025)),
        *((Interval("fieller-kj"), *at, 0.05, 0.004) for at in AT),
        *((PAIRED, builds, 0.05 * (builds / (1.07**2 + 1.02**2)) ** 0.5 / 0.03, 0.05, 0.002) for builds in (3, 6)),
        *((MODERATED, builds, strength, 0.05, 0.008) for builds in (2, 4, 5, 8) for strength in (2.0, 4.5)),
    ],
)
def test_power_of_each_interval(interval: Interval, builds: int, strength: float, alpha: float, beside: float) -> None:
    """strength: the change beyond the threshold in standard errors; beside: what the formula may be off by."""
    variance = builds * (0.05 / strength) ** 2 / (1.07**2 + 1.02**2)
    counts, min_builds = Counts(builds, 1, 1), 5 if interval is MODERATED else 0
    found = power(
        Components(0, 0, variance), counts, 0.07, threshold=THRESHOLD, alpha=alpha, interval=interval,
        min_builds=min_builds,
    )  # fmt: skip
    trials = Trials(variance, builds, 0.07, interval.shared)
    measured = {
        "fieller": trials.fieller, "fieller-kj": trials.kalibera_jones, "fieller-paired": trials.paired,
        "fieller-moderated": trials.moderated,
    }[interval.method](alpha).mean()  # fmt: skip
    assert found == pytest.approx(measured, abs=4 * math.sqrt(measured * (1 - measured) / TRIALS) + 1e-4 + beside)


def test_below_min_builds_nothing_is_called() -> None:
    assert detection(50.0, 4, 0.05, Interval("fieller"), min_builds=5) == 0
    assert detection(50.0, 5, 0.05, Interval("fieller"), min_builds=5) == pytest.approx(1)
    # a moderated interval is called, but for the runs in which its memory is given up
    assert float(detection(50.0, 4, 0.05, MODERATED, min_builds=5)) == pytest.approx(1 - GIVEN_UP)
    assert detection(50.0, 2, 0.05, MODERATED, min_builds=5) == 0


def test_looks_give_a_memory_more_than_one_chance() -> None:
    interval = Interval("fieller-moderated", degrees=20, paired=True)
    once = float(detection_by(40.0, (4,), (0.05,), interval, min_builds=5))
    often = float(detection_by(40.0, (2, 3, 4), (0.001, 0.01, 0.05), interval, min_builds=5))
    assert once == pytest.approx(1 - GIVEN_UP_BY_ROUND)
    assert often == pytest.approx(1 - GIVEN_UP_AT_EVERY_LOOK[3])
    # without memory the last look stands for all
    plain = Interval("fieller")
    assert detection_by(3.0, (4, 6, 8), (0.001, 0.01, 0.04), plain) == detection(3.0, 8, 0.04, plain)


def test_how_often_a_right_memory_is_given_up() -> None:
    # both tests of gate.stats.prior.moderate: of the contrast, and of the variance within the sides
    rng = np.random.default_rng(3)
    x, y = rng.normal(0, 1, (2, TRIALS, 5))
    of_contrast, of_sum = rng.chisquare(20, (2, TRIALS))
    always = np.ones(TRIALS, dtype=bool)
    shares = {}
    for looks, builds in enumerate((2, 3, 4, 5), 1):
        contrast = (y - x)[:, :builds].var(axis=1, ddof=1)
        sides = (x[:, :builds].var(axis=1, ddof=1) + y[:, :builds].var(axis=1, ddof=1)) / 2
        given_up = fdtrc(builds - 1, 20, contrast / (2 * of_contrast / 20)) < FALL_BACK_BY_ROUND
        given_up |= fdtrc(2 * (builds - 1), 20, sides / ((of_contrast + of_sum) / 40)) < FALL_BACK_BY_ROUND
        spreads = [side[:, :builds].var(axis=1, ddof=1) for side in (x, y)]
        expected = ((of_contrast + of_sum) / 2 + (builds - 1) * np.minimum(*spreads)) / (builds + 19)
        given_up |= fdtrc(builds - 1, builds + 19, np.maximum(*spreads) / expected) < FALL_BACK_UNLIKE
        assert given_up.mean() == pytest.approx(GIVEN_UP_BY_ROUND, abs=0.012)
        always &= given_up
        shares[looks] = float(always.mean())
    assert shares == pytest.approx(GIVEN_UP_AT_EVERY_LOOK, abs=0.012)


QUICK = [((2, 3, 4), 0.10, 150)]
WHOLE = [((3,), 0.10, 20_000), ((2, 3, 4), 0.10, 20_000), ((2, 3, 4, 5), 0.05, 20_000), ((4, 6, 8, 12), 0.05, 20_000)]


@pytest.mark.parametrize(("looks", "change", "reports"), some([*QUICK, *WHOLE], 1))
def test_power_of_the_gate_with_memory_and_looks(looks: tuple[int, ...], change: float, reports: int) -> None:
    simulated = replace(TABLE_VII[3], executions=6, iterations=4)
    rules = Rules(THRESHOLD, looks, "fieller-moderated")
    study = Reports(Varied((simulated,), memory=20), rules, (1 + change,))
    measured = study.run(np.random.default_rng(4), reports).failing
    design, interval = spending(looks), Interval("fieller-moderated", degrees=20, paired=True)
    t = noncentrality(simulated.of_build_mean, 0.0, change, THRESHOLD, looks[-1])
    alphas = [design.nominal(k, 0.05) for k in range(len(looks))]
    found = float(detection_by(t, looks, alphas, interval, 5))
    # it promises nothing that the gate does not keep, and little less
    chance = 3 * math.sqrt(found * (1 - found) / reports)
    assert measured - 0.02 - chance <= found <= measured + chance


def test_probabilities_far_out() -> None:
    t = np.array([-1e5, -50.0, 0.0, 50.0, 1e5])
    for interval in (Interval("fieller"), Interval("fieller-paired"), Interval("fieller-moderated", degrees=20)):
        for builds in (2, 3, 40):
            found = detection(t, builds, 0.01, interval)
            assert np.isfinite(found).all()
            assert (np.diff(found) >= -1e-12).all()
            assert found[0] == pytest.approx(0, abs=1e-9)
            assert 0.85 < found[-1] <= 1
    # only the spread is uncertain:
    # both sides of where the series ends, at a critical value of 63.66 on one degree
    t = np.array([29.9, 30.1, 300.0])
    trials = np.abs(np.random.default_rng(1).normal(0, 1, 400_000))
    expected = [(trials * 63.6567 < value).mean() for value in t]
    assert detection(t, 2, 0.01, Interval("fieller-paired")) == pytest.approx(expected, abs=0.003)


def test_minimum_detectable_change_is_found_with_that_power() -> None:
    part, counts = Components(0.001, 0.0003, 0.0004), Counts(6, 4, 10)
    for interval in (Interval("fieller"), Interval("fieller-paired", 0.0002), Interval("fieller-moderated", 0, 20)):

        def found(change: float, interval: Interval = interval) -> float:
            return power(part, counts, change, threshold=0.03, alpha=0.01, interval=interval, min_builds=5)

        smallest = minimum_detectable_change(part, counts, threshold=0.03, alpha=0.01, interval=interval, min_builds=5)
        assert 0.03 < smallest < 0.2
        assert found(smallest) == pytest.approx(0.8, abs=1e-6)
        assert found(smallest - 0.002) < 0.8


def test_what_is_needed_inverts_what_is_found() -> None:
    interval = Interval("fieller-moderated", 0.0001, 20, paired=True)
    looks, alphas = (2, 3, 5), (0.002, 0.015, 0.045)
    t = needed_noncentrality(looks, alphas, interval, 5, 0.7)
    assert float(detection_by(t, looks, alphas, interval, 5)) == pytest.approx(0.7, abs=1e-6)
    variance = largest_variance_for(0.08, 0.03, t, 5, 0.0001)
    assert float(noncentrality(variance, 0.0001, 0.08, 0.03, 5)) == pytest.approx(t)
    assert needed_noncentrality((4,), (0.05,), Interval("fieller"), 5, 0.5) == math.inf
    assert largest_variance_for(0.02, 0.03, 1.0, 5, 0.0) == 0
    # no change is found where nothing may be called
    part, counts = Components(0, 0, 0.0001), Counts(4, 1, 1)
    of = {"threshold": 0.03, "alpha": 0.05, "interval": Interval("fieller"), "min_builds": 5}
    assert minimum_detectable_change(part, counts, **of) == math.inf  # type: ignore[arg-type]  # a table of keywords
