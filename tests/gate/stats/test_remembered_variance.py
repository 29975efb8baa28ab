"""What one session tells of the variance of a finding."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np
import pytest

from gate.model import Remembered, Sample
from gate.model.case import TYPICAL, Center
from gate.stats.remembered_variance import remember, repetitions
from tests.support.kalibera_jones import TABLE_III
from tests.support.samples import nested, there
from tests.support.simulate import normal, sample

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


def test_a_coarse_timer_leaves_its_rounding() -> None:
    one = nested([[[1.0, 1.0], [2.0, 2.0]], [[2.0, 2.0], [1.0, 1.0]]])
    # the builds' means agree; the gap of 1 leaves 1/12 in each
    assert known(one, None)["build"] == (pytest.approx(1 / 12 / 1.5**2), 1)
    assert known(one, one)["contrast"] == (pytest.approx(2 / 12 / 1.5**2), 1)


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


def test_repetitions_are_harmonic_means() -> None:
    found = repetitions([nested([[[1.0, 2.0], [3.0]], [[4.0, 5.0, 6.0, 7.0]]])])
    assert found == pytest.approx((2 / (1 / 2 + 1), 3 / (1 / 2 + 1 + 1 / 4)))
    # exactly, as a plan has them
    assert repetitions([nested([[[1.0] * 10] * 3] * 4)] * 2) == (3, 10)


def test_variances_and_their_degrees_are_right_on_average() -> None:
    # means over 400 draws; a variance on d degrees has a relative variance of 2/d
    rng = np.random.default_rng(3)
    components, counts = (0.01, 0.02, 0.03), (6, 4, 5)
    draws = [
        known(sample(rng, normal, components, counts), sample(rng, normal, components, counts)) for _ in range(400)
    ]
    t1, t2, t3 = 0.03**2, 0.02**2, 0.01**2
    top = t3 + t2 / 4 + t1 / 20
    for level, truth in (("iteration", t1), ("execution", t2 + t1 / 5), ("build", top), ("contrast", 2 * top)):
        values = np.array([draw[level][0] for draw in draws])
        (df,) = {draw[level][1] for draw in draws}
        assert values.mean() == pytest.approx(truth, rel=4 * math.sqrt(2 / df / 400) + 0.002)
        assert values.var() / values.mean() ** 2 == pytest.approx(2 / df, rel=0.3)
