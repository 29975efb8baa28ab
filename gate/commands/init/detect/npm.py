"""JavaScript projects: the benchmark script of package.json."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from gate.commands.init.detect import javascript, scripts
from gate.commands.init.detect.result import Amount, Found, Measured, placeholder
from gate.commands.init.detect.tree import Tree

_SCRIPTS = ("bench", "benchmark", "benchmarks", "perf", "bench:run", "benchmark:run")
_FOREIGN = re.compile(r"\b(cargo|go|pytest|make|hyperfine)\b")
_WARM_UP = 20
_SAFE = re.compile(r"[\w@./-]+")


@dataclass(frozen=True, slots=True)
class _Manager:
    """install: the command that makes node_modules. run: the words that run a script. execute: those of a tool."""

    name: str
    install: str
    run: tuple[str, ...]
    execute: str


@dataclass(frozen=True, slots=True)
class _Script:
    """A benchmark script."""

    directory: str
    """Of its package.json, "" for the project's own."""
    name: str
    text: str
    package: dict[str, Any]


def look(tree: Tree) -> Found | None:
    """Find a script of package.json or of a workspace's, by its name; None without one."""
    root = _package(tree, "")
    script = next(_scripts(tree, root), None)
    if script is None:
        return None
    manager = _manager(tree, root)
    dependencies = _dependencies(root) | _dependencies(script.package)
    build = _build(root, manager)
    comment = _build_comment(build)
    installs = bool(dependencies) or manager.name != "npm" or _locked(tree)
    measured, notes, amount = _measured(tree, script, manager, dependencies)
    notes += _notes(tree, script, manager, dependencies)
    where = f"script {script.name} of {PurePosixPath(script.directory, 'package.json')}"
    return Found(
        "npm",
        where,
        measured,
        build,
        comment,
        setup=manager.install if installs else None,
        # an install would write through the link of `share`
        products=[p.rstrip("/") for p in tree.ignored if PurePosixPath(p).name == "node_modules"] if installs else [],
        notes=notes,
        amount=amount,
    )


def _measured(
    tree: Tree, script: _Script, manager: _Manager, dependencies: set[str]
) -> tuple[Measured, list[str], Amount | None]:
    files = _files(tree, script)
    tool = javascript.adaptive(script.text, [tree.text(path) for path in files], dependencies)
    run = [*manager.run, script.name]
    command: list[str] | str = f"cd {shlex.quote(script.directory)} && {shlex.join(run)}" if script.directory else run
    own = "\n".join(text for path in files if scripts.writes_values(text := tree.text(path)))
    if tool is None or own:
        comment = [
            f"The whole run, the start of {manager.name} included, which takes some 0.2 s. Where it times its own work,"
        ]
        comment += ['`instrument = "values"` takes its numbers, which say more.']
        return scripts.measured(script.name, command, own, comment), [], scripts.amount(own, _WARM_UP)
    lead = f"cd {shlex.quote(script.directory)} && " if script.directory else ""
    if tool == "vitest":
        command = javascript.vitest(f"{lead}{manager.execute} vitest bench --run", script.text)
    elif tool == "benchmark.js":
        command = javascript.benchmark_js(f"{lead}{shlex.join(run)}")
    else:
        measured, notes = placeholder()
        name = f"script {script.name}"
        comment = [*measured.comment, *javascript.advice(tool, name, run)]
        return Measured(measured.name, measured.command, comment), [*notes, javascript.note(tool, name)], None
    form = javascript.FORMATS[tool]
    measured = Measured(script.name, command, javascript.comment(tool), instrument="values", form=form)
    return measured, [], javascript.amount(tool, [tree.text(path) for path in files])


def _scripts(tree: Tree, root: dict[str, Any]) -> Iterator[_Script]:
    """Yield the benchmark scripts, the project's own first, then those of its workspaces."""
    directories = [""]
    if root.get("workspaces") or "pnpm-workspace.yaml" in tree.names:
        inner = (str(PurePosixPath(path).parent) for path in tree.ending("/package.json"))
        directories += [path for path in inner if "node_modules" not in path and _SAFE.fullmatch(path)]
    for directory in directories:
        package = _package(tree, directory)
        scripts = package.get("scripts")
        scripts = scripts if isinstance(scripts, dict) else {}
        for name in _SCRIPTS:
            text = scripts.get(name)
            # the benchmarks of another language are found where its own files are
            if isinstance(text, str) and text.strip() and not _FOREIGN.search(text):
                yield _Script(directory, name, text, package)


def _package(tree: Tree, directory: str) -> dict[str, Any]:
    path = str(PurePosixPath(directory, "package.json"))
    try:
        package = json.loads(tree.text(path)) if path in tree.names else {}
    except (ValueError, RecursionError):
        return {}
    return package if isinstance(package, dict) else {}


def _dependencies(package: dict[str, Any]) -> set[str]:
    tables = (package.get(key) for key in ("dependencies", "devDependencies", "optionalDependencies"))
    workspaces = {"workspaces"} if package.get("workspaces") else set()
    return workspaces.union(*(table for table in tables if isinstance(table, dict)))


def _files(tree: Tree, script: _Script) -> list[str]:
    """Return the files that a script names, and what lies in directories of benchmarks."""
    words = [str(PurePosixPath(script.directory, word.strip("\"'"))) for word in script.text.split()]
    lead = f"{script.directory}/" if script.directory else ""
    folders = tuple(f"{lead}{name}/" for name in ("bench", "benches", "benchmark", "benchmarks", "perf"))
    sources = tree.ending(".js", ".mjs", ".cjs", ".ts", ".mts")
    return [path for path in sources if path in words or path.startswith(folders)]


def _locked(tree: Tree) -> bool:
    return bool({"package-lock.json", "npm-shrinkwrap.json"} & tree.names)


def _manager(tree: Tree, root: dict[str, Any]) -> _Manager:
    """Return the package manager that the lock file is of."""
    if "pnpm-lock.yaml" in tree.names:
        return _Manager("pnpm", "pnpm install --frozen-lockfile --silent", ("pnpm", "--silent", "run"), "pnpm exec")
    if "yarn.lock" in tree.names:
        berry = ".yarnrc.yml" in tree.names or re.match(r"yarn@(?!1\.)", str(root.get("packageManager", "")))
        if berry:
            return _Manager("yarn", "yarn install --immutable", ("yarn", "run"), "yarn exec")
        return _Manager(
            "yarn", "yarn install --frozen-lockfile --silent", ("yarn", "--silent", "run"), "yarn --silent exec --"
        )
    if {"bun.lock", "bun.lockb"} & tree.names:
        return _Manager("bun", "bun install --frozen-lockfile --silent", ("bun", "run", "--silent"), "bun x")
    install = "npm ci" if _locked(tree) else "npm install --no-package-lock"
    return _Manager("npm", f"{install} --no-audit --no-fund", ("npm", "run", "--silent"), "npx --no-install")


def _build(root: dict[str, Any], manager: _Manager) -> str | None:
    scripts = root.get("scripts")
    build = scripts.get("build") if isinstance(scripts, dict) else None
    return shlex.join([*manager.run, "build"]) if isinstance(build, str) and build.strip() else None


def _build_comment(build: str | None) -> list[str]:
    if build:
        return ["The project's own build script."]
    return ["Nothing is built: the builds of a side differ in their environment and in Node's seeds (docs/layout.md)."]


def _notes(tree: Tree, script: _Script, manager: _Manager, dependencies: set[str]) -> list[str]:
    notes = []
    if manager.name == "npm" and not _locked(tree) and dependencies:
        ignored = " (git ignores package-lock.json)" if "package-lock.json" in tree.ignored else ""
        notes.append(f"there is no lock file{ignored}, so each side gets the newest dependencies: better commit one")
    before = f"pre{script.name}"
    if before in script.package["scripts"] or re.search(r"\bbuild\b|\btsc\b", script.text):
        part = before if before in script.package["scripts"] else "a build in it"
        notes.append(
            f"script {script.name} runs {part} each time, which is measured with it: better move that into [build]"
        )
    return notes
