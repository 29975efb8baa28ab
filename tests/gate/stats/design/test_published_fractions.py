"""Published fractions: their aliases, their analyses by R's BsMD and textbooks, and designs of many factors."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from gate.config.fractions import burman_runs
from gate.model.study import Factor
from gate.stats.design.aliases import aliases
from gate.stats.design.cells import balanced, lacking
from gate.stats.design.claims import lenth
from gate.stats.design.coding import coded
from gate.stats.design.linear import linear_model
from gate.stats.design.quantiles import quantile_effects

# Box and Meyer 1986, as the vignette of R's BsMD prints them: 16 runs in standard order, the first factor fastest
TENSILE = [43.7, 40.2, 42.4, 44.7, 42.4, 45.9, 42.2, 40.6, 42.4, 45.5, 43.6, 40.6, 44.0, 40.2, 42.5, 46.5]
MOLDING = [14.0, 16.8, 15.0, 15.4, 27.6, 24.0, 27.4, 22.6, 22.3, 17.1, 21.5, 17.5, 15.9, 21.9, 16.7, 20.3]
ISATIN = [0.08, 0.04, 0.53, 0.43, 0.31, 0.09, 0.12, 0.36, 0.79, 0.68, 0.73, 0.08, 0.77, 0.38, 0.49, 0.23]
BASIC = np.array([each[::-1] for each in product((0, 1), repeat=4)])


def test_a_factor_of_three_settings_can_hold_one_of_two() -> None:
    codes = np.array([[0, 0], [1, 0], [2, 1]])
    found = aliases(codes, [3, 2], coded(codes, [3, 2], 2), 2)
    assert found[0,].full == ((1,), (0, 1))


def units(codes: np.ndarray, y: np.ndarray, copies: int = 1) -> pd.DataFrame:
    frame = pd.DataFrame({f"f{k}": column for k, column in enumerate(codes.T)})
    return pd.concat([frame] * copies, ignore_index=True).assign(y=y)


def test_many_factors_take_no_time_by_their_combinations() -> None:
    codes = np.array(burman_runs(23))
    factors = [Factor(name=f"x{k}", settings=[0, 1]) for k in range(23)]
    frame = units(codes, np.random.default_rng(1).normal(0, 1, 48), 2)
    assert lacking(frame, factors) == []
    assert balanced(frame, factors)
    model = linear_model(frame, factors, 1, 0.95)
    assert model.residual_df == 24
    found = quantile_effects(frame.assign(execution=range(48)), factors, (0.5,), order=1)
    assert len(found.models[0].effects) == 24


def factors_of(letters: str) -> list[Factor]:
    return [Factor(name=letter, settings=["-", "+"]) for letter in letters]


@pytest.mark.parametrize(
    ("y", "confidence", "pse", "me", "sme"),
    [
        (TENSILE, 0.95, 0.225, 0.5783809, 1.1741965),
        (TENSILE, 0.99, 0.225, 0.9072322, 1.6855749),
        (ISATIN, 0.95, 0.114375, 0.2940103, 0.5968832),
    ],
)
def test_limits_are_those_of_r_and_of_textbooks(
    y: list[float], confidence: float, pse: float, me: float, sme: float
) -> None:
    found = lenth(units(BASIC, np.array(y)), factors_of("ABCD"), confidence)
    assert found is not None
    # effects are half the change here
    assert (2 * found.pse, 2 * found.me, 2 * found.sme) == pytest.approx((pse, me, sme), rel=1e-4)
    assert (len(found.contrasts), found.df) == (15, 5)


def test_injection_molding_has_the_effects_of_box_hunter_and_hunter() -> None:
    # a 2^(8-4) fraction: every factor is a product that holds the fourth basic column, the other way round
    signs = 2 * BASIC - 1
    one, two, three, four = signs.T
    made = [one, two, one * two, three, one * three, two * three, one * two * three, np.ones(16, int)]
    codes = (1 - np.column_stack([four * column for column in made])) // 2
    found = lenth(units(codes, np.array(MOLDING)), factors_of("ABDCEFGH"), 0.95)
    assert found is not None
    told = {c.term: 2 * c.estimate for c in found.contrasts}
    published = {"A": -0.7, "B": -0.1, "C": 5.5, "D": -0.3, "E": -3.8, "F": -0.1, "G": 0.6, "H": 1.2, "A:E": 4.6}
    assert {term: told[term] for term in published} == pytest.approx(published, abs=0.051)
    assert {c.term: c.aliases for c in found.contrasts if c.active} == {"C": [], "A:E": ["B:F", "D:G", "C:H"]}
    assert {c.term for c in found.contrasts if c.possible} == {"C", "A:E", "E"}
