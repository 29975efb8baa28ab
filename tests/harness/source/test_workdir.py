"""Work directories: nothing of one stays, however its run ends."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import SourceError
from harness.source import workdir
from harness.source.workdir import WorkDirectory, remove_leftovers

pytestmark = pytest.mark.endtoend

ROOT = Path(__file__).parents[3]

# Forks a process for each step of making, filling and removing a work directory, which is killed at that step.
KILLED = """
import os, signal, sys, tempfile
from itertools import count
from pathlib import Path
from harness.source.workdir import WorkDirectory, remove_leftovers

top, chained = Path(sys.argv[1]), sys.argv[2] == "chained"
state, temporary = top / "state", top / "temporary"
tempfile.tempdir = str(temporary)
STEPS = ("os.remove", "os.rmdir", "os.mkdir", "os.rename", "os.chmod", "os.scandir", "os.listdir", "fcntl.flock", "open")

def run(last):
    done = count(1)
    def step(event, arguments):
        if event in STEPS and next(done) == last:
            os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(step)
    work = WorkDirectory(top / "checkout", state)
    work.remove_leftovers()
    for name in ("base/deep", "head/cache", "outputs"):
        (work.path / name).mkdir(parents=True)
        (work.path / name / "file").write_text("x")
    (work.path / "head/cache").chmod(0o500)
    work.close()

kills = 0
for last in count(1):
    child = os.fork()
    if child == 0:
        run(last)
        os._exit(0)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
        break
    kills += 1
    # as if the next run began some minutes later: what has no name yet may be another run's until then
    for unnamed in state.rglob("*.new"):
        os.utime(unnamed, (1, 1))
    if not chained:
        assert remove_leftovers(state) == []
        left = sorted(temporary.iterdir()) + [p for p in state.rglob("*") if p.is_file()]
        assert not left, (last, left)
print(kills)
assert not list(temporary.iterdir())
assert not [p for p in state.rglob("*") if p.is_file()]
"""


@pytest.mark.parametrize("way", ["each", pytest.param("chained", marks=pytest.mark.nightly)])
def test_a_run_killed_at_any_step_leaves_nothing_to_the_next(tmp_path: Path, way: str) -> None:
    """The next run removes all, also where it is killed itself ("chained")."""
    for name in ("state", "temporary", "checkout"):
        (tmp_path / name).mkdir()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    environment.pop("TMPDIR", None)
    argv = [sys.executable, "-c", KILLED, str(tmp_path), way]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 30


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorkDirectory:
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return WorkDirectory(tmp_path / "checkout", tmp_path / "state")


def test_closing_and_that_there_is_no_place_for_it(
    work: WorkDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work.close()
    assert not work.made
    first = work.path
    assert work.path == first
    work.close()
    work.close()
    assert list(tmp_path.iterdir()) == []
    assert work.path == first, "what is built is at one path in every run"
    work.close()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with pytest.raises(SourceError, match=r"no work directory in .*: No such file or directory: set TMPDIR"):
        _ = work.path
    assert not work.made
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_removed_is_said_and_tried_again(
    work: WorkDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = work.path
    (directory / "file").write_text("x")
    with monkeypatch.context() as stuck:
        stuck.setattr(workdir, "remove_tree", lambda path: f"{path}/file: Operation not permitted")
        work.close()
        (left,) = work.left
        said = f"perfgate cannot remove its directory {directory} ({directory}/file: Operation not permitted): "
        assert left.text == f"{said}remove it yourself"
        # its record still names it; its run, which is this one, seems to live
        (record,) = (tmp_path / "state/work").iterdir()
        content = json.loads(record.read_text())
        record.write_text(json.dumps({**content, "pid": 2**22 + 1}))
        assert remove_leftovers(tmp_path / "state") == [left]
    assert directory.exists()
    assert remove_leftovers(tmp_path / "state") == []
    assert list(tmp_path.iterdir()) == []


def test_an_interruption_just_after_the_record_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = WorkDirectory(tmp_path / "checkout", tmp_path / "state")
    assert work.path.is_dir()
    real, record = os.close, work._descriptor

    def close(descriptor: int) -> None:
        real(descriptor)
        if descriptor == record:
            raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr("os.close", close)
        with pytest.raises(KeyboardInterrupt):
            work.close()
    # another file may have its number by now
    work.close()
    assert not work.made
