"""How long the rest of a run takes, by the steps that it has made."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from statistics import fmean

from harness.loop.events import (
    BothStarted,
    Event,
    LaidOut,
    LookTaken,
    ProbeFinished,
    RoundStarted,
    StepFinished,
    StepStarted,
)


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

    def take(self, event: Event, now: float) -> None:
        """Take an event."""
        if isinstance(event, BothStarted | StepStarted):
            # what went before it belongs to it
            return
        took, self._mark = now - self._mark, now
        if isinstance(event, RoundStarted):
            self._round, self._rounds = event.number, event.rounds - event.number - 1
            self._builds = self._of_round = event.builds
            self._left, self._counted = event.left, event.counted
        elif isinstance(event, ProbeFinished | LaidOut):
            self._left = event.left
            self._counted = self._counted and not (isinstance(event, LaidOut) and event.executions)
        elif isinstance(event, LookTaken):
            self._looks.append(took)
        elif isinstance(event, StepFinished):
            self._finished(event, took)

    def _finished(self, event: StepFinished, took: float) -> None:
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
