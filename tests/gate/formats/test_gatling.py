"""Gatling's log and the statistics of its reports."""

import json
import shutil
from pathlib import Path

import pytest

from gate.formats import gatling
from gate.formats.parts.reading import read
from gate.formats.parts.source import Source
from tests.support.foreign import aggregates, files, measured, of_text, reading

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


def test_failed_requests_are_never_times() -> None:
    failed = reading("gatling", "simulation-3.9.log").failed
    assert {(f.benchmark, f.status, f.labels.get("group")) for f in failed} == {
        ("refused", "all 2 requests failed", None),
        ("page", "all 4 requests failed", "search / detail"),
        ("search / detail", "all 4 requests failed", None),
        ("search", "all 4 requests failed", None),
    }


def test_some_failed_requests_are_an_error_rate() -> None:
    text = RUN + "REQUEST\t\ta\t1000\t1500\tOK\t \nREQUEST\t\ta\t1000\t9000\tKO\tno\nREQUEST\t\ta\t2000\t3000\tOK\t \n"
    (found,) = of_text("gatling", text).measured
    assert list(found.metrics["time"].values) == [0.5, 1.0]
    assert found.metrics["error_rate"].values == pytest.approx([1 / 3])
    assert found.metrics["throughput"].values == [2 / 8]


def test_a_log_before_3_4_has_the_user_before_the_group() -> None:
    text = "RUN\ta.B\tb\t1700000000000\t \t3.0.0\nREQUEST\t7\tg\tname\t1000\t1250\tOK\t \n"
    (found,) = of_text("gatling", text).measured
    assert (found.benchmark, found.labels["group"], list(found.metrics["time"].values)) == ("name", "g", [0.25])


def test_statistics_of_a_report() -> None:
    found = reading("gatling", "stats-3.9.json")
    times = aggregates(found, "home", "time")
    assert list(times) == ["mean", "min", "max", "p50", "p75", "p95", "p99"]
    assert (times["min"].value, times["max"].value, times["min"].count) == pytest.approx((0.167, 0.193, 4))
    assert aggregates(found, "home", "error_rate")["value"].value == 0
    assert aggregates(found, "home", "throughput")["mean"].better == "higher"
    assert aggregates(found, "find it", "time", group="search")["max"].value == pytest.approx(0.026)
    assert ("page", "all 4 requests failed") in [(f.benchmark, f.status) for f in found.failed]
    assert "All Requests" not in {a.benchmark for a in found.aggregates}


def test_the_statistics_of_all_requests() -> None:
    text = (FILES[0].parent / "stats-3.9.json").read_text()
    found = of_text("gatling", json.dumps(json.loads(text)["stats"]))
    assert aggregates(found, "All Requests", "time")["max"].value == pytest.approx(0.193)
    assert aggregates(found, "All Requests", "error_rate")["value"].value == pytest.approx(6 / 22)


def test_a_folder_of_a_report(tmp_path: Path) -> None:
    # the log of 3.12 and later is binary
    (tmp_path / "simulation.log").write_bytes(b"\0\0\0\0\x063.13.5\0\0\0\0\x09tiny.Tiny\0")
    assert not gatling.recognises(Source("x", tmp_path))
    (tmp_path / "js").mkdir()
    shutil.copy(FILES[0].parent / "stats-3.9.json", tmp_path / "js" / "stats.json")
    assert read(Source("x", tmp_path)).aggregates == reading("gatling", "stats-3.9.json").aggregates
    assert not gatling.recognises(Source("x", tmp_path / "js"))
    shutil.copy(FILES[0].parent / "simulation-3.9.log", tmp_path / "simulation.log")
    assert read(Source("x", tmp_path)).measured == reading("gatling", "simulation-3.9.log").measured
