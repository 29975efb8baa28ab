"""Whether a response is analysed by its logarithm: where spread grows with level, and never without differences."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from gate.stats.design.scale import spread_grows
from tests.support.seeds import some
from tests.support.units_frame import factors

Array = npt.NDArray[np.float64]

SHAPES: dict[str, Callable[[np.random.Generator, tuple[int, int]], Array]] = {
    "normal": lambda rng, shape: 10 + rng.normal(size=shape),
    "lognormal": lambda rng, shape: np.exp(rng.normal(size=shape)),
    "very long tails": lambda rng, shape: 1 + rng.pareto(1.0, size=shape),
    "two modes": lambda rng, shape: 1 + 9.0 * (rng.random(shape) < 0.1) + 0.01 * rng.random(shape),
}


def units(y: Array) -> pd.DataFrame:
    k, n = y.shape
    return pd.DataFrame({"y": y.ravel(), "f0": np.repeat(np.arange(k), n)})


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("treatments", "count"), some([(4, 3), (6, 20), (2, 5), (8, 5)], 2))
def test_treatments_that_do_not_differ_stay_plain(shape: str, treatments: int, count: int) -> None:
    rng = np.random.default_rng(1)
    size = (treatments, count)
    found = sum(spread_grows(units(SHAPES[shape](rng, size)), factors(size[0])) for _ in range(100))
    assert found <= 1


@pytest.mark.parametrize("size", [(2, 5), (4, 5), (8, 3)])
def test_a_spread_in_percent_takes_logarithms(size: tuple[int, int]) -> None:
    rng = np.random.default_rng(2)
    level = np.geomspace(1, 30, size[0])[:, None]
    found = [spread_grows(units(level * (1 + 0.1 * rng.normal(size=size))), factors(size[0])) for _ in range(100)]
    assert np.mean(found) > 0.9


@pytest.mark.parametrize("size", [(2, 5), (4, 5), (8, 20)])
def test_one_spread_at_all_levels_stays_plain(size: tuple[int, int]) -> None:
    rng = np.random.default_rng(3)
    level = np.linspace(1, 30, size[0])[:, None]
    found = [spread_grows(units(level + 0.1 * rng.normal(size=size)), factors(size[0])) for _ in range(100)]
    assert np.mean(found) < 0.03


def test_levels_within_a_factor_of_three_stay_plain() -> None:
    rng = np.random.default_rng(4)
    level = np.linspace(1, 2.5, 4)[:, None]
    assert not spread_grows(units(level * (1 + 0.02 * rng.normal(size=(4, 50)))), factors(4))


def test_values_without_logarithm_or_spread_stay_plain() -> None:
    assert not spread_grows(units(np.array([[0.0, 1.0], [10.0, 30.0]])), factors(2))
    assert not spread_grows(units(np.array([[1.0, 1.0], [10.0, 10.0]])), factors(2))
    assert not spread_grows(units(np.array([[1.0], [10.0]])), factors(2))
