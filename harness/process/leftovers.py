"""Processes that a killed run left behind, ended by the next run."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from harness.process.process_groups import signal_group, start_time

_MARK = "PERFGATE_RUN"
_GRACE, _PAUSE = 0.5, 0.01
_PASSES = 20  # a process may fork while it is looked for


def marks(running: Path) -> dict[str, str]:
    """Return what the environment of all that a run starts holds, by which it is known wherever it goes.

    It is the name of the work directory, random and always as long.
    """
    return {_MARK: running.parent.name}


def note(running: Path, pid: int) -> None:
    """Add a process that leads a group to the file of those that run: a line "id start".

    Lines are only added, each by one write, so that whoever is killed meanwhile takes none away. A process that has
    ended stays: another with its id has another start.
    """
    with suppress(OSError), running.open("ab", buffering=0) as file:
        file.write(f"{pid} {start_time(pid)}\n".encode())


def end_leftovers(running: Path) -> None:
    """End the groups that a file in a run's work directory names, and all that the run has marked (Linux only).

    The latter finds daemons, and what was started but not yet named. All have a moment to remove what is theirs, such
    as a compiler's temporary files.
    """
    wanted = os.fsencode(f"{_MARK}={running.parent.name}")
    told = [pid for pid in _noted(running) if signal_group(pid, signal.SIGTERM)]
    told += [pid for pid in _marked(wanted) if _signalled(pid, signal.SIGTERM)]
    deadline = time.monotonic() + _GRACE
    while told and time.monotonic() < deadline and any(_marked(wanted)):
        time.sleep(_PAUSE)
    for pid in _noted(running):
        signal_group(pid, signal.SIGKILL)
    for _ in range(_PASSES):
        found = list(_marked(wanted))
        if not found:
            return
        for pid in found:
            _signalled(pid, signal.SIGKILL)


def _signalled(pid: int, number: int) -> bool:
    with suppress(OSError):
        os.kill(pid, number)
        return True
    return False


def _noted(running: Path) -> Iterator[int]:
    with suppress(OSError):
        for line in running.read_text(encoding="ascii", errors="replace").splitlines():
            pid, _, started = line.partition(" ")
            # ids are used again: without a start time to compare nobody is ended
            if pid.isdecimal() and started == start_time(int(pid)):
                yield int(pid)


def _marked(wanted: bytes) -> Iterator[int]:
    with suppress(OSError), os.scandir("/proc") as processes:
        for process in processes:
            with suppress(OSError):  # it has ended, or is another user's
                # of root's runs commands are another user's
                readable = process.name.isdecimal() and os.getuid() in (0, process.stat().st_uid)
                if readable and wanted in Path(process.path, "environ").read_bytes().split(b"\0"):
                    yield int(process.name)
