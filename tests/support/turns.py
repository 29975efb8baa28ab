"""Runs in which base and head take turns, start by start, on hosts as unkind as those that people have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt

from gate.model import Case, Evidence, Round, Run, Sample
from tests.support import simulate

Array = npt.NDArray[np.float64]
Noise = Callable[[np.random.Generator, int], Array]
"""The logarithm of what a host adds to so many starts that follow each other, at a spread of 1."""
LOOKS = [4, 6, 8, 12]


def normal(rng: np.random.Generator, n: int) -> Array:
    return rng.normal(0, 1, n)


def lognormal(rng: np.random.Generator, n: int) -> Array:
    return rng.lognormal(0, 1, n) - float(np.exp(0.5))


def bursts(rng: np.random.Generator, n: int) -> Array:
    """A tenth of the starts meets something."""
    return rng.normal(0, 0.3, n) + np.where(rng.random(n) < 0.1, rng.exponential(6, n), 0.0)


def steps(rng: np.random.Generator, n: int) -> Array:
    """A load that comes and goes, some twenty starts each time."""
    changes = rng.random(n) < 1 / 20
    levels = rng.random(n) < 0.5
    which = np.maximum.accumulate(np.where(changes, np.arange(n), 0))
    return 4.0 * levels[which] + rng.normal(0, 0.3, n)


def wandering(rng: np.random.Generator, n: int) -> Array:
    """An AR(1) process of length ten."""
    keep = np.exp(-1 / 10)
    steps_ = rng.normal(0, np.sqrt(1 - keep**2), n)
    found = np.empty(n)
    at = rng.normal()
    for i, step in enumerate(steps_.tolist()):
        found[i] = at = keep * at + step
    return found


HOSTS: dict[str, Noise] = {
    "normal": normal, "lognormal": lognormal, "bursts": bursts, "load steps": steps, "AR(1)": wandering,
}  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """What is simulated. starts: of a side in a round. active, wall: spread of a start, as a share; change: of head.

    layout: spread of a round's ratio. tail: the share of head's starts that take twice as long.
    """

    host: str = "normal"
    starts: int = 10
    active: float = 0.01
    wall: float = 0.10
    layout: float = 0.002
    change: float = 1.0
    tail: float = 0.0
    rounds: int = 12


def abba(rng: np.random.Generator, starts: int) -> npt.NDArray[np.bool_]:
    """Draw whose turn each start is: ABBA or BAAB for each four; true: head's. Starts of a side are even."""
    first = np.repeat(rng.random(starts // 2 + starts % 2) < 0.5, 4)
    flipped = np.tile([False, True, True, False], len(first) // 4)
    drawn_: npt.NDArray[np.bool_] = np.logical_xor(first, flipped)[: 2 * starts]
    return drawn_


def of_values(values: Array, orders: npt.NDArray[np.int64] | None = None) -> Sample:
    """One start an execution: builds x starts."""
    builds, starts = values.shape
    counts = (np.ones(builds * starts, dtype=np.int64), np.full(builds, starts), np.array([builds]))
    return Sample(values.ravel(), counts, tuple((0, k) for k in range(builds)), orders)


def case(name: str, metric: str, base: Sample, head: Sample, *, one_task: bool | None = True) -> Case:
    view = metric != "time"
    sharp = view and (metric != "active" or one_task is True)
    return Case(
        benchmark=name, metric=metric, factors={}, unit="s", better="lower", exact=False, decided=sharp or not view,
        base=base, head=head, warnings=[], turns=True, one_task=one_task, view_of="time" if view else None, sharp=sharp,
    )  # fmt: skip


def drawn(
    rng: np.random.Generator, setting: Setting, name: str = "parse", *, one_task: bool | None = True
) -> list[Case]:
    """One command: wall time, and active time where one task does its work."""
    n, rounds = setting.starts, setting.rounds
    heads = np.array([abba(rng, n) for _ in range(rounds)])
    layouts = rng.normal(0, setting.layout, (rounds, 1)) / 2
    found = []
    orders = np.arange(rounds * 2 * n).reshape(rounds, 2 * n)
    tails = np.where((rng.random(heads.shape) < setting.tail) & heads, 2.0, 1.0)
    for metric, spread in (("time", setting.wall), ("active", setting.active)):
        noise = np.array([HOSTS[setting.host](rng, 2 * n) for _ in range(rounds)]) * spread
        values = (
            0.02 * np.exp(noise + np.where(heads, layouts, -layouts)) * np.where(heads, setting.change, 1.0) * tails
        )
        sides = [of_values(values[mine].reshape(rounds, n), orders[mine].ravel()) for mine in (~heads, heads)]
        found.append(case(name, metric, sides[0], sides[1], one_task=one_task))
    return found


def evidence(cases: Sequence[Case], *, looks: bool = True, rounds: int = 12) -> Evidence:
    """A run of a plan of 4 to 12 rounds."""
    return msgspec.structs.replace(
        simulate.evidence([]),
        cases=list(cases),
        run=Run(created="2026-11-20T09:00:00Z", seed=1, turns=True),
        looks=LOOKS if looks else [],
        rounds=Round(done=rounds, planned=rounds),
    )
