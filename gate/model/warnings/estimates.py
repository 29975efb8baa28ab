"""What estimates and intervals rest on, and what speaks against them."""

from __future__ import annotations

from typing import ClassVar, Literal

from gate.model.names import Side
from gate.model.warnings.base import Base, First
from gate.writing.amounts import format_number
from gate.writing.phrases import listed
from gate.writing.units import format_share

Unit = Literal["build", "session"]


class NotExact(Base, frozen=True):
    differing: Literal["values", "ratio"]
    """Values of one session, or the ratio from session to session."""

    def _said(self) -> str:
        its = "values differ" if self.differing == "values" else "ratio differs from session to session"
        return f"declared exact, but its {its}: treated as measured"


class _Changing(Base, frozen=True):
    change: float
    """By how much, as a share of the mean: from the first half of an execution to the second, from the first round to
    the last, or from the side that runs first to the other."""
    unit: str

    @property
    def _changed(self) -> str:
        """Say it; fewer seconds are faster."""
        less, more = ("faster", "slower") if self.unit == "s" else ("lower", "higher")
        return f"{abs(self.change) * 100:.1f}% {less if self.change < 0 else more}"


class Trend(_Changing, frozen=True):
    warming: bool
    """Whether it is as of a program that is still warming up."""

    def _said(self) -> str:
        return f"{'still warming up' if self.warming else 'not steady'}: second half {self._changed}"


class Drift(_Changing, frozen=True):
    def _said(self) -> str:
        return f"host drift: both sides {self._changed} from the first round to the last"


class OrderEffect(_Changing, frozen=True):
    def _said(self) -> str:
        return f"side-by-order interaction: whichever side runs second is {self._changed}"


class DependsOnMachine(Base, frozen=True):
    least: str
    """The smallest ratio and its machine: "+12.0% on session 0 (ci-arm-1)"."""
    most: str

    def _said(self) -> str:
        return f"the change depends on the machine: {self.least}, {self.most}"


class Autocorrelation(Base, frozen=True):
    correlation: float
    """Of consecutive iterations: 0 none, 1 each equals the one before."""
    iterations: int
    """Iterations of an execution."""
    worth: int
    """Independent iterations that carry the same information."""

    def _said(self) -> str:
        worth = f"{self.iterations} carry the information of {self.worth}"
        return f"values of one start are correlated ({self.correlation:.2f}): {worth}"


class Implausible(First, frozen=True):
    in_headline: ClassVar[bool] = True
    improvements: tuple[str, ...]
    """The largest first: "parse is 94.5% faster"."""

    def _said(self) -> str:
        return f"{listed(self.improvements)}: does head still do the work?"


class EarlyStop(Base, frozen=True):
    round: int
    of: int

    def _said(self) -> str:
        return f"decided early, at round {self.round} of {self.of}: the size may be overestimated"


def _other(side: Side) -> Side:
    return "head" if side == "base" else "base"


class UnlikeSpreads(Base, frozen=True):
    """The builds of one side spread more than those of the other."""

    side: Side
    """The side that spreads more."""
    times: float | None
    """How many times as much, each as a share of its mean; None: the other's do not spread."""
    unit: Unit

    def _said(self) -> str:
        own, others = f"{self.side}'s {self.unit}s spread", f"{_other(self.side)}'s"
        if self.times is None:
            spread = f"{own}, and {others} do not"
        else:
            times = format_number(min(self.times, 1000), 2)
            spread = f"{own} {'more than ' if self.times > 1000 else ''}{times} times as much as {others}"
        return f"{spread}: the mean may not tell the whole story"


class CarryOver(Base, frozen=True):
    """One side runs slower or faster after the other than after itself, which moves the ratio."""

    side: Side
    """The side that it was seen on."""
    change: float
    """What it takes more after the other side, as a share; below 0: less."""

    def _said(self) -> str:
        change = f"{format_share(abs(self.change))} {'slower' if self.change > 0 else 'faster'}"
        return f"{self.side} is {change} after {_other(self.side)} than after itself: half of that is in the ratio"
