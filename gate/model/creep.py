"""A creep check: head of the default branch against a pinned commit, night after night."""

from __future__ import annotations

from typing import Literal

import msgspec

from gate.model.case import OfCase
from gate.model.names import Better


class Night(msgspec.Struct, frozen=True, kw_only=True):
    """What one night showed of one case: head against the pin, measured at the same time on this machine."""

    run: str
    """Id of the run."""
    day: str
    """In UTC, such as 2026-11-26."""
    pin: str
    """sha of base."""
    commit: str
    """sha of head."""
    log_ratio: float
    """ln(head/base)."""
    variance: float
    """Of log_ratio, over builds."""


class CaseNights(OfCase, frozen=True, kw_only=True):
    """The nights of one case and statistic on this machine, the oldest first, whatever the pin was."""

    nights: list[Night]
    """One for each check."""


class Suspect(msgspec.Struct, frozen=True, kw_only=True):
    """A commit between the pin and head of which the history says that it made a case worse."""

    commit: str
    """Its sha."""
    subject: str
    """First line of its message."""
    log_ratio: float
    """ln of the commit against its parent, as it was measured then."""
    share: float
    """Of what all measured commits are expected to add, after allowing for noise."""
    accepted: bool
    """Whether an [[accept]] entry let it pass."""


class CaseSuspects(OfCase, frozen=True, kw_only=True):
    """The suspects of one case and statistic, those that added most first."""

    suspects: list[Suspect]
    """Commits between the pin and head."""


class Pin(msgspec.Struct, frozen=True, kw_only=True):
    """What head is compared with, and why."""

    against: str
    """As [creep] says."""
    tag: str | None
    """The tag that was found; None: a commit is named."""
    sha: str
    commits: int | None
    """Of head that the pin does not have; None: the clone is too shallow to say."""

    @property
    def name(self) -> str:
        """The tag, or what [creep] names."""
        return self.tag or self.against


class CreepRun(msgspec.Struct, frozen=True, kw_only=True):
    """What a creep check knows before it measures; kept in the run line, so that a report can be made again."""

    pin: Pin
    """What head is compared with."""
    cases: list[CaseNights]
    """The nights of each, as remembered before this one."""
    unused: str | None
    """Why earlier nights could not be read, in a line; None: they were, or there are none."""
    suspects: list[CaseSuspects] | None
    """By the history of commits; None: there is no history."""


CreepVerdict = Literal["crept", "accepted", "unconfirmed", "none"]


class CreepCase(OfCase, frozen=True, kw_only=True):
    """What all nights together say about one case and statistic."""

    better: Better
    verdict: CreepVerdict
    """crept: beyond the threshold by all nights together. unconfirmed: by this night alone."""
    threshold: float
    nights: int
    """Against this pin, with this one."""
    window: int
    """The latest of them that were averaged; 0: too few for an average that decides."""
    ratio: float | None
    """head/base, the geometric mean over these nights; this night's where there are too few."""
    tonight: float | None
    """head/base of this night alone."""
    p: float | None
    """Of the threshold, corrected for the nights of a year, the averages and the cases."""
    more: int | None
    """About so many more nights would confirm it, if ratio and noise stay as they are; None: unknown, or none."""
    quiet: int
    """For how many nights, this one included, there has been no alarm: at most 3, which end an alarm."""
    suspects: list[Suspect]
    """Commits that the history says made it worse, those that added most first."""


class CreepFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What makes a report that of a creep check."""

    pin: Pin
    """What head is compared with."""
    nights: int
    """Against this pin that are known on this machine, with this one; of the case that has the most."""
    error: float
    """The chance of any false alarm in a year of nights."""
    unused: str | None
    """Why earlier nights could not be read."""
    history: bool
    """Whether there is a history of commits to name suspects by."""
    cases: list[CreepCase]
    """What all nights say of each."""
