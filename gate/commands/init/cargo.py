"""Rust: the benches, else a program, else the tests, as `cargo metadata` lists them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from gate.commands.init.ask import Asked
from gate.commands.init.found import (
    BENCH,
    Found,
    Proposed,
    Row,
    fixed_plan,
    kept,
    names_of,
    placeholder,
    program,
    suite_plan,
    tests,
    within,
)
from gate.commands.init.tree import Tree, folder_of, table_of

_NAME = re.compile(r"\w[\w.-]*", re.ASCII)
"""What can stand in a command as it is; Cargo takes more for the name of a target than for that of a package."""
_ASIDE = {"testdata", "fixtures", "vendor", "third_party", "tests", "test", "examples", "node_modules"}
_FUZZERS = {"libfuzzer-sys", "afl", "honggfuzz", "bolero"}
_LIBRARIES = {
    "criterion": (r"\bcriterion(?:_main!|_group!|::)", r"\.\s*bench(?:_function|_with_input|_values)?\s*\("),
    "divan": (r"\bdivan::", r"^\s*#\[(?:divan::)?bench\b"),
    # the compiler's own and the crate bencher write the same lines
    "libtest": (r"^\s*#\[bench\]|\bbencher::|\bbenchmark_main!", r"^\s*#\[bench\]|&(?:mut )?Bencher\b"),
}
"""How a source uses a library, and each of its benchmarks."""
_SECONDS = {"divan": 0.5, "libtest": 0.6}  # of a benchmark, by its own default
_SAMPLE = 0.002  # seconds, of Criterion
_STARTS = 10
"""Of Criterion in each build: what disturbs lasts longer than a start, so many short ones by turns tell more."""
_WHOLE = re.compile(r"[\^~=\s]*0\.[0-3](\.|$)")
"""Versions of Criterion that take whole seconds."""
_PARSERS = {"clap", "structopt", "argh", "bpaf", "lexopt", "pico-args"}
_WANTS = re.compile(r"env::args|args_os\(|stdin\(|TcpListener|UdpSocket|\.serve\(")
_TARGET = "--target-dir target"
_COMMENT = "Dependencies are compiled once a side; what is touched is compiled and linked again in each build."


class _Target(NamedTuple):
    folder: str
    """Of its package, "" for the project's own."""
    package: str
    name: str
    source: str
    text: str
    features: tuple[str, ...]
    dependencies: dict[str, str]
    default: bool
    """The package's own program, or one that is built without being named."""
    kind: str
    """Bench, bin or example."""

    @property
    def library(self) -> str | None:
        """The library of its benchmarks."""
        return next((name for name, (uses, _) in _LIBRARIES.items() if re.search(uses, self.text, re.MULTILINE)), None)

    @property
    def cases(self) -> int:
        """Its benchmarks, as far as the source tells."""
        return max(1, len(re.findall(_LIBRARIES[self.library or "divan"][1], self.text, re.MULTILINE)))

    @property
    def nightly(self) -> bool:
        """Whether a stable compiler refuses it."""
        return "#![feature(" in self.text


def look(tree: Tree, ask: Asked) -> Found | None:
    """Find a package or workspace, at the top or below; None without one."""
    packages = list(_packages(tree, ask))
    if not packages:
        return None
    rows: list[Row] = []
    benches, programs, tested = [], [], []
    for package, default in packages:
        folder = folder_of(package["manifest"])
        fuzzes = package["metadata"].get("cargo-fuzz") or _FUZZERS & set(package["dependencies"])
        for target in _targets(tree, package, folder, default):
            label = f"{target[0]} {target[1].name}"
            if (why := _unusable(target[1], fuzzes=bool(fuzzes))) is not None:
                rows.append(Row(label, f"left out: {why}"))
            elif target[0] == "bench":
                benches.append(target[1])
            else:
                programs.append(target[1])
        if not fuzzes and tree.mentions(r"#\[test\]", ".rs", under=folder):
            tested.append(folder)
        inside = str(PurePosixPath(folder, "src"))
        if tree.mentions(r"^\s*#\[bench\]", ".rs", under=inside):
            rows.append(Row(f"#[bench] in {inside}", "left out: only files of benches/ are measured"))
    known = [each for each in benches if each.library]
    rows += [
        Row(f"bench {each.name}", "left out: not of Criterion, divan or #[bench]")
        for each in benches
        if each not in known
    ]
    stable = [each for each in known if not each.nightly]
    # what needs a compiler that is not here gives way, also to a program
    able = len(stable) < len(known) and ask.run("cargo", "+nightly", "--version") is not None
    chosen = known if able or not (stable or programs) else stable
    rows += [Row(f"bench {each.name}", "left out: needs a nightly Rust") for each in known if each not in chosen]
    found = _of_benches(tree, chosen) if chosen else None
    found = found or _of_program(tree, programs) or _of_tests(tree, tested)
    if found is None:
        wanting = programs[0] if programs else None
        measured = placeholder() if wanting is None else program(_made(tree, wanting), None)
        # what it has may be left out, and the rows say so
        lacks = "Cargo.toml, without benches or tests that can be measured"
        found = Found("cargo", lacks, [measured], f"cargo build --release {_TARGET}")
    return _with_lock(tree, replace(found, rows=[*found.rows, *rows], place=packages[0][0]["place"]))


def _unusable(target: _Target, *, fuzzes: bool) -> str | None:
    """Say why a target cannot be measured; None: it can, as far as its source tells."""
    if not _NAME.fullmatch(target.name) or not _NAME.fullmatch(target.package):
        return "its name cannot stand in a command"
    if fuzzes or "fuzz_target!" in target.text:
        return "a fuzz target has no end"
    return "it has no main() of its own" if "#![no_main]" in target.text else None


def _with_lock(tree: Tree, found: Found) -> Found:
    lock = str(PurePosixPath(found.place, "Cargo.lock"))
    if lock in tree.names:
        # a tracked one is written anew where Cargo.toml asks for more
        return replace(found, changes=[lock])
    own = shlex.quote(lock)
    # an ignored one is taken along; cargo would write through the link of `share`
    taken = replace(found, share=[lock], setup=f"cp {own} {own}.own && mv {own}.own {own}")
    return taken if lock in tree.ignored else found


def _packages(tree: Tree, ask: Asked) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield the packages, and whether each is one that cargo builds when none is named."""
    seen: set[str] = set()
    for manifest in tree.named("Cargo.toml", aside=_ASIDE)[:40]:
        if manifest in seen:
            continue
        seen.add(manifest)
        answer = ask.json(
            "cargo", "metadata", "--no-deps", "--offline", "--format-version=1", f"--manifest-path={manifest}"
        )
        if not isinstance(answer, dict):
            ask.refused(manifest)
            if package := _simply(tree, manifest):
                yield package, True
            continue
        default = set(answer.get("workspace_default_members") or answer["workspace_members"])
        for each in answer["packages"]:
            place = ask.inside(each["manifest_path"])
            if place is None or (place in seen and place != manifest):
                continue
            seen.add(place)
            targets = [
                (kind, one["name"], ask.inside(one["src_path"]), tuple(one.get("required-features") or ()))
                for one in each["targets"]
                for kind in one["kind"]
            ]
            yield {
                "name": each["name"], "manifest": place, "targets": targets, "run": each.get("default_run"),
                "dependencies": {one["name"]: one["req"] for one in each["dependencies"]},
                "metadata": table_of(each, "metadata"),
                "place": folder_of(manifest),
            }, each["id"] in default  # fmt: skip


def _simply(tree: Tree, manifest: str) -> dict[str, Any] | None:
    """Read a package without cargo: its table, and the files where cargo looks by itself."""
    folder = folder_of(manifest)
    lead = f"{folder}/" if folder else ""
    tables = tree.toml(manifest)
    package = tables.get("package")
    if not isinstance(package, dict) or not isinstance(package.get("name"), str):
        return None
    targets: dict[tuple[str, str], str] = {}
    for kind, usual in (("bench", "benches"), ("bin", "src/bin")):
        for path in tree.ending(".rs", under=f"{lead}{usual}"):
            inner = PurePosixPath(path).relative_to(f"{lead}{usual}")
            if len(inner.parts) == 1 or inner.parts[1:] == ("main.rs",):
                targets[kind, PurePosixPath(inner.parts[0]).stem] = path
        declared = tables.get(kind)
        for each in declared if isinstance(declared, list) else []:
            if isinstance(each, dict) and isinstance(each.get("name"), str):
                name = each["name"]
                places = [each.get("path"), f"{usual}/{name}.rs", f"{usual}/{name}/main.rs"]
                source = next((lead + p for p in places if isinstance(p, str) and lead + p in tree.names), "")
                targets[kind, name] = source
    if f"{lead}src/main.rs" in tree.names:
        targets.setdefault(("bin", package["name"]), f"{lead}src/main.rs")
    every = table_of(tables, "dependencies") | table_of(tables, "dev-dependencies")
    needs = {name: str(v.get("version", "") if isinstance(v, dict) else v) for name, v in every.items()}
    return {
        "name": package["name"], "manifest": manifest, "run": package.get("default-run"), "dependencies": needs,
        "targets": [(kind, name, path, ()) for (kind, name), path in targets.items()],
        "metadata": table_of(package, "metadata"), "place": folder,
    }  # fmt: skip


def _targets(tree: Tree, package: dict[str, Any], folder: str, default: bool) -> Iterator[tuple[str, _Target]]:
    """Yield the benches and programs of a package, its own program first."""
    own = package["run"] or package["name"]
    for kind, name, source, features in sorted(package["targets"], key=lambda each: each[1] != own):
        # an example that is called a benchmark is one
        if (kind in ("bench", "bin") or (kind == "example" and BENCH.search(name))) and source is not None:
            usable = default and (not features or kind == "example")
            # of a program all that lies beside and below it may read its arguments
            below = str(PurePosixPath(source).parent) if kind == "bin" and source else ""
            text = "\n".join(map(tree.text, tree.ending(".rs", under=below) if below else [source])) if source else ""
            yield (
                kind,
                _Target(folder, package["name"], name, source, text, features, package["dependencies"], usable, kind),
            )


def _of_benches(tree: Tree, every: list[_Target]) -> Found:
    named, rows = kept([each.source for each in every], "benches")
    benches = [each for each in every if each.source in named]
    twice = [each.name for each in benches]
    titles = [each.name if twice.count(each.name) == 1 else f"{each.package}-{each.name}" for each in benches]
    names = names_of(titles, "bench")
    criterion = [each for each in benches if each.library == "criterion"]
    plan, _ = suite_plan(sum(each.cases for each in criterion), 0.2 * len(criterion))
    whole = [each for each in criterion if _WHOLE.match(each.dependencies.get("criterion", ""))]
    plan = plan if whole else replace(plan, executions=_STARTS)
    if not criterion:
        plan = fixed_plan(sum(each.cases for each in benches), 0.1, _SECONDS[str(benches[0].library)])
    measured = []
    for name, bench in zip(names, benches, strict=True):
        options = ["--bench"]
        if bench in criterion:
            seconds = [1, 1] if bench in whole else [2 * _SAMPLE, 10 * _SAMPLE]
            options += [f"--warm-up-time={seconds[0]:g}", f"--measurement-time={seconds[1]:g}"]
        command = within(bench.folder, [f"./target/bench-{name}", *options])
        form = None if bench in criterion else bench.library
        measured.append(Proposed(name, command, [], "values" if form else "criterion", form))
    libraries = " and ".join(sorted({str(each.library) for each in benches}))
    own = {*_LIBRARIES, "bencher", *(each.package for each in benches)}
    # what makes random inputs is compared with nothing
    others = {
        name
        for each in benches
        for name in each.dependencies
        if f"{name.replace('-', '_')}::" in each.text and name not in own and not name.startswith("rand")
    }
    made = [str(PurePosixPath("target", f"bench-{name}")) for name in names]
    build, built = _build(tree, [*zip(made, benches, strict=True)])
    measured = [replace(each, built=built[path]) for each, path in zip(measured, made, strict=True)]
    return Found(
        "cargo", f"{libraries} benches", measured, build, _COMMENT, artifacts=made, rows=rows, amount=plan,
        name=benches[0].package, others=tuple(sorted(others)),
    )  # fmt: skip


def _build(tree: Tree, made: list[tuple[str, _Target]]) -> tuple[str, dict[str, tuple[str, ...]]]:
    """Return the script that compiles the benches, and what of it is for each alone, by its path.

    Those of one package are compiled by one command: at the same time.
    """
    calls: dict[str, list[tuple[str, _Target]]] = {}
    for path, bench in made:
        own = {"rust-toolchain", "rust-toolchain.toml"} & tree.names
        cargo = "cargo +nightly" if bench.nightly and not own else "cargo"
        calls.setdefault(f"{cargo} bench --no-run {_TARGET}{_manifest(bench)}{_features(bench)}", []).append(
            (path, bench)
        )
    built: dict[str, tuple[str, ...]] = {}
    lines = ["set -e", f"touch {shlex.join(bench.source for _, bench in made)}"]
    copy = 'cp "$(ls -t target/%srelease/deps/%s-%s | head -n 1)" %s'
    if len(made) > 1:
        lines.append(f"keep() {{ {copy % (_triple(tree), '$1', '?' * 16, '$2')}; }}")
    for call, each in calls.items():
        compile_ = f"{call} {' '.join(f'--bench {bench.name}' for _, bench in each)}"
        # before another package makes one of that name; a hash has 16 digits
        named = [(bench.name.replace("-", "_"), path) for path, bench in each]
        if len(made) > 1:
            keeps = [f"keep {name} {path}" for name, path in named]
            lines.append("; ".join([compile_, *keeps]))
        else:
            keeps = [copy % (_triple(tree), name, "?" * 16, path) for name, path in named]
            lines += [compile_, *keeps]
        for (path, bench), keep in zip(each, keeps, strict=True):
            # without a name the command would compile all of the package
            texts = (keep, f"--bench {bench.name}") if len(each) > 1 else (lines[-1],)
            built[path] = (*texts, path, shlex.quote(bench.source))
    return "\n".join(lines), built


def _manifest(target: _Target) -> str:
    # a package's name may also be that of something that it depends on, but its manifest is one only
    return f" --manifest-path {shlex.quote(f'{target.folder}/Cargo.toml')}" if target.folder else ""


def _features(target: _Target) -> str:
    return f" --features {shlex.quote(','.join(target.features))}" if target.features else ""


def _triple(tree: Tree) -> str:
    """Return the directory that `build.target` of cargo's config puts below target/."""
    target = table_of(tree.toml(".cargo/config.toml"), "build").get("target")
    return f"{target.removesuffix('.json')}/" if isinstance(target, str) and _NAME.fullmatch(target) else ""


def _made(tree: Tree, target: _Target) -> str:
    return f"target/{_triple(tree)}release/{'examples/' if target.kind == 'example' else ''}{target.name}"


def _of_program(tree: Tree, programs: list[_Target]) -> Found | None:
    """Take the first program that surely ends by itself, what is called a benchmark before others."""
    for each in sorted(programs, key=lambda each: not BENCH.search(each.name)):
        helps = bool(_PARSERS & set(each.dependencies)) or '"--help"' in each.text or '"help"' in each.text
        if not each.default or not (helps or (each.text and not _WANTS.search(each.text))):
            continue
        path = _made(tree, each)
        made = f"cargo build --release {_TARGET}{_manifest(each)} --{each.kind} {each.name}{_features(each)}"
        build = f"touch {shlex.quote(each.source)} && {made}"
        measured = program(path, ["--help"] if helps else [])
        rows = [Row(f"{e.kind} {e.name}", "left out: one program is measured") for e in programs if e is not each]
        return Found(
            "cargo", f"Cargo.toml, program {each.name}", [measured], build, _COMMENT, artifacts=[path], rows=rows
        )
    return None


def _of_tests(tree: Tree, folders: list[str]) -> Found | None:
    if not folders or "Cargo.toml" not in tree.names:
        return None
    command = ["cargo", "test", "--release", "--offline", "--quiet", "--tests", "--target-dir", "target"]
    sources = [path for folder in folders if (path := str(PurePosixPath(folder, "src/lib.rs"))) in tree.names]
    build = f"cargo test --release --no-run --tests {_TARGET}"
    build = f"touch {shlex.join(sources)} && {build}" if sources else build
    # the time of parallel tests depends on how they overlap
    return Found(
        "cargo", "Cargo.toml, tests", [tests("tests", command)], build, _COMMENT, environment={"RUST_TEST_THREADS": "1"}
    )
