import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from gate.stats.estimate import Method, ratio_of, reduce
from gate.stats.levels import Tops, tops_of
from gate.stats.ratio import Limits, LogPair, MeanPair, paired, side_limits, t_quantile, unpaired
from tests.support.kalibera_jones import TABLE_V_NEW, TABLE_V_OLD, sample
from tests.support.seeds import seeds

OLD, NEW = tops_of(sample(TABLE_V_OLD)), tops_of(sample(TABLE_V_NEW))


def test_table_v() -> None:
    limits = unpaired(OLD, NEW, kalibera_jones=True).limits(0.05)
    assert limits.kind == "bounded"
    assert limits.low == pytest.approx(0.109834376, abs=5e-10)
    assert limits.high == pytest.approx(1.72530157, abs=5e-9)


def test_table_v_at_99_percent_has_no_bounds() -> None:
    limits = unpaired(OLD, NEW, kalibera_jones=True).limits(0.01)
    assert (limits.kind, limits.low, limits.high) == ("line", None, None)


def test_one_side_of_table_v() -> None:
    limits = side_limits(OLD, 0.05)
    assert limits.high is not None
    assert limits.high - 10.5 == pytest.approx(5.98903913, abs=5e-9)


def test_satterthwaite_against_scipys_welch() -> None:
    # at the estimated ratio the degrees are Welch's of the head against base scaled by the ratio
    rng = np.random.default_rng(3)
    base, head = rng.normal(10, 1, (4, 1, 1)), rng.normal(20, 3, (7, 1, 1))
    pair = unpaired(tops_of(sample(base.tolist())), tops_of(sample(head.tolist())))
    ratio = head.mean() / base.mean()
    assert pair.df == pytest.approx(stats.ttest_ind(head.ravel(), ratio * base.ravel(), equal_var=False).df)


def holds(pair: MeanPair, theta: float, alpha: float) -> bool:
    """Membership in Fieller's set by its definition."""
    assert pair.df is not None
    t = stats.t.ppf(1 - alpha / 2, pair.df)
    variance = pair.v_yy + theta**2 * pair.v_xx - 2 * theta * pair.v_xy
    return bool((pair.y - theta * pair.x) ** 2 <= t**2 * variance)


@pytest.mark.parametrize("seed", seeds(60))
def test_the_set_and_its_p_against_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    v_xx, v_yy = rng.exponential(1, 2)
    v_xy = rng.uniform(-0.9, 0.9) * math.sqrt(v_xx * v_yy)
    pair = MeanPair(abs(rng.normal(0, 4)), abs(rng.normal(0, 4)), v_xx, v_yy, v_xy, rng.uniform(1, 30))
    alpha = rng.choice([0.01, 0.05, 0.3])
    limits = pair.limits(alpha)
    if limits.kind == "bounded":
        low, high = limits.low, limits.high
        assert low is not None and high is not None
        width = high - low
        assert holds(pair, low + 1e-6 * width, alpha) and holds(pair, high - 1e-6 * width, alpha)
        assert not holds(pair, low - 1e-6 * width, alpha) and not holds(pair, high + 1e-6 * width, alpha)
        assert holds(pair, pair.y / pair.x, alpha)
    else:
        # unbounded: far out on at least one side everything belongs to it
        assert holds(pair, 1e9, alpha) or holds(pair, -1e9, alpha)
        inside = [holds(pair, math.tan(a), alpha) for a in np.linspace(-1.57, 1.57, 4001)]
        assert all(inside) == (limits.kind == "line")
    for theta in (0.5, 0.97, 1.0, 1.03, 2.0):
        above, below = pair.p(theta, "above"), pair.p(theta, "below")
        assert above is not None and below is not None
        bounded = limits.low is not None and limits.high is not None
        assert (above < alpha) == (bounded and limits.low > theta)  # type: ignore[operator]
        assert (below < alpha) == (bounded and limits.high < theta)  # type: ignore[operator]


def test_inverting_the_ratio_inverts_the_set() -> None:
    rng = np.random.default_rng(5)
    x, y = (tops_of(sample(rng.normal(10, 1, (5, 2, 3)).tolist())) for _ in range(2))
    there, back = (unpaired(a, b).limits(0.05) for a, b in ((x, y), (y, x)))
    assert there.low is not None and there.high is not None
    assert (back.low, back.high) == pytest.approx((1 / there.high, 1 / there.low))


def test_a_half_line() -> None:
    # x^2 = t^2 v_xx to the last bit: what remains of the quadratic is a straight line
    t = t_quantile(4.0, 0.025)
    pair = MeanPair(t, 20.0, 1.0, 0.5, 0.0, 4.0)
    limits = pair.limits(0.05)
    assert (limits.kind, limits.high) == ("half-line", None)
    assert limits.low == pytest.approx((400 - 0.5 * t * t) / (2 * t * 20))
    covariance = MeanPair(t, 0.1, 1.0, 0.5, 0.5, 4.0)
    assert (covariance.limits(0.05).kind, covariance.limits(0.05).low) == ("half-line", None)


@pytest.mark.parametrize("y", [3.0, -3.0])
def test_the_end_of_a_half_line_is_where_the_parabola_is_a_line(y: float) -> None:
    t = t_quantile(5.0, 0.025)
    found = MeanPair(t, y, 1.0, 0.5, 0.0, 5.0).limits(0.05)
    end = pytest.approx((y**2 - 0.5 * t**2) / (2 * t * y))
    assert (found.kind, found.low, found.high) == ("half-line", *((end, None) if y > 0 else (None, end)))


def test_a_head_of_nothing_but_zeros_has_the_ratio_zero() -> None:
    assert MeanPair(10.0, 0.0, 1.0, 0.0, 0.0, 5.0).limits(0.05) == Limits("bounded", 0.0, 0.0)


def test_a_base_that_is_zero_leaves_the_whole_line() -> None:
    assert MeanPair(0.0, 2.0, 0.0, 0.5, 0.0, 4.0).limits(0.05).kind == "line"


def test_a_side_without_spread_takes_the_others_degrees() -> None:
    constant, spread = tops_of(sample([[[10.0]]] * 5)), tops_of(sample([[[10.0]], [[11.0]], [[12.5]]]))
    assert unpaired(constant, spread).df == pytest.approx(2)
    assert unpaired(spread, constant).df == pytest.approx(2)


def test_no_spread_on_either_side_and_one_unit_give_no_interval() -> None:
    constant, single = tops_of(sample([[[10.0]]] * 5)), tops_of(sample([[[10.0, 11.0]]]))
    for base, head in ((constant, constant), (single, NEW), (OLD, single)):
        pair = unpaired(base, head)
        assert pair.df is None
        assert pair.limits(0.05).kind == "withheld"
        assert pair.difference_limits(0.05).kind == "withheld"
        assert pair.p(1.0, "above") is None


def test_the_timers_step_floors_the_variance() -> None:
    # every build has the same mean, but values one step apart: the step is all that is known
    coarse = tops_of(sample([[[1.0, 3.0]]] * 3))
    pair = unpaired(coarse, coarse)
    assert pair.v_xx == pytest.approx(2**2 / (12 * 3))
    assert pair.df == pytest.approx(4)


def test_difference_limits_agree_with_welch() -> None:
    rng = np.random.default_rng(1)
    base, head = rng.normal(10, 1, 6), rng.normal(10.2, 1, 6)
    x, y = (tops_of(sample(v.reshape(-1, 1, 1).tolist())) for v in (base, head))
    pair = unpaired(x, y)
    assert pair.df is not None
    limits = pair.difference_limits(0.1)
    for limit in (limits.low, limits.high):
        assert limit is not None
    assert pair.p_difference(float(limits.low or 0), "above") == pytest.approx(0.1)
    assert pair.p_difference(float(limits.high or 0), "below") == pytest.approx(0.1)


def tops(values: list[float], *, gap: float = 0.0, log: bool = False, units: tuple[int, ...] | None = None) -> Tops:
    return Tops(np.array(values), units or tuple(range(len(values))), gap, log)


def test_paired_is_the_one_sample_t_of_the_contrast() -> None:
    rng = np.random.default_rng(5)
    shared = rng.normal(0, 1, 6)
    x, y = 10 + shared + rng.normal(0, 0.1, 6), 11 + shared + rng.normal(0, 0.1, 6)
    pair = paired(tops(x.tolist()), tops(y.tolist()))
    assert pair.df == 5
    # that base differs from 0 is tested too
    least = 2 * stats.ttest_1samp(x, 0, alternative="greater").pvalue
    for theta in (0.9, 1.05, 1.1, 1.2):
        expected = stats.ttest_1samp(y - theta * x, 0, alternative="greater").pvalue
        assert pair.p(theta, "above") == pytest.approx(max(least, min(1, 2 * expected)), rel=1e-9)
    limits, alone = pair.limits(0.05), unpaired(tops(x.tolist()), tops(y.tolist())).limits(0.05)
    assert limits.low is not None and limits.high is not None and alone.low is not None and alone.high is not None
    assert limits.high - limits.low < (alone.high - alone.low) / 3


def test_paired_takes_only_rounds_that_both_sides_have() -> None:
    x, y = tops([1.0, 5.0, 2.0, 3.0], units=(0, 1, 2, 3)), tops([2.1, 4.2, 6.1], units=(0, 2, 3))
    assert paired(x, y) == paired(tops([1.0, 2.0, 3.0]), tops([2.1, 4.2, 6.1]))
    assert paired(tops([1.0, 2.0], units=(0, 1)), tops([1.0, 2.0], units=(1, 2))).df is None


def test_a_perfect_correlation_leaves_the_floor_of_the_timer() -> None:
    x, y = [10.0, 11.0, 12.0, 13.0], [20.0, 22.0, 24.0, 26.0]
    pair = paired(tops(x, gap=0.5), tops(y, gap=0.5))
    variance = pair.v_yy + 4 * pair.v_xx - 4 * pair.v_xy
    assert variance >= (0.5**2 + 4 * 0.5**2) / (12 * 4)
    assert paired(tops(x), tops(y)).limits(0.05).low == pytest.approx(2.0)


@pytest.mark.parametrize("log", [False, True])
def test_rounds_that_move_as_one_leave_the_floor_on_both_sides(log: bool) -> None:
    # base's mean is 1, so that nothing else makes the ratio 1
    x = np.array([0.5, 1.0, 1.5])
    y = x + math.log(1.5) if log else 1.5 * x
    pair = paired(tops(x.tolist(), gap=0.1, log=log), tops(y.tolist(), gap=0.1, log=log))
    floor = 0.1**2 / (12 * 3)
    assert (pair.v_xx, pair.v_yy) == pytest.approx((x.var(ddof=1) / 3, y.var(ddof=1) / 3))
    assert pair.v_xy == pytest.approx(math.sqrt((pair.v_xx - floor) * (pair.v_yy - floor)))


@pytest.mark.parametrize("scale", [1.0, 1e-6])
def test_what_differs_between_rounds_is_no_floor_at_any_scale(scale: float) -> None:
    x = 1 + scale * np.array([0.0, 1.0, 2.0, 3.0])
    y = x + scale * np.array([0.01, 0.0, 0.0, 0.01])
    pair = paired(tops(x.tolist(), gap=scale), tops(y.tolist(), gap=scale))
    assert pair.v_xy == pytest.approx(np.cov(x, y)[0, 1] / 4, rel=1e-6, abs=0)


def test_paired_rounds_without_spread_or_around_zero() -> None:
    assert paired(tops([2.0] * 3), tops([3.0] * 3)).df is None
    around = paired(tops([-1.0, 0.0, 1.0]), tops([2.0, 3.0, 5.0]))
    assert (around.x, around.df) == (0.0, 2.0)
    assert around.v_xy == pytest.approx(0.5)


def test_logarithms_by_welch_and_the_delta_method() -> None:
    rng = np.random.default_rng(6)
    x, y = rng.normal(1, 0.1, 5), rng.normal(1.2, 0.2, 7)
    pair = LogPair(unpaired(tops(x.tolist(), log=True), tops(y.tolist(), log=True)))
    welch = stats.ttest_ind(y, x, equal_var=False).confidence_interval(0.95)
    limits = pair.limits(0.05)
    assert limits.low == pytest.approx(math.exp(welch.low))
    assert limits.high == pytest.approx(math.exp(welch.high))
    assert pair.p(float(limits.low or 0), "above") == pytest.approx(0.05)
    assert [pair.x, pair.y] == pytest.approx([math.exp(x.mean()), math.exp(y.mean())])
    difference = pair.difference_limits(0.05)
    assert difference.low is not None and difference.high is not None
    assert (difference.low + difference.high) / 2 == pytest.approx(pair.y - pair.x)
    side = side_limits(tops(x.tolist(), log=True), 0.05)
    t = stats.t.ppf(0.975, 4) * x.std(ddof=1) / 5**0.5
    assert [side.low, side.high] == pytest.approx([math.exp(x.mean() - t), math.exp(x.mean() + t)])


def test_paired_limits_are_where_the_t_of_the_contrast_is_the_quantile() -> None:
    rng = np.random.default_rng(8)
    x, y = rng.normal(10, 1, 5), rng.normal(12, 1, 5)
    limits = paired(tops(x.tolist()), tops(y.tolist())).limits(0.1)
    for limit in (limits.low, limits.high):
        assert limit is not None
        contrast = y - limit * x
        t = contrast.mean() / (contrast.std(ddof=1) / 5**0.5)
        assert abs(t) == pytest.approx(t_quantile(4, 0.05), rel=1e-9)


@pytest.mark.parametrize("method", ["fieller", "fieller-paired"])
def test_a_timer_that_is_dithered_does_not_widen_the_interval_five_times(method: Method) -> None:
    # ticks of 10% and noise of 5%: 6 builds of 3 starts of 30 values, wherever the values lie between two ticks
    rng = np.random.default_rng(16)
    covered, widths, without = 0, [], []
    for _ in range(400):
        level = 1 + rng.uniform(0, 0.1)
        sides = [[[rng.normal(level * r, 0.05, 30) for _ in range(3)] for _ in range(6)] for r in (1, 1.05)]
        found = []
        for tick in (0.1, 0.0):
            base, head = (sample(rounded(side, tick)) for side in sides)
            found.append(ratio_of(reduce(base, head, None, exact=False), method).limits(0.05))
        (low, high), (fine_low, fine_high) = ((each.low or 0.0, each.high or 0.0) for each in found)
        covered += low <= 1.05 <= high
        widths.append(high - low)
        without.append(fine_high - fine_low)
    assert covered >= 0.95 * 400
    # 3.4 times; counting builds made it 5.8 times
    assert np.mean(widths) < 3.5 * np.mean(without)


def rounded(nested: list[list[Any]], tick: float) -> list[list[list[float]]]:
    return [[(tick * np.round(e / tick) if tick else e).tolist() for e in build] for build in nested]
