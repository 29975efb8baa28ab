"""perfgate check: measure, decide and report on this checkout."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from gate.cli.groups import OutputOptions, RulesOptions
from gate.codes import Exit
from gate.commands.check.command import Options
from gate.commands.check.given import with_given
from gate.config.rules import matches
from gate.decide.policy import policy_at
from gate.decide.report import Decided, decide_by
from gate.decide.stopping import interim_check
from gate.evidence.lines import Inputs
from gate.evidence.records import DEFAULT_FOLDER, read_inputs
from gate.model import UserError
from gate.model.records import Failure, Same
from gate.planning.deciding import next_plan
from gate.report.outputs import fill, refuse_inputs, require_writable, show, targets, whole, write_asked
from gate.run.job import Job
from gate.run.measuring import open_run
from gate.run.memory import append_check
from gate.run.preview import introduction, write_preview
from gate.run.refusal import refuse_unsafe
from gate.run.run_folder import records_of


def run(asked: Options, out: TextIO, err: TextIO) -> int:
    """Measure base and head, decide, fill the run's folder, print the report and return its exit code."""
    options, outputs = asked.measuring, asked.outputs
    rules = with_given(asked.given, options, asked.rules, err)
    # found out now, not after a quarter of an hour of measuring
    require_writable(outputs)
    refuse_unsafe()
    with open_run(options, Path(DEFAULT_FOLDER), err, quiet=outputs.quiet) as run:
        job = run.lay_out(rules, targets(outputs))
        if options.dry_run:
            write_preview(job, out, explains=True)
            return 0
        run.begin(job, introduction(job))
        config = job.project.settings.rules
        job, _ = run.measure(job, interim_check, explains=True)
        inputs = read_inputs([str(job.out)])
        err.writelines(f"perfgate: warning: {warning}\n" for warning in _unmatched(rules.benchmarks, job, inputs))
        # the config holds what the options set, so they are not applied again
        decided = decide_by(inputs, policy_at(job.run, config), RulesOptions(), next_plan)
        # first what cannot fail: a disk that is full by now must not cost the verdict
        unprinted = None
        try:
            show(decided, outputs, out, whole=whole(job.out))
            out.flush()
        except OSError as error:
            unprinted = error
        code = _keep(decided, job, options.history, outputs, err)
    if unprinted is None:
        return code
    if isinstance(unprinted, BrokenPipeError):
        raise unprinted
    err.write(f"perfgate: standard output: {unprinted.strerror}; `perfgate report` prints the report again\n")
    return Exit.ERROR


def _unmatched(globs: Sequence[str], job: Job, inputs: Inputs) -> list[str]:
    """Say which globs named no case of a suite: only running it shows its cases.

    Raises: UserError: none of them did, and nothing else was measured.
    """
    records = [located.record for located in inputs.records]
    settings = job.project.settings
    names = {*(b.name for b in settings.rules.benchmark), *settings.renamed}
    ran = {name for record in records if (name := getattr(record, "benchmark", None))}
    unmatched = [glob for glob in globs if not any(matches(glob, name) for name in (*names, *ran))]
    # the cases of a suite that failed or was proved identical are not known
    if not unmatched or any(isinstance(record, (Failure, Same)) for record in records):
        return []
    if not ran:
        why = f"no case of {', '.join(sorted(names))} has such a name, so nothing was measured"
        raise UserError(f"{' '.join(unmatched)}: {why}", option="benchmark")
    return [f"--benchmark {glob}: no case that ran has such a name" for glob in unmatched]


def _keep(decided: Decided, job: Job, history: Path | None, outputs: OutputOptions, err: TextIO) -> int:
    """Write the report into the folder of the run and where it was asked for, and remember the run."""
    try:
        fill(job.out, decided)
        refuse_inputs([job.out], targets(outputs))
        write_asked(decided, outputs)
    except UserError as error:
        err.write(f"perfgate: {error}; the measurements are kept, `perfgate report {job.out}` writes it again\n")
        return decided.report.exit_code or Exit.ERROR
    records = records_of(job.out)
    # two given programs belong to no project, so there is no history to add to
    two_programs = job.project.compares_programs
    warnings = [] if two_programs else append_check(history, job.project, job.run, records)
    if job.run.creep is not None:
        from gate.run.creep import append_night

        warnings += append_night(history, job.project, job.run, records)
    err.writelines(f"perfgate: warning: {warning}\n" for warning in warnings)
    if not outputs.quiet:
        err.write(f"perfgate: report in {job.out / 'report.html'}\n")
        known = decided.report.explanations or decided.report.unprofiled
        regressed = any(finding.verdict == "regression" for finding in decided.report.findings)
        # of the usual folder the report itself names the command
        if regressed and not known and job.out != Path(DEFAULT_FOLDER) and not two_programs:
            err.write(f"perfgate: `perfgate explain {shlex.quote(str(job.out))}` names the functions behind it\n")
    return decided.report.exit_code
