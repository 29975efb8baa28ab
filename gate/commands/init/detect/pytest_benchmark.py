"""Python projects whose tests use pytest-benchmark, or the same fixture of pytest-codspeed."""

from __future__ import annotations

import configparser
import posixpath
import re
from dataclasses import replace
from pathlib import PurePosixPath

from gate.commands.init.detect.python import Python, declares, imported, python
from gate.commands.init.detect.repetitions import Suite, amount, length_of_value
from gate.commands.init.detect.result import Found, Measured
from gate.commands.init.detect.tree import Tree

_IMPORTS = re.compile(r"^\s*(import|from)\s+pytest_(benchmark|codspeed)\b", re.MULTILINE)
_FIXTURE = re.compile(r"^\s*(async\s+)?def\s+test\w*\s*\([^)]*\bbenchmark\b", re.MULTILINE)
_USES = re.compile(rf"{_FIXTURE.pattern}|^\s*@pytest\.mark\.benchmark\b", re.MULTILINE)
_MARKED = re.compile(r"\bpytest\.mark\.benchmark\b|\bcodspeed_benchmark\b")
_NAMES = re.compile(r"pytest[-_](benchmark|codspeed)", re.IGNORECASE)
_CODSPEED = re.compile(r"pytest[-_]codspeed", re.IGNORECASE)
# Options that a project sets for all its test runs and that do not go with measuring.
_HINDERS = re.compile(r"(?:^|\s)(-n\s*\w+|--numprocesses|--dist|--benchmark-(?:disable|skip)|--cov)")

_OVERHEAD = 0.5  # finding how often a round calls the function takes about two rounds
_START = 0.5
_MORE = "Longer if parameters yield many benchmarks or a call is slow."


def look(tree: Tree) -> Found | None:
    """Find tests that use the benchmark fixture, in a project that names pytest-benchmark; None without them."""
    tests = _tests(tree)
    imported = any(_IMPORTS.search(tree.text(path)) for path in tests)
    return found(tree) if tests and (imported or declares(tree, _NAMES)) else None


def found(tree: Tree) -> Found:
    """Return what is written for a project with pytest-benchmark, whether or not its tests could be found."""
    own = python(tree)
    tests, notes = _with_packages(tree, own, _tests(tree))
    notes += marked_for_codspeed(tree)
    where = f"{len(tests)} test file{'s' if len(tests) != 1 else ''} with benchmarks" if tests else "as told"
    notes += [] if tests else ["no test uses the benchmark fixture"]
    uses = _uses(tree)
    hindered = ["-o", "addopts="] if _HINDERS.search(_addopts(tree)) else []
    why = ["# The addopts of the project's pytest configuration would disturb measuring."] if hindered else []
    suite = Suite(sum(max(1, len(uses.findall(tree.text(path)))) for path in tests), _OVERHEAD, _START, _MORE, warmup=0)
    length = length_of_value(suite)
    # a folder holds what is left out as well
    paths = tests if notes and tests else _paths(tests)
    words = ["-m", "pytest", "-q", *hindered, *looking_below(tree, paths), f"--benchmark-min-time={length:g}", *paths]
    comment = ["The benchmarks of the test files; only they, and in one process. include and exclude choose of them."]
    measured = Measured("pytest", own.command(words, why), comment, instrument="pytest-benchmark")
    return replace(
        own.found("pytest-benchmark", where, measured),
        notes=[*notes, *own.notes(tree, "pytest_benchmark", "pytest-benchmark", tests)],
        amount=amount(suite, length),
    )


def _with_packages(tree: Tree, own: Python, tests: list[str]) -> tuple[list[str], list[str]]:
    """Leave out the files that import what this interpreter lacks, where others can run; with the note about them.

    pytest ends with an error if one of its files cannot be imported.
    """
    wanted = {test: imported(tree, test) - {"pytest_benchmark"} for test in tests}
    absent = own.absent(tree, {name for names in wanted.values() for name in names} | {"pytest_benchmark"})
    able = [test for test in tests if not wanted[test] & absent]
    if "pytest_benchmark" in absent or not able or len(able) == len(tests):
        return tests, []
    rest = [test for test in tests if test not in able]
    lacking = sorted({name for test in rest for name in wanted[test] & absent})
    return able, [f"left out: {', '.join(rest)}, as {own.executable} has no {', '.join(lacking)}"]


def marked_for_codspeed(tree: Tree) -> list[str]:
    """Return the note that names the files whose tests only pytest-codspeed measures, if there is any."""
    tests = {*_tests(tree)}
    rest = [path for path in _matching(tree, _MARKED) if path not in tests] if _has_codspeed(tree) else []
    if not rest:
        return []
    what = "perfgate measures tests that use the `benchmark` fixture of pytest-benchmark"
    return [f"left out: {', '.join(rest)}, whose tests are only marked for pytest-codspeed: {what}"]


def looking_below(tree: Tree, paths: list[str]) -> list[str]:
    """Return the option that keeps pytest from looking at what lies beside its tests, such as the README.

    Then a commit that changes only that is proved to be identical.

    Args:
        tree: the project.
        paths: what pytest is to run, below the project's directory.
    """
    folders = [PurePosixPath(path).parent if path.endswith(".py") else PurePosixPath(path) for path in paths]
    common = PurePosixPath(posixpath.commonpath(folders)) if folders else PurePosixPath()
    if not common.parts or any(str(parent / "conftest.py") in tree.names for parent in common.parents):
        return []
    return [f"--confcutdir={common}"]


def _tests(tree: Tree) -> list[str]:
    return _matching(tree, _uses(tree))


def _matching(tree: Tree, pattern: re.Pattern[str]) -> list[str]:
    return [
        path
        for path in tree.ending(".py")
        if pattern.search(tree.text(path)) and PurePosixPath(path).name != "conftest.py"
    ]


def _uses(tree: Tree) -> re.Pattern[str]:
    """Return what a benchmark is known by: pytest-benchmark measures no test that is only marked, as codspeed does."""
    return _FIXTURE if _has_codspeed(tree) else _USES


def _has_codspeed(tree: Tree) -> bool:
    return declares(tree, _CODSPEED) or tree.mentions("pytest_codspeed", ".py")


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
