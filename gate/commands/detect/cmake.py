"""CMake projects: the programs that are built without a choice of options, and where they end up."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from gate.commands.detect.found import Found, c_wants_arguments, placeholder, program, stand_in
from gate.commands.detect.tree import Tree

_FILE = "CMakeLists.txt"
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|#\[(=*)\[.*?\]\1\]|#[^\n]*', re.DOTALL)
_CALL = re.compile(r"([A-Za-z_]\w*)\s*\(")
_ARGUMENT = re.compile(r'"((?:[^"\\]|\\.)*)"|([^\s()"]+)')
_REFERENCE = re.compile(r"\$\{([\w.-]+)\}")
_PATH = re.compile(r"[\w./][\w./+-]*")
_OPENING = {"if", "foreach", "while", "function", "macro"}
# An if that holds for a project built by itself.
_TOP_LEVEL = re.compile(r"BUILD_TESTING|PROJECT_IS_TOP_LEVEL|CMAKE_PROJECT_NAME|CMAKE_(CURRENT_)?SOURCE_DIR")
_ADAPTIVE = re.compile(r"benchmark/benchmark\.h|nanobench\.h|nonius|celero/|catch2/benchmark|picobench", re.IGNORECASE)
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".C", ".f90", ".cu")
_DEEPEST = 6


class _Call(NamedTuple):
    name: str
    arguments: list[str]
    certain: bool


@dataclass(frozen=True, slots=True)
class _Program:
    name: str
    path: str
    sources: tuple[str, ...]


@dataclass(slots=True)
class _Project:
    """What the walk through the CMakeLists.txt files gathers."""

    tree: Tree
    binary: str
    programs: list[_Program] = field(default_factory=list)
    testing: bool = False
    tests: bool = False
    renamed: set[str] = field(default_factory=set)
    fetches: bool = False


def look(tree: Tree) -> Found | None:
    """Find what the CMakeLists.txt at the top builds; None without one."""
    if _FILE not in tree.names:
        return None
    # a source directory may be called build
    binary = "build" if not any(tree.ending("", under="build")) else "build-perfgate"
    project = _Project(tree, binary)
    _walk(project, "", {"CMAKE_SOURCE_DIR": ".", "CMAKE_BINARY_DIR": binary}, 0)
    return replace(_found(tree, project), products=[binary, *(built.path for built in project.programs)])


def _found(tree: Tree, project: _Project) -> Found:
    binary = project.binary
    build = f"cmake -S . -B {binary} -DCMAKE_BUILD_TYPE=Release && cmake --build {binary} --parallel 2 --clean-first"
    comment = ["From scratch each time (--clean-first), so that the rebuilds of a side differ as two builds do."]
    if project.fetches:
        comment += ["What the project fetches is downloaded once a side, into its build directory."]
    chosen = _choose(tree, project)
    if chosen is not None:
        argument, unsure = _argument(tree, chosen)
        benchmark, notes = program(chosen.name, chosen.path, argument, unsure=unsure)
        return Found(
            "cmake", f"{_FILE}, program {chosen.name}", benchmark, build, comment, artifacts=[chosen.path], notes=notes
        )
    if project.testing and project.tests:
        # ctest finds its tests in the working directory; --test-dir needs CMake 3.20
        measured = stand_in("ctest", f"cd {binary} && ctest --output-on-failure --no-tests=error")
        notes = ["the benchmark is the test run: put a program that does real work in its place"]
        return Found("cmake", f"{_FILE}, tests", measured, build, comment, notes=notes)
    benchmark, notes = placeholder()
    return Found("cmake", f"{_FILE}, without a program or tests", benchmark, build, comment, notes=notes)


def _choose(tree: Tree, project: _Project) -> _Program | None:
    """Take a benchmark program before another, and none that wants arguments where there are tests instead."""
    usable = []
    for built in project.programs:
        texts = [tree.text(path) for path in built.sources]
        # a program that repeats until it has taken a fixed time takes the same time on both sides
        if not any(_ADAPTIVE.search(text) for text in texts) and "test" not in built.name.lower():
            usable.append(built)
    ordered = sorted(usable, key=lambda built: "bench" not in built.name.lower())
    sure = [built for built in ordered if not _argument(tree, built)[1]]
    if sure:
        return sure[0]
    return ordered[0] if ordered and not (project.testing and project.tests) else None


def _argument(tree: Tree, built: _Program) -> tuple[str | None, bool]:
    texts = [tree.text(path) for path in built.sources]
    if any('"--help"' in text for text in texts):
        return "--help", False
    return None, not texts or any(c_wants_arguments(text) for text in texts)


def _walk(project: _Project, directory: str, variables: dict[str, str], depth: int) -> None:
    path = posixpath.join(directory, _FILE)
    if depth > _DEEPEST or path not in project.tree.names:
        return
    here = {
        **variables,
        "CMAKE_CURRENT_SOURCE_DIR": directory or ".",
        "CMAKE_CURRENT_BINARY_DIR": posixpath.join(project.binary, directory),
    }
    for call in _calls(project.tree.text(path)):
        expanded = [_expand(argument, here) for argument in call.arguments]
        project.fetches |= call.name in ("fetchcontent_declare", "externalproject_add", "cpmaddpackage")
        # within if(option): whether it is built is not known here
        project.tests |= call.name == "add_test" or call.name.endswith("_discover_tests")
        project.testing |= call.certain and not directory and call.name == "enable_testing"
        if call.certain and expanded and expanded[0] is not None:
            _take(project, directory, here, call.name, expanded, depth)
    if depth == 0:
        project.programs[:] = _placed(project)


def _take(
    project: _Project, directory: str, here: dict[str, str], name: str, arguments: list[str | None], depth: int
) -> None:
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
        _walk(project, posixpath.normpath(posixpath.join(directory, first)), here, depth + 1)
    elif name in ("set_target_properties", "set_property"):
        if {"OUTPUT_NAME", "RUNTIME_OUTPUT_DIRECTORY"} & set(rest):
            project.renamed |= {first, *(value for value in rest if value)}
    elif name == "add_executable":
        _add(project, directory, here, first, rest)


def _set(variables: dict[str, str], name: str, values: list[str | None]) -> None:
    cut = values[: values.index("CACHE")] if "CACHE" in values else values
    known = [value for value in cut if value is not None]
    if len(known) == len(cut):
        variables[name] = ";".join(known)
    else:
        variables[name] = "$"  # known to be unknown


def _add(project: _Project, directory: str, variables: dict[str, str], name: str, rest: list[str | None]) -> None:
    if not _PATH.fullmatch(name) or {"IMPORTED", "ALIAS", "EXCLUDE_FROM_ALL", "MACOSX_BUNDLE"} & set(rest):
        return
    own = variables.get("CMAKE_RUNTIME_OUTPUT_DIRECTORY") or variables.get("EXECUTABLE_OUTPUT_PATH")
    place = own or variables["CMAKE_CURRENT_BINARY_DIR"]
    named = [item for value in rest if value for item in value.split(";")]
    sources = [posixpath.normpath(posixpath.join(directory, item)) for item in named if item.endswith(_SOURCES)]
    path = posixpath.normpath(posixpath.join(place, name))
    project.programs.append(_Program(name, path, tuple(source for source in sources if source in project.tree.names)))


def _placed(project: _Project) -> Iterator[_Program]:
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


def _calls(text: str) -> Iterator[_Call]:
    """Yield the calls of a CMake file; certain: outside of every block that may be skipped or repeated."""
    text = _TOKEN.sub(lambda match: match[0] if match[0].startswith('"') else " ", text)
    options: set[str] = set()
    blocks: list[bool] = []
    position = 0
    while match := _CALL.search(text, position):
        end = _closing(text, match.end())
        name, inside = match[1].lower(), text[match.end() : end]
        position = end + 1
        arguments = [quoted or bare for quoted, bare in _ARGUMENT.findall(inside)]
        if name in _OPENING:
            holds = name == "if" and (bool(_TOP_LEVEL.search(inside)) or inside.strip() in options)
            blocks.append(holds)
        elif name in ("else", "elseif") and blocks:
            blocks[-1] = False
        elif name.startswith("end") and name[3:] in _OPENING and blocks:
            blocks.pop()
        else:
            if name == "option" and arguments[-1:] == ["ON"]:
                options.add(arguments[0])
            yield _Call(name, arguments, all(blocks))


def _closing(text: str, position: int) -> int:
    depth = 1
    for match in re.compile(r'"(?:[^"\\]|\\.)*"|[()]').finditer(text, position):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth == 0:
            return match.start()
    return len(text)
