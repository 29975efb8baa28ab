"""The schedule: rounds of builds and interleaved executions, a pure function of names, counts and a seed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from gate.model import SIDES, Side

T = TypeVar("T", bound=str | int | bool)

MAX_PADDING = 4096
"""Environment padding is 0..4095 bytes: one page (Mytkowicz et al. 2009, section 4.1)."""


@dataclass(frozen=True, slots=True)
class BuildStep:
    """Build one side with a fresh seed."""

    side: Side
    build: int
    seed: int


@dataclass(frozen=True, slots=True)
class ExecutionStep:
    """Execute one benchmark once on one side.

    order: position among all executions of the run, from 0. seed: for {seed} and PERFGATE_SEED. padding: bytes of
    random environment padding.
    """

    benchmark: str
    side: Side
    build: int
    execution: int
    order: int
    seed: int
    padding: int


@dataclass(frozen=True, slots=True)
class Round:
    """Build number `build` of both sides, then their executions interleaved."""

    build: int
    builds: tuple[BuildStep, BuildStep]
    executions: tuple[ExecutionStep, ...]


def schedule(
    benchmarks: Mapping[Side, Sequence[str]],
    builds: int,
    executions: int,
    seed: int,
    single: Collection[str] = frozenset(),
) -> tuple[Round, ...]:
    """Lay out a run: in each round both builds, then for each execution every benchmark as a block of both sides.

    Builds, benchmarks and the sides of a block are in random order; of a benchmark's blocks in a round half are
    base-head, half head-base, and an odd one alternates over the rounds. A benchmark that only head has is executed
    once, in the first round, so that a broken one is seen; one that only base has is not executed.

    benchmarks: names by side; their order does not matter. single: those that are executed once a build. Every draw is
    a hash of the seed and of what it is for, so that neither the Python version nor the other benchmarks change it.
    """
    both = set(benchmarks["base"]) & set(benchmarks["head"])
    new = set(benchmarks["head"]) - both
    rounds = []
    order = 0
    for build in range(builds):
        base, head = (BuildStep(side, build, _draw(2**31, seed, "build", build, side)) for side in SIDES)
        base_first = {name: _base_first(seed, name, build, executions) for name in both}
        steps = []
        for execution in range(executions):
            once = new if build == 0 and execution == 0 else set()
            again = both - set(single) if execution else both
            for name in _shuffled(again | once, seed, "benchmarks", build, execution):
                for side in _block(name in both and base_first[name][execution], name in both):
                    drawn = (seed, name, side, build, execution)
                    steps.append(
                        ExecutionStep(
                            benchmark=name,
                            side=side,
                            build=build,
                            execution=execution,
                            order=order,
                            seed=_draw(2**31, "seed", *drawn),
                            padding=_draw(MAX_PADDING, "padding", *drawn),
                        )
                    )
                    order += 1
        in_order = (base, head) if _draw(2, seed, "builds", build) else (head, base)
        rounds.append(Round(build, in_order, tuple(steps)))
    return tuple(rounds)


def _block(base_first: bool, both: bool) -> tuple[Side, ...]:
    if not both:
        return ("head",)
    return ("base", "head") if base_first else ("head", "base")


def _base_first(seed: int, name: str, build: int, executions: int) -> list[bool]:
    odd = (_draw(2, seed, "odd", name) + build) % 2 == 0
    flags = [i < executions // 2 for i in range(2 * (executions // 2))] + [odd] * (executions % 2)
    return [flags[i] for i in _shuffled(range(executions), seed, "sides", name, build)]


def _shuffled(items: Iterable[T], *purpose: str | int) -> list[T]:
    # a sort by hash is a random permutation that depends on no library's shuffle
    return sorted(items, key=lambda item: _digest(*purpose, item))


def _draw(below: int, *purpose: str | int) -> int:
    # 64 bits against at most 31 wanted: the modulo's bias is below 2**-33
    return int.from_bytes(_digest(*purpose)[:8], "big") % below


def _digest(*purpose: str | int) -> bytes:
    return hashlib.sha256(json.dumps(purpose).encode()).digest()
