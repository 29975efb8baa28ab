"""Rust packages with benches: Criterion's, divan's, and those that print as the compiler's own do."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from gate.commands.init.detect.crates import NAME, TARGET, Crate, at, inside, tables, triple
from gate.commands.init.detect.repetitions import Suite, amount, fixed_amount, length_of_value
from gate.commands.init.detect.result import Amount, Found, Measured, left_out, names_of
from gate.commands.init.detect.tree import Tree

_LIBRARIES = {
    "criterion": re.compile(r"\bcriterion(?:_main!|_group!|::)"),
    "divan": re.compile(r"\bdivan::"),
    # the compiler's own and the crate bencher write the same lines
    "libtest": re.compile(r"^\s*#\[bench\]|\bbencher::|\bbenchmark_main!", re.MULTILINE),
}
_CASES = {
    "criterion": re.compile(r"\.\s*bench(?:_function|_with_input|_values)?\s*\("),
    "divan": re.compile(r"^\s*#\[(?:divan::)?bench\b", re.MULTILINE),
    "libtest": re.compile(r"^\s*#\[bench\]|&(?:mut )?Bencher\b", re.MULTILINE),
}
_SECONDS = {"divan": 0.5, "libtest": 0.6}  # of a benchmark, by its own default
_NIGHTLY = re.compile(r"#!\[feature\(")
_MOST = 12
_SAMPLES = 10  # the fewest that Criterion takes
_WARM_UP = 0.5  # of the time of the samples
_ANALYSIS = 0.2
_MORE = "Longer if inputs yield many benchmarks."
_COMMENTS = {
    "criterion": [
        "Criterion's own times are 3 s and 5 s. Short values, over executions and builds, show the noise that long",
        "ones hide. A name at the end chooses benchmarks.",
    ],
    "divan": [
        "Mean, median and fastest of each benchmark, as divan prints them. A name at the end chooses benchmarks."
    ],
    "libtest": ["The time per iteration that is printed for each benchmark. A name at the end chooses benchmarks."],
}
_BUILD = [
    "Only the bench itself is compiled and linked again in each build; what it is linked with is compiled once a side.",
    "--target-dir keeps the sides apart also where CARGO_TARGET_DIR is set. Benches get names without Cargo's hash.",
]


@dataclass(frozen=True, slots=True)
class _Bench:
    crate: Crate
    name: str
    library: str
    source: str
    cases: int
    features: tuple[str, ...]
    nightly: bool


def look(tree: Tree, crates: list[Crate]) -> Found | None:
    """Find the bench targets of a library whose results can be read; None without one."""
    every = [bench for crate in crates for bench in _benches(tree, crate)]
    if not every:
        return None
    # what needs another compiler must not keep the rest from being measured
    stable = [bench for bench in every if not bench.nightly] or every
    benches, rest = stable[:_MOST], [*stable[_MOST:], *(bench for bench in every if bench not in stable)]
    plan, length = _plan(benches)
    names = names_of((_title(bench, benches) for bench in benches), "bench")
    first, *more = [_measured(name, bench, length) for name, bench in zip(names, benches, strict=True)]
    notes = left_out([bench.source for bench in rest], "bench", "benches")
    if benches[0].nightly and not {"rust-toolchain", "rust-toolchain.toml"} & tree.names:
        notes.append("these benches need a nightly Rust (`rustup toolchain install nightly`)")
    return Found(
        "cargo",
        f"{' and '.join(sorted({bench.library for bench in benches}))} benches {', '.join(names)}",
        replace(first, comment=_COMMENTS[benches[0].library]),
        _build(tree, names, benches),
        _BUILD,
        artifacts=[_program(name) for name in names],
        notes=notes,
        more=more,
        amount=plan,
    )


def need_nightly(found: Found) -> bool:
    """Return whether the benches that were found do not compile with a stable Rust."""
    return "cargo +nightly" in str(found.build)


def _title(bench: _Bench, benches: list[_Bench]) -> str:
    same = [other for other in benches if other.name == bench.name]
    return bench.name if len(same) == 1 else f"{bench.crate.name}-{bench.name}"


def _program(name: str) -> str:
    """Return where the build puts a bench, below the project."""
    return f"target/bench-{name}"


def _plan(benches: list[_Bench]) -> tuple[Amount, float]:
    """Return how much is measured, and the seconds of a value of Criterion's."""
    criterion = sum(bench.cases for bench in benches if bench.library == "criterion")
    suite = Suite(criterion, _WARM_UP, _ANALYSIS * criterion, _MORE, iterations=_SAMPLES, warmup=0)
    length = length_of_value(suite)
    if criterion:
        return amount(suite, length), length
    library = benches[0].library
    cases = sum(bench.cases for bench in benches)
    return fixed_amount(library, cases, 0.1, _SECONDS[library]), length


def _benches(tree: Tree, crate: Crate) -> Iterator[_Bench]:
    manifest = crate.manifest
    declared = tables(manifest.get("bench"))
    known = {bench.get("name") for bench in declared} | {bench.get("path") for bench in declared}
    if manifest["package"].get("autobenches", True):
        inner = [PurePosixPath(inside(path, crate.directory)) for path in tree.files if inside(path, crate.directory)]
        inner = [path for path in inner if path.suffix == ".rs" and path.parts[0] == "benches"]
        inner = [path for path in inner if str(path) not in known]
        names = [path.stem for path in inner if len(path.parts) == 2]
        names += [path.parts[1] for path in inner if len(path.parts) == 3 and path.name == "main.rs"]
        declared += [{"name": name} for name in names if name not in known]
    for target in declared:
        name, path = target.get("name"), target.get("path")
        if not isinstance(name, str) or not NAME.fullmatch(name):
            continue
        places = [path] if isinstance(path, str) else [f"benches/{name}.rs", f"benches/{name}/main.rs"]
        source = next((place for p in places if (place := at(crate.directory, p)) in tree.names), None)
        library = _library(tree.text(source), target.get("harness", True)) if source else None
        if source and library:
            text = tree.text(source)
            cases = max(1, len(_CASES[library].findall(text)))
            needed = target.get("required-features")
            features = tuple(each for each in needed if isinstance(each, str)) if isinstance(needed, list) else ()
            yield _Bench(crate, name, library, source, cases, features, bool(_NIGHTLY.search(text)))


def _library(text: str, harness: object) -> str | None:
    found = next((name for name, uses in _LIBRARIES.items() if uses.search(text)), None)
    # the harness of the compiler would take the place of Criterion's, and only it knows #[bench]
    needs_harness = found == "libtest" and "#[bench]" in text
    return found if found and (harness is not False) == needs_harness else None


def _measured(name: str, bench: _Bench, length: float) -> Measured:
    options = ["--bench"]
    if bench.library == "criterion":
        seconds = _SAMPLES * length
        options += [f"--warm-up-time={_WARM_UP * seconds:g}", f"--measurement-time={seconds:g}"]
    command: list[str] | str = [f"./{_program(name)}", *options]
    directory = bench.crate.directory
    if directory:
        up = "../" * len(PurePosixPath(directory).parts)
        command = f"cd {shlex.quote(directory)} && {up}{_program(name)} {shlex.join(options)}"
    if bench.library == "criterion":
        return Measured(name, command, [], instrument="criterion")
    return Measured(name, command, [], instrument="values", form=bench.library)


def _build(tree: Tree, names: list[str], benches: list[_Bench]) -> str:
    """Return the script that compiles the benches, those of one package by one command: at the same time."""
    calls: dict[str, list[tuple[str, _Bench]]] = {}
    for name, bench in zip(names, benches, strict=True):
        calls.setdefault(_call(tree, bench), []).append((name, bench))
    lines = ["set -e"]
    deps = f"target/{triple(tree)}release/deps"
    for call, made in calls.items():
        targets = " ".join(f"--bench {bench.name}" for _, bench in made)
        lines += [f"touch {shlex.join(bench.source for _, bench in made)}", f"{call} {targets}"]
        # before another package makes one of that name; Cargo's hash has 16 digits, what else begins so is no program
        lines += [
            f'cp "$(ls -t {deps}/{bench.name.replace("-", "_")}-{"?" * 16} | head -n 1)" {_program(name)}'
            for name, bench in made
        ]
    return "\n".join(lines)


def _call(tree: Tree, bench: _Bench) -> str:
    directory = bench.crate.directory
    # a package's name may also be that of something that the benches depend on, but its manifest is one only
    manifest = f" --manifest-path {shlex.quote(at(directory, 'Cargo.toml'))}" if directory else ""
    features = f" --features {shlex.quote(','.join(bench.features))}" if bench.features else ""
    own = {"rust-toolchain", "rust-toolchain.toml"} & tree.names
    cargo = "cargo +nightly" if bench.nightly and not own else "cargo"
    return f"{cargo} bench --no-run {TARGET}{manifest}{features}"
