"""The steps of a run and their schedules, of the gate and of designed experiments: pure functions of names and a seed.

Each draw is a hash of the seed and of what it is for.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count, pairwise
from operator import eq
from types import MappingProxyType
from typing import TypeVar, overload

from gate.config.study import Setting
from gate.config.treatments import PlannedTreatment
from gate.model import SIDES, Layouts, Side
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
    benchmark: str, side: Side, build: int, execution: int, order: int, seed: int, planned: PlannedTreatment | None,
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


_Key = tuple[str, ...]


class Rounds(Sequence[Round]):
    """Rounds that are laid out when they are asked for: most of a long plan are never begun."""

    def __init__(self, lay_out: Callable[[int], Round], numbers: range) -> None:
        """Begin; lay_out: gives a round by its number."""
        self._lay_out, self._numbers = lay_out, numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, at: int) -> Round: ...
    @overload
    def __getitem__(self, at: slice) -> Rounds: ...
    def __getitem__(self, at: int | slice) -> Round | Rounds:
        if isinstance(at, slice):
            return Rounds(self._lay_out, self._numbers[at])
        return self._lay_out(self._numbers[at])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))


def schedule(
    benchmarks: Mapping[Side, Sequence[str]], builds: int, executions: int, seed: int,
    single: Collection[str] = frozenset(), layouts: Layouts = "common",
    starts: Mapping[str, int] = MappingProxyType({}), first: Mapping[str, Sequence[int]] = MappingProxyType({}),
) -> Sequence[Round]:  # fmt: skip
    """Lay out a run of the gate: in each round the builds, then for each execution a block of each benchmark.

    Base and head of a benchmark take turns: base-head-head-base or the other way round, by a draw for each four
    (docs/method.md, turns). A block is an execution of both sides; of what goes by short turns it is many. Builds and
    blocks are in random order. A benchmark that only head has is executed once, in the first round, so that a broken
    one is seen; one that only base has is not executed.

    benchmarks: names by side; their order does not matter. single: those that are executed once a build. layouts:
    whether build k of both sides, and its executions, share their seeds. starts: how many executions a side a
    round has, of the benchmarks that go by short turns; its blocks share them evenly. first: where the very first
    blocks end, of those that are counted once each of them is made. Every draw is a hash of the seed and of what
    it is for, so that neither the Python version nor the other benchmarks change it.
    """
    both = set(benchmarks["base"]) & set(benchmarks["head"])
    new = set(benchmarks["head"]) - both
    counts = {name: starts.get(name, 1 if name in single else executions) for name in both}
    each_round = len(SIDES) * sum(counts.values())

    # the loop asks for the round at hand, the next one, and again for those
    @lru_cache(maxsize=4)
    def lay_out(build: int) -> Round:
        begun = first if build == 0 else {}
        blocks = {name: _blocks(counts[name], executions, begun.get(name, ())) for name in both}
        order = count(build * each_round + (len(new) if build else 0))
        steps: list[ExecutionStep] = []
        ends: list[int] = []
        for number in range(max(map(len, blocks.values()), default=1)):
            own = {name: parts[number] for name, parts in blocks.items() if number < len(parts) and parts[number]}
            own |= dict.fromkeys(new, range(1)) if build == number == 0 else {}
            for name in shuffled(own, seed, "benchmarks", build, number):
                block = _turns(own[name], build * counts.get(name, 0) + own[name].start, seed, name)
                steps += [
                    execution_step(name, side, build, execution, next(order), seed, None, layouts)
                    for side, execution in block
                    if name in both or side == "head"
                ]
            if number < max(map(len, begun.values()), default=0):
                ends.append(len(steps))
        sides = SIDES if draw(2, seed, "builds", build) else reversed(SIDES)
        builds_of_both = tuple(build_step(side, build, seed, {}, layouts) for side in sides)
        return Round(build, builds_of_both, tuple(steps), first=tuple(ends))

    return Rounds(lay_out, range(builds))


def _blocks(count: int, blocks: int, first: Sequence[int]) -> list[range]:
    """Divide executions into blocks of about one size, the larger ones first; first: where the first ones end."""
    ends = [0, *(min(end, count) for end in first)]
    left, others = count - ends[-1], max(1, blocks - len(first))
    ends += [ends[-1] - (-left * block // others) for block in range(1, others + 1)]
    return [range(*each) for each in pairwise(ends)]


def _turns(numbers: range, first: int, seed: int, name: str) -> list[tuple[Side, int]]:
    """Put executions of both sides in the order of their turns.

    numbers: in their build. first: of the first of them among all of the run, so that a four may go over two blocks.
    """
    found: list[tuple[Side, int]] = []
    for at, number in enumerate(numbers, first):
        four, second = divmod(at, 2)
        base_first = bool(draw(2, seed, "turns", name, four)) != bool(second)
        found += [(side, number) for side in (SIDES if base_first else reversed(SIDES))]
    return found


def design_schedule(
    benchmarks: Sequence[str], planned: Sequence[PlannedTreatment], shares: Sequence[int], seed: int,
    single: Collection[str] = frozenset(),
) -> tuple[Round, ...]:  # fmt: skip
    """Lay out a designed experiment: in each replicate every benchmark at every treatment once, in one random order.

    That is a completely random order within each iteration of the design (NIST TN 1855, section 4.5). A round first
    builds what its treatments need, in an order that is balanced over the rounds. Executions of a benchmark at a
    treatment are numbered from 0 in each build, which is the number of the replicate in its round.

    Of a fraction that is folded over, the second block follows the first.

    No draw of a round depends on how many rounds there are, nor one of a replicate on how many its round has.

    benchmarks: names that every side planned has. shares: the replicates of each round. single: benchmarks that are
    executed in the first replicate of each round only. Draws are as in schedule.
    """
    cells = {(name, each.side, *key(each.settings)): each for name in benchmarks for each in planned}
    variants = {(each.side, *key(each.building)): each for each in planned}
    rounds = []
    order = count()
    for build, share in enumerate(shares):
        steps = []
        for execution in range(share):
            wanted = [cell for cell in cells if not execution or cell[0] not in single]
            steps += [
                execution_step(cell[0], cells[cell].side, build, execution, next(order), seed, cells[cell])
                # the second block of a fraction follows the first, each in random order
                for cell in sorted(
                    shuffled(wanted, seed, "replicate", build, execution), key=lambda cell: cells[cell].fold
                )
            ]
        needed = tuple(
            build_step(variants[each].side, build, seed, variants[each].building)
            for each in _balanced(variants, seed, build)
        )
        rounds.append(Round(build, needed, tuple(steps), share))
    return tuple(rounds)


def _balanced(variants: Collection[_Key], seed: int, build: int) -> list[_Key]:
    """Return the order of builds in a round, so that a drift within rounds is no variant's own.

    In as many rounds as there are variants each is once in each place: a Latin square of random rows. In as many again
    each of these orders comes reversed, so that each two variants are as often in one order as in the other, and the
    orders never just alternate (NIST TN 1855, 4.5.1). A round's order depends on its number only.
    """
    block, row = divmod(build, len(variants))
    pair, back = divmod(block, 2)
    names = shuffled(variants, seed, "builds", pair)
    turn = shuffled(range(len(names)), seed, "turns", pair)[row]
    order = [*names[turn:], *names[:turn]]
    return order[::-1] if back else order
