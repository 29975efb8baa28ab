"""perfgate study and perfgate study measure: measure the treatments of a study, and analyse them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TextIO

import msgspec

from gate.cli.groups import OutputOptions, RulesOptions
from gate.codes import Exit
from gate.commands.study import experiment
from gate.commands.study.options import AnalyseOptions, StudyOptions
from gate.commands.study.plan import document, introduction, warnings_of
from gate.config.config_text import Path as Key
from gate.config.rules import is_single
from gate.config.shards import JobPart, part_of, refuse_other_part
from gate.config.treatments import PlannedTreatment, bound_runners, bound_sessions, measured_by, shares_of
from gate.document import terminal
from gate.evidence.records import DEFAULT_FOLDER, MEASUREMENTS
from gate.evidence.runs import config_of
from gate.model import SIDES, Execution, Failure, Record, UserError
from gate.model.case import canonical
from gate.report.outputs import require_writable, targets
from gate.run import run_folder as runs
from gate.run.duration import budget_warnings
from gate.run.job import Earlier, Job, JobTreatments, instruments_of, run_line, seed_of
from gate.run.live_lines import say_line
from gate.run.measuring import Measuring, open_run
from gate.run.preview import expected_seconds
from gate.run.refusal import refuse_unsafe
from gate.words.failures import sentence
from gate.writing.units import Duration, agree, format_duration, plural
from harness.host.facts import facts
from harness.loop.ledger import Ledger
from harness.loop.measure import MeasuredRounds
from harness.loop.schedule import design_schedule
from harness.source.repository import sources_of

FOLDER = "study"


def run(
    options: StudyOptions, rules: RulesOptions, out: TextIO, err: TextIO, analysis: AnalyseOptions | None = None
) -> int:
    """Measure a study, or print its plan; analyse it, fill its folder and print what it says, if that is asked for.

    Returns 0, also where nothing matters; 4 where something failed or nothing was measured.

    Raises:
        UserError: it may not run in this workflow, or a file that cannot be written.
        EndedError: a signal, or the measurements could not be written.
    """
    # found out now, not after an hour of measuring
    written = OutputOptions(analysis.written if analysis is not None else {})
    require_writable(written)
    refuse_unsafe()
    with open_run(options, Path(DEFAULT_FOLDER) / FOLDER, err, quiet=options.quiet) as run:
        design, job = lay_out(run, options, rules, targets(written))
        to_do = of_the_rest(job, runs.records_of(job.out)) if job.resumes else job
        if options.dry_run:
            out.write(terminal.render(document(design, to_do, every=options.every), terminal.screen(out)))
            return 0
        warnings = (f"warning: {warning}" for warning in warnings_of(design, job))
        run.begin(job, [introduction(design, to_do), *warnings])
        job, measured = run.measure(job)
        records = runs.records_of(job.out)
        for line in paused(job, measured, records) if measured.stop == "budget" else ():
            say_line(err, line)
        failures = [record for record in records if isinstance(record, Failure)]
        executions = sum(isinstance(record, Execution) for record in records)
        err.writelines(f"perfgate: {sentence(failure)}\n" for failure in failures)
        ended = measured.stop == "budget" and not measured.replicates
        failed = Exit.ERROR if failures or ended or not executions else 0
        if analysis is None:
            more = f" (this is {job.part}: add the files of the other jobs)" if job.part else ""
            count, file = plural(executions, "start"), job.out / MEASUREMENTS
            out.write(f"{count} in {file}; to see the results: perfgate study analyse {job.out}{more}\n")
        if analysis is None or not executions:
            return failed
        # statistics and pictures take their time to load, and a plan needs none
        from gate.commands.study import analyse

        try:
            asked = dataclasses.replace(analysis, files=(str(job.out),), out=analysis.out or job.out)
            code = analyse.run(asked, out, err)
        except UserError as error:
            again = f"`perfgate study analyse {job.out}` tries again"
            err.write(f"perfgate: {error}; the measurements are kept, {again}\n")
            return failed or Exit.USAGE
        return failed or code


def lay_out(
    run: Measuring, options: StudyOptions, rules: RulesOptions, outputs: Collection[Path] = ()
) -> tuple[experiment.Experiment, Job]:
    """Find the study around the working directory, and lay out what this job measures; outputs: beside the folder.

    Raises: UserError: no [study], nothing to measure here, or a run that cannot be resumed.
    """
    design = run.enter(experiment.open_design(options.base, options.head, rules, run.outputs(outputs)))
    job = prepare_study(design, options, run.folder_for(design.project), configs=[rules.config, rules.rules])
    return design, job


def prepare_study(
    design: experiment.Experiment, options: StudyOptions, out: Path, configs: Collection[Path | str | None] = ()
) -> Job:
    """Lay out the run; for --resume with the seed of the run that was interrupted, if there is one.

    out: the folder of the run. configs: what the options name as files of rules.

    Raises: UserError: nothing to measure in this job, or a run that cannot be resumed.
    """
    settings = design.project.settings
    # settle which session this is, of as many as the options, the plan or the factors say
    plan = design.project.settings.rules.plan
    sessions = options.sessions
    if sessions is None and options.session is not None:
        sessions = max(plan.sessions, bound_sessions(design.study))
    part = part_of(None, options.session, sessions, plan)
    treated = JobTreatments(design.study, _here(design, options, part))
    project = dataclasses.replace(design.project, settings=treated.with_baseline(settings))
    past = runs.interrupted(out) if options.resume else None
    instruments = instruments_of(project)
    host = {**facts(), **instruments.versions, **({"runner": options.runner} if options.runner is not None else {})}
    run = run_line(project, part, seed_of(options.seed, part, past), host)
    # what a resumed study compares of each side, whatever changes in the files of rules
    repository = project.repository
    files = [Path(each).resolve() for each in configs if each not in (None, *SIDES)]
    names = [each.relative_to(repository.top).as_posix() for each in files if each.is_relative_to(repository.top)]
    run = msgspec.structs.replace(
        run,
        looks=None,
        base=run.base if "base" in design.sides else None,
        sources={side: sources_of(repository, project.sources.of(side).revision, names) for side in design.sides},
        benchmarks={side: list(design.benchmarks) for side in design.sides},
        commands={name: text for name, text in (run.commands or {}).items() if name in design.benchmarks},
        warnings=[*run.warnings, *design.warnings, *instruments.warnings],
    )
    if past is not None:
        refuse_other_part(past, run, out)
        # what another key tells
        before = config_of(past)
        same = before is None or before.study is None or before.study.iterations == design.study.iterations
        runs.refuse_other(past, run, out, _FREE if same else (*_FREE, ("plan", "iterations")))
        run = msgspec.structs.replace(past, rules=run.rules, whose=run.whose)
    single = {name for name in design.benchmarks if is_single(settings.rules, name)}
    rounds = design_schedule(design.benchmarks, treated.planned, shares_of(design.study), run.seed or 0, single)
    if past is None:
        beyond = budget_warnings(rounds, out, project.settings.rules)
        run = msgspec.structs.replace(run, warnings=[*run.warnings, *beyond])
    return Job(project, run, out, rounds, instruments, part, treated, past is not None)


def _here(design: experiment.Experiment, options: StudyOptions, part: JobPart | None) -> tuple[PlannedTreatment, ...]:
    runners = bound_runners(design.study)
    # what a workflow passes on is empty where a job has no runner of its own
    runner = options.runner or None
    if runner is not None and runner not in runners:
        known = f"they name {', '.join(runners)}" if runners else "none names a runner"
        raise UserError(f"--runner {runner}: no factor names this runner; {known}")
    session = part.session if part else options.session
    here = measured_by(design.study, design.planned, session, runner)
    if here:
        return here
    bound = bound_sessions(design.study)
    job = [f"--session {session}"] if session is not None else []
    job += [f"--runner {runner}"] if runner else []
    missing = [f"--session 0 to {bound - 1}"] if bound and session is None else []
    missing += [f"--runner {', '.join(runners)}"] if runners and runner is None else []
    which = f"say which job this is: {' and '.join(missing)}" if missing else ""
    which = which or "`perfgate study plan --matrix` names the jobs"
    raise UserError(f"{' '.join(job) or 'this job'} has no treatments to measure; {which}")


_FREE: tuple[Key, ...] = (("study", "budget"), ("plan", "budget"), ("plan", "builds"))
"""What may differ when a study goes on, and what follows from keys of [study]."""


def of_the_rest(job: Job, records: Sequence[Record]) -> Job:
    """Return a job whose rounds are what is left to measure, and which knows what was measured earlier."""
    own = (b for side in SIDES for b in job.project.settings.sides[side].benchmark)
    suites = {benchmark.name for benchmark in own if benchmark.measured.suite}
    ledger = Ledger(records, job.session, suites, study=True)
    left = []
    for each in job.rounds:
        if steps := tuple(ledger.pending(each.executions)):
            needed = {(step.side, canonical(step.building)) for step in steps}
            builds = tuple(build for build in each.builds if (build.side, canonical(build.factors)) in needed)
            left.append(dataclasses.replace(each, builds=builds, executions=steps))
    made = sum(ledger.is_made(step) for each in job.rounds for step in each.executions)
    open_ = {(step.build, step.execution) for each in left for step in each.executions}
    replicates = sum(each.replicates for each in job.rounds)
    return dataclasses.replace(
        job,
        rounds=tuple(left),
        earlier=Earlier(
            executions=made, planned=sum(len(each.executions) for each in job.rounds),
            replicates=replicates - len(open_), planned_replicates=replicates, rounds=len(job.rounds),
        ),
    )  # fmt: skip


def paused(job: Job, measured: MeasuredRounds, records: Sequence[Record]) -> list[str]:
    """Say that the budget ended, how far measuring came, and what measures the rest at which cost."""
    rest = of_the_rest(job, records)
    budget = float(job.project.settings.rules.plan.budget)
    during = f" {measured.cut}" if measured.cut else ""
    complete = f"{measured.replicates} of {plural(measured.planned_replicates, 'replicate')}"
    is_ = agree(measured.replicates, "is", "are")
    left = f"{plural(sum(len(each.executions) for each in rest.rounds), 'start')} left"
    seconds = expected_seconds(rest)
    cost = f"{left}, which take an unknown time" if seconds is None else f"{left}, about {format_duration(seconds)}"
    # what is left may take longer than what was measured; of what never came to an end only a larger budget can tell
    step = 1 if seconds is not None and seconds < _MINUTE else _MINUTE
    needed = 2 * budget if seconds is None else math.ceil(_SLACK * seconds / step) * step
    more = f" --set study.budget={Duration(needed)}" if needed > budget else ""
    return [
        f"paused: the budget of {format_duration(budget)} ended{during}; {complete} {is_} complete",
        f"{cost}: add `--resume{more}` to the command; in a workflow raise study.budget to {Duration(budget + needed)}",
    ]


_SLACK, _MINUTE = 1.2, 60
