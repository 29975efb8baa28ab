"""Runs in which base and head take turns, start by start, on hosts as unkind as those that people have."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from gate.commands.simulate.draws import evidence_of
from gate.model import Case, Evidence, Run, Sample

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Noise = Callable[[np.random.Generator, int], Array]

_CREATED = "2026-11-20T09:00:00Z"
_LENGTH = 10
"""Starts in which an AR(1) process forgets."""


def _normal(rng: np.random.Generator, n: int) -> Array:
    return rng.normal(0, 1, n)


def _lognormal(rng: np.random.Generator, n: int) -> Array:
    return rng.lognormal(0, 1, n) - float(np.exp(0.5))


def _bursts(rng: np.random.Generator, n: int) -> Array:
    """A tenth of the starts meets something."""
    return rng.normal(0, 0.3, n) + np.where(rng.random(n) < 0.1, rng.exponential(6, n), 0.0)


def _steps(rng: np.random.Generator, n: int) -> Array:
    """A load that comes and goes, some twenty starts each time."""
    changes = rng.random(n) < 1 / 20
    levels = rng.random(n) < 0.5
    which = np.maximum.accumulate(np.where(changes, np.arange(n), 0))
    return 4.0 * levels[which] + rng.normal(0, 0.3, n)


def _wandering(rng: np.random.Generator, n: int) -> Array:
    keep = float(np.exp(-1 / _LENGTH))
    steps = rng.normal(0, np.sqrt(1 - keep**2), n)
    found = np.empty(n)
    at = rng.normal()
    for i, step in enumerate(steps.tolist()):
        found[i] = at = keep * at + step
    return found


HOSTS: Mapping[str, Noise] = MappingProxyType(
    {"normal": _normal, "lognormal": _lognormal, "bursts": _bursts, "load steps": _steps, "AR(1)": _wandering}
)
"""The logarithm of what a host adds to so many starts that follow each other, at a spread of 1."""


@dataclass(frozen=True, slots=True)
class Turns:
    """Commands whose starts alternate."""

    host: str = "normal"
    """One of HOSTS."""
    starts: int = 10
    """Of a side in a round."""
    active: float = 0.01
    wall: float = 0.10
    """active and wall: the spread of a start, as a share."""
    layout: float = 0.002
    """The spread of a round's ratio."""
    change: float = 1.0
    """Of head, in both views."""
    waits: float = 1.0
    """Of head's wall time alone."""
    tail: float = 0.0
    """The share of head's starts that take twice as long."""
    rounds: int = 12

    def evidence(
        self, rng: np.random.Generator, rounds: int, looks: Sequence[int], ratios: Sequence[float]
    ) -> Evidence:
        """Draw a run; ratios: of each command."""
        cases = [
            each
            for k, ratio in enumerate(ratios)
            for each in drawn(rng, dataclasses.replace(self, change=ratio, rounds=rounds), f"case-{k}")
        ]
        run = Run(created=_CREATED, seed=1, turns=True)
        return evidence_of(cases, run, rounds, looks)


def abba(rng: np.random.Generator, starts: int) -> npt.NDArray[np.bool_]:
    """Draw whose turn each start is: ABBA or BAAB for each four; true: head's. Starts of a side are even."""
    first = np.repeat(rng.random(starts // 2 + starts % 2) < 0.5, 4)
    flipped = np.tile([False, True, True, False], len(first) // 4)
    found: npt.NDArray[np.bool_] = np.logical_xor(first, flipped)[: 2 * starts]
    return found


def drawn(rng: np.random.Generator, turns: Turns, name: str = "parse", *, one_task: bool | None = True) -> list[Case]:
    """Draw one command: wall time, and active time where one task does its work."""
    n, rounds = turns.starts, turns.rounds
    heads = np.array([abba(rng, n) for _ in range(rounds)])
    layouts = rng.normal(0, turns.layout, (rounds, 1)) / 2
    found = []
    orders = np.arange(rounds * 2 * n).reshape(rounds, 2 * n)
    tails = np.where((rng.random(heads.shape) < turns.tail) & heads, 2.0, 1.0)
    for metric, spread, more in (("time", turns.wall, turns.waits), ("active", turns.active, 1.0)):
        noise = np.array([HOSTS[turns.host](rng, 2 * n) for _ in range(rounds)]) * spread
        times = np.where(heads, turns.change * more, 1.0) * tails
        values = 0.02 * np.exp(noise + np.where(heads, layouts, -layouts)) * times
        sides = [of_starts(values[mine].reshape(rounds, n), orders[mine].ravel()) for mine in (~heads, heads)]
        found.append(view(name, metric, sides[0], sides[1], one_task=one_task))
    return found


def of_starts(values: Array, orders: npt.NDArray[np.int64] | None = None) -> Sample:
    """Make a sample of one start an execution, of shape (builds, starts)."""
    builds, starts = values.shape
    counts = (np.ones(builds * starts, dtype=np.int64), np.full(builds, starts), np.array([builds]))
    return Sample(values.ravel(), counts, tuple((0, k) for k in range(builds)), orders)


def view(name: str, metric: str, base: Sample, head: Sample, *, one_task: bool | None) -> Case:
    """Make a case of a command's wall time, or of the sharper view of it."""
    other = metric != "time"
    sharp = other and (metric != "active" or one_task is True)
    return Case(
        benchmark=name, metric=metric, factors={}, unit="s", better="lower", exact=False, decided=sharp or not other,
        base=base, head=head, warnings=[], turns=True, one_task=one_task, view_of="time" if other else None,
        sharp=sharp,
    )  # fmt: skip
