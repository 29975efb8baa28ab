"""The ratio over given machines: the formula written out, and its edges."""

import math
import statistics
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from gate.stats.fixed_sessions import Mean, OneSession, machine, over_machines, p_alike, side_over_machines, sides_of
from gate.stats.ratio import LogPair
from tests.support.samples import ends, nested, there

Sessions = Sequence[Sequence[Sequence[float]]]


def machines(base: Sessions, head: Sessions, tau: float | None = None) -> list[OneSession]:
    """Sessions of builds of values, an execution each."""
    sides = [
        nested([[build] for builds in side for build in builds], [len(builds) for builds in side])
        for side in (base, head)
    ]
    return [machine(session, sides[0], sides[1], tau, exact=False) for session in range(len(base))]


def over(found: list[OneSession]) -> LogPair:
    return there(over_machines(found))


def literal(base: list[list[float]], head: list[list[float]], confidence: float) -> tuple[float, float, float, float]:
    """Estimate, low, high and degrees as statistics books have them, from the means of builds by machine."""
    log_ratios = [[math.log(y / x) for x, y in zip(b, h, strict=True)] for b, h in zip(base, head, strict=True)]
    count = len(log_ratios)
    mean = statistics.mean(statistics.mean(own) for own in log_ratios)
    parts = [statistics.variance(own) / len(own) / count**2 for own in log_ratios]
    degrees = sum(parts) ** 2 / sum(p**2 / (len(own) - 1) for p, own in zip(parts, log_ratios, strict=True))
    half = float(stats.t.ppf((1 + confidence) / 2, degrees)) * math.sqrt(sum(parts))
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half), degrees


@pytest.mark.parametrize("sizes", [(3, 3), (5, 5, 5, 5, 5), (3, 8, 4), (12,)])
def test_the_interval_is_that_of_the_formula(sizes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(len(sizes))
    base, head = (
        [[[float(speed * v) for v in rng.normal(1, 0.03 * (m + 1), 4)] for _ in range(b)] for m, b in enumerate(sizes)]
        for speed in (0.1, 0.12)
    )
    means = [[[statistics.mean(build) for build in builds] for builds in side] for side in (base, head)]
    for confidence in (0.95, 0.998):
        estimate, low, high, degrees = literal(means[0], means[1], confidence)
        found = over(machines(base, head))
        limits = found.limits(1 - confidence)
        assert found.y / found.x == pytest.approx(estimate, rel=1e-12)
        assert (limits.low, limits.high, found.df) == pytest.approx((low, high, degrees), rel=1e-9)
        # the p of an end of the interval is its level
        assert found.p(low, "above") == pytest.approx(1 - confidence, rel=1e-6)


def test_quantiles_are_those_of_each_build() -> None:
    rng = np.random.default_rng(2)
    base, head = ([[rng.gamma(4, scale, 40).tolist() for _ in range(4)] for _ in range(3)] for scale in (1.0, 1.3))
    p50 = [[[float(np.median(build)) for build in builds] for builds in side] for side in (base, head)]
    found = over(machines(base, head, 0.5))
    estimate, low, high, _ = literal(p50[0], p50[1], 0.95)
    limits = found.limits(0.05)
    assert (found.y / found.x, limits.low, limits.high) == pytest.approx((estimate, low, high), rel=1e-9)


def test_machines_count_alike_and_the_difference_is_that_of_one_in_the_middle() -> None:
    steady = [[1.0], [1.01], [0.99]]
    base = [steady, steady * 4]
    head = [[[1.5 * v[0] * (1 + k / 1000)] for k, v in enumerate(steady)], [[v[0]] for v in steady * 4]]
    found = over(machines(base, head))
    assert found.y / found.x == pytest.approx(math.sqrt(1.5), rel=0.002)
    # the difference is that of a machine in the middle
    rng = np.random.default_rng(4)
    speeds = (0.1, 0.4)
    slow, fast = ([[[float(k * s * rng.normal(1, 1e-4))] for _ in range(5)] for s in speeds] for k in (1.0, 1.5))
    low, high = ends(over(machines(slow, fast)).difference_limits(0.05))
    assert low < 0.5 * 0.2 < high < 0.102


def test_the_smallest_step_of_one_machine_is_not_that_of_another() -> None:
    """A coarse timer gives one value there; a fine one elsewhere must not stand for its resolution."""
    coarse, fine = [[0.010]] * 4, [[0.010001], [0.010002], [0.010004], [0.010003]]
    found = machines([coarse, fine], [coarse, fine[::-1]])
    assert [each.trouble for each in found] == ["no-spread", ""]


def test_a_side_has_the_interval_over_builds_within_machines() -> None:
    """Machines that differ by a factor of ten do not widen it, as sessions that are a sample would."""
    base = [[[1.0], [1.1], [0.9]], [[10.0], [10.3], [9.7]]]
    found = machines(base, base)
    limits = side_over_machines(sides_of(found, "base"), 0.05)
    parts = [statistics.variance(v) / 3 / 4 for v in ([1.0, 1.1, 0.9], [10.0, 10.3, 9.7])]
    half = stats.t.ppf(0.975, sum(parts) ** 2 / sum(p**2 / 2 for p in parts)) * math.sqrt(sum(parts))
    assert (limits.low, limits.high) == pytest.approx((5.5 - half, 5.5 + half), rel=1e-9)


def test_welchs_f_is_the_square_of_his_t_for_two_and_that_of_a_table_for_three() -> None:
    rng = np.random.default_rng(6)
    two = [rng.normal(0, 1, 6), rng.normal(1, 3, 9)]
    parts = [Mean(float(v.mean()), float(v.var(ddof=1)) / len(v), len(v) - 1.0) for v in two]
    assert p_alike(parts) == pytest.approx(stats.ttest_ind(*two, equal_var=False).pvalue, rel=1e-9)
    three = [[2.0, 4.0, 3.0, 5.0], [6.0, 9.0, 7.5, 6.5, 8.0], [4.0, 4.5, 5.0]]
    weights = [len(v) / statistics.variance(v) for v in three]
    grand = sum(w * statistics.mean(v) for w, v in zip(weights, three, strict=True)) / sum(weights)
    above = sum(w * (statistics.mean(v) - grand) ** 2 for w, v in zip(weights, three, strict=True)) / 2
    lack = sum((1 - w / sum(weights)) ** 2 / (len(v) - 1) for w, v in zip(weights, three, strict=True))
    expected = float(stats.f.sf(above / (1 + 2 * 1 / 8 * lack), 2, 8 / (3 * lack)))
    parts = [Mean(statistics.mean(v), statistics.variance(v) / len(v), len(v) - 1.0) for v in three]
    assert p_alike(parts) == pytest.approx(expected, rel=1e-9)
    assert p_alike(parts[:1]) is None
    assert p_alike([*parts, Mean(0.0, 0.0, None)]) is None
