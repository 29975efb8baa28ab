"""Criterion's folder with its baselines and their copies, and what it, libtest and divan print."""

import json
import os
import shutil
from pathlib import Path

import pytest

from gate.formats.criterion import Files, suite
from gate.formats.parts.output import Series, Suite
from gate.formats.parts.reading import Reading, columns, recognised
from gate.formats.parts.source import Source
from tests.support.foreign import DATA, of_file, of_text

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


# --- what is printed --------------------------------------------------------------------------------------------------

INDENT = " " * 24


def test_long_names_colours_units_and_a_panic_of_criterion() -> None:
    reading = of_text(
        "Benchmarking a name that does not fit: Analyzing\n"
        "a name that does not fit\n"
        f"{INDENT}time:   [\x1b[2m3.0 µs\x1b[0m 4.0 µs 5.0 µs]\n"
        f"{INDENT}thrpt:  [1.0  elem/s 2.0 Kelem/s 3.0 Melem/s]\n"
        f"{INDENT}change: [-1.0% +2.0% +3.0%] (p = 0.50 > 0.05)\n"
        "fast                    time:   [900.0 ps 950.0 ps 1.0 ns]\n"
        "own                     time:   [3.0 cycles 4.0 cycles 5.0 cycles]\n"
        "fast                    time:   [1.0 ns 2.0 ns 3.0 ns]\n"
        "thread 'main' panicked at benches/b.rs:1:1:\nno such file\n"
    )
    found = reading.aggregates
    assert [(each.benchmark, each.metric, each.unit, each.execution) for each in found] == [
        ("a name that does not fit", "time", "s", 0),
        ("a name that does not fit", "throughput", "1/s", 0),
        ("fast", "time", "s", 0),
        ("own", "cycles", "cycles", 0),
        ("fast", "time", "s", 1),
    ]
    assert [each.value for each in found] == pytest.approx([4e-6, 2e3, 950e-12, 4, 2e-9])
    assert (found[1].low, found[1].high) == pytest.approx((1, 3e6))
    assert [(each.benchmark, each.status) for each in reading.failed] == [(None, "a benchmark panicked")]


def of_lines(text: str) -> list[tuple[str, str, float, str, str | None]]:
    return [(a.benchmark, a.metric, float(f"{a.value:.9g}"), a.unit, a.better) for a in of_text(text).aggregates]


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("1.5 K instructions", ("instructions", 1500, "instructions", "lower")),
        ("12   allocs", ("allocs", 12, "allocs", "lower")),
        ("12 bytes", ("B", 12, "B", "lower")),
        ("950.0 ps", ("time", 950e-12, "s", "lower")),
        ("1.25 cpb", ("throughput", 1.25, "cpb", "lower")),
        ("1.25 Kcycles/B", ("throughput", 1250, "cycles/B", "lower")),
        ("1.25 Kelem/s", ("throughput", 1250, "1/s", "higher")),
        ("1.25 elements/s", ("throughput", 1.25, "1/s", "higher")),
        ("1.25 MiB/s", ("throughput", 1.25 * 1024**2, "B/s", "higher")),
        ("1.25 Mb/s", ("throughput", 1.25e6, "bit/s", "higher")),
        ("1.25 GFLOP/s", ("throughput", 1.25e9, "FLOP/s", "higher")),
    ],
)
def test_what_criterion_measures(printed: str, expected: tuple[str, float, str, str]) -> None:
    of_time = expected[0] != "throughput"
    first = printed if of_time else "1 cycles"
    text = f"a                       time:   [{first} {first} {first}]\n"
    text += "" if of_time else f"{INDENT}thrpt:  [{printed} {printed} {printed}]\n"
    assert of_lines(text)[-1] == ("a", *expected)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("test enc ... bench:        2835 ns/iter (+/- 14)", ("time", 2.835e-6, "s", "lower")),
        ("test enc ... bench:        2835 cycles/iter (+/- 14)", ("cycles", 2835, "cycles", "lower")),
        ("test enc ... bench:        2.835 Kcycles/iter (+/- 14)", ("cycles", 2835, "cycles", "lower")),
        ("test enc ... bench:        2,835 ms/iter (+/- 14)", ("time", 2.835, "s", "lower")),
        ("test enc ... bench:        1.5 us/iter (+/- 1)", ("time", 1.5e-6, "s", "lower")),
        ("test enc ... bench:        1.5 µs/iter (+/- 1)", ("time", 1.5e-6, "s", "lower")),
        ("test enc ... bench:        9001 MB/s (+/- 69)", ("throughput", 9001e6, "B/s", "higher")),
        ("test enc ... bench:        12 widgets/iter (+/- 1)", ("widgets", 12, "widgets", "lower")),
        (
            "test enc ... bench:        12.5 K instructions/iter (+/- 1)",
            ("instructions", 12500, "instructions", "lower"),
        ),
        # within other text
        (
            "//! 2026-01-01T00:00:00Z test enc ... bench:   1,234,567 ns/iter (+/- 89)",
            ("time", 1.234567e-3, "s", "lower"),
        ),
    ],
)
def test_every_unit_of_a_bench_line_is_read_and_what_comes_again(line: str, expected: tuple[object, ...]) -> None:
    text = f"# Results\n\n{line}\n{line}\ntest t ... ok\n"
    assert of_lines(text) == [("enc", *expected)] * 2
    assert [each.execution for each in of_text(text).aggregates] == [0, 1]
