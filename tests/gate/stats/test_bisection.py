"""The posterior of a bisection against a literal twin, what is measured next, and the promise in small."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from scipy import integrate, stats

from gate.stats.bisection import (
    Posterior,
    VisitCosts,
    entropy,
    executions_for,
    information,
    next_visit,
    posterior,
    sets_of,
)
from tests.support.samples import there
from tests.support.seeds import some

Floats = npt.NDArray[np.float64]
PER_ROUND = VisitCosts(visit=0.0, build=0.0, round=1.0)


def literally(prior: Sequence[float], found: dict[int, Floats]) -> Floats:
    """The model as its docstring says it: a multivariate normal for each culprit, each s and q."""
    squares = sum(float(((each - np.mean(each)) ** 2).sum()) for each in found.values())
    df = sum(len(each) - 1 for each in found.values())
    pooled, bad = math.sqrt(squares / df), found[len(prior)]
    scale = 2 * max(abs(float(np.mean(bad))), pooled / math.sqrt(len(bad)))
    means, culprits = np.array([np.mean(each) for each in found.values()]), np.zeros(len(prior))
    for s, (q, of_q) in product(pooled * np.geomspace(1 / 4, 4, 24), ((0.0, 0.8), (0.02, 0.15), (0.1, 0.05))):
        noise = np.diag([s**2 * (1 / len(each) + q) for each in found.values()])
        within = of_q * s**-df * math.exp(-squares / (2 * s**2))
        for k in range(1, len(prior) + 1):
            has = np.array([float(commit >= k) for commit in found])
            density = stats.multivariate_normal.pdf(means, cov=noise + scale**2 * np.outer(has, has))
            variance = 1 / (has @ np.linalg.inv(noise) @ has + 1 / scale**2)
            above = stats.norm.cdf(variance * has @ np.linalg.inv(noise) @ means / math.sqrt(variance))
            culprits[k - 1] += prior[k - 1] * within * density * above
    total: Floats = culprits / culprits.sum()
    return total


@pytest.mark.parametrize("seed", some(range(10), 2))
def test_the_posterior_is_that_of_its_literal_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = {c: rng.normal(0.05 if c >= 4 else 0.0, 0.03, rounds) for c, rounds in ((2, 1), (5, 2), (8, 5))}
    prior = rng.uniform(0.1, 1.0, 8).tolist()
    assert posterior(prior, found).culprits == pytest.approx(literally(prior, found), rel=1e-9)


def test_what_needs_no_measuring_in_between() -> None:
    prior, ends = [1.0, 2.0, 0.5, 0.5], [0.1, 0.12, 0.09]
    found = posterior(prior, {4: ends})
    assert found.culprits == pytest.approx(np.array(prior) / 4)
    assert found.step == pytest.approx(0.103, abs=0.01)
    # a commit proved the same excuses all before it
    found = posterior([1.0] * 6, {6: ends}, same=[3])
    assert found.culprits[:3].sum() < 1e-6
    assert found.culprits[3:] == pytest.approx([1 / 3] * 3, rel=1e-6)
    # exact values without spread find the culprit
    found = posterior([1.0] * 4, {4: [0.05, 0.05], 2: [0.05], 1: [0.0]})
    assert found.culprits[1] > 0.999


def test_units_do_not_matter() -> None:
    rng = np.random.default_rng(3)
    values = {c: rng.normal(0.0 if c < 5 else 1.5, 1.0, r) for c, r in ((3, 2), (6, 1), (9, 6))}
    small, large = (posterior([1.0] * 9, {c: scale * v for c, v in values.items()}) for scale in (0.01, 0.1))
    assert small.culprits == pytest.approx(large.culprits)
    assert large.step == pytest.approx(10 * small.step)


@pytest.mark.parametrize(
    "level",
    [
        {2: 0.0, 3: 0.03, 4: 0.03, 6: 0.03, 7: 0.12, 10: 0.12},
        # a speed-up inside is a change of the other sign
        {2: 0.0, 3: -0.06, 6: -0.06, 7: 0.05, 10: 0.05},
    ],
)
def test_of_two_steps_the_larger_slowdown_is_named(level: dict[int, float]) -> None:
    rng = np.random.default_rng(1)
    found = posterior([1.0] * 10, {c: rng.normal(x, 0.004, 4) for c, x in level.items()})
    assert int(found.culprits.argmax()) + 1 == 7


@pytest.mark.parametrize("before", [0.5, 0.1, 0.95])
@pytest.mark.parametrize("distance", [0.3, 1.3, 6.0, 40.0])
def test_information_is_the_integral_that_defines_it(before: float, distance: float) -> None:
    def density(y: float) -> float:
        without, having = (math.exp(-(x**2) / 2) / math.sqrt(2 * math.pi) for x in (y, y - distance))
        mixed = (1 - before) * without + before * having
        parts = ((1 - before, without), (before, having))
        return sum(p * x * math.log2(x / mixed) for p, x in parts if x > 1e-300)

    exact = sum(integrate.quad(density, a, a + 1)[0] for a in np.arange(-9, distance + 9))
    assert information(np.array([before]), np.array([distance]))[0] == pytest.approx(exact, abs=2e-3)


def flat(n: int) -> Posterior:
    return Posterior(np.full(n, 1 / n), step=1.0, step_sd=0.1, noise=1.0, own=0.0)


def test_what_is_measured_next() -> None:
    middle = there(next_visit(flat(64), PER_ROUND, range(1, 64), {}))
    assert (middle.commit, middle.rounds) == (32, 1)
    # an expensive build is worth more rounds, and one that is kept is preferred
    costs = VisitCosts(visit=1.0, build=20.0, round=1.0)
    visit = there(next_visit(flat(64), costs, range(1, 64), {}))
    assert visit.seconds == 21 + visit.rounds > 22
    assert there(next_visit(flat(64), costs, range(1, 64), {29: 1})).commit == 29
    # a commit that is apart by itself is not measured for ever
    assert there(next_visit(replace(flat(64), own=0.1), PER_ROUND, range(1, 64), {32: 30})).commit != 32
    assert next_visit(flat(3), PER_ROUND, [], {}) is None
    assert [entropy(np.array(of)) for of in ([1 / 8] * 8, [1.0, 0.0])] == pytest.approx([3, 0])


def test_sets_end_where_a_commit_can_be_measured() -> None:
    assert sets_of(5, [2, 3]) == [(1, 1), (2, 4), (5, 5)]
    assert sets_of(3, [1, 2]) == [(1, 3)]
    # bad was measured
    assert sets_of(2, []) == [(1, 1), (2, 2)]


@pytest.mark.parametrize(("build", "execution"), [(1.0, 4.0), (16.0, 4.9), (0.5, 40.0)])
def test_executions_give_most_for_their_time(build: float, execution: float) -> None:
    best = min(range(1, 21), key=lambda count: (build + execution / count) * (3.0 + count))
    assert abs(executions_for(build, execution, 3.0, 1.0, 20) - best) <= 1
    # those of the plan where builds do not differ
    assert executions_for(-0.1, 4.0, 3.0, 1.0, 5) == executions_for(1.0, 400.0, 3.0, 1.0, 5) == 5
