"""The vectorised simulation against the code that it stands for, and against values from elsewhere."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
import scipy.stats

from gate.commands.simulate.arrays import pairs as vectorised
from gate.commands.simulate.arrays import values as rivals
from gate.commands.simulate.arrays import verdicts
from gate.commands.simulate.arrays.components import (
    NORMAL,
    SHAPES,
    TABLE_VII,
    Components,
    Shape,
    components_of,
    timing,
)
from gate.commands.simulate.arrays.draws import Sides, Source, build_means, remembered, values
from gate.commands.simulate.arrays.pairs import Interval, Memory
from gate.commands.simulate.arrays.studies import Comparisons, ReportCounts, Reports
from gate.commands.simulate.arrays.values import RULES, Quantiles, Rivals
from gate.commands.simulate.arrays.verdicts import Rules
from gate.model import Sample
from gate.stats import prior, ratio
from gate.stats.family import holm
from gate.stats.levels import Tops
from tests.support.kalibera_jones import TABLE_III, TABLE_V_NEW, TABLE_V_OLD, sample

Array = npt.NDArray[np.float64]
NOISY = Components("noisy", 0.05, 0.1, 0.2, executions=4, iterations=5)


def tops(values: Array) -> Tops:
    return Tops(values, tuple((0, k) for k in range(len(values))), 0.0, log=False)


def literal(base: Array, head: Array, interval: Interval) -> ratio.MeanPair:
    if interval == "fieller-paired":
        return ratio.paired(tops(base), tops(head))
    return ratio.unpaired(tops(base), tops(head), kalibera_jones=interval == "fieller-kj")


def drawn(n: int, builds: int, spread: float = 0.1) -> Sides:
    rng = np.random.default_rng([n, builds])
    head = 1.0 + spread * rng.normal(size=(n, builds)) * rng.uniform(0.1, 2, (n, 1))
    return Sides(1.0 + spread * rng.normal(size=(n, builds)), head * rng.uniform(0.8, 1.3, (n, 1)))


@pytest.mark.parametrize("builds", [2, 3, 8])
@pytest.mark.parametrize("interval", ["fieller", "fieller-kj", "fieller-paired"])
def test_intervals_are_those_of_the_gate(interval: Interval, builds: int) -> None:
    # a third of the spread is as large as the mean: there sets are unbounded
    sides = drawn(60, builds, 0.3)
    found = vectorised.unmoderated(vectorised.moments(sides.base, sides.head), interval)
    bounds, above, below = found.bounds(0.05), found.p_above(1.02), found.p_below(1.02)
    kinds = set()
    for i in range(60):
        pair = literal(sides.base[i], sides.head[i], interval)
        limits = pair.limits(0.05)
        kinds.add(limits.kind == "bounded")
        expected = (limits.low, limits.high) if limits.kind == "bounded" else (math.nan, math.nan)
        assert (bounds.low[i], bounds.high[i]) == pytest.approx(expected, rel=1e-9, nan_ok=True)
        assert above[i] == pytest.approx(pair.p(1.02, "above"), rel=1e-9)
        assert below[i] == pytest.approx(pair.p(1.02, "below"), rel=1e-9)
    assert kinds == ({True, False} if builds < 8 else {True})


@pytest.mark.parametrize("noise", [1.0, 6.0])
def test_a_moderated_interval_is_that_of_the_gate(noise: float) -> None:
    source = Source((NOISY,) * 7, NORMAL, noise, one_noisy=False)
    rng = np.random.default_rng(5)
    sides = build_means(rng, source, 30, 4, 1.05)
    memory = remembered(rng, source, 30, 8, by_round=True)
    assert memory.sides is not None
    m = vectorised.moments(sides.base, sides.head)
    factors = vectorised.host_factors(m, memory, np.ones((30, 7), dtype=np.bool_))
    found = vectorised.moderated(m, memory, factors.at(np.arange(30)[:, None]), "fieller")
    used, unlike = 0, 0
    for r in range(30):
        both = [(tops(sides.base[r, c]), tops(sides.head[r, c])) for c in range(7)]
        priors = [prior.Prior(float(memory.variance[r, c]), 8, 1, "", "") for c in range(7)]
        within = [prior.Prior(float(memory.sides[r, c]), 16, 1, "", "") for c in range(7)]
        k = prior.host_factor([(prior.contrast_variance(*b), 3, p) for b, p in zip(both, priors, strict=True)])
        k_sides = prior.host_factor([(prior.sides_variance(*b), 6, p) for b, p in zip(both, within, strict=True)])
        assert (factors.deciding[r], factors.sides[r]) == pytest.approx((k, k_sides))
        for c, (base, head) in enumerate(both):
            p_sides = prior.surprise(prior.sides_variance(base, head), 6, within[c], k_sides)
            p_unlike = prior.unlike_sides(base, head, within[c], k_sides)
            contrast = prior.contrast_variance(base, head)
            result = prior.moderate(contrast, 3, priors[c], k, p_sides=p_sides, p_unlike=p_unlike)
            unlike += result.unlike
            assert found.used[r, c] == result.used
            used += result.used
            pair = (
                prior.moderated_pair(base, head, result.variance, result.df)
                if result.used
                else ratio.unpaired(base, head)
            )
            assert found.pairs.p_above(1.0)[r, c] == pytest.approx(pair.p(1.0, "above"), rel=1e-9)
    assert 0 < used < 210
    assert unlike > 0


def test_fewer_than_five_cases_do_not_tell_the_noise_of_a_host() -> None:
    noise = np.array([[9.0, 9, 9, 9, np.nan], [9.0, 1, 3, 9, 9], [0.1, 0.2, 0.3, 5, 5]])
    assert vectorised.host_factor(noise).tolist() == [1.0, 9.0, 1.0]


def test_stepping_down_is_holm() -> None:
    rng = np.random.default_rng(3)
    levels = np.array([[0.0, *(0.05 / n for n in range(1, 7))]] * 2)
    p = rng.uniform(0, 0.05, (300, 6)) ** 1.5
    rejected = np.zeros(p.shape, dtype=np.bool_)
    verdicts._step_down(rejected, p, np.zeros(p.shape, dtype=np.int64), levels)
    assert rejected.tolist() == [[tested.rejected for tested in holm(row.tolist(), 0.05)] for row in p]
    assert 0 < rejected.sum() < rejected.size


def test_a_single_build_decides_nothing_but_takes_a_round() -> None:
    sides = Sides(np.array([[[1.0, 1.001, 1.0]]]), np.array([[[2.0, 2.001, 2.0]]]))
    memory = Memory(np.full((1, 1), 1e-6), 20.0, np.full((1, 1), 1e-6), 20.0)
    found = verdicts.decide(sides, Rules(0.0, "fieller-moderated", (1, 2, 3)), memory)
    assert found.regression.all()
    # with two, nothing shows that head is noisier than remembered
    assert found.rounds.tolist() == [[3]]


def test_a_moderated_interval_without_a_memory_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="needs a memory"):
        verdicts.decide(drawn_reports(), Rules(0.0, "fieller-moderated", (3,)), None)


def drawn_reports() -> Sides:
    return build_means(np.random.default_rng(1), Source((NOISY,), NORMAL), 2, 3, 1.0)


# --- draws -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [*SHAPES, Shape("bimodal", 0.3, 1.0)], ids=lambda shape: shape.name)
def test_build_effects_have_mean_0_and_sd_1(shape: Shape) -> None:
    effects = shape.draw(np.random.default_rng(1), (200_000,))
    assert effects.mean() == pytest.approx(0, abs=0.01)
    assert effects.std() == pytest.approx(1, abs=0.01)


def test_skewed_effects_have_skewness_1() -> None:
    assert scipy.stats.skew(Shape("skewed").draw(np.random.default_rng(1), (200_000,))) == pytest.approx(1, abs=0.05)


def test_a_residual_of_its_own_is_named() -> None:
    assert [Shape("bimodal", 0.05).name, Shape("bimodal", 0.5, 1.0).name] == [
        "bimodal 5:95",
        "bimodal 50:50, residual 1",
    ]


@pytest.mark.parametrize("shape", [NORMAL, Shape("skewed")], ids=lambda shape: shape.name)
def test_build_means_have_the_variance_of_all_levels(shape: Shape) -> None:
    source = Source((NOISY,), shape)
    sides = build_means(np.random.default_rng(1), source, 50_000, 2, 1.5)
    # 0.05^2 + 0.1^2/4 + 0.2^2/20
    assert sides.base.var() == pytest.approx(0.007, rel=0.03)
    assert sides.head.var() == pytest.approx(1.5**2 * 0.007, rel=0.03)
    assert sides.head.mean() == pytest.approx(1.5, rel=0.01)
    raw = values(np.random.default_rng(1), NOISY, shape, 1.5, (30_000, 2))
    assert raw.mean(axis=(2, 3)).var() == pytest.approx(1.5**2 * 0.007, rel=0.03)
    assert raw.min() > 0


def test_drift_is_shared_by_the_sides_of_a_round_and_noise_is_not() -> None:
    drifting = Components("drifting", 0.1, 0.0, 0.0, drift=0.1)
    sides = build_means(np.random.default_rng(1), Source((drifting,), NORMAL, noise=4.0), 50_000, 2, 1.0)
    assert np.corrcoef(sides.base.ravel(), sides.head.ravel())[0, 1] == pytest.approx(1 / 5, abs=0.02)
    assert sides.base.var() == pytest.approx(0.05, rel=0.03)


def test_one_noisy_case_is_the_first() -> None:
    sides = build_means(np.random.default_rng(1), Source((NOISY,) * 3, NORMAL, 4.0, one_noisy=True), 20_000, 2, 1.0)
    assert sides.base.var(axis=(0, 2)) == pytest.approx([0.028, 0.007, 0.007], rel=0.05)


@pytest.mark.parametrize("shape", [NORMAL, Shape("bimodal", 0.5)], ids=lambda shape: shape.name)
@pytest.mark.parametrize("drift", [0.0, 0.1])
def test_a_memory_is_right_on_the_average(shape: Shape, drift: float) -> None:
    component = Components("x", 0.1, 0.0, 0.0, drift=drift)
    found = remembered(np.random.default_rng(2), Source((component,), shape, noise=4.0), 40_000, 6, by_round=True)
    assert found.sides is not None
    assert found.variance.mean() == pytest.approx(2 * 0.01, rel=0.03)
    assert found.sides.mean() == pytest.approx(0.01 + drift**2, rel=0.03)
    assert (found.df, found.sides_df) == (6, 12)
    if shape == NORMAL:
        assert found.variance.var() == pytest.approx(2 / 6 * 0.02**2, rel=0.06)


@pytest.mark.parametrize("shape", [NORMAL, Shape("skewed")], ids=lambda shape: shape.name)
def test_a_memory_of_builds_is_right_on_the_average(shape: Shape) -> None:
    found = remembered(np.random.default_rng(2), Source((NOISY,), shape), 40_000, 6, by_round=False)
    assert found.sides is None
    assert found.variance.mean() == pytest.approx(0.007, rel=0.03)


def test_components_are_t2_over_the_squared_mean() -> None:
    # Table III: T2 = 16.5, -5.67, 2.27; mean 6.5
    found = components_of("three", sample(TABLE_III), sample(TABLE_III))
    assert found is not None
    assert found.iteration == pytest.approx(math.sqrt(16.5) / 6.5)
    assert found.execution == 0
    assert found.build == pytest.approx(math.sqrt(2.27083333) / 6.5)
    assert (found.executions, found.iterations) == (2, 2)
    both = components_of("five", sample(TABLE_V_OLD), sample(TABLE_V_NEW))
    old, new = (components_of("side", sample(side), sample(side)) for side in (TABLE_V_OLD, TABLE_V_NEW))
    assert both is not None and old is not None and new is not None
    assert both.iteration**2 == pytest.approx((old.iteration**2 + new.iteration**2) / 2)


def test_nothing_is_known_of_one_build_or_of_a_mean_of_0() -> None:
    assert components_of("one", sample(TABLE_III), sample([[[1.0, 2.0]]])) is None
    assert components_of("zero", sample(TABLE_III), sample([[[0.0]], [[0.0]]])) is None


def test_every_benchmark_of_the_paper_has_a_timing() -> None:
    assert timing("FFT NA OPT").iteration == 15 / 64
    assert [timing(c.name).warmup for c in TABLE_VII] == [19] * 4 + [154] * 2 + [19] * 2 + [77] * 2


# --- other rules -----------------------------------------------------------------------------------------------------


def pooled() -> tuple[Array, Array]:
    rng = np.random.default_rng(7)
    return rng.lognormal(0, 0.3, (25, 40)), rng.lognormal(0.1, 0.5, (25, 30))


def test_pooled_welch_is_that_of_scipy() -> None:
    base, head = pooled()
    expected = scipy.stats.ttest_ind(base, head, axis=1, equal_var=False).pvalue
    assert rivals.pooled_welch(base, head) == pytest.approx(expected)


def test_mann_whitney_is_that_of_scipy() -> None:
    base, head = pooled()
    expected = scipy.stats.mannwhitneyu(base, head, axis=1, method="asymptotic").pvalue
    assert rivals.mann_whitney(base, head) == pytest.approx(expected)


def test_a_threshold_binds_the_estimate_of_a_pooled_test() -> None:
    p, estimates = np.array([0.01, 0.01, 0.2, 0.01]), np.array([1.03, 1.01, 1.5, 0.9])
    called = rivals.significant(p, estimates, 0.02, 0.05)
    assert called.slower.tolist() == [True, False, False, False]
    assert called.faster.tolist() == [False, False, False, True]


def test_two_numbers_know_no_noise() -> None:
    called = rivals.two_numbers(np.array([1.0, 1.0, 1.0]), np.array([1.03, 1.01, 0.97]), 0.02)
    assert (called.slower.tolist(), called.faster.tolist()) == ([True, False, False], [False, False, True])


def test_open_loop_testing_stops_at_the_first_significant_round() -> None:
    sides = drawn(200, 8, 0.05)
    called = rivals.open_loop(sides.base, sides.head, 0.0, 0.05)
    for i in range(200):
        words = [""]
        for rounds in range(2, 9):
            pair = literal(sides.base[i, :rounds], sides.head[i, :rounds], "fieller")
            p_above, p_below = pair.p(1.0, "above"), pair.p(1.0, "below")
            assert p_above is not None and p_below is not None
            words.append("slower" if p_above < 0.05 else "faster" if p_below < 0.05 else "")
        first = next((word for word in words if word), "")
        assert (called.slower[i], called.faster[i]) == (first == "slower", first == "faster")
    assert called.slower.any() and called.faster.any()


# --- studies ---------------------------------------------------------------------------------------------------------


def test_comparisons_are_counted_as_one_by_one() -> None:
    study = Comparisons(Source((NOISY,), NORMAL), 3, 1.1, ("fieller-kj", "fieller"), (0.0, 0.02))
    counts = study.run(np.random.default_rng(4), 300)
    sides = build_means(np.random.default_rng(4), study.source, 300, 3, 1.1)
    for index, interval in enumerate(study.intervals):
        limits = [literal(b, h, interval).limits(0.05) for b, h in zip(sides.base[:, 0], sides.head[:, 0], strict=True)]
        bounded = [(x.low, x.high) for x in limits if x.low is not None and x.high is not None]
        missed = sum(not low <= 1.1 <= high for low, high in bounded)
        assert counts.coverage[index] == 1 - missed / 300
        assert counts.bounded[index] == len(bounded)
        assert counts.mean_half_width[index] == pytest.approx(np.mean([(high - low) / 2 for low, high in bounded]))
        for k, d in enumerate(study.thresholds):
            assert counts.worse[index, k] == sum(low > 1 + d for low, _ in bounded)
            assert counts.better[index, k] == sum(high < 1 / (1 + d) for _, high in bounded)


def test_only_the_noisy_case_is_counted_where_there_is_one() -> None:
    study = Comparisons(Source((NOISY,) * 5, NORMAL, 2.0, one_noisy=True), 3, 1.0, ("fieller-moderated",))
    assert study.run(np.random.default_rng(4), 10).comparisons == 10


def test_counts_of_reports_add_up() -> None:
    source = Source((NOISY,) * 3, NORMAL)
    study = Reports(source, (1.0, 1.0, 2.0), Rules(0.02, "fieller", (4, 6)))
    one, two = (study.run(np.random.default_rng(seed), 50) for seed in (1, 2))
    both = one + two
    assert isinstance(both, ReportCounts)
    assert (both.reports, both.failed) == (100, one.failed + two.failed)
    assert both.regression.tolist() == (one.regression + two.regression).tolist()
    # the one that doubled is found at the look at which 5 builds are had
    assert both.regression[2] == 100
    assert both.failing == 1.0
    assert both.share(both.regression) == pytest.approx(float(both.regression.sum()) / 300)
    assert both.report_rounds <= 600


def test_other_rules_call_what_they_call_one_by_one() -> None:
    study = Rivals(NOISY, NORMAL, 1.1, (0.0, 0.02), rounds=3, most=4)
    counts = study.run(np.random.default_rng(6), 40)
    rng = np.random.default_rng(6)
    base, head = (values(rng, NOISY, NORMAL, mean, (40, 4)) for mean in (1.0, 1.1))
    expected = np.zeros(len(RULES))
    for b, h in zip(base, head, strict=True):
        x, y = b[:3].ravel(), h[:3].ravel()
        above = y.mean() > 1.02 * x.mean()
        builds = literal(b[:3].mean(axis=(1, 2)), h[:3].mean(axis=(1, 2)), "fieller").p(1.02, "above")
        assert builds is not None
        loop = rivals.open_loop(b.mean(axis=(1, 2))[None], h.mean(axis=(1, 2))[None], 0.02, 0.05)
        expected += [
            builds < 0.05,
            above and scipy.stats.ttest_ind(x, y, equal_var=False).pvalue < 0.05,
            above and scipy.stats.mannwhitneyu(x, y, method="asymptotic").pvalue < 0.05,
            loop.slower[0],
            above,
            y.min() > 1.02 * x.min(),
        ]
    assert counts.slower[1].tolist() == expected.tolist()
    assert (counts.different >= counts.failing).all()
    assert Rivals(Components("long", 0, 0, 0.1, 100, 100), NORMAL, 1.0, (0.0,)).effort < study.effort


def test_quantile_intervals_are_those_of_the_gate() -> None:
    study = Quantiles(NOISY, NORMAL, 3, (0.5, 0.9))
    counts = study.run(np.random.default_rng(8), 200)
    rng = np.random.default_rng(8)
    sides = [values(rng, NOISY, NORMAL, 1.0, (200, 3)).reshape(200, 3, -1) for _ in range(2)]
    for index, tau in enumerate(study.taus):
        covered = 0
        for i in range(200):
            logs = [np.log(np.quantile(side[i], tau, axis=1, method="median_unbiased")) for side in sides]
            both = [Tops(log, ((0, 0), (0, 1), (0, 2)), 0.0, log=True) for log in logs]
            limits = ratio.LogPair(ratio.unpaired(*both)).limits(0.05)
            assert limits.low is not None and limits.high is not None
            covered += limits.low <= 1 <= limits.high
        assert counts.coverage[index] == covered / 200


def test_intervals_know_what_they_rest_on() -> None:
    assert [vectorised.is_moderated(i) for i in ("fieller", "fieller-moderated", "fieller-moderated-unpaired")] == [
        False, True, True,
    ]  # fmt: skip
    assert [vectorised.by_round(i) for i in ("fieller-paired", "fieller-moderated", "fieller-moderated-unpaired")] == [
        True, True, False,
    ]  # fmt: skip
    assert [vectorised.is_logarithmic(i) for i in ("fieller-paired", "paired", "paired-shared")] == [False, True, True]


def test_what_rounds_share_is_in_no_level() -> None:
    rng = np.random.default_rng(6)
    layouts = rng.normal(0, 0.2, (10, 1, 1))

    def side(own: float) -> Sample:
        return sample((1 + layouts + rng.normal(0, own, (10, 1, 1)) + rng.normal(0, 0.004, (10, 3, 4))).tolist())

    found = components_of("alike", side(0.01), side(0.01))
    assert found is not None
    # all but a standard error of it
    assert 0.15 < found.drift < 0.3
    assert found.build < 0.06
    apart = components_of("apart", side(0.01), sample((1 + rng.normal(0, 0.2, (10, 3, 4))).tolist()))
    assert apart is not None and apart.drift < 0.1 < apart.build
