"""Why a finding has its verdict: data with its sentence, and with what follows the verdict on a line.

Every union is closed. A member's kind in a file is the name of its type ("too-wide"), and its fields are the numbers
and names of its sentence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import msgspec

from gate.model.names import Better, Side, Top
from gate.writing import amounts
from gate.writing.amounts import Directed, as_configured, format_percent
from gate.writing.phrases import machine
from gate.writing.plain import clip, visible
from gate.writing.sentences import Sentence, kinds_of
from gate.writing.units import agree, format_confidence, plural

Unit = Literal["build", "round", "session"]
"""What intervals rest on."""


class Why(Sentence, frozen=True):
    """Why a finding has its verdict."""

    def ending(self, of: Directed) -> str:
        """Say what follows the verdict of a finding on its line; "" where the line says all.

        It stands behind "threshold 3%: inconclusive,", and "it" is that threshold.
        """
        return self._end(of)

    def _end(self, _: Directed, /) -> str:
        return self.sentence()


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """What let a regression pass: an [[accept]] entry, or else a label, which has neither size nor date."""

    up_to: float | None
    """The largest slowdown that is accepted, as a share: 0.08 is 8%. None: a label, which has no size."""
    until: str | None
    """The last day, as 2026-12-31; None: a label."""
    reason: str
    """As the entry gives it; of a label its name."""


def corrected(confidence: float, comparisons: int | None) -> str:
    """Name a confidence: "99.58% confidence", "99.58% confidence after correction for 12 comparisons"."""
    text = f"{format_confidence(confidence)} confidence"
    return text if comparisons is None else f"{text} after {correction(comparisons)}"


def correction(comparisons: int) -> str:
    """Say what the error is shared by: "correction for 12 comparisons"; of one, by its views."""
    return "correction for two views" if comparisons == 1 else f"correction for {plural(comparisons, 'comparison')}"


def _asked(confidence: float | None) -> str:
    """Say why the interval that is shown is narrower than the one that decided."""
    return "" if confidence is None else f" at the {format_confidence(confidence)} that interim checks ask for"


class _WithFloor(Why, frozen=True, kw_only=True):
    floor: float | None
    """The absolute change that counts, in the unit; None: there is none."""
    unit: str

    @property
    def amount(self) -> str:
        return "" if self.floor is None else as_configured(self.floor, self.unit)


# --- without numbers --------------------------------------------------------------------------------------------------


class Because(Why, frozen=True):
    """A reason of which there is nothing to know but what it says."""

    what: str
    """Its kind in report.json."""
    text: str
    end: str | None = None
    """What follows a verdict on its line; None: the text."""

    def _said(self) -> str:
        return self.text

    def _end(self, _: Directed, /) -> str:
        return self.text if self.end is None else self.end


NEGATIVE_VALUES = Because("negative-values", "negative values have no ratio")
DIFFERENT_SESSIONS = Because(
    "different-sessions",
    "base and head were measured in different sessions: the variation between sessions is unknown",
)
ZERO_QUANTILE = Because("zero-quantile", "it is 0 in some build, and 0 has no ratio")
ZERO_VALUE = Because("zero-value", "there is a value of 0, which has no logarithm")
FEW_ROUNDS = Because("few-rounds", "fewer than two rounds were measured on both sides: a paired interval needs them")
NO_SPREAD = Because(
    "no-spread",
    "no spread: all values are the same to the last digit, as a coarse timer or copies of one run give them "
    "(declare a count or size with `exact = true`)",
)
BOTH_ZERO = Because("both-zero", "both sides are 0")
SAME_COUNT = Because("same-count", "the same count", "")
UNBOUNDED = Because(
    "unbounded", "base's mean is too close to 0 for its spread, so the interval of the ratio has no bounds"
)
MEMORY_ALONE = Because(
    "memory-alone",
    "one build of each: the interval rests on remembered variance alone, so it is shown and decides nothing",
)
WITHOUT_NUMBERS = {
    each.what: each
    for each in (
        NEGATIVE_VALUES, DIFFERENT_SESSIONS, ZERO_QUANTILE, ZERO_VALUE, FEW_ROUNDS, NO_SPREAD, BOTH_ZERO, SAME_COUNT,
        UNBOUNDED, MEMORY_ALONE,
    )
}  # fmt: skip


# --- what stands in the way of a ratio --------------------------------------------------------------------------------


class OneUnit(Why, frozen=True, kw_only=True):
    """One build or session leaves open what differs between them."""

    unit: Unit
    sides: list[Side]

    def _said(self) -> str:
        of = "of each" if len(self.sides) > 1 else f"of {self.sides[0]}"
        return f"one {self.unit} {of} gives no interval: how {self.unit}s vary is unknown"


class FewValues(Why, frozen=True, kw_only=True):
    """A quantile has too few values in a build."""

    statistic: str
    needs: int
    has: int
    unit: Top = "build"

    def _said(self) -> str:
        needs = f"{self.statistic} needs {plural(self.needs, 'value')} per {self.unit} and has {self.has:,}"
        return f"{needs}: measure {self.needs - self.has:,} more"


class ZeroBase(_WithFloor, frozen=True, kw_only=True):
    def _said(self) -> str:
        why = "so only `exact = true` or an absolute floor can decide"
        if self.floor is not None:
            why = f"and head is not shown to be above the floor of {self.amount}"
        return f"base is 0, {why}"


class FewRoundsThere(Sentence, frozen=True, kw_only=True):
    needs: int
    has: int

    def _said(self) -> str:
        has = plural(self.has, "complete round") if self.has else "no complete round"
        return f"{has}, but each machine needs {self.needs}"


class OnMachine(Why, frozen=True, kw_only=True):
    """One of several machines, each judged by itself, has no interval, so there is none over all."""

    session: int
    host: str | None
    why: Because | FewValues | FewRoundsThere

    def _said(self) -> str:
        return f"{machine(self.session, self.host)}: {self.why.sentence()}"


# --- regression, improvement, accepted --------------------------------------------------------------------------------


class ZeroBaseExceeds(_WithFloor, frozen=True, kw_only=True):
    """Base is 0, and head is above 0 in every build, or shown to be above the floor.

    Without a floor it is a count, of which any change counts.
    """

    def _said(self) -> str:
        if self.floor is None:
            return "base is 0, and head is above it in every build"
        return f"base is 0 and head is beyond the floor of {self.amount}"


class _Outgrowing(Why, frozen=True, kw_only=True):
    outgrown: Accepted | None
    """An [[accept]] entry for a smaller regression than this one; None: there is none."""

    @property
    def entry(self) -> str:
        """Say that it has grown beyond what the entry accepts; "" where it has not."""
        entry = self.outgrown
        if entry is None or entry.up_to is None:
            return ""
        return f"beyond the {format_percent(entry.up_to)} accepted until {entry.until} ({entry.reason})"

    @property
    def also(self) -> str:
        return f", {self.entry}" if self.entry else ""


class Exceeds(_Outgrowing, frozen=True, kw_only=True):
    threshold: float
    confidence: float
    """Of that interval, as a share."""
    comparisons: int | None
    """How many comparisons its confidence is corrected for; None: it is the nominal one."""

    def _said(self) -> str:
        sure = corrected(self.confidence, self.comparisons)
        return f"beyond the threshold of {format_percent(self.threshold)} with {sure}{self.also}"

    def _end(self, _: Directed, /) -> str:
        return self.entry


class ExactExceeds(_Outgrowing, frozen=True, kw_only=True):
    threshold: float

    def _said(self) -> str:
        return f"an exact count that changed by more than the threshold of {format_percent(self.threshold)}{self.also}"

    def _end(self, _: Directed, /) -> str:
        return self.entry


class BeyondLimit(Why, frozen=True, kw_only=True):
    """Head's own interval lies beyond its limit, whatever base is."""

    limit: float
    """In the unit."""
    unit: str
    better: Better
    confidence: float | None
    """Of head's interval, as a share; None: it is a number without noise."""
    threshold: float | None
    """That its change is beyond, too; None: it is not."""

    @property
    def bound(self) -> str:
        """Say what head is: "above the limit of 50 ms"."""
        return f"{'above' if self.better == 'lower' else 'below'} the limit of {as_configured(self.limit, self.unit)}"

    @property
    def held(self) -> str:
        """Say what head is and how sure that is: "above the limit of 50 ms with 97.5% confidence"."""
        sure = "" if self.confidence is None else f" with {format_confidence(self.confidence)} confidence"
        return f"{self.bound}{sure}"

    def _said(self) -> str:
        also = "" if self.threshold is None else f", and beyond the threshold of {format_percent(self.threshold)}"
        return f"head is {self.held}{also}"


class Crept(_Outgrowing, frozen=True, kw_only=True):
    threshold: float
    nights: int
    """That were averaged."""
    since: str
    """The first of them, a day in UTC."""
    confidence: float
    """Over a year of nights and all cases."""

    def _said(self) -> str:
        beyond = f"beyond the threshold of {format_percent(self.threshold)}"
        sure = f"with {format_percent(self.confidence)} confidence over a year of nights"
        return f"the last {plural(self.nights, 'night')} together are {beyond}, {sure}{self.also}"

    def _end(self, _: Directed, /) -> str:
        return f"by the last {plural(self.nights, 'night')}, since {self.since}{self.also}"


class AcceptedByEntry(Why, frozen=True, kw_only=True):
    up_to: float
    """The size that the entry allows, as a share."""
    until: str
    """The last day of the entry, as 2026-12-31."""
    reason: str

    def _said(self) -> str:
        return f"accepted up to {format_percent(self.up_to)} until {self.until}: {self.reason}"

    def _end(self, _: Directed, /) -> str:
        return f"up to {format_percent(self.up_to)} until {self.until}: {clip(visible(self.reason), _QUOTED)}"


_QUOTED = 300


class AcceptedByLabel(_Outgrowing, frozen=True, kw_only=True):
    label: str

    def _said(self) -> str:
        return f"accepted by {self.label}{self.also}"

    def _end(self, _: Directed, /) -> str:
        return ", ".join(filter(None, [f"by {clip(visible(self.label), _QUOTED)}", self.entry]))


# --- unchanged --------------------------------------------------------------------------------------------------------


class Within(Why, frozen=True, kw_only=True):
    threshold: float

    def _said(self) -> str:
        return f"the interval lies within the threshold of {format_percent(self.threshold)}"

    def _end(self, _: Directed, /) -> str:
        return ""


class RealWithin(Why, frozen=True, kw_only=True):
    threshold: float

    def _said(self) -> str:
        return f"real, but below the threshold of {format_percent(self.threshold)}"

    def _end(self, _: Directed, /) -> str:
        return "real but smaller"


class BelowFloor(_WithFloor, frozen=True, kw_only=True):
    threshold: float | None
    """The threshold that the change is beyond, so that the floor alone hides it; None: it is not shown to be."""

    def _said(self) -> str:
        smaller = f"smaller than the floor of {self.amount}"
        if self.threshold is None:
            return f"the change is {smaller}"
        return f"beyond the threshold of {format_percent(self.threshold)}, but {smaller}"

    def _end(self, _: Directed, /) -> str:
        return f"{'' if self.threshold is None else 'beyond it, but '}smaller than the floor of {self.amount}"


class ExactWithin(Why, frozen=True, kw_only=True):
    threshold: float

    def _said(self) -> str:
        return f"an exact count that changed by no more than the threshold of {format_percent(self.threshold)}"

    def _end(self, _: Directed, /) -> str:
        return ""


# --- no sign ----------------------------------------------------------------------------------------------------------


class NoSign(Why, frozen=True, kw_only=True):
    """No slowdown is in sight, and one worth failing for would have shown."""

    detectable: float
    """The size of a slowdown that would have shown in 8 of 10 such runs, as a share."""
    limit: float
    """The end of the interval on the worse side, a ratio."""
    real: bool
    """Whether the whole interval lies on the worse side of no change."""
    confidence: float
    """Of the interval, as a share."""
    unit: str
    better: Better

    @property
    def _shown(self) -> str:
        return f"catches {amounts.caught(self, self.detectable)}{'; a smaller one is real' if self.real else ''}"

    def _said(self) -> str:
        worst = f"at {'most' if self.better == 'lower' else 'worst'} {amounts.changed(self.limit)}"
        return f"{self._shown}; {worst} ({format_confidence(self.confidence)})"

    def _end(self, _: Directed, /) -> str:
        return self._shown


# --- identical --------------------------------------------------------------------------------------------------------


class SameProgram(Why, frozen=True, kw_only=True):
    same: ClassVar[str] = "the same program on the same data"
    differ: int
    read: int

    @property
    def _how(self) -> str:
        if self.differ == 1:
            return "it does not read the path that differs"
        paths = f"none of the {self.differ:,} paths that differ"
        return f"it reads {paths}" if self.differ else "no file differs between base and head"

    def _said(self) -> str:
        return f"{self.same}: {self._how}"


# --- inconclusive -----------------------------------------------------------------------------------------------------


class FewBuilds(Why, frozen=True, kw_only=True):
    needs: int
    has: int
    unit: Top = "build"

    def _said(self) -> str:
        needs = plural(self.needs, self.unit) + (" of each" if self.unit == "build" else "")
        there = f"there {agree(self.has, 'is', 'are')} {self.has}"
        return f"the change looks real, but a verdict needs {needs} and {there}"


class FewForBootstrap(Why, frozen=True, kw_only=True):
    needs: int
    has: int
    unit: Unit

    def _said(self) -> str:
        there = f"there {agree(self.has, 'is', 'are')} {self.has}"
        return f"a bootstrap interval needs {plural(self.needs, self.unit)} of each for a verdict, and {there}"


class Uncorrected(Why, frozen=True, kw_only=True):
    threshold: float
    confidence: float
    """That correction asks for."""
    comparisons: int

    @property
    def _correction(self) -> str:
        return correction(self.comparisons)

    def _said(self) -> str:
        but = f"but not after {self._correction}, which needs {format_percent(self.confidence)} confidence"
        return f"beyond the threshold of {format_percent(self.threshold)}, {but}"

    def _end(self, _: Directed, /) -> str:
        return f"beyond it, but not after {self._correction}"


class BetterUncorrected(Why, frozen=True, kw_only=True):
    threshold: float

    def _said(self) -> str:
        better = f"better by more than the threshold of {format_percent(self.threshold)}"
        return f"{better}, but not after correction for multiple comparisons; not worse"

    def _end(self, of: Directed, /) -> str:
        return f"{amounts.not_worse(of)}; beyond it, but not after correction for multiple comparisons"


class NotWorse(_WithFloor, frozen=True, kw_only=True):
    """Shown not to be worse; whether it improved by more than the threshold is open.

    Any change for the worse is shown to be below the floor, or without one below the threshold.
    """

    threshold: float
    confidence: float | None = None
    """As in TooWide."""

    def _said(self) -> str:
        than = "the threshold" if self.floor is None else f"the floor of {self.amount}"
        open_ = f"whether it is better by more than {format_percent(self.threshold)} is open{_asked(self.confidence)}"
        return f"not worse by more than {than}; {open_}"

    def _end(self, of: Directed, /) -> str:
        worse, better = amounts.nouns(of) if of.better == "lower" else amounts.nouns(of)[::-1]
        below = "" if self.floor is None else f" (any {worse} is below the floor of {self.amount})"
        return f"{amounts.not_worse(of)}{below}; the {better} may exceed it{_asked(self.confidence)}"


class Unconfirmed(Why, frozen=True, kw_only=True):
    threshold: float
    nights: int
    """Known against this pin, with this one."""
    more: int | None
    """About so many more would confirm it, if ratio and noise stay; None: unknown."""

    @property
    def _waits(self) -> str:
        known = "the first night" if self.nights == 1 else f"{self.nights} nights"
        more = f"; about {plural(self.more, 'more night')} would, if it stays so" if self.more else ""
        return f"{known} against this commit {agree(self.nights, 'does', 'do')} not confirm it yet{more}"

    def _said(self) -> str:
        return f"beyond the threshold of {format_percent(self.threshold)} in this night alone; {self._waits}"

    def _end(self, _: Directed, /) -> str:
        return f"this night alone; {self._waits}"


class FloorOpen(_WithFloor, frozen=True, kw_only=True):
    threshold: float

    def _said(self) -> str:
        beyond = f"beyond the threshold of {format_percent(self.threshold)}"
        return f"{beyond}, but not shown to be above the floor of {self.amount}"

    def _end(self, _: Directed, /) -> str:
        return f"beyond it, but not shown to be above the floor of {self.amount}"


class Rounded(Why, frozen=True, kw_only=True):
    """The values are written in such coarse steps that no number of builds would tell on which side the change is."""

    step: float
    """Of the last digit that is written, in the unit."""
    unit: str
    low: float
    """The smallest ratio that the values may be of."""
    high: float
    """The largest."""

    def _said(self) -> str:
        low, high = amounts.changed(self.low), amounts.changed(self.high)
        step = as_configured(self.step, self.unit)
        return f"all values are rounded to {step}, which alone leaves the change between {low} and {high}"


class TooWide(Why, frozen=True, kw_only=True):
    """The interval is too wide to distinguish a change beyond the threshold from none."""

    threshold: float
    exceeds: Literal["above", "below", "both"]
    """Where the interval goes beyond the threshold: at ratios above 1, below 1, or both."""
    estimate: Literal["within", "beyond"]
    unit: Unit
    hopeless: bool
    """Whether no reasonable number of builds would settle it, as far as that is known."""
    confidence: float | None = None
    """What interim checks ask for, where the interval that is shown goes less far; None: it goes as far."""

    def _said(self) -> str:
        threshold = f"the threshold of {format_percent(self.threshold)}"
        said = f"the change may {'be below' if self.estimate == 'beyond' else 'exceed'} {threshold}"
        if self.exceeds == "both":
            said = f"it reaches beyond {threshold} in both directions"
        return f"the interval is too wide: {said}{_asked(self.confidence)}"

    def _end(self, of: Directed, /) -> str:
        if self.exceeds == "both":
            return f"the change may exceed it in either direction{_asked(self.confidence)}"
        above, below = amounts.nouns(of)
        noun = above if self.exceeds == "above" else below
        return f"the {noun} may {'be smaller' if self.estimate == 'beyond' else 'exceed it'}{_asked(self.confidence)}"


class TooNoisy(Why, frozen=True, kw_only=True):
    detectable: float
    """The size of a slowdown that would have shown in 8 of 10 such runs, as a share."""
    wanted: float
    """What the rules ask for."""
    unit: str
    better: Better
    hopeless: bool
    """Whether no reasonable number of builds would show it, as far as that is known."""

    @property
    def caught(self) -> str:
        """Say what would have shown: "slowdowns above 42.0% (a pass needs 10%)"."""
        wanted = self.wanted if self.better == "lower" else self.wanted / (1 + self.wanted)
        needs = format_percent(round(wanted, 4))
        return f"{amounts.caught(self, self.detectable, self.wanted)} (a pass needs {needs})"

    def _said(self) -> str:
        return f"this run catches {self.caught}"


Noise = TooNoisy | TooWide | Uncorrected | NotWorse | BetterUncorrected
"""What more builds or less noise would settle, if anything; UNBOUNDED is noise too."""
if TYPE_CHECKING:
    Reason = Why
else:
    Reason = kinds_of(Why)
