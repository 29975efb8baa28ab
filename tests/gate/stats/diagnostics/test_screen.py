"""The screen lets through every case of which the diagnostics, one by one, say anything; and little else."""

import numpy as np
import pytest

from gate.model import Sample
from gate.stats.diagnostics import warnings
from gate.stats.diagnostics.screen import suspects
from tests.support.seeds import some

Pair = tuple[Sample, Sample]
SHAPES = [(5, 3, 10), (4, 3, 3), (3, 4, 5), (6, 6, 3), (10, 4, 20), (3, 2, 10), (5, 1, 10), (5, 5, 1), (2, 3, 4)]
EFFECTS = ["none", "trend", "drift", "order", "correlation", "flat", "zero", "nothing"]


def drawn(shape: tuple[int, int, int], effect: str, rng: np.random.Generator, size: float) -> Pair:
    """Both sides of one case, executed in random order, with an effect that one of the diagnostics is for."""
    builds, executions, iterations = shape
    place = np.arange(iterations) / max(iterations - 1, 1)
    first = rng.permuted(np.tile([0, 1], (builds, executions, 1)), axis=-1)
    found = []
    for side in range(2):
        noise = rng.normal(size=shape)
        if effect == "correlation":
            noise = noise.cumsum(axis=-1)
        values = 1 + 0.004 * rng.normal(size=(builds, 1, 1)) + 0.01 * noise
        values += size * place if effect == "trend" else 0
        values += size * np.arange(builds)[:, None, None] / builds if effect == "drift" else 0
        values += size * (first[..., side] == 1)[..., None] if effect == "order" else 0
        values = np.ones(shape) if effect == "flat" else values - 1 if effect == "zero" else values
        values = np.zeros(shape) if effect == "nothing" else values
        orders = (2 * np.arange(builds * executions) + first[..., side].ravel()).astype(np.int64)
        counts = (np.full(builds * executions, iterations), np.full(builds, executions), np.array([builds]))
        found.append(Sample(values.ravel(), counts, tuple((0, k) for k in range(builds)), orders))
    return found[0], found[1]


@pytest.mark.parametrize("seed", some(range(3), 1))
def test_what_the_diagnostics_warn_of_is_let_through(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = [
        drawn(shape, effect, rng, size)
        for shape in SHAPES
        for effect in EFFECTS
        for size in (0.005, 0.01, 0.03)
        for _ in range(8)
    ]
    let = suspects(pairs)
    said = [bool(warnings(*pair, "s")) for pair in pairs]
    assert all(let[i] for i, warned in enumerate(said) if warned)
    assert sum(said) > len(pairs) / 6


@pytest.mark.parametrize("shape", [(5, 4, 10), (10, 4, 20), (6, 6, 3)])
def test_most_of_what_has_nothing_to_be_said_of_is_not(shape: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(7)
    pairs = [drawn(shape, "none", rng, 0.0) for _ in range(400)]
    said = sum(bool(warnings(*pair, "s")) for pair in pairs)
    # of a trend and of a correlation it tests whether they are sure, and not whether they are large
    assert sum(suspects(pairs)) <= said + 40


def test_what_it_has_no_array_for_is_let_through() -> None:
    rng = np.random.default_rng(3)
    base, head = drawn((5, 3, 10), "none", rng, 0.0)
    without = Sample(base.values, base.counts, base.builds)
    apart = Sample(base.values, (*base.counts[:2], np.array([3, 2])), base.builds, base.orders)
    short = Sample(base.values[:-1], (np.array([10] * 14 + [9]), *base.counts[1:]), base.builds, base.orders)
    assert suspects([(without, head), (apart, head), (short, head), (base, short)]) == [True] * 4
