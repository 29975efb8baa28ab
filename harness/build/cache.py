"""First builds that are kept: a commit that is measured again need not be compiled again.

What is kept is the tree after its first build, with the record of its links, so that every later run draws its layouts
anew. An entry is for one tree of files, one recipe, environment and toolchain, at one path.
"""

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from gate.config.types import BuildTable
from gate.model import SIDES, Side
from gate.model.records import Ordered, WhyNotRelinked
from gate.removal import remove_tree
from gate.walking import size_of

MOST = 4_000_000_000
"""Bytes of all that is kept; a tree larger than half of it is not."""
_FORMAT = 2
"""Of an entry and of the record of its links; another one is not found."""
_TREE, _LINKS, _ABOUT = "tree", "links", "about.json"
# Of a terminal or a login, and no matter of a build.
_OF_SESSION = (
    "COLORTERM", "COLUMNS", "DISPLAY", "LINES", "LS_COLORS", "OLDPWD", "PWD", "SHLVL", "STY", "TERM", "TMUX",
    "WINDOWID", "XAUTHORITY", "_",
)  # fmt: skip
_OF_SESSIONS = ("DBUS_", "GPG_", "SSH_", "TERM_", "TMUX_", "VTE_", "WAYLAND_", "XDG_SESSION_", "PERFGATE_")
_TOOLS = (
    "ar", "as", "c++", "cargo", "cc", "clang", "clang++", "cmake", "g++", "gcc", "go", "gradle", "java", "javac", "ld",
    "make", "meson", "mvn", "ninja", "node", "npm", "python3", "rustc", "rustup", "sh", "zig",
)  # fmt: skip
_INSTALLED = ("/var/lib/dpkg/status", "/var/lib/rpm", "/lib/apk/db/installed", "/var/lib/pacman/local")
"""Where systems note what is installed: libraries and headers come and go with it."""

_CONFIGURED = (
    ".bazelrc", ".cargo/config", ".cargo/config.toml", ".config/go/env", ".config/meson", ".config/pip/pip.conf",
    ".gitconfig", ".gradle/gradle.properties", ".m2/settings.xml", ".npmrc", ".pyenv/version", ".tool-versions",
)  # fmt: skip
"""Files of a user that builds read, in the home directory."""
_LOCAL = ("/usr/local/bin", "/usr/local/include", "/usr/local/lib")
"""Where `make install` puts what no system notes."""


class KeptBuild(msgspec.Struct, frozen=True):
    """What is known of a kept build.

    full: why later builds of it are full ones. ordered: as in a build's record. begun: when, in nanoseconds.
    seconds: that it took, with checkout, set-up and the check of its links.
    """

    full: WhyNotRelinked | None = None
    ordered: Ordered | str | None = None
    begun: int = 0
    seconds: float = 0.0


def name_of(
    files: str, table: BuildTable, environment: Mapping[str, str], place: Path, sandboxed: Mapping[str, str]
) -> str:
    """Return the name of an entry.

    files: the id of git's tree. table, environment: the recipe, whole. place: where it stands. sandboxed: what a
    sandbox changes of the environment: builds note where toolchains and packages are below HOME.
    """
    path = environment.get("PATH", os.defpath)
    home = Path(environment.get("HOME", "/"))
    rustup = Path(environment.get("RUSTUP_HOME") or home / ".rustup")
    hashes = (rustup / "update-hashes").glob("*")
    facts = {
        "format": _FORMAT,
        "files": files,
        "table": repr(table),
        "environment": {
            name: value
            for name, value in environment.items()
            if name not in _OF_SESSION and not name.startswith(_OF_SESSIONS)
        },
        "place": str(place),
        "sandboxed": dict(sandboxed),
        "tools": [_facts(shutil.which(tool, path=path)) for tool in _TOOLS],
        "installed": [_facts(each) for each in _INSTALLED],
        "local": [_facts(each) for each in _LOCAL],
        "rustup": [_content(rustup / "settings.toml"), *sorted(map(_facts, map(str, hashes)))],
        "configured": [_content(home / each) for each in _CONFIGURED],
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]


class BuildCache:
    """Builds that are kept in a directory, the least recently used of which go first."""

    def __init__(self, directory: Path, keeps: Collection[Side] = SIDES) -> None:
        """Read and write nothing yet; keeps: the sides whose builds may be kept."""
        self.keeps = keeps
        self._directory = directory

    def take(self, key: str, tree: Path, links: Path) -> KeptBuild | None:
        """Copy a build to where it stands, and the record of its links; None: it is not kept, or cannot be read."""
        entry = self._directory / key
        try:
            about = msgspec.json.decode((entry / _ABOUT).read_bytes(), type=KeptBuild)
            _copy(entry / _TREE, tree)
            if about.full is None:
                _copy(entry / _LINKS, links)
            os.utime(entry)
        except (OSError, subprocess.SubprocessError, msgspec.DecodeError):
            remove_tree(tree)
            remove_tree(links)
            return None
        return about

    def about(self, key: str) -> KeptBuild | None:
        """Return what is known of a build that is kept; None: it is not, or cannot be read."""
        with suppress(OSError, msgspec.DecodeError):
            return msgspec.json.decode((self._directory / key / _ABOUT).read_bytes(), type=KeptBuild)
        return None

    def drop(self, key: str) -> None:
        """Forget a build."""
        remove_tree(self._directory / key)

    def keep(self, key: str, tree: Path, links: Path, about: KeptBuild) -> None:
        """Keep a build, if there is room; whatever goes wrong, the run goes on without.

        tree: nothing has run in it since it was built.
        """
        entry, unfinished = self._directory / key, self._directory / f"{key}.{os.getpid()}"
        size = size_of(tree)
        if entry.exists() or size > MOST / 2:
            return
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            entries = sorted(self._directory.iterdir(), key=lambda each: each.stat().st_mtime)
            sizes = {each: size_of(each) for each in entries}
            over = sum(sizes.values()) + size - MOST
            for each in entries:
                # one that a killed run left is of no use to anybody
                if over > 0 or not (each / _ABOUT).exists():
                    remove_tree(each)
                    over -= sizes[each]
            unfinished.mkdir()
            _copy(tree, unfinished / _TREE)
            if about.full is None:
                _copy(links, unfinished / _LINKS)
            (unfinished / _ABOUT).write_bytes(msgspec.json.encode(about))
            unfinished.rename(entry)
        except (OSError, subprocess.SubprocessError):
            remove_tree(unfinished)


def directory_of(environment: Mapping[str, str]) -> Path | None:
    """Return where builds are kept; None: nowhere, since the user has no home directory."""
    base = Path(environment.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():
        home = environment.get("HOME")
        if not home:
            return None
        base = Path(home) / ".cache"
    return base / "perfgate" / "builds"


def _facts(path: str | None) -> tuple[str | int, ...]:
    if path is None:
        return ()
    real = os.path.realpath(path)
    with suppress(OSError):
        facts = Path(real).stat()
        return (real, facts.st_size, facts.st_mtime_ns)
    return (real,)


def _content(path: Path) -> str:
    with suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace")
    return ""


def _copy(source: Path, target: Path) -> None:
    """Copy a directory with times, modes and hard links, sharing the content where the file system can.

    Raises:
        OSError: cp is not there.
        subprocess.SubprocessError: it fails.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    run: Callable[..., object] = subprocess.run
    run(["cp", "-a", "--reflink=auto", "-T", "--", source, target], check=True, capture_output=True)
