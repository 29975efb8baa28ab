"""The choice of what is written, of all that the tools of a project name."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePosixPath

from gate.commands.init import cargo, cmake, go, jmh, make, npm, python, scripts
from gate.commands.init.ask import Asked
from gate.commands.init.found import Found, Rank, Row
from gate.commands.init.tree import Tree
from gate.model import UserError

_LOOKS: dict[str, tuple[Callable[[Tree, Asked], Found | None], str]] = {
    "pytest-benchmark": (python.look_pytest, "test that uses the benchmark fixture"),
    "pyperf": (python.look_pyperf, "script with a pyperf.Runner"),
    "asv": (python.look_asv, "asv.conf.json with benchmarks of times"),
    "go": (go.look, "go.mod"),
    "cargo": (cargo.look, "Cargo.toml"),
    "cmake": (cmake.look, "CMakeLists.txt"),
    "jmh": (jmh.look, "pom.xml or Gradle file that names JMH"),
    "npm": (npm.look, "package.json with a script bench, benchmark or perf"),
    "autotools": (make.look_autotools, "configure.ac or configure with a Makefile.am or Makefile.in"),
    "make": (make.look, "Makefile that builds or runs something"),
    "python": (python.look, "benchmark script, program or test of Python"),
    "generic": (scripts.look, "script"),
}
_COMPILED = {"go", "cargo", "cmake", "autotools", "make"}
_BEGIN = {
    *("Cargo.toml", "go.mod", "go.work", "CMakeLists.txt", "Makefile", "GNUmakefile", "configure.ac", "package.json"),
    *("pyproject.toml", "setup.py", "pom.xml", "build.gradle", "build.gradle.kts", "asv.conf.json"),
}
"""Files that a project begins with."""
_ASIDE = {
    *("bench", "benches", "benchmark", "benchmarks", "perf", "docs", "doc", "examples", "example", "fuzz", "test"),
    *("tests", "vendor", "third_party"),
}
_OF_PYTHON = {"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"}


def choose(tree: Tree, ask: Asked, kind: str | None) -> Found:
    """Return what is to be written, with rows for all else that was seen.

    Args:
        tree: the project.
        ask: asks its tools.
        kind: the one that is wanted; None: the one that says most.

    Raises:
        UserError: there is nothing of the kind here; several projects lie side by side, and none at the top.
    """
    if kind is not None:
        wanted = _LOOKS[kind][0](tree, ask)
        if wanted is None:
            raise UserError(f"--kind {kind}: there is no {_LOOKS[kind][1]} here; --kind generic needs none")
        return replace(wanted, notes=[*wanted.notes, *ask.notes])
    found: list[Found] = []
    for name, (look, _) in _LOOKS.items():
        # make is asked where nothing else builds programs: it may have to build them to tell
        if name in ("autotools", "make") and any(each.kind in _COMPILED and each.measures_something for each in found):
            continue
        if (each := look(tree, ask)) is not None:
            found.append(each)
    modules = re.findall(r"^\s*path\s*=\s*(\S+)", tree.text(".gitmodules"), re.MULTILINE)
    if absent := [path for path in modules if not any((tree.directory / path).glob("*"))]:
        ask.notes.append(f"submodules are not checked out ({', '.join(absent[:3])}): `git submodule update --init`")
    compiled = any(each.kind in _COMPILED for each in found)
    # beside what a compiler makes, a script of Python is a tool rather than the project
    tools = [each for each in found if each.kind == "python" and compiled and not _OF_PYTHON & tree.names]
    ordered = sorted(
        found, key=lambda each: (each in tools, each.rank, each.build is None and each.rank == Rank.PLACEHOLDER)
    )
    first, *others = ordered
    commands = " ".join(str(each.command) for each in first.benchmarks)
    begun = (path.split("/")[0] for path in tree.files if PurePosixPath(path).name in _BEGIN and path.count("/") == 1)
    places = {*begun} - _ASIDE
    inside = first.place or any(f"{place}/" in commands for place in places)
    if inside and len(places) > 1 and not _BEGIN & tree.names:
        listed = ", ".join(f"`--project {place}`" for place in sorted(places))
        raise UserError(f"several projects lie here, and none at the top: choose with {listed}", option="project")
    others = [each for each in others if each.kind != "generic" or each.evidence.split()[-1] not in commands]
    # a placeholder and plain tests are no news beside something better
    more = [
        Row(f"{each.evidence}", f"left out: --kind {each.kind} measures it")
        for each in others
        if each.rank < Rank.TESTS
    ]
    return replace(first, rows=[*first.rows, *more], notes=[*first.notes, *ask.notes])
