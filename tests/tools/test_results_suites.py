"""Result files that the real tools write here, read back, and against what the tools themselves say of them.

PERFGATE_TEST_PYTHON names a Python that has pytest-benchmark, pyperf and asv, where scripts/tools did not make one.
"""

import csv
import io
import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from gate.formats.parts.reading import Reading, columns, read, recognised
from gate.formats.parts.source import Source

DATA = Path(__file__).parents[1] / "data"
INSTALLED = Path(__file__).parents[2] / ".tools" / "python" / "bin" / "python"
PYTHON = os.environ.get("PERFGATE_TEST_PYTHON", str(INSTALLED) if INSTALLED.exists() else sys.executable)
pytestmark = pytest.mark.tools


def need(module: str) -> None:
    if subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True, check=False).returncode:
        pytest.skip(f"absent: {module} (its format was tested with captured files only)")


def run(*command: str | Path, folder: Path) -> bytes:
    return subprocess.run(command, cwd=folder, check=True, capture_output=True).stdout


def read_as(name: str, path: Path) -> Reading:
    source = Source(str(path), path)
    assert recognised(source) == name
    return read(source)


@pytest.fixture
def benchmarked(tmp_path: Path) -> Path:
    if shutil.which("go") is None:
        pytest.skip("absent: go (no benchmark of Go ran)")
    shutil.copytree(DATA / "go" / "project", tmp_path / "go")
    options = ("-trimpath", "-run=^$", "-bench=Sum|Sizes/[aw]", "-benchtime=100x", "-count=3")
    text = b"".join(run("go", "test", *options, *more, "./...", folder=tmp_path / "go") for more in ([], ["-v"]))
    (tmp_path / "bench.txt").write_bytes(text)
    (tmp_path / "bench.json").write_bytes(run("go", "test", *options, "-json", "./...", folder=tmp_path / "go"))
    return tmp_path


def test_go(benchmarked: Path) -> None:
    found = {}
    for name in ("bench.txt", "bench.json"):
        reading = read_as("go_bench", benchmarked / name)
        assert not reading.failed
        sums = [m for m in reading.measured if m.benchmark == "BenchmarkSum"]
        found[name] = [(m.labels["pkg"], m.execution, len(m.metrics["time"].values)) for m in sums]
    once = [("example.com/tiny", 0, 3), ("example.com/tiny/sub", 0, 3)]
    assert found["bench.json"] == once
    assert found["bench.txt"] == [*once, ("example.com/tiny", 1, 3), ("example.com/tiny/sub", 1, 3)]


def test_go_against_benchstat(benchmarked: Path) -> None:
    benchstat = shutil.which("benchstat")
    if benchstat is None:
        pytest.skip("absent: benchstat (the medians were not compared with its own)")
    pooled: dict[tuple[str, str, str], list[float]] = {}
    for m in read_as("go_bench", benchmarked / "bench.txt").measured:
        for metric, each in m.metrics.items():
            pooled.setdefault((m.benchmark, m.labels["pkg"], metric), []).extend(each.values)
    shown = run(
        benchstat, "-format", "csv", "-row", ".fullname", benchmarked / "bench.txt", folder=benchmarked
    ).decode()
    rows = [row for row in csv.reader(io.StringIO(shown)) if len(row) > 1 and row[0] not in ("", "geomean")]
    expected = sorted(float(row[1]) for row in rows)
    assert sorted(statistics.median(values) for values in pooled.values()) == pytest.approx(expected)


def test_pytest_benchmark(tmp_path: Path) -> None:
    need("pytest_benchmark")
    shutil.copy(DATA / "pytest-benchmark" / "pytest_suite.py", tmp_path / "test_suite.py")
    options = (
        "--benchmark-only",
        "--benchmark-max-time=0.01",
        "--benchmark-storage=file://saved",
        "--benchmark-save=x",
    )
    run(PYTHON, "-m", "pytest", "-q", "test_suite.py", *options, "--benchmark-json=full.json", folder=tmp_path)
    own = {each["fullname"]: each["stats"] for each in json.loads((tmp_path / "full.json").read_text())["benchmarks"]}
    full = read_as("pytest_benchmark", tmp_path / "full.json").measured
    assert len(full) == len(own) > 5
    counts = {m.benchmark: len(m.metrics["time"].values) for m in full}
    assert sorted(counts.values()) == sorted(stats["rounds"] for stats in own.values())
    means = sorted(statistics.fmean(m.metrics["time"].values) for m in full)
    assert means == pytest.approx(sorted(stats["mean"] for stats in own.values()))
    saved = read_as("pytest_benchmark", next((tmp_path / "saved").glob("*/*.json")))
    assert not saved.measured
    assert {a.benchmark for a in saved.aggregates} == {m.benchmark for m in full}


@pytest.mark.parametrize("name", ["x.json", "x.json.gz"])
def test_pyperf(tmp_path: Path, name: str) -> None:
    need("pyperf")
    options = ("--processes=3", "--values=2", "--warmups=1", "--min-time=0.001", "-q", "-o", name)
    run(PYTHON, "-m", "pyperf", "timeit", *options, "sum(range(10))", folder=tmp_path)
    reading = read_as("pyperf", tmp_path / name)
    shapes = [(m.execution, len(m.metrics["time"].values), len(m.metrics["time"].dropped)) for m in reading.measured]
    assert shapes == [(0, 2, 1), (1, 2, 1), (2, 2, 1)]
    said = run(PYTHON, "-c", f"import pyperf; print(pyperf.Benchmark.load({name!r}).median())", folder=tmp_path)
    assert statistics.median(v for m in reading.measured for v in m.metrics["time"].values) == pytest.approx(
        float(said)
    )


def test_asv(tmp_path: Path) -> None:
    need("asv")
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "__init__.py").write_text("")
    (tmp_path / "benchmarks" / "tiny.py").write_text(
        "class Suite:\n    params = [1, 2]\n    param_names = ['n']\n    number = repeat = 3\n    warmup_time = 0\n"
        "    def time_it(self, n):\n        sum(range(n))\n    def peakmem_it(self, n):\n        pass\n"
    )
    config = {"version": 1, "project": "x", "project_url": "x", "repo": ".", "environment_type": "existing"}
    (tmp_path / "asv.conf.json").write_text(json.dumps(config | {"results_dir": "results"}))
    run("git", "init", "-q", ".", folder=tmp_path)
    author = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    run("git", *author, "commit", "-q", "--allow-empty", "-m", "x", folder=tmp_path)
    sha = run("git", "rev-parse", "HEAD", folder=tmp_path).decode().strip()
    asv = (PYTHON, "-m", "asv")
    subprocess.run(
        [*asv, "machine", "--yes"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        env=os.environ | {"HOME": str(tmp_path)},
    )
    command = [*asv, "run", "--python=same", "--set-commit-hash", sha, "--record-samples"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, env=os.environ | {"HOME": str(tmp_path)})
    ((label, reading),) = columns(read_as("asv", tmp_path / "results"))
    assert label == sha[:8]
    assert {(m.benchmark, m.labels["n"], *m.metrics) for m in reading.measured} == {
        (f"tiny.Suite.{name}_it({n})", n, metric)
        for name, metric in (("time", "time"), ("peakmem", "memory"))
        for n in "12"
    }
