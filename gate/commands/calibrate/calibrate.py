"""perfgate calibrate: measures a commit against itself, remembers the noise, and says it."""

from __future__ import annotations

import dataclasses
import math
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import msgspec

from gate.cli.groups import MeasureOptions, OutputOptions
from gate.codes import Exit
from gate.commands.calibrate.command import Options
from gate.config.rules import most_builds
from gate.config.types import Config
from gate.decide.estimates import asked_of
from gate.document import terminal
from gate.document.document import Cell, Column, Document, Facts, Items, Part, Row, Statement, Table
from gate.evidence.gather import gather
from gate.evidence.lines import of_this_run
from gate.evidence.records import DEFAULT_FOLDER
from gate.model import Commit, Failure, Layouts, Record, Remembered, RoundsDone, Run, UserError
from gate.model.case import MEAN, CaseId, OfCase, case_id, pairs
from gate.model.warnings import AnyWarning, typed
from gate.model.warnings.measured import IDENTICAL_SIDES, SAME_COMMIT
from gate.report.json import text_of
from gate.report.outputs import deliver, require_writable, targets
from gate.run.interruption import ended_before_a_round, say_why
from gate.run.job import Job, prepare
from gate.run.measuring import open_run
from gate.run.memory import barred, history_path, project_name
from gate.run.preview import expected, repeats, write_preview
from gate.run.project import Project, open_itself, remember_outputs
from gate.run.refusal import refuse_unsafe
from gate.run.run_folder import records_of
from gate.stats.components import estimate, squares_of
from gate.stats.prior import FEWEST_COMMON, HALF_LIFE
from gate.store.learning import learn, setups_of
from gate.store.memory import HistoryError, Learned, Session, Sessions, Setup, StepCosts
from gate.words import failures, reports
from gate.words.failures import title
from gate.words.reports import commit
from gate.writing.amounts import format_number
from gate.writing.phrases import listed
from gate.writing.plain import clip, visible
from gate.writing.units import Duration, format_duration, format_share, plural

BUILDS = 20
MOST_BUILDS = 1000
BUDGETS = 4
"""Times plan.budget that a calibration may take, unless the command line says."""
_FOLDER = Path(DEFAULT_FOLDER) / "calibration"


def run(options: Options, out: TextIO, err: TextIO) -> int:
    """Measure head against itself, remember its variance, and print it.

    Returns 0; 4 when a benchmark or a build failed, nothing could be learned, or it could not be kept.

    Raises:
        UserError: nothing to measure, or files that cannot be written, before measuring; RefusedError where it may not
            run in this workflow.
        EndedError: a signal, or the measurements could not be written.
    """
    refuse_unsafe()
    outputs = OutputOptions(options.files, options.quiet)
    require_writable(outputs)
    written = [*targets(outputs), *([options.history] if options.history else [])]
    measuring = MeasureOptions(
        base=None, head=options.head, out=options.out, seed=options.seed, dry_run=options.dry_run, keep=False,
        resume=options.resume, history=options.history, strict=options.strict, wait=options.wait,
    )  # fmt: skip
    with open_run(measuring, _FOLDER, err, quiet=outputs.quiet) as run:
        project = run.enter(open_itself(options.head, options.rules, run.outputs(written)))
        job = prepare(_planned(project), measuring, run.folder_for(project), remembers=False)
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
        benchmarks = plural(len(job.project.settings.benchmarks["head"]), "benchmark")
        counts = f"{benchmarks} x {plural(len(job.rounds), 'build')} x {repeats(job)} of each"
        what = f"{commit(job.run.head)} against itself: {counts}, {expected(job)}"
        run.begin(job, [what, *(f"warning: {each.sentence()}" for each in news(typed(job.run.warnings)))])
        job, _ = run.measure(job)
        return _conclude(job, project.settings.rules, path, outputs, out, err)


def _planned(project: Project) -> Project:
    """Lay the calibration's own plan over that of a check: a fixed number of rounds, independent layouts, more time.

    The file's plan is meant for checks; who sets one on the command line means this calibration.

    Raises: UserError: builds that no variance can be taken from.
    """
    settings = project.settings
    plan = settings.rules.plan
    said = settings.options.tables.get("plan", {})
    builds = most_builds(plan, early=False) if "builds" in said else BUILDS
    if not 2 <= builds <= MOST_BUILDS:
        why = f"must be from 2 to {MOST_BUILDS}; the variance between builds needs at least 2"
        raise UserError(f"--set plan.builds {builds}: {why}")
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
            return f"{headline(found)}\n"
        return terminal.render(document(found, os.path.relpath(job.out)), terminal.screen(out))

    deliver(outputs.files, {"json": lambda: render(found)}, text, out)
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
        session.id
        for session, each in history.of_host(kept.fingerprint, project)
        if (case_id(each, each.statistic), each.setup) in same and each.remembered.layouts == "independent"
    }
    return msgspec.structs.replace(found, sessions=len(alike), history=str(path))


SCHEMA = 1
# that a commit is the same as itself, and that a calibration has another plan than a check, is no news
_NO_NEWS = (IDENTICAL_SIDES.what, SAME_COMMIT.what, "few-builds")


class Calibrated(OfCase, frozen=True, kw_only=True):
    """One finding."""

    added: dict[str, float | None]
    """The relative standard deviation that each level adds to those below; 0: nothing, None: it was not repeated."""
    round: float | None
    """Of the difference of a round, which decides; both relative to the mean."""
    df: float | None
    costs: StepCosts
    remembered: Remembered


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """One session of measuring a commit against itself."""

    schema: int
    session: str
    created: str
    commit: Commit | None
    host: dict[str, Any]
    layouts: Layouts
    """Of both sides of a round in a check; in the calibration itself they are independent."""
    rounds: RoundsDone
    executions: int
    iterations: int
    seconds: float | None
    findings: list[Calibrated]
    left_out: list[str]
    """Cases of which nothing is learned: they have no spread, too few builds, or values without a ratio."""
    failures: list[Failure]
    warnings: list[str]
    sessions: int | None
    """Of this host that remember the same, with this one; None: it was not kept."""
    history: str | None
    """The folder that remembers it; None: it was not kept."""


def session_of(
    records: Sequence[Record], run: Run, config: Config, setups: Mapping[str, Setup]
) -> tuple[Calibration, list[Learned]]:
    """Compute what the records of a calibration show: the report of it, and what the history is to hold.

    Args:
        run: its run line.
        config: the rules and the plan of a check.
        setups: how each benchmark is measured.
    """
    evidence = gather(of_this_run(records), config)
    name, created = run.id or "", run.created or ""
    asked = asked_of(evidence.cases, config)
    learned = learn(asked, config, setups, records, session=name, created=created, both=True)
    known = {CaseId(one.benchmark, one.metric) for one in learned}
    calibration = Calibration(
        schema=SCHEMA,
        session=name,
        created=created,
        commit=run.head,
        host=run.host or {},
        layouts=config.build.layouts,
        rounds=evidence.rounds,
        executions=round(max((one.remembered.executions for one in learned), default=config.plan.executions)),
        iterations=round(max((one.remembered.iterations for one in learned), default=config.plan.iterations)),
        seconds=evidence.seconds,
        findings=[_calibrated(one) for one in learned],
        left_out=[
            f"{case.benchmark} {case.metric}"
            for case in {id(case): case for case, _ in asked}.values()
            if not case.exact and CaseId(case.benchmark, case.metric) not in known
        ],
        failures=evidence.failures,
        warnings=[*(each.sentence() for each in news(evidence.warnings))],
        sessions=None,
        history=None,
    )
    return calibration, learned


def news(warnings: Sequence[AnyWarning]) -> list[AnyWarning]:
    """Leave out the warnings of a check that mean nothing here."""
    return [warning for warning in warnings if getattr(warning, "what", "") not in _NO_NEWS]


def _calibrated(one: Learned) -> Calibrated:
    r = one.remembered
    # take the levels apart: T2[i] = S2[i] - S2[i-1]/n[i-1] (Kalibera and Jones 2012, 7.6)
    found: dict[str, float | None] = {"iteration": None, "execution": None, "build": None}
    found |= {level: math.sqrt(max(t2, 0.0)) for level, t2 in estimate(squares_of([r]))[1].items()}
    return Calibrated(
        benchmark=one.benchmark,
        metric=one.metric,
        factors=one.factors,
        statistic=one.statistic,
        added=found,
        round=None if r.contrast is None else math.sqrt(r.contrast.value),
        df=None if r.contrast is None else r.contrast.df,
        costs=one.costs,
        remembered=r,
    )


def render(calibration: Calibration) -> str:
    """Write a calibration as JSON, indented, ending with a newline."""
    return text_of(msgspec.to_builtins(calibration))


_SHOWN = 40


def document(calibration: Calibration, folder: str) -> Document:
    """Say what was measured, the noise of each finding, and what is remembered.

    folder: of the measurements.
    """
    kept = []
    if calibration.sessions is not None:
        sessions = plural(calibration.sessions, "session")
        memory = (
            f"{sessions}. Several days show how noise changes from day to day, a longer one does not. "
            f"The weight of a session halves every {HALF_LIFE:.0f} days."
        )
        if calibration.layouts == "common":
            memory = (
                f"{sessions}, for plans and for the error rate. Intervals use what checks of the default branch "
                f"remember, from {FEWEST_COMMON} of them on: there both sides are laid out alike."
            )
        kept.append(("memory", memory))
    if calibration.history is not None:
        kept.append(("kept", f"in {visible(calibration.history)} as {visible(calibration.session)}"))
        gates = f"`perfgate simulate {shlex.quote(folder)}` shows how often they are wrong, and what they find"
        kept.append(("gates", visible(gates)))
    warnings, left = calibration.warnings, [visible(name) for name in calibration.left_out]
    if left:
        why = "no spread, too few builds, or values without a ratio"
        warnings = [*warnings, f"nothing can be remembered about {listed(left, 5)}: {why}"]
    failed = [
        f"{failures.title(each)}{f': {visible(each.hint)}' if each.hint else ''}" for each in calibration.failures
    ]
    return Document(
        tool="perfgate calibrate",
        title="Calibration",
        sections=[
            [Statement(headline(calibration))],
            [Facts(list(_measured(calibration)))],
            [Items(failed[:10], "caution")],
            _noise(calibration),
            [Facts(kept)],
            [Items(warnings, "warning")],
        ],
        elsewhere="in --json",
        footer="",
    )


def headline(calibration: Calibration) -> str:
    """Say in one line what was learned."""
    count = len(calibration.findings)
    if not count:
        return "Not calibrated: nothing could be learned"
    what = plural(len({f.benchmark for f in calibration.findings}), "benchmark")
    return f"Calibrated: the noise of {what} on this host, from {plural(calibration.rounds.done, 'round')}"


def _measured(calibration: Calibration) -> Iterator[tuple[str, str]]:
    rounds, host = calibration.rounds, calibration.host
    done = plural(rounds.done, "round")
    if rounds.planned is not None and rounds.planned != rounds.done:
        done = f"{rounds.done} of {plural(rounds.planned, 'round')}"
    design = f"{plural(calibration.executions, 'start')} x {plural(calibration.iterations, 'value')}"
    seconds = f", {format_duration(calibration.seconds)}" if calibration.seconds is not None else ""
    yield "head", f"{reports.commit(calibration.commit)}, against itself"
    yield "measured", f"{done} of {design} of each{seconds}"
    parts = [visible(str(host.get("cpu", "unknown")))]
    if isinstance(cores := host.get("cores"), int):
        parts.append(plural(cores, "core"))
    if isinstance(memory := host.get("memory"), int):
        parts.append(f"{memory / 2**30:.0f} GiB")
    yield "host", ", ".join(parts)


def _noise(calibration: Calibration) -> list[Part]:
    found = calibration.findings
    several = any(f.statistic != MEAN for f in found)
    names = ["benchmark", "metric", *(["statistic"] if several else [])]
    rows = [
        [
            ", ".join(text for text in (visible(f.benchmark), visible(pairs(f.factors))) if text),
            clip(visible(f.metric), 30),
            *([f.statistic] if several else []),
            # a level that was not repeated is not known, one that adds nothing is
            *("-" if own is None else format_share(own) if own else "none" for own in (*f.added.values(), f.round)),
            "-" if f.df is None else format_number(f.df, 2),
        ]
        for f in found
    ]
    text = "value, start, build: what each level adds. round: the difference of base and head in a round, "
    if calibration.layouts == "independent":
        text += "which checks decide by."
    else:
        text += "whose layouts were independent here. In a check they are common, so there it is at most as large."
    numbers = ("value", "start", "build", "round", "degrees")
    if not rows:
        return []
    head = [*map(Column, names), *(Column(name, right=True) for name in numbers)]
    left = [f"{len(rows) - _SHOWN} more are in --json."] if len(rows) > _SHOWN else []
    shown = [Row([Cell(text) for text in row]) for row in rows[:_SHOWN]]
    title = "noise, as relative standard deviation"
    return [Table(title, title, head, shown), Items([*left, text], "rest")]
