"""Gatling's logs, text and binary, and the statistics of its reports."""

import json
import shutil
import struct
from pathlib import Path

import pytest

from gate.results.formats import gatling
from gate.results.reading import read
from gate.results.source import Source
from tests.support.foreign import aggregates, files, measured, of_text, reading, refused

FILES = [file for file in files("gatling") if file.is_file()]
RUN = "RUN\ta.B\tb\t1700000000000\t \t3.9.5\n"


def test_times_of_successful_requests_by_name_and_group() -> None:
    found = reading("gatling", "simulation-3.9.log")
    (home,) = measured(found, "home")
    # read off the file: 1795630031886 to ...2053 twice, ...1889 to ...2078, ...1891 to ...2084
    assert list(home.metrics["time"].values) == pytest.approx([0.167, 0.167, 0.189, 0.193])
    assert (home.metrics["time"].unit, home.labels) == ("s", {"type": "request"})
    assert home.metrics["error_rate"].values == [0]
    # 4 in the time from the first start, 1795630031886, to the last end, 1795630032144
    assert home.metrics["throughput"].values == pytest.approx([4 / 0.258])
    assert home.metrics["throughput"].better == "higher"
    (find,) = measured(found, "find it", group="search")
    assert list(find.metrics["time"].values) == pytest.approx([0.006, 0.007, 0.026, 0.012])
    assert (found.about.tool, found.about.created) == ("Gatling 3.9.5", "2026-11-25T18:07:11+00:00")


def test_a_group_is_the_sum_of_its_requests() -> None:
    (login,) = measured(reading("gatling", "simulation-3.9.log"), "login", type="group")
    assert list(login.metrics["time"].values) == pytest.approx([0.019, 0.029, 0.021, 0.047])


@pytest.mark.parametrize("file", ["simulation-3.9.log", "simulation-3.13.bin"])
def test_failed_requests_are_never_times(file: str) -> None:
    assert {(f.benchmark, f.status, f.labels.get("group")) for f in reading("gatling", file).failed} == {
        ("refused", "2 of 2 requests failed", None),
        ("page", "4 of 4 requests failed", "search / detail"),
        ("search / detail", "4 of 4 passes failed", None),
        ("search", "4 of 4 passes failed", None),
    }


def test_some_failed_requests_are_an_error_rate() -> None:
    text = RUN + "REQUEST\t\ta\t1000\t1500\tOK\t \nREQUEST\t\ta\t1000\t9000\tKO\tno\nREQUEST\t\ta\t2000\t3000\tOK\t \n"
    (found,) = of_text("gatling", text).measured
    assert list(found.metrics["time"].values) == [0.5, 1.0]
    assert found.metrics["error_rate"].values == pytest.approx([1 / 3])
    assert found.metrics["throughput"].values == [2 / 8]


def test_the_binary_log_of_3_12_and_later() -> None:
    found = reading("gatling", "simulation-3.13.bin")
    assert {(m.benchmark, m.labels.get("group")): len(m.metrics["time"].values) for m in found.measured} == {
        ("home", None): 4,
        ("größe 🐢", "login"): 4,
        ("a, b", "login"): 4,
        ("find it", "search"): 4,
        ("login", None): 4,
    }
    # Gatling says of this run: 109 ms at most, 2 ms at least, and 29 ms on average of the 16 that were OK
    times = [value for m in found.measured if m.labels["type"] == "request" for value in m.metrics["time"].values]
    assert (max(times), min(times)) == pytest.approx((0.109, 0.002))
    assert round(sum(times) / len(times) * 1000) == 29
    assert (found.about.tool, found.about.created) == ("Gatling 3.13.5", "2026-11-25T18:07:05+00:00")


def test_a_binary_log_longer_than_a_chunk_of_reading() -> None:
    request = struct.pack(">BiiiiBi", 1, 0, -1, 10, 30, 1, -2)
    text = b"a" * 3_000_000
    first = struct.pack(">Bii", 1, 0, 1) + struct.pack(">i1sb", 1, b"n", 0) + struct.pack(">iiB", 10, 20, 1)
    first += struct.pack(">ii", 2, len(text)) + text + b"\0"
    run = b"\0" + b"".join(struct.pack(">i", len(t)) + t + b"\0" for t in (b"3.12.0", b"a.B"))
    run += struct.pack(">qiii", 1_700_000_000_000, 0, 0, 0)
    (found,) = of_text("gatling", run + first + request * 200_000 + request[:7]).measured
    assert found.benchmark == "n"
    assert len(found.metrics["time"].values) == 200_001
    assert found.metrics["time"].values[-1] == 0.02


def test_a_binary_log_with_a_kind_of_record_that_is_not_known() -> None:
    data = (Path(FILES[0].parent) / "simulation-3.13.bin").read_bytes() + b"\x07"
    assert "a record of kind 7 at byte 1279" in refused("gatling", data)


@pytest.mark.parametrize(
    "lines",
    [
        ["RUN\ta.B\t\tb\t1700000000000\t \t2.0", "REQUEST\ts\t7\tg\tname\t1000\t1250\tOK\t "],
        ["RUN\ta.B\tb\t1700000000000\t \t3.0.0", "REQUEST\t7\tg\tname\t1000\t1250\tOK\t "],
        ["a.B\tb\tRUN\t1700000000000\t \t2.0", "s\t7\tREQUEST\tg\tname\t1000\t1100\t1200\t1250\tOK\t "],
    ],
)  # fmt: skip
def test_logs_of_old_versions(lines: list[str]) -> None:
    data = "\n".join([*lines, ""]).encode()
    assert gatling.recognises(Source("x", None, data))
    (found,) = of_text("gatling", data).measured
    assert (found.benchmark, found.labels["group"], list(found.metrics["time"].values)) == ("name", "g", [0.25])


def test_statistics_of_a_report() -> None:
    found = reading("gatling", "stats-3.9.json")
    times = aggregates(found, "home", "time")
    assert list(times) == ["mean", "min", "max", "p50", "p75", "p95", "p99"]
    assert (times["min"].value, times["max"].value, times["min"].count) == pytest.approx((0.167, 0.193, 4))
    assert aggregates(found, "home", "error_rate")["value"].value == 0
    assert aggregates(found, "home", "throughput")["mean"].better == "higher"
    assert aggregates(found, "find it", "time", group="search")["max"].value == pytest.approx(0.026)
    assert ("page", "4 of 4 requests failed") in [(f.benchmark, f.status) for f in found.failed]
    assert "All Requests" not in {a.benchmark for a in found.aggregates}


def test_the_statistics_of_all_requests() -> None:
    text = (FILES[0].parent / "stats-3.9.json").read_text()
    found = of_text("gatling", json.dumps(json.loads(text)["stats"]))
    assert aggregates(found, "All Requests", "time")["max"].value == pytest.approx(0.193)
    assert aggregates(found, "All Requests", "error_rate")["value"].value == pytest.approx(6 / 22)


def test_a_folder_of_a_report(tmp_path: Path) -> None:
    assert reading("gatling", "report").measured == reading("gatling", "simulation-3.13.bin").measured
    (tmp_path / "js").mkdir()
    shutil.copy(FILES[0].parent / "stats-3.9.json", tmp_path / "js" / "stats.json")
    assert read(Source("x", tmp_path)).aggregates == reading("gatling", "stats-3.9.json").aggregates
    assert not gatling.recognises(Source("x", tmp_path / "js"))
