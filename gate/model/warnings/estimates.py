"""What estimates and intervals rest on, and what speaks against them."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from gate.model.case import quantity
from gate.model.names import Better, Side
from gate.model.warnings.base import Base, First
from gate.units import format_number, format_share, plural
from gate.writing import amounts
from gate.writing.phrases import machine

Unit = Literal["build", "session"]

# --- one side or both, reduced ----------------------------------------------------------------------------------------


class NotExact(Base, frozen=True):
    says = (
        "declared exact, but {differing:=values?its values differ|its ratio differs from session to session}: treated "
        "as measured"
    )
    differing: Literal["values", "ratio"]
    """Values of one session, or the ratio from session to session."""


class BuildsCut(Base, frozen=True):
    says = "builds differ in their number of values: surplus starts are left out"


class BuildsUnlike(Base, frozen=True):
    says = "builds differ by more than 1.5 times in their number of values, which biases a quantile"


class FewExecutions(Base, frozen=True):
    says = "the quantile of a build rests on {executions:start}: too few to show how starts differ"
    executions: int


class OneSidedSessions(First, frozen=True):
    says = "{sessions:session|sessions} {sessions} measured only one side and {sessions:is|are} left out"
    sessions: tuple[int, ...]


class RoundsLeftOut(Base, frozen=True):
    says = (
        "{rounds:round} of {sessions:session|sessions} {sessions:joined} {rounds:is|are} left out: only one side has "
        "values there"
    )
    rounds: int
    sessions: tuple[int, ...]


# --- bootstrap --------------------------------------------------------------------------------------------------------


class OneUnit(Base, frozen=True):
    says = "one {unit} of each: how {unit}s vary is unknown"
    unit: Unit


class NoSpread(Base, frozen=True):
    says = "no spread: all resamples are equal"


class FlatResampling(Base, frozen=True):
    says = "FLAT treats all values as independent: the interval is too narrow where starts or {unit}s differ"
    unit: Unit


class NoiseCountedTwice(Base, frozen=True):
    says = "RRR counts the noise of lower levels twice: the interval is wider than its confidence says"


class FewUnits(Base, frozen=True):
    says = "a bootstrap over {units:{unit}} may cover only 80-90% instead of 95%"
    units: int
    unit: Unit


class UndefinedResamples(Base, frozen=True):
    says = "base's mean is not above 0 in {undefined:,} of {resamples:resample}, which count against both limits"
    undefined: int
    resamples: int


class ImpreciseLimits(Base, frozen=True):
    """The resamples are too few for the limits at a confidence."""

    confidence: float
    error: float | None
    """Twice the standard error of a limit; None: not known."""
    resamples: int

    def _said(self) -> str:
        known = "not known" if self.error is None else f"known to ±{100 * self.error:.1f}% only"
        return f"{100 * self.confidence:.6g}% limits {known}: {plural(self.resamples, 'replicate')}"


# --- what the values say ----------------------------------------------------------------------------------------------


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
        "the ratio depends on the session: it varies by {deviation:.1%} (standard deviation), more than their "
        "builds explain"
    )
    deviation: float


class OnSession(msgspec.Struct, frozen=True):
    """The ratio head/base on one machine."""

    session: int
    host: str | None
    """Name of the machine; None: not known."""
    ratio: float
    """Head/base, as estimated there."""

    def __str__(self) -> str:
        """Say it: "+12.0% on session 0 (ci-arm-1)"."""
        return f"{format_share(self.ratio - 1, sign=True)} on {machine(self.session, self.host)}"


class DependsOnMachine(Base, frozen=True):
    says = "the change depends on the machine: {least}, {most}"
    least: OnSession
    most: OnSession


class Autocorrelation(Base, frozen=True):
    says = "values of one start are correlated ({correlation:.2f}): {iterations} carry the information of {worth}"
    correlation: float
    """Of consecutive iterations: 0 none, 1 each equals the one before."""
    iterations: int
    """Iterations of an execution."""
    worth: int
    """Independent iterations that carry the same information."""


# --- the verdict ------------------------------------------------------------------------------------------------------


class NormalTail(Base, frozen=True):
    says = "a p value this small assumes normally distributed builds: {base} + {head:build} alone cannot show it"
    for_experts: ClassVar[bool] = True
    base: int
    head: int


class Improvement(msgspec.Struct, frozen=True):
    """A case that head improves, and the ratio that was estimated."""

    benchmark: str
    metric: str
    statistic: str
    unit: str
    better: Better
    ratio: float

    def __str__(self) -> str:
        """Say it: "parse is 94.5% faster"."""
        what = quantity(self.metric, self.statistic)
        name = self.benchmark if what == "time" else f"{self.benchmark} {what}"
        return f"{name} is {amounts.size(self.ratio)} {amounts.direction(self, self.ratio)}"


class Implausible(First, frozen=True):
    says = "{improvements:listed}: does head still do the work?"
    in_headline: ClassVar[bool] = True
    improvements: tuple[Improvement, ...]
    """The largest first."""


class BeyondWarn(Base, frozen=True):
    """A change for the worse is shown to be beyond what the rules mark, and not beyond the threshold."""

    says = "worse by more than the {warn:percent} from which the rules warn"
    warn: float
    confidence: float
    """Of the interval that lies beyond it."""


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


class NoisierThanRemembered(Base, frozen=True):
    says = "noisier than calibrated: the remembered variance is not used"


class NoisyHost(First, frozen=True):
    says = "the host is {factor:.1f} times as noisy as calibrated: every interval allows for it"
    factor: float
