"""The moving tags of the action: v1 and v1.2 lead to the newest release of their series."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
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


def moves(refs: Mapping[str, str], tag: str) -> list[Move]:
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
    wanted = []
    for length in (1, 2):
        moving = "v" + ".".join(map(str, version.numbers[:length]))
        if is_newest(refs, version, of=length) and _commit(refs, moving) != commit:
            wanted.append(Move(moving, refs.get(moving, ""), commit))
    return wanted


def is_newest(refs: Mapping[str, str], version: Version, *, of: int = 0) -> bool:
    """Whether the remote has no later release with the same first numbers; a pre-release is never the newest.

    Args:
        refs: as for moves().
        version: the release.
        of: how many numbers must be the same; 0: all releases count.
    """
    released = [found for name in refs if (found := _released(name)) and found.numbers[:of] == version.numbers[:of]]
    return version.final and version == max(released, default=version)


def _commit(refs: Mapping[str, str], tag: str) -> str | None:
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


def push(top: Path, remote: str, wanted: Sequence[Move]) -> None:
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
    # on a runner gh has the token: it is in no file and no argument
    helper = ["-c", "credential.helper=", "-c", "credential.helper=!gh auth git-credential"]
    done = subprocess.run(["git", *helper, *arguments], cwd=top, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ReleaseError(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout
