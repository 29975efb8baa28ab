"""Whose code a run measures; untrusted code is refused in a workflow, by commands that its steps start directly."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from gate.codes import Exit
from gate.github.event import MEASURED, Event, may_write_history, privileged, read_event, refusal
from gate.model import SIDES, Side, UserError
from gate.model.records import SideChoice
from harness.build.cache import BuildCache, directory_of
from harness.host.facts import unsupported_platform


def is_proposed(environment: Mapping[str, str] | None = None) -> bool:
    """Return whether head is a proposal: nothing that it leaves on this host may be there for the next run.

    That is so in CI, but for events of the default branch.
    """
    given = os.environ if environment is None else environment
    if not given.get("CI") and given.get("GITHUB_ACTIONS") != "true":
        return False
    try:
        return not may_write_history(read_event(given))
    except UserError:
        return True


def is_foreign(environment: Mapping[str, str] | None = None) -> bool:
    """Return whether head comes from a fork; a pull request of which the event tells only the number may."""
    event = _event(os.environ if environment is None else environment)
    if event is None:
        return False
    return event.pull.fork if event.pull is not None else event.number is not None


def with_target(environment: Mapping[str, str]) -> dict[str, str]:
    """Add the target of the event's pull request, which GitHub sets for two of the events that tell it."""
    event = _event(environment)
    return {**environment, **({"GITHUB_BASE_REF": event.pull.base_ref} if event and event.pull else {})}


def refuse_default(base: SideChoice | None, environment: Mapping[str, str]) -> None:
    """Refuse a base of the default branch where the event is of a pull request, which may go into another one.

    Raises: UserError: the event tells its number alone.
    """
    event = _event(environment)
    if event is not None and event.number is not None and (base is None or base.kind not in ("given", "parent")):
        raise UserError(
            f"is needed: {event.name} does not say which branch pull request #{event.number} goes into", option="base"
        )


def _event(environment: Mapping[str, str]) -> Event | None:
    """Read what started the workflow; None: this is none, or cannot be read."""
    try:
        return read_event(environment) if environment.get("GITHUB_ACTIONS") == "true" else None
    except UserError:
        return None


def build_cache(*, sandboxed: bool) -> BuildCache | None:
    """Return where first builds are kept; in CI of base alone, unless head is what the default branch is.

    What a pull request's code does in one job must not be found by the next one: outside a sandbox it could write
    anywhere, and none are kept in CI.
    """
    if sys.platform != "linux" or (os.environ.get("CI") and not sandboxed):
        return None
    directory = directory_of(os.environ)
    kept: tuple[Side, ...] = ("base",) if is_proposed() else SIDES
    return BuildCache(directory, keeps=kept) if directory is not None else None


FORKS = "PERFGATE_FORKS"
ASKED = "asked"


class RefusedError(UserError):
    """Measuring is refused here; the command line is not at fault."""

    exit_code = Exit.ERROR


def refuse_unsafe(environment: Mapping[str, str] | None = None) -> None:
    """Refuse to run code of the project where the event of the workflow forbids it; outside of one nothing is asked.

    PERFGATE_FORKS=measure allows a fork's code, as the action's input `forks: measure` does. Where a member asked for
    it, which the action has read, another word allows the event as well.

    Raises: RefusedError: one line that says why, and what is safe instead.
    """
    given = os.environ if environment is None else environment
    if given.get("GITHUB_ACTIONS") != "true":
        return
    name = given.get("GITHUB_EVENT_NAME", "")
    asked = given.get(FORKS) == ASKED
    try:
        why = refusal(read_event(given), forks=asked or given.get(FORKS) == "measure", asked=asked)
    except UserError:
        # a workflow that somebody tries out at home, or of which nothing but its name is known
        why = None if name in MEASURED or not name or asked else privileged(name)
    if why is not None:
        own = f", which for this command is {FORKS}=measure in its environment" if name in MEASURED else ""
        raise RefusedError(f"{why}{own}")


def require_measuring() -> None:
    """Refuse a platform that perfgate cannot measure on. Raises: UserError: it cannot, and what to do."""
    why = unsupported_platform()
    if why is not None:
        raise UserError(why)
