"""What docs/bisect.md promises: the culprit of a range of 64 commits, right in 95%, for at most three gates.

Each bound is the promise plus three standard errors of the simulation.
"""

import math

import numpy as np
import pytest

from gate.stats.bisection import ENOUGH
from tests.promise.test_gate import at_most
from tests.support.bisections import search
from tests.support.seeds import some

MOST_GATES = 3.0


WHOLE = [(0.02, 0.0, 300), (0.04, 0.0, 300), (0.06, 0.0, 300), (0.04, 0.003, 300)]


@pytest.mark.parametrize(("builds", "own", "searches"), some([(0.04, 0.0, 12), *WHOLE], 1))
def test_the_culprit_is_found(builds: float, own: float, searches: int) -> None:
    """Where builds differ by so much, and each by itself by own."""
    found = [each for each in (search(seed, builds=builds, own=own) for seed in range(searches)) if each.called]
    right, gates = np.array([each.right for each in found]), np.array([each.gates for each in found])
    assert len(found) > 0.95 * searches
    assert all(each.probability >= ENOUGH for each in found)
    assert right.mean() > ENOUGH - 3 * math.sqrt(ENOUGH * (1 - ENOUGH) / len(found))
    assert gates.mean() < MOST_GATES + 3 * gates.std(ddof=1) / math.sqrt(len(found))


@pytest.mark.promise
def test_ends_that_do_not_differ_are_rarely_searched() -> None:
    called = np.mean([search(seed, builds=0.04, times=0.0, most=0.0).called for seed in range(2000)])
    at_most(float(called), 0.025, 2000)
