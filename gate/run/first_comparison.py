"""A base that runs some of head's benchmarks or none: it has no configuration, as in a project's first pull request.

Or it is broken (base_search). Then base lacks the benchmarks that it cannot run: they are new. Where it can run none,
head is measured against itself.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TypeVar

import msgspec

from gate.config.types import Benchmark
from gate.model import SIDES, UNBUILT, Failure, Run, UserError
from gate.model.records import AS_HEAD, Choice
from gate.model.warnings import typed
from gate.model.warnings.setup import BASE_WITHOUT_CONFIG, BaseBroken, NothingToCompare
from gate.run.project import Project, with_base
from harness.source.base_and_head import SideSource, Sources

T = TypeVar("T", BaseBroken, NothingToCompare)


def may_lack(project: Project) -> bool:
    """Return whether base may lack what head adds."""
    return BASE_WITHOUT_CONFIG in project.settings.warnings


def lacking(
    project: Project, failure: Failure | None, *, alone: bool, broken: BaseBroken | None = None
) -> tuple[Project, NothingToCompare]:
    """Say that base runs nothing, and take head for it.

    failure: what became of the first benchmark there. alone: one job measures all, so that it knows that nothing can be
    compared; otherwise base stays what it is. broken: how base is; None: it has no configuration.

    Raises: UserError: base is the pin of a creep check, and runs nothing.
    """
    why = NothingToCompare(
        base=project.sources.base.commit.sha, itself=alone, failed=failure.kind if failure else "missing",
        benchmark=failure.benchmark if failure else None, status=failure.status if failure else "", broken=broken,
    )  # fmt: skip
    if project.pin is not None:
        # night after night of head against itself would pass
        raise UserError(
            f"[creep]: {project.pin.name} cannot be compared with head, because "
            f"{why.lacks}: pin a later commit with `--set creep.against=REF`, or lay head's benchmarks over it "
            "with `[build] overlay`"
        )
    if alone:
        return against_itself(project), why
    if failure and failure.kind in UNBUILT:
        # what does not build there is built as head is, so that head is measured; base keeps its name
        sources, sides = project.sources, project.settings.sides
        base = msgspec.structs.replace(sides["head"], benchmark=sides["base"].benchmark)
        own = replace(sources, base=SideSource(sources.base.commit, sources.head.revision))
        project = replace(project, sources=own, settings=replace(project.settings, sides={**sides, "base": base}))
    return keep_on_base(project, ()), why


def as_begun(project: Project, past: Run) -> Project:
    """Compare what the run that is resumed has begun to compare."""
    why, broken = nothing_to_compare(past), _one(past, BaseBroken)
    if past.benchmarks is None or not (may_lack(project) or why or broken):
        return project
    if why is not None and why.itself:
        return against_itself(project) if why.base == project.sources.base.commit.sha else project
    if broken is not None and past.base is not None and past.choice is not None and past.choice.base is not None:
        if broken.base != project.sources.base.commit.sha:
            return project
        if broken.compared != broken.base:
            source = SideSource(past.base, str(broken.compared))
            project = with_base(project, source, past.choice.base)
    return keep_on_base(project, past.benchmarks.get("base", ()))


def nothing_to_compare(run: Run) -> NothingToCompare | None:
    """Return what a run line says of a base that lacks everything; None: there is something to compare."""
    return _one(run, NothingToCompare)


def _one(run: Run, kind: type[T]) -> T | None:
    return next((each for each in typed(run.warnings) if isinstance(each, kind)), None)


def against_itself(project: Project) -> Project:
    """Take head for base, which keeps what head lacks: that is missing."""
    sources, settings = project.sources, project.settings
    head = settings.sides["head"]
    base = msgspec.structs.replace(head, benchmark=[*head.benchmark, *_missing(project)])
    return replace(
        project,
        sources=Sources(sources.head, sources.head, Choice(AS_HEAD, sources.choice.head), sources.warnings),
        settings=replace(settings, sides={"base": base, "head": head}),
    )


def keep_on_base(project: Project, names: Collection[str]) -> Project:
    """Leave base these benchmarks, and those that head lacks: they are missing."""
    settings = project.settings
    base = settings.sides["base"]
    kept = [b for b in base.benchmark if b.name in names]
    kept += [b for b in _missing(project) if b not in kept]
    cut = msgspec.structs.replace(base, benchmark=kept)
    return replace(project, settings=replace(settings, sides={**settings.sides, "base": cut}))


def _missing(project: Project) -> list[Benchmark]:
    base, head = (project.settings.sides[side].benchmark for side in SIDES)
    names = {b.name for b in head}
    return [b for b in base if b.name not in names]
