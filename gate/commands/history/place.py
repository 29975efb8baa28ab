"""Where the history is: the options -> a store."""

from __future__ import annotations

from pathlib import Path

from gate.commands.history.options import REF, StoreOptions
from gate.history.folder import FolderStore
from gate.history.ref import RefStore
from gate.model import UserError
from harness.source.git import Git


def opened(options: StoreOptions, remote: str | None = None) -> RefStore | FolderStore:
    """Open the store that the options name.

    Args:
        remote: where a record is pushed to.

    Raises:
        UserError: a ref that cannot be, no repository, or a folder that is to be pushed.
    """
    if options.folder is not None:
        if remote is not None:
            raise UserError("--push: a folder has no remote: leave out --folder, or --push")
        return FolderStore(options.folder)
    ref = options.ref or REF
    git = here()
    if git is None:
        raise UserError("no git repository here: run it inside the project's, or name a folder with --folder")
    if not ref.startswith("refs/") or git.attempt("check-ref-format", ref).status:
        raise UserError(f"--ref {ref!r:.80}: write the whole name of a ref, such as {REF}")
    return RefStore(git, ref, remote)


def here() -> Git | None:
    """Return git in the working directory; None: it is in no repository."""
    git = Git(Path.cwd())
    return git if git.attempt("rev-parse", "--git-dir").status == 0 else None
