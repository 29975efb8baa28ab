"""Which of head's benchmarks a base without configuration runs: each is executed once there, built as head says."""

from __future__ import annotations

from gate.model import Failure
from gate.run.first_comparison import Runs
from gate.run.workshop import Workshop
from harness.loop.steps import ExecutionStep
from harness.process.budget import BudgetEndedError


def tried(made: Workshop) -> Runs | None:
    """Build base as head says, and execute each benchmark there once; None: the budget has ended.

    Raises:
        OSError: perfgate's own files cannot be written.
    """
    if not _has_directory(made):
        return Runs(frozenset(), None)
    try:
        return _tried(made)
    except BudgetEndedError:
        return None


def _has_directory(made: Workshop) -> bool:
    repository, revision = made.trees.repository, made.trees.sources.base.revision
    where = str(repository.prefix)
    return where == "." or repository.git.maybe("rev-parse", "--verify", "--quiet", f"{revision}:{where}") is not None


def _tried(made: Workshop) -> Runs:
    first = made.job.rounds[0]
    built = next(step for step in first.builds if step.side == "base")
    record = made.builder.build("base", 0, built.seed, built.factors)
    if isinstance(record, Failure):
        return Runs(frozenset(), record)
    benchmarks = {b.name: b for b in made.job.project.settings.sides["base"].benchmark}
    steps: dict[str, ExecutionStep] = {}
    for step in first.executions:
        if step.side == "base":
            steps.setdefault(step.benchmark, step)
    directory = made.builder.directory("base", built.factors)
    executions = made.executions(1)
    runs: set[str] = set()
    failures: list[Failure] = []
    try:
        for name, step in steps.items():
            done = executions.make(benchmarks[name], step, directory)
            runs |= {name} if done.executions else set()
            failures += done.failures if not done.executions else []
    finally:
        executions.end_round()
    return Runs(frozenset(runs), next(iter(failures), None))
