"""Python projects whose tests use pytest-benchmark."""

from __future__ import annotations

import configparser
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import PurePosixPath

from gate.commands.detect.found import Found, Measured
from gate.commands.detect.tree import Tree

_IMPORTS = re.compile(r"^\s*(import|from)\s+pytest_benchmark\b", re.MULTILINE)
_USES = re.compile(r"^\s*(async\s+)?def\s+test\w*\s*\([^)]*\bbenchmark\b|^\s*@pytest\.mark\.benchmark\b", re.MULTILINE)
_NAMES = re.compile(r"pytest[-_]benchmark", re.IGNORECASE)
_DECLARES = re.compile(
    r"(pyproject\.toml|setup\.cfg|setup\.py|tox\.ini|Pipfile|noxfile\.py|environment\.ya?ml|conftest\.py|[\w.-]*requirements[\w.-]*)"
)
_COMPILED = re.compile(
    r"ext_modules|maturin|scikit_build_core|mesonpy|setuptools[-_]rust|[Cc]ython|pybind11|nanobind|cffi_modules"
)
# Options that a project sets for all its test runs and that do not go with measuring.
_HINDERS = re.compile(r"(?:^|\s)(-n\s*\w+|--numprocesses|--dist|--benchmark-(?:disable|skip)|--cov)")
_TESTS = {"tests", "test", "benchmarks", "benchmark", "bench", "docs", "doc", "examples", "scripts", "tools"}


def look(tree: Tree) -> Found | None:
    """Find tests that use the benchmark fixture, in a project that names pytest-benchmark; None without them."""
    tests = _tests(tree)
    return found(tree) if tests and _declared(tree, tests) else None


def found(tree: Tree) -> Found:
    """Return what is written for a project with pytest-benchmark, whether or not its tests could be found."""
    python = _python(tree)
    compiled, package = _compiled(tree), _package(tree)
    build, comment = _build(tree, python) if compiled else (None, [])
    if not compiled:
        comment = ["Nothing is compiled: without a command, a build is a fresh checkout under a new path."]
    place = ".perfgate-site" if build and "--target" in build else "src" if _under_src(tree) else None
    tests = _tests(tree)
    where = f"{len(tests)} test file{'s' if len(tests) != 1 else ''} with benchmarks" if tests else "as told"
    notes = [] if tests else ["no test was found that uses the benchmark fixture"]
    if tree.environment:
        notes.append(f"{tree.environment}/ of this checkout is used on both sides; make it where the gate runs, too")
    if not _has_plugin(tree, python):
        notes.append(f"{python} has no pytest-benchmark: install it there, or activate the environment that has it")
    return Found(
        "pytest-benchmark",
        where,
        Measured("pytest", _script(tree, python, package, tests), [], values=True),
        build,
        comment,
        share=[tree.environment] if tree.environment else [],
        environment={"PYTHONPATH": place} if place else {},
        environment_comment=["The code of the side that is measured comes before any installed copy of it."]
        if place
        else [],
        notes=notes,
    )


def _tests(tree: Tree) -> list[str]:
    return [
        path
        for path in tree.ending(".py")
        if _USES.search(tree.text(path)) and PurePosixPath(path).name != "conftest.py"
    ]


def _declared(tree: Tree, tests: list[str]) -> bool:
    files = [
        path for path in tree.files if _DECLARES.fullmatch(PurePosixPath(path).name) or path.startswith("requirements/")
    ]
    imported = any(_IMPORTS.search(tree.text(path)) for path in tests)
    return imported or any(_NAMES.search(tree.text(path)) for path in files)


def _python(tree: Tree) -> str:
    if tree.environment:
        return f"{tree.environment}/bin/python"
    return "python" if shutil.which("python") or not shutil.which("python3") else "python3"


def _has_plugin(tree: Tree, python: str) -> bool:
    try:
        asked = subprocess.run(
            [python, "-c", "import pytest_benchmark"],
            cwd=tree.directory,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return asked.returncode == 0


def _script(tree: Tree, python: str, package: str | None, tests: list[str]) -> str:
    lines = ["set -e"]
    if package:
        lines += [
            "# Stops if Python would import another copy than this side's: both sides would measure the same code.",
            f"{python} -c 'import os, {package} as it",
            "assert os.path.realpath(it.__file__).startswith(os.getcwd()), it.__file__'",
        ]
    hindered = " -o addopts=" if _HINDERS.search(_addopts(tree)) else ""
    if hindered:
        lines += ["# addopts of the project's pytest configuration do not go with measuring."]
    paths = "".join(f" {shlex.quote(path)}" for path in _paths(tests))
    return "\n".join([
        *lines,
        f"{python} -m pytest -q{hindered} --benchmark-only --benchmark-json={{output}}.json \\",
        '    --benchmark-min-rounds="$PERFGATE_ITERATIONS" --benchmark-min-time=0.005 --benchmark-max-time=0.1'
        + (f" \\\n   {paths}" if paths else ""),
        f"{python} - {{output}}.json >{{output}} <<'END'",
        "import json, sys",
        'for test in json.load(open(sys.argv[1], encoding="utf-8"))["benchmarks"]:',
        '    for seconds in test["stats"]["data"]:',
        '        print(json.dumps({"metric": test["fullname"], "value": seconds, "unit": "s"}))',
        "END",
    ])  # fmt: skip


def _paths(tests: list[str]) -> list[str]:
    """Return what pytest is to look through: directories where their files have pytest's own names, else the files."""
    paths = []
    for test in tests:
        path = PurePosixPath(test)
        usual = path.name.startswith("test_") or path.stem.endswith("_test")
        paths.append(str(path.parent) if usual and len(path.parts) > 1 else test)
    inside = [
        path
        for path in dict.fromkeys(paths)
        if not any(parent in paths for parent in map(str, PurePosixPath(path).parents))
    ]
    return [path if not path.startswith("-") else f"./{path}" for path in inside]


def _addopts(tree: Tree) -> str:
    """Return the options of all test runs: pyproject.toml's, or those of an ini file."""
    tool = tree.toml("pyproject.toml").get("tool", {})
    options = tool.get("pytest", {}).get("ini_options", {}).get("addopts", "") if isinstance(tool, dict) else ""
    texts = [" ".join(map(str, options)) if isinstance(options, list) else str(options)]
    for name, section in (
        ("pytest.ini", "pytest"),
        (".pytest.ini", "pytest"),
        ("tox.ini", "pytest"),
        ("setup.cfg", "tool:pytest"),
    ):
        parser = configparser.ConfigParser(interpolation=None, strict=False)
        try:
            parser.read_string(tree.text(name), name)
        except configparser.Error:
            continue
        texts.append(parser.get(section, "addopts", fallback=""))
    return " ".join(texts)


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
