"""The cases of a chain, each as steps with ratios and levels."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import numpy as np

from gate.history.chain import Chain, Link
from gate.model import Better
from gate.model.case import CaseId, case_id
from gate.model.history import Change, HistoryRecord
from gate.stats.series import Array, Interval, Levels, Steps, interval, level_variance, moderated, outlying


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What one run measured of a case at a step."""

    step: int
    record: HistoryRecord
    change: Change
    ratio: Interval
    """log ratio of the commit to its parent, at 95%."""
    outlier: bool
    """Whether its level stands far off the days around it, and is not used; its ratio is."""

    @property
    def builds(self) -> int:
        """Of the side that has fewer; 0 of a proof that both sides are the same."""
        return _builds(self.change)


class Series(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One case over the chain."""

    id: CaseId
    unit: str
    better: Better
    factors: dict[str, object]
    runs: list[Run]
    """In the order of the steps."""
    steps: Steps


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


def _level(change: Change, *, alone: bool) -> float | None:
    """Return the level of a run: the mean of the logs of both sides, or of head alone.

    None: not measured (identical), or no positive numbers.
    """
    values = [side.value for side in ((change.head,) if alone else (change.base, change.head)) if side is not None]
    if not values or any(not (math.isfinite(value) and value > 0) for value in values):
        return None
    return sum(map(math.log, values)) / len(values)


def _series(key: CaseId, found: Sequence[tuple[int, HistoryRecord, Change]], count: int) -> Series:
    # without any variance of ratios, base says nothing that head of the step before does not
    alone = all(change.variance is None for _, _, change in found)
    levels = [_level(change, alone=alone) for _, _, change in found]
    outliers = [False] * len(found)
    own: list[Levels] = []
    for machine in dict.fromkeys(record.machine.id for _, record, _ in found):
        at = [i for i, (_, record, _) in enumerate(found) if record.machine.id == machine and levels[i] is not None]
        at.sort(key=lambda i: found[i][1].measured or "")
        values = np.array([levels[i] for i in at], dtype=np.float64)
        far = outlying(values)
        for i, outlier in zip(at, far.tolist(), strict=True):
            outliers[i] = outlier
        at_steps = np.array([found[i][0] for i in at], dtype=np.int64)
        own.append(_levels(values[~far], at_steps[~far], count, 1.0 if alone else 0.5))
    steps = _steps(found, count, own)
    runs = [
        Run(step=step, record=record, change=change, ratio=_ratio(change, steps, step), outlier=outlier)
        for (step, record, change), outlier in zip(found, outliers, strict=True)
    ]
    last = found[-1][2]
    return Series(id=key, unit=last.unit, better=last.better, factors=last.factors, runs=runs, steps=steps)


def _levels(values: Array, steps: np.ndarray[tuple[int], np.dtype[np.int64]], count: int, happened: float) -> Levels:
    counts = np.bincount(steps, minlength=count).astype(np.float64)
    sums = np.bincount(steps, weights=values, minlength=count)
    return Levels(sums / np.maximum(counts, 1), counts, level_variance(values), np.full(count, happened))


def _ratio(change: Change, steps: Steps, step: int) -> Interval:
    # one build has no variance of its own: what its step got from the others is shown
    variance = change.variance if change.variance is not None else float(steps.variance[step])
    return interval(change.log_ratio, variance, change.df or float(steps.df[step]))


def _steps(found: Sequence[tuple[int, HistoryRecord, Change]], count: int, machines: list[Levels]) -> Steps:
    """Join the ratios of each step: several runs of one commit by their precision, degrees by Satterthwaite."""
    changes = [change for _, _, change in found]
    ratio = np.array([change.log_ratio for change in changes])
    variance, df = moderated(
        np.array([math.nan if change.variance is None else change.variance for change in changes]),
        np.array([change.df or 0.0 for change in changes]),
        np.array([float(max(_builds(change), 1)) for change in changes]),
    )
    at = np.array([step for step, _, _ in found])
    weights = np.where(np.isfinite(variance), 1 / variance, 0.0)
    precision, sums, squares = (
        np.bincount(at, weights=each, minlength=count) for each in (weights, weights * ratio, weights**2 / df)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        known = precision > 0
        return Steps(
            np.where(known, sums / precision, 0.0),
            1 / precision,
            np.where(known, precision**2 / squares, 1.0),
            machines,
        )


def _builds(change: Change) -> int:
    return min((side.builds for side in (change.base, change.head) if side is not None), default=0)
