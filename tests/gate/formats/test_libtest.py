"""Rust's own bench lines, as text and as JSON."""

from functools import partial
from pathlib import Path

import pytest

from gate.formats.parts.reading import read
from gate.formats.parts.source import Source
from tests.support.foreign import of_text

made = partial(of_text, "libtest")
DATA = Path(__file__).parents[2] / "data/results/libtest"


@pytest.mark.parametrize(
    ("name", "long", "short", "rate"),
    [
        ("text.txt", 16374.31e-9, 138.95e-9, 724e6),
        ("events.jsonl", 16451.92950819672e-9, 139.19149167270092e-9, 719e6),
    ],
)
def test_medians_throughput_and_failures(name: str, long: float, short: float, rate: float) -> None:
    found = read(Source("x", DATA / name))
    assert [(each.benchmark, each.metric, each.statistic, each.unit, each.better) for each in found.aggregates] == [
        ("tests::long", "time", "median", "s", "lower"),
        ("tests::short", "time", "median", "s", "lower"),
        ("tests::short", "throughput", "median", "B/s", "higher"),
    ]
    assert [each.value for each in found.aggregates] == pytest.approx([long, short, rate])
    assert {(each.low, each.high, each.sd) for each in found.aggregates} == {(None, None, None)}
    assert [each.benchmark for each in found.failed] == ["tests::wrong"]


def test_lines_within_other_text_and_a_benchmark_that_comes_again() -> None:
    line = "test a b ... bench:   1,234,567 ns/iter (+/- 89)\n"
    found = made(f"# Results\n\n//! {line}2026-01-01T00:00:00Z {line}test t ... ok\n").aggregates
    assert [(each.benchmark, each.execution) for each in found] == [("a b", 0), ("a b", 1)]
    assert [each.value for each in found] == pytest.approx([1234567e-9] * 2)
