"""Traces commands: sees what they read, and all that they start."""

from __future__ import annotations

import itertools
import os
import platform
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal

from harness.process.execute import Command
from harness.trace import child, syscalls
from harness.trace.accesses import Accesses, Doubt, Seen
from harness.trace.server import Server

Tracer = Literal["seccomp", "ptrace"]


class Trace:
    """What some commands read, all of one benchmark on one side; see tracing."""

    def __init__(self, directory: Path, since: int, ports: Collection[int], tracer: Tracer) -> None:
        """See tracing."""
        self._seen = Seen(since)
        self._tracer = tracer
        self._numbers = itertools.count()
        self._server = Server(directory, self._seen, ports) if _possible() else None
        if self._server is None:
            self._seen.doubt(Doubt("no-tracer"))

    @property
    def tracers(self) -> frozenset[str]:
        """How commands were traced so far."""
        return frozenset(self._server.tracers) if self._server is not None else frozenset()

    def wrap(self, command: Command) -> Command:
        """Return a command that is traced; it ends as the command itself would."""
        if self._server is None:
            return command
        before = (sys.executable, "-I", "-S", child.__file__)
        argv = (*before, str(self._server.place), str(next(self._numbers)), self._tracer, *command.argv)
        return replace(command, argv=argv, launch=None)

    def start_error(self, wrapped: Command) -> OSError | None:
        """Return why a command that was wrapped could not be started; None: it was."""
        number = self._server.failed.get(int(wrapped.argv[5])) if self._server is not None else None
        return OSError(number, os.strerror(number)) if number is not None else None

    def accesses(self) -> Accesses:
        """Return what was seen so far."""
        if self._server is not None and not self._server.alive:
            self._seen.doubt(Doubt("lost", "the tracer"))
        if self._server is not None and self._server.interrupted:
            self._seen.doubt(Doubt("interrupted"))
        return self._seen.accesses()

    def close(self) -> None:
        """End; what is still traced goes on without, and its watched calls fail."""
        if self._server is not None:
            self._server.close()


@contextmanager
def tracing(
    directory: Path, *, since: int = 0, ports: Collection[int] = (), tracer: Tracer = "seccomp"
) -> Iterator[Trace]:
    """Trace commands that are wrapped, and all that they start, until this is left; ask for the accesses before that.

    What the strings of a call say is read before the kernel reads them: a program with threads that exchange them
    meanwhile would deceive this. It is a proof against accidents; measured code that cheats is the sandbox's matter.

    By seccomp, a signal that comes before a call is told of ends the call, which may fail then as it never would: the
    doubt "interrupted", and a reason to try ptrace. (That of the very last call of all is not noticed.)

    directory: for a socket. since: what others changed later is told, in nanoseconds since the epoch. ports: of this
    host that the commands may connect to. tracer: which to try first; seccomp falls back on ptrace.

    Raises:
        OSError: it cannot listen.
    """
    trace = Trace(directory, since, ports, tracer)
    try:
        yield trace
    finally:
        trace.close()


def _possible() -> bool:
    """Return whether this is a system whose calls are known, and /proc shows the processes that are started."""
    if sys.platform != "linux" or platform.machine() not in syscalls.ARCHITECTURES:
        return False
    try:
        return os.readlink("/proc/self") == str(os.getpid())  # noqa: PTH115
    except OSError:
        return False
