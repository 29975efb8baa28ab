"""cargo-criterion's messages."""

from pathlib import Path

import pytest

from gate.model import UserError
from gate.results.reading import read, recognised
from gate.results.source import Source
from tests.support.mangled import read_or_refused

FILE = Path(__file__).parents[3] / "data/results/cargo_criterion/messages.jsonl"


def test_samples_are_iterations() -> None:
    found = read(Source("x", FILE))
    plain, bytewise = found.measured
    assert (plain.benchmark, list(plain.metrics)) == ("sum", ["time"])
    assert plain.metrics["time"].unit == "s"
    assert len(plain.metrics["time"].values) == 10
    assert plain.metrics["time"].values[0] == pytest.approx(171875 / 5930 * 1e-9, rel=1e-12)
    assert bytewise.metrics["time"].values[0] == pytest.approx(178555 / 47107 * 1e-9, rel=1e-12)
    rate, *others = found.aggregates
    assert (rate.benchmark, rate.metric, rate.unit, rate.better) == ("new/new/10", "throughput", "B/s", "higher")
    # of the mean that the file gives
    assert rate.value == pytest.approx(10 / 6.465353200464596e-9, rel=1e-9)
    assert not others


def test_other_lines_are_passed_over_and_a_bad_message_is_named() -> None:
    first = FILE.read_text().splitlines()[0]
    assert len(read(Source("x", None, f"   Compiling x\n{first}\n".encode())).measured) == 1
    source = Source("x", None, f"{first}\n{first[:300]}\n".encode())
    assert recognised(source) == "cargo_criterion"
    with pytest.raises(UserError, match=r"^x: cargo-criterion .*: line 2: "):
        read(source)


def test_values_without_iterations_fail() -> None:
    message = '{"reason":"benchmark-complete","id":"%s","iteration_count":%s,"measured_values":%s,"unit":"cycles"}\n'
    text = message % ("a", "[1]", "[1.0,2.0]") + message % ("b", "[0]", "[1.0]") + message % ("c", "[2]", "[6.0]")
    found = read(Source("x", None, text.encode()))
    assert [each.benchmark for each in found.failed] == ["a", "b"]
    assert found.measured[0].metrics["cycles"].values == [3]


def test_any_file_is_read_or_refused() -> None:
    assert read_or_refused("cargo_criterion", FILE.read_bytes())
