"""Components for planning, K&J's Table III to IV and pooling over sessions, and what one session tells of them."""

from typing import Any

import msgspec
import numpy as np
import pytest

from gate.model import RelativeVariance, Remembered, Sample
from gate.model.case import TYPICAL, Center
from gate.stats.components import (
    PlannedLevel,
    Square,
    correlation_of,
    estimate,
    remember,
    repetitions,
    shared_share,
    squares_of,
)
from tests.support import kalibera_jones
from tests.support.kalibera_jones import TABLE_III
from tests.support.samples import nested, there
from tests.support.simulate import normal, sample

Squares = list[tuple[PlannedLevel, Square]]

SQUARES_III: Squares = [
    ("iteration", Square(16.5, 6, 1)),
    ("execution", Square(2.58333333, 3, 2)),
    ("build", Square(3.5625, 2, 2)),
]


def session(**values: Any) -> Remembered:
    levels = dict.fromkeys(("iteration", "execution", "build"), RelativeVariance(value=1.0, df=4.0))
    plain = {"session": "", "created": "", "rounds": 5, "executions": 5.0, "iterations": 10.0, "contrast": None}
    return Remembered(**{**plain, **levels, **values})


def test_table_iii_becomes_table_iv() -> None:
    found, signed = estimate(SQUARES_III)
    assert signed == pytest.approx({"iteration": 16.5, "execution": -5.66666667, "build": 2.27083333})
    # by way of what is remembered, relative to the squared mean of 6.5
    base = kalibera_jones.sample(kalibera_jones.TABLE_III)
    remembered = there(remember(base, base, None, session="", created=""))
    for of, scale in ((found, 1), (estimate(squares_of([remembered]))[0], 6.5**2)):
        levels = of.iteration, of.execution, of.build
        assert np.array(levels) * scale == pytest.approx([12.7222222, 0, 0.381944444])


def test_levels_that_add_nothing_are_pooled() -> None:
    found, _ = estimate(
        [("iteration", Square(4.0, 40, 1)), ("execution", Square(3.0, 8, 4)), ("build", Square(1.0, 3, 3))]
    )
    # T2 of builds 1 - 3/3 = 0: executions are then of one kind, S2 = (3 x 8 + 3 x 1 x 3)/11 = 3
    assert (found.execution, found.build) == pytest.approx((3 - 4 / 4, 0))
    # everything above the iterations may go
    found, _ = estimate(
        [("iteration", Square(4.0, 40, 1)), ("execution", Square(0.5, 8, 4)), ("build", Square(0.1, 3, 3))]
    )
    pooled = (4.0 * 40 + 4 * 0.5 * 8 + 12 * 0.1 * 3) / 51
    assert found.iteration == pytest.approx(pooled)
    assert (found.execution, found.build) == (0, 0)
    # correlated iterations take more of the variance of executions:
    # with r = 1/3 four iterations are worth two
    _, signed = estimate([("iteration", Square(4.0, 40, 1)), ("execution", Square(3.0, 8, 4))], 1 / 3)
    assert signed["execution"] == pytest.approx(3 - 4 / 2)


def test_sessions_are_pooled_by_their_degrees_where_they_repeat_alike() -> None:
    one = session(build=RelativeVariance(value=2.0, df=4.0))
    other = session(build=RelativeVariance(value=5.0, df=8.0), iterations=11.0)
    squares = dict(squares_of([one, other]))
    assert squares["build"].s2 == pytest.approx(4.0)
    assert squares["build"].df == 12
    assert squares["build"].n == pytest.approx(5)
    # divided by 10 on 4 degrees and by 11 on 4
    assert squares["execution"].n == pytest.approx(8 / (4 / 10 + 4 / 11))
    # others are not pooled
    few = [session(executions=2.0), session(executions=2.0)]
    many = session(build=RelativeVariance(value=3.0, df=20.0))
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
    build = RelativeVariance(value=1.0, df=8.0)

    def of(contrast: float, df: float) -> float:
        return shared_share([session(build=build, contrast=RelativeVariance(value=contrast, df=df))])

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


def test_no_correlation_is_claimed_where_there_is_none() -> None:
    rng = np.random.default_rng(4)
    claimed = [correlation_of([chain(rng, 0.0, 25, 10)]) > 0 for _ in range(200)]
    assert sum(claimed) <= 12
    assert correlation_of([]) == 0


# --- what one session tells of the variance of a finding --------------------------------------------------------------

WHEN = "2026-11-20T09:00:00Z"


def asked(base: Sample, head: Sample | None, tau: Center = None) -> Remembered:
    return there(remember(base, head, tau, session="id", created=WHEN))


def known(base: Sample, head: Sample | None, tau: Center = None) -> dict[str, Any]:
    """The variance and the degrees of each level."""
    found = asked(base, head, tau)
    squares = {name: getattr(found, name) for name in ("iteration", "execution", "build", "contrast")}
    return {name: None if s is None else (s.value, s.df) for name, s in squares.items()}


def test_kalibera_jones_table_iii_relative_to_its_mean() -> None:
    # S2 of K&J's worked example; 3 builds x 2 starts x 2 values
    one = nested(TABLE_III)
    wanted = {"iteration": (16.5, 6), "execution": (2.58333333, 3), "build": (3.5625, 2)}
    relative = {level: (pytest.approx(s2 / one.values.mean() ** 2), df) for level, (s2, df) in wanted.items()}
    assert known(one, None) == {**relative, "contrast": None}


def test_both_sides_are_pooled_relative_to_their_own_means() -> None:
    rng = np.random.default_rng(1)
    base, head = (sample(rng, normal, (0.1, 0.2, 0.3), (4, 3, 2), mean) for mean in (1.0, 50.0))
    both, first, second = known(base, head), known(base, None), known(head, None)
    for level, df in (("iteration", 24), ("execution", 16), ("build", 6)):
        assert both[level] == (pytest.approx((first[level][0] + second[level][0]) / 2), df)
    x, y = (side.values.reshape(4, -1).mean(axis=1) for side in (base, head))
    assert both["contrast"] == (pytest.approx(np.var(y / y.mean() - x / x.mean(), ddof=1)), 3)


def test_sides_weigh_by_their_degrees() -> None:
    base, head = nested([[[1.0, 2.0]], [[2.0, 4.0]], [[1.0, 1.5]]]), nested([[[1.0, 3.0]], [[2.0, 2.5]]])
    tops = ([1.5, 3.0, 1.25], [2.0, 2.25])
    relative = [np.var(side, ddof=1) / np.mean(side) ** 2 for side in tops]
    assert known(base, head)["build"] == (pytest.approx((2 * relative[0] + relative[1]) / 3), 3)
    # only the rounds that both sides have make a contrast
    found = asked(base, head)
    assert (found.rounds, there(found.contrast).df) == (2, 1)


def test_a_level_that_was_not_repeated_is_not_known() -> None:
    found = known(nested([[[1.0], [2.0]], [[2.0], [4.0]]]), None)
    assert (found["iteration"], found["execution"][1]) == (None, 2)
    found = known(nested([[[1.0, 2.0]], [[2.0, 4.0]]]), None)
    assert (found["execution"], found["iteration"][1]) == (None, 2)
    # one side that did not repeat it is enough
    once, twice = nested([[[1.0], [2.0]], [[2.0], [3.0]]]), nested([[[1.0, 2.0], [3.0, 1.0]], [[2.0, 4.0], [1.0, 1.0]]])
    assert known(twice, once)["iteration"] is None


def test_of_a_quantile_the_logarithm_of_each_build() -> None:
    rng = np.random.default_rng(2)
    base, head = (sample(rng, normal, (0.02, 0.02, 0.1), (4, 5, 20), mean) for mean in (1.0, 3.0))
    found = known(base, head, 0.9)
    values = np.stack((base.values, head.values)).reshape(2, 4, -1)
    logs = np.log(np.quantile(values, 0.9, axis=2, method="median_unbiased"))
    assert found["iteration"] is None and found["execution"] is None
    assert found["build"] == (pytest.approx(logs.var(axis=1, ddof=1).mean()), 6)
    assert found["contrast"] == (pytest.approx((logs[1] - logs[0]).var(ddof=1)), 3)


def test_a_coarse_timer_leaves_its_rounding_and_repetitions_are_harmonic_means() -> None:
    one = nested([[[1.0, 1.0], [2.0, 2.0]], [[2.0, 2.0], [1.0, 1.0]]])
    # the builds' means agree; the gap of 1 leaves 1/12 in each
    assert known(one, None)["build"] == (pytest.approx(1 / 12 / 1.5**2), 1)
    assert known(one, one)["contrast"] == (pytest.approx(2 / 12 / 1.5**2), 1)
    # repetitions are harmonic means
    found = repetitions([nested([[[1.0, 2.0], [3.0]], [[4.0, 5.0, 6.0, 7.0]]])])
    assert found == pytest.approx((2 / (1 / 2 + 1), 3 / (1 / 2 + 1 + 1 / 4)))
    # exactly, as a plan has them
    assert repetitions([nested([[[1.0] * 10] * 3] * 4)] * 2) == (3, 10)


def test_where_there_is_nothing_to_remember() -> None:
    good = nested([[[1.0, 2.0]], [[2.0, 4.0]]])
    one_build, negative = nested([[[1.0, 2.0]]]), nested([[[-1.0]], [[2.0]]])
    for of in (one_build, negative, nested([[[1.0]], [[1.0]]]), nested([[[0.0]], [[0.0]]])):
        assert remember(of, None, None, session="id", created=WHEN) is None
        assert remember(of, None, 0.5, session="id", created=WHEN) is None
    for of in (one_build, negative):
        assert remember(good, of, None, session="id", created=WHEN) is None
    # several sessions are not one
    assert remember(nested([[[1.0]], [[2.0]]], [1, 1]), None, None, session="id", created=WHEN) is None
    # a typical value needs two builds that both sides have
    base = nested([[[0.1], [0.11]], [[0.1], [0.12]]])
    head = msgspec.structs.replace(base, builds=((0, 1), (0, 2)))
    assert remember(base, head, TYPICAL, session="id", created=WHEN) is None
