"""Processes: ending whole groups, those in the background, with their logs, and those that a killed run left behind."""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Protocol


class Process(Protocol):
    """A child of this process, as subprocess.Popen has it."""

    pid: int
    returncode: int | None

    def poll(self) -> int | None:
        """Reap it if it has ended, and return its code; None while it lives."""
        ...

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended; subprocess.TimeoutExpired after the time-out."""
        ...


def start_time(pid: int) -> str | None:
    """Give when a process started, as an opaque text; None where the system does not tell (no /proc) or it is gone."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        # proc(5): field 22, the 20th after the name
        return f"{boot}:{_stat(pid)[19]}"
    except OSError:
        return None


def _stat(pid: int) -> list[str]:
    """Give what proc(5) tells of a process after its name, which may hold spaces and brackets."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()


def alive(pid: int, started: str | None) -> bool:
    """Return whether a process runs; with a start time also whether it is the same, since ids are used again.

    One that has ended, and that its parent did not wait for yet, runs no more.
    """
    if pid <= 0:
        return False
    with suppress(OSError):
        if _stat(pid)[0] in "ZX":
            return False
    now = start_time(pid)
    if started is not None and now is not None:
        return now == started
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def return_code(process: Process) -> int | None:
    """Give what a process ended with, as Popen.returncode does; None while it lives.

    On Linux it is not reaped, so that its id, which names its group, is not used again.
    """
    if process.returncode is not None or sys.platform != "linux":
        return process.poll()
    found = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if found is None:
        return None
    return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status


def end_group(process: Process, grace: float) -> None:
    """End a process that leads its own group, and all of the group: SIGTERM, and SIGKILL after `grace` seconds."""
    deadline = time.monotonic() + grace
    alive = True
    try:
        signal_group(process.pid, signal.SIGTERM)
        # one that is stopped would see the signal only when it goes on
        signal_group(process.pid, signal.SIGCONT)
        while time.monotonic() < deadline:
            alive = process.poll() is None
            if not alive:
                # reaped first, those that came to this process when their parent ended: zombies count as members
                with suppress(ChildProcessError):
                    while os.waitpid(-process.pid, os.WNOHANG)[0]:
                        pass
                alive = signal_group(process.pid, 0)
            if not alive:
                return
            time.sleep(0.01)
    finally:
        if alive:
            signal_group(process.pid, signal.SIGKILL)
        process.wait()


def signal_group(group: int, number: int) -> bool:
    """Send a signal to a process group; tell whether it still has members."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        # macOS answers EPERM when only zombies are left
        return False
    return True


NOT_STARTED = (126, 127)
"""What a shell exits with when it cannot start a program."""


def exit_status(code: int) -> str:
    """Put a return code into words: 0 -> "", 3 -> "exit 3", 139 -> "exit 139 (SIGSEGV)", -11 -> "signal SIGSEGV".

    A shell answers 128 + number when a signal ended what it started.
    """
    if code >= 0:
        name = _signal_name(code - 128) if code > 128 else ""
        return f"exit {code} ({name})" if name else f"exit {code}" if code else ""
    return f"signal {_signal_name(-code) or -code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return ""


KEPT = 64 * 1024
"""Bytes of the end that are kept."""
_ON_DISK = 64 * 1024 * 1024
_PUNCH_HOLE = 0x03
"""FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE of linux/falloc.h."""


def bound(fd: int) -> None:
    """Take the room of all but the end of a file that has grown too long; it must be open for writing.

    Its beginning becomes a hole, and whoever writes goes on: nothing that is written meanwhile is lost. Where a file
    cannot have holes it is cut to its end; it must be open for appending then, by whoever writes it too.
    """
    found = os.fstat(fd)
    if found.st_blocks * 512 <= _ON_DISK:
        return
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        holes = hasattr(libc, "fallocate64")
        length = ctypes.c_int64(found.st_size - KEPT)
        if holes and libc.fallocate64(fd, _PUNCH_HOLE, ctypes.c_int64(0), length) == 0:
            return
    kept = _last(fd)
    os.ftruncate(fd, 0)
    with suppress(OSError):  # a full disk may refuse even what was just given up
        os.write(fd, kept)


def last(fd: int) -> str:
    """Return the end of a file, decoded with replacement."""
    return _last(fd).decode("utf-8", "replace")


def _last(fd: int) -> bytes:
    return os.pread(fd, KEPT, max(0, os.fstat(fd).st_size - KEPT))


class StartError(Exception):
    """A process cannot be started: why, in words that begin with "cannot start: ".

    absent: because there is no such program, or none that may be executed.
    """

    def __init__(self, why: str, *, absent: bool = False) -> None:
        super().__init__(why)
        self.absent = absent


class Background:
    """A process in the background, which leads its own session.

    log: open for reading and appending; the process writes it, and it is closed in the end. released: called once,
    when its group has ended.
    """

    def __init__(self, process: Process, log: int, released: Callable[[], None]) -> None:
        self._process = process
        self._log = log
        self._released = released
        self._stopped = False

    def alive(self) -> bool:
        """Return whether it runs, and cut its log when that has grown too long."""
        if not self._stopped:
            bound(self._log)
        return return_code(self._process) is None

    def status(self) -> str:
        """Say how it ended: "exit 0", "exit 1", "signal SIGSEGV"; "" while it lives."""
        code = return_code(self._process)
        return "" if code is None else exit_status(code) or "exit 0"

    def code(self) -> int | None:
        """Return what it exited with; None: it lives, or a signal ended it."""
        code = return_code(self._process)
        return code if code is not None and code >= 0 else None

    def unstarted(self) -> bool:
        """Return whether it was a shell that could not start a program."""
        return return_code(self._process) in NOT_STARTED

    def stop(self, grace: float) -> None:
        """End it with its whole group, and what left the group: SIGTERM, SIGKILL after `grace` seconds; only once."""
        if self._stopped:
            return
        self._stopped = True
        try:
            end_group(self._process, grace)
        finally:
            try:
                self._released()
            finally:
                os.close(self._log)


_MARK = "PERFGATE_RUN"
_LEFT_GRACE, _PAUSE = 0.5, 0.01
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
    deadline = time.monotonic() + _LEFT_GRACE
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
