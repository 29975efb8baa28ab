import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from scipy import stats

from gate.model import QuantileEffect, Sample
from gate.stats.centers import DEFAULT_TAUS, needed_values, quantile_curve, quantile_pair, reduce_to, type8
from gate.stats.components import level_variances
from gate.stats.ratio import LogPair, unpaired
from gate.stats.rounding import Array
from tests.support.samples import Nested, ends, nested, there
from tests.support.seeds import seeds, some
from tests.support.warned import texts


def drawn(
    rng: np.random.Generator, builds: int, executions: int = 10, iterations: int = 100, build: float = 0.04
) -> Sample:
    """Skewed values: a build effect, executions that differ by 5%, and a tail of slow iterations."""
    effects = build * rng.normal(size=(builds, 1, 1)) + 0.05 * rng.normal(size=(builds, executions, 1))
    values = np.exp(effects) * (0.8 + 0.1 * rng.gamma(2, 1, (builds, executions, iterations)))
    return nested(values)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 20, 201])
def test_type8_against_numpy(n: int) -> None:
    values = np.random.default_rng(n).lognormal(size=n)
    for tau in (0.001, 0.1, 1 / 3, 0.5, 0.9, 0.99, 0.9999):
        # numpy calls Hyndman and Fan's definition 8 by what it is for
        assert type8(values, tau) == pytest.approx(np.quantile(values, tau, method="median_unbiased"), rel=1e-14)


def test_type8_by_hand() -> None:
    # (5 + 1/3) 0.5 + 1/3 = 3: the third; (4 + 1/3) 0.5 + 1/3 = 2.5: halfway from the second to the third
    assert type8(np.array([5.0, 1.0, 4.0, 2.0, 3.0]), 0.5) == 3.0
    assert type8(np.array([8.0, 1.0, 2.0, 4.0]), 0.5) == 3.0
    # of equal values it is exactly that value
    assert type8(np.array([0.1, 0.1, 0.1, 0.3]), 0.4) == 0.1
    for values, tau in (([], 0.5), ([1.0], 0.0), ([1.0], 1.0), ([1.0], math.nan)):
        with pytest.raises(ValueError, match="a quantile needs values and 0 < tau < 1"):
            type8(np.array(values), tau)


def test_needed_values() -> None:
    # 99.9 / 100 is 0.9990000000000001, and of 0.97 333.3 values are not 333
    taus = {0.5: 20, 0.25: 40, 0.001: 10_000, 1 / 3: 30, 99.9 / 100: 10_000, 1 - 0.01: 1000, 0.9999: 100_000, 0.97: 334}
    assert {tau: needed_values(tau) for tau in taus} == taus


@pytest.mark.parametrize("tau", [0.2, 0.5, 0.95])
def test_each_build_gives_the_logarithm_of_its_quantile(tau: float) -> None:
    rng = np.random.default_rng(1)
    base, head = ([[list(rng.lognormal(size=5)) for _ in range(4)] for _ in range(3)] for _ in range(2))
    pair = there(quantile_pair(nested(base), nested(head), tau, sessions=False))
    assert (pair.cut, pair.fewest, pair.fewest_executions) == (False, 20, 4)
    for side, builds in ((pair.base, base), (pair.head, head)):
        expected = [math.log(np.quantile(np.ravel(build), tau, method="median_unbiased")) for build in builds]
        assert side.values == pytest.approx(expected)
        assert side.log
        assert side.units == ((0, 0), (0, 1), (0, 2))


@pytest.mark.parametrize(("executions", "warned"), [(1, [1]), (2, [2]), (3, []), (4, [])])
def test_fewer_than_three_executions_a_build_are_warned_of(executions: int, warned: list[int]) -> None:
    rng = np.random.default_rng(2)
    base, head = (drawn(rng, 4, executions, 40) for _ in range(2))
    found = reduce_to(base, head, 0.5, exact=False)
    assert found.trouble == ""
    said = texts(found.warnings, "few-executions")
    assert [f"rests on {count} start" in text for text, count in zip(said, warned, strict=True)] == [True] * len(warned)


def test_the_variance_of_a_quantile_is_that_of_builds_in_the_unit() -> None:
    base, head = (drawn(np.random.default_rng(seed), 4) for seed in (3, 4))
    pair = there(quantile_pair(base, head, 0.9, sessions=False))
    ((level, (s2, t2)),) = level_variances(base, pair.base).items()
    logs = pair.base.values
    assert (level, math.isnan(t2)) == ("build", True)
    assert s2 == pytest.approx(logs.var(ddof=1) * math.exp(logs.mean()) ** 2)


def test_the_gap_and_the_mean_of_a_session_are_on_the_scale_of_logarithms() -> None:
    # builds with medians 4 and 16, together exp(mean ln) = 8; the smallest step between values is 0.5
    side = nested([[[3.5, 4.0, 4.0, 4.0, 6.0]], [[15.0, 16.0, 16.0, 16.0, 20.0]]])
    pair = there(quantile_pair(side, nested([[[2.0] * 5], [[2.0] * 5]]), 0.5, sessions=False))
    assert pair.base.gap == pytest.approx(0.5 / 8)
    assert pair.head.gap == 0
    # a session is the mean of its builds
    builds = [[[math.e] * 3], [[math.e**2] * 3], [[math.e**5] * 3]]
    pair = there(quantile_pair(nested(builds, [2, 1]), nested(builds, [1, 2]), 0.5, sessions=True))
    assert pair.base.values == pytest.approx([1.5, 5])
    assert pair.head.values == pytest.approx([1, 3.5])
    assert pair.base.units == (0, 1)
    # counts within half as many again are left alone
    few, more, many = (nested([[[1.0, 2.0]] * n] * 2) for n in (4, 6, 7))
    found = [there(quantile_pair(few, side, 0.5, sessions=False)) for side in (more, many)]
    assert [(pair.cut, pair.fewest_executions) for pair in found] == [(False, 4), (True, 4)]


@pytest.mark.parametrize("tau", [0.1, 0.5])
def test_no_logarithm_is_taken_of_a_quantile_that_is_not_above_0(tau: float) -> None:
    fine, zeros = nested([[[1.0, 2.0, 3.0]]] * 2), nested([[[1.0, 2.0, 3.0]], [[-1.0, 0.0, 2.0]]])
    assert quantile_pair(fine, zeros, tau, sessions=False) is None
    assert quantile_pair(zeros, fine, tau, sessions=False) is None
    assert quantile_pair(zeros, fine, 0.9, sessions=False) is not None


def literally_cut(builds: Nested, smallest: int) -> list[list[list[float]]]:
    """Drop the last execution of a build while what remains is not below the smallest count."""
    found = [[list(execution) for execution in build] for build in builds]
    for build in found:
        while sum(map(len, build)) - len(build[-1]) >= smallest:
            build.pop()
    return found


@pytest.mark.parametrize("seed", seeds(30))
def test_unequal_counts_are_cut_by_whole_executions(seed: int) -> None:
    rng = np.random.default_rng(seed)

    def draw(most: int) -> list[list[list[float]]]:
        return [[list(rng.lognormal(size=rng.integers(1, most))) for _ in range(rng.integers(1, 9))] for _ in range(3)]

    base, head = draw(6), draw(15)
    counts = [sum(map(len, build)) for build in (*base, *head)]
    pair = there(quantile_pair(nested(base), nested(head), 0.5, sessions=False))
    expected = [base, head]
    if max(counts) > 1.5 * min(counts):
        expected = [literally_cut(side, min(counts)) for side in (base, head)]
    assert pair.cut == (expected != [base, head])
    for side, builds in zip((pair.base, pair.head), expected, strict=True):
        assert side.values == pytest.approx([math.log(type8(np.concatenate(b), 0.5)) for b in builds])
    assert pair.fewest == min(sum(map(len, build)) for side in expected for build in side)
    assert pair.fewest_executions == min(len(build) for side in expected for build in side)


# --- the curve


def at_median(base: Sample, head: Sample) -> QuantileEffect:
    return next(effect for effect in quantile_curve(base, head) if effect.tau == 0.5)


def pooled(values: Array, tau: float) -> float:
    return float(np.quantile(np.log(values), tau, method="median_unbiased"))


def jackknife(clusters: Sequence[Array], tau: float) -> tuple[float, float]:
    """Quantile of the logarithms and its variance, by leaving out one cluster after the other.

    For a mean of independent values this is unbiased whatever the sizes: pseudo is then a cluster's own mean.
    """
    n, g = sum(map(len, clusters)), len(clusters)
    whole = pooled(np.concatenate(clusters), tau)
    without = [pooled(np.concatenate([c for k, c in enumerate(clusters) if k != left]), tau) for left in range(g)]
    h = [n / len(c) for c in clusters]
    estimate = g * whole - sum((1 - len(c) / n) * w for c, w in zip(clusters, without, strict=True))
    pseudo = [hj * whole - (hj - 1) * w for hj, w in zip(h, without, strict=True)]
    return whole, sum((p - estimate) ** 2 / (hj - 1) for p, hj in zip(pseudo, h, strict=True)) / g


def test_the_band_leaves_out_one_build_at_a_time() -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        base, head = ([np.exp(0.1 * rng.normal(size=rng.integers(40, 90))) for _ in range(n)] for n in (3, 5))
        samples = [nested([[build] for build in side]) for side in (base, head)]
        effects = quantile_curve(samples[0], samples[1], confidence=0.9)
        assert len(effects) >= 9
        for effect in effects:
            (x, v_x), (y, v_y) = jackknife(base, effect.tau), jackknife(head, effect.tau)
            df = (v_x + v_y) ** 2 / (v_x**2 / 2 + v_y**2 / 4)
            half = stats.t.ppf(0.95, df) * math.sqrt(v_x + v_y)
            wanted = np.exp([y - x, y - x - half, y - x + half])
            assert (effect.ratio, effect.low, effect.high) == pytest.approx(wanted)


def test_sessions_pair_both_sides() -> None:
    rng = np.random.default_rng(4)
    shifts = 0.3 * rng.normal(size=(3, 1, 1, 1))
    base, head = (np.exp(shifts + 0.1 * rng.normal(size=(3, 2, 2, 30))) for _ in range(2))
    flat = [side.reshape(6, 2, 30) for side in (base, head)]
    effect = at_median(*(nested(side, [2, 2, 2]) for side in flat))
    pseudo = []
    for side in (base, head):
        logs = np.log(side.reshape(3, -1))
        whole = np.quantile(logs, 0.5, method="median_unbiased")
        without = [np.quantile(np.delete(logs, k, 0), 0.5, method="median_unbiased") for k in range(3)]
        pseudo.append(3 * whole - 2 * np.array(without))
    error = np.std(pseudo[1] - pseudo[0], ddof=1) / math.sqrt(3)
    high = there(effect.high)
    assert math.log(high / there(effect.low)) / 2 == pytest.approx(stats.t.ppf(0.975, 2) * error)
    # what the sessions share is most of what a side varies by
    assert there(at_median(*map(nested, flat)).high) - 1 > 2 * (high - 1)


def test_what_a_curve_leaves_out() -> None:
    # quantiles with too few values
    few, many = nested([[[1.0, 2.0, 4.0] * 17]] * 4), nested([[[1.0, 2.0, 4.0] * 200]] * 4)
    assert [e.tau for e in quantile_curve(few, many)] == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95]
    assert [e.tau for e in quantile_curve(many, many)] == list(DEFAULT_TAUS)
    tiny = nested([[[1.0, 2.0]]] * 2)
    assert quantile_curve(tiny, many) == ()
    # and those that are not above 0
    rng = np.random.default_rng(1)
    values = np.where(rng.random((4, 1, 500)) < 0.25, -1.0, np.exp(rng.normal(size=(4, 1, 500))))
    some, none = nested(values), drawn(rng, 4)
    assert [e.tau for e in quantile_curve(some, none)] == [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99]
    assert quantile_curve(none, nested(-values), (0.1,)) == ()


def test_a_single_build_and_no_spread_have_no_band() -> None:
    rng = np.random.default_rng(1)
    single, several = drawn(rng, 1), drawn(rng, 3)
    for effects in (quantile_curve(single, several), quantile_curve(several, single)):
        assert len(effects) == len(DEFAULT_TAUS)
        assert all((e.low, e.high) == (None, None) and e.ratio > 0 for e in effects)
    flat = nested([[[2.0] * 50]] * 3)
    twice = nested([[[4.0] * 50]] * 3)
    for effect in quantile_curve(flat, twice):
        assert effect.ratio == pytest.approx(2)
        assert effect.low is None and effect.high is None


def test_a_coarse_timer_leaves_its_step() -> None:
    # every build the same: what the steps of 0.5 hide is all that is known
    same = nested([[[1.5] * 10 + [2.0] * 30 + [2.5] * 10]] * 3)
    effect = at_median(same, same)
    half = stats.t.ppf(0.975, 4) * math.sqrt(2 * 0.25**2 / (12 * 3))
    assert effect.low == pytest.approx(math.exp(-half))
    assert effect.high == pytest.approx(math.exp(half))


# --- promises, quickly; the bounds are the promise plus three standard errors


def gate_covers(base: Sample, head: Sample) -> list[bool]:
    found = []
    for tau in (0.5, 0.95, 0.99):
        pair = there(quantile_pair(base, head, tau, sessions=False))
        low, high = ends(LogPair(unpaired(pair.base, pair.head)).limits(0.05))
        found.append(low <= 1 <= high)
    return found


def band_covers(base: Sample, head: Sample) -> list[bool]:
    effects = quantile_curve(base, head)
    return [e.low is not None and e.high is not None and e.low <= 1 <= e.high for e in effects]


@pytest.mark.parametrize(("builds", "trials"), some([(3, 120), (3, 300), (5, 300)], 1))
@pytest.mark.parametrize(("covers", "promise"), [(gate_covers, 0.945), (band_covers, 0.93)])
def test_coverage_at_no_change(
    covers: Callable[[Sample, Sample], list[bool]], promise: float, builds: int, trials: int
) -> None:
    rng = np.random.default_rng(builds)
    covered = np.mean([covers(drawn(rng, builds), drawn(rng, builds)) for _ in range(trials)], axis=0)
    assert covered.min() >= promise - 3 * math.sqrt(promise * (1 - promise) / trials)
    assert covered.max() <= 0.985
