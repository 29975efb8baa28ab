"""Criterion's folder: its baselines and their copies, throughput, estimates alone, old layouts; critcmp beside it."""

import os
import shutil
from pathlib import Path

import pytest

from gate.formats.parts.reading import Reading, columns, read, recognised
from gate.formats.parts.source import Source

DATA = Path(__file__).parents[2] / "data/results/criterion"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    copy = tmp_path / "criterion"
    shutil.copytree(DATA / "baselines", copy)
    for seconds, baseline in enumerate(("new", "before", "after")):
        for place in (copy / "sum", copy / "new/new/10"):
            os.utime(place / baseline, (seconds, seconds))
    return copy


def of(path: Path) -> Reading:
    return read(Source(str(path), path))


def times(reading: Reading, name: str = "new/new/10") -> dict[str, list[float]]:
    return {
        each.labels["baseline"]: list(each.metrics["time"].values)
        for each in reading.measured
        if each.benchmark == name
    }


def test_samples_are_iterations_and_baselines_columns(folder: Path) -> None:
    found = of(folder)
    assert [label for label, _ in columns(found)] == ["before", "after", "new"]
    assert [each.benchmark for each in found.measured] == ["new/new/10", "sum"] * 3
    assert {each.execution for each in found.measured} == {0}
    # as critcmp prints them: 9.9, 3.8 and 12.8 ns
    means = {baseline: sum(values) / 10 for baseline, values in times(found).items()}
    assert means == pytest.approx(
        {"before": 9.863478921384539e-9, "after": 3.790167367378179e-9, "new": 12.809146221345522e-9}, rel=1e-12
    )
    assert times(found)["after"][0] == pytest.approx(45167 / 11904 * 1e-9, rel=1e-12)
    assert not found.failed


def test_throughput_is_that_of_the_mean_as_critcmp_prints_it(folder: Path) -> None:
    rates = of(folder).aggregates
    assert {(each.benchmark, each.metric, each.statistic, each.unit, each.better) for each in rates} == {
        ("new/new/10", "throughput", "mean", "B/s", "higher")
    }
    # 966.9 MB/sec, 2.5 GB/sec and 744.5 MB/sec, in units of 1024
    assert {each.labels["baseline"]: each.value / 1024**2 for each in rates} == pytest.approx(
        {"before": 966.9, "after": 2.5 * 1024, "new": 744.5}, rel=0.02
    )


def test_copies_of_one_run_are_read_once(folder: Path) -> None:
    # as a plain `cargo bench` leaves them
    shutil.copytree(folder / "sum/new", folder / "sum/base")
    assert list(times(of(folder), "sum")) == ["before", "after", "new"]
    # as --save-baseline leaves them
    shutil.rmtree(folder / "sum/new")
    shutil.copytree(folder / "sum/after", folder / "sum/new")
    assert list(times(of(folder), "sum")) == ["base", "before", "after"]


@pytest.mark.parametrize("above", ["", "target", "results/of/one"])
def test_a_folder_above_and_one_benchmark(folder: Path, tmp_path: Path, above: str) -> None:
    if above:
        (tmp_path / "project" / above).mkdir(parents=True)
        folder.rename(tmp_path / "project" / above / "criterion")
    path = tmp_path / "project" if above else folder / "new"
    assert recognised(Source("x", path)) == "criterion"
    assert set(times(of(path))) == {"before", "after", "new"}


def test_one_baseline_of_one_benchmark(folder: Path) -> None:
    assert {name: len(values) for name, values in times(of(folder / "sum/after"), "sum").items()} == {"after": 10}
    assert {name: len(values) for name, values in times(of(folder / "sum/after/sample.json"), "sum").items()} == {
        "after": 10
    }


def test_two_projects_of_one_benchmark_are_told_apart(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    for name in ("a", "b"):
        shutil.copytree(folder, tmp_path / "all" / name)
    labels = [each.labels for each in of(tmp_path / "all").measured if each.benchmark == "sum"]
    assert {"baseline": "after", "folder": "a/sum"} in labels
    assert {"baseline": "after", "folder": "b/sum"} in labels


def test_estimates_alone(folder: Path) -> None:
    for sample in folder.rglob("sample.json"):
        sample.unlink()
    found = of(folder)
    assert not found.measured
    mean = next(each for each in found.aggregates if each.labels["baseline"] == "after" and each.benchmark == "sum")
    assert (mean.metric, mean.statistic, mean.unit, mean.confidence) == ("time", "mean", "s", 0.95)
    assert (mean.value, mean.low, mean.high, mean.sd) == pytest.approx(
        (28.96915550595238e-9, 28.964112103174607e-9, 28.976883680555556e-9, 0.011720704438306133e-9), rel=1e-12
    )
    alone = {each.statistic: each.value for each in of(DATA / "estimates.json").aggregates}
    assert alone == pytest.approx({"mean": mean.value, "median": 28.964223710317462e-9}, rel=1e-12)


def test_a_measurement_of_ones_own_keeps_its_unit(folder: Path) -> None:
    (folder / "sum/after/raw.csv").write_text(
        "group,function,value,throughput_num,throughput_type,sample_measured_value,unit,iteration_count\n"
        '"a, b",,,,,45167.0,cycles,11904\n'
    )
    metrics = next(each.metrics for each in of(folder).measured if each.labels["baseline"] == "after"
                   and each.benchmark == "sum")  # fmt: skip
    assert {name: metric.unit for name, metric in metrics.items()} == {"cycles": "cycles"}


def test_what_cannot_be_read_fails_its_benchmark_only(folder: Path) -> None:
    (folder / "sum/after/sample.json").write_text('{"iters": [1.0], "times": [-5.0]}')
    (folder / "sum/before/benchmark.json").write_text("{")
    found = of(folder)
    statuses = {each.labels["baseline"]: each.status for each in found.failed}
    assert statuses["after"] == "-5e-09 in 'time' is below 0"
    assert statuses["before"].startswith("benchmark.json is not as expected")
    assert [(each.benchmark, each.labels["baseline"]) for each in found.failed] == [
        ("sum", "before"), ("sum", "after")
    ]  # fmt: skip
    assert len(found.measured) == 4


def test_other_folders_are_none_of_criterion(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/sample.json").write_text("[]")
    (tmp_path / "report").mkdir()
    assert recognised(Source("x", tmp_path)) is None
