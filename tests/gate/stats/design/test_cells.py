from itertools import product

import numpy as np
import pytest

from gate.model.study import MainEffect
from gate.stats.design.cells import balanced, cells, interactions, lacking, main_effects, squares, treatments
from tests.support.units_frame import TENSION, UNBALANCED, WOOL, about, factors, frame, warpbreaks

# NIST Table 3: os, fp, prf; perf-samples cannot be had at prf = 0
NIST = {
    (os, fp, prf): [7.2 + 0.05 * os + 0.03 * fp + 0.1 * prf + 0.01 * os * prf] * 2
    for os, fp, prf in product(range(2), range(2), range(3))
}


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
    literal = {
        w: np.mean(
            [
                np.mean(
                    [
                        y
                        for y, c in zip(units["y"], zip(units["f0"], units["f1"], strict=True), strict=True)
                        if c == (k, t)
                    ]
                )
                for t in range(3)
            ]
        )
        for k, w in enumerate("AB")
    }
    assert {key[0]: mean for key, (mean, _) in points(wool).items()} == pytest.approx(literal)


def test_without_treatments_points_stand_on_what_is_left() -> None:
    # NIST A.2: minus os=* fp=0 prf=2
    left = {codes: y for codes, y in NIST.items() if codes[1:] != (0, 2)}
    fs = factors(2, 2, 3)
    os, fp, prf = main_effects(frame(left), fs)
    assert [p.treatments for p in os.points] == [5, 5]
    assert [p.treatments for p in fp.points] == [4, 6]
    assert [p.treatments for p in prf.points] == [4, 4, 2]
    assert points(fp)[(0,)][0] == pytest.approx(np.mean([y[0] for codes, y in left.items() if codes[1] == 0]))
    pairs = interactions(frame(left), fs)
    assert [pair.factors for pair in pairs] == [["a", "b"], ["a", "c"], ["b", "c"]]
    assert points(pairs[2]) == {
        (b, c): (about(float(np.mean([left[a, b, c][0] for a in (0, 1)]))), 2)
        for b, c in product(range(2), range(3))
        if (b, c) != (0, 2)
    }


def test_each_treatment_counts_alike_however_many_units_it_has() -> None:
    (effect, _) = main_effects(frame({(0, 0): [1.0], (0, 1): [3.0] * 9, (1, 0): [5.0]}), factors(2, 2))
    assert points(effect) == {(0,): (2.0, 2), (1,): (5.0, 1)}


def test_a_setting_that_was_not_measured_has_no_point() -> None:
    (effect,) = main_effects(frame({(0,): [1.0], (2,): [3.0]}), factors(3))
    assert points(effect) == {(0,): (1.0, 1), (2,): (3.0, 1)}
    assert main_effects(frame({(0,): []}), factors(2))[0].points == []
    assert interactions(frame({(0,): [1.0]}), factors(2)) == []


def test_lacking_and_balanced() -> None:
    fs = factors(2, 2, 3)
    assert lacking(frame(NIST), fs) == [] and balanced(frame(NIST), fs)
    left = {codes: y for codes, y in NIST.items() if codes[1:] != (0, 2)}
    assert lacking(frame(left), fs) == [{"a": 0, "b": 0, "c": 2}, {"a": 1, "b": 0, "c": 2}]
    assert not balanced(frame(left), fs)
    assert not balanced(frame(NIST | {(0, 0, 0): [1.0]}), fs)
    assert not balanced(frame({(0,): []}), factors(2)) and len(lacking(frame({(0,): []}), factors(2))) == 2


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


def test_cells_are_in_standard_order_and_their_means_do_not_depend_on_the_order_of_units() -> None:
    y = [0.1, 0.2, 0.3, 1e16, -1e16]
    units = frame({(1, 0): y[::-1], (0, 1): y, (0, 0): [1.0]})
    found = cells(units, factors(2, 2))
    assert [cell.codes for cell in found] == [(0, 0), (0, 1), (1, 0)]
    assert found[1].mean == found[2].mean == pytest.approx(0.12)
    assert all((units["y"].to_numpy()[cell.rows] == cell.y).all() for cell in found)
    (whole,) = cells(units, [])
    assert whole.codes == () and len(whole.y) == 11


def test_rounding_is_no_spread() -> None:
    assert squares(np.array([0.1 + 0.2, 0.3, 0.3])) == 0.0
    assert squares(np.array([0.0, 0.0])) == 0.0
    assert squares(np.array([1.0, 2.0, 3.0])) == 2.0
    assert squares(np.array([1e9, 1e9 + 0.01])) == pytest.approx(5e-5, rel=1e-4)
