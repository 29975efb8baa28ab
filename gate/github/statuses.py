"""The status of a commit, as its page and a pull request show it."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from gate.github.problems import Problem, Task, one_line
from gate.github.transport import Transport

State = Literal["success", "failure", "error", "pending"]
_LONGEST_DESCRIPTION = 140
_LONGEST_CONTEXT = 255


class _Status(msgspec.Struct):
    state: str
    context: str = ""
    description: str | None = None
    target_url: str | None = None


def set_status(
    transport: Transport,
    repository: str,
    sha: str,
    state: State,
    description: str,
    context: str,
    target_url: str | None,
) -> None:
    """Set the status of a commit in a context; what is too long is cut.

    Raises:
        Problem: it cannot be set.
    """
    task = Task(f"set the status of {one_line(sha)[:12]}", "statuses: write")
    if not re.fullmatch(r"[0-9a-f]{40,64}", sha):
        raise task.failed("that is no full commit id")
    wanted = _Status(
        state, _cut(context, _LONGEST_CONTEXT), _cut(one_line(description), _LONGEST_DESCRIPTION), target_url or None
    )
    body = {name: value for name, value in msgspec.structs.asdict(wanted).items() if value is not None}
    where = f"/repos/{repository}/statuses/{sha}"
    try:
        transport.send(task, "POST", where, body, _Status)
    except Problem as problem:
        if not problem.unsure:
            raise
        if not _stands(transport, repository, sha, wanted, problem):
            transport.send(task, "POST", where, body, _Status)


def _stands(transport: Transport, repository: str, sha: str, wanted: _Status, problem: Problem) -> bool:
    """Look whether a status was set although no answer came.

    Raises:
        Problem: the one given, when nobody can look.
    """
    task = Task("read statuses", "statuses: read")
    try:
        found = transport.get(task, f"/repos/{repository}/commits/{sha}/statuses", list[_Status], per_page="100")
    except Problem:
        raise problem from None
    # the newest come first
    newest = next((one for one in found if one.context.casefold() == wanted.context.casefold()), None)
    return newest == wanted


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
