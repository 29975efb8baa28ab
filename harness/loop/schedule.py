"""The schedules of the gate and of designed experiments: pure functions of names, counts and a seed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from itertools import count, pairwise
from operator import eq
from types import MappingProxyType
from typing import overload

from gate.config.treatments import Planned
from gate.model import SIDES, Layouts, Side
from harness.loop.steps import BuildStep, ExecutionStep, Round, build_step, draw, execution_step, key, shuffled

__all__ = ["BuildStep", "ExecutionStep", "Round", "design_schedule", "schedule"]

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
    benchmarks: Sequence[str], planned: Sequence[Planned], shares: Sequence[int], seed: int,
    single: Collection[str] = frozenset(),
) -> tuple[Round, ...]:  # fmt: skip
    """Lay out a designed experiment: in each replicate every benchmark at every treatment once, in one random order.

    That is a completely random order within each iteration of the design (NIST TN 1855, section 4.5). A round first
    builds what its treatments need, in an order that is balanced over the rounds. Executions of a benchmark at a
    treatment are numbered from 0 in each build, which is the number of the replicate in its round.

    Of a fraction that is folded over, the second block follows the first.

    A study can be extended: no draw of a round depends on how many rounds there are, nor one of a replicate on how many
    its round has. So a schedule begins as a shorter one does.

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
