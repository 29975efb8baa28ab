"""What a rule is: a name, what it says in one line, where its tool says so, and a pure function of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from benchmarks.trial import plan
from benchmarks.trial.comparisons import Comparison, Process

Plan = Literal["default", "equal", "sized"]
"""default: as much as the tool takes by its own defaults. equal: as many seconds as perfgate took. sized: so, and with
perfgate's threshold."""
SIZE = 0.03
"""perfgate's threshold by default."""


@dataclass(frozen=True)
class Source:
    """Where a tool documents or implements what a rule does."""

    label: str
    url: str


@dataclass(frozen=True)
class Call:
    """What a rule says of a comparison."""

    slower: bool
    """It fails the pull request, or would if its tool's word were made a gate."""
    seconds: float
    """That its plan takes: of processes, and of the builds that are measured."""
    inconclusive: bool = False
    """It says that it does not know."""


Judge = Callable[[Comparison, float | None], Call]
"""Asks a rule of a comparison, with the seconds that it has for both sides together; None: its default plan."""


@dataclass(frozen=True)
class Sized:
    """A rule with perfgate's threshold."""

    name: str
    setting: str
    """What its users set for that."""
    judge: Judge


@dataclass(frozen=True)
class Rule:
    """One way to decide whether head is slower than base."""

    name: str
    says: str
    """What is called slower, in one sentence."""
    plan: str
    """How much it measures by its own defaults."""
    equal: str
    """What its users would raise or lower to get as much time as perfgate; empty: nothing, so it is not asked."""
    sources: tuple[Source, ...]
    threshold: float
    """The largest change that the rule is meant to let pass; 0: it has none."""
    note: str
    """What it is for, and what is fair to know beside its numbers."""
    judge: Judge
    sized: Sized | None = None
    """None: it has no size to set, or another rule here is the same tool with another size."""
    once: bool = False
    """Its values are measured once for each program, not in each bundle."""

    def lets_pass(self, column: int, by: Plan = "default") -> bool:
        """Return whether a change, by its place in plan.CHANGED, is no larger than what the rule is meant to pass."""
        threshold = SIZE if by == "sized" else self.threshold
        return column < len(plan.SIZES) and plan.SIZES[column] <= threshold


def enough(passes: Sequence[float], seconds: float) -> tuple[float, ...]:
    """Give the first passes that together take at least some seconds; all of them where they take less."""
    count = sum(total < seconds for total in accumulate(passes)) + 1
    return tuple(passes[:count])


def warm(process: Process) -> tuple[float, ...]:
    """Give the passes of a process without the first one, which warms up."""
    return process.passes[1:]


def build_seconds(comparison: Comparison) -> float:
    """Give what one build of each side takes."""
    return comparison.base.building + comparison.head.building
