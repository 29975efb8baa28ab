"""Optimum counts and half-widths, against Kalibera and Jones 2012 (tables IV, VII, VIII) and brute force."""

import math

import numpy as np
import pytest

from gate.stats.planning import (
    Components,
    Costs,
    Counts,
    Interval,
    build_variance,
    half_width,
    largest_variance,
    mean_half_width,
    optimum,
    without_shared,
)
from gate.stats.ratio import MeanPair, unpaired
from tests.support.samples import ends, there, tops

# Table VII in percent, lowest level first: T where it differs from S; builds of TCP as 8.2 gives them after dropping
TABLE_VII = {
    "FFT NA OPT": (1.4, 8.2, 3.4), "FFT NA": (1.4, 7.8, 3.4), "FFT OPT": (4.3, 8.2, 4.4), "FFT": (4.6, 6.7, 4.1),
    "HTTP OPT": (22.5, 0, 0.2), "HTTP": (21.5, 0, 0.2), "Rijndael OPT": (9.3, 3.5, 0.4), "Rijndael": (9.1, 3.2, 0.4),
    "TCP OPT": (41.8, 0, 0.5), "TCP": (38.6, 0, 0.5),
}  # fmt: skip
# 8.1: seconds of an execution over its raw measurements, 30% of which are warm-up
TIMING = {"FFT": (15 / 64, 19), "HTTP": (4 / 512, 154), "Rijndael": (6 / 64, 19), "TCP": (0.102 / 256, 77)}
# Table VIII, half-widths in percent, after 3, 6 and 9 hours
OURS = {
    "FFT NA OPT": (3.3, 2.0, 1.5), "FFT NA": (3.2, 1.9, 1.5), "FFT OPT": (4.3, 2.5, 2.0), "FFT": (3.6, 2.3, 1.8),
    "HTTP OPT": (0.5, 0.3, 0.3), "HTTP": (0.4, 0.3, 0.2), "TCP OPT": (1.3, 0.8, 0.6), "TCP": (1.3, 0.8, 0.6),
}  # fmt: skip
DEFAULT = {
    "FFT NA OPT": (7.5, 4.6, 3.6), "FFT NA": (7.1, 4.4, 3.4), "FFT OPT": (8.6, 5.3, 4.1), "FFT": (7.6, 4.7, 3.7),
    "HTTP OPT": (18.8, 11.5, 9.1), "HTTP": (18.0, 11.1, 8.7), "Rijndael OPT": (8.3, 5.1, 4.0),
    "Rijndael": (8.1, 5.0, 3.9), "TCP OPT": (34.9, 21.5, 16.9), "TCP": (32.2, 19.8, 15.5),
}  # fmt: skip
HOURS = (3, 6, 9)


def components(name: str) -> Components:
    iteration, execution, build = ((sd / 100) ** 2 for sd in TABLE_VII[name])
    return Components(iteration, execution, build)


def costs(name: str, build: float = 1200) -> Costs:
    iteration, warmup = TIMING[name.split()[0]]
    return Costs(build, 0, warmup * iteration, iteration)


def after(hours: int, name: str, found: tuple[int | None, int | None]) -> float:
    """Half-width in percent that a window leads to."""
    executions, iterations = there(found[0]), there(found[1])
    spent = costs(name)
    builds = int(hours * 3600 // (spent.build + executions * spent.of_execution(iterations)))
    counts = Counts(builds, executions, iterations)
    return 100 * mean_half_width(components(name), counts, 0.05)


# --- eq. 14 -----------------------------------------------------------------------------------------------------------


def test_the_fft_of_section_8_5_and_table_iv() -> None:
    # c1 = 19, c2 = 5343; from the printed Table VII n1 is 2.99, where the paper has 4
    found = optimum(components("FFT"), Costs(5343, 0, 19, 1))
    assert found == (28, 3)
    # 6 hours, 1350 seconds a build: 16 builds, 2.3% against 4.7% of one execution and one iteration of 17 builds
    assert 6 * 3600 // 1350 == 16
    assert mean_half_width(components("FFT"), Counts(16, 28, 4), 0.05) == pytest.approx(0.023, abs=0.0005)
    assert mean_half_width(components("FFT"), Counts(17, 1, 1), 0.05) == pytest.approx(0.047, abs=0.0005)
    # sqrt(10 x 12.7222222/0.381944444) = 18.2508; the printed 18 comes from the rounded 12.7/0.4
    found = optimum(Components(12.7222222, 0, 0.381944444), Costs(0, 0, 10, 1))
    assert found == (1, 19)


@pytest.mark.parametrize("name", DEFAULT)
def test_table_viii_default_method(name: str) -> None:
    found = [after(hours, name, (1, 1)) for hours in HOURS]
    assert found == pytest.approx(DEFAULT[name], abs=0.15)


@pytest.mark.parametrize("name", OURS)
def test_table_viii_our_method(name: str) -> None:
    spent = costs(name)
    # where executions are not repeated the paper plans as if only their warm-up were the cost of another one
    planned_for = spent if components(name).execution else Costs(0, 0, spent.warmup, spent.iteration)
    found = [after(hours, name, optimum(components(name), planned_for)) for hours in HOURS]
    assert found == pytest.approx(OURS[name], abs=0.17)


def test_table_viii_of_rijndael_needs_more_digits_than_are_printed() -> None:
    # 1.3, 0.2, 0.1 and 0.6, 0.2, 0.2 in the paper: the same printed build variance, so not from it
    for name in ("Rijndael OPT", "Rijndael"):
        found = [after(hours, name, optimum(components(name), costs(name))) for hours in HOURS]
        assert found == pytest.approx([0.6, 0.33, 0.25], abs=0.03)


@pytest.mark.parametrize("name", ["HTTP OPT", "TCP"])
def test_the_cost_of_a_dropped_level_counts(name: str) -> None:
    # an execution that takes a build costs a build: with that the intervals are less than half as wide as the paper's
    full = optimum(components(name), costs(name))
    assert after(6, name, full) < 0.5 * OURS[name][1]


def test_levels_that_add_nothing_and_correlated_iterations() -> None:
    spent = Costs(100, 1, 4, 1)
    assert optimum(Components(1, 1, 0), spent) == (None, 3)
    assert optimum(Components(1, 0, 0), spent) == (1, None)
    assert optimum(Components(0, 1, 1), spent) == (5, 1)
    assert optimum(Components(1, -1, 1), spent) == optimum(Components(1, 0, 1), spent)
    # starting an execution is free: one iteration each, of the variance of both
    assert optimum(Components(3, 1, 1), Costs(100, 0, 0, 1)) == (20, 1)
    # correlated iterations are worth fewer
    spent = Costs(100, 0, 10, 1)
    plain, correlated = Components(4, 1, 1), Components(4, 1, 1, 0.6)
    # (1 + r)/(1 - r) = 4 times the variance, so twice the square root
    assert optimum(plain, spent)[1] == math.ceil(math.sqrt(40))
    assert optimum(correlated, spent)[1] == math.ceil(2 * math.sqrt(40))
    assert build_variance(correlated, 2, 40) == pytest.approx(build_variance(plain, 2, 10))


def test_optimum_is_the_narrowest_for_its_time() -> None:
    # brute force over counts, at the real-valued number of builds that a budget pays for
    part, spent = Components(0.02, 0.004, 0.0005), Costs(60, 0.5, 1.5, 0.1)
    found = {
        (e, i): build_variance(part, e, i) * (spent.build + e * spent.of_execution(i))
        for e in range(1, 40)
        for i in range(1, 60)
    }
    best = min(found, key=lambda counts: found[counts])
    executions, iterations = optimum(part, spent)
    assert found[there(executions), there(iterations)] <= 1.003 * found[best]


# --- half-widths ------------------------------------------------------------------------------------------------------


def test_half_width_of_fieller_is_what_runs_have_on_the_average() -> None:
    # Satterthwaite's degrees are fewer than 2 (B - 1), the standard deviation is below its root: together right
    sides = np.random.default_rng(1).normal(1, 0.03, (2000, 2, 6))
    widths = [np.ptp(ends(unpaired(tops(base), tops(head)).limits(0.05))) / 2 for base, head in sides]
    expected = half_width(Components(0, 0, 0.03**2), Counts(6, 1, 1), 0.05, Interval("fieller"))
    assert np.mean(widths) == pytest.approx(expected, rel=0.02)


def test_half_width_is_half_the_fieller_set() -> None:
    v, shared, builds = 0.04, 0.01, 8
    low, high = ends(MeanPair(1, 1, v / builds, v / builds, shared / builds, builds - 1).limits(0.05))
    counts = Counts(builds, 1, 1)
    found = half_width(Components(0, 0, v), counts, 0.05, Interval("fieller-paired", shared))
    assert found == pytest.approx((high - low) / 2)
    # infinite where the set has no bounds
    assert half_width(Components(0, 0, 0.5), Counts(2, 1, 1), 0.05, Interval("fieller-kj")) == math.inf


@pytest.mark.parametrize(
    "interval",
    [
        Interval("fieller"),
        Interval("fieller-kj"),
        Interval("fieller-paired", 0.0003),
        Interval("fieller-moderated", 0.0003, 20, paired=True),
        Interval("fieller-moderated", 0.0003, 20),
    ],
)
def test_largest_variance_inverts_half_width(interval: Interval) -> None:
    part, counts = Components(0.01, 0.001, 0.0009), Counts(5, 3, 7)
    half = half_width(part, counts, 0.01, interval)
    variance = largest_variance(half, 5, 0.01, interval, interval.covariance(part))
    assert variance == pytest.approx(build_variance(part, 3, 7), rel=1e-9)


def test_the_shared_part_is_no_more_than_builds_add() -> None:
    interval = Interval("fieller-paired", 0.01)
    assert interval.covariance(Components(1, 1, 0.004)) == 0.004
    assert interval.covariance(Components(1, 1, -1)) == 0
    assert Interval("fieller", 0.01).covariance(Components(1, 1, 1)) == 0


@pytest.mark.parametrize(
    ("shared", "build", "execution"),
    [(0.0, 0.04, 0.02), (0.03, 0.01, 0.02), (0.04, 0.0, 0.02), (0.045, 0.0, 0.01), (0.2, 0.0, 0.0), (-0.1, 0.04, 0.02)],
)
def test_what_a_round_shares_is_taken_off_from_the_top(shared: float, build: float, execution: float) -> None:
    whole = Components(0.001, 0.02, 0.04)
    found = without_shared(whole, shared, 2)
    assert (found.iteration, found.execution, found.build) == pytest.approx((0.001, execution, build))
    # as much as was shared, if there was so much above the iterations
    taken = build_variance(whole, 2, 5) - build_variance(found, 2, 5)
    assert taken == pytest.approx(min(max(shared, 0.0), 0.04 + 0.02 / 2))
