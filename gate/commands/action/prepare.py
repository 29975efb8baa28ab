"""The first step of the action: decides what to do and whether it is allowed, before any code of the project runs."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

import msgspec

from gate.codes import Exit
from gate.document.markdown import brief, link
from gate.github.client import forge_of, token_of
from gate.github.comment import Conversation, Marker, publish_comment
from gate.github.event import Event, may_write_history, nothing_to_do, read_event, refusal
from gate.github.runner import put, warning_line, write_outputs
from gate.github.transport import Problem
from gate.model import Execution, Failure, Same, UserError
from gate.model.warnings import AnyWarning
from gate.publishing.asked import NothingAskedError, RequestError, read_request
from gate.publishing.conclusion import job_name
from gate.publishing.notice import Notice, What
from gate.publishing.publish import answer_marker, answering, asked_line, run_address
from gate.publishing.request import (
    TEXT,
    ActionInputs,
    Request,
    Result,
    as_inputs,
    folded,
    id_of,
    read_inputs,
    rules_of,
)
from gate.writing.plain import visible

# GitHub refuses a matrix without a job: this one finds nothing to do
_IDLE_MATRIX = '{"include":[{"shard":"1/1","session":0,"sessions":1,"name":"nothing"}]}'
_ELSEWHERE = (
    "not measured: command creep compares the default branch, so it is for a schedule, a push to that branch or a "
    "dispatch there"
)
_SAME = (
    "base and head are both {:.10}, so there is nothing to compare; check out the pull request (actions/checkout "
    "without `ref:`), and leave the inputs base and head empty"
)
_NO_CHECKOUT = (
    "there is no checkout in {}: put actions/checkout before this step, with `fetch-depth: 0` and "
    "`persist-credentials: false`"
)


def run(out: TextIO, environment: Mapping[str, str], given: Mapping[str, str]) -> int:
    """Write the request and the outputs of the step; 0, also for what is refused: later steps report that.

    Args:
        environment: that of the step, with the token.
        given: the inputs by name, without it.

    Raises:
        UserError: this is no step of a workflow.
    """
    event = read_event(environment)
    inputs, wrong = read_inputs(given, environment.get("INPUT_MATRIX", ""), event.name)
    if inputs.asked is not None:
        # the job that decides may write on a fork's pull request: it is started from the default branch
        pull = inputs.asked.pull
        publishes = inputs.command == "publish"
        event = dataclasses.replace(event, pull=dataclasses.replace(pull, fork=pull.fork and not publishes))
    workspace = Path(environment.get("GITHUB_WORKSPACE") or os.curdir).resolve()
    problems = [Notice(Exit.USAGE, problem) for problem in wrong]
    request = _first(inputs, event, workspace, problems, environment)
    matrix = asked = ""
    if request.command == "ask" and not request.notices:
        request, asked = _asking(request, environment)
    elif not request.notices and not request.idle:
        try:
            request, warnings = _prepared(request, workspace, workspace / inputs.directory, environment)
        except UserError as error:
            request, warnings = request.refused(error.exit_code, as_inputs(error)), []
        out.writelines(warning_line(warning.sentence(), "perfgate") for warning in folded(warnings))
    if request.idle and request.command == "plan":
        matrix = _IDLE_MATRIX
    elif request.command == "plan" and not request.notices:
        from gate.run.project import matrix_jobs

        shards = int(request.shard.partition("/")[2]) if request.shard else None
        try:
            with contextlib.chdir(request.directory):
                matrix = matrix_jobs(shards, request.sessions, request.base, request.head, rules_of(request))
        except UserError as error:
            request = request.refused(Exit.USAGE, as_inputs(error))
    # annotated by the steps that report; here for whoever looks into the step that refused
    out.writelines(f"perfgate: {visible(notice.message)}\n" for notice in request.notices)
    measure = "true" if request.measures else "false"
    text = msgspec.json.encode(request).decode()
    outputs = {"request": text, "measure": measure, "matrix": matrix, "asked": asked}
    write_outputs(Path(environment["GITHUB_OUTPUT"]), outputs)
    return 0


def _first(
    inputs: ActionInputs, event: Event, workspace: Path, notices: list[Notice], environment: Mapping[str, str]
) -> Request:
    directory = (workspace / inputs.directory).resolve()
    gate, problems = "perfgate", list(notices)
    try:
        gate = id_of(inputs.id, directory, workspace, inputs.config, inputs.leg)
    except UserError as error:
        problems.append(Notice(Exit.USAGE, str(error)))
    command, idle = inputs.command or ("publish" if event.name == "workflow_run" else "check"), nothing_to_do(event)
    if not idle and command not in ("publish", "ask"):
        if not directory.is_dir():
            what = f"{inputs.directory!r:.200} is no folder here: check out the repository first"
            problems.append(Notice(Exit.USAGE, f"input working-directory: {what}"))
        elif not any((folder / ".git").exists() for folder in (directory, *directory.parents)):
            problems.append(Notice(Exit.USAGE, _NO_CHECKOUT.format(workspace)))
    asked = inputs.asked
    settled: dict[str, Any] = {"command": command, "id": gate, "directory": str(directory)}
    if asked is not None:
        words = asked.words
        settled |= {"sets": (*inputs.sets, *words.sets), "benchmarks": words.benchmarks or inputs.benchmarks}
        settled |= {"head": asked.pull.head_sha, "comment": "always", "status": False}
    if command not in ("check", "publish"):
        # comment and status are of the job that decides over a change
        settled |= {"comment": "never", "status": False}
    return Request(
        **(msgspec.structs.asdict(inputs) | settled),
        job=job_name(event, environment, inputs.leg),
        event=event,
        folder=tempfile.mkdtemp(prefix="perfgate-", dir=environment.get("RUNNER_TEMP") or None),
        place=Path(os.path.relpath(directory, workspace)).as_posix(),
        how=None,
        remember=may_write_history(event),
        measured=False,
        # what a fork's run measured is published without a checkout
        foreign=command == "publish" and event.source is not None,
        idle=idle,
        notices=problems,
        warnings=[],
    )


_Prepared = tuple[Request, list[AnyWarning]]
"""What is to be done, and what to warn about."""


def _prepared(request: Request, workspace: Path, given: Path, environment: Mapping[str, str]) -> _Prepared:
    """Take what another job measured; else refuse, or fetch what is missing; given: the folder, with its links.

    Raises: UserError: the checkout is another one, or what is compared is not there.
    """
    from gate.commands.action.commits import refuse_another_checkout

    refuse_another_checkout(given, workspace, request.base, request.head)
    if request.command == "publish":
        if request.measuring is None:
            return request, []
        return collected(request, request.measuring, environment), []
    if request.command != "plan":
        why = refusal(request.event, forks=request.forks, asked=request.asked is not None)
        if why is not None:
            return request.refused(Exit.ERROR, why), []
    if request.command == "creep":
        if not request.remember:
            return request.refused(Exit.ERROR, _ELSEWHERE), []
        return _pinned(request)
    return _fetched(request, environment)


def _pinned(request: Request) -> _Prepared:
    """Look for the pin of a creep check; right after a release there is nothing to do."""
    from gate.commands.action.commits import checkout_warnings, name_default_branch
    from gate.commands.action.measure import measuring_options
    from gate.run.creep import open_creep
    from harness.source.base_and_head import SamePinError
    from harness.source.repository import find_repository

    directory = Path(request.directory)
    name_default_branch(request.event, directory)
    warnings = checkout_warnings(request.event, find_repository(directory))
    try:
        with contextlib.chdir(directory), open_creep(measuring_options(request), rules_of(request)):
            pass
    except SamePinError as error:
        return msgspec.structs.replace(request, idle=str(error)), []
    return msgspec.structs.replace(request, warnings=folded(warnings)), warnings


def _fetched(request: Request, environment: Mapping[str, str]) -> _Prepared:
    from gate.commands.action.commits import checked_out, fetch_missing

    token, directory = token_of(environment), Path(request.directory)
    sides = fetch_missing(request.event, token, directory, request.base, request.head)
    head, changed = checked_out(directory) if request.head is None else (request.head, ())
    warnings = [*sides.warnings, *changed]
    how = sides.how if request.base is None else None
    settled = msgspec.structs.replace(request, base=sides.base, head=head, how=how, warnings=folded(warnings))
    is_change = request.event.pull is not None or request.event.merge_base is not None
    if is_change and head == sides.base:
        return settled.refused(Exit.ERROR, f"not measured: {_SAME.format(head)}"), warnings
    return settled, warnings


# --- a request in a comment -------------------------------------------------------------------------------------------


def _asking(request: Request, environment: Mapping[str, str]) -> tuple[Request, str]:
    """Read the request of the event, and answer it; what is refused is no error of the workflow.

    Returns:
        What is left to do in this job, which is nothing, and the output `request`: "" where nothing is to be run.
    """
    event = request.event
    try:
        forge = forge_of(event, environment)
        try:
            asked = read_request(event, environment, forge)
            talk = Conversation(forge.transport, forge.repository, asked.pull.number)
            marker = answer_marker(asked, event)
            for comment in talk.comments():
                found = Marker.parse(comment.text)
                if found and found.id == marker.id and found.stamp.run != event.run_id and talk.is_mine(comment):
                    why = f"the same was asked before, and {comment.url} is its answer"
                    raise RequestError(why, answered=False)
            text = f"### perfgate: queued\n\n{asked_line(asked)}\n\n{link('workflow run', run_address(event))}\n"
            publish_comment(forge, asked.pull.number, marker, text)
        except NothingAskedError as error:
            return msgspec.structs.replace(request, idle=str(error)), ""
        except RequestError as error:
            if error.answered:
                # answer who may ask
                number = event.number or (event.pull.number if event.pull is not None else 0)
                marker = Marker(f"ask-{event.run_id}", "unknown", answering(event))
                publish_comment(forge, number, marker, f"perfgate: refused: {brief(str(error), 500)}\n")
            return msgspec.structs.replace(request, idle=f"refused: {error}"), ""
    except UserError as error:
        return request.refused(Exit.USAGE, str(error)), ""
    except Problem as problem:
        return request.refused(Exit.ERROR, problem.after("nothing is measured")), ""
    idle = f"queued: {asked.words.said} of {asked.pull.head_sha[:10]}"
    return msgspec.structs.replace(request, idle=idle), msgspec.json.encode(asked).decode()


# --- the measurements of another job of the run; or why there are none: that is never green ---------------------------


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
    from gate.publishing.forks import fetch, part_of, write_records

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
        with contextlib.suppress(Problem):
            if forge_of(request.event, environment).pull(pull.number).head.sha != pull.head_sha:
                # the run of the newer commit has the comment
                request = msgspec.structs.replace(request, comment="never")
                message = f"{message}; the pull request has a newer commit by now, whose own run comments on it"
    return request.refused(Exit.ERROR, message, what=what)


def _head(request: Request) -> str:
    event = request.event
    return (event.pull.head_sha if event.pull is not None else event.merge_head or event.sha)[:10]
