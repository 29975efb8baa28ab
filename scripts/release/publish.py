"""The GitHub release of a tag: its packages, its notes, and the tags v1 and v1.2 that follow it."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from scripts.release import tags
from scripts.release.errors import ReleaseError
from scripts.release.packages import SUMS
from scripts.release.version import Version

NOTES = "notes.md"


@dataclass(frozen=True)
class Publication:
    """What has to be done; create: the command that makes the GitHub release, empty if it is there."""

    create: tuple[str, ...]
    moves: tuple[tags.Move, ...]


def publication(top: Path, tag: str, dist: Path, remote: str) -> Publication:
    """Find out what a release still lacks, so that a job that failed half-way can run again.

    Raises:
        ReleaseError: the packages are missing, the remote does not have the tag, or the release is half made.
    """
    refs = tags.listed(top, remote)
    version = Version.of_tag(tag)
    packages = sorted(path for path in (dist / "packages").iterdir() if path.name != SUMS)
    expected = {f"perfgate-{version}.tar.gz", f"perfgate-{version}-py3-none-any.whl"}
    if {path.name for path in packages} != expected:
        raise ReleaseError(f"{dist / 'packages'} has {[path.name for path in packages]}, and not {sorted(expected)}")
    create = [
        "gh", "release", "create", tag, "--verify-tag", "--title", f"perfgate {version}",
        "--notes-file", str(dist / NOTES), f"--latest={str(tags.is_newest(refs, version)).lower()}",
    ]  # fmt: skip
    if not version.final:
        create.append("--prerelease")
    # all files at once: a published release may be immutable
    create += [str(path) for path in (*packages, dist / "packages" / SUMS)]
    view = ["gh", "release", "view", tag, "--json", "isDraft", "--jq", ".isDraft"]
    there = subprocess.run(view, cwd=top, capture_output=True, text=True, check=False)
    if there.stdout.strip() == "true":
        # gh makes a draft, uploads and publishes: who ends it meanwhile leaves the draft
        raise ReleaseError(f"the release {tag} is a draft: `gh release delete {tag}`, then run this again")
    return Publication(() if there.returncode == 0 else tuple(create), tuple(tags.moves(refs, tag)))


def publish(top: Path, wanted: Publication, remote: str) -> None:
    """Make the GitHub release, then move the tags.

    Raises:
        ReleaseError: GitHub refuses.
    """
    if wanted.create:
        done = subprocess.run(wanted.create, cwd=top, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ReleaseError(f"gh release create: {done.stderr.strip()}")
    tags.push(top, remote, wanted.moves)
