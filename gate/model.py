"""The nouns of perfgate: frozen types without behaviour and without I/O.

The first half are the lines of measurements.jsonl (what passes from harness to gate), the second half what
the gate makes of them, up to the Report whose fields are the keys of report.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

import msgspec

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Side = Literal["base", "head"]
Better = Literal["lower", "higher"]
Level = Literal["iteration", "execution", "build", "session"]
FailureKind = Literal["build", "execution", "missing"]
IntervalKind = Literal["bounded", "complement", "half-line", "line", "withheld"]
Verdict = Literal["regression", "improvement", "unchanged", "inconclusive", "accepted"]
ReportVerdict = Literal["pass", "regression", "inconclusive", "error"]

Index = Annotated[int, msgspec.Meta(ge=0)]

SIDES: tuple[Side, Side] = ("base", "head")
LEVELS: tuple[Level, Level, Level, Level] = ("iteration", "execution", "build", "session")
SCHEMA = 1
"""Version of measurements.jsonl and report.json."""


class UserError(Exception):
    """Something the user can mend, in one line: what, where, what to do; a command ends with exit code 2."""


# --- the lines of measurements.jsonl -------------------------------------------------------------------------------


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """One side of the comparison as git names it."""

    ref: str | None = None
    sha: str | None = None
    dirty: bool = False
    tree: str | None = None
    """Tree object of the uncommitted changes when dirty; what --resume compares."""


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """The values of one metric in one execution, in base units (s, B or a count)."""

    unit: str = ""
    better: Better = "lower"
    values: list[float]
    """Measured iterations in order, warm-up excluded."""
    dropped: list[float] = []
    """The warm-up iterations before them."""


class Run(msgspec.Struct, frozen=True, kw_only=True, tag="run"):
    """One measuring under one schedule: who measured what, where, by which rules."""

    schema: Annotated[int, msgspec.Meta(ge=1)] = SCHEMA
    id: str | None = None
    created: str | None = None
    perfgate: str | None = None
    seed: int | None = None
    looks: int | None = None
    shard: Annotated[str, msgspec.Meta(pattern="^[1-9][0-9]{0,3}/[1-9][0-9]{0,3}$")] | None = None
    sessions: Annotated[int, msgspec.Meta(ge=1, le=10_000)] | None = None
    base: Commit | None = None
    head: Commit | None = None
    host: dict[str, Any] | None = None
    config: dict[str, Any] | None = None
    """The rules in force and the benchmarks, in the shape of perfgate.toml."""
    chosen: str | None = None
    """How base and head were chosen, in words."""
    rules: str | None = None
    """Whose rules are in force, in words: "base with gate.threshold=5%"."""
    benchmarks: dict[Side, list[str]] | None = None
    """The benchmarks each side is expected to measure."""
    commands: dict[str, str] | None = None
    """The command of each benchmark as head's file gives it."""
    warnings: list[str] = []
    """What the reader of the report must know from before measuring."""


class Build(msgspec.Struct, frozen=True, kw_only=True, tag="build"):
    """One rebuild of one side."""

    side: Side
    session: Index = 0
    build: Index
    seed: int | None = None
    seconds: float | None = None
    artifacts: dict[str, str] = {}
    """Path -> "sha256:...", of the files named by [build] artifacts."""


class Execution(msgspec.Struct, frozen=True, kw_only=True, tag="execution"):
    """One start of the instrument's process, with the values that came out of it."""

    benchmark: str
    side: Side
    session: Index = 0
    build: Index
    execution: Index
    order: int | None = None
    """Position in the run's order of executions, from 0."""
    started: str | None = None
    seconds: float | None = None
    warmup: Index = 0
    factors: dict[str, Any] = {}
    metrics: dict[str, Metric]


class Failure(msgspec.Struct, frozen=True, kw_only=True, tag="failure"):
    """A build or execution that gave no usable values, or a missing benchmark."""

    kind: FailureKind
    benchmark: str | None = None
    side: Side | None = None
    session: Index = 0
    build: Index | None = None
    execution: Index | None = None
    status: str = ""
    stderr: str = ""
    command: str | None = None
    """The exact command, for a shell."""
    directory: str | None = None
    environment: dict[str, str] | None = None
    """What differs from the caller's environment: name -> value, "" for a name that was removed."""
    hint: str | None = None
    """What probably went wrong and what to do, when that is known."""


class Look(msgspec.Struct, frozen=True, kw_only=True, tag="look"):
    """What was decided between two rounds: the benchmarks that need no more."""

    look: int
    settled: list[str] = []
    stop: str | None = None


Record = Run | Build | Execution | Failure | Look


class AfterRound(Protocol):
    """Called by the measuring loop after each round: which benchmarks need no more executions."""

    def __call__(self, records: Sequence[Record], /) -> frozenset[str]:
        """Judge all records of the run so far."""
        ...


# --- what statistics work on ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """All values of one case on one side, nested by level.

    values: float64, shape (N,), ordered by session, build, execution, iteration.
    counts: children of each unit, from the lowest level: counts[0][e] iterations of execution e, counts[1][b]
    executions of build b, counts[2][s] builds of session s; each sums to the length of the one before (N first).
    builds: (session, build) of each build, in the order of counts[1].
    """

    values: npt.NDArray[np.float64]
    counts: tuple[npt.NDArray[np.int64], ...]
    builds: tuple[tuple[int, int], ...]


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """A benchmark and one of its metrics (and factor settings), with what was measured of it on each side."""

    benchmark: str
    metric: str
    factors: dict[str, Any]
    unit: str
    better: Better
    exact: bool
    decided: bool
    """Whether the policy wants a verdict, or only the numbers shown."""
    base: Sample
    head: Sample
    warnings: list[str]


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """How far measuring came: rounds that are complete, and rounds the plan wanted (None: not known)."""

    done: int
    planned: int | None


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a decision rests on, read from any number of measurement files."""

    run: Run | None
    cases: list[Case]
    failures: list[Failure]
    new: list[str]
    rounds: Round
    seconds: float | None
    """Time spent in builds and executions."""
    warnings: list[str]


# --- the report: its fields are the keys of report.json -------------------------------------------------------------


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


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """The [[accept]] entry that let a regression pass."""

    up_to: float
    until: str
    reason: str


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One case, one statistic, its interval and its verdict."""

    benchmark: str
    metric: str
    unit: str
    better: Better
    statistic: str
    factors: dict[str, Any]
    base: SideSummary
    head: SideSummary
    ratio: RatioInterval
    decided_at: DecidedAt
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
    reason: str
    warnings: list[str]
    not_worse: bool
    variance: Variances


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """A metric that was measured and is shown, but not decided."""

    benchmark: str
    metric: str
    unit: str
    better: Better
    factors: dict[str, Any]
    base: SideSummary
    head: SideSummary
    ratio: RatioInterval
    warnings: list[str]


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """How the error is shared over the report, and over how many findings."""

    method: str
    size: int


class Overall(msgspec.Struct, frozen=True, kw_only=True):
    """The ratio of geometric means over a group of cases."""

    group: str
    metric: str
    ratio: RatioInterval
    cases: int
    dropped: list[str]


class RunFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured, when, where and how much of it."""

    id: str | None
    created: str | None
    perfgate: str | None
    seed: int | None
    base: Commit | None
    head: Commit | None
    chosen: str | None
    """How base and head were chosen, in words."""
    host: dict[str, Any] | None
    rounds: Round
    seconds: float | None
    commands: dict[str, str] | None


class PolicyFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The rules that decided, and where they come from."""

    source: str
    gate: dict[str, Any]
    override: list[dict[str, Any]]
    accept: list[dict[str, Any]]


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A decision: everything that renderers show, already decided."""

    schema: int
    verdict: ReportVerdict
    exit_code: int
    summary: str
    """The verdict in one sentence."""
    run: RunFacts
    policy: PolicyFacts
    family: Family
    findings: list[Finding]
    recorded: list[Recorded]
    failures: list[Failure]
    overall: list[Overall]
    new: list[str]
    warnings: list[str]
