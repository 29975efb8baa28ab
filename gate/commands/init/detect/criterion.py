"""Rust packages whose benches use Criterion."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from gate.commands.init.detect.crates import NAME, TARGET, Crate, clean, tables, triple
from gate.commands.init.detect.repetitions import Suite, amount, length_of_value
from gate.commands.init.detect.result import Found, Measured, names_of
from gate.commands.init.detect.tree import Tree
from gate.units import agree

_USES = re.compile(r"\bcriterion(?:_main!|_group!|::)")
_CASE = re.compile(r"\.\s*bench(?:_function|_with_input|_values)?\s*\(")
_MOST = 12
_SAMPLES = 10  # the fewest that Criterion takes
_WARM_UP = 0.5  # of the time of the samples
_ANALYSIS = 0.2
_MORE = "Longer if inputs yield many benchmarks."
_COMMENT = [
    "Criterion's own times are 3 s and 5 s. Short values, over executions and builds, show the noise that long ones",
    "hide. A name at the end chooses benchmarks.",
]


@dataclass(frozen=True, slots=True)
class _Bench:
    crate: Crate
    name: str
    cases: int

    @property
    def program(self) -> str:
        """Where the build puts it, below the project."""
        return f"target/bench-{self.name}"


def look(tree: Tree, crates: list[Crate]) -> Found | None:
    """Find the bench targets that are Criterion's; None without one."""
    every = [bench for crate in crates for bench in _benches(tree, crate)]
    # two of one name would be put in one place
    every = list({bench.name: bench for bench in reversed(every)}.values())[::-1]
    if not every:
        return None
    benches, rest = every[:_MOST], every[_MOST:]
    cases = sum(bench.cases for bench in benches)
    suite = Suite(cases, _WARM_UP, _ANALYSIS * cases, _MORE, iterations=_SAMPLES, warmup=0)
    length = length_of_value(suite)
    names = names_of((bench.name for bench in benches), "bench")
    first, *more = [_measured(name, bench, length) for name, bench in zip(names, benches, strict=True)]
    left = ", ".join(bench.name for bench in rest[:_MOST])
    return Found(
        "cargo",
        f"Criterion's bench{'es' if len(every) != 1 else ''} {', '.join(bench.name for bench in benches)}",
        replace(first, comment=_COMMENT),
        _build(tree, benches, crates),
        [
            "The project's own crates are built anew each time, its dependencies once a side. --target-dir keeps the",
            "sides apart also where CARGO_TARGET_DIR is set. The benches get names without the hash that Cargo adds.",
        ],
        artifacts=[bench.program for bench in benches],
        notes=[
            (
                f"{len(rest)} more of Criterion's benches {agree(len(rest), 'is', 'are')} left out ({left}): "
                "add what matters"
            )
        ]
        if rest
        else [],
        more=more,
        amount=amount(suite, length),
    )


def _benches(tree: Tree, crate: Crate) -> Iterator[_Bench]:
    manifest = crate.manifest
    gated = {bench.get("name") for bench in tables(manifest.get("bench")) if bench.get("required-features")}
    for bench in tables(manifest.get("bench")):
        name, path = bench.get("name"), bench.get("path")
        # the harness of the compiler would take the place of Criterion's
        if not isinstance(name, str) or not NAME.fullmatch(name) or bench.get("harness") is not False or name in gated:
            continue
        places = [path] if isinstance(path, str) else [f"benches/{name}.rs", f"benches/{name}/main.rs"]
        texts = [tree.text(str(PurePosixPath(crate.directory, place))) for place in places]
        text = "\n".join(texts)
        if _USES.search(text):
            yield _Bench(crate, name, max(1, len(_CASE.findall(text))))


def _measured(name: str, bench: _Bench, length: float) -> Measured:
    seconds = _SAMPLES * length
    options = ["--bench", f"--warm-up-time={_WARM_UP * seconds:g}", f"--measurement-time={seconds:g}"]
    directory = bench.crate.directory
    if not directory:
        return Measured(name, [f"./{bench.program}", *options], [], instrument="criterion")
    up = "../" * len(PurePosixPath(directory).parts)
    command = f"cd {shlex.quote(directory)} && {up}{bench.program} {shlex.join(options)}"
    return Measured(name, command, [], instrument="criterion")


def _build(tree: Tree, benches: list[_Bench], crates: list[Crate]) -> str:
    packages = "".join(f" -p {name}" for name in dict.fromkeys(bench.crate.name for bench in benches))
    chosen = "".join(f" --bench {bench.name}" for bench in benches)
    deps = f"target/{triple(tree)}release/deps"
    # Cargo's hash has 16 digits; what else begins so is not a program
    copies = [
        f'cp "$(ls -t {deps}/{bench.name.replace("-", "_")}-{"?" * 16} | head -n 1)" {bench.program}'
        for bench in benches
    ]
    make = f"{clean(crates)}cargo bench --no-run {TARGET}{packages}{chosen}"
    return "\n".join(["set -e", *f"{make}".split(" && "), *copies])
