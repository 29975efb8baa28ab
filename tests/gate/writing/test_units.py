import math

import pytest

from gate.model.bounds import LARGEST, SMALLEST, out_of_bounds
from gate.writing import units
from gate.writing.units import Duration, Quantity, Share, to_base


@pytest.mark.parametrize(
    ("raw", "value"), [("3%", 0.03), (0.03, 0.03), ("0.5 %", 0.005), ("0", 0.0), ("0.1", 0.1), ("150%", 1.5)]
)
def test_shares(raw: object, value: float) -> None:
    assert Share.parse(raw) == value


@pytest.mark.parametrize(
    ("raw", "seconds", "text"),
    [
        ("15m", 900, "15m"), ("1h30m", 5400, "90m"), ("90s", 90, "90s"), (90, 90, "90s"), ("1.5h", 5400, "90m"),
        ("250ms", 0.25, "0.25s"), ("2 h", 7200, "2h"),
    ],
)  # fmt: skip
def test_durations(raw: object, seconds: float, text: str) -> None:
    assert Duration.parse(raw) == seconds
    assert str(Duration.parse(raw)) == text
    assert Duration.parse(text) == seconds


@pytest.mark.parametrize(
    ("raw", "value", "unit"),
    [
        ("1us", 1e-6, "s"), ("1 µs", 1e-6, "s"), ("1 μs", 1e-6, "s"), ("4KiB", 4096, "B"), ("256MB", 256e6, "B"),
        ("100", 100, ""), (7, 7, ""), ("2 ops", 2, "ops"),
    ],
)  # fmt: skip
def test_quantities(raw: object, value: float, unit: str) -> None:
    quantity = Quantity.parse(raw)
    assert quantity.value == pytest.approx(value)
    assert quantity.unit == unit
    assert Quantity.parse(str(quantity)) == quantity


@pytest.mark.parametrize(
    ("kind", "raws"),
    [
        (Share, ["3", 3, 1, "-1%", "x", "", "3%%", "1e999%", True, None, [1], float("nan")]),
        (Duration, ["15", "m", "0s", "-1s", "3 parsecs", "1h x", 0, True, None]),
        (Quantity, ["-1us", "us", True, None, [1], "1usec", "1US", "3 hours", "1 seconds"]),
    ],
)
def test_what_is_none(kind: type[Share | Duration | Quantity], raws: list[object]) -> None:
    for raw in raws:
        with pytest.raises(ValueError, match=r".+"):
            kind.parse(raw)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0312, "+3.1%"), (-0.5, "-50.0%"), (0.00042, "+0.042%"), (0.0, "+0.0%"), (-1e-9, "0.000%"), (12.5, "+1250%"),
        (0.00951, "+1.0%"),
    ],
)  # fmt: skip
def test_shares_are_written_with_two_digits_that_matter(share: float, text: str) -> None:
    assert units.format_share(share, sign=True).lstrip("+") == text.lstrip("+")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.85, "850 ms"), (3.25, "3.2 s"), (9.99, "10 s"), (59.7, "1 min"), (200, "3 min 20 s"), (3900, "1 h 05 min")],
)
def test_durations_are_written_for_people(seconds: float, text: str) -> None:
    assert units.format_duration(seconds) == text


@pytest.mark.parametrize(
    ("confidence", "text"),
    [
        (0.95, "95%"), (0.99, "99%"), (0.9976, "99.76%"), (0.99933, "99.933%"), (1 - 2.1e-7, "99.999979%"),
        (1.0, "100%"), (0.5, "50%"),
    ],
)  # fmt: skip
def test_a_confidence_is_never_rounded_to_certainty(confidence: float, text: str) -> None:
    assert units.format_confidence(confidence) == text


@pytest.mark.parametrize(
    ("unit", "base"),
    [
        ("Kcycles", ("cycles", 1e3)),
        ("Mcycles/B", ("cycles/B", 1e6)),
        ("K instructions", ("instructions", 1e3)),
        ("Gelem/s", ("elem/s", 1e9)),
        ("GFLOP/s", ("FLOP/s", 1e9)),
        ("ps", ("s", 1e-12)),
        # words of their own
        ("Tasks", ("Tasks", 1.0)),
        ("Kelvin", ("Kelvin", 1.0)),
        ("Misses", ("Misses", 1.0)),
        ("cycles", ("cycles", 1.0)),
        ("Min", ("Min", 1.0)),
    ],
)
def test_prefixes_of_counts_are_taken_away(unit: str, base: tuple[str, float]) -> None:
    assert to_base(unit) == base


# --- bounds -----------------------------------------------------------------------------------------------------------


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
