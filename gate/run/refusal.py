"""Refusal to measure untrusted code in a workflow, for commands that its steps start directly."""

from __future__ import annotations

import os
from collections.abc import Mapping

from gate.codes import Exit
from gate.github.event import MEASURED, Event, read_event, refusal
from gate.model import UserError
from harness.host.facts import unsupported_platform

FORKS = "PERFGATE_FORKS"
ASKED = "asked"


class RefusedError(UserError):
    """Measuring is refused here; the command line is not at fault."""

    exit_code = Exit.ERROR


def refuse_unsafe(environment: Mapping[str, str] | None = None) -> None:
    """Refuse to run code of the project where the event of the workflow forbids it; outside of one nothing is asked.

    PERFGATE_FORKS=measure allows a fork's code, as the action's input `forks: measure` does. Where a member asked for
    it, which the action has read, another word allows the event as well.

    Raises:
        RefusedError: one line that says why, and what is safe instead.
    """
    given = os.environ if environment is None else environment
    if given.get("GITHUB_ACTIONS") != "true":
        return
    name = given.get("GITHUB_EVENT_NAME", "")
    try:
        event = read_event(given)
    except UserError:
        # a workflow that somebody tries out at home
        if name in MEASURED or not name:
            return
        event = _named(name)
    why = refusal(event, forks=given.get(FORKS) in ("measure", ASKED), asked=given.get(FORKS) == ASKED)
    if why is not None:
        own = f", which for this command is {FORKS}=measure in its environment" if name in MEASURED else ""
        raise RefusedError(f"{why}{own}")


def _named(name: str) -> Event:
    """Make an event of which nothing but its name is known."""
    return Event(
        name=name,
        action=None,
        repository="",
        default_branch=None,
        ref="",
        sha="",
        run_id=0,
        run_attempt=0,
        server_url="",
        api_url="",
        pull=None,
        merge_base=None,
        merge_head=None,
        before=None,
        source=None,
        hosted=False,
    )


def require_measuring() -> None:
    """Refuse a platform that perfgate cannot measure on.

    Raises:
        UserError: it cannot, and what to do.
    """
    why = unsupported_platform()
    if why is not None:
        raise UserError(why)
