"""What builds and executes: processes, recipes, shims and a place for outputs, as long as the trees of a run stand."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace

import msgspec

from gate.config.types import Config
from gate.model import SIDES, Failure
from gate.run.build_cache import build_cache
from gate.run.job import Job
from gate.run.project import Project
from harness.build.builder import TreeBuilder
from harness.build.by_path import in_project, keeps_by_path
from harness.build.conditions import Conditions, Recipe
from harness.build.perturb import make_shims, uses_go
from harness.loop.execution import Executions
from harness.process.budget import BoundedExecutor, Budget
from harness.process.execute import Executor, ProcessExecutor, clean_environment
from harness.source.repository import files_at
from harness.source.trees import Trees
from harness.source.untracked import Hint, checkout_hint
from harness.source.workdir import RUNNING


@dataclass(frozen=True, slots=True)
class Workshop:
    """What builds the sides of a job, and executes their benchmarks."""

    job: Job
    trees: Trees
    conditions: Conditions
    builder: TreeBuilder
    hint: Hint
    processes: Executor
    """Starts processes without a budget."""

    def afresh(self, job: Job) -> Workshop:
        """Return what builds and executes for another job in these trees, which holds nothing of what was built."""
        self.trees.remove("base")
        builder = TreeBuilder(self.conditions, self.trees, job.run.seed or 0, self.hint, build_cache())
        return replace(self, job=job, builder=builder)

    def executions(self, iterations: int, within: Budget | None = None) -> Executions:
        """Return what makes executions of so many iterations; within: another budget than that of the run."""
        conditions = self.conditions
        if within is not None:
            conditions = replace(conditions, executor=BoundedExecutor(self.processes, within), budget=within)
        return Executions(conditions, self.job.instruments.by_name, iterations, self.job.treated.planned, self.hint)


@contextmanager
def workshop(job: Job, trees: Trees, budget: Budget) -> Iterator[Workshop]:
    """Give what builds and executes in trees, within a budget; in the end no process of it is left.

    Raises:
        OSError: its files cannot be written.
    """
    settings = job.project.settings
    # in the work directory, which the next run removes should this one be killed
    scratch, shims = trees.directory / "outputs", trees.directory / "shims"
    scratch.mkdir()
    paths, commands = _paths(job.project), _commands(job.project)
    # by the project's own layouts: a calibration, which draws its own, measures the programs of a check
    aligned = all(settings.sides[side].build.layouts == "common" for side in SIDES)
    make_shims(shims, os.environ, go=uses_go(paths, commands), aligned=aligned)
    with closing(ProcessExecutor(trees.directory / RUNNING, (trees.directory, trees.repository.top))) as processes:
        kept = in_project(paths, commands)
        recipes = {side: _recipe(settings.sides[side], kept) for side in SIDES}
        executor, study = BoundedExecutor(processes, budget), job.treated.study
        conditions = Conditions(executor, recipes, os.environ, scratch, shims, job.session, study, budget)
        hint = _hint(job.project)
        builder = TreeBuilder(conditions, trees, job.run.seed or 0, hint, build_cache())
        yield Workshop(job, trees, conditions, builder, hint, processes)


def one_path(project: Project) -> bool:
    """Return whether both sides can stand at one path: nothing of one is there while the other is built or executed."""
    if project.settings.rules.plan.pairing == "duet":
        return False
    benchmarks = [benchmark for config in project.settings.sides.values() for benchmark in config.benchmark]
    if any(b.service is not None and b.service.per == "build" for b in benchmarks):
        return False
    return not keeps_by_path(_commands(project))


def _recipe(config: Config, kept: Mapping[str, str]) -> Recipe:
    """Return how a side is built; kept: variables that the user may have set otherwise.

    Where callgrind counts, paths do not vary: programs spend instructions on them.
    """
    counts = any(b.measured.exact for b in config.benchmark)
    perturb = [each for each in config.build.perturb if not (counts and each == "path")]
    table = msgspec.structs.replace(config.build, perturb=perturb)
    return Recipe(table, {**kept, **clean_environment(os.environ, config.env.pass_, config.env.set)})


def _paths(project: Project) -> list[str]:
    """Name the files of both sides."""
    revisions = {project.sources.of(side).revision for side in SIDES}
    return [entry.path for revision in revisions for entry in files_at(project.repository, revision)]


def _commands(project: Project) -> list[str]:
    """List all that is run on both sides, a list of words as a text."""
    found: list[str | list[str] | None] = []
    for config in project.settings.sides.values():
        found += [config.build.setup, config.build.command, config.build.relink]
        for benchmark in config.benchmark:
            companions = (benchmark.service, benchmark.load)
            found += [benchmark.command, *(each.command for each in companions if each is not None)]
    return [" ".join(command) if isinstance(command, list) else command for command in found if command]


def _hint(project: Project) -> Hint:
    """Return hints about missing files that know that each side shares what its own config says."""
    missing = checkout_hint(project.repository)
    shares = {side: set(project.settings.sides[side].build.share) for side in SIDES}

    def hint(failure: Failure, unstarted: bool) -> str | None:
        found = missing(failure, unstarted)
        if found is None or failure.side != "base" or shares["head"] <= shares["base"]:
            return found
        more = ", ".join(sorted(shares["head"] - shares["base"]))
        return (
            f"{found}. Head's perfgate.toml shares {more}, base's does not: use head's for both sides with "
            "--config perfgate.toml, or put it on the default branch first"
        )

    return hint
