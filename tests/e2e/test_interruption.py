"""Nothing that was measured is lost: interruptions, kill -9 at random moments, two gates at once."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.project import CONFIG, Project, environment, executable, perfgate, repository, speed, until
from tests.support.screen import OnTerminal, Screen

pytestmark = pytest.mark.endtoend

SLOW = (
    CONFIG.replace("executions = 1", "executions = 3").replace('"off"', '"auto"')
    + '[build]\ncommand = "sleep 0.05; echo {seed} > built"\nartifacts = ["built"]\n'
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return repository(tmp_path / "repo", {"perfgate.toml": SLOW, ".gitignore": "built\n", **speed(1.0)}, speed(1.2))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_keeps_what_was_measured_and_cleans_up(
    project: Project, tmp_path: Path, number: signal.Signals
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    running = project.begin("check", TMPDIR=str(scratch))
    until(lambda: len(project.lines()) >= 10)
    running.send_signal(number)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 128 + number
    assert f"{number.name}: " in err
    assert "to continue, add --resume" in err
    assert "Traceback" not in err
    assert list(scratch.iterdir()) == []
    assert project.git("worktree", "list", "--porcelain").count("worktree ") == 1
    kept = project.lines()
    done = project.perfgate("check", "--resume")
    assert done.returncode == 1, done.stderr
    assert project.lines()[: len(kept)] == kept


def test_ctrl_c_leaves_one_clean_line_on_a_terminal(project: Project) -> None:
    given = {**project.own(), "TERM": "xterm"}
    env = {name: value for name, value in environment(**given).items() if name not in ("CI", "NO_COLOR")}
    terminal = OnTerminal(
        perfgate("measure", "--set", "plan.builds=50", "--set", "plan.sandbox=off"), cwd=project.top, env=env
    )
    terminal.read_until(lambda text: "on head" in text)
    # narrower while it runs, as a window that is dragged
    terminal.resize(60)
    terminal.read_until(lambda text: "round 4 of" in text)
    terminal.press(b"\x03")
    assert terminal.wait() == 128 + signal.SIGINT
    screen = Screen(80)
    screen.feed(terminal.text)
    left = [line for line in screen.lines if line]
    assert left[-1].endswith("--resume to the same command") or left[-2].startswith("perfgate: SIGINT: ")
    assert sum("━" in line for line in left) == 0
    assert "\x1b[?25" not in terminal.text


@pytest.mark.parametrize("most", [6, pytest.param(12, marks=pytest.mark.nightly)])
def test_kill_9_at_random_moments_loses_no_execution(project: Project, tmp_path: Path, most: int) -> None:
    rng = random.Random(7)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    kept: list[str] = []
    kills = 0
    running = project.begin("check", "--seed", "5", TMPDIR=str(scratch))
    until(lambda: len(project.lines()) >= 1)
    for _ in range(most):
        time.sleep(rng.uniform(0.1, 1.2))
        running.kill()
        running.communicate()
        if running.returncode != -signal.SIGKILL:
            break
        kills += 1
        # a torn last line may be there; every whole line of before must be
        now = (project.top / ".perfgate/measurements.jsonl").read_text()
        whole = now[: now.rfind("\n") + 1].splitlines()
        assert whole[: len(kept)] == kept
        kept = whole
        running = project.begin("check", "--resume", TMPDIR=str(scratch))
    running.communicate(timeout=300)
    assert kills >= 3
    assert running.returncode == 1
    assert project.lines()[: len(kept)] == kept
    executions = project.executions()
    assert sorted(executions) == [("bench", s, b, e) for s in ("base", "head") for b in range(5) for e in range(3)]
    # the schedule is that of a run that nobody interrupted
    orders = [each["order"] for each in project.records("execution")]
    assert orders == sorted(orders)
    assert list(scratch.iterdir()) == []
    assert project.git("worktree", "list", "--porcelain").count("worktree ") == 1


def test_resume_refuses_another_run(project: Project) -> None:
    assert project.perfgate("check", "--seed", "5", "--set", "plan.builds=1").returncode == 0
    same = ("check", "--resume", "--set", "plan.builds=1")
    assert project.perfgate(*same).returncode == 0
    refused = [
        (("check", "--resume"), "plan.builds was 1, is "),
        ((*same, "--seed", "6"), "the seed was 5, is 6"),
        ((*same, "--base", "HEAD"), "base was"),
    ]
    for arguments, why in refused:
        done = project.perfgate(*arguments)
        assert done.returncode == 2
        assert why in done.stderr
        assert done.stderr.count("\n") == 1
    project.write("notes", "changed")
    assert "head was" in project.perfgate(*same).stderr


def test_two_gates_never_measure_at_once(project: Project, tmp_path: Path) -> None:
    other = Project(tmp_path / "other")
    other.bench(1.0, **{"perfgate.toml": SLOW})
    other.commit()
    other.bench(1.3)
    first = project.begin("check")
    until(lambda: len(project.lines()) >= 3)
    second = other.begin("check")
    assert second.stderr is not None
    said = ""
    while "waiting for process" not in said:
        line = second.stderr.readline()
        assert line, said
        said += line
    assert f"waiting for process {first.pid} (user " in said
    assert f"in {project.top}; for at most 15 min (until " in said
    assert other.lines() == []
    assert (first.wait(timeout=120), second.wait(timeout=120)) == (1, 1)
    for process in (first, second):
        process.communicate()


@pytest.mark.nightly
def test_a_gate_that_waited_for_another_in_the_same_checkout_keeps_both_runs(project: Project) -> None:
    first = project.begin("check")
    until(lambda: len(project.lines()) >= 3)
    second, third = project.begin("check"), project.begin("check", "--resume", "--set", "plan.builds=5")
    codes = [running.wait(timeout=300) for running in (first, second)]
    errors = [running.communicate()[1] for running in (first, second, third)]
    assert codes == [1, 1], errors
    # the last one goes on with the run it saw, or says that another has begun: it never mixes two
    assert third.returncode in (1, 2), errors[2]
    if third.returncode == 2:
        assert "another run was started" in errors[2]
    folder = project.top / ".perfgate"
    for file in [folder / "measurements.jsonl", *folder.glob("runs/*/measurements.jsonl")]:
        text = file.read_text().splitlines()
        assert sum('"type":"run"' in line for line in text) == 1
        assert sum('"type":"execution"' in line for line in text) == 30


def test_a_termination_during_checkout_leaves_no_tree(project: Project, tmp_path: Path) -> None:
    for folder in range(40):
        for name in range(50):
            project.write(f"many/{folder}/{name}", "x" * 2000)
    project.commit()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    for _ in range(2):
        running = project.begin("check", TMPDIR=str(scratch))
        # os.walk passes over what has gone or got another name meanwhile
        while not any("many" in folders for _, folders, _ in os.walk(scratch)) and running.poll() is None:
            time.sleep(0.002)
        running.terminate()
        _, err = running.communicate(timeout=60)
        assert (running.returncode, "Traceback" in err) == (128 + signal.SIGTERM, False)
        assert list(scratch.iterdir()) == []
        assert project.git("worktree", "list", "--porcelain").count("worktree ") == 1


@pytest.mark.nightly
def test_resume_does_not_mix_hyperfine_with_its_stand_in(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # an environment with the packages of this one, and without its hyperfine
    bare = tmp_path / "environment"
    (bare / "bin").mkdir(parents=True)
    (bare / "bin/python").symlink_to(Path(sys.executable).resolve())
    for name in ("lib", "pyvenv.cfg"):
        (bare / name).symlink_to(Path(sys.prefix) / name)
    monkeypatch.setattr(sys, "executable", str(bare / "bin/python"))
    config = SLOW.replace('instrument = "values"', 'instrument = "hyperfine"').replace(
        "python3 bench.py {output}", "sleep 0.01"
    )
    project.write("perfgate.toml", config)
    project.commit()
    without = tmp_path / "bin"
    without.mkdir()
    for program in ("git", "sh", "sleep", "python3"):
        found = shutil.which(program)
        assert found
        (without / program).symlink_to(found)
    fake = executable(tmp_path / "with/hyperfine", "#!/bin/sh\necho hyperfine 1.99.0\n").parent
    running = project.begin("check", "--base", "HEAD", PATH=str(without))
    until(lambda: len(project.lines()) >= 6)
    running.kill()
    running.communicate()
    done = project.perfgate("check", "--base", "HEAD", "--resume", PATH=f"{fake}:{without}")
    assert done.returncode == 2
    assert "hyperfine was not used, is 1.99.0" in done.stderr
    done = project.perfgate("check", "--base", "HEAD", "--resume", PATH=str(without))
    assert done.returncode == 0, done.stderr
    assert "hyperfine is not installed: measured with the built-in spawn" in " ".join(done.stdout.split())


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    mounted = tmp_path / "disk"
    mounted.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16k", "none", str(mounted)], capture_output=True, check=False
    )
    if done.returncode != 0:
        pytest.skip("absent: the right to mount a small disk")
    yield mounted
    subprocess.run(["umount", str(mounted)], check=True)


def test_a_full_disk_is_one_line_and_loses_nothing(project: Project, small_disk: Path) -> None:
    done = project.perfgate("check", "--out", str(small_disk / "run"))
    assert done.returncode == 4
    assert "No space left on device" in done.stderr
    assert "to continue, add --resume" in done.stderr
    file = small_disk / "run/measurements.jsonl"
    kept = file.read_text()
    assert kept.endswith("\n")
    assert kept.count('"type":"execution"') > 2
    subprocess.run(["mount", "-o", "remount,size=4m", str(small_disk)], check=True)
    done = project.perfgate("check", "--out", str(small_disk / "run"), "--resume")
    assert done.returncode == 1, done.stderr
    assert file.read_text().startswith(kept)
