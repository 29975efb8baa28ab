"""C and C++: a source that is called a benchmark and has a main, where no rule of the project builds it."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator
from functools import partial
from pathlib import PurePosixPath

from gate.commands.init.ask import Asked
from gate.commands.init.c_sources import LEFT_OUT, OTHERS, arguments
from gate.commands.init.found import Found, Row, placeholder, program
from gate.commands.init.scripts import is_benchmark
from gate.commands.init.tree import Tree, folder_of

_COMPILERS = {".c": "cc", ".cc": "c++", ".cpp": "c++", ".cxx": "c++"}
_MAIN = re.compile(r"^\w[^\n;]*\bmain\s*\(", re.MULTILINE)
_INCLUDE = re.compile(r"^\s*#\s*include\s*[\"<]([^\">]+)[\">]", re.MULTILINE)
_PATH = re.compile(r"[\w./][\w./+-]*")
_COMMENT = "No rule of the project builds this: a guess, of the sources whose headers it includes."


def look(tree: Tree, ask: Asked) -> Found | None:
    """Find the first source that compiles with the project's own ones; None without one that has a main."""
    rows: list[Row] = []
    found = None
    sources = [p for p in tree.ending(*_COMPILERS) if _PATH.fullmatch(p) and not OTHERS & {*PurePosixPath(p).parts}]
    for path in sources:
        if not is_benchmark(path) or not _MAIN.search(tree.text(path)):
            continue
        made = PurePosixPath(path).stem
        if any(each == made or each.startswith(f"{made}/") for each in tree.files):
            made = f"{made}.out"
        if found is not None:
            rows.append(Row(path, "left out: one program is measured"))
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
            measured = program(made, known)
            found = Found("c", path, [measured], build, _COMMENT, artifacts=[made], products=[made], rows=rows)
    return found or (Found("c", "no benchmark that compiles", [placeholder()], rows=rows) if rows else None)


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
