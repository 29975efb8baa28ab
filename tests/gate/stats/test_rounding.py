"""Rounding of floats is no difference: against exact fractions."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from gate.model import Sample
from gate.model.bounds import Digits, shortest_step, step_of
from gate.stats.bootstrap import bootstrap_ratio
from gate.stats.centers import quantile_curve
from gate.stats.components import remember
from gate.stats.rounding import ROUNDING, same, smallest_step
from tests.support.samples import nested
from tests.support.seeds import some
from tests.support.warned import kinds


def literal_step(values: list[float]) -> float:
    """The smallest distance of neighbours that is more than 2^-40 of the larger one, pair by pair."""
    ordered = sorted(map(Fraction, values))
    wide = [b - a for a, b in pairwise(ordered) if b - a > Fraction(1, 2**40) * max(abs(a), abs(b))]
    return float(min(wide, default=Fraction(0)))


@pytest.mark.parametrize("seed", some(range(20), 8, pytest.mark.nightly))
def test_the_smallest_step_is_that_of_exact_fractions(seed: int) -> None:
    drawn = np.random.default_rng(seed)
    ticks = drawn.integers(-3, 6, 30) * 0.1 * 10.0 ** float(drawn.integers(-9, 9))
    values = ticks * (1 + drawn.integers(-3, 4, 30) * 2.0 ** -float(drawn.integers(36, 53)))
    found = smallest_step(np.sort(values))
    assert found == pytest.approx(literal_step(values.tolist()), rel=1e-12)
    assert same(values) == (max(values) - min(values) <= ROUNDING * max(map(abs, values)))


EDGE = 0.1 + 2.0**-44 - math.fmod(0.1 + 2.0**-44, 2.0**-43) + 2.0**-44
"""A value between two of 40 bits."""


@pytest.mark.parametrize("value", [0.1, 0.3, 1.0, 1e-7, 123456.789, EDGE])
def test_a_unit_of_last_place_is_no_step(value: float) -> None:
    near = np.sort([value, np.nextafter(value, 1e9), np.nextafter(value, -1e9)])
    assert smallest_step(near) == 0
    assert same(near)
    assert smallest_step(np.sort(np.concatenate((near, near * 2)))) == pytest.approx(value, rel=1e-9)
    assert smallest_step(np.array([0.0, 0.0])) == 0


def noisy(value: float, seed: int) -> Sample:
    """5 builds of 2 starts of 5 values that differ by rounding alone."""
    return nested(value * (1 + 2.0**-52 * np.random.default_rng(seed).integers(0, 2, (5, 2, 5))))


def test_rounding_has_no_bootstrap_no_band_and_no_memory() -> None:
    base, head = noisy(0.1, 1), noisy(0.2, 2)
    found = bootstrap_ratio(base, head, scheme="RRR", bca=False, seed=1, alphas=(0.05,), sessions=False, cap=2000)
    assert kinds(found.warnings) == ["no-spread"]
    assert [(each.low, each.high) for each in quantile_curve(base, head, [0.5])] == [(None, None)]
    assert remember(base, head, None, session="s", created="2026-11-20T09:00:00Z") is None


# --- numbers that know the step of their last digit ---


@pytest.mark.parametrize(
    ("text", "value", "step"),
    [
        ("12", 12.0, 1.0), ("12.0", 12.0, 0.1), ("100", 100.0, 1.0), ("0.2500", 0.25, 0.0001), ("1e3", 1000.0, 1000.0),
        ("1.50E-3", 0.0015, 0.00001), (b" -7.5\n", -7.5, 0.1), (".5", 0.5, 0.1), ("5.", 5.0, 1.0), ("1e-999", 0.0, 0.0),
        ("1e0000000", 1.0, 0.0), ("inf", math.inf, 1.0),
    ],
)  # fmt: skip
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
