from __future__ import annotations

import numpy as np
import pytest

from gate.stats.series.search import comparisons, quieter, search, seeded
from tests.support.histories import Noise, creep, flat, step
from tests.support.series import called, steps_of


def test_windows_hold_their_steps_and_every_size() -> None:
    windows = seeded(100)
    assert (windows.first <= windows.at).all() and (windows.at <= windows.last).all()
    assert windows.first.min() == 0 and windows.last.max() == 99
    sizes = windows.last - windows.first + 1
    assert sizes.min() == 2 and sizes.max() == 100
    # neighbouring steps are together in a window of every size but the smallest
    covered = {int(size): len(np.unique(windows.at[sizes == size])) for size in np.unique(sizes)}
    assert set(covered.values()) == {100}


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_short_chains_have_windows_too(count: int) -> None:
    assert comparisons(count) >= count
    assert comparisons(0) == 0


def test_a_step_is_found_where_it_is() -> None:
    rng = np.random.default_rng(1)
    found = [called(steps_of(rng, step(250, 126, 0.05), Noise())) for _ in range(40)]
    assert sum(each == [125] for each in found) >= 36
    assert sum(not each for each in found) <= 2


def test_a_step_and_its_revert_do_not_hide_each_other() -> None:
    rng = np.random.default_rng(2)
    found = [called(steps_of(rng, step(250, 126, 0.10, until=134), Noise())) for _ in range(40)]
    assert sum(each == [125, 133] for each in found) >= 36


def test_a_creep_is_found() -> None:
    rng = np.random.default_rng(3)
    found = [called(steps_of(rng, creep(rng, 250, 150), Noise())) for _ in range(40)]
    assert sum(any(145 <= at <= 185 for at in each) for each in found) >= 38


@pytest.mark.parametrize("noise", [Noise(), Noise(day=0.03, slow=0.5), Noise(outliers=0.03)])
def test_a_year_without_a_change_has_none(noise: Noise) -> None:
    rng = np.random.default_rng(4)
    years = [any(called(steps_of(rng, flat(250), noise)) for _ in range(10)) for _ in range(12)]
    # 5% of 12, and three standard errors
    assert sum(years) <= 2


def test_a_small_change_is_not_called_beyond_a_threshold() -> None:
    rng = np.random.default_rng(5)
    found = [called(steps_of(rng, step(250, 126, 0.02), Noise(day=0.01)), threshold=0.02) for _ in range(40)]
    assert sum(map(bool, found)) <= 2
    assert (
        sum(bool(called(steps_of(rng, step(250, 126, 0.06), Noise(day=0.01)), threshold=0.02)) for _ in range(20)) == 20
    )


def test_a_machine_that_begins_is_no_change() -> None:
    rng = np.random.default_rng(6)
    moved = step(249, 120, 0.25)
    found = [called(steps_of(rng, flat(250), Noise(), moved=moved, machines=(120,))) for _ in range(20)]
    assert sum(map(bool, found)) <= 2


def test_what_was_found_is_no_noise_any_more() -> None:
    rng = np.random.default_rng(7)
    steps = steps_of(rng, step(120, 60, 0.2), Noise(day=0.01))
    again = quieter(steps, search(steps, 1e-6))
    assert again.machines[0].noise.variance < 0.6 * steps.machines[0].noise.variance
    assert quieter(again, []).machines[0].noise.variance == again.machines[0].noise.variance


def test_no_steps_have_no_changes() -> None:
    empty = steps_of(np.random.default_rng(8), flat(30), Noise())
    from gate.stats.series.steps import Steps

    assert search(Steps(*(np.zeros(0),) * 3, []), 0.05) == []
    assert empty.count == 30
