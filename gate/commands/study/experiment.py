"""The study of a checkout: its project, factors and treatments; has a base only if `side` is a factor."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Iterator
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
from gate.config.rules import matches
from gate.config.study import Study
from gate.model import SIDES, Side, UserError
from gate.model.records import Choice
from gate.model.study import Factor
from gate.model.warnings import AnyWarning
from gate.model.warnings.base import Said
from gate.run.project import Project, open_itself, open_project, selected
from gate.writing.phrases import listed
from gate.writing.units import Duration


@dataclass(frozen=True, slots=True)
class Experiment:
    """A study of a project."""

    project: Project
    """Its rules hold the study's own plan."""
    study: Study
    factors: tuple[Factor, ...]
    """As the linear model has them."""
    planned: tuple[planning.PlannedTreatment, ...]
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

    Raises: UserError: no [study], a config that is wrong, or more jobs than a workflow may have.
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
