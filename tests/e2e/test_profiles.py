"""Regressions that were planted in small projects: the profile that the measuring job takes names the function."""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from gate.run.profiling import profile_run
from tests.support.project import Project, environment, repository

pytestmark = pytest.mark.endtoend
PATH = os.environ["PATH"]


def absent(*programs: str) -> pytest.MarkDecorator:
    missing = [each for each in programs if shutil.which(each, path=PATH) is None]
    return pytest.mark.skipif(bool(missing), reason=f"absent: {', '.join(missing)}")


GATE = '[gate]\nthreshold = "10%"\nexplain = true\nmin_builds = 3\n[plan]\nbuilds = 3\nexecutions = 1\niterations = 3\n'
C = """\
#include <stdio.h>
static unsigned mixed(unsigned x) { for (int i = 0; i < MIXES; i++) x ^= x << 3; return x; }
unsigned weigh(unsigned n) { unsigned s = 0; for (unsigned i = 0; i < n; i++) s += mixed(i); return s; }
unsigned list(unsigned n) { unsigned s = 1; for (unsigned i = 0; i < n; i++) s = s * 31 + i; return s; }
int main(void) { unsigned s = 0; for (int k = 0; k < 20; k++) s += weigh(2000) + list(3000); return printf("%u\\n", s) < 0; }
"""
GO = """\
package words

func Hash(w string) uint32 {
	h := uint32(2166136261)
	for k := 0; k < ROUNDS; k++ {
		for i := 0; i < len(w); i++ {
			h = (h ^ uint32(w[i])) * 16777619
		}
	}
	return h
}

func Sum(ws []string) (t uint32) {
	for _, w := range ws {
		t += Hash(w)
		for i := range w {
			t ^= uint32(i) << 2
		}
	}
	return t
}
"""
GO_TEST = """\
package words

import "testing"

var sink uint32

func BenchmarkSum(b *testing.B) {
	b.Run("some words", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			sink += Sum([]string{"apple", "banana", "cherry", "a much longer word than those"})
		}
	})
}

func BenchmarkOther(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink++
	}
}
"""
PYTEST = """\
def fast(n):
    return sum(i * i for i in range(n))

def culprit(n):
    total = 0
    for i in range(WORK):
        total += i & n
    return total

def test_work(benchmark):
    benchmark(lambda: fast(300) + culprit(3))

def test_other(benchmark):
    benchmark(fast, 200)
"""


def checked(project: Project, *options: str) -> list[dict[str, Any]]:
    done = project.perfgate("check", "--base", "HEAD~1", "--head", "HEAD", "--seed", "1", *options)
    assert done.returncode == 1, done.stdout + done.stderr
    return project.records("profile", "unprofiled")


def profiled(project: Project, benchmark: str, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Measure once and profile afterwards: no verdict, which a busy host may not reach."""
    once = ("--set", "plan.builds=1", "--set", "plan.iterations=1")
    done = project.perfgate("measure", "--base", "HEAD~1", "--head", "HEAD", "--seed", "1", *once)
    assert done.returncode == 0, done.stdout + done.stderr
    monkeypatch.chdir(project.top)
    # of a function that takes five times as much, less shows enough
    for profiler in ("perf", "pprof", "python"):
        monkeypatch.setattr(f"harness.profilers.{profiler}._SECONDS", 2.0)
    # a suite of pytest sees nothing of this one
    with patch.dict(os.environ, environment(**project.own()), clear=True):
        profile_run(Path(".perfgate"), [benchmark], sys.stderr)
    return project.records("profile", "unprofiled")


def worst(lines: list[dict[str, Any]]) -> str:
    """Return the function whose own cost has grown most."""
    assert [line["type"] for line in lines] == ["profile", "profile"], lines
    own: dict[str, float] = {}
    for line, sign in zip(lines, (-1, 1), strict=True):
        for stack in line["stacks"]:
            name = line["frames"][stack["frames"][-1]]["function"]
            own[name] = own.get(name, 0.0) + sign * stack["cost"]
    return max(own, key=lambda name: own[name])


@absent("gcc", "valgrind", "addr2line")
def test_a_c_function_that_was_inlined_is_named(tmp_path: Path) -> None:
    config = f'{GATE}[build]\ncommand = "gcc -g -O2 app.c -o app"\n[[benchmark]]\nname = "app"\ncommand = ["./app"]\n'
    base = {
        "perfgate.toml": f'{config}instrument = "callgrind"\n',
        "app.c": C.replace("MIXES", "3"),
        ".gitignore": "app",
    }
    lines = checked(repository(tmp_path / "a project", base, {"app.c": C.replace("MIXES", "7")}))
    assert worst(lines) == "mixed"
    assert {line["profiler"] for line in lines} == {"callgrind"}
    assert all(line["approximate"] and line["tool"].startswith("valgrind 3.") for line in lines)
    frame = next(frame for frame in lines[1]["frames"] if frame["function"] == "mixed")
    assert frame["file"] == "app.c"


@pytest.mark.nightly
@absent("go")
def test_a_function_of_go_is_named_by_its_own_benchmark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = f'{GATE}[build]\ncommand = "go test -c -o w.test ."\n[[benchmark]]\nname = "go"\ninstrument = "go"\n'
    base = {
        "perfgate.toml": f'{config}command = "./w.test -test.benchtime=20000x"\n',
        "go.mod": "module example.com/words\n\ngo 1.21\n", ".gitignore": "w.test",
        "words.go": GO.replace("ROUNDS", "1"), "words_test.go": GO_TEST,
    }  # fmt: skip
    project = repository(tmp_path / "a project", base, {"words.go": GO.replace("ROUNDS", "6")})
    lines = profiled(project, "go/BenchmarkSum/some_words", monkeypatch)
    assert worst(lines) == "example.com/words.Hash"
    assert {line["benchmark"] for line in lines} == {"go/BenchmarkSum/some_words"}
    assert lines[0]["operations"] == lines[1]["operations"] > 1
    assert not any("BenchmarkOther" in frame["function"] for line in lines for frame in line["frames"])


@pytest.mark.nightly
def test_a_function_of_python_is_named_by_its_own_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = json.dumps([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "bench_py.py"])
    config = f'{GATE}[[benchmark]]\nname = "py"\ninstrument = "pytest-benchmark"\ncommand = {command}\n'
    base = {"perfgate.toml": config, "bench_py.py": PYTEST.replace("WORK", "300")}
    project = repository(tmp_path / "a project", base, {"bench_py.py": PYTEST.replace("WORK", "3000")})
    lines = profiled(project, "py/bench_py.py::test_work", monkeypatch)
    assert worst(lines) == "culprit"
    assert {line["benchmark"] for line in lines} == {"py/bench_py.py::test_work"}
    assert not any("test_other" in frame["function"] for line in lines for frame in line["frames"])


@pytest.mark.nightly
@absent("go", "perf")
def test_a_program_of_go_is_sampled_by_perf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # perf does not see what Go inlines
    main = GO.replace("package words", "package main").replace("func Hash", "//go:noinline\nfunc Hash")
    main = main.replace("ROUNDS", "1") + (
        "\nfunc main() {\n\tt := uint32(0)\n\tfor i := 0; i < 2000000; i++ {\n"
        '\t\tt += Sum([]string{"apple", "banana"})\n\t}\n\tprintln(t)\n}\n'
    )
    config = f'{GATE}[build]\ncommand = "go build -o app ."\n[[benchmark]]\nname = "app"\ncommand = ["./app"]\n'
    go_mod = "module example.com/words\n\ngo 1.21\n"
    base = {"perfgate.toml": config, "go.mod": go_mod, ".gitignore": "app", "main.go": main}
    project = repository(tmp_path / "a project", base, {"main.go": main.replace("k < 1;", "k < 6;")})
    lines = profiled(project, "app", monkeypatch)
    if [line.get("kind") for line in lines] == ["no-profiler"]:
        pytest.skip(f"perf samples nothing here: {lines[0]['detail']}")
    assert worst(lines) == "main.Hash"
    assert {(line["profiler"], line["unit"]) for line in lines} == {("perf", "s")}


def test_what_has_no_profiler_is_said(tmp_path: Path) -> None:
    """A program that only pretends to be Java."""
    values = "#!/bin/sh\nfor i in 1 2 3; do echo VALUE.$PERFGATE_SEED >> $1; done\n"
    config = f'{GATE}[[benchmark]]\nname = "java"\ninstrument = "values"\ncommand = "./java {{output}}"\n'
    project = Project(tmp_path / "project")
    for value in ("1", "3"):
        project.write("java", values.replace("VALUE", value))
        (project.top / "java").chmod(0o755)
        project.write("perfgate.toml", config)
        project.commit()
    (line,) = checked(project)
    assert (line["type"], line["kind"], line["benchmark"]) == ("unprofiled", "unsupported", "java")
