"""The criterion instrument with a real crate, built by cargo into .tools/."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gate.config.types import Benchmark
from harness.instruments.criterion import Criterion
from harness.instruments.protocol import Collected, Context, Unusable
from harness.process.execute import ProcessExecutor

ROOT = Path(__file__).parent.parent.parent
TARGET = ROOT / ".tools" / "criterion"
SHORT = ["--warm-up-time", "0.02", "--measurement-time", "0.05"]
pytestmark = [
    pytest.mark.tools,
    pytest.mark.skipif(shutil.which("cargo") is None, reason="absent: cargo (no benchmark of Criterion ran)"),
    # one target directory, one build
    pytest.mark.xdist_group("criterion"),
]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("criterion") / "a b"
    shutil.copytree(ROOT / "tests" / "data" / "criterion" / "project", path)
    environment = {**os.environ, "CARGO_TARGET_DIR": str(TARGET)}
    subprocess.run(["cargo", "bench", "--quiet", "--no-run"], cwd=path, env=environment, check=True)
    return path


def measured(project: Path, command: str | list[str], iterations: int = 2, **environment: str) -> Collected | Unusable:
    scratch = project.parent / "scratch ' 🐢"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    variables = {**os.environ, "CARGO_TARGET_DIR": str(TARGET), **environment}
    context = Context(project, variables, "head", seed=1, padding=3, iterations=iterations, scratch=scratch)
    benchmark = Benchmark(name="b", command=command, instrument="criterion", warmup=1)
    suite = Criterion()
    return suite.collect(benchmark, context, ProcessExecutor().run(suite.prepare(benchmark, context)))


NAMES = ['a/b/"quoted"\\n🐢', 'a/b/"quoted"\\n🐢:', "new/new/10", "new/new/1000", "sum"]


@pytest.mark.parametrize(("iterations", "values"), [(2, 9), (14, 14)])
def test_cargo_bench(project: Path, iterations: int, values: int) -> None:
    found = measured(project, ["cargo", "bench", "--bench", "tiny", "--", *SHORT], iterations)
    assert isinstance(found, Collected), found
    assert sorted(found.benchmarks) == NAMES
    assert not found.failures
    times = [each["time"] for each in found.benchmarks.values()]
    assert {(len(each.values), len(each.dropped)) for each in times} == {(values, 1)}
    assert not (project / "target" / "criterion").exists()


def test_a_compiled_benchmark_and_one_that_writes_where_it_is_told(project: Path) -> None:
    built = [
        each for each in (TARGET / "release" / "deps").glob("tiny-*") if not each.suffix and os.access(each, os.X_OK)
    ]
    newest = max(built, key=lambda each: each.stat().st_mtime)
    found = measured(project, [str(newest), "sum", *SHORT])
    assert isinstance(found, Collected), found
    assert list(found.benchmarks) == ["sum"]
    found = measured(project, f"CRITERION_HOME={{output}} '{newest}' --bench --noplot {' '.join(SHORT)} sum --quick")
    assert isinstance(found, Collected), found
    assert len(found.benchmarks["sum"]["time"].values) == 1


def test_two_targets_with_one_name(project: Path) -> None:
    found = measured(project, ["cargo", "bench", "--", *SHORT])
    assert isinstance(found, Collected), found
    assert "measured twice" in found.failures["sum"].status
    assert sorted(found.benchmarks) == NAMES[:-1]


@pytest.mark.parametrize(
    ("options", "status"),
    [
        (["--bench", "tiny", "--", *SHORT], "exit 101: panic: as asked"),
        (["--bench", "tiny", "--", *SHORT, "--baseline", "x"], "exit 101: Baseline 'x' must exist before comparison"),
        (["--bench", "nothing"], "exit 101: error: no bench target named `nothing`"),
        (["--bench", "tiny", "--", "nothing"], "Criterion wrote no results"),
    ],
)
def test_failures(project: Path, options: list[str], status: str) -> None:
    found = measured(project, ["cargo", "bench", *options], TINY_TROUBLE="panic", RUST_BACKTRACE="0")
    assert isinstance(found, Unusable)
    assert found.status.startswith(status)


def test_targets_that_are_not_of_criterion(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(project, other)
    manifest = (other / "Cargo.toml").read_text()
    (other / "Cargo.toml").write_text(manifest.replace("[lib]\nbench = false\n", ""))
    found = measured(other, ["cargo", "bench"])
    assert isinstance(found, Unusable)
    assert "a bench target that is not of Criterion does not know --noplot: name Criterion's with" in found.status
