"""Progress while measuring: a bar and what runs on a terminal; a few lines in a log."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TextIO

from gate.model.reasons import SameProgram
from gate.run.job import treatment_name
from gate.run.live_lines import Live, bar_line
from gate.words.failures import title
from gate.words.reports import turns
from gate.words.sameness import because
from gate.writing.plain import visible
from gate.writing.units import agree, format_duration, plural
from harness.loop import events

_MOST_TOLD = 3
"""Benchmarks."""


class Progress:
    """Shows the events of the measuring loop, each when it comes."""

    def __init__(
        self, stream: TextIO, *, quiet: bool = False, lines: bool = True, title: str = "",
        budget: Callable[[], float] = lambda: math.inf, early: bool = False, fills: bool = False,
    ) -> None:  # fmt: skip
        """Begin.

        Args:
            stream: takes the lines.
            quiet: nothing is written.
            lines: whether lines are written that stay; without them only a terminal shows something.
            title: what is measured, where it is one of several.
            budget: gives the seconds that are left of it.
            early: whether fewer rounds may do.
            fills: whether there are as many rounds as the budget holds, which nobody knows yet.
        """
        self._early, self._fills = early, fills
        self._live = Live(stream, quiet=quiet, lines=lines)
        self._line = self._live.line
        self._title = f"{title}: " if title else ""
        self._budget = budget
        self._began = self._mark = time.monotonic()
        """When all of it began, and this round."""
        # of no round, nor of the one before any
        self._number, self._rounds = -2, 0
        self._latest: float | None = None
        """Seconds of the round before this one; None: there was none."""
        self._round = ""
        self._share = 0.0

    def __call__(self, event: events.Event) -> None:
        """Take one event."""
        if isinstance(event, events.RoundStarted):
            now = time.monotonic()
            self._latest = now - self._mark if event.number == self._number + 1 else None
            self._number, self._rounds, self._mark = event.number, event.rounds, now
            self._round = f"round {event.number + 1}" + ("" if self._fills else f" of {event.rounds}")
            if not self._live.on:
                self._line(f"{self._round}: {plural(event.executions, 'start')}{self._remaining()}")
        elif isinstance(event, events.StepStarted):
            self._now(_what(event))
        elif isinstance(event, events.LookTaken):
            if event.settled and event.wanted:
                settled = f"{plural(event.settled, 'benchmark')} decided"
                self._line(f"{self._round}: {settled}, {event.wanted} still open")
            elif event.settled:
                # what is still open here has no later look that fits the budget
                self._line(f"{self._round}: measuring ends")
        elif isinstance(event, events.StepFinished):
            self._finished(event)
        else:
            self._say(event)

    def _say(self, event: events.ProbeStarted | events.ProbeFinished | events.LaidOut | events.OutsideFound) -> None:
        """Say what is found out between steps."""
        if isinstance(event, events.ProbeStarted):
            many, most = plural(event.benchmarks, "benchmark"), format_duration(event.seconds)
            self._line(f"finding the files that {many} {agree(event.benchmarks, 'reads', 'read')}, for at most {most}")
        elif isinstance(event, events.ProbeFinished):
            self._probed(event)
        elif isinstance(event, events.OutsideFound):
            path = visible(event.path)
            changed = f"{path} is outside both trees and changed during the builds"
            self._line(f"{changed}: building again to see which one wrote it")
        else:
            if event.executions:
                self._line(f"{self._round}: {plural(event.executions, 'start')} a round, judging by the first ones")
            for each in event.turns[:_MOST_TOLD]:
                self._line(f"{visible(each.benchmark)}: {turns([each])}")
            more = event.turns[_MOST_TOLD:]
            if more:
                self._line(f"{plural(len(more), 'more benchmark')}: {turns(more)}")

    def _probed(self, event: events.ProbeFinished) -> None:
        if event.identical:
            self._line(f"{event.identical} of {event.benchmarks} run {SameProgram.same}: not measured")
        told = list(event.unproved.items())[:_MOST_TOLD]
        for name, why in told:
            self._line(f"{visible(name)} is measured: {because(why)}")
        more = len(event.unproved) - len(told)
        if more:
            self._line(f"{plural(more, 'more benchmark')} {agree(more, 'is', 'are')} measured: the report says why")

    def _finished(self, event: events.StepFinished) -> None:
        if event.failure is not None and event.failure.kind in ("tree", "outside"):
            self._line(f"{self._round}: {title(event.failure)}")
        elif event.failure is not None:
            self._line(f"{self._round}: {_what(event)} failed: {event.failure.status}")

    def _left(self) -> float | None:
        """Return the seconds that the rest of all rounds takes, within the budget; None: not known in the first."""
        if self._latest is None:
            return None
        left = (self._rounds - self._number) * self._latest - (time.monotonic() - self._mark)
        return min(max(left, 0.0), self._budget())

    def _remaining(self) -> str:
        left = self._left() or 0.0
        return "" if left < 1 else f", about {format_duration(left)} left"

    def _now(self, text: str) -> None:
        self._live.now(f"{self._round}{self._remaining()}: {text}")
        if not self._live.on:
            return
        left, budget = self._left(), self._budget()
        if left is not None:
            spent = time.monotonic() - self._began
            # what the clock gives back is not taken from the bar
            self._share = max(self._share, spent / max(spent + left, 1e-9))
            tail = f"{'at most' if self._early else 'about'} {format_duration(max(left, 1.0))} left"
        else:
            # of one of many runs, the budget is that of all
            tail = f"at most {format_duration(budget)} left" if math.isfinite(budget) and not self._title else ""
        bar = bar_line(f"{self._title}{self._round}", self._share, tail, self._live.width)
        self._live.show(bar, f"  running  {text}")

    def close(self) -> None:
        """Leave nothing behind, and the line empty for what comes next."""
        self._live.close()


def _what(event: events.StepStarted | events.StepFinished) -> str:
    if event.benchmark is None:
        return treatment_name(f"building {event.side}", event.factors)
    return f"{treatment_name(event.benchmark, event.factors)} on {event.side}"
