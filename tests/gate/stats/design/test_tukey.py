"""Tukey-Kramer against scipy; what R has of it is checked in the tables of one factor."""

import math
import re
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from gate.model.study import PairwiseDifference, Stratum
from gate.stats.design import tukey
from gate.stats.design.one_way import one_ways
from gate.stats.design.tukey import MOST_PAIRS, studentized_range, studentized_range_quantile, tukey_kramer
from tests.support.seeds import some
from tests.support.units_frame import factors, frame

# R's PlantGrowth
CTRL = (4.17, 5.58, 5.18, 6.11, 4.5, 4.61, 5.17, 4.53, 5.33, 5.14)
TRT1 = (4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69)
TRT2 = (6.31, 5.12, 5.54, 5.5, 5.37, 5.29, 4.92, 6.15, 5.8, 5.26)


def letters(means: list[float], different: list[tuple[int, int]]) -> list[str]:
    """Words for means of which some pairs, in either order, differ."""
    apart = np.zeros((len(means), len(means)), dtype=np.bool_)
    for i, j in different:
        apart[i, j] = apart[j, i] = True
    return tukey.letters(np.array(means), apart)


def compared(*groups: tuple[float, ...], confidence: float = 0.95) -> list[PairwiseDifference]:
    df = sum(map(len, groups)) - len(groups)
    variance = sum(float(np.var(g) * len(g)) for g in groups) / df if df else 0.0
    means, shares = np.array([np.mean(g) for g in groups]), np.array([1 / len(g) for g in groups])
    return tukey_kramer(range(len(groups)), means, shares, variance, df, confidence)[0]


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_unequal_counts_as_scipy_has_them(confidence: float) -> None:
    groups = (CTRL[:4], TRT1, TRT2[:7], CTRL[5:])
    test = stats.tukey_hsd(*groups)
    ends = test.confidence_interval(confidence)
    for pair in compared(*groups, confidence=confidence):
        at = int(pair.a), int(pair.b)
        # scipy has first - second
        wanted = -np.asarray(ends.high)[at], -np.asarray(ends.low)[at], test.pvalue[at]
        assert (pair.low, pair.high, pair.p) == pytest.approx(wanted, rel=1e-6)


def test_of_two_means_it_is_the_t_test_and_enormous_differences_have_a_p_of_0() -> None:
    (pair,) = compared(CTRL, TRT2[:6], confidence=0.99)
    test = stats.ttest_ind(TRT2[:6], CTRL)
    ends = test.confidence_interval(0.99)
    assert (pair.p, pair.low, pair.high) == pytest.approx((test.pvalue, ends.low, ends.high), rel=1e-10)
    # the general way gives the same
    q = abs(test.statistic) * math.sqrt(2)
    assert pair.p == pytest.approx(stats.studentized_range.sf(q, 2, 14), rel=1e-8)
    # enormous differences have a p of 0 and no warning
    pairs, _ = tukey_kramer(range(3), np.array([0.0, 1e9, -1e60]), np.full(3, 0.5), 1e-6, 3, 0.95)
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


@pytest.mark.parametrize("seed", some(range(40), 8, pytest.mark.nightly))
def test_letters_say_exactly_which_means_differ(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = 30 if seed % 4 == 0 else int(rng.integers(2, 9))
    means = rng.normal(size=k).tolist()
    pairs = list(combinations(range(k), 2))
    different = [pairs[i] for i in rng.permutation(len(pairs))[: rng.integers(0, len(pairs) + 1)]]
    words = letters(means, different)
    for i, j in pairs:
        assert (not _of(words[i]) & _of(words[j])) == ((i, j) in different)
    assert "a" in _of(words[int(np.argmin(means))])
    # no letter says what another one says
    every = set().union(*map(_of, words))
    holders = [frozenset(i for i in range(k) if letter in _of(words[i])) for letter in sorted(every)]
    assert not any(a < b for a in holders for b in holders)


def test_letters_of_very_many_means() -> None:
    words = letters([float(i) for i in range(30)], list(combinations(range(30), 2)))
    assert words[25:28] == ["z", "a2", "b2"] and len(set(words)) == 30
    # those that nobody reads are left out
    apart = [(i, j) for i, j in combinations(range(500), 2) if j - i > 200]
    assert set(letters([float(i) for i in range(500)], apart)) == {""}


def test_of_many_pairs_the_farthest_are_listed_and_the_letters_are_of_all() -> None:
    rng = np.random.default_rng(4)
    means = rng.normal(scale=2, size=40)
    pairs, words = tukey_kramer(range(40), means, np.full(40, 0.5), 1.0, 40, 0.95)
    assert len(pairs) == MOST_PAIRS
    listed = {(int(pair.a), int(pair.b)) for pair in pairs}
    sizes = {(i, j): abs(float(means[i] - means[j])) for i, j in combinations(range(40), 2)}
    assert min(sizes[pair] for pair in listed) >= max(size for pair, size in sizes.items() if pair not in listed)
    critical = stats.studentized_range.ppf(0.95, 40, 40) * math.sqrt(0.5)
    for (i, j), size in sizes.items():
        assert (not _of(words[i]) & _of(words[j])) == (size > critical)
    assert all(p.p is not None and (p.p < 0.05) == (sizes[int(p.a), int(p.b)] > critical) for p in pairs)


def _of(word: str) -> set[str]:
    return set(re.findall(r"[a-z]\d*", word))


@pytest.mark.parametrize(
    ("k", "df", "confidence"), [(3, 1, 0.95), (4, 12, 0.99), (10, 2, 0.9), (40, 40, 0.9), (1000, 5, 0.95)]
)
def test_the_chance_and_the_quantile_are_those_of_scipy(k: int, df: int, confidence: float) -> None:
    q = np.array([0.0, 0.05, 1.0, 3.5, 6.0, 12.0])
    wanted = stats.studentized_range.sf(q, k, df)
    assert studentized_range(q, k, df) == pytest.approx(wanted, abs=1e-9 if k == 1000 else 1e-10)
    if k < 1000:
        edge = studentized_range_quantile(confidence, k, df)
        assert edge == pytest.approx(stats.studentized_range.ppf(confidence, k, df), rel=1e-8)
        assert studentized_range(np.array([edge]), k, df)[0] == pytest.approx(1 - confidence, abs=1e-10)


def test_an_error_from_outside_takes_the_place_of_that_within() -> None:
    units = frame({(k,): [k + 1.0, k + 2.0, k + 4.5] for k in range(3)})
    (own,) = one_ways(units, factors(3), 0.95)
    error = Stratum(name="build", groups=6, df=5.5, mean_square=4.0, component=None)
    (given,) = one_ways(units, factors(3), 0.95, errors={"a": error})
    half = studentized_range_quantile(0.95, 3, 5.5) * math.sqrt(4.0 / 3)
    assert [p.high for p in given.pairs] == pytest.approx([1 + half, 2 + half, 1 + half])
    assert given.pairs[0].high != own.pairs[0].high
