"""The measurements of another job of the run, for the job that decides; or why there are none: that is never green.

After a label nothing is measured: the measurements of an earlier run of the same head commit are decided again. Taken
is only what a check of this very event could have measured: by the same workflow, for the same pull request, of the
same head, against a base between where the head left its target and where the target is now, by the same inputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from gate.codes import Exit
from gate.evidence.records import Located
from gate.github.client import ArtifactFacts, Forge, RunFacts, forge_of
from gate.github.event import LABELS, Event, Pull
from gate.github.notice import What
from gate.github.problems import Problem
from gate.github.publishing.forks import fetch, fetch_records, part_of, write_records
from gate.github.publishing.request import TEXT, Before, Request, Result, folded
from gate.github.runner import put
from gate.github.untrusted.sanitise import Claims, claims_of
from gate.model import Execution, Failure, Run, Same, UserError, Whose
from gate.writing.plain import clip, visible


@dataclass(frozen=True, slots=True)
class WantedRun:
    """What this run would measure with."""

    workflow: str
    """The path of its file, "" where unknown."""
    base: str | None
    head: str | None
    """base and head: the inputs."""
    job: str | None
    """Which job this is; another one's measurements under the same id are not its own. None: another job measures."""
    sets: tuple[str, ...] = ()
    """What the rules have over base's, where this job measures."""
    config: str | None = None


def workflow_path(reference: str, repository: str) -> str:
    """Take the path of a workflow's file out of GITHUB_WORKFLOW_REF; "" where it is of another repository."""
    place = f"{repository}/".casefold()
    return _file(reference[len(place) :]) if reference.casefold().startswith(place) else ""


def fetch_measured(forge: Forge, event: Event, folder: Path, gate: str, asked: WantedRun) -> Before | None:
    """Fetch the newest measurements of the very head of a pull request into a folder, to be decided again.

    Returns:
        None where nothing was measured, or where the head is a fork's, whose events have no right to publish.

    Raises:
        UserError: there are measurements, and they are not taken: says why.
        Problem: the forge cannot be asked.
    """
    pull = event.pull
    if pull is None or pull.fork:
        return None
    found: list[tuple[RunFacts, list[ArtifactFacts]]] = []
    for run in forge.runs_of_head(pull.head_sha):
        if _is_of(run, event.repository, pull, asked.workflow):
            left = forge.artifacts_of_run(run.id, run.attempt, pull.head_sha, run.began)
            usable = [one for one in left if not one.expired and one.head_sha == pull.head_sha]
            found.append((run, [one for one in usable if part_of(one, gate) is not None]))
    # what one run left belongs together
    newest = max(found, key=lambda each: [(one.created, one.id) for one in each[1]], default=None)
    if newest is None or not newest[1]:
        return None
    run, artifacts = newest
    if len(run.pulls or ()) > 1:
        shared = " and ".join(f"#{number}" for number in sorted(one.number for one in run.pulls or ()))
        raise UserError(f"{shared} have the same head, so run {run.id} cannot be assigned to one of them")
    records = fetch_records(forge, artifacts, folder, gate)
    _refuse_others(records, forge, pull, asked, run.id)
    write_records(records, folder)
    return Before(run=run.id, attempt=artifacts[0].run_attempt or 1)


def oldest_run(forge: Forge, event: Event, workflow: str) -> RunFacts | None:
    """Find the run that measured the head of a pull request when it was pushed, or was to: the first one of that head.

    Raises:
        Problem: the forge cannot be asked.
    """
    pull = event.pull
    if pull is None or pull.fork:
        return None
    runs = (run for run in forge.runs_of_head(pull.head_sha) if run.id != event.run_id)
    return next((run for run in runs if _is_of(run, event.repository, pull, workflow)), None)


def _is_of(run: RunFacts, repository: str, pull: Pull, workflow: str) -> bool:
    """Return whether a run may have measured a pull request, by what the forge says of it."""
    own = run.head_repository.full_name if run.head_repository else ""
    pulls = [one.number for one in run.pulls or ()]
    if run.event != "pull_request" or own.casefold() != repository.casefold() or run.head_branch != pull.head_ref:
        return False
    return (not pulls or pull.number in pulls) and (not workflow or not run.path or _file(run.path) == workflow)


def _file(path: str) -> str:
    """Leave out at which commit or branch a workflow was taken."""
    return path.partition("@")[0]


def _commit_of(forge: Forge, ref: str) -> str | None:
    """Return the commit of an input, as the forge has it: what a commit has in common with itself."""
    ref = ref.removeprefix("origin/")
    return forge.merge_base(ref, ref)


def _refuse_others(records: Iterable[Located], forge: Forge, pull: Pull, asked: WantedRun, run_id: int) -> None:
    """Refuse measurements of anything but what a check of this event compares.

    Raises:
        UserError: they are; says what differs.
        Problem: the forge cannot be asked.
    """
    records = list(records)
    claims = claims_of(records)
    wanted = Whose("named" if asked.config else "base", asked.config or "", asked.sets)
    for run in (each.record for each in records if isinstance(each.record, Run) and asked.job is not None):
        if run.job not in (None, asked.job):
            other = clip(visible(str(run.job)), 200)
            raise UserError(
                f"run {run_id} has the measurements of another job under this id ({other}): give each job an `id` of "
                "its own"
            )
        if run.whose != wanted:
            own = f"the rules {clip(visible(str(run.whose)), 200)!r}" if run.whose else "rules that it does not name"
            raise UserError(f"run {run_id} measured by {own}, and this one asks for {str(wanted)!r:.300}")
    other = f"run {run_id} measured another head ({claims.head[:10]})"
    if asked.head is not None:
        if _commit_of(forge, asked.head) != claims.head:
            raise UserError(f"{other} than the input head names")
    elif claims.head != pull.head_sha and (forge.parents(claims.head) or ())[1:] != (pull.head_sha,):
        raise UserError(f"{other} than the pull request's ({pull.head_sha[:10]})")
    _refuse_other_base(forge, claims, pull, asked, run_id)


def _refuse_other_base(forge: Forge, claims: Claims, pull: Pull, asked: WantedRun, run_id: int) -> None:
    """Refuse a base that no check of this event compares with, wherever the target is now.

    A merge is compared with its first parent, which was the target's tip once; the head alone with where it left.
    """
    against = f"run {run_id} measured against another base ({claims.base[:10]})"
    if asked.base is not None:
        if _commit_of(forge, asked.base) != claims.base:
            raise UserError(f"{against} than the input base names")
        return
    # the target as the event has it, and as it is now
    for tip in (pull.base_sha, pull.base_ref):
        if asked.head is not None or claims.head == pull.head_sha:
            if forge.merge_base(tip, claims.head) == claims.base:
                return
        elif (forge.parents(claims.head) or ("",))[0] == claims.base:
            left = forge.merge_base(tip, pull.head_sha)
            after = left is not None and forge.merge_base(left, claims.base) == left
            if after and forge.merge_base(claims.base, tip) == claims.base:
                return
    raise UserError(f"{against} than a check of #{pull.number} against {pull.base_ref} has")


_CODES = (Exit.USAGE, Exit.ERROR, Exit.UNFIT)
_WHY = {
    "cancelled": (
        "commit {} has no verdict; to measure it, re-run the failed jobs of this run (the measuring job was stopped by "
        "hand, by a newer commit, or by its timeout-minutes)"
    ),
    "skipped": (
        "commit {} has no verdict; re-run all jobs of this run (the measuring job was skipped: a job that it needs "
        "failed, or its condition is false)"
    ),
    "failure": (
        "commit {} has no verdict; re-run the failed jobs of this run (the measuring job failed before it left "
        "measurements: its runner was lost, its time ran out, or a step failed, as its log shows)"
    ),
    "success": (
        "commit {} has no verdict; the measuring job left no measurements: give it command: measure and the same id, "
        "config and working-directory as this job, and leave its uploads on (artifact)"
    ),
}
_FAILED_OTHERWISE = (
    "the measuring job failed, although nothing that it measured did: another step of it failed, as its log shows; "
    "re-run the failed jobs of this run"
)
_LOST = "commit {} has no verdict, because nothing of it can be decided again ({}): {}"


def collected(request: Request, result: Result, environment: Mapping[str, str]) -> Request:
    """Bring what the measuring job left into the folder of the run.

    Args:
        result: of that job, as `needs` has it.
    """
    try:
        if result == "skipped" and request.event.pull is not None and request.event.action in LABELS:
            return _of_earlier(request, environment)
        if result in ("cancelled", "skipped"):
            return _unmeasured(request, result, environment)
        return _of_this(request, result, environment)
    except UserError as error:
        return request.refused(Exit.ERROR, str(error))
    except Problem as problem:
        return request.refused(Exit.ERROR, problem.after("nothing is decided"))


def _of_this(request: Request, result: Result, environment: Mapping[str, str]) -> Request:
    event, forge = request.event, forge_of(request.event, environment)
    # what the job that decides uploads is no part of it
    left = [one for one in forge.artifacts_of_run(event.run_id) if part_of(one, request.id) and not one.expired]
    if not left:
        return _unmeasured(request, result, environment)
    measures = request.asked is None or request.asked.words.verb == "check"
    found = fetch(forge, left, request.run_folder, request.id, measures=measures)
    if result == "failure" and all(0 < job.attempt < event.run_attempt for job in found.jobs):
        # measured by an earlier attempt, and this one came to nothing
        return _unmeasured(request, result, environment)
    broken = [job for job in found.jobs if job.code]
    for job in broken:
        code = job.code if job.code in _CODES else Exit.ERROR
        request = request.refused(code, *(job.lines or [f"measuring ended with exit code {job.code}"]))
    if broken:
        return request
    kinds = {type(each.record) for each in found.records}
    ended_well = kinds & {Execution, Same} and Failure not in kinds
    if result == "failure" and (found.text is not None or ended_well):
        return request.refused(Exit.ERROR, _FAILED_OTHERWISE)
    if found.text is not None:
        put(Path(request.folder, TEXT), found.text)
    if found.records:
        write_records(found.records, request.run_folder)
    return msgspec.structs.replace(
        request,
        again=Before(run=event.run_id, attempt=event.run_attempt),
        how=next((job.how for job in found.jobs if job.how is not None), None),
        warnings=[*folded([warning for job in found.jobs for warning in job.warnings])],
    )


def _of_earlier(request: Request, environment: Mapping[str, str]) -> Request:
    """Take what an earlier run measured of this head; without that, say which run to repeat."""
    event, forge = request.event, forge_of(request.event, environment)
    workflow = workflow_path(environment.get("GITHUB_WORKFLOW_REF", ""), event.repository)
    # which job that was, and by whose rules, is settled by the workflow
    asked = WantedRun(workflow, request.base, request.head, None)
    why = "no measurements, or they have expired"
    try:
        found = fetch_measured(forge, event, request.run_folder, request.id, asked)
    except UserError as error:
        found, why = None, str(error)
    if found is not None:
        return msgspec.structs.replace(request, again=found)
    first = oldest_run(forge, event, workflow)
    advice = "push a commit, or close and reopen the pull request, to measure it"
    if first is not None:
        place = f"{event.server_url}/{event.repository}/actions/runs/{first.id}"
        advice = f"re-run all jobs of run {first.id}, which then counts the label: {place}"
        # its next attempt is newer than this comment
        request = msgspec.structs.replace(request, again=Before(run=first.id, attempt=first.attempt or 1))
    message = _LOST.format(_head(request), why, advice)
    return request.refused(Exit.ERROR, message, what="nothing-measured")


def _unmeasured(request: Request, result: Result, environment: Mapping[str, str]) -> Request:
    what: What = "cancelled" if result == "cancelled" else "nothing-measured"
    message = _WHY[result].format(_head(request))
    pull = request.event.pull
    if pull is not None and request.comment != "never" and request.asked is None:
        # in doubt the order of runs decides who comments
        with suppress(Problem):
            if forge_of(request.event, environment).pull(pull.number).head.sha != pull.head_sha:
                # the run of the newer commit has the comment
                request = msgspec.structs.replace(request, comment="never")
                message = f"{message}; the pull request has a newer commit by now, whose own run comments on it"
    return request.refused(Exit.ERROR, message, what=what)


def _head(request: Request) -> str:
    event = request.event
    return (event.pull.head_sha if event.pull is not None else event.merge_head or event.sha)[:10]
