"""Records -> comparisons: what each pull request of the trial asks, with the starts of both sides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.trial import plan
from benchmarks.trial.plan import BASE
from benchmarks.trial.programs.program import made_of
from benchmarks.trial.records import Built, Counted, Line, Ran
from gate.model import Build

NANO = 1e-9


@dataclass(frozen=True)
class Start:
    """One start: its seconds by the wall clock, and with what starting it took."""

    time: float
    seconds: float
    active: float | None
    """Without those in which other programs had the processor; None: not known."""
    own: float | None
    """What its first task ran, as a share of all its processor time; None: not known."""


Starts = tuple[Start, ...]


@dataclass(frozen=True)
class Counts:
    """The instructions of a start of a side, and the seconds that counting them took."""

    instructions: int
    seconds: float


@dataclass(frozen=True)
class Round:
    """A round of perfgate: the starts of base and head in their order (the first of each side are warm-ups)."""

    order: tuple[int, ...]
    starts: Starts
    builds: tuple[Build, Build]


@dataclass(frozen=True)
class Comparison:
    """What one benchmark of one pull request asks: is head slower than base?"""

    program: str
    bundle: int
    load: str
    kind: str
    """The head: one of plan.SAME, which does the same work, or of plan.CHANGED."""
    blocks: tuple[Starts, Starts]
    """Of base and head: starts in a row, one side after the other."""
    turns: tuple[Starts, Starts]
    """By turns: the same places are neighbours."""
    rounds: tuple[Round, ...]
    building: float
    """Seconds of a whole build of each side, both together; perfgate's later rounds link again."""
    counts: tuple[Counts, Counts] | None
    """None: not counted."""
    history: tuple[float, ...]
    """Mean seconds of a start in the blocks of base of earlier bundles of the program, the oldest first."""


def comparisons(lines: Sequence[Line], seed: int) -> list[Comparison]:
    """Make the comparisons of all bundles that are complete, in their order."""
    ran = {(line.bundle, line.part, tuple(line.sides), line.round): line for line in lines if isinstance(line, Ran)}
    builds = {(b.program, b.side, b.layout): b.build for b in lines if isinstance(b, Built)}
    counted = {(c.program, c.side): Counts(c.instructions, c.seconds) for c in lines if isinstance(c, Counted)}
    found: list[Comparison] = []
    history: dict[str, list[float]] = {}
    for number in sorted({line.bundle for line in ran.values()}):
        bundle = plan.bundle(number, seed)
        if any((number, step.part, step.sides, step.round) not in ran for step in bundle.steps):
            continue
        steps = [(step, ran[number, step.part, step.sides, step.round]) for step in bundle.steps]
        earlier = tuple(history.get(bundle.program, ()))
        blocks = next(_sides(step.sides, line) for step, line in steps if step.part == "block")
        for head in bundle.heads:
            of = [(step, line) for step, line in steps if step.part != "block" and step.sides[1] == head]
            turns = next(_sides(step.sides, line) for step, line in of if step.part == "turns")
            rounds = [
                Round(
                    step.order,
                    _starts(line),
                    _pair(
                        builds[bundle.program, made_of(side), layout]
                        for side, layout in zip(step.sides, step.layouts, strict=True)
                    ),
                )
                for step, line in sorted(of, key=lambda each: each[0].round)
                if step.part == "round"
            ]
            both = [counted.get((bundle.program, side)) for side in (BASE, head)]
            found.append(
                Comparison(
                    bundle.program, number, bundle.load, head,
                    (blocks[BASE], blocks[head]), (turns[BASE], turns[head]), tuple(rounds),
                    sum(builds[bundle.program, made_of(side), 0].seconds or 0.0 for side in (BASE, head)),
                    (both[0], both[1]) if both[0] and both[1] else None, earlier,
                )
            )  # fmt: skip
        history.setdefault(bundle.program, []).append(mean([start.time for start in blocks[BASE]]))
    return found


def _pair(found: Iterable[Build]) -> tuple[Build, Build]:
    base, head = found
    return base, head


def _sides(names: Sequence[str], line: Ran) -> dict[str, Starts]:
    """Give the starts of each side of a launch that count."""
    starts = _starts(line)
    return {
        name: tuple(start for start, raw in zip(starts, line.starts, strict=True) if raw.side == place)[plan.WARM :]
        for place, name in enumerate(names)
    }


def _starts(line: Ran) -> Starts:
    # perfgate's own work counts as in its runs
    own = max(0.0, line.seconds - NANO * sum(each.time for each in line.starts)) / len(line.starts)
    return tuple(
        Start(
            NANO * each.time,
            NANO * each.time + own,
            NANO * each.active if each.active > 0 else None,
            each.own if each.own >= 0 else None,
        )
        for each in line.starts
    )


def mean(values: Sequence[float]) -> float:
    """Give the mean of values, of which there is at least one."""
    return sum(values) / len(values)
