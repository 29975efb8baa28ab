"""Result files that native tools write here, read back, and against what the tools themselves say of them."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gate.formats.parts.reading import Reading, read, recognised
from gate.formats.parts.source import Source

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
# shared with tests/tools/test_suites_criterion.py: one target directory, one build
TARGET = ROOT / ".tools" / "criterion"
SHORT = ("--warm-up-time", "0.02", "--measurement-time", "0.02", "--sample-size", "10", "--noplot")
pytestmark = [pytest.mark.tools, pytest.mark.xdist_group("criterion")]


def need(*names: str) -> str:
    """Find the last of some tools."""
    for name in names:
        if shutil.which(name, path=f"{ROOT / '.tools/bin'}:{os.environ['PATH']}") is None:
            pytest.skip(f"absent: {name} (its format was tested with captured files only)")
    return str(shutil.which(names[-1], path=f"{ROOT / '.tools/bin'}:{os.environ['PATH']}"))


def read_as(name: str, path: Path) -> Reading:
    source = Source(str(path), path)
    assert recognised(source) == name
    return read(source)


@pytest.fixture(scope="module")
def criterion(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two baselines of Criterion, and what the second run printed."""
    need("cargo")
    path = tmp_path_factory.mktemp("criterion")
    shutil.copytree(DATA / "criterion" / "project", path / "project")
    environment = {**os.environ, "CARGO_TARGET_DIR": str(TARGET), "CRITERION_HOME": str(path / "criterion")}
    for baseline in ("before", "after"):
        bench = ["cargo", "bench", "--bench", "tiny", "--", *SHORT, "--save-baseline", baseline, "sum|new"]
        text = subprocess.run(bench, cwd=path / "project", env=environment, check=True, capture_output=True).stdout
        (path / "printed.txt").write_bytes(text)
    return path


def test_criterion_by_its_folder_by_critcmp_and_by_its_text(criterion: Path) -> None:
    critcmp = need("cargo", "critcmp")
    folder = read_as("criterion", criterion / "criterion")
    assert {each.labels["baseline"] for each in folder.measured} == {"before", "after"}
    means = {
        each.benchmark: sum(each.metrics["time"].values) / 10
        for each in folder.measured
        if each.labels["baseline"] == "after"
    }
    export = criterion / "after.json"
    command = [critcmp, "--target-dir", str(criterion), "--export", "after"]
    export.write_bytes(subprocess.run(command, check=True, capture_output=True).stdout)
    exported = json.loads(export.read_bytes())["benchmarks"]
    assert {name: own["criterion_estimates_v1"]["mean"]["point_estimate"] * 1e-9 for name, own in exported.items()} == (
        pytest.approx(means)
    )
    printed = read_as("criterion", criterion / "printed.txt").aggregates
    assert {each.benchmark for each in printed} == set(means)


def test_callgrind(tmp_path: Path) -> None:
    valgrind, compiler = need("valgrind"), need("gcc")
    source = DATA / "callgrind" / "tiny.c"
    build = [compiler, "-O1", "-nostdlib", "-static", "-o", "tiny", str(source)]
    if subprocess.run(build, cwd=tmp_path, check=False).returncode:
        pytest.skip("absent: a compiler for x86-64 (callgrind was tested with captured files only)")
    command = [valgrind, "--tool=callgrind", "--callgrind-out-file=out", "./tiny"]
    said = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True).stderr
    (tmp_path / "said").write_bytes(said)
    counts = [
        read_as("callgrind", tmp_path / name).measured[0].metrics["instructions"].values for name in ("out", "said")
    ]
    collected = re.search(rb"Collected : (\d+)", said)
    assert collected
    assert counts == [[float(collected[1])]] * 2


def test_google_benchmark(tmp_path: Path) -> None:
    compiler = need("c++")
    program = tmp_path / "suite"
    source = DATA / "google-benchmark" / "suite.cpp"
    build = [compiler, "-O2", "-std=c++17", str(source), "-lbenchmark", "-lpthread", "-o", str(program)]
    if subprocess.run(build, capture_output=True, check=False).returncode:
        pytest.skip("absent: libbenchmark-dev (its files were tested with captured ones only)")
    for kind in ("json", "csv"):
        options = ["--benchmark_filter=Copy", "--benchmark_min_time=0.001", "--benchmark_repetitions=3"]
        command = [str(program), *options, f"--benchmark_out=out.{kind}", f"--benchmark_out_format={kind}"]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
        found = read_as("google_benchmark", tmp_path / f"out.{kind}")
        assert [(each.benchmark, len(each.metrics["time"].values)) for each in found.measured] == [
            ("Copy/1024", 3),
            ("Copy/4096", 3),
        ]
    rows = json.loads((tmp_path / "out.json").read_text())["benchmarks"]
    means = {row["run_name"]: row["real_time"] * 1e-9 for row in rows if row.get("aggregate_name") == "mean"}
    measured = read_as("google_benchmark", tmp_path / "out.json").measured
    assert {each.benchmark: sum(each.metrics["time"].values) / 3 for each in measured} == pytest.approx(means)
