"""What git says of the commits of a record."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from gate.history.ref import Git


class Described(msgspec.Struct, frozen=True):
    """A commit as git shows it."""

    committed: str | None
    """ISO 8601 in UTC; None: not known."""
    subject: str


UNKNOWN = Described(None, "")


def describe(git: Git, commit: str) -> Described:
    """Describe a commit; UNKNOWN where this repository has it not, or there is none."""
    answer = git.attempt("show", "--no-patch", "--no-show-signature", "--format=%ct%n%s", f"{commit}^{{commit}}")
    seconds, _, subject = answer.stdout.decode(errors="replace").partition("\n")
    if answer.status or not seconds.strip().isdigit():
        return UNKNOWN
    try:
        when = datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return Described(None, subject.strip())
    return Described(when.isoformat(timespec="seconds").replace("+00:00", "Z"), subject.strip())


def descends(git: Git, commit: str, parent: str) -> bool:
    """Return whether a commit descends from another, as far as this repository knows."""
    if git.attempt("rev-parse", "--is-shallow-repository").stdout.strip() == b"true":
        return True
    # 1 is no; anything else is "not known"
    return git.attempt("merge-base", "--is-ancestor", parent, commit).status != 1
