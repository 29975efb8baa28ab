from collections import Counter
from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from gate.stats.design.blocks import EXACT, blocks, chance, tail
from tests.support.seeds import some
from tests.support.units_frame import about, crossed, factors, frame


@pytest.mark.parametrize("boxes", [1, 2, 3, 6, 12])
def test_the_chance_of_one_order_in_all_boxes_is_nists(boxes: int) -> None:
    assert chance(boxes, 2) == 1 / 2 ** (boxes - 1)
    assert tail(boxes, boxes, 2) == chance(boxes, 2)
    assert chance(boxes, 3) == pytest.approx(1 / 6 ** (boxes - 1), rel=1e-15)
    assert tail(boxes, boxes, 3) == pytest.approx(chance(boxes, 3), rel=1e-15)


def counted(same: int, boxes: int, settings: int) -> float:
    """Literally: every way to order every box."""
    orders = list(permutations(range(settings)))
    ways = [max(Counter(way).values()) for way in product(orders, repeat=boxes)]
    return sum(way >= same for way in ways) / len(ways)


@pytest.mark.parametrize(
    ("boxes", "settings"), some([(1, 2), (2, 2), (5, 2), (8, 2), (1, 3), (2, 3), (4, 3), (3, 4), (6, 3)], 8)
)
def test_the_tail_by_counting_all_ways(boxes: int, settings: int) -> None:
    for same in range(boxes + 1):
        assert tail(same, boxes, settings) == pytest.approx(counted(same, boxes, settings), rel=1e-12)


def test_all_but_one_of_two_settings_is_binomial_in_both_directions() -> None:
    assert tail(7, 8, 2) == 2 * (8 + 1) / 2**8
    assert tail(7, 8, 2) == pytest.approx(stats.binomtest(7, 8).pvalue)
    assert tail(4, 8, 2) == 1.0


def test_above_the_boxes_that_are_counted_out_a_bound_is_close() -> None:
    same = EXACT // 3
    exact, bound = tail(same, EXACT, 3), tail(same, EXACT + 1, 3)
    assert tail(same, EXACT - 1, 3) < exact < bound < 1.4 * exact
    assert tail(EXACT // 6 + 2, EXACT + 1, 3) == 1.0


def nist(low_fp_is_low: bool = True) -> dict[tuple[int, ...], list[float]]:
    """NIST's 12 treatments: os, fp, prf; fp raises every mean but one."""
    step = 0.03 if low_fp_is_low else -0.03
    return {
        (os, fp, prf): [7.2 + 0.05 * os + (0.03 if (os, prf) != (1, 2) else step) * fp + 0.1 * prf] * 2
        for os, fp, prf in product(range(2), range(2), range(3))
    }


def test_blocks_of_nists_design() -> None:
    os, fp, prf = blocks(frame(nist()), factors(2, 2, 3))
    assert [(b.factor, b.complete, b.same, b.order) for b in (os, fp, prf)] == [
        ("a", 6, 6, [0, 1]),
        ("b", 6, 6, [0, 1]),
        ("c", 4, 4, [0, 1, 2]),
    ]
    assert (os.chance, prf.chance) == (1 / 32, about(1 / 6**3))
    assert (os.tail, prf.tail) == (1 / 32, about(1 / 6**3))
    assert [box.at for box in prf.boxes] == [{"a": 0, "b": 0}, {"a": 0, "b": 1}, {"a": 1, "b": 0}, {"a": 1, "b": 1}]
    assert prf.boxes[0].points == [(0, about(7.2)), (1, about(7.3)), (2, about(7.4))]


def test_all_boxes_but_one() -> None:
    fp = blocks(frame(nist(low_fp_is_low=False)), factors(2, 2, 3))[1]
    assert (fp.complete, fp.same, fp.order, fp.chance, fp.tail) == (6, 5, None, 1 / 32, 2 * 7 / 64)


def test_a_factor_that_lowers_means_has_the_other_order() -> None:
    (b,) = blocks(frame({(0,): [3.0], (1,): [1.0], (2,): [2.0]}), factors(3))
    assert (b.order, b.complete, b.same, b.chance, b.tail) == ([1, 2, 0], 1, 1, 1.0, 1.0)


def test_boxes_without_a_setting_are_shown_and_not_counted() -> None:
    # NIST A.2: minus os=* fp=0 prf=2
    left = {codes: y for codes, y in nist().items() if codes[1:] != (0, 2)}
    _, fp, prf = blocks(frame(left), factors(2, 2, 3))
    assert (len(fp.boxes), fp.complete, fp.same, fp.chance) == (6, 4, 4, 1 / 8)
    assert (len(prf.boxes), prf.complete, prf.same) == (4, 2, 2)
    # perf-samples has no prf=0 at all: of what was measured every box is complete
    without = {codes: y for codes, y in nist().items() if codes[2]}
    prf = blocks(frame(without), factors(2, 2, 3))[2]
    assert (prf.complete, prf.order, prf.chance) == (4, [1, 2], 1 / 8)


def test_equal_means_agree_with_no_order() -> None:
    groups = {(0, 0): [1.0], (0, 1): [2.0], (1, 0): [0.1, 0.2], (1, 1): [0.15], (2, 0): [3.0], (2, 1): [4.0]}
    b = blocks(frame(groups), factors(3, 2))[1]
    assert (b.complete, b.same, b.order, b.chance, b.tail) == (3, 2, None, 0.25, 1.0)
    every = blocks(crossed((2, 2), lambda _: [5.0, 5.0]), factors(2, 2))
    assert [(b.complete, b.same, b.order, b.tail) for b in every] == [(2, 0, None, 1.0)] * 2


def test_one_setting_and_no_units() -> None:
    (b,) = blocks(frame({(0,): [1.0, 2.0]}), factors(2))
    assert (b.complete, b.order, b.same, b.chance, b.tail) == (0, None, 0, None, None)
    assert len(b.boxes) == 1
    assert blocks(frame({(0,): []}), factors(2))[0].boxes == []


@pytest.mark.parametrize("trials", some([400, 4000], 1))
def test_patterns_come_by_chance_as_often_as_said(trials: int) -> None:
    rng = np.random.default_rng(5)
    same = [
        blocks(crossed((3, 6), lambda _: rng.normal(size=2).tolist()), factors(3, 6))[0].same for _ in range(trials)
    ]
    for least in (2, 3):
        share = sum(s >= least for s in same) / trials
        expected = tail(least, 6, 3)
        assert abs(share - expected) < 4 * (expected * (1 - expected) / trials) ** 0.5
