"""Projects that autoconf configures: the programs that Makefile.am or Makefile.in names."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from gate.commands.init.detect.c_programs import arguments
from gate.commands.init.detect.makefile import FILES, PATH, expand, linked, parse
from gate.commands.init.detect.result import Found, Rank, placeholder, program, stand_in
from gate.commands.init.detect.tree import Tree

_CONFIGURE = ("configure.ac", "configure.in")
_PROGRAMS = re.compile(r"(bin|sbin|libexec|noinst|check|EXTRA)_PROGRAMS")
_BENCH = re.compile(r"bench|perf", re.IGNORECASE)
_TESTS = re.compile(r"^(TESTS|check)\b\s*[+:]?=?", re.MULTILINE)
_LIBTOOL = re.compile(r"^\s*(?:LT_INIT|AC_PROG_LIBTOOL|AM_PROG_LIBTOOL)\b", re.MULTILINE)
_PLUGINS = re.compile(r"\bdlopen\b|\bLTDL_INIT\b|\bpkglib_LTLIBRARIES\b")
_ASIDE = {"vendor", "third_party", "deps", "examples", "fuzz", "contrib"}
# What `autoreconf -fi` of autoconf 2.71, automake 1.16 and libtool 2.4 put in the place of older copies.
_INSTALLED = {
    "aclocal.m4", "ar-lib", "compile", "config.guess", "config.rpath", "config.sub", "depcomp", "install-sh",
    "libtool.m4", "ltmain.sh", "ltoptions.m4", "ltsugar.m4", "ltversion.m4", "lt~obsolete.m4", "mdate-sh", "missing",
    "mkinstalldirs", "py-compile", "test-driver", "texinfo.tex", "ylwrap",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Program:
    path: str
    sources: tuple[str, ...]
    default: bool
    """`make` makes it without being asked."""
    check: bool = False
    """`make check` makes it, to run it."""


def look(tree: Tree) -> Found | None:
    """Find a project with configure or configure.ac at its top; None without one, or with a Makefile beside it."""
    source = next((name for name in (*_CONFIGURE, "configure") if name in tree.names), None)
    inputs = {"Makefile.am", "Makefile.in"} & tree.names
    # with a Makefile of its own, configure is a choice
    if source is None or not inputs or set(FILES) & tree.names:
        return None
    every = list(_programs(tree))
    programs = sorted(every, key=lambda each: (not _BENCH.search(each.path), not each.default, "test" in each.path))
    programs = [each for each in programs if each.default or _BENCH.search(each.path)]
    sure = [each for each in programs if not arguments(tree, each.path, each.sources)[1]]
    tested = any(_TESTS.search(tree.text(path)) for path in tree.ending("Makefile.am", "Makefile.in"))
    if sure or (programs and not tested):
        return _of_program(tree, source, (sure or programs)[0])
    if tested:
        notes = ["the benchmark is `make check`: replace it with a program that does real work"]
        found = Found("autotools", f"{source}, tests", stand_in("check", ["make", "--silent", "check"]), notes=notes)
        build, comment = _of_tests([each.path for each in every if each.check])
    else:
        benchmark, notes = placeholder()
        found = Found("autotools", f"{source}, without a program", benchmark, notes=notes)
        build, comment = _of_tests([])
    return replace(
        found,
        build=build,
        build_comment=comment,
        setup=_setup(tree),
        changes=_changes(tree),
        products=_products(tree),
    )


def _of_tests(programs: list[str]) -> tuple[str, list[str]]:
    """Return the build of a library, with the programs of its tests, lest the first benchmark compile them."""
    if not programs:
        return "make", ["Compiled once a side; make finds nothing to do in later builds."]
    folders = dict.fromkeys(posixpath.dirname(path) for path in programs)
    # automake's own targets; with no test in its list, only what the tests need is made
    removed = [f"make{f' -C {folder}' if folder else ''} clean-checkPROGRAMS" for folder in folders]
    return " && ".join([*removed, "make", "make check TESTS="]), _RELINKED


def _both(program: str) -> str:
    """Return a program and its other place: libtool leaves a script in its place, and the program in .libs."""
    folder, name = posixpath.split(program)
    return f"{program} {posixpath.join(folder, '.libs', name)}"


def _of_program(tree: Tree, source: str, chosen: _Program) -> Found:
    words, unsure = arguments(tree, chosen.path, chosen.sources)
    static = _static(tree, source)
    folder, name = posixpath.split(chosen.path)
    benchmark, notes = program(name, chosen.path, words, unsure=unsure)
    if _BENCH.search(name) and not unsure:
        benchmark = replace(benchmark, rank=Rank.BENCHMARK)
    more = "" if chosen.default else f" && make{f' -C {folder}' if folder else ''} {name}"
    return Found(
        "autotools",
        f"{source}, program {chosen.path}",
        benchmark,
        f"rm -f {_both(chosen.path)} && make{more}",
        [*_RELINKED, *(_NO_SCRIPT if static else [])],
        setup=_setup(tree) + static,
        artifacts=[chosen.path],
        changes=_changes(tree),
        products=_products(tree),
        notes=notes,
    )


_RELINKED = [
    "Everything is compiled once a side. Each build links again, in another order of the objects",
    "(docs/layout.md).",
]


_NO_SCRIPT = ["Without shared libraries libtool makes the program itself, and no script that starts it."]


def _static(tree: Tree, source: str) -> str:
    """Return the options of configure with which libtool makes a program, and no script that looks for its libraries.

    To run the script takes longer than many a program does. What is opened at run time has to be shared.
    """
    makefiles = (tree.text(path) for path in tree.ending("Makefile.am"))
    opens = _PLUGINS.search(tree.text(source)) or any(map(_PLUGINS.search, makefiles))
    return " --enable-static --disable-shared" if _LIBTOOL.search(tree.text(source)) and not opens else ""


def _setup(tree: Tree) -> str:
    if "configure" in tree.names:
        return "./configure"
    own = next((name for name in ("autogen.sh", "bootstrap", "bootstrap.sh", "buildconf") if name in tree.names), None)
    # many autogen.sh scripts also run configure unless NOCONFIGURE is set
    return f"NOCONFIGURE=1 ./{own} && ./configure" if own else "autoreconf -fi && ./configure"


def _changes(tree: Tree) -> list[str]:
    """Return the files that autoreconf replaces by those of its own version, of those that git tracks."""
    if "configure" in tree.names:
        return []
    return [path for path in tree.files if path == "INSTALL" or posixpath.basename(path) in _INSTALLED]


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
            for name in (expand(value, makefile.variables) or "").split() if kind else ():
                if PATH.fullmatch(name):
                    canonical = re.sub(r"[^\w@]", "_", name)
                    own = makefile.variables.get(f"{canonical}_SOURCES", f"{name}.c")
                    sources = tuple(posixpath.normpath(posixpath.join(folder, source)) for source in own.split())
                    default = kind is not None and kind[1] not in ("check", "EXTRA")
                    check = kind is not None and kind[1] == "check" and path.endswith(".am")
                    yield _Program(posixpath.join(folder, name), sources, default, check)
        if path.endswith(".in"):
            goal = "all" if "all" in makefile.rules else makefile.first
            yield from (
                _Program(each.path, each.sources, True) for each in linked(tree, makefile, goal) if not each.shared
            )
