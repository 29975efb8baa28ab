"""A suite through the whole gate: one command, many benchmarks, each with its own verdict."""

import json
import sys
from pathlib import Path

import pytest

from tests.support.project import Project, repository

pytestmark = pytest.mark.endtoend

# A clock that only work moves on: what is measured is the suite's, and no other load on the machine decides a verdict.
CLOCK = """\
import os, random

_draw = random.Random(int(os.environ["PERFGATE_SEED"]))
_now = 0.0

def now():
    global _now
    _now += 1e-9
    return _now

def work(seconds):
    global _now
    _now += seconds * _draw.uniform(1, 1.02)
"""
BENCH = """\
from clock import work

def test_first(benchmark):
    benchmark.pedantic(work, (FIRST,), rounds=3)

def test_second(benchmark):
    benchmark.pedantic(work, (0.004,), rounds=3)
"""
CONFIG = f"""\
[gate]
threshold = "20%"
sameness = "off"
[plan]
sandbox = "off"
builds = 5
executions = 1
iterations = 2
[[benchmark]]
name = "py"
command = [{json.dumps(sys.executable)}, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--benchmark-timer=clock.now", "bench_py.py"]
instrument = "pytest-benchmark"
warmup = 1
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    files = {"perfgate.toml": CONFIG, "clock.py": CLOCK, "bench_py.py": BENCH.replace("FIRST", "0.004")}
    return repository(tmp_path / "a suite", files)


def test_each_benchmark_of_a_suite_has_a_verdict(project: Project) -> None:
    project.write("bench_py.py", BENCH.replace("FIRST", "0.012"))
    done = project.perfgate("check", "--base", "HEAD")
    assert done.returncode == 1, done.stdout + done.stderr
    verdicts = {f["benchmark"]: f["verdict"] for f in project.report()["findings"]}
    assert verdicts["py/bench_py.py::test_first"] == "regression"
    assert verdicts["py/bench_py.py::test_second"] == "unchanged"
    executions = project.records("execution")
    assert len(executions) == 2 * 5 * 2
    assert {(e["suite"], e["lines"], e["warmup"]) for e in executions} == {("py", 2, 1)}
    assert "test_first is" in done.stdout
    assert "names begin with py/bench_py.py::" in " ".join(done.stdout.split())


def test_a_glob_that_names_no_case_is_said(project: Project) -> None:
    once = ("check", "--base", "HEAD", "--set", "plan.builds=2")
    done = project.perfgate(*once, "--benchmark", "*secnod*")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(
        "perfgate: --benchmark *secnod*: no case of py has such a name, so nothing was measured\n"
    )
    done = project.perfgate(*once, "--benchmark", "*second*", "--benchmark", "py/*frist")
    assert "perfgate: warning: --benchmark py/*frist: no case that ran has such a name\n" in done.stderr
    assert [f["benchmark"] for f in project.report()["findings"]] == ["py/bench_py.py::test_second"]
    done = project.perfgate(*once, "--benchmark", "bench_py.py::test_second")
    assert done.stderr == (
        "perfgate: --benchmark bench_py.py::test_second: matches none of py "
        "(the cases of py are py/NAME: try '*bench_py.py::test_second*')\n"
    )


def test_what_head_s_suite_lacks_is_missing_and_what_it_adds_is_new(project: Project) -> None:
    project.write("bench_py.py", BENCH.replace("FIRST", "0.004").replace("test_second", "test_third"))
    done = project.perfgate("check", "--base", "HEAD", "--set", "plan.builds=2")
    assert done.returncode == 4, done.stdout + done.stderr
    report = project.report()
    assert [(f["kind"], f["benchmark"], f["side"]) for f in report["failures"]] == [
        ("missing", "py/bench_py.py::test_second", "head")
    ]
    assert report["new"] == ["py/bench_py.py::test_third"]


def test_a_suite_half_of_which_fails_is_no_pass(project: Project) -> None:
    project.write(
        "bench_py.py",
        BENCH.replace("FIRST", "0.004").replace(
            "def test_second(benchmark):", "def test_second(benchmark):\n    assert 0"
        ),
    )
    done = project.perfgate("check", "--base", "HEAD", "--set", "plan.builds=2")
    assert done.returncode == 4, done.stdout + done.stderr
    (failure,) = project.report()["failures"]
    assert (failure["benchmark"], failure["side"]) == ("py", "head")
    assert failure["status"].startswith("exit 1: 1 failed")
    assert "assert 0" in failure["stderr"]


@pytest.mark.parametrize(
    "base", ["", pytest.param("def test_plain():\n    pass\n", marks=pytest.mark.nightly)], ids=["exit 5", "no fixture"]
)
def test_the_first_benchmark_of_a_suite_is_new(project: Project, base: str) -> None:
    """pytest ends with 5 where it collects nothing, and with 0 where it skips everything."""
    project.write("bench_py.py", base)
    project.commit("no benchmark yet")
    project.write("bench_py.py", BENCH.replace("FIRST", "0.004"))
    done = project.perfgate("check", "--base", "HEAD", "--set", "plan.builds=2")
    assert done.returncode == 0, done.stdout + done.stderr
    report = project.report()
    assert report["new"] == ["py/bench_py.py::test_first", "py/bench_py.py::test_second"]
    assert (report["failures"], report["summary"]["kind"]) == ([], "nothing-to-compare")
    assert done.stdout.startswith("○ Nothing to compare yet: py has no benchmark in base\n")
    assert len(project.records("execution")) == 2
