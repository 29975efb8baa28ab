from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from gate.stats.series.places import Place, Shift, place
from gate.stats.series.search import comparisons, searched
from gate.stats.series.steps import Array
from tests.support.histories import Noise, creep, flat, step
from tests.support.series import steps_of


def places(
    seed: int, true: Array, *, moved: Array | None = None, control: Shift | None = None, reps: int = 30
) -> list[Place]:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(reps):
        done = searched(steps_of(rng, true, Noise(), moved=moved), 0.05 / (10 * comparisons(250)))
        found += [place(done.steps, point, control) for point in done.points]
    return found


def causes(found: list[Place]) -> Counter[str]:
    return Counter(each.cause for each in found)


def test_a_step_of_the_code_is_the_codes_and_lies_in_its_range() -> None:
    found = places(1, step(250, 126, 0.05))
    assert causes(found)["code"] >= 0.9 * len(found) and not causes(found)["machine"]
    assert sum(each.first <= 125 <= each.last for each in found) >= 0.9 * len(found)
    assert np.median([each.last - each.first + 1 for each in found]) <= 2


def test_a_machine_that_moves_is_not_the_code() -> None:
    found = places(2, flat(250), moved=step(249, 125, 0.10))
    assert causes(found)["machine"] >= 0.7 * len(found)
    assert causes(found)["code"] <= 0.1 * len(found)


def test_a_creep_stays_open_and_its_commits_lie_in_the_range() -> None:
    rng = np.random.default_rng(3)
    true = creep(rng, 250, 120)
    found = places(3, true)
    assert causes(found)["machine"] <= 0.1 * len(found)
    culprits = np.flatnonzero(np.diff(true))
    assert np.mean([np.mean((culprits >= each.first) & (culprits <= each.last)) for each in found]) >= 0.8


def test_the_whole_of_a_creep_is_estimated() -> None:
    rng = np.random.default_rng(4)
    found = [each for each in places(4, creep(rng, 250, 120)) if each.around is not None]
    assert np.mean([each.around.estimate for each in found if each.around]) == pytest.approx(0.0498, abs=0.006)


@pytest.mark.parametrize(("control", "cause"), [(Shift(0.0, 1e-5), "code"), (Shift(0.05, 1e-5), "machine")])
def test_controls_tell_the_machine_from_the_code(control: Shift, cause: str) -> None:
    rng = np.random.default_rng(5)
    found = places(5, creep(rng, 250, 120), control=control)
    assert causes(found)[cause] >= 0.9 * len(found)
