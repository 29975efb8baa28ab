"""Progress while measuring: a bar and what runs on a terminal; a few lines in a log."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from statistics import fmean
from typing import TextIO

from gate.config.rules import budget_of
from gate.model.reasons import SameProgram
from gate.model.warnings.setup import BudgetHoldsFew
from gate.run.job import treatment_name
from gate.run.live_lines import Live, bar_line
from gate.units import agree, format_duration, plural
from gate.words.failures import title
from gate.words.reports import turns
from gate.words.sameness import because
from gate.writing.plain import visible
from harness.loop import events

_WORTH_SAYING = 2.0
"""Seconds."""
_MOST_TOLD = 3
"""Benchmarks."""
_WIDE = 90
"""Columns from which on there is room for more words."""
_MINUTE = 60.0


class Progress:
    """Shows the events of the measuring loop, each when it comes."""

    def __init__(
        self, stream: TextIO, *, quiet: bool = False, lines: bool = True, title: str = "",
        budget: Callable[[], float] = lambda: math.inf, early: bool = False, fills: bool = False, needed: int = 0,
        limit: float = math.inf,
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
            needed: the rounds that a regression needs; 0: nothing is said of them.
            limit: all of the budget, in seconds.
        """
        self._early, self._fills, self._needed, self._limit = early, fills, needed, limit
        self._live = Live(stream, quiet=quiet, lines=lines)
        self._line = self._live.line
        self._title = f"{title}: " if title else ""
        self._budget = budget
        self._pace = Pace(time.monotonic())
        self._rounds = 0
        self._foretold = False
        self._round = ""
        self._share = 0.0

    def __call__(self, event: events.Event) -> None:
        """Take one event."""
        self._pace.take(event, time.monotonic())
        if isinstance(event, events.RoundStarted):
            self._rounds = event.rounds
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
            self._told(event)

    def _told(self, event: events.ProbeStarted | events.ProbeFinished | events.LaidOut | events.OutsideFound) -> None:
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
                # these may be all of the round
                self._foretell()
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
        budget, later = self._budget(), self._pace.later_round()
        fits = self._rounds if left <= budget else max(0, self._rounds - math.ceil((left - budget) / max(later, 1e-9)))
        if fits < self._needed:
            seconds = self._limit - budget + left - (self._rounds - self._needed) * later
            few = BudgetHoldsFew(fits, self._needed, seconds, self._limit, float(budget_of(seconds)), "first")
            self._line(f"warning: {few.sentence()}")
        elif left > budget and not self._fills:
            rounds = plural(self._rounds, "round")
            self._line(f"the budget leaves {format_duration(budget)}: all {rounds} would take {format_duration(left)}")
        elif not self._live.on:
            left = min(left, budget)
            whole = f"{format_duration(self._pace.spent + left)} for {plural(fits, 'round')}"
            most = " at most" if self._early else ""
            self._line(f"{format_duration(left)} left{most}, {whole} in all")

    def _remaining(self) -> str:
        left = self._pace.remaining() or 0.0
        return "" if left < 1 else f", about {format_duration(min(left, self._budget()))} left"

    def _now(self, text: str) -> None:
        self._live.now(f"{self._round}{self._remaining()}: {text}")
        if not self._live.on:
            return
        width, left, budget = self._live.width, self._pace.remaining(), self._budget()
        known = None if left is None else min(left, budget)
        # what the clock gives back is not taken from the bar
        self._share = max(self._share, self._pace.share(known))
        bar = bar_line(f"{self._title}{self._round}", self._share, self._left(known, budget, width), width)
        self._live.show(bar, f"  running  {text}")

    def _left(self, left: float | None, budget: float, width: int) -> str:
        """Say what time is left: the clock's too, which stays true while nothing is written."""
        if left is None:
            # of one of many runs, the budget is that of all
            return f"at most {format_duration(budget)} left" if math.isfinite(budget) and not self._title else ""
        text = f"{'at most' if self._early else 'about'} {format_duration(max(left, 1.0))} left"
        if width < _WIDE or left < _MINUTE:
            return text
        return f"{text}, until {datetime.now().astimezone() + timedelta(seconds=left):%H:%M}"

    def close(self) -> None:
        """Leave nothing behind, and the line empty for what comes next."""
        self._live.close()


def _what(event: events.StepStarted | events.StepFinished) -> str:
    if event.benchmark is None:
        return treatment_name(f"building {event.side}", event.factors)
    return f"{treatment_name(event.benchmark, event.factors)} on {event.side}"


class Pace:
    """Times what the loop tells of, perfgate's own work between two steps included.

    The first builds are not counted for later ones, which link what those have compiled.
    """

    def __init__(self, now: float) -> None:
        """Begin; now: seconds of a clock, as everywhere here."""
        self._began = self._mark = now
        self._left: Mapping[str, int] = {}
        self._builds = 0
        """To be made in this round."""
        self._round = 0
        self._rounds = 0
        """After this one."""
        self._of_round = 0
        self._first: list[float] = []
        self._next: list[float] = []
        self._later: list[float] = []
        self._looks: list[float] = []
        self._executions: dict[str, list[float]] = defaultdict(list)
        self._together: list[float] = []
        """Seconds of steps that were made together, until the event of the last one."""
        self._done = 0
        self._counted = False
        """Whether it is yet to be counted how much is left."""

    @property
    def spent(self) -> float:
        """Return the seconds until the last event."""
        return self._mark - self._began

    def take(self, event: events.Event, now: float) -> None:
        """Take an event."""
        if isinstance(event, events.StepStarted):
            # what went before it belongs to it
            return
        took, self._mark = now - self._mark, now
        if isinstance(event, events.RoundStarted):
            self._round, self._rounds = event.number, event.rounds - event.number - 1
            self._builds = self._of_round = event.builds
            self._left, self._counted = event.left, event.counted
        elif isinstance(event, events.ProbeFinished | events.LaidOut):
            self._left = event.left
            self._counted = self._counted and not (isinstance(event, events.LaidOut) and event.executions)
        elif isinstance(event, events.LookTaken):
            self._looks.append(took)
        elif isinstance(event, events.StepFinished):
            self._finished(event, took)

    def _finished(self, event: events.StepFinished, took: float) -> None:
        self._done += 1
        if event.benchmark is not None:
            self._left = {**self._left, event.benchmark: max(0, self._left.get(event.benchmark, 0) - 1)}
            self._together.append(took)
            if not event.more:
                # all of it comes with the first
                self._executions[event.benchmark] += [fmean(self._together)] * len(self._together)
                self._together.clear()
            return
        self._builds = max(0, self._builds - 1)
        (self._later if self._round else self._first).append(took)
        if event.next is not None:
            self._next.append(event.next)

    def share(self, left: float | None) -> float:
        """Return how much is done: of the time, or of the steps where what is left of it is not known."""
        if left is not None:
            return self.spent / (self.spent + left) if self.spent + left > 0 else 1.0
        to_do = sum(self._left.values()) + self._builds + self._rounds * self._of_round
        return self._done / (self._done + to_do) if self._done + to_do else 0.0

    def remaining(self) -> float | None:
        """Return the seconds that the rest of all rounds takes; None until it is known and has been done once."""
        wanted = {name: count for name, count in self._left.items() if count}
        if self._counted or any(not self._executions[name] for name in wanted) or not self._first + self._later:
            return None
        seconds = sum(count * fmean(self._executions[name]) for name, count in wanted.items())
        later = fmean(self._later or self._next or self._first)
        this = fmean(self._first) if self._round == 0 and self._first else later
        seconds += self._builds * this + self._rounds * self._of_round * later if wanted else 0.0
        return seconds + (self._rounds * fmean(self._looks) if self._looks and wanted else 0.0)

    def later_round(self) -> float:
        """Return the seconds of a later round, in the first one, once what remains is known."""
        counts = {name: self._left.get(name, 0) + len(made) for name, made in self._executions.items() if made}
        seconds = sum(count * fmean(self._executions[name]) for name, count in counts.items()) / (self._rounds + 1)
        return seconds + self._of_round * fmean(self._later or self._next or self._first)
