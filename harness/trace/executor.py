"""An executor all of whose commands are traced."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from harness.process.background import Background
from harness.process.execute import Command, Executor, Outcome, no_complaint
from harness.trace.trace import Trace


class TracedExecutor:
    """Starts what another executor starts, traced; see Executor."""

    def __init__(self, executor: Executor, trace: Trace) -> None:
        """See the class."""
        self._executor = executor
        self._trace = trace

    def run(self, command: Command, complaint: Callable[[], str] = no_complaint) -> Outcome:
        """Start a process, wait for it, and end what is left of it."""
        return self._executor.run(self._trace.wrap(command), complaint)

    def start(self, command: Command, log: Path) -> Background:
        """Start a process in the background.

        Raises:
            StartError: it cannot be started.
        """
        return self._executor.start(self._trace.wrap(command), log)
