"""Sentences about what was measured, compared with what was planned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gate.model.warnings import measured as kinds
from gate.units import agree, format_share, plural
from gate.words import ways
from gate.words.phrases import listed


def _torn_line(warning: kinds.TornLine) -> str:
    return f"{warning.file}: the last line is incomplete and is left out"


def _selected_only(warning: kinds.SelectedOnly) -> str:
    verb = agree(warning.selected, "is", "are")
    part = f"{warning.selected} of {plural(warning.measured, 'measured benchmark')} {verb} decided (--benchmark)"
    return f"{part}: the verdict and the error level cover only these"


def _figures_of_tool(warning: kinds.FiguresOfTool) -> str:
    what = "figure" if warning.statistic == "value" else "p50" if warning.statistic == "p50" else warning.statistic
    return f"{listed(warning.metrics)}: each value is the {what} that the tool gives for a build, not one measured time"


# --- how far measuring came -------------------------------------------------------------------------------------------


def _rounds_short(warning: kinds.RoundsShort) -> str:
    return f"{warning.done} of {plural(warning.planned, 'planned round')} {agree(warning.done, 'was', 'were')} measured"


def _budget_rounds(warning: kinds.BudgetRounds) -> str:
    fit = agree(warning.rounds, "fits", "fit")
    return f"only {warning.rounds} of {plural(warning.planned, 'round')} {fit} the budget, judging by the first two"


def _after_last_look(warning: kinds.AfterLastLook) -> str:
    return f"the last look was after round {warning.round}: later rounds do not count"


def _executions_short(warning: kinds.ExecutionsShort) -> str:
    where = f"{warning.benchmark} at {warning.settings}" if warning.settings else warning.benchmark
    return f"{where}: base has {warning.base} and head {warning.head} of {plural(warning.wanted, 'execution')}"


def _parts_short(warning: kinds.PartsShort) -> str:
    parts = [f"{each.part} measured {each.done} of its {plural(each.planned, 'round')}" for each in warning.parts]
    return listed(parts, between="; ")


def _undecided_benchmarks(warning: kinds.UndecidedBenchmarks) -> str:
    how = "add one to `metrics` in `[plan]`" if warning.named else "declare one in a `[benchmark.metric.NAME]`"
    return f"no metric of {listed(warning.benchmarks)} is decided: {how} ({', '.join(warning.metrics)})"


def _unknown_direction(warning: kinds.UnknownDirection) -> str:
    names = f"{listed(warning.metrics)} ({listed(warning.benchmarks)})"
    they_are = agree(len(warning.metrics), "it is", "they are")
    unknown = f"direction unknown: nothing says which values of {names} are better, so {they_are} shown and not decided"
    return f"{unknown}. {give_direction(warning.metrics[0])}"


def give_direction(metric: str) -> str:
    """Say how a metric gets a direction."""
    lower, higher = ways.give_direction(metric)
    return f"Add {lower} or `better = {higher.keys['better']}` to perfgate.toml"


def _metric_missing(warning: kinds.MetricMissing) -> str:
    where = f" at {warning.factors}" if warning.factors != "{}" else ""
    return f"{warning.benchmark}: metric {warning.metric}{where} gave no values in session {warning.session}"


def _unknown_unit(warning: kinds.UnknownUnit) -> str:
    if warning.meant is None:
        wrong = f'"{warning.unit}" is not a unit of time: write s, ms, us or ns'
    else:
        wrong = f'"{warning.unit}" is not a known unit: write "{warning.meant}"'
    return f"metric {warning.metric}: {wrong}; its values are compared as they are, without a default floor"


def _by_side(warning: kinds.NotSteady | kinds.Outlived | kinds.ValuesShort) -> str:
    sides = (("base", warning.base), ("head", warning.head))
    return " and ".join(f"{count} of {side}" for side, count in sides if count)


def _outlived(warning: kinds.Outlived) -> str:
    some = f"after {warning.base + warning.head} of {plural(warning.of, 'execution')} ({_by_side(warning)})"
    return f"{some} a process that the command had started still ran: no value includes its work"


def _values_short(warning: kinds.ValuesShort) -> str:
    some = f"{warning.base + warning.head} of {plural(warning.of, 'execution')}"
    fewer = f"gave fewer than the {plural(warning.asked, 'value')} asked for ({_by_side(warning)})"
    return f"{some} {fewer}, and others exactly as many: was their output cut off?"


def _not_steady(warning: kinds.NotSteady) -> str:
    some = f"{warning.base + warning.head} of {plural(warning.of, 'execution')}"
    never = f"{some} reached no steady state ({_by_side(warning)})"
    few = "" if warning.needed is None else f"; fewer than {plural(warning.needed, 'value')} cannot show one"
    return f"{never}: all their values count{few}"


# --- builds -----------------------------------------------------------------------------------------------------------


def _identical_builds(warning: kinds.IdenticalBuilds) -> str:
    same = [
        f"all {plural(each.count, 'build')} of {each.side}{f' at {each.settings}' if each.settings else ''}"
        for each in warning.builds
    ]
    advice = "several object files, -ffunction-sections with lld, or {seed} let layouts differ"
    return f"build variance not sampled: {' and '.join(same)} are byte-identical ({advice})"


def _no_build_command(warning: kinds.NoBuildCommand) -> str:
    differing = f"differ in {' and '.join(warning.differing)} only" if warning.differing else "do not differ"
    return f"no build command: the builds {differing}"


def _build_needs_git(warning: kinds.BuildNeedsGit) -> str:
    builds, verb, them = ("build", "fails", "it") if len(warning.sides) == 1 else ("builds", "fail", "them")
    return (
        f"the {builds} of {' and '.join(warning.sides)} {verb} without .git, so perfgate gave {them} one: "
        'set git = "on" under [build] to avoid the failed build'
    )


# --- two runs that are compared ---------------------------------------------------------------------------------------


def _set_up_differently(warning: kinds.SetUpDifferently) -> str:
    keys = [*warning.settings, *(f"{each.key} of {listed(each.benchmarks)}" for each in warning.keys)]
    return f"the two runs are set up differently, and the ratio includes that: {'; '.join(keys)}"


def _not_comparable(warning: kinds.NotComparable) -> str:
    base, head = (_in(warning, found) for found in (warning.base, warning.head))
    return f"not comparable: {warning.metric} is {base} in base and {head} in head: {listed(warning.names, most=20)}"


def _in(warning: kinds.NotComparable, found: tuple[str, ...]) -> str:
    if warning.of == "direction":
        return f"better when {' and '.join(found)}"
    return " and ".join(f"in {unit}" if unit else "without a unit" for unit in found)


SENTENCES: dict[type, Callable[[Any], str]] = {
    kinds.TornLine: _torn_line,
    kinds.SelectedOnly: _selected_only,
    kinds.SidesByOrder: lambda of: (
        f"{of.base} was taken as base and {of.head} as head: write base=FILE and head=FILE to say otherwise"
    ),
    kinds.ColumnsOfFile: lambda of: (
        f"of {of.file} the {of.key} {of.base!r} was taken as base and {of.head!r} as head, its last two"
    ),
    kinds.LinesLeftOut: lambda of: (
        f"{of.file}: {of.first}" + (f"; and {plural(of.more, 'more such line')}" if of.more else "")
    ),
    kinds.WithoutValues: lambda _: "an aggregate of another tool, without the values behind it: shown, never decided",
    kinds.FiguresOfTool: _figures_of_tool,
    kinds.SameValues: lambda _: (
        "base and head have the same values, so every ratio is 1: are they the same measurements?"
    ),
    kinds.MeasuredSeparately: lambda _: (
        "measured separately: changes of the machine between the runs are part of every ratio, and no interval "
        "includes them; `perfgate check` measures both in turns"
    ),
    kinds.RequestsFailed: lambda of: (
        f"{of.benchmark}: requests failed ({format_share(of.base)} of base's, {format_share(of.head)} of head's); "
        "times are of the others alone"
    ),
    kinds.ForeignValues: lambda _: (
        "the values come from the pull request's own workflow run, which its author can change: treat the verdict as "
        "advice"
    ),
    kinds.RoundsShort: _rounds_short,
    kinds.BudgetRounds: _budget_rounds,
    kinds.AfterLastLook: _after_last_look,
    kinds.ExecutionsShort: _executions_short,
    kinds.PartsShort: _parts_short,
    kinds.TwoSessions: lambda _: (
        "2 sessions: little is known about how sessions differ (1 degree of freedom), so only large "
        "changes can be shown; a third session narrows the intervals most"
    ),
    kinds.LooksIgnored: lambda _: "a bootstrap interval does not correct for the looks of this run",
    kinds.UndecidedBenchmarks: _undecided_benchmarks,
    kinds.UnknownDirection: _unknown_direction,
    kinds.MetricMissing: _metric_missing,
    kinds.UnknownUnit: _unknown_unit,
    kinds.NotSteady: _not_steady,
    kinds.Outlived: _outlived,
    kinds.ValuesShort: _values_short,
    kinds.IdenticalBuilds: _identical_builds,
    kinds.SameCommit: lambda _: (
        "base and head are one commit: this is an A/A run, which is measured in any case, and any difference is noise"
    ),
    kinds.ProvedInPart: lambda warning: (
        f"{listed(warning.benchmarks)}: identical in some sessions and measured in others: only the values count"
    ),
    kinds.IdenticalSides: lambda _: "base and head are byte-identical: any difference is noise",
    kinds.OneTree: lambda _: (
        "no build command: every build reuses the tree of the set-up, only the environment differs"
    ),
    kinds.NoBuildCommand: _no_build_command,
    kinds.MissingAllowed: lambda of: (
        f"{listed(of.benchmarks)} {agree(len(of.benchmarks), 'is', 'are')} missing, allowed by "
        f"{of.label or 'the rules'}"
    ),
    kinds.BuildNeedsGit: _build_needs_git,
    kinds.SetUpDifferently: _set_up_differently,
    kinds.NotComparable: _not_comparable,
}
"""The sentence of each type, without a full stop."""
