"""What a profiler saw of one execution: costs by call stack."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from gate.model.names import Side

Profiler = Literal["callgrind", "perf", "pprof", "python"]


class Frame(msgspec.Struct, frozen=True, gc=False):
    """A function, as the profiler names it; without addresses, and with paths as in the project."""

    function: str
    """Its name."""
    file: str = ""
    """Relative to the project where it lies in it; "" where the profiler does not know."""


class Stack(msgspec.Struct, frozen=True, gc=False):
    """A call stack and what was spent in its innermost function itself."""

    frames: list[int]
    """Indices into the profile's frames, the outermost first."""
    cost: float
    """In the profile's unit; the costs of all stacks add up to its total."""


class Profile(msgspec.Struct, frozen=True, kw_only=True, tag="profile"):
    """One execution under a profiler: where a side spends what it spends. It explains and never decides."""

    benchmark: str
    """The case's name: of a suite that of the line that regressed."""
    side: Side
    session: int = 0
    factors: dict[str, Any] = {}
    profiler: Profiler | str
    """Name of the profiler."""
    tool: str = ""
    """With its version, such as "valgrind 3.22.0"."""
    unit: str
    """What costs are in: "instructions", "s", "samples"."""
    operations: float | None = None
    """Of a suite that chooses its own count: the operations that were done, so that both sides can be set to one; None:
    both sides did the same work."""
    frames: list[Frame]
    """The functions, each once."""
    stacks: list[Stack]
    """The call stacks in which something was spent."""
    approximate: bool = False
    """The profiler gives callers and callees only, and stacks were drawn from them in proportion: the cost of each
    function itself is exact, that of a stack is not."""


class Unprofiled(msgspec.Struct, frozen=True, kw_only=True, tag="unprofiled"):
    """Why a benchmark that regressed has no profile."""

    benchmark: str
    session: int = 0
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
