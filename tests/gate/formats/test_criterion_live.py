import json
from pathlib import Path

import pytest

from gate.formats.criterion import Files, suite
from gate.formats.parts.output import Series, Suite

DATA = Path(__file__).parents[2] / "data" / "criterion"


def files(name: str, *, again: bool = False) -> Files:
    return Files((DATA / f"{name}.benchmark.json").read_bytes(), (DATA / f"{name}.sample.json").read_bytes(), again)


def made(sample: str, name: str = "x") -> Suite:
    return suite({"dir": Files(json.dumps({"full_id": name}).encode(), sample.encode(), again=False)})


@pytest.mark.parametrize("version", ["0.8.2", "0.3.6"])
def test_the_captured_files(version: str) -> None:
    found = suite({each: files(f"{version}.{each}") for each in ("linear", "flat", "group")})
    assert list(found.benchmarks) == ["sum", 'a/b/"quoted"\\n🐢', "new/new/10"]
    assert {metric for each in found.benchmarks.values() for metric in each} == {"time"}
    assert found.errors == {}


def test_growing_batches_are_divided_in_their_order() -> None:
    sample = json.loads((DATA / "0.8.2.linear.sample.json").read_bytes())
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
    found = made(sample)
    assert found.benchmarks == {}
    assert why in found.errors["x"]
    assert found.errors["x"].isprintable()
