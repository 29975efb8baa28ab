"""What the project of a workflow needs on a runner: programs, and the paths that its config shares."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from gate.checkout import text_of

_TOOLS = (
    *("go", "cargo", "npm", "pnpm", "yarn", "bun", "node", "mvn", "gradle", "java", "javac", "python", "python3", "uv"),
    *("cmake", "ninja", "make", "cc", "gcc", "clang", "c++", "g++", "clang++", "autoreconf", "cython", "hyperfine"),
)
_WORD = re.compile(r"(?<![\w./+-])([a-z][a-z0-9+]*)(?![\w./+-])")
_COMES_WITH = {"npx": "npm", "npm": "node"}
_REQUIREMENTS = re.compile(r"(requirements[\w.-]*|[\w.-]*[-_]requirements)\.txt")
_OF_OTHERS = re.compile(r"(?<![a-z])(?:mypy|types?|typing|lint|format|docs?|release)(?![a-z])")
"""What no benchmark needs."""
_EXTRAS = ("benchmark", "bench", "benchmarks", "dev", "test", "tests")
_PACKAGES = {"pytest-benchmark": "pytest-benchmark", "pyperf": "pyperf"}
_INSTALLS = {
    "package-lock.json": "npm ci --no-audit --no-fund",
    "pnpm-lock.yaml": "pnpm install --frozen-lockfile",
    "yarn.lock": "yarn install --frozen-lockfile",
    "package.json": "npm install --no-audit --no-fund",
}
_STEP = re.compile(r"^(?= *- name:)", re.MULTILINE)
_CHECKOUT = re.compile(r"^ *uses: actions/checkout@", re.MULTILINE)
_ACTION = re.compile(r"^ *uses: perfgate/perfgate@", re.MULTILINE)
_ELSEWHERE = re.compile(r"^ *command: (plan|publish)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SharedStep:
    """A step of a workflow that makes a path before perfgate links it into both sides."""

    path: str
    commands: list[str]


@dataclass(frozen=True, slots=True)
class Needs:
    """What a runner must have."""

    placeholder: bool
    """Whether there is a benchmark without a command, with which nothing is measured."""
    tools: list[str]
    """Programs that its commands start."""
    steps: list[SharedStep]
    others: list[str]
    """Shared paths that no step can be written for."""


def needs_of(folder: Path) -> Needs:
    """Read the config of a folder; one that cannot be read needs nothing, and says so when it is run."""
    config = _config(folder)
    benchmarks = [each for each in _list(config.get("benchmark")) if isinstance(each, dict)]
    build = config.get("build")
    build = build if isinstance(build, dict) else {}
    share = [path.rstrip("/") for path in _list(build.get("share")) if isinstance(path, str)]
    steps = [SharedStep(path, commands) for path in share if (commands := _commands(folder, path, benchmarks))]
    texts = [
        (" ".join(map(str, each)) if isinstance(each, list) else str(each or ""))
        for each in (build.get("command"), build.get("setup"), *(b.get("command") for b in benchmarks))
    ]
    # what is installed, the runner need not have
    texts += [part.split()[0] for step in steps for command in step.commands for part in command.split(" && ")]
    known = {step.path for step in steps}
    # the programs that commands name as words of their own
    text = "\n".join(texts)
    words = {*_WORD.findall(text)}
    words |= {_COMES_WITH[word] for word in words & _COMES_WITH.keys()}
    return Needs(
        any(each.get("command") == [] for each in benchmarks),
        [tool for tool in _TOOLS if tool in words and not (tool == "python" and "python3" in words)],
        steps,
        [path for path in share if path not in known],
    )


def _config(folder: Path) -> dict[str, Any]:
    for name in ("perfgate.toml", "pyproject.toml"):
        try:
            tables = tomllib.loads(text_of(folder / name))
        except (OSError, ValueError):
            continue
        if name == "perfgate.toml":
            return tables
        tool = tables.get("tool")
        own = tool.get("perfgate") if isinstance(tool, dict) else None
        return own if isinstance(own, dict) else {}
    return {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _commands(folder: Path, path: str, benchmarks: list[dict[str, Any]]) -> list[str]:
    """Return the commands that make a shared path; none where they are not known."""
    name = PurePosixPath(path).name
    if name in (".venv", "venv"):
        return [*_environment(folder, path, benchmarks)]
    if name == "node_modules":
        inner = str(PurePosixPath(path).parent)
        install = next((text for file, text in _INSTALLS.items() if (folder / inner / file).is_file()), "")
        lead = "" if inner == "." else f"cd {inner} && "
        return [lead + install] if install and re.fullmatch(r"[\w./-]+", inner) else []
    return []


def _environment(folder: Path, path: str, benchmarks: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the commands that make a Python environment with what the project declares."""
    if not re.fullmatch(r"[\w./-]+", path):
        return
    if (folder / "uv.lock").is_file() and path == ".venv":
        # a hosted runner has no uv; the project itself would be one copy for both sides
        yield f"python3 -m venv {path}"
        yield f"{path}/bin/pip install --quiet uv"
        yield f"{path}/bin/uv sync --frozen --inexact --no-install-project"
        return
    packages = sorted({_PACKAGES[each["instrument"]] for each in benchmarks if each.get("instrument") in _PACKAGES})
    declared = [*_declared(folder)]
    words = [f"-r {file}" for file in _requirements(folder)]
    # what names the tool of the benchmarks has what else they need
    if not words or any(package in each for package in packages for each in declared):
        words = declared
    words += packages
    yield f"python3 -m venv {path}"
    if words:
        yield f"{path}/bin/pip install --quiet {' '.join(dict.fromkeys(words))}"


def _requirements(folder: Path) -> list[str]:
    try:
        names = sorted(file.name for file in folder.iterdir() if file.is_file())
    except OSError:
        return []
    return [name for name in names if _REQUIREMENTS.fullmatch(name) and not _OF_OTHERS.search(name)]


def _declared(folder: Path) -> Iterator[str]:
    """Yield the dependencies of pyproject.toml as pip takes them, without the project itself."""
    try:
        project = tomllib.loads(text_of(folder / "pyproject.toml")).get("project")
    except (OSError, ValueError):
        return
    table = project if isinstance(project, dict) else {}
    extras = table.get("optional-dependencies")
    extras = extras if isinstance(extras, dict) else {}
    listed = [*_list(table.get("dependencies")), *(each for name in _EXTRAS for each in _list(extras.get(name)))]
    for each in listed:
        # what a shell would read otherwise is quoted; an address or a path is the user's own to write
        if isinstance(each, str) and re.fullmatch(r"[\w.\[\],<>=!~ ;'\"-]+", each) and "'" not in each:
            yield each if re.fullmatch(r"[\w.\[\]=-]+", each) else f"'{each}'"


def with_steps(text: str, steps: list[SharedStep], directory: str) -> str:
    """Write the steps between each checkout and the step that measures.

    directory: the project's, as a scalar of YAML; "" for the root.
    """
    if not steps:
        return text
    parts = _STEP.split(text)
    for at in reversed(range(1, len(parts))):
        # where code of the project runs: neither a plan nor what decides over measurements
        if _CHECKOUT.search(parts[at - 1]) and _ACTION.search(parts[at]) and not _ELSEWHERE.search(parts[at]):
            indent = parts[at][: parts[at].index("-")]
            parts.insert(at, "".join(_step_lines(steps, indent, directory)))
    return "".join(parts)


def _step_lines(steps: list[SharedStep], indent: str, directory: str) -> Iterator[str]:
    for step in steps:
        yield f"{indent}- name: {json.dumps(f'Make {step.path}')} # perfgate.toml shares it with both sides\n"
        if directory:
            yield f"{indent}  working-directory: {directory}\n"
        yield f"{indent}  run: |\n"
        yield from (f"{indent}    {command}\n" for command in step.commands)
