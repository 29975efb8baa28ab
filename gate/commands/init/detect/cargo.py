"""Rust projects: the benches, else what `cargo build` makes, else the tests."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from gate.commands.init.detect import cargo_benches
from gate.commands.init.detect.crates import (
    NAME,
    TARGET,
    Crate,
    at,
    crates_of,
    default_crates,
    every_crate,
    inside,
    tables,
    triple,
)
from gate.commands.init.detect.result import Found, placeholder, program, stand_in
from gate.commands.init.detect.tree import Tree
from gate.commands.init.detect.work import work

_PARSERS = {"clap", "structopt", "argh", "bpaf"}  # all of them answer --help
_ANSWERS_HELP = re.compile(r'"(--)?help"')
_WANTS = re.compile(r"env::args|args_os\(|stdin\(")


@dataclass(frozen=True, slots=True)
class _Binary:
    name: str
    package: Crate
    source: str
    arguments: list[str]
    unsure: bool


def look(tree: Tree) -> Found | None:
    """Find a package or workspace in Cargo.toml, or benches in one below; None without one."""
    crates = every_crate(tree)
    benches = cargo_benches.look(tree, crates)
    found = _found(tree) if "Cargo.toml" in tree.names else None
    # benches that ask for a nightly compiler give way to a program, as that needs no other compiler
    if benches is None or (cargo_benches.need_nightly(benches) and found and found.artifacts):
        benches = found
    return _with_lock(tree, benches) if benches else None


def _found(tree: Tree) -> Found:
    default = default_crates(tree, crates_of(tree))
    binaries = [binary for package in default for binary in _binaries(tree, package)]
    tested = any(tree.mentions("#[test]", ".rs", under=package.directory) for package in default)
    sure = [binary for binary in binaries if not binary.unsure]
    if sure or (binaries and not tested):
        return _of_binary(tree, (sure or binaries)[0])
    if default and tested:
        return _of_tests(tree, default, binaries)
    benchmark, notes = placeholder()
    evidence = "Cargo.toml, without a program or tests"
    return Found("cargo", evidence, benchmark, f"cargo build --release {TARGET}", _COMMENT, notes=notes)


def _of_binary(tree: Tree, binary: _Binary) -> Found:
    path = f"target/{triple(tree)}release/{binary.name}"
    benchmark, notes = program(binary.name, path, binary.arguments, unsure=binary.unsure)
    directory = binary.package.directory
    manifest = f" --manifest-path {shlex.quote(at(directory, 'Cargo.toml'))}" if directory else ""
    build = f"cargo build --release {TARGET}{manifest} --bin {binary.name}"
    return Found(
        "cargo",
        f"Cargo.toml, program {binary.name}",
        benchmark,
        f"touch {shlex.quote(binary.source)} && {build}" if binary.source else build,
        _COMMENT,
        artifacts=[path],
        notes=notes,
    )


def _of_tests(tree: Tree, packages: list[Crate], programs: list[_Binary]) -> Found:
    advice = "Better: an example that does the work that matters (see `cargo build --examples`)."
    command = ["cargo", "test", "--release", "--offline", "--quiet", "--tests", "--target-dir", "target"]
    named = ", ".join(binary.name for binary in programs[:3])
    kind = f"tests, and program {named} whose arguments are not known" if programs else "a library with tests"
    better = f"{programs[0].name} and arguments with which it" if programs else "a program that"
    sources = [at(package.directory, "src/lib.rs") for package in packages]
    touched = shlex.join(source for source in sources if source in tree.names)
    build = f"cargo test --release --no-run --tests {TARGET}"
    return Found(
        "cargo",
        f"Cargo.toml, {kind}",
        stand_in("tests", command, advice),
        f"touch {touched} && {build}" if touched else build,
        _COMMENT,
        environment={"RUST_TEST_THREADS": "1"},
        environment_comment=["One test at a time: the time of parallel tests depends on how they overlap."],
        notes=[f"the benchmark runs the tests: replace it with {better} does real work"],
    )


_COMMENT = [
    "Only what is touched is compiled and linked again in each build, its dependencies once a side. --target-dir keeps",
    "the sides apart also where CARGO_TARGET_DIR is set.",
]


def _with_lock(tree: Tree, found: Found) -> Found:
    """Take an ignored Cargo.lock along: without it each side would choose its own dependencies.

    One that git tracks is written anew by every build of a commit whose Cargo.toml asks for more than it has.
    """
    if "Cargo.lock" in tree.names:
        return replace(found, changes=["Cargo.lock"])
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
    declared = {str(bin_.get("name")): bin_ for bin_ in tables(manifest.get("bin"))}
    places = {name: [str(bin_.get("path", ""))] for name, bin_ in declared.items()}
    # a file that is declared under one name is not found under another
    own = {path for paths in places.values() for path in paths}
    if manifest["package"].get("autobins", True):
        for path in tree.files:
            inner = PurePosixPath(inside(path, package.directory))
            if str(inner) in own:
                continue
            if str(inner) == "src/main.rs":
                places.setdefault(package.name, []).append(str(inner))
            elif inner.parts[:2] == ("src", "bin") and (len(inner.parts) == 3 or inner.parts[3:] == ("main.rs",)):
                places.setdefault(PurePosixPath(inner.parts[2]).stem, []).append(str(inner))
    for name in places:
        places[name] += [f"src/bin/{name}.rs", "src/main.rs"]
    preferred = manifest["package"].get("default-run", package.name)
    for name in sorted(places, key=lambda name: name != preferred):
        if NAME.fullmatch(name) and not declared.get(name, {}).get("required-features"):
            whole = (at(package.directory, place) for place in places[name])
            source = next((place for place in whole if place in tree.names), "")
            yield _Binary(name, package, source, *_arguments(tree, package, name, source))


def _arguments(tree: Tree, package: Crate, name: str, source: str) -> tuple[list[str], bool]:
    """Return the arguments with which a program surely ends by itself, and whether that is in doubt."""
    under = str(PurePosixPath(source).parent) if source else at(package.directory, "src")
    texts = [tree.text(path) for path in tree.ending(".rs", under=under)]
    on_file = work(tree, name, texts, str(package.manifest["package"].get("description", "")))
    if on_file:
        return on_file, False
    parsed = _PARSERS & set(package.manifest.get("dependencies", {}))
    if parsed or any(_ANSWERS_HELP.search(text) for text in texts):
        return ["--help"], False
    return [], any(_WANTS.search(text) for text in texts)
