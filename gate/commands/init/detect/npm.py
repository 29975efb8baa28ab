"""JavaScript projects: the benchmark script of package.json."""

from __future__ import annotations

import itertools
import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from gate.checkout import text_of
from gate.commands.init.detect import javascript, scripts
from gate.commands.init.detect.result import Amount, Found, Measured, placeholder
from gate.commands.init.detect.tree import Tree

_SCRIPTS = ("bench", "benchmark", "benchmarks", "perf", "bench:run", "benchmark:run")
_FOREIGN = re.compile(r"\b(cargo|go|pytest|make|hyperfine)\b")
_WARM_UP = 20
_SAFE = re.compile(r"[\w@./-]+")
_DIRECT = re.compile(r"node(?:\s+[\w@./=:-]+)+")
"""A script that needs neither a shell nor what is installed in node_modules/.bin."""
_FOLDERS = ("bench", "benches", "benchmark", "benchmarks", "perf")
_ENTRIES = ("index", "bench", "benchmark", "benchmarks", "run", "main")
_JAVASCRIPT = (".js", ".mjs", ".cjs")
_OF_VITEST = re.compile(r"\.bench(?:mark)?\.[cm]?[jt]sx?$")


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
    file: str | None = None
    """The file that is run where package.json has no script for it."""

    @property
    def where(self) -> str:
        """Where it was seen."""
        package = PurePosixPath(self.directory, "package.json")
        return self.file or f"script {self.name} of {package}"


def look(tree: Tree) -> Found | None:
    """Find a script of package.json, of a workspace's or of a package of benchmarks; None without one."""
    root = _package(tree, "")
    script = next(itertools.chain(_scripts(tree, root), _entries(tree, root)), None)
    if script is None:
        return None
    manager = _manager(tree, root)
    dependencies = _dependencies(root) | _dependencies(script.package)
    build = _build(root, manager)
    comment = _build_comment(build)
    setup = _setup(tree, root, script, manager)
    installs = setup is not None
    measured, notes, amount = _measured(tree, script, manager, dependencies)
    notes += _notes(tree, script, manager, dependencies)
    return Found(
        "npm",
        script.where,
        measured,
        build,
        comment,
        setup=setup,
        # an install would write through the link of `share`
        products=[p.rstrip("/") for p in tree.ignored if PurePosixPath(p).name == "node_modules"] if installs else [],
        notes=notes,
        amount=amount,
    )


def _measured(
    tree: Tree, script: _Script, manager: _Manager, dependencies: set[str]
) -> tuple[Measured, list[str], Amount | None]:
    files = _files(tree, script)
    texts = [tree.text(path) for path in files]
    tool = javascript.adaptive(script.text, texts, dependencies)
    run = _words(tree, script, manager)
    command: list[str] | str = f"cd {shlex.quote(script.directory)} && {shlex.join(run)}" if script.directory else run
    own = "\n".join(text for path in files if scripts.writes_values(text := tree.text(path)))
    if tool is None or own:
        start = "the start of node" if run[0] == "node" else f"the start of {manager.name} (some 0.2 s)"
        comment = scripts.whole("node", f"The whole run, {start} included.")
        # a library gives one result of each benchmark, whatever number of them is asked for
        once = tool is not None and "PERFGATE_ITERATIONS" not in own
        counts = javascript.amount(tool, texts) if tool is not None and once else scripts.amount(own, _WARM_UP)
        return scripts.measured(script.name, command, own, comment), [], counts
    lead = f"cd {shlex.quote(script.directory)} && " if script.directory else ""
    if tool == "vitest":
        command = javascript.vitest(f"{lead}{manager.execute} vitest bench --run", script.text)
    elif tool == "benchmark.js":
        command = javascript.benchmark_js(f"{lead}{shlex.join(run)}")
    else:
        measured, notes = placeholder()
        name = script.file or f"script {script.name}"
        comment = [*measured.comment, *javascript.advice(tool, name, run)]
        measured = replace(measured, comment=comment)
        return measured, [*notes, javascript.note(tool, name)], javascript.amount(tool, texts)
    form = javascript.FORMATS[tool]
    measured = Measured(script.name, command, javascript.comment(tool), instrument="values", form=form)
    return measured, [], javascript.amount(tool, texts)


def _words(tree: Tree, script: _Script, manager: _Manager) -> list[str]:
    """Return the words that run a script: node itself where the package manager would only start it."""
    scripts = script.package.get("scripts")
    around = [f"{when}{script.name}" in scripts for when in ("pre", "post")] if isinstance(scripts, dict) else []
    # with Plug'n'Play node finds no package by itself
    if _DIRECT.fullmatch(script.text.strip()) and not any(around) and ".yarnrc.yml" not in tree.names:
        return shlex.split(script.text)
    return [*manager.run, script.name]


def _setup(tree: Tree, root: dict[str, Any], script: _Script, manager: _Manager) -> str | None:
    """Return what installs the dependencies: the project's, and those of a package of benchmarks; None without any."""
    # a workspace is installed with the project
    own = script.directory if script.directory and not _has_workspaces(tree, root) else ""
    of_project = _dependencies(root) if own else _dependencies(root) | _dependencies(script.package)
    installs = [manager.install] if of_project or manager.name != "npm" or _locked(tree) else []
    if own and _dependencies(script.package):
        installs.append(f"cd {shlex.quote(own)} && {_manager(tree, script.package, own).install}")
    return " && ".join(installs) or None


def _scripts(tree: Tree, root: dict[str, Any]) -> Iterator[_Script]:
    """Yield the benchmark scripts, the project's own first, then those of its workspaces."""
    directories = [""]
    if _has_workspaces(tree, root):
        inner = (str(PurePosixPath(path).parent) for path in tree.ending("/package.json"))
        directories += [path for path in inner if "node_modules" not in path and _SAFE.fullmatch(path)]
    else:
        directories += [name for name in _FOLDERS if f"{name}/package.json" in tree.names]
    for directory in directories:
        package = _package(tree, directory)
        scripts = package.get("scripts")
        scripts = scripts if isinstance(scripts, dict) else {}
        for name in _SCRIPTS:
            text = scripts.get(name)
            # the benchmarks of another language are found where its own files are
            if isinstance(text, str) and text.strip() and not _FOREIGN.search(text):
                yield _Script(directory, name, text, package)


def _entries(tree: Tree, root: dict[str, Any]) -> Iterator[_Script]:
    """Yield files that run benchmarks of a library, where no script of package.json names them."""
    for folder in ("", *_FOLDERS):
        package = _package(tree, folder) if folder else root
        own = f"{folder}/package.json" in tree.names
        for stem, suffix in itertools.product(_ENTRIES, _JAVASCRIPT):
            path = str(PurePosixPath(folder, stem + suffix))
            text = tree.text(path) if path in tree.names else ""
            if text and javascript.adaptive("", [text], _dependencies(root) | _dependencies(package)):
                name = folder or PurePosixPath(tree.directory.resolve().name).stem or stem
                file = PurePosixPath(path).name if own else path
                yield _Script(folder if own else "", name, f"node {file}", package, path)


def _has_workspaces(tree: Tree, root: dict[str, Any]) -> bool:
    return bool(root.get("workspaces")) or "pnpm-workspace.yaml" in tree.names


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
    sources = tree.ending(*_JAVASCRIPT, ".ts", ".mts")
    if script.file is not None:
        return [path for path in sources if path == script.file]
    folders = tuple(f"{lead}{name}/" for name in _FOLDERS)
    vitest = re.search(r"\bvitest\b.*\bbench\b", script.text) is not None
    return [
        path
        for path in sources
        if path in words
        or path.startswith(folders)
        # what vitest looks for by itself
        or (vitest and path.startswith(lead) and _OF_VITEST.search(path))
    ]


def _locked(tree: Tree, directory: str = "") -> bool:
    return any(
        str(PurePosixPath(directory, name)) in tree.names for name in ("package-lock.json", "npm-shrinkwrap.json")
    )


def _manager(tree: Tree, root: dict[str, Any], directory: str = "") -> _Manager:
    """Return the package manager that the lock file is of.

    Args:
        directory: of the package, "" for the project's own.
    """
    lead = f"{directory}/" if directory else ""
    names = {path.removeprefix(lead) for path in tree.names if path.startswith(lead)}
    if "pnpm-lock.yaml" in names:
        return _Manager("pnpm", "pnpm install --frozen-lockfile --silent", ("pnpm", "--silent", "run"), "pnpm exec")
    if "yarn.lock" in names:
        berry = ".yarnrc.yml" in names or re.match(r"yarn@(?!1\.)", str(root.get("packageManager", "")))
        if berry:
            return _Manager("yarn", "yarn install --immutable", ("yarn", "run"), "yarn exec")
        return _Manager(
            "yarn", "yarn install --frozen-lockfile --silent", ("yarn", "--silent", "run"), "yarn --silent exec --"
        )
    if {"bun.lock", "bun.lockb"} & names:
        return _Manager("bun", "bun install --frozen-lockfile --silent", ("bun", "run", "--silent"), "bun x")
    install = "npm ci" if _locked(tree, directory) else "npm install --no-package-lock"
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
    if script.file and (above := _above(tree)):
        notes.append(
            f"{above} builds what {script.file} may need: run `perfgate init` in that folder, which builds it first"
        )
    before = f"pre{script.name}"
    if before in script.package.get("scripts", {}) or re.search(r"\bbuild\b|\btsc\b", script.text):
        part = before if before in script.package.get("scripts", {}) else "a build in it"
        notes.append(
            f"script {script.name} runs {part} each time, which is measured with it: better move that into [build]"
        )
    return notes


def _above(tree: Tree) -> str | None:
    """Return the package.json of the folder above, where that is a package with a build of the same repository."""
    if not tree.git or (tree.directory / ".git").exists():
        return None
    try:
        package = json.loads(text_of(tree.directory / ".." / "package.json"))
    except (OSError, ValueError, RecursionError):
        return None
    scripts = package.get("scripts") if isinstance(package, dict) else None
    return "../package.json" if isinstance(scripts, dict) and scripts.get("build") else None
