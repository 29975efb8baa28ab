"""What Python projects have in common: the interpreter, the side's own code first on the path, compiled extensions."""

from __future__ import annotations

import ast
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from gate.commands.init.detect.extensions import asked_for, by_default
from gate.commands.init.detect.result import Found, Measured
from gate.commands.init.detect.tree import Tree

_COMPILED = re.compile(
    r"ext_modules|maturin|scikit_build_core|mesonpy|setuptools[-_]rust|[Cc]ython|pybind11|nanobind|cffi_modules"
)
_TESTS = {"tests", "test", "benchmarks", "benchmark", "bench", "docs", "doc", "examples", "scripts", "tools"}
_DECLARES = re.compile(
    r"(pyproject\.toml|setup\.cfg|setup\.py|tox\.ini|Pipfile|noxfile\.py|environment\.ya?ml|conftest\.py|[\w.-]*requirements[\w.-]*)"
)


_DISTRIBUTION = re.compile(r"[A-Za-z0-9][\w.-]*")
_INSTALLED = """\
import importlib.metadata as metadata, json, pkgutil, sys
modules = [module.name for module in pkgutil.iter_modules()] + list(sys.builtin_module_names)
modules += metadata.packages_distributions() if hasattr(metadata, "packages_distributions") else []
print(json.dumps([modules, [each.metadata["Name"] for each in metadata.distributions()]]))
"""


class _Installed(NamedTuple):
    modules: frozenset[str]
    distributions: frozenset[str]


@cache
def _installed(executable: str, directory: Path) -> _Installed:
    """Ask an interpreter what it has; nothing where it cannot be started."""
    try:
        answer = subprocess.run(
            [executable, "-c", _INSTALLED],
            cwd=directory,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )
        modules, distributions = json.loads(answer.stdout)
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return _Installed(frozenset(), frozenset())
    return _Installed(frozenset(modules), frozenset(_normal(name) for name in distributions if name))


def _normal(name: str) -> str:
    """Return a distribution's name as pip compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


@dataclass(frozen=True, slots=True)
class Python:
    """How a project's Python code is run."""

    executable: str
    """Of the environment in the checkout, or the one on the PATH."""
    build: str | None
    build_comment: list[str]
    share: list[str]
    environment: dict[str, str]
    environment_comment: list[str]
    """build, build_comment, share, environment and environment_comment: as in Found."""
    guard: list[str]
    """Lines of shell that fail where another copy of the package than this side's is imported."""

    def found(self, kind: str, evidence: str, measured: Measured) -> Found:
        """Return what is written for a benchmark that Python runs."""
        return Found(
            kind,
            evidence,
            measured,
            self.build,
            self.build_comment,
            share=self.share,
            environment=self.environment,
            environment_comment=self.environment_comment,
        )

    def absent(self, tree: Tree, modules: Iterable[str]) -> set[str]:
        """Return the modules that the interpreter does not find."""
        return set(modules) - _installed(self.executable, tree.directory).modules

    def _undone(self, tree: Tree) -> set[str]:
        """Return the dependencies of the project that are not installed, by their names for pip."""
        project = tree.toml("pyproject.toml").get("project", {})
        listed = project.get("dependencies", []) if isinstance(project, dict) else []
        # those with a marker may not be needed here
        plain = [text for text in listed if isinstance(text, str) and ";" not in text]
        names = {name[0] for text in plain if (name := _DISTRIBUTION.match(text))}
        there = _installed(self.executable, tree.directory).distributions
        return {name for name in names if _normal(name) not in there}

    def notes(self, tree: Tree, module: str | None, package: str, files: Iterable[str] = ()) -> list[str]:
        """Return what the user must know of the interpreter.

        Args:
            module: the tool that it must have.
            package: that tool's name for pip.
            files: those that are run; what they import must be there as well.
        """
        notes = [
            f"setup.py compiles extensions only if {variable} is set, so the Python code is measured: to measure them, "
            "set it in [env] and write the build"
            for variable in asked_for(tree.text("setup.py"))
        ]
        if tree.environment:
            notes.append(
                f"{tree.environment}/ of this checkout is used on both sides; make it where the gate runs, too"
            )
        wanted = {name for file in files for name in imported(tree, file)} | ({module} if module else set())
        absent = sorted(
            {package if name == module else name for name in self.absent(tree, wanted)} | self._undone(tree)
        )
        if absent:
            it = "it" if len(absent) == 1 else "them"
            lacks = f"{self.executable} has no {', '.join(absent)}"
            notes.append(f"{lacks}: install {it} there, or activate the environment that has {it}")
        return notes

    def command(self, words: list[str], before: list[str]) -> str:
        """Return a script that ends with a command, so that options can be added to it."""
        # a file name in a script is not perfgate's to replace, but braces are the user's own
        return "\n".join(["set -e", *self.guard, *before, shlex.join([self.executable, *words])])


def python(tree: Tree) -> Python:
    """Return how the project's code is run."""
    executable, package = _executable(tree), _package(tree)
    compiled = _compiled(tree)
    build, comment = _build(tree, executable) if compiled else (None, [])
    if not compiled:
        comment = ["Nothing is compiled: without a command, a build is a fresh checkout under a new path."]
    installed = bool(build and "--target" in build)
    # a script's own folder comes first on the path, and not the directory in which it is started
    place = ".perfgate-site" if installed else "src" if _under_src(tree) else "." if package else None
    guard = [
        "# Stops if Python would import another copy than this side's: both sides would measure the same code.",
        f"{executable} -c 'import os, {package} as it",
        "assert os.path.realpath(it.__file__).startswith(os.getcwd()), it.__file__'",
    ]
    first = ["The code of the side that is measured comes before any installed copy of it."]
    return Python(
        executable,
        build,
        comment,
        [tree.environment] if tree.environment else [],
        {"PYTHONPATH": place} if place else {},
        first if place else [],
        guard if package else [],
    )


def imported(tree: Tree, file: str) -> set[str]:
    """Return the packages that a file surely imports, also through the project's own modules, without Python's own."""
    waiting, seen, names = [file], {file}, set[str]()
    while waiting:
        for name in _imports(tree.text(waiting.pop())):
            own = [path for path in _modules_of(tree, name) if path not in seen]
            names |= {name.split(".")[0]}
            seen |= set(own)
            waiting += own
    project = tree.toml("pyproject.toml").get("project", {})
    known = {str(project.get("name", "")).lower().replace("-", "_")} if isinstance(project, dict) else set()
    # modules that are compiled are named in setup.py
    known |= {name for name in names if re.search(rf"[\"']{re.escape(name)}[\"'.]", tree.text("setup.py"))}
    # what lies beside a script or test, or above it, is on the path as well
    folders = {"", "src", *(str(parent).removeprefix(".") for parent in PurePosixPath(file).parents)}
    known = known.union(*(tree.modules.get(folder, ()) for folder in folders))
    return names - sys.stdlib_module_names - known


def _imports(text: str) -> set[str]:
    """Return the modules that the top of a file imports, by their full names."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return set()
    names = {alias.name for node in body if isinstance(node, ast.Import) for alias in node.names}
    return names | {node.module for node in body if isinstance(node, ast.ImportFrom) and node.module and not node.level}


def _modules_of(tree: Tree, name: str) -> list[str]:
    """Return the files of the project that an import of a module runs: its own, and those of the packages above it."""
    parts = name.split(".")
    paths = ["/".join(parts[: end + 1]) for end in range(len(parts))]
    candidates = (f"{lead}{path}{end}" for lead in ("", "src/") for path in paths for end in (".py", "/__init__.py"))
    return [path for path in candidates if path in tree.names]


def declares(tree: Tree, names: re.Pattern[str]) -> bool:
    """Return whether one of the files that list dependencies names a package."""
    files = [p for p in tree.files if _DECLARES.fullmatch(PurePosixPath(p).name) or p.startswith("requirements/")]
    return any(names.search(tree.text(path)) for path in files)


def _executable(tree: Tree) -> str:
    if tree.environment:
        return f"{tree.environment}/bin/python"
    return "python" if shutil.which("python") or not shutil.which("python3") else "python3"


def _compiled(tree: Tree) -> bool:
    build_system = tree.toml("pyproject.toml").get("build-system", {})
    return bool(_COMPILED.search(f"{build_system} {by_default(tree.text('setup.py'))} {tree.text('setup.cfg')}"))


def _build(tree: Tree, python: str) -> tuple[str, list[str]]:
    has_setuptools = "setuptools" in _installed(python, tree.directory).modules
    # without setuptools in the environment, pip builds in one of its own
    if has_setuptools and re.search("ext_modules|cffi_modules|[Cc]ython", tree.text("setup.py")):
        return f"{python} setup.py -q build_ext --inplace --force", [
            "The extension modules of each side, from its own sources."
        ]
    comment = ["The package of each side, compiled from its own sources and installed in a directory of its own."]
    pip = f"{python} -m pip"
    if tree.environment and not any((tree.directory / tree.environment).glob("lib*/python*/site-packages/pip")):
        pip = f"uv pip --python {python}"
    return f"rm -rf .perfgate-site && {pip} install --quiet --no-deps --target .perfgate-site .", comment


def _under_src(tree: Tree) -> bool:
    return any(tree.ending(".py", under="src"))


def _package(tree: Tree) -> str | None:
    """Return the import name of the project's package, when only one can be meant."""
    names = list(dict.fromkeys(_importable(tree)))
    project = tree.toml("pyproject.toml").get("project", {})
    own = str(project.get("name", "")).lower().replace("-", "_").replace(".", "_") if isinstance(project, dict) else ""
    match = [name for name in names if name.lower() == own]
    return (match or names)[0] if match or len(names) == 1 else None


def _importable(tree: Tree) -> Iterator[str]:
    lead = ("src",) if _under_src(tree) else ()
    for path in tree.ending(".py"):
        parts = PurePosixPath(path).parts
        if parts[: len(lead)] != lead:
            continue
        inner = parts[len(lead) :]
        name = (
            inner[0]
            if len(inner) == 2 and inner[1] == "__init__.py"
            else inner[0].removesuffix(".py")
            if lead and len(inner) == 1
            else ""
        )
        if name.isidentifier() and name.isascii() and name not in _TESTS and not name.startswith(("test_", "_")):
            yield name
