"""The interval of a proportion."""

import pytest
from scipy.stats import binom, binomtest

from gate.stats.proportion import clopper_pearson


@pytest.mark.parametrize(("count", "of"), [(0, 1), (0, 4), (1, 4), (4, 4), (3, 60), (17, 300), (0, 59)])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_it_is_scipys_exact_interval(count: int, of: int, confidence: float) -> None:
    found = clopper_pearson(count, of, confidence)
    expected = binomtest(count, of).proportion_ci(confidence, "exact")
    assert found.low == pytest.approx(expected.low)
    assert found.high == pytest.approx(expected.high)
    assert (found.count, found.of) == (count, of)


def test_of_nothing_nothing_is_known() -> None:
    found = clopper_pearson(0, 0)
    assert (found.low, found.high) == (0, 1)


def test_it_covers_every_share() -> None:
    for share in (0.01, 0.025, 0.1, 0.5):
        inside = [k for k in range(21) if clopper_pearson(k, 20).low <= share <= clopper_pearson(k, 20).high]
        assert sum(binom.pmf(k, 20, share) for k in inside) >= 0.95
