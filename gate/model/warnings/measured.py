"""What was measured, beside what was to be measured."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from gate.model.names import Side
from gate.model.warnings.base import Base, Weight

# --- files and what is selected of them -------------------------------------------------------------------------------


class TornLine(Base, frozen=True):
    """The last line of a file was cut off in the middle of a write."""

    file: str
    """Its name."""


class SelectedOnly(Base, frozen=True):
    """Only a part of what was measured is decided."""

    selected: int
    """Benchmarks that are decided."""
    measured: int
    """Benchmarks that were measured."""


class SidesByOrder(Base, frozen=True):
    """Of two result files without labels, the first was taken as base."""

    base: str
    """Name of the file taken as base."""
    head: str
    """Name of the file taken as head."""


class ColumnsOfFile(Base, frozen=True):
    """A result file holds several measurings, of which the last two were taken as base and head."""

    file: str
    """Its name."""
    key: str
    """The label that tells them apart, such as "commit"."""
    base: str
    """Value of the label that was taken as base."""
    head: str
    """Value of the label that was taken as head."""


class LinesLeftOut(Base, frozen=True):
    """Result files hold what looks like a result, and was left out or read in part."""

    file: str
    """The name of the first of them."""
    first: str
    """What there is in it, and on which line."""
    more: int
    """So many others there are, in all files."""


class WithoutValues(Base, frozen=True):
    """Another tool gave an aggregate without the values behind it, which is never decided."""

    statistic: str


class FiguresOfTool(Base, frozen=True):
    """Metrics whose values are aggregates of another tool, one a build."""

    metrics: tuple[str, ...]
    """Their names."""
    statistic: str
    """What the aggregates are, such as "mean" or "median"; "value" where the tool does not say."""


class SameValues(Base, frozen=True):
    """Base and head have the same values, too few different ones to be sure that they are one measurement."""

    weight: ClassVar[Weight] = "first"


class MeasuredSeparately(Base, frozen=True):
    """Base and head were not measured in turns."""


class RequestsFailed(Base, frozen=True):
    """Requests of a load test failed, whose times are left out."""

    weight: ClassVar[Weight] = "first"
    benchmark: str
    base: float
    """The share of base's requests that failed."""
    head: float
    """The same of head."""


class ForeignValues(Base, frozen=True):
    """The values are those of a fork's own workflow run."""


# --- how far measuring came -------------------------------------------------------------------------------------------


class RoundsShort(Base, frozen=True):
    """Fewer rounds were measured than were planned."""

    weight: ClassVar[Weight] = "first"
    done: int
    planned: int


class BudgetRounds(Base, frozen=True):
    """The budget leaves fewer rounds than were planned, judging by the first two."""

    rounds: int
    """That fit."""
    planned: int


class AfterLastLook(Base, frozen=True):
    """Something was measured after the last look, and does not count."""

    round: int
    """The round after which the last look was."""


class ExecutionsShort(Base, frozen=True):
    """A benchmark has fewer executions than the other side, or than were planned."""

    benchmark: str
    settings: str
    """Of its factors, as "load=busy"; empty: it has none."""
    base: int
    """Executions of base."""
    head: int
    """Executions of head."""
    wanted: int
    """Executions that were planned, or that the other side has."""


class PartShort(msgspec.Struct, frozen=True):
    """One of several parts of a gate, with fewer rounds than were planned."""

    part: str
    """As "shard 1 of 3"."""
    done: int
    planned: int


class PartsShort(Base, frozen=True):
    """Some parts of a gate have fewer rounds than were planned."""

    parts: tuple[PartShort, ...]
    """Those that have fewer."""


class TwoSessions(Base, frozen=True):
    """Two sessions are too few to know what a session does."""


class LooksIgnored(Base, frozen=True):
    """A bootstrap interval takes no account of the looks."""


class UndecidedBenchmarks(Base, frozen=True):
    """Nothing of some benchmarks is decided."""

    weight: ClassVar[Weight] = "first"
    benchmarks: tuple[str, ...]
    metrics: tuple[str, ...]
    """Names of the metrics that were measured of them."""
    named: bool = False
    """Whether plan.metrics names those that decide."""


class UnknownDirection(Base, frozen=True):
    """Metrics are not decided, since neither their tool nor their name or unit tells which direction is better."""

    weight: ClassVar[Weight] = "first"
    metrics: tuple[str, ...]
    """Their names."""
    benchmarks: tuple[str, ...]
    """Those that have one of them."""


class MetricMissing(Base, frozen=True):
    """A metric that is not decided lacks values in a session that has the benchmark."""

    benchmark: str
    metric: str
    factors: str
    """As canonical JSON."""
    session: int


class UnknownUnit(Base, frozen=True):
    """The unit of a metric is misspelt, or is none of its dimension: its values are compared as they are."""

    metric: str
    unit: str
    """As it is written."""
    meant: str | None
    """The known unit that it probably is; None: of a time, which has another unit."""


class NotSteady(Base, frozen=True):
    """Executions reached no steady state."""

    base: int
    """Executions of base that reached none."""
    head: int
    """The same of head."""
    of: int
    """Executions of both sides in which one was looked for."""
    needed: int | None
    """Values that can show one, where each execution has fewer; None: they have enough."""


class Outlived(Base, frozen=True):
    """Something that the command of executions started went on after its end, until it was ended: no value has it."""

    weight: ClassVar[Weight] = "first"
    base: int
    """Executions of base of which that is so."""
    head: int
    """The same of head."""
    of: int
    """Executions of both sides."""


class ValuesShort(Base, frozen=True):
    """Executions gave fewer values than asked for, and others of their side exactly as many."""

    base: int
    """Executions of base with fewer."""
    head: int
    """The same of head."""
    of: int
    """Executions of both sides."""
    asked: int
    """Values that each was asked for."""


# --- builds -----------------------------------------------------------------------------------------------------------


class SameBuilds(msgspec.Struct, frozen=True):
    """Builds of one side with the same content."""

    count: int
    """How many."""
    side: Side
    settings: str
    """Settings of the factors that they were built with; empty: there are none."""


class IdenticalBuilds(Base, frozen=True):
    """All builds of a side are byte-identical."""

    weight: ClassVar[Weight] = "first"
    builds: tuple[SameBuilds, ...]
    """Which ones."""


class IdenticalSides(Base, frozen=True):
    """Base and head are byte-identical."""

    weight: ClassVar[Weight] = "first"


class MissingAllowed(Base, frozen=True):
    """Benchmarks are missing, and that is allowed."""

    weight: ClassVar[Weight] = "first"
    in_headline: ClassVar[bool] = True
    benchmarks: tuple[str, ...]
    label: str | None
    """What allows it for this pull request, in words; None: the rules do."""


class SameCommit(Base, frozen=True):
    """Base and head are one commit: an A/A run."""

    weight: ClassVar[Weight] = "first"


class ProvedInPart(Base, frozen=True):
    """Some sessions measured a benchmark that others proved to be the same on both sides."""

    benchmarks: tuple[str, ...]


Perturbation = Literal["path", "environment"]


class OneTree(Base, frozen=True):
    """There is set-up and no build command, so that all builds of a side are one tree."""


class NoBuildCommand(Base, frozen=True):
    """There is no build command."""

    differing: tuple[Perturbation, ...]
    """What the builds differ in all the same."""


class BuildNeedsGit(Base, frozen=True):
    """The first build of a side failed without a .git, so that its trees have one."""

    weight: ClassVar[Weight] = "later"
    sides: tuple[Side, ...]
    """Those whose first build failed."""


# --- two runs that are compared ---------------------------------------------------------------------------------------


class DifferingKey(msgspec.Struct, frozen=True):
    """A key of [[benchmark]], and the benchmarks in which it differs."""

    key: str
    """Name of the key."""
    benchmarks: tuple[str, ...]


class SetUpDifferently(Base, frozen=True):
    """Two runs have different settings."""

    settings: tuple[str, ...]
    """Their names, as "[build] command"."""
    keys: tuple[DifferingKey, ...]
    """Keys of [[benchmark]] that differ."""


class NotComparable(Base, frozen=True):
    """A metric has another unit or direction on each side."""

    metric: str
    of: Literal["unit", "direction"]
    """What differs."""
    base: tuple[str, ...]
    """The units or directions of base; several: on one side alone."""
    head: tuple[str, ...]
    """The same of head."""
    names: tuple[str, ...]
    """Names of the benchmarks, with their settings."""
