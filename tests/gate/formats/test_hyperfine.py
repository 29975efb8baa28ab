"""hyperfine's CSV and JSON in both schemas, as a file and as one execution; its version, and what it complains of."""

import json
from pathlib import Path
from typing import Any

import pytest

from gate.formats.hyperfine import Complaint, complaint, runs, version
from gate.formats.parts.output import OutputError
from gate.formats.parts.reading import Reading
from gate.model import UserError
from tests.support.foreign import DATA, failed, of_file, of_text


def test_the_csv_has_statistics_alone_and_parameters() -> None:
    found = of_file("hyperfine/sleep.csv")
    assert not found.measured
    own = [a for a in found.aggregates if a.benchmark == "sleep 0.002"]
    assert [(a.metric, a.statistic, a.value, a.unit, a.sd) for a in own] == [
        ("time", "mean", 0.00401084075, "s", 0.0010843141500740997),
        ("time", "median", 0.0036169470000000006, "s", None),
        ("time", "min", 0.003202968, "s", None),
        ("time", "max", 0.005606501000000001, "s", None),
        ("user", "mean", 0.000721, "s", None),
        ("system", "mean", 0.000248, "s", None),
    ]
    assert {a.labels["t"] for a in found.aggregates} == {"0.001", "0.002"}
    # cut off
    whole = (DATA / "hyperfine/sleep.csv").read_bytes()
    with pytest.raises(UserError, match=r"x: hyperfine: line 3: the mean is no number: is the file cut off\?"):
        of_text(whole[: whole.rindex(b"sleep 0.002") + 12])


def of(**keys: Any) -> Reading:
    """Read the results of one command, after those of another that is sound."""
    results = [{"command": "sound", "mean": 1.0, "times": [1.0]}, {"command": "c", **keys}]
    return of_text(json.dumps({"results": results}))


def run(code: int | None, value: float | None = 0.5, unit: str = "second") -> dict[str, Any]:
    """Write a run as 2.0 does."""
    return {"time_wall_clock": {"value": value, "unit": unit}, "exit_code": code}


def exits(*codes: int | None) -> list[dict[str, Any]]:
    """Write runs that ended with codes, in both schemas."""
    return [{"mean": 0.1, "times": [0.1] * len(codes), "exit_codes": codes}, {"measurements": [*map(run, codes)]}]


@pytest.mark.parametrize(
    ("written", "status"),
    [
        (exits(0, None, 1), "ended by a signal in 1 of 3 runs, exit 1 in 1 of 3 runs"),
        (exits(3, 3, 0), "exit 3 in 2 of 3 runs"),
        # 1.x from 1.12 on gives 128 + the signal
        (exits(139, 1), "exit 139 in 1 of 2 runs, exit 1 in 1 of 2 runs"),
        (exits(None, None), "ended by a signal in 2 of 2 runs"),
        ([{"mean": 1.0, "times": [1.0, None]}], "results[1]: Expected float, got null - at $.times[1]"),
        ([{"mean": 1.0, "times": ["fast"]}], "results[1]: Expected float, got str - at $.times[0]"),
        ([{"mean": None, "times": []}], "neither times nor a mean in the file"),
        ([{"measurements": [run(0), run(0, None)]}], "1 of 2 runs have no time_wall_clock"),
        (
            [{"measurements": [run(0, unit="fortnight")]}],
            "a value in 'fortnight', a unit this perfgate does not know",
        ),
    ],
)
def test_a_command_that_fails_or_cannot_be_read_leaves_the_others(written: list[dict[str, Any]], status: str) -> None:
    for keys in written:
        found = of(**keys)
        assert failed(found) == [("c", status)]
        assert [m.benchmark for m in found.measured] == ["sound"]


def test_runs_that_say_nothing_of_an_exit_code_have_none() -> None:
    found = of(measurements=[{"time_wall_clock": {"value": 500, "unit": "millisecond"}}] * 2)
    assert not found.failed
    assert list(found.measured[1].metrics["time"].values) == [0.5, 0.5]


# --- one execution ----------------------------------------------------------------------------------------------------

VERSIONS = ["1.15.0", "1.20.0", "2.0.0"]


def captured(name: str) -> bytes:
    return (Path(__file__).parents[2] / "data/hyperfine" / name).read_bytes()


def test_the_version_is_read() -> None:
    for name in VERSIONS:
        assert version(captured(f"{name}.version.txt").decode()) == tuple(map(int, name.split(".")))
    for other in ("", "hyperfine, a package for spectra 1.2.3", "Usage: hyperfine [OPTIONS]"):
        assert version(other) is None


@pytest.mark.parametrize("name", ["1.15.0", "1.20.0"])
def test_schema_1_gives_the_wall_time_of_each_run(name: str) -> None:
    series = runs(captured(f"{name}.json"), memory_by_run=False)
    assert (list(series), series["time"].unit, len(series["time"].values)) == (["time"], "s", 4)
    assert series["time"].values == json.loads(captured(f"{name}.json"))["results"][0]["times"]


def test_the_memory_of_1_20_is_a_running_maximum_and_only_taken_on_demand() -> None:
    memory = runs(captured("1.20.0.json"), memory_by_run=True)["memory"]
    assert memory.unit == "B"
    # run 1 alone took 50 MB more: what follows is its shadow
    assert memory.values == sorted(memory.values)
    assert memory.values[3] == memory.values[1] > memory.values[0] + 40e6
    assert "memory" not in runs(captured("1.15.0.json"), memory_by_run=True)


def test_schema_2_gives_all_four_metrics_of_each_run() -> None:
    series = runs(captured("2.0.0.json"), memory_by_run=False)
    units = {name: each.unit for name, each in series.items()}
    assert units == {"time": "s", "user": "s", "system": "s", "memory": "B"}
    first, second, third, _ = series["memory"].values
    assert second > first + 40e6 > third
    assert all(0.01 < value < 1 for value in series["time"].values)
    # one that some runs lack is left out
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
    for other in ("", "error: unexpected argument '--frobnicate' found\n", "Error: something else\n"):
        assert complaint(other) is None
