"""What was measured, beside what was to be measured."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from gate.model.names import Side
from gate.model.warnings.base import Base, First, Later, Weight
from gate.units import agree, plural
from gate.writing.phrases import listed
from gate.writing.sentences import filled, say_direction

# --- files and what is selected of them -------------------------------------------------------------------------------


class TornLine(First, frozen=True):
    says = "{file}: the last line is incomplete and is left out"
    file: str


class SelectedOnly(First, frozen=True):
    says = (
        "{selected} of {measured:measured benchmark} {selected:is|are} decided (--benchmark): the verdict and the "
        "false-alarm limit cover only these"
    )
    selected: int
    measured: int


class SidesByOrder(First, frozen=True):
    says = "{base} was taken as base and {head} as head: write base=FILE and head=FILE to say otherwise"
    base: str
    head: str


class ColumnsOfFile(First, frozen=True):
    says = "of {file} the {key} {base!r} was taken as base and {head!r} as head, its last two"
    file: str
    key: str
    """The label that tells them apart, such as "commit"."""
    base: str
    """Value of the label that was taken as base."""
    head: str
    """Value of the label that was taken as head."""


class LinesLeftOut(First, frozen=True):
    says = "{file}: {first}{more:?; and {more:more such line}}"
    file: str
    first: str
    more: int


class WithoutValues(Base, frozen=True):
    says = "an aggregate of another tool, without the values behind it: shown, never decided"
    statistic: str


class FiguresOfTool(Base, frozen=True):
    says = (
        "{metrics:listed}: each value is the {statistic:=value?figure|{statistic}} that the tool gives for a build, "
        "not one measured time"
    )
    metrics: tuple[str, ...]
    statistic: str
    """What the aggregates are, such as "mean" or "median"; "value" where the tool does not say."""


class SameValues(First, frozen=True):
    says = "base and head have the same values, so every ratio is 1: are they the same measurements?"


class MeasuredSeparately(First, frozen=True):
    says = (
        "measured separately: changes of the machine between the runs are part of every ratio, and no interval "
        "includes them; `perfgate check` measures both in turns"
    )


class ForeignValues(First, frozen=True):
    says = (
        "the values come from the pull request's own workflow run, which its author can change: treat the verdict as "
        "advice"
    )


# --- how far measuring came -------------------------------------------------------------------------------------------


class RoundsShort(First, frozen=True):
    says = "{done} of {planned:planned round} {done:was|were} measured"
    done: int
    planned: int


class BudgetRounds(Base, frozen=True):
    says = "only {rounds} of {planned:round} {rounds:fits|fit} the budget, judging by the first two"
    rounds: int
    planned: int


class AfterLastLook(Base, frozen=True):
    says = "the last interim check was after round {round}: later rounds do not count"
    round: int


class ExecutionsShort(Base, frozen=True):
    says = "{benchmark}{settings:? at {settings}}: base has {base} and head {head} of {wanted:start}"
    benchmark: str
    settings: str
    """Of its factors, as "load=busy"; empty: it has none."""
    base: int
    head: int
    wanted: int


class PartShort(msgspec.Struct, frozen=True):
    """One of several parts of a gate, with fewer rounds than were planned."""

    part: str
    """As "shard 1 of 3"."""
    done: int
    planned: int


class PartsShort(First, frozen=True):
    """Some parts of a gate have fewer rounds than were planned."""

    parts: tuple[PartShort, ...]

    def _said(self) -> str:
        return listed(
            [filled("{part} measured {done} of its {planned:round}", each) for each in self.parts], between="; "
        )


class TwoSessions(Base, frozen=True):
    says = (
        "2 sessions: little is known about how sessions differ (1 degree of freedom), so only large "
        "changes can be shown; a third session narrows the intervals most"
    )


class LooksIgnored(Base, frozen=True):
    says = "a bootstrap interval does not correct for the interim checks of this run"


class UndecidedBenchmarks(First, frozen=True):
    says = (
        "no metric of {benchmarks:listed} is decided: {named:?add one to `metrics` in `[plan]` or its "
        "`[[benchmark]]`|declare one in a `[benchmark.metric.NAME]`} ({metrics})"
    )
    benchmarks: tuple[str, ...]
    metrics: tuple[str, ...]
    named: bool = False
    """Whether plan.metrics names those that decide."""


class UnknownDirection(First, frozen=True):
    """Metrics are not decided, since neither their tool nor their name or unit tells which direction is better."""

    metrics: tuple[str, ...]
    benchmarks: tuple[str, ...]

    def _said(self) -> str:
        names = f"{listed(self.metrics)} ({listed(self.benchmarks)})"
        they_are = agree(len(self.metrics), "it is", "they are")
        unknown = f"direction unknown: nothing says which values of {names} are better"
        return f"{unknown}, so {they_are} shown and not decided. {say_direction(self.metrics[0])}"


class MetricMissing(First, frozen=True):
    says = "{benchmark}: metric {metric}{factors:={}?| at {factors}} gave no values in session {session}"
    benchmark: str
    metric: str
    factors: str
    """As canonical JSON."""
    session: int


class UnknownUnit(Base, frozen=True):
    says = (
        'metric {metric}: "{unit}" is not {meant:?a known unit: write "{meant}"|a unit of time: write s, ms, us or '
        "ns}; its values are compared as they are, without a default floor"
    )
    metric: str
    unit: str
    """As it is written."""
    meant: str | None
    """The known unit that it probably is; None: of a time, which has another unit."""


class _SomeExecutions(Base, frozen=True):
    base: int
    head: int
    of: int

    @property
    def some(self) -> str:
        return f"{self.base + self.head} of {plural(self.of, 'start')}"

    @property
    def sides(self) -> str:
        sides = (("base", self.base), ("head", self.head))
        return " and ".join(f"{count} of {side}" for side, count in sides if count)


class NotSteady(_SomeExecutions, frozen=True):
    says = (
        "{some} reached no steady state ({sides}): all their values count{needed:?; fewer than {needed:value} cannot "
        "show one}"
    )
    needed: int | None
    """Values that can show one, where each execution has fewer; None: they have enough."""


class LinkedBuilds(Base, frozen=True):
    """Build time is decided, and most builds only link again what the first one compiled."""

    says = '{linked} of {builds:build} only linked again and do not count: build.relink = "off" times every build'
    linked: int
    builds: int


class NoneOfBuilds(First, frozen=True):
    says = (
        "plan.metrics names {metric:=size?size, and no built file of both sides is known: name it in [build] "
        "artifacts|build-time, and no build of both sides ran the build command from the start}"
    )
    metric: Literal["size", "build-time"]


class Outlived(_SomeExecutions, frozen=True):
    says = "after {some} ({sides}) a process that the command had started still ran: no value includes its work"
    weight: ClassVar[Weight] = "first"


class ClockStood(Later, frozen=True):
    says = "its clock stood still while it waited for a processor, {share:share} of the time: it tells active time"
    share: float
    """Of what its executions took."""


class ValuesShort(_SomeExecutions, frozen=True):
    says = (
        "{some} gave fewer than the {asked:value} asked for ({sides}), and others exactly as many: "
        "was their output cut off?"
    )
    weight: ClassVar[Weight] = "first"
    asked: int


# --- builds -----------------------------------------------------------------------------------------------------------


class SameBuilds(msgspec.Struct, frozen=True):
    """Builds of one side with the same content."""

    count: int
    side: Side
    settings: str
    """Settings of the factors that they were built with; empty: there are none."""

    def __str__(self) -> str:
        """Say which: "all 5 builds of base at opt=2"."""
        return f"all {plural(self.count, 'build')} of {self.side}{f' at {self.settings}' if self.settings else ''}"


class IdenticalBuilds(First, frozen=True):
    """All builds of a side are byte-identical."""

    builds: tuple[SameBuilds, ...]

    def _said(self) -> str:
        first, *others = map(str, self.builds)
        same = f"{first} are one program{''.join(f', as are {each}' for each in others)}"
        advice = "several object files, -ffunction-sections with lld, or {seed} let layouts differ"
        return f"{same}: layout was not varied ({advice})"


class IdenticalSides(First, frozen=True):
    says = "base and head are byte-identical: any difference is noise"


class MissingAllowed(First, frozen=True):
    says = "{benchmarks:listed} {benchmarks:is|are} missing, allowed by {label:?{label}|the rules}"
    in_headline: ClassVar[bool] = True
    benchmarks: tuple[str, ...]
    label: str | None
    """What allows it for this pull request, in words; None: the rules do."""


class SameCommit(First, frozen=True):
    says = (
        "base and head are one commit: this is an A/A run, which is measured in any case, and any difference is noise"
    )


Perturbation = Literal["path", "environment"]


class OneTree(Base, frozen=True):
    says = "no build command: every build reuses the tree of the set-up, only the environment differs"


class NoBuildCommand(Base, frozen=True):
    says = "no build command: the builds {differing:?differ in {differing:joined} only|do not differ}"
    differing: tuple[Perturbation, ...]


class TwoPrograms(Later, frozen=True):
    says = "the verdict is of these two programs: another build of either may differ"


class BuildNeedsGit(Later, frozen=True):
    says = (
        "the {sides:build|builds} of {sides:joined} {sides:fails|fail} without .git, so perfgate gave {sides:it|them} "
        'one: set git = "on" under [build] to avoid the failed build'
    )
    sides: tuple[Side, ...]


# --- two runs that are compared ---------------------------------------------------------------------------------------


class NotComparable(First, frozen=True):
    """A metric has another unit or direction on each side."""

    metric: str
    of: Literal["unit", "direction"]
    base: tuple[str, ...]
    head: tuple[str, ...]
    names: tuple[str, ...]

    def _said(self) -> str:
        base, head = map(self._in, (self.base, self.head))
        return f"not comparable: {self.metric} is {base} in base and {head} in head: {listed(self.names, most=20)}"

    def _in(self, found: tuple[str, ...]) -> str:
        if self.of == "direction":
            return f"better when {' and '.join(found)}"
        return " and ".join(f"in {unit}" if unit else "without a unit" for unit in found)
