"""What a report comes to, and what a reader does now: data with its sentence, as in gate.model.reasons."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, ParamSpec

import msgspec

from gate.model.case import metric_name
from gate.model.evidence import Unfinished
from gate.model.names import Side, Top
from gate.model.warnings import setup
from gate.writing.amounts import as_configured
from gate.writing.phrases import joined, listed, toml_text
from gate.writing.plain import benchmark_option, distinct, visible
from gate.writing.sentences import (
    CHECK,
    DOCTOR,
    EXPLAIN,
    CommandLine,
    Lines,
    Options,
    Sentence,
    Way,
    kinds_of,
    overridden,
    say_direction,
    ways_of_direction,
    with_floor,
    with_set,
)
from gate.writing.units import Duration, agree, format_duration, format_share, plural

# --- the report -------------------------------------------------------------------------------------------------------


def _of(count: int, findings: int) -> str:
    return f"{count:,} of {plural(findings, 'result')}"


def hidden_by_floor(count: int, floor: str = "the floor") -> str:
    """Say how many changes a floor hides: "2 changes beyond the threshold are hidden by the floor of 1 ns"."""
    return f"{plural(count, 'change')} beyond the threshold {agree(count, 'is', 'are')} hidden by {floor}"


class Outcome(Sentence, frozen=True):
    """What a report comes to."""


class Regressed(Outcome, frozen=True, kw_only=True):
    """Some findings regressed."""

    count: int
    findings: int
    worst: list[str]
    """The benchmarks that regressed, those that did most first; the whole list is `findings`."""

    def _said(self) -> str:
        return f"{_of(self.count, self.findings)} regressed: {listed(self.worst)}"


class NothingMeasured(Outcome, frozen=True):
    def _said(self) -> str:
        return "nothing was measured"


class OnlyAggregates(Outcome, frozen=True, kw_only=True):
    count: int
    more: bool = False
    """Whether those of more builds would be decided: a mean or a median would, a minimum or a p99 not."""

    def _said(self) -> str:
        hold, each = f"the files hold {plural(self.count, 'aggregate')}", ", of one build each" if self.more else ""
        return f"nothing was decided: {hold} without the values behind {agree(self.count, 'it', 'them')}{each}"


class OneSideMeasured(Outcome, frozen=True, kw_only=True):
    side: Side

    def _said(self) -> str:
        return f"nothing to compare: all values are of {self.side}"


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
    status: str
    """For how long it was waited for, and for whom, in words."""

    def _said(self) -> str:
        return f"nothing was measured: {self.status}"


class NothingDecided(Outcome, frozen=True, kw_only=True):
    metrics: list[str]
    undirected: list[str]

    def _said(self) -> str:
        why = f"plan.metrics names none of {', '.join(self.metrics)}"
        if self.undirected:
            why = f"nothing says which values of {joined(self.undirected)} are better"
        return f"nothing was decided: {why}"


class Failed(Outcome, frozen=True, kw_only=True):
    failures: int
    findings: int
    unaffected: int = 0
    """Benchmarks that are proved to be the same on both sides."""

    @property
    def measured(self) -> str:
        """Say what there is beside the failures."""
        others = [(self.findings, "result"), (self.unaffected, "unaffected benchmark")]
        return ", ".join(plural(count, noun) for count, noun in others if count) or "nothing was compared"

    def _said(self) -> str:
        return f"{plural(self.failures, 'failure')}, {self.measured}"


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
    builds: int
    needed: int
    round: float | None
    """Seconds that the slowest round took; None: not known."""
    why: Literal["budget", "plan", "interrupted"] = "budget"
    """budget, interrupted: what ended the run. plan: either, and it has fewer builds."""
    seconds: float | None = None
    """Seconds that all of measuring takes with the builds needed; None: not known."""
    unit: Top = "build"

    def _said(self) -> str:
        takes = "" if self.seconds is None else f"; a verdict takes about {format_duration(self.seconds)}"
        return f"not enough measured: {self.builds} of {plural(self.needed, self.unit)}{takes}"


class SomeAccepted(Outcome, frozen=True, kw_only=True):
    count: int
    findings: int
    labels: list[str]

    def _said(self) -> str:
        by = f" by {', '.join(self.labels)}" if self.labels else ""
        return f"{_of(self.count, self.findings)} accepted{by}, nothing else regressed"


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


class Step(msgspec.Struct, frozen=True):
    """What a reader does now, in a sentence without a full stop; the functions below make it."""

    text: str
    ways: tuple[Way, ...]
    """What it asks to type, each by itself a way; empty: it says in words what to do."""
    on_pull: str
    """The same in a comment, whose reader has another machine and the entry to paste: a short line."""
    kind: str = ""
    details: dict[str, Any] = {}


P = ParamSpec("P")


def _step(make: Callable[P, Step]) -> Callable[P, Step]:
    """Name the kind of a step as what makes it, and keep its arguments."""
    kind, names = make.__name__.replace("_", "-"), make.__code__.co_varnames[: make.__code__.co_kwonlyargcount]

    def made(*args: P.args, **given: P.kwargs) -> Step:
        known: dict[str, Any] = {**(make.__kwdefaults__ or {}), **given}
        return msgspec.structs.replace(make(*args, **given), kind=kind, details={name: known[name] for name in names})

    KINDS.add(kind)
    return made


def _said(text: str, *ways: Way, on_pull: str = "", kind: str = "") -> Step:
    return Step(text, ways, on_pull or text, kind)


def _of_plan(budget: float | None, **counts: int | None) -> tuple[Way, ...]:
    """Set counts of [plan] that are known, and the budget in seconds."""
    settings: dict[str, object] = {key: value for key, value in counts.items() if value is not None}
    if budget is not None:
        settings["budget"] = Duration(budget)
    return (with_set(**settings),) if settings else ()


_LATER = Options(("--wait", "1h"))
_SAMPLED = Options(("--set", "gate.sessions=random"))
_PLAIN = (
    # values of one of several jobs are missing
    _said("Run the job that should have measured it again, or download its artifact", kind="repeat-job"),
    _said(f"Run the check again when the machine is free, or wait longer: {_LATER}", _LATER, kind="run-later"),
    _said("Fix the failure and run the check again", kind="fix-failure"),
    _said(
        "Have builds and benchmarks leave these files alone, or declare them in `changes` of [build] if they are meant "
        "to change",
        kind="keep-trees",
    ),
    # one side's build wrote what the other executes
    _said(
        "Have each build write into its own tree, and have benchmarks run what is there: now both sides run what was "
        "built last",
        kind="build-inside",
    ),
    # what is the same may have read what another benchmark wrote
    _said(
        "Have no benchmark write what another one reads, or measure all: `--set gate.sameness=off`", kind="measure-all"
    ),
    _said(
        "Make base and head give the same output, or remove `same_output` if they are meant to differ",
        kind="fix-output",
    ),
    _said(
        f"Run {CHECK}, which measures and decides; `perfgate measure` writes what `perfgate decide` reads",
        CHECK,
        kind="measure-first",
    ),
    _said("Nothing to do: no result is worse than the threshold allows", kind="nothing-to-do"),
    _said(
        f"Measure base and head together, as {CHECK} does: each was measured in sessions of its own",
        CHECK,
        kind="measure-together",
    ),
    _said(
        "Check the program that writes the values: some are below 0. Compare the amounts, not their difference",
        kind="check-values",
    ),
    # one of several machines, each judged by itself, has a value of 0
    _said(
        f"Ask of all machines together with {_SAMPLED}: on one of them, a value of 0 has no ratio",
        _SAMPLED,
        kind="ask-of-all-machines",
    ),
)
PLAIN = {step.kind: step for step in _PLAIN}
"""Those that need no numbers, by their kind."""
KINDS: set[str] = {*PLAIN}
"""Of all steps."""


@_step
def restore_benchmark(*, benchmark: str, others: int, merged: bool, label: str | None) -> Step:
    """A benchmark is missing.

    merged: whether rules count that head cannot change: what allows it must be merged before. label: name of the label
    that allows it in a pull request; None: none does.
    """
    way: Way = Lines(("gate",), {"missing": '"pass"'})
    way = way if others else overridden(benchmark=benchmark, missing='"pass"')
    what = "benchmarks, or allow them" if others else "benchmark, or allow it"
    by = f"the label `{label}` on the pull request, or " if label else ""
    how = f": by {by}{way}, merged first because base's rules count" if merged else f" with {way}"
    return _said(f"Restore the missing {what}{how}", way)


@_step
def raise_budget(*, budget: float, least: float, rounds: int, executions: int) -> Step:
    """The budget ended before a round.

    budget: seconds that would probably do. least: seconds that the rounds take at least, judging by what was measured.
    executions: starts that were complete; 0: what a round takes is not known.
    """
    way = with_set(budget=Duration(budget))
    takes = f"{plural(rounds, 'round')} {agree(rounds, 'takes', 'take')} at least {format_duration(least)}"
    if executions:
        return _said(f"Raise the budget, for example {way}: judging by what was done, {takes}", way)
    more = "how much more is not known, because no start was complete"
    return _said(f"Raise the budget, for example {way}: {takes}; {more}", way)


@_step
def give_direction(*, metric: str) -> Step:
    """Nothing is decided, since nothing tells which direction of a metric is better."""
    return _said(say_direction(metric), *ways_of_direction(metric))


@_step
def decide_on(*, metric: str) -> Step:
    """Nothing is decided, since the rules name other metrics; metric: one that was measured."""
    way = with_set(metrics=f"[{toml_text(metric)}]")
    return _said(f"Say which metrics decide, for example {way}", way)


@_step
def name_sides(*, file: str | None) -> Step:
    """The values are of result files of one side.

    file: where it is one file with several benchmarks, which may be what is to be compared; None: it is not.
    """
    sides = CommandLine("perfgate decide base=FILE head=FILE")
    if file is None:
        return _said(f"Name files of both sides: {sides}", sides)
    # several files, or standard input
    known = file if shlex.quote(file) == file else "FILE"
    other = CommandLine(f"perfgate compare {known} --by benchmark --rows file")
    return _said(f"Name files of both sides: {sides}; {other} compares the benchmarks of one file", sides, other)


@_step
def fix_regression(
    *,
    benchmark: str | None = None,
    seconds: float | None = None,
    sets: tuple[str, ...] = (),
    explain: float | None = None,
    from_zero: bool = False,
    limited: bool = False,
    metric: str | None = None,
    floor: float | None = None,
    unit: str = "",
    imported: bool = False,
) -> Step:
    """Something regressed.

    Args:
        benchmark: what regressed most, and can be measured again; None: it was measured elsewhere.
        seconds: what the whole run took; None: not known.
        sets: KEY=VALUE that were set over the rules of its files.
        explain: seconds that building both sides once took, which `perfgate explain` does again; None: not known, or it
            is explained already.
        from_zero: whether base is 0 in some that regressed, which no [[accept]] entry covers.
        limited: whether what matters most breaks its limit, which no [[accept]] entry covers either.
        metric: of the first of these; None: there are none.
        floor: one that allows it, in the unit.
        imported: whether the values are of result files, whose benchmarks have no table of their own.
    """
    ways: tuple[Way, ...] = () if explain is None else (EXPLAIN,)
    if metric is not None and floor is not None:
        ways = (with_floor(metric, floor, unit, imported=imported),)
    if from_zero:
        return _said(
            f"Fix the regression, or where base is 0 say what is allowed, by {ways[0]}: an `[[accept]]` entry takes no "
            "change from 0",
            *ways,
        )
    if limited:
        return _said(
            "Make head keep its limit, or raise `limit` in the rules: an `[[accept]]` entry takes changes only", *ways
        )
    built = None if explain is None else format_duration(max(1.0, explain))
    functions = f" ({EXPLAIN} names the functions: 2 builds, {built}, and 2 profiled runs)" if built else ""
    again = ""
    if benchmark is not None:
        cost = "" if seconds is None else f", in at most {format_duration(seconds)}"
        command = " ".join(["perfgate check", *(f"--set {shlex.quote(each)}" for each in sets)])
        again = f" (`{visible(command)} {benchmark_option(benchmark)}` measures it again{cost})"
    return _said(
        f"Fix the regression{functions}, or accept it with an `[[accept]]` entry (size, expiry date, reason)", *ways,
        on_pull=f"Fix the regression{again}, or accept it with the entry below",
    )  # fmt: skip


@_step
def find_creep(*, pin: str, head: str, benchmark: str) -> Step:
    """Benchmarks crept."""
    ends = shlex.join(["--good", pin, "--bad", head])
    way = CommandLine(f"perfgate bisect {ends} {benchmark_option(benchmark)}")
    return _said(
        f"{way} searches the commits between, which costs about as much as three of these checks. Then fix it, "
        "or accept it with an `[[accept]]` entry (size, expiry date, reason)",
        way,
    )


@_step
def wait_for_nights(*, nights: int | None) -> Step:
    """A creep is not confirmed; nights: about so many, if it stays; None: unknown."""
    within = f", probably within {plural(nights, 'night')}" if nights else ""
    return _said(f"Nothing to do yet: the next nights confirm it or not{within}")


@_step
def lower_floor(
    *, benchmark: str, metric: str, imported: bool, floor: float, unit: str, wanted: float, share: float | None
) -> Step:
    """All that may be a regression is smaller than the floor, so more builds cannot settle it.

    benchmark: where the floor hides most. floor: the one there, in the unit. wanted: one with which it is decided, in
    the unit; 0: none. share: the floor over base's value; None: that is 0.
    """
    way = with_floor(metric, wanted, unit, imported=imported)
    how = "lower the floor" if wanted else "lower the floor or remove it"
    said = f"If a change below {as_configured(floor, unit)} matters, {how} ({way})"
    return _said(said if share is None else f"{said}: it is {format_share(share)} of {benchmark}", way)


@_step
def declare_zero(*, metric: str, floor: float | None, unit: str, imported: bool = False) -> Step:
    """Base is 0; floor: one that head is above, in the unit; None: head has no spread that it could be tested with."""
    way = overridden(metric=metric, exact="true")
    if floor is None:
        return _said(f"Check what gives {metric}: base is 0. If that is right, as of a count, add {way}", way)
    way = with_floor(metric, floor, unit, imported=imported)
    return _said(f"Base is 0, so say how much {metric} may grow before the gate fails, for example {way}", way)


@_step
def declare_exact(*, metric: str, rounded: bool) -> Step:
    """Values do not spread; rounded: they are written in steps that may hide how they differ."""
    way = overridden(metric=metric, exact="true")
    more = "or write more digits" if rounded else "and make sure that no run is there twice"
    return _said(
        f"If {metric} is a count or a size, add {way}; if it is a time, do more work for each value, {more}", way
    )


@_step
def other_statistic(*, metric: str, statistic: str) -> Step:
    """A quantile, such as p50, is 0."""
    way = Lines(("benchmark", "metric", metric), {"statistics": '["mean"]'})
    its = "typical value" if statistic == "typical" else statistic
    return _said(f"Compare another statistic of {metric}, such as {way}: its {its} is 0 in some build", way)


@_step
def more_values(
    *, statistic: str, unit: Top = "build", has: int, needs: int, executions: int | None, iterations: int | None,
    budget: float | None,
) -> Step:  # fmt: skip
    """A quantile such as p99 needs more values of each build.

    executions, iterations: those of a plan that gives them; None: not by these alone, or the plan is not known. budget:
    seconds in which that fits, rounded up; None: the present one does, or it is not known.
    """
    ways = _of_plan(budget, executions=executions, iterations=iterations)
    how = f"Run the same check again with {ways[0]}" if ways else f"Measure more values in each {unit}"
    return _said(f"{how}: {statistic} needs {needs:,} values of each {unit} and has {has:,}", *ways)


@_step
def measure_more(
    *,
    hopeless: bool = False,
    unit: Top = "build",  # noqa: ARG001  # a detail
    builds: int | None = None,
    budget: float | None = None,
) -> Step:
    """Nothing says how many builds would do.

    hopeless: no reasonable number, of any finding. builds: a side of a plan that narrows the intervals. budget: as of
    `more_values`.
    """
    quieter = f"se a quieter host ({DOCTOR} examines it)"
    if hopeless:
        return _said(f"U{quieter}: more measuring would not help", DOCTOR)
    ways = _of_plan(budget, builds=builds)
    return _said(f"Run again with {ways[0]}, which narrows the intervals, or u{quieter}", *ways)


_OWN_WORK = {
    "active": ("active time", "waits for a processor"),
    "user": ("user time", "waits, disk, system calls and other processes"),
    "cpu_time": ("CPU time", "waits, disk and other processes"),
    "instructions": ("instructions", "waits, disk and cache misses"),
}
"""Metrics of a program's own work: their names, and what they leave out."""


@_step
def reduce_noise(
    *,
    builds: int | None,
    starts: int | None = None,
    settled: int,
    seconds: float | None,
    too_much: bool = True,  # noqa: ARG001  # a detail
    metric: str | None,
    tables: tuple[str, ...] = (),
    findings: int,
    may_be_worse: int,
    unit: Top = "build",
    waited: float | None,
    itself: bool = False,
    shared: bool = False,
) -> Step:
    """More builds would not settle it, or not within reason, or a recorded metric may do at once.

    Args:
        builds: a side that would probably settle some of it; None: no reasonable number would.
        starts: of each of them; None: as many as there were.
        settled: how many of the inconclusive findings that may be worse they would settle.
        seconds: about what they take; None: not known.
        too_much: whether these are beyond reason, or unknown.
        metric: one that the run recorded, and that decides; None: there is none.
        tables: benchmarks whose own table names what decides them, so that [plan] does not.
        findings: how many of the inconclusive findings that may be worse the metric decides.
        may_be_worse: how many of these there are.
        waited: share of the time in which some program waited for a processor, where that is much; None: it is not.
        itself: whether the program's own work differs from start to start, which no other host changes.
        shared: whether what was measured went before no other program, so that it waited itself.
    """
    if metric is not None:
        names = f"[{toml_text(metric)}]"
        way = Lines(("benchmark",), {"metrics": names}, tables) if tables else with_set(metrics=names)
        every = f"{findings} of {may_be_worse}" if may_be_worse > 1 else "it"
        name, without = _OWN_WORK[metric]
        said = f"Decide by {name}, which this run recorded and which decides {every} ({name} leaves out {without})"
        return _said(f"{said}: {f'write {way}' if tables else way}", way)
    why = "more measuring would not help"
    if builds is not None:
        which = "it" if settled == may_be_worse == 1 else f"only {settled} of {may_be_worse}"
        which = which if settled < may_be_worse or may_be_worse == 1 else f"all {settled}"
        each = "" if starts is None else f", with {plural(starts, 'start')},"
        takes = "" if seconds is None else f", and take about {format_duration(seconds)}"
        why = f"{plural(builds, unit)} of each{each} would decide {which}{takes}"
    if itself:
        work = "Give the program the same work at each start (a fixed random seed, the same input)"
        also = f"a quieter host would not help; {why}" if builds else "neither host nor more measuring helps"
        return _said(f"{work}: its CPU time varies as much as its time, so {also}")
    if waited is not None:
        why += f"; some program waited for a processor {format_share(waited)} of the time"
    first = "Measure as root (a container needs SYS_NICE), whose programs go before others, or u" if shared else "U"
    return _said(f"{first}se a quieter host ({DOCTOR} examines it): {why}", DOCTOR)


@_step
def import_more(*, builds: int) -> Step:
    """Result files are of too few builds; builds: a side that would do."""
    way = CommandLine("perfgate decide base=B1 base=B2 ... head=H1 head=H2 ...")
    return _said(
        f"Build and measure base and head {builds} times each, in turns, and name all files: {way}. {CHECK} does all "
        "of it",
        way,
        CHECK,
    )


@_step
def import_others(*, why: Literal["repeated", "failed", "missing"]) -> Step:
    """Of result files one run is there twice, a benchmark failed, or head lacks some."""
    if why == "missing":
        way = Options(("--set", "gate.missing=pass"))
        return _said(f"Name files that hold the missing benchmarks, or allow it with {way}", way)
    if why == "repeated":
        return _said("Name the results of different runs: the same values stand in several files")
    return _said("Fix what failed, measure it again, and name the new files")


@_step
def name_alike(*, hyperfine: bool) -> Step:
    """Base and head have no name in common; hyperfine: it wrote them, and calls a benchmark by its command."""
    way = CommandLine("hyperfine -n NAME COMMAND")
    if hyperfine:
        return _said(f"Measure both sides under one name ({way}), or write it into `command` of the files", way)
    return _said("Give a benchmark the same name on both sides, where it is defined or in the files")


@_step
def more_machines(*, sessions: int, wanted: int | None, builds: bool) -> Step:
    """The change differs from machine to machine, and the question is what others would show.

    wanted: how many would probably show it; None: not known, or too many. builds: whether each has builds enough to be
    judged by itself.
    """
    these = f"these {sessions} machines" if sessions > 1 else "this machine"
    said, ways = "they differ too much", list[Way]()
    if wanted is not None:
        ways.append(Lines(("plan",), {"sessions": str(wanted)}))
        said = f"measure on {wanted} machines ({ways[0]}, for `perfgate plan --matrix`)"
    if builds:
        ways.append(Options(("--set", "gate.sessions=fixed")))
        said += f", or, if only these matter, add {ways[-1]}"
    return _said(f"More builds on {these} would not help: {said}", *ways)


@_step
def more_builds(
    *, builds: int, executions: int | None = None, iterations: int | None = None, settled: int, may_be_worse: int,
    not_worse: int, seconds: float | None = None, budget: float | None = None,
) -> Step:  # fmt: skip
    """A plan of so many builds would probably settle some of the inconclusive findings.

    executions, iterations: of each build and execution; None: as in the present plan. seconds: about what that plan
    takes, judging by the rounds of this run; None: not known. budget: as of `more_values`.
    """
    ways, left = _of_plan(budget, builds=builds, executions=executions, iterations=iterations), may_be_worse
    if not not_worse:
        which = f"{settled} of {left}" if settled < left else "it" if left == 1 else f"all {left}"
    else:
        which = f"the {left} that may be worse" if settled == left else f"{settled} of the {left} that may be worse"
    cost = "" if seconds is None else f" (about {format_duration(seconds)})"
    return _said(f"Run again with {ways[0]}, which would probably decide {which}{cost}", *ways)


@_step
def allow_more_builds(
    *, needed: int, why: Literal["budget", "plan", "interrupted"], round: float | None, builds: int | None,  # noqa: A002  # its name in report.json
    unit: Top = "build", budget: float | None,
) -> Step:  # fmt: skip
    """A larger budget or plan, or the rest of the run, would give the builds that a verdict needs.

    why: as of `not-enough-measured`. round: seconds that one takes; None: not known. builds: of a plan that would do;
    None: the present one has enough. budget: as of `more_values`.
    """
    cost = f"{plural(needed, unit)} are needed"
    if round is not None:
        cost = f"a round takes about {format_duration(round)} and {needed} are needed"
    if why == "interrupted":
        way = Options(("--resume",))
        return _said(f"Continue the interrupted run with {way}: {cost}", way)
    ways = _of_plan(budget, builds=builds)
    if not ways:
        return _said(f"Measure base and head {needed} times each: {cost}")
    return _said(f"Run the same check again with {ways[0]}: {cost}", *ways)
