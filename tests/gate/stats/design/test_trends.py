"""Trends of numeric factors: R's contr.poly with scores, textbook polynomials, and literal regressions."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from gate.model.study import Factor, Slope
from gate.stats.design.layers import layers
from gate.stats.design.linear import linear_model
from gate.stats.design.trends import axis_of, polynomials, trends
from tests.support.units_frame import frame

# Montgomery, Design and Analysis of Experiments (8th ed.), Table 3.1
ETCH = {160: [575.0, 542, 530, 539, 570], 180: [565.0, 593, 590, 579, 610], 200: [600.0, 651, 610, 637, 629],
        220: [725.0, 700, 715, 685, 710]}  # fmt: skip


def ends(slope: Slope) -> tuple[float, float, float]:
    assert slope.low is not None and slope.high is not None and slope.p is not None
    return slope.low, slope.high, slope.p


def test_polynomials_are_those_of_r() -> None:
    # contr.poly(4) and contr.poly(3) as R prints them
    assert polynomials(np.arange(4.0), 2).tolist() == [
        pytest.approx([-0.6708204, -0.2236068, 0.2236068, 0.6708204], abs=1e-7),
        pytest.approx([0.5, -0.5, -0.5, 0.5], abs=1e-7),
    ]
    assert polynomials(np.arange(3.0), 2).tolist() == [
        pytest.approx([-0.7071068, 0.0, 0.7071068], abs=1e-7),
        pytest.approx([0.4082483, -0.8164966, 0.4082483], abs=1e-7),
    ]
    # with scores of unequal spacing: orthonormal, and orthogonal to what is of a lower degree
    x = np.array([1.0, 2, 5, 10])
    found = np.vstack((np.full(4, 0.5), polynomials(x, 2)))
    assert found @ found.T == pytest.approx(np.eye(3), abs=1e-12)
    assert found[2] @ x == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("settings", "axis"),
    [
        ([1, 2, 4, 8], "log2"),
        ([1, 8, 64], "log2"),
        ([1, 2, 5, 10], "log2"),
        ([10, 20, 30], "setting"),
        ([0, 1, 8], "setting"),
        ([-4, 1, 8], "setting"),
        ([85, 99], "setting"),
        ([2000, 4000], "log2"),
        ([64, 8, 1], "log2"),
    ],
)
def test_the_axis_is_the_one_on_which_settings_are_spaced_evenly(settings: list[float], axis: str) -> None:
    assert axis_of(settings) == axis


def test_the_line_of_a_textbook() -> None:
    # Montgomery, section 3.5.1: y = 137.62 + 2.527 x; Table 3.4's error of 333.70 on 16 degrees of freedom
    units = frame({(k,): y for k, y in enumerate(ETCH.values())})
    (found,) = trends(units, [Factor(name="power", settings=list(ETCH))], 1, 0.95)
    assert (found.factor, found.axis, found.settings) == ("power", "setting", [160, 180, 200, 220])
    assert found.slope.estimate == pytest.approx(2.527)
    # F of the linear and of the quadratic contrast: squares of 3 -1 1 3 and 1 -1 -1 1 on the totals
    totals = [sum(y) for y in ETCH.values()]
    assert found.curvature is not None
    for own, coefficients in ((found.slope, (-3, -1, 1, 3)), (found.curvature, (1, -1, -1, 1))):
        contrast = float(np.dot(coefficients, totals))
        f = contrast**2 / (5 * sum(c * c for c in coefficients)) / 333.70
        low, high, _ = ends(own)
        # t(16, 0.975) = 2.1199
        assert (own.estimate / ((high - low) / 2 / 2.119905)) ** 2 == pytest.approx(f, rel=1e-4)
    assert found.fitted == pytest.approx(np.polyval(np.polyfit([160, 180, 200, 220], np.array(totals) / 5, 2),
                                                    [160, 180, 200, 220]) - 617.75)  # fmt: skip


def test_on_doublings_the_curvature_is_the_change_of_the_slope() -> None:
    # 1, 2, 4 clients: +3 from 1 to 2, +2 from 2 to 4
    units = frame({(k,): [level - 0.1, level + 0.1] for k, level in enumerate((10.0, 13.0, 15.0))})
    (found,) = trends(units, [Factor(name="clients", settings=[1, 2, 4])], 1, 0.95)
    assert found.axis == "log2" and found.per_unit is None
    assert found.slope.estimate == pytest.approx(2.5)
    assert found.curvature is not None and found.curvature.estimate == pytest.approx(-1)
    assert found.fitted == pytest.approx([10 - 38 / 3, 13 - 38 / 3, 15 - 38 / 3])


def test_a_trend_has_the_error_of_its_term() -> None:
    rng = np.random.default_rng(2)
    cells = np.array(list(product(range(2), range(2)))).repeat([3, 5, 4, 6], axis=0)
    y = cells[:, 1] * 2.0 + cells[:, 0] + rng.normal(size=len(cells))
    units = pd.DataFrame({"y": y, "f0": cells[:, 0], "f1": cells[:, 1]})
    factors = [Factor(name="load", settings=["idle", "busy"]), Factor(name="clients", settings=[2, 16])]
    (found,) = trends(units, factors, 2, 0.9)
    model = linear_model(units, factors, 2, 0.9)
    own = next(t for t in model.terms if t.term == "clients").effects[0]
    low, high, p = ends(found.slope)
    # from 2 to 16 it doubles three times
    assert own.low is not None and own.high is not None
    assert (found.slope.estimate, low, high) == pytest.approx((2 * own.estimate / 3, 2 * own.low / 3, 2 * own.high / 3))
    assert p == pytest.approx(own.p)
    assert found.per_unit is not None and found.per_unit.estimate == pytest.approx(2 * own.estimate / 14)
    assert found.curvature is None


def test_in_a_split_plot_it_is_told_from_whole_plots() -> None:
    # clients vary by build: four builds of each setting, three executions in each
    rng = np.random.default_rng(5)
    rows = [(clients, load, build) for clients in range(3) for build in range(4) for load in range(2) for _ in range(2)]
    codes = np.array(rows)
    luck = rng.normal(size=(3, 4))[codes[:, 0], codes[:, 2]]
    units = pd.DataFrame({
        "y": codes[:, 0] + luck + 0.1 * rng.normal(size=len(codes)), "f0": codes[:, 0], "f1": codes[:, 1], "session": 0,
        "round": codes[:, 2], "build": codes[:, 0] * 4 + codes[:, 2], "replicate": np.arange(len(codes)) % 2,
        "execution": np.arange(len(codes)), "order": np.arange(len(codes)),
    })  # fmt: skip
    factors = [Factor(name="clients", settings=[1, 2, 4], varies="build"), Factor(name="load", settings=["a", "b"])]
    lie = layers(units, factors, None)
    assert not lie.plain
    (found,) = trends(units, factors, 2, 0.95, lie)
    model = linear_model(units, factors, 2, 0.95, layers=lie)
    own = next(t for t in model.terms if t.term == "clients")
    low, high, _ = ends(found.slope)
    by_setting = {e.settings["clients"]: e for e in own.effects}
    assert found.slope.estimate == pytest.approx((by_setting[4].estimate - by_setting[1].estimate) / 2)
    # of three effects with one error e, the difference of two has e sqrt(3)
    half = (by_setting[4].high or 0) - by_setting[4].estimate
    assert (high - low) / 2 == pytest.approx(half * np.sqrt(3) / 2, rel=1e-6)
    (plain,) = trends(units, factors, 2, 0.95)
    assert high - low > 1.5 * (ends(plain.slope)[1] - ends(plain.slope)[0])


@pytest.mark.parametrize("settings", [["a", "b", "c"], [1, 2, "many"], [5], [1e300, -1e300, 0]])
def test_what_is_no_row_of_numbers_has_no_trend(settings: list[str | float]) -> None:
    units = frame({(k,): [k - 0.1, k + 0.1] for k in range(len(settings))})
    assert trends(units, [Factor(name="a", settings=settings)], 1, 0.95) == []


def test_one_unit_a_treatment_has_a_slope_without_an_interval() -> None:
    (found,) = trends(frame({(k,): [k**2 * 1.0] for k in range(3)}), [Factor(name="a", settings=[1, 2, 3])], 1, 0.95)
    assert found.slope.estimate == pytest.approx(2)
    assert found.slope.low is found.slope.p is None
