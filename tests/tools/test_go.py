"""The real `go test -bench`: measured, with binaries that it compiles, and its output as files."""

import csv
import io
import shutil
import statistics
import subprocess
from pathlib import Path

import pytest

from harness.instruments.go import Go
from harness.instruments.protocol import Collected, Unusable
from tests.support.tools import DATA, good, measured, need, read_as, run, status

pytestmark = [
    pytest.mark.tools,
    pytest.mark.skipif(shutil.which("go") is None, reason="absent: go (no benchmark of Go ran)"),
]
SUMS = {"example.com/tiny.BenchmarkSum", "example.com/tiny/sub.BenchmarkSum"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copytree(DATA / "go/project", tmp_path / "a b")
    return tmp_path / "a b"


def of(project: Path, command: str | list[str], **environment: str) -> Collected | Unusable:
    return measured(Go(), project, command, environment=environment)


def names(found: Collected | Unusable) -> set[str]:
    benchmarks = good(found).benchmarks
    assert not good(found).failures
    times = [each["time"] for each in benchmarks.values() if "time" in each]
    assert {(len(each.values), len(each.dropped)) for each in times} == {(2, 1)}
    return set(benchmarks)


def test_all_packages(project: Path) -> None:
    found = names(of(project, ["go", "test", "-benchtime=100x", "./..."]))
    assert found > SUMS
    assert {"example.com/tiny.BenchmarkSizes/a-2", "example.com/tiny.BenchmarkPrints"} < found


@pytest.mark.parametrize("processors", ["1", "2"])
def test_one_package_by_a_shell(project: Path, processors: str) -> None:
    found = names(of(project, "go test -bench='Sizes/a' -benchtime=100x", GOMAXPROCS=processors))
    assert {"BenchmarkSizes/a", "BenchmarkSizes/a-2"} <= found


def test_a_binary(project: Path) -> None:
    subprocess.run(["go", "test", "-c", "-o", "x.test", "."], cwd=project, check=True)
    assert "BenchmarkSum" in names(of(project, ["./x.test", "-test.benchtime=100x"]))
    left = of(project, ["./x.test", "-test.benchtime=100x"], TINY_TROUBLE="exit")
    assert status(left) == "example.com/tiny ends without PASS: it is cut short"


def test_own_options_and_a_pipe(project: Path) -> None:
    command = "go test -run='^$' -bench=Sum -benchtime=100x -count=3 ./... | tee {output}"
    assert names(of(project, command)) == SUMS
    failed = of(project, command.replace("Sum", "Trouble"), TINY_TROUBLE="fail")
    assert status(failed) == "the output reports a failure: '--- FAIL: BenchmarkTrouble'"


@pytest.mark.parametrize(("trouble", "why"), [("fail", "it failed"), ("panic", "panic: as asked")])
def test_a_failure_leaves_the_other_benchmarks(project: Path, trouble: str, why: str) -> None:
    found = good(of(project, ["go", "test", "-benchtime=100x"], TINY_TROUBLE=trouble))
    assert "BenchmarkSum" in found.benchmarks
    assert {name: each.status for name, each in found.failures.items()} == {"BenchmarkTrouble": why}


def test_a_build_that_fails(project: Path) -> None:
    (project / "tiny_test.go").write_text("package tiny\nfunc {\n")
    assert status(of(project, ["go", "test"])) == "exit 1: FAIL example.com/tiny [setup failed]"


def test_files_and_what_benchstat_says_of_them(project: Path) -> None:
    options = ("-trimpath", "-run=^$", "-bench=Sum|Sizes/[aw]", "-benchtime=100x", "-count=3")
    bench = ("go", "test", *options)
    text, events = project / "bench.txt", project / "bench.json"
    text.write_bytes(b"".join(run(*bench, *more, "./...", folder=project) for more in ([], ["-v"])))
    events.write_bytes(run(*bench, "-json", "./...", folder=project))
    found = {}
    for file in (text, events):
        reading = read_as("go_bench", file)
        assert not reading.failed
        sums = [m for m in reading.measured if m.benchmark == "BenchmarkSum"]
        found[file] = [(m.labels["pkg"], m.execution, len(m.metrics["time"].values)) for m in sums]
    once = [("example.com/tiny", 0, 3), ("example.com/tiny/sub", 0, 3)]
    assert found[events] == once
    assert found[text] == [*once, ("example.com/tiny", 1, 3), ("example.com/tiny/sub", 1, 3)]
    benchstat = need("benchstat", why="the medians were not compared with its own")
    pooled: dict[tuple[str, str, str], list[float]] = {}
    for m in read_as("go_bench", text).measured:
        for metric, each in m.metrics.items():
            pooled.setdefault((m.benchmark, m.labels["pkg"], metric), []).extend(each.values)
    shown = run(benchstat, "-format", "csv", "-row", ".fullname", text, folder=project).decode()
    rows = [row for row in csv.reader(io.StringIO(shown)) if len(row) > 1 and row[0] not in ("", "geomean")]
    expected = sorted(float(row[1]) for row in rows)
    assert sorted(statistics.median(values) for values in pooled.values()) == pytest.approx(expected)
