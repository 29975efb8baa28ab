"""The moving tags of the action: v1 and v1.2 lead to the newest release of their series."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from scripts.release.errors import ReleaseError
from scripts.release.version import Version


@dataclass(frozen=True)
class Move:
    """A tag that has to lead to another commit; before: what it is at the remote now, "" for nothing."""

    tag: str
    before: str
    after: str


def moves(refs: dict[str, str], tag: str) -> list[Move]:
    """Return the moves that a release asks for; none for a pre-release or where a newer one has been released.

    Args:
        refs: each tag of the remote -> its object; `v1.2.3^{}` is the commit of an annotated tag.
        tag: the release.

    Raises:
        ReleaseError: the remote does not have the tag.
    """
    version = Version.of_tag(tag)
    commit = _commit(refs, tag)
    if commit is None:
        raise ReleaseError(f"the remote has no tag {tag}: push it first")
    if not version.final:
        return []
    released = [found for name in refs if (found := _released(name)) is not None]
    wanted = []
    for length in (1, 2):
        series = version.numbers[:length]
        if max(each for each in released if each.numbers[:length] == series) != version:
            continue
        moving = "v" + ".".join(map(str, series))
        if _commit(refs, moving) != commit:
            wanted.append(Move(moving, refs.get(moving, ""), commit))
    return wanted


def _commit(refs: dict[str, str], tag: str) -> str | None:
    return refs.get(f"{tag}^{{}}", refs.get(tag))


def _released(tag: str) -> Version | None:
    try:
        version = Version.of_tag(tag)
    except ReleaseError:
        return None
    return version if version.final else None


def listed(top: Path, remote: str) -> dict[str, str]:
    """Return the tags of the remote and their objects."""
    lines = _git(top, "ls-remote", "--tags", remote).splitlines()
    return {name.removeprefix("refs/tags/"): value for value, name in (line.split("\t") for line in lines)}


def push(top: Path, remote: str, wanted: list[Move]) -> None:
    """Move tags at the remote, all or none, and only if none of them was moved meanwhile.

    Raises:
        ReleaseError: the remote refuses.
    """
    # an empty value says that the tag must not be there
    leases = [f"--force-with-lease=refs/tags/{move.tag}:{move.before}" for move in wanted]
    moved = [f"{move.after}:refs/tags/{move.tag}" for move in wanted]
    if wanted:
        _git(top, "push", "--quiet", "--atomic", *leases, remote, *moved)


def _git(top: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=top, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ReleaseError(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout
