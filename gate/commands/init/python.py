"""Python: pytest-benchmark, pyperf and asv, else a script or the tests, as they tell."""

from __future__ import annotations

import ast
import json
import posixpath
import re
import shlex
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from gate.commands.init.ask import Asked, has
from gate.commands.init.found import Found, Proposed, Row, kept, names_of, suite_plan, tests
from gate.commands.init.requirements import groups, listed_in, normal, parsed, pip_words, required
from gate.commands.init.scripts import in_benchmarks, is_benchmark, of_script
from gate.commands.init.tree import Tree, table_of

_COMPILED = re.compile(
    r"ext_modules|maturin|scikit_build_core|mesonpy|setuptools[-_]rust|[Cc]ython|pybind11|nanobind|cffi_modules"
)
_NO_PACKAGES = {"tests", "test", "benchmarks", "benchmark", "bench", "docs", "doc", "examples", "scripts", "tools"}
_FIXTURE = re.compile(r"^\s*(?:async\s+)?def\s+test\w*\s*\([^)]*\bbenchmark\b", re.MULTILINE)
_MARK = re.compile(r"pytest\.mark\.(?:codspeed_)?benchmark\b")
_RUNNER = re.compile(r"^[^#\n]*\b(?:pyperf\.)?Runner\(", re.MULTILINE)
_PYPERF_CASE = re.compile(r"\.\s*(?:bench_func|bench_async_func|bench_time_func|timeit|bench_command)\(")
_ASV_CASE = re.compile(r"^\s*def time_\w+\(|^\s*def Time\w+\(", re.MULTILINE)
# what leaves measuring to another tool, also in processes of its own, whose failure such a script need not notice
_OTHERS = re.compile(r"^\s*(?:import|from) (?:pyperf|asv|pytest|unittest)\b|[\"']pyperf[\"']", re.MULTILINE)
_TEST = re.compile(r"test_\w+\.py|\w+_test\.py")
_ADDOPTS = re.compile(r"^\s*addopts\s*=\s*(\[[^\]]*\]|[^\n]*(?:\n[ \t]+[^\n]*)*)", re.MULTILINE)
# Options that a project sets for all its test runs and that do not go with measuring.
_HINDERS = re.compile(r"(?:^|[\s\"'])(-n\s*\w+|--numprocesses|--dist|--benchmark-(?:disable|skip)|--cov)")
# What checks, documents or publishes code takes long to install, and measures nothing.
_CHECKS = re.compile(
    r"(?:black|build|codecov|commitizen|coveralls|docutils|flake8|furo|isort|mkdocs|mypy|nox|pre-commit|pylint|pyright|ruff|"
    r"sphinx|towncrier|tox|twine|types)\b.*"
)
ENVIRONMENT = ".perfgate-env"
"""The folder of each side's own packages, where the interpreter lacks some."""
SITE = ".perfgate-site"
_INSTALLED = """\
import importlib.metadata as m, json, re, sys
found = [(each.metadata["Name"], each.version) for each in m.distributions()]
found = {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in found if name}
print(json.dumps({**found, "python": str(sys.version_info[1])}))
"""
_PLUGIN = """\
import inspect, json, unittest
def pytest_collection_finish(session):
    def uses(item):
        own = getattr(item, "cls", None)
        plain = not inspect.iscoroutinefunction(getattr(item, "obj", None))
        plain = plain and not (own and issubclass(own, unittest.TestCase))
        marks = map(item.get_closest_marker, ("benchmark", "codspeed_benchmark"))
        return plain and any(marks) or "benchmark" in getattr(item, "fixturenames", ())
    print("\\nPERFGATE" + json.dumps({"uses": [item.nodeid for item in session.items if uses(item)]}))
def pytest_collectreport(report):
    if report.failed:
        print("\\nPERFGATE" + json.dumps({"failed": [report.nodeid, str(report.longrepr)[-300:]]}))
"""


@dataclass(frozen=True, slots=True)
class Python:
    """How a project's Python code is run."""

    tree: Tree
    executable: str
    setup: str | None
    """Makes each side's own packages, where the interpreter lacks some."""
    lacking: list[str]
    installed: bool
    """Whether the interpreter has, or may get, a copy of the project, which it would import instead of a side's."""

    def found(self, kind: str, evidence: str, benchmarks: list[Proposed]) -> Found:
        """Return what is written for benchmarks that Python runs."""
        tree, build, installed = self.tree, None, False
        if _compiled(tree):
            build = self._build()
            installed = SITE in build
        # a script's own folder comes first on the path, and not the directory in which it is started
        place = SITE if installed else "src" if any(tree.ending(".py", under="src")) else "." if package(tree) else None
        share = [tree.environment] if tree.environment and self.setup is None else []
        used = f"{tree.environment}/ of this checkout is used on both sides; make it where the gate runs, too"
        row = Row("packages", f"installed in setup: the interpreter lacks {', '.join(self.lacking[:5])}")
        comment = COMPILED if build else ""
        own = str(table_of(tree.toml("pyproject.toml"), "project").get("name") or package(tree) or "")
        others = tuple(dict.fromkeys(normal(each) for listed in groups(tree).values() for each in listed))
        return Found(
            kind, evidence, benchmarks, build, comment, setup=self.setup, share=share,
            environment={"PYTHONPATH": place} if place else {}, notes=[used] if share else [], name=own, others=others,
            rows=[row] if self.lacking else [],
        )  # fmt: skip

    def command(self, words: list[str]) -> list[str] | str:
        """Return a command, after one that stops it if Python would import another copy than this side's."""
        name, own = package(self.tree), [self.executable, *words]
        if not name or not self.installed:
            return own
        run, here = shlex.join(own), "os.path.realpath(it.__file__).startswith(os.getcwd())"
        return f"{self.executable} -c 'import os, {name} as it; assert {here}, it' &&\n{run}"

    def _build(self) -> str:
        tree, setup = self.tree, self.tree.text("setup.py")
        if not _by_pip(tree):
            # extensions whose C is made by Cython, where setup.py does not do that itself
            made = [p for p in tree.ending(".pyx") if not {p[:-4] + ".c", p[:-4] + ".cpp"} & tree.names]
            # others are parts of these
            made = [p for p in made if re.search(rf"\b{re.escape(PurePosixPath(p).stem)}\.c", setup)] or made
            cython = f"{self.executable} -m cython {shlex.join(made)} && " if made and "cythonize" not in setup else ""
            return f"{cython}{self.executable} setup.py -q build_ext --inplace --force"
        pip = f"{self.executable} -m pip"
        own = tree.environment if not self.setup else None
        if own and not any((tree.directory / own).glob("lib*/python*/site-packages/pip")):
            pip = f"uv pip --python {self.executable}"
        return by_pip(pip)


def python(tree: Tree, ask: Asked, tools: list[str]) -> Python:
    """Return how the project's code is run with tools, by their names for pip."""
    plain = "python" if shutil.which("python") or not shutil.which("python3") else "python3"
    own = table_of(tree.toml("pyproject.toml"), "project")
    # those with a marker may not be needed here
    wanted = [*(each for each in required(tree) if ";" not in each), *tools]

    def told(name: str) -> dict[str, str]:
        # a module of the project may stand in the place of one of Python's own
        found = ask.json(name, "-c", _INSTALLED)
        return found if isinstance(found, dict) and "python" in found else {}

    asked = re.search(r">=\s*3\.(\d+)", str(own.get("requires-python")))
    least = int(asked[1]) if asked else 0
    there = told(f"./{tree.environment}/bin/python" if tree.environment else plain)
    if there and int(there["python"]) < least and not tree.environment:
        names = (name for n in range(least, least + 5) if has(name := f"python3.{n}"))
        plain, there = next(((name, found) for name in names if (found := told(name))), (plain, there))
    if there and int(there["python"]) < least:
        ask.notes.append(f"the project asks for Python 3.{least}, and here is 3.{there['python']}: make .venv with it")
    executable = f"{tree.environment}/bin/python" if tree.environment else plain
    if _compiled(tree) and "ext_modules" in tree.text("setup.py"):
        wanted += ["setuptools", *(["cython"] if any(tree.ending(".pyx")) else [])]
    lacking = [each for each in wanted if normal(each) not in there] if there else []
    # what pip compiles needs a pip that may be used, which a system's own need not be
    if not lacking and (tree.environment or not _by_pip(tree)):
        name = normal(str(own.get("name") or package(tree) or ""))
        return Python(tree, executable, None, [], bool(tree.environment) or name in there)
    # a pip that installs elsewhere saves most of the time that an environment takes, which is for a pip of its own
    able = (
        not tree.environment
        and not _compiled(tree)
        and tuple(map(int, re.findall(r"\d+", there.get("pip", ""))[:2])) >= (22, 3)
    )
    setup = environment_of(tree, plain, tools, wanted, own_pip=not able)
    return Python(tree, f"{ENVIRONMENT}/bin/python", setup, lacking, installed=False)


def by_pip(pip: str) -> str:
    """Return the command with which a pip compiles a side's package into a folder of its own.

    Equal sources give equal files: its bytecode would name the folder in which this pip has put it together, and its
    metadata, which pytest reads of all packages, holds the README.
    """
    install = f"{pip} install --quiet --no-deps --no-compile --target {SITE} ."
    return f"rm -rf {SITE} && {install} && sed -i -e '/^$/,$d' {SITE}/*.dist-info/METADATA"


COMPILED = "The package of each side, compiled from its own sources; its metadata without the README, no program."


def environment_of(
    tree: Tree, executable: str, tools: Iterable[str], wanted: Iterable[str], *, own_pip: bool = True
) -> str:
    """Return the commands that make an environment with what the project's extras and groups name beside its tools."""
    words = [*wanted]
    for listed in groups(tree).values():
        # a group that names a tool has what else its benchmarks need
        if {normal(each) for each in listed} & {normal(each) for each in tools}:
            words += [each for each in listed if not _CHECKS.fullmatch(normal(each))]
    named = shlex.join(pip_words(words))
    if own_pip:
        install = f" && {ENVIRONMENT}/bin/pip install --quiet {named}" if named else ""
        return f"{executable} -m venv {ENVIRONMENT}{install}"
    pip = f"{executable} -m pip --python {ENVIRONMENT}/bin/python install --quiet {named}"
    return f"{executable} -m venv --without-pip {ENVIRONMENT} && {pip}"


def _compiled(tree: Tree) -> bool:
    system = tree.toml("pyproject.toml").get("build-system", {})
    return bool(_COMPILED.search(f"{system} {tree.text('setup.py')} {tree.text('setup.cfg')}"))


def _by_pip(tree: Tree) -> bool:
    """Return whether pip compiles the package, and not its own setup.py."""
    setup = tree.text("setup.py")
    own = re.search("ext_modules|cffi_modules|[Cc]ython", setup) and not re.search("setuptools_rust", setup)
    return _compiled(tree) and not own


def package(tree: Tree) -> str | None:
    """Return the import name of the project's package, when only one can be meant."""
    lead = "src/" if any(tree.ending(".py", under="src")) else ""
    names: dict[str, None] = {}
    for path in tree.ending(".py", under=lead.rstrip("/")):
        inner = PurePosixPath(path.removeprefix(lead)).parts
        name = inner[0] if inner[1:] == ("__init__.py",) else inner[0][:-3] if lead and len(inner) == 1 else ""
        if name.isidentifier() and name.isascii() and name not in _NO_PACKAGES and not name.startswith(("test_", "_")):
            names[name] = None
    own = normal(str(table_of(tree.toml("pyproject.toml"), "project").get("name", ""))).replace("-", "_")
    match = [name for name in names if name.lower() == own]
    return (match or [*names])[0] if match or len(names) == 1 else None


def look_pytest(tree: Tree, ask: Asked) -> Found | None:
    """Find tests that use the benchmark fixture, as pytest collects them; None without them."""
    every = [p for p in tree.ending(".py") if PurePosixPath(p).name != "conftest.py"]
    files = [p for p in every if _MARK.search(tree.text(p)) or _FIXTURE.search(tree.text(p))]
    # a fixture of the project's own may have that name
    if not files or tree.mentions(r"^def benchmark\(", ".py"):
        return None
    # tests that are skipped without this plugin do not need what it measures
    codspeed = any("pytest_codspeed" in tree.text(path) for path in files)
    own = python(tree, ask, ["pytest", "pytest-benchmark", *(["pytest-codspeed"] if codspeed else [])])
    without = ["-p", "no:codspeed"] if codspeed else []
    rows: list[Row] = []
    ini = "\n".join(map(tree.text, ("pyproject.toml", "setup.cfg", "pytest.ini", ".pytest.ini", "tox.ini")))
    hindered = any(map(_HINDERS.search, _ADDOPTS.findall(ini)))
    cases = 2 * len(files)
    # it cannot be asked before its plugin is there
    if own.setup is None:
        ask.write("perfgate_ask.py", _PLUGIN)
        run = f"./{own.executable}" if tree.environment else own.executable
        options = "-m pytest --collect-only -q -p no:cacheprovider -p perfgate_ask -o addopts="
        words = [*options.split(), *without, "--continue-on-collection-errors", *files]
        path = {"PYTHONPATH": "src:." if any(tree.ending(".py", under="src")) else "."}
        said = ask.run(run, *words, environment=path) or ask.output
        told = [json.loads(line.removeprefix("PERFGATE")) for line in said.splitlines() if line.startswith("PERFGATE{")]
        failed = dict(each["failed"] for each in told if "failed" in each)
        collected = next((each for each in told if "uses" in each), None)
        if collected and collected["uses"]:
            files = list(dict.fromkeys(node.split("::")[0] for node in collected["uses"]))
            cases = len(collected["uses"])
        elif collected and not failed:
            files = []
        for path_, why in failed.items():
            missing = re.search(r"No module named '([\w.]+)'", why)
            became = f"it needs {missing[1]}" if missing else "pytest cannot collect it"
            rows.append(Row(path_, f"left out: {became}"))
    if not files:
        return None
    plan, length = suite_plan(cases, 0.5)
    words = ["-m", "pytest", "-q", *without, *(["-o", "addopts="] if hindered else []), *looking_below(tree, files)]
    command = own.command([*words, f"--benchmark-min-time={length:g}", *files])
    what = f"{len(files)} test file{'s' if len(files) != 1 else ''} with benchmarks"
    found = own.found("pytest-benchmark", what, [Proposed("pytest", command, [], "pytest-benchmark")])
    return replace(found, rows=[*found.rows, *rows], amount=plan)


def looking_below(tree: Tree, paths: list[str]) -> list[str]:
    """Return the options that keep pytest from looking at what lies beside its tests, such as the README."""
    folders = [posixpath.dirname(path) if path.endswith(".py") else path for path in paths]
    common = posixpath.commonpath(folders) if all(folders) and folders else ""
    above = [str(parent / "conftest.py") for parent in PurePosixPath(common).parents]
    if common:
        return [f"--confcutdir={common}"] if not {*above} & tree.names else []
    # it asks of each file beside those at the top whether it is an environment
    texts = {PurePosixPath(path).suffix for path in tree.names if "/" not in path} & {".md", ".rst"}
    return [f"--ignore-glob=*{suffix}" for suffix in sorted(texts)]


def look_pyperf(tree: Tree, ask: Asked) -> Found | None:
    """Find scripts that make a pyperf.Runner; None without one."""
    every = [
        path
        for path in tree.ending(".py")
        if re.search(r"^\s*(import|from)\s+pyperf\b", tree.text(path), re.MULTILINE)
        and _RUNNER.search(tree.text(path))
        and not PurePosixPath(path).name.startswith(("test_", "-"))
    ]
    # what shows how pyperf is used measures nothing of the project
    shown = [path for path in every if {"doc", "docs", "example", "examples"} & {*PurePosixPath(path).parts}]
    every = [path for path in every if path not in shown]
    if not every:
        return None
    own = python(tree, ask, ["pyperf"])
    scripts, rows = kept(every, "pyperf scripts")
    rows += [Row(path, "left out: an example") for path in shown]
    plan, length = suite_plan(sum(max(1, len(_PYPERF_CASE.findall(tree.text(p)))) for p in scripts), 0.3 * len(scripts))
    common = posixpath.commonpath([posixpath.dirname(path) or "." for path in scripts])
    names = names_of((posixpath.relpath(path[:-3], common) for path in scripts), "pyperf")
    measured = [
        Proposed(name, own.command([path, f"--min-time={length:g}"]), [], "pyperf")
        for name, path in zip(names, scripts, strict=True)
    ]
    found = own.found("pyperf", f"{len(every)} script{'s' if len(every) != 1 else ''} with a pyperf.Runner", measured)
    return replace(found, rows=[*found.rows, *rows], amount=replace(plan, warmup=1))


def look_asv(tree: Tree, ask: Asked) -> Found | None:
    """Find an asv.conf.json and its benchmarks of times; None without them."""
    for path in tree.named("asv.conf.json", "asv.conf.jsonc"):
        named = re.search(r"^[^/\n]*\"benchmark_dir\"\s*:\s*\"([^\"]+)\"", tree.text(path), re.MULTILINE)
        folder = posixpath.normpath(posixpath.join(posixpath.dirname(path), named[1] if named else "benchmarks"))
        cases = sum(len(_ASV_CASE.findall(tree.text(file))) for file in tree.ending(".py", under=folder))
        if cases and not folder.startswith(".."):
            own = python(tree, ask, ["asv_runner"])
            plan, length = suite_plan(cases, 1.0)
            command = own.command(["-m", "perfgate_asv", folder, f"--sample-time={length:g}"])
            comment = ["The time_* of asv's suite, by asv_runner in one process; --bench=REGEX chooses of them."]
            measured = Proposed("asv", command, comment, "asv")
            return replace(
                own.found("asv", f"{path}, {cases} benchmarks in {folder}", [measured]), amount=replace(plan, warmup=1)
            )
    return None


def look(tree: Tree, ask: Asked) -> Found | None:
    """Find a benchmark script, or tests; None without them."""
    every = [*tree.ending(".py")]
    # in a folder of benchmarks a script need not say so, where none does
    named = [*filter(is_benchmark, every)] or [*filter(in_benchmarks, every)]
    # what another one imports is a part of that
    parts = {
        path for path in named for other in named
        if re.search(rf"^\s*(?:from|import)\s+[\w.]*\b{PurePosixPath(path).stem}\b", tree.text(other), re.MULTILINE)
    }  # fmt: skip
    scripts = [path for path in named if path not in parts and _runs_alone(tree.text(path))]
    if not scripts:
        return _of_tests(tree, ask)
    ordered = sorted(scripts, key=lambda path: (path.count("/"), "run" not in path, path))
    # what it needs may be listed beside it
    own = python(tree, ask, listed_in(tree, posixpath.join(posixpath.dirname(ordered[0]) or "-", "requirements.txt")))
    made = []
    for path in ordered:
        place, text = PurePosixPath(path), tree.text(path)
        name = place.parent.name or place.stem if place.stem in ("run", "main", "__main__") else place.stem
        # a module of its package, by what it imports
        module = re.search(r"^\s*from\s+\.", text, re.MULTILINE)
        words = ["-m", path[:-3].replace("/", ".")] if module else [path]
        made.append(of_script(name, [own.executable, *words], text))
    found = own.found("python", f"script {ordered[0]}", [made[0][0]])
    rows = [Row(f"script {path}", "left out: one script is measured") for path in ordered[1:]]
    # other scripts may be measured by the same plan
    instead = tuple(each for each, amount in made[1:] if amount == made[0][1])
    return replace(found, rows=[*found.rows, *rows], amount=made[0][1], instead=instead)


def _runs_alone(text: str) -> bool:
    """Return whether a script does something by itself, without arguments, and is not for a library's own runner."""
    module = parsed(text)
    acts = any(
        isinstance(node, ast.For | ast.While | ast.With)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
        or (isinstance(node, ast.If) and any(getattr(each, "value", "") == "__main__" for each in ast.walk(node.test)))
        for node in module.body
    )
    asks = re.search(r"\bsys\.argv\[[1-9]\]", text) and "len(sys.argv)" not in text
    if not acts or asks or _OTHERS.search(text) or _FIXTURE.search(text):
        return False
    return not any(_wants(call) for call in ast.walk(module) if isinstance(call, ast.Call))


def _wants(call: ast.Call) -> bool:
    """Return whether a call declares an argument that must be given."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    given = {keyword.arg: getattr(keyword.value, "value", None) for keyword in call.keywords}
    first = getattr(call.args[0], "value", "") if call.args else "-"
    positional = isinstance(first, str) and not first.startswith("-") and given.get("nargs") not in ("?", "*")
    return name in ("add_argument", "add_subparsers") and (given.get("required") is True or positional)


def _of_tests(tree: Tree, ask: Asked) -> Found | None:
    files = [path for path in tree.ending(".py") if _TEST.fullmatch(PurePosixPath(path).name)]
    if not files or not tree.mentions("(?i)pytest", ".py", ".toml", ".cfg", ".txt", ".ini"):
        return None
    own = python(tree, ask, ["pytest"])
    top = sorted({PurePosixPath(path).parts[0] for path in files if "/" in path})
    place = next((name for name in ("tests", "test") if name in top), top[0] if len(top) == 1 else ".")
    command = [own.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *looking_below(tree, [place]), place]
    return own.found("python", f"a package with tests in {place}", [tests("tests", command)])
