"""The power that a plan prints, against experiments that are simulated and tested by the analysis itself."""

import numpy as np
import pandas as pd
import pytest

from gate.config.fractions.designs import fraction_runs, minimum_aberration
from gate.model.study import Factor, Varies
from gate.stats.design.coding import coded, lay_out
from gate.stats.design.layers import layers
from gate.stats.design.power import change_power, lenth_power
from gate.stats.design.strata import stratified

RUNS = 400
LEVEL = 0.02


def planned(codes: np.ndarray, rounds: int, each: int) -> pd.DataFrame:
    rows = [(0, r, r, k, *run) for r in range(rounds) for k in range(each) for run in codes.tolist()]
    return pd.DataFrame(
        rows, columns=["session", "round", "build", "replicate", *(f"f{k}" for k in range(codes.shape[1]))]
    )


def tabled(factors: int, generated: int) -> np.ndarray:
    made = minimum_aberration(factors, generated)
    assert made is not None
    return np.array(fraction_runs(factors, made))


@pytest.mark.parametrize(
    ("codes", "rounds", "each", "varies", "change", "df"),
    [
        # blocks of a replicate: N - blocks - terms
        (tabled(5, 2), 3, 1, "execution", 1.5, 24 - 3 - 7),
        # builds repeat treatments: means of 3 rounds by treatment
        (tabled(4, 1), 3, 2, "execution", 1.0, 24 - 3 - 7),
        # the first factor differs between builds: a pair of builds in each of 6 rounds
        (tabled(4, 1), 6, 1, "build", 2.0, 6 - 1),
    ],
)
def test_the_printed_power_is_that_of_simulated_experiments(
    codes: np.ndarray, rounds: int, each: int, varies: Varies, change: float, df: int
) -> None:
    units = planned(codes, rounds, each)
    factors = [Factor(name=f"x{k}", settings=[0, 1]) for k in range(codes.shape[1])]
    factors[0] = Factor(name="x0", settings=[0, 1], varies=varies)
    design = lay_out(units, factors)
    model = coded(design.codes, design.sizes, 2)
    lie = layers(units, factors, "replicate")
    own = lie.errors.get("build")
    weights = design.totals(np.ones(len(units)) if own is None else 1 / own.sizes[own.of])
    expected = change_power(model, weights, 0, change, df, LEVEL)
    assert expected is not None
    assert 0.2 < expected < 0.98, "a power that says something"
    rng = np.random.default_rng(3)
    found = 0
    for _ in range(RUNS):
        y = change * (units["f0"].to_numpy() - 0.5) + 5 * units["round"].to_numpy()
        # noise of an execution, or of the mean of a build, is 1; a round may do what it likes
        y = y + (rng.normal(0, 1, len(units)) if own is None else rng.normal(0, 1, own.count)[own.of])
        y = y + (0 if own is None else 1e-3 * rng.normal(0, 1, len(units)))
        tested = stratified(y - y.mean(), design, model, factors, lie)
        test = tested.tests[0]
        assert test is not None
        assert test.error_df == df
        found += test.p < LEVEL
    assert found / RUNS == pytest.approx(expected, abs=4 * (0.25 / RUNS) ** 0.5)


def test_more_settings_are_judged_by_their_first_and_last() -> None:
    codes = np.array([[k] for k in range(3)])
    model = coded(codes, [3], 1)
    rng = np.random.default_rng(5)
    expected = change_power(model, np.full(3, 6.0), 0, 2.0, 15, 0.05)
    assert expected is not None
    found = 0
    for _ in range(1000):
        y = rng.normal(0, 1, (3, 6)) + np.array([-1.0, 0.0, 1.0])[:, None]
        between = 6 * y.mean(axis=1).var(ddof=1)
        found += between / y.var(axis=1, ddof=1).mean() > 3.6823  # F(2, 15) at 5%
    assert found / 1000 == pytest.approx(expected, abs=0.06)


def test_no_error_is_no_power_and_no_change_is_the_level() -> None:
    codes = tabled(5, 2)
    model = coded(codes, [2] * 5, 2)
    assert change_power(model, np.ones(8), 0, 2.0, 0, 0.05) is None
    assert change_power(model, np.ones(8), 0, 0.0, 8, 0.05) == pytest.approx(0.05)
    assert change_power(coded(codes[:, :1] * 0, [1], 1), np.ones(8), 0, 1.0, 8, 0.05) is None


def test_lenth_finds_what_it_is_said_to_find() -> None:
    from gate.stats.design.lenth import margins

    rng = np.random.default_rng(11)
    for change in (2.0, 4.0):
        found = 0
        for _ in range(1500):
            own = rng.normal(0, 1 / 4, 15)  # half the change, of 16 runs
            own[3] += change / 2
            found += abs(own[3]) > margins(own, 0.95).sme
        assert lenth_power(15, 16, change, 0.95) == pytest.approx(found / 1500, abs=0.05)
