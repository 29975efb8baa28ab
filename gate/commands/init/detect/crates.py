"""The packages of a Cargo project, and the parts of commands for all of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from gate.commands.init.detect.tree import Tree

NAME = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
"""What Cargo takes for the name of a package or target; anything else must not end up in a shell command."""
# An option, because CARGO_TARGET_DIR or a config file could name one directory for both sides.
TARGET = "--target-dir target"
_ASIDE = {"fuzz", "testdata", "fixtures", "vendor", "third_party", "tests", "test", "examples"}


@dataclass(frozen=True, slots=True)
class Crate:
    """A package."""

    directory: str
    """Empty for the project's own."""
    name: str
    manifest: dict[str, Any]


def crates_of(tree: Tree) -> list[Crate]:
    """Return the packages of the project or workspace."""
    root = tree.toml("Cargo.toml")
    return _crates(tree, ["", *_members(tree, root, "members")])


def every_crate(tree: Tree) -> list[Crate]:
    """Return all packages: those of the workspace first, then those beside it, such as one of benchmarks."""
    own = crates_of(tree)
    manifests = (PurePosixPath(path) for path in tree.ending("Cargo.toml") if PurePosixPath(path).name == "Cargo.toml")
    others = [str(path.parent) for path in manifests if not _ASIDE & set(path.parts)]
    known = {crate.directory for crate in own}
    return [*own, *(crate for crate in _crates(tree, others) if crate.directory not in known | {"."})]


def default_crates(tree: Tree, crates: list[Crate]) -> list[Crate]:
    """Return what cargo builds when no package is named."""
    root = tree.toml("Cargo.toml")
    named = _members(tree, root, "default-members")
    if named:
        return [crate for crate in crates if crate.directory in named]
    return [crate for crate in crates if not crate.directory] or crates


def triple(tree: Tree) -> str:
    """Return the directory that `build.target` of cargo's config puts below target/."""
    for name in (".cargo/config.toml", ".cargo/config"):
        build = tree.toml(name).get("build", {})
        target = build.get("target") if isinstance(build, dict) else None
        if isinstance(target, str) and target.isprintable():
            return f"{target.removesuffix('.json')}/"
    return ""


def at(directory: str, path: str) -> str:
    """Join a path to a directory of the project."""
    return f"{directory}/{path}" if directory else path


def inside(path: str, directory: str) -> str:
    """Return a file's path below a directory of the project; empty for one that lies elsewhere."""
    lead = f"{directory}/" if directory else ""
    return path.removeprefix(lead) if path.startswith(lead) else ""


def tables(value: Any) -> list[dict[str, Any]]:
    """Return the tables of an array of tables, whatever it really is."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _crates(tree: Tree, directories: list[str]) -> list[Crate]:
    crates = []
    for directory in dict.fromkeys(directories):
        manifest = tree.toml(at(directory, "Cargo.toml"))
        name = manifest.get("package", {}).get("name") if isinstance(manifest.get("package"), dict) else None
        if isinstance(name, str) and NAME.fullmatch(name):
            crates.append(Crate(directory, name, manifest))
    return crates


def _members(tree: Tree, root: dict[str, Any], key: str) -> list[str]:
    workspace = root.get("workspace")
    if not isinstance(workspace, dict):
        return []
    manifests = [str(PurePosixPath(path).parent) for path in tree.files if PurePosixPath(path).name == "Cargo.toml"]
    globs = [glob.removeprefix("./").rstrip("/") for glob in _strings(workspace.get(key))]
    excluded = _strings(workspace.get("exclude"))
    found = [d for glob in globs for d in manifests if d == glob or _matches(d, glob)]
    return [("" if directory == "." else directory) for directory in found if directory not in excluded]


def _matches(directory: str, glob: str) -> bool:
    # cargo's * stays inside one directory, unlike fnmatch's
    return (
        bool(PurePosixPath(glob).parts)
        and directory.count("/") == glob.count("/")
        and PurePosixPath(directory).match(glob)
    )


def _strings(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
