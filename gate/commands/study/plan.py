"""The plan of a study: factors, treatments, order, builds, time; as a document."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import msgspec

from gate.commands.study.experiment import Experiment
from gate.commands.study.forecast import forecast, fraction_text, power_text, powers
from gate.config.commands import mentions
from gate.config.fractions import fraction_of
from gate.config.treatments import SIDE, Planned, builds_of, settings_of, variable
from gate.document import document as doc
from gate.model.study import Setting
from gate.model.warnings import typed
from gate.run.job import Job, treatment_name
from gate.run.preview import command_lines, expected
from gate.units import agree, plural
from gate.words.effects import settings_text
from gate.words.reports import commit

_WORDS = {
    "prefix": "prefix of the command", "args": "arguments", "service": "service", "load": "load", "cpus": "processors",
    "priority": "priority", "runner": "runner", "session": "session",
}  # fmt: skip


def means(design: Experiment, factor: str) -> list[str]:
    """Say what the settings of a factor change: ["load", "environment MODE", "{clients} in commands"]."""
    if factor == SIDE:
        return ["the side"]
    settings = design.study.factor[factor]
    tables = [*settings.values()] if isinstance(settings, dict) else []
    words = [text for key, text in _WORDS.items() if any(getattr(t, key) not in (None, []) for t in tables)]
    for key, text in (("env", "environment"), ("build_env", "environment of builds")):
        names = sorted({name for table in tables for name in getattr(table, key)})
        words += [f"{text} {', '.join(names)}"] if names else []
    # say where {factor} stands
    commands = [b for b in design.project.settings.rules.benchmark if b.name in design.benchmarks]
    gives: Mapping[str, object] = {"benchmarks": commands, "factors": design.study.factor}
    if f"{{{factor}}}" in msgspec.json.encode(gives, enc_hook=str).decode():
        words.append(f"{{{factor}}} in commands")
    if any(mentions(config.build.command, factor) for config in design.project.settings.sides.values()):
        words.append(f"{{{factor}}} in the [build] command")
    return words or [f"environment {variable(factor)}"]


_LINES = 40
"""Combinations left out that are shown."""


def introduction(design: Experiment, job: Job) -> str:
    """Say in one line what will be measured, and how long it is expected to take."""
    head = f"head {commit(job.run.head)}"
    sides = head if job.run.base is None else f"base {commit(job.run.base)} and {head}"
    executions, earlier = plural(sum(len(each.executions) for each in job.rounds), "start"), job.earlier
    if earlier is None:
        benchmarks, treatments = plural(len(design.benchmarks), "benchmark"), len(job.treated.planned)
        of = f"{benchmarks} x {plural(treatments, 'treatment')} x {plural(design.study.replicates, 'replicate')}"
        iterations = plural(job.project.settings.rules.plan.iterations, "value")
        return f"study of {sides}: {of} = {executions} of {iterations}, {expected(job)}"
    planned = plural(earlier.planned_replicates, "replicate")
    if not job.rounds:
        left = f"nothing is left of its {planned}; `--set study.replicates=N` adds more"
    else:
        complete = f"{earlier.replicates} of {planned} {agree(earlier.replicates, 'is', 'are')} complete"
        left = f"{complete}, {executions} left, {expected(job)}"
    return f"study of {sides} goes on: {left}"


def warnings_of(design: Experiment, job: Job) -> list[str]:
    """Return what to know before measuring: what the run line says, and what the plan lacks."""
    sessions = job.part.sessions if job.part else None
    return [*(each.sentence() for each in typed(job.run.warnings)), *forecast(design, job.treated.planned, sessions)]


def document(design: Experiment, job: Job, *, every: bool) -> doc.Document:
    """Say what will be measured; every: with the order of all executions."""
    run, study, here = job.run, design.study, job.treated.planned
    runner = (run.host or {}).get("runner")
    words = [*([str(job.part)] if job.part else []), *([f"runner {runner}"] if runner else [])]
    begins = [introduction(design, job), *([f"job: {', '.join(words)}"] if words else [])]
    begins += [f"{'sides: ' if run.base else ''}{run.chosen}", f"rules: {run.rules}", f"seed: {run.seed}"]
    rows = [
        [f.name, ", ".join(map(str, f.settings)), "; ".join(means(design, f.name)), f.varies] for f in design.factors
    ]
    factors = {name: settings_of(table) for name, table in study.factor.items()}

    def settings(planned: Planned) -> tuple[Setting, ...]:
        return tuple({SIDE: planned.side, **planned.settings}[name] for name in factors)

    # a fraction leaves out what it is a fraction of
    fraction, measured = fraction_of(study), {settings(each) for each in design.planned}
    combinations = () if fraction else itertools.product(*factors.values())
    left = [settings_text(dict(zip(factors, e, strict=True))) for e in combinations if e not in measured]
    more = [f"... {len(left) - _LINES} more"] if len(left) > _LINES else []
    of = f" of the {len(design.planned)} of the study" if len(here) < len(design.planned) else ""
    treatments = [[str(each.number + 1), *map(str, settings(each))] for each in here]
    parts: list[doc.Part] = [
        doc.Items(begins, "told"),
        doc.Items(warnings_of(design, job), "warning"),
        _table("factors", ["factor", "settings", "what they change", "differs between"], rows),
        *fraction_text(fraction),
        doc.Items(power_text(powers(design, job.part.sessions if job.part else None)), "told"),
        _table(f"{plural(len(here), 'treatment')}{of}", ["", *factors], treatments),
        doc.Items([*left[:_LINES], *more], "told", f"{plural(len(left), 'combination')} left out"),
        doc.Items(_builds(design, job), "told"),
        *map(doc.Code, "\n".join(command_lines(job)).split("\n\n")),
        doc.Code(_order(design, job)) if every else doc.Items(["`--all` prints the order with its seeds"], "rest"),
    ]
    return doc.Document("perfgate study", "plan", [[part] for part in parts], "", "")


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> doc.Table:
    return doc.Table(title, "", [*map(doc.Column, head)], [doc.Row([*map(doc.Cell, row)]) for row in rows])


def _builds(design: Experiment, job: Job) -> list[str]:
    builds, replicates = builds_of(design.study), design.study.replicates
    built = list(dict.fromkeys(_built(design, each.side, each.building) for each in job.treated.planned))
    each = f", each of {'; '.join(built)}" if len(built) > 1 else ""
    made = plural(sum(len(each.builds) for each in job.rounds), "build")
    executions = plural(sum(len(each.executions) for each in job.rounds), "start")
    if job.earlier is not None:
        open_ = job.earlier.planned_replicates - job.earlier.replicates
        return [
            f"measured: {job.earlier.executions:,} of {plural(job.earlier.planned, 'start')}",
            f"left: {plural(open_, 'replicate')} in {plural(len(job.rounds), 'round')} of builds: {made}, {executions}",
            f"expected time: {expected(job) if job.rounds else 'none'}",
        ]
    return [
        f"{plural(builds, 'round')} of builds{each}: {made} in all",
        f"{plural(replicates, 'replicate')}, each of every treatment once, in random order: {executions} in all",
        f"expected time: {expected(job)}",
    ]


def _built(design: Experiment, side: str, factors: Mapping[str, Setting]) -> str:
    words = [side] if len(design.sides) > 1 else []
    return " ".join([*words, settings_text(factors)]) or side


def _order(design: Experiment, job: Job) -> str:
    lines, number = ["order"], job.earlier.replicates if job.earlier else 0
    rounds = job.earlier.rounds if job.earlier else len(job.rounds)
    several = len(design.sides) > 1
    for round_ in job.rounds:
        builds = [f"  build    {_built(design, b.side, b.factors)}  seed {b.seed}" for b in round_.builds]
        for _, steps in itertools.groupby(round_.executions, key=lambda step: step.execution):
            number += 1
            place = f"iteration {number} of {design.study.replicates}, round {round_.build + 1} of {rounds}"
            lines += [place, *builds]
            builds = []
            for step in steps:
                side = f" on {step.side}" if several else ""
                lines.append(f"  execute  {treatment_name(step.benchmark, step.factors)}{side}")
    return "\n".join(lines)
