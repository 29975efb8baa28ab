"""Why a benchmark became slower: the functions that add to the difference of two profiles. It never decides."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from gate.model.profile import Frame

State = Literal["changed", "new", "gone"]
Agreement = Literal["agrees", "less", "opposite", "unknown", "elsewhere"]
"""Of the profiles' totals with the measured change: they show it; they show less than half of it (waiting, input and
output, memory stalls); they changed the other way; nothing was measured to compare with; the metric is of something
that no such profile counts, such as memory."""


class Amounts(msgspec.Struct, frozen=True):
    """A cost, or a number of calls, of both sides; where a suite chooses its own count, for one operation."""

    base: float
    head: float

    @property
    def change(self) -> float:
        """Head minus base."""
        return self.head - self.base


class Part(msgspec.Struct, frozen=True):
    """A function below a candidate to which a part of the candidate's change goes."""

    frame: Frame
    change: float
    """Head minus base, of what goes to it."""


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A function that adds to the difference, or takes from it."""

    frame: Frame
    """As head names it; as base does where it is gone."""
    was: str | None = None
    """Base's name for it, where that is another."""
    state: State
    """Whether both sides have it (changed), head alone (new) or base alone (gone)."""
    project: bool
    """Whether it lies in the project's own files, as far as the profile tells."""
    in_diff: bool | None
    """Whether its file differs between base and head; None: not known."""
    cost: Amounts
    """Its own, with that of the library functions that it calls."""
    own: Amounts
    """Its own alone."""
    inclusive: Amounts
    """With all that it calls."""
    calls: Amounts | None
    """How often it was called; None: the profiler does not count."""
    change: float
    """What it adds to the difference, without what merely moved: its cost's change, less what comes of being called
    more often, with what comes of calling others of the project more often."""
    maybe: float
    """What it may add besides: of a function that it calls or that calls it, where nobody counted calls."""
    share: float | None
    """`change` as a share of the whole difference; None: there is none to speak of."""
    error: float
    """Standard error of `change` from sampling; 0: the profiler counts."""
    noise: bool
    """Whether the change is within what sampling alone gives."""
    library: list[Part]
    """The library functions that it calls to which most of its change goes."""
    more: list[Part]
    """The project's functions that it calls more often than it did, with what that adds."""
    guesses: list[Part]
    """Those that it may call more often, where nobody counted calls; the change may as well be their own."""
    callers: list[Frame]
    """The way to it that leads to most of its change, the outermost first."""


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """Cost that functions handed to others: the inclusive total of their nearest common caller has not changed."""

    sources: list[Part]
    """Functions that spend less now."""
    targets: list[Part]
    """Functions that spend as much more."""
    caller: Frame | None
    """The nearest function that calls them all, or one of themselves; None: the program as a whole."""
    cost: float
    share: float | None
    """Of the whole difference; above 1 where more moved than was added."""
    inclusive: Amounts
    """Of the common caller."""


class FlameNode(msgspec.Struct, frozen=True):
    """One function at one place of the call tree of both sides."""

    parent: int
    """Index of its caller in the list; -1: the root."""
    frame: Frame
    base: float
    """With all below it."""
    head: float
    """With all below it."""


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """What two profiles of a benchmark, one a side, say about its change: candidates for a reviewer, no verdict."""

    benchmark: str
    factors: dict[str, Any]
    session: int
    metric: str | None
    """Of the finding that it explains; None: the benchmark has none."""
    profiler: str
    """Such as callgrind, perf, pprof or python."""
    tool: str
    """With its version."""
    unit: str
    approximate: bool
    """Whether stacks were drawn in proportion from callers and callees: what leads to a function is a guess then."""
    operations: Amounts | None
    """Of a suite that chooses its own count: what each side did; costs are of one. None: both did the same work."""
    total: Amounts
    """Of the whole profile."""
    measured: float | None
    """The measured ratio, turned so that above 1 is worse; None: nothing was measured."""
    alike: float
    """By which factor the costs of the functions changed alike, in the middle; 1: they did not, or they are too few."""
    left_alike: bool
    """Whether the functions' costs of head are given without that: times of two executions differ by the machine."""
    agreement: Agreement
    """Whether the totals show the measured change."""
    error: float
    """Standard error of the totals' difference from sampling; 0: the profiler counts."""
    noise: bool
    """Whether the totals' difference is within what sampling alone gives."""
    candidates: list[Candidate]
    """By what they add, the most first."""
    fewer: list[Candidate]
    """Functions that take less, the largest change first."""
    moved: list[Moved]
    """What functions handed to others."""
    flame: list[FlameNode]
    """The call tree of both sides without its small parts, callers before what they call."""
    left_out: int
    """Functions with a change that are not listed."""
