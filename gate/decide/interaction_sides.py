"""The two sides of an interaction: where head's change is worse, by how much, and whether it is there alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import msgspec

from gate.decide.design import Subject
from gate.decide.family import beyond
from gate.model import Finding
from gate.model.outcomes import Shown
from gate.model.report import InteractionVerdict

REGRESSED = ("regression", "accepted")
CHANGED = (*REGRESSED, "improvement")


class Sides(msgspec.Struct, frozen=True, eq=False):
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
    def several(self) -> bool:
        """Return whether several settings stand against it."""
        return len(self.against) > 1

    @property
    def proven(self) -> bool:
        """Return whether there is an interaction."""
        return self.verdict in ("worse", "better")

    @property
    def worse_at(self) -> bool:
        """Return whether head's change is the worse one at the setting, not at what stands against it."""
        return self.verdict != "better"

    @property
    def worse_named(self) -> bool:
        """Return whether where it is worse is one setting."""
        return self.proven and (self.worse_at or not self.several)

    @property
    def better_named(self) -> bool:
        """Return whether where it is better is one setting."""
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
    def worse_ratio(self) -> float | None:
        """The ratio where it is worse, divided by that where it is better."""
        return self.ratio if self.ratio is None or self.worse_at else 1 / self.ratio

    @property
    def only_worse(self) -> bool:
        """Return whether head regressed wherever it is worse, and is shown not to be worse in all other findings."""
        regressed = all(f.verdict in REGRESSED for f in self.every_worse)
        return self.proven and self.matters and regressed and all(map(is_clear, self.every_better))

    @property
    def only_better(self) -> bool:
        """Return whether head improved in all findings where it is better, and in no other."""
        improved = all(f.verdict == "improvement" for f in self.every_better)
        return self.proven and self.matters and improved and all(map(is_no_better, self.every_worse))

    @property
    def shown(self) -> Shown:
        """Return where a finding is shown to have changed by itself."""
        worse, better = (any(f.verdict in CHANGED for f in side) for side in (self.worse, self.better))
        if worse and better:
            return "both"
        return "worse" if worse else "better" if better else "neither"

    @property
    def both_regress(self) -> bool:
        """Return whether all findings regressed, here more than there."""
        return all(f.verdict in REGRESSED for f in (*self.worse, *self.better))

    @property
    def both_improve(self) -> bool:
        """Return whether all findings improved, here less than there."""
        return all(f.verdict == "improvement" for f in (*self.worse, *self.better))


class Confined(msgspec.Struct, frozen=True, eq=False):
    """A combination of two settings or more; findings: all those there; worse: whether they regressed or improved."""

    settings: dict[str, Any]
    findings: list[Finding]
    worse: bool


def is_clear(finding: Finding) -> bool:
    """Return whether head is shown not to be worse."""
    return finding.verdict == "improvement" or finding.not_worse


def is_no_better(finding: Finding) -> bool:
    """Return whether head is shown not to be better."""
    return finding.verdict in ("unchanged", *REGRESSED)


def matters(ratio: float | None, subject: Subject) -> bool:
    """Return whether a ratio is beyond the threshold of the findings, in either direction."""
    edge = 1 + subject.threshold
    return ratio is not None and (beyond(ratio, edge, "above") or beyond(ratio, 1 / edge, "below"))


def mean_ratio(findings: Sequence[Finding]) -> float | None:
    """Return the geometric mean of the findings' ratios; None where one has none above 0."""
    ratios = [finding.ratio.estimate for finding in findings]
    known = [ratio for ratio in ratios if ratio is not None and ratio > 0]
    return math.exp(math.fsum(map(math.log, known)) / len(known)) if known and len(known) == len(ratios) else None
