"""What Python projects have in common: the interpreter, the side's own code first on the path, compiled extensions."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from gate.commands.init.detect.tree import Tree

_COMPILED = re.compile(
    r"ext_modules|maturin|scikit_build_core|mesonpy|setuptools[-_]rust|[Cc]ython|pybind11|nanobind|cffi_modules"
)
_TESTS = {"tests", "test", "benchmarks", "benchmark", "bench", "docs", "doc", "examples", "scripts", "tools"}
_DECLARES = re.compile(
    r"(pyproject\.toml|setup\.cfg|setup\.py|tox\.ini|Pipfile|noxfile\.py|environment\.ya?ml|conftest\.py|[\w.-]*requirements[\w.-]*)"
)


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

    def has(self, tree: Tree, module: str) -> bool:
        """Return whether the interpreter can import a module."""
        try:
            asked = subprocess.run(
                [self.executable, "-c", f"import {module}"],
                cwd=tree.directory,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=60,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
        return asked.returncode == 0

    def notes(self, tree: Tree, module: str, package: str) -> list[str]:
        """Return what the user must know of the interpreter, for a tool that it must have."""
        notes = []
        if tree.environment:
            notes.append(
                f"{tree.environment}/ of this checkout is used on both sides; make it where the gate runs, too"
            )
        if not self.has(tree, module):
            notes.append(
                f"{self.executable} has no {package}: install it there, or activate the environment that has it"
            )
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
    place = ".perfgate-site" if build and "--target" in build else "src" if _under_src(tree) else None
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
    return bool(_COMPILED.search(f"{build_system} {tree.text('setup.py')} {tree.text('setup.cfg')}"))


def _build(tree: Tree, python: str) -> tuple[str, list[str]]:
    if re.search("ext_modules|cffi_modules|[Cc]ython", tree.text("setup.py")):
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
