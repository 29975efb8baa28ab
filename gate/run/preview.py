"""The preview of a run: what it will do and how long it takes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from gate.config.rules import most_builds
from gate.config.types import Builds
from gate.model.warnings import typed
from gate.model.warnings.hosts import UnfitHost
from gate.run.duration import schedule_seconds
from gate.run.job import Job
from gate.run.plan_warnings import quantile_warnings
from gate.run.treatments import treatment_name
from gate.units import format_duration
from gate.words.numbers import plural
from gate.words.reports import commit
from gate.words.sentences import say
from harness.loop.schedule import Round


def announce(job: Job) -> str:
    """Say in one line what will be measured and how long it is expected to take."""
    plan = job.project.settings.rules.plan
    benchmarks = job.project.settings.benchmarks
    both = sum(name in benchmarks["base"] for name in benchmarks["head"])
    sides = f"base {commit(job.run.base)} against head {commit(job.run.head)}"
    builds = plural(most_builds(plan), "build")
    if isinstance(plan.builds, Builds) and plan.builds.min < plan.builds.max:
        builds = f"{plan.builds.min} to {builds}"
    counts = (
        plural(both, "benchmark"),
        *([plural(job.treated.settings, "treatment")] if job.treated.planned else []),
        builds,
        plural(plan.executions, "execution"),
        plural(plan.iterations, "iteration"),
    )
    return f"{sides}: {' x '.join(counts)} a side, {expected(job)}"


def introduction(job: Job) -> list[str]:
    """Say what will be measured, as a gate, and what the plan already shows."""
    part = f"{job.part}: " if job.part else ""
    return [
        f"{part}{announce(job)}",
        *(f"warning: {warning}" for warning in (*_noticed(job), *forecast(job))),
    ]


def _noticed(job: Job) -> list[str]:
    # what the host was like when a run began that is resumed is in its report; what it is like now is told later
    return [say(warning) for warning in typed(job.run.warnings) if not isinstance(warning, UnfitHost)]


def forecast(job: Job) -> list[str]:
    """Say what the plan already shows: benchmarks that only one side has, quantiles that it is too small for."""
    benchmarks, missing = job.project.settings.benchmarks, job.project.settings.rules.gate.missing
    end = "the report will be an error" if missing == "fail" else "missing ones are allowed"
    return [
        *quantile_warnings(job.project.settings.rules),
        *(f"{name} is missing on head: {end}" for name in benchmarks["base"] if name not in benchmarks["head"]),
        *(
            f"{name} is new: tried once on head, not compared"
            for name in benchmarks["head"]
            if name not in benchmarks["base"]
        ),
    ]


def expected(job: Job) -> str:
    """Say how long the schedule takes, by the times of the last run of the same benchmarks."""
    budget = format_duration(float(job.project.settings.rules.plan.budget))
    seconds = expected_seconds(job)
    if seconds is None:
        return f"at most {budget} of measuring (the budget; no earlier run to estimate from)"
    if seconds > float(job.project.settings.rules.plan.budget):
        return f"cut at the budget of {budget}; all of it would take about {format_duration(seconds)}"
    return f"about {format_duration(seconds)} as in the last run, at most {budget} (the budget)"


def expected_seconds(job: Job) -> float | None:
    """Return how long the schedule takes in seconds, by the last run in its folder; None where that does not tell."""
    return schedule_seconds(job.rounds, job.out)


def write_schedule(job: Job, out: TextIO) -> None:
    """Print the whole schedule, a line a step."""
    if job.part:
        out.write(f"{job.part}\n")
    out.write(f"{announce(job)}\nbase and head: {job.run.chosen}\nrules: {job.run.rules}\nseed: {job.run.seed}\n")
    out.writelines(f"warning: {warning}\n" for warning in (*_noticed(job), *forecast(job)))
    for each in job.rounds:
        out.write(f"\nround {each.build + 1} of {len(job.rounds)}\n")
        out.writelines(
            f"  build    {build.side}  {treatment_name(f'seed {build.seed}', build.factors)}\n" for build in each.builds
        )
        if each.build == 0:
            out.writelines(_comparisons(job, each))
        out.writelines(
            f"  execute  {step.side}  {treatment_name(step.benchmark, step.factors)}\n" for step in each.executions
        )


def _comparisons(job: Job, first: Round) -> Iterable[str]:
    for b in job.project.settings.rules.benchmark:
        if b.same_output is not False and len({s.side for s in first.executions if s.benchmark == b.name}) > 1:
            what = "standard output" if b.same_output is True else b.same_output
            yield f"  compare  {b.name}: {what} of one execution a side, not measured\n"
