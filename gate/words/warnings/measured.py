"""Sentences about what was measured, beside what was to be measured."""

from __future__ import annotations

from gate.model.warnings import measured as kinds
from gate.words.phrases import listed
from gate.words.warnings.base import text


@text.register
def _(warning: kinds.TornLine) -> str:
    return f"{warning.file}: its last line was cut off in the middle of a write and is left out"


@text.register
def _(warning: kinds.SelectedOnly) -> str:
    part = f"{warning.selected} of {warning.measured} measured benchmarks are decided (--benchmark)"
    return f"{part}: the error level is shared over these alone, and the verdict is theirs, not the run's"


@text.register
def _(_: kinds.ForeignValues) -> str:
    return (
        "the values are those of the pull request's own workflow run: whoever can change it can change them, and the "
        "verdict is advice"
    )


# --- how far measuring came -------------------------------------------------------------------------------------------


@text.register
def _(warning: kinds.RoundsShort) -> str:
    return f"{warning.done} of {warning.planned} planned rounds were measured"


@text.register
def _(warning: kinds.BudgetRounds) -> str:
    return f"only {warning.rounds} of {warning.planned} rounds fit the budget, judging by the first"


@text.register
def _(warning: kinds.AfterLastLook) -> str:
    return f"the last look was after round {warning.round}: what was measured after it does not count"


@text.register
def _(warning: kinds.ExecutionsShort) -> str:
    where = f"{warning.benchmark} at {warning.settings}" if warning.settings else warning.benchmark
    return f"{where}: base has {warning.base} executions and head {warning.head}, of {warning.wanted}"


@text.register
def _(warning: kinds.PartsShort) -> str:
    return f"measured of {listed([f'{p.part}: {p.done} of its {p.planned} rounds' for p in warning.parts], '; ')}"


@text.register
def _(_: kinds.TwoSessions) -> str:
    return (
        "2 sessions: their difference is all that is known of what a session does (1 degree of freedom), so only large "
        "changes are called; a third session narrows the intervals most"
    )


@text.register
def _(_: kinds.LooksIgnored) -> str:
    return "a bootstrap interval takes no account of the looks of this run"


@text.register
def _(warning: kinds.UndecidedBenchmarks) -> str:
    return (
        f"nothing of {listed(warning.benchmarks)} is decided: declare [benchmark.metric.NAME], or name it in [plan] "
        f"metrics; there is {', '.join(warning.metrics)}"
    )


@text.register
def _(warning: kinds.MetricMissing) -> str:
    where = f" at {warning.factors}" if warning.factors != "{}" else ""
    return f"{warning.benchmark}: metric {warning.metric}{where} gave no values in session {warning.session}"


@text.register
def _(warning: kinds.NotSteady) -> str:
    sides = (("base", warning.base), ("head", warning.head))
    by_side = " and ".join(f"{count} of {side}" for side, count in sides if count)
    never = f"{warning.base + warning.head} of {warning.of} executions reached no steady state ({by_side})"
    few = "" if warning.needed is None else f"; fewer than {warning.needed} values cannot show one"
    return f"{never}: all their values count{few}"


# --- builds -----------------------------------------------------------------------------------------------------------


@text.register
def _(warning: kinds.IdenticalBuilds) -> str:
    same = [
        f"all {each.count} builds of {each.side}{f' at {each.settings}' if each.settings else ''}"
        for each in warning.builds
    ]
    advice = "[build] perturb and {seed} lay a program out anew where it is linked"
    return f"build variance not sampled: {' and '.join(same)} are byte-identical ({advice})"


@text.register
def _(_: kinds.IdenticalSides) -> str:
    return "base and head are byte-identical: what differs between them is noise"


@text.register
def _(_: kinds.OneTree) -> str:
    return "no build command: every build reuses the tree of the set-up, only the environment differs"


@text.register
def _(warning: kinds.NoBuildCommand) -> str:
    return f"no build command: the builds differ in {' and '.join(warning.differing) or 'nothing'} only"


# --- two runs that are compared ---------------------------------------------------------------------------------------


@text.register
def _(warning: kinds.SetUpDifferently) -> str:
    keys = [*warning.settings, *(f"{each.key} of {listed(each.benchmarks)}" for each in warning.keys)]
    return f"the two runs are set up differently, and the ratio includes that: {'; '.join(keys)}"


@text.register
def _(warning: kinds.NotComparable) -> str:
    base, head = (_in(warning, found) for found in (warning.base, warning.head))
    return f"not comparable: {warning.metric} is {base} in base and {head} in head: {listed(warning.names, most=20)}"


def _in(warning: kinds.NotComparable, found: tuple[str, ...]) -> str:
    if warning.of == "direction":
        return f"better when {' and '.join(found)}"
    return " and ".join(f"in {unit}" if unit else "without a unit" for unit in found)
