"""What came out of a build: the hashes of [build] artifacts."""

from __future__ import annotations

import hashlib
import os
import posixpath
import stat
from collections.abc import Sequence
from pathlib import Path


class ArtifactError(Exception):
    """An artefact that the build did not make, or that cannot be read."""


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


def _hash_directory(directory: Path) -> str:
    digest = hashlib.sha256()
    for parent, folders, files in os.walk(directory):
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
