"""What a run will measure: its schedule and first line, warnings before time is spent, what a resumed run must find."""

from __future__ import annotations

import dataclasses
import datetime
import os
import secrets
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from gate import __version__
from gate.cli.groups import MeasureOptions
from gate.config.resolve import Settings
from gate.config.rules import (
    FIRST_STARTS,
    TRIED_STARTS,
    executions_of,
    goes_by_starts,
    is_counted,
    is_divisible,
    is_single,
    most_builds,
)
from gate.config.schema import to_tables
from gate.config.shards import JobPart, part_of, part_warnings, refuse_other_part, session_seed
from gate.config.study import Study
from gate.config.treatments import PlannedTreatment, baseline
from gate.config.types import Builds, Config
from gate.model import SIDES, Memory, Record, Run, Side, Turn, UserError
from gate.model.case import pairs, quantile_of
from gate.model.sandbox import Sandboxed
from gate.model.study import Setting
from gate.model.warnings import AnyWarning
from gate.model.warnings.base import Said
from gate.run import run_folder
from gate.run.duration import budget_warnings
from gate.run.first_comparison import as_begun
from gate.run.memory import control_warnings, recall_memory
from gate.run.project import Project, of_shard
from gate.run.refusal import is_foreign
from gate.stats.centers import needed_values
from gate.store.memory import HistoryError
from gate.writing.phrases import joined
from gate.writing.units import plural
from harness.host.facts import facts
from harness.instruments.declaration import Instruments, choose
from harness.instruments.spawn import Spawn
from harness.loop.schedule import Round, schedule
from harness.sandbox.sandbox import examined


@dataclass(frozen=True, slots=True)
class JobTreatments:
    """The treatments that a job measures, and the study that says what they are; none: every factor stays as it is."""

    study: Study | None
    planned: tuple[PlannedTreatment, ...]

    def with_baseline(self, settings: Settings) -> Settings:
        """Give every factor that is not varied its first setting, so that what its commands say can be run."""
        sides = {side: self._at_baseline(config) for side, config in settings.sides.items()}
        return dataclasses.replace(settings, sides=sides, rules=self._at_baseline(settings.rules))

    def _at_baseline(self, config: Config) -> Config:
        if config.study is None:
            return config
        varied = self.study.factor if self.study else {}
        rest = {name: settings for name, settings in config.study.factor.items() if name not in varied}
        if not rest:
            return config
        others = msgspec.structs.replace(config.study, factor=rest)
        fixed = baseline(msgspec.structs.replace(config, study=others))
        return msgspec.structs.replace(fixed, study=config.study)


NONE = JobTreatments(None, ())


@dataclass(frozen=True, slots=True)
class Earlier:
    """What a study that goes on has measured already."""

    executions: int
    planned: int
    """Executions."""
    replicates: int
    """Complete ones."""
    planned_replicates: int
    rounds: int
    """Planned."""


@dataclass(frozen=True, slots=True)
class Job:
    """What will be measured: the schedule and everything that a resumed run must find unchanged.

    part: which part of the gate, where several jobs measure; None: all of it. treated: of a study, the treatments that
    are measured. resumes: whether it goes on with the run in its folder. earlier: of a plan of what is left of a study;
    None: the rounds are all of it. slowdown: in a drill, of head, as a share.
    """

    project: Project
    run: Run
    out: Path
    rounds: Sequence[Round]
    instruments: Instruments
    part: JobPart | None
    treated: JobTreatments = NONE
    resumes: bool = False
    earlier: Earlier | None = None
    slowdown: float = 0.0

    def of(self, project: Project) -> Job:
        """Return the job that measures the benchmarks of a project's sides by the same plan and seed."""
        sources = project.sources
        # what was said of the sides before is said of these
        before, now = self.project.settings.warnings, project.settings.warnings
        run = msgspec.structs.replace(
            self.run, base=sources.base.commit, chosen=str(sources.choice), choice=sources.choice,
            benchmarks=_expected(project), warnings=[*now, *(each for each in self.run.warnings if each not in before)],
        )  # fmt: skip
        return replace(self, project=project, run=run, rounds=_rounds(project, run))

    def told(self, *warnings: AnyWarning) -> Job:
        """Return the job whose report begins with more warnings."""
        return replace(self, run=msgspec.structs.replace(self.run, warnings=[*self.run.warnings, *warnings]))

    @property
    def session(self) -> int:
        """Which session the lines of this job are of."""
        return self.part.session if self.part else 0


def prepare(project: Project, options: MeasureOptions, out: Path, *, remembers: bool = True, early: bool = True) -> Job:
    """Lay out the run; for --resume with the seed of the run that was interrupted, if there is one.

    out: the folder of the run. remembers: whether what is remembered of this host counts. early: whether looks may end
    it before the plan does.

    Raises: UserError: nothing to measure, or a run that cannot be resumed.
    """
    settings = project.settings
    if not any(settings.benchmarks.values()):
        name = settings.texts["head"].name
        raise UserError(f"{name} has no [[benchmark]]: add one; `perfgate init --force` proposes some")
    part = part_of(options.shard, options.session, options.sessions, settings.rules.plan)
    if part is not None:
        project = of_shard(project, part.shard)
    project = replace(project, settings=NONE.with_baseline(project.settings))
    past = run_folder.interrupted(out) if options.resume else None
    if past is not None:
        project = as_begun(project, past)
    instruments = instruments_of(project)
    host = {**facts(), **instruments.versions}
    memory: Memory | None = None
    recalled = list[AnyWarning]()
    # what one machine remembers is of no use to the others
    if remembers and part is None:
        try:
            memory, _ = recall_memory(options.history, project, host)
        except HistoryError as error:
            recalled.append(Said(f"the memory of this host is not used: {error}", "memory-unused", "later"))
        recalled += control_warnings(options.history)
    rules = project.settings.rules
    run = run_line(project, part, seed_of(options.seed, part, past), host, early=early)
    run = msgspec.structs.replace(run, sandbox=_sandboxed(rules, instruments))
    run = msgspec.structs.replace(
        run,
        warnings=[
            *run.warnings,
            *instruments.warnings,
            *recalled,
            *plan_warnings(rules, memory, part.sessions if part else 1),
            *(part_warnings(rules.plan) if part else ()),
        ],
        memory=memory,
    )
    if past is not None:
        refuse_other_part(past, run, out)
        run_folder.refuse_other(past, run, out)
        run = past
    rounds = _rounds(project, run)
    if past is None:
        run = msgspec.structs.replace(run, warnings=[*run.warnings, *budget_warnings(rounds, out, rules, run)])
    return Job(project, run, out, rounds, instruments, part, resumes=past is not None)


def counted(job: Job, records: Sequence[Record]) -> Sequence[Round]:
    """Lay out the rounds of a job by what its first starts showed, and how short its turns are."""
    from gate.decide.starts import counting

    count = counting(job.run, job.project.settings.rules)
    short = {each.benchmark: each.executions for each in records if isinstance(each, Turn)}
    starts = {} if count is None else count(records)
    return _rounds(job.project, job.run, starts | short)[: len(job.rounds)]


def by_starts(job: Job) -> list[str]:
    """Name the benchmarks that go start by start in a job."""
    rules = job.project.settings.rules
    return [b.name for b in rules.benchmark if job.run.turns and goes_by_starts(rules, b.name)]


def divisible(job: Job) -> list[str]:
    """Name the benchmarks of a job whose executions may be divided."""
    rules = job.project.settings.rules
    return [b.name for b in rules.benchmark if job.run.turns and is_divisible(rules, b.name)]


def _rounds(project: Project, run: Run, starts: Mapping[str, int] = MappingProxyType({})) -> Sequence[Round]:
    """Lay out the rounds; starts: the executions of a side in each, where they are counted or shorter than planned."""
    rules = project.settings.rules
    names = [b.name for b in rules.benchmark]
    own = [name for name in names if run.turns and goes_by_starts(rules, name)]
    return schedule(
        project.settings.benchmarks, run.looks or most_builds(rules.plan, early=False), rules.plan.executions,
        run.seed or 0, {name for name in names if is_single(rules, name)}, rules.build.layouts,
        {name: executions_of(rules, name) for name in own} | dict(starts),
        {name: (TRIED_STARTS, FIRST_STARTS) for name in own if is_counted(rules, name)},
    )  # fmt: skip


def instruments_of(project: Project) -> Instruments:
    """Choose what measures the benchmarks of a project."""
    used = {b.instrument for side in SIDES for b in project.settings.sides[side].benchmark}
    if "hyperfine" in used and is_foreign():
        # hyperfine runs inside with the program, which could change what it writes
        found = choose({*used, "spawn"} - {"hyperfine"}, os.environ)
        return replace(found, by_name={**found.by_name, "hyperfine": found.by_name["spawn"]})
    return choose(used, os.environ)


def seed_of(given: int | None, part: JobPart | None, past: Run | None) -> int | None:
    """Return the seed of a run: the one given, of the run that is resumed, or a new one."""
    if given is None:
        return past.seed if past else secrets.randbits(32)
    return session_seed(given, part.session) if part else given


def run_line(
    project: Project, part: JobPart | None, seed: int | None, host: dict[str, Any], *, early: bool = True
) -> Run:
    """Make the first line of a run; early: whether looks may end it, if its plan and its interval allow that."""
    settings = project.settings
    plan = settings.rules.plan
    early = early and part is None and not settings.rules.gate.interval.startswith("bootstrap")
    return Run(
        id=f"{datetime.datetime.now(tz=datetime.UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}",
        created=now(),
        perfgate=__version__,
        seed=seed,
        looks=most_builds(plan) if early and isinstance(plan.builds, Builds) else None,
        shard=str(part.shard) if part and part.shard.of > 1 else None,
        sessions=part.sessions if part and part.sessions > 1 else None,
        session=part.session if part else None,
        base=project.sources.base.commit,
        head=project.sources.head.commit,
        host=host,
        config=to_tables(settings.rules),
        chosen=str(project.sources.choice),
        choice=project.sources.choice,
        typed=[*project.asked.typed] or None if part is None else None,
        rules=str(project.whose),
        whose=project.whose,
        benchmarks=_expected(project),
        commands={
            b.name: b.command if isinstance(b.command, str) else shlex.join(b.command) for b in settings.rules.benchmark
        },
        warnings=list(settings.warnings),
        turns=settings.rules.study is None,
    )


def _sandboxed(rules: Config, instruments: Instruments) -> Sandboxed:
    """Return what the sandbox will be, and what is measured inside.

    Raises: UserError: it is required, and there is none.
    """
    found = examined(rules.plan.sandbox)
    if found.on:
        # spawn's launcher stays outside; all others run together with the program
        inside = [b.name for b in rules.benchmark if not isinstance(instruments.by_name.get(b.instrument), Spawn)]
        return msgspec.structs.replace(found, forgeable=inside)
    if found.why == "asked" and any(each.against for each in rules.benchmark):
        return msgspec.structs.replace(found, why="programs")
    if rules.plan.sandbox == "require":
        raise UserError(f'plan.sandbox = "require", and the sandbox is {found!s}')
    return found


def _expected(project: Project) -> dict[Side, list[str]]:
    benchmarks = project.settings.benchmarks.items()
    return {side: [name for name in names if name not in project.narrowed] for side, names in benchmarks}


def now() -> str:
    """Return the time as a record has it."""
    return datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def treatment_name(benchmark: str, factors: Mapping[str, Setting]) -> str:
    """Name a benchmark at a treatment: "latency (load=busy, clients=8)"."""
    return f"{benchmark} ({pairs(factors)})" if factors else benchmark


# --- warnings before time is spent ------------------------------------------------------------------------------------


def plan_warnings(rules: Config, memory: Memory | None, sessions: int = 1) -> list[AnyWarning]:
    """Say that the plan has too few builds for a verdict.

    memory: what is remembered of the machine. sessions: how often all of the plan is measured.
    """
    stops = not rules.gate.interval.startswith("bootstrap") and sessions == 1
    builds, needed = most_builds(rules.plan, early=stops), rules.gate.min_builds
    if builds * sessions >= needed:
        return []
    moderates = memory is not None and rules.gate.interval in ("auto", "fieller-moderated")
    exact = any(b.measured.exact or any(m.exact for m in b.metric.values()) for b in rules.benchmark)
    can = ["only exact counts"] if exact else []
    can += ["benchmarks remembered on this host" if can else "only benchmarks remembered on this host"] * moderates
    text = f"plan.builds = {builds} is below gate.min_builds = {needed}: {joined(can) or 'nothing'} can show a change"
    return [Said(text, "few-builds")]


def quantile_warnings(rules: Config) -> list[str]:
    """Name the quantiles that the plan cannot judge, for before measuring.

    A program may write more values than the plan asks for, so the report says it only of what was measured.
    """
    per_build = rules.plan.executions * rules.plan.iterations
    texts = []
    for b in rules.benchmark:
        for name, metric in b.metric.items():
            for statistic in metric.compared:
                tau = quantile_of(statistic)
                needs = needed_values(tau) if tau is not None else 0
                if needs > per_build:
                    texts.append(
                        f"{b.name}: {statistic} of {name} needs {needs} values per build, the plan has {per_build} "
                        f"({plural(rules.plan.executions, 'start')} x {plural(rules.plan.iterations, 'value')})"
                    )
    return texts
