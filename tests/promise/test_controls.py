"""Years of controls: how often they warn of a machine where nothing is wrong, and how soon they name a fault."""

import numpy as np
import numpy.typing as npt
import pytest

from gate.stats.levels import BEYOND, EXPECTED, e_value
from gate.stats.ratio import t_quantile
from gate.stats.rounding import Array

RUNS, CASES, BUILDS, STARTS = 80, 8, 6, 4
NOISES = ("normal", "skewed", "two modes", "first start", "correlated")
SIGNS = np.array([1, -1] * BUILDS)[:BUILDS]


def values(rng: np.random.Generator, noise: str) -> Array:
    """Draw the logarithms of base's starts of one year: run, case, build, start."""
    shape = (RUNS, CASES, BUILDS, STARTS)
    own: Array = 0.02 * rng.standard_normal(shape)
    if noise == "skewed":
        own = 0.05 * rng.exponential(size=shape)
    elif noise == "two modes":
        own = own / 10 + 0.05 * (rng.random(shape) < 0.3)
    elif noise == "first start":
        own[..., 0] += 0.1
    elif noise == "correlated":
        own = own / 4 + 0.02 * rng.standard_normal((RUNS, 1, BUILDS, STARTS))
    return own + 0.03 * rng.standard_normal((RUNS, CASES, BUILDS, 1))


def alarms(own: Array) -> npt.NDArray[np.bool_]:
    """Return which controls of each run show a regression: a t over rounds whose halves change places."""
    means = np.log(np.stack([np.exp(own[..., half::2]).mean(-1) for half in (0, 1)]))
    rounds = (means[1] - means[0]) * SIGNS
    error = rounds.std(-1, ddof=1) / np.sqrt(BUILDS)
    return np.asarray(rounds.mean(-1) > t_quantile(BUILDS - 1, EXPECTED) * error)


def beyond(alarmed: npt.NDArray[np.bool_]) -> bool:
    """Return whether the product over runs ever warns."""
    runs = [e_value(int(own.sum()), own.size) for own in alarmed]
    return bool(np.cumprod(runs).max() > BEYOND)


def false_warnings(noise: str, years: int, seed: int) -> float:
    """Return the share of years with a warning where nothing is wrong."""
    rng = np.random.default_rng([seed, NOISES.index(noise)])
    return float(np.mean([beyond(alarms(values(rng, noise))) for _ in range(years)]))


def named(rate: float, controls: int, cases: int, times: int, seed: int) -> float:
    """Return how often a fault that makes a share of independent controls alarm is named within so many controls."""
    rng = np.random.default_rng([seed, cases])
    return float(np.mean([beyond(rng.random((controls // cases, cases)) < rate) for _ in range(times)]))


@pytest.mark.promise
@pytest.mark.parametrize("noise", NOISES)
def test_few_years_in_a_thousand_warn_falsely(noise: str) -> None:
    assert false_warnings(noise, 1000, 1) <= 0.05


@pytest.mark.promise
@pytest.mark.parametrize("cases", [1, 3, 10])
def test_a_fault_is_named_within_150_controls(cases: int) -> None:
    assert named(0.10, 150, cases, 4000, 2) >= 0.9
