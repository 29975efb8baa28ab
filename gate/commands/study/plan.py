"""The plan of a study: factors, treatments, order, builds, time; as a document and as JSON."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import msgspec

from gate.commands.study.experiment import Experiment, tables_of
from gate.commands.study.forecast import forecast, fraction_json, fraction_text, power_json, power_text, powers
from gate.commands.study.options import StudyOptions
from gate.config.commands import mentions
from gate.config.fractions import fraction_of
from gate.config.treatments import SIDE, Planned, builds_of, settings_of, variable
from gate.document import document as doc
from gate.document import terminal
from gate.model.study import Setting
from gate.model.warnings import typed
from gate.report.outputs import write
from gate.run.job import Job, treatment_name
from gate.run.preview import command_lines, expected, expected_seconds
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
    tables = tables_of(design.study, factor)
    words = [text for key, text in _WORDS.items() if any(getattr(t, key) not in (None, []) for t in tables.values())]
    for key, text in (("env", "environment"), ("build_env", "environment of builds")):
        names = sorted({name for table in tables.values() for name in getattr(table, key)})
        words += [f"{text} {', '.join(names)}"] if names else []
    # say where {factor} stands
    settings = design.project.settings
    commands = [b for b in settings.rules.benchmark if b.name in design.benchmarks]
    gives: Mapping[str, object] = {"benchmarks": commands, "factors": design.study.factor}
    if f"{{{factor}}}" in msgspec.json.encode(gives, enc_hook=str).decode():
        words.append(f"{{{factor}}} in commands")
    if any(mentions(config.build.command, factor) for config in settings.sides.values()):
        words.append(f"{{{factor}}} in the [build] command")
    return words or [f"environment {variable(factor)}"]


_LINES = 40
"""Combinations left out that are shown."""


def introduction(design: Experiment, job: Job) -> str:
    """Say in one line what will be measured, and how long it is expected to take."""
    head = f"head {commit(job.run.head)}"
    sides = head if job.run.base is None else f"base {commit(job.run.base)} and {head}"
    executions, earlier = plural(_executions(job), "start"), job.earlier
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


def _executions(job: Job) -> int:
    return sum(len(each.executions) for each in job.rounds)


def _made(job: Job) -> int:
    return sum(len(each.builds) for each in job.rounds)


def warnings_of(design: Experiment, job: Job) -> list[str]:
    """Return what to know before measuring: what the run line says, and what the plan lacks."""
    sessions = job.part.sessions if job.part else None
    return [*(each.sentence() for each in typed(job.run.warnings)), *forecast(design, job.treated.planned, sessions)]


def write_plan(design: Experiment, job: Job, options: StudyOptions, out: TextIO) -> None:
    """Print the plan, or write it as JSON where the options say so. Raises UserError: the file cannot be written."""
    text = json.dumps(as_json(design, job), indent=2, ensure_ascii=False) + "\n" if options.json is not None else ""
    if options.json == "-":
        out.write(text)
        return
    out.write(terminal.render(document(design, job, every=options.every), terminal.screen(out)))
    if options.json is not None:
        write(Path(options.json), text)


# --- document -------------------------------------------------------------------------------------------------------


def document(design: Experiment, job: Job, *, every: bool) -> doc.Document:
    """Say what will be measured; every: with the order of all executions."""
    run = job.run
    runner = (job.run.host or {}).get("runner")
    words = [*([str(job.part)] if job.part else []), *([f"runner {runner}"] if runner else [])]
    begins = [introduction(design, job), *([f"job: {', '.join(words)}"] if words else [])]
    begins += [f"{'sides: ' if run.base else ''}{run.chosen}", f"rules: {run.rules}", f"seed: {run.seed}"]
    rows = [
        [f.name, ", ".join(map(str, f.settings)), "; ".join(means(design, f.name)), f.varies] for f in design.factors
    ]
    commands = "\n".join(command_lines(job)).split("\n\n")
    order: doc.Part = doc.Items(["`--all` prints the order with its seeds"], "rest")
    parts: list[doc.Part] = [
        doc.Items(begins, "told"),
        doc.Items(warnings_of(design, job), "warning"),
        _table("factors", ["factor", "settings", "what they change", "differs between"], rows),
        *fraction_text(fraction_of(design.study)),
        doc.Items(power_text(powers(design, job.part.sessions if job.part else None)), "told"),
        *_treatments(design, job),
        doc.Items(_builds(design, job), "told"),
        *map(doc.Code, commands),
        doc.Code("\n".join(_order(design, job))) if every else order,
    ]
    return doc.Document("perfgate study", "plan", [[part] for part in parts], "in --json", "")


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> doc.Table:
    return doc.Table(title, "", [*map(doc.Column, head)], [doc.Row([*map(doc.Cell, row)]) for row in rows])


def _treatments(design: Experiment, job: Job) -> list[doc.Part]:
    here, every = job.treated.planned, design.planned
    names = list(design.study.factor)
    rows = [[str(each.number + 1), *(str(whole(each)[name]) for name in names)] for each in here]
    # a fraction leaves out what it is a fraction of
    excluded = [] if fraction_of(design.study) else excluded_of(design)
    of = f" of the {len(every)} of the study" if len(here) < len(every) else ""
    left = [settings_text(each) for each in excluded[:_LINES]]
    left += [f"... {len(excluded) - _LINES} more"] if len(excluded) > _LINES else []
    return [
        _table(f"{plural(len(here), 'treatment')}{of}", ["", *names], rows),
        doc.Items(left, "told", f"{plural(len(excluded), 'combination')} left out"),
    ]


def whole(planned: Planned) -> dict[str, Setting]:
    """Return all settings of a treatment, side among them."""
    return {SIDE: planned.side, **planned.settings}


def excluded_of(design: Experiment) -> list[dict[str, Setting]]:
    """Return the combinations of settings that are no treatments."""
    factors = {name: settings_of(table) for name, table in design.study.factor.items()}
    planned = {tuple(whole(each)[name] for name in factors) for each in design.planned}
    every = itertools.product(*factors.values())
    return [dict(zip(factors, each, strict=True)) for each in every if each not in planned]


def _builds(design: Experiment, job: Job) -> list[str]:
    builds, replicates = builds_of(design.study), design.study.replicates
    built = list(dict.fromkeys(_built(design, each.side, each.building) for each in job.treated.planned))
    each = f", each of {'; '.join(built)}" if len(built) > 1 else ""
    made, executions = (plural(count, noun) for count, noun in ((_made(job), "build"), (_executions(job), "start")))
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


def _order(design: Experiment, job: Job) -> list[str]:
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
    return lines


# --- JSON -----------------------------------------------------------------------------------------------------------


def as_json(design: Experiment, job: Job) -> dict[str, Any]:
    """Return the plan as it is written with --json; times in seconds."""
    return {
        "benchmarks": list(design.benchmarks),
        "factors": [
            {"name": f.name, "settings": f.settings, "varies": f.varies, "changes": means(design, f.name)}
            for f in design.factors
        ],
        "treatments": [
            {"number": each.number, "side": each.side, "settings": dict(each.settings)} for each in job.treated.planned
        ],
        "all_treatments": len(design.planned),
        "excluded": [] if fraction_of(design.study) else excluded_of(design),
        "fraction": fraction_json(fraction_of(design.study)),
        "power": power_json(powers(design, job.part.sessions if job.part else None)),
        "replicates": design.study.replicates,
        "rounds": builds_of(design.study),
        "iterations": job.project.settings.rules.plan.iterations,
        "builds": _made(job),
        "executions": _executions(job),
        "measured": job.earlier.executions if job.earlier else 0,
        "session": job.session,
        "sessions": job.part.sessions if job.part else 1,
        "runner": (job.run.host or {}).get("runner"),
        "seed": job.run.seed,
        "expected": expected_seconds(job),
        "budget": float(design.study.budget),
        "order": [
            {
                "round": each.build,
                "builds": [{"side": b.side, "factors": dict(b.factors), "seed": b.seed} for b in each.builds],
                "executions": [
                    {name: getattr(step, name) for name in ("order", "benchmark", "side", "treatment", "execution")}
                    for step in each.executions
                ],
            }
            for each in job.rounds
        ],
        "warnings": warnings_of(design, job),
    }
