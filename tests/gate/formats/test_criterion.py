"""Criterion's folder: its baselines and their copies, throughput, estimates alone, old layouts; critcmp beside it."""

import json
import os
import shutil
from functools import partial
from pathlib import Path

import pytest

from gate.formats.criterion import Files, suite
from gate.formats.parts.output import Series, Suite
from gate.formats.parts.reading import Reading, columns, read, recognised
from gate.formats.parts.source import Source
from tests.support.foreign import of_text

made = partial(of_text, "criterion")
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
    assert statuses["before"].startswith("benchmark.json is cut off")
    assert [(each.benchmark, each.labels["baseline"]) for each in found.failed] == [
        ("sum", "before"), ("sum", "after")
    ]  # fmt: skip
    assert len(found.measured) == 4


def test_other_folders_are_none_of_criterion(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/sample.json").write_text("[]")
    (tmp_path / "report").mkdir()
    assert recognised(Source("x", tmp_path)) is None


FILE = Path(__file__).parents[2] / "data/results/criterion/twice.txt"
INDENT = " " * 24


def test_estimates_with_their_intervals_and_throughput() -> None:
    found = read(Source("x", FILE)).aggregates
    assert [(each.benchmark, each.metric, each.unit, each.better) for each in found] == [
        ("sum", "time", "s", "lower"),
        ("new/new/10", "time", "s", "lower"),
        ("new/new/10", "throughput", "B/s", "higher"),
        ("new/new/1000", "time", "s", "lower"),
        ("new/new/1000", "throughput", "B/s", "higher"),
    ]
    assert (found[0].low, found[0].value, found[0].high) == pytest.approx((28.963e-9, 114.51e-9, 198.85e-9))
    assert (found[4].low, found[4].value, found[4].high) == pytest.approx(
        (980.08 * 1024**2, 1.5349 * 1024**3, 3.2506 * 1024**3)
    )
    assert {(each.statistic, each.confidence, each.sd) for each in found} == {("value", None, None)}


def test_long_names_colours_and_units() -> None:
    found = made(
        "Benchmarking a name that does not fit: Analyzing\n"
        "a name that does not fit\n"
        f"{INDENT}time:   [\x1b[2m3.0 µs\x1b[0m 4.0 µs 5.0 µs]\n"
        f"{INDENT}thrpt:  [1.0  elem/s 2.0 Kelem/s 3.0 Melem/s]\n"
        f"{INDENT}change: [-1.0% +2.0% +3.0%] (p = 0.50 > 0.05)\n"
        f"fast                    time:   [900.0 ps 950.0 ps 1.0 ns]\n"
        f"own                     time:   [3.0 cycles 4.0 cycles 5.0 cycles]\n"
        "fast                    time:   [1.0 ns 2.0 ns 3.0 ns]\n"
    ).aggregates
    assert [(each.benchmark, each.metric, each.unit, each.execution) for each in found] == [
        ("a name that does not fit", "time", "s", 0),
        ("a name that does not fit", "throughput", "1/s", 0),
        ("fast", "time", "s", 0),
        ("own", "cycles", "cycles", 0),
        ("fast", "time", "s", 1),
    ]
    assert [each.value for each in found] == pytest.approx([4e-6, 2e3, 950e-12, 4, 2e-9])
    assert (found[1].low, found[1].high) == pytest.approx((1, 3e6))


def test_a_panic_is_a_failure() -> None:
    found = made("a    time:   [1.0 ns 2.0 ns 3.0 ns]\nthread 'main' panicked at benches/b.rs:1:1:\nno such file\n")
    assert [(each.benchmark, each.status) for each in found.failed] == [(None, "a benchmark panicked")]
    assert len(found.aggregates) == 1


CAPTURED = Path(__file__).parents[2] / "data" / "criterion"


def files(name: str, *, again: bool = False) -> Files:
    return Files(
        (CAPTURED / f"{name}.benchmark.json").read_bytes(), (CAPTURED / f"{name}.sample.json").read_bytes(), again
    )


def sampled(sample: str, name: str = "x") -> Suite:
    return suite({"dir": Files(json.dumps({"full_id": name}).encode(), sample.encode(), again=False)})


@pytest.mark.parametrize("version", ["0.8.2", "0.3.6"])
def test_the_captured_files(version: str) -> None:
    found = suite({each: files(f"{version}.{each}") for each in ("linear", "flat", "group")})
    assert list(found.benchmarks) == ["sum", 'a/b/"quoted"\\n🐢', "new/new/10"]
    assert {metric for each in found.benchmarks.values() for metric in each} == {"time"}
    assert found.errors == {}


def test_growing_batches_are_divided_in_their_order() -> None:
    sample = json.loads((CAPTURED / "0.8.2.linear.sample.json").read_bytes())
    assert sample["iters"] == [sample["iters"][0] * k for k in range(1, 11)]
    expected = [time / count / 1e9 for time, count in zip(sample["times"], sample["iters"], strict=True)]
    found = suite({"d": files("0.8.2.linear")}).benchmarks["sum"]["time"]
    assert found == Series("s", found.values)
    assert found.values == pytest.approx(expected)
    # a sum takes 0.1 us and not the milliseconds of a batch
    assert all(2e-8 < value < 2e-6 for value in expected)


def test_a_second_measurement_in_one_directory_is_an_error() -> None:
    why = "measured twice into one directory: do two bench targets have a benchmark of this name?"
    assert suite({"sum": files("0.8.2.linear", again=True)}) == Suite({}, {"sum": why})


def test_a_missing_file_is_an_error_of_what_there_is() -> None:
    whole = files("0.8.2.linear")
    found = suite({"a\nb": Files(None, whole.sample, again=False), "c": Files(whole.benchmark, None, again=False)})
    assert found == Suite(
        {}, {"a\\nb": "benchmark.json is missing: a write failed", "sum": "sample.json is missing: a write failed"}
    )


@pytest.mark.parametrize(
    ("sample", "why"),
    [
        ('{"iters": [1]}', "sample.json is not as expected"),
        ('{"iters": [1, 2], "times": [5]}', "the times in sample.json have not one number of iterations each"),
        ('{"iters": [0], "times": [5]}', "the times in sample.json have not one number of iterations each"),
        ('{"iters": [1], "times": [-5]}', "-5e-09 in 'time' is below 0"),
        ('{"iters": [], "times": []}', "no values of 'time'"),
    ],
)
def test_samples_that_cannot_be_used(sample: str, why: str) -> None:
    found = sampled(sample)
    assert found.benchmarks == {}
    assert why in found.errors["x"]
    assert found.errors["x"].isprintable()
