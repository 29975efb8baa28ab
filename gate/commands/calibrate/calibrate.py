"""perfgate calibrate: measures a commit against itself and remembers the noise."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

import msgspec

from gate.cli.groups import MeasureOptions
from gate.cli.groups import OutputOptions as Files
from gate.codes import Exit
from gate.commands.calibrate import result
from gate.commands.calibrate.command import MeasuringOptions, Options, OutputOptions
from gate.commands.calibrate.result import Calibration, news, session_of
from gate.config.rules import most_builds
from gate.config.types import Config
from gate.document import terminal
from gate.evidence.inputs import DEFAULT_FOLDER
from gate.model import Run, UserError
from gate.model.case import case_id
from gate.model.warnings import typed
from gate.report.outputs import deliver, require_writable, targets
from gate.run.interruption import ended_before_a_round, say_why
from gate.run.job import Job, prepare
from gate.run.measuring import opened
from gate.run.memory import barred, history_path, project_name
from gate.run.preview import expected, write_preview
from gate.run.project import Project, open_itself, remember_outputs
from gate.run.refusal import refuse_unsafe
from gate.run.run_folder import records_of
from gate.store.learning import setups_of
from gate.store.memory import HistoryError, Learned, Session, Sessions
from gate.units import Duration, plural
from gate.words.failures import title
from gate.words.reports import commit

BUILDS = 20
MOST_BUILDS = 1000
BUDGETS = 4
"""Times plan.budget that a calibration may take, unless --budget says."""
_FOLDER = Path(DEFAULT_FOLDER) / "calibration"


def run(asked: Options, out: TextIO, err: TextIO) -> int:
    """Measure head against itself, remember its variance, and print it.

    Returns 0; 4 when a benchmark or a build failed, nothing could be learned, or it could not be kept.

    Raises:
        UserError: nothing to measure, or files that cannot be written, before measuring; RefusedError where it may not
            run in this workflow.
        EndedError: a signal, or the measurements could not be written.
    """
    options, outputs, rules = asked.measuring, asked.outputs, asked.rules
    refuse_unsafe()
    files = Files({"json": outputs.json} if outputs.json is not None else {}, outputs.quiet)
    require_writable(files)
    written = [*targets(files), *([options.history] if options.history else [])]
    measuring = MeasureOptions(
        base=None, head=options.head, out=options.out, seed=options.seed, dry_run=options.dry_run, keep=False,
        resume=options.resume, history=options.history, strict=options.strict, wait=options.wait,
    )  # fmt: skip
    with opened(measuring, _FOLDER, err, quiet=outputs.quiet) as run:
        project = run.enter(open_itself(options.head, rules, run.outputs(written)))
        job = prepare(_planned(project, options), measuring, run.settle(project), remembers=False)
        if options.dry_run:
            write_preview(job, out)
            return 0
        path = None
        if (reason := barred(os.environ)) is not None:
            err.write(f"perfgate: warning: this calibration will not be remembered: {reason}\n")
        else:
            path = history_path(options.history, project)
            remember_outputs(project.repository, [path])
            # found out now whether it can be written, not after an hour of measuring
            Sessions(path).require()
        plan = job.project.settings.rules.plan
        benchmarks = len(job.project.settings.benchmarks["head"])
        numbers = (benchmarks, len(job.rounds), plan.executions, plan.iterations)
        nouns = ("benchmark", "build", "start", "value")
        counts = " x ".join(plural(count, noun) for count, noun in zip(numbers, nouns, strict=True) if count)
        what = f"{commit(job.run.head)} against itself: {counts} of each, {expected(job)}"
        run.begin(job, [what, *(f"warning: {each.sentence()}" for each in news(typed(job.run.warnings)))])
        job = run.measure(job).job
        return _conclude(job, project.settings.rules, path, outputs, out, err)


def _planned(project: Project, options: MeasuringOptions) -> Project:
    """Lay the calibration's own plan over that of a check: a fixed number of rounds, independent layouts, more time.

    The file's plan is meant for checks; who sets one on the command line means this calibration.

    Raises:
        UserError: builds that no variance can be taken from.
    """
    settings = project.settings
    plan = settings.rules.plan
    said = settings.options.tables.get("plan", {})
    builds, option = options.builds, "--builds"
    if builds is None:
        builds, option = (most_builds(plan, early=False), "--set plan.builds") if "builds" in said else (BUILDS, "")
    if not 2 <= builds <= MOST_BUILDS:
        raise UserError(
            f"{option} {builds}: must be from 2 to {MOST_BUILDS}; the variance between builds needs at least 2"
        )
    budget = float(options.budget or 0)
    if options.budget is None:
        budget = float(plan.budget) * (1 if "budget" in said else BUDGETS)
    plan = msgspec.structs.replace(plan, builds=builds, budget=Duration(budget))
    # at one seed base and head of one commit are one program, and hold no layout between them
    build = msgspec.structs.replace(settings.rules.build, layouts="independent")
    rules = msgspec.structs.replace(settings.rules, plan=plan, build=build)
    return dataclasses.replace(project, settings=dataclasses.replace(settings, rules=rules))


def _conclude(job: Job, rules: Config, path: Path | None, outputs: OutputOptions, out: TextIO, err: TextIO) -> int:
    records = records_of(job.out)
    setups = setups_of(job.project.settings.sides["head"], job.run.host or {})
    # the run line as it was recorded: the trees may have added warnings to it
    run = next((record for record in records if isinstance(record, Run)), job.run)
    (found, learned), code = session_of(records, run, rules, setups), 0
    try:
        if path is not None and learned:
            found = _keep(found, learned, project_name(job.project.repository), path)
    except HistoryError as error:
        say_why(err, f"{error}; the measurements are kept: to try again, add --resume")
        code = Exit.ERROR
    if outputs.quiet:
        err.writelines(f"perfgate: {title(failure)}\n" for failure in found.failures)
    unfinished = ended_before_a_round(job)
    if unfinished is not None:
        say_why(err, unfinished)

    def text() -> str:
        if outputs.quiet:
            return f"{result.headline(found)}\n"
        return terminal.render(result.document(found, os.path.relpath(job.out)), terminal.screen(out))

    files = {"json": outputs.json} if outputs.json is not None else {}
    deliver(files, {"json": lambda: result.render(found)}, text, out)
    out.flush()
    return code if found.findings and not found.failures else Exit.ERROR


def _keep(found: Calibration, learned: Sequence[Learned], project: str, path: Path) -> Calibration:
    """Put what was learned into the history, and say how many sessions it is one of."""
    kept = Session(
        id=found.session, created=found.created, kind="calibration", project=project, host=found.host,
        commit=found.commit.sha if found.commit else None,
    )  # fmt: skip
    history = Sessions(path)
    # false where a resumed run is concluded again: then it is there already
    history.add(kept, learned)
    same = {(case_id(each, each.statistic), each.setup) for each in learned}
    alike = {
        entry.session.id
        for entry in history.of_host(kept.fingerprint, project)
        if (case_id(entry.learned, entry.learned.statistic), entry.learned.setup) in same
        and entry.learned.remembered.layouts == "independent"
    }
    return msgspec.structs.replace(found, sessions=len(alike), history=str(path))
