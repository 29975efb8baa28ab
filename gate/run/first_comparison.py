"""The first pull request of a project: base has no configuration, and perhaps none of head's benchmarks runs there.

Then base lacks the benchmarks that it cannot run: they are new. Where it can run none, head is measured against itself.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import msgspec

from gate.model import Failure, Run, UserError
from gate.model.choice import AsHead, Choice
from gate.model.warnings import typed
from gate.model.warnings.setup import BaseWithoutConfig, NothingToCompare
from gate.run.project import Project
from gate.words.warnings.setup import base_lacks
from harness.source.base_and_head import Sources


@dataclass(frozen=True, slots=True)
class Runs:
    """Which of head's benchmarks base runs, and what became of the first that it does not."""

    benchmarks: frozenset[str]
    failure: Failure | None


def may_lack(project: Project) -> bool:
    """Return whether base may lack what head adds."""
    return BaseWithoutConfig() in project.settings.warnings


def lacking(project: Project, found: Runs, *, alone: bool) -> tuple[Project, NothingToCompare | None]:
    """Leave base what it runs; where that is nothing, say so, and take head for base.

    alone: one job measures all, so that it knows that nothing can be compared; otherwise base stays what it is.

    Raises:
        UserError: base is the pin of a creep check, and runs nothing.
    """
    if found.benchmarks:
        return _left(project, found.benchmarks), None
    failure = found.failure
    why = NothingToCompare(
        base=project.sources.base.commit.sha,
        itself=alone,
        failed=failure.kind if failure else "missing",
        benchmark=failure.benchmark if failure else None,
        status=failure.status if failure else "",
    )
    if project.pin is not None:
        # night after night of head against itself would pass
        raise UserError(
            f"[creep]: {project.pin.name} cannot be compared with head, because "
            f"{base_lacks(why)}: pin a later commit with `--set creep.against=REF`, or lay head's benchmarks over it "
            "with `[build] overlay`"
        )
    return (against_itself(project) if alone else _left(project, ())), why


def as_begun(project: Project, past: Run) -> Project:
    """Compare what the run that is resumed has begun to compare."""
    if not may_lack(project) or past.benchmarks is None:
        return project
    why = nothing_to_compare(past)
    if why is not None and why.itself:
        return against_itself(project) if why.base == project.sources.base.commit.sha else project
    return _left(project, past.benchmarks.get("base", ()))


def nothing_to_compare(run: Run) -> NothingToCompare | None:
    """Return what a run line says of a base that lacks everything; None: there is something to compare."""
    return next((each for each in typed(run.warnings) if isinstance(each, NothingToCompare)), None)


def against_itself(project: Project) -> Project:
    """Take head for base."""
    sources, settings = project.sources, project.settings
    head = settings.sides["head"]
    return replace(
        project,
        sources=Sources(sources.head, sources.head, Choice(AsHead(), sources.choice.head), sources.warnings),
        settings=replace(settings, sides={"base": head, "head": head}),
    )


def _left(project: Project, names: Collection[str]) -> Project:
    settings = project.settings
    base = settings.sides["base"]
    left = msgspec.structs.replace(base, benchmark=[b for b in base.benchmark if b.name in names])
    return replace(project, settings=replace(settings, sides={**settings.sides, "base": left}))
