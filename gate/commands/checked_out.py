"""What the action judges: the commit that is checked out, and never what lies beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gate.report.plain import visible
from harness.repository import find_repository

_NAMED = 3


@dataclass(frozen=True, slots=True)
class CheckedOut:
    """The commit, and a warning where the checkout holds more than it."""

    sha: str
    warnings: tuple[str, ...]


def checked_out(directory: Path) -> CheckedOut:
    """Read which commit is checked out.

    On a person's machine a check judges the working tree. In a workflow that holds what earlier steps left, which base
    would lack: a cache or a built file would decide the verdict.

    Raises:
        SourceError: there is no repository, or it has no commit.
    """
    git = find_repository(directory).git
    sha = git.line("rev-parse", "--verify", "HEAD^{commit}")
    changed = [
        entry[3:] for entry in git.entries("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=dirty")
    ]
    if not changed:
        return CheckedOut(sha, ())
    shown = ", ".join(visible(name)[:80] for name in changed[:_NAMED])
    more = f" and {len(changed) - _NAMED} more" if len(changed) > _NAMED else ""
    text = f"the checkout has changes beside its commit ({shown}{more}): they are not measured"
    return CheckedOut(sha, (f"{text}; what benchmarks need is made by [build] or linked by its `share`",))
