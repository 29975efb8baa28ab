"""Processes that left the group they were started in: on Linux they come to perfgate, which ends them.

A daemon forks twice, and the child of a parent that has ended goes to the nearest "subreaper" among its ancestors
(prctl(2), PR_SET_CHILD_SUBREAPER), else to init. While something is executed perfgate is one. On other systems nothing
here does anything.
"""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.sandbox.sandbox import KEEPERS

_PR_SET_CHILD_SUBREAPER, _PR_GET_CHILD_SUBREAPER = 36, 37  # linux/prctl.h
_GRACE = 0.5
# beyond the grace, for those that fork faster than they are found
_LONGEST = 2.0
_PAUSE = 0.005


class Descendants:
    """The children of this process, those that came to it as orphans among them.

    Children that were there before are nobody's business here, such as those of the program that perfgate replaced.
    """

    def __init__(self) -> None:
        self._users = 0
        self._before: frozenset[int] = frozenset()
        self._companions: dict[int, bytes] = {}

    @contextmanager
    def execution(self) -> Iterator[None]:
        """Do something that starts a process and waits for it; what it leaves behind is ended, companions' are not."""
        self._open()
        before = _children()
        try:
            yield
        finally:
            try:
                _end(lambda pid: pid not in before | KEEPERS and self._companion_of(pid) is None)
            finally:
                self._close()

    @contextmanager
    def starting(self, mark: str) -> Iterator[Callable[[int], None]]:
        """Start a companion, which lives beside executions until `release`; gives the function that takes its pid.

        mark: a text in the companion's environment, and in no other's.
        """
        self._open()
        try:
            yield lambda pid: self._companions.__setitem__(pid, mark.encode())
        except BaseException:
            self._close()
            raise

    def release(self, pid: int) -> None:
        """End what a companion leaves behind, which has ended itself."""
        try:
            _end(lambda other: other != pid and self._companion_of(other) == pid)
        finally:
            self._companions.pop(pid, None)
            self._close()

    def reap(self, leader: int) -> None:
        """Reap orphans that have ended while an execution goes on: as zombies they would keep their process ids."""
        if sys.platform != "linux":
            return
        with suppress(ChildProcessError):
            if not os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                # none that has ended, which is the rule
                return
        # each by its id: asked for any, the system gives the same one of others again and again
        for pid in _children() - {leader, *self._companions, *self._before, *KEEPERS}:
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)

    def _open(self) -> None:
        if not self._users:
            self._before = _children()
            _be_subreaper(True)
        self._users += 1

    def _close(self) -> None:
        self._users -= 1
        if not self._users:
            try:
                _end(lambda pid: pid not in self._before | KEEPERS)
            finally:
                _be_subreaper(False)

    def _companion_of(self, pid: int) -> int | None:
        """Give the companion that a child is or comes from: by its session, or by a mark in its environment."""
        if not self._companions:
            return None
        if pid in self._companions:
            return pid
        with suppress(OSError):
            session = os.getsid(pid)
            if session in self._companions:
                return session
            environment = Path(f"/proc/{pid}/environ").read_bytes()
            return next((leader for leader, mark in self._companions.items() if mark in environment), None)
        return None


def _be_subreaper(on: bool) -> None:
    if sys.platform == "linux":
        # a sandbox may refuse it: orphans then go to init, as they would without perfgate
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(on), 0, 0, 0)


def adopts_orphans() -> bool:
    """Return whether orphans come to this process now."""
    if sys.platform != "linux":
        return False
    found = ctypes.c_int(0)
    done: int = ctypes.CDLL(None).prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(found), 0, 0, 0)
    return done == 0 and found.value == 1


def _children() -> frozenset[int]:
    if sys.platform != "linux":
        return frozenset()
    found: set[int] = set()
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        # none at all, which is the rule and much cheaper to learn than to read
        return frozenset()
    with suppress(OSError):  # a kernel without CONFIG_PROC_CHILDREN
        for task in Path("/proc/self/task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has just ended
                found.update(map(int, (task / "children").read_text(encoding="ascii").split()))
    return frozenset(found)


def _end(wanted: Callable[[int], bool]) -> None:
    """End children and reap them, and then what they leave: SIGTERM, after half a second SIGKILL."""
    deadline = time.monotonic() + _GRACE
    told: set[int] = set()
    while time.monotonic() < deadline + _LONGEST:
        # a zombie has no environment any more by which it could be told
        left = [pid for pid in _children() if pid in told or wanted(pid)]
        if not left:
            return
        late = time.monotonic() >= deadline
        gone = sum(_ended(pid, late, told) for pid in left)
        if gone < len(left):
            time.sleep(_PAUSE)


def _ended(pid: int, late: bool, told: set[int]) -> bool:
    # a child's id is not used again before it is reaped, so no stranger is signalled
    try:
        if late:
            os.kill(pid, signal.SIGKILL)
        elif pid not in told:
            told.add(pid)
            os.kill(pid, signal.SIGTERM)
            os.kill(pid, signal.SIGCONT)
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except (ChildProcessError, ProcessLookupError):
        return True
    except PermissionError:  # it became another user
        return False
