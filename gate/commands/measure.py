"""perfgate measure: measurements of this checkout, without a decision."""

from __future__ import annotations

from typing import TextIO

from gate.commands.interrupt import Interrupted
from gate.commands.measuring import execute, prepare
from gate.commands.options import MeasureOptions, RulesOptions
from gate.commands.plan_text import announce, write_schedule
from gate.commands.project import open_project
from gate.commands.runs import MEASUREMENTS, records_of
from gate.model import Execution, Failure

EXIT_ERROR = 4


def run(options: MeasureOptions, rules: RulesOptions, out: TextIO, err: TextIO, *, quiet: bool) -> int:
    """Measure base and head; 0, or 4 when something failed or nothing was measured."""
    ended = measure_here(options, rules, out, err, quiet=quiet)
    if ended is not None:
        return ended
    records = records_of(options.out / MEASUREMENTS)
    failures = [r for r in records if isinstance(r, Failure)]
    executions = sum(isinstance(r, Execution) for r in records)
    err.writelines(
        f"perfgate: {failure.benchmark or 'the build'} failed on {failure.side}: {failure.status}\n"
        for failure in failures
    )
    out.write(f"{executions} executions in {options.out / MEASUREMENTS}; `perfgate decide {options.out}` decides\n")
    return EXIT_ERROR if failures or not executions else 0


def measure_here(options: MeasureOptions, rules: RulesOptions, out: TextIO, err: TextIO, *, quiet: bool) -> int | None:
    """Measure the project around the working directory; an exit code where the command ends with that.

    That is 0 after --dry-run, 4 when the measurements could not be written, 128 + signal after an interruption.
    """
    project = open_project(options.base, options.head, rules)
    job = prepare(project, options)
    if options.dry_run:
        write_schedule(job, options.out, out)
        return 0
    if not quiet:
        err.write(f"perfgate: {announce(job, options.out)}\n")
        err.writelines(f"perfgate: warning: {warning}\n" for warning in job.run.warnings)
        err.flush()
    try:
        execute(job, options, err, quiet=quiet)
    except Interrupted as interrupted:
        err.write(f"perfgate: {interrupted}: {_kept(options)}\n")
        return interrupted.exit_code
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)
        err.write(f"perfgate: {what}: {_kept(options)}\n")
        return EXIT_ERROR
    return None


def _kept(options: MeasureOptions) -> str:
    file = options.out / MEASUREMENTS
    try:
        executions = sum(isinstance(record, Execution) for record in records_of(file))
    except OSError:
        return "nothing was measured yet"
    return f"{executions} executions are kept in {file}; the same command with --resume goes on"
