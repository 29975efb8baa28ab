"""Benchmark libraries of JavaScript: they repeat until a fixed time has passed, so the time of a run says nothing.

Their results are read instead, as values: vitest's own JSON, and the lines that benchmark.js has its users print.
"""

from __future__ import annotations

import json
import re

from gate.commands.init.detect.repetitions import fixed_amount
from gate.commands.init.detect.result import Amount

_PACKAGES = (
    "tinybench",
    "mitata",
    "benny",
    "bench-node",
    "cronometro",
    "hotbench",
    "jest-bench",
    "iso-bench",
    "buffalo-test",
)
_CYCLE = re.compile(r"""on\(\s*["']cycle["']""")
_IMPORT = r"""(?:from\s*|require\(\s*|import\s*\(?\s*)["']{}["']"""

FORMATS = {"vitest": "vitest", "benchmark.js": "benchmark_js"}
"""What the values instrument calls the output of the libraries that it reads."""
# Seconds: the start of the tool, and each benchmark by the library's defaults.
_TIMES = {"vitest": (2.0, 2.0), "benchmark.js": (0.5, 5.5)}
_OTHERS = (0.5, 1.5)
_CASES = {"vitest": re.compile(r"\bbench(?:\.\w+)*\("), "mitata": re.compile(r"\bbench\(")}
_ADDED = re.compile(r"\.add\(")


def amount(tool: str, sources: list[str]) -> Amount:
    """Return the plan of benchmarks that take the time that their library gives them, one value an execution."""
    cases = _CASES.get(tool, _ADDED)
    return fixed_amount(tool, max(1, sum(len(cases.findall(text)) for text in sources)), *_TIMES.get(tool, _OTHERS))


def adaptive(script: str, sources: list[str], dependencies: set[str]) -> str | None:
    """Name the library whose benchmarks a script runs; None if it times nothing by itself, as far as can be seen."""
    if re.search(r"\bvitest\b.*\bbench\b", script):
        return "vitest"
    if re.search(r"\b(jest|mitata|bench-node|cronometro)\b", script):
        return next(word for word in ("mitata", "bench-node", "cronometro", "jest") if word in script)
    used = [name for name in (*_PACKAGES, "benchmark") if name in dependencies and _imports(name, sources)]
    if not used:
        return None
    if used == ["benchmark"]:
        return "benchmark.js" if any(_CYCLE.search(text) for text in sources) else "benchmark"
    return used[0]


def is_adaptive(source: str) -> bool:
    """Return whether a file imports a library whose benchmarks repeat until a fixed time has passed."""
    return any(_imports(name, [source]) for name in (*_PACKAGES, "benchmark"))


def _imports(name: str, sources: list[str]) -> bool:
    # a script whose file was not found may well be what the dependency is for
    return not sources or any(re.search(_IMPORT.format(re.escape(name)), text) for text in sources)


def comment(tool: str) -> list[str]:
    """Return what stands above a benchmark whose results are read."""
    return [
        f"{tool} repeats until a fixed time has passed, so the time of the whole run says nothing: its own results are",
        "read, and the mean time of a call of each benchmark becomes a metric.",
    ]


def vitest(command: str, script: str) -> str:
    """Return the command that has vitest write its results as JSON.

    Args:
        script: the one of package.json, for the paths that it names.
    """
    named = re.search(r"\bvitest\s+bench\b([^&|;<>]*)", script)
    paths = [word for word in named[1].split() if not word.startswith("-")] if named else []
    more = "".join(f" {path}" for path in paths if re.fullmatch(r"[\w./*-]+", path))
    return f"{command}{more} --outputJson={{output}}"


def benchmark_js(command: str) -> str:
    """Return the command that keeps the lines "name x 1,234 ops/sec ±0.5% (90 runs sampled)" of benchmark.js."""
    return f"{command} >{{output}}"


def advice(tool: str, script: str, run: list[str]) -> list[str]:
    """Return what is to be done where a library's results cannot be read from outside."""
    tinybench = ("bench.tasks", "task.name", "task.result.latency.mean")
    results, name, mean = tinybench if tool == "tinybench" else ("results", "task.name", "task.milliseconds")
    line = f'JSON.stringify({{ metric: {name}, value: {mean}, unit: "ms" }})'
    return [
        f"{script} uses {tool}, which repeats until a fixed time has passed: the time of the whole run says nothing.",
        "Let the script write its results, and perfgate read them. Two tasks of one name would be one metric.",
        '  import { appendFileSync } from "node:fs"; // CommonJS: const { appendFileSync } = require("node:fs");',
        "  if (process.env.PERFGATE_OUTPUT) {",
        f"    for (const task of {results})",
        f'      appendFileSync(process.env.PERFGATE_OUTPUT, {line} + "\\n");',
        "  }",
        'instrument = "values"',
        f"command = {json.dumps(run)}",
    ]


def note(tool: str, script: str) -> str:
    """Return the note that goes with the advice."""
    return f"{script} uses {tool}, whose results must be written by itself: see the comment above [[benchmark]]"
