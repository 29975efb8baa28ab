"""What a profiler saw of one execution: costs by call stack."""

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
