"""The report: its fields are the keys of report.json."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from gate.model.case import Compared
from gate.model.evidence import Cost, Pace, RoundsDone, SideSummary
from gate.model.history import Control, Controls, CreepFacts
from gate.model.names import Better, IntervalKind, Level, ReportVerdict, Top, Verdict
from gate.model.outcomes import Summary
from gate.model.profile import Explanation, Unprofiled
from gate.model.reasons import UNBOUNDED, Accepted, BelowFloor, FloorOpen, Noise, Reason, SameProgram
from gate.model.records import Build, Commit, Failure, HostState, RulesSource, Turn
from gate.model.sameness import Proof
from gate.model.sandbox import Sandboxed
from gate.model.warnings import AnyWarning
from gate.model.warnings.measured import MissingAllowed
from gate.writing.amounts import format_number
from gate.writing.units import format_share, plural


class RatioInterval(msgspec.Struct, frozen=True, kw_only=True):
    """The confidence interval of the ratio head/base at the nominal confidence."""

    estimate: float | None
    """Ratio head/base: 1.05 is 5% more than base. None: there is none."""
    low: float | None
    high: float | None
    confidence: float
    method: str
    """How the interval was computed: a name of `gate.interval`, one made of it for several machines (fixed-sessions),
    `exact`: counts are compared as numbers, or `aggregate`: of two aggregates, which have no interval."""
    df: float | None
    """Degrees of freedom; None: the method has none."""
    kind: IntervalKind
    """Its shape. bounded: from low to high. complement, half-line, line: base's mean cannot be separated from 0, so
    there are no ends. withheld: there is no interval."""


class DecidedAt(msgspec.Struct, frozen=True, kw_only=True):
    """The interval at the confidence that decided (shared over the family and the looks)."""

    confidence: float
    """Of this interval, as a share, after correction for the comparisons and looks."""
    low: float | None
    high: float | None
    look: int
    """The look at which it was decided, from 1."""
    looks: int
    """How many looks there were to be; 1: the design is fixed."""


class Variance(msgspec.Struct, frozen=True, kw_only=True):
    """Variance at one level: S2 biased by the levels below, T2 of the level alone (negative: adds nothing)."""

    level: Level
    """iteration, execution, build or session."""
    s2: float | None
    """Variance of the means of this level, biased by the levels below, in the unit squared; None: one unit only."""
    t2: float | None
    """Variance of the level alone, in the unit squared; below 0: it adds nothing. None: not known."""
    relative: float | None
    """The standard deviation as a share of the mean: sqrt(S2) over it, as in K&J Table VII. None: not known."""


class Variances(msgspec.Struct, frozen=True, kw_only=True):
    """Variance by level, lowest first, of both sides."""

    base: list[Variance]
    head: list[Variance]


class MemoryUse(msgspec.Struct, frozen=True, kw_only=True):
    """What remembered variance did for one finding."""

    kind: Literal["alone", "moderated", "noisier", "disagrees", "unlike"]
    """The interval rests on memory alone or is moderated by it; or memory is not used, since the present data is
    noisier than remembered or does not go with it, or since one side's builds spread more than the other's."""
    used: bool
    df: float
    """Degrees of freedom that the memory is worth."""
    sessions: int
    first: str
    last: str
    remembered: float
    """Relative standard deviation of the round contrast, or of a build's mean, by memory."""
    present: float | None
    """The same by this run; None: not known."""
    without: RatioInterval | None
    """The nominal interval as it would be without the memory; None: there would be none."""

    def sentence(self) -> str:
        """Say what it did, without a full stop."""
        remembered = format_share(self.remembered)
        present = "" if self.present is None else format_share(self.present)
        when = self.last if self.first == self.last else f"{self.first} to {self.last}"
        count = f"{plural(self.sessions, 'session')}, {when}"
        worth = f"{format_number(self.df, 3)} degrees of freedom"
        return {
            "alone": f"the interval rests on remembered variance alone: {remembered} ({worth}, {count})",
            "moderated": f"moderated by remembered variance: {remembered} ({worth}, {count}), now {present}",
            "noisier": (
                f"noisier than calibrated: {present} now, {remembered} remembered ({count}); the memory is not used"
            ),
            "unlike": (
                f"remembered variance is not used: one side's builds spread more than the other's ({present} together)"
            ),
            "disagrees": (f"remembered variance is not used: {present} now does not agree with {remembered} ({count})"),
        }[self.kind]


class SessionRatio(msgspec.Struct, frozen=True, kw_only=True):
    """The ratio head/base on one of several machines that are judged each by itself."""

    session: int
    """Number of the session, from 0."""
    host: str | None
    rounds: int
    """Rounds that both sides have."""
    ratio: RatioInterval


class View(msgspec.Struct, frozen=True, kw_only=True):
    """Why a finding stands for its benchmark, of which another view was decided too."""

    why: Literal["sharper", "regression", "tasks", "nights"]
    """sharper: the first round showed it to vary least. regression: it shows a regression, and the sharper view none.
    tasks: several tasks do the work, so that nothing but wall time is valid. nights: of a creep check, which judges all
    nights by one view, whatever each shows."""
    times: float | None
    """How many times as much the other view varied in the first round; None: not known."""


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """An absolute bound of head's value, and whether head keeps it."""

    at: float
    """The bound, in the base unit."""
    state: Literal["kept", "open", "broken"]
    """broken: head's interval lies beyond it. kept: within it. open: it lies on both sides, or there is none."""
    low: float | None
    """Lower end of head's interval at `confidence`, in the base unit; None: there is none, or too few builds."""
    high: float | None
    """Upper end of that interval."""
    confidence: float
    """Of that interval, as a share, corrected for the limits and looks of the report."""


class Finding(Compared, frozen=True, kw_only=True):
    """One case, one statistic, its interval and its verdict; what is not measured is Identical."""

    better: Better
    base: SideSummary
    head: SideSummary
    ratio: RatioInterval
    """Ratio head/base, with the interval at the confidence of the rules, before any correction."""
    sessions: list[SessionRatio]
    """Each machine by itself, with `gate.sessions = "fixed"`; empty otherwise, and with one session."""
    decided_at: DecidedAt
    shown: Literal["ratio", "decided_at"] | None
    """The interval that the verdict rests on; None: there is none, or counts are compared as numbers."""
    threshold: float
    floor: float | None
    """The absolute change that a regression also needs, in the base unit; None where no floor applies."""
    p: float | None
    """Probability of such values if head were worse by exactly the threshold (not: by nothing), two-sided, towards
    regression; None: there is none."""
    p_adjusted: float | None
    """The same after correction for multiple comparisons; None: there is none."""
    p_improvement: float | None
    """As `p`, towards improvement by the threshold."""
    p_improvement_adjusted: float | None
    """The same after correction; None: there is none."""
    verdict: Verdict
    """regression, accepted (a regression that the rules let pass), inconclusive (a change beyond the threshold is
    neither shown nor excluded), improvement, no-sign (no regression shows, and one of the size `detectable` would
    have), unchanged (shown to be within the threshold)."""
    accepted: Accepted | None
    reason: Reason
    warnings: list[AnyWarning]
    not_worse: bool
    """Whether any slowdown beyond the threshold is excluded, also where the verdict is inconclusive."""
    more_builds: int | None
    """More builds a side (with `sessions`: on each machine) that would settle the finding, if estimate and noise stay
    as they are; None where no more are needed, no reasonable number would, builds are not what is lacking, or nothing
    is known of the noise."""
    stopped: Literal["settled", "futility"] | None
    """Why it was not measured up to the last look: its verdict was settled, or more values would probably not settle it
    (futility). None: it was."""
    detectable: float | None
    """The smallest change for the worse that would have been called in 80 of 100 such runs, as a share: 0.09 is a ratio
    of 1.09, or of 1/1.09 where higher is better. None: none would, or it is not asked."""
    identical: None = None
    """Of a finding that was measured there is no proof."""
    variance: Variances
    memory: MemoryUse | None
    """What remembered variance did for it; None: nothing is remembered about it."""
    warn: float | None = None
    """The change for the worse from which it is marked, as a share; None: none is."""
    limit: Limit | None = None
    """What head's value is held to; None: nothing."""
    top: Top = "build"
    """The level above starts: what its values are counted by."""
    view: View | None = None
    """Why this view of the benchmark decided; None: there was no other."""
    beside: list[Finding] = msgspec.field(default_factory=list)
    """The other views of the benchmark, which did not decide."""
    control: Control | None = None
    """Base's odd starts against its even ones; None: it has too few, or counts are compared as numbers."""

    @property
    def views(self) -> list[Finding]:
        """All views of its benchmark that were decided, this one first."""
        return [self, *self.beside]

    @property
    def is_bound_by_floor(self) -> bool:
        """Whether its floor asks for more than its threshold does."""
        return self.floor is not None and self.floor > self.threshold * abs(self.base.value) > 0

    @property
    def is_below_floor(self) -> bool:
        """Whether its change is shown to be beyond the threshold and below the floor."""
        return isinstance(self.reason, BelowFloor) and self.reason.threshold is not None

    @property
    def is_hidden(self) -> bool:
        """Whether its change is beyond the threshold and not shown to be above the floor."""
        return self.is_below_floor or isinstance(self.reason, FloorOpen)

    @property
    def is_noise(self) -> bool:
        """Whether noise alone leaves it open, and not a floor, too few builds or a value of 0."""
        return self.verdict == "inconclusive" and (isinstance(self.reason, Noise) or self.reason == UNBOUNDED)

    @property
    def may_regress(self) -> bool:
        """Whether noise alone leaves it open, and its change as measured would be a regression."""
        ratio = self.ratio.estimate
        if not self.is_noise or self.not_worse or ratio is None or not ratio > 0:
            return False
        floor = (self.floor or 0.0) / abs(self.base.value) if self.base.value else 0.0
        return (ratio if self.better == "lower" else 1 / ratio) - 1 > max(self.threshold, floor)

    @property
    def is_open(self) -> bool:
        """Whether it may be a regression, as far as is known; what is below the floor is none by the rules."""
        return self.verdict == "inconclusive" and not self.not_worse and not self.is_below_floor


class Identical(Compared, frozen=True, kw_only=True):
    """A finding of a benchmark that cannot differ and was not measured; report.json has all keys of Finding, as null.

    It is a type of its own so that nothing computes with an interval that is not there. In report.json both stand in
    `findings`.
    """

    benchmark: str
    """Name of the benchmark; of a suite its [[benchmark]], which stands for all its cases."""
    factors: dict[str, Any] = msgspec.field(default_factory=dict)
    threshold: float
    floor: float | None
    verdict: Literal["identical"] = "identical"
    reason: SameProgram
    not_worse: bool = True
    identical: Proof


class Recorded(Compared, frozen=True, kw_only=True):
    """A metric that was measured and is shown, but not decided."""

    statistic: str = "mean"
    """mean, or what another tool gave, such as "min"; "value" where that is not known."""
    base: SideSummary
    head: SideSummary
    ratio: RatioInterval
    warnings: list[AnyWarning]


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """How the error is shared over the report, and over how many findings."""

    method: str
    """holm, bh or none, as `gate.family`."""
    size: int


class QuantileEffect(msgspec.Struct, frozen=True, kw_only=True):
    """One point of the quantile-effect curve: the ratio of the quantiles tau of all values, and its 95% band."""

    tau: float
    """Which quantile: 0.5 is the median."""
    ratio: float
    low: float | None
    high: float | None


class QuantileCurve(msgspec.Struct, frozen=True, kw_only=True):
    """How head changes a case over its whole distribution; for the eye, not for the verdict."""

    benchmark: str
    metric: str
    factors: dict[str, Any]
    effects: list[QuantileEffect]
    """By increasing tau."""


class Overall(msgspec.Struct, frozen=True, kw_only=True):
    """The ratio of geometric means over a group of cases."""

    group: str
    """Name of a suite; all: every case of the metric."""
    metric: str
    ratio: RatioInterval
    """Of the geometric means, head/base."""
    cases: int
    """How many are counted."""
    units: int
    """Builds of a side that all counted cases have; where measuring may stop early, of the rounds that all have."""
    level: Level
    """Whether those units are builds or, where there are several, sessions."""
    dropped: list[str]
    """Cases that are not counted, by name."""


class LookFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The looks of a design that may stop early: the rounds planned for them, and how many were reached."""

    rounds: list[int]
    """After how many rounds each look was planned."""
    used: int


class MemoryFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What remembered variance did for the report as a whole."""

    findings: int
    sessions: int
    first: str
    """Day of the oldest session, as 2026-11-20."""
    last: str
    factor: float
    """How much noisier the host is than remembered: at least 1, and 1 below 5 findings."""
    checks: int | None = None
    """Checks of the default branch with common layouts, where more of them are needed before any is used; None: there
    are enough, or layouts are independent."""


class NextPlan(msgspec.Struct, frozen=True):
    """The cheapest plan that would probably settle all that is inconclusive."""

    builds: int
    executions: int
    """Of each build."""
    iterations: int
    """Of each execution."""
    seconds: float
    """About what it takes."""


class RunFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured, when, where and how much of it."""

    id: str | None
    """Of the run, the same in its measurements.jsonl; None: not known."""
    created: str | None
    """When measuring began, in UTC as 2026-11-20T09:00:00Z; None: not known."""
    perfgate: str | None
    seed: int | None
    """From which layouts and orders were drawn; None: not known."""
    base: Commit | None
    head: Commit | None
    chosen: str | None
    """How base and head were chosen, for people alone; None: not known."""
    host: dict[str, Any] | None
    """The machine: processor, memory, kernel, hash of its name; its keys depend on the system. None: not known."""
    rounds: RoundsDone
    looks: LookFacts | None
    memory: MemoryFacts | None
    seconds: float | None
    """From when the machine was free until measuring ended; where that is not known, what the steps took. None: neither
    is known."""
    typed: list[str] | None = None
    """The command line that measured, without the program's name; None: not known, or several jobs measured."""
    again: list[str] | None = None
    """The command line that decides again; None: not known."""
    commands: dict[str, str] | None
    """The command of each benchmark by name, as head's file gives it; None: not known."""
    settings: dict[str, Any] | None
    """[plan], [build] and [env] as they were in force; None: not known."""
    builds: list[Build]
    states: list[HostState]
    """The machine before and after measuring."""
    cost: Cost | None = None
    pace: Pace | None = None
    sandbox: Sandboxed | None = None
    turns: list[Turn] = []
    """How short the executions of benchmarks were, where starting one took so little that they could be shorter than
    planned."""
    imported: list[str] = []
    """The tools that wrote the result files, where perfgate did not measure: base and head have no rounds in common."""
    plan: NextPlan | None = None
    """What the next run would need where this one is inconclusive; None: no plan is known to do."""
    tables: dict[str, str] = {}
    """Of each benchmark that names in its own [[benchmark]] what decides it, the name in that table."""


class PolicyFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The rules that decided, and where they come from."""

    source: str
    """Where the rules come from, for people."""
    gate: dict[str, Any]
    """The keys of [gate] in perfgate.toml, all of them, in force."""
    override: list[dict[str, Any]]
    accept: list[dict[str, Any]]
    whose: RulesSource | None = None


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A decision: everything that renderers show, already decided."""

    schema: int
    """Version of this format: 2."""
    verdict: ReportVerdict
    """The first that applies: regression (one that is not accepted), error (a failure, a missing benchmark, nothing
    measured), inconclusive (some finding), pass."""
    exit_code: int
    """Of the command: 0 pass, 1 regression, 3 inconclusive with `gate.inconclusive = "fail"`, 4 error."""
    summary: Summary
    """The verdict, as data and in one sentence."""
    stopped: Literal["budget"] | None
    """What ended measuring before all was settled; None: nothing did."""
    run: RunFacts
    policy: PolicyFacts
    family: Family
    findings: list[Finding]
    identical: list[Identical]
    """Of what needed no measuring; in report.json they stand at the end of `findings`."""
    recorded: list[Recorded]
    """Metrics that were measured and are shown, but not decided."""
    failures: list[Failure]
    """Builds and executions that gave no usable values, changed trees, missing benchmarks."""
    overall: list[Overall]
    """The geometric mean of the ratios over groups of cases; it decides nothing."""
    curves: list[QuantileCurve]
    """The change at each quantile, of the cases of which a quantile is decided and of those that matter most."""
    new: list[str]
    warnings: list[AnyWarning]
    """Warnings about the whole run; those about one finding stand there."""
    explanations: list[Explanation] = []
    """Of the benchmarks that were profiled: which functions add to their change."""
    unprofiled: list[Unprofiled] = []
    """Of those that were to be profiled and could not."""
    creep: CreepFacts | None = None
    """Of a creep check: what head is compared with, and what all nights show; None: this is none."""
    controls: Controls | None = None


def failing(failures: Iterable[Failure], warnings: Iterable[AnyWarning]) -> list[Failure]:
    """Return the failures that are not green: all but missing benchmarks that the warnings say are allowed."""
    allowed = {name for each in warnings if isinstance(each, MissingAllowed) for name in each.benchmarks}
    # a whole shard or session that is missing is no matter of policy
    return [each for each in failures if each.kind != "missing" or each.benchmark not in allowed]
