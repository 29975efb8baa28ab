"""What a report comes to -> its headline, and what a reader does now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gate.evidence.factors import pairs
from gate.model import Cut, outcomes
from gate.model.case import TYPICAL
from gate.model.warnings.measured import give_direction
from gate.units import format_duration, format_share
from gate.words import views
from gate.words.numbers import as_configured, plural
from gate.words.ways import CHECK, DOCTOR, EXPLAIN, Lines, ways
from gate.writing.phrases import joined
from gate.writing.plain import benchmark_option, distinct, visible


def _regressed(of: outcomes.Regressed) -> str:
    names = ", ".join(map(_place, of.worst)) + (f" and {of.more:,} more" if of.more else "")
    return f"{_of(of.count, of.findings)} regressed: {names}"


def _of(count: int, findings: int) -> str:
    return f"{count:,} of {plural(findings, 'finding')}"


def _place(place: outcomes.Place) -> str:
    if place.metric is None:
        return place.benchmark
    return " ".join([place.benchmark, views.quantity(place.metric, place.statistic), *_at(place)])


def _at(place: outcomes.Place) -> list[str]:
    """Say at which of its settings a case regressed."""
    most = pairs(place.most, " ")
    if place.findings == 1:
        return [most] if most else []
    if place.findings == place.of:
        return ["at every setting"]
    what = "settings" if place.varied == 1 else "combinations of settings"
    return [f"at {place.findings:,} of {place.of:,} {what} (most at {most})"]


def _nothing_regressed(of: outcomes.NothingRegressed) -> str:
    if not of.no_sign or of.detectable is None:
        return f"nothing regressed in {plural(of.findings, 'finding')}"
    size = format_share(of.detectable)
    if of.no_sign == of.findings:
        return f"no sign of a regression of {size} or more in {plural(of.findings, 'finding')}"
    return (
        f"nothing regressed in {plural(of.findings, 'finding')}; in {of.no_sign:,} of them a regression of {size} or "
        "more would have shown"
    )


def _nothing_to_compare(of: outcomes.NothingToCompare) -> str:
    said = f"nothing to compare yet: {of.why.lacks}"
    if of.quietest is None or of.noisiest is None:
        return said
    least, most = format_share(of.quietest.detectable), format_share(of.noisiest.detectable)
    # two metrics of one benchmark need their names
    several = of.noisiest.metric != of.quietest.metric
    quietest, noisiest = (
        f"{n.benchmark} {views.metric_name(n.metric)}" if several else n.benchmark for n in (of.quietest, of.noisiest)
    )
    noise = f"a change of {least} or more would show in {quietest}"
    if of.noisiest != of.quietest:
        among = f" of {of.benchmarks:,} benchmarks" if of.benchmarks > 1 else ""
        noise += f", of {most} in {noisiest}, the noisiest{among}"
    return f"{said}; head's noise: {noise}"


_IMPORT_OTHERS = {
    "repeated": "Name the results of different runs: the same values stand in several files",
    "failed": "Fix what failed, measure it again, and name the new files",
    "missing": "Name files that hold the missing benchmarks, or allow it with {}",
}


def _nothing_in_common(of: outcomes.NothingInCommon) -> str:
    if len(of.base) == len(of.head) == 1:
        base, head = distinct([visible(names[0]) for names in (of.base, of.head)], _LONGEST_NAME)
        return f"nothing was compared: base has only {base}, and head only {head}"
    return "nothing was compared: base and head have no benchmark of one name"


_LONGEST_NAME = 60


def _name_alike(step: outcomes.NameAlike) -> str:
    if step.hyperfine:
        return f"Measure both sides under one name ({_way(step)}), or write it into `command` of the files"
    return "Give a benchmark the same name on both sides, where it is defined or in the files"


def _failed(of: outcomes.Failed) -> str:
    what = plural(of.failures, "failure")
    return f"{what}; {plural(of.findings, 'finding')} measured" if of.findings else f"{what}, and nothing was compared"


def _budget_ended(of: outcomes.BudgetEnded) -> str:
    spent = of.spent
    took = {
        "set-up": spent.setup,
        plural(spent.builds, "build"): spent.building,
        plural(spent.executions, "execution"): spent.executing,
    }
    parts = [f"{name} took {format_duration(seconds)}" for name, seconds in took.items() if seconds >= _WORTH]
    after = f" ({', '.join(parts)})" if parts else ""
    cut = spent.cut
    more = f", and {format_duration(cut.beyond)} more for first builds and proofs," if cut.beyond else ""
    budget = f"the budget of {format_duration(spent.budget)}{more}"
    return f"{budget} ended before one round was complete: {phrase(cut)}{after}"


_WORTH = 0.05
_PHASES = {
    "checkout": "during the checkout of {side}",
    "setup": "during set-up of {side}",
    "build": "during {build} of {side}",
    "service": "while the service of {benchmark} was starting on {side}",
    "comparison": "while the outputs of {benchmark} were compared on {side}",
    "execution": "while {benchmark} was running on {side}",
}


def phrase(cut: Cut) -> str:
    """Say what the budget ended: "during set-up of base"."""
    build = "the first build" if cut.build == 0 else f"build {cut.build + 1}"
    return _PHASES[cut.phase].format(benchmark=cut.benchmark, side=cut.side, build=build)


def _raise_budget(step: outcomes.RaiseBudget) -> str:
    needed = f"{plural(step.rounds, 'round')} {'takes' if step.rounds == 1 else 'take'}"
    least = f"{needed} at least {format_duration(step.least)}"
    return f"Raise the budget, for example {_way(step)}: " + (
        f"judging by what was done, {least}"
        if step.executions
        else f"{least}; how much more is not known, because no execution was complete"
    )


def _inconclusive(of: outcomes.SomeInconclusive) -> str:
    apart = f", {of.not_worse:,} of them not worse" if of.not_worse else ""
    if of.not_worse == of.count:
        apart = " but not worse"
    hidden = f"; {hidden_by_floor(of.hidden)}" if of.hidden else ""
    return f"{_of(of.count, of.findings)} inconclusive{apart}, none regressed{hidden}"


def hidden_by_floor(count: int, floor: str = "the floor") -> str:
    """Say how many changes a floor hides: "2 changes beyond the threshold are hidden by the floor of 1 ns"."""
    return f"{plural(count, 'change')} beyond the threshold {'is' if count == 1 else 'are'} hidden by {floor}"


def _accepted(of: outcomes.SomeAccepted) -> str:
    by = f" by {', '.join(of.labels)}" if of.labels else ""
    return f"{_of(of.count, of.findings)} accepted{by}, nothing else regressed"


_EVERY = {1: "the benchmark runs", 2: "both benchmarks run"}


def _all_identical(of: outcomes.AllIdentical) -> str:
    every = _EVERY.get(of.benchmarks, f"all {of.benchmarks:,} benchmarks run")
    same = "the same program on the same data as base"
    return f"{every} {same}, so nothing had to be measured"


def _not_enough_measured(of: outcomes.NotEnoughMeasured) -> str:
    cost = "" if of.seconds is None else f"; a verdict takes about {format_duration(of.seconds)}"
    return f"not enough measured: {of.builds} of {plural(of.needed, 'build')}{cost}"


def _allow_more_builds(step: outcomes.AllowMoreBuilds) -> str:
    cost = f"{step.needed} builds are needed"
    if step.round is not None:
        cost = f"a round takes about {format_duration(step.round)} and {step.needed} are needed"
    if step.why == "interrupted":
        return f"Continue the interrupted run with {_way(step)}: {cost}"
    if not ways(step):
        return f"Measure each side {step.needed} times: {cost}"
    return f"Run the same check again with {_way(step)}: {cost}"


def _way(step: outcomes.Step) -> str:
    """Write the first thing that a step asks a reader to type."""
    return str(ways(step)[0])


def _name_sides(step: outcomes.NameSides) -> str:
    sides, *one_file = ways(step)
    of_one = "".join(f"; {each} compares the benchmarks of one file" for each in one_file)
    return f"Name files of both sides: {sides}{of_one}"


def _find_creep(step: outcomes.FindCreep) -> str:
    suspects = "Look at the suspects first; " if step.history else ""
    return (
        f"{suspects}{_way(step)} searches the commits between, which costs about as much as three of these checks. "
        "Then fix it, or accept it with an `[[accept]]` entry (size, expiry date, reason)"
    )


def _declare_exact(step: outcomes.DeclareExact) -> str:
    otherwise = "or write more digits" if step.rounded else "and make sure that no run is there twice"
    return (
        f"If {step.metric} is a count or a size, add {_way(step)}; if it is a time, do more work for each value, "
        f"{otherwise}"
    )


def _lower_floor(step: outcomes.LowerFloor) -> str:
    how = "lower the floor" if step.wanted else "lower the floor or remove it"
    said = f"If a change below {as_configured(step.floor, step.unit)} matters, {how} ({_way(step)})"
    return said if step.share is None else f"{said}: it is {format_share(step.share)} of {step.benchmark}"


def _declare_zero(step: outcomes.DeclareZero) -> str:
    if step.floor is None:
        return f"If {step.metric} is a count, add {_way(step)}: base is 0"
    return f"Base is 0, so say how much {step.metric} may grow before the gate fails, for example {_way(step)}"


def _more_values(step: outcomes.MoreValues) -> str:
    has = f"{step.statistic} needs {step.needs:,} values of each build and has {step.has:,}"
    how = f"Run the same check again with {_way(step)}" if ways(step) else "Measure more values in each build"
    return f"{how}: {has}"


def _measure_more(step: outcomes.MeasureMore) -> str:
    if step.hopeless:
        return f"Use a quieter host ({DOCTOR} examines it): at this noise level more builds will not settle it"
    return f"Run again with {_way(step)}, which narrows the intervals, or use a quieter host ({DOCTOR} examines it)"


def _more_machines(step: outcomes.MoreMachines) -> str:
    these = f"these {step.sessions} machines" if step.sessions > 1 else "this machine"
    typed = ways(step)
    more = [each for each in typed if isinstance(each, Lines)]
    fixed = "".join(f", or, if only these matter, add {each}" for each in typed if each not in more)
    many = "".join(f"measure on {step.wanted} machines ({each}, for `perfgate plan --matrix`)" for each in more)
    return f"More builds on {these} will not settle it: {many or 'they differ too much'}{fixed}"


def _more_builds(step: outcomes.MoreBuilds) -> str:
    settled, left = step.settled, step.may_be_worse
    if not step.not_worse:
        every = "the inconclusive finding" if left == 1 else f"all {left} inconclusive findings"
        which = every if settled == left else f"{settled} of {left} inconclusive findings"
    else:
        which = f"the {left} that may be worse" if settled == left else f"{settled} of the {left} that may be worse"
    cost = "" if step.seconds is None else f" (about {format_duration(step.seconds)})"
    again = f"{_way(step)}{cost}"
    return f"Run again with {again}: at this noise level it would probably settle {which}"


def _reduce_noise(step: outcomes.ReduceNoise) -> str:
    why = "at this noise level more builds will not settle it"
    if step.builds is not None:
        takes = "" if step.seconds is None else f", about {format_duration(step.seconds)}"
        why += f" within reason ({step.builds} a side{takes})"
    if step.waited is not None:
        why += f"; some program waited for a processor {format_share(step.waited)} of the time"
    if step.metric is not None:
        every = "the inconclusive finding" if step.may_be_worse == 1 else f"{step.findings} of {step.may_be_worse}"
        by = "exact" if step.narrower is None else f"at least {step.narrower:.2g} times narrower"
        return (
            f"Decide on {step.metric} instead, which this run recorded: its interval is {by} in {every}: "
            f"{_way(step)}; {why}"
        )
    if step.duet:
        return (
            f"Set {_way(step)}, which runs both sides at once and compares their CPU time, or use a quieter host "
            f"({DOCTOR} examines it): {why}"
        )
    return f"Use a quieter host ({DOCTOR} examines it): {why}"


def _fix_regression(step: outcomes.FixRegression) -> str:
    if step.from_zero:
        return (
            f"Fix the regression, or where base is 0 say what is allowed, by {_way(step)}: an `[[accept]]` entry takes "
            "no change from 0"
        )
    built = None if step.explain is None else format_duration(max(1.0, step.explain))
    explain = f" ({EXPLAIN} names the functions: 2 builds, {built}, and 2 profiled runs)" if built else ""
    return f"Fix the regression{explain}, or accept it with an `[[accept]]` entry (size, expiry date, reason)"


def _restore_benchmark(step: outcomes.RestoreBenchmark) -> str:
    restore = f"Restore the missing {'benchmarks, or allow them' if step.others else 'benchmark, or allow it'}"
    if not step.merged:
        return f"{restore} with {_way(step)}"
    label = f"the label `{step.label}` on the pull request, or " if step.label else ""
    return f"{restore}: by {label}{_way(step)}, merged first because base's rules count"


def on_pull(step: outcomes.Step) -> str:
    """Say what to do now in a comment, whose reader has another machine and the entry to paste: a short line."""
    if not isinstance(step, outcomes.FixRegression):
        return SENTENCES[type(step)](step)
    if step.from_zero:
        return SENTENCES[type(step)](step)
    if step.benchmark is None:
        return "Fix the regression, or accept it with the entry below"
    cost = "" if step.seconds is None else f", in at most {format_duration(step.seconds)}"
    command = f"`perfgate check {benchmark_option(step.benchmark)}`"
    return f"Fix the regression ({command} measures it again{cost}), or accept it with the entry below"


SENTENCES: dict[type, Callable[[Any], str]] = {
    outcomes.Regressed: _regressed,
    outcomes.NothingMeasured: lambda _: "nothing was measured",
    outcomes.OnlyAggregates: lambda of: (
        f"nothing was decided: the files hold {plural(of.count, 'aggregate')} without the values behind "
        f"{'it' if of.count == 1 else 'them'}{', of one build a side' if of.more else ''}"
    ),
    outcomes.OneSideMeasured: lambda of: f"nothing to compare: all values are of {of.side}",
    outcomes.NothingInCommon: _nothing_in_common,
    outcomes.BudgetEnded: _budget_ended,
    outcomes.MachineNotFree: lambda of: f"nothing was measured: {of.status}",
    outcomes.NothingDecided: lambda of: (
        f"nothing was decided: nothing says which values of {joined(of.undirected)} are better"
        if of.undirected
        else f"nothing was decided: plan.metrics names none of {', '.join(of.metrics)}"
    ),
    outcomes.Failed: _failed,
    outcomes.SomeInconclusive: _inconclusive,
    outcomes.NotEnoughMeasured: _not_enough_measured,
    outcomes.SomeAccepted: _accepted,
    outcomes.AllIdentical: _all_identical,
    outcomes.NothingToCompare: _nothing_to_compare,
    outcomes.NothingRegressed: _nothing_regressed,
    outcomes.RestoreBenchmark: _restore_benchmark,
    outcomes.RepeatJob: lambda _: "Run the job that should have measured it again, or download its artifact",
    outcomes.RaiseBudget: _raise_budget,
    outcomes.RunLater: lambda step: f"Run the check again when the machine is free, or wait longer: {_way(step)}",
    outcomes.FixFailure: lambda _: "Fix the failure and run the check again",
    outcomes.ImportOthers: lambda step: _IMPORT_OTHERS[step.why].format(*ways(step)),
    outcomes.NameAlike: _name_alike,
    outcomes.KeepTrees: lambda _: (
        "Have builds and benchmarks leave these files alone, or declare them in `changes` of [build] if they are meant "
        "to change"
    ),
    outcomes.BuildInside: lambda _: (
        "Have each build write into its own tree, and have benchmarks run what is there: now both sides run what was "
        "built last"
    ),
    outcomes.FixOutput: lambda _: (
        "Make base and head give the same output, or remove `same_output` if they are meant to differ"
    ),
    outcomes.MeasureFirst: lambda step: (
        f"Run {_way(step)}, which measures and decides; `perfgate measure` writes what `perfgate decide` reads"
    ),
    outcomes.NameSides: _name_sides,
    outcomes.GiveDirection: lambda step: give_direction(step.metric),
    outcomes.DecideOn: lambda step: f"Say which metrics decide, for example {_way(step)}",
    outcomes.FixRegression: _fix_regression,
    outcomes.FindCreep: _find_creep,
    outcomes.WaitForNights: lambda step: (
        "Nothing to do yet: the next nights confirm it or not"
        + ("" if step.nights is None else f", probably within {plural(step.nights, 'night')}")
    ),
    outcomes.NothingToDo: lambda _: "Nothing to do: the inconclusive results are not worse than the threshold allows",
    outcomes.LowerFloor: _lower_floor,
    outcomes.DeclareZero: _declare_zero,
    outcomes.DeclareExact: _declare_exact,
    outcomes.MoreValues: _more_values,
    outcomes.OtherStatistic: lambda step: (
        f"Compare another statistic of {step.metric}, such as {_way(step)}: its "
        f"{step.statistic}{' value' if step.statistic == TYPICAL else ''} is 0 in some build"
    ),
    outcomes.MeasureTogether: lambda step: (
        f"Measure base and head together, as {_way(step)} does: each was measured in sessions of its own"
    ),
    outcomes.CheckValues: lambda _: (
        "Check the program that writes the values: some are below 0. Compare the amounts, not their difference"
    ),
    outcomes.AskOfAllMachines: lambda step: (
        f"Ask of all machines together with {_way(step)}: on one of them, a value of 0 has no ratio"
    ),
    outcomes.MeasureMore: _measure_more,
    outcomes.ReduceNoise: _reduce_noise,
    outcomes.ImportMore: lambda step: (
        f"Build and measure each side {step.builds} times, in turns, and name all files: {_way(step)}. {CHECK} does "
        "all of it"
    ),
    outcomes.MoreMachines: _more_machines,
    outcomes.MoreBuilds: _more_builds,
    outcomes.AllowMoreBuilds: _allow_more_builds,
}
"""The sentence of each type, without a full stop."""
