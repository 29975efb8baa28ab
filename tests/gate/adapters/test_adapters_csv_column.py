import pytest

from gate.adapters.csv_column import parse
from gate.adapters.values import OutputError, Series


@pytest.mark.parametrize(
    "data",
    [
        b"id,latency_ms,status\n1,2.5,200\n2,4,200\n",
        b"id,latency_ms,status\r\n1,2.5,200\r\n2,4,200",
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


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"a,b\n1,2\n", "the CSV has no column 'x': there are 'a, b'"),
        (b"a,x,x\n1,2,3\n", "the CSV has 2 columns 'x'"),
        (b"a,x\n1,2\n\n1,abc\n", "line 4 of the CSV, column 'x': 'abc' is not a number"),
        (b'a,x\n"\n\n",1\n1,\n', "line 5 of the CSV, column 'x': '' is not a number"),
        (b"x,a\n1,1\n,1\n", "line 3 of the CSV, column 'x': '' is not a number"),
        (b"a,x\n1,2\n1\n", "line 3 of the CSV: ends before the column 'x'"),
        (b"a,x\n1,nan\n", "line 2 of the CSV, column 'x': 'nan' is not a finite number"),
        (b"a,x\n1,1e999\n", "line 2 of the CSV, column 'x': '1e999' is not a finite number"),
        (b"a,x\n1,-1\n", "line 2 of the CSV, column 'x': '-1' is below 0, which no time is"),
        (b"a,x\n1,1_000\n", "line 2 of the CSV, column 'x': '1_000' is not a number"),
        (b"a;x\n1;2,5\n", "line 2 of the CSV, column 'x': '2,5' is not a number"),
        (b'a,x\n1,"2\n3,4\n', "line 3 of the CSV: unexpected end of data"),
        ("a,x\n1,2\n".encode("utf-16"), "the CSV is UTF-16: write it as UTF-8"),
    ],
)
def test_a_bad_file_is_named(data: bytes, why: str) -> None:
    with pytest.raises(OutputError) as caught:
        parse(data, "x", {})
    assert str(caught.value) == why


def test_no_rows_give_nothing() -> None:
    assert parse(b"", "x", {}) == {}
    assert parse(b"\n\n", "x", {}) == {}
    assert parse(b"a,x\n", "x", {}) == {}


def test_many_rows_are_read_in_their_order() -> None:
    data = b"id,latency_s\n" + b"".join(b"%d,%d.5\n" % (i, i) for i in range(100_000))
    assert parse(data, "latency_s", {}) == {"latency": Series("s", [i + 0.5 for i in range(100_000)])}
