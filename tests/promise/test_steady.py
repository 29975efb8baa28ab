"""What docs/method.md promises of warmup = "auto": the interval covers as without warm-up, and what is dropped is warm-up.

Each bound is the promise plus three standard errors of the simulation.
"""

import math

import numpy as np
import pytest

from gate.model import Sample
from gate.stats.centers import reduce_to
from gate.stats.ratio import ratio_of
from gate.stats.rounding import Array
from harness.instruments.steady import steady_from
from tests.promise.test_gate import covers, standard_error
from tests.support.samples import nested
from tests.support.seeds import some

BUILDS, EXECUTIONS, ITERATIONS = 5, 5, 30
CHANGE = 1.05
LEFT = {0.0: 0.001, 0.2: 0.012, 0.6: 0.007, 2.0: 0.013}
"""Of a warm-up: how much may be left of it in the mean, which has 0, 2%, 6% and 20% of it with all values."""


def raw(rng: np.random.Generator, mean: float, warm: float) -> Array:
    """Executions, shape (builds, executions, iterations): iterations skewed by 5%; warm-up starts at `warm` more.

    It decays at another pace in each execution, over 1 to 4 iterations.
    """
    shape = (BUILDS, EXECUTIONS, 1)
    level = 1 + 0.02 * rng.normal(size=(BUILDS, 1, 1)) + 0.02 * rng.normal(size=shape)
    noise = np.exp(0.05 * rng.normal(size=(*shape[:2], ITERATIONS)) - 0.05**2 / 2)
    decay = np.exp(-np.arange(ITERATIONS) / rng.uniform(1, 4, size=shape))
    found: Array = mean * level * noise * (1 + warm * decay)
    return found


def side(values: Array, *, auto: bool) -> Sample:
    """The sample of the values from the steady state on; from the first on where there is none."""
    return nested([[e[(steady_from(e) or 0) if auto else 0 :] for e in build] for build in values.tolist()])


def coverage(warm: float, trials: int, *, auto: bool) -> tuple[float, float]:
    """How often the 95% interval holds the true ratio, and the mean of base, whose truth is 1."""
    rng = np.random.default_rng([3, int(10 * warm)])
    inside, means = 0, 0.0
    for _ in range(trials):
        base = side(raw(rng, 1.0, warm), auto=auto)
        head = side(raw(rng, CHANGE, warm), auto=auto)
        reduced = reduce_to(base, head, None, exact=False)
        inside += covers(ratio_of(reduced, "fieller").limits(0.05), CHANGE)
        means += reduced.x / trials
    return inside / trials, means


@pytest.mark.parametrize(("warm", "trials"), some([(0.6, 20), (0.0, 2000), (0.2, 2000), (0.6, 2000), (2.0, 2000)], 1))
def test_the_interval_covers_after_warm_up_is_dropped(warm: float, trials: int) -> None:
    covered, mean = coverage(warm, trials, auto=True)
    assert covered >= 0.94 - 3 * standard_error(0.94, trials), f"{covered:.4f}"
    # of the mean of base: 0.02 over builds, 0.02 over executions, 0.05 over at least half of the iterations
    error = math.sqrt(0.02**2 / 5 + 0.02**2 / 25 + 0.05**2 / (25 * 15)) / math.sqrt(trials)
    assert -3 * error - 0.001 < mean - 1 < LEFT[warm] + 3 * error, f"{mean:.4f}"
