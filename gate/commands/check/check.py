"""perfgate check: measure, decide and report on this checkout."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from gate.cli.groups import MeasureOptions, OutputOptions, RulesOptions
from gate.codes import Exit
from gate.commands.measure.measure import measure_here
from gate.decide.measurements import decide_by, looking
from gate.decide.policy import policy_at
from gate.evidence.inputs import read_inputs
from gate.model import UserError
from gate.report.outputs import fill, refuse_inputs, require_writable, show, targets, write_asked
from gate.run.folder import records_of
from gate.run.measuring import Job
from gate.run.memory import append_check


def run(options: MeasureOptions, rules: RulesOptions, outputs: OutputOptions, out: TextIO, err: TextIO) -> int:
    """Measure base and head, decide, fill the run's folder, print the report and return its exit code."""
    # found out now, not after a quarter of an hour of measuring
    require_writable(outputs)
    unprinted: OSError | None = None

    def conclude(folder: Path, job: Job) -> int:
        # the run line holds the same rules, options included
        policy = policy_at(job.run, job.project.settings.rules)
        decided = decide_by(read_inputs([str(folder)]), policy, RulesOptions(None, None, (), ()))
        # first what cannot fail: a disk that is full by now must not cost the verdict
        nonlocal unprinted
        try:
            show(decided, outputs, out)
            out.flush()
        except OSError as error:
            unprinted = error
        try:
            fill(folder, decided)
            refuse_inputs([folder], targets(outputs))
            write_asked(decided, outputs)
        except UserError as error:
            err.write(f"perfgate: {error}; the measurements are kept, `perfgate report {folder}` writes it again\n")
            return decided.report.exit_code or Exit.USAGE
        err.writelines(
            f"perfgate: warning: {warning}\n"
            for warning in append_check(options.history, job.project, job.run, records_of(folder))
        )
        if not outputs.quiet:
            err.write(f"perfgate: report in {folder / 'report.html'}\n")
        return decided.report.exit_code

    code = measure_here(
        options, rules, targets(outputs), out, err, quiet=outputs.quiet, conclude=conclude, looks=looking
    )
    if isinstance(unprinted, BrokenPipeError):
        raise unprinted
    if unprinted is not None:
        err.write(f"perfgate: standard output: {unprinted.strerror}; `perfgate report` prints the report again\n")
        return Exit.ERROR
    return code
