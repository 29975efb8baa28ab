"""What adapters have read, as results that can be used."""

import math
from typing import Any

import msgspec
import pytest

from gate.formats.parts.output import why_unusable
from gate.formats.parts.result import About, Aggregate, Failed, LeftOut, Measured, Result, aggregate, checked, numbered
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
    assert given(2, unit="s", scale=0.5, low=1, high=4, confidence=0.9, sd=2) == Aggregate(
        benchmark="a",
        metric="time",
        statistic="mean",
        value=1,
        unit="s",
        better="lower",
        low=0.5,
        high=2,
        confidence=0.9,
        sd=1,
        step=0.5,
    )
    plain = Aggregate(benchmark="a", metric="time", statistic="mean", value=2, better="lower", step=1)
    assert given(2, low=3, high=1, confidence=0.9, sd=math.nan) == plain
    assert given(2, low=1) == msgspec.structs.replace(plain, low=1)
    assert isinstance(given(None), Failed)
    assert isinstance(given(math.inf), Failed)


def test_what_is_there_twice_is_numbered() -> None:
    one = Aggregate(benchmark="a", metric="time", statistic="mean", value=1)
    other = Aggregate(benchmark="a", metric="time", statistic="p50", value=1)
    found = list(numbered([About(), one, other, one, other]))
    assert [each.labels for each in found if not isinstance(each, (About, LeftOut))] == [
        {},
        {},
        {"number": "2"},
        {"number": "2"},
    ]
