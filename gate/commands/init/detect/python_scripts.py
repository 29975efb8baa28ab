"""Python projects without a benchmark library: a script, a program's start, or the tests."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from pathlib import PurePosixPath

from gate.commands.init.detect.pytest_benchmark import looking_below, marked_for_codspeed
from gate.commands.init.detect.python import Python, declares, imported, python
from gate.commands.init.detect.result import Found, Measured, Rank, stand_in
from gate.commands.init.detect.scripts import amount, is_benchmark, measured, whole
from gate.commands.init.detect.tree import Tree

_OTHERS = re.compile(r"^\s*(?:import|from) (?:pyperf|asv|pytest|unittest)\b", re.MULTILINE)
_ENTRY = re.compile(r"([\w.]+):(\w+)")
_CONSOLE_SCRIPT = re.compile(r"(?:^|[\"'])[ \t]*([\w.-]+)\s*=\s*([\w.]+:\w+)", re.MULTILINE)
_ANSWERS_HELP = re.compile(r"\b(?:argparse|click|typer|fire|docopt|optparse|cyclopts)\b")
_PYTEST = re.compile(r"pytest", re.IGNORECASE)
_TEST = re.compile(r"test_\w+\.py|\w+_test\.py")
_COLLECTED = re.compile(rf"{_TEST.pattern}|conftest\.py")


def look(tree: Tree) -> Found | None:
    """Find a benchmark script, a program or tests; None without them."""
    own = python(tree)
    found = _of_script(tree, own) or _of_program(tree, own) or _of_tests(tree, own)
    return replace(found, notes=[*found.notes, *marked_for_codspeed(tree)]) if found else None


def _of_script(tree: Tree, own: Python) -> Found | None:
    scripts = [path for path in tree.ending(".py") if is_benchmark(path) and _runs_alone(tree.text(path))]
    if not scripts:
        return None
    absent = own.absent(tree, {name for path in scripts for name in imported(tree, path)})
    # one that can run here before one that lacks a package
    script = min(
        scripts, key=lambda path: (len(imported(tree, path) & absent), path.count("/"), "run" not in path, path)
    )
    name = PurePosixPath(script).stem
    if name in ("run", "main", "__main__"):
        name = PurePosixPath(script).parent.name or name
    text = tree.text(script)
    found = own.found("python", f"script {script}", measured(name, [own.executable, script], text, whole("python")))
    return replace(found, notes=own.notes(tree, None, "", [script]), amount=amount(text, warmup=1))


def _runs_alone(text: str) -> bool:
    """Return whether a script does something by itself, without arguments, and is not for a library's own runner."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    if not _does_something(module) or _OTHERS.search(text) or ("sys.argv[1" in text and "len(sys.argv)" not in text):
        return False
    return not any(_wants(call) for call in ast.walk(module) if isinstance(call, ast.Call))


def _does_something(module: ast.Module) -> bool:
    """Return whether more than definitions stands at the top of a file: a call, a loop, or a main guard."""
    return any(
        isinstance(node, (ast.For, ast.While, ast.With))
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
        or (isinstance(node, ast.If) and "__main__" in ast.unparse(node.test))
        for node in module.body
    )


def _wants(call: ast.Call) -> bool:
    """Return whether a call declares an argument that must be given."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    given = {keyword.arg: getattr(keyword.value, "value", None) for keyword in call.keywords}
    if name not in ("add_argument", "add_subparsers"):
        return False
    first = getattr(call.args[0], "value", "") if call.args else "-"
    positional = isinstance(first, str) and not first.startswith("-")
    return given.get("required") is True or (positional and given.get("nargs") not in ("?", "*"))


def _of_program(tree: Tree, own: Python) -> Found | None:
    for name, entry in _entries(tree).items():
        found = _ENTRY.fullmatch(str(entry))
        package = found[1].split(".")[0] if found else ""
        files = [path for lead in ("", "src/") for path in tree.ending(".py", under=f"{lead}{package}")]
        if not found or not files or not any(_ANSWERS_HELP.search(tree.text(path)) for path in files):
            continue
        start = f"from {found[1]} import {found[2]}; {found[2]}()"
        module = any(path.endswith(f"{package}/__main__.py") for path in files)
        words = ["-m", package] if module else ["-c", start]
        comment = [
            "This measures the start of the program only. Replace it with a command that does the work that",
            "matters to your users.",
        ]
        measured = Measured(name, [own.executable, *words, "--help"], comment, rank=Rank.PROGRAM)
        notes = [f"the benchmark runs {name} --help: put real work in its place", *own.notes(tree, None, "", files)]
        return replace(own.found("python", f"program {name}", measured), notes=notes)
    return None


def _entries(tree: Tree) -> dict[str, object]:
    """Return the programs that the package declares, by name: "package.module:function"."""
    project = tree.toml("pyproject.toml").get("project", {})
    entries = project.get("scripts", {}) if isinstance(project, dict) else {}
    if isinstance(entries, dict) and entries:
        return entries
    _, _, listed = f"{tree.text('setup.cfg')}\n{tree.text('setup.py')}".partition("console_scripts")
    return dict(_CONSOLE_SCRIPT.findall(listed))


def _of_tests(tree: Tree, own: Python) -> Found | None:
    folders = [path for path in tree.ending(".py") if _TEST.fullmatch(PurePosixPath(path).name)]
    if not folders or not declares(tree, _PYTEST):
        return None
    top = sorted(dict.fromkeys(PurePosixPath(path).parts[0] for path in folders if "/" in path))
    place = next((name for name in ("tests", "test") if name in top), top[0] if len(top) == 1 else ".")
    run = [path for path in tree.ending(".py", under=place) if _COLLECTED.fullmatch(PurePosixPath(path).name)]
    command = [own.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *looking_below(tree, [place]), place]
    notes = ["the benchmark runs the tests: replace it with a program that does real work"]
    return replace(
        own.found("python", f"a package with tests in {place}", stand_in("tests", command)),
        notes=[*notes, *own.notes(tree, "pytest", "pytest", run)],
    )
