"""CMake projects: benchmarks of a library, else a program, else the tests."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import PurePosixPath

from gate.commands.init.detect import cmake_benches
from gate.commands.init.detect.c_programs import arguments_of
from gate.commands.init.detect.cmake_files import FILE, PATH, Program, Project, read_project
from gate.commands.init.detect.result import Found, Rank, left_out, placeholder, program, stand_in
from gate.commands.init.detect.tree import Tree

_ADAPTIVE = re.compile(r"benchmark/benchmark\.h|nanobench\.h|nonius|celero/|catch2/benchmark|picobench", re.IGNORECASE)
_NOT_MEASURED = re.compile(r"test|fuzz|check", re.IGNORECASE)
_EXAMPLE = re.compile(r"example|(^|/)ex_|demo|tutorial|sample", re.IGNORECASE)
_FOLDER = re.compile(r"(micro)?(bench|benchmark)(s|es|marks)?|perf|performance", re.IGNORECASE)
_PROJECT = re.compile(r"^\s*project\s*\(", re.IGNORECASE | re.MULTILINE)
_HELP = ["--help"]
_BENCH = re.compile(r"bench|perf", re.IGNORECASE)


def look(tree: Tree) -> Found | None:
    """Find what the CMakeLists.txt at the top builds; None without one."""
    if FILE not in tree.names:
        return None
    project = read_project(tree)
    # benchmarks may be a project of their own, which the one at the top does not build
    apart = (read_project(tree, folder) for folder in _folders(tree))
    suites = cmake_benches.look(project) or next(filter(None, map(cmake_benches.look, apart)), None)
    found = suites or _found(tree, project)
    return replace(found, products=[project.binary, *(built.path for built in project.programs)])


def _folders(tree: Tree) -> list[str]:
    """Return the folders of benchmarks whose CMakeLists.txt begins a project."""
    files = (path for path in tree.ending(f"/{FILE}") if PATH.fullmatch(path))
    folders = (PurePosixPath(path).parent for path in files if _PROJECT.search(tree.text(path)))
    return [str(folder) for folder in folders if _FOLDER.fullmatch(folder.name) and len(folder.parts) <= 2]


def _found(tree: Tree, project: Project) -> Found:
    comment = cmake_benches.build_comment(project)
    chosen = _choose(tree, project)
    if chosen is not None:
        arguments, unsure = _arguments(tree, chosen)
        benchmark, notes = program(chosen.name, chosen.path, arguments, unsure=unsure)
        if _BENCH.search(chosen.name) and benchmark.rank == Rank.PROGRAM:
            benchmark = replace(benchmark, rank=Rank.BENCHMARK)
        build = cmake_benches.build(project, chosen.needs, [chosen])
        return Found(
            "cmake", f"{FILE}, program {chosen.name}", benchmark, build, comment, artifacts=[chosen.path], notes=notes
        )
    tested = project.tests and project.testing is not None
    build = cmake_benches.build(project, project.testing or (), [])
    if tested:
        # ctest finds its tests in the working directory; --test-dir needs CMake 3.20
        measured = stand_in("ctest", f"cd {project.binary} && ctest --output-on-failure --no-tests=error")
        notes = ["the benchmark runs the tests: replace it with a program that does real work"]
        benches = [built.name for built in project.programs if _BENCH.search(built.name)]
        notes += left_out(benches, "program of benchmarks", "programs of benchmarks")
        return Found("cmake", f"{FILE}, tests", measured, build, comment, notes=notes)
    benchmark, notes = placeholder()
    return Found("cmake", f"{FILE}, without a program or tests", benchmark, build, comment, notes=notes)


def _choose(tree: Tree, project: Project) -> Program | None:
    """Take a benchmark before another program, an example last, and what wants arguments only without tests."""
    tested = project.testing is not None and project.tests
    usable: list[tuple[tuple[bool, bool, int], Program]] = []
    for built in project.programs:
        texts = [tree.text(path) for path in built.sources]
        bench = bool(_BENCH.search(built.name))
        places = [built.path, *built.sources]
        example = any(map(_EXAMPLE.search, places))
        wanted = bench or not (built.needs or any(map(_NOT_MEASURED.search, places)) or (example and tested))
        # a program that repeats until it has taken a fixed time takes the same time on both sides
        if wanted and not any(_ADAPTIVE.search(text) for text in texts):
            usable.append(((not bench, example, len(built.needs)), built))
    ordered = [built for _, built in sorted(usable, key=lambda pair: pair[0])]
    sure = [built for built in ordered if not _arguments(tree, built)[1]]
    if sure:
        return sure[0]
    return ordered[0] if ordered and not tested else None


def _arguments(tree: Tree, built: Program) -> tuple[list[str], bool]:
    arguments, unsure = arguments_of(tree, built.name, [tree.text(path) for path in built.sources])
    # the help of a benchmark is not what it is there for
    return (arguments, unsure) if arguments != _HELP or not _BENCH.search(built.name) else ([], True)
