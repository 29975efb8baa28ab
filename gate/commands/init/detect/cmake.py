"""CMake projects: the programs that are built without a choice of options, and where they end up."""

from __future__ import annotations

import re
from dataclasses import replace

from gate.commands.init.detect import google_benchmark
from gate.commands.init.detect.cmake_files import FILE, Program, Project, read_project
from gate.commands.init.detect.result import Found, c_wants_arguments, placeholder, program, stand_in
from gate.commands.init.detect.tree import Tree

_ADAPTIVE = re.compile(r"benchmark/benchmark\.h|nanobench\.h|nonius|celero/|catch2/benchmark|picobench", re.IGNORECASE)


def look(tree: Tree) -> Found | None:
    """Find what the CMakeLists.txt at the top builds; None without one."""
    if FILE not in tree.names:
        return None
    project = read_project(tree)
    return replace(_found(tree, project), products=[project.binary, *(built.path for built in project.programs)])


def _found(tree: Tree, project: Project) -> Found:
    binary = project.binary
    build = f"cmake -S . -B {binary} -DCMAKE_BUILD_TYPE=Release && cmake --build {binary} --parallel 2 --clean-first"
    comment = ["From scratch each time (--clean-first), so that the rebuilds of a side differ as two builds do."]
    if project.fetches:
        comment += ["What the project fetches is downloaded once a side, into its build directory."]
    suites = google_benchmark.look(tree, project)
    if suites is not None:
        return suites
    chosen = _choose(tree, project)
    if chosen is not None:
        argument, unsure = _argument(tree, chosen)
        benchmark, notes = program(chosen.name, chosen.path, argument, unsure=unsure)
        return Found(
            "cmake", f"{FILE}, program {chosen.name}", benchmark, build, comment, artifacts=[chosen.path], notes=notes
        )
    if project.testing and project.tests:
        # ctest finds its tests in the working directory; --test-dir needs CMake 3.20
        measured = stand_in("ctest", f"cd {binary} && ctest --output-on-failure --no-tests=error")
        notes = ["the benchmark runs the tests: replace it with a program that does real work"]
        return Found("cmake", f"{FILE}, tests", measured, build, comment, notes=notes)
    benchmark, notes = placeholder()
    return Found("cmake", f"{FILE}, without a program or tests", benchmark, build, comment, notes=notes)


def _choose(tree: Tree, project: Project) -> Program | None:
    """Take a benchmark program before another, and none that wants arguments where there are tests instead."""
    usable = []
    for built in (built for built in project.programs if not built.needs):
        texts = [tree.text(path) for path in built.sources]
        # a program that repeats until it has taken a fixed time takes the same time on both sides
        if not any(_ADAPTIVE.search(text) for text in texts) and "test" not in built.name.lower():
            usable.append(built)
    ordered = sorted(usable, key=lambda built: "bench" not in built.name.lower())
    sure = [built for built in ordered if not _argument(tree, built)[1]]
    if sure:
        return sure[0]
    return ordered[0] if ordered and not (project.testing and project.tests) else None


def _argument(tree: Tree, built: Program) -> tuple[str | None, bool]:
    texts = [tree.text(path) for path in built.sources]
    if any('"--help"' in text for text in texts):
        return "--help", False
    return None, not texts or any(c_wants_arguments(text) for text in texts)
