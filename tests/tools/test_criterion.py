"""Criterion with a real crate, built by cargo into .tools/: measured, and its folder against critcmp and its text."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.instruments.criterion import Criterion
from harness.instruments.protocol import Collected, Unusable
from tests.support.tools import DATA, ROOT, good, measured, need, read_as, run, status

TARGET = ROOT / ".tools" / "criterion"
SHORT = ["--warm-up-time", "0.02", "--measurement-time", "0.05"]
NAMES = ['a/b/"quoted"\\n🐢', 'a/b/"quoted"\\n🐢:', "new/new/10", "new/new/1000", "sum"]
pytestmark = [
    pytest.mark.tools,
    pytest.mark.skipif(shutil.which("cargo") is None, reason="absent: cargo (no benchmark of Criterion ran)"),
    # one target directory, one build
    pytest.mark.xdist_group("criterion"),
]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("criterion") / "a b"
    shutil.copytree(DATA / "criterion/project", path)
    environment = {**os.environ, "CARGO_TARGET_DIR": str(TARGET)}
    subprocess.run(["cargo", "bench", "--quiet", "--no-run"], cwd=path, env=environment, check=True)
    return path


def of(project: Path, command: str | list[str], iterations: int = 2, **environment: str) -> Collected | Unusable:
    environment["CARGO_TARGET_DIR"] = str(TARGET)
    return measured(
        Criterion(), project, command, iterations=iterations, environment=environment, instrument="criterion"
    )


@pytest.mark.parametrize(("iterations", "values"), [(2, 9), (14, 14)])
def test_cargo_bench(project: Path, iterations: int, values: int) -> None:
    found = good(of(project, ["cargo", "bench", "--bench", "tiny", "--", *SHORT], iterations))
    assert (sorted(found.benchmarks), found.failures) == (NAMES, {})
    times = [each["time"] for each in found.benchmarks.values()]
    assert {(len(each.values), len(each.dropped)) for each in times} == {(values, 1)}
    assert not (project / "target" / "criterion").exists()


def test_a_compiled_benchmark_and_one_that_writes_where_it_is_told(project: Path) -> None:
    built = [each for each in (TARGET / "release/deps").glob("tiny-*") if not each.suffix and os.access(each, os.X_OK)]
    newest = max(built, key=lambda each: each.stat().st_mtime)
    assert list(good(of(project, [str(newest), "sum", *SHORT])).benchmarks) == ["sum"]
    command = f"CRITERION_HOME={{output}} '{newest}' --bench --noplot {' '.join(SHORT)} sum --quick"
    assert len(good(of(project, command)).benchmarks["sum"]["time"].values) == 1


def test_two_targets_with_one_name(project: Path) -> None:
    found = good(of(project, ["cargo", "bench", "--", *SHORT]))
    assert "measured twice" in found.failures["sum"].status
    assert sorted(found.benchmarks) == NAMES[:-1]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--bench", "tiny", "--", *SHORT], "exit 101: panic: as asked"),
        (["--bench", "tiny", "--", *SHORT, "--baseline", "x"], "exit 101: Baseline 'x' must exist before comparison"),
        (["--bench", "nothing"], "exit 101: error: no bench target named `nothing`"),
        (["--bench", "tiny", "--", "nothing"], "Criterion wrote no results"),
    ],
)
def test_failures(project: Path, options: list[str], why: str) -> None:
    found = of(project, ["cargo", "bench", *options], TINY_TROUBLE="panic", RUST_BACKTRACE="0")
    assert status(found).startswith(why)


def test_targets_that_are_not_of_criterion(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(project, other)
    manifest = (other / "Cargo.toml").read_text()
    (other / "Cargo.toml").write_text(manifest.replace("[lib]\nbench = false\n", ""))
    why = "a bench target that is not of Criterion does not know --noplot: name Criterion's with"
    assert why in status(of(other, ["cargo", "bench"]))


def test_its_folder_by_critcmp_and_by_its_text(project: Path, tmp_path: Path) -> None:
    home = {"CARGO_TARGET_DIR": str(TARGET), "CRITERION_HOME": str(tmp_path / "criterion")}
    printed = b""
    for baseline in ("before", "after"):
        options = [*SHORT, "--sample-size", "10", "--noplot", "--save-baseline", baseline, "sum|new"]
        printed = run("cargo", "bench", "--bench", "tiny", "--", *options, folder=project, env=home)
    folder = read_as("criterion", tmp_path / "criterion").measured
    assert {each.labels["baseline"] for each in folder} == {"before", "after"}
    after = [each for each in folder if each.labels["baseline"] == "after"]
    means = {each.benchmark: sum(each.metrics["time"].values) / 10 for each in after}
    assert {each.benchmark for each in read_as("criterion", printed).aggregates} == set(means)
    exported = json.loads(run(need("critcmp"), "--target-dir", tmp_path, "--export", "after"))["benchmarks"]
    assert {
        name: own["criterion_estimates_v1"]["mean"]["point_estimate"] * 1e-9 for name, own in exported.items()
    } == pytest.approx(means)
