import numpy as np
import pytest
from scipy import stats

from gate.stats.design.studentized import studentized_range, studentized_range_quantile


@pytest.mark.parametrize(("k", "df"), [(3, 1), (4, 12), (10, 2), (40, 40)])
def test_the_chance_is_that_of_scipy(k: int, df: int) -> None:
    q = np.array([0.0, 0.05, 1.0, 3.5, 6.0, 12.0])
    assert studentized_range(q, k, df) == pytest.approx(stats.studentized_range.sf(q, k, df), abs=1e-10)


@pytest.mark.parametrize("df", [1, 7, 300, 100_000])
def test_of_two_means_it_is_the_t_test(df: int) -> None:
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
    found = studentized_range(np.array([1e3, 1e200, np.inf]), 6, 50)
    assert found.tolist() == pytest.approx([0.0, 0.0, 0.0], abs=1e-15)
