"""Any other project: a benchmark script when there is an obvious one, else a placeholder that says so."""

from __future__ import annotations

import os
import re
from pathlib import PurePosixPath

from gate.commands.init.detect import javascript
from gate.commands.init.detect.result import Found, placeholder
from gate.commands.init.detect.scripts import amount, is_benchmark, measured, whole
from gate.commands.init.detect.tree import Tree

_WANTS_ARGUMENTS = re.compile(r"\$\{?1\b|process\.argv\[2|\bARGV\[0\]")
_BUILDS = {
    "CMakeLists.txt",
    "Cargo.toml",
    "Makefile",
    "configure.ac",
    "go.mod",
    "package.json",
    "pom.xml",
    "pyproject.toml",
}
_FEW = 3
_START = {
    "pyproject.toml": "write a script bench.py, or tests with pytest-benchmark (docs/start/python.md)",
    "setup.py": "write a script bench.py, or tests with pytest-benchmark (docs/start/python.md)",
    "package.json": "write a script bench in package.json (docs/start/javascript.md)",
    "pom.xml": "write JMH benchmarks, or a program that times its own work (docs/start/java.md)",
    "build.gradle": "write JMH benchmarks, or a program that times its own work (docs/start/java.md)",
    "build.gradle.kts": "write JMH benchmarks, or a program that times its own work (docs/start/java.md)",
}
"""What a project without benchmarks needs first, by the file that its build tool reads."""
_INTERPRETERS = {".sh": "sh", ".js": "node", ".mjs": "node", ".rb": "ruby"}


def look(tree: Tree) -> Found:
    """Find a script that runs by itself and is called a benchmark."""
    build_comment = [
        "What is to be done before a benchmark can run, from scratch each time, goes into `command`. Without it,",
        "a build is a fresh checkout under a new path.",
    ]
    scripts = [path for path in tree.ending(*_INTERPRETERS) if is_benchmark(path) and _runs_alone(tree, path)]
    if not scripts:
        benchmark, notes = placeholder()
        notes += [f"{name} has no benchmarks: {first}" for name, first in _START.items() if name in tree.names][:1]
        notes += [f"{folder}/ holds a project of its own: run `perfgate init` there" for folder in _projects(tree)]
        return Found("generic", "no known build tool or benchmark", benchmark, None, build_comment, notes=notes)
    script = min(scripts, key=lambda path: (path.count("/"), "run" not in path, path))
    command = _command(tree, script)
    setup = _npm_ci(tree) if command[0] == "node" else None
    text = tree.text(script)
    language = "node" if command[0] == "node" else "sh"
    benchmark = measured(PurePosixPath(script).stem, command, text, whole(language))
    counts = amount(text, warmup=20 if command[0] == "node" else 1)
    return Found("generic", f"script {script}", benchmark, None, build_comment, setup=setup, amount=counts)


def _projects(tree: Tree) -> list[str]:
    """Return the folders at the top with a file that a build tool looks for, if they are few."""
    places = [PurePosixPath(path) for path in tree.files]
    found = dict.fromkeys(place.parts[0] for place in places if len(place.parts) == 2 and place.name in _BUILDS)
    return list(found) if len(found) <= _FEW else []


def _runs_alone(tree: Tree, path: str) -> bool:
    place = PurePosixPath(path)
    if _WANTS_ARGUMENTS.search(tree.text(path)):
        return False
    # what it starts may be in a file beside it
    beside = tree.ending(place.suffix, under=str(place.parent)) if place.suffix in (".js", ".mjs") else ()
    return not any(javascript.is_adaptive(tree.text(file)) for file in beside)


def _command(tree: Tree, script: str) -> list[str]:
    suffix, text = PurePosixPath(script).suffix, tree.text(script)
    if os.access(tree.directory / script, os.X_OK) and text.startswith("#!"):
        return [f"./{script}"]
    first = text.split("\n", 1)[0]
    return ["bash" if suffix == ".sh" and "bash" in first else _INTERPRETERS[suffix], script]


def _npm_ci(tree: Tree) -> str | None:
    return (
        "npm ci --no-audit --no-fund"
        if "package-lock.json" in tree.names and "node_modules/" not in tree.ignored
        else None
    )
