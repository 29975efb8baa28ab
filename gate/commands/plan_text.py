"""What will be done and how long it takes, before it is done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import TextIO

from gate.commands.measuring import Job
from gate.commands.plan_warnings import most_builds, quantile_warnings
from gate.commands.runs import MEASUREMENTS
from gate.config.types import Builds
from gate.model import SIDES, Build, Execution, Record, UserError
from gate.records import read
from gate.report.wording import commit, plural
from gate.units import format_duration
from harness.schedule import Round


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
        builds,
        plural(plan.executions, "execution"),
        plural(plan.iterations, "iteration"),
    )
    return f"{sides}: {' x '.join(counts)} a side, {expected(job)}"


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
    seconds = _seconds(job.rounds, _last(job.out))
    if seconds is None:
        return f"at most about {budget} (the budget; no earlier run to tell better)"
    if seconds > float(job.project.settings.rules.plan.budget):
        return f"cut at the budget of {budget}; all of it would take about {format_duration(seconds)}"
    return f"about {format_duration(seconds)} as in the last run, at most {budget}"


def _last(folder: Path) -> list[Record]:
    file = folder / MEASUREMENTS
    try:
        return [located.record for located in read(str(file), file.read_bytes()).records]
    except (OSError, UserError):
        return []


def _seconds(rounds: Sequence[Round], records: Iterable[Record]) -> float | None:
    builds: dict[str, list[float]] = {side: [] for side in SIDES}
    executions: dict[str, list[float]] = {}
    for record in records:
        if isinstance(record, Build) and record.seconds is not None:
            builds[record.side].append(record.seconds)
        elif isinstance(record, Execution) and record.seconds is not None:
            # the lines of a suite's execution share its time
            own = record.seconds * (record.lines or 1)
            executions.setdefault(record.suite or record.benchmark, []).append(own)
    needed = {step.benchmark for each in rounds for step in each.executions}
    if not all(builds.values()) or not needed <= executions.keys():
        return None
    total = sum(fmean(builds[step.side]) for each in rounds for step in each.builds)
    return total + sum(fmean(executions[step.benchmark]) for each in rounds for step in each.executions)


def write_schedule(job: Job, out: TextIO) -> None:
    """Print the whole schedule, a line a step."""
    out.write(f"{announce(job)}\nbase and head: {job.run.chosen}\nrules: {job.run.rules}\nseed: {job.run.seed}\n")
    out.writelines(f"warning: {warning}\n" for warning in (*job.run.warnings, *forecast(job)))
    for each in job.rounds:
        out.write(f"\nround {each.build + 1} of {len(job.rounds)}\n")
        out.writelines(f"  build    {build.side}  seed {build.seed}\n" for build in each.builds)
        out.writelines(f"  execute  {step.side}  {step.benchmark}\n" for step in each.executions)
