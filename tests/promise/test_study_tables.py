"""What the tables of a designed experiment promise: errors of comparisons, coverage of percent, sample sizes and quantiles."""

import math

import numpy as np
import pytest

from gate.stats.design.one_way import one_ways, percents
from gate.stats.design.quantiles import quantile_effects
from gate.stats.design.sample_size import sample_sizes
from tests.support.samples import there
from tests.support.seeds import some
from tests.support.study_values import drawn
from tests.support.units_frame import crossed, factors, frame


@pytest.mark.promise
@pytest.mark.parametrize("skewed", [False, True])
def test_of_equal_settings_some_pair_is_told_apart_as_often_as_promised(skewed: bool) -> None:
    rng = np.random.default_rng(1)
    reports = 1500
    wrong = {"one": 0, "all": 0}
    for _ in range(reports):
        # treatments differ in their counts, and the other factor in its means
        def draw(codes: tuple[int, ...]) -> list[float]:
            n = 4 + 3 * codes[0] + 2 * codes[1]
            y = rng.gamma(4, 0.5, size=n) if skewed else rng.normal(size=n)
            return [10 * codes[0] + float(v) for v in y]

        tables = [t for t in one_ways(crossed((2, 3), draw), factors(2, 3), 0.95) if t.factor == "b"]
        for name, table in (("one", tables[0]), ("all", tables[-1])):
            wrong[name] += any(
                pair.low is not None and pair.high is not None and not pair.low <= 0 <= pair.high
                for pair in table.pairs
            )
    for count in wrong.values():
        assert count / reports < 0.05 + 3 * math.sqrt(0.05 * 0.95 / reports)
        assert count / reports > 0.03


@pytest.mark.promise
@pytest.mark.parametrize("skewed", [False, True])
@pytest.mark.parametrize("log", [False, True])
def test_intervals_of_percent_cover(log: bool, skewed: bool) -> None:
    rng = np.random.default_rng(2)
    held = count = 0
    for _ in range(2000):

        def draw(codes: tuple[int, ...]) -> list[float]:
            # 20% more at the second setting, and twice the spread
            y = rng.gamma(4, 0.25, size=6) - 1 if skewed else 0.5 * rng.normal(size=6)
            if log:
                return [math.log(1.2) * codes[0] + 0.1 * (1 + codes[0]) * float(v) for v in y]
            return [10 * (1 + 0.2 * codes[0]) + (1 + codes[0]) * float(v) for v in y]

        (row,) = percents(crossed((2,), draw), factors(2), "lower", 0.95, unit="s", log=log)
        count += 1
        held += row.low is not None and row.high is not None and row.low <= 0.2 <= row.high
    error = 3 * math.sqrt(0.95 * 0.05 / count)
    assert (0.92 if skewed else 0.95) - error < held / count < 0.97 + error


@pytest.mark.promise
def test_t_intervals_of_normal_values_are_covered_at_every_size_of_subsample() -> None:
    # without the correction for what subsamples share, a quarter of the units would seem to cover 97.6%
    rng = np.random.default_rng(3)
    shares: dict[int, list[float]] = {}
    for seed in range(60):
        found = sample_sizes(frame({(0,): rng.normal(size=80).tolist()}), factors(1), 0.95, seed, [])
        assert found is not None
        for row in found.rows:
            if row.method == "t":
                shares.setdefault(row.size, []).append(row.coverage)
    assert list(shares) == [5, 10, 20]
    for of in shares.values():
        assert np.mean(of) == pytest.approx(0.95, abs=0.005)


# --- quantile effects ---

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
    """Nominal 95%, promised 93%: 2 x 2 x 2 treatments, 5 executions each, skewed values.

    Not promised, and warned of, is a quantile that rests on one or two of the executions.
    """
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
