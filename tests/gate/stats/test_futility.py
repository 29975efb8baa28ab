"""Conditional power, against simulated Brownian motion, and the boundary that follows from it."""

import numpy as np
import pytest
from scipy import stats

from gate.stats.sequential import FOUND, FUTILE, largest_futile, z_of


@pytest.mark.parametrize("time", [1 / 3, 1 / 2, 2 / 3])
@pytest.mark.parametrize("level", [0.0125, 0.001])
def test_at_the_boundary_the_last_look_rejects_with_the_least_chance_that_is_worth_it(
    time: float, level: float
) -> None:
    edge = largest_futile(time, level)
    critical = stats.norm.isf(level)
    drift = critical + stats.norm.ppf(FOUND)
    # as a formula, and by Brownian motion from where the look is to the end
    chance = stats.norm.sf((critical - edge * np.sqrt(time) - drift * (1 - time)) / np.sqrt(1 - time))
    assert chance == pytest.approx(FUTILE)
    steps = np.random.default_rng(3).normal(0, 1, 200_000)
    end = edge * np.sqrt(time) + drift * (1 - time) + np.sqrt(1 - time) * steps
    assert float((end > critical).mean()) == pytest.approx(FUTILE, abs=0.005)


def test_scores_of_extreme_p_are_finite() -> None:
    assert z_of(0.025) == pytest.approx(1.959964, abs=1e-6)
    assert z_of(0.975) == pytest.approx(-1.959964, abs=1e-6)
    assert z_of(0.0) == 40.0 and z_of(1.0) == -40.0
