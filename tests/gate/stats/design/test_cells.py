"""Means by treatment, block plots, and whether spread grows with the level."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pandas as pd
import pytest

from gate.model.study import MainEffect
from gate.stats.design.cells import balanced, blocks, cells, lacking, main_effects, spread_grows, squares, treatments
from gate.stats.rounding import Array
from tests.support.seeds import some
from tests.support.units_frame import TENSION, UNBALANCED, WOOL, about, crossed, factors, frame, warpbreaks

# NIST's 12 treatments: os, fp, prf; fp raises every mean
NIST = {
    (os, fp, prf): [7.2 + 0.05 * os + 0.03 * fp + 0.1 * prf] * 2
    for os, fp, prf in product(range(2), range(2), range(3))
}
# A.2: minus os=* fp=0 prf=2
LEFT = {codes: y for codes, y in NIST.items() if codes[1:] != (0, 2)}


def points(effect: MainEffect) -> dict[tuple[str | int | float, ...], tuple[float, int]]:
    return {tuple(p.settings.values()): (p.mean, p.treatments) for p in effect.points}


def test_main_effects_are_means_of_treatment_means() -> None:
    units = warpbreaks(UNBALANCED)
    wool, tension = main_effects(units, [WOOL, TENSION])
    assert (wool.factors, tension.factors) == (["wool"], ["tension"])
    # R 4.2.2: w <- warpbreaks[-c(1,2,3,30,54),]; m <- tapply(w$breaks, list(w$wool, w$tension), mean);
    # rowMeans(m); colMeans(m)
    assert points(tension) == {
        ("L",): (about(38.3125), 2),
        ("M",): (about(26.3888888888889), 2),
        ("H",): (about(21.0902777777778), 2),
    }
    of = {(k, t): units["y"][(units["f0"] == k) & (units["f1"] == t)].mean() for k in range(2) for t in range(3)}
    literal = {w: np.mean([of[k, t] for t in range(3)]) for k, w in enumerate("AB")}
    assert {key[0]: mean for key, (mean, _) in points(wool).items()} == pytest.approx(literal)


def test_without_treatments_points_stand_on_what_is_left() -> None:
    fs = factors(2, 2, 3)
    os, fp, prf = main_effects(frame(LEFT), fs)
    assert [p.treatments for p in os.points] == [5, 5]
    assert [p.treatments for p in fp.points] == [4, 6]
    assert [p.treatments for p in prf.points] == [4, 4, 2]
    assert points(fp)[(0,)][0] == pytest.approx(np.mean([y[0] for codes, y in LEFT.items() if codes[1] == 0]))
    pairs = main_effects(frame(LEFT), fs, 2)
    assert [pair.factors for pair in pairs] == [["a", "b"], ["a", "c"], ["b", "c"]]
    assert points(pairs[2]) == {
        (b, c): (about(float(np.mean([LEFT[a, b, c][0] for a in (0, 1)]))), 2)
        for b, c in product(range(2), range(3))
        if (b, c) != (0, 2)
    }


def test_lacking_and_balanced_and_settings_that_were_not_measured() -> None:
    fs = factors(2, 2, 3)
    assert lacking(frame(NIST), fs) == [] and balanced(frame(NIST), fs)
    assert lacking(frame(LEFT), fs) == [{"a": 0, "b": 0, "c": 2}, {"a": 1, "b": 0, "c": 2}]
    assert not balanced(frame(LEFT), fs)
    assert not balanced(frame(NIST | {(0, 0, 0): [1.0]}), fs)
    assert not balanced(frame({(0,): []}), factors(2)) and len(lacking(frame({(0,): []}), factors(2))) == 2
    # a setting that was not measured has no point
    (effect,) = main_effects(frame({(0,): [1.0], (2,): [3.0]}), factors(3))
    assert points(effect) == {(0,): (1.0, 1), (2,): (3.0, 1)}
    assert main_effects(frame({(0,): []}), factors(2))[0].points == []
    assert main_effects(frame({(0,): [1.0]}), factors(2), 2) == []
    (b,) = blocks(frame({(0,): [1.0, 2.0]}), factors(2))
    assert (b.complete, b.order, b.same, b.chance, len(b.boxes)) == (0, None, 0, None, 1)
    assert blocks(frame({(0,): []}), factors(2))[0].boxes == []


def test_treatments_count_units_and_values_apart() -> None:
    fs = factors(2, 2)
    units = frame({(1, 0): [2.0, 4.0], (0, 1): [7.0]})
    values = frame({(1, 0): list(range(1000)), (0, 1): [6.0, 8.0] * 10})
    values["session"] = np.where(values["f0"] == 1, values["execution"] % 2, 0)
    values["execution"] //= 20
    first, second = treatments(units, values, fs)
    assert (first.settings, second.settings) == ({"a": 0, "b": 1}, {"a": 1, "b": 0})
    assert (first.mean, first.sd, first.values) == (7.0, None, 20)
    assert first.quantiles == {"0.5": 7.0}
    assert (second.mean, second.sd) == (3.0, about(2**0.5))
    assert (second.sessions, second.builds, second.values) == (2, 5, 1000)
    assert second.executions == len({e for e, f in zip(values["execution"], values["f0"], strict=True) if f == 1})
    y = np.arange(1000.0)
    assert second.quantiles == {
        t: about(np.quantile(y, float(t), method="median_unbiased")) for t in ("0.5", "0.9", "0.95", "0.99")
    }
    assert treatments(frame({(0, 0): []}), frame({(0, 0): []}), fs) == []


def test_cells_are_in_standard_order_and_rounding_is_no_spread() -> None:
    y = [0.1, 0.2, 0.3, 1e16, -1e16]
    units = frame({(1, 0): y[::-1], (0, 1): y, (0, 0): [1.0]})
    found = cells(units, factors(2, 2))
    assert [cell.codes for cell in found] == [(0, 0), (0, 1), (1, 0)]
    assert found[1].mean == found[2].mean == pytest.approx(0.12)
    assert all((units["y"].to_numpy()[cell.rows] == cell.y).all() for cell in found)
    (whole,) = cells(units, [])
    assert whole.codes == () and len(whole.y) == 11
    # rounding is no spread
    assert squares(np.array([0.1 + 0.2, 0.3, 0.3])) == 0.0
    assert squares(np.array([0.0, 0.0])) == 0.0
    assert squares(np.array([1.0, 2.0, 3.0])) == 2.0
    assert squares(np.array([1e9, 1e9 + 0.01])) == pytest.approx(5e-5, rel=1e-4)


def test_blocks_of_nists_design() -> None:
    os, fp, prf = blocks(frame(NIST), factors(2, 2, 3))
    assert [(b.factor, b.complete, b.same, b.order) for b in (os, fp, prf)] == [
        ("a", 6, 6, [0, 1]),
        ("b", 6, 6, [0, 1]),
        ("c", 4, 4, [0, 1, 2]),
    ]
    assert (os.chance, prf.chance) == (1 / 32, about(1 / 6**3))
    assert [box.at for box in prf.boxes] == [{"a": 0, "b": 0}, {"a": 0, "b": 1}, {"a": 1, "b": 0}, {"a": 1, "b": 1}]
    assert prf.boxes[0].points == [(0, about(7.2)), (1, about(7.3)), (2, about(7.4))]
    # with one mean that fp lowers
    fp = blocks(frame(NIST | {(1, 1, 2): [7.42] * 2}), factors(2, 2, 3))[1]
    assert (fp.complete, fp.same, fp.order, fp.chance) == (6, 5, None, 1 / 32)


def test_boxes_without_a_setting_are_shown_and_not_counted() -> None:
    _, fp, prf = blocks(frame(LEFT), factors(2, 2, 3))
    assert (len(fp.boxes), fp.complete, fp.same, fp.chance) == (6, 4, 4, 1 / 8)
    assert (len(prf.boxes), prf.complete, prf.same) == (4, 2, 2)
    # perf-samples has no prf=0 at all: of what was measured every box is complete
    without = {codes: y for codes, y in NIST.items() if codes[2]}
    prf = blocks(frame(without), factors(2, 2, 3))[2]
    assert (prf.complete, prf.order, prf.chance) == (4, [1, 2], 1 / 8)


def test_equal_means_agree_with_no_order_and_others_with_theirs() -> None:
    groups = {(0, 0): [1.0], (0, 1): [2.0], (1, 0): [0.1, 0.2], (1, 1): [0.15], (2, 0): [3.0], (2, 1): [4.0]}
    b = blocks(frame(groups), factors(3, 2))[1]
    assert (b.complete, b.same, b.order, b.chance) == (3, 2, None, 0.25)
    every = blocks(crossed((2, 2), lambda _: [5.0, 5.0]), factors(2, 2))
    assert [(b.complete, b.same, b.order) for b in every] == [(2, 0, None)] * 2
    (b,) = blocks(frame({(0,): [3.0], (1,): [1.0], (2,): [2.0]}), factors(3))
    assert (b.order, b.complete, b.same, b.chance) == ([1, 2, 0], 1, 1, 1.0)


SHAPES: dict[str, Callable[[np.random.Generator, tuple[int, int]], Array]] = {
    "normal": lambda rng, shape: 10 + rng.normal(size=shape),
    "lognormal": lambda rng, shape: np.exp(rng.normal(size=shape)),
    "very long tails": lambda rng, shape: 1 + rng.pareto(1.0, size=shape),
    "two modes": lambda rng, shape: 1 + 9.0 * (rng.random(shape) < 0.1) + 0.01 * rng.random(shape),
}


def units(y: Array) -> pd.DataFrame:
    k, n = y.shape
    return pd.DataFrame({"y": y.ravel(), "f0": np.repeat(np.arange(k), n)})


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("treatments", "count"), some([(4, 3), (6, 20), (2, 5), (8, 5)], 2))
def test_treatments_that_do_not_differ_stay_plain(shape: str, treatments: int, count: int) -> None:
    rng = np.random.default_rng(1)
    size = (treatments, count)
    found = sum(spread_grows(units(SHAPES[shape](rng, size)), factors(size[0])) for _ in range(100))
    assert found <= 1


@pytest.mark.parametrize("size", [(2, 5), (4, 5), (8, 3)])
def test_a_spread_in_percent_takes_logarithms_and_one_of_all_levels_stays_plain(size: tuple[int, int]) -> None:
    rng = np.random.default_rng(2)
    level = np.geomspace(1, 30, size[0])[:, None]
    noise = [0.1 * rng.normal(size=size) for _ in range(100)]
    assert np.mean([spread_grows(units(level * (1 + own)), factors(size[0])) for own in noise]) > 0.9
    assert np.mean([spread_grows(units(level + own), factors(size[0])) for own in noise]) < 0.03


def test_what_stays_plain_whatever_its_spread() -> None:
    # values without logarithm, without spread, one a treatment
    for y in ([[0.0, 1.0], [10.0, 30.0]], [[1.0, 1.0], [10.0, 10.0]], [[1.0], [10.0]]):
        assert not spread_grows(units(np.array(y)), factors(2))
    # levels within a factor of three
    level = np.linspace(1, 2.5, 4)[:, None]
    assert not spread_grows(units(level * (1 + 0.02 * np.random.default_rng(4).normal(size=(4, 50)))), factors(4))
