"""What Criterion prints."""

from pathlib import Path

import pytest

from gate.formats.parts.reading import Reading, read
from gate.formats.parts.source import Source

FILE = Path(__file__).parents[2] / "data/results/criterion/twice.txt"
INDENT = " " * 24


def made(text: str) -> Reading:
    return read(Source("x", None, text.encode()))


def test_estimates_with_their_intervals_and_throughput() -> None:
    found = read(Source("x", FILE)).aggregates
    assert [(each.benchmark, each.metric, each.unit, each.better) for each in found] == [
        ("sum", "time", "s", "lower"),
        ("new/new/10", "time", "s", "lower"),
        ("new/new/10", "throughput", "B/s", "higher"),
        ("new/new/1000", "time", "s", "lower"),
        ("new/new/1000", "throughput", "B/s", "higher"),
    ]
    assert (found[0].low, found[0].value, found[0].high) == pytest.approx((28.963e-9, 114.51e-9, 198.85e-9))
    assert (found[4].low, found[4].value, found[4].high) == pytest.approx(
        (980.08 * 1024**2, 1.5349 * 1024**3, 3.2506 * 1024**3)
    )
    assert {(each.statistic, each.confidence, each.sd) for each in found} == {("value", None, None)}


def test_long_names_colours_and_units() -> None:
    found = made(
        "Benchmarking a name that does not fit: Analyzing\n"
        "a name that does not fit\n"
        f"{INDENT}time:   [\x1b[2m3.0 µs\x1b[0m 4.0 µs 5.0 µs]\n"
        f"{INDENT}thrpt:  [1.0  elem/s 2.0 Kelem/s 3.0 Melem/s]\n"
        f"{INDENT}change: [-1.0% +2.0% +3.0%] (p = 0.50 > 0.05)\n"
        f"fast                    time:   [900.0 ps 950.0 ps 1.0 ns]\n"
        f"own                     time:   [3.0 cycles 4.0 cycles 5.0 cycles]\n"
        "fast                    time:   [1.0 ns 2.0 ns 3.0 ns]\n"
    ).aggregates
    assert [(each.benchmark, each.metric, each.unit, each.execution) for each in found] == [
        ("a name that does not fit", "time", "s", 0),
        ("a name that does not fit", "throughput", "1/s", 0),
        ("fast", "time", "s", 0),
        ("own", "cycles", "cycles", 0),
        ("fast", "time", "s", 1),
    ]
    assert [each.value for each in found] == pytest.approx([4e-6, 2e3, 950e-12, 4, 2e-9])
    assert (found[1].low, found[1].high) == pytest.approx((1, 3e6))


def test_a_panic_is_a_failure() -> None:
    found = made("a    time:   [1.0 ns 2.0 ns 3.0 ns]\nthread 'main' panicked at benches/b.rs:1:1:\nno such file\n")
    assert [(each.benchmark, each.status) for each in found.failed] == [(None, "a benchmark panicked")]
    assert len(found.aggregates) == 1
