"""Progress while measuring: one changing line on a terminal, a few lines in a log."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from typing import TextIO

from gate.report.outputs import is_terminal
from gate.run.pace import Pace
from gate.run.treatments import treatment_name
from gate.units import agree, format_duration, plural
from gate.words.failures import title
from gate.words.plain import visible
from gate.words.sameness import SAME, because
from harness.loop.events import (
    BothStarted,
    Event,
    LookTaken,
    ProbeFinished,
    ProbeStarted,
    RoundStarted,
    StepFinished,
    StepStarted,
)

_WORTH_SAYING = 2.0
"""Seconds."""
_CALM = 30.0
"""Seconds between two lines of a log within a round."""
_MOST_TOLD = 3
"""Benchmarks."""


class Progress:
    """Shows the events of the measuring loop."""

    def __init__(
        self,
        stream: TextIO,
        *,
        quiet: bool = False,
        budget: Callable[[], float] = lambda: math.inf,
        early: bool = False,
    ) -> None:
        """Begin.

        Args:
            stream: takes the lines.
            quiet: nothing is written.
            budget: gives the seconds that are left of it.
            early: whether fewer rounds may do.
        """
        self._early = early
        self._stream = stream
        self._live = is_terminal(stream) and not os.environ.get("CI")
        self._quiet = quiet
        self._budget = budget
        self._pace = Pace(time.monotonic())
        self._rounds = 0
        self._foretold = False
        self._round = ""
        self._last = 0.0

    def __call__(self, event: Event) -> None:
        """Take one event."""
        self._pace.take(event, time.monotonic())
        if isinstance(event, RoundStarted):
            self._rounds = event.rounds
            self._round = f"round {event.number + 1} of {event.rounds}"
            self._line(f"{self._round}: {plural(event.executions, 'execution')}{self._remaining()}")
        elif isinstance(event, StepStarted):
            self._now(f"{self._round}{self._remaining()}: {_what(event)}")
        elif isinstance(event, BothStarted):
            self._now(f"{self._round}: {treatment_name('building base and head', event.factors)}")
        elif isinstance(event, LookTaken):
            self._looked(event)
        elif isinstance(event, ProbeStarted):
            many, most = plural(event.benchmarks, "benchmark"), format_duration(event.seconds)
            self._line(f"looking at what {many} read on each side, for at most {most}")
        elif isinstance(event, ProbeFinished):
            self._probed(event)
        else:
            self._finished(event)

    def _probed(self, event: ProbeFinished) -> None:
        if event.identical:
            self._line(f"{event.identical} of {event.benchmarks} run {SAME}: not measured")
        told = list(event.unproved.items())[:_MOST_TOLD]
        for name, why in told:
            self._line(f"{visible(name)} is measured: {because(why)}")
        more = len(event.unproved) - len(told)
        if more:
            self._line(f"{plural(more, 'more benchmark')} {agree(more, 'is', 'are')} measured: the report says why")

    def _looked(self, event: LookTaken) -> None:
        if event.settled and event.wanted:
            settled = f"{plural(event.settled, 'benchmark')} settled"
            self._line(f"{self._round}: {settled}, {event.wanted} still open")
        elif event.settled:
            self._line(f"{self._round}: nothing more to measure")

    def _finished(self, event: StepFinished) -> None:
        if event.failure is not None and event.failure.kind == "tree":
            self._line(f"{self._round}: {title(event.failure)}")
        elif event.failure is not None:
            self._line(f"{self._round}: {_what(event)} failed: {event.failure.status}")
        elif not self._foretold:
            self._foretell()

    def _foretell(self) -> None:
        """Say how long all of it takes, as soon as every step that is left has been made once."""
        left = self._pace.remaining()
        if left is None:
            return
        self._foretold = True
        if left < _WORTH_SAYING:
            return
        rounds = plural(self._rounds, "round")
        budget = self._budget()
        if left > budget:
            self._line(f"the budget leaves {format_duration(budget)}: all {rounds} would take {format_duration(left)}")
        else:
            whole = self._pace.spent + left
            most = "at most " if self._early else ""
            self._line(f"{most}about {format_duration(whole)} for {rounds}, {format_duration(left)} of it left")

    def _remaining(self) -> str:
        left = self._pace.remaining()
        if left is None or left < 1:
            return ""
        return f", about {format_duration(min(left, self._budget()))} left"

    def _line(self, text: str) -> None:
        if self._quiet:
            return
        self._erase()
        self._stream.write(f"perfgate: {text}\n")
        self._stream.flush()
        self._last = time.monotonic()

    def _now(self, text: str) -> None:
        if self._quiet:
            return
        if self._live:
            self._erase()
            width = max(20, _columns() - 1)
            self._stream.write(f"perfgate: {text}"[:width])
            self._stream.flush()
        elif time.monotonic() - self._last >= _CALM:
            self._line(text)

    def _erase(self) -> None:
        if self._live:
            self._stream.write("\r\x1b[K")

    def close(self) -> None:
        """Leave the line empty for what comes next."""
        if not self._quiet:
            self._erase()
            self._stream.flush()


def _what(event: StepStarted | StepFinished) -> str:
    if event.benchmark is None:
        return treatment_name(f"building {event.side}", event.factors)
    return f"{treatment_name(event.benchmark, event.factors)} on {event.side}"


def _columns() -> int:
    try:
        return os.get_terminal_size(2).columns or 80
    except OSError:
        return 80
