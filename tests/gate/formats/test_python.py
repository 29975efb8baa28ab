"""asv's results and their folders, pyperf's suites, pytest-benchmark's JSON."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from gate.evidence.foreign import lines
from gate.evidence.sameness import is_one_commit
from gate.formats.parts.reading import Reading, columns
from gate.model import Run, UserError
from tests.support.foreign import DATA, aggregates, failed, measured, of_file, of_text

# --- asv --------------------------------------------------------------------------------------------------------------

RESULTS = DATA / "asv/results"
TRACK = "benchmarks.Suite.track_size(20, 'a')"


def test_a_folder_of_asv_has_a_column_for_each_commit_the_oldest_first() -> None:
    found = of_file("asv/results")
    (first, one), (second, other) = columns(found)
    assert (first, second, len(one.measured), one.aggregates) == ("64383652", "26a68055", 9, [])
    assert "time" not in {name for m in other.measured for name in m.metrics}
    plain = aggregates(other, "benchmarks.time_plain")
    median = plain["median"]
    assert (median.value, median.low, median.high) == (1.1592492228373885e-06, 7.6637e-07, 1.8376e-06)
    assert (median.confidence, median.count) == (0.99, 6)
    assert (plain["p25"].value, plain["p75"].value) == (1.0252e-06, 1.5824e-06)
    # by benchmarks.json, which stands beside a file that is read alone, too
    (track,) = measured(other, TRACK)
    assert track.metrics["value"].unit == "things"
    assert track.labels == {"size": "20", "kind": "a", "commit": "26a68055"}
    alone = measured(of_file(next((RESULTS / "host").glob("26a68055-*.json"))), TRACK)
    assert alone[0].metrics["value"].unit == "things"
    # the folders above and below are read, too
    assert len(of_file("asv/results/host").measured) == len(of_file("asv").measured) == len(found.measured)


def test_folders_of_asv_with_several_environments_or_without_the_file_of_their_machine(tmp_path: Path) -> None:
    shutil.copytree(RESULTS, tmp_path / "results")
    host = tmp_path / "results/host"
    file = next(host.glob("64383652-*.json"))
    text = file.read_text().replace("existing-py_usr_bin_python3", "virtualenv-py3.13")
    (host / "64383652-virtualenv-py3.13.json").write_text(text)
    assert [m.labels for m in measured(of_file(tmp_path / "results"), "benchmarks.time_plain")] == [
        {"commit": "64383652", "env": "existing-py_usr_bin_python3"},
        {"commit": "64383652", "env": "virtualenv-py3.13"},
    ]
    shutil.copytree(RESULTS / "host", tmp_path / "a/host")
    (tmp_path / "a/host/machine.json").unlink()
    (tmp_path / "a/notes.json").write_text("{}")
    assert [len(list(columns(of_file(tmp_path / place)))) for place in ("a", "a/host")] == [2, 2]


def test_results_of_an_older_asv_and_null_for_all_parameters_have_failed() -> None:
    old = of_text('{"commit_hash": "abc", "params": {}, "results": {"time_x": 1.5e-6}}')
    assert failed(old) == [("time_x", "its result is of an older asv: `asv update` brings it up")]
    text = (
        '{"commit_hash": "abc", "params": {}, "result_columns": ["result", "params"], "version": 2, '
        '"results": {"time_x": [null, [["1", "2"]]]}}'
    )
    assert [f.benchmark for f in of_text(text).failed] == ["time_x(1)", "time_x(2)"]
    assert [f.benchmark for f in of_text(text.replace('[["1", "2"]]', "1.5")).failed] == ["time_x"]


# --- pyperf -----------------------------------------------------------------------------------------------------------


def of_pyperf(*benchmarks: dict[str, Any], version: object = "1.0", **others: Any) -> Reading:
    return of_text(json.dumps({"version": version, "benchmarks": benchmarks, **others}))


def test_benchmarks_of_pyperf_that_are_bad_or_old_or_have_tags() -> None:
    found = of_pyperf(
        {"metadata": {"name": "calibrated"}, "runs": [{"warmups": [[1, 0.5]]}]},
        {"metadata": {"name": "negative"}, "runs": [{"values": [1.0]}, {"values": [-1.0]}]},
        {"metadata": {"name": "watts", "unit": "watt"}, "runs": [{"values": [1.0]}]},
        {"runs": [{"metadata": {"name": "old"}, "values": [2]}]},
        {"metadata": {"name": "a", "tags": ["apps", "io"]}, "runs": [{"values": [1.0]}]},
    )
    assert [(f.benchmark, f.execution, f.status) for f in found.failed] == [
        ("calibrated", 0, "only calibration runs: no worker gave values"),
        ("negative", 1, "-1 in 'time' is below 0"),
        ("watts", 0, "its unit is 'watt', which this perfgate does not know"),
    ]
    assert [(m.benchmark, m.execution) for m in found.measured] == [("negative", 0), ("old", 0), ("a", 0)]
    assert found.measured[-1].labels == {"tags": "apps io"}
    with pytest.raises(UserError, match=r"version '6'; this perfgate reads 1\.0$"):
        of_pyperf({"runs": [{"values": [1.0]}]}, version=6)


# --- pytest-benchmark -------------------------------------------------------------------------------------------------


def of_rounds(*entries: dict[str, Any]) -> Reading:
    return of_text(json.dumps({"machine_info": {}, "benchmarks": entries}))


def entry(name: str, **stats: Any) -> dict[str, Any]:
    return {"group": None, "name": name, "fullname": f"t.py::{name}", "params": None, "param": None, "stats": stats}


def test_a_commit_with_changes_is_not_the_commit() -> None:
    found = json.loads((DATA / "pytest_benchmark/data.json").read_text())
    assert not of_text(json.dumps(found)).about.dirty
    found["commit_info"]["dirty"] = True
    changed = of_text(json.dumps(found))
    run = next(iter(lines([("base", changed), ("head", changed)])))[0]
    assert isinstance(run, Run) and not is_one_commit(run)


def test_cpu_time_and_wall_time_are_never_one_metric() -> None:
    clock = {"options": {"timer": "process_time"}}
    rounds, means = entry("a", data=[0.25, 0.5]), entry("b", mean=0.5, median=0.25)
    found = of_rounds(rounds | clock, rounds, means | clock, means)
    assert [(m.benchmark, list(m.metrics)) for m in found.measured] == [
        ("t.py::a", ["cpu_time"]),
        ("t.py::a", ["time"]),
    ]
    assert [(a.metric, a.statistic) for a in found.aggregates] == [
        (metric, statistic) for metric in ("cpu_time", "time") for statistic in ("mean", "median")
    ]
    bad = of_rounds(entry("c", mean=-1.0) | clock)
    assert failed(bad) == [("t.py::c", "mean: -1 in 'cpu_time' is below 0")]


def test_rounds_that_are_bad_or_there_twice() -> None:
    found = of_rounds(
        entry("test_nan", data=[1.0, float("nan")]),
        entry("test_negative", mean=-1.0),
        entry("test_nothing"),
        entry("test_good", data=[1.0], iterations=2),
        entry("test_good", data=[2.0]),
    )
    assert failed(found) == [
        ("t.py::test_nan", "nan in 'time' is not a finite number"),
        ("t.py::test_negative", "mean: -1 in 'time' is below 0"),
        ("t.py::test_nothing", "no rounds and no statistics in the file"),
    ]
    # what comes again is another process
    assert [(m.execution, m.metrics["time"].values) for m in found.measured] == [(0, [1.0]), (1, [2.0])]
