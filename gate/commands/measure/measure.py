"""perfgate measure: measurements of this checkout, without a decision."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TextIO

from gate.cli.groups import MeasureOptions, RulesOptions
from gate.codes import Exit
from gate.config.types import Config
from gate.evidence.inputs import DEFAULT_FOLDER
from gate.model import AfterRound, Execution, Failure, Run
from gate.report.outputs import make_folder
from gate.run.folder import MEASUREMENTS, outputs_in, records_of
from gate.run.interruption import folder_of, guarded
from gate.run.measuring import Job, execute, prepare
from gate.run.preview import announce, forecast, write_schedule
from gate.run.project import open_project
from gate.run.refusal import refuse_unsafe
from gate.run.treatments import named
from gate.words.warnings import texts


def run(options: MeasureOptions, rules: RulesOptions, out: TextIO, err: TextIO, *, quiet: bool) -> int:
    """Measure base and head; 0, or 4 when something failed or nothing was measured."""

    def conclude(folder: Path, job: Job) -> int:
        records = records_of(folder)
        failures = [r for r in records if isinstance(r, Failure)]
        executions = sum(isinstance(r, Execution) for r in records)
        err.writelines(
            f"perfgate: {named(failure.benchmark or 'the build', failure.factors)} failed on {failure.side}: "
            f"{failure.status}\n"
            for failure in failures
        )
        more = f", with the other parts: this is {job.part}" if job.part else ""
        out.write(f"{executions} executions in {folder / MEASUREMENTS}; `perfgate decide {folder}` decides{more}\n")
        # a shard may have nothing that both sides have; who decides over all shards sees that
        idle = job.part is not None and not any(each.executions for each in job.rounds)
        return Exit.ERROR if failures or not (executions or idle) else 0

    return measure_here(options, rules, (), out, err, quiet=quiet, conclude=conclude)


def _no_looks(_: Run, __: Config) -> AfterRound | None:
    return None


def measure_here(
    options: MeasureOptions,
    rules: RulesOptions,
    outputs: Collection[Path],
    out: TextIO,
    err: TextIO,
    *,
    quiet: bool,
    conclude: Callable[[Path, Job], int],
    looks: Callable[[Run, Config], AfterRound | None] = _no_looks,
    judged: bool = False,
) -> int:
    """Measure the project around the working directory, and conclude on the folder of the run.

    outputs: files that will be written beside the folder. looks: gives what is asked between rounds. judged: whether
    this may run in a workflow has been asked already. Returns what conclude does; 0 after --dry-run, 4 when the
    measurements could not be written, 128 + signal after an interruption.

    Raises:
        RefusedError: it may not run in this workflow.
    """
    if not judged:
        refuse_unsafe()
    folder: Path | None = options.out

    def measure() -> int:
        nonlocal folder
        written = [*outputs, *(outputs_in(folder) if folder else [])]
        project = open_project(options.base, options.head, rules, written)
        place = folder = folder or Path(os.path.relpath(project.repository.project / DEFAULT_FOLDER))
        job = prepare(project, options, place, gates=True)
        if options.dry_run:
            out.write(f"{job.part}\n" if job.part else "")
            write_schedule(job, out)
            return 0
        make_folder(place)
        if not quiet:
            _introduce(job, err)
        asked = looks(job.run, job.project.settings.rules)
        return execute(job, options, err, quiet=quiet, then=lambda: conclude(place, job), after_round=asked)

    return guarded(measure, lambda: folder_of(folder, Path(DEFAULT_FOLDER), resume=options.resume), err)


def _introduce(job: Job, err: TextIO) -> None:
    err.write(f"perfgate: {f'{job.part}: ' if job.part else ''}{announce(job)}\n")
    err.writelines(f"perfgate: warning: {warning}\n" for warning in (*texts(job.run.warnings), *forecast(job)))
    err.flush()
