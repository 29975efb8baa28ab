"""What estimates and intervals rest on, and what speaks against them."""

from __future__ import annotations

from typing import ClassVar, Literal

from gate.model.names import Side
from gate.model.warnings.base import Base, First
from gate.units import format_number, format_share

Unit = Literal["build", "session"]


class NotExact(Base, frozen=True):
    says = (
        "declared exact, but {differing:=values?its values differ|its ratio differs from session to session}: treated "
        "as measured"
    )
    differing: Literal["values", "ratio"]
    """Values of one session, or the ratio from session to session."""


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
    says = "{warming:?still warming up|not steady}: second half {_changed}"
    warming: bool
    """Whether it is as of a program that is still warming up."""


class Drift(_Changing, frozen=True):
    says = "host drift: both sides {_changed} from the first round to the last"


class OrderEffect(_Changing, frozen=True):
    says = "side-by-order interaction: whichever side runs second is {_changed}"


class RatioBySession(Base, frozen=True):
    says = (
        "the ratio depends on the session: it varies by {deviation:.1%} (standard deviation), more than their builds "
        "explain"
    )
    deviation: float


class DependsOnMachine(Base, frozen=True):
    says = "the change depends on the machine: {least}, {most}"
    least: str
    """The smallest ratio and its machine: "+12.0% on session 0 (ci-arm-1)"."""
    most: str


class Autocorrelation(Base, frozen=True):
    says = "values of one start are correlated ({correlation:.2f}): {iterations} carry the information of {worth}"
    correlation: float
    """Of consecutive iterations: 0 none, 1 each equals the one before."""
    iterations: int
    """Iterations of an execution."""
    worth: int
    """Independent iterations that carry the same information."""


class Implausible(First, frozen=True):
    says = "{improvements:listed}: does head still do the work?"
    in_headline: ClassVar[bool] = True
    improvements: tuple[str, ...]
    """The largest first: "parse is 94.5% faster"."""


class EarlyStop(Base, frozen=True):
    says = "decided early, at round {round} of {of}: the size may be overestimated"
    round: int
    of: int


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
