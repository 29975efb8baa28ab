"""CMake: benchmarks of a library, else a program, else the tests, as CMake's own file API lists what it builds."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from typing import NamedTuple

from gate.commands.init.ask import Asked
from gate.commands.init.c_sources import LEFT_OUT, OTHERS, arguments, library, started, suite, text_of
from gate.commands.init.found import BENCH, MOST, Amount, Found, Row, kept, names_of, placeholder, tests
from gate.commands.init.mend import reason
from gate.commands.init.tree import Tree

_FILE = "CMakeLists.txt"
_PROJECT = re.compile(r"^\s*project\s*\(", re.IGNORECASE | re.MULTILINE)
_EXECUTABLE = re.compile(r"^\s*add_executable\s*\(\s*([\w.-]+)\s+([^)$]*)\)", re.IGNORECASE | re.MULTILINE)
_ASIDE = re.compile(r"test|fuzz|check", re.IGNORECASE)
_EXAMPLE = re.compile(r"example|(^|/)ex_|demo|tutorial|sample", re.IGNORECASE)
_NO_OPTION = re.compile(
    r"^(BENCHMARK_|CMAKE_|FETCHCONTENT_|HAVE_|gtest|gmock)|GTEST|WERROR|LTO|COUNTER|LIBPFM|SANITIZE"
)
_TESTING = re.compile(
    r"^\s*(?:option\s*\(\s*((?:\w*(?:_|BUILD|UNIT))?TEST(?:S|ING)?)\b|include\s*\(\s*CTest\s*\))",
    re.IGNORECASE | re.MULTILINE,
)
"""Options about tests; "" is the one that CTest declares."""
_SAFE = re.compile(r"[\w./][\w./+-]*")
_COMMENT = "Compiled once a side. Each build links again, in another order of the objects (docs/layout.md)."


class _Program(NamedTuple):
    name: str
    path: str
    sources: list[str]
    texts: list[str]


class _Project(NamedTuple):
    source: str
    binary: str
    options: tuple[str, ...]
    """Options that are switched on."""
    without: list[str]
    """Options that are switched off."""
    programs: list[_Program]
    shared: list[str]
    off: list[tuple[str, ...]]
    """Options that are off: those about benchmarks, and with them those about tests."""


def look(tree: Tree, ask: Asked) -> Found | None:
    """Find the project at the top, or the nearest one below; None without one."""
    files = tree.named(_FILE, aside=OTHERS)
    begin = [posixpath.dirname(p) for p in files if p.count("/") <= 2 and (p == _FILE or _PROJECT.search(tree.text(p)))]
    if not begin:
        return None
    # benchmarks may be a project of their own, which the one at the top does not build
    first, *apart = [begin[0], *(folder for folder in begin[1:] if BENCH.search(folder))]
    rows: list[Row] = []
    project = _configured(tree, ask, first, ())
    tried: list[_Project] = [project]
    for options in filter(None, project.off):
        if _with_benchmarks(tried[0]) or any(BENCH.search(each.name) for each in tried[0].programs):
            break
        on = _configured(tree, ask, first, options)
        if on.programs:
            tried.insert(0, on)
        else:
            rows.append(Row(f"option {', '.join(options)}", f"left out: CMake fails with it ({ask.failed})"))
    found = next((made for each in tried if (made := _of_benchmarks(each))), None)
    for folder in apart if found is None else []:
        found = found or _of_benchmarks(_configured(tree, ask, folder, ()))
    # what another option adds is worth it for benchmarks only
    best = next((each for each in tried if any(BENCH.search(one.name) for one in each.programs)), project)
    if best is project and not project.programs and not _tests(project, ask):
        best = tried[0]
    own = [each for each in best.programs if BENCH.search(each.name)]
    if found is None and best.options and own and ask.run("sh", "-c", _build(best, own)) is None:
        rows.append(Row(", ".join(each.name for each in own), f"left out: it does not build ({reason(ask.output)})"))
        best = project
    found = found or _of_program(tree, best, ask) or _of_tests(tree, best, ask)
    products = [each.path for each in project.programs] + [project.binary]
    return replace(found, rows=[*found.rows, *rows], products=products, place=first)


def _configured(tree: Tree, ask: Asked, source: str, options: tuple[str, ...]) -> _Project:
    """Configure a project in the copy, and read what CMake says of it."""
    binary = "build" if not any(tree.ending("", under="build")) else "build-perfgate"
    asked = f"ask-{len(options)}-{source.replace('/', '-')}"
    for query in ("codemodel-v2", "cache-v2"):
        ask.write(f"{asked}/.cmake/api/v1/query/{query}", "")
    configure = ["cmake", "-S", source or ".", "-B", asked, "-DCMAKE_BUILD_TYPE=Release"]
    configure += [f"-D{name}=ON" for name in options]
    done, without = ask.run(*configure), list[str]()
    if done is None:
        # what tests need may have to be fetched
        named = _TESTING.findall(tree.text(posixpath.join(source, _FILE)))
        without = [name for name in dict.fromkeys(each or "BUILD_TESTING" for each in named) if name not in options]
        done = ask.run(*configure, *(f"-D{name}=OFF" for name in without)) if without else None
    if done is None:
        if not options:
            ask.refused(posixpath.join(source, _FILE))
        programs = [] if options else [*_simply(tree, source, binary)]
        return _Project(source, binary, options, [], programs, [], [])
    programs, shared = [], []
    for text in ask.read(f"{asked}/.cmake/api/v1/reply/target-*.json"):
        target = json.loads(text)
        made = [posixpath.normpath(each["path"]) for each in target.get("artifacts", ())]
        own = not OTHERS & {part for place in target["paths"].values() for part in PurePosixPath(place).parts}
        if not made or not own or not _SAFE.fullmatch(target["name"]):
            continue
        # what is put outside the build folder is told from the root
        place = ask.inside(posixpath.join(asked, made[0]))
        path = None if place is None else binary + place[len(asked) :] if place.startswith(f"{asked}/") else place
        if path is None or not _SAFE.fullmatch(path):
            continue
        if target["type"] == "SHARED_LIBRARY":
            shared.append(path)
        elif target["type"] == "EXECUTABLE":
            inner = [ask.inside(posixpath.join(source, each["path"])) for each in target.get("sources", ())]
            sources = [each for each in inner if each is not None]
            programs.append(_Program(target["name"], path, sources, [text_of(tree, each) for each in sources]))
    cache = [
        each
        for text in ask.read(f"{asked}/.cmake/api/v1/reply/cache-v2-*.json")
        for each in json.loads(text)["entries"]
    ]
    values = {each["name"]: each["value"].upper() for each in cache if each["type"] == "BOOL"}
    # options of the project, not of the library of benchmarks
    names = [name for name, value in values.items() if value in ("OFF", "NO", "FALSE", "0", "")]
    names = [name for name in names if not _NO_OPTION.search(name) and name not in without]
    bench = tuple(filter(BENCH.search, names))
    tests_ = tuple(name for name in names if re.search(r"(BUILD|ENABLE|WITH)_TEST(S|ING)?$|^TESTS$", name))
    off = [bench, (*bench, *tests_) if tests_ else ()]
    return _Project(source, binary, options, without, programs, shared, off)


def _simply(tree: Tree, source: str, binary: str) -> Iterator[_Program]:
    """Read programs whose names stand in a file as they are, where CMake gives no answer."""
    for path in tree.ending(_FILE, under=source):
        folder = posixpath.dirname(path)
        for name, listed in _EXECUTABLE.findall(tree.text(path)):
            sources = [posixpath.join(folder, word) for word in listed.split()]
            built = posixpath.normpath(posixpath.join(binary, posixpath.relpath(folder or ".", source or "."), name))
            if not OTHERS & {*PurePosixPath(path).parts} and _SAFE.fullmatch(built):
                yield _Program(name, built, sources, [text_of(tree, each) for each in sources])


def _with_benchmarks(project: _Project) -> list[_Program]:
    found = [each for each in project.programs if library(each.texts) and not re.search("fuzz", each.name)]
    # unit tests may hold a benchmark as well
    return [each for each in found if not _ASIDE.search(each.name)] or [
        e for e in found if library(e.texts) != "google-benchmark"
    ]


def _build(project: _Project, programs: list[_Program]) -> str:
    """Return the command that compiles once a side, and links again in each build."""
    binary = project.binary
    options = "".join(f" -D{name}=ON" for name in project.options)
    options += "".join(f" -D{name}=OFF" for name in project.without)
    steps = [f"cmake -S {project.source or '.'} -B {binary} -DCMAKE_BUILD_TYPE=Release{options}"]
    again = [each.path for each in programs] + project.shared
    if programs and len(again) <= 12:
        steps.append(f"rm -f {' '.join(again)}")
    else:
        steps.append(f"find {binary} -name CMakeFiles -prune -o -type f -perm -u=x -exec rm {{}} +")
    targets = f" --target {' '.join(each.name for each in programs)}" if programs else ""
    return " && ".join([*steps, f"cmake --build {binary} --parallel 2{targets}"])


def _of_benchmarks(project: _Project) -> Found | None:
    using = _with_benchmarks(project)
    if not using:
        return None
    # results of one library are read at a time
    of = library(using[0].texts)
    named, rows = kept([each.name for each in using if library(each.texts) == of], "programs with benchmarks")
    programs = [each for each in using if each.name in named]
    rows += [Row(f"program {e.name}", f"left out: of {library(e.texts)}") for e in using if library(e.texts) != of]
    names = names_of(named, "bench")
    made = [suite(name, each.path, each.texts) for name, each in zip(names, programs, strict=True)]
    plan: Amount = min((amount for _, amount in made), key=lambda each: each.executions * each.iterations)
    where = f"{posixpath.join(project.source, _FILE)}, {', '.join(named)} with {of}"
    build, paths = _build(project, programs), [each.path for each in programs]
    own = [replace(m, built=(each.path, each.name)) for (m, _), each in zip(made, programs, strict=True)]
    return Found("cmake", where, own, build, _COMMENT, artifacts=paths, rows=rows, amount=plan)


def _of_program(tree: Tree, project: _Project, ask: Asked) -> Found | None:
    """Take all benchmarks, else one other program, an example last, and what wants arguments only without tests."""
    rows: list[Row] = []
    usable: list[tuple[tuple[bool, ...], _Program, list[str] | None]] = []
    for each in project.programs:
        bench = bool(BENCH.search(each.name))
        if re.search("fuzz", " ".join([each.name, *each.sources[:1]]), re.IGNORECASE):
            rows.append(Row(f"program {each.name}", "left out: a fuzz target has no end"))
        elif library(each.texts) is None and (bench or not any(map(_ASIDE.search, [each.name, *each.sources]))):
            ends = partial(ask.ends, _build(project, [each]), each.path)
            known = arguments(tree, each.path, each.sources, ends)
            example = any(map(_EXAMPLE.search, [each.path, *each.sources]))
            usable.append(((known is None, not bench, example), each, known))
    usable.sort(key=lambda each: each[0])
    if not usable or (usable[0][0][0] and _tests(project, ask)):
        return None
    same = [each for each in usable if each[0] == (False, False, False)][:MOST] or usable[:1]
    why = "left out: benchmarks are measured" if len(same) > 1 else "left out: one program is measured"
    rows += [Row(f"program {each[1].name}", why) for each in usable if each not in same]
    chosen = [each for _, each, _ in same]
    measured = [replace(started(tree, e.path, e.sources, known), built=(e.path, e.name)) for _, e, known in same]
    evidence = f"{_FILE}, program{'s' if len(same) > 1 else ''} {', '.join(each.name for each in chosen)}"
    paths = [each.path for each in chosen]
    return Found("cmake", evidence, measured, _build(project, chosen), _COMMENT, artifacts=paths, rows=rows)


def _tests(project: _Project, ask: Asked) -> bool:
    asked = f"ask-{len(project.options)}-{project.source.replace('/', '-')}"
    listed = ask.json("ctest", "--test-dir", asked, "--show-only=json-v1") if (ask.copy / asked).is_dir() else None
    return bool(listed and listed.get("tests"))


def _of_tests(tree: Tree, project: _Project, ask: Asked) -> Found:
    rows = [
        Row(f"program {each.name}", LEFT_OUT)
        for each in project.programs
        if BENCH.search(each.name) and arguments(tree, each.path, each.sources) is None
    ]
    if not _tests(project, ask):
        return Found(
            "cmake", f"{_FILE}, without a program or tests", [placeholder()], _build(project, []), _COMMENT, rows=rows
        )
    # ctest finds its tests in the working directory; --test-dir needs CMake 3.20
    measured = tests("ctest", f"cd {project.binary} && ctest --output-on-failure --no-tests=error")
    return Found("cmake", f"{_FILE}, tests", [measured], _build(project, []), _COMMENT, rows=rows)
