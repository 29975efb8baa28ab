"""Paths of source files as in the project, and never as on this machine."""

from __future__ import annotations

import posixpath
import re
from functools import lru_cache
from pathlib import Path

# what stands behind it says enough of a library: of Python, Go's modules, Go itself, Rust's crates
_LIBRARY = re.compile(
    r".*/(?:(?:site|dist)-packages|lib(?:64)?/python[\d.]+t?|pkg/mod|go[\d.]*/src|registry/src/[^/]+|rustc/[0-9a-f]+)/"
)


class Places:
    """Names files relative to the directory of a project; a "/" before what lies elsewhere, such as in a library.

    root: of its tree. directory: of the project in it.
    """

    def __init__(self, directory: Path, root: Path | None = None) -> None:
        """See the class."""
        self._roots = [str(each) for each in (directory, root) if each is not None]
        self._directory = directory
        self.of = lru_cache(maxsize=None)(self._of)

    def _of(self, path: str) -> str:
        path = posixpath.normpath(path) if path else ""
        if not path.startswith("/"):
            path = re.sub(r"^(?:\.\./)+", "", path)
            return path if not path or self._is_own(path) else f"/{path}"
        for root in self._roots:
            if path.startswith(f"{root}/"):
                return path[len(root) + 1 :]
        library = _LIBRARY.match(path)
        if library is not None:
            return f"/{path[library.end() :]}"
        # compiled where the tree stood then
        parts = path.split("/")[1:]
        for start in range(1, len(parts)):
            rest = "/".join(parts[start:])
            if (self._directory / rest).is_file():
                return rest
        return f"/{'/'.join(parts[-2:])}"

    def _is_own(self, path: str) -> bool:
        return any((Path(root) / path).is_file() for root in self._roots)
