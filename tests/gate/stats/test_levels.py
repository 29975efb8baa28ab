import math
import statistics
from itertools import pairwise

import numpy as np
import pytest

from gate.model import Level
from gate.stats import levels
from gate.stats.components import variances
from gate.stats.levels import gap_of, tops_of
from tests.support.kalibera_jones import TABLE_III, TABLE_IV, TABLE_V_OLD, Nested, sample
from tests.support.samples import nested
from tests.support.seeds import seeds


def by_level(nested: Nested) -> dict[Level, tuple[float, float]]:
    return variances(sample(nested))


def test_tables_iii_to_v() -> None:
    assert by_level(TABLE_III) == {
        "iteration": pytest.approx((16.5, 16.5)),
        "execution": pytest.approx((2.58333333, -5.66666667), rel=1e-8),
        "build": pytest.approx((3.5625, 2.27083333), rel=1e-8),
    }
    # the level that was not repeated is dropped
    assert by_level(TABLE_IV) == {
        "iteration": pytest.approx((12.7222222, 12.7222222), rel=1e-8),
        "build": pytest.approx((3.5625, 0.381944444), rel=1e-8),
    }
    assert tops_of(sample(TABLE_V_OLD)).mean == 10.5
    assert by_level(TABLE_V_OLD)["build"][0] == pytest.approx(5.8125)


def literal(nested: Nested) -> list[tuple[float, float]]:
    """S2 and T2 of three levels in plain loops, for builds with at least two executions somewhere."""
    mean, var = statistics.fmean, statistics.variance
    s1 = mean([var(e) for b in nested for e in b if len(e) > 1])
    error_of_execution = {id(e): (var(e) if len(e) > 1 else s1) / len(e) for b in nested for e in b}
    repeated = [b for b in nested if len(b) > 1]
    s2 = mean([var([mean(e) for e in b]) for b in repeated])
    t2 = s2 - mean([mean([error_of_execution[id(e)] for e in b]) for b in repeated])
    build_means = [mean([mean(e) for e in b]) for b in nested]
    s3 = var(build_means)
    error_of_build = [(var([mean(e) for e in b]) if len(b) > 1 else s2) / len(b) for b in nested]
    return [(s1, s1), (s2, t2), (s3, s3 - mean(error_of_build))]


@pytest.mark.parametrize("seed", seeds(20))
def test_unbalanced_data_against_its_literal_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    nested = [
        [list(rng.normal(10, 1, rng.integers(1, 6))) for _ in range(rng.integers(1, 5))]
        for _ in range(rng.integers(2, 6))
    ]
    nested[0] = [[1.0, 2.0], [3.0, 5.0]]
    found = variances(sample(nested))
    assert tops_of(sample(nested)).mean == pytest.approx(
        statistics.fmean([statistics.fmean([statistics.fmean(e) for e in b]) for b in nested])
    )
    assert [*found] == ["iteration", "execution", "build"]
    for variance, expected in zip(found.values(), literal(nested), strict=True):
        assert variance == pytest.approx(expected)


def test_sessions_are_a_level_only_where_there_are_several() -> None:
    four_levels = nested(np.arange(8.0).reshape(4, 1, 2), [2, 2])
    found = variances(four_levels, sessions=True)
    assert tops_of(four_levels, sessions=True).n == 2
    # iteration means 0.5, 2.5, 4.5, 6.5 are build means; sessions 1.5 and 5.5
    assert [(level, s2) for level, (s2, _) in found.items()] == [("iteration", 0.5), ("build", 2.0), ("session", 8.0)]


def test_single_values_and_one_unit_at_the_top_have_no_variance() -> None:
    found = tops_of(sample([[[3.0]]]))
    assert (found.mean, found.n, variances(sample([[[3.0]]])), found.gap) == (3.0, 1, {}, 0.0)
    one = sample([[[1, 2], [3, 4]]])
    assert (tops_of(one).n, [*variances(one)]) == (1, ["iteration", "execution"])
    # a variance is that of numpy to the last bit
    rng = np.random.default_rng(1)
    for n in (2, 3, 7, 40):
        values = rng.normal(1e3, 0.1, n)
        assert levels.variance(values) == float(values.var(ddof=1))


def test_the_gap_is_the_smallest_step_between_values_of_a_session() -> None:
    assert tops_of(sample([[[1, 1, 3]], [[3.5, 8, 8]]])).gap == 0.5
    # the second and the third session are 0.1 apart, within one it is 0.5 at least
    values = np.array([1.0, 2.0, 5.0, 5.5, 5.6, 6.6, 9.0, 9.0])
    assert gap_of(nested(values.reshape(8, 1, 1), [2] * 4)) == pytest.approx(0.5)
    # an outlier does not dither
    flat = [[[1.0, 1.0, 1.1, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0, 9.0], [1.0, 1.0, 1.0, 1.0, 1.0]]] * 3
    assert tops_of(sample(flat)).gap == pytest.approx(0.1)


def literal_gap(nested: list[list[list[float]]]) -> float:
    """The smallest step, over the root of executions per build where the middle execution's spread is above half."""
    values = sorted({value for build in nested for execution in build for value in execution})
    gap = min(b - a for a, b in pairwise(values))
    executions = [execution for build in nested for execution in build]
    spreads = sorted(statistics.stdev(execution) for execution in executions if len(execution) > 1)
    return gap / math.sqrt(len(executions) / len(nested)) if statistics.median(spreads) > gap / 2 else gap


@pytest.mark.parametrize("noise", [0.02, 0.04, 0.05, 0.06, 0.2])
def test_values_that_dither_round_each_execution_in_its_own_way(noise: float) -> None:
    rng = np.random.default_rng(4)
    nested = [[(0.1 * np.round(rng.normal(10.3, noise * 10, 8))).tolist() for _ in range(3)] for _ in range(5)]
    expected = literal_gap(nested)
    assert tops_of(sample(nested)).gap == pytest.approx(expected)
    assert expected == pytest.approx(0.1 if noise < 0.05 else 0.1 / math.sqrt(3), rel=1e-9)
