"""Tukey-Kramer and Dunnett: published critical values, a textbook example, and scipy."""

from __future__ import annotations

import math
import re
from itertools import combinations

import numpy as np
import pytest
from scipy import integrate, stats

from gate.stats.design import tukey
from gate.stats.design.one_way import Error, one_ways
from gate.stats.design.tukey import (
    MOST_PAIRS,
    Mean,
    Pair,
    against_first,
    beyond,
    critical,
    studentized_range,
    studentized_range_quantile,
    tukey_kramer,
)
from tests.support.seeds import some
from tests.support.units_frame import factors, frame

# R 4.2.2: PlantGrowth
CTRL = (4.17, 5.58, 5.18, 6.11, 4.5, 4.61, 5.17, 4.53, 5.33, 5.14)
TRT1 = (4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69)
TRT2 = (6.31, 5.12, 5.54, 5.5, 5.37, 5.29, 4.92, 6.15, 5.8, 5.26)


def letters(means: list[float], different: list[tuple[int, int]]) -> list[str]:
    """Words for means of which some pairs, in either order, differ."""
    apart = np.zeros((len(means), len(means)), dtype=np.bool_)
    for i, j in different:
        apart[i, j] = apart[j, i] = True
    return tukey.letters(np.array(means), apart)


def compared(*groups: tuple[float, ...], confidence: float = 0.95) -> list[Pair]:
    df = sum(map(len, groups)) - len(groups)
    variance = sum(float(np.var(g) * len(g)) for g in groups) / df if df else 0.0
    return tukey_kramer([Mean(float(np.mean(g)), 1 / len(g)) for g in groups], variance, df, confidence).pairs


def test_plant_growth_as_r_has_it() -> None:
    # TukeyHSD(aov(weight ~ group, PlantGrowth))
    expected = [
        (0, 1, -0.371, -1.062216051410459, 0.320216051410458, 0.390871144202125),
        (0, 2, 0.494, -0.197216051410459, 1.185216051410458, 0.197995991299708),
        (1, 2, 0.865, 0.173783948589542, 1.556216051410459, 0.012006423979453),
    ]
    for pair, want in zip(compared(CTRL, TRT1, TRT2), expected, strict=True):
        found = (pair.first, pair.second, pair.difference, pair.low, pair.high, pair.p)
        assert found == pytest.approx(want, rel=1e-7)


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_unequal_counts_as_scipy_has_them(confidence: float) -> None:
    groups = (CTRL[:4], TRT1, TRT2[:7], CTRL[5:])
    test = stats.tukey_hsd(*groups)
    ends = test.confidence_interval(confidence)
    low, high = np.asarray(ends.low), np.asarray(ends.high)
    for pair in compared(*groups, confidence=confidence):
        i, j = pair.first, pair.second
        # scipy has first - second
        assert pair.low == pytest.approx(-high[i, j], rel=1e-6)
        assert pair.high == pytest.approx(-low[i, j], rel=1e-6)
        assert pair.p == pytest.approx(test.pvalue[i, j], rel=1e-6)


def test_of_two_means_it_is_the_t_test() -> None:
    (pair,) = compared(CTRL, TRT2[:6], confidence=0.99)
    test = stats.ttest_ind(TRT2[:6], CTRL)
    ends = test.confidence_interval(0.99)
    assert (pair.p, pair.low, pair.high) == pytest.approx((test.pvalue, ends.low, ends.high), rel=1e-10)
    # the general way gives the same
    q = abs(test.statistic) * math.sqrt(2)
    assert pair.p == pytest.approx(stats.studentized_range.sf(q, 2, 14), rel=1e-8)


def test_without_a_variance_there_are_differences_only() -> None:
    assert compared((1.0,), (3.0,)) == [Pair(0, 1, 2.0, None, None, None)]
    assert compared((1.0, 1.0), (3.0, 3.0)) == [Pair(0, 1, 2.0, None, None, None)]
    assert compared((1.0, 2.0)) == []


def test_enormous_differences_have_a_p_of_0_and_no_warning() -> None:
    pairs = tukey_kramer([Mean(0.0, 0.5), Mean(1e9, 0.5), Mean(-1e60, 0.5)], 1e-6, 3, 0.95).pairs
    assert all(pair.p is not None and 0 <= pair.p < 1e-15 for pair in pairs)


@pytest.mark.parametrize(
    ("means", "different", "expected"),
    [
        ([1.0, 2.0, 3.0], [], ["a", "a", "a"]),
        ([1.0, 2.0, 3.0], [(0, 2)], ["a", "ab", "b"]),
        ([3.0, 2.0, 1.0], [(0, 2)], ["b", "ab", "a"]),
        ([1.0, 2.0, 3.0], [(0, 1), (0, 2), (1, 2)], ["a", "b", "c"]),
        ([5.0], [], ["a"]),
        ([], [], []),
        # unequal counts: the extremes do not differ, an inner pair does
        ([1.0, 2.0, 3.0], [(1, 2)], ["ab", "a", "b"]),
    ],
)
def test_letters_by_hand(means: list[float], different: list[tuple[int, int]], expected: list[str]) -> None:
    assert letters(means, different) == expected


# of eight descending means: the last two differ from all others, the second also from the fourth and fifth
DIFFERENT = [
    (0, 6),
    (0, 7),
    (1, 3),
    (1, 4),
    (1, 6),
    (1, 7),
    (2, 6),
    (2, 7),
    (3, 6),
    (3, 7),
    (4, 6),
    (4, 7),
    (5, 6),
    (5, 7),
]


@pytest.mark.parametrize("seed", some(range(40), 8, pytest.mark.nightly))
def test_letters_say_exactly_which_means_differ(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 9))
    means = rng.normal(size=k).tolist()
    pairs = list(combinations(range(k), 2))
    different = [pairs[i] for i in rng.permutation(len(pairs))[: rng.integers(0, len(pairs) + 1)]]
    words = letters(means, different)
    for i, j in pairs:
        assert (not set(words[i]) & set(words[j])) == ((i, j) in different)
    assert "a" in words[int(np.argmin(means))]
    # no letter says what another one says
    holders = [frozenset(i for i in range(k) if letter in words[i]) for letter in sorted(set("".join(words)))]
    assert not any(a < b for a in holders for b in holders)


def test_letters_do_not_depend_on_the_order_of_the_pairs() -> None:
    means = [8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]
    words = letters(means, DIFFERENT)
    assert letters(means, [(j, i) for i, j in reversed(DIFFERENT)]) == words
    assert words == ["bc", "c", "bc", "b", "b", "bc", "a", "a"]


def test_more_than_26_letters() -> None:
    k = 30
    words = letters([float(i) for i in range(k)], list(combinations(range(k), 2)))
    assert words[25:28] == ["z", "a2", "b2"]
    assert len(set(words)) == k


def test_of_many_pairs_the_farthest_are_listed_and_the_letters_are_of_all() -> None:
    rng = np.random.default_rng(4)
    means = [Mean(value, 0.5) for value in rng.normal(scale=2, size=40).tolist()]
    found = tukey_kramer(means, 1.0, 40, 0.95)
    assert len(found.pairs) == MOST_PAIRS
    listed = {(pair.first, pair.second) for pair in found.pairs}
    sizes = {(i, j): abs(means[i].value - means[j].value) for i, j in combinations(range(40), 2)}
    assert min(sizes[pair] for pair in listed) >= max(size for pair, size in sizes.items() if pair not in listed)
    critical = stats.studentized_range.ppf(0.95, 40, 40) * math.sqrt(0.5)
    for (i, j), size in sizes.items():
        assert (not _of(found.letters[i]) & _of(found.letters[j])) == (size > critical)
    assert all(p.p is not None and (p.p < 0.05) == (sizes[p.first, p.second] > critical) for p in found.pairs)


@pytest.mark.parametrize("seed", range(5))
def test_letters_of_many_means_with_gaps_say_exactly_which_differ(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = 30
    pairs = [pair for pair in combinations(range(k), 2) if rng.random() < 0.5]
    words = letters(rng.normal(size=k).tolist(), pairs)
    for i, j in combinations(range(k), 2):
        assert (not _of(words[i]) & _of(words[j])) == ((i, j) in set(pairs))
    assert all(words)


def test_of_a_thousand_settings_the_pairs_farthest_apart_are_kept() -> None:
    rng = np.random.default_rng(6)
    found = tukey_kramer([Mean(value, 0.5) for value in rng.normal(scale=20, size=1000).tolist()], 1.0, 1000, 0.95)
    assert len(found.pairs) == MOST_PAIRS


def test_letters_that_nobody_reads_are_left_out() -> None:
    apart = [(i, j) for i, j in combinations(range(500), 2) if j - i > 200]
    assert set(letters([float(i) for i in range(500)], apart)) == {""}


def _of(word: str) -> set[str]:
    return set(re.findall(r"[a-z]\d*", word))


@pytest.mark.parametrize(("k", "df"), [(3, 1), (4, 12), (10, 2), (40, 40)])
def test_the_chance_is_that_of_scipy(k: int, df: int) -> None:
    q = np.array([0.0, 0.05, 1.0, 3.5, 6.0, 12.0])
    assert studentized_range(q, k, df) == pytest.approx(stats.studentized_range.sf(q, k, df), abs=1e-10)


@pytest.mark.parametrize("df", [1, 7, 300, 100_000])
def test_the_range_of_two_means_is_that_of_t(df: int) -> None:
    q = np.array([0.01, 0.7, 2.0, 4.0, 30.0])
    assert studentized_range(q, 2, df) == pytest.approx(2 * stats.t.sf(q / np.sqrt(2), df), abs=1e-10)


def test_of_a_thousand_means_it_is_that_of_scipy() -> None:
    q = np.array([6.0, 15.0])
    assert studentized_range(q, 1000, 5) == pytest.approx(stats.studentized_range.sf(q, 1000, 5), abs=1e-9)


@pytest.mark.parametrize(("k", "df", "confidence"), [(3, 1, 0.95), (5, 20, 0.99), (30, 60, 0.9)])
def test_the_quantile_has_its_chance(k: int, df: int, confidence: float) -> None:
    q = studentized_range_quantile(confidence, k, df)
    assert q == pytest.approx(stats.studentized_range.ppf(confidence, k, df), rel=1e-8)
    assert studentized_range(np.array([q]), k, df)[0] == pytest.approx(1 - confidence, abs=1e-10)


def test_what_is_beyond_everything_has_no_chance() -> None:
    found = studentized_range(np.array([1e3, 1e120]), 6, 50)
    assert found.tolist() == pytest.approx([0.0, 0.0], abs=1e-15)


EQUAL = math.sqrt(0.5)


@pytest.mark.parametrize(
    ("k", "df", "confidence", "table"),
    [
        # Dunnett 1964, Biometrics 20, tables II and III (two-sided, exact); k: settings beside the first
        (1, 10, 0.95, 2.23),
        (2, 5, 0.95, 3.03),
        (3, 12, 0.95, 2.68),
        (3, 16, 0.95, 2.59),
        (9, 20, 0.95, 2.95),
        (4, 60, 0.95, 2.51),
        (2, 5, 0.99, 4.63),
        (3, 16, 0.99, 3.39),
        (9, 20, 0.99, 3.69),
    ],
)
def test_critical_values_are_those_of_the_tables(k: int, df: int, confidence: float, table: float) -> None:
    assert round(critical((EQUAL,) * k, df, confidence), 2) == table


def test_the_chance_is_that_of_the_multivariate_t() -> None:
    # many draws of what it is the chance of, with counts that differ
    rng = np.random.default_rng(3)
    counts, df = [4, 8, 2, 6], 7
    draws = 200_000
    means = [rng.normal(size=draws) / math.sqrt(n) for n in counts]
    s = np.sqrt(rng.chisquare(df, size=draws) / df)
    t = [
        np.abs(m - means[0]) / s / math.sqrt(1 / n + 1 / counts[0]) for m, n in zip(means[1:], counts[1:], strict=True)
    ]
    shared = tuple(math.sqrt(1 / counts[0] / (1 / counts[0] + 1 / n)) for n in counts[1:])
    at = np.array([1.0, 2.5, 4.0])
    assert beyond(at, shared, df) == pytest.approx([(np.max(t, axis=0) > own).mean() for own in at], abs=0.004)


def test_small_chances_are_those_of_the_double_integral() -> None:
    # literal: the sum over the standard deviation and the control's error, by quadrature
    shared, df = (0.4, 0.8), 9

    def given(s: float, z: float, t: float) -> float:
        inside = 1.0
        for own in shared:
            rest = math.sqrt(1 - own * own)
            inside *= normal((own * z + t * s) / rest) - normal((own * z - t * s) / rest)
        # of sqrt(chi2 / df), and of the standard normal distribution
        of_s: float = 2 * (df / 2) ** (df / 2) / math.gamma(df / 2) * s ** (df - 1) * math.exp(-df * s * s / 2)
        return float(1 - inside) * of_s * math.exp(-z * z / 2) / math.sqrt(2 * math.pi)

    def normal(x: float) -> float:
        return math.erfc(-x / math.sqrt(2)) / 2

    for t in (0.7, 3.0, 8.0):
        wanted = integrate.dblquad(lambda z, s, t=t: given(s, z, t), 0, 5, -8, 8, epsabs=1e-11)[0]
        assert beyond(np.array([t]), shared, df)[0] == pytest.approx(wanted, rel=1e-5)


def test_it_agrees_with_scipy_where_that_is_known_to_be_near() -> None:
    rng = np.random.default_rng(1)
    groups = [rng.normal(loc, size=n) for n, loc in ((10, 0), (4, 1), (7, 0.5), (5, 2))]
    df = sum(map(len, groups)) - len(groups)
    variance = sum(float(((g - g.mean()) ** 2).sum()) for g in groups) / df
    found = against_first([Mean(float(g.mean()), 1 / len(g)) for g in groups], variance, df, 0.95)
    wanted = stats.dunnett(*groups[1:], control=groups[0], rng=np.random.default_rng(0))
    assert [own.p for own in found] == pytest.approx(wanted.pvalue.tolist(), abs=2e-3)
    ends = wanted.confidence_interval()
    assert [own.low for own in found] == pytest.approx(ends.low.tolist(), abs=0.02)
    assert [own.high for own in found] == pytest.approx(ends.high.tolist(), abs=0.02)


def test_a_textbook_example() -> None:
    # Montgomery, Design and Analysis of Experiments (8th ed.), Table 3.1 and Example 3.11: the etch rate by power, with
    # 220 W as the control: d(0.05; 3, 16) = 2.59, critical difference 29.92, all three differ
    etch = [
        [725.0, 700, 715, 685, 710],
        [575.0, 542, 530, 539, 570],
        [565.0, 593, 590, 579, 610],
        [600.0, 651, 610, 637, 629],
    ]
    (table,) = one_ways(frame({(k,): y for k, y in enumerate(etch)}), factors(4), 0.95)
    assert [own.difference for own in table.firsts] == pytest.approx([-155.8, -119.6, -81.6])
    for own in table.firsts:
        assert own.low is not None and own.high is not None and own.p is not None
        assert (own.high - own.low) / 2 == pytest.approx(29.92, abs=0.04)
        assert own.p < 0.001
    assert table.firsts[0].percent == pytest.approx(-155.8 / 707)


def test_p_and_interval_agree() -> None:
    rng = np.random.default_rng(7)
    for _ in range(8):
        means = [
            Mean(float(rng.normal(scale=1.5)), 1 / int(rng.integers(2, 9))) for _ in range(int(rng.integers(2, 7)))
        ]
        for own in against_first(means, 1.0, int(rng.integers(2, 30)), 0.9):
            assert own.low is not None and own.high is not None and own.p is not None
            assert (own.p < 0.1) == (own.low > 0 or own.high < 0)


def test_nothing_is_known_without_degrees_of_freedom_or_spread() -> None:
    means = [Mean(1.0, 1.0), Mean(2.0, 1.0), Mean(4.0, 1.0)]
    for variance, df in ((1.0, 0), (0.0, 5)):
        found = against_first(means, variance, df, 0.95)
        assert [(own.difference, own.low, own.high, own.p) for own in found] == [
            (1, None, None, None),
            (3, None, None, None),
        ]


def test_two_settings_have_no_table_against_the_first() -> None:
    (table,) = one_ways(frame({(0,): [1.0, 2.0], (1,): [2.0, 4.0]}), factors(2), 0.95)
    assert table.firsts == []


def test_an_error_from_outside_takes_the_place_of_that_within() -> None:
    units = frame({(k,): [k + 1.0, k + 2.0, k + 4.5] for k in range(3)})
    (own,) = one_ways(units, factors(3), 0.95)
    (given,) = one_ways(units, factors(3), 0.95, errors={"a": Error(4.0, 5.5)})
    half = critical((EQUAL,) * 2, 5.5, 0.95) * math.sqrt(4.0 * 2 / 3)
    assert [f.high for f in given.firsts] == pytest.approx([1 + half, 2 + half])
    assert [f.high for f in own.firsts] != pytest.approx([1 + half, 2 + half])
    assert given.pairs[0].high != own.pairs[0].high


def test_of_logarithms_the_percentage_is_that_of_the_values() -> None:
    units = frame({(k,): [math.log(2.0) * k - 0.1, math.log(2.0) * k + 0.1] for k in range(3)})
    (table,) = one_ways(units, factors(3), 0.95, log=True)
    assert [f.percent for f in table.firsts] == pytest.approx([1.0, 3.0])
