"""What the build and the benchmark of bad read: a commit that changes none of it can hardly be the culprit."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from gate.commands.bisect.range import RangeCommit
from gate.model import SIDES, Failure
from gate.run.job import Job
from gate.run.workshop import Workshop, one_path, workshop
from harness.build.builder import TreeBuilder
from harness.errors import HarnessError
from harness.loop.execution import Executions
from harness.process.budget import Budget, BudgetEndedError
from harness.source.trees import open_trees
from harness.trace.executor import TracedExecutor
from harness.trace.trace import Trace, tracing

WORTH = 8
"""Commits of a range from which on it is worth a traced build and a traced execution."""
_BLIND = ("no-tracer", "lost", "too-many", "architecture", "io-uring")
"""Doubts with which too much may be unseen."""


class Reads(msgspec.Struct, frozen=True):
    """Paths of the repository."""

    read: frozenset[str]
    """Opened, or asked for, whether they exist or not."""
    listed: frozenset[str]
    """Directories; "" is the root."""


@dataclass(frozen=True, slots=True)
class _Seen:
    paths: Collection[str]
    listed: Collection[str]


def reads_of(job: Job, benchmark: str, seconds: float) -> Reads | None:
    """Build bad once and run a benchmark once, both traced; None: nothing, or too little, could be seen.

    job: of both ends. benchmark: of a suite one of its lines. seconds: of the budget.

    Raises:
        Interrupted: a signal.
    """
    sides, budget = job.project.settings.sides, Budget(seconds)
    repository = job.project.repository
    try:
        with (
            open_trees(
                repository,
                job.project.sources,
                share_paths={side: sides[side].build.share for side in SIDES},
                budget=budget,
                one_path=one_path(job.project),
            ) as trees,
            workshop(job, trees, budget) as made,
            tracing(made.conditions.scratch) as trace,
        ):
            return _traced(made, trace, benchmark)
    except (HarnessError, BudgetEndedError, OSError):
        return None


def _traced(made: Workshop, trace: Trace, benchmark: str) -> Reads | None:
    job = made.job
    executor = TracedExecutor(made.conditions.executor, trace)
    # a build whose links are recorded or perturbed looks at the whole tree
    recipe = made.conditions.recipes["head"]
    plain = replace(recipe, table=msgspec.structs.replace(recipe.table, relink="off", perturb=[]))
    conditions = replace(made.conditions, executor=executor, recipes={**made.conditions.recipes, "head": plain})
    builder = TreeBuilder(conditions, made.trees, job.run.seed or 0, made.hint)
    step = job.rounds[0].builds[0]
    if isinstance(builder.build("head", 0, step.seed), Failure):
        return None
    executions = Executions(made.conditions, job.instruments.by_name, 1, (), made.hint)
    configured = {each.name: each for each in job.project.settings.sides["head"].benchmark}
    wanted = next(
        (
            each
            for each in job.rounds[0].executions
            if each.side == "head" and (each.benchmark == benchmark or benchmark.startswith(f"{each.benchmark}/"))
        ),
        None,
    )
    if wanted is None:
        return None
    directory = builder.directory("head", {})
    ran = executions.unmeasured(configured[wanted.benchmark], wanted, directory, trace=trace)
    executions.end_round()
    accesses = trace.accesses()
    if ran.failure is not None or any(each.kind in _BLIND for each in accesses.doubts):
        return None
    seen = _Seen(accesses.read | accesses.written, accesses.listed)
    return _inside(seen, made.trees.place("head"))


def _inside(seen: _Seen, root: Path) -> Reads:
    top = os.path.realpath(root)
    above = f"{top}/"
    return Reads(
        frozenset(path[len(above) :] for path in seen.paths if path.startswith(above)),
        frozenset(path[len(above) :] for path in seen.listed if path == top or path.startswith(above)),
    )


def untouched(commits: Sequence[RangeCommit], reads: Reads | None) -> frozenset[int] | None:
    """Return the numbers of the commits that change nothing of what is read, bad left out; None: that is unknown."""
    if reads is None:
        return None
    return frozenset(
        number
        for number, commit in enumerate(commits[:-1], 1)
        if not any(
            (path in reads.read or (path in commit.moved and path.rpartition("/")[0] in reads.listed))
            for path in commit.paths
        )
    )
