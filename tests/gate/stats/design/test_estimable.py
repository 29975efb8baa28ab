"""What is estimable beside empty cells: against the literal construction of SAS's type III hypotheses, and by hand."""

from itertools import product

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from scipy import linalg

from gate.model.study import Factor, LinearModel, Term
from gate.stats.design.coding import coded
from gate.stats.design.linear import linear_model
from tests.support.seeds import some

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]


LOAD = Factor(name="load", settings=["idle", "mid", "busy"])
CLIENTS = Factor(name="clients", settings=[1, 8, 64])


def frame(y: Array, codes: Codes) -> pd.DataFrame:
    return pd.DataFrame({"y": y} | {f"f{k}": own for k, own in enumerate(codes.T)})


def without_a_cell(each: int = 4) -> pd.DataFrame:
    cells = np.array([cell for cell in product(range(3), range(3)) if cell != (2, 2)]).repeat(each, axis=0)
    y = 10 + 2.0 * cells[:, 0] + 0.7 * cells.prod(axis=1) + np.random.default_rng(0).normal(size=len(cells))
    return frame(y, cells)


def term(model: LinearModel, name: str) -> Term:
    return next(own for own in model.terms if own.term == name)


def means(units: pd.DataFrame) -> dict[tuple[int, int], float]:
    cells = units.groupby(["f0", "f1"])["y"].mean().reset_index().itertuples(index=False)
    return {(int(f0), int(f1)): float(y) for f0, f1, y in cells}


def goodnight(rows: Codes, y: Array, terms: list[tuple[int, ...]]) -> dict[tuple[int, ...], tuple[float, int]]:
    """Sum of squares and degrees of freedom by the steps of SAS/STAT, The Four Types of Estimable Functions, type III.

    Of the general form of estimable functions, equate the coefficients of effects that do not contain the effect to
    zero, then those of its functions that are orthogonal to all of the effects that contain it.
    """
    columns, of = [], []
    for own in terms:
        for cell in sorted(set(map(tuple, rows[:, list(own)].tolist()))):
            columns.append((rows[:, list(own)] == cell).all(axis=1).astype(float))
            of.append(own)
    x = np.column_stack(columns)
    inverse = np.linalg.pinv(x.T @ x)
    beta = inverse @ x.T @ y
    functions = {}
    for own in terms:
        foreign = [k for k, other in enumerate(of) if not set(other) >= set(own)]
        general = linalg.orth(x.T)
        functions[own] = general @ linalg.null_space(general[foreign]) if foreign else general
    found = {}
    for own in terms:
        above = [functions[other] for other in terms if set(other) > set(own)]
        held = functions[own]
        if above:
            held = held @ linalg.null_space(np.hstack(above).T @ held)
        estimate = held.T @ beta
        ss = float(estimate @ np.linalg.solve(held.T @ inverse @ held, estimate)) if held.shape[1] else 0.0
        found[own] = (ss, held.shape[1])
    return found


@pytest.mark.parametrize("seed", some(range(12), 8, pytest.mark.nightly))
def test_sums_of_squares_are_type_three(seed: int) -> None:
    rng = np.random.default_rng(seed)
    checked = 0
    while checked < 4:
        sizes = rng.integers(2, 4, size=rng.integers(2, 4)).tolist()
        cells = np.array(list(product(*map(range, sizes))))
        cells = cells[rng.random(len(cells)) < rng.uniform(0.6, 1)]
        if any(len(set(cells[:, k].tolist())) < size for k, size in enumerate(sizes)):
            continue
        order = int(rng.integers(2, 4))
        model = coded(cells, sizes, order)
        if model.coded:
            continue
        checked += 1
        rows = cells.repeat(rng.integers(2, 5, size=len(cells)), axis=0)
        y = rng.normal(size=len(rows))
        factors = [Factor(name=name, settings=list(range(size))) for name, size in zip("abc", sizes, strict=False)]
        found = linear_model(frame(y, rows), factors, order, 0.95)
        wanted = goodnight(rows, y, [own.factors for own in model.terms])
        for own, columns in zip(found.terms, model.terms[1:], strict=True):
            ss, df = wanted[columns.factors]
            assert own.df == df
            assert own.sum_of_squares == pytest.approx(ss, rel=1e-7)


def test_one_empty_cell_of_nine_leaves_three_of_four_degrees() -> None:
    units = without_a_cell()
    model = linear_model(units, [LOAD, CLIENTS], 2, 0.95)
    of = [(t.term, t.df, t.whole_df) for t in model.terms]
    assert of == [("load", 2, 2), ("clients", 2, 2), ("load:clients", 3, 4)]
    why = "not measured together, so that it has no effects at single settings"
    assert model.inestimable == [f"load:clients at load=busy, clients=64: {why}"]
    assert (model.formula, model.residual_df) == ("y ~ load * clients", len(units) - 8)
    assert term(model, "load:clients").effects == [], "no effect at single settings, but a test"
    assert term(model, "load:clients").p is not None


def test_main_effects_beside_an_empty_cell_hold_only_cells_that_are_there() -> None:
    units = without_a_cell()
    model = linear_model(units, [LOAD, CLIENTS], 2, 0.95)
    m = means(units)
    effects = {e.settings["load"]: e.estimate for e in term(model, "load").effects}
    assert sum(effects.values()) == pytest.approx(0)
    # two settings that were measured with the same ones are compared over all of them, weighted alike
    assert effects["mid"] - effects["idle"] == pytest.approx(np.mean([m[1, b] - m[0, b] for b in range(3)]))
    # the third against the mean of these, over what it was measured with
    beside = np.mean([m[2, b] - (m[0, b] + m[1, b]) / 2 for b in range(2)])
    assert effects["busy"] - (effects["idle"] + effects["mid"]) / 2 == pytest.approx(beside)


def test_a_fraction_of_three_settings_leaves_out_what_is_mixed_with_factors() -> None:
    # the third factor is the sum of the others, modulo 3: a part of a:b is c
    codes = np.array([(a, b, (a + b) % 3) for a, b in product(range(3), range(3))])
    found = coded(codes, [3, 3, 3], 2)
    assert found.coded
    assert found.left_out == ((0, 1), (0, 2), (1, 2))


def test_exact_values_stay_exact_beside_an_empty_cell() -> None:
    units = without_a_cell(2)
    model = linear_model(units.assign(y=1_000_003 + 50.0 * units["f0"] - 10.0 * units["f1"]), [LOAD, CLIENTS], 2, 0.95)
    assert [e.estimate for e in term(model, "load").effects] == pytest.approx([-50, 0, 50], abs=1e-6)
    assert term(model, "load:clients").sum_of_squares == pytest.approx(0, abs=1e-6)
    assert model.residual_ss == 0
