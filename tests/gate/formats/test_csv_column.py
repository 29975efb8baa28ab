from collections.abc import Mapping
from pathlib import Path

import pytest

from gate.formats import csv_column
from gate.formats.parts.output import OutputError, Series


def parse(data: bytes, value: str, units: Mapping[str, str | None], **columns: str) -> dict[str, Series]:
    return csv_column.parse(data, value, units, **columns)


@pytest.mark.parametrize(
    "data",
    [
        b"id,latency_ms,status\n1,2.5,200\n2,4,200\n",
        b"id,latency_ms,status\r\n1,2.5,200\r\n2,4,200\r\n",
        b"id,latency_ms,status\r1,2.5,200\r2,4,200\r",
        b"\xef\xbb\xbfid;latency_ms;status\n1;2.5;200\n2;4;200\n",
        b"id\tlatency_ms\n1\t2.5\n2\t4\n",
        b'\n"id;a",latency_ms\n"x\n\n;y""",2.5\n\n"2", 4 \n \n',
        b'"latency_ms"\n"2.5"\n4\n\n',
        b"latency_ms , status\n2.5,\xff\xfe\n4,\n",
        "größe,latency_ms\n1,2.5\n☃,4\n".encode(),
    ],
)
def test_a_column_is_read(data: bytes) -> None:
    assert parse(data, "latency_ms", {}) == {"latency": Series("s", [0.0025, 0.004])}


@pytest.mark.parametrize(
    ("column", "units", "expected"),
    [
        ("latency_ns", {}, {"latency": Series("s", [3 * 1e-9])}),
        ("latency_us", {}, {"latency": Series("s", [3 * 1e-6])}),
        ("latency_s", {}, {"latency": Series("s", [3.0])}),
        ("peak_bytes", {}, {"peak": Series("B", [3.0])}),
        ("peak_KiB", {}, {"peak": Series("B", [3072.0])}),
        ("latency", {}, {"time": Series("s", [3.0])}),
        ("_ms", {}, {"time": Series("s", [3 * 1e-3])}),
        ("latency_ms", {"p": None}, {"p": Series("s", [3 * 1e-3])}),
        ("latency_ms", {"p": "us"}, {"p": Series("s", [3 * 1e-6])}),
        ("latency_ms", {"p": "req"}, {"p": Series("req", [3.0])}),
        ("latency", {"p": None}, {"p": Series("", [3.0])}),
        ("latency_ms", {"a": "us", "latency": "us"}, {"latency": Series("s", [3 * 1e-6])}),
    ],
)
def test_the_metric_and_its_unit(column: str, units: dict[str, str | None], expected: dict[str, Series]) -> None:
    assert parse(f"{column}\n3\n".encode(), column, units) == expected


def test_rows_are_read_in_their_order_and_no_rows_give_nothing() -> None:
    assert parse(b"", "x", {}) == parse(b"\n\n", "x", {}) == parse(b"a,x\n", "x", {}) == {}
    data = b"id,latency_s\n" + b"".join(b"%d,%d.5\n" % (i, i) for i in range(20_000))
    assert parse(data, "latency_s", {}) == {"latency": Series("s", [i + 0.5 for i in range(20_000)])}


K6 = (Path(__file__).parents[2] / "data/printed/k6.csv").read_bytes()
OF_K6 = {"value": "metric_value", "success": "expected_response"}


def success(share: float) -> Series:
    return Series("", [share], "higher", whole=True)


@pytest.mark.parametrize(
    ("data", "column", "units", "expected"),
    [
        (
            b"metric,unit,value\nlatency,ms,5\nlatency,us,7\nsize,KiB,2\n",
            "value",
            {"latency": None, "size": None},
            {"latency": Series("s", [0.005, 7e-6]), "size": Series("B", [2048])},
        ),
        (b"unit,value\nmilliseconds,5\n,7\n", "value", {}, {"time": Series("s", [0.005, 7.0])}),
        (b"success,x\nOK,1\nKO,broken\n", "x", {}, {"time": Series("s", [1.0]), "success": success(0.5)}),
    ],
)
def test_what_a_header_line_tells(
    data: bytes, column: str, units: dict[str, str | None], expected: dict[str, Series]
) -> None:
    found = parse(data, column, units)
    assert found.keys() == expected.keys()
    for name, series in expected.items():
        assert (found[name].unit, found[name].better, found[name].whole) == (series.unit, series.better, series.whole)
        assert found[name].values == pytest.approx(series.values)


def test_columns_that_the_configuration_names() -> None:
    data = b"what;worked;in;x\na;1;ms;5\nb;1;ms;6\na;0;ms;7\na;1;us;8\n"
    found = parse(data, "x", {"a": None}, success="worked", unit="in", metric="what")
    assert found == {"a": Series("s", [0.005, 8 * 1e-6]), "success": success(2 / 3)}
    assert parse(b"x,success\n1,true\n2,false\n", "x", {}, success="") == {"time": Series("s", [1.0, 2.0])}
    # as k6 writes it, where failed requests are counted too
    found = parse(K6, units={"http_req_duration": "ms", "http_req_failed": None, "success": None}, **OF_K6)
    assert found == {
        "http_req_duration": Series("s", [0.2215]),
        "http_req_failed": Series("", [0, 1]),
        "success": success(0.5),
    }


IGNORED = 'success = "" in column ignores it'
METRICS = (
    "holds 5 metrics, which 'metric_name' names ('http_reqs', 'http_req_duration', 'http_req_failed', "
    "'iteration_duration', 'data_sent'): declare those to measure, as [benchmark.metric.NAME]"
)
AGAIN = "a second run was appended to the file; let each execution write a file of its own"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"a,b\n1,2\n", "the CSV has no column 'x': there are 'a, b'"),
        (b"a,x,x\n1,2,3\n", "the CSV has 2 columns 'x'"),
        (b"a,x\n1,2\n\n1,abc\n", "line 4 of the CSV, column 'x': 'abc' is not a number"),
        (b'a,x\n"\n\n",1\n1,\n', "line 5 of the CSV, column 'x': '' is not a number"),
        (b"x,a\n1,1\n,1\n", "line 3 of the CSV, column 'x': '' is not a number"),
        (b"a,x\n1,2\n1\n", "line 3 of the CSV has 1 cell, and the header line has 2"),
        (b"a,x\n0,1,5\n", "line 2 of the CSV has 3 cells, and the header line has 2"),
        (b"a,x\n0,1\n0,1,\n", "line 3 of the CSV has 3 cells, and the header line has 2"),
        (
            b"a,x\n1,23\n1,2",
            "the last line of the CSV, '1,2', has no newline at its end, so it may be cut off: end every line with a newline",
        ),
        (b"a,x\n1,nan\n", "line 2 of the CSV, column 'x': 'nan' is not a finite number"),
        (b"a,x\n1,1e999\n", "line 2 of the CSV, column 'x': '1e999' is not a finite number"),
        (b"a,x\n1,-1\n", "line 2 of the CSV, column 'x': '-1' is below 0"),
        (b"a,x\n1,1_000\n", "line 2 of the CSV, column 'x': '1_000' is not a number"),
        (b"a;x\n1;2,5\n", "line 2 of the CSV, column 'x': '2,5' is not a number"),
        (b'a,x\n1,"2\n3,4\n', "line 3 of the CSV: unexpected end of data"),
        ("a,x\n1,2\n".encode("utf-16"), "the CSV is UTF-16: write it as UTF-8"),
        # rows that do not go together
        (K6.replace(b"metric_value", b"x"), f"the column 'x' {METRICS}"),
        (b"success,x\nfalse,1\nfalse,2\n", "no values of 'time': all 2 requests failed"),
        (
            b"success,x\n17,1\n",
            f"line 2 of the CSV, column 'success': '17' is neither true or false nor an HTTP status; {IGNORED}",
        ),
        (
            b"success,x\n ,1\n",
            f"line 2 of the CSV, column 'success': a blank cell does not tell whether the request succeeded; {IGNORED}",
        ),
        (b"timeStamp,x\n1,70\n timeStamp,x\n2,74\n", f"line 3 of the CSV is the header line again: {AGAIN}"),
        (b"unit,x\nms,1\nKiB,1\n", "line 3 of the CSV: 'time' is in 'B' here and in 's' elsewhere"),
    ],
)
def test_a_bad_file_is_named(data: bytes, why: str) -> None:
    with pytest.raises(OutputError) as caught:
        parse(data, "x", {})
    assert str(caught.value) == why
