"""Components for planning: K&J's Table III to IV, pooling over sessions, correlation of iterations."""

from typing import Any

import numpy as np
import pytest

from gate.model import MeanSquare, Remembered, Sample
from gate.stats.components import PlannedLevel, Square, correlation_of, estimate, shared_share, squares_of
from gate.stats.remembered_variance import remember
from tests.support import kalibera_jones, simulate
from tests.support.samples import nested, there

Squares = list[tuple[PlannedLevel, Square]]

TABLE_III: Squares = [
    ("iteration", Square(16.5, 6, 1)),
    ("execution", Square(2.58333333, 3, 2)),
    ("build", Square(3.5625, 2, 2)),
]


def session(**values: Any) -> Remembered:
    levels = dict.fromkeys(("iteration", "execution", "build"), MeanSquare(value=1.0, df=4.0))
    plain = {"session": "", "created": "", "rounds": 5, "executions": 5.0, "iterations": 10.0, "contrast": None}
    return Remembered(**{**plain, **levels, **values})


def test_table_iii_becomes_table_iv() -> None:
    found = estimate(TABLE_III)
    assert dict(found.signed) == pytest.approx({"iteration": 16.5, "execution": -5.66666667, "build": 2.27083333})
    assert found.dropped == ("execution",)
    # by way of what is remembered, relative to the squared mean of 6.5
    base = kalibera_jones.sample(kalibera_jones.TABLE_III)
    remembered = there(remember(base, base, None, session="", created=""))
    for of, scale in ((found, 1), (estimate(squares_of([remembered])), 6.5**2)):
        levels = of.components.iteration, of.components.execution, of.components.build
        assert np.array(levels) * scale == pytest.approx([12.7222222, 0, 0.381944444])


def test_a_top_level_that_adds_nothing_is_pooled_with_the_one_below() -> None:
    found = estimate(
        [("iteration", Square(4.0, 40, 1)), ("execution", Square(3.0, 8, 4)), ("build", Square(1.0, 3, 3))]
    )
    # T2 of builds 1 - 3/3 = 0: executions are then of one kind, S2 = (3 x 8 + 3 x 1 x 3)/11 = 3
    assert found.dropped == ("build",)
    assert (found.components.execution, found.components.build) == pytest.approx((3 - 4 / 4, 0))
    # everything above the iterations may go
    found = estimate(
        [("iteration", Square(4.0, 40, 1)), ("execution", Square(0.5, 8, 4)), ("build", Square(0.1, 3, 3))]
    )
    assert found.dropped == ("execution", "build")
    pooled = (4.0 * 40 + 4 * 0.5 * 8 + 12 * 0.1 * 3) / 51
    assert found.components.iteration == pytest.approx(pooled)
    assert (found.components.execution, found.components.build) == (0, 0)


def test_correlated_iterations_take_more_of_the_variance_of_executions() -> None:
    # with r = 1/3 four iterations are worth two
    found = estimate([("iteration", Square(4.0, 40, 1)), ("execution", Square(3.0, 8, 4))], 1 / 3)
    assert dict(found.signed)["execution"] == pytest.approx(3 - 4 / 2)


def test_estimates_are_unbiased() -> None:
    rng = np.random.default_rng(1)
    parts = []
    for _ in range(400):
        side = simulate.sample(rng, simulate.normal, (0.02, 0.03, 0.05), (4, 3, 5))
        found = there(remember(side, None, None, session="", created=""))
        parts.append([value for _, value in estimate(squares_of([found])).signed])
    assert np.mean(parts, axis=0) == pytest.approx([0.05**2, 0.03**2, 0.02**2], rel=0.1)


def test_sessions_are_pooled_by_their_degrees() -> None:
    one = session(build=MeanSquare(value=2.0, df=4.0))
    other = session(build=MeanSquare(value=5.0, df=8.0), iterations=11.0)
    squares = dict(squares_of([one, other]))
    assert squares["build"].s2 == pytest.approx(4.0)
    assert squares["build"].df == 12
    assert squares["build"].n == pytest.approx(5)
    # divided by 10 on 4 degrees and by 11 on 4
    assert squares["execution"].n == pytest.approx(8 / (4 / 10 + 4 / 11))


def test_sessions_of_other_repetitions_are_not_pooled() -> None:
    few = [session(executions=2.0), session(executions=2.0)]
    many = session(build=MeanSquare(value=3.0, df=20.0))
    assert dict(squares_of([*few, many]))["build"] == Square(3.0, 20.0, 5.0)


def test_levels_that_were_not_repeated() -> None:
    # one execution a build: builds hold ten iterations each
    squares = dict(squares_of([session(execution=None, executions=1.0)]))
    assert squares.keys() == {"iteration", "build"}
    assert squares["build"].n == 10
    # one iteration each
    squares = dict(squares_of([session(iteration=None, iterations=1.0)]))
    assert squares["execution"].n == 1
    assert squares["build"].n == pytest.approx(5)
    assert squares_of([session(build=None)]) == []
    assert squares_of([]) == []


def test_what_rounds_share_is_claimed_with_caution() -> None:
    build = MeanSquare(value=1.0, df=8.0)

    def of(contrast: float, df: float) -> float:
        return shared_share([session(build=build, contrast=MeanSquare(value=contrast, df=df))])

    # correlation 0.4 from 36 degrees: less one standard error of (1 - 0.16)/6
    assert of(1.2, 36) == pytest.approx(0.4 - 0.14)
    assert of(1.2, 4) == 0
    assert of(3.0, 36) == 0
    assert shared_share([session()]) == 0


def chain(rng: np.random.Generator, r: float, executions: int, n: int) -> Sample:
    """Executions of an autoregressive process of the first order."""
    values = np.empty((executions, n))
    values[:, 0] = rng.normal(0, 1, executions)
    for k in range(1, n):
        values[:, k] = r * values[:, k - 1] + rng.normal(0, np.sqrt(1 - r * r), executions)
    return nested([100 + values + rng.normal(0, 3, (executions, 1))])


@pytest.mark.parametrize("r", [0.3, 0.6])
@pytest.mark.parametrize("n", [10, 40])
def test_correlation_is_found_in_short_executions_too(r: float, n: int) -> None:
    found = correlation_of([chain(np.random.default_rng(3), r, 2000, n)])
    assert found == pytest.approx(r, abs=0.03)


def test_no_correlation_is_claimed_where_there_is_none() -> None:
    rng = np.random.default_rng(4)
    claimed = [correlation_of([chain(rng, 0.0, 25, 10)]) > 0 for _ in range(200)]
    assert sum(claimed) <= 12
    assert correlation_of([]) == 0
