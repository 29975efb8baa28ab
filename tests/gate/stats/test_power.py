"""Power by the noncentral t, against trials of the tests themselves."""

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import fdtrc, stdtrit

from gate.commands.simulate.draws import TABLE_VII, Source
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
from gate.stats.sequential import spending

Array = npt.NDArray[np.float64]
TRIALS = 40_000
THRESHOLD = 0.02


class Trials:
    """Means of builds of both sides with a true change, and the literal tests on them."""

    def __init__(self, variance: float, builds: int, change: float, shared: float = 0.0, seed: int = 1) -> None:
        rng = np.random.default_rng([seed, builds])
        size = (TRIALS, builds)
        common = rng.normal(0, math.sqrt(shared), size)
        own = math.sqrt(variance - shared)
        self.builds = builds
        self.x = 1 + common + rng.normal(0, own, size)
        self.y = (1 + change) * (1 + common + rng.normal(0, own, size))
        self.variance = variance
        self.rng = rng

    def t(self, v_xx: Array, v_yy: Array, v_xy: Array | float = 0.0) -> Array:
        theta = 1 + THRESHOLD
        spread = v_yy + theta**2 * v_xx - 2 * theta * v_xy
        found: Array = (self.y.mean(axis=1) - theta * self.x.mean(axis=1)) / np.sqrt(spread)
        return found

    def own(self) -> tuple[Array, Array]:
        return self.x.var(axis=1, ddof=1) / self.builds, self.y.var(axis=1, ddof=1) / self.builds

    def fieller(self, alpha: float) -> float:
        v_xx, v_yy = self.own()
        w = (self.y.mean(axis=1) / self.x.mean(axis=1)) ** 2 * v_xx
        df = (w + v_yy) ** 2 / (w**2 + v_yy**2) * (self.builds - 1)
        return float((self.t(v_xx, v_yy) > -stdtrit(df, alpha / 2)).mean())

    def kalibera_jones(self, alpha: float) -> float:
        return float((self.t(*self.own()) > -stdtrit(self.builds - 1, alpha / 2)).mean())

    def paired(self, alpha: float) -> float:
        dx, dy = (side - side.mean(axis=1, keepdims=True) for side in (self.x, self.y))
        v_xy = (dx * dy).sum(axis=1) / (self.builds - 1) / self.builds
        return float((self.t(*self.own(), v_xy) > -stdtrit(self.builds - 1, alpha / 2)).mean())

    def moderated(self, alpha: float, degrees: float, min_builds: int) -> float:
        """Each side by itself, with the fall-back of docs/method.md."""
        builds, d = self.builds, 2 * (self.builds - 1)
        x, y = self.x.mean(axis=1), self.y.mean(axis=1)
        v_xx, v_yy = self.own()
        s = (v_xx / x**2 + v_yy / y**2) * builds / 2
        s0 = self.variance * self.rng.chisquare(degrees, TRIALS) / degrees
        used = fdtrc(d, degrees, s / s0) >= 0.10
        squares = v_xx / x**2 * builds, v_yy / y**2 * builds
        expected = (degrees * s0 + (builds - 1) * np.minimum(*squares)) / (degrees + builds - 1)
        used &= fdtrc(builds - 1, degrees + builds - 1, np.maximum(*squares) / expected) >= FALL_BACK_UNLIKE
        s2 = (degrees * s0 + d * s) / (degrees + d)
        may_call = used & (builds >= min(3, min_builds))
        called = may_call & (self.t(s2 * x**2 / builds, s2 * y**2 / builds) > -stdtrit(degrees + d, alpha / 2))
        if builds >= min_builds:
            called |= ~used & (self.t(s * x**2 / builds, s * y**2 / builds) > -stdtrit(d, alpha / 2))
        return float(called.mean())


def error(share: float) -> float:
    """Four standard errors of the trials."""
    return 4 * math.sqrt(share * (1 - share) / TRIALS) + 1e-4


CASES = [(2, 3.0), (3, 2.0), (5, 1.5), (5, 4.0), (12, 3.0)]


@pytest.mark.parametrize(("builds", "strength"), CASES)
@pytest.mark.parametrize("alpha", [0.05, 0.0025])
def test_power_of_fieller(builds: int, strength: float, alpha: float) -> None:
    change = 0.07
    variance = builds * ((change - THRESHOLD) / strength) ** 2 / (1.07**2 + 1.02**2)
    found = power(
        Components(0, 0, variance),
        Counts(builds, 1, 1),
        change,
        threshold=THRESHOLD,
        alpha=alpha,
        interval=Interval("fieller"),
    )
    measured = Trials(variance, builds, change).fieller(alpha)
    assert found == pytest.approx(measured, abs=error(measured) + 0.004)


@pytest.mark.parametrize(("builds", "strength"), CASES)
def test_power_of_fieller_kj(builds: int, strength: float) -> None:
    variance = builds * (0.05 / strength) ** 2 / (1.07**2 + 1.02**2)
    t = noncentrality(variance, 0.0, 0.07, THRESHOLD, builds)
    found = float(detection(t, builds, 0.05, Interval("fieller-kj")))
    measured = Trials(variance, builds, 0.07).kalibera_jones(0.05)
    assert found == pytest.approx(measured, abs=error(measured) + 0.004)


@pytest.mark.parametrize("builds", [3, 6])
def test_power_of_paired(builds: int) -> None:
    variance, shared = 0.03**2, 0.02**2
    interval = Interval("fieller-paired", shared)
    found = power(
        Components(0, 0, variance),
        Counts(builds, 1, 1),
        0.07,
        threshold=THRESHOLD,
        alpha=0.05,
        interval=interval,
    )
    measured = Trials(variance, builds, 0.07, shared).paired(0.05)
    assert found == pytest.approx(measured, abs=error(measured) + 0.002)


@pytest.mark.parametrize("builds", [2, 4, 5, 8])
@pytest.mark.parametrize("strength", [2.0, 4.5])
def test_power_of_moderated_with_its_fall_back(builds: int, strength: float) -> None:
    variance = builds * (0.05 / strength) ** 2 / (1.07**2 + 1.02**2)
    t = noncentrality(variance, 0.0, 0.07, THRESHOLD, builds)
    found = float(detection(t, builds, 0.05, Interval("fieller-moderated", degrees=20), min_builds=5))
    measured = Trials(variance, builds, 0.07).moderated(0.05, 20, 5)
    assert found == pytest.approx(measured, abs=error(measured) + 0.008)


def test_below_min_builds_nothing_is_called() -> None:
    assert detection(50.0, 4, 0.05, Interval("fieller"), min_builds=5) == 0
    assert detection(50.0, 5, 0.05, Interval("fieller"), min_builds=5) == pytest.approx(1)
    # a moderated interval is called, but for the runs in which its memory is given up
    found = float(detection(50.0, 4, 0.05, Interval("fieller-moderated", degrees=20), min_builds=5))
    assert found == pytest.approx(1 - GIVEN_UP)
    assert detection(50.0, 2, 0.05, Interval("fieller-moderated", degrees=20), min_builds=5) == 0


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


def check_power_of_the_gate(looks: tuple[int, ...], change: float, reports: int) -> None:
    simulated = replace(TABLE_VII[3], executions=6, iterations=4)
    rules = Rules(THRESHOLD, looks, "fieller-moderated")
    study = Reports(Source((simulated,), memory=20), rules, (1 + change,))
    measured = study.run(np.random.default_rng(4), reports).failing
    design, interval = spending(looks), Interval("fieller-moderated", degrees=20, paired=True)
    t = noncentrality(simulated.of_build_mean, 0.0, change, THRESHOLD, looks[-1])
    alphas = [design.nominal(k, 0.05) for k in range(len(looks))]
    found = float(detection_by(t, looks, alphas, interval, 5))
    # it promises nothing that the gate does not keep, and little less
    chance = 3 * math.sqrt(found * (1 - found) / reports)
    assert measured - 0.02 - chance <= found <= measured + chance


def test_power_of_the_gate_with_memory_and_looks_quick() -> None:
    check_power_of_the_gate((2, 3, 4), 0.10, 400)


@pytest.mark.promise
@pytest.mark.parametrize(
    ("looks", "change"), [((3,), 0.10), ((2, 3, 4), 0.10), ((2, 3, 4, 5), 0.05), ((4, 6, 8, 12), 0.05)]
)
def test_power_of_the_gate_with_memory_and_looks(looks: tuple[int, ...], change: float) -> None:
    check_power_of_the_gate(looks, change, 20_000)


def test_probabilities_are_probabilities_far_out() -> None:
    t = np.array([-1e5, -50.0, 0.0, 50.0, 1e5])
    for interval in (Interval("fieller"), Interval("fieller-paired"), Interval("fieller-moderated", degrees=20)):
        for builds in (2, 3, 40):
            found = detection(t, builds, 0.01, interval)
            assert np.isfinite(found).all()
            assert (np.diff(found) >= -1e-12).all()
            assert found[0] == pytest.approx(0, abs=1e-9)
            assert 0.85 < found[-1] <= 1


def test_far_out_only_the_spread_is_uncertain() -> None:
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


def test_no_change_is_found_where_nothing_may_be_called() -> None:
    smallest = minimum_detectable_change(
        Components(0, 0, 0.0001),
        Counts(4, 1, 1),
        threshold=0.03,
        alpha=0.05,
        interval=Interval("fieller"),
        min_builds=5,
    )
    assert smallest == math.inf


def test_what_is_needed_inverts_what_is_found() -> None:
    interval = Interval("fieller-moderated", 0.0001, 20, paired=True)
    looks, alphas = (2, 3, 5), (0.002, 0.015, 0.045)
    t = needed_noncentrality(looks, alphas, interval, 5, 0.7)
    assert float(detection_by(t, looks, alphas, interval, 5)) == pytest.approx(0.7, abs=1e-6)
    variance = largest_variance_for(0.08, 0.03, t, 5, 0.0001)
    assert float(noncentrality(variance, 0.0001, 0.08, 0.03, 5)) == pytest.approx(t)
    assert needed_noncentrality((4,), (0.05,), Interval("fieller"), 5, 0.5) == math.inf
    assert largest_variance_for(0.02, 0.03, 1.0, 5, 0.0) == 0
