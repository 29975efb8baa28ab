"""The words of an interaction: where head's change is worse, by how much, and whether it is there alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gate.decide.design import Subject
from gate.decide.family import beyond
from gate.decide.interaction_tests import Crossed
from gate.evidence.factors import pair, pairs
from gate.model import Finding
from gate.model.report import InteractionVerdict
from gate.units import Share, format_share

REGRESSED = ("regression", "accepted")
_NAMED = 3


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """One interaction beside the findings that it compares.

    setting, against: what stands against what. at, there: the findings that the ratio averages over. every_at,
    every_there: all of the case and statistic, also those that lack a partner. over: the other factors, over whose
    settings both are averages. ratio: of the ratios. matters: it is beyond the findings' threshold.
    """

    subject: Subject
    factor: str
    setting: Any
    against: tuple[Any, ...]
    over: tuple[str, ...]
    at: list[Finding]
    there: list[Finding]
    every_at: list[Finding]
    every_there: list[Finding]
    ratio: float | None
    verdict: InteractionVerdict
    matters: bool

    @property
    def name(self) -> str:
        """The setting, in words."""
        return pair(self.factor, self.setting)

    @property
    def others(self) -> str:
        """What stands against it, in words."""
        return "the other settings" if self.several else pair(self.factor, self.against[0])

    @property
    def several(self) -> bool:
        """Tell whether several settings stand against it."""
        return len(self.against) > 1

    @property
    def proven(self) -> bool:
        """Tell whether there is an interaction."""
        return self.verdict in ("worse", "better")

    @property
    def worse_at(self) -> bool:
        """Tell whether head's change is the worse one at the setting, not at what stands against it."""
        return self.verdict != "better"

    @property
    def worse_named(self) -> bool:
        """Tell whether where it is worse is one setting."""
        return self.proven and (self.worse_at or not self.several)

    @property
    def better_named(self) -> bool:
        """Tell whether where it is better is one setting."""
        return self.proven and (not self.worse_at or not self.several)

    @property
    def worse_setting(self) -> Any:
        """Where it is worse, if that is one setting."""
        return self.setting if self.worse_at else self.against[0]

    @property
    def better_setting(self) -> Any:
        """Where it is better, if that is one setting."""
        return self.against[0] if self.worse_at else self.setting

    @property
    def worse(self) -> list[Finding]:
        """The findings where head's change is worse."""
        return self.at if self.worse_at else self.there

    @property
    def better(self) -> list[Finding]:
        """The findings where it is better."""
        return self.there if self.worse_at else self.at

    @property
    def every_worse(self) -> list[Finding]:
        """All findings where it is worse."""
        return self.every_at if self.worse_at else self.every_there

    @property
    def every_better(self) -> list[Finding]:
        """All findings where it is better."""
        return self.every_there if self.worse_at else self.every_at

    @property
    def worse_name(self) -> str:
        """Where head's change is worse, in words."""
        return self.name if self.worse_at else self.others

    @property
    def better_name(self) -> str:
        """Where it is better, in words."""
        return self.others if self.worse_at else self.name

    @property
    def worse_ratio(self) -> float | None:
        """The ratio where it is worse, divided by that where it is better."""
        return self.ratio if self.ratio is None or self.worse_at else 1 / self.ratio

    @property
    def only_worse(self) -> bool:
        """Tell whether head regressed in all findings where it is worse, and is shown not to be worse in all others."""
        regressed = all(f.verdict in REGRESSED for f in self.every_worse)
        return self.proven and self.matters and regressed and all(map(is_clear, self.every_better))

    @property
    def only_better(self) -> bool:
        """Tell whether head improved in all findings where it is better, and in no other."""
        improved = all(f.verdict == "improvement" for f in self.every_better)
        return self.proven and self.matters and improved and all(map(is_no_better, self.every_worse))

    @property
    def both_regress(self) -> bool:
        """Tell whether all findings regressed, here more than there."""
        return all(f.verdict in REGRESSED for f in (*self.worse, *self.better))


@dataclass(frozen=True, slots=True, eq=False)
class Confined:
    """A combination of two settings or more; findings: all those there; worse: whether they regressed or improved."""

    settings: dict[str, Any]
    findings: list[Finding]
    worse: bool


def is_clear(finding: Finding) -> bool:
    """Tell whether head is shown not to be worse."""
    return finding.verdict == "improvement" or finding.not_worse


def is_no_better(finding: Finding) -> bool:
    """Tell whether head is shown not to be better."""
    return finding.verdict in ("unchanged", *REGRESSED)


def matters(ratio: float | None, subject: Subject) -> bool:
    """Tell whether a ratio is beyond the threshold of the findings, in either direction."""
    edge = 1 + subject.threshold
    return ratio is not None and (beyond(ratio, edge, "above") or beyond(ratio, 1 / edge, "below"))


def sentence(own: Sides, crossed: Crossed, confined: Confined | None = None) -> str:
    """Say what an interaction comes to, without a full stop; confined: to what combination it comes."""
    if crossed.trouble:
        return f"whether the change depends on {own.factor} is not known: {crossed.trouble}"
    if confined is not None:
        return f"{_subject(own)} is {_span(own, confined.findings)} only under {pairs(confined.settings)}"
    if own.proven:
        return _proven(own)
    threshold = Share(own.subject.threshold)
    if own.verdict == "same":
        what = f"between {own.others} and {own.name} any difference is below the threshold of {threshold}"
        same = f"the change does not depend on {own.factor}{averaged(own)}"
        return same if crossed.exact else f"{same}: {what}"
    over = f"{averaged(own)}," if own.over else ""
    return f"whether the change is another one under {own.name} than under {own.others}{over} is open{_why(crossed)}"


def averaged(own: Sides) -> str:
    """Say over which other factors an interaction is an average: ", on average over n"; "" where over none."""
    if not own.over:
        return ""
    if len(own.over) > _NAMED:
        return f", on average over the other {len(own.over)} factors"
    *most, last = own.over
    return f", on average over {', '.join(most)} and {last}" if most else f", on average over {last}"


def _why(crossed: Crossed) -> str:
    """Say why one is open whose interval excludes 1."""
    low, high = crossed.nominal.low, crossed.nominal.high
    if low is None or high is None or low <= 1 <= high:
        return ""
    if crossed.held:
        return f": it looks real, but this has {crossed.builds} builds a side, too few for a verdict"
    return ": it is on its own, not at the confidence that the number of findings asks for"


def _proven(own: Sides) -> str:
    worse, better = mean_ratio(own.worse), mean_ratio(own.better)
    if worse is None or better is None:
        return f"the change is worse under {own.worse_name} than under {own.better_name}{averaged(own)}"
    subject = _subject(own)
    both = f"{subject} is {{}} under {own.worse_name} and {{}} under {own.better_name}"
    if own.only_worse and own.only_better:
        return both.format(_span(own, own.every_worse), _span(own, own.every_better))
    if own.only_worse:
        alone = f"under {own.worse_name}, not under {own.better_name}"
        where = alone if own.several and not own.worse_at else f"only under {own.worse_name}"
        return f"{subject} is {_span(own, own.every_worse)} {where}"
    if own.only_better:
        alone = f"under {own.better_name}, not under {own.worse_name}"
        where = alone if own.several and own.worse_at else f"only under {own.better_name}"
        return f"{subject} is {_span(own, own.every_better)} {where}"
    text = f"{both.format(_changed(own, worse), _changed(own, better))}{averaged(own)}: {_more(own)}"
    return text if own.matters else f"{text}, which is real, but below the threshold of {Share(own.subject.threshold)}"


def _more(own: Sides) -> str:
    if own.several and not own.worse_at:
        return f"better under {own.better_name} ({times(own.ratio)} of the others)"
    what = "more" if own.both_regress else "worse"
    return f"{what} under {own.worse_name} ({times(own.worse_ratio)} of the others)"


def times(ratio: float | None) -> str:
    """Write a factor: "x1.08", with as many digits as tell it from 1."""
    if ratio is None:
        return "x?"
    digits = 2 if abs(ratio - 1) >= 0.02 else 3 if abs(ratio - 1) >= 0.002 else 4
    return f"x{ratio:.{digits}f}"


def mean_ratio(findings: Sequence[Finding]) -> float | None:
    """Return the geometric mean of the findings' ratios; None where one has none above 0."""
    ratios = [finding.ratio.estimate for finding in findings]
    known = [ratio for ratio in ratios if ratio is not None and ratio > 0]
    return math.exp(math.fsum(map(math.log, known)) / len(known)) if known and len(known) == len(ratios) else None


def _subject(own: Sides) -> str:
    case, statistic = own.subject.case, own.subject.statistic
    if case.unit != "s" or (case.metric == "time" and statistic == "mean"):
        return "head"
    return f"head's {'' if statistic == 'mean' else f'{statistic} '}{case.metric}"


def _changed(own: Sides, ratio: float) -> str:
    if math.isclose(ratio, 1, rel_tol=1e-12):
        return "the same as base"
    return _sized(own, format_share(abs(ratio - 1)), ratio > 1)


def _span(own: Sides, findings: Sequence[Finding]) -> str:
    """Say by how much findings changed that all changed in one direction: "20.1% slower", "20.1% to 30.2% slower"."""
    ratios = [f.ratio.estimate for f in findings if f.ratio.estimate is not None]
    if not ratios:
        return "changed"
    sizes = sorted(abs(ratio - 1) for ratio in ratios)
    return _sized(own, " to ".join(dict.fromkeys(map(format_share, (sizes[0], sizes[-1])))), ratios[0] > 1)


def _sized(own: Sides, size: str, more: bool) -> str:
    case, statistic = own.subject.case, own.subject.statistic
    timed = case.unit == "s" and own.subject.lower
    word = ("slower" if more else "faster") if timed else ("higher" if more else "lower")
    measure = "" if case.unit == "s" else f" in {'' if statistic == 'mean' else f'{statistic} '}{case.metric}"
    return f"{size} {word}{measure}"
