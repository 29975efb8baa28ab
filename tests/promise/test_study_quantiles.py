"""Coverage of the intervals of quantile effects in designed experiments: nominal 95%, promised 93%.

2 x 2 x 2 treatments, 5 executions each, skewed values. The bound is the promise plus three standard errors of the
simulation. Not promised, and warned of, is a quantile that rests on one or two of the executions.
"""

import math

import numpy as np
import pytest

from gate.stats.design.quantiles import quantile_effects
from tests.support.samples import there
from tests.support.seeds import some
from tests.support.study_values import drawn

EQUAL = [1.0] * 8
UNEQUAL = [1.0, 1, 1, 1, 1, 1, 3, 6]


WHOLE = [
    ((0.5, 0.9), 100, 0.3, EQUAL, 4000),
    ((0.5, 0.9), 100, 0.3, UNEQUAL, 4000),
    ((0.5, 0.9), 100, 1.0, UNEQUAL, 4000),
    ((0.5, 0.99), 200, 0.3, EQUAL, 4000),
    ((0.99,), 200, 0.3, UNEQUAL, 4000),
    ((0.99,), 1000, 0.3, UNEQUAL, 1000),
]


@pytest.mark.parametrize(
    ("taus", "values", "between", "scales", "draws"), some([((0.5, 0.9), 100, 0.3, UNEQUAL, 50), *WHOLE], 1)
)
def test_coverage_of_effects(
    taus: tuple[float, ...], values: int, between: float, scales: list[float], draws: int
) -> None:
    rng = np.random.default_rng([1, values])
    inside = {tau: np.zeros(8) for tau in taus}
    for _ in range(draws):
        sample = drawn(rng, (2, 2, 2), executions=5, values=values, between=between, scales=scales)
        for model in quantile_effects(sample.values, sample.factors, taus).models:
            assert model.enough
            truth = sample.effects(model.tau)
            inside[model.tau] += [there(row.low) <= truth[row.term] <= there(row.high) for row in model.effects]
    for tau, counts in inside.items():
        shares = counts / draws
        assert shares.min() >= 0.93 - 3 * math.sqrt(0.93 * 0.07 / draws), f"p{100 * tau:g}: {shares.round(4).tolist()}"
