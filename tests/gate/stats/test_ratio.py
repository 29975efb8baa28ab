import math

import numpy as np
import pytest
from scipy import stats

from gate.stats.levels import summarize
from gate.stats.ratio import (
    MeanPair,
    difference_limits,
    mean_limits,
    mean_pair,
    p_difference,
    p_ratio,
    ratio_limits,
    t_quantile,
)
from tests.support.kalibera_jones import TABLE_V_NEW, TABLE_V_OLD, sample

OLD, NEW = summarize(sample(TABLE_V_OLD)), summarize(sample(TABLE_V_NEW))


def test_table_v() -> None:
    limits = ratio_limits(mean_pair(OLD, NEW, "fieller-kj"), 0.05)
    assert limits.kind == "bounded"
    assert limits.low == pytest.approx(0.109834376, abs=5e-10)
    assert limits.high == pytest.approx(1.72530157, abs=5e-9)


def test_table_v_at_99_percent_has_no_bounds() -> None:
    limits = ratio_limits(mean_pair(OLD, NEW, "fieller-kj"), 0.01)
    assert (limits.kind, limits.low, limits.high) == ("line", None, None)


def test_one_side_of_table_v() -> None:
    limits = mean_limits(OLD, 0.05)
    assert limits.high is not None
    assert limits.high - 10.5 == pytest.approx(5.98903913, abs=5e-9)


def test_satterthwaite_against_scipys_welch() -> None:
    # at the estimated ratio the degrees are Welch's of the head against base scaled by the ratio
    rng = np.random.default_rng(3)
    base, head = rng.normal(10, 1, (4, 1, 1)), rng.normal(20, 3, (7, 1, 1))
    pair = mean_pair(summarize(sample(base.tolist())), summarize(sample(head.tolist())), "fieller")
    ratio = head.mean() / base.mean()
    assert pair.df == pytest.approx(stats.ttest_ind(head.ravel(), ratio * base.ravel(), equal_var=False).df)


def holds(pair: MeanPair, theta: float, alpha: float) -> bool:
    """Membership in Fieller's set by its definition."""
    assert pair.df is not None
    t = stats.t.ppf(1 - alpha / 2, pair.df)
    variance = pair.v_yy + theta**2 * pair.v_xx - 2 * theta * pair.v_xy
    return bool((pair.y - theta * pair.x) ** 2 <= t**2 * variance)


@pytest.mark.parametrize("seed", range(60))
def test_the_set_and_its_p_against_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    v_xx, v_yy = rng.exponential(1, 2)
    v_xy = rng.uniform(-0.9, 0.9) * math.sqrt(v_xx * v_yy)
    pair = MeanPair(abs(rng.normal(0, 4)), abs(rng.normal(0, 4)), v_xx, v_yy, v_xy, rng.uniform(1, 30))
    alpha = rng.choice([0.01, 0.05, 0.3])
    limits = ratio_limits(pair, alpha)
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
        above, below = p_ratio(pair, theta, "above"), p_ratio(pair, theta, "below")
        assert above is not None and below is not None
        bounded = limits.low is not None and limits.high is not None
        assert (above < alpha) == (bounded and limits.low > theta)  # type: ignore[operator]
        assert (below < alpha) == (bounded and limits.high < theta)  # type: ignore[operator]


def test_inverting_the_ratio_inverts_the_set() -> None:
    rng = np.random.default_rng(5)
    x, y = (summarize(sample(rng.normal(10, 1, (5, 2, 3)).tolist())) for _ in range(2))
    there, back = (ratio_limits(mean_pair(a, b, "fieller"), 0.05) for a, b in ((x, y), (y, x)))
    assert there.low is not None and there.high is not None
    assert (back.low, back.high) == pytest.approx((1 / there.high, 1 / there.low))


def test_a_half_line() -> None:
    # x^2 = t^2 v_xx to the last bit: what remains of the quadratic is a straight line
    t = t_quantile(4.0, 0.025)
    pair = MeanPair(t, 20.0, 1.0, 0.5, 0.0, 4.0)
    limits = ratio_limits(pair, 0.05)
    assert (limits.kind, limits.high) == ("half-line", None)
    assert limits.low == pytest.approx((400 - 0.5 * t * t) / (2 * t * 20))
    covariance = MeanPair(t, 0.1, 1.0, 0.5, 0.5, 4.0)
    assert (ratio_limits(covariance, 0.05).kind, ratio_limits(covariance, 0.05).low) == ("half-line", None)


def test_a_base_that_is_zero_leaves_the_whole_line() -> None:
    assert ratio_limits(MeanPair(0.0, 2.0, 0.0, 0.5, 0.0, 4.0), 0.05).kind == "line"


def test_a_side_without_spread_takes_the_others_degrees() -> None:
    constant, spread = summarize(sample([[[10.0]]] * 5)), summarize(sample([[[10.0]], [[11.0]], [[12.5]]]))
    assert mean_pair(constant, spread, "fieller").df == pytest.approx(2)
    assert mean_pair(spread, constant, "fieller").df == pytest.approx(2)


def test_no_spread_on_either_side_and_one_unit_give_no_interval() -> None:
    constant, single = summarize(sample([[[10.0]]] * 5)), summarize(sample([[[10.0, 11.0]]]))
    for base, head in ((constant, constant), (single, NEW), (OLD, single)):
        pair = mean_pair(base, head, "fieller")
        assert pair.df is None
        assert ratio_limits(pair, 0.05).kind == "withheld"
        assert difference_limits(pair, 0.05).kind == "withheld"
        assert p_ratio(pair, 1.0, "above") is None


def test_the_timers_step_floors_the_variance() -> None:
    # every build has the same mean, but values one step apart: the step is all that is known
    coarse = summarize(sample([[[1.0, 3.0]]] * 3))
    pair = mean_pair(coarse, coarse, "fieller")
    assert pair.v_xx == pytest.approx(2**2 / (12 * 3))
    assert pair.df == pytest.approx(4)


def test_difference_limits_agree_with_welch() -> None:
    rng = np.random.default_rng(1)
    base, head = rng.normal(10, 1, 6), rng.normal(10.2, 1, 6)
    x, y = (summarize(sample(v.reshape(-1, 1, 1).tolist())) for v in (base, head))
    pair = mean_pair(x, y, "fieller")
    assert pair.df is not None
    limits = difference_limits(pair, 0.1)
    for limit in (limits.low, limits.high):
        assert limit is not None
    assert p_difference(pair, float(limits.low or 0), "above") == pytest.approx(0.1)
    assert p_difference(pair, float(limits.high or 0), "below") == pytest.approx(0.1)
