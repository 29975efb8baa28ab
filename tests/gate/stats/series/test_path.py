from __future__ import annotations

import numpy as np
import pytest

from gate.stats.series.path import path
from gate.stats.series.steps import Array, Steps
from tests.support.histories import Noise, flat, step
from tests.support.series import steps_of


def literally(steps: Steps, reference: int) -> tuple[Array, Array]:
    """Dense normal equations of all commits and of an offset each machine, and their pseudo-inverse."""
    commits = steps.count + 1
    size = commits + len(steps.machines)
    matrix, right = np.zeros((size, size)), np.zeros(size)

    def add(row: Array, value: float, weight: float) -> None:
        nonlocal matrix, right
        matrix, right = matrix + weight * np.outer(row, row), right + weight * value * row

    for place in range(steps.count):
        row = np.zeros(size)
        row[place], row[place + 1] = -1, 1
        add(row, steps.ratio[place], 1 / steps.variance[place])
        for index, own in enumerate(steps.machines):
            row = np.zeros(size)
            row[place] = row[place + 1] = 0.5
            row[commits + index] = 1
            add(row, own.level[place], own.count[place] / own.noise.variance)
    inverse = np.linalg.pinv(matrix, rcond=1e-12)
    about = np.eye(commits, size)
    about[:, :reference] -= 1 / reference
    return about @ inverse @ right, np.sqrt(np.diag(about @ inverse @ about.T))


@pytest.mark.parametrize("machines", [(), (25,), (12, 30)])
def test_the_levels_are_generalised_least_squares(machines: tuple[int, ...]) -> None:
    steps = steps_of(np.random.default_rng(1), step(40, 20, 0.1), Noise(outliers=0.05), machines=machines)
    found = path(steps, 15)
    level, sd = literally(steps, 15)
    assert found.level == pytest.approx(level, abs=2e-5)
    assert found.sd == pytest.approx(sd, rel=1e-3, abs=1e-6)
    assert set(found.piece.tolist()) == {0}


def test_the_intervals_cover_as_often_as_they_say() -> None:
    rng = np.random.default_rng(2)
    true = step(120, 60, 0.05)
    covered = []
    for _ in range(60):
        found = path(steps_of(rng, true, Noise()), 50)
        covered.append(np.mean(np.abs(found.level - true) < 1.96 * found.sd))
    assert 0.92 < np.mean(covered) <= 0.999


def test_levels_keep_the_error_from_growing() -> None:
    steps = steps_of(np.random.default_rng(3), flat(200), Noise())
    alone = Steps(steps.ratio, steps.variance, steps.df, [])
    assert path(steps, 201).sd.max() < 0.02
    assert path(alone, 1).sd[-1] > 0.09


def test_a_gap_is_bridged_by_levels_of_one_machine_only() -> None:
    steps = steps_of(np.random.default_rng(4), flat(60), Noise(), machines=(30,))
    variance = steps.variance.copy()
    variance[10] = np.inf
    for own in steps.machines:
        own.count[10] = 0
    same = path(Steps(steps.ratio, variance, steps.df, steps.machines), 5)
    assert set(same.piece.tolist()) == {0}
    variance[30] = np.inf
    for own in steps.machines:
        own.count[30] = 0
    other = path(Steps(steps.ratio, variance, steps.df, steps.machines), 5)
    assert other.piece.tolist() == [0] * 31 + [1] * 30
