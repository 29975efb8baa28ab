"""Why a finding has its verdict: data, of which gate/words makes the sentences.

Every union is closed. A member's kind in a file is the name of its type ("too-wide"), and its fields are the numbers
and names of its sentence.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from gate.model.names import Better, Side

Unit = Literal["build", "session"]
"""What intervals rest on."""


class Kind(
    msgspec.Struct,
    frozen=True,
    tag_field="kind",
    tag=lambda name: re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower(),
):
    """A member of a union, distinguished by its kind."""


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """What let a regression pass: an [[accept]] entry, or else a label, which has neither size nor date."""

    up_to: float | None
    """The largest slowdown that is accepted, as a share: 0.08 is 8%. None: a label, which has no size."""
    until: str | None
    """The last day, as 2026-12-31; None: a label."""
    reason: str
    """As the entry gives it; of a label its name."""


# --- what stands in the way of a ratio --------------------------------------------------------------------------------


class NegativeValues(Kind, frozen=True):
    """Negative values have no ratio."""


class DifferentSessions(Kind, frozen=True):
    """Base and head were measured in different sessions."""


class ZeroQuantile(Kind, frozen=True):
    """A quantile of 0 has no logarithm."""


class FewRounds(Kind, frozen=True):
    """Fewer than two rounds were measured on both sides, and the interval is paired."""


class NoSpread(Kind, frozen=True):
    """All builds of both sides gave the same value."""


class OneUnit(Kind, frozen=True, kw_only=True):
    """One build or session leaves open what differs between them."""

    unit: Unit
    """Of which there is one."""
    sides: list[Side]
    """The sides that have one."""


class FewValues(Kind, frozen=True, kw_only=True):
    """A quantile has too few values in a build."""

    statistic: str
    needs: int
    has: int


class BothZero(Kind, frozen=True):
    """Both sides are 0."""


class ZeroBase(Kind, frozen=True, kw_only=True):
    """Base is 0, so there is no ratio."""

    floor: float | None
    """That head is not shown to be above; None: there is none that could tell."""
    unit: str


class ZeroValue(Kind, frozen=True):
    """A build's mean is 0, which has no logarithm."""


class FewRoundsThere(Kind, frozen=True, kw_only=True):
    """One of several machines has too few rounds of both sides."""

    needs: int
    has: int


class OnMachine(Kind, frozen=True, kw_only=True):
    """One of several machines, each judged by itself, has no interval, so there is none over all."""

    session: int
    host: str | None
    """Name of the machine; None: the measurements do not say."""
    why: NegativeValues | ZeroValue | NoSpread | FewValues | FewRoundsThere
    """What stands in the way there."""


Trouble = (
    NegativeValues
    | DifferentSessions
    | ZeroQuantile
    | FewRounds
    | NoSpread
    | OneUnit
    | FewValues
    | BothZero
    | ZeroBase
    | OnMachine
)


# --- regression, improvement, accepted --------------------------------------------------------------------------------


class ZeroBaseExceeds(Kind, frozen=True, kw_only=True):
    """Base is 0, and head is above 0 in every build, or shown to be above the floor."""

    floor: float | None
    """The smallest absolute change that counts, in the unit; None: a count, of which any change counts."""
    unit: str


class Exceeds(Kind, frozen=True, kw_only=True):
    """The interval that decided lies beyond the threshold."""

    threshold: float
    confidence: float
    """Of that interval, as a share."""
    comparisons: int | None
    """How many comparisons its confidence is corrected for; None: it is the nominal one."""
    outgrown: Accepted | None
    """An [[accept]] entry for a smaller regression than this one; None: there is none."""


class ExactExceeds(Kind, frozen=True, kw_only=True):
    """An exact count changed by more than the threshold."""

    threshold: float
    outgrown: Accepted | None
    """An [[accept]] entry for a smaller regression than this one; None: there is none."""


class Crept(Kind, frozen=True, kw_only=True):
    """The latest nights together are beyond the threshold, without the slowest of them."""

    threshold: float
    nights: int
    """That were averaged."""
    since: str
    """The first of them, a day in UTC."""
    confidence: float
    """Over a year of nights and all cases."""
    outgrown: Accepted | None
    """An [[accept]] entry for a smaller creep than this one; None: there is none."""


class AcceptedByEntry(Kind, frozen=True, kw_only=True):
    """A regression that is not shown to exceed what an [[accept]] entry allows."""

    up_to: float
    """The size that the entry allows, as a share."""
    until: str
    """The last day of the entry, as 2026-12-31."""
    reason: str
    """As the entry gives it."""


class AcceptedByLabel(Kind, frozen=True, kw_only=True):
    """A regression that a label of the pull request lets pass."""

    label: str
    """Its name."""
    outgrown: Accepted | None
    """An [[accept]] entry for a smaller regression than this one; None: there is none."""


# --- unchanged --------------------------------------------------------------------------------------------------------


class Within(Kind, frozen=True, kw_only=True):
    """The interval lies within the threshold."""

    threshold: float


class RealWithin(Kind, frozen=True, kw_only=True):
    """The interval excludes "no change" and lies within the threshold."""

    threshold: float


class BelowFloor(Kind, frozen=True, kw_only=True):
    """The change is smaller than the floor."""

    threshold: float | None
    """The threshold that the change is beyond, so that the floor alone hides it; None: it is not shown to be."""
    floor: float
    unit: str


class SameCount(Kind, frozen=True):
    """Both sides have the same exact count."""


class ExactWithin(Kind, frozen=True, kw_only=True):
    """An exact count changed by no more than the threshold."""

    threshold: float


# --- no sign ----------------------------------------------------------------------------------------------------------


class NoSign(Kind, frozen=True, kw_only=True):
    """No slowdown is in sight, and one worth failing for would have shown."""

    detectable: float
    """The size of a slowdown that would have shown in 80 of 100 such runs, as a share."""
    limit: float
    """The end of the interval on the worse side, a ratio."""
    real: bool
    """Whether the whole interval lies on the worse side of no change."""
    confidence: float
    """Of the interval, as a share."""
    unit: str
    better: Better


# --- identical --------------------------------------------------------------------------------------------------------


class SameProgram(Kind, frozen=True, kw_only=True):
    """It runs the same program on the same data on both sides, which is proved; so it was not measured."""

    differ: int
    """Paths that differ between base and head."""
    read: int
    """Paths that the benchmark read, none of them among those."""


# --- inconclusive -----------------------------------------------------------------------------------------------------


class Unbounded(Kind, frozen=True):
    """Base's mean cannot be separated from 0, so the interval has no bounds."""


class FewBuilds(Kind, frozen=True, kw_only=True):
    """The change looks real, and a verdict needs more builds a side."""

    needs: int
    has: int


class FewForBootstrap(Kind, frozen=True, kw_only=True):
    """A bootstrap interval over so few units covers too little to decide by."""

    needs: int
    has: int
    unit: Unit
    """What it needs more of."""


class MemoryAlone(Kind, frozen=True):
    """One build a side: the interval rests on remembered variance alone, which never decides."""


class Uncorrected(Kind, frozen=True, kw_only=True):
    """The interval lies beyond the threshold on its own, and not after correction for multiple comparisons."""

    threshold: float
    confidence: float
    """That correction asks for."""
    comparisons: int
    """How many comparisons it is corrected for."""


class BetterUncorrected(Kind, frozen=True, kw_only=True):
    """Shown not to be worse; better by more than the threshold on its own, and not at the confidence that decides."""

    threshold: float


class NotWorse(Kind, frozen=True, kw_only=True):
    """Shown not to be worse; whether it improved by more than the threshold is open."""

    threshold: float
    floor: float | None
    """What any change for the worse is shown to be below; None: the threshold."""
    unit: str
    confidence: float | None = None
    """As in TooWide."""


class Unconfirmed(Kind, frozen=True, kw_only=True):
    """This night alone is beyond the threshold, and the nights together are not, or not yet."""

    threshold: float
    nights: int
    """Known against this pin, with this one."""
    more: int | None
    """About so many more would confirm it, if ratio and noise stay; None: unknown."""


class FloorOpen(Kind, frozen=True, kw_only=True):
    """Beyond the threshold, and not shown to be above the floor."""

    threshold: float
    floor: float
    unit: str


class Rounded(Kind, frozen=True, kw_only=True):
    """The values are written in such coarse steps that no number of builds would tell on which side the change is."""

    step: float
    """Of the last digit that is written, in the unit."""
    unit: str
    low: float
    """The smallest ratio that the values may be of."""
    high: float
    """The largest."""


class TooWide(Kind, frozen=True, kw_only=True):
    """The interval is too wide to distinguish a change beyond the threshold from none."""

    threshold: float
    exceeds: Literal["above", "below", "both"]
    """Where the interval goes beyond the threshold: at ratios above 1, below 1, or both."""
    estimate: Literal["within", "beyond"]
    """Where the estimate lies."""
    unit: Unit
    """Of which more would narrow it."""
    hopeless: bool
    """Whether no reasonable number of builds would settle it, as far as that is known."""
    confidence: float | None = None
    """What interim looks ask for, where the interval that is shown goes less far; None: it goes as far."""


class TooNoisy(Kind, frozen=True, kw_only=True):
    """No regression shows, but only a large one would have."""

    detectable: float
    """The size of a slowdown that would have shown in 80 of 100 such runs, as a share."""
    wanted: float
    """What the rules ask for."""
    unit: str
    better: Better
    hopeless: bool
    """Whether no reasonable number of builds would show it, as far as that is known."""


Reason = (
    Trouble
    | ZeroBaseExceeds
    | Exceeds
    | ExactExceeds
    | Crept
    | AcceptedByEntry
    | AcceptedByLabel
    | Within
    | RealWithin
    | BelowFloor
    | SameCount
    | ExactWithin
    | NoSign
    | SameProgram
    | Unbounded
    | FewBuilds
    | FewForBootstrap
    | MemoryAlone
    | Uncorrected
    | BetterUncorrected
    | NotWorse
    | Unconfirmed
    | FloorOpen
    | Rounded
    | TooWide
    | TooNoisy
)
