"""The study of a checkout: its project, factors and treatments; has a base only if `side` is a factor."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import msgspec

from gate.cli.groups import RulesOptions
from gate.cli.option_values import MOST_JOBS
from gate.commands.study.options import StudyOptions
from gate.config import treatments as planning
from gate.config.benchmark_checks import unused
from gate.config.config_text import ConfigError
from gate.config.instruments import command_metrics
from gate.config.resolve import tables_of as tables_of_options
from gate.config.rules import is_single, matches
from gate.config.study import Study
from gate.config.types import Config
from gate.evidence.records import Located
from gate.evidence.runs import File, config_of, files_of
from gate.model import SIDES, UNBUILT, Build, Execution, Failure, HostState, Record, Side, UserError
from gate.model.case import canonical
from gate.model.records import Choice
from gate.model.study import Factor
from gate.model.warnings import AnyWarning, typed
from gate.model.warnings.base import Said
from gate.run.project import Project, open_itself, open_project, selected
from gate.units import Duration
from gate.writing.phrases import listed

ONE_REPLICATE, BUILT_ONCE = "one-replicate", "built-once"
"""Warnings of a design that more replicates or builds make untrue."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """A study of a project."""

    project: Project
    """Its rules hold the study's own plan."""
    study: Study
    factors: tuple[Factor, ...]
    """As the linear model has them."""
    planned: tuple[planning.Planned, ...]
    """All treatments, whatever job measures them."""
    benchmarks: tuple[str, ...]
    """Names of what is measured, on every side that is."""
    warnings: tuple[AnyWarning, ...]
    """What is left out."""

    @property
    def sides(self) -> tuple[Side, ...]:
        """The sides that are built and measured."""
        return tuple(side for side in SIDES if any(each.side == side for each in self.planned))


@contextmanager
def open_design(
    base: str | None, head: str | None, options: RulesOptions, outputs: Collection[Path] = ()
) -> Iterator[Experiment]:
    """Find the project around the working directory and its [study]; base is looked for only where side is a factor.

    Args:
        base, head, outputs: as for open_project.

    Raises:
        UserError: no repository, no [study], a config that is wrong, or nothing to measure.
    """
    with ExitStack() as held:
        # refuse options that would change nothing
        for key, value in tables_of_options(tuple(options.sets)).get("plan", {}).items():
            if own := _OF_STUDIES.get(key):
                shown = "..." if isinstance(value, dict) else value
                why = f"a study has its own {own}: use `--set study.{own}={shown}`"
                raise ConfigError(f"plan.{key}", why, option="set")
        project = held.enter_context(open_itself(head, options, outputs))
        if planning.SIDE in _study_of(project).factor:
            project = held.enter_context(open_project(base, head, options, outputs))
        elif base is not None:
            raise UserError(f'--base {base}: this study has no base: add side = ["base", "head"] to [study.factor]')
        else:
            sources = dataclasses.replace(project.sources, choice=Choice(None, project.sources.choice.head))
            project = dataclasses.replace(project, sources=sources)
        yield _designed(project)


_OF_STUDIES = {"budget": "budget", "builds": "builds", "executions": "replicates"}
"""Keys of [plan] that a study does not read, each with its own for the same."""


def _designed(project: Project) -> Experiment:
    study = _study_of(project)
    if not project.settings.rules.benchmark:
        raise ConfigError(project.settings.decisive.name, "has no [[benchmark]]: add one; `perfgate init` writes some")
    project = selected(project, study.benchmarks, where="study.benchmarks")
    settings = project.settings
    # the study's counts and budget over those of a check
    plan = msgspec.structs.replace(
        settings.rules.plan,
        builds=planning.builds_of(study),
        iterations=study.iterations or settings.rules.plan.iterations,
        budget=Duration(float(study.budget)),
    )
    rules = msgspec.structs.replace(settings.rules, plan=plan)
    project = dataclasses.replace(project, settings=dataclasses.replace(settings, rules=rules))
    # what either side's [build] names is what builds depend on
    builds = settings.sides["head"].build, settings.sides["base"].build
    planned = planning.treatments(study, *builds)
    sides = {each.side for each in planned}
    names = project.settings.benchmarks
    benchmarks = tuple(b.name for b in project.settings.rules.benchmark if all(b.name in names[side] for side in sides))
    if not benchmarks:
        name = project.settings.texts["head"].name
        raise UserError(
            f"{name} has no [[benchmark]] that this study can measure: add one; `perfgate init` writes some"
        )
    every = project.settings.rules.benchmark
    alone = listed([b.name for b in every if b.name not in benchmarks])
    warnings: list[AnyWarning] = [Said(f"not measured, on one side only: {alone}", "on-one-side")] if alone else []
    # a response that no benchmark has is probably misspelt, where it is known which metrics each has
    known = [{*b.metric, *command_metrics(b.instrument)} for b in every if b.name in benchmarks]
    declared = tuple(sorted(set().union(*known))) if all(known) else ()
    unknown = (glob for glob in study.responses or () if not any(matches(glob, metric) for metric in declared))
    has = f"only {', '.join(declared)}"
    warnings += [Said(f"study.responses: no benchmark declares {glob}, {has}") for glob in unknown if declared]
    # a factor that no command has, of either side, is probably forgotten
    configs = [project.settings.rules, *project.settings.sides.values()]
    forgotten = (name for name in study.factor if all(name in unused(study, config) for config in configs))
    for name in forgotten:
        reads = f"so it changes nothing unless a program reads {planning.variable(name)}"
        warnings.append(Said(f"{name}: no command has {{{name}}}, {reads}", "factor-unused"))
    return Experiment(
        project, study, tuple(planning.model_factors(study, *builds)), planned, benchmarks, tuple(warnings)
    )


def _study_of(project: Project) -> Study:
    study = project.settings.rules.study
    if study is None:
        example = "[study.factor] with a line for each factor, such as clients = [1, 8], and {clients} in a command"
        raise ConfigError(project.settings.decisive.name, f"has no [study]: write {example}")
    return study


def print_matrix(options: StudyOptions, rules: RulesOptions, out: TextIO) -> int:
    """Print one line of JSON: {"include": [{"session", "sessions", "runner", "label", "name"}, ...]}.

    runner is what runs-on takes, null where no factor names one; label is the same as the option --runner has it.

    Raises:
        UserError: no [study], a config that is wrong, or more jobs than a workflow may have.
    """
    with open_design(options.base, options.head, rules) as design:
        found = planning.jobs(
            design.study, design.planned, options.sessions or design.project.settings.rules.plan.sessions
        )
    if len(found) > MOST_JOBS:
        raise UserError(
            f"this study has {len(found)} jobs, and a matrix has at most {MOST_JOBS}: ask for fewer with --sessions"
        )
    include = []
    for job in found:
        label = ",".join(planning.labels_of(job.runner)) if job.runner is not None else ""
        name = f"{f'{label}, ' if label else ''}session {job.session} of {job.sessions}"
        own = {"session": job.session, "sessions": job.sessions, "runner": job.runner, "label": label, "name": name}
        include.append(own)
    out.write(json.dumps({"include": include}, separators=(",", ":")) + "\n")
    return 0


def shares_in(records: Iterable[Record], config: Config | None, session: int) -> tuple[int, ...]:
    """Return the replicates of each round as last planned; () where no study is known."""
    planned: tuple[int, ...] = (
        planning.shares_of(config.study) if config is not None and config.study is not None else ()
    )
    for record in records:
        if isinstance(record, HostState) and record.session == session and record.replicates:
            planned = tuple(record.replicates)
    return planned


def still_true(warnings: Iterable[AnyWarning], shares: Sequence[int]) -> list[AnyWarning]:
    """Leave out what a run line warned of and more replicates or builds make untrue."""
    more = {ONE_REPLICATE: sum(shares) > 1, BUILT_ONCE: len(shares) > 1}
    return [each for each in warnings if not (isinstance(each, Said) and more.get(each.what))]


def begun_in(records: Iterable[Record], session: int) -> tuple[int, ...]:
    """Return of each round that has begun how many of its replicates have; 0: only its builds."""
    found: dict[int, int] = {}
    for record in records:
        if isinstance(record, (Build, Execution, Failure)) and record.session == session and record.build is not None:
            number = None if isinstance(record, Build) else record.execution
            found[record.build] = max(found.get(record.build, 0), 0 if number is None else number + 1)
    return tuple(found.get(build, 0) for build in range(max(found, default=-1) + 1))


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one session of a study has come."""

    session: int
    shares: tuple[int, ...]
    """The replicates of each round, by the last plan."""
    first_planned: int
    """Replicates, when it began."""
    complete: int
    """Replicates of which everything was executed that did not fail."""
    partial: int
    """Executions of the replicates that are not complete."""
    each: int
    """Executions of a replicate."""

    @property
    def planned(self) -> int:
        """Replicates, by the last plan."""
        return sum(self.shares)

    @property
    def finished(self) -> bool:
        """Whether all of the plan was measured."""
        return self.complete >= self.planned


def progress_of(records: Sequence[Located]) -> list[Progress]:
    """Return how far each session has come whose run line says how it was planned, in the order of the files."""
    found = map(_progress, files_of(records))
    return [each for each in found if each is not None]


def warnings_of_runs(records: Sequence[Located]) -> list[AnyWarning]:
    """Return what the run lines warn of as far as it is still true, and of replicates that were added."""
    found: list[AnyWarning] = []
    for file in files_of(records):
        progress = _progress(file)
        found += still_true(typed(file.run.warnings), progress.shares if progress else ())
        if progress is not None and progress.planned > progress.first_planned:
            counts = f"{progress.first_planned} planned, now {progress.planned}"
            why = "if its first results were the reason, claims are wrong more often than the p values say"
            text = f"replicates were added after the study had begun ({counts}): {why}"
            found.append(Said(text, "replicates-added"))
    return list(dict.fromkeys(found))


def _progress(file: File) -> Progress | None:
    run = file.run
    config = config_of(run)
    if config is None or config.study is None or run.benchmarks is None:
        return None
    session = run.session or 0
    shares = shares_in(file.records, config, session)
    runner = (run.host or {}).get("runner")
    every = planning.treatments(config.study, config.build)
    planned = planning.measured_by(
        config.study, every, session, ",".join(planning.labels_of(runner)) if runner else None
    )
    failures = [record for record in file.records if isinstance(record, Failure) and record.session == session]

    def is_out(name: str, planned: planning.Planned, failure: Failure) -> bool:
        """Return whether a failure ended a benchmark at a treatment, or what it needs was not built."""
        if failure.side not in (None, planned.side):
            return False
        if failure.kind in (*UNBUILT, "tree"):
            return all(planned.settings.get(factor) == setting for factor, setting in failure.factors.items())
        own = failure.benchmark is not None and f"{failure.benchmark}/".startswith(f"{name}/")
        return own and canonical(failure.factors) == canonical(planned.settings)

    # by benchmark, side and settings what is executed once a replicate
    cells = {
        (name, each.side, canonical(each.settings)): is_single(config, name)
        for each in planned
        for name in run.benchmarks.get(each.side, ())
        if not any(is_out(name, each, failure) for failure in failures)
    }
    made: dict[tuple[int, int], set[tuple[str, Side, str]]] = {}
    for record in file.records:
        if isinstance(record, Execution) and record.session == session:
            cell = (record.suite or record.benchmark, record.side, canonical(record.factors))
            made.setdefault((record.build, record.execution), set()).add(cell)
    places = [(build, number) for build, share in enumerate(shares) for number in range(share)]
    repeated = {cell for cell, single in cells.items() if not single}
    done = {place for place in places if (repeated if place[1] else cells.keys()) <= made.get(place, set())}
    partial = sum(len(each & cells.keys()) for place, each in made.items() if place not in done)
    return Progress(session, shares, config.study.replicates, len(done), partial, len(cells))
