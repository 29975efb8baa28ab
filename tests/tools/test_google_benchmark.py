"""Google Benchmark itself, on the program that the captured output was made with: measured, and its files."""

import json
import subprocess
from pathlib import Path

import pytest

from harness.instruments.google_benchmark import GoogleBenchmark
from tests.support.foreign import measured as processes
from tests.support.tools import CAPTURED_ONLY, DATA, good, measured, need, read_as, run, status

pytestmark = pytest.mark.tools


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("build") / "suite"
    source = str(DATA / "google-benchmark/suite.cpp")
    build = [need("c++"), "-O2", "-std=c++17", source, "-lbenchmark", "-lpthread", "-o", str(found)]
    if subprocess.run(build, capture_output=True, check=False).returncode:
        pytest.skip(f"absent: libbenchmark-dev ({CAPTURED_ONLY})")
    return found


def test_google_benchmark(program: Path) -> None:
    # "10x" and "0.001s" are newer than 1.7, which takes this, as all newer ones still do
    command = [str(program), "--benchmark_min_time=0.001"]
    found = good(measured(GoogleBenchmark(), program.parent, command, iterations=3))
    times = {name: each["time"] for name, each in found.benchmarks.items()}
    names = ["Copy/1024", "Copy/4096", "Counters/threads:2", "Undefined", "Endless", "Linear/64", "Linear/512"]
    names += ["Manual/iterations:2/manual_time", "a b/'c'\"\\d\"\\n\\t\\x01/🐢 é/iterations:10"]
    assert {name: (len(each.dropped), len(each.values)) for name, each in times.items()} == {
        **dict.fromkeys(names, (1, 3)),
        "Few/repeats:2": (1, 1),
    }
    assert times["Manual/iterations:2/manual_time"].values == [0.25, 0.25, 0.25]
    assert found.benchmarks["Copy/1024"]["bytes_per_second"].better == "higher"
    assert {name: each.status for name, each in found.failures.items()} == {
        "Broken": 'no such file:\\n"data"',
        "Twice/iterations:10": "two benchmarks have this name",
        "Summary/repeats:2": "only aggregates were reported: take ReportAggregatesOnly out of its code",
    }
    none = measured(GoogleBenchmark(), program.parent, f"'{program}' --benchmark_filter=nothing", warmup=0)
    assert status(none) == "Google Benchmark ran nothing: --benchmark_filter matches no benchmark"


def test_its_files(program: Path, tmp_path: Path) -> None:
    options = ["--benchmark_filter=Copy", "--benchmark_min_time=0.001", "--benchmark_repetitions=3"]
    run(program, *options, "--benchmark_out=out.json", folder=tmp_path)
    found = read_as("google_benchmark", tmp_path / "out.json")
    assert [(each.benchmark, len(each.metrics["time"].values)) for each in found.measured] == [
        ("Copy/1024", 3),
        ("Copy/4096", 3),
    ]
    rows = json.loads((tmp_path / "out.json").read_text())["benchmarks"]
    for row in (row for row in rows if row.get("aggregate_name") == "mean"):
        (own,) = processes(found, row["run_name"])
        assert sum(own.metrics["time"].values) / 3 == pytest.approx(row["real_time"] * 1e-9)
