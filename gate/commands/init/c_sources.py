"""What sources of C and C++ tell: which library's benchmarks they hold, and with which arguments a program ends."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath

from gate.commands.init.ask import Asked
from gate.commands.init.found import (
    BENCH,
    COMPILED,
    Amount,
    Found,
    Proposed,
    Rank,
    Row,
    as_printed,
    fixed_plan,
    placeholder,
    program,
    suite_plan,
    tests,
)
from gate.commands.init.scripts import is_benchmark
from gate.commands.init.tree import Tree, called, folder_of, told

SOURCES = (
    *(".c", ".cc", ".cpp", ".cxx", ".C", ".m", ".f90", ".f", ".s", ".S", ".zig"),
    *(".d", ".pas", ".adb", ".ml", ".hs"),
)
OTHERS = {"vendor", "third_party", "third-party", "external", "deps", "_deps", "node_modules", "submodules"}
"""Folders of other people's packages."""
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|(\"(?:[^\"\\\n]|\\.)*\")", re.DOTALL)
_USAGE_OF_FILE = re.compile(r"\busage:[^\n]*\b(?:file|path|input)s?\b", re.IGNORECASE)
_COMPLAINS = re.compile(r"\bargc\s*(<|!=|==)|\busage\s*\(|\"[^\"\n]*\busage\b", re.IGNORECASE)
_READS_INPUT = re.compile(r"\bstdin\b|\bcin\b|\bgetchar\b|\blisten\s*\(|\baccept\s*\(")
_READS = re.compile(r"\bargv\s*(\[\s*[^0\s\]]|\+)|\+\+\s*argv|\bargv\s*,|\bargs?\s*\(\s*argv")
_EACH_FILE = re.compile(
    r"(?=.*\bfor\s*\([^;]*;\s*\w+\s*<\s*argc\b).*\b(?:f?open|ifstream\s+\w+|\w*read_?\w*file\w*)\s*\(\s*argv", re.DOTALL
)
"""A program that does nothing unless files are named."""
_TIMED = re.compile(r"(?=.*\bSIGALRM\b).*\b(?:u?alarm|setitimer)\s*\(", re.DOTALL)
_PRINTS_RATES = re.compile(r'"[^"\n]*%[^"\n]*[A-Za-z]/s(?:ec)?\b')
LEFT_OUT = "left out: it wants arguments that are not known, or works for a fixed time"
_LIBRARIES = {
    "google-benchmark": (
        r"#\s*include\s*[<\"](?:[\w./-]*/)?benchmark/benchmark\.h",
        r"^\s*(?:BENCHMARK\w*\(|benchmark::RegisterB)",
    ),
    "catch2": (
        r"#\s*include\s*[<\"](?:[\w./-]*/)?(?:catch2/|catch(?:_amalgamated)?\.hpp)",
        r"^\s*BENCHMARK(?:_ADVANCED)?\s*\(",
    ),
    "nanobench": (r"#\s*include\s*[<\"](?:[\w./-]*/)?nanobench\.h", r"\.\s*run\s*\("),
}
_TEST = re.compile(r"^[ \t]*TEST_CASE(_TEMPLATE)?\s*\(\s*\"((?:[^\"\\\n]|\\.)*)\"([^{]*)\{", re.MULTILINE)
_TAG = re.compile(r"\[[^\]\"]*(?:bench|perf)[^\]\"]*\]", re.IGNORECASE)
_CHANGES = re.compile(r"change|history|news|lock|version|authors|perfgate", re.IGNORECASE)
_CHANGES_FILES = re.compile(
    r"\b(?:editor|server|daemon|in-place|watch|encrypt|compress|remove|delete|overwrite)", re.IGNORECASE
)
"""Words of programs that do not end by themselves, or change the file that they are given."""
_FOR_TESTS = {"test", "tests", "testdata", "data", "bench", "benchmark", "benchmarks", "corpus", "samples"}
_DATA = 20_000_000


def library(texts: list[str]) -> str | None:
    """Name the library whose benchmarks a program holds."""
    for name, (uses, case) in _LIBRARIES.items():
        if any(re.search(uses, t) for t in texts) and any(re.search(case, t, re.MULTILINE) for t in texts):
            return name
    return None


def text_of(tree: Tree, path: str) -> str:
    """Return the text of a source, after those of the headers beside it that include such a library for it."""
    text = tree.text(path)
    beside = (posixpath.normpath(posixpath.join(folder_of(path), name)) for name in _INCLUDE.findall(text))
    headers = [tree.text(each) for each in beside if each in tree.names]
    return "\n".join(
        [*(each for each in headers if any(re.search(uses, each) for uses, _ in _LIBRARIES.values())), text]
    )


def suite(name: str, path: str, texts: list[str]) -> tuple[Proposed, Amount]:
    """Return the benchmark that a program of a library's benchmarks is, and its plan."""
    found = str(library(texts))
    cases = sum(len(re.findall(_LIBRARIES[found][1], text, re.MULTILINE)) for text in texts)
    if found == "google-benchmark":
        plan, length = suite_plan(cases, COMPILED)
        # without its unit, which versions before 1.8 do not take
        return Proposed(name, [f"./{path}", f"--benchmark_min_time={length:g}"], [], found), plan
    own = "BENCHMARK" if found == "catch2" else ".run("
    # of nanobench a function beside them may hold what several run
    uses = [text for text in texts if re.search(_LIBRARIES[found][0], text)]
    bodies = [each for each in _bodies(uses) if own in each[2] or (found == "nanobench" and BENCH.search(each[0]))]
    parts = tuple(test for test, _, _ in bodies if not re.search(r"[\\,\[\]\"~]", test))
    if found == "catch2":
        tags = dict.fromkeys(tag for _, head, _ in bodies for tag in _TAG.findall(head)[:1])
        chosen = [",".join(tags)] if tags else []
        command = [f"./{path}", *chosen, "--reporter", "xml", "--out", "{output}"]
        return Proposed(name, command, [], "values", "catch2", parts=parts), fixed_plan(cases, 0.1, 0.6)
    joined = ",".join(parts)
    doctest = any("doctest.h" in text for text in texts)
    chosen = [] if not parts else [f"--test-case={joined}", "--no-skip"] if doctest else [joined]
    made = Proposed(name, [f"./{path}", *chosen], [], "values", "nanobench", parts=parts)
    return made, fixed_plan(cases, 0.1, 0.2)


def _bodies(texts: list[str]) -> list[tuple[str, str, str]]:
    """Return the name of each test case, what stands between it and its body, and the text up to the next one."""
    found = []
    for text in texts:
        starts = [*_TEST.finditer(text)]
        ends = [*(match.start() for match in starts[1:]), len(text)]
        # a file may have none
        found += [
            (f"{m[2]}*" if m[1] else m[2], m[3], text[m.end() : end]) for m, end in zip(starts, ends, strict=False)
        ]
    return found


def arguments(tree: Tree, path: str, sources: list[str], ends: Callable[[], bool] = bool) -> list[str] | None:
    """Return the arguments with which a program ends by itself; None where that is not known.

    Args:
        path: the program.
        sources: what it is made of, as far as that is known; objects stand for their sources.
        ends: starts it, which is asked of what is called a benchmark where its sources do not tell.
    """
    texts = [_COMMENT.sub(lambda match: match[1] or " ", text) for text in texts_of(tree, path, sources)]
    mains = [text for text in texts if re.search(r"\b\w?main\s*\(", text)]
    bench = BENCH.search(PurePosixPath(path).name)
    if not mains:
        return None
    if timed(tree, path, sources):
        return [] if any(map(_PRINTS_RATES.search, texts)) else None
    wants_file = any(_USAGE_OF_FILE.search(text) or _EACH_FILE.match(text) for text in mains)
    if wants_file and (bench or not any(map(_CHANGES_FILES.search, mains))):
        data = largest(tree)
        return [data] if data else None
    reads = any(map(_READS_INPUT.search, mains))
    if not reads and any(re.search(r"\bmain\s*\(\s*(void)?\s*\)", text) for text in mains):
        return []
    helps = any(re.search(r'"(--)?help"', text) for text in mains)
    if helps and not bench:
        return ["--help"]
    asks = any(_COMPLAINS.search(t) or (_READS.search(t) and not re.search(r"\bargc\s*>", t)) for t in mains)
    own = called(tree, path) if bench or not any(map(_CHANGES_FILES.search, mains)) else None
    if bench and own and any(map(_READS.search, mains)):
        return own
    return [] if not (reads or helps or asks) or (bench and not reads and ends()) else own


def started(tree: Tree, path: str, sources: list[str], known: list[str] | None) -> Proposed:
    """Return the benchmark that starts a program; of one that works for a fixed time the rates that it prints."""
    measured = program(path, known)
    return as_printed(measured) if known is not None and timed(tree, path, sources) else measured


def timed(tree: Tree, path: str, sources: list[str]) -> bool:
    """Return whether a program works until a signal says that its time is over: how long it takes tells nothing."""
    return any(map(_TIMED.match, texts_of(tree, path, sources)))


def texts_of(tree: Tree, path: str, sources: list[str]) -> list[str]:
    """Return the texts of a program's sources; those of its name or beside it, where it is not known of which."""
    stems = {str(PurePosixPath(source).with_suffix("")) for source in sources}
    every = [*tree.ending(*SOURCES)]
    own = [file for file in every if str(PurePosixPath(file).with_suffix("")) in stems]
    same = [file for file in every if PurePosixPath(file).stem == PurePosixPath(path).stem]
    return [tree.text(file) for file in own or same]


def largest(tree: Tree) -> str | None:
    """Return the largest file that git tracks and most commits leave alone, best of data for tests or benchmarks."""
    sized = []
    for path in tree.files:
        place = tree.directory / path
        plain = place.is_file() and not place.is_symlink() and not path.startswith("-")
        if plain and not _CHANGES.search(path) and not any(part.startswith(".") for part in PurePosixPath(path).parts):
            sized.append((bool(_FOR_TESTS & {*PurePosixPath(path).parts}), place.stat().st_size, path))
    return max((each for each in sized if 0 < each[1] <= _DATA), default=(False, 0, None))[2]


_COMPILERS = {".c": "cc", ".cc": "c++", ".cpp": "c++", ".cxx": "c++"}
_MAIN = re.compile(r"^\w[^\n;]*\bmain\s*\(", re.MULTILINE)
_INCLUDE = re.compile(r"^\s*#\s*include\s*[\"<]([^\">]+)[\">]", re.MULTILINE)
_PATH = re.compile(r"[\w./][\w./+-]*")
_GUESS = "No rule of the project builds this: a guess, of the sources whose headers it includes."
_TOLD = re.compile(
    r"^[ \t]*(?:[-*>][ \t]+)?`?(?:\$[ \t]+)?((?:cc|gcc|clang|c\+\+|g\+\+|clang\+\+)[ \t][^&;|#`\n]+?)"
    r"(?:[ \t]*(?:&&|;)[ \t]*|[ \t]*\r?\n[ \t]*(?:\$[ \t]+)?)"
    r"((?:\w+=[\w./-]+[ \t]+)*\./[\w./-]+(?:[ \t]+[\w./=:,+%@-]+)*)[ \t]*`?[ \t]*(?:#[^\n]*)?\r?$",
    re.MULTILINE,
)
"""What a README compiles and starts in one go, with the comment behind."""
_TESTS = re.compile(r"(?<![a-z])tests?(?![a-z])", re.IGNORECASE)


def look(tree: Tree, ask: Asked) -> Found | None:
    """Find what a README compiles, else the first source that compiles with the project's own ones; None without."""
    if (compiled := _compiled(tree, ask, BENCH)) is not None:
        return compiled
    rows: list[Row] = []
    found = None
    sources = [p for p in tree.ending(*_COMPILERS) if _PATH.fullmatch(p) and not OTHERS & {*PurePosixPath(p).parts}]
    for path in sources:
        if not is_benchmark(path) or not _MAIN.search(tree.text(path)):
            continue
        made = PurePosixPath(path).stem
        if any(each == made or each.startswith(f"{made}/") for each in tree.files):
            made = f"{made}.out"
        if found is not None or ask.late:
            rows.append(Row(path, "left out: one program is measured" if found else "left out: compiling takes long"))
            continue
        builds = (each for each in _builds(tree, path, made, sources) if ask.run("sh", "-c", each) is not None)
        build = next(builds, None)
        if build is None:
            rows.append(Row(path, f"left out: no rule builds it, and compiling it failed: {ask.failed}"))
            continue
        known = arguments(tree, path, [path], partial(ask.ends, build, made))
        if known is None:
            rows.append(Row(path, LEFT_OUT))
        else:
            measured = started(tree, made, [path], known)
            found = Found("c", path, [measured], build, _GUESS, artifacts=[made], products=[made], rows=rows)
    found = found or _compiled(tree, ask, _TESTS)
    return found or (Found("c", "no benchmark that compiles", [placeholder()], rows=rows) if rows else None)


def _compiled(tree: Tree, ask: Asked, called_so: re.Pattern[str]) -> Found | None:
    """Find the first program that a README compiles and starts in one go, of benchmarks or of tests."""
    found, rows = None, list[Row]()
    for path, match in told(tree, _TOLD):
        build, start = str(match[1]), str(match[2])
        made = re.search(r"\s-o\s*(\S+)", build)
        product = posixpath.normpath(made[1] if made else "a.out")
        words = start.split()
        runs = next(word for word in words if word.startswith("./"))
        if not called_so.search(match[0]) or posixpath.normpath(runs) != product or product in tree.names:
            continue
        if found is not None:
            rows.append(Row(start, "left out: one program is measured"))
        elif str(tree.directory) not in build and ask.run("sh", "-c", build) is not None:
            command, bench = words if words[0] == runs else start, called_so is BENCH
            name = posixpath.basename(product) if made else "benchmark" if bench else "tests"
            measured = Proposed(name, command, rank=Rank.BENCHMARK) if bench else tests(name, command)
            found = Found("c", f"a line of {path}", [measured], build, artifacts=[product], products=[product])
    return replace(found, rows=rows) if found else None


def _builds(tree: Tree, path: str, made: str, sources: list[str]) -> Iterator[str]:
    """Yield commands that may compile a program: with what it includes, then with all that lies beside that."""
    behind, folders = _included(tree, path, sources)
    beside = {folder_of(each) for each in behind[1:] or behind}
    wide = [
        each
        for each in sources
        if folder_of(each) in beside and not _MAIN.search(tree.text(each)) and "test" not in PurePosixPath(each).name
    ]
    for own in (behind, list(dict.fromkeys([*behind, *wide]))):
        compiler = "c++" if any(_COMPILERS[PurePosixPath(each).suffix] == "c++" for each in own) else "cc"
        options = [word for folder in folders for word in ("-I", folder)]
        yield shlex.join([compiler, "-O2", *options, "-o", made, *own, "-pthread", "-lm"])


def _included(tree: Tree, path: str, sources: list[str]) -> tuple[list[str], list[str]]:
    """Return a source with those that stand beside the headers it includes, and the folders where its headers lie."""
    behind, folders, seen, left = [path], dict[str, None](), {path}, [path]
    while left:
        current = left.pop()
        for name in _INCLUDE.findall(tree.text(current)):
            near = posixpath.normpath(posixpath.join(folder_of(current), name))
            far = (each for each in tree.files if each == name or each.endswith(f"/{name}"))
            header = near if near in tree.names else next(far, None)
            if header is None or header in seen:
                continue
            seen.add(header)
            left.append(header)
            if header != near:
                folders[header.removesuffix(name).rstrip("/") or "."] = None
            stem = PurePosixPath(header).stem
            same = [each for each in sources if PurePosixPath(each).stem == stem and not _MAIN.search(tree.text(each))]
            nearest = min(same, key=lambda each: (folder_of(each) != folder_of(header), each), default=None)
            if nearest is not None and nearest not in seen:
                behind.append(nearest)
                left.append(nearest)
    # what is included as a text is no program's part besides
    return [path, *(each for each in dict.fromkeys(behind[1:]) if each not in seen)], [*folders]
