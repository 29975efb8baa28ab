"""The choice of the kind of project."""

from __future__ import annotations

from collections.abc import Callable

from gate.commands.init.detect import (
    asv,
    autotools,
    cargo,
    cmake,
    generic,
    go,
    jmh,
    make,
    npm,
    pyperf,
    pytest_benchmark,
    python_scripts,
)
from gate.commands.init.detect.result import KINDS, Found, Rank
from gate.commands.init.detect.tree import Tree
from gate.model import UserError

_LOOKS: dict[str, Callable[[Tree], Found | None]] = {
    "pytest-benchmark": pytest_benchmark.look,
    "pyperf": pyperf.look,
    "asv": asv.look,
    "go": go.look,
    "cargo": cargo.look,
    "cmake": cmake.look,
    "jmh": jmh.look,
    "npm": npm.look,
    "autotools": autotools.look,
    "make": make.look,
    "python": python_scripts.look,
    "generic": generic.look,
}
_NEEDED = {
    "pyperf": "script with a pyperf.Runner",
    "asv": "asv.conf.json with benchmarks of times",
    "go": "go.mod",
    "cargo": "Cargo.toml",
    "cmake": "CMakeLists.txt",
    "jmh": "pom.xml or Gradle file that names JMH",
    "npm": "package.json with a script bench, benchmark or perf",
    "autotools": "configure.ac or configure with a Makefile.am or Makefile.in",
    "make": "Makefile that builds or runs something",
    "python": "benchmark script, program or test of Python",
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


def _rank(found: Found) -> tuple[int, bool]:
    """Put benchmarks before programs, these before tests, and a placeholder with a build before one without."""
    return found.rank, found.build is None and found.rank == Rank.PLACEHOLDER
