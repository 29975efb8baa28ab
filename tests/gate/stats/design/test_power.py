"""The power that a plan prints is the share of studies that claim the change."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from gate.model.study import Factor
from gate.stats.design.coding import coded, lay_out
from gate.stats.design.layers import layers
from gate.stats.design.sample_size import power
from gate.stats.design.strata import stratified
from tests.promise.test_study_claims import share
from tests.support.seeds import some
from tests.support.study_draws import Shape


def plan(
    sizes: tuple[int, ...], rounds: int, replicates: int = 1, varies: str = "execution"
) -> tuple[pd.DataFrame, list[Factor]]:
    rows = [
        (*at, 0, r, r * 10 + (at[0] if varies == "build" else 0), k)
        for r in range(rounds) for k in range(replicates) for at in product(*map(range, sizes))
    ]  # fmt: skip
    names = [f"f{k}" for k in range(len(sizes))]
    factors = [
        Factor(name="abcdefgh"[k], settings=list(range(size)), varies="build" if varies == "build" and not k else "execution")
        for k, size in enumerate(sizes)
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=[*names, "session", "round", "build", "replicate"]), factors


@pytest.mark.parametrize(
    ("rounds", "replicates", "df", "trials"),
    some([(3, 1, 6, 25), (3, 1, 6, 100), (5, 1, 12, 60), (5, 4, 12, 60)], 1),
)
def test_the_power_is_the_share_of_studies_that_claim_the_change(
    rounds: int, replicates: int, df: int, trials: int
) -> None:
    units, factors = plan((2, 2), rounds, replicates)
    found = power(units, factors, 2, "replicate", (2.0,), quantiles=1 if rounds * replicates * 20 < 400 else 2)
    assert [(p.factor, p.df) for p in found] == [("a", df), ("b", df)]
    expected = found[0].chances[0]
    shape = Shape(rounds=rounds, replicates=replicates, effect=lambda at: 2.0 * at[0])
    assert abs(share(shape, 7, "a", trials=trials) - expected) <= 3.5 * (0.25 / trials) ** 0.5


def test_a_factor_by_build_needs_builds() -> None:
    few = power(*plan((2, 2), 1, 4, "build"), 2, "replicate", (2.0,), quantiles=1)
    assert (few[0].stratum, few[0].df) == ("build", None)
    more = power(*plan((2, 2), 6, 2, "build"), 2, "replicate", (2.0,), quantiles=1)
    assert [(p.stratum, p.df) for p in more] == [("build", 5.0), ("build x treatment", 10.0)]


def test_published_and_lenths_degrees() -> None:
    # five replicates of two by two find two sd
    (a, _) = power(*plan((2, 2), 5), 2, "replicate", (1.0, 2.0), quantiles=1)
    one, two = a.chances
    assert one == pytest.approx(0.36, abs=0.03) and two == pytest.approx(0.948, abs=0.01)
    # one replicate has the degrees of Lenth's method
    found = power(*plan((2, 2, 2, 2), 1), 4, "replicate", (2.0,), quantiles=0)
    assert {(p.df, p.lenth) for p in found} == {(5.0, True)}
    assert all(0.05 < p.chances[0] < 0.6 for p in found)


def test_a_change_by_builds_is_in_units_of_their_means() -> None:
    units, factors = plan((2, 2), 6, 2, "build")
    expected = power(units, factors, 2, "replicate", (2.0,), quantiles=1)[0].chances[0]
    assert 0.3 < expected < 0.9
    design = lay_out(units, factors)
    model, lie = coded(design.codes, design.sizes, 2), layers(units, factors, "replicate")
    level = 0.05 / (2 * 1.04 + 0.21 + 0.04)  # of the family: two factors, their interaction, one quantile, one spread
    rng, found = np.random.default_rng(3), 0
    build = lie.errors["build"]
    for _ in range(400):
        # builds differ by 1 sd, whatever their executions do; so do rounds
        y = 2.0 * units["f0"].to_numpy() + rng.normal(0, 1, build.count)[build.of] + 5.0 * units["round"].to_numpy()
        test = stratified(y + rng.normal(0, 1e-3, len(y)), design, model, factors, lie).tests[0]
        assert test is not None
        found += test.p < level
    assert found / 400 == pytest.approx(expected, abs=0.09)
