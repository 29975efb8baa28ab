"""The GitHub release of a tag: its packages, its notes, and the tags v1 and v1.2 that follow it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

from scripts.release import tags
from scripts.release.errors import ReleaseError
from scripts.release.packages import SUMS
from scripts.release.version import Version

NOTES = "notes.md"


def publish(top: Path, tag: str, dist: Path, remote: str, *, dry_run: bool) -> Iterator[str]:
    """Make what a release still lacks, so that a job that failed half-way can run again, and say what that is.

    Raises:
        ReleaseError: the packages are missing, the remote does not have the tag, the release is half made, or GitHub
            refuses.
    """
    refs = tags.listed(top, remote)
    version = Version.of_tag(tag)
    packages = sorted(path for path in (dist / "packages").iterdir() if path.name != SUMS)
    expected = {f"perfgate-{version}.tar.gz", f"perfgate-{version}-py3-none-any.whl"}
    if {path.name for path in packages} != expected:
        raise ReleaseError(f"{dist / 'packages'} has {[path.name for path in packages]}, and not {sorted(expected)}")
    view = ["gh", "release", "view", tag, "--json", "isDraft", "--jq", ".isDraft"]
    there = subprocess.run(view, cwd=top, capture_output=True, text=True, check=False)
    if there.stdout.strip() == "true":
        # gh makes a draft, uploads and publishes: who ends it meanwhile leaves the draft
        raise ReleaseError(f"the release {tag} is a draft: `gh release delete {tag}`, then run this again")
    create = [
        "gh", "release", "create", tag, "--verify-tag", "--title", f"perfgate {version}",
        "--notes-file", str(dist / NOTES), f"--latest={str(tags.is_newest(refs, version)).lower()}",
        *([] if version.final else ["--prerelease"]),
        # all files at once: a published release may be immutable
        *(str(path) for path in (*packages, dist / "packages" / SUMS)),
    ]  # fmt: skip
    wanted = tags.moves(refs, tag)
    yield f"the GitHub release {tag} is there" if there.returncode == 0 else " ".join(create)
    yield from (f"{each.tag}: {each.before[:10] or 'new'} -> {each.after[:10]} ({tag})" for each in wanted)
    if not wanted:
        yield f"{tag} moves no tag"
    if dry_run:
        return
    if there.returncode != 0:
        done = subprocess.run(create, cwd=top, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ReleaseError(f"gh release create: {done.stderr.strip()}")
    tags.push(top, remote, wanted)
