"""What a fork server forks is what an interpreter of its own would be, and ends as surely."""

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.instruments import launcher
from harness.instruments.spawn import launched
from harness.process.execute import Command, ProcessExecutor
from harness.process.forkserver import ForkServer, Launch, LaunchSide, LaunchStart

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere each launcher is started by itself")

SCRIPT = Path(launcher.__file__)
ENVIRONMENT = {"PATH": os.environ["PATH"], "WITH": "a\nline, \udcff and ☃"}
# of a process, and of its parent, what a program could tell the two ways apart by
ABOUT = r"""
import os, resource, signal, stat, sys

# of a parent that may not have gone on yet: posix_spawn(3) blocks all signals until the program has started
STARTING = ("State", "SigBlk")

def about(pid):
    status = dict(line.split(":\t", 1) for line in open(f"/proc/{pid}/status"))
    names = ("Umask", "State", "Uid", "Gid", "Groups", "SigQ", "SigPnd", "ShdPnd", "SigBlk", "SigIgn", "CapInh", "CapPrm",
             "NoNewPrivs", "Seccomp", "Cpus_allowed", "Mems_allowed", "THP_enabled")
    found = [(name, status.get(name)) for name in names if name != "SigQ" and (name not in STARTING or pid == "self")]
    of = os.getpid() if pid == "self" else pid
    found += [open(f"/proc/{pid}/{name}").read() for name in ("cgroup", "limits", "oom_score_adj", "personality")]
    found += [os.readlink(f"/proc/{pid}/{name}") for name in ("cwd", "root", "ns/mnt", "ns/pid", "ns/net")]
    found += [os.getpriority(os.PRIO_PROCESS, of), os.sched_getscheduler(of)]
    found += [os.getsid(of) == os.getpgid(of) == os.getppid()]
    return found

def stream(fd):
    found = os.fstat(fd)
    flags = [line for line in open(f"/proc/self/fdinfo/{fd}") if line.startswith("flags")]
    return stat.S_IFMT(found.st_mode), found.st_rdev, flags

parent = os.getppid()
files = sorted(os.listdir("/proc/self/fd"))
print(sorted(os.environb.items()), sys.argv, files, [stream(fd) for fd in range(3)], about("self"), about(parent),
      sorted(os.listdir(f"/proc/{parent}/fd")), os.getppid() == os.getsid(0), sep="\n", file=open("about", "a"))
"""


@pytest.fixture
def executor() -> Iterator[ProcessExecutor]:
    made = ProcessExecutor()
    yield made
    made.close()


@pytest.fixture
def call(tmp_path: Path) -> Callable[..., Command]:
    def made(*argv: str, runs: int = 1, timeout: float = 30.0) -> Command:
        number = len(list(tmp_path.glob("result*")))
        side = LaunchSide(argv, ENVIRONMENT, tmp_path)
        return launched(Launch(SCRIPT, tmp_path / f"result{number}", (side,), (LaunchStart(),) * runs), timeout)

    return made


def test_a_program_cannot_tell_it_from_one_that_was_started_by_itself(
    executor: ProcessExecutor, call: Callable[..., Command], tmp_path: Path
) -> None:
    seen = []
    for forked in (True, False):
        command = call(sys.executable, "-I", "-c", ABOUT, "a b", "☃")
        if not forked:
            executor._servers[SCRIPT] = None
        outcome = executor.run(replace(command, stdout=tmp_path / "out"))
        assert (outcome.status, outcome.stderr) == ("", "")
        seen.append((tmp_path / "about").read_text())
        (tmp_path / "about").unlink()
    assert seen[0] == seen[1]
    assert str(tmp_path) in seen[0]


@pytest.mark.parametrize("closes", [True, False])
def test_one_server_forks_all_and_ends_with_the_executor(
    call: Callable[..., Command], tmp_path: Path, closes: bool
) -> None:
    executor = ProcessExecutor()
    # the parent of the launcher was its server, and is perfgate once the one between has ended
    for _ in range(3):
        assert executor.run(call("sh", "-c", "cat /proc/$PPID/cmdline >> servers; echo >> servers")).status == ""
    (line,) = set((tmp_path / "servers").read_text().splitlines())
    assert "--serve" in line
    (server,) = executor._servers.values()
    assert server is not None
    pid = server.pid
    if closes:
        executor.close()
    else:
        del executor, server
        gc.collect()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_time_out_ends_the_fork_and_all_that_it_started(
    executor: ProcessExecutor, call: Callable[..., Command], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.process.execute._GRACE", 0.2)
    script = (
        'echo $$ >> pids; setsid sleep 60 & echo $! >> pids; trap "" TERM; sleep 60 & echo $! >> pids; wait; sleep 60'
    )
    assert executor.run(call("sh", "-c", script, timeout=2)).status == "time-out after 2s"
    for pid in (tmp_path / "pids").read_text().split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)
    assert executor.run(call("true")).status == ""


def test_a_launcher_that_fails_says_so_as_one_by_itself(
    executor: ProcessExecutor, call: Callable[..., Command]
) -> None:
    first = call("true")
    assert executor.run(first).status == ""
    for forked in (True, False):
        if not forked:
            executor._servers[SCRIPT] = None
        outcome = executor.run(first)
        assert outcome.status == "exit 1"
        assert "FileExistsError" in outcome.stderr


def test_what_cannot_be_forked_is_started_by_itself(
    executor: ProcessExecutor, call: Callable[..., Command], tmp_path: Path
) -> None:
    assert executor.run(call("true")).status == ""
    (server,) = executor._servers.values()
    assert isinstance(server, ForkServer)
    os.kill(server.pid, signal.SIGKILL)
    for _ in range(2):
        assert executor.run(call("sh", "-c", "cat /proc/$PPID/cmdline >> servers; echo >> servers")).status == ""
    assert "--serve" not in (tmp_path / "servers").read_text()
    assert (tmp_path / "servers").read_text().count("\n") == 2
    # nor what has processors of its own
    command = call("sh", "-c", "cat /proc/$PPID/cmdline > server")
    assert executor.run(replace(command, cpus=str(min(os.sched_getaffinity(0))))).status == ""
    assert "--serve" not in (tmp_path / "server").read_text()
