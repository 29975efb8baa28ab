"""What a report comes to: data, of which gate/words makes the sentences; as in gate.model.reasons."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from gate.model.evidence import Unfinished
from gate.model.names import Side
from gate.model.warnings import setup
from gate.writing.sentences import Sentence as Kind

# --- the report -------------------------------------------------------------------------------------------------------


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """What regressed: a benchmark, or one metric and statistic of it at some of its settings."""

    benchmark: str
    metric: str | None
    """Name of the metric; None: the benchmark has no other finding."""
    statistic: str
    most: dict[str, Any]
    """The settings with the largest change."""
    findings: int
    """How many of its findings regressed."""
    of: int
    """How many findings it has."""
    varied: int
    """How many factors have several settings among those."""


class Regressed(Kind, frozen=True, kw_only=True):
    """Some findings regressed."""

    count: int
    """Findings that regressed."""
    findings: int
    """All findings."""
    worst: list[Place]
    """What regressed most, at most a few; the whole list is `findings`."""
    more: int
    """Places beyond the worst."""


class NothingMeasured(Kind, frozen=True):
    """There is not one value."""


class OnlyAggregates(Kind, frozen=True, kw_only=True):
    """All values are aggregates that other tools gave, of too few builds to decide over them."""

    count: int
    """How many aggregates there are."""
    more: bool = False
    """Whether those of more builds would be decided: a mean or a median would, a minimum or a p99 not."""


class OneSideMeasured(Kind, frozen=True, kw_only=True):
    """The values are of one side alone."""

    side: Side
    """The side that has values."""


class NothingInCommon(Kind, frozen=True, kw_only=True):
    """Result files of base and head have no benchmark of one name."""

    base: list[str]
    """The benchmarks of base."""
    head: list[str]
    """The benchmarks of head."""


class BudgetEnded(Kind, frozen=True, kw_only=True):
    """The budget ended before one round was complete; all times in seconds."""

    spent: Unfinished
    """Where the budget went."""
    least: float
    """What `rounds` take at least, judging by what was measured."""
    rounds: int
    """Rounds that a regression needs."""


class MachineNotFree(Kind, frozen=True, kw_only=True):
    """Another program held the lock of the machine."""

    status: str
    """For how long it was waited for, and for whom, in words."""


class NothingDecided(Kind, frozen=True, kw_only=True):
    """Nothing that was measured is to be decided."""

    metrics: list[str]
    """Names of the metrics that were measured."""
    undirected: list[str]
    """Those that would be decided if something told which direction is better."""


class Failed(Kind, frozen=True, kw_only=True):
    """Something failed."""

    failures: int
    """How many failures there are."""
    findings: int
    """How many findings there are all the same."""


class SomeInconclusive(Kind, frozen=True, kw_only=True):
    """Some findings are inconclusive, and none regressed."""

    count: int
    """Findings that are inconclusive."""
    findings: int
    """All findings."""
    not_worse: int
    """How many of them are shown not to be worse."""
    hidden: int = 0
    """How many of them are beyond the threshold, and the floor hides it."""


class NotEnoughMeasured(Kind, frozen=True, kw_only=True):
    """Measuring ended before there were the builds that a verdict needs."""

    builds: int
    """Builds a side of the open finding that has the fewest."""
    needed: int
    """Builds a side that a verdict needs."""
    round: float | None
    """Seconds that the slowest round took; None: not known."""
    why: Literal["budget", "plan", "interrupted"] = "budget"
    """budget, interrupted: what ended the run. plan: either, and it has fewer builds."""
    seconds: float | None = None
    """Seconds that all of measuring takes with the builds needed; None: not known."""


class SomeAccepted(Kind, frozen=True, kw_only=True):
    """Some regressions are accepted, and there are no others."""

    count: int
    """Regressions that are accepted."""
    findings: int
    """All findings."""
    labels: list[str]
    """Labels of the pull request that accept them."""


class AllIdentical(Kind, frozen=True, kw_only=True):
    """Every benchmark is proved to be the same on both sides, so that nothing was measured."""

    benchmarks: int
    """How many benchmarks there are."""


class Noise(msgspec.Struct, frozen=True, kw_only=True):
    """The smallest change that the gate could find in one benchmark."""

    benchmark: str
    metric: str
    detectable: float
    """As a share: 0.05 is a change of 5%; of a rate, what is lost of it."""


class NothingToCompare(Kind, frozen=True, kw_only=True):
    """Base has no configuration or is broken, and runs none of head's benchmarks; all of them were measured."""

    benchmarks: int
    """How many benchmarks head has."""
    why: setup.NothingToCompare
    """What base lacks."""
    quietest: Noise | None
    """The benchmark in which head's noise hides least, by head against itself; None: not measured, or no noise is
    known."""
    noisiest: Noise | None
    """As `quietest`, of the benchmark with the largest change that the gate could find."""


class NothingRegressed(Kind, frozen=True, kw_only=True):
    """All is well."""

    findings: int
    """All findings."""
    no_sign: int = 0
    """Findings that show no sign of a change for the worse."""
    detectable: float | None = None
    """The size of a change that would have shown in each of these, as a share; of a rate, what is lost of it. None:
    there are none."""


Summary = (
    Regressed
    | NothingMeasured
    | OnlyAggregates
    | OneSideMeasured
    | NothingInCommon
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


class RestoreBenchmark(Kind, frozen=True, kw_only=True):
    """A benchmark is missing."""

    benchmark: str
    """The first of them."""
    others: int
    """How many others are."""
    merged: bool
    """Whether rules count that head cannot change: what allows it must be merged before."""
    label: str | None
    """Name of the label that allows it in a pull request; None: none does."""


class RepeatJob(Kind, frozen=True):
    """The part of a job is missing."""


class RaiseBudget(Kind, frozen=True, kw_only=True):
    """The budget is too small for one round."""

    budget: float
    """Seconds that would probably do."""
    least: float
    """Seconds that the rounds take at least, judging by what was measured."""
    rounds: int
    """Rounds that a regression needs."""
    executions: int
    """Executions that were complete; 0: what a round takes is not known."""


class RunLater(Kind, frozen=True):
    """The machine was not free."""


class FixFailure(Kind, frozen=True):
    """Something failed."""


class KeepTrees(Kind, frozen=True):
    """Have builds and benchmarks leave the trees as they are, or declare what they change."""


class BuildInside(Kind, frozen=True):
    """Have each side's build write into its own tree, and nothing else failed."""


class FixOutput(Kind, frozen=True):
    """Base and head give different output, and nothing else failed."""


class GiveDirection(Kind, frozen=True, kw_only=True):
    """Nothing is decided, since nothing tells which direction of a metric is better."""

    metric: str
    """The first of them."""


class DecideOn(Kind, frozen=True, kw_only=True):
    """Nothing is decided, since the rules name no metric that was measured."""

    metric: str
    """The first of those."""


class MeasureFirst(Kind, frozen=True):
    """No value of any benchmark was measured, and nothing failed."""


class NameSides(Kind, frozen=True, kw_only=True):
    """The values are of result files of one side."""

    file: str | None
    """Where it is one file with several benchmarks, which may be what is to be compared; null: it is not."""


class FixRegression(Kind, frozen=True, kw_only=True):
    """Something regressed."""

    benchmark: str | None = None
    """What regressed most, and can be measured again; None: it was measured elsewhere."""
    seconds: float | None = None
    """What the whole run took; None: not known."""
    explain: float | None = None
    """Seconds that building both sides once took, which `perfgate explain` does again; None: not known, or it is
    explained already."""
    from_zero: bool = False
    """Whether base is 0 in some that regressed, which no [[accept]] entry covers."""
    metric: str | None = None
    """Of the first of these; None: there are none."""
    floor: float | None = None
    """A floor that allows it, in the unit; None: there are none."""
    unit: str = ""
    """Of that metric."""
    imported: bool = False
    """Whether the values are of result files, whose benchmarks have no table of their own."""


class FindCreep(Kind, frozen=True, kw_only=True):
    """Several merges together regressed."""

    pin: str
    """The commit that head is compared with."""
    head: str
    """The commit that was measured."""
    benchmark: str
    history: bool
    """Whether suspects are named beside it."""


class WaitForNights(Kind, frozen=True, kw_only=True):
    """This night alone shows a regression, which the next ones confirm or not."""

    nights: int | None
    """About so many, if it stays; None: unknown."""


class NothingToDo(Kind, frozen=True):
    """What is inconclusive is shown not to be worse."""


class LowerFloor(Kind, frozen=True, kw_only=True):
    """All that may be a regression is smaller than the floor, so more builds cannot settle it."""

    benchmark: str
    """Where the floor hides most."""
    metric: str
    """Of the same finding."""
    imported: bool
    """Whether the values are of result files, whose benchmarks have no table of their own."""
    floor: float
    """The floor there, in the unit."""
    unit: str
    wanted: float
    """A floor with which it is decided, in the unit; 0: none."""
    share: float | None
    """The floor over base's value; None: that is 0."""


class DeclareZero(Kind, frozen=True, kw_only=True):
    """Base is 0, which no more builds change."""

    metric: str
    """Of the first that is open."""
    floor: float | None
    """A floor that head is above, in the unit; None: head has no spread that a floor could be tested with."""
    unit: str
    imported: bool = False
    """Whether the values are of result files, whose benchmarks have no table of their own."""


class DeclareExact(Kind, frozen=True, kw_only=True):
    """All values of a side are the same, and more of them would be too."""

    metric: str
    """Of the first that is open."""
    rounded: bool
    """Whether they are written in steps that may hide how they differ; else they are the same to the last digit."""


class OtherStatistic(Kind, frozen=True, kw_only=True):
    """A quantile is 0 in some build, which has no ratio."""

    metric: str
    """Of the first that is open."""
    statistic: str
    """The quantile, such as p50."""


class MeasureTogether(Kind, frozen=True):
    """Base and head were measured in different sessions, which more of them do not change."""


class MoreValues(Kind, frozen=True, kw_only=True):
    """Every build has too few values for a quantile."""

    statistic: str
    """The quantile, such as p99."""
    has: int
    """Values of a build."""
    needs: int
    """Values that a build needs."""
    executions: int | None
    """Executions of each build that give them; None: not by executions alone, or the plan is not known."""
    iterations: int | None
    """Iterations of each execution that give them; None: as for `executions`."""
    budget: float | None
    """Seconds of a budget in which that fits, rounded up; None: the present one does, or it is not known."""
    auto: bool = False
    """Whether the plan comes from memory, which such a number must replace."""


class MeasureMore(Kind, frozen=True, kw_only=True):
    """Nothing is known of how many builds would settle it."""

    hopeless: bool = False
    """Whether no reasonable number would, of any finding."""
    builds: int | None = None
    """Builds a side of a plan that narrows the intervals; None: it is hopeless."""
    budget: float | None = None
    """Seconds of a budget in which it fits, rounded up; None: the present one does, or it is not known."""
    auto: bool = False
    """Whether the plan comes from memory, which such a number must replace."""


class ReduceNoise(Kind, frozen=True, kw_only=True):
    """More builds would not settle it, or not within reason: the noise has to be less."""

    builds: int | None
    """Builds a side that would probably settle some of it; None: no reasonable number would."""
    seconds: float | None
    """About what they take; None: not known."""
    metric: str | None
    """A metric that the run recorded, which is much less noisy; None: there is none."""
    narrower: float | None
    """How many times narrower its interval is, at least; None: it is exact, or there is no such metric."""
    findings: int
    """In how many of the inconclusive findings that may be worse."""
    may_be_worse: int
    """How many of these there are."""
    duet: bool
    """Whether both sides could be measured at once, which they are not."""
    waited: float | None
    """Share of the time in which some program waited for a processor, where that is much; None: it is not."""


class ImportMore(Kind, frozen=True, kw_only=True):
    """The values are of result files, too few a side."""

    builds: int
    """Builds a side that a regression needs."""


class ImportOthers(Kind, frozen=True, kw_only=True):
    """The values are of result files, which show failures."""

    why: Literal["repeated", "failed", "missing"]
    """repeated: one run twice. failed: a benchmark failed. missing: only benchmarks that head lacks."""


class NameAlike(Kind, frozen=True, kw_only=True):
    """Result files of base and head have no benchmark of one name."""

    hyperfine: bool
    """Whether hyperfine wrote them, which calls a benchmark by its command."""


class MoreMachines(Kind, frozen=True, kw_only=True):
    """The change differs from machine to machine, and the question is what others would show."""

    sessions: int
    """How many machines measured."""
    wanted: int | None
    """How many would probably show it; None: not known, or too many."""
    builds: bool
    """Whether each has builds enough to be judged by itself."""


class CheckValues(Kind, frozen=True):
    """Every inconclusive finding has values below 0, which more of them do not change."""


class AskOfAllMachines(Kind, frozen=True):
    """A value of 0 has no ratio where each of several machines is judged by itself."""


class MoreBuilds(Kind, frozen=True, kw_only=True):
    """A plan of so many builds would probably settle some of the inconclusive findings."""

    builds: int
    """Builds a side of that plan."""
    settled: int
    """Inconclusive findings that it would probably settle."""
    may_be_worse: int
    """Inconclusive findings that are not shown not to be worse."""
    not_worse: int
    """Inconclusive findings that are shown not to be worse."""
    seconds: float | None = None
    """About what that plan takes, judging by the rounds of this run; None: not known."""
    budget: float | None = None
    """Seconds of a budget in which it fits, rounded up; None: the present one does, or it is not known."""
    auto: bool = False
    """Whether the plan comes from memory, which such a number must replace."""


class AllowMoreBuilds(Kind, frozen=True, kw_only=True):
    """A larger budget or plan, or the rest of the run, would give the builds that a verdict needs."""

    needed: int
    """Builds a side that a verdict needs."""
    why: Literal["budget", "plan", "interrupted"]
    """As of `not-enough-measured`."""
    round: float | None
    """Seconds that a round takes; None: not known."""
    builds: int | None
    """Builds of a plan that would do; None: the present one has enough."""
    budget: float | None
    """Seconds that would do, rounded up; None: the present budget does, or it is not known."""
    auto: bool = False
    """Whether the plan comes from memory, which such a number must replace."""


Step = (
    RestoreBenchmark
    | RaiseBudget
    | AllowMoreBuilds
    | RunLater
    | KeepTrees
    | BuildInside
    | FixOutput
    | RepeatJob
    | FixFailure
    | MeasureFirst
    | NameSides
    | GiveDirection
    | DecideOn
    | FixRegression
    | FindCreep
    | WaitForNights
    | NothingToDo
    | LowerFloor
    | DeclareZero
    | DeclareExact
    | MoreValues
    | OtherStatistic
    | MeasureTogether
    | CheckValues
    | AskOfAllMachines
    | MeasureMore
    | ReduceNoise
    | ImportMore
    | ImportOthers
    | NameAlike
    | MoreMachines
    | MoreBuilds
)
