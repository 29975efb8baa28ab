"""perfgate init for the benchmarks of other tools: what it writes is built and measured by `perfgate check`.

The projects are in tests/data/init; dependencies are installed by the tools' own clients, as a user's would be.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.initialized import checked, need
from tests.support.project import Project, repository
from tests.support.tools import DATA

pytestmark = [pytest.mark.tools, pytest.mark.xdist_group("measures")]

_SLOW = 1800  # seconds: compiling Criterion twice on a busy machine


def project(tmp_path: Path, name: str, *ignored: str, without: str = " ") -> Project:
    """Make a project; ignored: what its .gitignore names. without: a folder that is left out."""
    top = DATA / "init" / name
    files = {str(file.relative_to(top)): file.read_text() for file in top.rglob("*") if file.is_file()}
    kept = {path: text for path, text in files.items() if not path.startswith(f"{without}/")}
    return repository(tmp_path / name, kept | ({".gitignore": "\n".join((*ignored, ""))} if ignored else {}))


def test_go_benchmarks(tmp_path: Path) -> None:
    need("go")
    cases = checked(project(tmp_path, "go"), kind="go")
    assert sorted({case.split("/", 1)[0] for case, _ in cases}) == ["a module", "inner-deep", "words"]
    # which of two views is sharper in two builds is chance
    assert {metric for _, metric in cases} <= {"time", "cpu_time"}
    # of a table, each its own; tests are none
    assert len(cases) == 4


def test_go_packages_of_one_module(tmp_path: Path) -> None:
    need("go")
    # in its own directory, as `go test` runs it
    names = ["inner-deep/BenchmarkRead/one", "inner-deep/BenchmarkRead/two", "words/BenchmarkCount"]
    cases = checked(project(tmp_path, "go", without="a module"), kind="go")
    assert sorted(case for case, _ in cases) == names


@pytest.mark.parametrize(
    ("name", "tool", "kind", "case"),
    [
        ("go-program", "go", "go", ("tool", "time")),
        ("go-tests", "go", "go", ("tests", "time")),
        # programs that no rule of the project starts
        ("c", "cc", "c", ("bench", "active")),
        ("java", "mvn", "java", ("WorkBenchmark", "time")),
    ],
)
def test_projects_without_a_suite(tmp_path: Path, name: str, tool: str, kind: str, case: tuple[str, str]) -> None:
    need(tool)
    assert checked(project(tmp_path, name), kind=kind) == [case]


@pytest.mark.parametrize(
    ("name", "cases"),
    [
        ("vitest", [("bench", 'bench/a.bench.js > sort > it\'s "quoted"'), ("bench", "bench/a.bench.js > top")]),
        ("benchmark-js", [("benchmark", "short/find"), ("benchmark", "long/find")]),
    ],
)
def test_npm_libraries(tmp_path: Path, name: str, cases: list[tuple[str, str]]) -> None:
    need("node", "npm")
    directory = project(tmp_path, name, "node_modules", "package-lock.json")
    measured = checked(directory, kind="npm", iterations=1, timeout=_SLOW)
    # which of the values that a library prints is sharper is chance, too
    assert sorted((name, metric.removesuffix(".median")) for name, metric in measured) == sorted(cases)


def test_npm_installs_what_is_locked(tmp_path: Path) -> None:
    need("node", "npm")
    directory = project(tmp_path, "npm", "node_modules")
    subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund"], cwd=directory.top, check=True)
    subprocess.run(["git", "add", "package-lock.json"], cwd=directory.top, check=True)
    assert [name for name, _ in checked(directory, kind="npm", timeout=_SLOW)] == ["bench"]
    # the checkout's own was neither linked nor emptied
    assert (directory.top / "node_modules" / "ms" / "index.js").is_file()


def test_criterion(tmp_path: Path) -> None:
    need("cargo")
    directory = project(tmp_path, "criterion", "target", "Cargo.lock")
    subprocess.run(["cargo", "generate-lockfile", "--quiet"], cwd=directory.top, check=True)
    assert checked(directory, kind="cargo", timeout=_SLOW) == [("my-bench/work", "time")]


def test_google_benchmark(tmp_path: Path) -> None:
    need("cmake", "c++")
    include = ["c++", "-E", "-x", "c++", "-"]
    if subprocess.run(include, input=b"#include <benchmark/benchmark.h>", capture_output=True).returncode:
        pytest.skip("absent: Google Benchmark (what `perfgate init` writes for it was not run)")
    cases = checked(project(tmp_path, "google-benchmark"), kind="cmake", timeout=_SLOW)
    assert [case for case, _ in cases] == ["fib_bench/BM_Fib/5", "fib_bench/BM_Fib/10"]
    # which of two views is sharper in two builds is chance
    assert {metric for _, metric in cases} <= {"time", "cpu_time"}


def test_pyperf(tmp_path: Path) -> None:
    directory = project(tmp_path, "pyperf", ".venv")
    subprocess.run([sys.executable, "-m", "venv", ".venv"], cwd=directory.top, check=True)
    subprocess.run([".venv/bin/python", "-m", "pip", "install", "--quiet", "pyperf"], cwd=directory.top, check=True)
    assert checked(directory, kind="pyperf") == [("bench_work/small", "time")]


def test_jmh(tmp_path: Path) -> None:
    need("java", "mvn")
    directory = project(tmp_path, "jmh", "target", "dependency-reduced-pom.xml")
    assert checked(directory, kind="jmh", timeout=_SLOW) == [("jmh/sample.Sum.sum:avgt", "time")]
