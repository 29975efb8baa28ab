"""Designs of many settings and values of the largest and smallest sizes: bounded work, finite results, no warnings."""

import warnings
from itertools import product
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pytest

from gate.model.bounds import LARGEST, SMALLEST
from gate.model.study import Factor
from gate.stats.design.cells import main_effects, treatments
from gate.stats.design.linear import diagnostics, linear_model
from gate.stats.design.model_checks import dependence
from gate.stats.design.one_way import MOST_TABLES, one_ways, percents, spreads
from gate.stats.design.quantiles import MOST_CELLS, quantile_effects
from gate.stats.design.sample_size import sample_sizes


def measured(sizes: tuple[int, ...], count: int, y: Any) -> pd.DataFrame:
    codes = np.repeat(list(product(*map(range, sizes))), count, axis=0)
    n = np.arange(len(codes))
    own = {f"f{i}": codes[:, i] for i in range(len(sizes))}
    return pd.DataFrame(
        {"y": y(len(n)), **own, "session": n % 2, "round": n % 4, "build": n % 4, "execution": n, "order": n}
    )


def factors(*sizes: int) -> list[Factor]:
    return [Factor(name=f"x{i}", settings=list(range(size))) for i, size in enumerate(sizes)]


@pytest.mark.endtoend
def test_seven_hundred_settings_have_effects() -> None:
    rng = np.random.default_rng(2)
    found = linear_model(measured((700,), 2, lambda n: rng.normal(size=n)), factors(700), 2, 0.95)
    assert found.residual_df == 700 and len(found.terms[0].effects) == 700


def test_beyond_so_many_combinations_there_is_less() -> None:
    # one table a factor
    rng = np.random.default_rng(3)
    units = measured((2, MOST_TABLES + 1), 2, lambda n: rng.normal(size=n))
    tables = one_ways(units, factors(2, MOST_TABLES + 1), 0.95)
    assert [t.at for t in tables if t.factor == "x0"] == [{}]
    assert [t.at for t in tables if t.factor == "x1"] == [{"x0": 0}, {"x0": 1}, {}]
    # no quantiles, which is said
    found = quantile_effects(measured((MOST_CELLS + 1,), 1, np.ones), factors(MOST_CELLS + 1))
    assert found.models == [] and found.warnings == [
        "no quantile effects: 2,001 treatments are more than the 2,000 possible; analyse a part with --only or --without"
    ]


@pytest.mark.parametrize(
    ("size", "words"),
    [(7, "127 coefficients of 342 treatments"), pytest.param(10, "271 coefficients of 999 treatments", marks=pytest.mark.nightly)],
)  # fmt: skip
def test_a_lacking_treatment_of_very_many_is_said(size: int, words: str) -> None:
    values = measured((size,) * 3, 1, np.ones).iloc[1:]
    found = quantile_effects(values, factors(*(size,) * 3))
    assert found.models == [] and words in found.warnings[0]


def finite(value: Any) -> bool:
    if isinstance(value, float):
        return bool(np.isfinite(value))
    if isinstance(value, dict):
        return all(map(finite, value.values()))
    return not isinstance(value, list | tuple) or all(map(finite, value))


@pytest.mark.parametrize("size", [LARGEST, -LARGEST, 2 * SMALLEST, None])
@pytest.mark.parametrize("sizes", [(2, 3), (3,)])
def test_values_at_the_bounds(size: float | None, sizes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(2)
    units = measured(sizes, 44, lambda n: rng.uniform(0.5, 1, n) * (size or LARGEST * rng.choice([-1.0, 1.0], n)))
    of = factors(*sizes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mains = main_effects(units, of)
        found = [
            mains,
            linear_model(units, of, 2, 0.95),
            diagnostics(units, of, 2, 0.95),
            quantile_effects(units, of, (0.1, 0.5, 0.9), cluster="build", iid=True),
            one_ways(units, of, 0.95),
            percents(units, of, "lower", 0.95, unit="s"),
            treatments(units, units, of),
            spreads(units, of),
            sample_sizes(units, of, 0.95, 1, mains),
            dependence(units, of, "build"),
        ]
    assert finite(msgspec.to_builtins(found))
