"""A study that is paused and killed, as a user runs it: at the end all of it is there, and once."""

import json
import random
import re
import shlex
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from gate.model import Build, Execution
from tests.support.project import Project, repository

pytestmark = pytest.mark.endtoend

BENCH = """\
import os, sys, time
time.sleep(float(os.environ.get("NAP", "0.05")))
with open(sys.argv[1], "w") as out:
    out.write(f"{int(sys.argv[2])}.{int(os.environ['PERFGATE_SEED']) % 1000}\\n")
"""
CONFIG = """\
[plan]
sandbox = "off"
[build]
command = "echo {opt} {seed} > built"
[[benchmark]]
name = "bench"
command = ["python3", "-S", "bench.py", "{output}", "{clients}"]
instrument = "values"
[study]
replicates = 4
builds = 2
iterations = 1
[study.factor]
clients = [1, 8]
opt = ["O0", "O2"]
"""
TREATMENTS = 4


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A study that has begun, for tests that add nothing to it."""
    project = made_in(tmp_path_factory.mktemp("begun"))
    project.perfgate("study", "measure", "--set", "study.budget=300ms")
    return project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return made_in(tmp_path)


def made_in(folder: Path) -> Project:
    return repository(folder / "repo", {"bench.py": BENCH, "perfgate.toml": CONFIG, ".gitignore": "built\n"})


def executions(project: Project, folder: str = ".perfgate/study") -> list[Execution]:
    return [record for record in project.read(folder) if isinstance(record, Execution)]


def require_whole(project: Project, replicates: int, folder: str = ".perfgate/study") -> None:
    """Every treatment has the planned executions, none twice, in one order, each with the seed of its build."""
    found = executions(project, folder)
    assert [e.order for e in found] == list(range(TREATMENTS * replicates))
    assert Counter(json.dumps(e.factors) for e in found) == {
        json.dumps({"clients": clients, "opt": opt}): replicates for clients in (1, 8) for opt in ("O0", "O2")
    }
    places = [(json.dumps(e.factors), e.build, e.execution) for e in found]
    assert len(set(places)) == len(places)
    builds = [(r.build, json.dumps(r.factors)) for r in project.read(folder) if isinstance(r, Build)]
    assert len(set(builds)) == len(builds)
    # the schedule that is laid out at once has the same order
    assert [(e.build, e.execution) for e in found[::TREATMENTS]] == [
        (build, number) for build in range(2) for number in range(replicates // 2)
    ]


def paused(project: Project, *job: str) -> str:
    """Let a budget end behind the first replicate: a short one, or where the host is too busy for it a long one."""
    said = ""
    for budget, nap in (("3s", "0.2"), ("30s", "1.9")):
        done = project.process("study", "measure", *job, "--set", f"study.budget={budget}", NAP=nap)
        said = done.stderr
        if done.returncode == 0:
            assert "paused" in said
            return said
    pytest.fail(said)


def test_a_budget_that_ends_is_a_pause_and_the_command_it_names_goes_on(project: Project) -> None:
    said = paused(project)
    first = executions(project)
    assert TREATMENTS <= len(first) < TREATMENTS * 4
    assert re.search(rf" s ended.*; {len(first) // TREATMENTS} of 4 replicates", said)
    (options,) = re.findall(r"add `(--resume.*?)` to the command", said)
    command = f"study measure {options}"
    analysed = project.perfgate("study", "analyse", "--quiet")
    assert analysed.stdout.startswith("! Not finished: ")
    planned = project.perfgate(*shlex.split(command), "--dry-run", "--all")
    assert planned.returncode == 0, planned.stderr
    assert f"goes on: {len(first) // TREATMENTS} of 4 replicates" in planned.stdout
    assert planned.stdout.count("  execute  ") == TREATMENTS * 4 - len(first)
    assert executions(project) == first
    while len(executions(project)) < TREATMENTS * 4:
        again = project.perfgate(*shlex.split(command), NAP="0")
        assert again.returncode == 0, again.stderr
        before = len(first)
        first = executions(project)
        assert len(first) > before
    require_whole(project, 4)
    done = project.process("study", "--resume", "--quiet")
    assert done.returncode == 0 and "Not finished" not in done.stdout, done.stderr
    assert executions(project) == first


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ("study.replicates=3", "study.replicates was 4, is 3"),
        ("study.builds=1", "study.builds was 2, is 1"),
        ("study.iterations=2", "study.iterations was 1, is 2"),
        ("study.exclude=[{clients=1,opt='O0'}]", "study.exclude[0] was none, is a table"),
        ("build.relink=off", 'build.relink was "auto", is "off"'),
    ],
)  # fmt: skip
def test_another_study_is_refused_by_the_key_that_differs(begun: Project, option: str, why: str) -> None:
    other = begun.perfgate("study", "measure", "--resume", "--set", option)
    refused = f"perfgate: --resume: cannot continue the run in .perfgate/study: {why}\n"
    assert (other.returncode, other.stderr) == (2, refused)


def test_changed_programs_are_refused(project: Project) -> None:
    project.perfgate("study", "measure", "--set", "study.budget=300ms")
    project.write("bench.py", BENCH + "#")
    other = project.perfgate("study", "measure", "--resume")
    assert other.returncode == 2
    assert re.search(r"study: head was \w+, is \w+ with changes\n$", other.stderr)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.nightly)])
def test_kills_and_pauses_at_random_moments(project: Project, seed: int) -> None:
    rng = random.Random(seed)
    options: list[str] = []
    for _ in range(8):
        budget = rng.choice(("1s", "2s", "1h"))
        options = ["--set", f"study.budget={budget}"]
        running = project.begin("study", "measure", "--resume", *options)
        number = rng.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, None))
        if number is not None:
            time.sleep(rng.uniform(0.3, 2.5))
            running.send_signal(number)
        _, err = running.communicate(timeout=120)
        assert "Traceback" not in err
        assert running.returncode in (0, 4, -signal.SIGKILL, -signal.SIGTERM, 128 + signal.SIGTERM), err
    last = project.perfgate("study", "measure", "--resume", *options, "--set", "study.budget=1h")
    assert last.returncode == 0, last.stderr
    require_whole(project, 4)
