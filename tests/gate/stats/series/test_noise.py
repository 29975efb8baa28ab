from __future__ import annotations

import math

import numpy as np
import pytest

from gate.stats.series.noise import level_noise, moderated, outlying
from tests.support.histories import Noise, days, step


def test_the_noise_of_levels_is_that_of_days() -> None:
    rng = np.random.default_rng(1)
    found = [level_noise(rng.standard_normal(250) * 0.02) for _ in range(50)]
    assert np.median([each.short for each in found]) == pytest.approx(0.02**2, rel=0.1)
    # the largest of several estimates is above the truth, never much below it
    assert 1.0 < np.median([each.variance for each in found]) / 0.02**2 < 1.7


def test_changes_are_no_noise() -> None:
    rng = np.random.default_rng(2)
    levels = rng.standard_normal(250) * 0.02
    plain, stepped = level_noise(levels), level_noise(levels + step(249, 100, 0.5))
    assert stepped.short == pytest.approx(plain.short, rel=0.05)
    assert stepped.variance < 4 * plain.variance


def test_days_that_have_something_in_common_average_out_slowly() -> None:
    rng = np.random.default_rng(3)
    found = [level_noise(days(rng, 250, Noise(slow=0.6))).variance for _ in range(50)]
    # the long-run variance of an autoregression is 1.6 / 0.4 times that of a day
    assert 2.0 < np.median(found) / 0.02**2 < 5.0


def test_few_levels_say_nothing() -> None:
    assert math.isinf(level_noise(np.array([1.0, 1.1, 0.9])).variance)


def test_outliers_are_found_and_steps_are_not() -> None:
    rng = np.random.default_rng(4)
    levels = rng.standard_normal(100) * 0.01 + step(99, 50, 0.3)
    levels[[20, 70]] += 0.3
    assert np.flatnonzero(outlying(levels)).tolist() == [20, 70]


def test_moderation_is_that_of_limma() -> None:
    """Twin: the estimates of fitFDist (Smyth 2004, section 6.2), written with scipy's own functions."""
    from scipy.optimize import brentq
    from scipy.special import digamma, polygamma

    rng = np.random.default_rng(5)
    builds = rng.integers(5, 13, 200)
    df = (builds - 1).astype(np.float64)
    true = 0.02**2 * 8 / rng.chisquare(8, 200)
    variance = true * rng.chisquare(df) / df / builds
    found = moderated(variance, df, builds.astype(float))
    s2 = variance * builds
    e = np.log(s2) - digamma(df / 2) + np.log(df / 2)
    rest = e.var(ddof=1) - polygamma(1, df / 2).mean()
    d0 = 2 * brentq(lambda x: polygamma(1, x) - rest, 1e-3, 1e4)
    s0 = math.exp(e.mean() + digamma(d0 / 2) - math.log(d0 / 2))
    assert found.df == pytest.approx(df + d0)
    assert found.variance == pytest.approx((d0 * s0 + df * s2) / (d0 + df) / builds)


def test_a_run_of_one_build_gets_the_variance_of_the_others() -> None:
    variance = np.array([1e-4, 1e-4, 1e-4, np.nan, 0.0])
    found = moderated(variance, np.array([4.0, 4, 4, 0, 0]), np.array([5.0, 5, 5, 1, 5]))
    assert found.variance[3] == pytest.approx(5e-4)
    assert found.variance[4] < 1e-11
    assert np.isinf(moderated(np.array([np.nan]), np.zeros(1), np.ones(1)).variance[0])
