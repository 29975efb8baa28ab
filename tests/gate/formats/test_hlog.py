"""Logs of HdrHistogram, as a file and as the values of an execution: tags, units, buckets, and what is damaged."""

import base64
import itertools
import struct
import tracemalloc
import zlib
from pathlib import Path

import pytest

from gate.formats import hlog
from gate.formats.hlog import decode, is_log
from gate.formats.parts.output import OutputError
from gate.model import UserError
from tests.support.foreign import of, of_file


def test_a_tag_is_a_benchmark_and_the_unit_is_read_from_the_maxima_that_are_shown() -> None:
    found = of_file("hlog/tags.hlog")
    # means of the three intervals by the Java library, whose own middle of a bucket differs by half a unit at most
    times, writes = of(found, "histogram"), of(found, "write")
    assert sum(times) / 60 == pytest.approx((1969152.0 + 2019328.0 + 2012774.4) / 3 * 1e-9, rel=1e-6)
    assert sum(writes) / 60 == pytest.approx((7838924.8 + 8049459.2 + 8023244.8) / 3 * 1e-9, rel=1e-6)
    assert max(times[:20]) == pytest.approx(2162687e-9, rel=0.005)
    # values of an interval are in a random order
    assert times[:20] not in (sorted(times[:20]), sorted(times[:20], reverse=True))
    assert sum(of(of_file("hlog/micros.hlog"), "histogram")) / 60 == pytest.approx(1982.9e-6, rel=1e-4)
    assert sum(of(of_file("hlog/plain.hlog"), "histogram", "value")) / 60 == pytest.approx(39.8667, rel=1e-5)


CAPTURED = Path(__file__).parents[2] / "data" / "hdr"
EMPTY = b"#[Histogram log format version 1.2]\n"


def packed(inner: bytes) -> bytes:
    return base64.b64encode(struct.pack(">ii", 0x1C849314, len(inner)) + inner)


def encoded(*counts: int, digits: int = 3, lowest: int = 1, cookie: int = 0x1C849313, shift: int = 0) -> bytes:
    payload = b"".join(map(leb, counts))
    inner = struct.pack(">iiiiqqd", cookie, len(payload), shift, digits, lowest, 2**40, 1.0) + payload
    return packed(zlib.compress(inner))


def leb(count: int) -> bytes:
    """ZigZag LEB128 as AbstractHistogram's ZigZagEncoding writes it, 9 bytes at most."""
    number = ((count << 1) ^ (count >> 63)) & (2**64 - 1)
    out: list[int] = []
    while len(out) < 8 and number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def line(*counts: int, tag: str = "", **shape: int) -> bytes:
    return (f"Tag={tag}," if tag else "").encode() + b"0.1,1.0,2.7," + encoded(*counts, **shape) + b"\n"


@pytest.mark.parametrize(("name", "chief"), [("java", "time"), ("python", "latency")])
def test_real_logs_hold_what_the_java_reader_finds(name: str, chief: str) -> None:
    expected: dict[str, list[float]] = {}
    for tag, value, count in map(str.split, (CAPTURED / f"{name}.txt").read_text().splitlines()):
        expected.setdefault(chief if tag == "-" else tag, []).extend([int(value) * 1e-9] * int(count))
    found = hlog.LIVE((CAPTURED / f"{name}.hlog").read_bytes(), dict.fromkeys(expected, "ns"))
    assert {metric: sorted(series.values) for metric, series in found.items()} == {
        metric: sorted(values) for metric, values in expected.items()
    }
    assert {series.unit for series in found.values()} == {"s"}


def test_values_of_an_interval_are_in_a_random_order_which_is_always_the_same() -> None:
    many = line(*[1] * 1000)
    [first, second] = (hlog.LIVE(EMPTY + many, {"time": "s"})["time"].values for _ in range(2))
    assert first == second
    assert first != sorted(first)
    assert sorted(first) == list(range(1000))
    ups = sum(a < b for a, b in itertools.pairwise(first))
    assert 400 < ups < 600
    both = hlog.LIVE(EMPTY + many + line(-2000, 3), {"time": "s"})["time"].values
    assert both[:1000] != sorted(both[:1000])
    assert sorted(both[:1000]) == list(range(1000))
    assert both[1000:] == [2000.0] * 3


def test_the_buckets_of_a_histogram() -> None:
    # 3 digits: 2048 values of width 1, then 1024 each of width 2, 4, ...
    assert list(decode(encoded(-2047, 5, 6, -1022, 7, 8))) == [
        (2047, 5),
        (2048 + 1, 6),
        (4094 + 1, 7),
        (4096 + 2, 8),
    ]
    assert list(decode(encoded(1, 1, lowest=1000))) == [(256, 1), (512 + 256, 1)]
    assert list(decode(encoded(2**62))) == [(0, 2**62)]
    assert list(decode(encoded())) == []


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"#[Histogram log format version 1.2]\n", True),
        (b"#[Logged with jHiccup version 2.0.7]\r\n#[Histogram log format version 1.2]\r\n", True),
        (b'"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"\n', True),
        (b"# mine\n0.127,1.007,2.769,HISTFAAAAEV42pNpm\n", True),
        (b"Tag=A,0.127,1.007,2.769,HISTFAAAAEV42pNpm\n", True),
        (b"0.127\n1.007\n", False),
        (b"# a comment\n0.127\n", False),
        (b"0.127,1.007,2.769\n", False),
        (b'{"metric": "a", "value": 1}\n', False),
        (b"", False),
    ],
)
def test_a_log_is_recognised(data: bytes, expected: bool) -> None:
    assert is_log(data) is expected


def test_tags_are_metrics_and_each_needs_its_unit() -> None:
    data = EMPTY + line(-5, 1) + line(-7, 2, tag="read") + line(-9, 1, tag="read")
    found = hlog.LIVE(data, {"read": "us", "time": "ms", "other": None})
    assert {name: sorted(each.values) for name, each in found.items()} == {"time": [0.005], "read": [7e-6, 7e-6, 9e-6]}
    assert hlog.LIVE(EMPTY + line(-5, 1), {"queue": ""})["queue"].values == [5.0]
    why = "its integers have no unit: declare one, usually nanoseconds: [benchmark.metric.{}] unit = "
    for log, units, place, name in (
        (data, {"time": "ms"}, 3, "read"),
        (EMPTY + line(1), {}, 2, "time"),
        (EMPTY + line(1, tag="a.b"), {"x": "s"}, 2, "'a.b'"),
    ):
        with pytest.raises(OutputError) as caught:
            hlog.LIVE(log, units)
        assert str(caught.value) == f'line {place} of the HdrHistogram log: {why.format(name)}"ns"'


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"0.1,1.0,2.7\n", "'0.1,1.0,2.7' is not an interval"),
        (b"\xff\n", "is not an interval"),
        (b"0.1,1.0,2.7,HISTFAA\n", "a damaged histogram"),
        (b"0.1,1.0,2.7," + encoded(1)[:-12] + b"\n", "a damaged histogram"),
        (b"0.1,1.0,2.7," + packed(b"abc") + b"\n", "a damaged histogram"),
        (line(1, cookie=0x1C849301), "not in encoding V2"),
        (line(1, shift=5), "that is shifted"),
        (line(1, digits=9), "its header makes no sense"),
        (line(1, lowest=0), "its header makes no sense"),
        (line(-(2**62), 1), "its counts do not end"),
        (line(-(2**62)), "its counts do not end"),
        (line(10_000_001), "more than 10000000 values"),
        (line(2**62), "more than 10000000 values"),
    ],
)
def test_a_bad_log_is_named_by_its_line(data: bytes, why: str) -> None:
    with pytest.raises(OutputError) as caught:
        hlog.LIVE(EMPTY + b"\n" + data, {"time": "ns"})
    text = str(caught.value)
    assert text.startswith("line 3 of the HdrHistogram log: ")
    assert why in text
    assert "\n" not in text


def header(length: int) -> bytes:
    return struct.pack(">iiiiqqd", 0x1C849313, length, 0, 3, 1, 2**40, 1.0)


def test_a_count_that_is_cut_off() -> None:
    with pytest.raises(OutputError, match="in the middle of a count"):
        list(decode(base64.b64encode(header(1) + b"\x80")))


def test_a_small_log_cannot_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hlog, "_MAX_ENCODED", 1 << 20)
    with pytest.raises(OutputError, match="cut off"):
        decode(packed(zlib.compress(header(1 << 24) + b"\0" * (1 << 24))))
    # nor can one of many buckets, which is refused before
    monkeypatch.setattr(hlog, "MOST", 1000)
    log = line(*[1] * 100_000)
    tracemalloc.start()
    with pytest.raises(OutputError, match="more than 1000 values"):
        hlog.LIVE(log, {"time": "s"})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000
    monkeypatch.setattr(hlog, "MOST", 30)
    with pytest.raises(UserError, match="line 6: more than 30 values: record for a shorter time, or fewer"):
        of_file("hlog/tags.hlog")
