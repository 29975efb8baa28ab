"""Conditional power, against simulated Brownian motion, and the boundary that follows from it."""

import numpy as np
import pytest
from scipy import stats

from gate.stats.futility import FOUND, FUTILE, conditional_probability, largest_futile, z_of


@pytest.mark.parametrize(("z", "time"), [(0.0, 0.5), (-1.0, 1 / 3), (1.2, 2 / 3)])
def test_it_is_the_chance_to_cross_at_the_end(z: float, time: float) -> None:
    level = 0.0125
    rng = np.random.default_rng(3)
    critical = stats.norm.isf(level)
    drift = critical + stats.norm.ppf(FOUND)
    end = z * np.sqrt(time) + drift * (1 - time) + np.sqrt(1 - time) * rng.normal(0, 1, 200_000)
    assert conditional_probability(z, time, level) == pytest.approx(float((end > critical).mean()), abs=0.005)


@pytest.mark.parametrize("time", [1 / 3, 1 / 2, 2 / 3])
def test_below_the_boundary_a_case_is_given_up(time: float) -> None:
    edge = largest_futile(time, 0.001)
    assert conditional_probability(edge, time, 0.001) == pytest.approx(FUTILE)
    assert conditional_probability(edge - 0.1, time, 0.001) < FUTILE < conditional_probability(edge + 0.1, time, 0.001)


def test_scores_of_extreme_p_are_finite() -> None:
    assert z_of(0.025) == pytest.approx(1.959964, abs=1e-6)
    assert z_of(0.975) == pytest.approx(-1.959964, abs=1e-6)
    assert z_of(0.0) == 40.0 and z_of(1.0) == -40.0
