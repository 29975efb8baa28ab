"""Profiles of what regressed: within the run that measured it, or of a finished run afterwards."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

import msgspec
from msgspec.structs import replace

from gate.cli.command import declaring
from gate.cli.groups import MeasureOptions, RulesOptions
from gate.codes import Exit
from gate.config.config_text import COMMAND_LINE, from_tables
from gate.config.types import Config
from gate.decide.policy import policy_at
from gate.decide.report import decide_by
from gate.evidence.lines import Inputs, of_this_run
from gate.evidence.records import MEASUREMENTS, Appender
from gate.evidence.runs import config_of
from gate.model import SIDES, Execution, Failure, Record, Run, Side, UserError
from gate.model.case import canonical
from gate.model.profile import MOST_FRAMES, Profile, Unprofiled
from gate.planning.deciding import next_plan
from gate.run.job import Job, prepare
from gate.run.live_lines import Live, Steps
from gate.run.locked import WaitingLines, not_free
from gate.run.project import Project, open_project, overlaid_sources
from gate.run.run_folder import records_of
from gate.run.workshop import Workshop, one_path, workshop
from gate.writing.plain import visible
from gate.writing.units import format_duration
from harness.host.lock import LockHolder, NotFreeError, host_lock, lock_file
from harness.loop.execution import Executions
from harness.loop.measure import Append
from harness.loop.profiled import WantedProfile, profiled
from harness.loop.schedule import ExecutionStep
from harness.process.budget import Budget, BudgetEndedError
from harness.profilers.profiler import Profiler
from harness.source.trees import open_trees

LIMIT = 300.0
"""Seconds that all profiles of a job may take, beside plan.budget: what was measured is on disk by then."""
Say = Callable[[str], None]


def profile_regressions(
    made: Workshop, append: Append, records: Sequence[Record], found: Sequence[Suspect], *, built: bool, say: Say
) -> None:
    """Profile what regressed in a run that has just ended, and append the profiles.

    Nothing is done where a profile is there already.

    records: of the run. found: what regressed. built: the trees of both sides stand as the last round built them.
    """
    missing = without_profiled(found, records, made.job.session)
    if not missing:
        return
    if not built and not _built(made):
        append(*(_unprofiled(each, made.job.session, "budget") for each in missing))
        return
    for profiles in profiles_of(made, records, missing, Budget(LIMIT), say):
        append(*profiles)


def profile_run(
    folder: Path, benchmarks: Sequence[str], err: TextIO, *, quiet: bool = False, limit: float = LIMIT
) -> list[Profile | Unprofiled]:
    """Profile a finished run in its project: check out and build both sides as its first round did, and profile.

    The lines are appended to the run's measurements, so that this is done once.

    folder: of the run, which began with a run line. benchmarks: names of cases, of a suite that of its line; none:
    those that regressed. err: takes what is said meanwhile. limit: seconds of all profiles; builds take what they take.

    Raises:
        UserError: no such run, commits or changes that are no longer there, another perfgate that is measuring, or a
            build that failed.
        OSError: the lines cannot be appended.
    """
    records = records_of(folder)
    run = records[0] if records and isinstance(records[0], Run) else None
    if run is None or run.base is None or run.head is None:
        raise UserError(f"{folder}: has no run line with base and head, so it does not say what to build")

    live = Live(err, quiet=quiet)
    with ExitStack() as held:
        project = held.enter_context(_project_of(run))
        options = MeasureOptions(out=folder, seed=run.seed)
        job = prepare(project, options, folder, remembers=False)
        rules = project.settings.rules
        if benchmarks:
            # what was measured under these names, at each of its settings
            executions = [each for each in records if isinstance(each, Execution) and each.benchmark in benchmarks]
            places = {(each.benchmark, canonical(each.factors)): each.factors for each in executions}
            asked = [Suspect(name, factors, of_time=True, ratio=1.0) for (name, _), factors in places.items()]
            found = sorted(asked, key=lambda each: benchmarks.index(each.benchmark))
        else:
            found = regressed(records, run, config_of(run) or rules)
        # what could not be profiled before may be now: a profiler was installed
        missing = without_profiled(found, [r for r in records if not isinstance(r, Unprofiled)], job.session)
        if not missing:
            return []
        claim = LockHolder.own("perfgate explain", job.run.id or "", job.project.repository.project, job.out)
        try:
            held.enter_context(
                host_lock(claim, lock_file(os.environ), wait=limit, waiting=WaitingLines(live.line, limit, option=None))
            )
        except NotFreeError as error:
            raise MachineHeldError(not_free(error, limit, longer=False)) from None
        say = held.enter_context(closing(Steps(live, "profiling", 1 + len(missing))))
        return _profiled(job, records, missing, held, limit, say)


def _profiled(
    job: Job, records: Sequence[Record], missing: Sequence[Suspect], held: ExitStack, limit: float, say: Say
) -> list[Profile | Unprofiled]:
    repository, sides = job.project.repository, job.project.settings.sides
    repository.store.work.remove_leftovers()
    building = Budget()
    share = {side: sides[side].build.share for side in SIDES}
    sources = overlaid_sources(job.project)
    trees = held.enter_context(
        open_trees(repository, sources, share_paths=share, budget=building, keep=False, one_path=one_path(job.project))
    )
    append = held.enter_context(Appender(job.out / MEASUREMENTS))
    made = held.enter_context(workshop(job, trees, building))
    say("building base and head to profile them")
    if not _built(made):
        raise UserError("base or head does not build any more; `perfgate try` shows why")
    written: list[Profile | Unprofiled] = []
    for profiles in profiles_of(made, records, missing, Budget(limit), say):
        append(*profiles)
        written += profiles
    return written


@contextmanager
def _project_of(run: Run) -> Iterator[Project]:
    """Open the project of a run at the commits that it measured.

    Raises: UserError: they are not here, or head's uncommitted changes are others by now.
    """
    assert run.base is not None and run.head is not None  # noqa: PT018, S101  # for types
    whose = run.whose
    file = Path(whose.name) if whose is not None and whose.kind == "named" else None
    if run.base.sha is None:
        raise UserError("the run compared two given programs; perfgate profiles what it builds")
    unnamed = whose is not None and whose.name == COMMAND_LINE
    rules = RulesOptions(
        given=from_tables(dict(run.config or {}), COMMAND_LINE) if unnamed else None,
        config=file if file is not None and file.is_file() else None,
        rules=whose.kind if whose is not None and whose.kind in ("base", "head") else None,
        sets=whose.sets if whose is not None else (),
    )
    with open_project(run.base.sha, None if run.head.dirty else run.head.sha, rules) as project:
        if project.sources.head.commit.tree != run.head.tree:
            raise UserError(
                "the run measured uncommitted changes that have changed since: run `perfgate check` again, with "
                "`--set gate.explain=true` to have its regressions profiled"
            )
        yield project


class MachineHeldError(UserError):
    """Another perfgate measures on the machine, and did not end in time."""

    exit_code = Exit.ERROR


def without_profiled(found: Sequence[Suspect], records: Sequence[Record], session: int) -> list[Suspect]:
    """Leave out what has a profile of both sides, or a line that says why it has none."""
    done = {
        (each.benchmark, canonical(each.factors))
        for each in records
        if isinstance(each, (Profile, Unprofiled)) and each.session == session
    }
    return [each for each in found if (each.benchmark, canonical(each.factors)) not in done]


def profiles_of(
    made: Workshop, records: Sequence[Record], found: Sequence[Suspect], budget: Budget, say: Say
) -> Iterator[Sequence[Profile | Unprofiled]]:
    """Profile benchmarks one after the other, in trees that stand; for each both sides, or why there are none."""
    sources, repository = made.job.project.sources, made.job.project.repository
    revisions = (sources.base.revision, sources.head.revision)
    found_files = repository.git.entries("diff-tree", "-r", "-z", "--name-only", *revisions)
    inside = "" if repository.prefix.as_posix() == "." else f"{repository.prefix.as_posix()}/"
    # the files that differ between base and head, as paths in the project
    changed = [name.removeprefix(inside) for name in found_files if name.startswith(inside)][:MOST_FRAMES]

    def making(iterations: int | None, within: Budget) -> Executions:
        return made.executions(iterations or made.job.project.settings.rules.plan.iterations, within)

    for each in found:
        wanted = _wanted(made, records, each)
        why = "" if each.of_time else "it regressed in memory, and profiles show time"
        if wanted is not None and any(benchmark.service is not None for benchmark in wanted.benchmarks.values()):
            why = why or "its time is spent by a service, and the command is what would be profiled"
        if why or wanted is None:
            yield [_unprofiled(each, made.job.session, "unsupported", why)]
            continue
        if budget.left <= 0:
            yield [_unprofiled(each, made.job.session, "budget")]
            continue
        say(f"profiling {visible(each.benchmark)} (at most {format_duration(budget.left)})")
        yield [
            replace(p, changed=changed) if isinstance(p, Profile) and p.side == "head" else p
            for p in profiled(wanted, profilers(), making, budget)
        ]


@cache
def profilers() -> tuple[Profiler, ...]:
    """Return all profilers, the one to be preferred first: the files of harness/profilers with a PROFILER."""
    names = declaring("harness/profilers", "PROFILER")
    found: list[Profiler] = [import_module(f"harness.profilers.{name}").PROFILER for name in names]
    return tuple(sorted(found, key=lambda each: each.rank))


def _unprofiled(of: Suspect, session: int, kind: str, detail: str = "") -> Unprofiled:
    return Unprofiled(benchmark=of.benchmark, session=session, factors=dict(of.factors), kind=kind, detail=detail)


def _wanted(made: Workshop, records: Sequence[Record], of: Suspect) -> WantedProfile | None:
    """Lay out a benchmark's execution on both sides as its first round did; None: it has none of them."""
    sides = made.job.project.settings.sides
    benchmarks = {side: {b.name: b for b in sides[side].benchmark} for side in SIDES}
    of_base = benchmarks["base"].items()
    names = (n for n, b in of_base if of.benchmark == n or (b.measured.suite and of.benchmark.startswith(f"{n}/")))
    name = next(names, None)
    job = made.job
    steps: dict[Side, ExecutionStep] = {}
    for step in job.rounds[0].executions if job.rounds else ():
        if step.benchmark == name and step.factors.items() <= of.factors.items():
            steps.setdefault(step.side, step)
    if name is None or name not in benchmarks["head"] or len(steps) < len(SIDES):
        return None
    own = [
        [r for r in records if isinstance(r, Execution) and r.benchmark == of.benchmark and r.side == side]
        for side in SIDES
    ]
    return WantedProfile(
        name=of.benchmark, steps=steps, benchmarks={side: benchmarks[side][name] for side in SIDES},
        directories=lambda side: made.builder.directory(side, steps[side].building), seconds=max(map(_iteration, own)),
        execution=max(min((r.seconds or 0.0 for r in each), default=0.0) for each in own), session=made.job.session,
        factors=dict(of.factors),
    )  # fmt: skip


def _iteration(executions: Sequence[Execution]) -> float:
    """Return what one iteration takes, by the values in seconds where there are some.

    The quickest is taken: of what a busy host made slow, too little would be profiled.
    """
    times = [each.metrics["time"] for each in executions if "time" in each.metrics]
    if values := [value for time in times if time.unit == "s" for value in time.values]:
        return min(values)
    counts = [max((len(m.values) + len(m.dropped) for m in each.metrics.values()), default=1) for each in executions]
    return sum(each.seconds or 0.0 for each in executions) / max(1, sum(counts))


def _built(made: Workshop) -> bool:
    """Build both sides as the first round did; return whether that could be done within the budget."""
    try:
        return not any(
            isinstance(made.builder.build(step.side, step.build, step.seed, step.factors), Failure)
            for step in made.job.rounds[0].builds
        )
    except BudgetEndedError:
        return False


_MEMORY = "B"


@dataclass(frozen=True, slots=True)
class Suspect:
    """A benchmark that regressed, at the settings of its factors. of_time: not only in memory or sizes."""

    benchmark: str
    factors: Mapping[str, Any]
    of_time: bool
    ratio: float
    """Of the metric that became worst, 1 or more."""


def regressed(records: Sequence[Record], run: Run, rules: Config) -> list[Suspect]:
    """Judge what one job has measured as the report would if that were all; the worst first.

    A shard knows its own benchmarks and a session its own noise: what is found here is explained, and never decided.
    """
    alone, rules = (
        msgspec.structs.replace(run, shard=None, session=None, sessions=None),
        msgspec.structs.replace(rules, plan=msgspec.structs.replace(rules.plan, sessions=1, shards=1)),
    )
    judged = of_this_run([alone, *(record for record in records if not isinstance(record, Run))])
    try:
        report = decide_by(Inputs(judged, [], []), policy_at(alone, rules), RulesOptions(), next_plan).report
    except UserError:
        return []
    # each benchmark once
    found: dict[tuple[str, str], Suspect] = {}
    for finding in report.findings:
        if finding.verdict == "regression":
            place, estimate = (finding.benchmark, canonical(finding.factors)), finding.ratio.estimate
            size = max(estimate, 1 / estimate) if estimate else 1.0
            before = found.get(place, Suspect(finding.benchmark, finding.factors, of_time=False, ratio=1.0))
            of_time, ratio = before.of_time or finding.unit != _MEMORY, max(before.ratio, size)
            found[place] = Suspect(before.benchmark, before.factors, of_time, ratio)
    return sorted(found.values(), key=lambda each: -each.ratio)
