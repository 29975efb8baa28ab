"""CHANGELOG.md: the notes of a release, and turning what is unreleased into one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from scripts.release.errors import ReleaseError
from scripts.release.links import absolute

NAME = "CHANGELOG.md"
UNRELEASED = "## [Unreleased]\n"
HEADING = re.compile(r"^## \[(?P<version>\d[^\]]*)\] - (?P<date>\S+)$")


@dataclass(frozen=True)
class Release:
    """One release: its version, its date and its notes."""

    version: str
    date: str
    notes: str


@dataclass(frozen=True)
class Changelog:
    """What is unreleased, and the releases, newest first."""

    unreleased: str
    releases: tuple[Release, ...]

    @classmethod
    def read(cls, top: Path) -> Changelog:
        """Read the file below top.

        Raises:
            ReleaseError: a heading has another form, or [Unreleased] is missing.
        """
        text = (top / NAME).read_text(encoding="utf-8")
        _, found, rest = text.partition(UNRELEASED)
        if not found:
            raise ReleaseError(f"{NAME} has no line `{UNRELEASED.strip()}`")
        unreleased, *sections = re.split(r"^(?=## )", rest, flags=re.MULTILINE)
        return cls(unreleased, tuple(map(_release, sections)))

    @property
    def newest(self) -> Release | None:
        """The release that stands first."""
        return self.releases[0] if self.releases else None

    def notes(self, version: str) -> str:
        """Return the notes of a release, with links that work outside of the repository.

        Raises:
            ReleaseError: there is no such release, or it has no notes.
        """
        found = [release.notes for release in self.releases if release.version == version]
        if not found:
            raise ReleaseError(f"{NAME} has no `## [{version}] - DATE`")
        return _published(found[0], f"v{version}", f"[{version}]")

    def preview(self) -> str:
        """Return what is unreleased as notes; its links lead to the default branch."""
        return _published(self.unreleased, "main", "[Unreleased]")


def _release(section: str) -> Release:
    heading, _, notes = section.partition("\n")
    found = HEADING.match(heading)
    if found is None:
        raise ReleaseError(f"{NAME}: {heading!r} is not a heading of a release: write `## [1.2.3] - 2026-12-31`")
    try:
        date.fromisoformat(found["date"])
    except ValueError:
        raise ReleaseError(f"{NAME}: {heading!r}: {found['date']} is not a date such as 2026-12-31") from None
    return Release(found["version"], found["date"], notes)


def _published(notes: str, ref: str, name: str) -> str:
    if not notes.strip():
        raise ReleaseError(f"{NAME} has nothing under {name}")
    # GitHub shows each line break of a release's notes
    return absolute(_unwrapped(notes.strip()), ref, page=NAME) + "\n"


def _unwrapped(text: str) -> str:
    """Join the lines of each paragraph and of each item of a list; code keeps its lines."""
    joined: list[str] = []
    fenced = False
    for line in text.splitlines():
        fence = line.lstrip().startswith("```")
        starts = re.match(r"\s*([-*+] |\d+\. |#|>|\||$)", line)
        if fenced or fence or starts or not joined or _ends(joined[-1]):
            joined.append(line)
        else:
            joined[-1] += " " + line.strip()
        fenced ^= fence
    return "\n".join(joined)


def _ends(line: str) -> bool:
    """Whether nothing can follow on the same line: a blank line, a heading, a fence or a row of a table."""
    return not line.strip() or line.lstrip().startswith(("#", "```", "|"))


def released(text: str, version: str, day: date) -> str:
    """Return the text of the file with what is unreleased as a release of that day.

    Raises:
        ReleaseError: there is nothing to release, or the release is there already.
    """
    if f"\n## [{version}] - " in text:
        raise ReleaseError(f"{NAME} has [{version}] already")
    before, found, rest = text.partition(UNRELEASED)
    entries = re.split(r"^## ", rest, maxsplit=1, flags=re.MULTILINE)[0]
    if not found or not entries.strip():
        raise ReleaseError(f"{NAME} has nothing under [Unreleased]")
    return f"{before}{UNRELEASED}\n## [{version}] - {day.isoformat()}\n{rest}"
