"""A trial in words: for a terminal, in one line, and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from gate.commands.try_.result import Built, Fit, Plans, RoundCost, Trial, Tried
from gate.config.rules import goes_by_starts, most_builds
from gate.config.types import BuildTable, Config
from gate.decide.futility import POWER
from gate.document.document import Cell, Code, Column, Document, Items, Part, Row, Statement, Table
from gate.model import SCHEMA, Failure
from gate.report.json import plain, text_of
from gate.words.failures import title
from gate.words.reports import commit
from gate.words.sameness import say_why
from gate.writing.amounts import format_value
from gate.writing.last_lines import last_lines
from gate.writing.phrases import joined
from gate.writing.plain import clip, visible
from gate.writing.units import Duration, format_duration, format_share, plural
from harness.host.fitness.checks import WAITS

Say = Callable[[str], None]
_MOST_CASES = 20
_COMMAND = 120
_LAST = 12
"""Lines of what failed: compilers name the cause well before the last one."""
_LONGEST = 300
_FIRST = 5.0
"""Seconds of a build from which it matters that the first one may do what later ones need not."""
_LONG = 3600.0
"""Seconds of a check beyond which a larger budget is not all of the advice."""


def building(table: BuildTable) -> str:
    """Say that head is built."""
    if table.command is None:
        return "checking head out" + (" and setting it up" if table.setup is not None else "")
    text = table.command if isinstance(table.command, str) else " ".join(table.command)
    return f"building head: {clip(visible(text), _COMMAND)}"


def headline(trial: Trial) -> str:
    """Say in one line whether a check could be made."""
    if trial.failure is not None:
        return f"head cannot be measured: {title(trial.failure)}"
    refused = [each.benchmark for each in trial.benchmarks if each.refused]
    count = plural(len(trial.benchmarks), "benchmark")
    if refused:
        return f"{len(refused)} of {count} gave no values: {visible(joined(refused))}"
    slow = [each.benchmark for each in trial.benchmarks if each.longer_than is not None]
    if slow:
        return f"{len(slow)} of {count} took too long to try: {visible(joined(slow))}"
    every = {1: "the benchmark", 2: "both benchmarks"}.get(len(trial.benchmarks), f"all {count}")
    return f"{every} gave values"


def brief(trial: Trial) -> list[str]:
    """Write the headline and what failed."""
    return [headline(trial), *(title(failure) for each in trial.benchmarks for failure in each.failures)]


def document_of(trial: Trial, rules: Config, *, advises: bool = True) -> Document:
    """Write everything; ends with what to do next. rules: of the gate."""
    refused = [each for each in trial.benchmarks if each.refused]
    warnings = [f"warning: {each.sentence()}" for each in trial.warnings]
    built, cost = trial.built, trial.cost
    told = [_round(cost, built, rules)] if cost is not None else []
    slow = [
        f"{each.benchmark}: {'its service is not ready after' if each.in_service else 'longer than'} "
        f"{format_duration(each.longer_than)} a start; one of the plan takes at least "
        f"{format_duration(each.execution or 0.0)}"
        + ("" if each.in_service else ". Use a smaller input, or fewer values and starts")
        for each in trial.benchmarks
        if each.longer_than is not None
    ]
    sections: list[list[Part]] = [
        [Statement(f"{commit(trial.head)}: {headline(trial)}", "error" if trial.exit_code else "pass")],
        _failed(trial.failure) if trial.failure is not None else [],
        [Items([_built(built)] if built is not None else [], "rest")],
        *(_refused(each) for each in refused),
        _cases(trial.benchmarks),
        [Items(slow, "rest")],
        [Items(told, "rest")],
        _plans(trial.plans, rules, advises=advises) if trial.plans is not None else [],
        [Items([_host(trial)], "rest")],
        [Items([*trial.notes, *warnings], "rest")],
        [Items([f"next: {_next(trial, rules)}"], "rest")] if advises else [],
    ]
    return Document("perfgate try", headline(trial), sections, "in the JSON", "")


def _built(built: Built) -> str:
    if built.command is None:
        if built.setup is None:
            return f"build: a fresh checkout, {format_duration(built.seconds)}"
        return f"build: checkout and set-up, {format_duration(built.setup)}, once for each side"
    made = f" of {joined(built.artifacts)}" if built.artifacts else ""
    if built.compiled is not None and built.relinks:
        return f"build{made}: kept from an earlier run, linked again in {format_duration(built.seconds)}"
    text = f"build{made}: {format_duration(built.seconds)}"
    if built.setup is not None and built.setup >= 1:
        text += f", after {format_duration(built.setup)} of checkout and set-up"
    if built.needs_git:
        text += ", with a .git in the tree because it failed without"
    if built.relinks:
        return f"{text}; later builds link again what this one compiled: about {format_duration(built.later)} each"
    why = say_why(built.full) if built.full is not None else ""
    # the price of each round goes by this one build
    slow = built.seconds >= _FIRST and built.compiled is None
    faster = " (faster ones, if this one downloaded or filled a cache)" if slow else ""
    return f"{text}; later builds are full ones{f', because {why}' if why else ''}{faster}"


def _failed(failure: Failure) -> list[Part]:
    """Write what a failure said last, what may help and how to repeat it."""
    said = [clip(line, _LONGEST) for line in last_lines(failure.stderr, _LAST) if line.strip()]
    parts: list[Part] = [Code("\n".join([*said, *([failure.hint] if failure.hint else [])]), copied=False)]
    if failure.command:
        first, *rest = failure.command.strip().splitlines()
        more = f" (and {plural(len(rest), 'line')} more)" if rest else ""
        parts.append(Code(f"command: {clip(visible(first), _COMMAND)}{more}"))
    return parts


def _refused(each: Tried) -> list[Part]:
    if not each.failures:
        return [
            Items(
                [f"{each.benchmark}: include and exclude leave none of the benchmarks that its command named"], "rest"
            )
        ]
    shown = each.failures[:_MOST_CASES]
    parts: list[Part] = [part for own in shown for part in (Items([title(own)], "rest"), *_failed(own))]
    more = len(each.failures) - _MOST_CASES
    return [*parts, Items([f"and {more} more of {each.benchmark}"] if more > 0 else [], "rest")]


def _cases(tried: Sequence[Tried]) -> list[Part]:
    cases = [case for each in tried for case in each.cases if case.decided]
    if not cases:
        return []
    head = [Column("case"), *(Column(name, right=True) for name in ("value", "spread", "values"))]
    several = len({case.metric for case in cases}) > 1
    rows = []
    for case in cases:
        name = f"{case.benchmark} {case.metric}" if several else case.benchmark
        spread = "exact" if case.exact else "" if case.spread is None else f"±{format_share(case.spread)}"
        value = format_value(case.mean, case.unit)
        rows.append(Row([*map(Cell, (visible(name), value, spread, f"{case.values:,}"))]))
    which = "values of one start" if all(case.executions == 1 for case in cases) else "values of the trial"
    return [Table(f"{which}; spread: standard deviation of one value", "", head, rows, most=_MOST_CASES)]


def _round(cost: RoundCost, built: Built | None, rules: Config) -> str:
    least = "at least" if cost.least else "about"
    text = (
        f"a round takes {least} {format_duration(cost.round)} (both sides: builds {format_duration(cost.builds)}, "
        f"starts {format_duration(cost.executions)})"
    )
    if cost.once >= 1:
        base = " for base (head's build is kept)" if built is not None and built.kept else ""
        text += f"; before the first, {format_duration(cost.once)} more{base}"
    budget = float(rules.plan.budget)
    if cost.of(1) > budget:
        text += (
            f". The first does not fit the budget of {format_duration(budget)}: raise plan.budget, or measure less "
            "(plan.executions, plan.iterations, a smaller input)"
        )
    return text


def _plans(plans: Plans, rules: Config, *, advises: bool) -> list[Part]:
    finding = "finds at least" if plans.basis == "one-build" else "finds"
    head = [Column("budget"), *(Column(name, right=True) for name in ("a side", "takes", finding))]
    fit = plans.fit
    rows = [_fit(fit), *([_fit(plans.leaner, ", leaner")] if plans.leaner is not None else [])]
    told = []
    if fit.finds is not None and fit.hardest is not None and plans.basis != "exact":
        told.append(f"What a check finds is that of the noisiest result, {visible(fit.hardest)}.")
    if fit.finds is not None and plans.basis == "one-build":
        told.append("Builds differ too, which one build does not show: a check may find only larger changes.")
    if fit.unknown and fit.hardest is not None:
        told.append(
            f"unknown: {visible(fit.hardest)} gave one value in the time of a trial, which shows no spread; a check "
            "will"
        )
    if fit.finds is None and not fit.unknown and fit.builds < rules.gate.min_builds:
        told.append(f"nothing: no regression is called after fewer than {plural(rules.gate.min_builds, 'build')}")
    called = f"the change that {POWER:.0%} of such checks call a regression"
    table = Table(f"plans: builds x starts x values, and {called}", "", head, rows)
    lean, paste = plans.leaner, list[Part]()
    if lean is not None and advises:
        told.append("For the leaner one, put this into the file:")
        starts = all(goes_by_starts(rules, each.name) for each in rules.benchmark)
        counts = f"executions = {lean.executions}\niterations = {lean.iterations}"
        paste = [Code(f"[plan]\n{f'starts = {lean.executions * lean.iterations}' if starts else counts}")]
    return [table, Items(told, "rest"), *paste]


def _fit(fit: Fit, whose: str = ", as configured") -> Row:
    budget = format_duration(fit.budget) + whose
    counts, takes = f"{fit.builds} x {fit.executions} x {fit.iterations}", format_duration(fit.seconds)
    if fit.builds == 0:
        return Row([*map(Cell, (budget, "no round", takes, "nothing"))])
    # what is lost of a rate is less than all of it
    finds = "unknown" if fit.unknown else "nothing"
    if fit.finds is not None:
        finds = format_share((1 + fit.finds if fit.better == "lower" else 1 / (1 + fit.finds)) - 1, sign=True)
    if fit.first < fit.builds:
        counts, takes = f"{fit.first} to {counts}", f"{format_duration(fit.sooner)} to {takes}"
    return Row([*map(Cell, (budget, counts, takes, finds))])


def _host(trial: Trial) -> str:
    if not trial.host:
        return "host: fit to measure on"
    problems = "; ".join(f"{check}: {value}" for check, value in trial.host.items())
    unfit = "unfit for wall time" if trial.host.keys() <= WAITS else "unfit"
    return f"host: {unfit}, {problems} (`perfgate doctor` shows more)"


def _next(trial: Trial, rules: Config) -> str:
    if trial.exit_code != 0:
        return "fix that, and run `perfgate try` again; a check would end with an error too"
    if any(each.longer_than is not None for each in trial.benchmarks):
        return "make it shorter and run `perfgate try` again, or run `perfgate check` if the time is right"
    plans = trial.plans
    if plans is None or plans.fit.finds is not None or plans.fit.unknown:
        return "perfgate check, once the code has changed"
    # what to change where the plan as configured finds nothing
    ways = ["put the leaner counts into the file"] if plans.leaner is not None else []
    if plans.enough is not None:
        ways.append(f'set `budget = "{Duration(plans.enough)}"` in [plan]')
        ways += ["measure fewer benchmarks (`--benchmark 'NAME*'`)"] if len(trial.benchmarks) > 1 else []
        ways += ["give the benchmarks less work"] if plans.enough > _LONG else []
    if most_builds(rules.plan) < rules.gate.min_builds:
        ways = [f"set `builds = {rules.gate.min_builds}` in [plan]: fewer call no regression"]
    ways = ways or [
        "the noise is too large for this plan: use a quieter host (`perfgate doctor`)",
        "give the benchmarks more work",
    ]
    nothing = f"a check within the budget of {format_duration(float(rules.plan.budget))} would find nothing"
    return f"{nothing}: {', or '.join(ways)}; then `perfgate check`"


def as_json(trial: Trial, rules: Config) -> str:
    """Write a trial as JSON: what does not exist is null; warnings are as in report.json."""
    table: dict[str, Any] = {"schema": SCHEMA, "exit_code": int(trial.exit_code), "headline": headline(trial)}
    table |= msgspec.to_builtins(trial)
    table["warnings"] = plain(trial.warnings)
    table["next"] = _next(trial, rules)
    return text_of(table)
