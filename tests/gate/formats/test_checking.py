"""What adapters have read, as results that can be used, in units as people write them."""

import math
from typing import Any

import msgspec
import pytest

from gate.formats.parts.output import Written, why_unusable, written
from gate.formats.parts.result import (
    About,
    Aggregate,
    Failed,
    LeftOut,
    Measured,
    Result,
    aggregate,
    checked,
    told_apart,
)
from gate.model import Metric


@pytest.mark.parametrize(
    ("values", "unit", "expected"),
    [
        ([1.0, 2.0], "s", ""),
        ([0.0], "s", ""),
        ([-1.0], "", ""),
        ([], "s", "no values of 'a'"),
        ([1.0, -1.0], "s", "-1 in 'a' is below 0"),
        ([-1.0], "1/s", "-1 in 'a' is below 0"),
        ([1.0, math.nan], "s", "nan in 'a' is not a finite number"),
        ([math.inf], "B", "inf in 'a' is not a finite number"),
        ([1e99], "s", "1e+99 in 'a' is neither 0 nor of a size from 1e-60 to 1e+60"),
    ],
)
def test_faults(values: list[float], unit: str, expected: str) -> None:
    assert why_unusable("a", values, unit) == expected


def test_a_bad_metric_is_left_out_and_a_bad_chief_one_fails_the_benchmark() -> None:
    good, bad = Metric(unit="s", better="lower", values=[1.0]), Metric(unit="s", values=[math.nan])
    odd = {"time": good, "other\t": good, "bad": bad}
    found = checked(Measured(benchmark="a\n", metrics=odd, execution=3, labels={"n": "1\n"}))
    own = {"time": good, "other\\t": good}
    assert found == Measured(benchmark="a\\n", metrics=own, execution=3, labels={"n": "1\\n"})
    found = checked(Measured(benchmark="a", metrics={"other": good, "time": bad}, execution=3, labels={"n": "1"}))
    why = "nan in 'time' is not a finite number"
    assert found == Failed(benchmark="a", status=why, execution=3, labels={"n": "1"})
    assert isinstance(checked(Measured(benchmark="a", metrics={})), Failed)
    warm = Metric(unit="s", better="lower", values=[1.0], dropped=[math.nan])
    assert checked(Measured(benchmark="a", metrics={"time": warm})) == Measured(benchmark="a", metrics={"time": good})


def given(value: float | None, **more: Any) -> Result:
    return checked(aggregate("a", "time", "mean", value, **more))


def test_an_aggregate_has_an_interval_only_if_it_is_one() -> None:
    plain = Aggregate(benchmark="a", metric="time", statistic="mean", value=2, better="lower", step=1)
    assert given(2, low=3, high=1, confidence=0.9, sd=math.nan) == plain
    assert given(2, low=1) == msgspec.structs.replace(plain, low=1)
    halved = {"value": 1, "unit": "s", "low": 0.5, "high": 2, "confidence": 0.9, "sd": 1, "step": 0.5}
    whole = msgspec.structs.replace(plain, **halved)
    assert given(2, unit="s", scale=0.5, low=1, high=4, confidence=0.9, sd=2) == whole
    assert all(isinstance(given(value), Failed) for value in (None, math.inf))


def test_what_is_there_twice_is_numbered() -> None:
    one, other = (Aggregate(benchmark="a", metric="time", statistic=name, value=1) for name in ("mean", "p50"))
    found = told_apart([About(), one, other, one, other], "number")
    labels = [each.labels for each in found if not isinstance(each, (About, LeftOut))]
    assert labels == [{}, {}, {"number": "2"}, {"number": "2"}]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ns/iter", Written("s", 1e-9, metric="time")),
        ("ms", Written("s", 1e-3, metric="time")),
        ("seconds", Written("s", 1.0, metric="time")),
        ("µs/op", Written("s", 1e-6, metric="time")),
        ("us per call", Written("s", 1e-6, metric="time")),
        ("Megabytes", Written("B", 1e6)),
        ("bytes", Written("B")),
        ("KiB", Written("B", 1024.0)),
        ("ops/sec", Written("1/s", 1.0, "throughput")),
        ("iter/sec", Written("1/s", 1.0, "throughput")),
        ("x/s", Written("1/s", 1.0, "throughput")),
        ("requests per second", Written("1/s", 1.0, "throughput")),
        ("ops/ms", Written("1/s", 1000.0, "throughput")),
        ("Kops/s", Written("1/s", 1000.0, "throughput")),
        ("Mcycles", Written("cycles", 1e6)),
        ("Kallocs/op", Written("allocs/op", 1e3)),
        ("Ktriangles/s", Written("Ktriangles/s", 1.0, "throughput")),
        ("RPS", Written("1/s", 1.0, "throughput")),
        ("MB/s", Written("B/s", 1e6, "throughput")),
        ("MiB/s", Written("B/s", 1024.0**2, "throughput")),
        ("triangles/s", Written("triangles/s", 1.0, "throughput")),
        ("Percent", Written("%")),
        ("allocs/op", Written("allocs/op")),
        ("m", Written("m")),
        ("", Written("")),
    ],
)
def test_units(text: str, expected: Written) -> None:
    own = written(text)
    assert (own.unit, own.metric) == (expected.unit, expected.metric)
    assert own.scale == pytest.approx(expected.scale)
