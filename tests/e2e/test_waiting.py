"""A machine that another program holds: waited for with a limit, then a failure that names it; nothing is lost."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.project import CONFIG, Project, repository, speed, until

pytestmark = pytest.mark.endtoend

HOLD = (
    "import fcntl, sys; f = open(sys.argv[1], 'a'); fcntl.flock(f, fcntl.LOCK_EX); print(flush=True); sys.stdin.read()"
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    config = CONFIG.replace("builds = 5", "builds = 2")
    return repository(tmp_path / "repo", {"perfgate.toml": config, **speed(1.0)}, {"other": ""})


@contextmanager
def held(project: Project) -> Iterator[None]:
    """Have a stranger hold the machine."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, project.own()["PERFGATE_LOCK"]],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        yield
        assert holder.stdin is not None
        holder.stdin.close()


def one_line(text: str) -> str:
    return " ".join(text.split())


def test_a_machine_that_stays_held_is_an_error_that_names_the_holder(project: Project) -> None:
    project.perfgate("check")
    before = project.report()["run"]["id"]
    with held(project):
        done = project.perfgate("check", "--wait", "300ms", "--json", "out.json")
    report = project.report()
    (failure,) = report["failures"]
    assert (done.returncode, report["verdict"], report["exit_code"], failure["kind"]) == (4, "error", 4, "lock")
    assert "did not register as perfgate" in failure["status"]
    assert report["summary"]["kind"] == "machine-not-free"
    assert (project.top / "out.json").read_text() == (project.top / ".perfgate/report.json").read_text()
    assert "waiting for a process that did not register as perfgate; for at most" in done.stderr
    assert done.stderr.count("waiting for") == 1
    assert "for at most 300 ms (until " in done.stderr
    assert "Error: nothing was measured: " in one_line(done.stdout)
    assert "wait longer: `perfgate check --json out.json --wait 1h`" in one_line(done.stdout)
    # the run before is kept among the past ones
    assert (project.top / ".perfgate/runs" / before / "report.json").exists()
    # what it left can be gone on with, and then the wait is no failure any more
    again = project.perfgate("check", "--resume")
    assert (again.returncode, project.report()["failures"]) == (0, []), again.stdout


@pytest.mark.parametrize("command", ["measure", "calibrate", "study measure"])
def test_commands_without_a_verdict_end_the_same_way(project: Project, command: str) -> None:
    project.write("perfgate.toml", f"{CONFIG}[study.factor]\nn = [1, 2]\n")
    with held(project):
        done = project.perfgate(*command.split(), "--wait", "0")
    assert done.returncode == 4
    assert "a process that did not register as perfgate" in one_line(done.stdout + done.stderr)
    assert "waiting for" not in done.stderr


def test_the_folder_that_the_holder_measures_into_is_left_alone(project: Project) -> None:
    project.write("bench.py", "import time\ntime.sleep(1234.5)\n")
    project.commit()
    project.write("other", "changed")
    # of which a twentieth is for base's first start
    first = project.begin("check", "--set", "plan.budget=1m", heard=False)
    until(lambda: sum('"type":"build"' in line for line in project.lines()) == 2)
    before = project.lines()
    for arguments in (("check",), ("check", "--resume", "--set", "plan.budget=1m")):
        done = project.perfgate(*arguments, "--wait", "0")
        assert done.returncode == 4, done.stderr
        assert f"process {first.pid} (user " in one_line(done.stdout)
        assert project.lines() == before
        assert not (project.top / ".perfgate/report.json").exists()
    assert len(list(project.top.glob(".perfgate/runs/*/report.json"))) == 2
    first.terminate()
    first.communicate(timeout=60)
    assert first.returncode == 128 + signal.SIGTERM


@pytest.mark.parametrize(("number", "resume"), [(signal.SIGINT, False), (signal.SIGTERM, True)])
def test_a_signal_ends_the_wait_and_leaves_nothing(project: Project, number: signal.Signals, resume: bool) -> None:
    assert project.perfgate("check").returncode == 0
    folder, scratch = project.top / ".perfgate", project.top.parent / "scratch"
    scratch.mkdir()
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with held(project):
        waiting = project.begin("check", *(["--resume"] if resume else []), TMPDIR=str(scratch))
        assert waiting.stderr is not None
        said = ""
        while "waiting for" not in said:
            said += (line := waiting.stderr.readline())
            assert line, said
        os.kill(waiting.pid, number)
        try:
            out, err = waiting.communicate(timeout=120)
        finally:
            waiting.kill()
    assert (waiting.returncode, out) == (128 + number, "")
    kept = "4 starts are kept in .perfgate/measurements.jsonl" if resume else "nothing was measured"
    assert f"perfgate: {number.name}: {kept}" in err
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert list(scratch.iterdir()) == []
