"""The go instrument with the real `go test -bench` and with binaries that it compiles."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gate.config.types import Benchmark
from harness.instruments.go import Go
from harness.instruments.protocol import Collected, Context, Unusable
from harness.process.execute import ProcessExecutor

PROJECT = Path(__file__).parent.parent / "data" / "go" / "project"
pytestmark = [
    pytest.mark.tools,
    pytest.mark.skipif(shutil.which("go") is None, reason="absent: go (no benchmark of Go ran)"),
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copytree(PROJECT, tmp_path / "a b")
    return tmp_path / "a b"


def measured(project: Path, command: str | list[str], **environment: str) -> Collected | Unusable:
    scratch = project.parent / "scratch ' 🐢"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    context = Context(project, {**os.environ, **environment}, "head", seed=1, padding=3, iterations=2, scratch=scratch)
    benchmark = Benchmark(name="b", command=command, instrument="go", warmup=1)
    suite = Go()
    return suite.collect(benchmark, context, ProcessExecutor().run(suite.prepare(benchmark, context)))


def names(found: Collected | Unusable) -> set[str]:
    assert isinstance(found, Collected), found
    assert not found.failures
    times = [each["time"] for each in found.benchmarks.values() if "time" in each]
    assert {(len(each.values), len(each.dropped)) for each in times} == {(2, 1)}
    return set(found.benchmarks)


SUMS = {"example.com/tiny.BenchmarkSum", "example.com/tiny/sub.BenchmarkSum"}


def test_all_packages(project: Path) -> None:
    found = names(measured(project, ["go", "test", "-benchtime=100x", "./..."]))
    assert found > SUMS
    assert "example.com/tiny.BenchmarkSizes/a-2" in found
    assert "example.com/tiny.BenchmarkPrints" in found


@pytest.mark.parametrize("processors", ["1", "2"])
def test_one_package_by_a_shell(project: Path, processors: str) -> None:
    found = names(measured(project, "go test -bench='Sizes/a' -benchtime=100x", GOMAXPROCS=processors))
    assert {"BenchmarkSizes/a", "BenchmarkSizes/a-2"} <= found


def test_a_binary(project: Path) -> None:
    subprocess.run(["go", "test", "-c", "-o", "x.test", "."], cwd=project, check=True)
    assert "BenchmarkSum" in names(measured(project, ["./x.test", "-test.benchtime=100x"]))
    left = measured(project, ["./x.test", "-test.benchtime=100x"], TINY_TROUBLE="exit")
    assert isinstance(left, Unusable)
    assert left.status == "example.com/tiny ends without PASS: it is cut short"


def test_own_options_and_a_pipe(project: Path) -> None:
    command = "go test -run='^$' -bench=Sum -benchtime=100x -count=3 ./... | tee {output}"
    assert names(measured(project, command)) == SUMS
    failed = measured(project, command.replace("Sum", "Trouble"), TINY_TROUBLE="fail")
    assert isinstance(failed, Unusable)
    assert failed.status == "the output reports a failure: '--- FAIL: BenchmarkTrouble'"


@pytest.mark.parametrize(("trouble", "status"), [("fail", "it failed"), ("panic", "panic: as asked")])
def test_a_failure_leaves_the_other_benchmarks(project: Path, trouble: str, status: str) -> None:
    found = measured(project, ["go", "test", "-benchtime=100x"], TINY_TROUBLE=trouble)
    assert isinstance(found, Collected), found
    assert "BenchmarkSum" in found.benchmarks
    assert {name: each.status for name, each in found.failures.items()} == {"BenchmarkTrouble": status}


def test_a_build_that_fails(project: Path) -> None:
    (project / "tiny_test.go").write_text("package tiny\nfunc {\n")
    failed = measured(project, ["go", "test"])
    assert isinstance(failed, Unusable)
    assert failed.status == "exit 1: FAIL example.com/tiny [setup failed]"
