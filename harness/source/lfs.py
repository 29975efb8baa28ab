"""Git LFS files: those of which a checkout holds only pointers, and those that base's tree needs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.source.credentials import authorised
from harness.source.fetching import REMOTE, Clone
from harness.source.repository import Repository

POINTER = b"version https://git-lfs.github.com/spec/v1\n"
_LONGEST = 1024
"""Bytes that a pointer has at most, says git lfs."""


def lfs_files(repository: Repository) -> list[str]:
    """List the files that .gitattributes gives to git lfs, as paths of the repository.

    Raises:
        SourceError: git failed.
    """
    # pathspecs are taken literally elsewhere
    git = repository.git.seeing(GIT_LITERAL_PATHSPECS="0")
    return git.entries("ls-files", "-z", "--", ":(attr:filter=lfs)")


def pointers(repository: Repository, files: Sequence[str]) -> list[str]:
    """Return those of a checkout's files that are pointers: git lfs did not put the content in their place."""
    return [path for path in files if _is_pointer(repository.top / path)]


def fetch_lfs(clone: Clone, revision: str) -> str:
    """Fetch the content that a commit needs into the local store of git lfs; return what went wrong, "" for nothing.

    Trees take it from there; without it git lfs would ask the server for it, later and without a token. Where git
    lfs is not installed nothing is asked for: such a checkout holds pointers.
    """
    if clone.url is None or clone.git.attempt("lfs", "version").status != 0:
        return ""
    gits = [clone.git]
    if clone.access is not None and clone.access.covers(clone.url):
        # its server is another path of the same host
        gits.insert(0, authorised(clone.git, clone.access.server_url + "/", clone.access))
    problem = ""
    for git in gits:
        answer = git.attempt("lfs", "fetch", REMOTE, revision)
        if answer.status == 0:
            return ""
        problem = problem or answer.reason
    return problem


def _is_pointer(path: Path) -> bool:
    try:
        if not path.is_file() or path.is_symlink() or path.stat().st_size > _LONGEST:
            return False
        with path.open("rb") as file:
            return file.read(len(POINTER)) == POINTER
    except OSError:
        return False
