"""perfgate init on real projects: what it writes is built and measured in fresh worktrees, by `perfgate check`."""

import shutil
import sys
from pathlib import Path

import pytest

from tests.support.initialized import checked, need
from tests.support.project import repository

pytestmark = pytest.mark.endtoend

MAIN = """\
#include <stdio.h>
int main(void) { double x = 0; for (int i = 1; i < 2000000; i++) x += 1.0 / i; printf("%f\\n", x); return 0; }
"""
CARGO = {
    "Cargo.toml": '[package]\nname = "my-app"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/main.rs": 'fn main() { println!("{}", (1..2_000_000u64).map(|x| x * x % 7).sum::<u64>()); }\n',
    ".gitignore": "target\n",
}
CMAKE = {
    "CMakeLists.txt": (
        "cmake_minimum_required(VERSION 3.10)\nproject(app C)\n"
        "set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)\nadd_subdirectory(src)\n"
    ),
    "src/CMakeLists.txt": "add_executable(${PROJECT_NAME}-tool main.c)\n",
    "src/main.c": MAIN,
}
MAKE = {
    "Makefile": (
        "PROG := app\nall: $(PROG)\n$(PROG): main.o\n\t$(CC) -o $@ $^\n%.o: %.c\n\t$(CC) -O2 -c -o $@ $<\n"
        "clean:\n\trm -f $(PROG) *.o\n.PHONY: all clean\n"
    ),
    "main.c": MAIN,
}
GENERIC = {"bench.sh": "#!/bin/sh\nwc -c data/words >/dev/null\n", ".gitignore": "data/\n", "data/words": "a b\n"}
NPM = {
    "package.json": (
        '{"name": "x", "version": "1.0.0", "scripts": {"build": "node build.js", "bench": "node bench.js"}}'
    ),
    "build.js": "require('fs').writeFileSync('made.js', 'let s = 0; for (let i = 0; i < 1e6; i++) s += i % 7;');\n",
    "bench.js": "require('./made.js');\n",
    ".gitignore": "made.js\n",
}
PYTEST = {
    "pyproject.toml": (
        '[project]\nname = "my-pkg"\nversion = "1"\n[dependency-groups]\ndev = ["pytest-benchmark"]\n'
        '[tool.pytest.ini_options]\naddopts = "-n auto --cov"\n'
    ),
    "src/my_pkg/__init__.py": "def work(n):\n    return sum(range(n))\n",
    "tests/test_work.py": (
        "import pytest\nfrom my_pkg import work\n"
        '@pytest.mark.parametrize("n", [10, 100_000])\ndef test_work(benchmark, n):\n    benchmark(work, n)\n'
        "def test_once(benchmark):\n    benchmark.pedantic(work, args=(1000,), rounds=1)\n"
        "def test_plain():\n    raise AssertionError\n"
    ),
    ".gitignore": ".venv\n",
}


@pytest.mark.parametrize(
    ("kind", "programs", "files", "benchmark", "metric"),
    [
        ("cargo", "cargo", CARGO, "my-app", "active"),
        ("cmake", "cmake cc", CMAKE, "app-tool", "active"),
        ("make", "make cc", MAKE, "app", "active"),
        pytest.param("npm", "node npm", NPM, "bench", "active", marks=pytest.mark.nightly),
        ("generic", "", GENERIC, "bench", "time"),
    ],
)
def test_the_file_runs_as_it_is(
    tmp_path: Path, kind: str, programs: str, files: dict[str, str], benchmark: str, metric: str
) -> None:
    need(*programs.split())
    # one target directory for both sides would have them measure one program
    elsewhere = str(tmp_path / "elsewhere")
    # of a program that is one task its active time decides
    assert checked(repository(tmp_path / "a project", files), kind=kind, CARGO_TARGET_DIR=elsewhere) == [
        (benchmark, metric)
    ]
    assert not Path(elsewhere).exists()


@pytest.fixture
def environment() -> Path:
    """The directory of an environment that has pytest-benchmark: the one of these tests."""
    return Path(sys.executable).parent.parent


@pytest.mark.nightly
def test_pytest_benchmark_runs_as_it_is(tmp_path: Path, environment: Path) -> None:
    project = repository(tmp_path / "project", PYTEST)
    (project.top / ".venv").symlink_to(environment)
    assert sorted(checked(project, kind="pytest-benchmark")) == [
        ("pytest/tests/test_work.py::test_once", "time"),
        ("pytest/tests/test_work.py::test_work[100000]", "time"),
        ("pytest/tests/test_work.py::test_work[10]", "time"),
    ]


def test_an_installed_copy_of_the_package_is_refused(tmp_path: Path, environment: Path) -> None:
    project = repository(tmp_path / "project", PYTEST)
    (project.top / ".venv").symlink_to(environment)
    assert project.perfgate("init", "--no-try").returncode == 0
    # as an editable install of the checkout would: both sides would measure the checkout
    copy = tmp_path / "installed"
    shutil.copytree(project.top / "src", copy)
    done = project.perfgate(
        "check", "--base", "HEAD", "--set=plan.builds=1", f'--set=env.set={{PYTHONPATH = "{copy}"}}'
    )
    assert done.returncode == 4, done.stdout + done.stderr
    assert "AssertionError" in done.stdout
