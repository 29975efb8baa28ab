import itertools
import math

import numpy as np
import numpy.typing as npt
import pytest

from gate.model import FEWEST_FOR_STEADY
from harness.instruments.steady import BEYOND, MOST_BINS, SAME, segments, steady_from
from tests.support.seeds import some

Array = npt.NDArray[np.float64]


def noise(kind: str, rng: np.random.Generator, n: int, share: float) -> Array:
    """Noise around 0 with standard deviation `share` (without its outliers)."""
    normal = rng.normal(size=n)
    if kind == "skewed":
        drawn = np.exp(0.5 * normal)
        return share * (drawn - math.exp(0.125)) / math.sqrt((math.exp(0.25) - 1) * math.exp(0.25))
    if kind == "heavy":
        return share * rng.standard_t(3, size=n) / math.sqrt(3)
    if kind == "outliers":
        return share * (normal + (rng.random(n) < 0.03) * 20 * rng.random(n))
    if kind == "dependent":
        values = normal.copy()
        for i in range(1, n):
            values[i] = 0.3 * values[i - 1] + math.sqrt(1 - 0.3**2) * normal[i]
        return share * values
    if kind == "coarse":
        return 2 * share * np.round(normal / 2)
    assert kind == "normal"
    return share * normal


KINDS = ["normal", "skewed", "heavy", "outliers", "dependent", "coarse"]


def found(values: Array) -> int | None:
    return steady_from(values.tolist())


# --- rates


# every kind and every number, and all kinds of the middle one; the rest is a promise
@pytest.mark.parametrize(
    ("kind", "n"),
    some([*((kind, 30) for kind in KINDS), *((kind, n) for kind in KINDS for n in (10, 100))], len(KINDS) + 2),
)
def test_noise_alone_is_steady(kind: str, n: int) -> None:
    rng = np.random.default_rng([1, n])
    trials = 150
    starts = [found(5e-3 * (1 + noise(kind, rng, n, 0.03))) for _ in range(trials)]
    # never: 1% and three standard errors; a first value far out is dropped, so as often as there are outliers
    assert starts.count(None) / trials <= 0.01 + 3 * math.sqrt(0.01 * 0.99 / trials)
    assert sum(bool(start) for start in starts) / trials <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / trials)
    assert sum((start or 0) / n for start in starts) / trials < 0.01


@pytest.mark.parametrize(
    ("kind", "n"),
    some([*((kind, 100) for kind in KINDS[:5]), *((kind, n) for kind in KINDS[:5] for n in (30, 1000))], 7),
)
def test_a_step_of_many_deviations_is_found(kind: str, n: int) -> None:
    rng = np.random.default_rng([2, n])
    for warm in (n // 10, n // 5, n // 3):
        starts = [found(1 + 0.4 * (np.arange(n) < warm) + noise(kind, rng, n, 0.03)) for _ in range(20)]
        told = [start for start in starts if start is not None]
        assert len(told) >= 19
        assert np.mean([start >= warm for start in told]) >= 0.85
        # a tenth of them are taken to fade
        assert np.mean([start - warm <= -(-n // MOST_BINS) for start in told]) > 0.7


@pytest.mark.parametrize("n", [30, 100, 1000])
def test_little_is_left_of_a_warm_up_that_decays(n: int) -> None:
    rng = np.random.default_rng([3, n])
    warm = 0.5 * np.exp(-np.arange(n) / (n / 30))
    left, kept = [], []
    for _ in range(60):
        start = found(1 + warm + noise("normal", rng, n, 0.02))
        assert start is not None
        left.append(warm[start:].mean())
        kept.append(1 - start / n)
    assert np.mean(left) < 0.1 * warm.mean()
    assert np.mean(kept) > 0.75


# --- made cases


def flat(seed: int, n: int, share: float = 0.01) -> Array:
    return 1 + noise("normal", np.random.default_rng(seed), n, share)


def put(values: Array, at: list[int], value: float) -> Array:
    values[at] = value
    return values


def place(n: int) -> Array:
    return np.arange(n, dtype=np.float64)


MADE: dict[str, list[tuple[Array, int | None]]] = {
    "one cold iteration is dropped": [
        (put(flat(1, n), [0], first), 1) for n in (10, 30, 100) for first in (3.0, 1.5, 0.2)
    ],
    "outliers after it stay": [
        (put(flat(2, 30), at, 4.0), 0) for at in ([12], [5, 6], [3, 14, 29], [29], [27, 29])
    ],
    "a collector every twenty iterations is steady": [(flat(3, n) + 2 * (place(n) % 20 == 7), 0) for n in (60, 400, 5000)],
    "a trend has no steady state": [
        (own + slope * np.linspace(0, 1, n), None)
        for n in (30, 100, 1000, 20_000) for slope in (0.3, -0.3) for own in (np.ones(n), flat(4, n))
    ],
    "nor has a change in the second half": [(flat(5, 100) * (1 + 0.2 * (place(100) >= at)), None) for at in (55, 70, 95)],
    "half of the values are enough": [
        (flat(6, 40, 0.001) + (place(40) < warm), start) for warm, start in ((19, 19), (20, 20), (21, None), (25, None))
    ],
    "a short cycle is steady, a long one is not": [
        (flat(7, 1000) + 0.2 * (place(1000) // 100 % 2), None), (flat(7, 1000) + 0.2 * (place(1000) // 5 % 2), 0),
    ],
    "levels less than half a percent apart are one": [
        (flat(8, 100, 1e-5) * (1 + step * (place(100) < 30)), start) for step, start in ((0.8 * SAME, 0), (1.5 * SAME, 30))
    ],
    # each step is below half a percent, three of them are not
    "each level is compared with the last": [(1.012 - 0.004 * np.repeat([0.0, 1.0, 2.0, 3.0], 20), 40)],
    "equal values are steady": [
        (np.full(n, value), 0)
        for n in (FEWEST_FOR_STEADY, 40, 1000) for value in (0.0, 1.0, 0.1, -3.0, 1e308, 5e-324)
    ],
    # most values are equal, so the median distance between them is 0
    "a coarse timer is steady": [
        (np.array([2.0, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1]), 0), (np.array([1.0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]), 0),
    ],
}  # fmt: skip


@pytest.mark.parametrize("cases", MADE.values(), ids=MADE)
def test_made_cases(cases: list[tuple[Array, int | None]]) -> None:
    assert [found(values) for values, _ in cases] == [start for _, start in cases]


def test_what_fades_is_dropped_too() -> None:
    rng = np.random.default_rng(9)
    sharp = [found(1 + 0.5 * (np.arange(100) < 10) + noise("normal", rng, 100, 0.02)) for _ in range(60)]
    tail = np.where(np.arange(100) < 10, 0.5, 0.02 * (np.arange(100) < 20))
    fading = [found(1 + tail + noise("normal", rng, 100, 0.02)) for _ in range(60)]
    assert np.mean([start == 10 for start in sharp]) > 0.8
    assert np.mean([start is not None and start >= 20 for start in fading]) > 0.8


def test_the_scale_does_not_matter() -> None:
    rng = np.random.default_rng(11)
    for n in (10, 50, 500):
        values = 1 + np.exp(-np.arange(n) / (n / 15)) + noise("skewed", rng, n, 0.05)
        start = found(values)
        assert start
        for scale in (2.0**-900, 2.0**-20, 2.0**20, 2.0**900, -1.0):
            assert found(scale * values) == start


def test_a_million_values_are_taken_in_bins() -> None:
    rng = np.random.default_rng(12)
    n = 1_000_003
    values = 1 + (np.arange(n) < 123_456) + 0.1 * rng.normal(size=n)
    start = found(values)
    size = -(-n // MOST_BINS)
    assert start is not None and start % size == 0
    assert 123_456 <= start < 123_456 + size


# --- change points


def cost(values: list[float], starts: list[int], penalty: float) -> float:
    """What a division costs, each level one of the values."""
    parts = [values[start:end] for start, end in itertools.pairwise([*starts, len(values)])]
    around = [min(sum(min((v - level) ** 2, BEYOND**2) for v in part) for level in values) for part in parts]
    return penalty * (len(starts) - 1) + sum(around)


def divisions(n: int) -> list[list[int]]:
    cuts = itertools.product([False, True], repeat=n - 1)
    return [[0, *(i + 1 for i, cut in enumerate(each) if cut)] for each in cuts]


@pytest.mark.parametrize("seed", range(8))
def test_the_division_is_the_cheapest_of_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=9) + 8 * (np.arange(9) >= rng.integers(1, 8)) + 40 * (rng.random(9) < 0.1)
    for penalty in (2.0, 6.0, 12.0):
        starts = [start for start, _ in segments(0.1 * values, 0.1, penalty)]
        least = min(cost(values.tolist(), division, penalty) for division in divisions(9))
        assert cost(values.tolist(), starts, penalty) == pytest.approx(least)
