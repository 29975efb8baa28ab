"""Any other project: a benchmark script when there is an obvious one, else a placeholder that says so."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from gate.commands.init.detect import javascript
from gate.commands.init.detect.result import Found, Measured, placeholder
from gate.commands.init.detect.tree import Tree

_WHOLE = 'The whole run, start included. Where it times its own work, `instrument = "values"` takes its numbers.'
_FOLDERS = {"bench", "benches", "benchmark", "benchmarks", "perf", "scripts", "tools", "."}
_NAMED = re.compile(r"(run[-_])?(bench|benchmarks?|perf)([-_].*)?|.*[-_](bench|benchmarks?)")
_WANTS_ARGUMENTS = re.compile(r"add_argument\(\s*[\"'][^-]|sys\.argv\[1|\$\{?1\b|process\.argv\[2")


def look(tree: Tree) -> Found:
    """Find a script that runs by itself and is called a benchmark."""
    build_comment = [
        "What is to be done before a benchmark can run, from scratch each time, goes into `command`. Without it,",
        "a build is a fresh checkout under a new path.",
    ]
    script = min(_scripts(tree), key=lambda path: (path.count("/"), "run" not in path, path), default=None)
    if script is None:
        benchmark, notes = placeholder()
        return Found("generic", "no known build tool or benchmark", benchmark, None, build_comment, notes=notes)
    command, share = _command(tree, script)
    setup = _npm_ci(tree) if command[0] == "node" else None
    measured = Measured(PurePosixPath(script).stem, command, [_WHOLE], slow=True)
    return Found("generic", f"script {script}", measured, None, build_comment, setup=setup, share=share)


def _scripts(tree: Tree) -> Iterator[str]:
    for path in tree.ending(".sh", ".py", ".js", ".mjs", ".rb"):
        place = PurePosixPath(path)
        # in a folder of benchmarks any script may be a helper: only names that say so
        if str(place.parent) not in _FOLDERS or not _NAMED.fullmatch(place.stem.lower()):
            continue
        text = tree.text(path)
        if _WANTS_ARGUMENTS.search(text) or javascript.is_adaptive(text) or (place.suffix == ".py" and not _runs(text)):
            continue
        yield path


def _runs(text: str) -> bool:
    # a module that is only imported (asv's benchmarks) would be measured as an import
    return "__main__" in text or bool(re.search(r"^(print|main|run|timeit)\b.*\(", text, re.MULTILINE))


def _command(tree: Tree, script: str) -> tuple[list[str], list[str]]:
    suffix = PurePosixPath(script).suffix
    path = tree.directory / script
    if os.access(path, os.X_OK) and tree.text(script).startswith("#!") and suffix != ".py":
        return [f"./{script}"], []
    if suffix == ".py" and tree.environment:
        return [f"{tree.environment}/bin/python", script], [tree.environment]
    interpreter = {".sh": "sh", ".py": "python3", ".js": "node", ".mjs": "node", ".rb": "ruby"}[suffix]
    first = tree.text(script).split("\n", 1)[0]
    return ["bash" if suffix == ".sh" and "bash" in first else interpreter, script], []


def _npm_ci(tree: Tree) -> str | None:
    return (
        "npm ci --no-audit --no-fund"
        if "package-lock.json" in tree.names and "node_modules/" not in tree.ignored
        else None
    )
