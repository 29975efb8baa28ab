"""Measured runs of any size and unkindness, as the harness would have written them: one builder a situation."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from gate.model import SIDES

Line = dict[str, Any]
Lines = Iterator[Line]
CHANGES = (1.0, 1.1, 0.88, 1.028, 1.002)
"""What head takes of base's time: case k has CHANGES[k % 5], so that all verdicts occur."""

HOSTILE = (
    "<script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "\"'><svg onload=window.hacked=1>",
    "</style></title></textarea><b>bold</b>",
    "a | b \\| c",
    "back`tick ``two`` `",
    "@team please see #12 and GH-3",
    "x]( javascript:alert(1) ) [y](https://evil.example)",
    "n" * 500,
    "\u202eevil\u202c \u05d0\u05d1\u05d2 right to left",
    "two\nlines\r\n| x | y |",
    "\x1b[31mred\x1b[0m\x07\x00",
    "日本語のベンチマーク",
    "<!-- perfgate -->&amp;",
    "https://evil.example/path www.evil.example a@evil.example",
    "- item **bold** _em_ ~~gone~~ $\\frac{x}{y}$ $x$",
    "]]>&#x3c;&lt;",
    "=1+cmd|'/C calc'!A0",
    "\ufffe\ud7ff\uffff\u0085\u2028\u200b\u0301",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shape:
    """How much was measured, of how many cases; spread: relative standard deviation of builds, executions, iterations."""

    cases: int = 1
    builds: int = 5
    executions: int = 3
    iterations: int = 10
    sessions: int = 1
    spread: tuple[float, float, float] = (0.004, 0.003, 0.01)


def names(shape: Shape) -> list[str]:
    return [f"suite/group-{k // 20}/case-{k:03}" for k in range(shape.cases)]


def run_line(benchmarks: list[str], shape: Shape, **changes: Any) -> Line:
    """What measuring began with; the rules are the defaults with a threshold of 5%."""
    gate = {"threshold": "5%", "floor": "1us"}
    plan: dict[str, Any] = {
        "builds": shape.builds, "executions": shape.executions, "iterations": shape.iterations, "budget": "15m",
    }  # fmt: skip
    return {
        "type": "run", "schema": 1, "id": "20261120T090000Z-1", "created": "2026-11-20T09:00:00Z", "perfgate": "0.1.0", "seed": 7,
        "sessions": shape.sessions,
        "base": {"ref": "main", "sha": "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d"},
        "head": {"ref": "feature", "sha": "9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c"},
        "chosen": "base is the merge base of HEAD and main; head is HEAD",
        "rules": "base",
        "whose": {"kind": "base"},
        "host": {"os": "Linux", "kernel": "6.1", "machine": "x86_64", "cpu": "Example CPU @ 2.10GHz", "cores": 2},
        "config": {"gate": gate, "plan": plan, "build": {"command": "make clean all", "artifacts": ["app"]}},
        "benchmarks": dict.fromkeys(SIDES, benchmarks),
        "commands": {name: f"./app {number}" for number, name in enumerate(benchmarks)},
        **changes,
    }  # fmt: skip


def host_lines() -> list[Line]:
    """The state of the machine at both ends, which differ."""
    return [
        {
            "type": "host", "when": when, "time": f"2026-11-20T09:0{minute}:00Z",
            "state": {"load": [load, load / 2, 0.1], "boot_id": "b1", "cpu_steal": load / 100},
        }
        for when, minute, load in (("begin", 0, 0.3), ("end", 8, 2.4))
    ]  # fmt: skip


def _drawn(shape: Shape, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    # one side of one case: sessions, builds, executions, iterations
    build, execution, iteration = shape.spread
    size = (shape.sessions, shape.builds, shape.executions, shape.iterations)
    effects = rng.normal(0, build, (*size[:2], 1, 1)) + rng.normal(0, execution, (*size[:3], 1))
    return np.asarray(0.01 * (1 + effects + rng.gamma(2, iteration, size)))


def measured(shape: Shape, benchmarks: list[str] | None = None, **more: Any) -> Lines:
    """Draw the builds and executions of a run in the order they took place: by session, round, case and side.

    more: further keys of every execution, or metric= and unit= of its values.
    """
    rng = np.random.default_rng(shape.cases * 1000 + shape.builds)
    benchmarks = names(shape) if benchmarks is None else benchmarks
    metric, unit = more.pop("metric", "time"), more.pop("unit", "s")
    values = {
        (case, side): _drawn(shape, rng) * (CHANGES[case % 5] if side == "head" else 1)
        for case in range(len(benchmarks))
        for side in SIDES
    }
    order = 0
    for session in range(shape.sessions):
        for build in range(shape.builds):
            for side in SIDES:
                digest = f"sha256:{side[0]}{session}{build:02}".ljust(71, "a")
                yield {
                    "type": "build", "side": side, "session": session, "build": build, "seed": 1000 + build,
                    "seconds": 1.5, "artifacts": {"app": digest},
                }  # fmt: skip
            for execution in range(shape.executions):
                for case, name in enumerate(benchmarks):
                    for side in SIDES if (build + execution) % 2 else SIDES[::-1]:
                        drawn = values[case, side][session, build, execution].tolist()
                        yield {
                            "type": "execution", "benchmark": name, "side": side, "session": session, "build": build,
                            "execution": execution, "order": order, "seconds": sum(drawn),
                            "metrics": {metric: {"unit": unit, "values": drawn}}, **more,
                        }  # fmt: skip
                        order += 1


def plain(shape: Shape) -> Lines:
    """Yield a run where everything went well."""
    yield run_line(names(shape), shape)
    yield from measured(shape)
    yield from host_lines()


def nothing() -> Lines:
    """Yield a run that was ended before its first build."""
    yield run_line(["parse"], Shape())


def only_failures() -> Lines:
    """Yield a build that fails, and one benchmark that does so every time."""
    yield run_line(["parse", "render"], Shape())
    yield {
        "type": "failure", "kind": "build", "side": "head", "build": 0, "status": "exit 2", "command": "make clean all",
        "stderr": "src/main.c:12:3: error: unknown type name 'size'\nmake: *** [main.o] Error 1\n", "seconds": 1.0,
    }  # fmt: skip
    for build in range(5):
        yield {
            "type": "failure", "kind": "execution", "benchmark": "parse", "side": "base", "build": build, "execution": 0,
            "status": "signal SIGSEGV", "stderr": "", "command": "./app 0",
        }  # fmt: skip


def only_inconclusive() -> Lines:
    """Yield cases with a spread far beyond the threshold."""
    shape = Shape(cases=4, spread=(0.2, 0.1, 0.1))
    return plain(shape)


def hostile() -> Lines:
    """Yield a run in which every text that comes from elsewhere is one of HOSTILE."""
    shape = Shape(cases=len(HOSTILE), builds=5, executions=2, iterations=4)
    benchmarks = list(HOSTILE)
    texts = {name: name for name in HOSTILE}
    yield run_line(
        benchmarks, shape, id=HOSTILE[0], created=HOSTILE[1], perfgate=HOSTILE[2], chosen=" ".join(HOSTILE),
        rules=HOSTILE[3], whose={"kind": "named", "name": HOSTILE[3]}, base={"ref": HOSTILE[0], "sha": HOSTILE[3]}, head={"ref": HOSTILE[9], "sha": HOSTILE[1]},
        host=texts, commands=texts, warnings=list(HOSTILE),
    )  # fmt: skip
    for number, text in enumerate(HOSTILE):
        one = Shape(cases=1, builds=5, executions=2, iterations=4)
        # the builds are the run's: one line each, not one a benchmark
        lines = measured(one, [text], metric=text, unit=text, factors=dict.fromkeys(HOSTILE[number : number + 3], text))
        for line in lines:
            if line["type"] == "execution":
                yield {**line, "order": line["order"] * len(HOSTILE) + number}
            elif number == 0:
                yield {**line, "artifacts": texts}
    for text in HOSTILE:
        yield {
            "type": "failure", "kind": "execution", "benchmark": f"failed {text}", "side": "head", "build": 0, "execution": 0,
            "status": text, "stderr": f"{text}\n```\n</pre></script>]]>", "command": text, "directory": text,
            "environment": texts, "hint": text,
        }  # fmt: skip
    for when in ("begin", "end"):
        yield {"type": "host", "when": when, "time": when + HOSTILE[0], "state": {**texts, "load": when + HOSTILE[1]}}


def early() -> Lines:
    """Yield a run that stopped at the second of its looks: rounds 4 to 12, of which 6 were measured."""
    shape = Shape(cases=3, builds=6)
    first = run_line(names(shape), shape)
    first["config"]["plan"]["builds"] = {"min": 4, "max": 12}
    yield first
    for line in measured(shape):
        if line["type"] == "build" and line["side"] == "base" and line["build"] > 3:
            yield {"type": "look", "look": line["build"]}
        yield line
    yield {"type": "look", "look": 6, "settled": names(shape), "stop": "every benchmark is settled"}
    yield from host_lines()


RUNS: dict[str, Callable[[], Lines]] = {
    "one": lambda: plain(Shape()),
    "nothing": nothing,
    "failures": only_failures,
    "inconclusive": only_inconclusive,
    "hostile": hostile,
    "builds-12": lambda: plain(Shape(cases=2, builds=12)),
    "builds-60": lambda: plain(Shape(builds=60, executions=2)),
    "sessions": lambda: plain(Shape(cases=2, builds=3, sessions=4)),
    "early": early,
}
"""Small runs, one a situation."""


def write(folder: Path, lines: Lines) -> Path:
    """Write a run into a folder as `perfgate measure` leaves it; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    encoder = msgspec.json.Encoder()
    with (folder / "measurements.jsonl").open("wb") as file:
        for line in lines:
            file.write(encoder.encode(line) + b"\n")
    return folder
