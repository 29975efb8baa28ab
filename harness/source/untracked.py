"""Hints for failures: files that a tree lacks because git does not track them."""

from __future__ import annotations

import os
import posixpath
import re
import shlex
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from gate.model import Failure
from harness.source.repository import Repository, kept_out

Hint = Callable[[Failure, bool], str | None]
"""What probably went wrong with a failure, and what to do; None when that is not known.

The flag tells whether a program could not be started.
"""

_MISSING = re.compile(
    r"no such file|not found|cannot find|can't find|can not find|could not find|cannot open|can't open|could not open|"
    r"does not exist|doesn't exist|no rule to make target|ENOENT|FileNotFound|ModuleNotFound|no module named",
    re.IGNORECASE,
)
_MOST, _LONGEST = 400, 1000
_INSTALLED = ("node_modules", ".venv", "venv", "vendor", "target", "third_party")


def no_hint(failure: Failure, unstarted: bool) -> None:
    """Know nothing."""


def checkout_hint(repository: Repository) -> Hint:
    """Return hints that name a path which a failed command needs, and which only the user's checkout has.

    The failure's directory stands for the project: absolute paths below either are taken as paths in it.
    """
    return partial(_missing_file, repository)


def _missing_file(repository: Repository, failure: Failure, unstarted: bool) -> str | None:
    if failure.directory is None or not Path(failure.directory).is_dir():
        return None
    directory, stderr = Path(failure.directory), failure.stderr
    command = failure.command or ""
    try:
        given = shlex.split(command)
    except ValueError:
        given = command.split()
    # sh -c '...' and --data=path
    words = [piece for word in given for piece in re.split(r"[\s=;|&<>()]+", word) if piece]
    without = not any((above / ".git").exists() for above in (directory, *directory.parents))
    if without and "not a git repository" in stderr:
        return 'the tree that is built and measured has no .git: set git = "on" under [build]'
    missing = unstarted or bool(_MISSING.search(stderr))
    for path in _paths(words, stderr, (directory, repository.project), missing=missing):
        found = None if os.path.lexists(directory / path) else kept_out(repository, path)
        if found is None:
            continue
        lacks = f'the checkout has only files that git tracks; "{path}" is'
        if found == "untracked":
            return f"{lacks} not tracked by git: commit it, add it to [build] share, or make it in [build] setup"
        parts = path.split("/")
        if words and path == posixpath.normpath(words[0]) and parts[0] not in _INSTALLED:
            # sharing it would measure one and the same program on both sides
            return f"{lacks} ignored by git: make it in [build] command"
        # the folder that is ignored, so that the next file in it is not the next failure
        above = ("/".join(parts[: i + 1]) for i in range(len(parts)))
        folder = next((each for each in above if kept_out(repository, each) == "ignored"), path)
        what = "it" if folder == path else f'"{folder}/"'
        return f"{lacks} ignored by git: add {what} to [build] share, or make it in [build] setup"
    return None


def _paths(words: list[str], stderr: str, roots: Iterable[Path], *, missing: bool) -> list[str]:
    """Give what may be paths of the project, in the words of a command and in what it said; missing: a file is."""
    # a word such as "build" in `make build` is a path only if something says that a file is missing
    candidates = [word for word in words if missing or "/" in word]
    if missing:
        quotes = r"'([^'\n]+)'|\"([^\"\n]+)\"|`([^`'\n]+)['`]|‘([^’\n]+)’"
        candidates += [found for groups in re.findall(quotes, stderr) for found in groups]
        bare = [word.strip("'\"`,:;()[]{}<>‘’.") for word in stderr.split()]
        # ./run.sh: line 3: data/x.json: No such file
        candidates += [*bare, *(piece for word in bare if ":" in word for piece in word.split(":"))]
        candidates += [f"{name}.py" for name in re.findall(r"No module named '?([\w]+)", stderr)]
        candidates += ["node_modules"] if re.search(r"Cannot find (module|package) '", stderr) else []
    paths: dict[str, None] = {}
    for candidate in candidates:
        if not candidate or candidate.startswith("-") or "\0" in candidate or len(candidate) > _LONGEST:
            continue
        path = candidate
        for root in roots:
            path = path.removeprefix(f"{root}/")
        path = posixpath.normpath(path)
        if not path.startswith(("/", "../", ".git/")) and path not in (".", "..", ".git"):
            paths[path] = None
    return list(paths)[:_MOST]
