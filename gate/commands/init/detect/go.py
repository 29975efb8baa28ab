"""Go projects: the packages with benchmarks, else a program, else the tests."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from gate.commands.init.detect.repetitions import Suite, amount, length_of_value
from gate.commands.init.detect.result import Found, Measured, left_out, names_of, placeholder, program, stand_in
from gate.commands.init.detect.tree import Tree
from gate.commands.init.detect.work import work

_BENCHMARK = re.compile(r"^func Benchmark(?:[^a-z\W]\w*)?\(\s*\w+\s+\*\s*testing\.B\s*\)", re.MULTILINE)
_INNER = re.compile(r"\bb\.Run\(")
_TEST = re.compile(r"^func Test(?:[^a-z\W]\w*)?\(", re.MULTILINE)
_MAIN = re.compile(r"^func main\(\)", re.MULTILINE)
_IS_MAIN = re.compile(r"^package main\b", re.MULTILINE)
_MODULE = re.compile(r"^module\s+\"?([^\s\"]+)", re.MULTILINE)
_CONSTRAINT = re.compile(r"^//go:build\s+(.*)$", re.MULTILINE)
_HOLDS = re.compile(
    r"(linux|unix|darwin|amd64|arm64|cgo|gc|go1\.\d+|!(?!linux|unix|darwin|amd64|arm64|cgo|gc\b|go1)\w+)"
)
_ELSEWHERE = re.compile(
    r"_(windows|plan9|js|wasm|wasip1|freebsd|netbsd|openbsd|android|ios|solaris|aix|386|arm|mips\w*|ppc64\w*|riscv64|s390x)"
    r"(_test)?\.go"
)
_ANSWERS_HELP = re.compile(
    r'"(flag|github\.com/(spf13/(cobra|pflag)|urfave/cli/\S+|alecthomas/(kong|kingpin/\S+)|jessevdk/go-flags))"|"--?help"'
)
_WANTS = re.compile(r"\bos\.(Args|Stdin)\b|ListenAndServe|\.Serve\(|net\.Listen\(")
_LINKED = [
    "Linked anew each time, by a linker that is told to order the functions at random (docs/layout.md), as their order",
    "alone makes programs faster or slower. What is compiled comes from Go's cache.",
]
_BINARY = "bench.test"
_BINARIES = "bench.tests"
_VERSION = re.compile(r"v\d+")
_IMPORTABLE = re.compile(r"[A-Za-z0-9._~+/-]*")  # below its module; others the go command refuses
_INNER_CASES = 4  # a guess for b.Run in a loop over a table
_RAMP = 0.5  # finding b.N for a value takes about half as long again
_START = 0.1
_MOST = 12


@dataclass(frozen=True, slots=True)
class _Package:
    directory: str  # "" for the project's own
    cases: int


def look(tree: Tree) -> Found | None:
    """Find the module or modules; None without a go.mod anywhere."""
    modules = _modules(tree)
    if not modules:
        return None
    packages = list(_packages(tree, modules, _BENCHMARK))
    if packages:
        return _of_benchmarks(tree, packages)
    # a module in some corner of another language's project is not what that project is about
    if not {"go.mod", "go.work"} & tree.names:
        return None
    return _of_program(tree, modules) or _of_tests(tree, modules) or _nothing()


def _modules(tree: Tree) -> list[str]:
    return [path for path in tree.files if PurePosixPath(path).name == "go.mod" and _seen(path)]


def _seen(path: str) -> bool:
    """Return whether the go command looks there: not in what begins with "_" or ".", in testdata or vendor."""
    parents = PurePosixPath(path).parts[:-1]
    return not any(part in ("testdata", "vendor") or part.startswith(("_", ".")) for part in parents)


def _sources(tree: Tree, *, tests: bool) -> Iterator[str]:
    """Yield the Go files that are compiled on this machine, as far as their names and build constraints tell."""
    for path in tree.ending(".go"):
        name = PurePosixPath(path).name
        if not _seen(path) or name.startswith(("_", ".")) or name.endswith("_test.go") is not tests:
            continue
        constraint = _CONSTRAINT.search(tree.text(path))
        terms = re.findall(r"!?[\w.]+", constraint[1]) if constraint else []
        if _ELSEWHERE.search(name) is None and all(_HOLDS.fullmatch(term) for term in terms):
            yield path


def _packages(tree: Tree, modules: list[str], wanted: re.Pattern[str]) -> Iterator[_Package]:
    """Yield the packages whose test files have a function that is wanted, and how many."""
    cases: dict[str, int] = {}
    for path in _sources(tree, tests=True):
        text = tree.text(path)
        found = len(wanted.findall(text))
        directory = _parent(path)
        module = _module_of(directory, modules)
        inside = directory if not module else directory[len(module) :]
        if found and module is not None and _IMPORTABLE.fullmatch(inside):
            cases[directory] = cases.get(directory, 0) + found + (_INNER_CASES - 1) * len(_INNER.findall(text))
    yield from (_Package(directory, count) for directory, count in cases.items())


def _parent(path: str) -> str:
    parent = str(PurePosixPath(path).parent)
    return "" if parent == "." else parent


def _module_of(directory: str, modules: list[str]) -> str | None:
    """Return the directory of the module that a package belongs to."""
    homes = {_parent(path) for path in modules}
    places = [directory, *(("" if str(p) == "." else str(p)) for p in PurePosixPath(directory).parents)]
    return next((place for place in places if place in homes), None)


def _of_benchmarks(tree: Tree, every: list[_Package]) -> Found:
    packages, rest = every[:_MOST], every[_MOST:]
    more = "Longer if b.Run yields many or a call is slow."
    suite = Suite(sum(package.cases for package in packages), _RAMP, _START * len(packages), more, warmup=0)
    length = length_of_value(suite)
    names = names_of((package.directory for package in packages), _name(tree))
    build, binaries = _programs(tree, packages)
    measured = [_measured(*each, length) for each in zip(names, packages, binaries, strict=True)]
    where = f"{len(every)} package{'s' if len(every) != 1 else ''} with benchmarks"
    first, *others_measured = measured
    return Found(
        "go",
        where,
        replace(first, comment=_benchmark_comment(length)),
        build,
        _LINKED,
        artifacts=binaries,
        notes=left_out([package.directory for package in rest], "package with benchmarks", "packages with benchmarks"),
        more=others_measured,
        amount=amount(suite, length),
    )


def _benchmark_comment(length: float) -> list[str]:
    return [
        "What `go test -bench` runs: the test binary, in the directory of its package. -test.bench chooses benchmarks.",
        f"A value is a mean over {1000 * length:.0f} ms (-test.benchtime): many short values, over executions and",
        "builds, show the noise that a long one hides.",
    ]


def _measured(name: str, package: _Package, binary: str, length: float) -> Measured:
    options = ["-test.run=^$", "-test.bench=.", f"-test.benchtime={1000 * length:.0f}ms"]
    return Measured(name, _command(package, binary, options), [], instrument="go")


def _command(package: _Package, binary: str, options: list[str]) -> str | list[str]:
    if not package.directory:
        return [f"./{binary}", *options]
    # a test finds its data where its package lies
    program = posixpath.relpath(binary, package.directory)
    program = program if "/" in program else f"./{program}"
    return f"cd {shlex.quote(package.directory)} && {shlex.join([program, *options])}"


def _programs(tree: Tree, packages: list[_Package]) -> tuple[str, list[str]]:
    """Return what builds the test programs of packages, and where they are."""
    together = _together(tree, packages)
    if together:
        return _build_together(packages), together
    return _build(packages), [str(PurePosixPath(package.directory, _BINARY)) for package in packages]


def _together(tree: Tree, packages: list[_Package]) -> list[str]:
    """Return where one go command puts the programs of several packages; nothing where it cannot, or names are taken.

    It links them at the same time, as many as there are processors. A program has the name of its package.
    """
    names = [PurePosixPath(package.directory).name or _name(tree) for package in packages]
    one_module = all(_module_of(package.directory, _modules(tree)) == "" for package in packages)
    plain = len({*names}) == len(names) and not any(map(_VERSION.fullmatch, names))
    free = not any(tree.ending("", under=_BINARIES))
    return [f"{_BINARIES}/{name}.test" for name in names] if one_module and plain and free and len(names) > 1 else []


def _build_together(packages: list[_Package]) -> str:
    directories = [f"./{package.directory}" if package.directory else "." for package in packages]
    return f"go test -c -o {_BINARIES}/ {shlex.join(directories)}"


def _build(packages: list[_Package]) -> str:
    make = f"go test -c -o {_BINARY} ."
    directories = [package.directory or "." for package in packages]
    if directories == ["."]:
        return make
    if len(directories) == 1:
        return f"cd {shlex.quote(directories[0])} && {make}"
    return f'for package in {shlex.join(directories)}; do (cd "$package" && {make}) || exit 1; done'


def _name(tree: Tree) -> str:
    module = _MODULE.search(tree.text("go.mod"))
    last = [part for part in module[1].split("/") if not re.fullmatch(r"v\d+", part)][-1:] if module else []
    return last[0] if last and last[0].isprintable() else "go"


def _of_program(tree: Tree, modules: list[str]) -> Found | None:
    """Find a main package; one that does not end by itself gives way to tests."""
    sure: list[tuple[str, list[str]]] = []
    unsure: list[tuple[str, list[str]]] = []
    for directory in dict.fromkeys(map(_parent, _mains(tree))):
        if _module_of(directory, modules) is None:
            continue
        texts = [tree.text(path) for path in _sources(tree, tests=False) if _parent(path) == directory]
        on_file = work(tree, PurePosixPath(directory).name or _name(tree), texts)
        if on_file:
            sure.append((directory, on_file))
        elif any(_ANSWERS_HELP.search(text) for text in texts):
            sure.append((directory, ["--help"]))
        elif any(_WANTS.search(text) for text in texts):
            unsure.append((directory, []))
        else:
            sure.append((directory, []))
    if not sure and (not unsure or _tested(tree)):
        return None
    directory, arguments = (sure or unsure)[0]
    name = PurePosixPath(directory).name or _name(tree)
    path = f"bin/{name}" if "bin" not in tree.names else f"{name}.bench"
    benchmark, notes = program(name, path, arguments, unsure=not sure)
    home = _module_of(directory, modules) or ""
    inside = str(PurePosixPath(directory).relative_to(home)) if home else directory
    up = "../" * len(PurePosixPath(home).parts)
    make = f"go build -o {shlex.quote(up + path)} {shlex.quote('./' + inside if inside not in ('', '.') else '.')}"
    return Found(
        "go",
        f"program {directory or name}",
        benchmark,
        f"cd {shlex.quote(home)} && {make}" if home else make,
        _LINKED,
        artifacts=[path],
        products=[path],
        notes=[*notes, "there are no benchmarks (func BenchmarkX(b *testing.B)), which would show more"],
    )


def _mains(tree: Tree) -> Iterator[str]:
    for path in _sources(tree, tests=False):
        text = tree.text(path)
        aside = {"examples", "example", "internal", "tools", "scripts", "hack"} & set(PurePosixPath(path).parts[:-1])
        if not aside and _IS_MAIN.search(text) and _MAIN.search(text):
            yield path


def _tested(tree: Tree) -> bool:
    return any(_TEST.search(tree.text(path)) for path in _sources(tree, tests=True))


def _of_tests(tree: Tree, modules: list[str]) -> Found | None:
    if not _tested(tree):
        return None
    advice = "Better: write benchmarks (func BenchmarkX(b *testing.B)), then run `perfgate init --force`."
    notes = ["the benchmark runs the tests: write benchmarks, or replace it with a program that does real work"]
    packages = list(_packages(tree, modules, _TEST))
    if 0 < len(packages) <= _MOST:
        build, binaries = _programs(tree, packages)
        commands = [_command(*each, []) for each in zip(packages, binaries, strict=True)]
        each = [f"({shlex.join(own) if isinstance(own, list) else own})" for own in commands]
        command = commands[0] if len(commands) == 1 else " && ".join(each)
        found = stand_in("tests", command, advice)
        return Found("go", "tests", found, build, _LINKED, artifacts=binaries, products=binaries, notes=notes)
    # a workspace's own directory need not be a module
    homes = [""] if "go.mod" in tree.names else list(dict.fromkeys(map(_parent, modules)))
    patterns = [f"./{home}/..." if home else "./..." for home in homes]
    # -count=1: results of tests are cached; -p=1: the time of parallel packages depends on how they fall together
    return Found(
        "go",
        "tests",
        stand_in("tests", ["go", "test", "-count=1", "-p=1", *patterns], advice),
        f"go test -count=1 -run='^$' {shlex.join(patterns)}",
        ["Fills Go's cache, so that compiling is not measured."],
        notes=notes,
    )


def _nothing() -> Found:
    benchmark, notes = placeholder()
    return Found("go", "without benchmarks, a program or tests", benchmark, None, notes=notes)
