"""The first step of the action: decides what to do and whether it is allowed, before any code of the project runs."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import msgspec

from gate.codes import Exit
from gate.commands.action.study import study_refusal
from gate.github.event import LABELS, Event, Pull, may_write_history, nothing_to_do, read_event, refusal
from gate.github.notice import Notice
from gate.github.problems import Problem
from gate.github.publishing.commit import open_check
from gate.github.publishing.conclusion import job_name, stamp_of, target_of
from gate.github.publishing.forge import forge_of, problem_line
from gate.github.publishing.inputs import read_inputs
from gate.github.publishing.publish import refusal_line, run_address
from gate.github.publishing.request import (
    Before,
    Command,
    Inputs,
    Request,
    Wanted,
    as_inputs,
    bounded,
    encode,
    folded,
    id_of,
    rules_of,
    token_of,
)
from gate.github.runner import warning_line, write_outputs
from gate.model import UserError
from gate.model.warnings import AnyWarning
from gate.model.warnings.base import Said
from gate.writing.plain import visible

if TYPE_CHECKING:
    from harness.source.fetching import Clone

_READS = "pull-requests: read"
# seconds that this step waits for GitHub: what it asks for only saves measuring or shows that it has begun
_PATIENCE = 120.0
# GitHub refuses a matrix without a job: this one finds nothing to do
_IDLE_MATRIX = '{"include":[{"shard":"1/1","session":0,"sessions":1,"name":"nothing"}]}'
_SAME = (
    "base and head are both {:.10}, so there is nothing to compare; check out the pull request (actions/checkout "
    "without `ref:`), and leave the inputs base and head empty"
)
_NO_CHECKOUT = (
    "there is no checkout in {}: put actions/checkout before this step, with `fetch-depth: 0` and "
    "`persist-credentials: false`"
)


def run(out: TextIO) -> int:
    """Write the request and the outputs of the step; 0, also for what is refused: later steps report that.

    Raises:
        UserError: this is no step of a workflow.
    """
    environment = dict(os.environ)
    from gate.commands.action.measure import SECRET, tokens_in

    # git starts programs that the repository names, such as filters: only the one that fetches gets a token
    for name in (*SECRET, *tokens_in(environment)):
        os.environ.pop(name, None)
    event = read_event(environment)
    found = read_inputs(environment)
    workspace = Path(environment.get("GITHUB_WORKSPACE") or os.curdir).resolve()
    problems = [Notice(Exit.USAGE, problem) for problem in found.problems]
    request = _first(found.inputs, event, workspace, problems, environment)
    matrix = ""
    if not request.notices and not request.idle:
        settled = _prepared(request, workspace, workspace / found.inputs.directory, environment)
        request = settled.request
        out.writelines(warning_line(warning.sentence(), "perfgate") for warning in folded(settled.warnings))
    if request.idle and request.command == "plan":
        matrix = _IDLE_MATRIX
    elif request.command == "plan" and not request.notices:
        planned = _planned(request)
        request, matrix = planned.request, planned.matrix
    if request.wanted.check and not request.notices and not request.idle and not request.foreign:
        opened = _opened(request, environment)
        request = opened.request
        out.writelines(warning_line(warning.sentence(), "perfgate") for warning in opened.warnings)
    request = bounded(request)
    # annotated by the steps that report; here for whoever looks into the step that refused
    out.writelines(f"perfgate: {visible(notice.message)}\n" for notice in request.notices)
    write_outputs(
        Path(environment["GITHUB_OUTPUT"]),
        {"request": encode(request), "measure": "true" if request.measures else "false", "matrix": matrix},
    )
    return 0


def _first(
    inputs: Inputs, event: Event, workspace: Path, notices: list[Notice], environment: Mapping[str, str]
) -> Request:
    """Make the request from the inputs and the event."""
    directory = (workspace / inputs.directory).resolve()
    gate, problems = "perfgate", list(notices)
    try:
        gate = id_of(inputs.id, directory, workspace, inputs.config, inputs.leg)
    except UserError as error:
        problems.append(Notice(Exit.USAGE, str(error)))
    command, idle = inputs.command or _command_of(event), nothing_to_do(event)
    # what a fork's run measured is published without a checkout
    foreign = command == "publish" and event.source is not None and not inputs.runs
    checked_out = not idle and not foreign and command != "publish"
    if checked_out and not directory.is_dir():
        problems.append(
            Notice(
                Exit.USAGE,
                f"input working-directory: {inputs.directory!r:.200} is no folder here: check out the repository first",
            )
        )
    elif checked_out and not _is_in_checkout(directory):
        problems.append(Notice(Exit.USAGE, _NO_CHECKOUT.format(workspace)))
    settled = {
        "command": command,
        "id": gate,
        "directory": str(directory),
        "history": str(directory / inputs.history)
        if inputs.history and not inputs.history.startswith(("~", "refs/"))
        else inputs.history,
        "runs": tuple(str(workspace / each) for each in inputs.runs),
        "wanted": _wanted(inputs.wanted, command),
    }
    return Request(
        **(msgspec.structs.asdict(inputs) | settled),
        job=job_name(event, environment, inputs.leg),
        event=event,
        folder=tempfile.mkdtemp(prefix="perfgate-", dir=os.environ.get("RUNNER_TEMP") or None),
        place=Path(os.path.relpath(directory, workspace)).as_posix(),
        how=None,
        remember=may_write_history(event),
        again=None,
        foreign=foreign,
        idle=idle,
        notices=problems,
        warnings=[],
    )


def _is_in_checkout(directory: Path) -> bool:
    return any((folder / ".git").exists() for folder in (directory, *directory.parents))


def _wanted(wanted: Wanted, command: Command) -> Wanted:
    """Leave comment, status and check to the job that decides."""
    if command in ("check", "publish"):
        return wanted
    if command == "creep":
        # there is no pull request to comment on
        return msgspec.structs.replace(wanted, comment="never")
    return msgspec.structs.replace(wanted, comment="never", status=False, check=False)


def _command_of(event: Event) -> Command:
    if event.name == "schedule":
        return "calibrate"
    return "publish" if event.name == "workflow_run" else "check"


@dataclasses.dataclass(frozen=True, slots=True)
class _Prepared:
    request: Request
    warnings: list[AnyWarning]


def _prepared(request: Request, workspace: Path, given: Path, environment: Mapping[str, str]) -> _Prepared:
    """Look for what was measured already; else refuse, or fetch what is missing; given: the folder, with its links."""
    from gate.commands.action.commits import refuse_another_checkout

    warnings: list[AnyWarning] = []
    if request.event.number is not None and request.command not in ("calibrate", "creep", "study"):
        told = _asked(request, request.event.number, environment)
        request, warnings = told.request, told.warnings
        if request.notices:
            return told
    event = request.event
    try:
        refuse_another_checkout(given, workspace, request.base, request.head)
    except UserError as error:
        return _Prepared(_refused(request, error.exit_code, as_inputs(error)), warnings)
    if request.command == "check" and event.name == "pull_request" and event.action in LABELS:
        found = _measured_before(request, environment)
        warnings += found.warnings
        if found.request.again is not None:
            return _Prepared(found.request, warnings)
    if request.command == "publish":
        if request.measuring is None or request.foreign:
            return _Prepared(request, warnings)
        from gate.commands.action.measuring_job import collected

        return _Prepared(collected(request, request.measuring, environment), warnings)
    why = _refusal(request, forks=request.forks)
    if why is not None:
        return _Prepared(_refused(request, Exit.ERROR, why), warnings)
    if request.command == "creep":
        return _pinned(request, environment)
    fetched = _looked_at(request) if request.command == "calibrate" else _fetched(request, environment)
    return _Prepared(fetched.request, warnings + fetched.warnings)


def _asked(request: Request, number: int, environment: Mapping[str, str]) -> _Prepared:
    """Ask the forge for the pull request of an event that tells only its number.

    Where that cannot be had, the input base is needed, and nothing is published: the event's own commit is another one.
    """
    event, reads = request.event, request.command in ("measure", "plan")
    try:
        forge = forge_of(event, environment, _PATIENCE)
        found = forge.pull(number, _READS) if reads else forge.pull(number)
    except Problem as problem:
        silent = msgspec.structs.replace(request.wanted, comment="never", status=False, check=False)
        request = msgspec.structs.replace(request, wanted=silent)
        if request.base is None and request.command != "publish":
            what = f"input base is needed: {event.name} does not say which branch pull request #{number} goes into"
            why = problem_line(what, problem)
            return _Prepared(_refused(request, Exit.USAGE, why), [])
        return _Prepared(request, [Said(problem_line(f"nothing is published on #{number}", problem))])
    pull = Pull(
        number=number,
        head_sha=found.head_sha,
        head_ref=found.head_ref,
        base_sha=found.base_sha,
        base_ref=found.base_ref,
        fork=(found.head_repository or "").casefold() != event.repository.casefold(),
    )
    return _Prepared(msgspec.structs.replace(request, event=dataclasses.replace(event, pull=pull)), [])


def _refusal(request: Request, *, forks: bool) -> str | None:
    why = refusal(request.event, forks=forks) if request.command != "plan" else None
    if why is None and request.command == "study":
        return study_refusal(request.event)
    if why is None and request.command == "creep" and not request.remember:
        return (
            "not measured: command creep compares the default branch, so it is for a schedule, a push to that branch "
            "or a dispatch there"
        )
    if why is None and request.command == "calibrate" and not request.remember:
        return (
            "not calibrated: only a push to the default branch, a schedule or a dispatch there may write the "
            "memory of this host"
        )
    return why


def _measured_before(request: Request, environment: Mapping[str, str]) -> _Prepared:
    """Fetch what an earlier run measured of this head, so that a label decides without measuring again."""
    from gate.commands.action.earlier_runs import WantedRun, fetch_measured, workflow_path

    event = request.event
    workflow = workflow_path(environment.get("GITHUB_WORKFLOW_REF", ""), event.repository)
    asked = WantedRun(workflow, request.base, request.head, rules_of(request), request.job)
    try:
        forge, clone = forge_of(event, environment, _PATIENCE), _clone(Path(request.directory))
        found = fetch_measured(forge, clone, event, request.run_folder, request.id, asked)
    except UserError as error:
        return _Prepared(request, [Said(f"measured again: {error}")])
    except Problem as problem:
        return _Prepared(request, [Said(problem_line("measured again", problem))])
    again = Before(run=found.run, attempt=found.attempt) if found is not None else None
    return _Prepared(msgspec.structs.replace(request, again=again), [])


def _opened(request: Request, environment: Mapping[str, str]) -> _Prepared:
    """Open the check run; one that another job has is refused here, before anything is measured."""
    target = target_of(request.event, request.again)
    if target.fork:
        return _Prepared(request, [])
    stamp = stamp_of(request.event, target, request.job, request.use)
    try:
        forge = forge_of(request.event, environment, _PATIENCE)
        placed = open_check(forge, request.id, stamp, target, run_address(request.event))
    except Problem as problem:
        # what is denied now is denied later: once is enough
        wanted = msgspec.structs.replace(request.wanted, check=problem.permission is None)
        line = problem_line("no check run is shown", problem)
        return _Prepared(msgspec.structs.replace(request, wanted=wanted), [Said(line)])
    if placed.did == "taken":
        why = refusal_line(request.id, f"the check of {target.sha[:10]}", stamp, placed.by)
        # its comment and status would be the other job's as well
        silent = msgspec.structs.replace(request.wanted, comment="never", status=False, check=False)
        return _Prepared(msgspec.structs.replace(_refused(request, Exit.USAGE, why), wanted=silent), [])
    return _Prepared(request, [])


def _clone(directory: Path) -> Clone | None:
    """Open the checkout to look at; None where there is none, which what follows says."""
    from harness.errors import SourceError
    from harness.source.fetching import open_clone
    from harness.source.repository import find_repository

    try:
        return open_clone(find_repository(directory), None)
    except SourceError:
        return None


def _looked_at(request: Request) -> _Prepared:
    """Look at the checkout only: a calibration compares a commit with itself, and needs no other."""
    from gate.commands.action.commits import checkout_warnings

    try:
        warnings = list(checkout_warnings(request.event, Path(request.directory)))
    except UserError as error:
        return _Prepared(_refused(request, Exit.USAGE, as_inputs(error)), [])
    return _Prepared(request, warnings)


def _pinned(request: Request, environment: Mapping[str, str]) -> _Prepared:
    """Look for the pin of a creep check; right after a release there is nothing to do."""
    from gate.commands.action.commits import checkout_warnings, fetch_for_creep
    from gate.commands.action.measure import measuring_options
    from gate.run.creep import open_creep
    from harness.source.pin import SamePinError

    directory = Path(request.directory)
    try:
        fetch_for_creep(request.event, token_of(environment), directory)
        warnings = list(checkout_warnings(request.event, directory))
        with contextlib.chdir(directory), open_creep(measuring_options(request), rules_of(request)):
            pass
    except SamePinError as error:
        return _Prepared(msgspec.structs.replace(request, idle=str(error)), [])
    except UserError as error:
        return _Prepared(_refused(request, error.exit_code, as_inputs(error)), [])
    return _Prepared(msgspec.structs.replace(request, warnings=folded(warnings)), warnings)


def _fetched(request: Request, environment: Mapping[str, str]) -> _Prepared:
    from gate.commands.action.commits import checked_out, fetch_missing

    token, directory = token_of(environment), Path(request.directory)
    try:
        judged = request.command != "study"
        sides = fetch_missing(request.event, token, directory, request.base, request.head, judged=judged)
        here = checked_out(directory) if sides.head is None else None
    except UserError as error:
        return _Prepared(_refused(request, error.exit_code, as_inputs(error)), [])
    warnings = [*sides.warnings, *(here.warnings if here else ())]
    how = sides.how if request.base is None else None
    head = here.sha if here else sides.head
    settled = msgspec.structs.replace(request, base=sides.base, head=head, how=how, warnings=folded(warnings))
    is_change = request.event.pull is not None or request.event.merge_base is not None
    if is_change and head == sides.base and request.command != "study":
        return _Prepared(_refused(settled, Exit.ERROR, f"not measured: {_SAME.format(head)}"), warnings)
    return _Prepared(settled, warnings)


def _refused(request: Request, code: int, why: str) -> Request:
    return msgspec.structs.replace(request, notices=[*request.notices, Notice(code, why)])


@dataclasses.dataclass(frozen=True, slots=True)
class _Planned:
    request: Request
    matrix: str


def _planned(request: Request) -> _Planned:
    """Lay out the jobs of a matrix; what is wrong with the project's config is a notice."""
    from gate.run import matrix

    text = io.StringIO()
    shards = int(request.shard.partition("/")[2]) if request.shard else None
    options = matrix.Jobs(shards, request.sessions, request.base, request.head)
    try:
        with contextlib.chdir(request.directory):
            matrix.run(options, rules_of(request), text)
    except UserError as error:
        return _Planned(_refused(request, Exit.USAGE, as_inputs(error)), "")
    return _Planned(request, text.getvalue().strip())
