"""Units, limits and ticks that people can read."""

from __future__ import annotations

import numpy as np
import pytest

from gate.plots.scales import Axis, limits, log_ticks, measure, ticks


def labels(low: float, high: float, count: int = 6) -> list[str]:
    return [tick.label for tick in ticks(low, high, count)]


def test_ticks_are_round_and_within() -> None:
    assert labels(0.93, 1.11) == ["0.95", "1.00", "1.05", "1.10"]
    assert labels(-3.4, 7.9) == ["-2", "0", "2", "4", "6"]
    assert labels(96, 111) == ["97.5", "100.0", "102.5", "105.0", "107.5", "110.0"]


def test_close_numbers_get_digits_enough_to_differ() -> None:
    found = labels(1.0000001, 1.0000008)
    assert len(set(found)) == len(found) > 2


def test_log_ticks_are_as_dense_as_there_is_room() -> None:
    assert [t.label for t in log_ticks(0, 1, 6)] == ["1", "2", "5", "10"]
    assert [t.label for t in log_ticks(-3.2, 2, 6)] == ["0.001", "0.01", "0.1", "1", "10", "100"]
    assert len(log_ticks(-100, 100, 6)) <= 6


def test_values_choose_their_unit_and_not_a_few_outliers() -> None:
    values = np.array([0.1] * 50 + [40.0])
    found = measure(values, "s")
    assert found is not None
    assert (found.unit, found.factor, found.log) == ("ms", 1e-3, False)


@pytest.mark.parametrize(
    ("size", "unit", "name"),
    [(1e9, "count", "count ×10⁹"), (1e-50, "", "×10⁻⁵¹"), (1e50, "s", "s ×10⁴⁸"), (7.0, "req/s", "req/s")],
)
def test_huge_and_tiny_numbers_name_their_power(size: float, unit: str, name: str) -> None:
    found = measure(np.array([1.0, 1.5]) * size, unit)
    assert found is not None
    assert found.unit == name
    assert 1 <= abs(float(found.of(np.array([size]))[0])) < 1e5


def test_values_that_are_all_0_have_no_axis() -> None:
    assert measure(np.array([0.0, 0.0]), "s") is None


def test_orders_of_magnitude_need_a_log_axis_and_outliers_do_not() -> None:
    body = np.geomspace(1, 1000, 100)
    assert measure(body, "") is not None
    assert getattr(measure(body, ""), "log", None) is True
    assert getattr(measure(-body, ""), "log", None) is False
    assert getattr(measure(np.append(np.linspace(1, 2, 99), 5000.0), ""), "log", None) is False


def test_an_outlier_does_not_flatten_the_rest_and_is_counted() -> None:
    body = np.linspace(10, 11, 40)
    found = limits(np.append(body, 500.0), [])
    assert found.high < 15
    assert found.low < 10
    assert found.beyond == 1


def test_a_second_mode_is_no_outlier() -> None:
    found = limits(np.append(np.linspace(10, 11, 90), np.linspace(30, 31, 10)), [])
    assert found.high > 31
    assert found.beyond == 0


def test_further_numbers_are_held_unless_far_out() -> None:
    numbers = np.linspace(10, 11, 40)
    assert limits(numbers, [11.5]).high > 11.5
    assert limits(numbers, [100.0]).high < 12


def test_an_axis_holds_numbers_within_its_ends() -> None:
    axis = Axis(0, 10, 100, 0)
    assert [axis.at(v) for v in (0, 5, 10, 11, -1)] == [100, 50, 0, 0, 100]
    assert axis.all(np.array([2.5, 99.0])) == [75, 0]


def test_ends_that_are_one_number_have_no_ticks() -> None:
    assert ticks(3.0, 3.0, 5) == []
