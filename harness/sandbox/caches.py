"""The caches of compilers and package managers: what builds may write besides their tree."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class _Tool:
    """What a tool keeps for all projects. names: commands, and files by which a project shows that it uses it."""

    names: frozenset[str]
    folders: tuple[str, ...]
    """In the home directory."""
    variables: Mapping[str, tuple[str, ...]]
    """That say otherwise where they are, and the folders there."""


def _tool(names: str, folders: str, **variables: str) -> _Tool:
    told = {name: tuple(text.split()) or ("",) for name, text in variables.items()}
    return _Tool(frozenset(names.split()), tuple(folders.split()), told)


_TOOLS = (
    _tool("cargo Cargo.toml", ".cargo/registry .cargo/git", CARGO_HOME="registry git"),
    _tool("go go.mod go.work", ".cache/go-build go/pkg", GOCACHE="", GOMODCACHE="", GOPATH="pkg"),
    _tool("npm npx package.json", ".npm", npm_config_cache="", NPM_CONFIG_CACHE=""),
    _tool("yarn yarn.lock", ".cache/yarn .yarn/berry", YARN_CACHE_FOLDER=""),
    _tool("pnpm pnpm-lock.yaml", ".local/share/pnpm .cache/pnpm"),
    _tool("deno deno.json", ".cache/deno", DENO_DIR=""),
    _tool("pip", ".cache/pip", PIP_CACHE_DIR=""),
    _tool("uv uv.lock", ".cache/uv", UV_CACHE_DIR=""),
    _tool("poetry poetry.lock", ".cache/pypoetry"),
    _tool("mvn mvnw pom.xml", ".m2/repository .m2/wrapper"),
    _tool("gradle gradlew", ".gradle", GRADLE_USER_HOME=""),
    _tool("sbt build.sbt", ".ivy2 .sbt .cache/coursier", COURSIER_CACHE=""),
    _tool("dotnet", ".nuget/packages .local/share/NuGet", NUGET_PACKAGES=""),
    _tool("zig build.zig", ".cache/zig"),
    _tool("bundle Gemfile", ".bundle/cache"),
    _tool("stack cabal stack.yaml", ".cabal/packages .stack"),
)
_COMPILER_CACHES = (
    _tool("", ".cache/ccache .ccache", CCACHE_DIR=""),
    _tool("", ".cache/sccache", SCCACHE_DIR=""),
)
"""A compiler may be one that uses them, whatever it is called."""
VARIABLES = frozenset(
    {"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"}.union(
        *(tool.variables for tool in (*_TOOLS, *_COMPILER_CACHES))
    )
)
"""Variables that say where a tool keeps its things."""


def caches(
    write: Iterable[str] | None, names: frozenset[str], environment: Mapping[str, str], project: Path
) -> list[Path]:
    """Return the directories that a side's build may write besides its tree.

    Args:
        write: of its [build] table: below ~, below a variable, or relative to the project; None: those that the tools
            of the project have on this host.
        names: as `named` gives them.
        environment: of its commands.
        project: the directory of perfgate.toml in the checkout.
    """
    home = home_of(environment)
    if write is not None:
        return _outermost([_at(entry, environment, home, project) for entry in write])
    found: list[Path] = []
    for tool in (*(each for each in _TOOLS if each.names & names), *_COMPILER_CACHES):
        found += [home / each for each in tool.folders] if home is not None else []
        for variable, folders in tool.variables.items():
            value = environment.get(variable, "")
            if os.path.isabs(value):  # noqa: PTH117
                found += [Path(value, folder) for folder in folders]
    return _outermost([each for each in found if each.is_dir()])


def _outermost(found: Iterable[Path]) -> list[Path]:
    """Leave out what lies in another one: whoever writes that may have put a link in its place."""
    kept = dict.fromkeys(found)
    return [each for each in kept if not any(above in kept for above in each.parents)]


def named(paths: Iterable[str], commands: Iterable[str]) -> frozenset[str]:
    """Return the names of a project's files and of what its commands run, by which its tools are known."""
    words = {word for command in commands for word in re.findall(r"[\w.-]+", command)}
    return frozenset(words | {path.rpartition("/")[2] for path in paths})


def home_of(environment: Mapping[str, str]) -> Path | None:
    """Return the home directory that commands see; None: they have none."""
    home = environment.get("HOME", "")
    return Path(home) if os.path.isabs(home) and os.path.isdir(home) and home != "/" else None  # noqa: PTH112, PTH117


def _at(entry: str, environment: Mapping[str, str], home: Path | None, project: Path) -> Path:
    first, _, rest = entry.partition("/")
    if first == "~" and home is not None:
        return home / rest
    if first.startswith("$"):
        return Path(environment.get(first[1:].strip("{}"), first), rest)
    return Path(os.path.normpath(project / entry))
