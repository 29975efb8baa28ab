"""Projects that autoconf configures: the programs that Makefile.am or Makefile.in names."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from gate.commands.init.detect.c_programs import argument
from gate.commands.init.detect.makefile import FILES, PATH, linked, parse
from gate.commands.init.detect.result import Found, Rank, placeholder, program, stand_in
from gate.commands.init.detect.tree import Tree

_CONFIGURE = ("configure.ac", "configure.in")
_PROGRAMS = re.compile(r"(bin|sbin|libexec|noinst|check|EXTRA)_PROGRAMS")
_BENCH = re.compile(r"bench|perf", re.IGNORECASE)
_TESTS = re.compile(r"^(TESTS|check)\b\s*[+:]?=?", re.MULTILINE)
_ASIDE = {"vendor", "third_party", "deps", "examples", "fuzz", "contrib"}


@dataclass(frozen=True, slots=True)
class _Program:
    path: str
    sources: tuple[str, ...]
    default: bool
    """`make` makes it without being asked."""


def look(tree: Tree) -> Found | None:
    """Find a project with configure or configure.ac at its top; None without one, or with a Makefile beside it."""
    source = next((name for name in (*_CONFIGURE, "configure") if name in tree.names), None)
    inputs = {"Makefile.am", "Makefile.in"} & tree.names
    # with a Makefile of its own, configure is a choice
    if source is None or not inputs or set(FILES) & tree.names:
        return None
    programs = sorted(
        _programs(tree), key=lambda each: (not _BENCH.search(each.path), not each.default, "test" in each.path)
    )
    programs = [each for each in programs if each.default or _BENCH.search(each.path)]
    sure = [each for each in programs if not argument(tree, each.path, each.sources)[1]]
    tested = any(_TESTS.search(tree.text(path)) for path in tree.ending("Makefile.am", "Makefile.in"))
    if sure or (programs and not tested):
        return _of_program(tree, source, (sure or programs)[0])
    if tested:
        notes = ["the benchmark is `make check`: replace it with a program that does real work"]
        found = Found("autotools", f"{source}, tests", stand_in("check", ["make", "--silent", "check"]), notes=notes)
    else:
        benchmark, notes = placeholder()
        found = Found("autotools", f"{source}, without a program", benchmark, notes=notes)
    comment = ["Compiled once a side; make finds nothing to do in later builds."]
    return replace(found, build="make", build_comment=comment, setup=_setup(tree), products=_products(tree))


def _of_program(tree: Tree, source: str, chosen: _Program) -> Found:
    option, unsure = argument(tree, chosen.path, chosen.sources)
    folder, name = posixpath.split(chosen.path)
    benchmark, notes = program(name, chosen.path, option, unsure=unsure)
    if _BENCH.search(name) and not unsure:
        benchmark = replace(benchmark, rank=Rank.BENCHMARK)
    # libtool leaves a script in its place, and the program in .libs
    inner = posixpath.join(folder, ".libs", name)
    more = "" if chosen.default else f" && make{f' -C {folder}' if folder else ''} {name}"
    return Found(
        "autotools",
        f"{source}, program {chosen.path}",
        benchmark,
        f"rm -f {chosen.path} {inner} && make{more}",
        [
            "Everything is compiled once a side. Each build links again, in another order of the objects",
            "(docs/layout.md).",
        ],
        setup=_setup(tree),
        artifacts=[chosen.path],
        products=_products(tree),
        notes=notes,
    )


def _setup(tree: Tree) -> str:
    if "configure" in tree.names:
        return "./configure"
    own = next((name for name in ("autogen.sh", "bootstrap", "bootstrap.sh", "buildconf") if name in tree.names), None)
    # many autogen.sh scripts also run configure unless NOCONFIGURE is set
    return f"NOCONFIGURE=1 ./{own} && ./configure" if own else "autoreconf -fi && ./configure"


def _products(tree: Tree) -> list[str]:
    return [path.rstrip("/") for path in tree.ignored]


def _programs(tree: Tree) -> Iterator[_Program]:
    for path in tree.ending("Makefile.am", "Makefile.in"):
        folder = posixpath.dirname(path)
        if _ASIDE & set(PurePosixPath(path).parts) or (path.endswith(".in") and f"{path[:-2]}am" in tree.names):
            continue
        # automake's @VARIABLES@ are not known, as those of make that are computed
        makefile = parse(re.sub(r"^\s*(if|else|endif)\b.*$", "", tree.text(path), flags=re.MULTILINE), folder)
        for variable, value in makefile.variables.items():
            kind = _PROGRAMS.fullmatch(variable)
            for name in value.split() if kind else ():
                if PATH.fullmatch(name):
                    canonical = re.sub(r"[^\w@]", "_", name)
                    own = makefile.variables.get(f"{canonical}_SOURCES", f"{name}.c")
                    sources = tuple(posixpath.normpath(posixpath.join(folder, source)) for source in own.split())
                    default = kind is not None and kind[1] not in ("check", "EXTRA")
                    yield _Program(posixpath.join(folder, name), sources, default)
        if path.endswith(".in"):
            goal = "all" if "all" in makefile.rules else makefile.first
            yield from (
                _Program(each.path, each.sources, True) for each in linked(tree, makefile, goal) if not each.shared
            )
