"""Intervals of means by resampling, and the power of a plan."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from gate.model.study import Factor, MainEffect, MeanPoint, SampleSizes
from gate.stats.bootstrap import Distribution
from gate.stats.design.coding import coded, lay_out
from gate.stats.design.layers import layers
from gate.stats.design.sample_size import (
    LARGE,
    REPLICATES,
    bca_limits,
    limits,
    mean_intervals,
    power,
    sample_sizes,
    subsamples,
)
from gate.stats.design.strata import stratified
from gate.stats.rounding import Array
from tests.promise.test_study_claims import share
from tests.support.samples import there
from tests.support.seeds import some
from tests.support.study_draws import Shape
from tests.support.units_frame import factors, frame


def effect(*means: float) -> MainEffect:
    points = [MeanPoint(settings={"a": k}, mean=mean, treatments=1) for k, mean in enumerate(means)]
    return MainEffect(factors=["a"], points=points)


def study(y: Array, mains: list[MainEffect] | None = None, seed: int = 1) -> SampleSizes:
    return there(sample_sizes(frame({(0,): [1.0, 2.0], (1,): y.tolist()}), factors(2), 0.95, seed, mains or []))


def coverage(found: SampleSizes, method: str) -> dict[int, float]:
    return {row.size: row.coverage for row in found.rows if row.method == method}


def test_normal_values_are_covered_as_promised() -> None:
    found = study(np.random.default_rng(1).normal(10, 1, size=1300))
    assert (found.settings, found.units, found.confidence) == ({"a": 1}, 1300, 0.95)
    assert [(row.size, row.method) for row in found.rows][:4] == [(5, "t"), (5, "bca"), (10, "t"), (10, "bca")]
    assert [row.size for row in found.rows if row.method == "t"] == [5, 10, 20, 40, 80, 160, 320]
    # the last size is a quarter of the units, where the distance from the mean of all would be 13% too small
    assert all(abs(share - 0.95) < 0.02 for share in coverage(found, "t").values())
    bca = coverage(found, "bca")
    assert bca[5] < 0.88 and all(abs(bca[size] - 0.95) < 0.03 for size in (40, 80, 160, 320))
    t = [row for row in found.rows if row.method == "t"]
    for row in t:
        # median of the width: 2 t s/sqrt(n), s near its median
        s = np.sqrt(stats.chi2.median(row.size - 1) / (row.size - 1))
        assert row.widths[1] == pytest.approx(2 * stats.t.ppf(0.975, row.size - 1) * s / np.sqrt(row.size), rel=0.08)
        assert row.widths[0] < row.widths[1] < row.widths[2] and row.subsamples == 2000


def test_a_rare_second_mode_leaves_coverage_short_as_nist_found() -> None:
    # NIST 4.7.1: low-frequency secondary modes; "the accuracy of those estimates is less than advertised", and "the
    # overly optimistic uncertainties are still large enough to obscure most of the main effects ... with 40"
    rng = np.random.default_rng(2)
    y = 7.2 + 0.02 * rng.normal(size=5000) + np.where(rng.random(5000) < 0.03, 0.8, 0.0)
    found = study(y, [effect(7.2, 7.253)])
    for method in ("t", "bca"):
        share = coverage(found, method)
        assert share[10] < 0.5 and share[40] < 0.8
        assert share[640] > 0.9
    # it does not stop at sizes that miss the rare mode
    assert there(found.enough) >= 160


def test_enough_is_from_where_on_intervals_are_narrower_than_the_median_effect() -> None:
    y = np.random.default_rng(3).normal(10, 1, size=700)
    found = study(y, [effect(1.0, 1.2), effect(5.0, 7.0, 6.5), effect(3.0, 3.7), effect(4.0)])
    assert found.median_effect == pytest.approx(0.7)
    widths = {row.size: row.widths[1] for row in found.rows if row.method == "t"}
    assert found.enough == 40 and widths[40] < 0.7 < widths[20]
    assert study(y[:80], [effect(1.0, 1.01)]).enough is None
    without = study(y[:80])
    assert (without.median_effect, without.enough) == (None, None)
    assert study(y[:60], seed=3) == study(y[:60], seed=3) != study(y[:60], seed=4)


def test_degenerate_treatments() -> None:
    few = frame({(0,): list(range(39)), (1,): list(range(20))})
    assert sample_sizes(few, factors(2), 0.95, 1, []) is None
    assert sample_sizes(frame({(0,): []}), factors(2), 0.95, 1, []) is None
    constant = study(np.full(41, 0.1), [effect(1.0, 2.0)])
    assert [row.size for row in constant.rows] == [5, 5, 10, 10] and constant.enough == 5
    assert {(row.widths, row.coverage) for row in constant.rows} == {((0.0, 0.0, 0.0), 1.0)}


def test_a_treatment_can_be_chosen_and_the_largest_is_otherwise() -> None:
    rng = np.random.default_rng(8)
    units = frame({(0,): rng.normal(5, 1, 60).tolist(), (1,): rng.normal(9, 1, 200).tolist(), (2,): [1.0] * 12})
    assert there(sample_sizes(units, factors(3), 0.95, 1, [])).settings == {"a": 1}
    chosen = there(sample_sizes(units, factors(3), 0.95, 1, [], (0,)))
    assert (chosen.settings, chosen.units) == ({"a": 0}, 60)
    assert sample_sizes(units, factors(3), 0.95, 1, [], (2,)) is None, "too few"
    # of several with as many units the first
    alike = frame({(0,): list(range(40)), (1,): list(range(40))})
    assert there(sample_sizes(alike, factors(2), 0.9, 1, [])).settings == {"a": 0}


def test_subsamples_are_drawn_without_replacement_and_alike_often() -> None:
    y = np.arange(23.0)
    drawn = subsamples(y, 5, 2000, np.random.default_rng(6))
    assert drawn.shape == (2000, 5)
    assert all(len(set(row)) == 5 for row in drawn.tolist())
    counts = np.bincount(drawn.astype(int).ravel(), minlength=23)
    assert stats.chisquare(counts).pvalue > 1e-4
    assert subsamples(y, 5, 3, np.random.default_rng(6)).shape == (3, 5)


@pytest.mark.parametrize(("size", "confidence"), [(5, 0.95), (20, 0.9), (20, 0.999), (64, 0.95)])
def test_bca_limits_against_the_bootstrap_of_the_gate(size: int, confidence: float) -> None:
    drawn = np.random.default_rng(size).lognormal(size=(12, size))
    drawn[0] = 2.0
    drawn[1] = np.arange(size) % 2
    found = bca_limits(drawn, confidence, np.random.default_rng(8))
    places = np.random.default_rng(8).integers(size, size=(REPLICATES, size))
    for k, y in enumerate(drawn):
        replicates = np.sort(np.array([y[place].mean() for place in places]).round(12))
        mean = round(float(y.mean()), 12)
        below, at = np.sum(replicates < mean), np.sum(replicates == mean)
        share = min(max((below + at / 2) / REPLICATES, 1 / (REPLICATES + 1)), REPLICATES / (REPLICATES + 1))
        jackknife = np.array([np.delete(y, i).mean() for i in range(size)])
        influence = jackknife.mean() - jackknife
        squares = float((influence**2).sum())
        a = float((influence**3).sum()) / (6 * squares**1.5) if squares > 1e-20 else 0.0
        limits = Distribution(replicates, 0, float(stats.norm.ppf(share)), a).limits(1 - confidence)
        # beyond the replicates the outermost one stands for the limit
        low = replicates[0] if limits.low is None else limits.low
        high = replicates[-1] if limits.high is None else limits.high
        assert (found[0][k], found[1][k]) == pytest.approx((low, high), abs=1e-11)


def test_the_interval_is_that_of_scipys_bootstrap() -> None:
    y = np.random.default_rng(1).lognormal(0, 1, 80)
    low, high = limits(y, 0.95, np.random.default_rng(2))
    theirs = stats.bootstrap((y,), np.mean, n_resamples=40_000, method="BCa", rng=3).confidence_interval
    assert (low, high) == pytest.approx(tuple(theirs), abs=0.06 * (theirs.high - theirs.low))
    assert high - y.mean() > y.mean() - low, "skewed as the values are"
    # of very many units Student's stands for it
    y = np.random.default_rng(4).normal(10, 1, LARGE)
    found = limits(y, 0.95, np.random.default_rng(5))
    assert found == pytest.approx(stats.t.interval(0.95, LARGE - 1, y.mean(), stats.sem(y)))


def test_each_treatment_has_its_mean_and_few_units_no_interval() -> None:
    found = mean_intervals(frame({(0,): [1.0, 2.0], (1,): [3.0, 3.0, 3.0], (2,): [1.0, 2.0, 6.0]}), factors(3), 0.9, 7)
    assert [(m.settings["a"], m.units, m.mean) for m in found] == [(0, 2, 1.5), (1, 3, 3.0), (2, 3, 3.0)]
    assert [m.low is None for m in found] == [True, True, False]
    again = mean_intervals(frame({(2,): [1.0, 2.0, 6.0]}), factors(3), 0.9, 7)
    assert again[0] == found[2], "whatever else was measured"


# --- the power that a plan prints is the share of studies that claim the change ---------------------------------------


def plan(
    sizes: tuple[int, ...], rounds: int, replicates: int = 1, varies: str = "execution"
) -> tuple[pd.DataFrame, list[Factor]]:
    rows = [
        (*at, 0, r, r * 10 + (at[0] if varies == "build" else 0), k)
        for r in range(rounds) for k in range(replicates) for at in product(*map(range, sizes))
    ]  # fmt: skip
    names = [f"f{k}" for k in range(len(sizes))]
    factors = [
        Factor(name="abcdefgh"[k], settings=list(range(size)), varies="build" if varies == "build" and not k else "execution")
        for k, size in enumerate(sizes)
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=[*names, "session", "round", "build", "replicate"]), factors


@pytest.mark.parametrize(
    ("rounds", "replicates", "df", "trials"),
    some([(3, 1, 6, 25), (3, 1, 6, 100), (5, 1, 12, 60), (5, 4, 12, 60)], 1),
)
def test_power_is_the_share_of_studies_that_claim(rounds: int, replicates: int, df: int, trials: int) -> None:
    units, factors = plan((2, 2), rounds, replicates)
    found = power(units, factors, 2, "replicate", (2.0,), quantiles=1 if rounds * replicates * 20 < 400 else 2)
    assert [(p.factor, p.df) for p in found] == [("a", df), ("b", df)]
    expected = found[0].chances[0]
    shape = Shape(rounds=rounds, replicates=replicates, effect=lambda at: 2.0 * at[0])
    assert abs(share(shape, 7, "a", trials=trials) - expected) <= 3.5 * (0.25 / trials) ** 0.5


def test_a_factor_by_build_needs_builds() -> None:
    few = power(*plan((2, 2), 1, 4, "build"), 2, "replicate", (2.0,), quantiles=1)
    assert (few[0].stratum, few[0].df) == ("build", None)
    more = power(*plan((2, 2), 6, 2, "build"), 2, "replicate", (2.0,), quantiles=1)
    assert [(p.stratum, p.df) for p in more] == [("build", 5.0), ("build x treatment", 10.0)]


def test_published_and_lenths_degrees() -> None:
    # five replicates of two by two find two sd
    (a, _) = power(*plan((2, 2), 5), 2, "replicate", (1.0, 2.0), quantiles=1)
    one, two = a.chances
    assert one == pytest.approx(0.36, abs=0.03) and two == pytest.approx(0.948, abs=0.01)
    # one replicate has the degrees of Lenth's method
    found = power(*plan((2, 2, 2, 2), 1), 4, "replicate", (2.0,), quantiles=0)
    assert {(p.df, p.lenth) for p in found} == {(5.0, True)}
    assert all(0.05 < p.chances[0] < 0.6 for p in found)


def test_a_change_by_builds_is_in_units_of_their_means() -> None:
    units, factors = plan((2, 2), 6, 2, "build")
    expected = power(units, factors, 2, "replicate", (2.0,), quantiles=1)[0].chances[0]
    assert 0.3 < expected < 0.9
    design = lay_out(units, factors)
    model, lie = coded(design.codes, design.sizes, 2), layers(units, factors, "replicate")
    level = 0.05 / (2 * 1.04 + 0.21 + 0.04)  # of the family: two factors, their interaction, one quantile, one spread
    rng, found = np.random.default_rng(3), 0
    build = lie.errors["build"]
    for _ in range(400):
        # builds differ by 1 sd, whatever their executions do; so do rounds
        y = 2.0 * units["f0"].to_numpy() + rng.normal(0, 1, build.count)[build.of] + 5.0 * units["round"].to_numpy()
        test = stratified(y + rng.normal(0, 1e-3, len(y)), design, model, factors, lie).tests[0]
        assert test is not None
        found += test.p < level
    assert found / 400 == pytest.approx(expected, abs=0.09)
