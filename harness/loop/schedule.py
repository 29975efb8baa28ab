"""The schedules of the gate and of designed experiments: pure functions of names, counts and a seed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import count

from gate.config.study import Setting
from gate.config.treatments import Planned
from gate.model import SIDES, Layouts, Side
from harness.loop.steps import (
    BuildStep,
    ExecutionStep,
    Round,
    build_step,
    draw,
    execution_step,
    key,
    shuffled,
)

__all__ = ["BuildStep", "ExecutionStep", "Round", "design_schedule", "schedule"]

_Key = tuple[str, ...]


def schedule(
    benchmarks: Mapping[Side, Sequence[str]],
    builds: int,
    executions: int,
    seed: int,
    single: Collection[str] = frozenset(),
    planned: Sequence[Planned] = (),
    layouts: Layouts = "common",
) -> tuple[Round, ...]:
    """Lay out a run of the gate: in each round the builds, then for each execution blocks of both sides.

    There is a block for every benchmark, and where treatments are planned for every benchmark at every treatment.
    Builds, blocks and the sides of a block are in random order; of the blocks of one kind in a round half are
    base-head, half head-base, and an odd one alternates over the rounds. A benchmark that only head has is executed
    once, in the first round, so that a broken one is seen; one that only base has is not executed.

    benchmarks: names by side; their order does not matter. single: those that are executed once a build. planned: both
    sides are measured at the settings of each, whatever its side. layouts: whether build k of both sides, and its
    executions, share their seeds. Every draw is a hash of the seed and of what it is
    for, so that neither the Python version nor the other benchmarks and treatments change it.
    """
    both = set(benchmarks["base"]) & set(benchmarks["head"])
    new = set(benchmarks["head"]) - both
    treatments = _of_both_sides(planned)
    variants = {key(each.building): each.building for each in planned} or {(): {}}
    rounds = []
    order = count()
    for build in range(builds):
        base_first = {
            (name, *each): _base_first(seed, (name, *each), build, executions) for name in both for each in treatments
        }
        steps = []
        for execution in range(executions):
            once = new if build == 0 and execution == 0 else set()
            again = both - set(single) if execution else both
            cells = {(name, *each): treatments[each] for name in again | once for each in treatments}
            steps += [
                execution_step(cell[0], side, build, execution, next(order), seed, cells[cell][side], layouts)
                for cell in shuffled(cells, seed, "benchmarks", build, execution)
                for side in _block(base_first.get(cell), execution)
            ]
        rounds.append(Round(build, _builds(variants, build, seed, layouts), tuple(steps)))
    return tuple(rounds)


def _of_both_sides(planned: Sequence[Planned]) -> Mapping[_Key, Mapping[Side, Planned | None]]:
    """Give what is planned by its settings: of each side the treatment of that side, or else the other's."""
    found: dict[_Key, dict[Side, Planned | None]] = {}
    for each in planned:
        found.setdefault(key(each.settings), dict.fromkeys(SIDES, each))[each.side] = each
    return found or {(): dict.fromkeys(SIDES)}


def _builds(
    variants: Mapping[_Key, Mapping[str, Setting]], build: int, seed: int, layouts: Layouts
) -> tuple[BuildStep, ...]:
    return tuple(
        build_step(side, build, seed, variants[each], layouts)
        for each in shuffled(variants, seed, "variants", build)
        for side in (SIDES if draw(2, seed, "builds", build, *each) else reversed(SIDES))
    )


def _block(base_first: Sequence[bool] | None, execution: int) -> tuple[Side, ...]:
    if base_first is None:
        return ("head",)
    return ("base", "head") if base_first[execution] else ("head", "base")


def _base_first(seed: int, cell: _Key, build: int, executions: int) -> list[bool]:
    odd = (draw(2, seed, "odd", *cell) + build) % 2 == 0
    flags = [i < executions // 2 for i in range(2 * (executions // 2))] + [odd] * (executions % 2)
    return [flags[i] for i in shuffled(range(executions), seed, "sides", *cell, build)]


def design_schedule(
    benchmarks: Sequence[str],
    planned: Sequence[Planned],
    shares: Sequence[int],
    seed: int,
    single: Collection[str] = frozenset(),
) -> tuple[Round, ...]:
    """Lay out a designed experiment: in each replicate every benchmark at every treatment once, in one random order.

    That is a completely random order within each iteration of the design (NIST TN 1855, section 4.5). A round first
    builds, in random order, what its treatments need. Executions of a benchmark at a treatment are numbered from 0 in
    each build, which is the number of the replicate in its round.

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
                for cell in shuffled(wanted, seed, "replicate", build, execution)
            ]
        needed = tuple(
            build_step(variants[each].side, build, seed, variants[each].building)
            for each in shuffled(variants, seed, "builds", build)
        )
        rounds.append(Round(build, needed, tuple(steps), share))
    return tuple(rounds)
