"""The forge of a workflow's event, and the messages when it refuses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gate.github.publishing.request import token_of

if TYPE_CHECKING:
    from gate.github.client import Forge
    from gate.github.event import Event
    from gate.github.problems import Problem


PATIENCE = 600.0
"""Seconds that a step waits for GitHub in all: longer than it usually asks to wait after too many requests."""


def forge_of(event: Event, environment: Mapping[str, str], longest: float = PATIENCE) -> Forge:
    """Return the event's forge, which is waited for so many seconds.

    Raises:
        Problem: this step has no token, or the forge has no address.
    """
    from gate.github.client import Forge
    from gate.github.problems import Problem

    token = token_of(environment)
    if token is None:
        raise Problem("this step has no token: GITHUB_TOKEN is not set (the action's input token)")
    return Forge(api_url=event.api_url, token=token, repository=event.repository, patience=longest)


def problem_line(what: str, problem: Problem) -> str:
    """Say what did not happen and why, with the line that gives the permission where that is the cause."""
    add = f"; add `{problem.permission}` below `permissions:` of this job" if problem.permission else ""
    return f"{what}: {problem.what}{add}"
