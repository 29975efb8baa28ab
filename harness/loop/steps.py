"""The steps of a run, and the draws that lay them out: each a hash of the seed and of what it is for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from gate.config.study import Setting
from gate.config.treatments import Planned
from gate.model import Layouts, Side
from gate.model.case import canonical
from harness.process.execute import MAX_PADDING

T = TypeVar("T", bound=int | str | tuple[str, ...])


@dataclass(frozen=True, slots=True)
class BuildStep:
    """Build one side with a fresh seed. factors: the settings that it is built with, of those that builds depend on."""

    side: Side
    build: int
    seed: int
    factors: Mapping[str, Setting] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class ExecutionStep:
    """Execute one benchmark once on one side.

    order: position among all executions of the run, from 0. seed: for {seed} and PERFGATE_SEED. padding: bytes of
    random environment padding. treatment: the number of the one planned; None: there is none. factors: its settings.
    building: those of them that the build depends on.
    """

    benchmark: str
    side: Side
    build: int
    execution: int
    order: int
    seed: int
    padding: int
    treatment: int | None = None
    factors: Mapping[str, Setting] = field(default_factory=dict, hash=False)
    building: Mapping[str, Setting] = field(default_factory=dict, hash=False)


Pair = Mapping[Side, ExecutionStep]
"""The first step of a benchmark on each side."""


@dataclass(frozen=True, slots=True)
class Round:
    """Build number `build` of all that is built, then its executions, interleaved.

    replicates: of a designed experiment that its executions are, told apart by the execution's number; 0: the round is
    the gate's. first: where the executions end after each of which it is counted how many starts the round has.
    """

    build: int
    builds: tuple[BuildStep, ...]
    executions: tuple[ExecutionStep, ...]
    replicates: int = 0
    first: tuple[int, ...] = ()


def key(factors: Mapping[str, Setting]) -> tuple[str, ...]:
    """Give what settings add to the purpose of a draw: nothing where there are none."""
    return (canonical(factors),) if factors else ()


def build_step(
    side: Side, build: int, seed: int, factors: Mapping[str, Setting], layouts: Layouts = "common"
) -> BuildStep:
    """Lay out one build; seed: of the run. Where layouts are common, build k of both sides has one seed."""
    return BuildStep(side, build, draw(2**31, seed, "build", build, *key(factors), *_of(side, layouts)), factors)


def _of(side: Side, layouts: Layouts) -> tuple[str, ...]:
    """Give what a side adds to the purpose of a draw: nothing where both are laid out alike."""
    return (side,) if layouts == "independent" else ()


def execution_step(
    benchmark: str, side: Side, build: int, execution: int, order: int, seed: int, planned: Planned | None,
    layouts: Layouts = "common",
) -> ExecutionStep:  # fmt: skip
    """Lay out one execution; seed: of the run. Where layouts are common, both sides of one number are alike."""
    factors: Mapping[str, Setting] = planned.settings if planned else {}
    drawn: tuple[str | int, ...] = (seed, benchmark, build, execution, *key(factors), *_of(side, layouts))
    return ExecutionStep(
        benchmark=benchmark, side=side, build=build, execution=execution, order=order, seed=draw(2**31, "seed", *drawn),
        padding=draw(MAX_PADDING, "padding", *drawn), treatment=planned.number if planned else None, factors=factors,
        building=planned.building if planned else {},
    )  # fmt: skip


def shuffled(items: Iterable[T], *purpose: str | int) -> list[T]:
    """Put items, which differ, into an order that is random over seeds."""
    # a sort by hash is a random permutation that depends on no library's shuffle
    return sorted(items, key=lambda item: _digest(*purpose, *(item if isinstance(item, tuple) else (item,))))


def draw(below: int, *purpose: str | int) -> int:
    """Draw a number from 0 to below it, at most 2**31."""
    # 64 bits against at most 31 wanted: the modulo's bias is below 2**-33
    return int.from_bytes(_digest(*purpose)[:8], "big") % below


def _digest(*purpose: str | int) -> bytes:
    return hashlib.sha256(json.dumps(purpose).encode()).digest()
