"""The choice of the kind of project."""

from __future__ import annotations

from collections.abc import Callable

from gate.commands.init.detect import cargo, cmake, generic, go, jmh, make, npm, pyperf, pytest_benchmark
from gate.commands.init.detect.result import KINDS, Found
from gate.commands.init.detect.tree import Tree
from gate.model import UserError

_LOOKS: dict[str, Callable[[Tree], Found | None]] = {
    "pytest-benchmark": pytest_benchmark.look,
    "pyperf": pyperf.look,
    "go": go.look,
    "cargo": cargo.look,
    "cmake": cmake.look,
    "jmh": jmh.look,
    "npm": npm.look,
    "make": make.look,
    "generic": generic.look,
}
_NEEDED = {
    "pyperf": "script with a pyperf.Runner",
    "go": "go.mod",
    "cargo": "Cargo.toml",
    "cmake": "CMakeLists.txt",
    "jmh": "pom.xml or Gradle file that names JMH",
    "npm": "package.json with a script bench, benchmark or perf",
    "make": "Makefile that builds or runs something",
}


def choose(tree: Tree, kind: str | None) -> list[Found]:
    """Return what was found: first what is to be written, then other kinds that would do.

    Args:
        kind: the one that is wanted; None: the first that fits.

    Raises:
        UserError: there is no such kind, or it has nothing to go by here.
    """
    if kind is not None and kind not in KINDS:
        raise UserError(f"--kind {kind}: is not one of {', '.join(KINDS)}")
    if kind == "pytest-benchmark":
        return [pytest_benchmark.found(tree)]
    if kind is not None:
        wanted = _LOOKS[kind](tree)
        if wanted is None:
            raise UserError(f"--kind {kind}: there is no {_NEEDED[kind]} here; --kind generic needs none")
        return [wanted]
    found = [each for name in KINDS if (each := _LOOKS[name](tree)) is not None]
    return sorted(found, key=_rank)


def _rank(found: Found) -> int:
    """Put benchmarks before programs and tests, and these before what has neither a benchmark nor a build."""
    return 0 if found.is_suite else 1 if found.measures_something or found.build else 2
