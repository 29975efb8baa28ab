import math

import pytest

from gate.model.bounds import LARGEST, SMALLEST, out_of_bounds


@pytest.mark.parametrize("values", [[], [0.0], [-0.0, 1.0], [SMALLEST, LARGEST], [-SMALLEST, -LARGEST], [1.0] * 3])
def test_what_can_be_computed_with(values: list[float]) -> None:
    assert out_of_bounds(values) is None


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1.01e60, -1.01e60, 0.99e-60, -0.99e-60, 5e-324])
def test_what_cannot(value: float) -> None:
    for values in ([value], [1.0, value, 2.0], [value, 1.0], [1.0, value], [-1.0, 0.0, value]):
        assert out_of_bounds(values) is value


def test_what_is_within_keeps_its_powers_and_their_sums() -> None:
    assert math.isfinite(LARGEST**4 * 1e6) and SMALLEST**4 > 0
    assert math.isfinite((LARGEST / SMALLEST) ** 2 * 1e6) and (SMALLEST / LARGEST) ** 2 > 0
