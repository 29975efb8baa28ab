"""Variables, lists and conditions of CMake, as far as they are known without running it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from gate.commands.init.detect.cmake_syntax import Word

UNKNOWN = "$"
"""Stands in a text for what is not known."""
_REFERENCE = re.compile(r"\$\{([^${}]+)\}")
FALSE = re.compile(r"0*(\.0*)?|OFF|NO|FALSE|N|IGNORE|NOTFOUND|.*-NOTFOUND", re.IGNORECASE)
_HERE = {
    **dict.fromkeys(("UNIX", "LINUX", "BUILD_TESTING", "PROJECT_IS_TOP_LEVEL", "CMAKE_COMPILER_IS_GNUCXX"), "1"),
    **dict.fromkeys(("WIN32", "MSVC", "APPLE", "MINGW", "CYGWIN", "ANDROID", "IOS", "EMSCRIPTEN"), "0"),
    **{f"{name}_FOUND": "1" for name in ("benchmark", "Catch2", "nanobench", "Threads", "GTest", "GTEST")},
    "CMAKE_BUILD_TYPE": "Release", "CMAKE_SIZEOF_VOID_P": "8", "CMAKE_VERSION": "3.28", "CMAKE_SYSTEM_NAME": "Linux",
    "CMAKE_CXX_COMPILER_ID": "GNU", "CMAKE_C_COMPILER_ID": "GNU", "CMAKE_EXECUTABLE_SUFFIX": "",
    "CMAKE_CXX_COMPILER_VERSION": "13.2", "CMAKE_C_COMPILER_VERSION": "13.2",
    "CMAKE_CROSSCOMPILING": "0",
}  # fmt: skip
_COMPARISONS: dict[str, Callable[[str, str], bool]] = {
    "STREQUAL": lambda left, right: left == right,
    "EQUAL": lambda left, right: _version(left) == _version(right),
    "MATCHES": lambda left, right: _matches(left, right),
    "LESS": lambda left, right: _version(left) < _version(right),
    "GREATER": lambda left, right: _version(left) > _version(right),
    "LESS_EQUAL": lambda left, right: _version(left) <= _version(right),
    "GREATER_EQUAL": lambda left, right: _version(left) >= _version(right),
    "IN_LIST": lambda left, right: left in right.split(";"),
}
_BENCH = re.compile("bench|perf", re.IGNORECASE)
_UNARY = {"DEFINED", "TARGET", "EXISTS", "IS_DIRECTORY", "COMMAND", "POLICY", "IS_ABSOLUTE", "TEST"}

Needs = tuple[str, ...] | None
"""Options that must be switched on for something; None where that cannot be had, or is not known."""


class Truth(NamedTuple):
    """What a condition needs to hold, and what it needs to fail."""

    holds: Needs
    fails: Needs


YES, NO, PERHAPS = Truth((), None), Truth(None, ()), Truth(None, None)


@dataclass(slots=True)
class Scope:
    """What is known at a place in the files."""

    variables: dict[str, str] = field(default_factory=lambda: dict(_HERE))
    options: dict[str, bool] = field(default_factory=dict)
    """Those that are declared, and whether they are on; common to all scopes."""
    targets: set[str] = field(default_factory=set)
    """Those of the project; common to all scopes."""
    dependent: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """What an option that is off needs to be on, where its own switch is not all; common to all scopes."""
    linked: list[str] = field(default_factory=list)
    """What all programs of the directory are linked with."""

    def inner(self) -> Scope:
        """Return a scope in which variables can be set without effect on this one."""
        return Scope(dict(self.variables), self.options, self.targets, self.dependent, list(self.linked))

    def expand(self, text: str) -> str:
        """Put in the values of variables, with UNKNOWN for those that are not known."""
        for _ in range(10):
            if not _REFERENCE.search(text):
                break
            text = _REFERENCE.sub(lambda match: self.variables.get(match[1], UNKNOWN), text)
        return text

    def words(self, words: Iterable[Word]) -> list[str]:
        """Return the arguments of a command: a list that is not quoted is several."""
        found: list[str] = []
        for word in words:
            text = self.expand(word.text)
            found += [text] if word.quoted else [part for part in text.split(";") if part]
        return found

    def declare(self, name: str, value: str) -> None:
        """Take note of an option; one that is not known can be switched on."""
        if name not in self.variables:
            self.options.setdefault(name, UNKNOWN not in value and not FALSE.fullmatch(value))

    def declare_dependent(self, name: str, value: str, conditions: list[list[Word]], otherwise: str) -> None:
        """Take note of an option that can be switched on only where conditions hold."""
        truths = [self.truth(condition) for condition in conditions]
        if all(truth.holds == () for truth in truths):
            self.declare(name, value)
            return
        self.declare(name, otherwise)
        needed = [truth.holds for truth in truths if truth.holds is not None]
        if len(needed) == len(truths):
            own = () if UNKNOWN not in value and not FALSE.fullmatch(value) else (name,)
            self.dependent[name] = tuple(dict.fromkeys((*sum(needed, ()), *own)))

    def truth(self, condition: list[Word]) -> Truth:
        """Return what a condition needs."""
        return _Reader(self, list(condition)).any_of()


@dataclass(slots=True)
class _Reader:
    scope: Scope
    words: list[Word]

    def any_of(self) -> Truth:
        found = [self._all_of()]
        while self._next("OR"):
            found.append(self._all_of())
        return _swapped(_both([_swapped(each) for each in found]))

    def _all_of(self) -> Truth:
        found = [self._term()]
        while self._next("AND"):
            found.append(self._term())
        return _both(found)

    def _next(self, text: str) -> bool:
        found = bool(self.words) and self.words[0] == Word(text)
        if found:
            self.words.pop(0)
        return found

    def _term(self) -> Truth:
        if self._next("NOT"):
            return _swapped(self._term())
        if self._next("("):
            inner = self.any_of()
            self._next(")")
            return inner
        if not self.words:
            return PERHAPS
        word = self.words.pop(0)
        if not word.quoted and word.text in _UNARY and self.words:
            return self._unary(word.text, self.scope.expand(self.words.pop(0).text))
        operator = self.words[0].text.removeprefix("VERSION_") if self.words else ""
        if len(self.words) > 1 and operator in _COMPARISONS:
            self.words.pop(0)
            right = self._value(self.words.pop(0))
            left = word.text if operator == "IN_LIST" else self._value(word)
            if UNKNOWN in left + right:
                return PERHAPS
            return YES if _COMPARISONS[operator](left, right) else NO
        return self._bare(self.scope.expand(word.text))

    def _value(self, word: Word) -> str:
        text = self.scope.expand(word.text)
        return text if word.quoted else self.scope.variables.get(text, text)

    def _unary(self, name: str, text: str) -> Truth:
        scope = self.scope
        if name == "DEFINED":
            return YES if text in scope.variables or text in scope.options else NO
        if name == "TARGET":
            known = text in scope.targets or text.partition("::")[0] in ("benchmark", "Catch2", "nanobench")
            return YES if known else PERHAPS
        return YES if name == "POLICY" else PERHAPS

    def _bare(self, text: str) -> Truth:
        if text in self.scope.options:
            return YES if self.scope.options[text] else Truth(self.scope.dependent.get(text, (text,)), ())
        value = self.scope.variables.get(text)
        if value is None and text.startswith("CMAKE_"):
            return NO  # not set: CMake's own, or for whoever builds the project
        if value is None and (FALSE.fullmatch(text) or re.fullmatch(r"ON|YES|TRUE|Y|\d+", text, re.IGNORECASE)):
            value = text
        if value is None or UNKNOWN in value:
            return PERHAPS
        return NO if FALSE.fullmatch(value) else YES


def _swapped(truth: Truth) -> Truth:
    return Truth(truth.fails, truth.holds)


def _both(truths: list[Truth]) -> Truth:
    held = [truth.holds for truth in truths]
    known = [needs for needs in held if needs is not None]
    holds = tuple(dict.fromkeys(sum(known, ()))) if len(known) == len(held) else None
    failing = [truth.fails for truth in truths if truth.fails is not None]
    # with a choice of options, the fewest, and one for benchmarks
    return Truth(holds, min(failing, key=lambda needs: (len(needs), not any(map(_BENCH.search, needs))), default=None))


def _version(text: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", text)]


def _matches(text: str, pattern: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return False
