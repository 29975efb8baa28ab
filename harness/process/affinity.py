"""The processors and the rights of a process that is started, and what goes before others.

On Linux they belong to a thread, and a process inherits those of the thread that starts it
(sched_setaffinity(2), landlock(7)). So a thread of its own sets them for itself and starts the process:
nothing has to be put back, the process has them from its first instruction, and what is refused is known before it
starts.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from harness.process.process_groups import StartError

T = TypeVar("T")

_MOST = 1 << 16  # more than any kernel is built for
_HIGHEST = -20


def started_with(start: Callable[[], T], cpus: str | None, enter: Callable[[], None] | None = None) -> T:
    """Start a process with processors ("0,2-3"; None: perfgate's own), and give what `start` gives.

    enter: gives up rights before it starts.

    Raises:
        StartError: they cannot be had on this system, or by this user.
        Exception: whatever `start` raises.
    """
    if sys.platform != "linux" and cpus is not None:
        raise StartError(f'cannot start: cpus = "{cpus}" is not supported on this system')
    done: list[T] = []
    failed: list[Exception] = []

    def inside() -> None:
        try:
            if cpus is not None:
                _take(cpus)
            if enter is not None:
                enter()
            done.append(start())
        except Exception as error:  # noqa: BLE001  # raised again by the caller's thread
            failed.append(error)

    thread = threading.Thread(target=inside)
    try:
        with signals_later():
            thread.start()
        thread.join()
    except BaseException:
        # so that whoever cleans up finds the process that is about to be there
        if thread.ident is not None:
            thread.join()
        raise
    if failed:
        raise failed[0]
    return done[0]


@contextmanager
def signals_later() -> Iterator[None]:
    """Handle signals at the end: one within Thread.start would leave a thread that nobody can wait for."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    mine = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in mine:
        signal.signal(number, lambda number, _: arrived.append(number))
    try:
        yield
    finally:
        for number, handler in mine.items():
            signal.signal(number, handler)
        for each in arrived:
            signal.raise_signal(each)


@contextmanager
def before_others() -> Iterator[None]:
    """Let what this thread starts go before the rest of the machine, where the user has the right, as root has.

    So a program does not wait for the machine's other load. A nice value that perfgate was started with stays.
    """
    own = os.getpriority(os.PRIO_PROCESS, 0)
    try:
        os.setpriority(os.PRIO_PROCESS, 0, _HIGHEST if own == 0 else own)
    except OSError:
        yield
        return
    try:
        yield
    finally:
        # without the right a thread that measured code has put behind others stays there, which is found and said
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, own)


def given_priority() -> int:
    """Return the nice value that `before_others` gives; 0 where the system has none (Windows)."""
    if not hasattr(os, "getpriority"):
        return 0
    with before_others():
        return os.getpriority(os.PRIO_PROCESS, 0)


def weigh_session(pid: int) -> None:
    """Give the session that a process leads the weight of perfgate's own nice value among other sessions.

    With autogroups (sched(7)) a nice value counts within its session only, and every command has its own. Where there
    are none, or the right is missing, the nice value of the processes is all there is.
    """
    weight = os.getpriority(os.PRIO_PROCESS, 0)
    if weight:
        with suppress(OSError):
            Path(f"/proc/{pid}/autogroup").write_text(f"{weight}\n", encoding="ascii")


def _take(cpus: str) -> None:
    wanted: set[int] = set()
    for part in cpus.split(","):
        first, _, last = part.partition("-")
        low, high = int(first), int(last or first)
        # one beyond what can be is enough to be refused
        wanted.update(range(min(low, _MOST), min(high, _MOST) + 1))
    with suppress(OSError):  # none of them can be had
        os.sched_setaffinity(0, wanted - {_MOST})
    # the kernel leaves out those that it cannot give, without a word
    missing = wanted - os.sched_getaffinity(0)
    if missing:
        # not what /proc/PID/status allows: that names processors which the machine does not have
        own = ",".join(map(str, sorted(os.sched_getaffinity(os.getpid()))))
        why = f'cpus = "{cpus}": processor {min(missing)} is not available here; available: {own}'
        raise StartError(f"cannot start: {why}")
