import json
from pathlib import Path
from typing import Any

import pytest

from gate.formats.parts.reading import Reading, read
from gate.formats.parts.source import Source
from gate.model import UserError

DATA = Path(__file__).parents[2] / "data" / "results" / "hyperfine"


def test_the_csv_has_statistics_alone_and_parameters() -> None:
    reading = read(Source("x", DATA / "sleep.csv"))
    assert not reading.measured
    assert [
        (a.metric, a.statistic, a.value, a.unit, a.sd) for a in reading.aggregates if a.benchmark == "sleep 0.002"
    ] == [
        ("time", "mean", 0.00401084075, "s", 0.0010843141500740997),
        ("time", "median", 0.0036169470000000006, "s", None),
        ("time", "min", 0.003202968, "s", None),
        ("time", "max", 0.005606501000000001, "s", None),
        ("user", "mean", 0.000721, "s", None),
        ("system", "mean", 0.000248, "s", None),
    ]
    assert {a.labels["t"] for a in reading.aggregates} == {"0.001", "0.002"}


def test_a_csv_that_is_cut_off_names_the_line() -> None:
    whole = (DATA / "sleep.csv").read_bytes()
    with pytest.raises(UserError, match=r"x: hyperfine: line 3: the mean is no number: is the file cut off\?"):
        read(Source("x", None, whole[: whole.rindex(b"sleep 0.002") + 12]))


def of(**keys: Any) -> Reading:
    """Read the results of one command, after those of another that is sound."""
    results = [{"command": "sound", "mean": 1.0, "times": [1.0]}, {"command": "c", **keys}]
    return read(Source("x", None, json.dumps({"results": results}).encode()))


def run(code: int | None, value: float | None = 0.5, unit: str = "second") -> dict[str, Any]:
    """Write a run as 2.0 does."""
    return {"time_wall_clock": {"value": value, "unit": unit}, "exit_code": code}


@pytest.mark.parametrize(
    ("codes", "status"),
    [
        ([0, None, 1], "ended by a signal in 1 of 3 runs, exit 1 in 1 of 3 runs"),
        ([3, 3, 0], "exit 3 in 2 of 3 runs"),
        # 1.x from 1.12 on gives 128 + the signal
        ([139, 1], "exit 139 in 1 of 2 runs, exit 1 in 1 of 2 runs"),
        ([None, None], "ended by a signal in 2 of 2 runs"),
    ],
)
def test_exit_codes_and_signals_are_told_apart(codes: list[int | None], status: str) -> None:
    version_1 = of(mean=0.1, times=[0.1] * len(codes), exit_codes=codes)
    version_2 = of(measurements=[run(code) for code in codes])
    for found in (version_1, version_2):
        assert [(f.benchmark, f.status) for f in found.failed] == [("c", status)]
        assert [m.benchmark for m in found.measured] == ["sound"]


def test_runs_that_say_nothing_of_an_exit_code_have_none() -> None:
    runs = [{"time_wall_clock": {"value": 500, "unit": "millisecond"}}] * 2
    found = of(measurements=runs)
    assert not found.failed
    assert list(found.measured[1].metrics["time"].values) == [0.5, 0.5]


@pytest.mark.parametrize(
    ("keys", "status"),
    [
        ({"mean": 1.0, "times": [1.0, None]}, "results[1]: Expected float, got null - at $.times[1]"),
        ({"mean": 1.0, "times": ["fast"]}, "results[1]: Expected float, got str - at $.times[0]"),
        ({"mean": None, "times": []}, "neither times nor a mean in the file"),
        ({"measurements": [run(0), run(0, None)]}, "1 of 2 runs have no time_wall_clock"),
        ({"measurements": [run(0, unit="fortnight")]}, "a value in 'fortnight', a unit this perfgate does not know"),
    ],
)
def test_a_command_that_cannot_be_read_fails_and_no_other(keys: dict[str, Any], status: str) -> None:
    found = of(**keys)
    assert [(f.benchmark, f.status) for f in found.failed] == [("c", status)]
    assert [m.benchmark for m in found.measured] == ["sound"]
