"""Which profiler fits a benchmark, and what is said where none can be used."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gate.config.types import Benchmark
from gate.run.profiling import profilers
from harness.host.facts import install
from harness.profilers.callgrind import PROFILER as CALLGRIND
from harness.profilers.perf import PROFILER as PERF
from harness.profilers.pprof import PROFILER as PPROF
from harness.profilers.pprof import operations
from harness.profilers.profiler import Absent, Places, Subject, is_go


def subject(directory: Path, command: list[str] | str, instrument: str = "spawn", seconds: float = 0.1) -> Subject:
    benchmark = Benchmark(name="bench", command=command, instrument=instrument)
    line = "pkg/BenchmarkX/n=1.5" if instrument == "go" else ""
    return Subject(benchmark, line, seconds, seconds, directory, dict(os.environ))


@pytest.mark.parametrize(
    ("command", "instrument", "names"),
    [
        (["./app"], "spawn", ["callgrind", "perf"]),
        ("./app | wc", "hyperfine", ["callgrind", "perf"]),
        (["./app"], "callgrind", ["callgrind", "perf"]),
        (["./goapp"], "spawn", ["perf"]),
        (["python3", "x.py"], "spawn", ["python"]),
        (["./bench"], "google-benchmark", ["callgrind"]),
        ("go test -bench . ./x", "go", ["pprof"]),
        ("pytest bench", "pytest-benchmark", ["python"]),
        (["java", "-jar", "x.jar"], "spawn", []),
        (["node", "x.js"], "spawn", []),
        ("cargo bench", "criterion", []),
        ("./gradlew jmh", "jmh", []),
    ],
)
def test_which_profilers_fit(tmp_path: Path, command: list[str] | str, instrument: str, names: list[str]) -> None:
    (tmp_path / "app").write_bytes(b"\x7fELF" + bytes(100))
    (tmp_path / "goapp").write_bytes(b"\x7fELF" + bytes(100) + b"\xff Go buildinf:")
    is_go.cache_clear()
    assert [each.name for each in profilers() if each.fits(subject(tmp_path, command, instrument))] == names


@pytest.mark.parametrize(
    ("manager", "command"),
    [("apt", "apt install valgrind"), ("dnf", "dnf install valgrind"), ("pacman", "pacman -S valgrind")],
)
def test_an_absent_tool_names_what_installs_it(tmp_path: Path, manager: str, command: str) -> None:
    (tmp_path / manager).write_text("#!/bin/sh\n")
    (tmp_path / manager).chmod(0o755)
    found = CALLGRIND.find({"PATH": str(tmp_path)})
    assert isinstance(found, Absent)
    assert found.install.removeprefix("sudo ") == command
    assert isinstance(PERF.find({"PATH": str(tmp_path)}), Absent)


def test_no_package_manager_names_nothing(tmp_path: Path) -> None:
    assert install({"PATH": str(tmp_path)}, {}, "valgrind") == ""
    (tmp_path / "brew").write_text("")
    (tmp_path / "brew").chmod(0o755)
    assert install({"PATH": str(tmp_path)}, {"brew": ""}, "valgrind") == ""


def test_both_sides_do_the_same_operations(tmp_path: Path) -> None:
    of = subject(tmp_path, "go test", "go", seconds=2e-6)
    assert operations(of) == 10_000_000
    assert operations(subject(tmp_path, "go test", "go", seconds=1000.0)) == 1
    assert PPROF.effort(of).executions == 1


def test_files_are_named_as_in_the_project(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.c").write_text("")
    places = Places(tmp_path)
    assert places.of(f"{tmp_path}/src/a.c") == "src/a.c"
    assert places.of("/somewhere/it/was/built/src/a.c") == "src/a.c"
    assert places.of("src/a.c") == "src/a.c"
    assert places.of("/usr/lib/python3.11/json/decoder.py") == "/json/decoder.py"
    assert places.of("/opt/venv/lib/python3.12/site-packages/x/y.py") == "/x/y.py"
    assert places.of("./malloc/./malloc/malloc.c") == "/malloc/malloc/malloc.c"
    assert places.of("") == ""
