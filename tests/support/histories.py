"""Histories made up: records of commits with the noise of builds and of days, as a gate of 5 to 12 builds measures them."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from gate.model.history import Change, HistoryRecord, Machine, PastSide
from gate.model.reasons import Accepted
from gate.stats.series import Levels, Steps, level_variance, moderated, outlying
from gate.store.history_records import encode, name_of

Array = npt.NDArray[np.float64]


class Noise(msgspec.Struct, frozen=True):
    """How noisy a history is, in log."""

    build: float = 0.025
    """sd of a log ratio of one build of each side."""
    day: float = 0.02
    """sd of what a day does to both sides."""
    slow: float = 0.0
    """Correlation of a day with the one before."""
    walk: float = 0.0
    """sd of what stays from each day to all that follow: a machine that drifts."""
    outliers: float = 0.0
    """Share of runs that the machine did to its liking: by 20% and more."""


def sha(number: int) -> str:
    return f"{number:04d}" + "c0ffee" * 6


def kept(folder: Path, records: Sequence[HistoryRecord]) -> Path:
    """Keep records in a folder, as `perfgate history add --history DIR` does, which counts all of them for each."""
    for each in records:
        place = folder / name_of(each)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(encode(each))
    return folder


def days(rng: np.random.Generator, count: int, noise: Noise) -> Array:
    """Draw what days do to both sides."""
    own = rng.standard_normal(count) * noise.day
    for index in range(1, count):
        own[index] = noise.slow * own[index - 1] + np.sqrt(1 - noise.slow**2) * own[index]
    own += np.cumsum(rng.standard_normal(count)) * noise.walk
    far = rng.random(count) < noise.outliers
    return own + np.where(far, rng.standard_normal(count) * 0.2, 0.0)


class Drawn(msgspec.Struct, frozen=True, eq=False):
    """What runs measured of a case, one each."""

    ratio: Array
    level: Array
    variance: Array
    builds: npt.NDArray[np.int64]


def drawn(rng: np.random.Generator, true: Array, noise: Noise) -> Drawn:
    """Draw what runs of every commit against its parent measure; true: log level of every commit, one more than runs."""
    count = true.size - 1
    builds = rng.integers(5, 13, count)
    variance = noise.build**2 / builds
    ratio = np.diff(true) + rng.standard_normal(count) * np.sqrt(variance)
    level = (true[1:] + true[:-1]) / 2 + days(rng, count, noise) + rng.standard_normal(count) * np.sqrt(variance) / 2
    return Drawn(ratio, level, variance * rng.chisquare(builds - 1) / (builds - 1), builds)


def steps_of(
    rng: np.random.Generator, true: Array, noise: Noise, *, moved: Array | None = None, machines: tuple[int, ...] = ()
) -> Steps:
    """Draw the steps of a case.

    moved: what the machine does to the level of each run beside the noise. machines: runs with which another begins.
    """
    own = drawn(rng, true, noise)
    variance, df = moderated(own.variance, (own.builds - 1).astype(np.float64), own.builds.astype(np.float64))
    level = own.level if moved is None else own.level + moved
    ends = [0, *machines, level.size]
    each = []
    for first, last in pairwise(ends):
        far = outlying(level[first:last])
        count = np.zeros(level.size)
        count[first:last] = ~far
        each.append(Levels(level, count, level_variance(level[first:last][~far]), np.full(level.size, 0.5)))
    return Steps(own.ratio, variance, df, each)


FACTS: Mapping[str, Any] = {"cpu": "Example 3.0 GHz", "kernel": "6.1", "gcc": "12.2"}
MACHINE = Machine(id="m1", facts=dict(FACTS))


def change(benchmark: str, ratio: float, level: float, variance: float, builds: int, **more: Any) -> Change:
    sides = [
        PastSide(value=float(np.exp(level + half)), builds=builds, executions=builds, iterations=10 * builds, spread=[])
        for half in (-ratio / 2, ratio / 2)
    ]
    found = Change(
        benchmark=benchmark, metric="time", unit="s", better="lower", statistic="mean", factors={},
        log_ratio=float(ratio), variance=float(variance), df=float(builds - 1), method="paired",
        base=sides[0], head=sides[1], verdict="unchanged", accepted=None,
    )  # fmt: skip
    return msgspec.structs.replace(found, **more)


def record(
    number: int, changes: Sequence[Change], *, machine: Machine = MACHINE, parent: int | None = None, run: str = ""
) -> HistoryRecord:
    """Make the record of commit `number`, whose parent is the commit before it unless said otherwise."""
    when = f"20{25 + number // 336:02d}-{number // 28 % 12 + 1:02d}-{number % 28 + 1:02d}T09:00:00Z"
    return HistoryRecord(
        commit=sha(number), parent=sha(number - 1 if parent is None else parent), subject=f"Change number {number}",
        committed=when, measured=when.replace("T09", "T10"), run=run or f"run-{number}", perfgate="0.1.0",
        machine=machine, raw=["sha256:" + "0" * 64], changes=list(changes),
    )  # fmt: skip


def history(
    seed: int,
    true: Mapping[str, Array],
    noise: Noise = Noise(),  # noqa: B008 - frozen
    *,
    machines: Sequence[Machine] = (MACHINE,),
    offsets: Sequence[float] = (0.0,),
    accepted: Mapping[int, Accepted] | None = None,
) -> list[HistoryRecord]:
    """Draw the records of commits 1, 2 and so on, of cases with their log levels.

    machines: as long as there are records, or one. offsets: what each of them does to both sides.
    """
    rng = np.random.default_rng(seed)
    each = {name: drawn(rng, levels, noise) for name, levels in true.items()}
    count = min(levels.size for levels in true.values()) - 1
    many = [machines[min(index, len(machines) - 1)] for index in range(count)]
    shift = [offsets[min(index, len(offsets) - 1)] for index in range(count)]
    return [
        record(
            index + 1,
            [
                change(
                    name, own.ratio[index], own.level[index] - 3 + shift[index], own.variance[index],
                    int(own.builds[index]), accepted=(accepted or {}).get(index + 1),
                )
                for name, own in each.items()
            ],
            machine=many[index],
        )
        for index in range(count)
    ]  # fmt: skip


def flat(count: int) -> Array:
    """Return the levels of a case that never changes."""
    return np.zeros(count + 1)


def step(count: int, at: int, size: float, until: int | None = None) -> Array:
    """Return the levels of a case that changes with commit `at`, and back with `until`."""
    commits = np.arange(count + 1)
    return np.where((commits >= at) & (commits < (count + 1 if until is None else until)), np.log1p(size), 0.0)


def creep(
    rng: np.random.Generator, count: int, first: int, *, within: int = 30, steps: int = 5, size: float = 0.01
) -> Array:
    """Return the levels of a case that grows by small steps at random commits from `first` on."""
    at = rng.choice(np.arange(first, first + within), steps, replace=False)
    return sum((step(count, int(each), size) for each in at), start=flat(count))
