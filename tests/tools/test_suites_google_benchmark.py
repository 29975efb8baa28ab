"""Google Benchmark itself, on the program that the captured output was made with."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gate.config.types import Benchmark
from harness.instruments.google_benchmark import GoogleBenchmark
from harness.instruments.protocol import Collected, Context, Unusable
from harness.process.execute import ProcessExecutor

SOURCE = Path(__file__).parent.parent / "data/google-benchmark/suite.cpp"
INSTRUMENT = GoogleBenchmark()
pytestmark = pytest.mark.tools


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("build") / "suite"
    compiler = shutil.which("c++") or shutil.which("g++")
    build = [compiler or "c++", "-O2", "-std=c++17", str(SOURCE), "-lbenchmark", "-lpthread", "-o", str(found)]
    if compiler is None or subprocess.run(build, capture_output=True, check=False).returncode:
        pytest.skip("absent: libbenchmark-dev (its adapter was tested with captured outputs only)")
    return found


@pytest.fixture
def context(tmp_path: Path) -> Context:
    (tmp_path / "it's 🐢").mkdir()
    environment = {"PATH": os.environ["PATH"]}
    return Context(tmp_path, environment, "head", 17, padding=5, iterations=3, scratch=tmp_path / "it's 🐢")


def collected(context: Context, benchmark: Benchmark) -> Collected | Unusable:
    return INSTRUMENT.collect(benchmark, context, ProcessExecutor().run(INSTRUMENT.prepare(benchmark, context)))


def test_google_benchmark(program: Path, context: Context) -> None:
    # "10x" and "0.001s" are newer than 1.7, which takes this, as all newer ones still do
    benchmark = Benchmark(name="b", command=[str(program), "--benchmark_min_time=0.001"], warmup=1)
    found = collected(context, benchmark)
    assert isinstance(found, Collected), found
    times = {name: each["time"] for name, each in found.benchmarks.items()}
    assert {name: (len(each.dropped), len(each.values)) for name, each in times.items()} == {
        "Copy/1024": (1, 3),
        "Copy/4096": (1, 3),
        "Counters/threads:2": (1, 3),
        "Undefined": (1, 3),
        "Endless": (1, 3),
        "Manual/iterations:2/manual_time": (1, 3),
        "Linear/64": (1, 3),
        "Linear/512": (1, 3),
        "Few/repeats:2": (1, 1),
        "a b/'c'\"\\d\"\\n\\t\\x01/🐢 é/iterations:10": (1, 3),
    }
    assert times["Manual/iterations:2/manual_time"].values == [0.25, 0.25, 0.25]
    assert found.benchmarks["Copy/1024"]["bytes_per_second"].better == "higher"
    assert {name: each.status for name, each in found.failures.items()} == {
        "Broken": 'no such file:\\n"data"',
        "Twice/iterations:10": "two benchmarks have this name",
        "Summary/repeats:2": "only aggregates were reported: take ReportAggregatesOnly out of its code",
    }


def test_a_filter_that_matches_nothing(program: Path, context: Context) -> None:
    found = collected(context, Benchmark(name="b", command=f"'{program}' --benchmark_filter=nothing"))
    assert isinstance(found, Unusable)
    assert found.status == "Google Benchmark ran nothing: --benchmark_filter matches no benchmark"
