"""Numbers that know the step of their last digit."""

import math

import pytest

from gate.model.digits import Digits, shortest_step, step_of


@pytest.mark.parametrize(
    ("text", "value", "step"),
    [
        ("12", 12.0, 1.0),
        ("12.0", 12.0, 0.1),
        ("100", 100.0, 1.0),
        ("0.2500", 0.25, 0.0001),
        ("1e3", 1000.0, 1000.0),
        ("1.50E-3", 0.0015, 0.00001),
        (b" -7.5\n", -7.5, 0.1),
        (".5", 0.5, 0.1),
        ("5.", 5.0, 1.0),
        ("1e-999", 0.0, 0.0),
        ("1e0000000", 1.0, 0.0),
        ("inf", math.inf, 1.0),
    ],
)
def test_the_last_digit_is_the_step(text: str | bytes, value: float, step: float) -> None:
    found = Digits(text)
    assert float(found) == value
    assert found.step == pytest.approx(step)
    with pytest.raises(ValueError, match="could not convert"):
        Digits("12 ns")


def test_another_unit_scales_the_step_and_nothing_else_keeps_it() -> None:
    found = Digits("12") * 1e-9
    assert float(found) == pytest.approx(1.2e-8)
    assert found.step == 1e-9
    assert (-1e3 * Digits("0.5")).step == 100
    assert not isinstance(Digits("12") + 1, Digits)
    assert step_of([Digits("12"), Digits("12.5")]) == 1
    assert step_of([12.5]) is None
    assert step_of([]) is None


def test_of_a_number_alone_the_fewest_digits_count() -> None:
    assert [Digits.shortest(value).step for value in (12.0, 0.25, 100.0)] == [1, 0.01, 1]
    assert Digits.shortest(0.1 + 2**-54).step < 1e-15
    assert shortest_step([12.0, 12.5, 12.0]) == 0.1
    # of more than two the rounding averages out; a unit of last place is none of few digits
    assert shortest_step([11.0, 12.0, 13.0]) == shortest_step([]) == 0
    assert shortest_step([12.0] * 200 + [13.0, 14.0]) == 0
    assert shortest_step([0.1, 0.1 + 2**-54]) < 1e-15
