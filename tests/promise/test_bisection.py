"""What docs/bisect.md promises: the culprit of a range of 64 commits, right in 95%, for at most three gates.

Each bound is the promise plus three standard errors of the simulation.
"""

import math

import numpy as np
import pytest

from gate.stats.bisection import ENOUGH
from tests.support.bisections import search

SEARCHES = 300
MOST_GATES = 3.0


pytestmark = pytest.mark.promise


@pytest.mark.parametrize(
    ("builds", "own"),
    [(0.02, 0.0), (0.04, 0.0), (0.06, 0.0), (0.04, 0.003)],
    ids=["2%", "4%", "6%", "4%, each its own"],
)
def test_the_culprit_is_found(builds: float, own: float) -> None:
    found = [each for each in (search(seed, builds=builds, own=own) for seed in range(SEARCHES)) if each.called]
    right, gates = np.array([each.right for each in found]), np.array([each.gates for each in found])
    assert len(found) > 0.95 * SEARCHES
    assert all(each.probability >= ENOUGH for each in found)
    assert right.mean() > ENOUGH - 3 * math.sqrt(ENOUGH * (1 - ENOUGH) / len(found))
    assert gates.mean() < MOST_GATES + 3 * gates.std(ddof=1) / math.sqrt(len(found))
    # one change is not taken for two
    assert np.mean([each.several > 0.5 for each in found]) < 0.05


def test_ends_that_do_not_differ_are_rarely_searched() -> None:
    called = np.mean([search(seed, builds=0.04, times=0.0, most=0.0).called for seed in range(2000)])
    assert called < 0.025 + 3 * math.sqrt(0.025 * 0.975 / 2000)
