"""Go: the packages with benchmarks, else a program, else the tests, as `go list` knows them."""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from gate.commands.init.ask import Asked
from gate.commands.init.found import (
    COMPILED,
    Found,
    Proposed,
    Row,
    kept,
    names_of,
    placeholder,
    program,
    suite_plan,
    tests,
    within,
)
from gate.commands.init.tree import Tree, folder_of

_BENCHMARK = re.compile(r"^func Benchmark(?:[^a-z\W]\w*)?\(\s*\w+\s+\*\s*testing\.B\s*\)", re.MULTILINE)
_INNER = re.compile(r"\bb\.Run\(")
_TEST = re.compile(r"^func Test(?:[^a-z\W]\w*)?\(", re.MULTILINE)
_ANSWERS_HELP = re.compile(
    r'"(flag|github\.com/(spf13/(cobra|pflag)|urfave/cli/\S+|alecthomas/(kong|kingpin/\S+)|jessevdk/go-flags))"|"--?help"'
)
_WANTS = re.compile(r"\bos\.(Args|Stdin)\b|ListenAndServe|\.Serve\(|net\.Listen\(")
_EXAMPLES = {"examples", "example", "internal", "tools", "scripts", "hack"}
_UNSEEN = ("testdata", "vendor", "node_modules")
_INNER_CASES = 4  # a guess for b.Run in a loop over a table
_LINKED = (
    "Linked anew in each build, in another order of functions, as the order alone makes programs faster or slower."
)
_BINARIES = "bench.tests"


class _Package(NamedTuple):
    folder: str  # "" for the project's own
    module: str
    name: str
    sources: str
    """The text of its files that are compiled here, without the tests."""
    tests: str


def look(tree: Tree, ask: Asked) -> Found | None:
    """Find the module or modules; None without a go.mod anywhere, but for a library from before there were any."""
    modules = [folder_of(p) for p in tree.named("go.mod") if not _unseen(p, own=True)]
    begun = None if modules else _begun(tree)
    roots = [""] if begun else modules[:20]
    packages = [each for module in roots for each in _packages(tree, ask, module, modules)]
    benched = [each for each in packages if _BENCHMARK.search(each.tests)]
    place = modules[0] if modules and "" not in modules else ""
    # by a build tag, or for another system
    told = {each.folder: each.tests for each in packages}
    rows = [
        Row(path, "left out: go does not compile it here")
        for path in tree.ending("_test.go")
        if not _unseen(path)
        and _BENCHMARK.search(text := tree.text(path))
        and text not in told.get(folder_of(path), "")
    ]
    if benched:
        setup = f"go mod init {begun} && go mod tidy" if begun else None
        suite = _of_benchmarks(tree, benched, place)
        return replace(suite, setup=setup, rows=[*suite.rows, *rows])
    packages = [each for each in packages if not _unseen(f"{each.module}/go.mod")]
    # a module in some corner of another language's project is not what that project is about
    if not packages or not {"go.mod", "go.work"} & tree.names:
        return None
    tested = [each for each in packages if _TEST.search(each.tests)]
    found = _of_program(tree, packages, tested=bool(tested)) or _of_tests(tree, tested)
    found = found or Found("go", "without benchmarks, a program or tests", [placeholder()])
    return replace(found, rows=[*found.rows, *rows])


def _unseen(path: str, *, own: bool = False) -> bool:
    """Return whether the go command does not look there; own: it is a module's, which it is asked for by its folder."""
    parts = PurePosixPath(path).parts[:-1]
    return any(part in _UNSEEN or part.startswith("." if own else ("_", ".")) for part in parts)


def _begun(tree: Tree) -> str | None:
    """Return the module that a project without a go.mod would be, by what its own packages import of each other."""
    sources = [path for path in tree.ending(".go") if not _unseen(path)]
    if "" not in map(folder_of, sources):
        return None
    paths = [each for path in sources for each in re.findall(r'"([\w.-]+\.[a-z]+/[\w./-]+)"', tree.text(path))]
    below = {f"/{folder_of(path)}" for path in sources} - {"/"}
    named = Counter(each.removesuffix(folder) for each in paths for folder in below if each.endswith(folder))
    return named.most_common(1)[0][0] if named else "perfgate.local/own"


def _packages(tree: Tree, ask: Asked, module: str, modules: list[str]) -> Iterator[_Package]:
    asked = "-json=Dir,Name,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles"
    environment = {"GOTOOLCHAIN": "local", "GOPROXY": "off"}
    own = posixpath.join(module, "go.mod")
    answer = None
    if own in tree.names:
        answer = ask.run("go", "list", "-e", "-mod=readonly", asked, "./...", folder=module, environment=environment)
        # nobody misses a module without benchmarks, such as an example
        if answer is None and (not module or tree.mentions(_BENCHMARK.pattern, "_test.go", under=module)):
            ask.refused(own)
    listed, at = list[dict[str, Any]](), 0
    # objects that stand one after the other
    while answer is not None and (at := answer.find("{", at)) >= 0:
        value, at = json.JSONDecoder().raw_decode(answer, at)
        # go lists a folder whose name no import can have, but not where it lies
        listed += [value] if "Dir" in value else []
    if answer is None:
        inner = [each for each in modules if each != module and f"{each}/".startswith(f"{module}/".lstrip("/"))]
        for path in tree.ending(".go", under=module):
            folder = folder_of(path)
            if _unseen(posixpath.relpath(path, module or ".")) or any(
                f"{folder}/".startswith(f"{other}/") for other in inner
            ):
                continue
            entry = next((each for each in listed if each["Dir"] == folder), None)
            if entry is None:
                listed.append(entry := {"Dir": folder, "GoFiles": [], "TestGoFiles": []})
            entry["TestGoFiles" if path.endswith("_test.go") else "GoFiles"].append(PurePosixPath(path).name)
    for each in listed:
        place = ask.inside(each["Dir"]) if answer is not None else str(each["Dir"])
        if place is None:
            continue
        folder = "" if place == "." else place
        texts = [
            "\n".join(tree.text(posixpath.join(folder, name)) for key in keys for name in each.get(key) or ())
            for keys in (("GoFiles", "CgoFiles"), ("TestGoFiles", "XTestGoFiles"))
        ]
        declared = re.search(r"^package (\w+)", texts[0], re.MULTILINE)
        yield _Package(folder, module, each.get("Name") or (declared[1] if declared else ""), *texts)


def _of_benchmarks(tree: Tree, every: list[_Package], place: str) -> Found:
    folders, rows = kept([each.folder for each in every], "packages with benchmarks")
    packages = [each for each in every if each.folder in folders]
    tests_ = "\n".join(each.tests for each in packages)
    cases = len(_BENCHMARK.findall(tests_)) + (_INNER_CASES - 1) * len(_INNER.findall(tests_))
    plan, length = suite_plan(cases, COMPILED * len(packages))
    names = names_of(folders, _name(tree))
    build, binaries = _programs(tree, packages)
    own = [
        (binary, *map(shlex.quote, (each.folder or ".", f"./{each.folder}")))
        for each, binary in zip(packages, binaries, strict=True)
    ]
    options = ["-test.run=^$", "-test.bench=.", f"-test.benchtime={1000 * length:.0f}ms"]
    measured = [
        # a test finds its data where its package lies
        Proposed(name, within(each.folder, [f"./{built[0]}", *options]), [], "go", built=built)
        for name, each, built in zip(names, packages, own, strict=True)
    ]
    where = f"{len(every)} package{'s' if len(every) != 1 else ''} with benchmarks"
    required = "\n".join(tree.text(posixpath.join(module, "go.mod")) for module in {each.module for each in packages})
    paths = re.findall(r"^\s*(?:require\s+)?(\S+/\S+) v\d", required, re.MULTILINE)
    compared = [re.sub(r"/v\d+$", "", path) for path in paths if f'"{path}' in tests_]
    others = [each.rpartition("/")[2].removeprefix("go-") for each in compared]
    # of the same kind of package, whose names are alike, the owner tells
    others += [f"{each.split('/')[1]}/" for each in compared]
    return Found(
        "go", where, measured, build, _LINKED, artifacts=binaries, rows=rows, amount=plan, place=place,
        name=_name(tree), others=tuple(others),
    )  # fmt: skip


def _programs(tree: Tree, packages: list[_Package]) -> tuple[str, list[str]]:
    """Return what builds the test programs of packages, and where they are.

    One go command links several at the same time, each under the name of its package, where these names differ.
    """
    names = [PurePosixPath(each.folder).name or _name(tree) for each in packages]
    plain = len({*names}) == len(names) and not any(re.fullmatch(r"v\d+", name) for name in names)
    if len(names) > 1 and plain and not any(each.module for each in packages):
        folders = [f"./{each.folder}" if each.folder else "." for each in packages]
        return f"go test -c -o {_BINARIES}/ {shlex.join(folders)}", [f"{_BINARIES}/{name}.test" for name in names]
    made = [str(PurePosixPath(each.folder, "bench.test")) for each in packages]
    make = "go test -c -o bench.test ."
    folders = [each.folder or "." for each in packages]
    if folders == ["."]:
        return make, made
    if len(folders) == 1:
        return f"cd {shlex.quote(folders[0])} && {make}", made
    return f'for package in {shlex.join(folders)}; do (cd "$package" && {make}) || exit 1; done', made


def _name(tree: Tree) -> str:
    module = re.search(r"^module\s+\"?([^\s\"]+)", tree.text("go.mod"), re.MULTILINE)
    path = module[1] if module else _begun(tree) or ""
    last = [part for part in path.split("/") if not re.fullmatch(r"(v\d+)?", part)][-1:]
    return last[0] if last and last[0].isprintable() else "go"


def _of_program(tree: Tree, packages: list[_Package], *, tested: bool) -> Found | None:
    """Take a main package that surely ends by itself; one that may not gives way to tests."""
    mains = [p for p in packages if p.name == "main" and not _EXAMPLES & {*PurePosixPath(p.folder).parts}]
    arguments = {
        each.folder: ["--help"] if _ANSWERS_HELP.search(each.sources) else None if _WANTS.search(each.sources) else []
        for each in mains
    }
    chosen = next((each for each in mains if arguments[each.folder] is not None), None)
    if chosen is None and (not mains or tested):
        return None
    chosen = chosen or mains[0]
    name = PurePosixPath(chosen.folder).name or _name(tree)
    path = f"bin/{name}" if "bin" not in tree.names else f"{name}.bench"
    inner = posixpath.relpath(chosen.folder or ".", chosen.module or ".")
    target = "./" + inner if inner != "." else "."
    make = f"go build -o {shlex.quote(posixpath.relpath(path, chosen.module or '.'))} {shlex.quote(target)}"
    build = f"cd {shlex.quote(chosen.module)} && {make}" if chosen.module else make
    rows = [
        Row(f"program {each.folder or name}", "left out: one program is measured") for each in mains if each != chosen
    ]
    measured = program(path, arguments[chosen.folder])
    evidence = f"program {chosen.folder or name}"
    return Found("go", evidence, [measured], build, _LINKED, artifacts=[path], products=[path], rows=rows)


def _of_tests(tree: Tree, packages: list[_Package]) -> Found | None:
    if not packages:
        return None
    folders, rows = kept([each.folder for each in packages], "packages with tests")
    packages = [each for each in packages if each.folder in folders]
    build, binaries = _programs(tree, packages)
    commands = [within(each.folder, [f"./{binary}"]) for each, binary in zip(packages, binaries, strict=True)]
    each = [f"({shlex.join(own) if isinstance(own, list) else own})" for own in commands]
    measured = tests("tests", commands[0] if len(commands) == 1 else " && ".join(each))
    return Found("go", "tests", [measured], build, _LINKED, artifacts=binaries, products=binaries, rows=rows)
