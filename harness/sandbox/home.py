"""A side's own home directory, and the caches of compilers and package managers, which builds may write, too.

What a side writes in its home is its own and ends with the run, what it reads is the user's: the home has links to what
the user's has, so that settings and toolchains are found. Caches are linked too, where the run may fill them; otherwise
they are copies.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gate.walking import size_of


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
    _tool("gradle gradlew build.gradle build.gradle.kts", ".gradle", GRADLE_USER_HOME=""),
    _tool("sbt build.sbt", ".ivy2 .sbt .cache/coursier", COURSIER_CACHE=""),
    _tool("dotnet", ".nuget/packages .local/share/NuGet", NUGET_PACKAGES=""),
    _tool("zig build.zig", ".cache/zig"),
    _tool("bundle Gemfile", ".bundle/cache"),
    _tool("stack cabal stack.yaml", ".cabal/packages .stack"),
)
_COMPILER_CACHES = (_tool("", ".cache/ccache .ccache", CCACHE_DIR=""), _tool("", ".cache/sccache", SCCACHE_DIR=""))
"""A compiler may be one that uses them, whatever it is called."""
_STATES = (
    _tool(
        "", ".cargo/.global-cache .cargo/.package-cache .cargo/.package-cache-mutate",
        CARGO_HOME=".global-cache .package-cache .package-cache-mutate",
    ),
    _tool("", ".config/go/telemetry"),
)  # fmt: skip
"""In which tools note when they used what."""
_XDG = {
    "XDG_CACHE_HOME": ".cache",
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
}
SHARED = frozenset(_XDG)
"""Variables that name folders of all tools."""
VARIABLES = SHARED.union(*(tool.variables for tool in (*_TOOLS, *_COMPILER_CACHES)))
"""Variables that say where a tool keeps its things."""


_PUBLISHED = (".m2/repository", ".ivy2")
"""Folders into which a build puts packages of the project itself, by name and version."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Where a side's builds may leave files besides its tree and its home.

    folders: None: everywhere. caches: directories there that tools only add to, by names that tell the content, and
    files that only the tools read.
    """

    folders: tuple[Path, ...] | None
    caches: tuple[Path, ...]

    def holds(self, path: str) -> bool:
        """Return whether builds may leave a file at a path, that is no cache's."""
        if any(f"{path}/".startswith(f"{each}/") for each in self.caches):
            return False
        return self.folders is None or any(path.startswith(f"{each}/") for each in self.folders)


def added_to(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the caches of all tools but those that packages of the project itself are put into."""
    home = home_of(environment)
    found: list[Path] = []
    for tool in (*_TOOLS, *_COMPILER_CACHES, *_STATES):
        folders = [each for each in tool.folders if each not in _PUBLISHED]
        found += [_below_home(each, environment, home) for each in folders if home is not None]
        found += _moved(tool, environment)
    return tuple(Path(os.path.realpath(each)) for each in found)


def caches(
    write: Iterable[str] | None, names: frozenset[str], environment: Mapping[str, str], project: Path
) -> list[Path]:
    """Return the directories that a side's build may write besides its tree, whether they exist yet or not.

    Args:
        write: of its [build] table: below ~, below a variable, or relative to the project; a tool's folder below ~
            stands for where a variable says that it is. None: those of the project's tools. Caches of compilers come to
            these where they exist.
        names: as `named` gives them.
        environment: of its commands.
        project: the directory of perfgate.toml in the checkout.
    """
    home = home_of(environment)
    found: list[Path] = []
    for entry in write or ():
        first, _, rest = entry.partition("/")
        folder = rest.rstrip("/")
        if first == "~" and home is not None:
            tools = [tool for tool in (*_TOOLS, *_COMPILER_CACHES) if folder in tool.folders]
            moved = [each for tool in tools for each in _moved(tool, environment)]
            found += moved or [_below_home(folder, environment, home)]
        elif first.startswith("$"):
            place = Path(environment.get(first[1:].strip("{}"), ""), rest)
            found += [place] if place.is_absolute() else []
        elif first != "~":
            found.append(Path(os.path.normpath(project / entry)))
    if write is None:
        found = [each for tool in _TOOLS if tool.names & names for each in _of_tool(tool, environment, home)]
    for tool in _COMPILER_CACHES:
        found += [each for each in _of_tool(tool, environment, home) if each.is_dir()]
    # whoever writes one may have put a link in the place of what lies in it
    kept = dict.fromkeys(found)
    return [each for each in kept if not any(above in kept for above in each.parents)]


def defaults(names: frozenset[str]) -> list[str]:
    """Return what to write as [build] write for a project of these names: folders below ~."""
    return [f"~/{folder}" for tool in _TOOLS if tool.names & names for folder in tool.folders]


def named(paths: Iterable[str], commands: Iterable[str]) -> frozenset[str]:
    """Return the names of a project's files and of what its commands run, by which its tools are known."""
    words = {word for command in commands for word in re.findall(r"[\w.-]+", command)}
    return frozenset(words | {path.rpartition("/")[2] for path in paths})


def is_told(cache: Path, environment: Mapping[str, str]) -> bool:
    """Return whether commands find a directory by their home, or by a variable."""
    home = home_of(environment)
    told = [Path(value) for name in VARIABLES if os.path.isabs(value := environment.get(name, ""))]  # noqa: PTH117
    return any(cache.is_relative_to(each) for each in (*told, *([home] if home is not None else [])))


def home_of(environment: Mapping[str, str]) -> Path | None:
    """Return the home directory that commands see; None: they have none."""
    home = environment.get("HOME", "")
    return Path(home) if os.path.isabs(home) and os.path.isdir(home) and home != "/" else None  # noqa: PTH112, PTH117


def _of_tool(tool: _Tool, environment: Mapping[str, str], home: Path | None) -> list[Path]:
    below = [] if home is None else [_below_home(folder, environment, home) for folder in tool.folders]
    moved = _moved(tool, environment)
    return [*(each for each in below if not moved or each.is_dir()), *moved]


def _moved(tool: _Tool, environment: Mapping[str, str]) -> list[Path]:
    """Return where a tool's variables say that its caches are."""
    values = {name: environment.get(name, "") for name in tool.variables}
    told = {name: value for name, value in values.items() if os.path.isabs(value)}  # noqa: PTH117
    return [Path(value, folder) for name, value in told.items() for folder in tool.variables[name]]


def _below_home(folder: str, environment: Mapping[str, str], home: Path) -> Path:
    for variable, usual in _XDG.items():
        value = environment.get(variable, "")
        if folder.startswith(f"{usual}/") and os.path.isabs(value):  # noqa: PTH117
            return Path(value, folder.removeprefix(f"{usual}/"))
    return home / folder


TMP = ".tmp"
"""Below the home: what TMPDIR names."""
_ENDS = ("/.cache", "/.config", "/.local", "/.local/bin", "/.local/share", "/.local/state")
"""Of paths that are opened: tools make folders of their own in them."""
_ELSEWHERE = ".elsewhere"
LARGEST = 2_000_000_000
"""Bytes of a cache that is copied; a larger one begins empty."""
_LEFT = 4
"""Times its size that must be free for a copy: both sides have one, and build beside it."""
SECRETS = (
    ".aws", ".azure", ".boto", ".cache/huggingface/token", ".config/chromium", ".config/doctl", ".config/gcloud",
    ".config/gh", ".config/glab-cli", ".config/google-chrome", ".config/hub", ".config/rclone", ".config/sops",
    ".gnupg", ".huggingface", ".kube", ".local/share/keyrings", ".mozilla", ".my.cnf", ".oci", ".password-store",
    ".pgpass", ".pypirc", ".s3cfg", ".terraform.d", ".terraformrc", ".vault-token",
)  # fmt: skip
"""Out of sight of all that is measured or built."""
FETCHING = (
    ".cargo/credentials", ".cargo/credentials.toml", ".config/containers/auth.json", ".config/git/credentials",
    ".docker", ".gem/credentials", ".git-credentials", ".netrc", ".ssh",
)  # fmt: skip
"""What builds may need to fetch what they are made of, and what benchmarks do not."""


@dataclass(frozen=True, slots=True)
class Copied:
    """What a side gets for a cache that it may not write: a copy of a directory."""

    source: Path


@dataclass(frozen=True, slots=True)
class Home:
    """A home directory of a side. path: where it is now. environment: changed variables, as if it stood at `place`.

    copied: by the paths of empty directories in it, what their commands are to find there.
    """

    path: Path
    environment: Mapping[str, str]
    copied: Mapping[str, Path]


def make_home(path: Path, place: Path, environment: Mapping[str, str], caches: Mapping[Path, Path | Copied]) -> Home:
    """Make a side's home directory.

    Args:
        path: where; it must not exist.
        place: where it stands when the side's commands run.
        environment: of the commands.
        caches: directories that they may write, and what they get for them: a directory that is linked, or a copy.

    Raises:
        OSError: it cannot be made.
    """
    real = home_of(environment)
    roots = {real: Path()} if real is not None else {}
    told: dict[str, str] = {"HOME": str(place), "TMPDIR": str(place / TMP)}
    secrets = [real / each for each in SECRETS] if real is not None else []
    for variable in VARIABLES:
        value = environment.get(variable, "")
        if not os.path.isabs(value):  # noqa: PTH117
            continue
        directory = Path(value)
        if real is not None and directory.is_relative_to(real):
            told[variable] = str(place / directory.relative_to(real))
        elif variable in SHARED or any(each.is_relative_to(directory) and to != each for each, to in caches.items()):
            roots.setdefault(directory, Path(_ELSEWHERE, variable))
            told[variable] = str(place / roots[directory])
    path.mkdir(parents=True)
    (path / TMP).mkdir()
    above = frozenset(each for path in (*caches, *secrets) for each in (path, *path.parents))
    copied: dict[Path, Path] = {}
    for directory, below in roots.items():
        copied |= _mirrored(directory, path / below, caches, frozenset(secrets), above)
    return Home(path, told, {str(to.relative_to(path)): source for to, source in copied.items()})


def overlaps(cache: Path, hidden: Collection[Path]) -> bool:
    """Return whether a directory lies in what is hidden, or holds some of it: then it is no cache."""
    # as the kernel sees them: a commit may have a link to what is hidden
    real = Path(os.path.realpath(cache))
    others = [Path(os.path.realpath(each)) for each in hidden]
    return any(real.is_relative_to(other) or other.is_relative_to(real) for other in others)


def _mirrored(
    real: Path, to: Path, caches: Mapping[Path, Path | Copied], hidden: Collection[Path], above: Collection[Path]
) -> dict[Path, Path]:
    """Link all of a directory, and make those that are written themselves; return what is to be copied, and where to.

    above: all that is hidden or a cache, and the directories above.
    """
    if real in caches:
        to.parent.mkdir(parents=True, exist_ok=True)
        given = caches[real]
        if isinstance(given, Copied):
            to.mkdir()
            return {to: given.source}
        to.symlink_to(given)
        return {}
    to.mkdir(parents=True, exist_ok=True)
    copied: dict[Path, Path] = {}
    with suppress(OSError):
        for entry in os.scandir(real):
            path = Path(entry.path)
            if path in hidden or entry.name == TMP:
                continue
            # not by the entry, which raises where links lead in a circle
            if path in caches or ((path in above or entry.path.endswith(_ENDS)) and path.is_dir()):
                copied |= _mirrored(path, to / entry.name, caches, hidden, above)
            elif not os.path.lexists(to / entry.name):
                (to / entry.name).symlink_to(path)
    for cache in caches:
        if cache.is_relative_to(real) and not os.path.lexists(to / cache.relative_to(real)):
            copied |= _mirrored(cache, to / cache.relative_to(real), caches, hidden, above)
    return copied


def copy(directory: Path, to: Path) -> None:
    """Copy a cache, whose copy begins empty if it is large, or if there is little room.

    Raises: OSError: there is no cp, or no room for a directory.
    """
    if size_of(directory, LARGEST) <= min(LARGEST, shutil.disk_usage(to.parent).free // _LEFT):
        # what cannot be copied is fetched or compiled again
        subprocess.run(["cp", "-a", "--reflink=auto", "-T", "--", directory, to], check=False, capture_output=True)
    to.mkdir(parents=True, exist_ok=True)
