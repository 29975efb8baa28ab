import math

import numpy as np
import pytest

from gate.stats.rounding import Array
from gate.stats.series import Steps, level_variance, moderated, outlying, path, summed
from tests.support.histories import Noise, days, flat, step, steps_of


def test_the_noise_of_levels_is_that_of_days_without_changes() -> None:
    rng = np.random.default_rng(1)
    alone = [level_variance(rng.standard_normal(250) * 0.02) for _ in range(50)]
    # the largest of several estimates is above the truth, never much below it
    assert 1.0 < np.median(alone) / 0.02**2 < 1.7
    common = [level_variance(days(rng, 250, Noise(slow=0.6))) for _ in range(50)]
    # the long-run variance of an autoregression is 1.6 / 0.4 times that of a day
    assert 2.0 < np.median(common) / 0.02**2 < 5.0
    assert math.isinf(level_variance(np.array([1.0, 1.1, 0.9])))
    # changes are no noise
    rng = np.random.default_rng(2)
    stepped = rng.standard_normal(250) * 0.02
    assert level_variance(stepped + step(249, 100, 0.5)) < 4 * level_variance(stepped)
    # outliers are found, and steps are none
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
    found, degrees = moderated(variance, df, builds.astype(float))
    s2 = variance * builds
    e = np.log(s2) - digamma(df / 2) + np.log(df / 2)
    rest = e.var(ddof=1) - polygamma(1, df / 2).mean()
    d0 = 2 * brentq(lambda x: polygamma(1, x) - rest, 1e-3, 1e4)
    s0 = math.exp(e.mean() + digamma(d0 / 2) - math.log(d0 / 2))
    assert degrees == pytest.approx(df + d0)
    assert found == pytest.approx((d0 * s0 + df * s2) / (d0 + df) / builds)


def test_a_run_of_one_build_gets_the_variance_of_the_others() -> None:
    variance = np.array([1e-4, 1e-4, 1e-4, np.nan, 0.0])
    found, _ = moderated(variance, np.array([4.0, 4, 4, 0, 0]), np.array([5.0, 5, 5, 1, 5]))
    assert found[3] == pytest.approx(5e-4)
    assert found[4] < 1e-11
    assert np.isinf(moderated(np.array([np.nan]), np.zeros(1), np.ones(1))[0][0])


def test_a_sum_without_a_ratio_has_no_bounds() -> None:
    steps = steps_of(np.random.default_rng(7), flat(20), Noise())
    steps.variance[4] = np.inf
    found = summed(steps, 0, 19)
    assert (found.low, found.high) == (-np.inf, np.inf)
    assert np.isfinite(found.estimate) and np.isfinite(summed(steps, 5, 19).low)


def literally(steps: Steps) -> tuple[Array, Array]:
    """Dense normal equations of all commits and of an offset each machine, and their pseudo-inverse."""
    commits = steps.count + 1
    size = commits + len(steps.machines)
    matrix, right = np.zeros((size, size)), np.zeros(size)

    def add(row: Array, value: float, weight: float) -> None:
        nonlocal matrix, right
        matrix, right = matrix + weight * np.outer(row, row), right + weight * value * row

    for place in range(steps.count):
        row = np.zeros(size)
        row[place], row[place + 1] = -1, 1
        add(row, steps.ratio[place], 1 / steps.variance[place])
        for index, own in enumerate(steps.machines):
            row = np.zeros(size)
            row[place] = row[place + 1] = 0.5
            row[commits + index] = 1
            add(row, own.level[place], own.count[place] / own.variance)
    inverse = np.linalg.pinv(matrix, rcond=1e-12)
    about = np.eye(commits, size)
    about[:, 0] -= 1
    return about @ inverse @ right, np.sqrt(np.diag(about @ inverse @ about.T))


@pytest.mark.parametrize("machines", [(), (25,), (12, 30)])
def test_the_levels_are_generalised_least_squares(machines: tuple[int, ...]) -> None:
    steps = steps_of(np.random.default_rng(1), step(40, 20, 0.1), Noise(outliers=0.05), machines=machines)
    found = path(steps)
    level, sd = literally(steps)
    assert found.level == pytest.approx(level, abs=5e-5)
    assert found.high - found.low == pytest.approx(2 * 1.959964 * sd, rel=1e-3, abs=1e-5)
    assert set(found.piece.tolist()) == {0}


def test_levels_keep_the_error_from_growing() -> None:
    steps = steps_of(np.random.default_rng(3), flat(200), Noise())
    alone = Steps(steps.ratio, steps.variance, steps.df, [])
    together, apart = path(steps), path(alone)
    assert (together.high - together.low).max() < 0.1
    assert apart.high[-1] - apart.low[-1] > 0.4


def test_a_gap_is_bridged_by_levels_of_one_machine_only() -> None:
    steps = steps_of(np.random.default_rng(4), flat(60), Noise(), machines=(30,))
    variance = steps.variance.copy()
    variance[10] = np.inf
    for own in steps.machines:
        own.count[10] = 0
    same = path(Steps(steps.ratio, variance, steps.df, steps.machines))
    assert set(same.piece.tolist()) == {0}
    variance[30] = np.inf
    for own in steps.machines:
        own.count[30] = 0
    other = path(Steps(steps.ratio, variance, steps.df, steps.machines))
    assert other.piece.tolist() == [0] * 31 + [1] * 30


def test_a_commit_of_which_nothing_is_known_has_no_level() -> None:
    steps = steps_of(np.random.default_rng(5), flat(30), Noise())
    variance = np.where(np.arange(30) < 10, np.inf, steps.variance)
    found = path(Steps(steps.ratio, variance, steps.df, []))
    assert np.isnan(found.level[:10]).all() and np.isfinite(found.level[10:]).all()
    assert found.level[10] == 0
