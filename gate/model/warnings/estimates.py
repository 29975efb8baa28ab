"""What estimates and intervals rest on, and what speaks against them."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from gate.model.names import Better, Side
from gate.model.warnings.base import Base, Weight

Unit = Literal["build", "session"]

# --- one side or both, reduced ----------------------------------------------------------------------------------------


class NotExact(Base, frozen=True):
    """A metric is declared exact and is not."""

    differing: Literal["values", "ratio"]
    """Values of one session, or the ratio from session to session."""


class BuildsCut(Base, frozen=True):
    """Builds were cut to the smallest number of values."""


class BuildsUnlike(Base, frozen=True):
    """Builds differ much in their number of values, which biases a quantile."""


class FewExecutions(Base, frozen=True):
    """The quantile of a build rests on few executions."""

    executions: int
    """Of a build, at most."""


class OneSidedSessions(Base, frozen=True):
    """Sessions measured one side alone and do not count."""

    sessions: tuple[int, ...]
    """Their numbers."""


class RoundsLeftOut(Base, frozen=True):
    """Rounds that one side lacks do not count."""

    rounds: int
    """How many do not count."""
    sessions: tuple[int, ...]
    """The numbers of the sessions they are of."""


# --- bootstrap --------------------------------------------------------------------------------------------------------


class OneUnit(Base, frozen=True):
    """One unit a side tells nothing of what differs between units."""

    unit: Unit
    """Of which there is one a side."""


class NoSpread(Base, frozen=True):
    """All resamples are equal."""


class FlatResampling(Base, frozen=True):
    """All values are taken for independent."""

    unit: Unit
    """What is left out of account."""


class NoiseCountedTwice(Base, frozen=True):
    """Resampling at every level counts the noise of lower levels twice."""


class FewUnits(Base, frozen=True):
    """A bootstrap interval over few units is too narrow."""

    units: int
    """How many a side has."""
    unit: Unit
    """What they are."""


class UndefinedResamples(Base, frozen=True):
    """Some resamples have no ratio."""

    undefined: int
    """How many have none."""
    resamples: int
    """All of them."""


class ImpreciseLimits(Base, frozen=True):
    """The resamples are too few for the limits at a confidence."""

    confidence: float
    error: float | None
    """Twice the standard error of a limit; None: not known."""
    resamples: int
    """How many there are."""


# --- what the values say ----------------------------------------------------------------------------------------------


class Trend(Base, frozen=True):
    """Values change inside executions."""

    change: float
    """How much the second half differs, as a share of the mean."""
    unit: str
    warming: bool
    """Whether it is as of a program that is still warming up."""


class Drift(Base, frozen=True):
    """Both sides change over the rounds."""

    change: float
    """From the first round to the last, as a share of the mean."""
    unit: str


class OrderEffect(Base, frozen=True):
    """Whichever side is executed second is changed by it."""

    change: float
    """By how much, as a share of the mean."""
    unit: str


class SessionsDiffer(Base, frozen=True):
    """Both sides depend on the session."""

    for_experts: ClassVar[bool] = True
    deviation: float
    """Standard deviation between sessions, as a share of the mean."""


class RatioBySession(Base, frozen=True):
    """The ratio depends on the session."""

    deviation: float
    """Standard deviation of the ratio between sessions."""


class OnSession(msgspec.Struct, frozen=True):
    """The ratio head/base on one machine."""

    session: int
    host: str | None
    """Name of the machine; None: not known."""
    ratio: float
    """Head/base, as estimated there."""


class DependsOnMachine(Base, frozen=True):
    """The change is not the same on all machines."""

    least: OnSession
    """The machine with the smallest ratio."""
    most: OnSession
    """The machine with the largest ratio."""


class Autocorrelation(Base, frozen=True):
    """Iterations follow the one before."""

    correlation: float
    """Of consecutive iterations: 0 none, 1 each equals the one before."""
    iterations: int
    """Iterations of an execution."""
    worth: int
    """Independent iterations that carry the same information."""


# --- the verdict ------------------------------------------------------------------------------------------------------


class NormalTail(Base, frozen=True):
    """A p is smaller than the builds alone can show."""

    for_experts: ClassVar[bool] = True
    base: int
    """Builds of base."""
    head: int
    """Builds of head."""


class Improvement(msgspec.Struct, frozen=True):
    """A case that head improves, and the ratio that was estimated."""

    benchmark: str
    metric: str
    statistic: str
    unit: str
    better: Better
    ratio: float
    """Head/base, as estimated."""


class Implausible(Base, frozen=True):
    """Improvements so large that head may no longer do the work."""

    weight: ClassVar[Weight] = "first"
    in_headline: ClassVar[bool] = True
    improvements: tuple[Improvement, ...]
    """The largest first."""


class EarlyStop(Base, frozen=True):
    """Measuring stopped at an early look."""

    round: int
    """The round after which it stopped."""
    of: int
    """Rounds that were planned."""


class UnlikeSpreads(Base, frozen=True):
    """The builds of one side spread more than those of the other."""

    side: Side
    """The side that spreads more."""
    times: float | None
    """How many times as much, each as a share of its mean; None: the other's do not spread."""
    unit: Unit
    """What spreads."""


class CarryOver(Base, frozen=True):
    """One side runs slower or faster after the other than after itself, which moves the ratio."""

    side: Side
    """The side that it was seen on."""
    change: float
    """What it takes more after the other side, as a share; below 0: less."""


class NoisierThanRemembered(Base, frozen=True):
    """The values are noisier than remembered, so that the memory is not used."""


class NoisyHost(Base, frozen=True):
    """The host is noisier than remembered, as a whole."""

    weight: ClassVar[Weight] = "first"
    factor: float
    """How many times as noisy."""
