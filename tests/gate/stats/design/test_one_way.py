import math
from typing import Literal

import msgspec
import numpy as np
import pytest
from scipy import optimize, stats

from gate.model.study import OneWay, PairwiseDifference, SpreadTest
from gate.stats.design.one_way import one_ways, percents, rank_tests, spreads, statistic
from tests.support.samples import there
from tests.support.units_frame import TENSION, UNBALANCED, WOOL, about, factors, frame, warpbreaks


def table(of: list[OneWay], factor: str, at: dict[str, str | int | float]) -> OneWay:
    (found,) = [each for each in of if each.factor == factor and each.at == at]
    return found


def check(pairs: list[PairwiseDifference], *expected: tuple[float, float, float, float]) -> None:
    found = np.array([(pair.difference, pair.low, pair.high, pair.p) for pair in pairs])
    # R's qtukey is good to six digits
    assert found == pytest.approx(np.array(expected), rel=1e-6)


def test_a_table_at_settings_of_the_other_factor_as_r_has_it() -> None:
    tables = one_ways(warpbreaks(UNBALANCED), [WOOL, TENSION], 0.95)
    of_wool = [("wool", {"tension": tension}) for tension in "LMH"]
    of_tension = [("tension", {"wool": wool}) for wool in "AB"]
    assert [(t.factor, t.at) for t in tables] == [*of_wool, ("wool", {}), *of_tension, ("tension", {})]
    found = table(tables, "tension", {"wool": "A"})
    # R 4.2.2: w <- warpbreaks[-c(1,2,3,30,54),]; a <- subset(w, wool=="A"); TukeyHSD(aov(breaks ~ tension, a))
    check(
        found.pairs,
        (-24.500000000000021, -41.2178680663385, -7.78213193366159, 0.003693926249995),
        (-23.944444444444464, -40.6623125107829, -7.22657637810604, 0.004488455960540),
        (0.555555555555557, -14.3973602185267, 15.50847132963783, 0.995177707615656),
    )
    assert [(p.a, p.b) for p in found.pairs] == [("L", "M"), ("L", "H"), ("M", "H")]
    # for (g in levels(a$tension)) print(quantile(a$breaks[a$tension==g], c(0,.1,.25,.5,.75,.9,1), type=6))
    assert [list(row.quantiles.values()) for row in found.rows] == [
        [25.0, 25.0, 25.75, 51.5, 67.75, 70.0, 70.0],
        [12.0, 12.0, 17.5, 21.0, 32.5, 36.0, 36.0],
        [10.0, 10.0, 16.5, 24.0, 32.0, 43.0, 43.0],
    ]
    assert list(found.rows[0].quantiles) == ["minimum", "10%", "25%", "median", "75%", "90%", "maximum"]
    assert [(row.setting, row.count, row.letters) for row in found.rows] == [
        ("L", 6, "b"),
        ("M", 9, "a"),
        ("H", 9, "a"),
    ]
    low = [25, 70, 52, 51, 26, 67]
    assert found.rows[0].mean == pytest.approx(48.5) and found.rows[0].sd == pytest.approx(np.std(low, ddof=1))


def test_over_all_combinations_of_an_unbalanced_design_means_of_treatment_means_are_compared() -> None:
    found = table(one_ways(warpbreaks(UNBALANCED), [WOOL, TENSION], 0.95), "tension", {})
    # R 4.2.2, w as above: c <- interaction(w$wool, w$tension); m <- lm(breaks ~ c - 1, w); l: +-1/2 at both wools;
    # d <- sum(l*coef(m)); se <- sqrt(t(l)%*%vcov(m)%*%l); h <- qtukey(.95,3,43)/sqrt(2)*se;
    # ptukey(abs(d)/se*sqrt(2),3,43,lower.tail=FALSE)
    check(
        found.pairs,
        (-11.92361111111110539, -21.22099678005645984, -2.62622544216575093, 0.00903779414490546),
        (-17.22222222222222143, -26.64441059850261695, -7.80003384594182414, 0.00018158286570924),
        (-5.298611111111114, -14.079064755035128, 3.481842532812900, 0.317674019244969),
    )
    means = [38.3125, 26.3888888888889, 21.0902777777778]
    assert [row.mean for row in found.rows] == pytest.approx(means, rel=1e-12)
    assert [row.letters for row in found.rows] == ["b", "a", "a"]


def test_settings_are_compared_where_all_were_measured() -> None:
    # setting 2 of b was not measured at a = 0, where everything is higher by 100
    means = {(0, 0): 101.5, (0, 1): 103.5, (1, 0): 1.5, (1, 1): 3.5, (1, 2): 5.5}
    groups = {codes: [mean - 0.5, mean + 0.5] for codes, mean in means.items()}
    tables = one_ways(frame(groups), factors(2, 3), 0.95)
    overall = table(tables, "b", {})
    assert [(row.setting, row.count, row.mean) for row in overall.rows] == [(0, 2, 1.5), (1, 2, 3.5), (2, 2, 5.5)]
    assert [row.setting for row in table(tables, "b", {"a": 0}).rows] == [0, 1]
    alone = table(tables, "a", {"b": 2})
    assert alone.pairs == [] and [(row.setting, row.letters) for row in alone.rows] == [(1, "")]
    assert [row.mean for row in table(tables, "a", {}).rows] == [102.5, 2.5]
    # there is no overall table where no combination has all settings
    groups = {(0, 0): [1.0, 2.0], (0, 1): [1.0, 2.0], (1, 2): [1.0, 2.0]}
    assert [(t.factor, t.at) for t in one_ways(frame(groups), factors(2, 3), 0.95) if not t.at] == []


def test_units_without_spread_have_differences_and_no_letters() -> None:
    for groups in (
        {(0,): [1.0], (1,): [3.0]},
        {(0,): [1.0] * 3, (1,): [3.0] * 3},
        {(0,): [0.1 + 0.2, 0.3], (1,): [0.3] * 2},
    ):
        (found,) = one_ways(frame(groups), factors(2), 0.95)
        assert [(p.low, p.high, p.p) for p in found.pairs] == [(None, None, None)]
        assert [row.letters for row in found.rows] == ["", ""]
    (found,) = one_ways(frame({(0,): [1.0], (1,): [3.0]}), factors(2), 0.95)
    assert found.rows[0].sd is None and set(found.rows[0].quantiles.values()) == {1.0}
    assert one_ways(frame({(0,): []}), factors(2), 0.95) == []


# --- percent ---------------------------------------------------------------------------------------------------------


def test_percents_as_scheds_first_table_has_them() -> None:
    # SCHED, compression: vanilla and ck-patched means, difference (the first is misprinted there as -10.5753), result
    machines = [
        (558.3320, 547.7577, -10.5743, "1.9% faster"),
        (166.3141, 165.7622, -0.5519, "0.3% faster"),
        (470.0283, 454.8185, -15.2098, "3.2% faster"),
        (27.7919, 28.2716, 0.4797, "1.7% slower"),
    ]
    groups = {(m, k): [y * 0.9999, y * 1.0001] for m, row in enumerate(machines) for k, y in enumerate(row[:2])}
    rows = [r for r in percents(frame(groups), factors(4, 2), "lower", 0.95, unit="s") if r.factor == "b"]
    assert [row.at for row in rows] == [{"a": 0}, {"a": 1}, {"a": 2}, {"a": 3}]
    for row, (first, second, difference, words) in zip(rows, machines, strict=True):
        assert (row.first, row.second, row.words) == (0, 1, words)
        assert (row.first_mean, row.second_mean) == pytest.approx((first, second))
        assert row.difference == pytest.approx(difference, abs=1e-9)
        assert row.percent == pytest.approx(second / first - 1)


def test_the_interval_of_percent_against_a_literal_one() -> None:
    """All ratios that a t test with the degrees of the estimated ratio does not reject."""
    rng = np.random.default_rng(3)
    x, y = 10 + rng.normal(size=6), 11 + 2 * rng.normal(size=9)
    v, w, r = x.var(ddof=1) / 6, y.var(ddof=1) / 9, y.mean() / x.mean()
    t = stats.t.ppf(0.95, (w + r * r * v) ** 2 / (w * w / 8 + (r * r * v) ** 2 / 5))

    def beyond(ratio: float) -> float:
        return float(abs(y.mean() - ratio * x.mean()) - t * math.sqrt(w + ratio**2 * v))

    (row,) = percents(frame({(0,): x.tolist(), (1,): y.tolist()}), factors(2), "lower", 0.9, unit="s")
    wanted = [optimize.brentq(beyond, r, r + step, xtol=1e-14) - 1 for step in (-5, 5)]
    assert [row.low, row.high] == pytest.approx(wanted, rel=1e-9)


def test_percents_of_logarithms_and_of_settings_that_were_measured() -> None:
    x, y = [0.0, 0.1, 0.2], [0.3, 0.5, 0.4, 0.4]
    (row,) = percents(frame({(0,): x, (1,): y}), factors(2), "lower", 0.95, unit="s", log=True)
    ends = stats.ttest_ind(y, x, equal_var=False).confidence_interval(0.95)
    assert row.percent == pytest.approx(math.exp(0.3) - 1)
    assert (row.low, row.high) == pytest.approx((math.exp(ends.low) - 1, math.exp(ends.high) - 1), rel=1e-9)
    assert (row.first_mean, row.second_mean, row.difference) == pytest.approx((0.1, 0.4, 0.3))
    assert row.words == "35.0% slower"
    # every setting is compared with the first that was measured
    # the first setting of b was measured nowhere, the second not at a = 1
    groups = {(0, 1): [1.0, 1.1], (0, 2): [2.0, 2.1], (0, 3): [3.0, 3.1], (1, 2): [5.0, 5.1], (1, 3): [6.0, 6.1]}
    rows = [r for r in percents(frame(groups), factors(2, 4), "lower", 0.95, unit="s") if r.factor == "b"]
    assert [(row.at, row.first, row.second) for row in rows] == [({"a": 0}, 1, 2), ({"a": 0}, 1, 3)]
    assert percents(frame({(0,): []}), factors(2), "lower", 0.95, unit="s") == []


@pytest.mark.parametrize(
    ("unit", "better", "words"),
    [("s", "lower", "slower"), ("s", "higher", "higher"), ("1/s", "higher", "higher"), ("B", "lower", "higher")],
)
def test_words_go_by_unit_and_direction(unit: str, better: Literal["lower", "higher"], words: str) -> None:
    (row,) = percents(frame({(0,): [0.99, 1.01, 1.0], (1,): [1.19, 1.21, 1.2]}), factors(2), better, 0.95, unit=unit)
    assert row.words == f"20.0% {words}"


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        ([1.0, 1.4], [0.9, 1.2], "12.5% faster, not clearly"),
        ([1.0], [2.0], "100% slower, not clearly"),
        ([1.0, 1.0], [2.0, 2.0], "100% slower, not clearly"),
        ([1.0, 3.0], [2.0, 2.0], "no difference"),
        ([0.1 + 0.2], [0.3], "no difference"),
        ([1.0, 1.000001], [1.0002, 1.000201], "less than 0.1% slower"),
        ([-2.0, -2.1, -1.9], [-1.0, -1.1, -0.9], "slower"),
        ([-2.0, -3.1, -0.9], [-3.0, -2.1, -1.9], "faster, not clearly"),
        ([0.0, 0.0], [1.0, 1.1], "slower"),
    ],
)
def test_words_of_odd_cases(x: list[float], y: list[float], words: str) -> None:
    (row,) = percents(frame({(0,): x, (1,): y}), factors(2), "lower", 0.95, unit="s")
    assert row.words == words
    if "%" not in words and words != "no difference":
        assert (row.percent, row.low, row.high) == (None, None, None)


# --- tests by ranks, and of variances ---------------------------------------------------------------------------------


def of(
    found: list[SpreadTest], factor: str, **at: str | int | float
) -> tuple[float | None, float | None, float | None]:
    (spread,) = [each for each in found if each.factor == factor and each.at == at]
    return spread.ratio, spread.f_p, spread.levene_p


def test_warpbreaks_as_r_has_them() -> None:
    found = spreads(warpbreaks(UNBALANCED), [WOOL, TENSION])
    assert [s.factor for s in found] == ["wool"] * 4 + ["tension"] * 3
    # R 4.2.2: w <- warpbreaks[-c(1,2,3,30,54),]; for each tension d: v <- var.test(d$breaks[d$wool=="B"],
    # d$breaks[d$wool=="A"]); z <- abs(d$breaks - ave(d$breaks, d$wool, FUN=median)); anova(lm(z ~ d$wool))[1,5]
    for tension, wanted in {
        "L": (0.294929957101097, 0.142477896864960, 0.203169905867849),
        "M": (1.185925925925926, 0.815280408275066, 0.928656470870563),
        "H": (0.1297897943067725, 0.0141925820624654, 0.0617457149115718),
    }.items():
        assert of(found, "wool", tension=tension) == pytest.approx(wanted)
    # c <- interaction(w$wool, w$tension); r <- w$breaks - ave(w$breaks, c); ratio of sums of r^2 over counts - 3, pf;
    # z <- abs(w$breaks - ave(w$breaks, c, FUN=median)); anova(lm(z ~ w$wool)), anova(lm(z ~ w$tension))
    assert of(found, "wool") == pytest.approx((0.4547257905551008, 0.0731725843420073, 0.1191709972508812))
    assert of(found, "tension") == (None, None, about(0.0759495254465246))


def test_what_cannot_be_told() -> None:
    def only(groups: dict[tuple[int, ...], list[float]]) -> tuple[float | None, float | None, float | None]:
        (found,) = spreads(frame(groups), factors(2))
        return found.ratio, found.f_p, found.levene_p

    assert only({(0,): [1.0] * 4, (1,): [2.0] * 4}) == (None, None, None)
    assert only({(0,): [0.1 + 0.2, 0.3, 0.3], (1,): [0.3, 0.3, 0.1 + 0.2]}) == (None, None, None)
    # one side without spread: normal values never are, the distances from the median may be
    ratio, f_p, levene_p = only({(0,): [2.0] * 6, (1,): [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]})
    assert (ratio, f_p) == (None, None) and there(levene_p) < 0.01
    # both distances of a pair are one number
    ratio, f_p, levene_p = only({(0,): [1.0, 2.0], (1,): [1.0, 3.0]})
    assert ratio == pytest.approx(4.0) and f_p is not None and levene_p is None
    assert spreads(frame({(0,): [1.0], (1,): [2.0, 3.0]}), factors(2)) == []
    assert spreads(frame({(0,): [1.0, 2.0]}), factors(2)) == []
    assert spreads(frame({(0,): []}), factors(2)) == []


def test_pairs_have_no_part_in_levenes_test_over_all_combinations() -> None:
    rng = np.random.default_rng(6)
    three = {(0, k): rng.normal(size=5).tolist() for k in (0, 1)}
    pairs = {(a, k): rng.normal(size=2).tolist() for a in (1, 2) for k in (0, 1)}
    found = spreads(frame(three | pairs), factors(3, 2))
    assert of(found, "b")[2] == about(of(found, "b", a=0)[2] or 0.0)
    assert of(spreads(frame(pairs), factors(3, 2)), "b")[2] is None


def test_h_is_that_of_scipy_and_of_the_book() -> None:
    # Kruskal and Wallis 1952, Table 1: daily bottle caps of three machines, H = 5.656
    caps = [[340, 345, 330, 342, 338], [339, 333, 344], [347, 343, 349, 355]]
    assert statistic([np.array(own, dtype=float) for own in caps]) == pytest.approx(5.656, abs=0.001)
    assert statistic([np.ones(3), np.ones(4)]) == 0.0
    assert statistic([np.array([1.0]), np.array([2.0])]) is None
    assert statistic([np.arange(4.0)]) is None


def test_each_box_each_setting_and_the_sum_have_a_test() -> None:
    rng = np.random.default_rng(1)
    y = {(a, b): rng.normal(a * (1 + b), 1, 8) for a in range(2) for b in range(3)}
    found = rank_tests(frame({codes: own.tolist() for codes, own in y.items()}), factors(2, 3))
    first = [t for t in found if t.factor == "a" and t.setting is None]
    assert [t.at for t in first] == [{"b": 0}, {"b": 1}, {"b": 2}, {}]
    single = [stats.kruskal(y[0, b], y[1, b]) for b in range(3)]
    assert [t.p for t in first[:3]] == pytest.approx([one.pvalue for one in single])
    total = sum(one.statistic for one in single)
    assert first[3].statistic == pytest.approx(total)
    assert first[3].df == 3
    assert first[3].p == pytest.approx(stats.chi2.sf(total, 3))
    within = {t.setting: t for t in found if t.factor == "a" and t.setting is not None}
    assert within[1].p == pytest.approx(stats.kruskal(*(y[1, b] for b in range(3))).pvalue)
    assert (within[1].groups, within[1].at) == (3, {"a": 1})
    adjusted = [t.p_adjusted for t in found if t.p_adjusted is not None]
    assert len(adjusted) == 3 + 2 + 2 + 3, "all but the two sums"
    ranked = sorted((t.p or 0, t.p_adjusted) for t in found if t.p_adjusted is not None)
    assert ranked[0][1] == pytest.approx(min(1.0, 10 * ranked[0][0]))


def test_what_varies_by_build_is_compared_by_the_means_of_builds() -> None:
    y = np.random.default_rng(2).normal(0, 1, (2, 4, 1)) + np.random.default_rng(3).normal(0, 0.1, (2, 4, 20))
    units = frame({(a,): y[a].ravel().tolist() for a in range(2)})
    units["build"] = np.arange(160) // 40 + 4 * units["f0"]
    (by_builds,) = rank_tests(units, [msgspec.structs.replace(factors(2)[0], varies="build")])
    means = units.groupby(["f0", "build"])["y"].mean()
    assert by_builds.p == pytest.approx(stats.kruskal(means[0], means[1]).pvalue)
    assert rank_tests(units, factors(2))[0].p != by_builds.p
