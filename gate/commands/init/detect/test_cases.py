"""Test cases of doctest and Catch2 that hold benchmarks of nanobench, and the options that run no others."""

from __future__ import annotations

import re
from dataclasses import dataclass

_DOCTEST = re.compile(r"^\s*#\s*include\s*[<\"](?:[\w.-]+/)*doctest\.h", re.MULTILINE)
_CATCH2 = re.compile(r"^\s*#\s*include\s*[<\"](?:catch2/|catch\.hpp|catch_amalgamated\.hpp)", re.MULTILINE)
_CASE = re.compile(r"^[ \t]*TEST_CASE\s*\(\s*\"((?:[^\"\\\n]|\\.)*)\"([^{]*)\{", re.MULTILINE)
_RUN = re.compile(r"\.\s*run\s*\(\s*(?:\"((?:[^\"\\\n]|\\.)*)\"\s*(,))?")
_NOT_READ = re.compile(r"\.\s*(?:output|complexityN)\s*\(")
_PLAIN = re.compile(r"[\w .:/+=<>#()-]+")
_TEST = re.compile(r"(^|[_ ])(unit|test)", re.IGNORECASE)
_MOST = 40


@dataclass(frozen=True, slots=True)
class Cases:
    """The test cases of a program."""

    options: list[str]
    """Of the program, to run them."""
    benchmarks: int
    """How many benchmarks they hold."""
    left_out: list[str]
    """Those with a benchmark that has the name of another: the results could not be told apart."""


def cases(texts: list[str]) -> Cases | None:
    """Return the test cases with benchmarks, in a program's sources; None without one, or without such a framework."""
    doctest = any(map(_DOCTEST.search, texts))
    if not doctest and not any(map(_CATCH2.search, texts)):
        return None
    names: list[str] = []
    taken: set[str] = set()
    left: list[str] = []
    skipped = False
    for name, decorated, body in (each for text in texts for each in _bodies(text)):
        runs = [match[1] if match[2] else None for match in _RUN.finditer(body)]
        own = [run for run in runs if run is not None]
        usable = _PLAIN.fullmatch(name) and not _TEST.search(name) and not _NOT_READ.search(body)
        if not runs or not usable:
            continue
        if taken & {*own} or len({*own}) < len(own) or len(names) == _MOST:
            left.append(name)
            continue
        taken |= {*own}
        names.append(name)
        skipped |= "skip" in decorated
    if not names:
        return None
    listed = ",".join(names)
    # a test case of Catch2 that is named runs, hidden or not
    options = [f"--test-case={listed}", *(["--no-skip"] if skipped else [])] if doctest else [listed]
    return Cases(options, len(taken) or len(names), left)


def _bodies(text: str) -> list[tuple[str, str, str]]:
    """Return the name of each test case, what stands between its name and its body, and the text up to the next one."""
    found = [*_CASE.finditer(text)]
    ends = [*(match.start() for match in found[1:]), len(text)]
    return [(match[1], match[2], text[match.end() : end]) for match, end in zip(found, ends, strict=False)]
