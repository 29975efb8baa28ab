"""Where the history is -> its store."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from gate.cli.groups import RulesOptions
from gate.decide.policy import policy_of
from gate.github.event import may_write_history, read_event
from gate.model import UserError
from gate.model.names import HISTORY_REF
from gate.store.folder import FolderStore
from gate.store.memory import folder_of, is_ref
from gate.store.ref import RefStore
from harness.errors import SourceError
from harness.source.git import Access, Git, authorised, git_of


def opened(history: str | None, remote: str | None = None) -> RefStore | FolderStore:
    """Open the store that an option, the rules, the environment or the default name.

    history: of the option. remote: where a record is pushed to.

    Raises:
        UserError: a ref that cannot be, no repository, or a folder that is to be pushed.
    """
    ref = (
        history
        or policy_of(None, RulesOptions()).config.gate.history
        or os.environ.get("PERFGATE_HISTORY")
        or HISTORY_REF
    )
    if not is_ref(ref):
        folder = folder_of(Path(ref), None, os.environ)
        if remote is not None:
            raise UserError(
                f"--push: {folder} is a folder, which has no remote: name a ref with --history, or leave out --push"
            )
        return FolderStore(folder)
    git = here()
    if git is None:
        raise UserError(
            "no git repository here (GIT_DIR is ignored): run it in the project's, or name a folder with --history"
        )
    if git.attempt("check-ref-format", ref).status:
        raise UserError(f"--history {ref!r:.80}: write the whole name of a ref, such as {HISTORY_REF}, or a folder")
    return RefStore(git if remote is None else pushing(git, remote, os.environ), ref, remote)


def pushing(git: Git, remote: str, environment: Mapping[str, str]) -> Git:
    """Return git that may push: in a workflow with its token, where it is one of the default branch.

    Raises:
        UserError: a pull request's workflow, whose commits are not yet the project's.
    """
    if environment.get("GITHUB_ACTIONS") != "true":
        return git
    event = read_event(environment)
    if not may_write_history(event):
        raise UserError(
            f"--push: this is a workflow of {event.name} on {event.ref or 'no branch'}: only a push, schedule or "
            "dispatch on the default branch writes the history"
        )
    access = Access(event.server_url, environment.get("GITHUB_TOKEN", ""))
    url = git.attempt("remote", "get-url", "--push", "--", remote).stdout.decode(errors="replace").strip() or remote
    return authorised(git, url, access) if access.covers(url) else git


def here() -> Git | None:
    """Return git in the working directory; None: it is in no repository."""
    with suppress(SourceError):
        return git_of(Path.cwd())
    return None
