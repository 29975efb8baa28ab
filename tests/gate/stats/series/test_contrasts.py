from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from gate.stats.series.contrasts import contrasts
from gate.stats.series.steps import Steps
from tests.support.histories import Noise, step
from tests.support.series import steps_of


def literally(steps: Steps, first: int, last: int, at: int) -> tuple[float, float, float]:
    """Weighted least squares, an intercept each machine: change, variance, Satterthwaite degrees."""
    rows, values, weights = [], [], []
    machines = steps.machines
    for index, own in enumerate(machines):
        for place in range(first, last + 1):
            if own.count[place]:
                happened = 0.0 if place < at else 0.5 if place == at else 1.0
                rows.append([happened, *(float(k == index) for k in range(len(machines)))])
                values.append(own.level[place])
                weights.append(own.count[place] / own.noise.variance)
    rows.append([1.0, *(0.0 for _ in machines)])
    values.append(steps.ratio[at])
    weights.append(1 / steps.variance[at])
    x, w = np.array(rows), np.diag(weights)
    inverse = np.linalg.pinv(x.T @ w @ x)
    estimate = inverse @ x.T @ w @ np.array(values)
    parts = []
    for own in machines:
        g = [(own.count[p], 0.0 if p < at else 0.5 if p == at else 1.0) for p in range(first, last + 1)]
        total = sum(n for n, _ in g)
        mean = sum(n * h for n, h in g) / total if total else 0.0
        parts.append((sum(n * (h - mean) ** 2 for n, h in g) / own.noise.variance, own.noise.df))
    parts.append((1 / steps.variance[at], steps.df[at]))
    # degrees as the code nests them: those of levels together, then with the ratio
    levels = sum(v for v, _ in parts[:-1])
    df_levels = levels**2 / sum(v**2 / d for v, d in parts[:-1]) if levels else 1.0
    ratio, df_ratio = parts[-1]
    df = (levels + ratio) ** 2 / (levels**2 / df_levels + ratio**2 / df_ratio)
    return float(estimate[0]), float(inverse[0, 0]), float(df)


@pytest.mark.parametrize("machines", [(), (31,), (20, 44)])
def test_the_sums_are_weighted_least_squares(machines: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    steps = steps_of(rng, step(60, 30, 0.05), Noise(outliers=0.1), machines=machines)
    for first, last, at in [(0, 59, 30), (5, 50, 28), (10, 40, 40), (10, 40, 10), (12, 12, 12), (28, 33, 31)]:
        found = contrasts(steps, np.array([first]), np.array([last]), np.array([at]))
        change, variance, df = literally(steps, first, last, at)
        assert found.change[0] == pytest.approx(change, rel=1e-6, abs=1e-9)
        assert found.variance[0] == pytest.approx(variance, rel=1e-6)
        assert found.df[0] == pytest.approx(df, rel=1e-6)


def test_p_is_of_a_change_of_at_most_the_threshold() -> None:
    steps = steps_of(np.random.default_rng(2), step(60, 30, 0.05), Noise())
    found = contrasts(steps, np.array([0]), np.array([59]), np.array([29]))
    change, sd, df = float(found.change[0]), math.sqrt(float(found.variance[0])), float(found.df[0])
    assert found.p()[0] == pytest.approx(2 * stats.t.sf(abs(change) / sd, df))
    p = stats.t.sf((abs(change) - 0.02) / sd, df) + stats.t.sf((abs(change) + 0.02) / sd, df)
    assert found.p(0.02)[0] == pytest.approx(p)


@pytest.mark.parametrize("alpha", [0.5, 0.05, 1e-4, 1e-8])
@pytest.mark.parametrize("threshold", [0.0, 0.01])
def test_what_is_shown_is_what_p_shows(alpha: float, threshold: float) -> None:
    steps = steps_of(np.random.default_rng(3), step(60, 30, 0.03), Noise())
    at = np.arange(60)
    found = contrasts(steps, np.zeros(60, dtype=np.int64), np.full(60, 59), at)
    assert found.shown(alpha, threshold).tolist() == (found.p(threshold) < alpha).tolist()


def test_without_data_nothing_is_shown() -> None:
    steps = steps_of(np.random.default_rng(4), step(4, 2, 0.05), Noise())
    alone = Steps(np.zeros(4), np.full(4, np.inf), np.ones(4), steps.machines)
    at = np.arange(4)
    found = contrasts(alone, np.zeros(4, dtype=np.int64), np.full(4, 3), at)
    assert found.p().tolist() == [1.0] * 4
    assert not found.shown(0.5).any()
