"""The log ratio of rounds against scipy's paired t test, and the rule that pairs them beforehand."""

import math

import numpy as np
import pytest
from scipy import stats

from gate.stats.round_ratio import INDEPENDENT, KEYED, UNKNOWN, is_paired, least_correlation, rounds_of
from tests.support.samples import there, tops

BASE = [1.02, 1.10, 0.95, 1.01, 1.06]
HEAD = [1.10, 1.17, 1.05, 1.11, 1.12]


def test_it_is_the_paired_t_test_of_logarithms() -> None:
    found = there(rounds_of(tops(BASE), tops(HEAD)))
    test = stats.ttest_rel(np.log(HEAD), np.log(BASE))
    limits, wanted = found.pair(found.contrast, found.df).limits(0.05), test.confidence_interval(0.95)
    assert (limits.low, limits.high) == pytest.approx((math.exp(wanted.low), math.exp(wanted.high)))
    assert found.pair(found.contrast, found.df).p(1.0, "above") == pytest.approx(test.pvalue)
    assert found.correlation == pytest.approx(float(np.corrcoef(np.log(BASE), np.log(HEAD))[0, 1]))
    assert found.total == pytest.approx(float((np.log(BASE) + np.log(HEAD)).var(ddof=1)))


def test_rounds_of_one_side_are_left_out() -> None:
    # base has rounds 0 to 4, head 1 to 5
    found = there(rounds_of(tops(BASE), tops([*HEAD[1:], 9.0], first=1)))
    assert found.count == 4
    assert found.ratio == pytest.approx(float(np.mean(np.log(HEAD[1:]) - np.log(BASE[1:]))))


def test_what_has_no_logarithm_has_no_rounds() -> None:
    assert rounds_of(tops([0.0, 1.0]), tops([1.0, 1.0])) is None
    assert rounds_of(tops([1.0, 1.0]), tops([1.0, 1.0], first=2)) is None
    one = there(rounds_of(tops([1.0]), tops([1.1])))
    assert one.df == 0 and one.pair(one.contrast, one.df).logs.df is None


def test_a_coarse_timer_leaves_a_variance() -> None:
    # sides that move alike, in ticks of 0.1
    found = there(rounds_of(tops([1.0, 1.1, 1.2], gap=0.1), tops([1.0, 1.1, 1.2], gap=0.1)))
    steps = float(np.mean((0.1 / np.array([1.0, 1.1, 1.2])) ** 2))
    assert found.contrast == pytest.approx(2 * steps / 12)


def test_logarithms_of_quantiles_are_taken_as_they_are() -> None:
    plain = there(rounds_of(tops(BASE), tops(HEAD)))
    logs = there(rounds_of(tops(np.log(BASE), log=True), tops(np.log(HEAD), log=True)))
    assert (plain.ratio, plain.contrast) == pytest.approx((logs.ratio, logs.contrast))


def test_six_rounds_are_always_paired_and_fewer_where_it_pays() -> None:
    assert all(is_paired(6, 0.05, m, UNKNOWN) for m in (1, 20, 1000))
    assert not is_paired(1, 0.05, 1, KEYED)
    # 1 - (t(20/3)/t(4))^2 is 0.26 at 0.025 and 0.54 at 0.00125: t is 2.388, 2.776 and 4.583, 6.758
    assert is_paired(5, 0.05, 1, UNKNOWN)
    assert is_paired(5, 0.05, 20, KEYED)
    assert not is_paired(5, 0.05, 20, INDEPENDENT)
    assert pytest.approx(0.540, abs=0.001) == 1 - (4.5828 / 6.7583) ** 2


def test_a_remembered_correlation_counts_with_its_error() -> None:
    # Fisher's z of 0.8 is 1.0986, and 1.2816/sqrt(7) less is 0.6142
    assert least_correlation(0.8, 10) == pytest.approx(math.tanh(1.0986 - 1.2816 / math.sqrt(7)), abs=1e-4)
    assert least_correlation(0.9, 3) == 0.0
    assert least_correlation(-0.5, 40) == 0.0
