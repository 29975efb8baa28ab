"""Tests by ranks, and of variances."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from scipy import stats

from gate.model.study import Spread
from gate.stats.design.one_way import rank_tests, spreads, statistic
from tests.support.samples import there
from tests.support.seeds import some
from tests.support.units_frame import TENSION, UNBALANCED, WOOL, about, crossed, factors, frame, warpbreaks


def of(found: list[Spread], factor: str, **at: str | int | float) -> tuple[float | None, float | None, float | None]:
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


@pytest.mark.parametrize(("n", "trials"), some([(6, 80), (6, 400), (3, 400)], 1))
def test_equal_spreads_are_called_different_as_often_as_they_may(n: int, trials: int) -> None:
    rng = np.random.default_rng(n)
    f, levene = 0, 0
    for _ in range(trials):
        found = spreads(crossed((3, 2), lambda codes: (codes[0] + rng.normal(size=n)).tolist()), factors(3, 2))
        _, f_p, levene_p = of(found, "b")
        f, levene = f + (there(f_p) < 0.05), levene + (there(levene_p) < 0.05)
    most = 0.03 * (400 / trials) ** 0.5
    assert 0.05 - most < f / trials < 0.05 + most
    # of three values one distance is 0: Levene's test then says too little, never too much
    assert levene / trials < 0.05 + most


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
    rng = np.random.default_rng(2)
    own = [msgspec.structs.replace(factors(2)[0], varies="build")]
    claimed = 0
    for _ in range(100):
        builds = rng.normal(0, 1, (2, 4))
        units = frame({(a,): (np.repeat(builds[a], 20) + rng.normal(0, 0.1, 80)).tolist() for a in range(2)})
        units["build"] = np.arange(160) // 40 + 4 * units["f0"]
        by_builds, by_units = rank_tests(units, own)[0].p, rank_tests(units, factors(2))[0].p
        claimed += there(by_builds) < 0.05
        assert by_units != by_builds
    assert claimed < 10, "at most 5%, and chance"
