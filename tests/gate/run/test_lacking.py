"""A machine that has too little of something, and signals at awkward moments: one clear line, and never a pass."""

import errno
import io
import os
import resource
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from gate.cli import lacks
from gate.cli.main import main
from gate.evidence.records import Appender
from gate.model import HostState
from harness.errors import LackError
from harness.process.affinity import started_with
from harness.source.git import Git
from tests.support.project import Project, environment, perfgate, small_project

pytestmark = pytest.mark.endtoend


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return small_project(tmp_path / "repo")


def limited(project: Project, kind: int, limit: int) -> subprocess.CompletedProcess[str]:
    """Run check as a process with a limit on something."""
    return subprocess.run(
        perfgate("check"), cwd=project.top, capture_output=True, text=True, check=False,
        env=environment(**project.own()), preexec_fn=lambda: resource.setrlimit(kind, (limit, limit)),
    )  # fmt: skip


def test_few_files(project: Project) -> None:
    done = limited(project, resource.RLIMIT_NOFILE, 8)
    assert done.returncode == 4
    assert done.stderr.splitlines()[-1].startswith("perfgate: too many open files")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("kind", "option"), [(resource.RLIMIT_AS, "v"), (resource.RLIMIT_DATA, "d")])
def test_little_memory(project: Project, kind: int, option: str) -> None:
    done = limited(project, kind, 150_000_000)
    assert done.returncode == 4
    said = f"perfgate: the limit on memory (`ulimit -{option}`) is 146484 KiB, and perfgate needs "
    assert done.stderr.startswith(said) and done.stderr.count("\n") == 1


@pytest.mark.xdist_group("measures")
def test_enough_memory(project: Project) -> None:
    """An output of a few bytes reserves no more than it needs."""
    enough = lacks._LEAST + lacks._LEAST_PER_PROCESSOR * (os.cpu_count() or 1)
    done = limited(project, resource.RLIMIT_AS, enough)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.EMFILE, "Too many open files"), "too many open files: raise the limit (`ulimit -n`)"),
        (OSError(errno.EAGAIN, "Resource temporarily unavailable"), "no more processes or threads can be started"),
        (MemoryError(), "not enough memory: free some"),
        (
            ModuleNotFoundError("No module named 'pandas'", name="pandas"),
            "pandas is not installed; the action installs",
        ),
        (ImportError("/lib/x.so: failed to map segment from shared object"), "not enough memory: free some"),
        (ImportError("/lib/x.so: cannot map zero-fill pages: Cannot allocate memory"), "not enough memory: free some"),
        (RuntimeError("can't start new thread"), "no more processes or threads can be started"),
    ],
)
def test_what_is_lacking_is_named(monkeypatch: pytest.MonkeyPatch, error: BaseException, said: str) -> None:
    def fail(_: Path) -> None:
        raise error

    monkeypatch.setattr("gate.run.project.find_repository", fail)
    err = io.StringIO()
    for command in ("config", "check"):
        err = io.StringIO()
        assert main([command], io.StringIO(), err) == 4
        assert err.getvalue().startswith(f"perfgate: {said}")
        assert err.getvalue().count("\n") == 1
        assert "report it" not in err.getvalue()


@pytest.mark.parametrize("why", ["fatal: Out of memory, malloc failed", "fatal: unable to create thread", ""])
def test_git_that_lacks_something_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    end = "exit 128" if why else "kill -9 $$"
    (tmp_path / "git").write_text(f"#!/bin/sh\necho '{why}' >&2\n{end}\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(LackError, match=r"git status was ended .*: give it more memory, files or processes") as caught:
        Git(tmp_path).attempt("status")
    assert caught.value.exit_code == 4


def interrupt_thread_start(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Send SIGINT to this process while it waits for the start of a thread of a name."""
    start, wait = threading.Thread.start, threading.Event.wait
    awaited: list[Any] = []

    def started(thread: threading.Thread) -> None:
        # noted here: by the time that its start is waited for, a thread may have ended
        if thread.name.startswith(name):
            awaited.append(getattr(thread, "_started"))  # noqa: B009  # a private name
        start(thread)

    def waited(event: threading.Event, timeout: float | None = None) -> bool:
        if event in awaited:
            monkeypatch.undo()
            os.kill(os.getpid(), signal.SIGINT)
        return wait(event, timeout)

    monkeypatch.setattr(threading.Thread, "start", started)
    monkeypatch.setattr(threading.Event, "wait", waited)


@pytest.mark.xdist_group("measures")
def test_an_interruption_while_a_thread_starts(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as context:
        interrupt_thread_start(context, "flush")
        done = project.perfgate("check")
    assert done.returncode == 130, done.stderr
    assert "internal error" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("perfgate: SIGINT: ")


def test_an_interruption_while_the_thread_of_a_process_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes when the process has been started, so that whoever cleans up finds it."""
    started: list[Any] = []
    with monkeypatch.context() as context:
        interrupt_thread_start(context, "Thread-")
        with pytest.raises(KeyboardInterrupt):
            started_with(lambda: started.append(1), "0", None)
    assert started == [1]


def test_without_threads_measurements_are_flushed_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    flushed: list[int] = []
    monkeypatch.setattr("os.fsync", flushed.append)
    with Appender(tmp_path / "file") as append:
        append(HostState(when="begin", time="2026-01-01T00:00:00Z", state={}))
        assert len(flushed) == 1
    assert (tmp_path / "file").read_bytes().count(b"\n") == 1
