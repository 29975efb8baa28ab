"""Rust projects: what `cargo build` makes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from gate.commands.detect.found import Found, placeholder, program, stand_in
from gate.commands.detect.tree import Tree

_PARSERS = {"clap", "structopt", "argh", "bpaf"}  # all of them answer --help
_MOST_NAMED = 6
_NAME = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Package:
    directory: str
    name: str
    manifest: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Binary:
    name: str
    package: _Package
    argument: str | None
    unsure: bool


def look(tree: Tree) -> Found | None:
    """Find a package or workspace in Cargo.toml; None without one."""
    return _with_lock(tree, _found(tree)) if "Cargo.toml" in tree.names else None


def _found(tree: Tree) -> Found:
    packages = list(_packages(tree))
    default = _default(tree, packages)
    binaries = [binary for package in default for binary in _binaries(tree, package)]
    tested = any(tree.mentions("#[test]", ".rs", under=package.directory) for package in default)
    sure = [binary for binary in binaries if not binary.unsure]
    if sure or (binaries and not tested):
        return _of_binary(tree, (sure or binaries)[0], packages)
    if default and tested:
        return _of_tests(packages)
    benchmark, notes = placeholder()
    command = _clean(packages) + f"cargo build --release {_TARGET}"
    return Found(
        "cargo",
        "Cargo.toml, without a program or tests",
        benchmark,
        command,
        _build_comment(),
        notes=notes,
    )


# An option, because CARGO_TARGET_DIR or a config file could name one directory for both sides.
_TARGET = "--target-dir target"


def _of_binary(tree: Tree, binary: _Binary, packages: list[_Package]) -> Found:
    path = f"target/{_triple(tree)}release/{binary.name}"
    benchmark, notes = program(binary.name, path, binary.argument, unsure=binary.unsure)
    return Found(
        "cargo",
        f"Cargo.toml, program {binary.name}",
        benchmark,
        _clean(packages) + f"cargo build --release {_TARGET} --bin {binary.name}",
        _build_comment(),
        artifacts=[path],
        notes=notes,
    )


def _of_tests(packages: list[_Package]) -> Found:
    advice = "Better is an example that does the work that matters: see --examples of cargo build."
    command = ["cargo", "test", "--release", "--offline", "--quiet", "--tests", "--target-dir", "target"]
    return Found(
        "cargo",
        "Cargo.toml, a library with tests",
        stand_in("tests", command, advice),
        _clean(packages) + f"cargo test --release --no-run --tests {_TARGET}",
        _build_comment(),
        environment={"RUST_TEST_THREADS": "1"},
        environment_comment=["One test after another: the time of parallel ones depends on how they fall together."],
        notes=["the benchmark is the test run: put a program that does real work in its place"],
    )


def _build_comment() -> list[str]:
    return [
        "The project's own crates are built anew each time, its dependencies once a side. --target-dir keeps the sides",
        "apart also where CARGO_TARGET_DIR is set.",
    ]


def _clean(packages: list[_Package]) -> str:
    names = "".join(f" -p {package.name}" for package in packages) if len(packages) <= _MOST_NAMED else ""
    return f"cargo clean --release {_TARGET}{names} && "


def _with_lock(tree: Tree, found: Found) -> Found:
    """Take an ignored Cargo.lock along: without it each side would choose its own dependencies."""
    if "Cargo.lock" not in tree.ignored:
        return found
    return replace(
        found,
        share=["Cargo.lock"],
        build_comment=[
            *found.build_comment,
            "git ignores Cargo.lock: setup gives each side a copy, for cargo would write through the link of `share`.",
        ],
        setup="cp Cargo.lock Cargo.lock.own && mv Cargo.lock.own Cargo.lock",
        notes=[*found.notes, "git ignores Cargo.lock, so this checkout's is taken for both sides; better commit it"],
    )


def _packages(tree: Tree) -> Iterator[_Package]:
    root = tree.toml("Cargo.toml")
    directories = ["", *_members(tree, root, "members")]
    for directory in dict.fromkeys(directories):
        manifest = tree.toml(_at(directory, "Cargo.toml")) if directory else root
        name = manifest.get("package", {}).get("name") if isinstance(manifest.get("package"), dict) else None
        # what cargo itself would refuse must not end up in a shell command
        if isinstance(name, str) and _NAME.fullmatch(name):
            yield _Package(directory, name, manifest)


def _default(tree: Tree, packages: list[_Package]) -> list[_Package]:
    """Return what cargo builds when no package is named."""
    root = tree.toml("Cargo.toml")
    named = _members(tree, root, "default-members")
    if named:
        return [package for package in packages if package.directory in named]
    return [package for package in packages if not package.directory] or packages


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
    return directory.count("/") == glob.count("/") and PurePosixPath(directory).match(glob)


def _binaries(tree: Tree, package: _Package) -> Iterator[_Binary]:
    """Yield the programs of a package, the default one first."""
    manifest = package.manifest
    gated = {bin_.get("name") for bin_ in _tables(manifest.get("bin")) if bin_.get("required-features")}
    names = [name for bin_ in _tables(manifest.get("bin")) if isinstance(name := bin_.get("name"), str)]
    if manifest["package"].get("autobins", True):
        names += [package.name] if _at(package.directory, "src/main.rs") in tree.names else []
        lead = _at(package.directory, "src/bin/")
        inner = [PurePosixPath(path.removeprefix(lead)) for path in tree.files if path.startswith(lead)]
        names += [path.stem for path in inner if len(path.parts) == 1 and path.suffix == ".rs"]
        names += [path.parts[0] for path in inner if len(path.parts) == 2 and path.name == "main.rs"]
    preferred = manifest["package"].get("default-run", package.name)
    argument, unsure = _argument(tree, package)
    for name in sorted(dict.fromkeys(names), key=lambda name: name != preferred):
        if name not in gated and _NAME.fullmatch(name):
            yield _Binary(name, package, argument, unsure)


def _argument(tree: Tree, package: _Package) -> tuple[str | None, bool]:
    """Return an argument with which a program surely ends by itself, and whether that is in doubt."""
    under = _at(package.directory, "src")
    if _PARSERS & set(package.manifest.get("dependencies", {})) or tree.mentions('"--help"', ".rs", under=under):
        return "--help", False
    return None, any(tree.mentions(call, ".rs", under=under) for call in ("env::args", "args_os(", "stdin("))


def _triple(tree: Tree) -> str:
    """Return the directory that `build.target` of cargo's config puts below target/."""
    for name in (".cargo/config.toml", ".cargo/config"):
        build = tree.toml(name).get("build", {})
        target = build.get("target") if isinstance(build, dict) else None
        if isinstance(target, str) and target.isprintable():
            return f"{target.removesuffix('.json')}/"
    return ""


def _at(directory: str, path: str) -> str:
    return f"{directory}/{path}" if directory else path


def _strings(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _tables(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
