"""Rust projects: Criterion's benches, else what `cargo build` makes, else the tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from gate.commands.init.detect import criterion
from gate.commands.init.detect.crates import NAME, TARGET, Crate, at, clean, crates_of, default_crates, tables, triple
from gate.commands.init.detect.result import Found, placeholder, program, stand_in
from gate.commands.init.detect.tree import Tree

_PARSERS = {"clap", "structopt", "argh", "bpaf"}  # all of them answer --help


@dataclass(frozen=True, slots=True)
class _Binary:
    name: str
    package: Crate
    argument: str | None
    unsure: bool


def look(tree: Tree) -> Found | None:
    """Find a package or workspace in Cargo.toml; None without one."""
    return _with_lock(tree, _found(tree)) if "Cargo.toml" in tree.names else None


def _found(tree: Tree) -> Found:
    packages = crates_of(tree)
    benches = criterion.look(tree, packages)
    if benches is not None:
        return benches
    default = default_crates(tree, packages)
    binaries = [binary for package in default for binary in _binaries(tree, package)]
    tested = any(tree.mentions("#[test]", ".rs", under=package.directory) for package in default)
    sure = [binary for binary in binaries if not binary.unsure]
    if sure or (binaries and not tested):
        return _of_binary(tree, (sure or binaries)[0], packages)
    if default and tested:
        return _of_tests(packages)
    benchmark, notes = placeholder()
    command = clean(packages) + f"cargo build --release {TARGET}"
    return Found(
        "cargo",
        "Cargo.toml, without a program or tests",
        benchmark,
        command,
        _build_comment(),
        notes=notes,
    )


def _of_binary(tree: Tree, binary: _Binary, packages: list[Crate]) -> Found:
    path = f"target/{triple(tree)}release/{binary.name}"
    benchmark, notes = program(binary.name, path, binary.argument, unsure=binary.unsure)
    return Found(
        "cargo",
        f"Cargo.toml, program {binary.name}",
        benchmark,
        clean(packages) + f"cargo build --release {TARGET} --bin {binary.name}",
        _build_comment(),
        artifacts=[path],
        notes=notes,
    )


def _of_tests(packages: list[Crate]) -> Found:
    advice = "Better: an example that does the work that matters (see `cargo build --examples`)."
    command = ["cargo", "test", "--release", "--offline", "--quiet", "--tests", "--target-dir", "target"]
    return Found(
        "cargo",
        "Cargo.toml, a library with tests",
        stand_in("tests", command, advice),
        clean(packages) + f"cargo test --release --no-run --tests {TARGET}",
        _build_comment(),
        environment={"RUST_TEST_THREADS": "1"},
        environment_comment=["One test at a time: the time of parallel tests depends on how they overlap."],
        notes=["the benchmark runs the tests: replace it with a program that does real work"],
    )


def _build_comment() -> list[str]:
    return [
        "The project's own crates are built anew each time, its dependencies once a side. --target-dir keeps the sides",
        "apart also where CARGO_TARGET_DIR is set.",
    ]


def _with_lock(tree: Tree, found: Found) -> Found:
    """Take an ignored Cargo.lock along: without it each side would choose its own dependencies."""
    if "Cargo.lock" not in tree.ignored:
        return found
    return replace(
        found,
        share=["Cargo.lock"],
        build_comment=[
            *found.build_comment,
            "git ignores Cargo.lock: setup gives each side a copy, as cargo would write through the link of `share`.",
        ],
        setup="cp Cargo.lock Cargo.lock.own && mv Cargo.lock.own Cargo.lock",
        notes=[*found.notes, "git ignores Cargo.lock, so both sides use this checkout's; better commit it"],
    )


def _binaries(tree: Tree, package: Crate) -> Iterator[_Binary]:
    """Yield the programs of a package, the default one first."""
    manifest = package.manifest
    gated = {bin_.get("name") for bin_ in tables(manifest.get("bin")) if bin_.get("required-features")}
    names = [name for bin_ in tables(manifest.get("bin")) if isinstance(name := bin_.get("name"), str)]
    if manifest["package"].get("autobins", True):
        names += [package.name] if at(package.directory, "src/main.rs") in tree.names else []
        lead = at(package.directory, "src/bin/")
        inner = [PurePosixPath(path.removeprefix(lead)) for path in tree.files if path.startswith(lead)]
        names += [path.stem for path in inner if len(path.parts) == 1 and path.suffix == ".rs"]
        names += [path.parts[0] for path in inner if len(path.parts) == 2 and path.name == "main.rs"]
    preferred = manifest["package"].get("default-run", package.name)
    argument, unsure = _argument(tree, package)
    for name in sorted(dict.fromkeys(names), key=lambda name: name != preferred):
        if name not in gated and NAME.fullmatch(name):
            yield _Binary(name, package, argument, unsure)


def _argument(tree: Tree, package: Crate) -> tuple[str | None, bool]:
    """Return an argument with which a program surely ends by itself, and whether that is in doubt."""
    under = at(package.directory, "src")
    if _PARSERS & set(package.manifest.get("dependencies", {})) or tree.mentions('"--help"', ".rs", under=under):
        return "--help", False
    return None, any(tree.mentions(call, ".rs", under=under) for call in ("env::args", "args_os(", "stdin("))
