import json
from pathlib import Path
from typing import Any

import pytest

from gate.formats.hyperfine import Complaint, complaint, runs, version
from gate.formats.parts.output import OutputError

DATA = Path(__file__).parents[2] / "data" / "hyperfine"
VERSIONS = ["1.15.0", "1.20.0", "2.0.0"]


def captured(name: str) -> bytes:
    return (DATA / name).read_bytes()


def test_the_version_is_read() -> None:
    for name in VERSIONS:
        assert version(captured(f"{name}.version.txt").decode()) == tuple(map(int, name.split(".")))
    for other in ("", "hyperfine, a package for spectra 1.2.3", "Usage: hyperfine [OPTIONS]"):
        assert version(other) is None


@pytest.mark.parametrize("name", ["1.15.0", "1.20.0"])
def test_schema_1_gives_the_wall_time_of_each_run(name: str) -> None:
    series = runs(captured(f"{name}.json"), memory_by_run=False)
    assert list(series) == ["time"]
    assert series["time"].unit == "s"
    assert series["time"].values == json.loads(captured(f"{name}.json"))["results"][0]["times"]
    assert len(series["time"].values) == 4


def test_the_memory_of_1_20_is_a_running_maximum_and_only_taken_on_demand() -> None:
    memory = runs(captured("1.20.0.json"), memory_by_run=True)["memory"]
    assert memory.unit == "B"
    # run 1 alone took 50 MB more: what follows is its shadow
    assert memory.values == sorted(memory.values)
    assert memory.values[3] == memory.values[1] > memory.values[0] + 40e6
    assert "memory" not in runs(captured("1.15.0.json"), memory_by_run=True)


def test_schema_2_gives_all_four_metrics_of_each_run() -> None:
    series = runs(captured("2.0.0.json"), memory_by_run=False)
    assert {name: each.unit for name, each in series.items()} == {
        "time": "s",
        "user": "s",
        "system": "s",
        "memory": "B",
    }
    first, second, third, _ = series["memory"].values
    assert second > first + 40e6 > third
    assert all(0.01 < value < 1 for value in series["time"].values)


def test_a_metric_that_some_runs_lack_is_left_out() -> None:
    export: dict[str, Any] = json.loads(captured("2.0.0.json"))
    del export["results"][0]["measurements"][1]["memory_peak_resident"]
    assert "memory" not in runs(json.dumps(export).encode(), memory_by_run=False)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"{}", "missing required field results"),
        (b'{"results":[]}', "holds 0 commands"),
        (b'{"results":[{"command":"x","times":[1.0],"exit_codes":[3]}]}', "exit 3 in 1 of 1 runs"),
        (b'{"results":[{"command":"x","mean":1.0}]}', "holds no run"),
        (b'{"results":[{"command":"x","times":[1.0]},{"command":"y","times":[1.0]}]}', "holds 2 commands"),
        (b'{"results":[{"command":"x","times":[1.0]},{"command":"x","times":[1.0]}]}', "two benchmarks have this name"),
        (b'{"schema_version":3,"results":[]}', "has schema 3; this perfgate reads up to 2"),
    ],
)
def test_other_json_is_an_error_of_one_line(data: bytes, why: str) -> None:
    with pytest.raises(OutputError) as caught:
        runs(data, memory_by_run=False)
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", VERSIONS)
@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("exit", Complaint("exit 3", "problem\n", 3)),
        ("signal", Complaint("ended by a signal", "unfinished")),
        ("missing", Complaint("cannot start: no such file or directory", "", begun=False, missing=True)),
        ("newline", Complaint("exit 4", "a\nError: b\n", 4)),
    ],
)
def test_a_failed_command_is_told_from_the_message(name: str, case: str, expected: Complaint) -> None:
    assert complaint(captured(f"{name}.{case}.txt").decode()) == expected


@pytest.mark.parametrize("text", ["", "error: unexpected argument '--frobnicate' found\n", "Error: something else\n"])
def test_another_message_is_not_about_the_command(text: str) -> None:
    assert complaint(text) is None
