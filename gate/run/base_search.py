"""A base that is broken: which commit head is compared with instead, so that the change that repairs base can pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import msgspec

from gate.model import Commit, Failure, Side, UserError
from gate.model.choice import WorkingAncestor
from gate.model.warnings.setup import BaseBroken
from gate.run.base_trial import Started
from gate.run.first_comparison import lacking, left
from gate.run.job import Job
from gate.run.project import overlaid_sources, with_base
from gate.words.failures import error, sentence
from harness.errors import SourceError
from harness.source.base_and_head import Source, Sources, fetch_all

MOST = 5
"""Ancestors that are tried."""
_BUDGET = "the budget ended before one of its ancestors worked: raise it"

Start = Callable[[Job, Sources, Side], Started]
"""Builds a side of a job, with these sources, and starts its benchmarks."""


@dataclass(frozen=True, slots=True)
class Settled:
    """What is measured in place of a job whose base is broken.

    failures: of base, which count against the gate. of_head: what fails there too, though nothing is measured of it.
    """

    job: Job
    failures: Sequence[Failure] = ()
    of_head: Sequence[Failure] = ()


@dataclass(frozen=True, slots=True)
class _Found:
    """What a search came to.

    job: with the base that head is compared with, in the benchmarks that it runs; None: no commit runs any. tried: how
    many ancestors were. unclear: why that does not say that base and its ancestors are broken: what counts as failed.
    """

    job: Job | None
    tried: int
    unclear: Sequence[Failure] = ()


def settled(job: Job, first: Started, start: Start) -> Settled:
    """Find what to compare head with: base's nearest ancestor that works, or else the nearest that runs something.

    Nothing of head has run before every commit was tried that may take base's place. Only then is base tried with the
    files that its own [build] overlay takes from head: where that works, it is compared as ever.

    first: how base is broken.

    Raises:
        OSError: perfgate's own files cannot be written.
        UserError: the command line names a program that neither side has.
    """
    found = _search(job, first, start)
    overlaid = overlaid_sources(job.project)
    if overlaid.base.revision != job.project.sources.base.revision:
        came = start(job, overlaid, "base")
        if came.built and not came.failures:
            return Settled(job)
    if found.unclear:
        return Settled(job, found.unclear)
    failure, base = first.failures[0], job.project.sources.base.commit.sha
    why = BaseBroken(
        base=base, failed=failure.kind, benchmark=failure.benchmark, status=failure.status,
        output=tuple(filter(None, (error(failure),))), tried=found.tried,
        compared=found.job.project.sources.base.commit.sha if found.job is not None else None,
    )  # fmt: skip
    if found.job is not None:
        return Settled(found.job.told(why))
    head = start(job, job.project.sources, "head")
    if first.unstarted and head.unstarted and job.project.asked.given is not None:
        neither = f"{sentence(head.failures[0])}; nor does it start on base"
        raise UserError(f"{neither}: name an executable program that git tracks or the build makes")
    if head.failures:
        # nothing is repaired, and both are told, whichever would be built first
        return Settled(job, first.failures, head.failures)
    again = start(job, job.project.sources, "base")
    if not again.failures:
        # such as a server that did not answer for a while: by now it is head that may break base
        now = _BUDGET if again.cut is not None else "works now: it is not reliable"
        return Settled(job, _hinted(first, now, "base was broken when it was tried first"))
    project, nothing = lacking(job.project, failure, alone=job.part is None, broken=why)
    return Settled(job.of(project).told(nothing))


def _search(job: Job, first: Started, start: Start) -> _Found:
    """Try base's first-parent ancestors, the nearest first, until one works.

    Jobs that share a gate must choose alike, and each starts its own benchmarks only: there a commit works that builds.
    """
    several = job.part is not None
    best = _cut(job, first) if first.runs else None
    if several and first.built:
        return _Found(best, 0)
    repository, base = job.project.repository, job.project.sources.base
    listed = repository.git.line("rev-list", "--first-parent", f"--max-count={MOST + 1}", base.revision)
    shas = listed.split()[1:]
    for steps, sha in enumerate(shas, 1):
        candidate = _on(job, sha, steps)
        if candidate is None:
            continue
        try:
            came = start(candidate, candidate.project.sources, "base")
        except SourceError:  # it lacks the folder of the project, or a submodule that cannot be had
            continue
        works = came.built and not came.failures
        if (works and came.runs) or (several and came.built):
            return _Found(_cut(candidate, came), steps)
        if came.cut is not None:
            return _Found(None, steps, _hinted(first, _BUDGET))
        if not (works or came.broken):
            why = f"its ancestor {sha[:12]} fails in another way: {sentence(came.failures[0])}"
            return _Found(None, steps, _hinted(first, why))
        if best is None and came.runs:
            best = _cut(candidate, came)
    # raw, because in a shallow clone git hides the parents that it does not have
    oldest = ("cat-file", "commit", [base.revision, *shas][-1])
    cut = repository.shallow and len(shas) < MOST
    if cut and b"\nparent " in repository.git.run(*oldest).partition(b"\n\n")[0]:
        advice = fetch_all(repository) or "fetch more of its history"
        why = f"this shallow clone has no ancestor of it to compare head with: {advice}"
        return _Found(None, len(shas), _hinted(first, why))
    return _Found(best, len(shas))


def _hinted(first: Started, why: str, what: str = "base itself is broken") -> list[Failure]:
    return [msgspec.structs.replace(each, hint=f"{what}, and {why}") for each in first.failures]


def _on(job: Job, sha: str, steps: int) -> Job | None:
    """Return the job with an ancestor as base; None: its configuration is wrong, measures otherwise or is not there."""
    ref = job.project.sources.base.commit.ref or "base"
    source = Source(Commit(ref=f"an ancestor of {ref}", sha=sha), sha)
    try:
        project = with_base(job.project, source, WorkingAncestor(ref, steps))
    except UserError:
        return None
    project = replace(project, settings=job.treated.with_baseline(project.settings))
    return job.of(project)


def _cut(job: Job, came: Started) -> Job:
    return job.of(left(job.project, came.runs))
