"""What came out of a build: the hashes of [build] artifacts."""

from __future__ import annotations

import hashlib
import os
import posixpath
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gate.walking import walk
from harness.source.pristine import fact


class ArtifactError(Exception):
    """An artefact that the build did not make, or that cannot be read."""


@dataclass(frozen=True, slots=True)
class Artifacts:
    """What a build made, by hash, and the facts of its files: what they are until something changes them."""

    hashes: Mapping[str, str]
    facts: Mapping[str, Mapping[str, tuple[int, ...]]]
    """By artifact, of each of its files."""

    @classmethod
    def of(cls, project: Path, hashes: Mapping[str, str]) -> Artifacts:
        """Take down what is there."""
        return cls(hashes, {path: _facts(project / path) for path in hashes})

    def changed(self, project: Path) -> list[str]:
        """Name the artifacts that are no longer what the build made; what was added to a directory does not count."""
        suspects = []
        for path, known in self.facts.items():
            now = _facts(project / path)
            if any(now.get(name) != each for name, each in known.items()):
                suspects.append(path)
        return [path for path in suspects if not self._is_same(project, path)]

    def _is_same(self, project: Path, path: str) -> bool:
        try:
            return hash_artifacts(project, [path])[path] == self.hashes[path]
        except ArtifactError:
            return False


def _facts(place: Path) -> dict[str, tuple[int, ...]]:
    files = (
        [place] if not place.is_dir() else [Path(parent, name) for parent, _, names in walk(place) for name in names]
    )
    found = {}
    for path in files:
        with suppress(OSError):
            # of a link, what it is and what it leads to
            found[str(path.relative_to(place))] = fact(path.lstat()) + fact(path.stat())
    return found


def hash_artifacts(project: Path, paths: Sequence[str]) -> dict[str, str]:
    """Hash each path of a project: "sha256:...", of a directory over its files in order.

    Raises:
        ArtifactError: a path does not exist, lies outside the project or cannot be read.
    """
    return {path: f"sha256:{_hash(project, path)}" for path in paths}


def _hash(project: Path, path: str) -> str:
    inner = posixpath.normpath(path)
    if path.startswith("/") or inner == ".." or inner.startswith("../"):
        raise ArtifactError(f"artifact {path} is not a path inside the project: write one relative to perfgate.toml")
    place = project / inner
    try:
        if place.is_dir():
            return _hash_directory(place)
        if place.is_file():
            return _hash_file(place)
    except OSError as error:
        raise ArtifactError(f"artifact {path} cannot be read: {error.strerror}") from None
    raise ArtifactError(f"the build did not make {path}, which [build] artifacts names")


def _hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _refused(error: OSError) -> None:
    raise error


def _hash_directory(directory: Path) -> str:
    digest = hashlib.sha256()
    for parent, folders, files in walk(directory, _refused):
        folders.sort()
        links = [name for name in folders if Path(parent, name).is_symlink()]
        for name in sorted(files + links):
            path = Path(parent, name)
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                content = "link " + hashlib.sha256(os.fsencode(os.readlink(path))).hexdigest()  # noqa: PTH115  # bytes of it
            elif stat.S_ISREG(mode):
                content = _hash_file(path)
            else:
                continue  # a socket or a pipe is nothing that was built
            # NUL ends a name: no file name holds one
            digest.update(os.fsencode(path.relative_to(directory)) + b"\0" + content.encode() + b"\0")
    return digest.hexdigest()
