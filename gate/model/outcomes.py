"""What a factor and a report come to: data, of which gate/words makes the sentences; as in gate.model.reasons."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from gate.model.evidence import Unfinished
from gate.model.names import Side
from gate.model.reasons import IncompleteBuilds, Kind, NoSpreadOrRounds, Trouble, ZeroValue
from gate.model.warnings import setup

# --- factors ----------------------------------------------------------------------------------------------------------


class OnlyUnder(Kind, frozen=True, kw_only=True):
    """A case regressed under these settings alone."""

    settings: dict[str, Any]


class MoreUnder(Kind, frozen=True, kw_only=True):
    """A case regressed under all settings of a factor, and more under this one."""

    settings: dict[str, Any]
    ratio: float | None
    """Of the change there to that at the others."""
    over: list[str]
    """The other factors, over whose settings that is an average."""


Where = OnlyUnder | MoreUnder

At = Literal["setting", "others"]
"""A side of an interaction: its setting, or those against it."""


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """The ratios head/base of the findings with the smallest and the largest change."""

    least: float
    most: float


class NotKnown(Kind, frozen=True, kw_only=True):
    """There is no interval of the interaction."""

    at: dict[str, Any]
    """The settings where something stands in the way; none where it is not at some."""
    why: Trouble | ZeroValue | IncompleteBuilds | NoSpreadOrRounds


class ChangedOnlyUnder(Kind, frozen=True, kw_only=True):
    """Head changed under these settings alone."""

    settings: dict[str, Any]
    span: Span | None


class ChangedNotUnder(Kind, frozen=True, kw_only=True):
    """Head changed under all settings but that of the interaction."""

    span: Span | None


class Opposite(Kind, frozen=True, kw_only=True):
    """Head is worse on one side of the interaction and better on the other."""

    worse: At
    worse_span: Span | None
    better_span: Span | None


Shown = Literal["both", "worse", "better", "neither"]


class Differs(Kind, frozen=True, kw_only=True):
    """Head's change is a worse one on one side of the interaction; ratios are geometric means over the findings."""

    worse: At
    worse_ratio: float | None
    better_ratio: float | None
    over: list[str]
    """The other factors, over whose settings both are averages."""
    both_regress: bool
    matters: bool
    """Whether the difference is beyond the findings' threshold."""
    both_improve: bool = False
    shown: Shown = "both"
    """On which sides a finding is shown to have changed by itself; a report of an older program does not say."""


class Same(Kind, frozen=True, kw_only=True):
    """Any difference is below the findings' threshold."""

    over: list[str]


class Open(Kind, frozen=True, kw_only=True):
    """Whether the change differs is open."""

    over: list[str]
    looks_real: bool
    """Whether the interval excludes "no difference" on its own."""
    few_builds: int | None
    """That it has a side, where these are too few for a verdict."""


Outcome = NotKnown | ChangedOnlyUnder | ChangedNotUnder | Opposite | Differs | Same | Open


# --- the report -------------------------------------------------------------------------------------------------------


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """What regressed: a benchmark, or one metric and statistic of it at some of its settings."""

    benchmark: str
    metric: str | None
    """None where the benchmark has no other finding."""
    statistic: str
    only: dict[str, Any]
    """The settings that it is confined to."""
    most: dict[str, Any]
    """The settings with the largest change."""
    findings: int
    """How many regressed."""
    of: int
    """How many there are."""
    varied: int
    """Factors with several settings among those."""


class Regressed(Kind, frozen=True, kw_only=True):
    """Some findings regressed."""

    count: int
    findings: int
    worst: list[Place]
    more: int
    """Places beyond the worst."""


class NothingMeasured(Kind, frozen=True):
    """There is not one value."""


class OnlyAggregates(Kind, frozen=True, kw_only=True):
    """All values are aggregates that other tools gave, which are never decided."""

    count: int


class OneSideMeasured(Kind, frozen=True, kw_only=True):
    """The values are of one side alone."""

    side: Side


class BudgetEnded(Kind, frozen=True, kw_only=True):
    """The budget ended before one round was complete; all times in seconds."""

    spent: Unfinished
    least: float
    """What `rounds` take at least, judging by what was measured."""
    rounds: int
    """That a regression needs."""


class MachineNotFree(Kind, frozen=True, kw_only=True):
    """Another program held the lock of the machine; status: for how long, and who, in words."""

    status: str


class NothingDecided(Kind, frozen=True, kw_only=True):
    """Nothing that was measured is to be decided."""

    metrics: list[str]


class Failed(Kind, frozen=True, kw_only=True):
    """Something failed."""

    failures: int
    findings: int


class SomeInconclusive(Kind, frozen=True, kw_only=True):
    """Some findings are inconclusive, and none regressed."""

    count: int
    findings: int
    not_worse: int
    """How many of them are shown not to be worse."""


class NotEnoughMeasured(Kind, frozen=True, kw_only=True):
    """The budget ended before there were the builds that a verdict needs."""

    builds: int
    """A side, of the inconclusive finding that has the fewest."""
    needed: int
    round: float | None
    """Seconds that the slowest round took; None: not known."""


class SomeAccepted(Kind, frozen=True, kw_only=True):
    """Some regressions are accepted, and there are no others."""

    count: int
    findings: int
    labels: list[str]


class AllIdentical(Kind, frozen=True, kw_only=True):
    """Every benchmark is proved to be the same on both sides, so that nothing was measured."""

    benchmarks: int


class Noise(msgspec.Struct, frozen=True, kw_only=True):
    """The smallest change that the gate could find in one benchmark."""

    benchmark: str
    metric: str
    detectable: float


class NothingToCompare(Kind, frozen=True, kw_only=True):
    """Base has no configuration and runs none of head's benchmarks, and all of them were measured."""

    benchmarks: int
    why: setup.NothingToCompare
    quietest: Noise | None
    """By head against itself; None: not measured, or no noise is known."""
    noisiest: Noise | None


class NothingRegressed(Kind, frozen=True, kw_only=True):
    """All is well."""

    findings: int
    no_sign: int = 0
    """Of them, those that show no sign of a change for the worse."""
    detectable: float | None = None
    """The size that would have shown in each of these; of a rate, what is lost of it."""


Summary = (
    Regressed
    | NothingMeasured
    | OnlyAggregates
    | OneSideMeasured
    | BudgetEnded
    | MachineNotFree
    | NothingDecided
    | Failed
    | SomeInconclusive
    | NotEnoughMeasured
    | SomeAccepted
    | AllIdentical
    | NothingToCompare
    | NothingRegressed
)


# --- what a reader does now -------------------------------------------------------------------------------------------


class RestoreBenchmark(Kind, frozen=True):
    """A benchmark is missing."""


class RepeatJob(Kind, frozen=True):
    """The part of a job is missing."""


class RaiseBudget(Kind, frozen=True, kw_only=True):
    """The budget is too small for one round."""

    budget: float
    """In seconds, that would probably do."""
    least: float
    rounds: int
    executions: int
    """That were complete; 0: what a round takes is not known."""


class RunLater(Kind, frozen=True):
    """The machine was not free."""


class FixFailure(Kind, frozen=True):
    """Something failed."""


class KeepTrees(Kind, frozen=True):
    """Have builds and benchmarks leave the trees as they are, or declare what they change."""


class FixOutput(Kind, frozen=True):
    """Base and head give different output, and nothing else failed."""


class MeasureFirst(Kind, frozen=True):
    """No value of any benchmark was measured, and nothing failed."""


class FixRegression(Kind, frozen=True):
    """Something regressed."""


class FindCreep(Kind, frozen=True, kw_only=True):
    """Several merges together regressed."""

    pin: str
    head: str
    benchmark: str
    history: bool
    """Whether suspects are named beside it."""


class WaitForNights(Kind, frozen=True, kw_only=True):
    """This night alone shows a regression, which the next ones confirm or not."""

    nights: int | None
    """About so many, if it stays; None: unknown."""


class NothingToDo(Kind, frozen=True):
    """What is inconclusive is shown not to be worse."""


class MeasureMore(Kind, frozen=True, kw_only=True):
    """Nothing is known of how many builds would settle it."""

    hopeless: bool = False
    """No reasonable number would, of any finding."""


class ImportMore(Kind, frozen=True, kw_only=True):
    """The values are of result files, too few a side."""

    builds: int
    """That a regression needs, a side."""


class ImportOthers(Kind, frozen=True, kw_only=True):
    """The values are of result files, which show failures."""

    why: Literal["repeated", "failed", "missing"]
    """One run twice, a benchmark that failed, or only benchmarks that head lacks."""


class MoreMachines(Kind, frozen=True, kw_only=True):
    """The change differs from machine to machine, and the question is what others would show."""

    sessions: int
    """That measured."""
    builds: bool
    """Whether each has builds enough to be judged by itself."""


class CheckValues(Kind, frozen=True):
    """Every inconclusive finding has values below 0, which more of them do not change."""


class MoreBuilds(Kind, frozen=True, kw_only=True):
    """A plan of so many builds would probably settle some of the inconclusive findings."""

    builds: int
    settled: int
    may_be_worse: int
    """Inconclusive findings that are not shown not to be worse."""
    not_worse: int
    """The other inconclusive ones."""


class AllowMoreBuilds(Kind, frozen=True, kw_only=True):
    """A larger budget would allow the builds that a verdict needs."""

    needed: int
    round: float | None
    """Seconds that a round takes; None: not known."""
    budget: float | None
    """Seconds that would do, rounded up."""


Step = (
    RestoreBenchmark
    | RaiseBudget
    | AllowMoreBuilds
    | RunLater
    | KeepTrees
    | FixOutput
    | RepeatJob
    | FixFailure
    | MeasureFirst
    | FixRegression
    | FindCreep
    | WaitForNights
    | NothingToDo
    | CheckValues
    | MeasureMore
    | ImportMore
    | ImportOthers
    | MoreMachines
    | MoreBuilds
)
