import shutil
from pathlib import Path

from gate.formats.parts.reading import columns, read
from gate.formats.parts.source import Source

DATA = Path(__file__).parents[2] / "data" / "results" / "asv"


def test_samples_are_iterations() -> None:
    reading = read(Source("x", DATA / "samples.json"))
    plain = next(m for m in reading.measured if m.benchmark == "benchmarks.time_plain")
    assert plain.metrics["time"].unit == "s"
    assert plain.metrics["time"].values == [
        1.7024976841639727e-06, 9.859977581072599e-07, 1.2019991117995232e-06, 2.173001121263951e-06,
        1.0164985724259168e-06, 1.2115015124436468e-06,
    ]  # fmt: skip
    assert plain.labels == {"commit": "64383652"}
    # without benchmarks.json beside it: units by the names, parameters by their place
    memory = {m.benchmark: m.metrics["memory"] for m in reading.measured if "memory" in m.metrics}
    assert {name: (each.values, each.unit) for name, each in memory.items()} == {
        "benchmarks.mem_list": ([856], "B"),
        "benchmarks.peakmem_list": ([36143104], "B"),
    }
    track = next(m for m in reading.measured if m.benchmark == "benchmarks.Suite.track_size(20, 'a')")
    assert (track.metrics["value"].values, track.metrics["value"].unit) == ([40], "")
    assert track.labels == {"param1": "20", "param2": "a", "commit": "64383652"}
    assert not reading.aggregates


def test_null_failed_and_nan_was_skipped() -> None:
    reading = read(Source("x", DATA / "samples.json"))
    assert sorted(f.benchmark or "" for f in reading.failed) == [
        "benchmarks.Suite.time_sum(20, 'a')",
        "benchmarks.Suite.track_size(10, 'a')",
        "benchmarks.time_broken",
    ]
    assert {f.status for f in reading.failed} == {"no result: it failed or timed out"}
    assert "benchmarks.track_nan" not in {m.benchmark for m in reading.measured}


def test_a_folder_has_a_column_for_each_commit_the_oldest_first() -> None:
    reading = read(Source("x", DATA / "results"))
    found = dict(columns(reading))
    assert list(found) == ["64383652", "26a68055"]
    first, second = found.values()
    assert len(first.measured) == 9
    assert not first.aggregates
    assert "time" not in {name for m in second.measured for name in m.metrics}
    plain = {a.statistic: a for a in second.aggregates if a.benchmark == "benchmarks.time_plain"}
    median = plain["median"]
    assert (median.value, median.low, median.high, median.confidence, median.count) == (
        1.1592492228373885e-06, 7.6637e-07, 1.8376e-06, 0.99, 6
    )  # fmt: skip
    assert (plain["p25"].value, plain["p75"].value) == (1.0252e-06, 1.5824e-06)
    # by benchmarks.json
    track = next(m for m in second.measured if m.benchmark == "benchmarks.Suite.track_size(20, 'a')")
    assert track.metrics["value"].unit == "things"
    assert track.labels == {"size": "20", "kind": "a", "commit": "26a68055"}


def test_the_folders_above_and_below_are_read_too() -> None:
    expected = len(read(Source("x", DATA / "results")).measured)
    assert len(read(Source("x", DATA / "results" / "host")).measured) == expected
    assert len(read(Source("x", DATA)).measured) == expected


def test_environments_and_machines_are_labels_where_a_folder_has_several(tmp_path: Path) -> None:
    shutil.copytree(DATA / "results", tmp_path / "results")
    file = next((tmp_path / "results" / "host").glob("64383652-*.json"))
    other = file.read_text().replace("existing-py_usr_bin_python3", "virtualenv-py3.13")
    (file.parent / "64383652-virtualenv-py3.13.json").write_text(other)
    plain = [m for m in read(Source("x", tmp_path / "results")).measured if m.benchmark == "benchmarks.time_plain"]
    assert [m.labels for m in plain] == [
        {"commit": "64383652", "env": "existing-py_usr_bin_python3"},
        {"commit": "64383652", "env": "virtualenv-py3.13"},
    ]


def test_a_folder_without_the_file_of_its_machine(tmp_path: Path) -> None:
    shutil.copytree(DATA / "results" / "host", tmp_path / "a" / "host")
    (tmp_path / "a" / "host" / "machine.json").unlink()
    (tmp_path / "a" / "notes.json").write_text("{}")
    assert len(list(columns(read(Source("x", tmp_path / "a"))))) == 2
    assert len(list(columns(read(Source("x", tmp_path / "a" / "host"))))) == 2


def test_a_file_beside_its_benchmarks() -> None:
    file = next((DATA / "results" / "host").glob("26a68055-*.json"))
    track = next(m for m in read(Source("x", file)).measured if "track_size" in m.benchmark)
    assert track.metrics["value"].unit == "things"


def test_results_of_an_older_asv_have_failed() -> None:
    found = read(Source("x", None, b'{"commit_hash": "abc", "params": {}, "results": {"time_x": 1.5e-6}}'))
    assert [f.status for f in found.failed] == ["its result is of an older asv: `asv update` brings it up"]


def test_null_for_all_parameters() -> None:
    data = b"""{"commit_hash": "abc", "params": {}, "result_columns": ["result", "params"], "version": 2,
        "results": {"time_x": [null, [["1", "2"]]]}}"""
    assert [f.benchmark for f in read(Source("x", None, data)).failed] == ["time_x(1)", "time_x(2)"]
    broken = data.replace(b'[["1", "2"]]', b"1.5")
    assert [f.benchmark for f in read(Source("x", None, broken)).failed] == ["time_x"]
