"""The measurements of another job of the run, for the job that decides; or why there are none: that is never green."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from gate.codes import Exit
from gate.github.client import forge_of
from gate.github.notice import What
from gate.github.problems import Problem
from gate.github.publishing.forks import fetch, part_of, write_records
from gate.github.publishing.request import TEXT, Request, Result, folded
from gate.github.runner import put
from gate.model import Execution, Failure, Same, UserError

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


def collected(request: Request, result: Result, environment: Mapping[str, str]) -> Request:
    """Bring what the measuring job left into the folder of the run.

    Args:
        result: of that job, as `needs` has it.
    """
    try:
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
    records, jobs, text = fetch(forge, left, request.run_folder, request.id, measures=measures)
    if result == "failure" and all(0 < job.attempt < event.run_attempt for job in jobs):
        # measured by an earlier attempt, and this one came to nothing
        return _unmeasured(request, result, environment)
    broken = [job for job in jobs if job.code]
    for job in broken:
        code = job.code if job.code in _CODES else Exit.ERROR
        request = request.refused(code, *(job.lines or [f"measuring ended with exit code {job.code}"]))
    if broken:
        return request
    kinds = {type(each.record) for each in records}
    ended_well = kinds & {Execution, Same} and Failure not in kinds
    if result == "failure" and (text is not None or ended_well):
        return request.refused(Exit.ERROR, _FAILED_OTHERWISE)
    if text is not None:
        put(Path(request.folder, TEXT), text)
    if records:
        write_records(records, request.run_folder)
    return msgspec.structs.replace(
        request,
        measured=True,
        how=next((job.how for job in jobs if job.how is not None), None),
        warnings=[*folded([warning for job in jobs for warning in job.warnings])],
    )


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
