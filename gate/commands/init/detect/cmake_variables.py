"""The commands of CMake that set variables."""

from __future__ import annotations

import fnmatch
import posixpath
from collections.abc import Callable
from pathlib import PurePosixPath

from gate.commands.init.detect.cmake_values import UNKNOWN, Scope

ROOT = "/project"
"""Stands for the project's directory, which CMake names by its full path."""


def assign(name: str, words: list[str], scope: Scope, files: tuple[str, ...]) -> None:
    """Follow a command that sets a variable; what it sets in another way than is known here becomes unknown.

    Args:
        files: those of the project, for globs.
    """
    if name in _COMMANDS and words:
        _COMMANDS[name](words, scope, files)


def _set(words: list[str], scope: Scope, _: tuple[str, ...]) -> None:
    name, *values = words
    if "CACHE" in values:
        place = values.index("CACHE")
        if values[place + 1 : place + 2] == ["BOOL"]:
            scope.declare(name, (values[:place] or ["OFF"])[0])
            return
        values = values[:place]
    text = ";".join(value for value in values if value != "PARENT_SCOPE")
    scope.variables[name] = UNKNOWN if UNKNOWN in text else text


def _unset(words: list[str], scope: Scope, _: tuple[str, ...]) -> None:
    scope.variables.pop(words[0], None)


def _list(words: list[str], scope: Scope, _: tuple[str, ...]) -> None:
    action, name, *values = [*words, ""]
    before = scope.variables.get(name, "")
    if action in ("APPEND", "PREPEND"):
        values = [value for value in values if value]
        joined = [before, *values] if action == "APPEND" else [*values, before]
        scope.variables[name] = ";".join(part for part in joined if part)
    elif action not in ("SORT", "REMOVE_DUPLICATES"):
        scope.variables[values[-2] if action in ("LENGTH", "GET", "FIND") and len(values) > 1 else name] = UNKNOWN


def _file(words: list[str], scope: Scope, files: tuple[str, ...]) -> None:
    action, name, *patterns = [*words, ""]
    if action not in ("GLOB", "GLOB_RECURSE"):
        return
    patterns = [pattern for pattern in patterns if pattern and pattern != "CONFIGURE_DEPENDS"]
    relative = ""
    if patterns[:1] == ["RELATIVE"]:
        relative, patterns = patterns[1], patterns[2:]
    here = scope.variables["CMAKE_CURRENT_SOURCE_DIR"]
    found = [path for pattern in patterns for path in _glob(posixpath.join(here, pattern), files, action)]
    scope.variables[name] = ";".join(posixpath.relpath(path, relative) if relative else path for path in found)


def _glob(pattern: str, files: tuple[str, ...], action: str) -> list[str]:
    folder, last = posixpath.split(posixpath.normpath(pattern))
    paths = (posixpath.join(ROOT, path) for path in files)
    return sorted(
        path
        for path in paths
        if fnmatch.fnmatchcase(posixpath.basename(path), last)
        and (posixpath.dirname(path) == folder or (action == "GLOB_RECURSE" and path.startswith(f"{folder}/")))
    )


def _filename(words: list[str], scope: Scope, _: tuple[str, ...]) -> None:
    name, text, mode = (*words, "", "")[:3]
    path = PurePosixPath(text)
    parts = {
        "NAME": path.name,
        "NAME_WE": path.name.split(".")[0],
        "NAME_WLE": path.stem,
        "EXT": path.suffix,
        "DIRECTORY": posixpath.dirname(text),
        "PATH": posixpath.dirname(text),
        "ABSOLUTE": posixpath.normpath(posixpath.join(scope.variables["CMAKE_CURRENT_SOURCE_DIR"], text)),
    }
    scope.variables[name] = UNKNOWN if UNKNOWN in text else parts.get(mode, UNKNOWN)


def _string(words: list[str], scope: Scope, _: tuple[str, ...]) -> None:
    action, *rest = words
    simple: dict[str, Callable[[str], str]] = {"TOLOWER": str.lower, "TOUPPER": str.upper, "STRIP": str.strip}
    if action == "REPLACE" and len(rest) == 4:
        old, new, name, text = rest
        scope.variables[name] = text.replace(old, new) if old else text
    elif action in simple and len(rest) == 2:
        scope.variables[rest[1]] = simple[action](rest[0])
    elif action == "CONCAT" and rest:
        scope.variables[rest[0]] = "".join(rest[1:])
    elif action in ("REGEX", "FIND", "LENGTH", "SUBSTRING") and len(rest) > 1:
        place = {"REGEX": 3 if rest[0] == "REPLACE" else 2}.get(action, -1)
        scope.variables[rest[place] if len(rest) > place else rest[-1]] = UNKNOWN


def _arguments(words: list[str], scope: Scope, _: tuple[str, ...]) -> None:
    """Follow cmake_parse_arguments in its form without PARSE_ARGV."""
    if len(words) < 4 or words[0] == "PARSE_ARGV":
        return
    prefix, *kinds = words[:4]
    switches, ones, many = (kind.split(";") if kind else [] for kind in kinds)
    found: dict[str, list[str]] = {"UNPARSED_ARGUMENTS": []}
    key = "UNPARSED_ARGUMENTS"
    for word in words[4:]:
        if word in (*switches, *ones, *many):
            found[word] = ["1"] if word in switches else []
            key = "UNPARSED_ARGUMENTS" if word in switches else word
        else:
            found[key].append(word)
            key = "UNPARSED_ARGUMENTS" if key in ones else key
    for name in (*switches, *ones, *many):
        # what is not given is false in an if
        scope.variables[f"{prefix}_{name}"] = ";".join(found.get(name, []))
    scope.variables[f"{prefix}_UNPARSED_ARGUMENTS"] = ";".join(found["UNPARSED_ARGUMENTS"])


_COMMANDS: dict[str, Callable[[list[str], Scope, tuple[str, ...]], None]] = {
    "set": _set,
    "unset": _unset,
    "list": _list,
    "file": _file,
    "get_filename_component": _filename,
    "string": _string,
    "cmake_parse_arguments": _arguments,
}
