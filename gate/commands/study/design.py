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
from gate.cli.values import MOST_JOBS
from gate.commands.study.options import StudyOptions
from gate.config.command_checks import unused
from gate.config.instruments import command_metrics
from gate.config.resolve import tables_of as tables_of_options
from gate.config.rules import matches
from gate.config.source import ConfigError
from gate.config.study import SettingTable, Study
from gate.config.treatments import (
    SIDE,
    Job,
    Planned,
    builds_of,
    jobs,
    labels_of,
    model_factors,
    sessions_of,
    treatments,
    variable,
)
from gate.config.types import BuildTable, Config
from gate.model import SIDES, Side, UserError
from gate.model.choice import Choice
from gate.model.study import Factor
from gate.model.warnings import AnyWarning
from gate.model.warnings.study import FactorUnused, OnOneSide, ResponseUndeclared
from gate.run.project import Project, open_itself, open_project, selected
from gate.units import Duration


@dataclass(frozen=True, slots=True)
class Design:
    """A study of a project."""

    project: Project
    """Its rules hold the study's own plan."""
    study: Study
    factors: tuple[Factor, ...]
    """As the linear model has them."""
    planned: tuple[Planned, ...]
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
) -> Iterator[Design]:
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
        if SIDE in _study_of(project).factor:
            project = held.enter_context(open_project(base, head, options, outputs))
        elif base is not None:
            raise UserError(f'--base {base}: this study has no base: add side = ["base", "head"] to [study.factor]')
        else:
            sources = dataclasses.replace(project.sources, choice=Choice(None, project.sources.choice.head))
            project = dataclasses.replace(project, sources=sources)
        yield _designed(project)


_OF_STUDIES = {"budget": "budget", "builds": "builds", "executions": "replicates"}
"""Keys of [plan] that a study does not read, each with its own for the same."""


def _designed(project: Project) -> Design:
    study = _study_of(project)
    if not project.settings.rules.benchmark:
        raise ConfigError(project.settings.decisive.name, "has no [[benchmark]]: add one; `perfgate init` writes some")
    project = _planned(selected(project, study.benchmarks, where="study.benchmarks"), study)
    builds = builds_in(project)
    planned = treatments(study, *builds)
    sides = {each.side for each in planned}
    names = project.settings.benchmarks
    benchmarks = tuple(b.name for b in project.settings.rules.benchmark if all(b.name in names[side] for side in sides))
    if not benchmarks:
        name = project.settings.texts["head"].name
        raise UserError(
            f"{name} has no [[benchmark]] that this study can measure: add one; `perfgate init` writes some"
        )
    lacking = [b.name for b in project.settings.rules.benchmark if b.name not in benchmarks]
    warnings: tuple[AnyWarning, ...] = (
        *map(OnOneSide, lacking),
        *_undeclared(study, project.settings.rules, benchmarks),
        *_unused(study, project),
    )
    return Design(project, study, tuple(model_factors(study, *builds)), planned, benchmarks, warnings)


def _undeclared(study: Study, rules: Config, names: Collection[str]) -> list[ResponseUndeclared]:
    """Name the responses that no benchmark has, where it is known which metrics each has: probably misspelt."""
    measured = [b for b in rules.benchmark if b.name in names]
    known = [{*b.metric, *command_metrics(b.instrument)} for b in measured]
    if not all(known):
        return []
    declared = sorted(set().union(*known))
    unknown = [glob for glob in study.responses or () if not any(matches(glob, metric) for metric in declared)]
    return [ResponseUndeclared(glob, tuple(declared)) for glob in unknown]


def _unused(study: Study, project: Project) -> list[FactorUnused]:
    """Name the factors that no command has, of either side: probably forgotten."""
    settings = project.settings
    configs = [settings.rules, *settings.sides.values()]
    lacking = [name for name in study.factor if all(name in unused(study, config) for config in configs)]
    return [FactorUnused(name, variable(name)) for name in lacking]


def _study_of(project: Project) -> Study:
    study = project.settings.rules.study
    if study is None:
        example = "[study.factor] with a line for each factor, such as clients = [1, 8], and {clients} in a command"
        raise ConfigError(project.settings.decisive.name, f"has no [study]: write {example}")
    return study


def _planned(project: Project, study: Study) -> Project:
    """Lay the study's counts and budget over those of a check."""
    settings = project.settings
    plan = msgspec.structs.replace(
        settings.rules.plan,
        builds=builds_of(study),
        # a study measures treatments by turns
        pairing="interleaved",
        iterations=study.iterations or settings.rules.plan.iterations,
        budget=Duration(float(study.budget)),
    )
    rules = msgspec.structs.replace(settings.rules, plan=plan)
    return dataclasses.replace(project, settings=dataclasses.replace(settings, rules=rules))


def builds_in(project: Project) -> tuple[BuildTable, BuildTable]:
    """Return the [build] of both sides, head's first; what either of them names is what builds depend on."""
    sides = project.settings.sides
    return sides["head"].build, sides["base"].build


def tables_of(study: Study, factor: str) -> dict[str, SettingTable]:
    """Return what the settings of a factor give, by name; {} where they are plain."""
    settings = study.factor[factor]
    return settings if isinstance(settings, dict) else {}


def bound_sessions(study: Study) -> int:
    """Count the sessions that factors name: one more than the last of them; 0 where none is named."""
    tables = (table for name in study.factor for table in tables_of(study, name).values())
    return max((number + 1 for table in tables for number in sessions_of(table)), default=0)


def bound_runners(study: Study) -> list[str]:
    """Name the runners that factors name, in their order, each as the option --runner has it."""
    tables = (table for name in study.factor for table in tables_of(study, name).values())
    return list(dict.fromkeys(",".join(labels_of(table.runner)) for table in tables if table.runner is not None))


def print_matrix(options: StudyOptions, rules: RulesOptions, out: TextIO) -> int:
    """Print one line of JSON: {"include": [{"session", "sessions", "runner", "label", "name"}, ...]}.

    runner is what runs-on takes, null where no factor names one; label is the same as the option --runner has it.

    Raises:
        UserError: no [study], a config that is wrong, or more jobs than a workflow may have.
    """
    with open_design(options.base, options.head, rules) as design:
        found = jobs(design.study, design.planned, options.sessions or design.project.settings.rules.plan.sessions)
    if len(found) > MOST_JOBS:
        raise UserError(
            f"this study has {len(found)} jobs, and a matrix has at most {MOST_JOBS}: ask for fewer with --sessions"
        )
    out.write(json.dumps({"include": [_job(each) for each in found]}, separators=(",", ":")) + "\n")
    return 0


def _job(job: Job) -> dict[str, object]:
    label = ",".join(labels_of(job.runner)) if job.runner is not None else ""
    session = f"session {job.session} of {job.sessions}"
    return {
        "session": job.session,
        "sessions": job.sessions,
        "runner": job.runner,
        "label": label,
        "name": f"{label}, {session}" if label else session,
    }
