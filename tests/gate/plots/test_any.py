"""Whatever was measured: a sound picture or none, always the same bytes."""

from __future__ import annotations

import numpy as np
import pytest

from gate.model import Case, Sample
from gate.plots.violins import series, values
from tests.gate.plots.drawn import assert_sound, case, finding
from tests.support.seeds import some

SCALES = (1e-54, 1e-40, 1e-12, 0.1, 1.0, 1e6, 1e40, 1e54)


def side(rng: np.random.Generator, builds: int, scale: float, kind: int) -> Sample:
    executions = rng.integers(1, 4, builds)
    iterations = rng.integers(1, 30, executions.sum())
    n = int(iterations.sum())
    made = (
        lambda: rng.normal(1, 0.02, n),
        lambda: rng.normal(0, 1, n),
        lambda: np.exp(rng.normal(0, 2, n)),
        lambda: rng.integers(0, 3, n).astype(np.float64),
        lambda: np.ones(n),
        lambda: np.where(rng.random(n) < 0.02, 1e5, 1.0) * rng.normal(1, 0.01, n),
    )
    known = rng.random() < 0.5
    return Sample(
        made[kind]() * scale,
        (iterations, executions, np.array([builds])),
        tuple((0, k) for k in range(builds)),
        rng.permutation(int(executions.sum())) if known else None,
    )


def cases(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    scale = SCALES[seed % len(SCALES)]
    builds = rng.choice([1, 2, 5, 12, 40], 2)
    sides = [side(rng, int(n), scale, int(rng.integers(6))) for n in builds]
    return case(sides[0], sides[1], unit=("s", "B", "", "op/s")[seed % 4])


@pytest.mark.parametrize("seed", some(range(100), 20, pytest.mark.nightly))
def test_any_case_gives_sound_pictures(seed: int) -> None:
    of = cases(seed)
    own = finding(of, None if seed % 5 == 0 else 0.01)
    pictures = [values(of, own, "v"), series(of, own, "s")]
    for picture, prefix in zip(pictures, ("v", "s"), strict=True):
        if picture is not None:
            assert_sound(picture, prefix)
            assert len(picture.svg) < 24_000
    assert pictures == [values(of, own, "v"), series(of, own, "s")]
