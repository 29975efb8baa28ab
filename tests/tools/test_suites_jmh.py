"""The jmh instrument with a real jar, built by Maven."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gate.config.types import Benchmark
from harness.instruments.jmh import Jmh
from harness.instruments.protocol import Collected, Context, Unusable
from harness.process.execute import ProcessExecutor

PROJECT = Path(__file__).parent.parent / "data" / "jmh" / "project"
SHORT = ["-w", "20ms", "-r", "20ms"]
pytestmark = [
    pytest.mark.tools,
    pytest.mark.skipif(
        shutil.which("mvn") is None or shutil.which("java") is None,
        reason="absent: mvn or java (no benchmark of JMH ran)",
    ),
    # JMH's lock lets one run at a time
    pytest.mark.xdist_group("jmh"),
]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("jmh") / "a b"
    shutil.copytree(PROJECT, path)
    subprocess.run(["mvn", "-q", "-B", "package"], cwd=path, check=True)
    return path


def measured(project: Path, command: str | list[str]) -> Collected | Unusable:
    scratch = project.parent / "scratch ' 🐢"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    context = Context(project, dict(os.environ), "head", seed=1, padding=3, iterations=2, scratch=scratch)
    benchmark = Benchmark(name="b", command=command, instrument="jmh", warmup=1)
    suite = Jmh()
    return suite.collect(benchmark, context, ProcessExecutor().run(suite.prepare(benchmark, context)))


def java(*options: str, fail: bool = False) -> list[str]:
    return ["java", f"-Dtiny.fail={str(fail).lower()}", "-jar", "target/benchmarks.jar", *SHORT, *options]


def test_modes_parameters_and_a_profiler(project: Path) -> None:
    found = measured(project, java("Tiny.fold", "-p", "size=10", "-p", "text=a b", "-prof", "gc"))
    assert isinstance(found, Collected), found
    name = "tiny.Tiny.fold:{size=10,text=a b}"
    assert set(found.benchmarks) == {f"{name}:thrpt", f"{name}:avgt"}
    throughput, time = found.benchmarks[f"{name}:thrpt"]["throughput"], found.benchmarks[f"{name}:avgt"]["time"]
    assert (throughput.unit, throughput.better, len(throughput.values), len(throughput.dropped)) == (
        "1/s",
        "higher",
        2,
        1,
    )
    assert (time.unit, time.better, len(time.values), len(time.dropped)) == ("s", "lower", 2, 1)
    # ten rounds of a loop take between a nanosecond and a millisecond, whatever the machine
    assert all(1e-9 < value < 1e-3 for value in time.values)
    assert all(1e3 < value < 1e9 for value in throughput.values)
    assert "gc.alloc.rate.norm" in found.benchmarks[f"{name}:avgt"]


def test_the_other_modes(project: Path) -> None:
    found = measured(project, java("Others", "-wi", "0"))
    assert isinstance(found, Collected), found
    others = "tiny.Tiny.Others"
    assert set(found.benchmarks) == {f"{others}.sampled:sample", f"{others}.shot:ss", f"{others}.fails:thrpt"}
    assert len(found.benchmarks[f"{others}.sampled:sample"]["p0.99"].values) == 2


def test_a_failure_is_never_passed_over(project: Path) -> None:
    found = measured(project, java("Others", "-wi", "0", fail=True))
    assert isinstance(found, Unusable)
    assert found.status == "exit 1: tiny.Tiny.Others.fails failed"
    own = ["-wi", "0", "-i", "2", "-f", "1", "-rf", "json", "-rff", "{output}"]
    found = measured(project, java("Others", *own, fail=True))
    assert isinstance(found, Unusable)
    assert found.status == "JMH reports a failure of tiny.Tiny.Others.fails"


@pytest.mark.parametrize(
    ("options", "status"),
    [
        (["nothing"], "exit 1: No matching benchmarks. Miss-spelled regexp?"),
        (["-i", "x"], "exit 1: Error parsing command line: Cannot parse argument 'x' of option i"),
        (
            ["Others.shot", "-rff", "own.json"],
            "the command has its own -rff: write `-rf json -rff {output}`, or leave both out",
        ),
    ],
)
def test_commands_that_give_nothing(project: Path, options: list[str], status: str) -> None:
    found = measured(project, java(*options))
    assert isinstance(found, Unusable)
    assert found.status == status
