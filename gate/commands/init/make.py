"""Make and autoconf: the targets and programs that `make -pn` names, else those of Makefile.am."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from typing import NamedTuple

from gate.commands.init.ask import Asked, has
from gate.commands.init.c_sources import LEFT_OUT, OTHERS, SOURCES, arguments, started, timed
from gate.commands.init.found import BENCH, Found, Proposed, Rank, Row, placeholder, program, tests
from gate.commands.init.tree import Tree

_FILES = ("GNUmakefile", "makefile", "Makefile")
_BENCH = ("bench", "benchmark", "benchmarks", "perf")
_TEST = ("test", "check", "tests")
_BUILD = ("all", "build", "release", "default")
_NO_BUILD = re.compile(
    r"(help|usage|clean|distclean|install|lint|format|fmt|run|doc|ci|dev|deploy|docker|bench|benchmark|perf|test|check)s?([-_.].*)?"
)
_ASIDE = OTHERS | {"examples", "docs", "doc", "fuzz", "contrib"}
_FETCHES = re.compile(r"\bgit\s+clone\b|\bcurl\b|\bwget\b")
_RUNNERS = re.compile(
    r"(?:^|&&|;|\bdo\b)[ \t@-]*(?:\w+=\S*[ \t]+)*"
    r"(uv|poetry|pdm|hatch|tox|nox|pipenv|rye|cargo|go|docker|npm|pnpm|yarn|bun|deno|bundle)\s",
    re.MULTILINE,
)
"""What starts the project's own programs, where it is installed."""
_OUTPUT = re.compile(r"(?<=\s)-o\s*(\S+)")
_MAKES = re.compile(
    r"^(?!\s*\./).*\s-[oc]\s|^\s*(?:echo|printf|mkdir|rm|cp|mv|ln|ar|ranlib|touch|test|\[|#|:)(?:\s|$)|"
    r"^\.DEFAULT_GOAL|^make\b.*: "
)
"""A line of what make would run that starts nothing of the project's own."""
_ENTERS = re.compile(r"make(?:\[\d+\])?: (Entering|Leaving) directory '(.*)'")
_NO_PROGRAM = (".o", ".a", ".lib", ".obj", ".d", ".so", ".dylib", ".json", ".txt", ".i", ".h")
_BASE = re.compile(r"# Make data base.*?# Finished Make data base[^\n]*", re.DOTALL)
_PATH = re.compile(r"[\w./][\w./+-]*")
_PLAIN = re.compile(r"[\w./][\w./+=: -]*")
"""A command without anything that needs a shell."""
_COMMENT = "Compiled once a side. Each build links again, in another order of the objects (docs/layout.md)."
_CONFIGURE = ("configure.ac", "configure.in", "configure")


class _Linked(NamedTuple):
    path: str
    shared: bool
    sources: list[str]


def look(tree: Tree, ask: Asked) -> Found | None:
    """Find a Makefile at the top or one or two levels down; None without one that builds or runs something."""
    places = [path for path in tree.named(*_FILES, aside=_ASIDE) if path.count("/") <= 2]
    top = [path for path in places if "/" not in path]
    # below a Makefile at the top only a folder of benchmarks has one of its own
    places = [*top, *(path for path in places if not top or BENCH.search(path))]
    found = [each for path in places[:8] if (each := _of_makefile(tree, ask, path))]
    return min(
        found, key=lambda each: (each.rank, each.place.count("/") + bool(each.place), len(each.place)), default=None
    )


def _of_makefile(tree: Tree, ask: Asked, path: str) -> Found | None:
    folder = posixpath.dirname(path)
    native = any(True for each in tree.ending(*SOURCES) if not _ASIDE & {*PurePosixPath(each).parts})
    said, targets = _asked(tree, ask, path, None)
    default = next((line.split()[-1] for line in said.splitlines() if line.startswith(".DEFAULT_GOAL :=")), "")
    builds = bool(default) and not _NO_BUILD.fullmatch(default)
    goal = default if default in _BUILD else None
    if not builds and (goal := next((each for each in _BUILD if each in targets), None)):
        said, _ = _asked(tree, ask, path, goal)
    made = [*_linked(ask, said, folder)] if builds or goal else []
    make_ = ["make", "-j2", "-C", folder or ".", *filter(None, [goal])]
    if native and not made and (builds or goal) and ask.run(*make_) is not None:
        # a make that another one starts needs what the first one made
        made = [*_linked(ask, _asked(tree, ask, path, goal, again=True)[0], folder)]
    made = [*{each.path: each for each in made if each.path not in tree.names}.values()]
    make = "make" + (f" -C {shlex.quote(folder)}" if folder else "")
    bench, test = (next((each for each in names if each in targets), None) for names in (_BENCH, _TEST))
    said = _asked(tree, ask, path, bench, again=True)[0] if bench else ""
    absent = next((word for word in _RUNNERS.findall(said) if not has(word)), None)
    if absent:
        ask.notes.append(f"target {bench} of {path} is left out: {absent} is not installed")
    elif bench and not _FETCHES.search(said):
        run = made or [*_linked(ask, said, folder)]
        lines = filter(str.strip, said.replace("\\\n", " ").splitlines())
        starts = [line.strip() for line in lines if not _MAKES.search(line)]
        if run and not starts:
            # it builds a program of benchmarks, which nothing starts: the time of the target would be that of make
            own = [each for each in _linked(ask, said, folder) if BENCH.search(each.path)] or run
            return _of_programs(tree, ask, path, make, bench, own, targets)
        started = [each for each in run if any(posixpath.basename(each.path) in line for line in starts)]
        if any(timed(tree, each.path, each.sources) for each in started):
            return _of_programs(tree, ask, path, make, goal, run, targets)
        words = starts[0].split() if len(starts) == 1 and _PLAIN.fullmatch(starts[0]) else [""]
        only = next((e for e in started if posixpath.normpath(posixpath.join(folder, words[0])) == e.path), None)
        if only is not None:
            # its own time says more than that of make with it
            command = f"cd {shlex.quote(folder)} && {starts[0]}" if folder else words
            return _of_one(path, make, goal, only, run, targets, Proposed(bench, command, rank=Rank.BENCHMARK))
        words = [*shlex.split(make), "--silent", bench]
        measured = Proposed(bench, words, ["The whole target, make's own start included."], rank=Rank.BENCHMARK)
        build = _build(make, goal, run, [] if made else [each.path for each in run]) if run or native else None
        return _found(path, f"target {bench}", measured, build, run, [])
    return _of_programs(tree, ask, path, make, goal, made, targets) if native and (made or test) else None


def _of_programs(
    tree: Tree, ask: Asked, path: str, make: str, goal: str | None, made: list[_Linked], targets: list[str]
) -> Found:
    """Take the first program, but none that wants arguments or is a test where there is a target for tests."""
    test = next((e for e in _TEST if e in targets and not _absent(tree, ask, path, e, [*made, *targets])), None)
    rows = [Row(each.path, "left out: a fuzz target has no end") for each in made if "fuzz" in each.path]
    programs = [each for each in made if not each.shared and "fuzz" not in each.path]
    builds = {each.path: _build_of(path, make, goal, each, made, targets) for each in programs}
    known = {e.path: arguments(tree, e.path, e.sources, partial(ask.ends, builds[e.path], e.path)) for e in programs}
    programs.sort(key=lambda each: (known[each.path] is None, not BENCH.search(each.path), "test" in each.path))
    chosen = programs[0] if programs else None
    if chosen and not (test and ("test" in chosen.path or known[chosen.path] is None)):
        rows += [Row(each.path, "left out: one program is measured") for each in programs[1:]]
        measured = started(tree, chosen.path, chosen.sources, known[chosen.path])
        return replace(_of_one(path, make, goal, chosen, made, targets, measured), rows=rows)
    if test is None:
        return _found(path, "without a program", placeholder(), _build(make, goal, made), made, rows)
    wanting = [each.path for each in programs if "test" not in each.path]
    rows += [Row(each, LEFT_OUT) for each in wanting]
    measured = tests(test, [*shlex.split(make), "--silent", test])
    return _found(path, f"target {test}", measured, _build(make, goal, made) if made else None, made, rows)


def _absent(tree: Tree, ask: Asked, path: str, goal: str, made: list[_Linked | str]) -> bool:
    """Return whether a goal starts a file of the project that is neither there nor made."""
    folder = posixpath.dirname(path)
    said = _asked(tree, ask, path, goal, again=True)[0]
    known = {each if isinstance(each, str) else each.path for each in [*made, *_linked(ask, said, folder)]}
    starts = (
        posixpath.normpath(posixpath.join(folder, each)) for each in re.findall(r"^\./([\w./-]+)", said, re.MULTILINE)
    )
    return any(each not in known and each not in tree.names for each in starts)


def _of_one(
    path: str, make: str, goal: str | None, chosen: _Linked, made: list[_Linked], targets: list[str], measured: Proposed
) -> Found:
    """Measure one program alone."""
    build = _build_of(path, make, goal, chosen, made, targets)
    return replace(_found(path, f"program {chosen.path}", measured, build, made, []), artifacts=[chosen.path])


def _build_of(path: str, make: str, goal: str | None, chosen: _Linked, made: list[_Linked], targets: list[str]) -> str:
    """Build a program without the rest, such as tests, where make knows it by its name."""
    own = posixpath.relpath(chosen.path, posixpath.dirname(path) or ".")
    return _build(make, own if own in targets else goal, [chosen, *(each for each in made if each.shared)])


def _found(path: str, what: str, measured: Proposed, build: str | None, made: list[_Linked], rows: list[Row]) -> Found:
    comment, products = _COMMENT if made else "", [each.path for each in made]
    place = posixpath.dirname(path)
    return Found("make", f"{path}, {what}", [measured], build, comment, products=products, rows=rows, place=place)


def _asked(tree: Tree, ask: Asked, path: str, goal: str | None, *, again: bool = False) -> tuple[str, list[str]]:
    """Return the commands that a goal would run with make's data base, and the names of the targets."""
    folder = posixpath.dirname(path)
    again_ = ["-B"] if again else []
    said = ask.run("make", "-pnkw", *again_, "-C", folder or ".", "-f", PurePosixPath(path).name, *filter(None, [goal]))
    if said is None:
        if "not installed" in ask.failed:
            rules = re.findall(r"^([\w.-]+)\s*:(?!=)", tree.text(path), re.MULTILINE)
            return f".DEFAULT_GOAL := {rules[0]}" if rules else "", rules
        # what it could still say: a goal may need what is not there
        said = ask.output
    # of each make that another one starts, too: the last is the first one's
    base = (_BASE.findall(said) or [""])[-1]
    default = next((line for line in base.splitlines() if line.startswith(".DEFAULT_GOAL :=")), "")
    first, *parts = (re.findall(r"^([\w./-]+):(?!=)", part, re.MULTILINE) for part in base.split("\n# Not a target:\n"))
    return f"{_BASE.sub('', said)}\n{default}", first + [name for names in parts for name in names[1:]]


def _linked(ask: Asked, said: str, folder: str) -> Iterator[_Linked]:
    """Yield what the commands that make would run link."""
    places = [folder]
    for line in said.replace("\\\n", " ").splitlines():
        entered = _ENTERS.match(line)
        if entered:
            inner = ask.inside(entered[2])
            if entered[1] == "Entering" and inner is not None:
                places.append("" if inner == "." else inner)
            elif len(places) > 1:
                places.pop()
            continue
        output = _OUTPUT.search(line)
        if output is None or re.search(r"\s(-c|-r|-E|-S)\s", f"{line} "):
            continue
        path = posixpath.normpath(posixpath.join(places[-1], output[1].strip("\"'")))
        shared = bool(re.search(r"\s-(shared|dynamiclib)\b", line))
        if _PATH.fullmatch(path) and (shared or not path.endswith(_NO_PROGRAM)) and not path.startswith(("/", "..")):
            words = [word for word in line.split() if word.endswith((*SOURCES, ".o"))]
            yield _Linked(path, shared, [posixpath.normpath(posixpath.join(places[-1], word)) for word in words])


def _build(make: str, goal: str | None, made: list[_Linked], goals: list[str] | None = None) -> str:
    targets = " ".join(goals) if goals else goal or ""
    command = f"{make} {targets}".rstrip()
    return f"rm -f {' '.join(each.path for each in made)} && {command}" if made else command


def look_autotools(tree: Tree, ask: Asked) -> Found | None:
    """Find a project that autoconf configures, by its Makefile.am: what configure would write is not there yet."""
    del ask
    source = next((name for name in _CONFIGURE if name in tree.names), None)
    if source is None or not {"Makefile.am", "Makefile.in"} & tree.names or {*_FILES} & tree.names:
        return None
    programs = sorted(_programs(tree), key=lambda each: (not BENCH.search(each.path), "test" in each.path))
    known = {each.path: arguments(tree, each.path, each.sources) for each in programs}
    sure = [each for each in programs if known[each.path] is not None and "fuzz" not in each.path]
    libtool = re.search(r"^\s*LT_INIT\b", tree.text(source), re.MULTILINE)
    static = " --enable-static --disable-shared" if libtool else ""
    own = next((name for name in ("autogen.sh", "bootstrap", "bootstrap.sh", "buildconf") if name in tree.names), None)
    # many autogen.sh scripts also run configure unless NOCONFIGURE is set
    begin = f"NOCONFIGURE=1 ./{own} && " if own else "autoreconf -fi && "
    setup = f"{'' if 'configure' in tree.names else begin}./configure{static}"
    rows = [Row(each.path, "left out: one program is measured") for each in sure[1:]]
    products = [path.rstrip("/") for path in tree.ignored]
    tested = tree.mentions("TESTS", "Makefile.am", "Makefile.in")
    if not sure and tested:
        measured = tests("check", ["make", "--silent", "check"])
        return Found("autotools", f"{source}, tests", [measured], "make", setup=setup, products=products, rows=rows)
    if not sure:
        wanting = [program(each.path, None) for each in programs[:1]] or [placeholder()]
        return Found("autotools", f"{source}, without a program", wanting, "make", setup=setup, products=products)
    path = sure[0].path
    folder, name = posixpath.split(path)
    measured = program(path, known[path])
    # libtool leaves a script in a program's place, and the program in .libs
    made = f"{path} {posixpath.join(folder, '.libs', name)}"
    build = f"rm -f {made} && make && make{f' -C {folder}' if folder else ''} {name}"
    return Found(
        "autotools", f"{source}, program {path}", [measured], build, _COMMENT, setup=setup, artifacts=[path],
        products=products, rows=rows,
    )  # fmt: skip


def _programs(tree: Tree) -> Iterator[_Linked]:
    """Yield the programs that automake's files name as they are."""
    for path in tree.ending("Makefile.am"):
        folder, text = posixpath.dirname(path), tree.text(path).replace("\\\n", " ")
        for listed in re.findall(r"^\s*(?:bin|sbin|libexec|noinst|EXTRA)_PROGRAMS\s*\+?=(.*)", text, re.MULTILINE):
            for name in filter(_PATH.fullmatch, listed.split("#")[0].split()):
                canonical = re.sub(r"[^\w@]", "_", name)
                own = re.search(rf"^\s*{canonical}_SOURCES\s*=(.*)", text, re.MULTILINE)
                sources = own[1].split() if own else [f"{name}.c"]
                places = [posixpath.normpath(posixpath.join(folder, each)) for each in sources]
                if not _ASIDE & {*PurePosixPath(path).parts}:
                    yield _Linked(posixpath.join(folder, name), False, places)
