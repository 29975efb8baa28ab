"""What a trend says of a history: its commits, machines and cases, and the changes that are called."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from gate.history.chain import Chain
from gate.history.suspects import Suspects
from gate.model import Better, Verdict
from gate.model.case import CaseId
from gate.model.history import AcceptedChange
from gate.stats.series.places import Cause
from gate.stats.series.sums import Interval, Sum

Family = Literal["holm", "bh", "none"]
Direction = Literal["worse", "better"]


class Fact(msgspec.Struct, frozen=True):
    """One thing that differs between two classes of machine."""

    name: str
    before: Any
    after: Any


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """Steps that one class of machine measured in a row; the first one of another begins a segment."""

    first: int
    last: int
    machine: str
    name: str
    """What its facts say first: the processor, or the id."""
    changed: list[Fact]
    """What differs from the segment before; empty of the first."""


class RunPoint(msgspec.Struct, frozen=True, kw_only=True):
    """What one run measured of a case."""

    step: int
    run: str
    measured: str | None
    ratio: Interval
    """log ratio of the commit to its parent, at 95%."""
    base: float | None
    head: float | None
    """base and head: the values in the base unit; None: proved to be the same, so not measured."""
    builds: int
    machine: str
    verdict: Verdict
    outlier: bool
    """Whether its level stands off those of the days around it, and does not count; its ratio does."""


class PathPoint(msgspec.Struct, frozen=True):
    """Level of one commit in log, relative to the first stretch without a change."""

    level: float
    low: float | None
    high: float | None
    """low and high: at 95%, for this commit alone; None: nothing is known."""
    piece: int
    """Levels of different pieces cannot be compared."""


class ChangePoint(msgspec.Struct, frozen=True, kw_only=True):
    """A change that is called."""

    at: int
    """Step at which it fits best."""
    first: int
    last: int
    """first and last: steps among which it lies, with 95% confidence."""
    good: str
    bad: str
    """good and bad: the commit before these steps, and their last one."""
    direction: Direction
    change: Interval
    """In log, at 95%, for this change alone: from before the range to after it."""
    shown: Interval
    """Of one step at `at`, at the confidence that all comparisons leave: what calls it."""
    p: float
    p_adjusted: float
    cause: Cause
    gradual: bool
    """Whether levels rise evenly over the range, as they do under several small changes."""
    ratios: Interval
    """Sum of the ratios of the range."""
    same: Interval
    """What commits that did not change did meanwhile."""
    controlled: bool
    """Whether commits that were measured before and after it say something of the machine."""
    suspects: Suspects


class CaseTrend(msgspec.Struct, frozen=True, kw_only=True):
    """One case."""

    id: CaseId
    unit: str
    better: Better
    factors: dict[str, Any]
    runs: list[RunPoint]
    path: list[PathPoint]
    """One more than steps: from the commit before the first."""
    changes: list[ChangePoint]
    chain: Sum
    """Of all ratios."""
    build_sd: float | None
    """Typical relative sd of a ratio of one run."""
    day_sd: float | None
    """Relative sd of the level of a run, of the machine that measured most; None: too few runs."""
    accepted: dict[int, AcceptedChange]
    """By step."""


class Trend(msgspec.Struct, frozen=True, kw_only=True):
    """A history, looked at."""

    chain: Chain
    segments: list[Segment]
    machines: int
    """Classes of machine."""
    cases: list[CaseTrend]
    family: Family
    confidence: float
    comparisons: int
    """Over all cases, windows and steps."""
    alpha: float
    """What one comparison was called at."""
    threshold: float
    """As a share: changes up to it are not called."""
    problems: list[str]
    """Records that cannot be read."""
