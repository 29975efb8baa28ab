"""Going on with a study: what may have changed since, what is left, and the sentences about a pause."""

from __future__ import annotations

import dataclasses
import math
import shlex
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from gate.commands.study.progress import begun_in, shares_in
from gate.config.replicates import extended
from gate.config.source import Path as Key
from gate.config.study import Study
from gate.config.treatments import builds_of
from gate.evidence.runs import config_of
from gate.model import SIDES, Execution, Record, Run, UserError
from gate.model.case import canonical
from gate.run.job import Earlier, Job
from gate.run.preview import expected_seconds
from gate.units import Duration, agree, format_duration, plural
from harness.loop.ledger import Ledger
from harness.loop.measure import Measured
from harness.loop.steps import ExecutionStep, Round

_FREE: tuple[Key, ...] = (
    *(("study", key) for key in ("budget", "replicates", "builds")),
    # what [study] makes of them
    *(("plan", key) for key in ("budget", "builds")),
)


def free_keys(past: Run, study: Study) -> Collection[Key]:
    """Return the keys that may differ when a study goes on, and those of which another key tells."""
    config = config_of(past)
    same = config is None or config.study is None or config.study.iterations == study.iterations
    return (*_FREE, *(() if same else (("plan", "iterations"),)))


def shares_now(past: Run, records: Sequence[Record], study: Study, out: Path) -> tuple[int, ...]:
    """Return the replicates of each round of a study that goes on; what its config leaves as it was stays as planned.

    Args:
        past: its first line.
        records: all lines.
        study: as it is configured now.
        out: the folder of the run.

    Raises:
        UserError: fewer replicates or builds than planned.
    """
    config = config_of(past)
    session = past.session or 0
    shares = shares_in(records, config, session)
    before = config.study if config is not None and config.study is not None else study
    if (study.replicates, builds_of(study)) == (before.replicates, builds_of(before)):
        return shares
    replicates = sum(shares) if study.replicates == before.replicates else study.replicates
    for key, was, now in (
        ("replicates", sum(shares), replicates),
        ("builds", builds_of(before), builds_of(study)),
    ):
        if now < was:
            why = f"study.{key} was {was}, is {now}; a study that has begun can have more {key}, not fewer"
            raise UserError(f"--resume: cannot continue the run in {out}: {why}")
    return extended(shares, begun_in(records, session), replicates, builds_of(study))


def of_the_rest(job: Job, records: Sequence[Record]) -> Job:
    """Return a job whose rounds are what is left to measure, and which knows what was measured earlier."""
    own = (b for side in SIDES for b in job.project.settings.sides[side].benchmark)
    suites = {benchmark.name for benchmark in own if benchmark.measured.suite}
    ledger = Ledger(records, job.session, suites, design=True)
    left = [(each, tuple(ledger.pending(each.executions))) for each in job.rounds]
    made = sum(ledger.is_made(step) for each in job.rounds for step in each.executions)
    open_ = {(step.build, step.execution) for _, steps in left for step in steps}
    replicates = sum(each.replicates for each in job.rounds)
    return dataclasses.replace(
        job,
        rounds=tuple(_left(each, steps) for each, steps in left if steps),
        earlier=Earlier(
            executions=made,
            planned=sum(len(each.executions) for each in job.rounds),
            replicates=replicates - len(open_),
            planned_replicates=replicates,
            rounds=len(job.rounds),
        ),
    )


def _left(each: Round, steps: tuple[ExecutionStep, ...]) -> Round:
    needed = {(step.side, canonical(step.building)) for step in steps}
    builds = tuple(build for build in each.builds if (build.side, canonical(build.factors)) in needed)
    return dataclasses.replace(each, builds=builds, executions=steps)


def paused(job: Job, measured: Measured, records: Sequence[Record]) -> list[str]:
    """Say that the budget ended, how far measuring came, and which command measures the rest at which cost."""
    rest = of_the_rest(job, records)
    budget = float(job.project.settings.rules.plan.budget)
    during = f" {measured.cut}" if measured.cut else ""
    complete = f"{measured.replicates} of {plural(measured.planned_replicates, 'replicate')}"
    is_ = agree(measured.replicates, "is", "are")
    lines = [f"paused: the budget of {format_duration(budget)} ended{during}; {complete} {is_} complete"]
    left = f"{plural(sum(len(each.executions) for each in rest.rounds), 'execution')} left"
    seconds = expected_seconds(rest)
    # of what never came to an end only a larger budget can tell
    more = seconds is None and not any(isinstance(record, Execution) for record in records)
    needed = 2 * budget if more else _rounded(_SLACK * (seconds or 0.0))
    cost = f"{left}, which take an unknown time" if seconds is None else f"{left}, about {format_duration(seconds)}"
    again = continuing(sys.argv[1:], Duration(needed) if needed > budget else None)
    if again is None:
        # in a workflow nothing is there to be continued
        lines.append(f"{cost}; raise study.budget{'' if seconds is None else f' to {Duration(budget + needed)}'}")
    else:
        alone = f" (--resume alone continues for another {format_duration(budget)})" if needed > budget else ""
        lines.append(f"{cost}; to measure them: {again}{'' if more else alone}")
    return lines


_SLACK = 1.2
"""What is left may take longer than what was measured."""
_STEPS = ((1, 10), (10, 60), (60, 600), (300, 3600), (900, math.inf))
"""Budgets below the second number of seconds are multiples of the first."""


def _rounded(seconds: float) -> float:
    step = next(step for step, below in _STEPS if seconds < below)
    return math.ceil(seconds / step) * step


def continuing(arguments: Sequence[str], budget: Duration | None = None) -> str | None:
    """Return a command line with --resume, and with a budget in place of its own; None: it is not of a study.

    arguments: of the command line without the program's name.
    """
    if arguments[:1] != ["study"]:
        return None
    words: list[str] = []
    for word in arguments:
        if budget is not None and word.removeprefix("--set=").startswith("study.budget="):
            if not word.startswith("--set="):
                words.pop()
        elif word != "--resume":
            words.append(word)
    return shlex.join(["perfgate", *words, "--resume", *(["--set", f"study.budget={budget}"] if budget else [])])
