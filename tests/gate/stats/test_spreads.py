"""Unlike spreads of builds: against scipy, and how often sides that are alike are said not to be."""

import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from gate.commands.simulate.draws import SHAPES, Shape
from gate.stats.levels import Tops
from gate.stats.spreads import DISTANCE_LEVEL, F_LEVEL, deviations, wider
from tests.support.seeds import some

Array = npt.NDArray[np.float64]


def tops(values: Array, *, gap: float = 0.0, log: bool = False) -> Tops:
    return Tops(values, tuple((0, b) for b in range(len(values))), gap, log)


def literal(base: Array, head: Array) -> bool:
    x, y = base / base.mean(), head / head.mean()
    f = np.var(x, ddof=1) / np.var(y, ddof=1)
    d = (len(x) - 1, len(y) - 1)
    p_variances = 2 * min(stats.f.sf(f, *d), stats.f.cdf(f, *d))
    away = []
    for side in (x, y):
        distances = sorted(abs(value - float(np.median(side))) for value in side)
        if len(side) % 2 == 0:
            distances[1] *= math.sqrt(2)
        away.append(distances[1:])
    return bool(p_variances < F_LEVEL and stats.f_oneway(*away).pvalue < DISTANCE_LEVEL)


def test_both_tests_are_those_of_scipy() -> None:
    rng = np.random.default_rng(1)
    found = set()
    for _ in range(300):
        base = rng.normal(10, 0.1, rng.integers(5, 13))
        head = rng.normal(30, 0.3 * rng.choice([1, 3, 6]), rng.integers(5, 13))
        told = wider(tops(base), tops(head))
        assert (told is not None) == literal(base, head)
        found.add(told is not None)
        if told is not None:
            times = float(np.std(head / head.mean(), ddof=1) / np.std(base / base.mean(), ddof=1))
            assert told[0] == ("head" if times > 1 else "base")
            assert told[1] == pytest.approx(max(times, 1 / times))
    assert found == {True, False}


def test_what_has_no_spread_to_compare() -> None:
    steps, flat = np.array([1.0, 1.1] * 4), np.ones(8)
    assert wider(tops(flat), tops(flat)) is None
    assert wider(tops(flat), tops(steps)) == ("head", None)
    assert wider(tops(steps - 1.5), tops(steps)) is None
    assert wider(tops(steps[:4]), tops(np.array([1.0, 9.0, 5.0, 2.0]))) is None
    # a timer's step hides what base's builds differ by
    rng = np.random.default_rng(2)
    base, head = rng.normal(1, 0.001, 10), rng.normal(1, 0.01, 10)
    assert wider(tops(base), tops(head)) is not None
    assert wider(tops(base, gap=0.02), tops(head)) is None
    # of logarithms a common factor is no spread
    told = wider(tops(base, log=True), tops(head + 7, log=True))
    assert told is not None
    assert told[1] == pytest.approx(np.std(head) / np.std(base))


@pytest.mark.parametrize("count", some([6, 5, 8, 12], 1))
def test_sides_that_are_alike_are_rarely_called_unlike(count: int) -> None:
    # of builds in two layouts 20:80 six may well all be of one kind on one side, and not on the other
    most = {"bimodal 20:80": 0.035 if count == 6 else 0.025}
    shares = []
    for shape in SHAPES:
        rng = np.random.default_rng(count)
        share = np.mean([_alarm(shape, rng, count) for _ in range(1500)])
        shares.append(share)
        assert share <= most.get(shape.name, 0.01) + 0.006, shape.name
    assert np.mean(shares) < 0.015


def _alarm(shape: Shape, rng: np.random.Generator, count: int) -> bool:
    base, head = (1 + 0.02 * shape.draw(rng, (count,)) + 0.002 * rng.normal(size=count) for _ in range(2))
    return wider(tops(base), tops(head)) is not None


def test_a_layout_that_only_base_has_is_seen_from_eight_builds_on() -> None:
    rng = np.random.default_rng(3)
    shape = next(shape for shape in SHAPES if shape.name == "bimodal 50:50")
    shares = {
        count: np.mean([
            wider(tops(1 + 0.05 * shape.draw(rng, (count,))), tops(rng.normal(1, 0.01, count))) is not None
            for _ in range(400)
        ])
        for count in (5, 8, 12)
    }  # fmt: skip
    assert shares[12] > 0.75
    assert shares[8] > 0.4
    assert shares[5] < shares[8]


def test_structural_zeros_are_left_out() -> None:
    assert deviations(np.array([1.0, 2.0, 4.0])).tolist() == [1.0, 2.0]
    assert deviations(np.array([1.0, 2.0, 4.0, 9.0])).tolist() == pytest.approx([math.sqrt(2), 2.0, 6.0])
