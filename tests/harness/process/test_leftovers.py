"""Which processes live, and that what a killed run started is ended, and nobody else."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.process.process_groups import alive, end_leftovers, marks, note, start_time

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="without /proc nobody is known again")
Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start something that sleeps, in a session of its own; it is ended after the test."""
    made: list[subprocess.Popen[bytes]] = []

    def begin(script: str = "sleep 60", **environment: str) -> subprocess.Popen[bytes]:
        env = {"PATH": os.environ["PATH"], **environment}
        made.append(subprocess.Popen(["sh", "-c", f"{script} & wait"], env=env, start_new_session=True))
        return made[-1]

    yield begin
    for process in made:
        process.kill()
        process.wait()


def ended(*processes: subprocess.Popen[bytes]) -> bool:
    return all(process.wait(20) is not None for process in processes)


def spared(*processes: subprocess.Popen[bytes]) -> bool:
    """Return whether none of them ends; asked when what was signalled has ended."""
    time.sleep(0.05)
    return all(process.poll() is None for process in processes)


def test_every_group_that_is_named_is_ended_and_nobody_else(tmp_path: Path, start: Start) -> None:
    end_leftovers(tmp_path / "running")  # there is none yet
    note(tmp_path / "no" / "directory", 1)
    named, other = [start(), start(), start()], start()
    for process in named:
        note(tmp_path / "running", process.pid)
    end_leftovers(tmp_path / "running")
    assert ended(*named)
    # an id that is used again and broken lines end nobody
    one = start()
    lines = [
        f"{other.pid} some boot:12",
        f"{other.pid} None",
        f"{other.pid}",
        "",
        "-1 None",
        "x y",
        "0 None",
        "\xff\x00 1",
    ]
    torn = f"{one.pid} {start_time(one.pid)}\n{other.pid} {start_time(other.pid)}"[:-1]
    (tmp_path / "running").write_bytes(("\n".join(lines) + "\n" + torn).encode("latin-1"))
    end_leftovers(tmp_path / "running")
    assert ended(one)
    assert spared(other)


def test_what_is_ended_may_remove_what_is_its_own(tmp_path: Path, start: Start) -> None:
    work = tmp_path / "perfgate-0b"
    mine = tmp_path / "ccXXXXXX.s"
    process = start(f"trap 'rm {mine}; exit' TERM; touch {mine}; sleep 60", **marks(work / "running"))
    deaf = start("trap '' TERM; sleep 60", **marks(work / "running"))
    while not mine.exists():
        time.sleep(0.01)
    end_leftovers(work / "running")
    assert not mine.exists()
    assert ended(process, deaf)


def test_what_a_run_started_is_ended_wherever_it_went(tmp_path: Path, start: Start) -> None:
    work = tmp_path / "perfgate-0a"
    # its group has no leader any more, it is in another session and in another directory
    script = f"cd /; setsid sh -c 'echo $$ > {tmp_path}/pid; exec sleep 60'"
    daemon = start(script, **marks(work / "running"))
    others = [start(PERFGATE_RUN="perfgate-0ab"), start(PWD=str(work))]
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        time.sleep(0.01)
    daemon.kill()
    end_leftovers(work / "running")
    # its parent is not this process, so it may be seen as a zombie
    state = Path(f"/proc/{int((tmp_path / 'pid').read_text())}/stat")
    assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"
    assert spared(*others)


def test_which_processes_live() -> None:
    assert not alive(2**22 + 1, None)
    assert not alive(0, None)
    with subprocess.Popen(["sh", "-c", "read line"], stdin=subprocess.PIPE) as process:
        started = start_time(process.pid)
        assert alive(process.pid, started)
        assert alive(process.pid, None)
        # an id that was used again is another process
        assert not alive(process.pid, "some boot:12345")
        process.kill()
        # dead before its parent waits for it: the first process of a container, a killed run's new parent, reaps late
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not alive(process.pid, started)
        assert not alive(process.pid, None)
