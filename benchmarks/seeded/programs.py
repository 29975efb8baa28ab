"""The programs that regressions are put into: how each is built, run, profiled and changed."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.projects import Project
from benchmarks.seeded import seeds
from gate.model import Side
from gate.model.profile import Frame, Profile
from harness.instruments.callgrind import OPTIONS
from harness.profilers import callgrind, pprof, python
from harness.profilers.callgrind import Arcs, Counted, drawn
from harness.profilers.profiler import Costs, Places, counted, fold

HERE = Path(__file__).parent
_LIMIT = 900
"""Seconds of one profile."""


@dataclass(frozen=True)
class Program:
    """A public program in one language."""

    language: str
    project: Project
    files: Sequence[str]
    kinds: Mapping[str, str]
    """What may be put at the begin of a function, by its name."""
    seeds: Sequence[seeds.Seed]
    first: int
    """How much of a kind is tried first."""

    def prepare(self, tree: Path) -> None:
        """Put beside the sources what runs them."""
        raise NotImplementedError

    def profiled(self, tree: Path, side: Side) -> Profile:
        """Build the program, and profile it as perfgate does."""
        raise NotImplementedError

    def insert(self, text: str, function: str, code: str) -> str:
        """Put code at the begin of a function."""
        raise NotImplementedError

    def _profile(self, side: Side, profiler: str, unit: str, costs: Costs, operations: float | None = None) -> Profile:
        frames, stacks = fold(costs)
        calls = counted(frames, costs.calls) if isinstance(costs, Counted) else None
        return Profile(
            benchmark=self.language, side=side, profiler=profiler, unit=unit, operations=operations,
            frames=frames, stacks=stacks, calls=calls, approximate=calls is not None,
        )  # fmt: skip


class InC(Program):
    """cJSON under callgrind."""

    def prepare(self, tree: Path) -> None:
        """Put the program that runs it beside it."""
        shutil.copy(HERE / "driver.c", tree / "driver.c")

    def profiled(self, tree: Path, side: Side) -> Profile:
        """Build and profile it."""
        _run(["gcc", "-O2", "-g", "-w", "-o", "app", "driver.c", "cJSON.c", "-lm"], tree)
        out = tree / "callgrind.out"
        _run(["valgrind", *OPTIONS, f"--callgrind-out-file={out}", "./app"], tree)
        arcs = Arcs()
        callgrind.add(out.read_bytes(), arcs, Places(tree), {})
        return self._profile(side, "callgrind", "instructions", drawn(arcs))

    def insert(self, text: str, function: str, code: str) -> str:
        """Put code behind the brace, or the text, that a function begins with."""
        return _after(rf"^[^\n;{{]*\b{re.escape(function)}\)?\([^;{{]*\)\s*\{{", text, code)


class InGo(Program):
    """blackfriday with the profiler of Go's run time."""

    def prepare(self, tree: Path) -> None:
        """Put the program that runs it beside it."""
        (tree / "cmd").mkdir(exist_ok=True)
        shutil.copy(HERE / "driver.go.txt", tree / "cmd" / "main.go")
        (tree / "seed.go").write_text(seeds.GO_SINKS)

    def profiled(self, tree: Path, side: Side) -> Profile:
        """Build and profile it."""
        for name in self.files:
            text = (tree / name).read_text()
            for package in ("fmt", "regexp", "strings"):
                if f"{package}." in text and f'"{package}"' not in text:
                    text = text.replace("import (", f'import (\n\t"{package}"', 1)
            (tree / name).write_text(text)
        _run(["go", "build", "-o", "app", "./cmd"], tree)
        # as many samples as ten seconds give, which a busy host divides
        times = 4000
        _run(["./app", "cpu.pprof", str(times)], tree)
        return self._profile(side, "pprof", "s", pprof.parse((tree / "cpu.pprof").read_bytes(), Places(tree)), times)

    def insert(self, text: str, function: str, code: str) -> str:
        """Put code behind the brace, or the text, that a function begins with."""
        return _after(rf"^func (?:\([^)]*\) )?{re.escape(function)}\([^\n]*\{{\n", text, code + "\n")


class InPython(Program):
    """mistune under perfgate's sampler."""

    def prepare(self, tree: Path) -> None:
        """Put the program that runs it beside it."""
        shutil.copy(HERE / "driver.py.txt", tree / "driver.py")

    def profiled(self, tree: Path, side: Side) -> Profile:
        """Build and profile it."""
        module, samples = tree / "sampler", tree / "samples"
        for each in (module, samples):
            shutil.rmtree(each, ignore_errors=True)
            each.mkdir()
        shutil.copy(Path(python.__file__).with_name("python_sampler.py"), module / "sitecustomize.py")
        environment = {"PYTHONPATH": str(module), "PERFGATE_SAMPLES": str(samples), "PYTHONHASHSEED": "0", "PATH": ""}
        executions: list[Costs] = []
        for _ in range(3):
            _run([sys.executable, "driver.py", "8"], tree, environment)
            (file,) = samples.iterdir()
            executions.append(python.parse(file.read_bytes(), Places(tree)))
            file.unlink()
        mean: dict[tuple[Frame, ...], float] = defaultdict(float)
        for costs in executions:
            for stack, cost in costs.items():
                mean[stack] += cost / len(executions)
        return self._profile(side, "python", "s", mean)

    def insert(self, text: str, function: str, code: str) -> str:
        """Put code behind the brace, or the text, that a function begins with."""
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef) and node.name == function:
                begins_with_text = isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
                first = node.body[1 if begins_with_text and len(node.body) > 1 else 0]
                lines = text.split("\n")
                lines[first.lineno - 1 : first.lineno - 1] = [
                    " " * first.col_offset + line for line in code.split("\n")
                ]
                return "\n".join(lines)
        raise LookupError(function)


def _after(pattern: str, text: str, code: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        raise LookupError(pattern)
    return f"{text[: found.end()]} {code} {text[found.end() :]}"


def _run(command: Sequence[str], directory: Path, environment: Mapping[str, str] | None = None) -> None:
    subprocess.run(
        command, cwd=directory, check=True, timeout=_LIMIT, env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


PROGRAMS: dict[str, Program] = {
    "C": InC(
        "C",
        Project("https://github.com/DaveGamble/cJSON", "a29814f285cc531c00223743ad3c55cd38c0dc56", "", "", ()),
        ("cJSON.c",), seeds.C_KINDS, seeds.CJSON, 10,
    ),
    "Python": InPython(
        "Python",
        Project("https://github.com/lepture/mistune", "b5dd9949baf3729a709ef8ae591eab86e72a9e46", "", "", ()),
        tuple(
            f"src/mistune/{name}.py"
            for name in (
                "core", "block_parser", "inline_parser", "util", "helpers", "renderers/html", "list_parser", "markdown",
            )
        ),
        seeds.PY_KINDS, seeds.MISTUNE, 10,
    ),
    "Go": InGo(
        "Go",
        Project("https://github.com/russross/blackfriday", "e96880f42b9343aea6cbfd99693adae0e5fe2b2a", "", "", ()),
        tuple(f"{name}.go" for name in ("block", "html", "inline", "markdown", "smartypants")),
        seeds.GO_KINDS, seeds.BLACKFRIDAY, 100,
    ),
}  # fmt: skip
