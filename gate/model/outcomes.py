"""What a report comes to, and what a reader does now: data with its sentence, as in gate.model.reasons."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from gate.model.case import metric_name, pairs, quantity
from gate.model.evidence import Unfinished
from gate.model.names import Side, Top
from gate.model.warnings import setup
from gate.units import Duration, agree, format_duration, format_share, plural
from gate.writing.amounts import as_configured
from gate.writing.phrases import toml_text
from gate.writing.plain import benchmark_option, distinct, visible
from gate.writing.sentences import (
    CHECK,
    DOCTOR,
    EXPLAIN,
    Command,
    Lines,
    Options,
    Sentence,
    Way,
    give_direction,
    kinds_of,
    overridden,
    say_direction,
    with_floor,
    with_set,
)

# --- the report -------------------------------------------------------------------------------------------------------


def _of(count: int, findings: int) -> str:
    return f"{count:,} of {plural(findings, 'result')}"


def hidden_by_floor(count: int, floor: str = "the floor") -> str:
    """Say how many changes a floor hides: "2 changes beyond the threshold are hidden by the floor of 1 ns"."""
    return f"{plural(count, 'change')} beyond the threshold {agree(count, 'is', 'are')} hidden by {floor}"


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """What regressed: a benchmark, or one metric and statistic of it at some of its settings."""

    benchmark: str
    metric: str | None
    """Name of the metric; None: the benchmark has no other finding."""
    statistic: str
    most: dict[str, Any]
    findings: int
    of: int
    varied: int
    """How many factors have several settings among those."""

    def __str__(self) -> str:
        """Name it: "parse time p99 at 2 of 3 settings (most at n=1)"."""
        if self.metric is None:
            return self.benchmark
        return " ".join(filter(None, [self.benchmark, quantity(self.metric, self.statistic), self._at()]))

    def _at(self) -> str:
        most = pairs(self.most, " ")
        if self.findings == 1:
            return most
        if self.findings == self.of:
            return "at every setting"
        what = "settings" if self.varied == 1 else "combinations of settings"
        return f"at {self.findings:,} of {self.of:,} {what} (most at {most})"


class Outcome(Sentence, frozen=True):
    """What a report comes to."""


class Regressed(Outcome, frozen=True, kw_only=True):
    """Some findings regressed."""

    count: int
    findings: int
    worst: list[Place]
    """What regressed most, at most a few; the whole list is `findings`."""
    more: int

    def _said(self) -> str:
        names = ", ".join(map(str, self.worst)) + (f" and {self.more:,} more" if self.more else "")
        return f"{_of(self.count, self.findings)} regressed: {names}"


class NothingMeasured(Outcome, frozen=True):
    says = "nothing was measured"


class OnlyAggregates(Outcome, frozen=True, kw_only=True):
    says = (
        "nothing was decided: the files hold {count:aggregate} without the values behind {count:it|them}{more:?, of "
        "one build each}"
    )
    count: int
    more: bool = False
    """Whether those of more builds would be decided: a mean or a median would, a minimum or a p99 not."""


class OneSideMeasured(Outcome, frozen=True, kw_only=True):
    says = "nothing to compare: all values are of {side}"
    side: Side


class NothingInCommon(Outcome, frozen=True, kw_only=True):
    """Result files of base and head have no benchmark of one name."""

    base: list[str]
    head: list[str]

    def _said(self) -> str:
        if len(self.base) == len(self.head) == 1:
            base, head = distinct([visible(names[0]) for names in (self.base, self.head)], 60)
            return f"nothing was compared: base has only {base}, and head only {head}"
        return "nothing was compared: base and head have no benchmark of one name"


class BudgetEnded(Outcome, frozen=True, kw_only=True):
    """The budget ended before one round was complete; all times in seconds."""

    spent: Unfinished
    least: float
    """What `rounds` take at least, judging by what was measured."""
    rounds: int

    def _said(self) -> str:
        spent, cut = self.spent, self.spent.cut
        took = {
            "set-up": spent.setup,
            plural(spent.builds, "build"): spent.building,
            plural(spent.executions, "start"): spent.executing,
        }
        # less is not worth a word
        parts = [f"{name} took {format_duration(seconds)}" for name, seconds in took.items() if seconds >= 0.05]
        after = f" ({', '.join(parts)})" if parts else ""
        more = f", and {format_duration(cut.beyond)} more for first builds and proofs," if cut.beyond else ""
        budget = f"the budget of {format_duration(spent.budget)}{more}"
        return f"{budget} ended before one round was complete: {cut}{after}"


class MachineNotFree(Outcome, frozen=True, kw_only=True):
    says = "nothing was measured: {status}"
    status: str
    """For how long it was waited for, and for whom, in words."""


class NothingDecided(Outcome, frozen=True, kw_only=True):
    says = (
        "nothing was decided: {undirected:?nothing says which values of {undirected:joined} are better|plan.metrics "
        "names none of {metrics}}"
    )
    metrics: list[str]
    undirected: list[str]


class Failed(Outcome, frozen=True, kw_only=True):
    says = "{failures:failure}, {measured}"
    failures: int
    findings: int
    unaffected: int = 0
    """Benchmarks that are proved to be the same on both sides."""

    @property
    def measured(self) -> str:
        """Say what there is beside the failures."""
        others = [(self.findings, "result"), (self.unaffected, "unaffected benchmark")]
        return ", ".join(plural(count, noun) for count, noun in others if count) or "nothing was compared"


class SomeInconclusive(Outcome, frozen=True, kw_only=True):
    """Some findings are inconclusive, and none regressed."""

    count: int
    findings: int
    not_worse: int
    hidden: int = 0
    noisy: int = 0
    """How many of them noise alone leaves open."""

    @property
    def word(self) -> str:
        """What people read for all of them."""
        return "too noisy" if self.noisy == self.count else "undecided"

    def _said(self) -> str:
        apart = f", {self.not_worse:,} of them not worse" if self.not_worse else ""
        if self.not_worse == self.count:
            apart = " but not worse"
        hidden = f"; {hidden_by_floor(self.hidden)}" if self.hidden else ""
        told = f"{_of(self.noisy or self.count, self.findings)} {'too noisy' if self.noisy else 'undecided'}"
        told += f" and {self.count - self.noisy:,} undecided" if 0 < self.noisy < self.count else ""
        return f"{told}{apart}, none regressed{hidden}"


class NotEnoughMeasured(Outcome, frozen=True, kw_only=True):
    says = "not enough measured: {builds} of {needed:{unit}}{seconds:?; a verdict takes about {seconds:duration}}"
    builds: int
    needed: int
    round: float | None
    """Seconds that the slowest round took; None: not known."""
    why: Literal["budget", "plan", "interrupted"] = "budget"
    """budget, interrupted: what ended the run. plan: either, and it has fewer builds."""
    seconds: float | None = None
    """Seconds that all of measuring takes with the builds needed; None: not known."""
    unit: Top = "build"


class SomeAccepted(Outcome, frozen=True, kw_only=True):
    says = "{count:,} of {findings:result} accepted{labels:? by {labels}}, nothing else regressed"
    count: int
    findings: int
    labels: list[str]


class AllIdentical(Outcome, frozen=True, kw_only=True):
    """Every benchmark is proved to be the same on both sides, so that nothing was measured."""

    benchmarks: int

    def _said(self) -> str:
        every = {1: "the benchmark is", 2: "both benchmarks are"}.get(
            self.benchmarks, f"all {self.benchmarks:,} benchmarks are"
        )
        return f"{every} unaffected: same program, same data"


class Noise(msgspec.Struct, frozen=True, kw_only=True):
    """The smallest change that the gate could find in one benchmark."""

    benchmark: str
    metric: str
    detectable: float
    """As a share: 0.05 is a change of 5%; of a rate, what is lost of it."""

    def named(self, *, metric: bool) -> str:
        """Name the benchmark; metric: with its metric, where there are several."""
        return f"{self.benchmark} {metric_name(self.metric)}" if metric else self.benchmark


class NothingToCompare(Outcome, frozen=True, kw_only=True):
    """Base has no configuration or is broken, and runs none of head's benchmarks; all of them were measured."""

    benchmarks: int
    why: setup.NothingToCompare
    quietest: Noise | None
    """The benchmark in which head's noise hides least, by head against itself; None: not measured, or no noise is
    known."""
    noisiest: Noise | None
    """As `quietest`, of the benchmark with the largest change that the gate could find."""

    def _said(self) -> str:
        said = f"nothing to compare yet: {self.why.lacks}"
        least, most = self.quietest, self.noisiest
        if least is None or most is None:
            return said
        # two metrics of one benchmark need their names
        several = most.metric != least.metric
        noise = f"a change of {format_share(least.detectable)} or more would show in {least.named(metric=several)}"
        if most != least:
            among = f" of {self.benchmarks:,} benchmarks" if self.benchmarks > 1 else ""
            noise += f", of {format_share(most.detectable)} in {most.named(metric=several)}, the noisiest{among}"
        return f"{said}; head's noise: {noise}"


class NothingRegressed(Outcome, frozen=True, kw_only=True):
    """All is well."""

    findings: int
    no_sign: int = 0
    detectable: float | None = None
    """The size of a change that would have shown in each of these, as a share; of a rate, what is lost of it. None:
    there are none."""

    def _said(self) -> str:
        said = f"{plural(self.findings, 'result')}, {'none' if self.findings > 1 else 'not'} worse"
        if not self.no_sign or self.detectable is None:
            return said
        hides = f"less than {format_share(self.detectable)} may hide"
        return f"{said}; {hides if self.no_sign == self.findings else f'in {self.no_sign:,} of them {hides}'}"


if TYPE_CHECKING:
    Summary = Outcome
else:
    Summary = kinds_of(Outcome)


# --- what a reader does now -------------------------------------------------------------------------------------------


class Doing(Sentence, frozen=True):
    """What a reader does now."""

    @property
    def ways(self) -> tuple[Way, ...]:
        """What it asks to type, each by itself a way; empty: it says in words what to do."""
        return self._ways()

    @property
    def way(self) -> str:
        """The first of them, as it is typed."""
        return str(self.ways[0])

    def on_pull(self) -> str:
        """Say it in a comment, whose reader has another machine and the entry to paste: a short line."""
        return self._on_pull()

    def _ways(self) -> tuple[Way, ...]:
        return ()

    def _on_pull(self) -> str:
        return self.sentence()


def _of_plan(step: Any) -> tuple[Way, ...]:
    """Set what of [plan] a step names."""
    values = {key: getattr(step, key, None) for key in ("builds", "executions", "iterations")}
    settings: dict[str, object] = {key: value for key, value in values.items() if value is not None}
    if step.budget is not None:
        settings["budget"] = Duration(step.budget)
    return (with_set(**settings),) if settings else ()


class RestoreBenchmark(Doing, frozen=True, kw_only=True):
    says = (
        "Restore the missing {others:?benchmarks, or allow them|benchmark, or allow it}{merged:?: by {label:?the label "
        "`{label}` on the pull request, or }{way}, merged first because base's rules count| with {way}}"
    )
    benchmark: str
    others: int
    merged: bool
    """Whether rules count that head cannot change: what allows it must be merged before."""
    label: str | None
    """Name of the label that allows it in a pull request; None: none does."""

    def _ways(self) -> tuple[Way, ...]:
        if self.others:
            return (Lines(("gate",), {"missing": '"pass"'}),)
        return (overridden(benchmark=self.benchmark, missing='"pass"'),)


class RepeatJob(Doing, frozen=True):
    says = "Run the job that should have measured it again, or download its artifact"


class RaiseBudget(Doing, frozen=True, kw_only=True):
    says = (
        "Raise the budget, for example {way}: {executions:?judging by what was done, }{rounds:round} "
        "{rounds:takes|take} at least {least:duration}{executions:?|; how much more is not known, because no start was "
        "complete}"
    )
    budget: float
    """Seconds that would probably do."""
    least: float
    """Seconds that the rounds take at least, judging by what was measured."""
    rounds: int
    executions: int
    """Starts that were complete; 0: what a round takes is not known."""

    def _ways(self) -> tuple[Way, ...]:
        return (with_set(budget=Duration(self.budget)),)


class RunLater(Doing, frozen=True):
    says = "Run the check again when the machine is free, or wait longer: {way}"

    def _ways(self) -> tuple[Way, ...]:
        return (Options(("--wait", "1h")),)


class FixFailure(Doing, frozen=True):
    says = "Fix the failure and run the check again"


class KeepTrees(Doing, frozen=True):
    says = (
        "Have builds and benchmarks leave these files alone, or declare them in `changes` of [build] if they are meant "
        "to change"
    )


class BuildInside(Doing, frozen=True):
    says = (
        "Have each build write into its own tree, and have benchmarks run what is there: now both sides run what was "
        "built last"
    )


class MeasureAll(Doing, frozen=True):
    says = "Have no benchmark write what another one reads, or measure all: `--set gate.sameness=off`"


class FixOutput(Doing, frozen=True):
    says = "Make base and head give the same output, or remove `same_output` if they are meant to differ"


class GiveDirection(Doing, frozen=True, kw_only=True):
    """Nothing is decided, since nothing tells which direction of a metric is better."""

    metric: str

    def _ways(self) -> tuple[Way, ...]:
        return give_direction(self.metric)

    def _said(self) -> str:
        return say_direction(self.metric)


class DecideOn(Doing, frozen=True, kw_only=True):
    says = "Say which metrics decide, for example {way}"
    metric: str

    def _ways(self) -> tuple[Way, ...]:
        return (with_set(metrics=f"[{toml_text(self.metric)}]"),)


class MeasureFirst(Doing, frozen=True):
    says = "Run {way}, which measures and decides; `perfgate measure` writes what `perfgate decide` reads"

    def _ways(self) -> tuple[Way, ...]:
        return (CHECK,)


class NameSides(Doing, frozen=True, kw_only=True):
    """The values are of result files of one side."""

    file: str | None
    """Where it is one file with several benchmarks, which may be what is to be compared; null: it is not."""

    def _ways(self) -> tuple[Way, ...]:
        sides = Command("perfgate decide base=FILE head=FILE")
        if self.file is None:
            return (sides,)
        # several files, or standard input
        file = self.file if shlex.quote(self.file) == self.file else "FILE"
        return sides, Command(f"perfgate compare {file} --by benchmark --rows file")

    def _said(self) -> str:
        of_one = "".join(f"; {each} compares the benchmarks of one file" for each in self.ways[1:])
        return f"Name files of both sides: {self.way}{of_one}"


class FixRegression(Doing, frozen=True, kw_only=True):
    """Something regressed."""

    benchmark: str | None = None
    """What regressed most, and can be measured again; None: it was measured elsewhere."""
    seconds: float | None = None
    """What the whole run took; None: not known."""
    sets: tuple[str, ...] = ()
    """KEY=VALUE that were set over the rules of its files."""
    explain: float | None = None
    """Seconds that building both sides once took, which `perfgate explain` does again; None: not known, or it is
    explained already."""
    from_zero: bool = False
    """Whether base is 0 in some that regressed, which no [[accept]] entry covers."""
    limited: bool = False
    """Whether what matters most breaks its limit, which no [[accept]] entry covers either."""
    metric: str | None = None
    """Of the first of these; None: there are none."""
    floor: float | None = None
    """A floor that allows it, in the unit; None: there are none."""
    unit: str = ""
    """Of that metric."""
    imported: bool = False
    """Whether the values are of result files, whose benchmarks have no table of their own."""

    def _ways(self) -> tuple[Way, ...]:
        if self.metric is not None and self.floor is not None:
            return (with_floor(self.metric, self.floor, self.unit, imported=self.imported),)
        return () if self.explain is None else (EXPLAIN,)

    def _said(self) -> str:
        if self.from_zero:
            return (
                f"Fix the regression, or where base is 0 say what is allowed, by {self.way}: an `[[accept]]` entry "
                "takes no change from 0"
            )
        if self.limited:
            return "Make head keep its limit, or raise `limit` in the rules: an `[[accept]]` entry takes changes only"
        built = None if self.explain is None else format_duration(max(1.0, self.explain))
        explain = f" ({EXPLAIN} names the functions: 2 builds, {built}, and 2 profiled runs)" if built else ""
        return f"Fix the regression{explain}, or accept it with an `[[accept]]` entry (size, expiry date, reason)"

    def _on_pull(self) -> str:
        if self.from_zero or self.limited:
            return self.sentence()
        if self.benchmark is None:
            return "Fix the regression, or accept it with the entry below"
        cost = "" if self.seconds is None else f", in at most {format_duration(self.seconds)}"
        command = " ".join(["perfgate check", *(f"--set {shlex.quote(each)}" for each in self.sets)])
        command = f"`{visible(command)} {benchmark_option(self.benchmark)}`"
        return f"Fix the regression ({command} measures it again{cost}), or accept it with the entry below"


class FindCreep(Doing, frozen=True, kw_only=True):
    says = (
        "{history:?Look at the suspects first; }{way} searches the commits between, which costs about as much as three "
        "of these checks. Then fix it, or accept it with an `[[accept]]` entry (size, expiry date, reason)"
    )
    pin: str
    head: str
    benchmark: str
    history: bool
    """Whether suspects are named beside it."""

    def _ways(self) -> tuple[Way, ...]:
        ends = shlex.join(["--good", self.pin, "--bad", self.head])
        return (Command(f"perfgate bisect {ends} {benchmark_option(self.benchmark)}"),)


class WaitForNights(Doing, frozen=True, kw_only=True):
    says = "Nothing to do yet: the next nights confirm it or not{nights:?, probably within {nights:night}}"
    nights: int | None
    """About so many, if it stays; None: unknown."""


class NothingToDo(Doing, frozen=True):
    says = "Nothing to do: no result is worse than the threshold allows"


class LowerFloor(Doing, frozen=True, kw_only=True):
    """All that may be a regression is smaller than the floor, so more builds cannot settle it."""

    benchmark: str
    """Where the floor hides most."""
    metric: str
    imported: bool
    """Whether the values are of result files, whose benchmarks have no table of their own."""
    floor: float
    """The floor there, in the unit."""
    unit: str
    wanted: float
    """A floor with which it is decided, in the unit; 0: none."""
    share: float | None
    """The floor over base's value; None: that is 0."""

    def _ways(self) -> tuple[Way, ...]:
        return (with_floor(self.metric, self.wanted, self.unit, imported=self.imported),)

    def _said(self) -> str:
        how = "lower the floor" if self.wanted else "lower the floor or remove it"
        said = f"If a change below {as_configured(self.floor, self.unit)} matters, {how} ({self.way})"
        return said if self.share is None else f"{said}: it is {format_share(self.share)} of {self.benchmark}"


class DeclareZero(Doing, frozen=True, kw_only=True):
    says = (
        "{floor:?Base is 0, so say how much {metric} may grow before the gate fails, for example {way}|Check what "
        "gives {metric}: base is 0. If that is right, as of a count, add {way}}"
    )
    metric: str
    floor: float | None
    """A floor that head is above, in the unit; None: head has no spread that a floor could be tested with."""
    unit: str
    imported: bool = False
    """Whether the values are of result files, whose benchmarks have no table of their own."""

    def _ways(self) -> tuple[Way, ...]:
        if self.floor is None:
            return (overridden(metric=self.metric, exact="true"),)
        return (with_floor(self.metric, self.floor, self.unit, imported=self.imported),)


class DeclareExact(Doing, frozen=True, kw_only=True):
    says = (
        "If {metric} is a count or a size, add {way}; if it is a time, do more work for each value, {rounded:?or write "
        "more digits|and make sure that no run is there twice}"
    )
    metric: str
    rounded: bool
    """Whether they are written in steps that may hide how they differ; else they are the same to the last digit."""

    def _ways(self) -> tuple[Way, ...]:
        return (overridden(metric=self.metric, exact="true"),)


class OtherStatistic(Doing, frozen=True, kw_only=True):
    says = (
        "Compare another statistic of {metric}, such as {way}: its {statistic}{statistic:=typical? value} is 0 in some "
        "build"
    )
    metric: str
    statistic: str
    """The quantile, such as p50."""

    def _ways(self) -> tuple[Way, ...]:
        return (Lines(("benchmark", "metric", self.metric), {"statistics": '["mean"]'}),)


class MeasureTogether(Doing, frozen=True):
    says = "Measure base and head together, as {way} does: each was measured in sessions of its own"

    def _ways(self) -> tuple[Way, ...]:
        return (CHECK,)


class MoreValues(Doing, frozen=True, kw_only=True):
    says = (
        "{ways:?Run the same check again with {way}|Measure more values in each {unit}}: {statistic} needs {needs:,} "
        "values of each {unit} and has {has:,}"
    )
    statistic: str
    """The quantile, such as p99."""
    unit: Top = "build"
    has: int
    needs: int
    executions: int | None
    """Executions of each build that give them; None: not by executions alone, or the plan is not known."""
    iterations: int | None
    """Iterations of each execution that give them; None: as for `executions`."""
    budget: float | None
    """Seconds of a budget in which that fits, rounded up; None: the present one does, or it is not known."""

    def _ways(self) -> tuple[Way, ...]:
        return _of_plan(self)


class MeasureMore(Doing, frozen=True, kw_only=True):
    says = (
        "{hopeless:?Use a quieter host (`perfgate doctor` examines it): more measuring would not help|Run again with "
        "{way}, which narrows the intervals, or use a quieter host (`perfgate doctor` examines it)}"
    )
    hopeless: bool = False
    """Whether no reasonable number would, of any finding."""
    unit: Top = "build"
    builds: int | None = None
    """Builds a side of a plan that narrows the intervals; None: it is hopeless."""
    budget: float | None = None
    """Seconds of a budget in which it fits, rounded up; None: the present one does, or it is not known."""

    def _ways(self) -> tuple[Way, ...]:
        return (DOCTOR,) if self.hopeless else _of_plan(self)


_OWN_WORK = {
    "active": ("active time", "waits for a processor"),
    "user": ("user time", "waits, disk, system calls and other processes"),
    "cpu_time": ("CPU time", "waits, disk and other processes"),
    "instructions": ("instructions", "waits, disk and cache misses"),
}
"""Metrics of a program's own work: their names, and what they leave out."""


class ReduceNoise(Doing, frozen=True, kw_only=True):
    """More builds would not settle it, or not within reason, or a recorded metric may do at once."""

    builds: int | None
    """Builds a side that would probably settle some of it; None: no reasonable number would."""
    starts: int | None = None
    """Of each of them; None: as many as there were."""
    settled: int
    """How many of the inconclusive findings that may be worse they would settle."""
    seconds: float | None
    """About what they take; None: not known."""
    too_much: bool = True
    """Whether these are beyond reason, or unknown."""
    metric: str | None
    """A metric that the run recorded, and that decides; None: there is none."""
    tables: tuple[str, ...] = ()
    """Benchmarks whose own table names what decides them, so that [plan] does not."""
    findings: int
    """How many of the inconclusive findings that may be worse."""
    may_be_worse: int
    """How many of these there are."""
    unit: Top = "build"
    waited: float | None
    """Share of the time in which some program waited for a processor, where that is much; None: it is not."""
    itself: bool = False
    """Whether the program's own work differs from start to start, which no other host changes."""
    shared: bool = False
    """Whether what was measured went before no other program, so that it waited itself."""

    def _ways(self) -> tuple[Way, ...]:
        if self.metric is None and self.itself:
            return ()
        if self.metric is None:
            return (DOCTOR,)
        metrics = f"[{toml_text(self.metric)}]"
        return (Lines(("benchmark",), {"metrics": metrics}, self.tables) if self.tables else with_set(metrics=metrics),)

    def _said(self) -> str:
        if self.metric is not None:
            every = f"{self.findings} of {self.may_be_worse}" if self.may_be_worse > 1 else "it"
            name, without = _OWN_WORK[self.metric]
            how = f"write {self.way}" if self.tables else self.way
            said = f"Decide by {name}, which this run recorded and which decides {every}"
            return f"{said} ({name} leaves out {without}): {how}"
        takes = "" if self.seconds is None else f", and take about {format_duration(self.seconds)}"
        why = "more measuring would not help"
        if self.builds is not None:
            which = "it" if self.settled == self.may_be_worse == 1 else f"only {self.settled} of {self.may_be_worse}"
            which = which if self.settled < self.may_be_worse or self.may_be_worse == 1 else f"all {self.settled}"
            starts = "" if self.starts is None else f", with {plural(self.starts, 'start')},"
            why = f"{plural(self.builds, self.unit)} of each{starts} would decide {which}{takes}"
        if self.itself:
            work = "Give the program the same work at each start (a fixed random seed, the same input)"
            also = f"a quieter host would not help; {why}" if self.builds else "neither host nor more measuring helps"
            return f"{work}: its CPU time varies as much as its time, so {also}"
        if self.waited is not None:
            why += f"; some program waited for a processor {format_share(self.waited)} of the time"
        first = (
            "Measure as root (a container needs SYS_NICE), whose programs go before others, or u"
            if self.shared
            else "U"
        )
        return f"{first}se a quieter host ({self.way} examines it): {why}"


class ImportMore(Doing, frozen=True, kw_only=True):
    says = (
        "Build and measure base and head {builds} times each, in turns, and name all files: {way}. `perfgate check` "
        "does all of it"
    )
    builds: int

    def _ways(self) -> tuple[Way, ...]:
        return Command("perfgate decide base=B1 base=B2 ... head=H1 head=H2 ..."), CHECK


class ImportOthers(Doing, frozen=True, kw_only=True):
    says = (
        "{why:=missing?Name files that hold the missing benchmarks, or allow it with {way}|{why:=repeated?Name the "
        "results of different runs: the same values stand in several files|Fix what failed, measure it again, and name "
        "the new files}}"
    )
    why: Literal["repeated", "failed", "missing"]
    """repeated: one run twice. failed: a benchmark failed. missing: only benchmarks that head lacks."""

    def _ways(self) -> tuple[Way, ...]:
        return (Options(("--set", "gate.missing=pass")),) if self.why == "missing" else ()


class NameAlike(Doing, frozen=True, kw_only=True):
    says = (
        "{hyperfine:?Measure both sides under one name ({way}), or write it into `command` of the files|Give a "
        "benchmark the same name on both sides, where it is defined or in the files}"
    )
    hyperfine: bool
    """Whether hyperfine wrote them, which calls a benchmark by its command."""

    def _ways(self) -> tuple[Way, ...]:
        return (Command("hyperfine -n NAME COMMAND"),) if self.hyperfine else ()


class MoreMachines(Doing, frozen=True, kw_only=True):
    """The change differs from machine to machine, and the question is what others would show."""

    sessions: int
    wanted: int | None
    """How many would probably show it; None: not known, or too many."""
    builds: bool
    """Whether each has builds enough to be judged by itself."""

    def _ways(self) -> tuple[Way, ...]:
        more = [] if self.wanted is None else [Lines(("plan",), {"sessions": str(self.wanted)})]
        return (*more, *([Options(("--set", "gate.sessions=fixed"))] if self.builds else []))

    def _said(self) -> str:
        these = f"these {self.sessions} machines" if self.sessions > 1 else "this machine"
        more = [each for each in self.ways if isinstance(each, Lines)]
        fixed = "".join(f", or, if only these matter, add {each}" for each in self.ways if each not in more)
        many = "".join(f"measure on {self.wanted} machines ({each}, for `perfgate plan --matrix`)" for each in more)
        return f"More builds on {these} would not help: {many or 'they differ too much'}{fixed}"


class CheckValues(Doing, frozen=True):
    says = "Check the program that writes the values: some are below 0. Compare the amounts, not their difference"


class AskOfAllMachines(Doing, frozen=True):
    says = "Ask of all machines together with {way}: on one of them, a value of 0 has no ratio"

    def _ways(self) -> tuple[Way, ...]:
        return (Options(("--set", "gate.sessions=random")),)


class MoreBuilds(Doing, frozen=True, kw_only=True):
    """A plan of so many builds would probably settle some of the inconclusive findings."""

    builds: int
    executions: int | None = None
    """Of each build; None: as in the present plan."""
    iterations: int | None = None
    """Of each execution; None: as in the present plan."""
    settled: int
    may_be_worse: int
    not_worse: int
    seconds: float | None = None
    """About what that plan takes, judging by the rounds of this run; None: not known."""
    budget: float | None = None
    """Seconds of a budget in which it fits, rounded up; None: the present one does, or it is not known."""

    def _ways(self) -> tuple[Way, ...]:
        return _of_plan(self)

    def _said(self) -> str:
        settled, left = self.settled, self.may_be_worse
        if not self.not_worse:
            which = f"{settled} of {left}" if settled < left else "it" if left == 1 else f"all {left}"
        else:
            which = f"the {left} that may be worse" if settled == left else f"{settled} of the {left} that may be worse"
        cost = "" if self.seconds is None else f" (about {format_duration(self.seconds)})"
        return f"Run again with {self.way}, which would probably decide {which}{cost}"


class AllowMoreBuilds(Doing, frozen=True, kw_only=True):
    """A larger budget or plan, or the rest of the run, would give the builds that a verdict needs."""

    needed: int
    why: Literal["budget", "plan", "interrupted"]
    """As of `not-enough-measured`."""
    round: float | None
    """Seconds that a round takes; None: not known."""
    builds: int | None
    """Builds of a plan that would do; None: the present one has enough."""
    unit: Top = "build"
    budget: float | None
    """Seconds that would do, rounded up; None: the present budget does, or it is not known."""

    def _ways(self) -> tuple[Way, ...]:
        return (Options(("--resume",)),) if self.why == "interrupted" else _of_plan(self)

    def _said(self) -> str:
        cost = f"{plural(self.needed, self.unit)} are needed"
        if self.round is not None:
            cost = f"a round takes about {format_duration(self.round)} and {self.needed} are needed"
        if self.why == "interrupted":
            return f"Continue the interrupted run with {self.way}: {cost}"
        if not self.ways:
            return f"Measure base and head {self.needed} times each: {cost}"
        return f"Run the same check again with {self.way}: {cost}"


if TYPE_CHECKING:
    Step = Doing
else:
    Step = kinds_of(Doing)
