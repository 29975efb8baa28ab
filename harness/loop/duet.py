"""Both sides at once: base and head of an execution start together, iteration by iteration, and CPU time compares them.

What disturbs one then disturbs the other as well (Bulej et al. 2020). Wall time loses a part of the change under load,
user and system time do not (docs/duet.md).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from gate.config.types import Benchmark
from gate.model import SIDES, Side
from harness.instruments.protocol import Unusable, wanted_values, words
from harness.instruments.spawn import RESULT
from harness.loop.execution import Attempt, Executed, Executions, Scratch
from harness.loop.steps import ExecutionStep, draw
from harness.process.execute import Command
from harness.process.forkserver import entered, entering
from harness.process.processors import numbers_of
from harness.sandbox.sandbox import outputs

_LAUNCHER = Path(__file__).parents[1] / "instruments" / "duet_launcher.py"
_SPEC = "duet.json"

Pair = Mapping[Side, ExecutionStep]


def processors(cpus: str | None = None) -> tuple[int, ...]:
    """Return the processors that a duet may use, of a benchmark's `cpus` ("0,2-3"); none where that is unknown."""
    if not hasattr(os, "sched_getaffinity"):
        return ()
    own = os.sched_getaffinity(0)
    return tuple(sorted(own if cpus is None else numbers_of(cpus) & own))


def places(available: tuple[int, ...], runs: int, step: ExecutionStep) -> list[tuple[int, int, int]]:
    """Draw for each iteration the processors of base and head, and which of them is let go first (0: base).

    Two different ones where there are two. -1: the system decides. Drawn by the execution's seed and name, as all else.
    Two iterations each are one draw, the second with both sides exchanged: what is good in a place, or in being first,
    both sides get equally often. They are paired from the last one backwards, so that what is left over is a warm-up
    where there is one.
    """
    drawn = (step.seed, "duet", step.benchmark, step.build, step.execution)
    found = []
    for run in range(runs):
        pair, exchanged = divmod(runs - 1 - run, 2)
        base, head = _two(available, *drawn, pair)
        first = draw(2, "first", *drawn, pair)
        found.append((head, base, 1 - first) if exchanged else (base, head, first))
    return found


def _two(available: tuple[int, ...], *drawn: str | int) -> tuple[int, int]:
    if not available:
        return -1, -1
    one = draw(len(available), "processor", *drawn)
    others = len(available) - 1
    other = (one + 1 + draw(others, "other", *drawn)) % len(available) if others else one
    return available[one], available[other]


def as_head(benchmarks: Mapping[Side, Benchmark]) -> dict[Side, Benchmark]:
    """Give base what both sides must have alike, since they run at once: what head's configuration says of it."""
    base, head = benchmarks["base"], benchmarks["head"]
    same = {"warmup": head.warmup, "cpus": head.cpus, "priority": head.priority, "timeout": head.timeout}
    return {"base": msgspec.structs.replace(base, **same), "head": head}


class Duets:
    """Makes executions of both sides at once."""

    def __init__(self, executions: Executions) -> None:
        """Begin; executions: their conditions, and what reads their values."""
        self._executions = executions
        conditions = executions.conditions
        self._scratch = {side: Scratch(outputs(conditions.scratch, side), conditions.sandbox.own) for side in SIDES}

    def make(
        self, benchmarks: Mapping[Side, Benchmark], steps: Pair, directories: Mapping[Side, Path]
    ) -> dict[Side, Executed]:
        """Execute a benchmark once on both sides, iteration by iteration at once.

        Each side takes half of the seconds, so that they add up to those of both.

        Raises:
            OSError: perfgate's own files cannot be written.
            BudgetEndedError: the budget has ended.
        """
        made, alike = self._executions, as_head(benchmarks)
        attempts = {
            side: made.prepared(alike[side], steps[side], directories[side], self._scratch[side].fresh())
            for side in SIDES
        }
        command = _command(attempts)
        with made.conditions.budget.phase("execution"):
            outcome = made.conditions.executor.run(command)
        found = {side: made.concluded(attempts[side], outcome, outcome.seconds / 2) for side in SIDES}
        failed = [side for side in SIDES if _failed(attempts[side])]
        if len(failed) == 1:
            # the other one ended with it, or was done, for nothing that it did; what both printed is in one place
            (other,) = (side for side in SIDES if side not in failed)
            why = Unusable(f"{failed[0]} failed beside it, and a duet measures both or none", "")
            lost = msgspec.structs.replace(made.failure(attempts[other], why, outcome.seconds / 2), command=None)
            found[other] = Executed([], [lost], outcome.seconds / 2)
        return found

    def end_round(self) -> None:
        """Remove outputs."""
        for scratch in self._scratch.values():
            scratch.clear()


class _Ended(msgspec.Struct):
    code: int
    errno: int
    pace: int


def _failed(attempt: Attempt) -> bool:
    """Return whether a side's own program failed, as the launcher has written it."""
    try:
        ended = msgspec.json.decode((attempt.context.told / RESULT).read_bytes(), type=_Ended)
    except (OSError, msgspec.DecodeError):
        return False
    return bool(ended.code or ended.errno or ended.pace >= 0)


def _command(attempts: Mapping[Side, Attempt]) -> Command:
    """Return the one process that makes an execution of both sides, with its specification written beside the outputs.

    Raises:
        OSError: the specification cannot be written.
    """
    base = attempts["base"]
    benchmark = base.benchmark
    runs = wanted_values(benchmark, base.context.iterations)
    known = base.command.environment
    sides = [
        {
            "argv": list(words(attempts[side].benchmark, attempts[side].context)),
            "directory": str(attempts[side].context.directory),
            "environment": attempts[side].command.environment,
            "output": str(attempts[side].context.told / RESULT),
            "sandbox": [int(each) for each in entering(attempts[side].context.confined)],
        }
        for side in SIDES
    ]
    spec = {
        "runs": runs,
        "places": places(processors(benchmark.cpus), runs, base.step),
        "known": sorted(known),
        "sides": sides,
    }
    path = base.context.told / _SPEC
    path.write_text(json.dumps(spec), encoding="ascii")
    return Command(
        argv=(sys.executable, "-I", "-S", str(_LAUNCHER), str(path)),
        directory=base.context.directory,
        environment=known,
        timeout=benchmark.timeout,
        priority=benchmark.priority,
        confined=base.context.confined,
        enters=tuple(each for side in SIDES for each in entered(attempts[side].context.confined)),
    )
