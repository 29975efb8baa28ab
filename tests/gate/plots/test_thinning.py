"""Which values are drawn, and how all are spread."""

from __future__ import annotations

import numpy as np
import pytest

from gate.model import Sample
from gate.plots.scales import build_sizes, density, places, thinned, used_builds
from tests.gate.plots.drawn import sample


def uneven() -> Sample:
    values = np.arange(10.0)
    return Sample(values, (np.array([2, 3, 1, 4]), np.array([2, 1, 1]), np.array([3])), ((0, 0), (0, 1), (0, 2)))


def test_uneven_counts_are_followed() -> None:
    assert build_sizes(uneven()).tolist() == [5, 1, 4]
    found = places(uneven(), np.arange(10))
    assert found.build.tolist() == [0] * 5 + [1] + [2] * 4
    assert found.execution.tolist() == [0, 0, 1, 1, 1, 2, 3, 3, 3, 3]
    assert found.of_execution.tolist() == [0.25] * 2 + [0.75] * 3 + [0.5] * 5
    assert found.of_iteration.tolist()[:5] == pytest.approx([1 / 4, 3 / 4, 1 / 6, 3 / 6, 5 / 6])


def test_few_values_are_all_kept() -> None:
    kept = thinned(uneven(), 10)
    assert kept.indices.tolist() == list(range(10))
    assert not kept.extreme.any()


@pytest.mark.parametrize("builds", [1, 5, 40, 150])
def test_thinning_keeps_the_extremes_and_every_build(builds: int) -> None:
    rng = np.random.default_rng(builds)
    of = sample(rng.normal(size=builds * 4 * 100), builds, 4)
    kept = thinned(of, 200)
    assert kept.indices.size <= 202
    assert kept.indices.tolist() == sorted(set(kept.indices.tolist()))
    assert {int(of.values.argmin()), int(of.values.argmax())} <= set(kept.indices.tolist())
    assert set(places(of, kept.indices).build.tolist()) == set(range(builds))
    again = thinned(of, 200)
    assert again.indices.tolist() == kept.indices.tolist()
    assert again.extreme.tolist() == kept.extreme.tolist()


@pytest.mark.parametrize("builds", [1, 5, 40, 150])
def test_what_is_kept_for_its_size_is_told_apart_from_an_even_choice(builds: int) -> None:
    of = sample(np.random.default_rng(builds).exponential(size=builds * 4 * 100), builds, 4)
    kept = thinned(of, 200)
    assert 0 < kept.extreme.mean() <= 0.2
    chosen = of.values[kept.indices[~kept.extreme]]
    # 5% of all are above the 95% quantile; about as many of those chosen, and nothing like the extremes' share
    assert (chosen > np.quantile(of.values, 0.95)).mean() < 0.12


def test_a_crowd_of_builds_is_thinned_too() -> None:
    of = sample(np.random.default_rng(1).normal(size=20_000), 5000, 2)
    kept = thinned(of, 200)
    assert 150 <= kept.indices.size <= 202
    assert int(of.values.argmax()) in kept.indices


def test_a_finding_over_fewer_builds_rests_on_the_first_rounds_of_every_session() -> None:
    of = sample(np.arange(6.0), 6, 1, sessions=2)
    assert used_builds(of, 4).tolist() == [True, True, False, True, True, False]
    assert used_builds(of, 9).all()


def test_a_density_follows_the_values_and_ends_with_them() -> None:
    values = np.random.default_rng(2).normal(5, 1, 20_000)
    found = density(values, 0, 10, 101)
    assert found is not None
    assert (found.low, found.high) == (values.min(), values.max())
    assert found.heights.max() == 1
    at = np.linspace(found.low, found.high, 101)
    assert np.abs(found.heights - np.exp(-0.5 * (at - 5) ** 2)).max() < 0.06


def test_what_lies_beyond_the_axis_is_no_part_of_a_density() -> None:
    values = np.append(np.linspace(4, 6, 50), 1000.0)
    found = density(values, 0, 10, 20)
    assert found is not None
    assert (found.low, found.high) == (4, 6)


def test_two_modes_stay_two() -> None:
    rng = np.random.default_rng(3)
    found = density(np.append(rng.normal(2, 0.3, 300), rng.normal(8, 0.3, 300)), 0, 10, 51)
    assert found is not None
    at = np.linspace(found.low, found.high, 51)
    height = {place: float(np.interp(place, at, found.heights)) for place in (2, 5, 8)}
    assert height[5] < 0.1
    assert min(height[2], height[8]) > 0.7


@pytest.mark.parametrize("values", [np.ones(7), np.full(50, 99.0)])
def test_too_few_values_have_no_density(values: np.typing.NDArray[np.float64]) -> None:
    assert density(values, 0, 10, 20) is None


def test_values_that_are_all_the_same_have_a_density() -> None:
    found = density(np.full(50, 5.0), 0, 10, 21)
    assert found is not None
    assert (found.low, found.high, found.heights.tolist()) == (5, 5, [1, 1])
