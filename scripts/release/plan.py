"""The first step of the workflow: is this ref to be published, and with which notes?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scripts.release.changelog import Changelog
from scripts.release.errors import ReleaseError
from scripts.release.version import agree, on_branch

TAG = "refs/tags/"


@dataclass(frozen=True)
class Plan:
    """What the run will do; tag: "" where a branch is tried out."""

    tag: str
    publish: bool
    notes: str

    @property
    def summary(self) -> str:
        """The plan as Markdown, for the page of the run."""
        what = f"Release {self.tag}" if self.tag else "No tag: these are the notes of what is unreleased"
        return f"{what}. {'' if self.publish else 'Dry run: nothing is published.'}\n\n{self.notes}"


def plan(top: Path, environment: Mapping[str, str], branch: str) -> Plan:
    """Read GITHUB_REF and DRY_RUN; a tag must fit what it tags, and its commit be on the branch.

    Raises:
        ReleaseError: the tag does not fit, or something other than a tag is to be published.
    """
    ref = environment.get("GITHUB_REF", "")
    # whatever is not the word "true" publishes nothing unless the workflow says so in full
    publish = environment.get("DRY_RUN") == "false"
    if not ref.startswith(f"{TAG}v"):
        if publish:
            raise ReleaseError(f"{ref or 'this'} is not the tag of a release: choose the tag, or a dry run")
        return Plan("", publish, Changelog.read(top).preview())
    tag = ref.removeprefix(TAG)
    version = agree(top, tag)
    on_branch(top, tag, branch)
    return Plan(tag, publish, Changelog.read(top).notes(str(version)))
