"""critcmp's exports: the estimates of one baseline."""

import json
from pathlib import Path

import pytest

from gate.formats.parts.reading import columns, read
from gate.formats.parts.source import Source

FILE = Path(__file__).parents[2] / "data/results/critcmp/after.json"


def test_estimates_with_their_intervals() -> None:
    found = read(Source("x", FILE))
    assert [label for label, _ in columns(found)] == ["after"]
    assert [(each.benchmark, each.metric, each.statistic) for each in found.aggregates] == [
        ("new/new/10", "time", "mean"),
        ("new/new/10", "time", "median"),
        ("new/new/10", "throughput", "mean"),
        ("sum", "time", "mean"),
        ("sum", "time", "median"),
    ]
    mean, median, rate, *_ = found.aggregates
    assert (mean.value, mean.low, mean.high) == pytest.approx(
        (3.7901673673781793e-9, 3.7895906368007553e-9, 3.79112650109607e-9), rel=1e-12
    )
    assert (mean.unit, mean.better, mean.confidence) == ("s", "lower", 0.95)
    assert median.value == pytest.approx(3.7896463373655913e-9, rel=1e-12)
    # critcmp prints 2.5 GB/sec, in units of 1024
    assert rate.value / 1024**3 == pytest.approx(2.5, abs=0.05)
    assert (rate.unit, rate.better) == ("B/s", "higher")


def test_a_benchmark_without_estimates_fails_alone() -> None:
    export = json.loads(FILE.read_text())
    del export["benchmarks"]["sum"]["criterion_estimates_v1"]
    export["benchmarks"]["new/new/10"]["criterion_estimates_v1"]["mean"]["point_estimate"] = -1
    found = read(Source("x", None, json.dumps(export).encode()))
    assert [(each.benchmark, each.status) for each in found.failed] == [
        ("new/new/10", "mean: -1e-09 in 'time' is below 0"),
        ("sum", "it has no estimates"),
    ]
