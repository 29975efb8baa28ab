import pytest

from gate.writing import amounts


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.1015, "s", "101.5 ms"), (1.5, "s", "1.500 s"), (2.5e-7, "s", "250.0 ns"), (3e-10, "s", "0.3000 ns"),
        (0.99999, "s", "1.000 s"), (2048, "B", "2.000 KiB"), (12, "B", "12.00 B"), (1234567, "", "1234567"),
        (0, "s", "0 s"), (3.5, "ops/s", "3.500 ops/s"), (1.5e12, "", "1.500e+12"),
    ],
)  # fmt: skip
def test_values_are_written_in_the_unit_that_reads_best(value: float, unit: str, text: str) -> None:
    assert amounts.format_value(value, unit) == text
    # values beside each other share a unit
    assert amounts.format_value(0.9, "s", like=1.1) == "0.9000 s"
