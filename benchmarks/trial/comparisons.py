"""Records -> comparisons: what each pull request of the trial asks, with the values of both sides by plan."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from benchmarks.trial import plan
from benchmarks.trial.records import Built, Counted, Line, Ran
from gate.model import Build

NANO = 1e-9


@dataclass(frozen=True)
class Process:
    """One process: the seconds of each pass, and those of all of it."""

    passes: tuple[float, ...]
    seconds: float


@dataclass(frozen=True)
class Measured:
    """A side of a comparison."""

    long: Process
    """One process of ten seconds."""
    starts: tuple[Process, ...]
    """A hundred processes, by turns with those of the other side; every tenth goes on for a quarter of a second."""
    rounds: tuple[tuple[Process, ...], ...]
    """The executions of each of perfgate's rounds, another build in each."""
    builds: tuple[Build, ...]
    """The build of each round; the long process and the starts have the first one."""
    building: float
    """The seconds of a whole build; later rounds only link again."""
    instructions: int | None
    """Of one pass; None: not counted."""
    counting: float
    """The seconds that it took."""


@dataclass(frozen=True)
class Comparison:
    """What one benchmark of one pull request asks: is head slower than base?"""

    program: str
    bundle: int
    kind: str
    """same, edited, relaid: head does the same work. Otherwise the side of plan.CHANGED that head is."""
    base: Measured
    head: Measured
    history: tuple[float, ...]
    """Seconds of a pass in earlier runs of base of a second each, the oldest first."""

    @property
    def changed(self) -> bool:
        """Return whether head does more work."""
        return self.kind in plan.CHANGED


def comparisons(lines: Sequence[Line], programs: Sequence[str], seed: int) -> list[Comparison]:
    """Make the comparisons of all bundles that are complete, in their order."""
    gathered = _Gathered(lines)
    found: list[Comparison] = []
    number = 0
    while True:
        bundle = plan.bundle(number, tuple(programs), seed)
        if any((s.bundle, s.part, s.side, s.number) not in gathered.ran for s in bundle.steps):
            return found
        sides = {side: gathered.measured(bundle, side) for side in bundle.sides}
        history = gathered.history(bundle)
        for base, head in _pairs(bundle.sides):
            kind = head if head in plan.CHANGED else _kind(base, head)
            found.append(Comparison(bundle.program, number, kind, sides[base], sides[head], history))
        number += 1


def _pairs(sides: Sequence[str]) -> list[tuple[str, str]]:
    changed = [side for side in sides if side in plan.CHANGED]
    return [*permutations(plan.SAME, 2), *((base, head) for head in changed for base in ("same-1", "same-2"))]


def _kind(base: str, head: str) -> str:
    return next((each for each in ("relaid", "edited") if each in (base, head)), "same")


class _Gathered:
    """The lines of a data file by what they are about."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.ran: dict[tuple[int, str, str, int], Ran] = {}
        self._built: dict[tuple[str, str, int], Build] = {}
        self._counted: dict[tuple[str, str], Counted] = {}
        self._history: dict[str, list[Ran]] = defaultdict(list)
        for line in lines:
            match line:
                case Ran():
                    self.ran[line.bundle, line.part, line.side, line.number] = line
                    if line.part == "history":
                        self._history[line.program].append(line)
                case Built():
                    self._built[line.program, line.side, line.layout] = line.build
                case Counted():
                    self._counted[line.program, line.side] = line
                case _:
                    pass

    def history(self, bundle: plan.Bundle) -> tuple[float, ...]:
        """Give the numbers of earlier runs of base, those before the long processes of a bundle."""
        found = [each for each in self._history[bundle.program] if each.bundle <= bundle.number]
        return tuple(mean(_process(each).passes[1:]) for each in sorted(found, key=lambda each: each.started))

    def measured(self, bundle: plan.Bundle, side: str) -> Measured:
        """Give what was measured of a side of a bundle."""
        mine: Mapping[str, list[Ran]] = {
            part: [self.ran[s.bundle, s.part, s.side, s.number] for s in _of(bundle, part, side)]
            for part in ("long", "starts", "rounds")
        }
        executions = [_process(each) for each in mine["rounds"]]
        rounds = [executions[k : k + plan.EXECUTIONS] for k in range(0, len(executions), plan.EXECUTIONS)]
        layouts = [mine["rounds"][k].layout for k in range(0, len(executions), plan.EXECUTIONS)]
        counted = self._counted.get((bundle.program, side))
        return Measured(
            long=_process(mine["long"][0]),
            starts=tuple(map(_process, mine["starts"])),
            rounds=tuple(map(tuple, rounds)),
            builds=tuple(self._build(bundle.program, side, layout) for layout in layouts),
            building=self._build(bundle.program, side, 0).seconds or 0.0,
            instructions=counted.instructions if counted else None,
            counting=counted.seconds if counted else 0.0,
        )

    def _build(self, program: str, side: str, layout: int) -> Build:
        return self._built[program, "same-1" if side in ("same-2", "relaid") else side, layout]


def _of(bundle: plan.Bundle, part: str, side: str) -> list[plan.Step]:
    return sorted((s for s in bundle.steps if s.part == part and s.side == side), key=lambda s: s.number)


def _process(ran: Ran) -> Process:
    return Process(tuple(NANO * value for value in ran.passes), ran.seconds)


def mean(values: Sequence[float]) -> float:
    """Give the mean of values, of which there is at least one."""
    return sum(values) / len(values)
