"""Measuring a project, as check, measure and study do it: schedule, run folder, lock, trees, the loop."""

from __future__ import annotations

import datetime
import os
import secrets
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

import msgspec

from gate import __version__
from gate.cli.groups import MeasureOptions
from gate.codes import Exit
from gate.config.rules import is_single
from gate.config.schema import to_tables
from gate.config.shards import Part, part_of, part_warnings, refuse_other_part, session_seed
from gate.config.types import Builds, BuildTable, Config
from gate.evidence.records import Appender
from gate.model import SIDES, AfterRound, Failure, HostState, Run, Side, UserError
from gate.model.warnings import AnyWarning
from gate.model.warnings.hosts import UnfitHost
from gate.model.warnings.setup import BaseWithoutConfig
from gate.run import folder
from gate.run.auto_plan import Planned, with_plan
from gate.run.memory import Recalled, recall_memory
from gate.run.plan_warnings import most_builds, plan_warnings
from gate.run.progress import Progress
from gate.run.project import Project, of_shard
from gate.run.treatments import NONE, Treated, gated
from gate.words.warnings import text
from harness.build.builder import Recipe, TreeBuilder
from harness.build.perturb import make_shims
from harness.host.facts import facts
from harness.host.fitness import problems, standing_problems
from harness.host.lock import host_lock, lock_file
from harness.host.state import state
from harness.instruments.choose import Instruments, choose
from harness.loop.execution import Conditions, Place
from harness.loop.measure import Measured, Tools, Work, measure
from harness.loop.schedule import Round, schedule
from harness.process.execute import ProcessExecutor, clean_environment
from harness.source.hints import Hint, checkout_hint
from harness.source.sides import Source, Sources
from harness.source.snapshot import overlaid
from harness.source.trees import open_trees
from harness.source.workdir import RUNNING, remove_leftovers


class UnfitError(UserError):
    """The host is unfit and --strict was given."""

    exit_code = Exit.UNFIT


def refuse_unfit(problems: Sequence[str]) -> None:
    """Refuse to measure where there are problems; for --strict, before anything is moved or written.

    problems: as harness.host.fitness.problems names them.

    Raises:
        UnfitError: there are some; one line that names them.
    """
    if problems:
        raise UnfitError(
            f"this host is unfit to measure on: {'; '.join(problems)}; `perfgate doctor` shows more, "
            "without --strict it measures all the same"
        )


def unfit_warnings(problems: Sequence[str]) -> list[UnfitHost]:
    """Return problems as warnings of the run line; for a command without --strict."""
    return [UnfitHost(problem) for problem in problems]


@dataclass(frozen=True, slots=True)
class Job:
    """What will be measured: the schedule and everything that a resumed run must find unchanged.

    part: which part of the gate, where several jobs measure; None: all of it. treated: the treatments that are
    measured.
    """

    project: Project
    run: Run
    out: Path
    rounds: tuple[Round, ...]
    instruments: Instruments
    part: Part | None
    treated: Treated = NONE

    @property
    def session(self) -> int:
        """Which session the lines of this job are of."""
        return self.part.session if self.part else 0


def prepare(
    project: Project, options: MeasureOptions, out: Path, *, remembers: bool = True, gates: bool = False
) -> Job:
    """Lay out the run; for --resume with the seed of the run that was interrupted.

    out: the folder of the run. remembers: whether what is remembered of this host counts. gates: whether both sides are
    measured at the treatments of [study], where study.gate wants it; else all factors keep their first setting.

    Raises:
        UserError: nothing to measure, or a run that cannot be resumed.
    """
    settings = project.settings
    if not any(settings.benchmarks.values()):
        name = settings.texts["head"].name
        raise UserError(f"{name} has no [[benchmark]]: add one; `perfgate init --force` proposes some")
    part = part_of(options.shard, options.session, options.sessions, settings.rules.plan)
    if part is not None:
        project = of_shard(project, part.shard)
    treated = gated(project.settings, part.session if part else None) if gates else NONE
    project = replace(project, settings=treated.settled(project.settings))
    past = folder.interrupted(out) if options.resume else None
    instruments = instruments_of(project)
    host = {**facts(), **instruments.versions}
    # what one machine remembers is of no use to the others, and no plan of theirs
    remembers = remembers and part is None
    recalled = recall_memory(options.history, project, host) if remembers else Recalled(None, ())
    planned = Planned(project, ()) if part else with_plan(project, recalled.memory, past, options.history, host)
    rules = planned.project.settings.rules
    run = run_line(planned.project, part, seed_of(options.seed, part, past), host)
    run = msgspec.structs.replace(
        run,
        warnings=[
            *run.warnings,
            *instruments.warnings,
            *recalled.warnings,
            *planned.warnings,
            *plan_warnings(rules, recalled.memory, part.sessions if part else 1),
            *(part_warnings(rules.plan) if part else ()),
        ],
        memory=recalled.memory,
    )
    if past is not None:
        refuse_other_part(past, run, out)
        folder.refuse_other(past, run, out)
        run = past
    single = {b.name for b in rules.benchmark if is_single(rules, b.name)}
    benchmarks = planned.project.settings.benchmarks
    rounds = schedule(
        benchmarks, most_builds(rules.plan), rules.plan.executions, run.seed or 0, single, treated.planned
    )
    return Job(planned.project, run, out, rounds, instruments, part, treated)


def instruments_of(project: Project) -> Instruments:
    """Choose what measures the benchmarks of a project."""
    used = {b.instrument for side in SIDES for b in project.settings.sides[side].benchmark}
    return choose(used, os.environ)


def seed_of(given: int | None, part: Part | None, past: Run | None) -> int | None:
    """Return the seed of a run: the one given, of the run that is resumed, or a new one."""
    if given is None:
        return past.seed if past else secrets.randbits(32)
    return session_seed(given, part.session) if part else given


def run_line(project: Project, part: Part | None, seed: int | None, host: dict[str, Any]) -> Run:
    """Make the first line of a run."""
    settings = project.settings
    plan = settings.rules.plan
    return Run(
        id=f"{datetime.datetime.now(tz=datetime.UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}",
        created=_now(),
        perfgate=__version__,
        seed=seed,
        looks=most_builds(plan) if isinstance(plan.builds, Builds) and part is None else None,
        shard=str(part.shard) if part and part.shard.of > 1 else None,
        sessions=part.sessions if part and part.sessions > 1 else None,
        session=part.session if part else None,
        base=project.sources.base.commit,
        head=project.sources.head.commit,
        host=host,
        config=to_tables(settings.rules),
        chosen=project.sources.explanation,
        rules=project.rules,
        benchmarks={
            side: [name for name in names if name not in project.narrowed]
            for side, names in settings.benchmarks.items()
        },
        commands={
            b.name: b.command if isinstance(b.command, str) else _shell(b.command) for b in settings.rules.benchmark
        },
        warnings=list(settings.warnings),
    )


def _now() -> str:
    return datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _shell(command: list[str]) -> str:
    return shlex.join(command)


def execute(
    job: Job,
    options: MeasureOptions,
    err: TextIO,
    *,
    quiet: bool,
    then: Callable[[], int],
    after_round: AfterRound | None = None,
    ended: Callable[[Measured], None] = lambda _: None,
) -> int:
    """Measure what is not yet recorded; every record is on disk before the next step begins.

    after_round: asked between rounds which benchmarks need no more; None: the design is fixed. ended: is told how far
    measuring came.
    then: what follows on the measurements, and gives the exit code. It is called while this run still holds the
    machine, so that no other gate in this checkout can move its files away.

    Raises:
        UserError: sources or a shared path cannot be had.
        OSError: the measurements cannot be written; what was written stays.
        Interrupted: a signal ended it; what was measured stays.
    """
    sources = _overlaid(job.project)

    def waiting(holder: str) -> None:
        if not quiet:
            err.write(f"perfgate: waiting for {holder}: two gates never measure at once on one machine\n")
            err.flush()

    # first of all, and not only when the machine is free: what a killed run left would disturb whoever measures
    repository = job.project.repository
    remove_leftovers(repository.git, repository.common / "perfgate")
    with host_lock(waiting, repository.project, lock_file(os.environ)):
        # before anything is moved, and after another gate had ended
        if options.strict:
            refuse_unfit(problems())
        unfit = unfit_warnings(standing_problems())
        job = replace(job, run=_with_warnings(job.run, unfit))
        if not quiet:
            err.writelines(f"perfgate: warning: {text(warning)}\n" for warning in unfit)
        ended(_measure(job, options, sources, err, quiet=quiet, after_round=after_round))
        return then()


def _measure(
    job: Job, options: MeasureOptions, sources: Sources, err: TextIO, *, quiet: bool, after_round: AfterRound | None
) -> Measured:
    project, settings = job.project, job.project.settings
    # only now, since another gate may have used the folder while this one waited
    records = folder.resumed(job.out, job.run) if options.resume else ()
    if not options.resume:
        folder.make_room(job.out)
    environments = _environments(settings.sides)
    progress = Progress(err, quiet=quiet)
    with (
        open_trees(
            project.repository,
            sources,
            state=project.repository.common / "perfgate",
            share_paths={side: settings.sides[side].build.share for side in SIDES},
            keep=options.keep,
        ) as trees,
        Appender(job.out / folder.MEASUREMENTS) as append,
    ):
        executor = ProcessExecutor(trees.directory / RUNNING)
        # in the work directory, which the next run removes should this one be killed
        place = Place(trees.directory / "outputs", trees.directory / "shims")
        place.scratch.mkdir()
        make_shims(place.shims, os.environ)
        recipes = {side: Recipe(_build_table(settings.sides[side]), environments[side]) for side in SIDES}
        hint = _hint(project)
        builder = TreeBuilder(
            trees,
            recipes,
            executor,
            seed=job.run.seed or 0,
            caller=os.environ,
            session=job.session,
            shims=place.shims,
            study=job.treated.study,
            hint=hint,
        )
        if not records:
            append(_with_warnings(job.run, trees.warnings))
        append(HostState(when="begin", session=job.session, time=_now(), state=state()))
        try:
            measured = measure(
                Work(
                    rounds=job.rounds,
                    benchmarks={side: {b.name: b for b in settings.sides[side].benchmark} for side in SIDES},
                    iterations=settings.rules.plan.iterations,
                    budget=float(settings.rules.plan.budget),
                    conditions={
                        side: Conditions(environments[side], settings.sides[side].build.perturb) for side in SIDES
                    },
                    caller=os.environ,
                    place=place,
                    session=job.session,
                    planned=job.treated.planned,
                    study=job.treated.study,
                ),
                Tools(executor, builder, job.instruments.by_name, hint),
                append,
                records=records,
                after_round=after_round,
                progress=progress,
            )
            append(HostState(when="end", session=job.session, time=_now(), state=state()))
        finally:
            executor.close()
            progress.close()
        if options.keep and not quiet:
            err.write(f"perfgate: the worktrees stay in {trees.directory}\n")
        return measured


def _build_table(config: Config) -> BuildTable:
    """Return a side's [build]; where callgrind counts, paths do not vary, since programs spend instructions on them."""
    counts = any(b.instrument == "callgrind" for b in config.benchmark)
    perturb = [each for each in config.build.perturb if not (counts and each == "path")]
    return msgspec.structs.replace(config.build, perturb=perturb)


def _hint(project: Project) -> Hint:
    """Return hints about missing files that know that each side shares what its own config says."""
    missing = checkout_hint(project.repository)
    shares = {side: set(project.settings.sides[side].build.share) for side in SIDES}

    def hint(failure: Failure, unstarted: bool) -> str | None:
        found = missing(failure, unstarted)
        if failure.side == "base" and BaseWithoutConfig() in project.settings.warnings:
            first = "base has no perfgate.toml, and may lack what head adds: then nothing can be compared yet"
            return f"{first}; put perfgate.toml and its benchmarks on the default branch, the next change is gated"
        if found is None or failure.side != "base" or shares["head"] <= shares["base"]:
            return found
        more = ", ".join(sorted(shares["head"] - shares["base"]))
        return (
            f"{found}. Head's perfgate.toml shares {more}, base's does not: use head's for both sides with "
            "--config perfgate.toml, or put it on the default branch first"
        )

    return hint


def _with_warnings(run: Run, more: Iterable[AnyWarning]) -> Run:
    return msgspec.structs.replace(run, warnings=[*run.warnings, *more])


def _overlaid(project: Project) -> Sources:
    """Lay head's files over base where base's own [build] overlay says so: head cannot choose what it replaces."""
    paths = project.settings.sides["base"].build.overlay
    if not paths:
        return project.sources
    base, head = project.sources.base, project.sources.head
    revision = overlaid(project.repository, base.revision, head.revision, paths)
    return replace(project.sources, base=Source(base.commit, revision))


def _environments(sides: Mapping[Side, Config]) -> dict[Side, dict[str, str]]:
    return {side: clean_environment(os.environ, config.env.pass_, config.env.set) for side, config in sides.items()}
