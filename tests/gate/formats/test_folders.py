"""Folders of Criterion and asv, the files of one execution of Criterion, and data.js in any layout."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from gate.evidence.foreign import lines
from gate.evidence.sameness import is_one_commit
from gate.formats import github_action_benchmark
from gate.formats.criterion import Files, suite
from gate.formats.parts.output import Series, Suite
from gate.formats.parts.reading import Reading, columns, recognised
from gate.formats.parts.source import Source
from gate.model import Run
from tests.support.foreign import DATA, failed, measured, of_file, of_text

# --- Criterion's folder -----------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    copy = tmp_path / "criterion"
    shutil.copytree(DATA / "criterion/baselines", copy)
    for seconds, baseline in enumerate(("new", "before", "after")):
        for place in (copy / "sum", copy / "new/new/10"):
            os.utime(place / baseline, (seconds, seconds))
    return copy


def times(reading: Reading, name: str = "new/new/10") -> dict[str, list[float]]:
    """Give the times of a benchmark by their baseline."""
    found = [each for each in reading.measured if each.benchmark == name]
    return {each.labels["baseline"]: list(each.metrics["time"].values) for each in found}


def test_samples_are_iterations_and_baselines_columns(folder: Path) -> None:
    found = of_file(folder)
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


def test_copies_of_one_run_are_read_once(folder: Path) -> None:
    # as a plain `cargo bench` leaves them
    shutil.copytree(folder / "sum/new", folder / "sum/base")
    assert list(times(of_file(folder), "sum")) == ["before", "after", "new"]
    # as --save-baseline leaves them
    shutil.rmtree(folder / "sum/new")
    shutil.copytree(folder / "sum/after", folder / "sum/new")
    assert list(times(of_file(folder), "sum")) == ["base", "before", "after"]


@pytest.mark.parametrize("above", ["", "target", "results/of/one"])
def test_folders_above_and_below_are_read(folder: Path, tmp_path: Path, above: str) -> None:
    assert {name: len(values) for name, values in times(of_file(folder / "sum/after"), "sum").items()} == {"after": 10}
    if above:
        (tmp_path / "project" / above).mkdir(parents=True)
        folder.rename(tmp_path / "project" / above / "criterion")
    path = tmp_path / "project" if above else folder / "new"
    assert recognised(Source("x", path)) == "criterion"
    assert set(times(of_file(path))) == {"before", "after", "new"}


def test_projects_are_told_apart_and_other_folders_are_none(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    for name in ("a", "b"):
        shutil.copytree(folder, tmp_path / "all" / name)
    labels = [each.labels for each in of_file(tmp_path / "all").measured if each.benchmark == "sum"]
    assert all({"baseline": "after", "folder": f"{name}/sum"} in labels for name in ("a", "b"))
    for name in ("data", "report"):
        (tmp_path / "other" / name).mkdir(parents=True)
    (tmp_path / "other/data/sample.json").write_text("[]")
    assert recognised(Source("x", tmp_path / "other")) is None


def test_what_stands_in_one_baseline_is_of_it_alone(folder: Path) -> None:
    (folder / "sum/after/sample.json").write_text('{"iters": [1.0], "times": [-5.0]}')
    (folder / "sum/before/benchmark.json").write_text("{")
    found = of_file(folder)
    (first, second) = found.failed
    assert (first.benchmark, first.labels["baseline"]) == ("sum", "before")
    assert first.status.startswith("benchmark.json is cut off")
    assert (second.labels["baseline"], second.status) == ("after", "-5e-09 in 'time' is below 0")
    assert len(found.measured) == 4


# --- Criterion live: the files of one execution -----------------------------------------------------------------------

CAPTURED = Path(__file__).parents[2] / "data/criterion"


def files(name: str, *, again: bool = False) -> Files:
    benchmark, sample = (CAPTURED / f"{name}.{each}.json" for each in ("benchmark", "sample"))
    return Files(benchmark.read_bytes(), sample.read_bytes(), again)


def test_growing_batches_are_divided_in_their_order() -> None:
    sample = json.loads((CAPTURED / "0.8.2.linear.sample.json").read_bytes())
    assert sample["iters"] == [sample["iters"][0] * k for k in range(1, 11)]
    expected = [time / count / 1e9 for time, count in zip(sample["times"], sample["iters"], strict=True)]
    found = suite({"d": files("0.8.2.linear")}).benchmarks["sum"]["time"]
    assert found == Series("s", found.values)
    assert found.values == pytest.approx(expected)
    # a sum takes 0.1 us and not the milliseconds of a batch
    assert all(2e-8 < value < 2e-6 for value in expected)


def test_files_that_are_missing_or_there_twice() -> None:
    whole = files("0.8.2.linear")
    found = suite({"a\nb": Files(None, whole.sample, again=False), "c": Files(whole.benchmark, None, again=False)})
    why = "is missing: a write failed"
    assert found == Suite({}, {"a\\nb": f"benchmark.json {why}", "sum": f"sample.json {why}"})
    why = "measured twice into one directory: do two bench targets have a benchmark of this name?"
    assert suite({"sum": files("0.8.2.linear", again=True)}) == Suite({}, {"sum": why})


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
    found = suite({"dir": Files(b'{"full_id": "x"}', sample.encode(), again=False)})
    assert found.benchmarks == {}
    assert why in found.errors["x"] and found.errors["x"].isprintable()


# --- asv --------------------------------------------------------------------------------------------------------------

RESULTS = DATA / "asv/results"


def test_folders_of_asv_above_and_below_and_a_file_alone() -> None:
    # by benchmarks.json, which stands beside a file that is read alone, too
    (alone,) = measured(
        of_file(next((RESULTS / "host").glob("26a68055-*.json"))), "benchmarks.Suite.track_size(20, 'a')"
    )
    assert alone.metrics["value"].unit == "things"
    assert len({len(of_file(place).measured) for place in ("asv/results", "asv/results/host")}) == 1


def test_folders_of_asv_with_several_environments_or_without_the_file_of_their_machine(tmp_path: Path) -> None:
    shutil.copytree(RESULTS, tmp_path / "results")
    host = tmp_path / "results/host"
    file = next(host.glob("64383652-*.json"))
    text = file.read_text().replace("existing-py_usr_bin_python3", "virtualenv-py3.13")
    (host / "64383652-virtualenv-py3.13.json").write_text(text)
    assert [m.labels for m in measured(of_file(tmp_path), "benchmarks.time_plain")] == [
        {"commit": "64383652", "env": "existing-py_usr_bin_python3"},
        {"commit": "64383652", "env": "virtualenv-py3.13"},
    ]
    shutil.copytree(RESULTS / "host", tmp_path / "a/host")
    (tmp_path / "a/host/machine.json").unlink()
    (tmp_path / "a/notes.json").write_text("{}")
    assert [len(list(columns(of_file(tmp_path / place)))) for place in ("a", "a/host")] == [2, 2]


# --- files -------------------------------------------------------------------------------------------------------------


def test_a_commit_with_changes_is_not_the_commit() -> None:
    found = json.loads((DATA / "pytest_benchmark/data.json").read_text())
    assert not of_text(json.dumps(found)).about.dirty
    found["commit_info"]["dirty"] = True
    changed = of_text(json.dumps(found))
    run = next(iter(lines([("base", changed), ("head", changed)])))[0]
    assert isinstance(run, Run) and not is_one_commit(run)


CHARTS = "github_action_benchmark/data.js"
WRITTEN = {
    "minified": lambda data: f"window.BENCHMARK_DATA={json.dumps(data, separators=(',', ':'))}",
    "tabs": lambda data: "window.BENCHMARK_DATA =\n" + json.dumps(data, indent="\t") + ";\n",
    "entries on one line": lambda data: "window.BENCHMARK_DATA = " + re.sub(r"\n {6,}", " ", json.dumps(data, indent=2)),
}  # fmt: skip


@pytest.mark.parametrize("how", WRITTEN)
def test_any_formatting_of_the_json_says_the_same(how: str) -> None:
    text = (DATA / CHARTS).read_text()
    data = json.loads(text[text.index("{") :].rstrip().removesuffix(";"))
    again = b"\xef\xbb\xbf" + WRITTEN[how](data).replace("\n", "\r\n").encode()
    assert github_action_benchmark.recognises(Source("x", None, again))
    found, expected = of_text(again), of_file(CHARTS)
    assert (found.aggregates, failed(found)) == (expected.aggregates, failed(expected))
