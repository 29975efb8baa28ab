"""A side's own home directory: what it writes there is its own and ends with the run, what it reads is the user's.

It has links to what the user's has, so that settings and toolchains are found. Caches are linked too, where the run may
fill them; otherwise they are copies.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from gate.walking import size_of
from harness.sandbox.caches import SHARED, VARIABLES, home_of

TMP = ".tmp"
"""Below the home: what TMPDIR names."""
_ENDS = ("/.cache", "/.config", "/.local", "/.local/bin", "/.local/share", "/.local/state")
"""Of paths that are opened: tools make folders of their own in them."""
_ELSEWHERE = ".elsewhere"
LARGEST = 2_000_000_000
"""Bytes of a cache that is copied; a larger one begins empty."""
_LEFT = 4
"""Times its size that must be free for a copy: both sides have one, and build beside it."""
SECRETS = (
    ".aws", ".azure", ".boto", ".cache/huggingface/token", ".config/chromium", ".config/doctl", ".config/gcloud",
    ".config/gh", ".config/glab-cli", ".config/google-chrome", ".config/hub", ".config/rclone", ".config/sops",
    ".gnupg", ".huggingface", ".kube", ".local/share/keyrings", ".mozilla", ".my.cnf", ".oci", ".password-store",
    ".pgpass", ".pypirc", ".s3cfg", ".terraform.d", ".terraformrc", ".vault-token",
)  # fmt: skip
"""Out of sight of all that is measured or built."""
FETCHING = (
    ".cargo/credentials", ".cargo/credentials.toml", ".config/containers/auth.json", ".config/git/credentials",
    ".docker", ".gem/credentials", ".git-credentials", ".netrc", ".ssh",
)  # fmt: skip
"""What builds may need to fetch what they are made of, and what benchmarks do not."""


@dataclass(frozen=True, slots=True)
class Copied:
    """What a side gets for a cache that it may not write: a copy of a directory."""

    source: Path


@dataclass(frozen=True, slots=True)
class Home:
    """A home directory of a side. path: where it is now. environment: changed variables, as if it stood at `place`.

    copied: by the paths of empty directories in it, what their commands are to find there.
    """

    path: Path
    environment: Mapping[str, str]
    copied: Mapping[str, Path]


def make_home(
    path: Path,
    place: Path,
    environment: Mapping[str, str],
    caches: Mapping[Path, Path | Copied],
) -> Home:
    """Make a side's home directory.

    Args:
        path: where; it must not exist.
        place: where it stands when the side's commands run.
        environment: of the commands.
        caches: directories that they may write, and what they get for them: a directory that is linked, or a copy.

    Raises:
        OSError: it cannot be made.
    """
    real = home_of(environment)
    roots = {real: Path()} if real is not None else {}
    told: dict[str, str] = {"HOME": str(place), "TMPDIR": str(place / TMP)}
    secrets = [real / each for each in SECRETS] if real is not None else []
    for variable in VARIABLES:
        value = environment.get(variable, "")
        if not os.path.isabs(value):  # noqa: PTH117
            continue
        directory = Path(value)
        if real is not None and directory.is_relative_to(real):
            told[variable] = str(place / directory.relative_to(real))
        elif variable in SHARED or any(each.is_relative_to(directory) and to != each for each, to in caches.items()):
            roots.setdefault(directory, Path(_ELSEWHERE, variable))
            told[variable] = str(place / roots[directory])
    path.mkdir(parents=True)
    (path / TMP).mkdir()
    above = frozenset(each for path in (*caches, *secrets) for each in (path, *path.parents))
    mirror = _Mirror(frozenset(secrets), caches, above)
    for directory, below in roots.items():
        mirror.make(directory, path / below)
    copied = {str(to.relative_to(path)): source for to, source in mirror.copied.items()}
    return Home(path, told, copied)


def overlaps(cache: Path, hidden: Collection[Path]) -> bool:
    """Return whether a directory lies in what is hidden, or holds some of it: then it is no cache."""
    # as the kernel sees them: a commit may have a link to what is hidden
    real = Path(os.path.realpath(cache))
    others = [Path(os.path.realpath(each)) for each in hidden]
    return any(real.is_relative_to(other) or other.is_relative_to(real) for other in others)


@dataclass(frozen=True, slots=True)
class _Mirror:
    hidden: Collection[Path]
    caches: Mapping[Path, Path | Copied]
    above: Collection[Path]
    """All that is hidden or a cache, and the directories above."""
    copied: dict[Path, Path] = field(default_factory=dict)

    def make(self, real: Path, to: Path) -> None:
        """Link all of a directory, and make those that are written themselves."""
        if real in self.caches:
            self._cache(real, to)
            return
        to.mkdir(parents=True, exist_ok=True)
        with suppress(OSError):
            for entry in os.scandir(real):
                path = Path(entry.path)
                if path in self.hidden or entry.name == TMP:
                    continue
                if path in self.caches:
                    self._cache(path, to / entry.name)
                # not by the entry, which raises where links lead in a circle
                elif (path in self.above or entry.path.endswith(_ENDS)) and path.is_dir():
                    self.make(path, to / entry.name)
                elif not os.path.lexists(to / entry.name):
                    (to / entry.name).symlink_to(path)
        for cache in self.caches:
            if cache.is_relative_to(real) and not os.path.lexists(to / cache.relative_to(real)):
                self._cache(cache, to / cache.relative_to(real))

    def _cache(self, real: Path, to: Path) -> None:
        to.parent.mkdir(parents=True, exist_ok=True)
        other = self.caches[real]
        if isinstance(other, Copied):
            to.mkdir()
            self.copied[to] = other.source
        else:
            to.symlink_to(other)


def copy(directory: Path, to: Path) -> None:
    """Copy a cache, whose copy begins empty if it is large, or if there is little room.

    Raises:
        OSError: there is no cp, or no room for a directory.
    """
    if size_of(directory, LARGEST) <= min(LARGEST, shutil.disk_usage(to.parent).free // _LEFT):
        # what cannot be copied is fetched or compiled again
        subprocess.run(["cp", "-a", "--reflink=auto", "-T", "--", directory, to], check=False, capture_output=True)
    to.mkdir(parents=True, exist_ok=True)
