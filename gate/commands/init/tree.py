"""A project's files as git sees them: what a tree will hold, and what it will lack."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from gate.checkout import refuse_tracked, text_of
from gate.model import UserError
from gate.walking import walk
from harness.errors import SourceError
from harness.source.git import git_of

_MOST_FILES = 20_000
_SKIPPED = {"node_modules", "target", "build", "dist", "venv", "__pycache__"}
_NEEDED = {
    "assets", "corpora", "corpus", "data", "dataset", "datasets", "deps", "external", "fixtures", "inputs", "models",
    "samples", "test-data", "test_data", "testdata", "third-party", "third_party", "vendor",
}  # fmt: skip


_CALLS = re.compile(
    r"(README[^/]*|(GNU)?[Mm]akefile|\.github/workflows/[^/]+\.ya?ml|\.travis\.yml|\.gitlab-ci\.yml|([\w.-]+/)?[\w.-]+\.sh)"
)
"""Files that may start a program as it is meant to be started."""
_NO_WORD = re.compile(r"[A-Z]{3}|/|\.[a-z]|^-?-?o(ut\w*)?\b")
"""Of a command: what stands for something else, a file, or an option that names one to write."""


def folder_of(path: str) -> str:
    """Return the folder of a file of the project, "" for its own."""
    return path.rpartition("/")[0]


def table_of(tables: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a table of a TOML or JSON file; an empty one where there is none."""
    found = tables.get(name)
    return found if isinstance(found, dict) else {}


@dataclass(frozen=True)
class Tree:
    """The files of a project."""

    directory: Path
    files: tuple[str, ...]
    """Relative paths that git tracks or would add, in order."""
    ignored: tuple[str, ...]
    """What exists and git ignores, whole directories as one entry that ends in "/"."""
    git: bool
    """Whether the directory is in a repository at all."""

    @cached_property
    def names(self) -> frozenset[str]:
        """The files, for look-ups."""
        return frozenset(self.files)

    def text(self, path: str) -> str:
        """Give a file's text, bytes that are no UTF-8 replaced; "" when it cannot be read."""
        try:
            return text_of(self.directory / path)
        except (OSError, ValueError):
            return ""

    def toml(self, path: str) -> dict[str, Any]:
        """Give the tables of a TOML file; none when it cannot be read."""
        try:
            return tomllib.loads(self.text(path))
        except (ValueError, RecursionError):
            return {}

    def json(self, path: str) -> dict[str, Any]:
        """Give the object of a JSON file; an empty one where git has none that can be read."""
        try:
            found = json.loads(self.text(path) if path in self.names else "{}")
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def ending(self, *suffixes: str, under: str = "") -> Iterator[str]:
        """Yield the files with one of the suffixes in a directory of the project."""
        lead = f"{under}/" if under not in ("", ".") else ""
        return (path for path in self.files if path.endswith(suffixes) and path.startswith(lead))

    def named(self, *names: str, aside: AbstractSet[str] = frozenset()) -> list[str]:
        """List the files of these names, but none below a folder that is called as one of those aside."""
        return [p for p in self.files if PurePosixPath(p).name in names and aside.isdisjoint(PurePosixPath(p).parts)]

    def mentions(self, pattern: str, *suffixes: str, under: str = "") -> bool:
        """Return whether a pattern stands in one of the files with one of the suffixes."""
        search = re.compile(pattern, re.MULTILINE).search
        return any(search(self.text(path)) for path in self.ending(*suffixes, under=under))

    @property
    def needed(self) -> tuple[str, ...]:
        """Ignored paths that builds or benchmarks surely need, by their names: data sets, fetched sources, packages."""
        packages = {"node_modules"} if "package.json" in self.names else set()
        return tuple(p for p in self.ignored if p.endswith("/") and PurePosixPath(p).name in _NEEDED | packages)[:8]

    @property
    def environment(self) -> str | None:
        """The directory of the project's own Python environment, when it lies untracked in the checkout."""
        for name in (".venv", "venv"):
            if (self.directory / name / "bin" / "python").exists() and not any(self.ending("", under=name)):
                return name
        return None


def called(tree: Tree, path: str) -> list[str] | None:
    """Return the arguments with which the project's own files start a program; None where no whole command is there.

    A word in capitals or in brackets stands for something, and what looks like a file must be one of the project.
    """
    name = re.escape(PurePosixPath(path).name)
    start = rf"(?:(?:\.{{1,2}}|[\w-]+)/(?:[\w.-]+/)*|^\s*\$ ){name}((?:[ \t]+[\w./=:,+%@-]+)+)[ \t]*(?=$|[;&|>`#])"
    sources = (each for each in tree.files if _CALLS.fullmatch(each))
    found = [
        words.split()
        for source in sorted(sources, key=lambda each: (each.startswith("README"), each))
        for words in re.findall(start, tree.text(source).replace("\\\n", " "), re.MULTILINE)
        if all(word in tree.names or not _NO_WORD.search(word) for word in words.split())
    ]
    # where others are compared with the project its own name stands
    own = f"{tree.directory.name} {PurePosixPath(path).name}"
    return next((words for words in found if any(word in own for word in words)), found[0] if found else None)


def told(tree: Tree, pattern: re.Pattern[str]) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield what a pattern finds in the project's READMEs, each with its file."""
    for path in (path for path in tree.files if path.lower().startswith("readme")):
        # a command that ends with a backslash goes on in the next line, where Markdown's text only breaks
        yield from ((path, match) for match in pattern.finditer(re.sub(r"(?<=[ \t])\\\r?\n", "", tree.text(path))))


def write_new(place: Path, name: str, text: str, *, force: bool) -> None:
    """Write a file of a project, as it is named to the user; without force over nothing, not even a moment old.

    Raises: UserError: it cannot be written, or the way leads through a link of a commit.
    """
    refuse_tracked(place)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UserError(f"{name} cannot be written: {error.strerror}") from None


def read_tree(directory: Path) -> Tree:
    """List a project's files: by git, or by walking when it is in no repository."""
    try:
        git = git_of(directory)
        kept = git.entries("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        ignored = git.entries("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    except SourceError:
        found: list[str] = []
        for parent, folders, files in walk(directory):
            folders[:] = sorted(name for name in folders if name not in _SKIPPED and not name.startswith("."))
            found += (Path(parent, name).relative_to(directory).as_posix() for name in files)
            if len(found) > _MOST_FILES:
                break
        return Tree(directory, _ordered(found[:_MOST_FILES]), (), git=False)
    existing = (path for path in kept[:_MOST_FILES] if os.path.lexists(directory / path))
    return Tree(directory, _ordered(existing), _ordered(ignored), git=True)


def _ordered(paths: Iterator[str] | list[str]) -> tuple[str, ...]:
    # a name that is not UTF-8 cannot stand in a TOML file
    return tuple(sorted({path for path in paths if path.isprintable()}, key=lambda path: (path.count("/"), path)))
