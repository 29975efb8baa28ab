"""What is measured: sides, bundles of processes and their order, all drawn from one seed.

A bundle is one program at one time. Its sides are four that do the same work and three that do more, in turns over the
bundles. Each side gets the processes that the tools would start: one long one (criterion.rs, `go test -bench`, and
numbers of one run), a hundred short ones by turns with those of the other sides (tachometer, asv, benchstat by turns),
and perfgate's rounds of builds. Every ordered pair of sides of a bundle is a comparison that a pull request could ask.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.trial.records import Part

SAME = ("same-1", "same-2", "edited", "relaid")
"""Sides that do the same work: one program twice, one with an edit elsewhere, one laid out in another way."""
SIZES = (0.02, 0.06, 0.12, 0.25)
"""Shares of the work that is done again. None is the threshold of a tool, so that no rule has to hit its own edge."""
TAIL = "tail"
"""Every 25th pass does all of its work twice, counted from another one in each process."""
TAIL_EVERY = 25
CHANGED = (*(f"plus-{round(100 * size)}" for size in SIZES), TAIL)

LAYOUTS = 16
"""Layouts that each side is built in, once; each bundle draws its own from them."""
ROUNDS, EXECUTIONS, PASSES = 12, 5, 11
"""perfgate's defaults: up to 12 builds, 5 executions of each, 10 iterations after one that warms up."""
LONG_SECONDS = 10.2
"""benchstat's ten runs of a second; criterion.rs needs 8."""
STARTS, LONG_START_EVERY, START_SECONDS = 100, 10, 0.25
"""tachometer's samples; every tenth process goes on for as long as a round of asv."""
HISTORY_SECONDS, HISTORY_FIRST, HISTORY_MORE = 1.05, 12, 6
"""Runs of base on other days, one of a second each: before the first bundle of a program and before each later one."""
CHANGES_A_BUNDLE = 3


@dataclass(frozen=True)
class Step:
    """One process. passes, seconds: it ends when it has done so many, or taken so long; None: the other one decides."""

    program: str
    bundle: int
    part: Part
    side: str
    number: int
    layout: int
    passes: int | None
    seconds: float | None
    offset: int
    """Passes that count as done before it, for the tail: so a short process has a slow pass as often as a long one."""


@dataclass(frozen=True)
class Bundle:
    """One program at one time."""

    number: int
    program: str
    sides: tuple[str, ...]
    steps: tuple[Step, ...]


def bundle(number: int, programs: tuple[str, ...], seed: int) -> Bundle:
    """Lay out one bundle; the programs take turns."""
    draw = random.Random(f"{seed} {number}")  # noqa: S311 - an order, no secret
    program, turn = programs[number % len(programs)], number // len(programs)
    changed = tuple(CHANGED[(turn * CHANGES_A_BUNDLE + k) % len(CHANGED)] for k in range(CHANGES_A_BUNDLE))
    sides = (*SAME, *changed)
    layouts = draw.sample(range(LAYOUTS), ROUNDS + 1)
    make = _Maker(program, number, layouts, seed)
    steps = [
        *make.history(HISTORY_MORE if turn else HISTORY_FIRST),
        *make.long(sides, draw),
        *make.starts(sides, draw),
        *make.rounds(sides, draw),
    ]
    return Bundle(number, program, sides, tuple(steps))


@dataclass(frozen=True)
class _Maker:
    program: str
    bundle: int
    layouts: list[int]
    seed: int

    def layout(self, side: str, round_: int = 0) -> int:
        """Give a side's layout in a round: common to all sides but the one that is laid out in another way."""
        return self.layouts[(round_ + (side == "relaid")) % len(self.layouts)]

    def history(self, count: int) -> Iterator[Step]:
        """Run the base that head is compared with: the layouts of earlier bundles are those of earlier commits."""
        for number in range(count):
            yield self._step("history", "same-1", number, self.layout("same-1"), None, HISTORY_SECONDS)

    def long(self, sides: tuple[str, ...], draw: random.Random) -> Iterator[Step]:
        for side in _shuffled(sides, draw):
            yield self._step("long", side, 0, self.layout(side), None, LONG_SECONDS)

    def starts(self, sides: tuple[str, ...], draw: random.Random) -> Iterator[Step]:
        for number in range(STARTS):
            longer = number % LONG_START_EVERY == 0
            for side in _shuffled(sides, draw):
                passes, seconds = (None, START_SECONDS) if longer else (2, None)
                yield self._step("starts", side, number, self.layout(side), passes, seconds)

    def rounds(self, sides: tuple[str, ...], draw: random.Random) -> Iterator[Step]:
        for round_ in range(ROUNDS):
            executions = [(side, k) for side in sides for k in range(EXECUTIONS)]
            draw.shuffle(executions)
            for side, k in executions:
                number = round_ * EXECUTIONS + k
                yield self._step("rounds", side, number, self.layout(side, round_), PASSES, None)

    def _step(self, part: Part, side: str, number: int, layout: int, passes: int | None, seconds: float | None) -> Step:
        offset = zlib.crc32(f"{self.seed} {self.bundle} {part} {side} {number}".encode()) % TAIL_EVERY
        return Step(self.program, self.bundle, part, side, number, layout, passes, seconds, offset)


def _shuffled(sides: tuple[str, ...], draw: random.Random) -> list[str]:
    order = list(sides)
    draw.shuffle(order)
    return order
