"""Revisions that somebody asks for: what git would take for several commits, a file or a search is no name of one."""

from __future__ import annotations

import re

from harness.errors import SourceError


def names_one(revision: str) -> bool:
    """Tell whether a revision can name one commit, such as main, main~1 or 1a2b3c4; git decides whether it does."""
    return re.search(r"^[-^]|\.\.|[:\s\0]", revision) is None


def refuse_several(revision: str, what: str) -> None:
    """Refuse a revision that cannot name one commit; what: where it was asked for.

    Raises:
        SourceError: it cannot.
    """
    if not names_one(revision):
        raise SourceError(
            f"{what} {revision}: is no name of one commit: write a branch, a tag or a commit, such as main or main~1"
        )
