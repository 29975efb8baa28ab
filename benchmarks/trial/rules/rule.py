"""What a rule is: a name, what it says in one line, where its tool says so, and a pure function of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from benchmarks.trial.comparisons import Comparison, Start

SIZES = (*(k / 400 for k in range(81)), 0.22, 0.25, 0.3, 0.35, 0.4, 0.5, 0.75, 1.0, 2.0)
"""Settings of a rule that asks how much slower head is, the most lenient first."""


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
    """That it takes: of starts, and of the builds that are measured."""
    inconclusive: bool = False
    """It says that it does not know."""


Judge = Callable[[Comparison, float | None, float], Call]
"""Asks a rule of a comparison, with the seconds that it has for both sides together (None: its own plan) and its
setting."""


@dataclass(frozen=True)
class Rule:
    """One way to decide whether head is slower than base."""

    name: str
    says: str
    """What is called slower, in one sentence, with its own setting."""
    setting: str
    """What its users set, by name; may be empty."""
    own: float
    """Its default, or what its documentation sets."""
    plan: str
    """How much it measures by its own defaults."""
    note: str
    """What is fair to know beside its numbers; may be empty."""
    sources: tuple[Source, ...]
    judge: Judge
    levels: tuple[float, ...] = SIZES
    """The settings that are tried, the most lenient first: what is called at one is called at all before it."""
    percent: bool = True
    """Whether its users write it in percent."""
    added: float = 0.0
    """What they add to it: 1 where they write a ratio."""
    once: bool = False
    """Its values are measured once for each program, not in each bundle."""

    def set_to(self, value: float) -> str:
        """Write a setting as users do."""
        text = f"{100 * (value + self.added):.4g}%" if self.percent else f"{value + self.added:.10g}"
        return f"{self.setting} {text}".lstrip()


def enough(starts: Sequence[Start], seconds: float) -> tuple[Start, ...]:
    """Give the first starts that together take at least some seconds; all of them where they take less."""
    count = sum(total < seconds for total in accumulate(start.seconds for start in starts)) + 1
    return tuple(starts[:count])


def times(starts: Sequence[Start]) -> list[float]:
    """Give the seconds of starts by the wall clock."""
    return [start.time for start in starts]


def spent(*sides: Sequence[Start]) -> float:
    """Give what starts took."""
    return sum(start.seconds for side in sides for start in side)


def blocks(
    comparison: Comparison, seconds: float | None, own: float | int
) -> tuple[tuple[Start, ...], tuple[Start, ...]]:
    """Give a block of each side, as many starts as fit the time.

    Args:
        seconds: for both sides and their builds; None: the rule's own plan.
        own: that plan: seconds of a side, or starts where it is a whole number.
    """
    if seconds is not None:
        own = (seconds - comparison.building) / 2
    base, head = (side[:own] if isinstance(own, int) else enough(side, own) for side in comparison.blocks)
    return base, head


def pairs(comparison: Comparison, seconds: float | None, own: int) -> tuple[tuple[Start, ...], tuple[Start, ...]]:
    """Give starts by turns, as many of a side as fit the time (at least two), or as the rule's own plan takes."""
    base, head = comparison.turns
    if seconds is not None:
        left = seconds - comparison.building
        took = accumulate(one.seconds + other.seconds for one, other in zip(base, head, strict=True))
        own = max(2, sum(total <= left for total in took))
    return base[:own], head[:own]
