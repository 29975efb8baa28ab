import msgspec
import numpy as np
import pytest
from scipy import stats

from gate.stats.design.rank_differences import rank_tests, statistic
from tests.support.units_frame import factors, frame


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
    claimed, units, p = 0, frame({(0,): [1.0]}), 1.0
    for _ in range(100):
        builds = rng.normal(0, 1, (2, 4))
        units = frame({(a,): (np.repeat(builds[a], 20) + rng.normal(0, 0.1, 80)).tolist() for a in range(2)})
        units["build"] = np.arange(160) // 40 + 4 * units["f0"]
        (test,) = rank_tests(units, own)
        assert test.p is not None
        p = test.p
        claimed += p < 0.05
    assert claimed < 10, "at most 5%, and chance"
    assert rank_tests(units, factors(2))[0].p != p
