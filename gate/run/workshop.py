"""What builds and executes: processes, recipes, shims and a place for outputs, as long as the trees of a run stand."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace

import msgspec

from gate.config.commands import paths_named
from gate.config.rules import matches
from gate.config.types import Config
from gate.model import SIDES, Side
from gate.model.names import BUILD_TIME
from gate.model.warnings.setup import BASE_WITHOUT_CONFIG
from gate.removal import remove_tree
from gate.run.first_comparison import nothing_to_compare
from gate.run.hints import hints
from gate.run.job import Job
from gate.run.project import Project
from gate.run.refusal import build_cache, is_proposed
from harness.build.builder import TreeBuilder
from harness.build.cache import BuildCache, directory_of
from harness.build.conditions import Conditions, Recipe, in_project, keeps_by_path
from harness.build.perturb import make_shims, uses_go
from harness.build.work import links
from harness.host.shims import behind
from harness.instruments import active_clock
from harness.loop.execution import Executions
from harness.process.affinity import before_others
from harness.process.budget import BoundedExecutor, Budget
from harness.process.execute import Executor, ProcessExecutor, clean_environment
from harness.sandbox.home import named
from harness.sandbox.sandbox import Ground, Landlocked, Sandbox
from harness.source.repository import Hint, files_at
from harness.source.trees import Trees
from harness.source.workdir import RUNNING

OUTPUTS = "outputs"
"""In the work directory: what commands give."""
_MADE = (OUTPUTS, "shims", "links", "home", "home-base", "home-head")
"""What a workshop makes there."""


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
        builder = TreeBuilder(self.conditions, self.trees, job.run.seed or 0, self.hint, _cache(job))
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

    Raises: OSError: its files cannot be written.
    """
    settings = job.project.settings
    # in the work directory, which the next run removes should this one be killed
    scratch, shims = trees.directory / OUTPUTS, trees.directory / "shims"
    for name in _MADE:
        # of another base, which was tried before
        remove_tree(trees.directory / name)
    scratch.mkdir()
    paths, commands = _paths(job.project), _commands(job.project)
    # by the project's own layouts: a calibration, which draws its own, measures the programs of a check
    aligned = all(settings.sides[side].build.layouts == "common" for side in SIDES)
    benchmarks = [each for side in SIDES for each in settings.sides[side].benchmark]
    clock = any(each.instrument == "go" for each in benchmarks)
    make_shims(shims, os.environ, go=uses_go(paths, commands), aligned=aligned, clock=clock)
    if any(each.measured.own_clock and each.clock == "active" for each in benchmarks):
        active_clock.build(shims, os.environ)
    with (
        before_others(),
        closing(ProcessExecutor(trees.directory / RUNNING, (trees.directory, trees.repository.top))) as processes,
        ExitStack() as stack,
    ):
        kept = in_project(paths, commands)
        recipes = {side: _recipe(settings.sides[side], job.project, kept) for side in SIDES}
        sandbox = _sandbox(job, trees, recipes, (paths, commands), stack)
        trees.own = sandbox.own
        executor, study = BoundedExecutor(processes, budget), job.treated.study
        prefix = trees.repository.prefix
        conditions = Conditions(
            executor, recipes, os.environ, scratch, shims, job.session, study, budget, sandbox, prefix,
            {"head": job.slowdown} if job.slowdown else {},
        )  # fmt: skip
        hint = hints(job)
        builder = TreeBuilder(conditions, trees, job.run.seed or 0, hint, _cache(job))
        yield Workshop(job, trees, conditions, builder, hint, processes)


def _cache(job: Job) -> BuildCache | None:
    """Return what keeps first builds of a job: of a proposal only base's, by base's own recipe."""
    sandboxed = job.run.sandbox is not None and job.run.sandbox.on
    # without a base to compare with, what stands for it is head
    alone = BASE_WITHOUT_CONFIG in job.project.settings.warnings or nothing_to_compare(job.run) is not None
    if is_proposed() and alone:
        return None
    return build_cache(sandboxed=sandboxed)


def _sandbox(
    job: Job, trees: Trees, recipes: Mapping[Side, Recipe], used: tuple[list[str], list[str]], stack: ExitStack
) -> Sandbox:
    """Return what confines the commands of a run, as its first line tells."""
    if job.run.sandbox is None or not job.run.sandbox.on:
        return Sandbox()
    sides, work = job.project.settings.sides, trees.directory
    builds = directory_of(os.environ)
    ground = Ground(
        work=work, outputs=work / OUTPUTS, project=trees.repository.project,
        write={side: sides[side].build.write for side in SIDES},
        environments={side: recipes[side].environment for side in SIDES},
        links={side: links(work, side) for side in SIDES}, copied=is_proposed(), one_path=trees.one_path,
        names=named(*used), git=trees.repository.common, kept=None if builds is None else builds.parent / "caches",
        texts=_commands(job.project, ("base",) if is_proposed() else SIDES),
    )  # fmt: skip
    return stack.enter_context(closing(Landlocked(ground)))


def one_path(project: Project) -> bool:
    """Return whether both sides can stand at one path: nothing of one is there while the other is built or executed."""
    if project.compares_programs:
        return False
    benchmarks = [benchmark for config in project.settings.sides.values() for benchmark in config.benchmark]
    if any(b.service is not None and b.service.per == "build" for b in benchmarks):
        return False
    return not keeps_by_path(_commands(project))


def _recipe(config: Config, project: Project, kept: Mapping[str, str]) -> Recipe:
    """Return how a side is built; kept: variables that the user may have set otherwise.

    Where callgrind counts, paths do not vary: programs spend instructions on them. Where the time of builds is decided,
    none is linked from what another one compiled.
    """
    counts = any(b.measured.exact for b in config.benchmark)
    perturb = [each for each in config.build.perturb if not (counts and each == "path")]
    timed = config.build.relink == "auto" and any(
        matches(glob, BUILD_TIME) for glob in project.settings.rules.plan.metrics or ()
    )
    relink = "off" if timed else config.build.relink
    table = msgspec.structs.replace(config.build, perturb=perturb, relink=relink)
    named = paths_named(benchmark.command for benchmark in config.benchmark)
    environment = {**kept, **clean_environment(os.environ, config.env.pass_, config.env.set)}
    return Recipe(table, direct(project, environment), named)


def direct(project: Project, environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return the environment of a side's commands, in which version managers' shims start nothing."""
    return behind(environment, _commands(project), _paths(project))


def _paths(project: Project) -> list[str]:
    """Name the files of both sides."""
    revisions = {project.sources.of(side).revision for side in SIDES}
    return [entry.path for revision in revisions for entry in files_at(project.repository, revision)]


def _commands(project: Project, sides: Sequence[Side] = SIDES) -> list[str]:
    """List all that is run on both sides, a list of words as a text."""
    found: list[str | list[str] | None] = []
    for config in (project.settings.sides[side] for side in sides):
        found += [config.build.setup, config.build.command, config.build.relink]
        for benchmark in config.benchmark:
            companions = (benchmark.service, benchmark.load)
            found += [benchmark.command, benchmark.prepare, benchmark.cleanup]
            found += [each.command for each in companions if each is not None]
    return [" ".join(command) if isinstance(command, list) else command for command in found if command]
