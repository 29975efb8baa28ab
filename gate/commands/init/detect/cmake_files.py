"""The targets in the CMakeLists.txt files of a project, as far as they can be read without running CMake."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from gate.commands.init.detect.tree import Tree

FILE = "CMakeLists.txt"
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|#\[(=*)\[.*?\]\1\]|#[^\n]*', re.DOTALL)
_CALL = re.compile(r"([A-Za-z_]\w*)\s*\(")
_ARGUMENT = re.compile(r'"((?:[^"\\]|\\.)*)"|([^\s()"]+)')
_REFERENCE = re.compile(r"\$\{([\w.-]+)\}")
_PATH = re.compile(r"[\w./][\w./+-]*")
_OPENING = {"if", "foreach", "while", "function", "macro"}
# An if that holds for a project built by itself.
_TOP_LEVEL = re.compile(r"BUILD_TESTING|PROJECT_IS_TOP_LEVEL|CMAKE_PROJECT_NAME|CMAKE_(CURRENT_)?SOURCE_DIR")
_GOOGLE = {"benchmark", "benchmark_main", "benchmark::benchmark", "benchmark::benchmark_main"}
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".C", ".f90", ".cu")
_DEEPEST = 6


class _Call(NamedTuple):
    """needs: options that must be switched on for it; None where it may be skipped or repeated for another reason."""

    name: str
    arguments: list[str]
    needs: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Program:
    """A program that is built."""

    name: str
    path: str
    """Where."""
    sources: tuple[str, ...]
    """Those that are known."""
    needs: tuple[str, ...]
    """Options to be switched on for it."""


@dataclass(slots=True)
class Project:
    """What the walk gathers."""

    tree: Tree
    binary: str
    """The build directory."""
    programs: list[Program] = field(default_factory=list)
    testing: bool = False
    """enable_testing() or its like."""
    tests: bool = False
    """There are some."""
    renamed: set[str] = field(default_factory=set)
    """Targets whose programs have other names or places."""
    fetches: bool = False
    """Something is downloaded."""
    options: dict[str, bool] = field(default_factory=dict)
    """What `option` declares, and whether it is on."""
    linked: set[str] = field(default_factory=set)
    """Targets that are linked with Google Benchmark."""


def read_project(tree: Tree) -> Project:
    """Walk through the files from the top one; the build directory has a name that no directory of the project has."""
    # a source directory may be called build
    binary = "build" if not any(tree.ending("", under="build")) else "build-perfgate"
    project = Project(tree, binary)
    _walk(project, "", {"CMAKE_SOURCE_DIR": ".", "CMAKE_BINARY_DIR": binary}, ())
    return project


def _walk(project: Project, directory: str, variables: dict[str, str], needs: tuple[str, ...], depth: int = 0) -> None:
    path = posixpath.join(directory, FILE)
    if depth > _DEEPEST or path not in project.tree.names:
        return
    here = {
        **variables,
        "CMAKE_CURRENT_SOURCE_DIR": directory or ".",
        "CMAKE_CURRENT_BINARY_DIR": posixpath.join(project.binary, directory),
    }
    for call in _calls(project.tree.text(path), project.options):
        expanded = [_expand(argument, here) for argument in call.arguments]
        project.fetches |= call.name in ("fetchcontent_declare", "externalproject_add", "cpmaddpackage")
        # within if(option): whether it is built is not known here
        project.tests |= call.name == "add_test" or call.name.endswith("_discover_tests")
        project.testing |= call.needs == () and not directory and call.name == "enable_testing"
        if call.name == "target_link_libraries" and _GOOGLE & set(expanded):
            project.linked |= {expanded[0] or ""}
        if call.needs is not None and expanded and expanded[0] is not None:
            all_needs = tuple(dict.fromkeys((*needs, *call.needs)))
            _take(project, directory, here, call._replace(needs=all_needs), expanded, depth)
    if depth == 0:
        project.programs[:] = _placed(project)


def _take(
    project: Project, directory: str, here: dict[str, str], call: _Call, arguments: list[str | None], depth: int
) -> None:
    name, needs = call.name, call.needs or ()
    first, rest = arguments[0] or "", arguments[1:]
    if name == "project":
        here |= {"PROJECT_NAME": first, "PROJECT_SOURCE_DIR": directory or "."}
        here |= {"PROJECT_BINARY_DIR": here["CMAKE_CURRENT_BINARY_DIR"]}
        here |= {} if directory else {"CMAKE_PROJECT_NAME": first}
    elif name == "set":
        _set(here, first, rest)
    elif name == "include" and first == "CTest":
        project.testing |= not directory
    elif name == "add_subdirectory" and not rest:
        _walk(project, posixpath.normpath(posixpath.join(directory, first)), here, needs, depth + 1)
    elif name in ("set_target_properties", "set_property"):
        if {"OUTPUT_NAME", "RUNTIME_OUTPUT_DIRECTORY"} & set(rest):
            project.renamed |= {first, *(value for value in rest if value)}
    elif name == "add_executable":
        _add(project, directory, here, needs, [first, *rest])


def _set(variables: dict[str, str], name: str, values: list[str | None]) -> None:
    cut = values[: values.index("CACHE")] if "CACHE" in values else values
    known = [value for value in cut if value is not None]
    if len(known) == len(cut):
        variables[name] = ";".join(known)
    else:
        variables[name] = "$"  # known to be unknown


def _add(
    project: Project, directory: str, variables: dict[str, str], needs: tuple[str, ...], arguments: list[str | None]
) -> None:
    name, rest = arguments[0] or "", arguments[1:]
    if not _PATH.fullmatch(name) or {"IMPORTED", "ALIAS", "EXCLUDE_FROM_ALL", "MACOSX_BUNDLE"} & set(rest):
        return
    own = variables.get("CMAKE_RUNTIME_OUTPUT_DIRECTORY") or variables.get("EXECUTABLE_OUTPUT_PATH")
    place = own or variables["CMAKE_CURRENT_BINARY_DIR"]
    named = [item for value in rest if value for item in value.split(";")]
    sources = [posixpath.normpath(posixpath.join(directory, item)) for item in named if item.endswith(_SOURCES)]
    path = posixpath.normpath(posixpath.join(place, name))
    known = tuple(source for source in sources if source in project.tree.names)
    project.programs.append(Program(name, path, known, needs))


def _placed(project: Project) -> Iterator[Program]:
    for built in project.programs:
        # a "$" is left where CMake computes the directory
        if built.name not in project.renamed and _PATH.fullmatch(built.path) and not built.path.startswith(("/", "..")):
            yield built


def _expand(text: str, variables: dict[str, str]) -> str | None:
    for _ in range(10):
        if not _REFERENCE.search(text):
            break
        text = _REFERENCE.sub(lambda match: variables.get(match[1], "$"), text)
    return None if "$" in text else text


def _calls(text: str, options: dict[str, bool]) -> Iterator[_Call]:
    """Yield the calls of a CMake file.

    Args:
        options: what `option` declares, and whether it is on; is added to.
    """
    text = _TOKEN.sub(lambda match: match[0] if match[0].startswith('"') else " ", text)
    blocks: list[tuple[str, ...] | None] = []
    position = 0
    while match := _CALL.search(text, position):
        end = _closing(text, match.end())
        name, inside = match[1].lower(), text[match.end() : end]
        position = end + 1
        arguments = [quoted or bare for quoted, bare in _ARGUMENT.findall(inside)]
        if name in _OPENING:
            blocks.append(_needed(inside, options) if name == "if" else None)
        elif name in ("else", "elseif") and blocks:
            blocks[-1] = None
        elif name.startswith("end") and name[3:] in _OPENING and blocks:
            blocks.pop()
        else:
            if name == "option" and arguments:
                on = arguments[-1] == "ON" or bool(_TOP_LEVEL.search(arguments[-1]))
                options.setdefault(arguments[0], on)
            known = [block for block in blocks if block is not None]
            yield _Call(name, arguments, sum(known, ()) if len(known) == len(blocks) else None)


def _needed(condition: str, options: dict[str, bool]) -> tuple[str, ...] | None:
    """Return the options that must be switched on for a condition to hold; None when that is not all it takes."""
    needs = []
    for term in re.split(r"\bAND\b", condition):
        name = term.strip()
        if name in options:
            needs += [] if options[name] else [name]
        elif not _TOP_LEVEL.search(term):
            return None
    return tuple(needs)


def _closing(text: str, position: int) -> int:
    depth = 1
    for match in re.compile(r'"(?:[^"\\]|\\.)*"|[()]').finditer(text, position):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth == 0:
            return match.start()
    return len(text)
