"""asv's results and their folders, pyperf's suites, pytest-benchmark's JSON."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from gate.evidence.foreign import lines
from gate.evidence.sameness import is_one_commit
from gate.formats import pyperf
from gate.formats.parts.live import suite
from gate.formats.parts.output import Series
from gate.formats.parts.reading import Reading, columns
from gate.model import Run, UserError
from tests.support.foreign import DATA, aggregates, failed, measured, of_file, of_text

# --- asv --------------------------------------------------------------------------------------------------------------

RESULTS = DATA / "asv/results"
TRACK = "benchmarks.Suite.track_size(20, 'a')"


def test_samples_of_asv_are_iterations_and_null_has_failed() -> None:
    found = of_file("asv/samples.json")
    (plain,) = measured(found, "benchmarks.time_plain")
    assert (plain.metrics["time"].unit, plain.labels) == ("s", {"commit": "64383652"})
    assert plain.metrics["time"].values == [
        1.7024976841639727e-06,
        9.859977581072599e-07,
        1.2019991117995232e-06,
        2.173001121263951e-06,
        1.0164985724259168e-06,
        1.2115015124436468e-06,
    ]
    # without benchmarks.json beside it: units by the names, parameters by their place
    memory = {m.benchmark: m.metrics["memory"] for m in found.measured if "memory" in m.metrics}
    assert {name: (each.values, each.unit) for name, each in memory.items()} == {
        "benchmarks.mem_list": ([856], "B"),
        "benchmarks.peakmem_list": ([36143104], "B"),
    }
    (track,) = measured(found, TRACK)
    assert (track.metrics["value"].values, track.metrics["value"].unit) == ([40], "")
    assert track.labels == {"param1": "20", "param2": "a", "commit": "64383652"}
    assert not found.aggregates
    why = "no result: it failed or timed out"
    names = ("Suite.time_sum(20, 'a')", "Suite.track_size(10, 'a')", "time_broken")
    assert sorted(failed(found), key=str) == [(f"benchmarks.{name}", why) for name in names]
    # NaN was skipped
    assert not measured(found, "benchmarks.track_nan")


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

UPPER = "upper a b/'c'\"d\"\\t🐢"


def of_pyperf(*benchmarks: dict[str, Any], version: object = "1.0", **others: Any) -> Reading:
    return of_text(json.dumps({"version": version, "benchmarks": benchmarks, **others}))


def test_workers_of_pyperf_are_executions_and_calibration_is_left_out() -> None:
    found = of_file("pyperf/suite.json")
    upper = measured(found, UPPER)
    assert [m.execution for m in upper] == [0, 1, 2]
    assert upper[0].metrics["time"].values == [5.304952988005596e-08, 1.6927529911114902e-07]
    # not the 18 warm-ups of the calibration
    assert upper[0].metrics["time"].dropped == [5.514306633536137e-08]
    assert list(dict.fromkeys(m.benchmark for m in found.measured)) == [UPPER, "sum", "seed", "size", "answer"]
    about = found.about
    assert (about.tool, about.created) == ("pyperf 2.11.0", "2026-11-25T17:51:10.674284")
    host = {"hostname": "host", "cpu": "AMD EPYC", "python_version": "3.11.7 (64-bit)"}
    assert {name: about.host[name] for name in host} == host
    own = {"python_cflags": "-O0", "python_config_args": "--with-pydebug"}
    assert of_pyperf({"metadata": {"name": "a"}, "runs": [{"values": [1.0]}]}, metadata=own).about.host == own


def test_units_of_pyperf() -> None:
    found = of_file("pyperf/packed.json.gz")
    units = {m.benchmark: [(name, each.unit) for name, each in m.metrics.items()] for m in found.measured}
    assert (units["seed"], units["size"], units["answer"]) == ([("time", "s")], [("memory", "B")], [("count", "")])
    assert measured(found, "size")[0].metrics["memory"].values == [4096.0, 4096.0]
    # a unit that stands once, in the metadata of the file
    assert of_file("pyperf/memory.json").measured[0].metrics["memory"].values == [12181504]


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


CAPTURED = Path(__file__).parents[2] / "data"


@pytest.mark.parametrize("version", ["2.3.0", "2.10.0"])
def test_captured_output_of_pyperf(version: str) -> None:
    found = suite(pyperf, (CAPTURED / f"pyperf/{version}.json").read_bytes())
    assert (list(found.benchmarks), found.errors) == ([UPPER, "sum", "seed", "size", "answer"], {})
    assert [len(found.benchmarks[name]["time"].values) for name in (UPPER, "sum")] == [3, 3]
    assert found.benchmarks["seed"] == {"time": Series("s", [0.001] * 3)}
    assert found.benchmarks["size"] == {"memory": Series("B", [4096.0] * 3)}
    assert found.benchmarks["answer"] == {"count": Series("", [42.0] * 3)}
    # values of several workers follow each other, without warm-ups
    several = suite(pyperf, (CAPTURED / "pyperf/2.10.0.processes.json").read_bytes())
    values = [7.0597228951641e-08, 6.91778565542478e-08, 7.459753437188965e-08, 6.605896007982892e-08]
    assert several.benchmarks[UPPER] == {"time": Series("s", values)}


# --- pytest-benchmark -------------------------------------------------------------------------------------------------


def of_rounds(*entries: dict[str, Any]) -> Reading:
    return of_text(json.dumps({"machine_info": {}, "benchmarks": entries}))


def entry(name: str, **stats: Any) -> dict[str, Any]:
    return {"group": None, "name": name, "fullname": f"t.py::{name}", "params": None, "param": None, "stats": stats}


def test_rounds_of_pytest_benchmark_are_iterations() -> None:
    found = of_file("pytest_benchmark/data.json")
    assert [m.benchmark for m in found.measured] == [
        *(f"test_tiny.py::test_sum[{each}]" for each in ("a-10", "a-20", "b-10", "b-20")),
        "test_tiny.py::test_once",
    ]
    first, *_, last = found.measured
    values = [3.3840042306110264e-07, 3.6660057958215473e-07, 1.9419967429712414e-07, 1.7639977158978582e-07]
    assert (first.metrics["time"].unit, first.metrics["time"].values) == ("s", values)
    assert first.labels == {"kind": "a", "size": "10", "group": "sums", "param": "a-10"}
    # test_broken failed and is not in the file
    assert (last.labels, found.failed, found.aggregates) == ({}, [], [])
    about = found.about
    assert about.tool == "pytest-benchmark 5.3.1"
    assert about.commit == "8dfea3e8c01459005cc262167ee16e627d13274a"
    assert about.created == "2026-11-25T17:50:02.538212+00:00"
    assert about.host == {
        "hostname": "host",
        "cpu": "AMD EPYC",
        "system": "Linux",
        "kernel": "6.1.0",
        "machine": "x86_64",
        "python_implementation": "CPython",
        "python_version": "3.11.7",
        "python_compiler": "GCC 12.2.0",
        "cpu_count": 2,
    }


def test_a_commit_with_changes_is_not_the_commit() -> None:
    found = json.loads((DATA / "pytest_benchmark/data.json").read_text())
    assert not of_text(json.dumps(found)).about.dirty
    found["commit_info"]["dirty"] = True
    changed = of_text(json.dumps(found))
    run = next(iter(lines([("base", changed), ("head", changed)])))[0]
    assert isinstance(run, Run) and not is_one_commit(run)


def test_saved_without_data_pytest_benchmark_has_aggregates_only() -> None:
    found = of_file("pytest_benchmark/saved.json")
    assert not found.measured
    first = aggregates(found, "test_tiny.py::test_sum[a-10]")
    assert list(first) == ["mean", "median", "min", "max"]
    mean, median = first["mean"], first["median"]
    assert (mean.value, mean.sd, mean.count) == (2.7990026865154503e-07, 1.0838295003836878e-07, 4)
    assert (median.value, median.sd) == (2.8040012693963946e-07, None)
    assert {(a.metric, a.unit, a.better) for a in found.aggregates} == {("time", "s", "lower")}


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
