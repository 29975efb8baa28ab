"""What the sentences of a study promise: null files claim anything in 5% at most, and true effects are found.

Each bound is the promise plus three standard errors of the simulation.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import pytest

from gate.commands.study.analysis import Method, family, lie_of
from gate.commands.study.observations import Observed
from gate.model.study import Claim, Varies
from gate.stats.centers import needed_values
from gate.stats.design.linear import linear_model
from gate.stats.design.one_way import spreads
from gate.stats.design.strata import aligned
from tests.promise.test_gate import at_most
from tests.support.seeds import some
from tests.support.study_draws import Codes, Shape, drawn

TRIALS = 400
METHOD = Method(order=2, taus=(0.5, 0.9, 0.99), confidence=0.95, iid=False, seed=0, abridgements=())


def claimed(observed: Observed) -> Iterator[Claim]:
    lie = lie_of(observed)
    units, factors = observed.units, observed.factors
    linear = linear_model(units, factors, METHOD.order, METHOD.confidence, layers=lie)
    least = int(observed.values.groupby([f"f{k}" for k in range(len(factors))]).size().min())
    taus = [tau for tau in METHOD.taus if needed_values(tau) <= least]
    found = family(observed, METHOD, linear, taus, spreads(aligned(units, factors, lie, "execution"), factors), lie)
    return (claim for claim in found if claim.claimed)


def share(of: Shape, seed: int, term: str | None = None, trials: int = TRIALS) -> float:
    """Of the studies that claim anything, or a term's effect on the mean."""
    rng = np.random.default_rng(seed)
    found = 0
    for _ in range(trials):
        claims = list(claimed(drawn(rng, of)))
        found += any(term is None or (c.term == term and c.statistic == "mean") for c in claims)
    return found / trials


NULL = {
    "normal": Shape(),
    "heavy tails": Shape(kind="heavy"),
    "lognormal": Shape(kind="lognormal"),
    "bimodal builds": Shape(builds=1.0, bimodal=True),
    "bimodal builds, half of the values": Shape(builds=1.0, bimodal=True, rounds=4, values=300),
    "a factor by build": Shape(builds=1.0, varies={0: "build"}),
    "a factor by build, repeated": Shape(builds=1.0, varies={0: "build"}, replicates=3, crossed=0.5),
    "drift": Shape(drift=2.0),
    "correlated values": Shape(correlation=0.9),
    "build x treatment 0.5": Shape(crossed=0.5, replicates=4),
    "build x treatment 1": Shape(crossed=1.0, replicates=4),
    "lost executions": Shape(crossed=1.0, replicates=3, lost=1),
    "lost executions, a factor by build": Shape(builds=1.0, varies={0: "build"}, replicates=2, lost=2),
    "three factors": Shape(sizes=(2, 3, 2), builds=1.0, values=40),
}


@pytest.mark.parametrize(
    ("name", "seed", "trials"), some([("normal", 5, 20), *((name, 17, TRIALS) for name in NULL)], 1)
)
def test_null_files_claim_nothing(name: str, seed: int, trials: int) -> None:
    at_most(share(NULL[name], seed, trials=trials), 0.05, trials)


def two(at: Codes) -> float:
    return 2.0 * at[0]


ALIKE, BUILDS_1, BUILDS_3, DRIFT = (Shape(effect=two, builds=b, drift=d) for b, d in ((0, 0), (1, 0), (3, 0), (0, 0.6)))


@pytest.mark.parametrize(
    ("shape", "seed", "trials", "least"),
    some([(BUILDS_3, 5, 15, 0.8), *((of, 23, TRIALS, 0.9044) for of in (ALIKE, BUILDS_1, BUILDS_3, DRIFT))], 1),
)
def test_an_effect_of_two_sd_is_found_beside_builds(shape: Shape, seed: int, trials: int, least: float) -> None:
    # 94%, and three standard errors
    assert share(shape, seed, "a", trials=trials) >= least


def tail(at: Codes) -> float:
    return 6.0 * at[1]


@pytest.mark.parametrize("studies", some([6, 60], 1))
def test_an_effect_on_the_tail_is_claimed_there_and_not_of_the_median(studies: int) -> None:
    rng = np.random.default_rng(3)
    shape = Shape(values=400, rounds=6, tail=tail)
    found = [{(c.term, c.statistic) for c in claimed(drawn(rng, shape))} for _ in range(studies)]
    assert sum(("b", "p99") in claims for claims in found) >= 0.9 * studies
    assert sum(("b", "p50") in claims for claims in found) <= 0.1 * studies


def test_an_effect_that_sets_all_values_apart_is_claimed_of_the_median_too() -> None:
    """The share below a common median is then 0 or 1 in every execution, without an error."""
    rng = np.random.default_rng(4)
    alike: Mapping[int, Varies] = {}
    by_build: Mapping[int, Varies] = {0: "build"}
    for varies in (alike, by_build):
        shape = Shape(values=40, rounds=8, effect=lambda at: 16.0 * at[0], varies=varies)
        found = [{(c.term, c.statistic) for c in claimed(drawn(rng, shape))} for _ in range(5)]
        assert sum(("a", "p50") in claims for claims in found) == 5
        assert not any(("b", "p50") in claims for claims in found)
