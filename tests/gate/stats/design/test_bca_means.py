import numpy as np
import pytest
from scipy import stats

from gate.stats.design.bca_means import LARGE, limits, mean_intervals
from tests.support.units_frame import factors, frame


def test_the_interval_is_that_of_scipys_bootstrap() -> None:
    y = np.random.default_rng(1).lognormal(0, 1, 80)
    low, high = limits(y, 0.95, np.random.default_rng(2))
    theirs = stats.bootstrap((y,), np.mean, n_resamples=40_000, method="BCa", rng=np.random.default_rng(3))
    width = theirs.confidence_interval.high - theirs.confidence_interval.low
    assert low == pytest.approx(theirs.confidence_interval.low, abs=0.06 * width)
    assert high == pytest.approx(theirs.confidence_interval.high, abs=0.06 * width)
    assert high - y.mean() > y.mean() - low, "skewed as the values are"


def test_each_treatment_has_its_mean_and_few_units_no_interval() -> None:
    found = mean_intervals(frame({(0,): [1.0, 2.0], (1,): [3.0, 3.0, 3.0], (2,): [1.0, 2.0, 6.0]}), factors(3), 0.9, 7)
    assert [(m.settings, m.units, m.mean) for m in found] == [
        ({"a": 0}, 2, 1.5),
        ({"a": 1}, 3, 3.0),
        ({"a": 2}, 3, 3.0),
    ]
    assert [m.low is None for m in found] == [True, True, False]
    again = mean_intervals(frame({(2,): [1.0, 2.0, 6.0]}), factors(3), 0.9, 7)
    assert again[0] == found[2], "whatever else was measured"


def test_of_very_many_units_students_interval_stands_for_it() -> None:
    y = np.random.default_rng(4).normal(10, 1, LARGE)
    low, high = limits(y, 0.95, np.random.default_rng(5))
    assert (low, high) == pytest.approx(stats.t.interval(0.95, LARGE - 1, y.mean(), stats.sem(y)))
