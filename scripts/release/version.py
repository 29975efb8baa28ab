"""The version of a release: in a tag, in gate/__init__.py and in CHANGELOG.md, which must agree to be published."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scripts.release.changelog import Changelog
from scripts.release.errors import ReleaseError

DECLARED = re.compile(r'^__version__ = "(?P<version>[^"]+)"$', re.MULTILINE)
FORM = re.compile(r"(?P<numbers>\d+\.\d+\.\d+)(?P<pre>(?:a|b|rc)\d+)?")
TAG = "refs/tags/"
# The order of pre-releases of one version; the release itself comes last.
STAGES = ("a", "b", "rc", "")


@dataclass(frozen=True, order=True)
class Version:
    """A version such as 1.2.3 or 1.2.3rc1; ordered as PEP 440 orders them."""

    numbers: tuple[int, ...]
    stage: int
    serial: int

    @classmethod
    def parse(cls, text: str) -> Version:
        """Read 1.2.3, 1.2.3a1, 1.2.3b1 or 1.2.3rc1.

        Raises:
            ReleaseError: it is none of them.
        """
        found = FORM.fullmatch(text)
        if found is None:
            raise ReleaseError(f"{text!r} is not a version: write 1.2.3, or 1.2.3rc1 for a pre-release")
        stage, serial = re.fullmatch(r"([a-z]*)(\d*)", found["pre"] or "").groups()  # type: ignore[union-attr]
        numbers = tuple(int(number) for number in found["numbers"].split("."))
        return cls(numbers, STAGES.index(stage), int(serial or 0))

    @classmethod
    def of_tag(cls, tag: str) -> Version:
        """Read v1.2.3.

        Raises:
            ReleaseError: it is not the tag of a release.
        """
        if not tag.startswith("v"):
            raise ReleaseError(f"{tag!r} is not the tag of a release: they are v1.2.3")
        return cls.parse(tag[1:])

    @property
    def final(self) -> bool:
        """Whether it is no pre-release."""
        return STAGES[self.stage] == ""

    def __str__(self) -> str:
        """Write it as it was read."""
        return ".".join(map(str, self.numbers)) + (f"{STAGES[self.stage]}{self.serial}" if not self.final else "")


def declared(top: Path) -> Version:
    """Return the version of gate/__init__.py."""
    file = top / "gate" / "__init__.py"
    found = DECLARED.search(file.read_text(encoding="utf-8"))
    if found is None:
        raise ReleaseError(f'gate/__init__.py has no line __version__ = "1.2.3" ({file})')
    return Version.parse(found["version"])


def agree(top: Path, tag: str) -> Version:
    """Return the version that the tag, gate/__init__.py and CHANGELOG.md all name.

    Raises:
        ReleaseError: they do not agree, the release has no notes, or something is still under [Unreleased].
    """
    tagged, ours = Version.of_tag(tag), declared(top)
    changelog = Changelog.read(top)
    wrong = []
    if tagged != ours:
        wrong.append(f"the tag is {tag}, gate/__init__.py has {ours}")
    newest = changelog.newest
    if newest is None:
        wrong.append(f"CHANGELOG.md has no release: write its notes under `## [{tagged}] - DATE`")
    elif newest.version != str(tagged):
        wrong.append(f"the tag is {tag}, the newest release of CHANGELOG.md is {newest.version}")
    if changelog.unreleased.strip():
        wrong.append(f"CHANGELOG.md still has entries under [Unreleased]: move them to [{tagged}]")
    if wrong:
        raise ReleaseError("\n".join(wrong) + f"\n`python -m scripts.release prepare {tagged}` writes both files")
    return tagged


def on_branch(top: Path, tag: str, branch: str) -> None:
    """Check that the commit of a tag was reviewed: that it is on the branch.

    Raises:
        ReleaseError: it is not.
    """
    command = ["git", "merge-base", "--is-ancestor", f"{tag}^{{commit}}", branch]
    done = subprocess.run(command, cwd=top, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = done.stderr.strip() or f"its commit is not on {branch}; merge it first, then tag the merged commit"
        raise ReleaseError(f"{tag}: {reason}")


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
