"""An executor all of whose commands are traced, and whether this host can trace."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from harness.process.background import Background
from harness.process.execute import Command, Executor, Outcome, ProcessExecutor, no_complaint, start_error
from harness.trace.trace import Trace, Tracer, tracing


class TracedExecutor:
    """Starts what another executor starts, traced; see Executor."""

    def __init__(self, executor: Executor, trace: Trace) -> None:
        """See the class."""
        self._executor = executor
        self._trace = trace

    def run(self, command: Command, complaint: Callable[[], str] = no_complaint) -> Outcome:
        """Start a process, wait for it, and end what is left of it."""
        wrapped = self._trace.wrap(command)
        outcome = self._executor.run(wrapped, complaint)
        error = self._trace.start_error(wrapped)
        if error is None:
            return outcome
        status = f"cannot start: {start_error(error, command.argv[0], command.directory)}"
        return replace(outcome, status=status, code=None, begun=False)

    def start(self, command: Command, log: Path) -> Background:
        """Start a process in the background.

        Raises:
            StartError: it cannot be started.
        """
        return self._executor.start(self._trace.wrap(command), log)


def tracer_here(first: Tracer = "seccomp") -> Tracer | None:
    """Return what sees the reads of commands on this host, found by trying; None: nothing does.

    Raises:
        OSError: there is no room for temporary files.
    """
    with tempfile.TemporaryDirectory() as place, tracing(Path(place), tracer=first) as trace:
        command = Command(("/bin/sh", "-c", "test -e given"), Path(place), {"PATH": os.defpath}, 10.0)
        ProcessExecutor().run(trace.wrap(command))
        accesses = trace.accesses()
        seen = not accesses.doubts and any(path.endswith("/given") for path in accesses.read)
        return next((each for each in ("seccomp", "ptrace") if each in trace.tracers), None) if seen else None
