import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from gate.model import Sample
from gate.model.warnings.estimates import Autocorrelation, Drift, OrderEffect, Trend
from gate.stats.diagnostics import carry_over, lag_one, warnings
from gate.stats.rounding import Array
from tests.support import turns
from tests.support.samples import nested, there
from tests.support.seeds import seeds, some

Pair = tuple[Sample, Sample]
Said = TypeVar("Said")


def side(values: Array, orders: npt.NDArray[np.int64] | None = None) -> Sample:
    """Values of shape (builds, executions, iterations) as one session."""
    return msgspec.structs.replace(nested(values), orders=orders)


def blocks(rng: np.random.Generator, builds: int, executions: int) -> npt.NDArray[np.bool_]:
    """Whether base comes first, of each block: half of those of a round, an odd one in turn, as the schedule does."""
    rounds = [np.arange(executions) < executions // 2 + (executions % 2) * (k % 2) for k in range(builds)]
    return np.concatenate([rng.permutation(flags) for flags in rounds])


def pair(rng: np.random.Generator, base: Array, head: Array, second: float = 0.0) -> Pair:
    """Both sides in random blocks; second: what it costs to be the second, as a share."""
    builds, executions = base.shape[:2]
    base_first = blocks(rng, builds, executions)
    at = 2 * np.arange(builds * executions)
    cost = second * base_first.reshape(builds, executions, 1)
    return side(base * (1 + second - cost), at + ~base_first), side(head * (1 + cost), at + base_first)


def spread(rng: np.random.Generator, builds: int, executions: int) -> Array:
    return 0.05 * rng.normal(size=(builds, 1, 1)) + 0.1 * rng.normal(size=(builds, executions, 1))


def normal(rng: np.random.Generator, builds: int, executions: int, iterations: int) -> Array:
    return 1 + spread(rng, builds, executions) + 0.2 * rng.normal(size=(builds, executions, iterations))


def skewed(rng: np.random.Generator, builds: int, executions: int, iterations: int) -> Array:
    found: Array = np.exp(spread(rng, builds, executions) + 0.5 * rng.normal(size=(builds, executions, iterations)))
    return found


def quiet(rng: np.random.Generator, builds: int, executions: int, iterations: int) -> Array:
    return 1 + 0.01 * rng.normal(size=(builds, 1, 1)) + 0.02 * rng.normal(size=(builds, executions, iterations))


def kinds(found: Sequence[object]) -> list[type]:
    """The test that each warning comes from."""
    return [type(each) for each in found]


def said(of: type[Said], base: Sample, head: Sample, unit: str = "s") -> list[Said]:
    return [each for each in warnings(base, head, unit) if isinstance(each, of)]


ALL = [Trend, Drift, OrderEffect, Autocorrelation]


@pytest.mark.parametrize(
    ("draw", "counts"),
    some(
        [
            (skewed, (12, 2, 6)), (normal, (5, 5, 10)), (skewed, (5, 1, 10)),
            (normal, (12, 2, 6)), (normal, (5, 1, 10)), (skewed, (5, 5, 10)),
        ],
        1,
    ),
)  # fmt: skip
def test_false_warnings_are_one_in_a_hundred(
    draw: Callable[[np.random.Generator, int, int, int], Array], counts: tuple[int, int, int]
) -> None:
    rng = np.random.default_rng(counts)
    trials = 1000
    found: Counter[type] = Counter()
    for _ in range(trials):
        found.update(kinds(warnings(*pair(rng, draw(rng, *counts), draw(rng, *counts)), "s")))
    assert set(found) <= set(ALL)
    # 1% and three standard errors; a third of it at least, so that the test is one (the correlation has its floor)
    most = 0.01 + 3 * math.sqrt(0.01 * 0.99 / trials)
    assert {kind: n / trials for kind, n in found.items() if n / trials > most} == {}
    assert all(found[kind] / trials > 0.0033 for kind in ALL[:3])


# --- each test against its textbook form, where a change is on the brink of being seen


@pytest.mark.parametrize("seed", seeds(40))
def test_a_trend_is_a_t_test_over_builds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    base, head = quiet(rng, 4, 3, 7), quiet(rng, 6, 3, 7)
    slopes, halves = [], []
    for v in (base, head):
        v[:, :, :2] *= 1.01
        mean = v.mean(axis=(1, 2))
        # of a least squares line over 0 to 6, whose squares about 3 sum up to 28
        slopes.append((v @ (np.arange(7) - 3) / 28).mean(axis=1) / mean)
        halves.append(((v[:, :, 4:].mean(axis=(1, 2)) - v[:, :, :3].mean(axis=(1, 2))) / mean).mean())
    squares = sum(((s - s.mean()) ** 2).sum() for s in slopes)
    t = (slopes[0].mean() + slopes[1].mean()) / math.sqrt(squares / 8 * (1 / 4 + 1 / 6))
    share = sum(halves) / 2
    seen = 2 * stats.t.sf(abs(t), 8) < 0.01 and share <= -0.005
    found = said(Trend, side(base), side(head))
    assert [w.change for w in found] == pytest.approx([share] if seen else [])
    assert all(w.warming for w in found)


@pytest.mark.parametrize("seed", seeds(40))
def test_drift_is_a_straight_line_over_rounds(seed: int) -> None:
    rng = np.random.default_rng([1, seed])
    base, head = quiet(rng, 8, 2, 3), 3 * quiet(rng, 8, 2, 3)
    trend = 1 + 0.004 * np.arange(8).reshape(8, 1, 1)
    base, head = base * trend, head * trend
    level = (base.mean(axis=(1, 2)) / base.mean() + head.mean(axis=(1, 2)) / head.mean()) / 2
    fit = stats.linregress(np.arange(8), level)
    found = [w.change for w in said(Drift, side(base), side(head))]
    assert found == ([pytest.approx(fit.slope * 7)] if fit.pvalue < 0.01 else [])


@pytest.mark.parametrize("seed", seeds(40))
def test_the_interaction_compares_blocks_within_rounds(seed: int) -> None:
    rng = np.random.default_rng([2, seed])
    base, head = pair(rng, quiet(rng, 6, 5, 4), 1.1 * quiet(rng, 6, 5, 4), second=0.012)
    x, y = (s.values.reshape(6, 5, 4).mean(axis=2) for s in (base, head))
    difference = (y - x) / ((x + y).mean(axis=1, keepdims=True) / 2)
    first = (there(base.orders) < there(head.orders)).reshape(6, 5)
    contrasts = [(d[f].mean() - d[~f].mean()) / 2 for d, f in zip(difference, first, strict=True)]
    found = [w.change for w in said(OrderEffect, base, head)]
    sure = stats.ttest_1samp(contrasts, 0).pvalue < 0.01
    assert found == ([pytest.approx(np.mean(contrasts))] if sure else [])


@pytest.mark.parametrize("seed", seeds(40))
def test_with_one_execution_a_round_the_interaction_compares_rounds(seed: int) -> None:
    rng = np.random.default_rng([3, seed])
    base, head = pair(rng, quiet(rng, 9, 1, 4), quiet(rng, 9, 1, 4), second=0.025)
    x, y = (s.values.reshape(9, 4).mean(axis=1) for s in (base, head))
    difference, first = (y - x) / ((x + y) / 2), there(base.orders) < there(head.orders)
    p = stats.ttest_ind(difference[first], difference[~first]).pvalue
    assert bool(said(OrderEffect, base, head)) == (p < 0.01)


def ar1(rng: np.random.Generator, shape: tuple[int, int, int], r: float) -> Array:
    noise = rng.normal(size=shape)
    values = noise.copy()
    for i in range(1, shape[2]):
        values[:, :, i] = r * values[:, :, i - 1] + math.sqrt(1 - r * r) * noise[:, :, i]
    return values


@pytest.mark.parametrize("seed", seeds(40))
def test_correlation_is_a_t_test_over_builds(seed: int) -> None:
    rng = np.random.default_rng([4, seed])
    values = np.stack([50 + ar1(rng, (4, 3, 12), 0.4) for _ in range(2)])
    away = values - values.mean(axis=3, keepdims=True)
    lags = (away[..., :-1] * away[..., 1:]).sum(axis=3) / (away**2).sum(axis=3)
    builds = lags.mean(axis=2) + 1 / 12
    error = math.sqrt(np.var(builds, axis=1, ddof=1).mean() / 4 / 2)
    seen = stats.t.sf(np.mean(builds) / error, 6) < 0.01
    assert bool(said(Autocorrelation, side(values[0]), side(values[1]))) == seen


# --- made cases


def test_a_case_of_each() -> None:
    rng = np.random.default_rng(1)
    base, head = quiet(rng, 8, 6, 10), quiet(rng, 8, 6, 10)
    assert warnings(*pair(rng, base, head), "s") == []
    warm = 1 + 0.08 * np.exp(-np.arange(10) / 2)
    trend = 1 + 0.01 * np.arange(8).reshape(8, 1, 1)
    assert kinds(warnings(*pair(rng, base * warm, head * warm), "s"))[:1] == [Trend]
    assert kinds(warnings(*pair(rng, base * trend, head * trend), "s")) == [Drift]
    assert kinds(warnings(*pair(rng, base, head, second=0.03), "s")) == [OrderEffect]
    follow = [values + 0.02 * ar1(rng, (8, 6, 10), 0.7) for values in (base, head)]
    assert kinds(warnings(*pair(rng, follow[0], follow[1]), "s")) == [Autocorrelation]


@pytest.mark.parametrize(
    ("change", "unit", "warming"),
    [(-0.04, "s", True), (0.04, "s", False), (-0.04, "B", False), (0.04, "1/s", False), (0.04, "", False)],
)
def test_only_what_takes_less_time_warms_up(change: float, unit: str, warming: bool) -> None:
    values = np.ones((3, 2, 10)) + 1e-6 * np.random.default_rng(1).normal(size=(3, 2, 10))
    values[:, :, :5] -= change / 2
    values[:, :, 5:] += change / 2
    (found,) = said(Trend, side(values), side(2 * values), unit)
    assert found.change == pytest.approx(change, abs=1e-5)
    assert (found.unit, found.warming) == (unit, warming)


def test_the_correlation_says_what_the_iterations_are_worth() -> None:
    rng = np.random.default_rng(2)
    base, head = (50 + ar1(rng, (5, 80, 30), 0.5) for _ in range(2))
    (found,) = warnings(side(base), side(head), "s")
    # 30 (1 - r)/(1 + r) is 10 at r = 0.5
    assert isinstance(found, Autocorrelation)
    assert found.correlation == pytest.approx(0.5, abs=0.015)
    assert (found.iterations, found.worth) == (30, 10)


@pytest.mark.parametrize("n", [4, 10, 40])
@pytest.mark.parametrize("r", [-0.3, 0.0, 0.2, 0.5, 0.8])
def test_lag_one_is_right_in_short_executions(n: int, r: float) -> None:
    values = 7 + ar1(np.random.default_rng(n), (4, 3000, n), r)
    assert lag_one(side(values)) == pytest.approx(r, abs=0.025)


def test_lag_one_by_hand_and_where_it_is_not_known() -> None:
    # 1, 2, 3, 4 about 2.5: products 0.75 - 0.25 + 0.75 = 1.25, squares 5, so 0.25 is shown: what AR(1) shows at most
    assert lag_one(nested([[[1.0, 2.0, 3.0, 4.0]]])) == pytest.approx(0.99, abs=0.001)
    # up and down: -5 of 6 about the mean, below what any AR(1) shows
    assert lag_one(nested([[[0.0, 2.0] * 3]])) == pytest.approx(-0.99, abs=0.001)
    # it takes three iterations and spread
    assert lag_one(side(np.random.default_rng(1).normal(size=(5, 5, 2)))) is None
    assert lag_one(side(np.full((5, 5, 9), 0.1))) is None
    mixed, alone = nested([[[1.0, 5.0], [3.0, 3.0, 3.0], [9.0, 1.0, 8.0]]]), nested([[[9.0, 1.0, 8.0]]])
    assert lag_one(mixed) == lag_one(alone) is not None


def test_a_trend_that_halves_deny_and_one_of_a_single_side() -> None:
    rng = np.random.default_rng(7)
    # the line falls from end to end, the halves rise
    shape = np.array([1.2, 1.0, 1.0, 1.0, 1.0, 1.08, 1.08, 1.08, 1.08, 1.0])
    values = [shape + 1e-4 * rng.normal(size=(5, 3, 10)) for _ in range(2)]
    assert stats.linregress(np.arange(10), shape).slope < 0 < shape[5:].mean() - shape[:5].mean()
    assert Trend not in kinds(warnings(side(values[0]), side(values[1]), "s"))
    # a warm-up of one side is no noise
    rng = np.random.default_rng(1)
    base, head = quiet(rng, 4, 5, 10), quiet(rng, 4, 5, 10)
    head[:, :, :5] *= 1.06
    # one test over both sides' builds would have the sides' difference, 6%, among its noise
    warm = warnings(side(base), side(head), "s")[0]
    assert isinstance(warm, Trend)
    assert warm.warming and -0.0355 < warm.change < -0.0245
    # and drift of one side is not the host's
    rng = np.random.default_rng(1)
    rising, falling = (1 + 1e-3 * rng.normal(size=(8, 2, 3)) for _ in range(2))
    trend = 0.01 * np.arange(8).reshape(8, 1, 1)
    assert Drift not in kinds(warnings(side(rising * (1 + trend)), side(falling * (1 - trend)), "s"))


# --- nothing said


def test_changes_below_half_a_percent_are_not_worth_a_word() -> None:
    rng = np.random.default_rng(1)
    for share, seen in ((0.004, False), (0.006, True)):
        still = 1 + 1e-5 * rng.normal(size=(8, 4, 10))
        warm = still.copy()
        warm[:, :, :5] *= 1 + share
        trend = still * (1 + share * np.arange(8).reshape(8, 1, 1) / 7)
        assert (Trend in kinds(warnings(*pair(rng, warm, warm), "s"))) == seen
        assert (Drift in kinds(warnings(*pair(rng, trend, trend), "s"))) == seen
        assert bool(warnings(*pair(rng, still, still, second=share), "s")) == seen


def test_drift_is_looked_for_within_sessions() -> None:
    rng = np.random.default_rng(1)

    def drifting(slope: float, step: float) -> Sample:
        level = np.array([1, 1, 1, 1, 1 + step, 1 + step, 1 + step]) + slope * np.array([0, 1, 2, 3, 0, 1, 2])
        return nested((level.repeat(4) + 1e-4 * rng.normal(size=28)).reshape(7, 2, 2), [4, 3])

    # another machine is another level, not a drift
    assert kinds(warnings(drifting(0, 0.5), drifting(0, 0.5), "s")) == []
    found = warnings(drifting(0.02, 0.5), drifting(0.02, 0.5), "s")
    assert kinds(found) == [Drift]
    assert isinstance(found[0], Drift) and 0.0395 < found[0].change < 0.05


def test_only_rounds_of_both_sides_count() -> None:
    rng = np.random.default_rng(1)
    values = quiet(rng, 8, 4, 6) * (1 + 0.01 * np.arange(8).reshape(8, 1, 1))
    base, head = pair(rng, values, values, second=0.03)
    assert head.orders is not None
    kept = [0, 1, 3, 4, 5, 7]
    fewer = side(head.values.reshape(8, 4, 6)[kept], head.orders.reshape(8, 4)[kept].ravel())
    fewer = Sample(fewer.values, fewer.counts, tuple((0, k) for k in kept), fewer.orders)
    for sides in ((base, fewer), (fewer, base)):
        assert kinds(warnings(*sides, "s")) == [Drift, OrderEffect]
    apart = Sample(fewer.values, fewer.counts, tuple((1, k) for k in kept), fewer.orders)
    assert warnings(base, apart, "s") == []


def test_without_orders_there_is_no_interaction() -> None:
    rng = np.random.default_rng(1)
    base, head = pair(rng, quiet(rng, 6, 6, 4), quiet(rng, 6, 6, 4), second=0.05)
    assert kinds(warnings(base, head, "s")) == [OrderEffect]
    assert warnings(Sample(base.values, base.counts, base.builds), head, "s") == []
    # one order only tells nothing
    one = np.arange(36)
    assert (
        warnings(side(base.values.reshape(6, 6, 4), 2 * one), side(head.values.reshape(6, 6, 4), 2 * one + 1), "s")
        == []
    )


@pytest.mark.parametrize("values", [0.0, 1.0, -1.0, 0.1, 1e60])
def test_without_spread_nothing_is_said(values: float) -> None:
    for shape in ((1, 1, 1), (1, 5, 10), (2, 1, 1), (2, 1, 2), (3, 1, 3), (5, 5, 1)):
        flat = np.full(shape, values)
        assert warnings(*pair(np.random.default_rng(1), flat, flat), "s") == []


def test_values_not_above_0_are_judged_by_their_order_only() -> None:
    rng = np.random.default_rng(1)
    base, head = (ar1(rng, (5, 5, 20), 0.6) - 1 for _ in range(2))
    base[:, :, :10] -= 1
    assert set(kinds(warnings(*pair(rng, base, head), "s"))) == {Autocorrelation}


def test_executions_of_unequal_length() -> None:
    # one iteration has no second half, and a build of such executions says nothing
    rng = np.random.default_rng(1)
    lengths = [[4, 1], [6, 5, 3], [1, 1], [8, 2]]
    values = [[np.r_[np.full(n - n // 2, 1.03), np.full(n // 2, 1.0)] for n in build] for build in lengths]
    sample = nested([[execution + 1e-5 * rng.normal(size=len(execution)) for execution in build] for build in values])
    assert any(isinstance(w, Trend) and w.warming for w in warnings(sample, sample, "s"))


# --- carry-over


def carried(seed: int, *, after: dict[str, float], spread: float = 0.005, **more: Any) -> Pair:
    """Turns in which a side takes more after the other one; after: by which share, by side."""
    rng = np.random.default_rng(seed)
    active = turns.drawn(rng, turns.Turns(starts=12, active=spread, rounds=8, **more))[1]
    orders = [there(sample.orders) for sample in (active.base, active.head)]
    side_at = dict.fromkeys(orders[0].tolist(), "base") | dict.fromkeys(orders[1].tolist(), "head")
    found = []
    for name, sample, own in zip(("base", "head"), (active.base, active.head), orders, strict=True):
        before = np.array([side_at.get(order - 1, name) for order in own.tolist()])
        values = sample.values * np.where(before != name, 1 + after.get(name, 0.0), 1.0)
        found.append(msgspec.structs.replace(sample, values=values))
    return found[0], found[1]


@pytest.mark.parametrize("of", ["base", "head"])
@pytest.mark.parametrize("change", [0.02, -0.02])
def test_what_one_side_leaves_behind_is_warned_of(of: str, change: float) -> None:
    found = there(carry_over(*carried(1, after={of: change})))
    assert found.side == of and found.change == pytest.approx(change, abs=0.005)


def test_what_is_no_carry_over() -> None:
    # a change, and less than half a percent, however sure
    assert carry_over(*carried(2, after={}, change=1.3)) is None
    assert carry_over(*carried(3, after={"head": 0.003}, spread=0.0001)) is None
    base, head = carried(4, after={"head": 0.5})
    assert carry_over(base, head) is not None
    # nothing is known without orders or with few turns
    assert carry_over(msgspec.structs.replace(base, orders=None), head) is None
    few = turns.drawn(np.random.default_rng(5), turns.Turns(starts=4, rounds=2))[1]
    assert carry_over(few.base, few.head) is None


def test_carry_over_is_rare_without_any() -> None:
    count, hosts = 200, list(turns.HOSTS)
    found = [carry_over(*carried(100 + k, after={}, spread=0.05, host=hosts[k % len(hosts)])) for k in range(count)]
    # two sides beyond three standard errors each: 0.5%, and a heavy tail
    assert sum(each is not None for each in found) <= 0.02 * count
