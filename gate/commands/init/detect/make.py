"""Projects with a Makefile: the targets and programs it names."""

from __future__ import annotations

import posixpath
import re
from dataclasses import replace
from pathlib import PurePosixPath

from gate.commands.init.detect.c_programs import SOURCES, arguments
from gate.commands.init.detect.makefile import (
    FILES,
    PATH,
    Linked,
    Makefile,
    copied,
    expand,
    linked,
    reached,
    read_makefile,
)
from gate.commands.init.detect.result import Found, Measured, Rank, placeholder, program, stand_in
from gate.commands.init.detect.tree import Tree

_BENCH = ("bench", "benchmark", "benchmarks", "perf")
_TEST = ("test", "check", "tests")
_BUILD = ("all", "build", "release", "default")
_NO_BUILD = re.compile(
    r"(help|usage|clean|distclean|install|lint|format|fmt|run|doc|ci|dev|deploy|docker"
    r"|bench|benchmark|perf|test|check)s?([-_.].*)?"
)
_NAMED_BENCH = re.compile(r"bench|perf", re.IGNORECASE)
_ASIDE = {"examples", "tests", "test", "docs", "vendor", "third_party"}
_FETCHES = re.compile(r"\bgit\s+clone\b|\bcurl\b|\bwget\b")
_FOLDERS = {"bench", "benches", "benchmark", "benchmarks", "perf", "test", "tests"}
# `rm file` without -f fails in a fresh checkout
_BARE_RM = re.compile(r"^@?\s*rm\s+(?!-\S*[fF])", re.MULTILINE)


def look(tree: Tree) -> Found | None:
    """Find what a Makefile builds and runs; None without one, or when it names nothing that can be measured."""
    makefile = read_makefile(tree, "")
    if makefile is None:
        return None
    name = next(name for name in FILES if name in tree.names)
    goal = _goal(makefile)
    usable = [target for target in makefile.rules if not _downloads(makefile, target)]
    bench, test = (next((target for target in names if target in usable), None) for names in (_BENCH, _TEST))
    made = linked(tree, makefile, goal)
    placed = [] if made else [Linked(path, False, ()) for path in copied(tree, makefile, goal)]
    native = any(path.split("/", 1)[0] not in _ASIDE for path in tree.ending(*SOURCES))
    programs = _programs(tree, made or placed)
    # only what is measured is linked again, with the shared libraries that it may use
    again = [*programs[:1], *(each for each in made if each.shared)] if not bench and made else made
    build, comment = _build(makefile, goal, native, again)
    products = [path for target in (goal, bench, test) for path in reached(makefile, target)]
    products += [each.path for each in made]
    if bench:
        text = ["The whole of this target, make's own start included. A program that it runs can be named instead."]
        measured = Measured(bench, ["make", "--silent", bench], text, slow=True)
        run = linked(tree, makefile, bench) if build is None else []
        if run:
            build, comment = _relinked(run, [each.path for each in run])
        return Found("make", f"{name}, target {bench}", measured, build, comment, products=products)
    found = _of_program(tree, name, programs, build, test)
    if found is None and native:
        found = _of_folder(tree, goal)
    if found is not None:
        own = comment if found.build == build else found.build_comment
        return replace(found, build_comment=own, products=[*products, *found.artifacts])
    if test and native:
        notes = [f"the benchmark is `make {test}`: replace it with a program that does real work"]
        measured = stand_in(test, ["make", "--silent", test])
        return Found("make", f"{name}, target {test}", measured, build, comment, products=products, notes=notes)
    benchmark, notes = placeholder()
    # a wrapper around the tools of another language has nothing of its own to measure
    evidence = f"{name}, without a target or program to measure"
    return Found("make", evidence, benchmark, build, comment, products=products, notes=notes) if native else None


def _downloads(makefile: Makefile, target: str) -> bool:
    """Return whether a target fetches something: that is neither measured nor always to be had."""
    return any(_FETCHES.search(makefile.rules[each].recipe) for each in reached(makefile, target))


def _programs(tree: Tree, made: list[Linked]) -> list[Linked]:
    """Order programs: a benchmark first, and what wants arguments last, as do tests."""
    return sorted(
        (each for each in made if not each.shared),
        key=lambda each: (
            arguments(tree, each.path, each.sources)[1],
            not _NAMED_BENCH.search(each.path),
            "test" in each.path,
        ),
    )


def _of_program(tree: Tree, name: str, programs: list[Linked], build: str | None, test: str | None) -> Found | None:
    """Take the first program, but none that wants arguments or is a test where there is a target for tests."""
    chosen = programs[0] if programs else None
    if chosen is None or (test and ("test" in chosen.path or arguments(tree, chosen.path, chosen.sources)[1])):
        return None
    words, unsure = arguments(tree, chosen.path, chosen.sources)
    benchmark, notes = program(posixpath.basename(chosen.path), chosen.path, words, unsure=unsure)
    if _NAMED_BENCH.search(chosen.path) and not unsure:
        benchmark = replace(benchmark, rank=Rank.BENCHMARK)
    return Found("make", f"{name}, program {chosen.path}", benchmark, build, artifacts=[chosen.path], notes=notes)


def _of_folder(tree: Tree, goal: str | None) -> Found | None:
    """Find a target or program of benchmarks in the Makefile of a folder of benchmarks or tests."""
    folders = [str(PurePosixPath(path).parent) for name in FILES for path in tree.ending(f"/{name}")]
    before = f"make {goal} && " if goal else ""
    for folder in sorted(
        folder for folder in folders if PurePosixPath(folder).name in _FOLDERS and PATH.fullmatch(folder)
    ):
        makefile = read_makefile(tree, folder)
        if makefile is None:
            continue
        for target in makefile.rules:
            for each in linked(tree, makefile, target)[:1] if _NAMED_BENCH.search(target) else []:
                words, unsure = arguments(tree, each.path, each.sources)
                if not unsure and PATH.fullmatch(target):
                    benchmark, notes = program(posixpath.basename(each.path), each.path, words, unsure=False)
                    return Found(
                        "make",
                        f"{folder}, program {each.path}",
                        replace(benchmark, rank=Rank.BENCHMARK),
                        f"rm -f {each.path} && {before}make -C {folder} {target}",
                        _RELINKED,
                        artifacts=[each.path],
                        notes=notes,
                    )
    return None


_RELINKED = [
    "Everything is compiled once a side. Each build links again, in another order of the objects",
    "(docs/layout.md).",
]


def _relinked(made: list[Linked], goals: list[str]) -> tuple[str, list[str]]:
    return f"rm -f {' '.join(each.path for each in made)} && make {' '.join(goals)}", _RELINKED


def _build(makefile: Makefile, goal: str | None, native: bool, made: list[Linked]) -> tuple[str | None, list[str]]:
    if goal is None or not (native or goal in _BUILD):
        return None, []
    if made:
        return _relinked(made, [goal])
    clean = makefile.rules.get("clean")
    if clean is None or _BARE_RM.search(clean.recipe):
        comment = [
            "From scratch (-B), as there is no `clean` that can be used. Later builds only link again where that is"
        ]
        return f"make -B {goal}", [*comment, "enough (docs/layout.md)."]
    return f"make clean {goal}", ["From scratch. Later builds only link again where that is enough (docs/layout.md)."]


def _goal(makefile: Makefile) -> str | None:
    named = next((target for target in _BUILD if target in makefile.rules), None)
    named = makefile.first if makefile.first in _BUILD else named
    default = expand(makefile.variables.get(".DEFAULT_GOAL", ""), makefile.variables) or makefile.first
    return named or (default if default and not _NO_BUILD.fullmatch(default) and PATH.fullmatch(default) else None)
