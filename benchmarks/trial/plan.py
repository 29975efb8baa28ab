"""What is measured: bundles of starts of one program, and their order, all drawn from one seed.

A bundle is a program, a base of it and some heads, within half a minute; every second one under a load. Of each side
there is a block of starts in a row, as tools that measure one side after the other make them; of each head there are
starts by turns with base, and the rounds of perfgate: by turns too, with another build in each.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.trial.records import Part
from benchmarks.turns import LOADS

BASE = "base"
SAME = ("same", "edited", "relaid")
"""Heads that do the same work: the same program, one with an edit elsewhere, one that is laid out in another way."""
SIZES = (0.02, 0.045, 0.06, 0.12, 0.25)
"""How much more the changed heads take."""
TAIL, TAIL_EVERY = "tail", 25
"""One start in so many does all of its work twice, by a draw."""
CHANGED = (*(f"plus-{100 * size:g}" for size in SIZES), TAIL)
SMALL = CHANGED[0]
"""What each rule is set for."""
AS_FOUND, *UNDER = LOADS

LAYOUTS = 16
"""Layouts that each side is built in, once; each bundle draws its own from them."""
ROUNDS, EXECUTIONS, ITERATIONS = 12, 2, 5
"""Rounds of perfgate's default plan, and as many starts as are enough for a command of one task (docs/method.md)."""
BUNDLES = 75
_PROGRAMS = ("tokenizer", "sort", "tokenizer", "sort", "words")
"""In the order of their turns: the slow one has fewer."""
_MORE = {"tokenizer": 2, "sort": 3, "words": 0}
"""Heads of a bundle beside that of the smallest change; none: it has one head, whichever."""
_STARTS = {"tokenizer": 300, "sort": 150, "words": 100}
"""In a block, and by turns with base: what perfgate's rounds and its builds take in time, about."""
WARM = 1
"""Starts of a side that come first in its block, turns or round, and do not count."""


@dataclass(frozen=True)
class Step:
    """One launch of starts: of a block of each side, or of base and a head by turns."""

    part: Part
    sides: tuple[str, ...]
    layouts: tuple[int, ...]
    """Of the sides."""
    round: int
    order: tuple[int, ...]
    """Whose start comes when, by place among the sides; the first WARM of each do not count."""
    slow: tuple[bool, ...]
    """Which of them do their work twice, if they are of the tail."""


@dataclass(frozen=True)
class Bundle:
    """One program at one time."""

    number: int
    program: str
    load: str
    heads: tuple[str, ...]
    steps: tuple[Step, ...]


def bundle(number: int, seed: int) -> Bundle:
    """Lay out one bundle; programs, loads and heads take turns."""
    place = number % len(_PROGRAMS)
    program = _PROGRAMS[place]
    turn = number // len(_PROGRAMS) * _PROGRAMS.count(program) + _PROGRAMS[:place].count(program)
    heads = _heads(turn, _MORE[program])
    draw = random.Random(f"{seed} {number}")  # noqa: S311 - an order, no secret
    layouts = draw.sample(range(LAYOUTS), ROUNDS + 1)
    steps = [_block(program, heads, layouts, draw)]
    steps += [_turns(program, head, layouts, draw) for head in _shuffled(heads, draw)]
    for each in range(ROUNDS):
        steps += [_round(head, layouts, each, draw) for head in _shuffled(heads, draw)]
    return Bundle(number, program, load_of(number), heads, tuple(steps))


def load_of(number: int) -> str:
    """Name the load of a bundle."""
    return UNDER[number // 2 % len(UNDER)] if number % 2 else AS_FOUND


def _heads(turn: int, more: int) -> tuple[str, ...]:
    """Choose the heads of the bundle of a program's turn."""
    others = (SAME[0], *CHANGED[1:])
    if more:
        # after so many turns all of them had theirs
        period = len(others) // more
        chosen = (SMALL, *others[turn % period :: period])
        return tuple(SAME[turn // period % len(SAME)] if head == SAME[0] else head for head in chosen)
    # a program's bundles are by turns as found and under a load
    every, place = divmod(turn, 4)
    return (SMALL,) if place < 2 else (others[(2 * every + place) % len(others)],)


def _block(program: str, heads: tuple[str, ...], layouts: list[int], draw: random.Random) -> Step:
    sides = tuple(_shuffled((BASE, *heads), draw))
    order = [side for side in range(len(sides)) for _ in range(WARM + _STARTS[program])]
    return _step("block", sides, layouts, 0, order, draw)


def _turns(program: str, head: str, layouts: list[int], draw: random.Random) -> Step:
    order = [0, 1] * WARM + [side for _ in range(_STARTS[program]) for side in draw.sample((0, 1), 2)]
    return _step("turns", (BASE, head), layouts, 0, order, draw)


def _round(head: str, layouts: list[int], number: int, draw: random.Random) -> Step:
    order = [0, 1] * WARM + list(_fours(EXECUTIONS * ITERATIONS, draw))
    return _step("round", (BASE, head), layouts, number, order, draw)


def _fours(count: int, draw: random.Random) -> Iterator[int]:
    """Order so many starts of two sides as perfgate does: ABBA or BAAB, by a draw for each four."""
    for _ in range(count // 2):
        first = draw.randrange(2)
        yield from (first, 1 - first, 1 - first, first)


def _step(
    part: Part, sides: tuple[str, ...], layouts: list[int], number: int, order: list[int], draw: random.Random
) -> Step:
    # common to all sides but the one that is laid out in another way
    own = tuple(layouts[(number + (side == "relaid")) % len(layouts)] for side in sides)
    slow = tuple(draw.randrange(TAIL_EVERY) == 0 for _ in order)
    return Step(part, sides, own, number, tuple(order), slow)


def _shuffled(sides: tuple[str, ...], draw: random.Random) -> list[str]:
    return draw.sample(sides, len(sides))
