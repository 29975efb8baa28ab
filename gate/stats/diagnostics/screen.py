"""Which cases the diagnostics may have something to say about: their tests over all cases of equal shape at once.

A screen and no verdict: what it lets through is tested again, one case at a time, and only that is said. It lets a
little more through than speaks (MARGIN), so that rounding hides nothing, and all that it has no array for.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gate.model import Sample
from gate.stats.diagnostics.testing import LEVEL, SMALLEST, critical_t
from gate.stats.rounding import Array, Flags, Ints

MARGIN = 1e-6
"""Of a test's limits, as a share."""

Pair = tuple[Sample, Sample]


def suspects(pairs: Sequence[Pair]) -> list[bool]:
    """Tell for each base and head whether the diagnostics may warn of them."""
    found = [True] * len(pairs)
    alike: dict[tuple[int, int, int], list[int]] = {}
    for i, pair in enumerate(pairs):
        shape = _shape(pair)
        if shape is not None:
            alike.setdefault(shape, []).append(i)
    for shape, numbers in alike.items():
        # cases, sides, builds, executions, iterations
        values = np.array([[side.values for side in pairs[i]] for i in numbers]).reshape(len(numbers), 2, *shape)
        orders = np.array([[side.orders for side in pairs[i]] for i in numbers]).reshape(len(numbers), 2, *shape[:2])
        for i, suspect in zip(numbers, _suspect(values, orders).tolist(), strict=True):
            found[i] = suspect
    return found


def _shape(pair: Pair) -> tuple[int, int, int] | None:
    """Return builds, executions and iterations of each, where both sides have as many everywhere, in one session."""
    base, head = pair
    if base.orders is None or head.orders is None or len(base.counts[2]) > 1 or base.builds != head.builds:
        return None
    iterations, executions = int(base.counts[0][0]), int(base.counts[1][0])
    shape = len(base.builds), executions, iterations
    # with few there is nothing to test, or a test of another kind
    balanced = min(shape) > 2 and all(
        (side.counts[0] == iterations).all() and (side.counts[1] == executions).all() for side in pair
    )
    consecutive = base.builds[-1][1] - base.builds[0][1] == len(base.builds) - 1
    return shape if balanced and consecutive else None


# 0/0 where nothing varies, or too little is there to vary: it is not significant
@np.errstate(divide="ignore", invalid="ignore")
def _suspect(values: Array, orders: Ints) -> Flags:
    executions = values.mean(axis=-1)
    builds = executions.mean(axis=-1)
    away = values - executions[..., None]
    suspect: Flags = _correlated(away, executions) | (builds <= 0).any(axis=(1, 2))
    n = away.shape[-1]
    rise = 12 * (np.arange(n) * away).sum(axis=-1) / (n * (n + 1))
    differences = (executions[:, 1] - executions[:, 0]) / builds.mean(axis=1)[..., None]
    base_first = orders[:, 0] < orders[:, 1]
    first = base_first.sum(axis=-1)
    both = (first > 0) & (first < base_first.shape[-1])
    after_base = np.where(base_first, differences, 0.0).sum(axis=-1) / first
    after_head = np.where(base_first, 0.0, differences).sum(axis=-1) / (base_first.shape[-1] - first)
    change = np.where(both, (after_base - after_head) / 2, 0.0)
    count = both.sum(axis=-1)
    mean = change.sum(axis=-1) / count
    variance = (np.where(both, change - mean[:, None], 0.0) ** 2).sum(axis=-1) / (count - 1)
    limits = np.array([0.0, 0.0, *(critical_t(df, LEVEL / 2) for df in range(2, both.shape[-1]))])
    speaks = ~(np.abs(mean) * (1 + MARGIN) <= np.sqrt(variance / count) * limits[count - 1]) & _counts(mean)
    # of few rounds with both there is another test
    found: Flags = speaks | (count < 3)
    suspect |= _sure(rise.mean(axis=-1) / builds, LEVEL / 2) | _drift(builds) | found
    return suspect


def _correlated(away: Array, executions: Array) -> Flags:
    n = away.shape[-1]
    squares = (away * away).sum(axis=-1)
    shares = (away[..., :-1] * away[..., 1:]).sum(axis=-1) / squares + 1 / n
    # executions without spread tell nothing, and leave their build to the others
    flat = ~(squares > 2 * n * (1e-12 * executions) ** 2)
    found: Flags = _sure(shares.mean(axis=-1), LEVEL) | flat.any(axis=(1, 2, 3))
    return found


def _drift(builds: Array) -> Flags:
    level = (builds / builds.mean(axis=-1, keepdims=True)).mean(axis=1)
    n = level.shape[-1]
    at = np.arange(n) - (n - 1) / 2
    away = level - level.mean(axis=-1, keepdims=True)
    tt, tv, vv = (at * at).sum(), away @ at, (away * away).sum(axis=-1)
    slope = tv / tt
    error = np.sqrt(np.maximum(vv - slope * tv, 0.0) / max(n - 2, 1) / tt)
    if n < 4:
        return np.zeros(len(level), dtype=np.bool_)
    return _beyond(slope, error, n - 2, LEVEL / 2) & _counts(slope * (n - 1))


def _sure(groups: Array, upper_tail: float) -> Flags:
    """Test the mean of both sides with the variance within them, as t_test does: of shape (cases, sides, builds)."""
    sides, n = groups.shape[1:]
    spread = np.sqrt(groups.var(axis=-1, ddof=1).mean(axis=-1) * sides / n) / sides
    return _beyond(groups.mean(axis=(1, 2)), spread, sides * (n - 1), upper_tail)


def _beyond(mean: Array, error: Array, df: int, upper_tail: float) -> Flags:
    return ~(np.abs(mean) * (1 + MARGIN) <= error * critical_t(df, upper_tail))


def _counts(change: Array) -> Flags:
    return ~(np.abs(change) * (1 + MARGIN) < SMALLEST)
