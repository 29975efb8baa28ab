"""A duet as a user meets it: a host that others load, CPU time, and what cannot be measured so."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.project import Project, environment, perfgate

pytestmark = pytest.mark.endtoend

CONFIG = """\
[gate]
threshold = "3%"
[plan]
builds = {min = 4, max = 8}
executions = 2
iterations = 4
pairing = "duet"
"""
WORK = "sum(i * i for i in range(N))\n"


def benchmark(name: str) -> str:
    return f'[[benchmark]]\nname = "{name}"\ncommand = [{json.dumps(sys.executable)}, "-S", "{name}.py"]\n'


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Head does twice the work in one of two benchmarks: no load of the host that runs this hides it."""
    made = Project(tmp_path / "project")
    made.write("perfgate.toml", CONFIG + benchmark("same") + benchmark("slow"))
    for name in ("same", "slow"):
        made.write(f"{name}.py", WORK.replace("N", "400000"))
    made.commit("base")
    made.write("slow.py", WORK.replace("N", "800000"))
    made.commit("slower")
    return made


@contextmanager
def load() -> Iterator[None]:
    """Keep both processors busy."""
    busy = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(3)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def test_under_load_cpu_time_finds_the_change_and_nothing_else(project: Project) -> None:
    with load():
        done = project.perfgate("check", "--seed", "3")
    assert done.returncode == 1, done.stdout + done.stderr
    report = project.report()
    found = {f["benchmark"]: f for f in report["findings"]}
    assert {f["metric"] for f in found.values()} == {"cpu"}
    assert found["slow"]["verdict"] == "regression"
    # the interpreter's start is a part of each side's time
    assert 1.3 < found["slow"]["ratio"]["estimate"] < 2.2
    assert found["same"]["verdict"] in ("no-sign", "unchanged", "inconclusive")
    assert {r["metric"] for r in report["recorded"]} >= {"time", "user", "system"}
    assert "both sides at once (duet)" in " ".join(done.stdout.split())
    # a pair is there as a whole, and half of its time is each side's
    pairs: dict[tuple[str, int, int], list[tuple[str, float]]] = {}
    for line in (project.top / ".perfgate/measurements.jsonl").read_text().splitlines():
        of = json.loads(line)
        if of["type"] == "execution":
            place = (of["benchmark"], of["build"], of["execution"])
            pairs.setdefault(place, []).append((of["side"], of["seconds"]))
    for both in pairs.values():
        (one, half), (other, rest) = both
        assert (one, other, half) == ("base", "head", rest)


def test_wall_time_is_refused_under_load(project: Project) -> None:
    with load():
        done = project.perfgate("check", "--set", 'plan.metrics=["time"]')
    assert done.returncode == 2
    assert "time cannot be decided in a duet on this host: others take" in done.stderr
    assert 'set plan.metrics = ["cpu"]' in done.stderr


def test_what_is_interrupted_in_a_pair_goes_on_with_it(project: Project) -> None:
    argv = perfgate("check", "--seed", "3")
    with subprocess.Popen(argv, cwd=project.top, env=environment(), stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        next(line for line in process.stderr if "round 2 of" in line)
        process.kill()
    before = len(project.executions())
    assert before % 2 == 0
    done = project.perfgate("check", "--resume")
    assert done.returncode == 1, done.stdout + done.stderr
    executions = project.executions()
    assert len(executions) == len(set(executions)) > before


def test_what_a_duet_cannot_measure_is_refused_before_it_begins(project: Project) -> None:
    project.write("perfgate.toml", CONFIG + benchmark("same") + 'instrument = "values"\n')
    project.commit("values")
    done = project.perfgate("check", "--base", "HEAD")
    assert done.returncode == 2
    assert 'same: its instrument is "values", which a duet cannot measure: use plan.pairing' in done.stderr
