"""The cases of a chain, each as steps with ratios and levels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import reduce

import msgspec
import numpy as np

from gate.history.chain import Chain, Link
from gate.model import Better
from gate.model.case import CaseId, case_id
from gate.model.history import Change, HistoryRecord
from gate.stats.series.noise import level_noise, moderated, outlying
from gate.stats.series.steps import UNKNOWN, Array, Levels, Steps


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What one run measured of a case at a step."""

    step: int
    record: HistoryRecord
    change: Change
    level: float | None
    """Mean of the logs of both sides; None: not measured (identical), or no positive numbers."""
    outlier: bool
    """Whether its level stands far off the days around it, and is not used."""


class Series(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One case over the chain."""

    id: CaseId
    unit: str
    better: Better
    factors: dict[str, object]
    runs: list[Run]
    """In the order of the steps."""
    steps: Steps
    machines: list[str]
    """Ids of the classes of machines, in the order of steps.machines."""


def series(chain: Chain) -> list[Series]:
    """Return the cases of a chain, in the order of their names."""
    places: dict[CaseId, list[tuple[int, HistoryRecord, Change]]] = {}
    for step, link in enumerate(chain.links):
        for record in link.records:
            for change in record.changes:
                if math.isfinite(change.log_ratio):
                    places.setdefault(case_id(change, change.statistic), []).append((step, record, change))
    return [_series(key, places[key], len(chain.links)) for key in sorted(places)]


def of_links(links: Sequence[Link], case: CaseId) -> Series | None:
    """Return one case over a part of a chain; None where no record of it has the case."""
    part = Chain(links=list(links), controls=[], pinned=[], aside=[])
    return next((each for each in series(part) if each.id == case), None)


def level_of(change: Change, side: str | None = None) -> float | None:
    """Return the level of a run: the log of a side's value, or the mean of both."""
    values = [
        each.value for name, each in (("base", change.base), ("head", change.head)) if each and side in (None, name)
    ]
    if not values or any(not (math.isfinite(value) and value > 0) for value in values):
        return None
    return sum(map(math.log, values)) / len(values)


def _series(key: CaseId, found: Sequence[tuple[int, HistoryRecord, Change]], count: int) -> Series:
    last = found[-1][2]
    levels = [level_of(change) for _, _, change in found]
    machines = list(dict.fromkeys(record.machine.id for _, record, _ in found))
    outliers = [False] * len(found)
    own: list[Levels] = []
    for machine in machines:
        at = [i for i, (_, record, _) in enumerate(found) if record.machine.id == machine and levels[i] is not None]
        at.sort(key=lambda i: found[i][1].measured or "")
        values = np.array([levels[i] for i in at], dtype=np.float64)
        far = outlying(values)
        for i, outlier in zip(at, far.tolist(), strict=True):
            outliers[i] = outlier
        steps = np.array([found[i][0] for i in at], dtype=np.int64)
        own.append(_levels(values[~far], steps[~far], count))
    runs = [
        Run(step=step, record=record, change=change, level=level, outlier=outlier)
        for (step, record, change), level, outlier in zip(found, levels, outliers, strict=True)
    ]
    return Series(
        id=key, unit=last.unit, better=last.better, factors=last.factors, runs=runs,
        steps=_steps(runs, count, own), machines=machines,
    )  # fmt: skip


def _levels(values: Array, steps: np.ndarray[tuple[int], np.dtype[np.int64]], count: int) -> Levels:
    counts = np.bincount(steps, minlength=count).astype(np.float64)
    sums = np.bincount(steps, weights=values, minlength=count)
    return Levels(sums / np.maximum(counts, 1), counts, level_noise(values) if values.size else UNKNOWN)


def _steps(runs: Sequence[Run], count: int, machines: list[Levels]) -> Steps:
    """Join the ratios of each step: several runs of one commit by their precision, degrees by Satterthwaite."""
    changes = [run.change for run in runs]
    ratio = np.array([change.log_ratio for change in changes])
    shared = moderated(
        np.array([math.nan if change.variance is None else change.variance for change in changes]),
        np.array([change.df or 0.0 for change in changes]),
        np.array([_builds(change) for change in changes]),
    )
    at = np.array([run.step for run in runs])
    weights = np.where(np.isfinite(shared.variance), 1 / shared.variance, 0.0)
    precision, sums, squares = (
        np.bincount(at, weights=each, minlength=count)
        for each in (weights, weights * ratio, weights**2 / shared.df)
    )  # fmt: skip
    with np.errstate(divide="ignore", invalid="ignore"):
        known = precision > 0
        return Steps(
            np.where(known, sums / precision, 0.0),
            1 / precision,
            np.where(known, precision**2 / squares, 1.0),
            machines,
        )


def _builds(change: Change) -> float:
    counts = [side.builds for side in (change.base, change.head) if side is not None]
    return float(max(min(counts, default=1), 1))


def latest(runs: Iterable[Run]) -> Run:
    """Return the run that was measured last."""
    return reduce(lambda one, two: two if (two.record.measured or "") >= (one.record.measured or "") else one, runs)
