import json
import math
import time
from typing import Any

import msgspec
import pytest

from gate.formats.parts.output import OutputError, Series, Written, why_unusable, written
from gate.formats.parts.result import (
    About,
    FailedResult,
    LeftOut,
    ProcessValues,
    Result,
    ToolAggregate,
    aggregate,
    checked,
    told_apart,
)
from gate.formats.values import parse
from gate.model import Metric


@pytest.mark.parametrize(
    ("data", "declared", "expected"),
    [
        (b"", {}, {}),
        (b"\n \n", {"latency": "ms"}, {}),
        (b"0.1\n 2e-3 \r\n\n+3\n.5\n", {}, {"time": Series("s", [0.1, 0.002, 3.0, 0.5])}),
        # plain numbers belong to the only declared metric, in its unit
        (b"12.5\n", {"latency": "ms"}, {"latency": Series("s", [0.0125])}),
        (b"12.5\n", {"score": None}, {"score": Series("", [12.5])}),
        (b"12.5\n", {"time": None}, {"time": Series("s", [12.5])}),
        (b"1\n", {"a": None, "b": None}, {"time": Series("s", [1.0])}),
        # a declared unit holds for lines without one
        (
            b'{"metric":"latency","value":12.5}\n{"metric":"latency","value":1,"unit":"s"}\n7\n',
            {"latency": "ms"},
            {"latency": Series("s", [0.0125, 1.0, 0.007])},
        ),
    ],
)
def test_numbers_as_declared(data: bytes, declared: dict[str, str | None], expected: dict[str, Series]) -> None:
    assert parse(data, declared) == expected


def test_json_lines_name_their_metric_and_unit() -> None:
    data = b"""{"metric":"latency","value":12.5,"unit":"ms"}
{"metric":"memory","value":1,"unit":"KiB"}
{"metric":"latency","value":1,"unit":"s","extra":[1]}
{"metric":"requests","value":100}
{"metric":"time","value":2}
{"metric":"drift","value":-2.5}
"""
    assert parse(data, {}) == {
        "latency": Series("s", [0.0125, 1.0]), "memory": Series("B", [1024.0]), "requests": Series("", [100.0]),
        "time": Series("s", [2.0]), "drift": Series("", [-2.5]),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"abc", "'abc' is not a number"),
        (b"1_000", "'1_000' is not a number"),
        (b"0,5", "'0,5' is not a number"),
        (b"1.2 ms", "'1.2 ms' is not a number"),
        (b"true", "'true' is not a number"),
        (b"nan", "'nan' is not a finite number"),
        (b"-inf", "'-inf' is not a finite number"),
        (b"1e999", "'1e999' is not a finite number"),
        (b"1e200", "'1e200' is neither 0 nor of a size from 1e-60 to 1e+60"),
        (b"1e-99", "'1e-99' is neither 0 nor of a size from 1e-60 to 1e+60"),
        (b"-0.1", "'-0.1' is below 0"),
        (b"\xff\xfe1", "'\ufffd\ufffd1' is not a number"),
        (b"\x001", r"'\x001' is not a number"),
        (b"[1]", "'[1]' is not a number"),
        (b'{"value":1}', "missing required field metric"),
        (b'{"metric":"","value":1}', "the metric has no name"),
        (b'{"metric":"a"}', "missing required field value"),
        (b'{"metric":"a","value":true}', "Expected float, got bool - at $.value"),
        (b'{"metric":"a","value":"1"}', "Expected float, got str - at $.value"),
        (b'{"metric":"a","value":null}', "Expected float, got null - at $.value"),
        (b'{"metric":"a","value":NaN}', "malformed"),
        (b'{"metric":"a","value":1e999}', "out of range"),
        (b'{"metric":"a","value":1', "truncated"),
        (b'{"metric":"\xff","value":1}', "utf-8"),
        (b'{"metric":"time","value":1,"unit":"B"}', "'time' is in 'B' here and in 's' elsewhere"),
        (
            b'{"metric":"size","value":1,"unit":"kilobytes"}',
            '"kilobytes", which is not a known unit: did you mean "kB"?',
        ),
        (b'{"metric":"size","value":-1,"unit":"B"}', "is below 0"),
    ],
)
def test_a_bad_line_is_named(line: bytes, why: str) -> None:
    with pytest.raises(OutputError) as caught:
        parse(b"0.1\n\n" + line + b"\n0.2\n", {})
    text = str(caught.value)
    assert text.startswith("line 3 of the output: ")
    assert why in text
    assert "\n" not in text


def test_a_unit_that_is_not_the_declared_one_is_named_and_a_long_bad_line_is_cut() -> None:
    with pytest.raises(OutputError, match="line 1 of the output: 'x' is in 'B' here and in 's' elsewhere"):
        parse(b'{"metric":"x","value":1,"unit":"B"}', {"x": "ms"})
    with pytest.raises(OutputError) as caught:
        parse(b"x" * 1_000_000, {})
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("data", "end"),
    [
        (b"0.123\n0.1", "'0.1'"),
        (b"821618\n82161", "'82161'"),
        (b'{"metric":"a","value":1}\n{"metric":"a","value":2}', """'{"metric":"a","value":2}'"""),
    ],
)
def test_a_last_line_without_a_newline_may_be_cut_off(data: bytes, end: str) -> None:
    with pytest.raises(OutputError) as caught:
        parse(data, {})
    assert str(caught.value) == (
        f"the last line of the output, {end}, has no newline at its end, so it may be cut off: end every line with a "
        "newline"
    )
    assert parse(data + b"\n", {}) == parse(data + b"\n \t ", {})


@pytest.mark.endtoend
def test_a_million_values_take_a_few_seconds() -> None:
    plain = b"".join(b"%d.5\n" % i for i in range(1_000_000))
    lines = "".join(json.dumps({"metric": f"m{i % 3}", "value": i / 7, "unit": "ms"}) + "\n" for i in range(1_000_000))
    begin = time.process_time()
    assert len(parse(plain, {})["time"].values) == 1_000_000
    assert len(parse(lines.encode(), {})["m0"].values) == 333_334
    assert time.process_time() - begin < 10


# --- what adapters have read, in units as people write them -----------------------------------------------------------


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
    found = checked(ProcessValues(benchmark="a\n", metrics=odd, execution=3, labels={"n": "1\n"}))
    own = {"time": good, "other\\t": good}
    assert found == ProcessValues(benchmark="a\\n", metrics=own, execution=3, labels={"n": "1\\n"})
    found = checked(ProcessValues(benchmark="a", metrics={"other": good, "time": bad}, execution=3, labels={"n": "1"}))
    why = "nan in 'time' is not a finite number"
    assert found == FailedResult(benchmark="a", status=why, execution=3, labels={"n": "1"})
    assert isinstance(checked(ProcessValues(benchmark="a", metrics={})), FailedResult)
    warm = Metric(unit="s", better="lower", values=[1.0], dropped=[math.nan])
    assert checked(ProcessValues(benchmark="a", metrics={"time": warm})) == ProcessValues(
        benchmark="a", metrics={"time": good}
    )


def given(value: float | None, **more: Any) -> Result:
    return checked(aggregate("a", "time", "mean", value, **more))


def test_an_aggregate_has_an_interval_only_if_it_is_one() -> None:
    plain = ToolAggregate(benchmark="a", metric="time", statistic="mean", value=2, better="lower", step=1)
    assert given(2, low=3, high=1, confidence=0.9, sd=math.nan) == plain
    assert given(2, low=1) == msgspec.structs.replace(plain, low=1)
    halved = {"value": 1, "unit": "s", "low": 0.5, "high": 2, "confidence": 0.9, "sd": 1, "step": 0.5}
    whole = msgspec.structs.replace(plain, **halved)
    assert given(2, unit="s", scale=0.5, low=1, high=4, confidence=0.9, sd=2) == whole
    assert all(isinstance(given(value), FailedResult) for value in (None, math.inf))


def test_what_is_there_twice_is_numbered() -> None:
    one, other = (ToolAggregate(benchmark="a", metric="time", statistic=name, value=1) for name in ("mean", "p50"))
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
