"""The targets in the CMakeLists.txt files of a project, as far as they can be read without running CMake."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from gate.commands.init.detect.cmake_syntax import Branch, Call, Word, parse
from gate.commands.init.detect.cmake_values import FALSE, UNKNOWN, YES, Needs, Scope
from gate.commands.init.detect.cmake_variables import ROOT, assign
from gate.commands.init.detect.tree import Tree

FILE = "CMakeLists.txt"
PATH = re.compile(r"[\w./][\w./+-]*")
"""A name that can stand in a command as it is."""
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".C", ".f90", ".cu")
_FETCHES = ("fetchcontent_declare", "externalproject_add", "cpmaddpackage")
_VENDORED = {"third_party", "third-party", "thirdparty", "3rdparty", "external", "vendor", "deps"}
_DEEPEST = 12
_MOST_CALLS = 100_000


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
    libraries: frozenset[str]
    """What it is linked with, as far as that is named."""


@dataclass(slots=True)
class _Target:
    scope: Scope
    """At its place."""
    needs: tuple[str, ...]
    sources: list[str]
    libraries: set[str]
    properties: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Project:
    """What the walk gathers."""

    tree: Tree
    source: str
    """The directory whose CMakeLists.txt is the top one; "" for that of the whole project."""
    binary: str
    """The build directory."""
    programs: list[Program] = field(default_factory=list)
    testing: Needs = None
    """What enable_testing() or its like needs; None without one."""
    tests: bool = False
    """There are some."""
    fetches: bool = False
    """Something is downloaded."""
    shared: bool = False
    """There are shared libraries, which are linked as well."""


def read_project(tree: Tree, source: str = "") -> Project:
    """Walk through the files from the top one; the build directory has a name that no directory of the project has.

    Args:
        source: the directory of the top one.
    """
    # a source directory may be called build
    binary = "build" if not any(tree.ending("", under="build")) else "build-perfgate"
    project = Project(tree, source, binary)
    scope = Scope()
    for name in ("CMAKE", "PROJECT"):
        scope.variables |= {
            f"{name}_SOURCE_DIR": posixpath.join(ROOT, source).rstrip("/"),
            f"{name}_BINARY_DIR": f"{ROOT}/{binary}",
        }
    walk = _Walk(project)
    walk.directory(scope, source, f"{ROOT}/{binary}", _Place(()))
    project.programs = [program for name in walk.targets if (program := _placed(tree, name, walk.targets[name]))]
    return project


def _placed(tree: Tree, name: str, target: _Target) -> Program | None:
    """Return a program with its place; None where CMake computes that, or puts it elsewhere."""
    variables, own = target.scope.variables, target.properties
    place = own.get("RUNTIME_OUTPUT_DIRECTORY") or variables.get("CMAKE_RUNTIME_OUTPUT_DIRECTORY")
    place = place or variables.get("EXECUTABLE_OUTPUT_PATH") or variables["CMAKE_CURRENT_BINARY_DIR"]
    path = posixpath.join(ROOT, variables["CMAKE_CURRENT_BINARY_DIR"], place, own.get("OUTPUT_NAME", name))
    inside = _inside(path)
    if not PATH.fullmatch(name) or not PATH.fullmatch(inside) or not posixpath.normpath(path).startswith(ROOT):
        return None
    here = variables["CMAKE_CURRENT_SOURCE_DIR"]
    known = (_inside(posixpath.join(here, source)) for source in target.sources if source.endswith(_SOURCES))
    return Program(
        name,
        inside,
        tuple(dict.fromkeys(source for source in known if source in tree.names)),
        target.needs,
        frozenset(target.libraries),
    )


@dataclass(frozen=True, slots=True)
class _Place:
    """needs: what it takes to get there; None: that cannot be had, or is not known. depth: of files."""

    needs: Needs
    depth: int = 0
    functions: tuple[str, ...] = ()
    """Those that are being called."""

    def deeper(self) -> _Place:
        return replace(self, depth=self.depth + 1)


class _Return(Exception):  # noqa: N818 - it is no error
    """The end of a file or function."""


class _Walk:
    """Goes through the commands of a project."""

    def __init__(self, project: Project) -> None:
        self.targets: dict[str, _Target] = {}
        self._project = project
        self._functions: dict[str, tuple[Call, bool]] = {}
        self._left = _MOST_CALLS

    def directory(self, scope: Scope, directory: str, binary: str, place: _Place) -> None:
        """Read the file of a directory."""
        scope.variables["CMAKE_CURRENT_SOURCE_DIR"] = posixpath.join(ROOT, directory).rstrip("/")
        scope.variables["CMAKE_CURRENT_BINARY_DIR"] = binary
        self._file(posixpath.join(directory, FILE), scope, place)

    def _file(self, path: str, scope: Scope, place: _Place) -> None:
        if place.depth <= _DEEPEST and path in self._project.tree.names:
            scope.variables["CMAKE_CURRENT_LIST_DIR"] = posixpath.join(ROOT, posixpath.dirname(path)).rstrip("/")
            self._body(parse(self._project.tree.text(path)), scope, place)

    def _body(self, calls: list[Call], scope: Scope, place: _Place) -> None:
        with suppress(_Return):
            for call in calls:
                place = replace(place, needs=self._call(call, scope, place))

    def _call(self, call: Call, scope: Scope, place: _Place) -> Needs:
        """Follow a command, and return what those behind it need."""
        self._left -= 1
        if self._left < 0:
            raise _Return
        if call.name == "if":
            return self._if(call, scope, place)
        if call.name in ("function", "macro") and call.words:
            self._functions[call.words[0].text.lower()] = (call, call.name == "macro")
        elif call.name == "foreach" and call.words:
            self._foreach(call, scope, place)
        elif call.name == "return" and place.needs is not None:
            raise _Return
        elif call.name in self._functions and call.name not in _FETCHES:
            # one that calls itself does so until something that is not known here
            if place.needs is not None and call.name not in place.functions:
                self._function(call.name, scope.words(call.words), scope, place)
        elif not call.branches:
            self._command(call.name, scope.words(call.words), scope, place)
        return place.needs

    def _if(self, call: Call, scope: Scope, place: _Place) -> Needs:
        needs = remaining = place.needs
        for branch in call.branches:
            truth = scope.truth(branch.condition) if branch.condition else YES
            if truth.fails is not None and _leaves(branch):
                # "if(NOT OPTION) return()": what comes behind it needs the option
                needs = remaining = _joined(remaining, truth.fails)
                continue
            inside = _joined(remaining, truth.holds)
            if needs is not None and inside is None and truth.fails != ():
                scope.variables |= dict.fromkeys(_set_in(branch), UNKNOWN)
            # what is only so with an option is not so otherwise
            own = scope if inside == needs else scope.inner()
            for inner in branch.calls:
                inside = self._call(inner, own, replace(place, needs=inside))
            remaining = _joined(remaining, truth.fails)
        return needs

    def _foreach(self, call: Call, scope: Scope, place: _Place) -> None:
        name, *words = call.words
        values: list[str] = []
        if words and words[0].text == "IN":
            lists = False
            for word in words[1:]:
                if word.text in ("LISTS", "ITEMS"):
                    lists = word.text == "LISTS"
                else:
                    values += scope.words([Word(f"${{{scope.expand(word.text)}}}")] if lists else [word])
        else:
            values = [UNKNOWN] if words and words[0].text == "RANGE" else scope.words(words)
        for value in values:
            scope.variables[name.text] = value
            needs = None if UNKNOWN in value else place.needs
            for inner in call.branches[0].calls:
                needs = self._call(inner, scope, replace(place, needs=needs))

    def _function(self, name: str, words: list[str], scope: Scope, place: _Place) -> None:
        call, macro = self._functions[name]
        own = scope if macro else scope.inner()
        parameters = [word.text for word in call.words[1:]]
        own.variables |= {f"ARGV{number}": word for number, word in enumerate(words)}
        own.variables |= dict(zip(parameters, words, strict=False))
        own.variables |= {"ARGC": str(len(words)), "ARGV": ";".join(words), "ARGN": ";".join(words[len(parameters) :])}
        self._body(call.branches[0].calls, own, replace(place, functions=(*place.functions, name)))

    def _command(self, name: str, words: list[str], scope: Scope, place: _Place) -> None:
        project, needs = self._project, place.needs
        first, rest = (words[0], words[1:]) if words else ("", [])
        # within an if that is not known they still show what there is
        project.fetches |= name in _FETCHES
        project.tests |= name == "add_test" or name.endswith("_discover_tests")
        project.shared |= name == "add_library" and "SHARED" in rest
        # the default of libraries that do not say; an option's value stands behind its description
        project.shared |= first == "BUILD_SHARED_LIBS" and name in ("option", "set") and _is_on(name, rest)
        if name == "option":
            scope.declare(first, rest[1] if len(rest) > 1 else "OFF")
        elif name == "cmake_dependent_option" and len(rest) > 2:
            conditions = [parse(f"if({part})")[0].words for part in rest[2].split(";")]
            scope.declare_dependent(first, rest[1], conditions, (rest[3:] or ["OFF"])[0])
        elif needs is not None and UNKNOWN not in first:
            self._known(name, first, rest, scope, place)

    def _known(self, name: str, first: str, rest: list[str], scope: Scope, place: _Place) -> None:
        """Follow a command that is surely reached, if only with some options."""
        project, needs = self._project, place.needs or ()
        if name == "project":
            here, binary = scope.variables["CMAKE_CURRENT_SOURCE_DIR"], scope.variables["CMAKE_CURRENT_BINARY_DIR"]
            scope.variables |= {"PROJECT_NAME": first, "PROJECT_SOURCE_DIR": here, "PROJECT_BINARY_DIR": binary}
            scope.variables |= {f"{first}_SOURCE_DIR": here, f"{first}_BINARY_DIR": binary}
            scope.variables.setdefault("CMAKE_PROJECT_NAME", first)
        elif name == "enable_testing" or (name == "include" and first == "CTest"):
            project.testing = min((each for each in (project.testing, needs) if each is not None), key=len)
        elif name == "include":
            self._include(first, scope, place)
        elif name == "add_subdirectory" and "EXCLUDE_FROM_ALL" not in rest:
            inner = _inside(posixpath.join(scope.variables["CMAKE_CURRENT_SOURCE_DIR"], first))
            binary = posixpath.join(scope.variables["CMAKE_CURRENT_BINARY_DIR"], rest[0] if rest else first)
            if not _VENDORED & set(PurePosixPath(inner).parts):
                self.directory(scope.inner(), inner, binary, place.deeper())
        elif name == "find_package" and "REQUIRED" in rest:
            scope.variables[f"{first}_FOUND"] = "1"
        elif not self._target(name, first, rest, scope, needs):
            assign(name, [first, *rest], scope, project.tree.files)

    def _include(self, name: str, scope: Scope, place: _Place) -> None:
        """Follow a file of the project that is included, by its path or as a module."""
        path = _inside(posixpath.join(scope.variables["CMAKE_CURRENT_SOURCE_DIR"], name))
        if path not in self._project.tree.names:
            path = next(self._project.tree.ending(f"/{name}.cmake"), "")
        self._file(path, scope, place.deeper())

    def _from_here(self, sources: list[str], scope: Scope) -> list[str]:
        """Return sources that are named where the command stands by their whole paths (CMake's policy CMP0076)."""
        whole = {each: posixpath.join(scope.variables["CMAKE_CURRENT_SOURCE_DIR"], each) for each in sources}
        return [path if _inside(path) in self._project.tree.names else each for each, path in whole.items()]

    def _target(self, name: str, first: str, rest: list[str], scope: Scope, needs: tuple[str, ...]) -> bool:
        """Follow a command for a target; False where it is none."""
        if name == "add_executable":
            before = self.targets.get(first)
            aside = {"IMPORTED", "ALIAS", "EXCLUDE_FROM_ALL", "MACOSX_BUNDLE"} & set(rest)
            if not aside and (before is None or len(before.needs) > len(needs)):
                self.targets[first] = _Target(scope.inner(), needs, list(rest), {*scope.linked})
        elif name == "link_libraries":
            scope.linked += [first, *rest]
        elif name in ("target_link_libraries", "target_sources") and first in self.targets:
            target = self.targets[first]
            target.sources += self._from_here(rest, scope) if name == "target_sources" else []
            target.libraries |= set(rest) if name == "target_link_libraries" else set()
        elif name in ("set_target_properties", "set_property") and {"PROPERTIES", "PROPERTY"} & set(rest):
            words = [first, *rest]
            end = next(place for place, word in enumerate(words) if word in ("PROPERTIES", "PROPERTY"))
            for each in words[:end]:
                if each in self.targets:
                    self.targets[each].properties |= dict(zip(words[end + 1 :: 2], words[end + 2 :: 2], strict=False))
        scope.targets |= {first} if name in ("add_executable", "add_library", "add_custom_target") else set()
        return name.startswith(("add_", "target_", "set_", "link_"))


def _is_on(name: str, rest: list[str]) -> bool:
    """Return whether a variable or option that is set or declared is on, or may be."""
    value = (rest[1:2] if name == "option" else rest[:1]) or ["OFF"]
    return not FALSE.fullmatch(value[0])


def _leaves(branch: Branch) -> bool:
    """Return whether what stands behind a block is not reached from it."""
    return any(call.name == "return" for call in branch.calls)


def _set_in(branch: Branch) -> Iterator[str]:
    """Yield the variables that are set in a block."""
    for call in branch.calls:
        if call.name == "set" and call.words:
            yield call.words[0].text
        for inner in call.branches:
            yield from _set_in(inner)


def _joined(first: Needs, second: Needs) -> Needs:
    return None if first is None or second is None else tuple(dict.fromkeys((*first, *second)))


def _inside(path: str) -> str:
    """Return a path below the project's directory; "" for that itself."""
    return posixpath.normpath(path).removeprefix(ROOT).lstrip("/")
