"""What a profiler saw of one execution, and which functions two profiles blame for a slowdown; it never decides."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from gate.model.names import Side

Profiler = Literal["callgrind", "perf", "pprof", "python"]
MOST_STACKS = 2_000
"""Of a profile that perfgate writes; the cost of the others is added to the largest stack of the same function, and of
a function without any to its caller."""
MOST_FRAMES = 4_000
DEEPEST = 120
"""Frames of one stack."""
LONGEST = 300
"""Characters of a function's name, and of a path."""
_Index = Annotated[int, msgspec.Meta(ge=0, le=2**31)]
_Amount = Annotated[float, msgspec.Meta(ge=0, le=1e18)]


class Frame(msgspec.Struct, frozen=True, gc=False):
    """A function, as the profiler names it; without addresses, and with paths as in the project."""

    function: str
    """Its name."""
    file: str = ""
    """Relative to the project where it lies in it, begun with "/" where it does not; of a program without debugging
    information that of the program or library; "" where the profiler does not know."""
    line: _Index | None = None
    """Where it is defined, from 1; None: not known."""


class Stack(msgspec.Struct, frozen=True, gc=False):
    """A call stack and what was spent in its innermost function itself."""

    frames: list[_Index]
    """Indices into the profile's frames, the outermost first."""
    cost: _Amount
    """In the profile's unit; the costs of all stacks add up to its total."""


class Profile(msgspec.Struct, frozen=True, kw_only=True, tag="profile"):
    """One execution under a profiler: where a side spends what it spends. It explains and never decides."""

    benchmark: str
    """The case's name: of a suite that of the line that regressed."""
    side: Side
    session: _Index = 0
    factors: dict[str, Any] = {}
    profiler: Profiler | str
    """What measured it."""
    tool: str = ""
    """With its version, such as "valgrind 3.22.0"."""
    unit: str
    """What costs are in: "instructions", "s", "samples"."""
    operations: _Amount | None = None
    """Of a suite that chooses its own count: the operations that were done, so that both sides can be set to one; None:
    both sides did the same work."""
    seconds: _Amount | None = None
    """What the executions took, each slower than without the profiler."""
    frames: list[Frame]
    """Each function once."""
    stacks: list[Stack]
    """Which functions called which, and what was spent there."""
    calls: list[_Amount] | None = None
    """How often each function of `frames` was called; None: the profiler samples and does not count."""
    changed: list[str] | None = None
    """Of head's: the files that differ between base and head, as paths in the project; None: not known."""
    approximate: bool = False
    """The profiler gives callers and callees only, and stacks were drawn from them in proportion: the cost of each
    function itself is exact, that of a stack is not."""


class Unprofiled(msgspec.Struct, frozen=True, kw_only=True, tag="unprofiled"):
    """Why a benchmark that regressed has no profile."""

    benchmark: str
    session: _Index = 0
    factors: dict[str, Any] = {}
    kind: Literal["no-profiler", "failed", "budget", "unsupported"] | str
    """no-profiler: none that fits is installed; failed: it ended with an error or gave nothing; budget: no time was
    left (of the profile's own limit); unsupported: of this instrument or command none is known."""
    profiler: str = ""
    """Name of the profiler that would fit; empty: none is known."""
    install: str = ""
    """The command that installs it."""
    detail: str = ""
    """Its last words."""
    seconds: _Amount | None = None
    """What was spent in vain."""


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


class FrameChange(msgspec.Struct, frozen=True):
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
    noise: bool
    """Whether the change is within what sampling alone gives."""
    library: list[FrameChange]
    """The library functions that it calls to which most of its change goes."""
    more: list[FrameChange]
    """The project's functions that it calls more often than it did, with what that adds."""
    guesses: list[FrameChange]
    """Those that it may call more often, where nobody counted calls; the change may as well be their own."""
    callers: list[Frame]
    """The way to it that leads to most of its change, the outermost first."""


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """Cost that functions handed to others: the inclusive total of their nearest common caller has not changed."""

    sources: list[FrameChange]
    """Functions that spend less now."""
    targets: list[FrameChange]
    """Functions that spend as much more."""
    caller: Frame | None
    """The nearest function that calls them all, or one of themselves; None: the program as a whole."""
    cost: float
    inclusive: Amounts
    """Of the common caller."""


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
    noise: bool
    """Whether the totals' difference is within what sampling alone gives."""
    candidates: list[Candidate]
    """By what they add, the most first."""
    moved: list[Moved]
    """What functions handed to others."""
    left_out: int
    """Functions with a change that are not listed."""
