"""Whose code a run measures: of the project, or of somebody who proposes a change."""

from __future__ import annotations

import os
from collections.abc import Mapping

from gate.github.event import may_write_history, read_event
from gate.model import UserError


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
    """Return whether head comes from a fork."""
    given = os.environ if environment is None else environment
    if given.get("GITHUB_ACTIONS") != "true":
        return False
    try:
        pull = read_event(given).pull
    except UserError:
        return False
    return pull is not None and pull.fork
