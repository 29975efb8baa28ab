"""Whether the first builds of both sides may be made at once, each in a mount namespace where its own tree stands."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from gate.walking import open_beneath, walk
from harness.build.conditions import Recipe
from harness.process.mounts import mounts_here

# A server that compiles, and lives longer than the command that asks it, works in the namespace of whoever started it:
# it would compile one side's files for the other.
_SERVERS = re.compile(
    r"\b(gradlew?|mvnd|sbt|mill|bloop|bazel(isk)?|buck2?|pants|sccache|distcc|icecc|docker|podman|nerdctl|buildah|"
    r"nix(-build|-shell)?|dotnet|msbuild|watchman|systemd-run|tmux|screen|sudo|flatpak|snap)\b"
)
# Both would write there at once.
_ELSEWHERE = re.compile(r"~/|\.\./|\$\{?HOME\b|(?<![\w.])/(tmp|var|home|root|srv|mnt|opt|usr/local)\b")
# In a script of the project; what a compiler or tempfile puts into /tmp has a name of its own.
_ELSEWHERE_IN_SCRIPTS = re.compile(rb"/tmp/|/dev/shm|~/|\$[({]?HOME\b")
_SCRIPT = re.compile(
    r"(GNU)?[Mm]akefile.*|.*\.(mk|mak|sh|bash|zsh|py|pl|rb|js|mjs|cmake|just|toml|gyp)|[Jj]ustfile|CMakeLists\.txt|"
    r"build\.(rs|zig|xml)|meson\.build|package\.json|SConstruct|SConscript|wscript|configure(\.ac|\.in)?|Rakefile"
)
_UNUSED = re.compile(r"\..*|tests?|docs?|examples?|node_modules")
_LARGEST = 2_000_000
_COMPILERS = ("CC", "CXX", "RUSTC", "RUSTC_WRAPPER", "CARGO_BUILD_RUSTC_WRAPPER")
_LAUNCHER = "_LAUNCHER"
_FOLDERS = ("CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR", "CARGO_BUILD_BUILD_DIR")


def may_be_at_once(recipes: Sequence[Recipe]) -> bool:
    """Return whether two builds by these recipes may be made at once: nothing tells that one would see the other."""
    if len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ()) < len(recipes):
        return False
    return all(map(_keeps_to_itself, recipes)) and mounts_here()


def works_elsewhere(tree: Path) -> bool:
    """Return whether a script of a fresh tree names a place outside of it, where both builds would be at once."""
    for parent, folders, names in walk(tree):
        folders[:] = [name for name in folders if not _UNUSED.fullmatch(name)]
        for name in filter(_SCRIPT.fullmatch, names):
            inner = os.path.relpath(f"{parent}/{name}", tree)
            with suppress(OSError), os.fdopen(open_beneath(tree, inner), "rb") as file:
                if _ELSEWHERE_IN_SCRIPTS.search(file.read(_LARGEST)):
                    return True
    return False


def _keeps_to_itself(recipe: Recipe) -> bool:
    table = recipe.table
    if not recipe.stays or table.share:
        return False
    commands = [command for command in (table.setup, table.command) if command is not None]
    texts = [command if isinstance(command, str) else " ".join(command) for command in commands]
    environment = recipe.environment
    texts += [value for name, value in environment.items() if name in _COMPILERS or name.endswith(_LAUNCHER)]
    if any(os.path.isabs(environment.get(name, "")) for name in _FOLDERS):  # noqa: PTH117
        return False
    return not any(_SERVERS.search(text) or _ELSEWHERE.search(text) for text in texts)
