"""What `--strict` asks of the host: what the views that decide need, not that it is quiet as such."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from statistics import median

from gate.codes import Exit
from gate.config.rules import is_decided
from gate.model import Execution, Record, UserError
from gate.model.names import ACTIVE, ONE_TASK
from gate.model.warnings.base import Said
from gate.run.job import Job, by_starts
from gate.run.workshop import direct
from harness.host.fitness.examination import problems
from harness.host.shims import shims
from harness.instruments.declaration import declared
from harness.loop.measure import Append
from harness.process.execute import clean_environment


class UnfitError(UserError):
    """The host is unfit and --strict was given."""

    exit_code = Exit.UNFIT


def refuse_unfit(problems: Sequence[str], why: str = "") -> None:
    """Refuse to measure where there are problems.

    problems: as `problems` names them. why: what they mislead; empty: whatever is measured.

    Raises: UnfitError: there are some; one line that names them.
    """
    if problems:
        raise UnfitError(
            f"this host is unfit to measure on: {why}{'; '.join(problems)}; `perfgate doctor` shows more; "
            "without --strict, perfgate measures anyway"
        )


def refuse_unfit_for(job: Job) -> None:
    """Refuse a host that is unfit for what may decide a job, before anything is moved or written.

    Active time leaves out what a program waits for a processor, so a busy host is fit for commands that have it.

    Raises: UnfitError: it is unfit.
    """
    both = {name for names in job.project.settings.benchmarks.values() for name in names}
    refuse_unfit(problems(waits=bool(both - set(_by_active(job)))))


def strictly(job: Job, append: Append) -> Append:
    """Append records, and look at the host once more where a command turns out to be decided by its wall time.

    Whether one task does the work, so that active time decides, only its starts tell.
    """
    unknown = set(_by_active(job))

    def strict(*records: Record) -> None:
        append(*records)
        executed = [each for each in records if isinstance(each, Execution) and each.benchmark in unknown]
        for name in sorted({each.benchmark for each in executed}):
            unknown.remove(name)
            own = [each for each in executed if each.benchmark == name]
            if any(ACTIVE not in each.metrics for each in own) or median(each.own or 0.0 for each in own) < ONE_TASK:
                refuse_unfit(problems(), f"{name} has no active time that could decide, so wall time does, and ")

    return strict


def _by_active(job: Job) -> Collection[str]:
    rules = job.project.settings.rules
    return [name for name in by_starts(job) if is_decided(rules, name, ACTIVE, "time", sharp=True)]


def shim_warnings(job: Job) -> list[Said]:
    """Name the shims among the commands whose start is measured; a suite's values do not hold its own start."""
    head = job.project.settings.sides["head"]
    environment = direct(job.project, clean_environment(os.environ, head.env.pass_, head.env.set))
    every = job.project.settings.rules.benchmark
    commands = {each.name: each.command for each in every if declared(each.instrument).any_command}
    found = shims(environment, job.project.repository.project, commands)
    told = []
    for each, names in found.items():
        shim = f"{', '.join(names)}: {each.path} is a shim of {each.manager}, whose own time is part of every start"
        # the manager may not tell
        behind = f"{each.program} in the command" if each.program else "the program behind it"
        told.append(Said(f"{shim}: name {behind}", "started-by-shim"))
    return told
