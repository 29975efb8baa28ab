import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from gate.stats.levels import tops_of
from gate.stats.ratio import Limits, LogPair, MeanPair, paired, side_limits, t_quantile, unpaired
from tests.support.kalibera_jones import TABLE_V_NEW, TABLE_V_OLD
from tests.support.samples import ends, there, tops
from tests.support.samples import nested as sample
from tests.support.seeds import seeds

OLD, NEW = tops_of(sample(TABLE_V_OLD)), tops_of(sample(TABLE_V_NEW))


def test_table_v() -> None:
    pair = unpaired(OLD, NEW, kalibera_jones=True)
    assert ends(pair.limits(0.05)) == pytest.approx((0.109834376, 1.72530157), rel=4e-9)
    # at 99% it has no bounds
    assert pair.limits(0.01) == Limits("line", None, None)
    assert there(side_limits(OLD, 0.05).high) - 10.5 == pytest.approx(5.98903913, abs=5e-9)


def test_satterthwaite_against_scipys_welch() -> None:
    # at the estimated ratio the degrees are Welch's of the head against base scaled by the ratio
    rng = np.random.default_rng(3)
    base, head = rng.normal(10, 1, 4), rng.normal(20, 3, 7)
    ratio = head.mean() / base.mean()
    assert unpaired(tops(base), tops(head)).df == pytest.approx(stats.ttest_ind(head, ratio * base, equal_var=False).df)


def holds(pair: MeanPair, theta: float | npt.NDArray[np.float64], alpha: float) -> bool:
    """Membership of a ratio, or of all of several, in Fieller's set by its definition."""
    assert pair.df is not None
    t = stats.t.ppf(1 - alpha / 2, pair.df)
    variance = pair.v_yy + theta**2 * pair.v_xx - 2 * theta * pair.v_xy
    return bool(np.all((pair.y - theta * pair.x) ** 2 <= t**2 * variance))


@pytest.mark.parametrize("seed", seeds(60))
def test_the_set_and_its_p_against_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    v_xx, v_yy = rng.exponential(1, 2)
    v_xy = rng.uniform(-0.9, 0.9) * math.sqrt(v_xx * v_yy)
    pair = MeanPair(abs(rng.normal(0, 4)), abs(rng.normal(0, 4)), v_xx, v_yy, v_xy, rng.uniform(1, 30))
    alpha = rng.choice([0.01, 0.05, 0.3])
    limits = pair.limits(alpha)
    if limits.kind == "bounded":
        low, high = ends(limits)
        width = high - low
        assert holds(pair, low + 1e-6 * width, alpha) and holds(pair, high - 1e-6 * width, alpha)
        assert not holds(pair, low - 1e-6 * width, alpha) and not holds(pair, high + 1e-6 * width, alpha)
        assert holds(pair, pair.y / pair.x, alpha)
    else:
        # unbounded: far out on at least one side everything belongs to it
        assert holds(pair, 1e9, alpha) or holds(pair, -1e9, alpha)
        inside = holds(pair, np.tan(np.linspace(-1.57, 1.57, 4001)), alpha)
        assert inside == (limits.kind == "line")
    for theta in (0.5, 0.97, 1.0, 1.03, 2.0):
        above, below = there(pair.p(theta, "above")), there(pair.p(theta, "below"))
        bounded = limits.low is not None and limits.high is not None
        assert (above < alpha) == (bounded and limits.low > theta)  # type: ignore[operator]
        assert (below < alpha) == (bounded and limits.high < theta)  # type: ignore[operator]


@pytest.mark.parametrize("y", [3.0, -3.0])
def test_the_end_of_a_half_line_is_where_the_parabola_is_a_line(y: float) -> None:
    # x^2 = t^2 v_xx to the last bit
    t = t_quantile(5.0, 0.025)
    found = MeanPair(t, y, 1.0, 0.5, 0.0, 5.0).limits(0.05)
    end = pytest.approx((y**2 - 0.5 * t**2) / (2 * t * y))
    assert (found.kind, found.low, found.high) == ("half-line", *((end, None) if y > 0 else (None, end)))
    covariance = MeanPair(t, 0.1, 1.0, 0.5, 0.5, 5.0).limits(0.05)
    assert (covariance.kind, covariance.low) == ("half-line", None)


def test_zeros_on_one_side() -> None:
    assert MeanPair(10.0, 0.0, 1.0, 0.0, 0.0, 5.0).limits(0.05) == Limits("bounded", 0.0, 0.0)
    assert MeanPair(0.0, 2.0, 0.0, 0.5, 0.0, 4.0).limits(0.05).kind == "line"


def test_what_has_no_spread() -> None:
    # a side without spread takes the other's degrees
    constant, spread = tops_of(sample([[[10.0]]] * 5)), tops_of(sample([[[10.0]], [[11.0]], [[12.5]]]))
    assert unpaired(constant, spread).df == pytest.approx(2)
    assert unpaired(spread, constant).df == pytest.approx(2)
    # no spread on either side and one unit give no interval
    flat, single = tops_of(sample([[[10.0]]] * 5)), tops_of(sample([[[10.0, 11.0]]]))
    for base, head in ((flat, flat), (single, NEW), (OLD, single)):
        pair = unpaired(base, head)
        assert pair.df is None
        assert pair.limits(0.05).kind == "withheld"
        assert pair.difference_limits(0.05).kind == "withheld"
        assert pair.p(1.0, "above") is None
    # every build has the same mean, but values one step apart: the step is all that is known
    coarse = tops_of(sample([[[1.0, 3.0]]] * 3))
    floored = unpaired(coarse, coarse)
    assert floored.v_xx == pytest.approx(2**2 / (12 * 3))
    assert floored.df == pytest.approx(4)


def test_difference_limits_agree_with_their_p() -> None:
    rng = np.random.default_rng(1)
    pair = unpaired(tops(rng.normal(10, 1, 6)), tops(rng.normal(10.2, 1, 6)))
    low, high = ends(pair.difference_limits(0.1))
    assert [pair.p_difference(low, "above"), pair.p_difference(high, "below")] == pytest.approx([0.1, 0.1])


def test_paired_is_the_one_sample_t_of_the_contrast() -> None:
    rng = np.random.default_rng(5)
    shared = rng.normal(0, 1, 6)
    x, y = 10 + shared + rng.normal(0, 0.1, 6), 11 + shared + rng.normal(0, 0.1, 6)
    pair = paired(tops(x), tops(y))
    assert pair.df == 5
    # that base differs from 0 is tested too
    least = 2 * stats.ttest_1samp(x, 0, alternative="greater").pvalue
    for theta in (0.9, 1.05, 1.1, 1.2):
        expected = stats.ttest_1samp(y - theta * x, 0, alternative="greater").pvalue
        assert pair.p(theta, "above") == pytest.approx(max(least, min(1, 2 * expected)), rel=1e-9)
    (low, high), (alone_low, alone_high) = (ends(of.limits(0.05)) for of in (pair, unpaired(tops(x), tops(y))))
    assert high - low < (alone_high - alone_low) / 3


def test_rounds_that_only_one_side_has_and_rounds_without_spread() -> None:
    x, y = tops([5.0, 1.0, 2.0, 3.0], first=1), tops([2.1, 4.2, 6.1], first=2)
    assert paired(x, y) == paired(tops([1.0, 2.0, 3.0]), tops([2.1, 4.2, 6.1]))
    assert paired(tops([1.0, 2.0]), tops([1.0, 2.0], first=1)).df is None
    # a perfect correlation without a step leaves the ratio alone
    assert paired(tops([10.0, 11.0, 12.0, 13.0]), tops([20.0, 22.0, 24.0, 26.0])).limits(0.05).low == pytest.approx(2.0)
    # no spread, or a mean of 0
    assert paired(tops([2.0] * 3), tops([3.0] * 3)).df is None
    around = paired(tops([-1.0, 0.0, 1.0]), tops([2.0, 3.0, 5.0]))
    assert (around.x, around.df) == (0.0, 2.0)
    assert around.v_xy == pytest.approx(0.5)


@pytest.mark.parametrize("log", [False, True])
def test_rounds_that_move_as_one_leave_the_floor_on_both_sides(log: bool) -> None:
    # base's mean is 1, so that nothing else makes the ratio 1
    x = np.array([0.5, 1.0, 1.5])
    y = x + math.log(1.5) if log else 1.5 * x
    pair = paired(tops(x, gap=0.1, log=log), tops(y, gap=0.1, log=log))
    floor = 0.1**2 / (12 * 3)
    assert (pair.v_xx, pair.v_yy) == pytest.approx((x.var(ddof=1) / 3, y.var(ddof=1) / 3))
    assert pair.v_xy == pytest.approx(math.sqrt((pair.v_xx - floor) * (pair.v_yy - floor)))


@pytest.mark.parametrize("scale", [1.0, 1e-6])
def test_what_differs_between_rounds_is_no_floor_at_any_scale(scale: float) -> None:
    x = 1 + scale * np.array([0.0, 1.0, 2.0, 3.0])
    y = x + scale * np.array([0.01, 0.0, 0.0, 0.01])
    pair = paired(tops(x, gap=scale), tops(y, gap=scale))
    assert pair.v_xy == pytest.approx(np.cov(x, y)[0, 1] / 4, rel=1e-6, abs=0)


def test_logarithms_by_welch_and_the_delta_method() -> None:
    rng = np.random.default_rng(6)
    x, y = rng.normal(1, 0.1, 5), rng.normal(1.2, 0.2, 7)
    pair = LogPair(unpaired(tops(x, log=True), tops(y, log=True)))
    welch = stats.ttest_ind(y, x, equal_var=False).confidence_interval(0.95)
    low, high = ends(pair.limits(0.05))
    assert (low, high) == pytest.approx((math.exp(welch.low), math.exp(welch.high)))
    assert pair.p(low, "above") == pytest.approx(0.05)
    assert [pair.x, pair.y] == pytest.approx([math.exp(x.mean()), math.exp(y.mean())])
    assert sum(ends(pair.difference_limits(0.05))) / 2 == pytest.approx(pair.y - pair.x)
    t = stats.t.ppf(0.975, 4) * x.std(ddof=1) / 5**0.5
    side = ends(side_limits(tops(x, log=True), 0.05))
    assert side == pytest.approx((math.exp(x.mean() - t), math.exp(x.mean() + t)))
