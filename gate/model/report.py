"""The report: its fields are the keys of report.json."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from gate.model.choice import Choice
from gate.model.cost import Cost
from gate.model.creep import CreepFacts
from gate.model.evidence import Round
from gate.model.explanation import Explanation
from gate.model.names import Better, IntervalKind, Layouts, Level, ReportVerdict, Verdict
from gate.model.outcomes import Outcome, Summary, Where
from gate.model.profile import Unprofiled
from gate.model.reasons import Accepted, Reason, SameProgram
from gate.model.records import Build, Commit, Failure, HostState, Whose
from gate.model.sameness import Proof
from gate.model.sandbox import Sandboxed
from gate.model.warnings import AnyWarning

InteractionVerdict = Literal["worse", "better", "same", "inconclusive"]


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """How many units of each level a side's value rests on."""

    session: int
    build: int
    execution: int
    iteration: int


class SideSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a finding: its value and its own interval, in the metric's base unit."""

    value: float
    low: float | None
    high: float | None
    counts: Counts


class RatioInterval(msgspec.Struct, frozen=True, kw_only=True):
    """The confidence interval of the ratio head/base at the nominal confidence."""

    estimate: float | None
    low: float | None
    high: float | None
    confidence: float
    method: str
    df: float | None
    kind: IntervalKind


class DecidedAt(msgspec.Struct, frozen=True, kw_only=True):
    """The interval at the confidence that decided (shared over the family and the looks)."""

    confidence: float
    low: float | None
    high: float | None
    look: int
    looks: int


class Variance(msgspec.Struct, frozen=True, kw_only=True):
    """Variance at one level: S2 biased by the levels below, T2 of the level alone (negative: adds nothing)."""

    level: Level
    s2: float | None
    t2: float | None
    relative: float | None
    """sqrt(S2) over the mean, as in K&J Table VII."""


class Variances(msgspec.Struct, frozen=True, kw_only=True):
    """Variance by level, lowest first, of both sides."""

    base: list[Variance]
    head: list[Variance]


class MemoryUse(msgspec.Struct, frozen=True, kw_only=True):
    """What remembered variance did for one finding.

    remembered, present: relative standard deviation, by memory and by this run, of the same thing (of the round
    contrast, or of a build's mean).
    """

    kind: Literal["alone", "moderated", "noisier", "disagrees", "unlike"]
    """The interval rests on memory alone or is moderated by it; or memory is not used, since the present data is
    noisier than remembered or does not go with it, or since one side's builds spread more than the other's."""
    used: bool
    df: float
    """Degrees that the memory is worth."""
    sessions: int
    first: str
    """Day of the oldest session."""
    last: str
    """Day of the newest session."""
    remembered: float
    present: float | None
    without: RatioInterval | None
    """The nominal interval as it would be without the memory."""


class Pairing(msgspec.Struct, frozen=True, kw_only=True):
    """What base and head of a round have in common: layouts, and what disturbs both.

    together, apart: standard deviation over rounds of the logarithm of head/base, as it is and as it would be if base
    and head had nothing in common.
    """

    rounds: int
    """That both sides have."""
    correlation: float | None
    """Of the logarithms of base and head over rounds; None: one side does not vary."""
    together: float
    apart: float
    gains: bool
    """Whether they have so much in common that pairing narrows the interval, of a single finding and from 4 rounds."""
    layouts: Layouts | None = None
    """Of both sides of a round; None: not known."""


class SessionRatio(msgspec.Struct, frozen=True, kw_only=True):
    """The ratio head/base on one of several machines that are judged each by itself."""

    session: int
    host: str | None
    """Its name; None: the measurements do not say."""
    rounds: int
    """That both sides have."""
    ratio: RatioInterval


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One case, one statistic, its interval and its verdict; what is not measured is Identical."""

    benchmark: str
    metric: str
    unit: str
    better: Better
    statistic: str
    factors: dict[str, Any]
    base: SideSummary
    head: SideSummary
    ratio: RatioInterval
    sessions: list[SessionRatio]
    """Each machine by itself, with `gate.sessions = "fixed"`; empty otherwise, and with one session."""
    decided_at: DecidedAt
    shown: Literal["ratio", "decided_at"] | None
    """The interval that the verdict rests on; None: there is none, or counts are compared as numbers."""
    threshold: float
    floor: float | None
    """The absolute change that a regression also needs, in the base unit; None where no floor applies."""
    p: float | None
    """Of the threshold (not of 1), two-sided, towards regression."""
    p_adjusted: float | None
    p_improvement: float | None
    p_improvement_adjusted: float | None
    verdict: Verdict
    accepted: Accepted | None
    reason: Reason
    where: list[Where]
    """Settings of factors that a regression is confined to, or larger at."""
    warnings: list[AnyWarning]
    not_worse: bool
    more_builds: int | None
    """More builds a side (with `sessions`: on each machine) that would settle the finding, if estimate and noise stay
    as they are; None where no more are needed, no reasonable number would, builds are not what is lacking, or nothing
    is known of the noise."""
    stopped: Literal["settled", "futility"] | None
    """Why it was not measured up to the last look; None: it was."""
    detectable: float | None
    """The smallest change that would probably be called."""
    identical: None
    """It was measured."""
    variance: Variances
    memory: MemoryUse | None
    """None where nothing is remembered about this finding."""
    pairing: Pairing | None = None
    """None where rounds do not pair both sides, or there are fewer than three."""


class Identical(msgspec.Struct, frozen=True, kw_only=True):
    """A finding of a benchmark that cannot differ and was not measured: the keys of Finding, without any number.

    It is a type of its own so that nothing computes with an interval that is not there. In report.json both stand in
    `findings`.
    """

    benchmark: str
    """Of a suite its [[benchmark]]."""
    metric: str
    unit: str
    better: Better
    statistic: str
    factors: dict[str, Any] = {}
    base: None = None
    head: None = None
    ratio: None = None
    sessions: list[SessionRatio] = []
    decided_at: None = None
    shown: None = None
    threshold: float
    floor: float | None
    p: None = None
    p_adjusted: None = None
    p_improvement: None = None
    p_improvement_adjusted: None = None
    verdict: Literal["identical"] = "identical"
    accepted: None = None
    reason: SameProgram
    where: list[Where] = []
    warnings: list[AnyWarning] = []
    not_worse: bool = True
    more_builds: None = None
    stopped: None = None
    detectable: None = None
    identical: Proof
    variance: Variances = Variances(base=[], head=[])
    memory: None = None
    pairing: None = None


class Interaction(msgspec.Struct, frozen=True, kw_only=True):
    """How much the change of one case, statistic and factor depends on the factor: one setting against others.

    ratio: head/base at the setting, divided by head/base at the settings against it (their geometric mean), each the
    geometric mean over the settings of all other factors. p: of 1, two-sided; p_adjusted: in the report's family.
    verdict: worse or better where head's change at the setting is shown to be so, compared with the others; same where
    any difference is below the threshold. only: the case regressed (or improved) at the setting, or at the others,
    alone.
    """

    benchmark: str
    metric: str
    unit: str
    better: Better
    statistic: str
    factor: str
    setting: Any
    against: list[Any]
    ratio: RatioInterval
    threshold: float
    """Of the findings: a smaller difference may be real and is not worth failing for."""
    p: float | None
    p_adjusted: float | None
    verdict: InteractionVerdict
    only: bool
    outcome: Outcome


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """A metric that was measured and is shown, but not decided."""

    benchmark: str
    metric: str
    statistic: str = "mean"
    """Of an aggregate of another tool its own, such as "min"; "value" where that is not known."""
    unit: str
    better: Better
    factors: dict[str, Any]
    base: SideSummary
    head: SideSummary
    ratio: RatioInterval
    warnings: list[AnyWarning]


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """How the error is shared over the report, and over how many findings and interactions."""

    method: str
    size: int


class QuantileEffect(msgspec.Struct, frozen=True, kw_only=True):
    """One point of the quantile-effect curve: the ratio of the quantiles tau of all values, and its 95% band."""

    tau: float
    ratio: float
    low: float | None
    high: float | None


class QuantileCurve(msgspec.Struct, frozen=True, kw_only=True):
    """How head changes a case over its whole distribution; for the eye, not for the verdict."""

    benchmark: str
    metric: str
    factors: dict[str, Any]
    effects: list[QuantileEffect]


class Overall(msgspec.Struct, frozen=True, kw_only=True):
    """The ratio of geometric means over a group of cases."""

    group: str
    metric: str
    ratio: RatioInterval
    cases: int
    units: int
    """Builds of a side that all counted cases have; where measuring may stop early, of the rounds that all have."""
    level: Level
    """What they are: sessions where there are several."""
    dropped: list[str]


class LookFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The looks of a design that may stop early: the rounds planned for them, and how many were reached."""

    rounds: list[int]
    used: int


class MemoryFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What remembered variance did for the report as a whole.

    findings: how many use it. factor: how much noisier the host is than remembered (at least 1; 1 below 5 findings).
    checks: of the default branch whose layouts were common, where more of them are needed before any is used; None:
    there are enough, or layouts are independent.
    """

    findings: int
    sessions: int
    first: str
    last: str
    factor: float
    checks: int | None = None


class RunFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured, when, where and how much of it."""

    id: str | None
    created: str | None
    perfgate: str | None
    seed: int | None
    base: Commit | None
    head: Commit | None
    chosen: str | None
    """How base and head were chosen, for people alone."""
    host: dict[str, Any] | None
    rounds: Round
    looks: LookFacts | None
    """None: the design is fixed."""
    memory: MemoryFacts | None
    """None: nothing is remembered about this machine."""
    seconds: float | None
    """From when the machine was free until measuring ended; where that is not known, what the steps took."""
    commands: dict[str, str] | None
    settings: dict[str, Any] | None
    """[plan], [build] and [env] as they were in force."""
    builds: list[Build]
    states: list[HostState]
    """The machine before and after measuring."""
    choice: Choice | None = None
    """How base and head were chosen, as data; None: not known."""
    cost: Cost | None = None
    """What took the seconds; None: not known."""
    sandbox: Sandboxed | None = None
    """What confined builds and benchmarks; None: not known."""
    imported: list[str] = []
    """The tools that wrote the result files, where perfgate did not measure: base and head have no rounds in common."""


class PolicyFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The rules that decided, and where they come from."""

    source: str
    gate: dict[str, Any]
    override: list[dict[str, Any]]
    accept: list[dict[str, Any]]
    whose: Whose | None = None
    """Where they come from, as data; None: not known."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A decision: everything that renderers show, already decided."""

    schema: int
    verdict: ReportVerdict
    exit_code: int
    summary: Summary
    """The verdict in one sentence."""
    stopped: Literal["budget"] | None
    """What ended measuring before all was settled; None: nothing did."""
    run: RunFacts
    policy: PolicyFacts
    family: Family
    findings: list[Finding]
    """Of what was measured."""
    identical: list[Identical]
    """Of what needed no measuring; in report.json they stand at the end of `findings`."""
    interactions: list[Interaction]
    """Of findings whose lines have factors."""
    recorded: list[Recorded]
    failures: list[Failure]
    overall: list[Overall]
    curves: list[QuantileCurve]
    """Of the cases of which a quantile is decided, and of those that matter most."""
    new: list[str]
    warnings: list[AnyWarning]
    explanations: list[Explanation] = []
    """Of the benchmarks that were profiled: which functions add to their change."""
    unprofiled: list[Unprofiled] = []
    """Of those that were to be profiled and could not."""
    creep: CreepFacts | None = None
    """Of a creep check: what head is compared with, and what all nights show; None: this is none."""
