"""The linear model: R's published examples, data with known effects."""

import math
from itertools import product

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from gate.model.study import Effect, Factor, LinearModel, Setting, Term
from gate.stats.design.coding import coded
from gate.stats.design.linear import linear_model
from tests.support.samples import there
from tests.support.units_frame import WARPBREAKS


def factor(name: str, *settings: Setting) -> Factor:
    return Factor(name=name, settings=list(settings))


def two(names: str) -> list[Factor]:
    return [factor(name, 0, 1) for name in names]


def units_of(y: npt.ArrayLike, *codes: npt.ArrayLike) -> pd.DataFrame:
    return pd.DataFrame(
        {"y": np.asarray(y, dtype=np.float64)}
        | {f"f{i}": np.asarray(own, dtype=np.int64) for i, own in enumerate(codes)}
    )


def term(model: LinearModel, name: str) -> Term:
    return next(each for each in model.terms if each.term == name)


def effect(model: LinearModel, name: str, **settings: Setting) -> Effect:
    return next(each for each in term(model, name).effects if each.settings == settings)


WOOL, TENSION = factor("wool", "A", "B"), factor("tension", "L", "M", "H")
WARP = units_of(WARPBREAKS, np.repeat([0, 1], 27), np.tile(np.repeat([0, 1, 2], 9), 2))

# R 4.2.2. contr.sum has its last level at -1, so levels are reversed: `first` is at -1 as here.
#   options(contrasts = c("contr.sum", "contr.poly")); flip <- function(x) factor(x, levels = rev(levels(factor(x))))
#   wb <- transform(warpbreaks, wool = flip(wool), tension = flip(tension))
#   m <- lm(breaks ~ wool * tension, wb); drop1(m, . ~ ., test = "F"); summary(m); confint(m)


def interval(of: Effect) -> list[float | None]:
    return [of.estimate, of.low, of.high, of.p]


def test_warpbreaks_as_r_has_it() -> None:
    model = linear_model(WARP, [WOOL, TENSION], 2, 0.95)
    assert (model.observations, model.residual_df) == (54, 48)
    assert model.residual_ss == pytest.approx(5745.111111, abs=1e-6)
    assert (model.r2, model.unexplained) == pytest.approx((0.377750856446, 1 - 0.377750856446), abs=1e-12)
    assert [(t.term, t.df) for t in model.terms] == [("wool", 1), ("tension", 2), ("wool:tension", 2)]
    assert [v for t in model.terms for v in (t.sum_of_squares, t.f, t.p)] == pytest.approx(
        [450.6666667, 3.76529, 0.05821298, 2034.2592593, 8.49805, 0.00069262, 1002.7777778, 4.18907, 0.02104419],
        rel=1e-5,
    )  # fmt: skip
    assert sum(t.share or 0 for t in model.terms) == pytest.approx(model.r2)
    assert interval(effect(model, "tension", tension="H")) == pytest.approx(
        [-6.48148148148, -10.71478981312, -2.248173149846, 3.43577501664e-03]
    )
    # minus the sum of the others
    assert effect(model, "tension", tension="L").estimate == pytest.approx(6.48148148148 + 1.75925925926)
    assert interval(effect(model, "wool:tension", wool="B", tension="M")) == pytest.approx(
        [5.27777777778, 1.04446944614, 9.511086109414, 1.56261566442e-02]
    )
    assert interval(model.intercept) == pytest.approx(
        [28.1481481481, 25.15474711999, 31.141549176301, 6.98409638132e-24]
    )


def test_unbalanced_warpbreaks_as_r_has_it() -> None:
    # the same of wb[-c(1, 2, 3, 10, 11, 20, 54), ]; p.adjust(p, "holm")
    lacking = WARP.drop(index=[0, 1, 2, 9, 10, 19, 53]).reset_index(drop=True)
    model = linear_model(lacking, [WOOL, TENSION], 2, 0.95)
    assert [t.sum_of_squares for t in model.terms] == pytest.approx([746.7132433, 2260.4682851, 1063.1638431])
    assert [t.f for t in model.terms] == pytest.approx([6.32557, 9.57447, 4.50315], rel=1e-5)
    assert [t.p_adjusted for t in model.terms] == pytest.approx([0.03183091704620, 0.00116149640633, 0.03183091704620])
    assert interval(effect(model, "wool:tension", wool="B", tension="M")) == pytest.approx(
        [5.772817460317, 1.22918835700, 10.316446563634, 1.40437363052e-02]
    )
    assert model.intercept.estimate == pytest.approx(28.901785714286)
    assert model.residual_ss == pytest.approx(4839.91468254)


def test_the_structure_of_table_3_comes_back() -> None:
    # Born de Oliveira et al. 2013, Table 3: these effects on 2^4 treatments of 5 replicates, residual sum of squares 545
    effects = {
        "machine": 78.6, "load": 12.0, "sched": 3.1, "vmstat": 3.0, "machine:load": 19.7, "machine:sched": 3.1,
        "machine:vmstat": 3.0, "load:sched": 2.0, "load:vmstat": 1.7, "sched:vmstat": 0.5,
    }  # fmt: skip
    rng = np.random.default_rng(13)
    names = ["machine", "load", "sched", "vmstat"]
    codes = np.repeat(np.array(list(product((0, 1), repeat=4))), 5, axis=0)
    signs = {name: 2.0 * codes[:, i] - 1 for i, name in enumerate(names)}
    y = 200 + sum(b * np.prod([signs[n] for n in name.split(":")], axis=0) for name, b in effects.items())
    y = y + rng.normal(scale=math.sqrt(545 / 69), size=80)
    model = linear_model(units_of(y, *codes.T), [factor(n, "low", "high") for n in names], 2, 0.95)
    assert [t.term for t in model.terms] == list(effects)
    for each in model.terms:
        b = each.effects[0]
        assert there(b.low) < b.estimate < there(b.high)
        assert there(b.high) - b.estimate == pytest.approx(0.63, abs=0.1)  # the paper's half-widths are 0.6
        assert b.estimate == pytest.approx(effects[each.term], abs=1.2)
        assert each.sum_of_squares == pytest.approx(80 * b.estimate**2)  # 5 x 16 times b^2: 493,851 for 78.6
    assert model.residual_df == 69 and there(model.r2) > 0.998
    assert model.total_ss == pytest.approx(sum(t.sum_of_squares for t in model.terms) + model.residual_ss)


@pytest.mark.parametrize(
    ("unit", "shift"), [(1e-9, 0.0), (1e12, 0.0), (1.0, 1e9), (1e-12, 1.0), (1e58, 0.0), (1e-60, 0.0), (1e-9, 1e-3)]
)
def test_no_scale_loses_precision(unit: float, shift: float) -> None:
    whole = np.array(WARPBREAKS, dtype=np.float64) * 2.0**-3
    y = shift + unit * whole
    kept = (y - shift) / unit  # what the floats still hold
    model = linear_model(WARP.assign(y=y), [WOOL, TENSION], 2, 0.95)
    same = linear_model(WARP.assign(y=kept), [WOOL, TENSION], 2, 0.95)
    assert model.r2 == pytest.approx(same.r2, rel=1e-9)
    for one, other in zip(model.terms, same.terms, strict=True):
        assert [one.f, one.p] == pytest.approx([other.f, other.p], rel=1e-8)
        for a, b in zip(one.effects, other.effects, strict=True):
            scaled = [unit * there(each) for each in interval(b)[:3]]
            assert interval(a)[:3] == pytest.approx(scaled, rel=1e-8, abs=1e-12 * unit)
    assert model.intercept.estimate == pytest.approx(shift + unit * same.intercept.estimate, rel=1e-13)


def test_replicates_may_be_lacking_altogether() -> None:
    model = linear_model(units_of([1, 2, 3, 5], [0, 0, 1, 1], [0, 1, 0, 1]), two("ab"), 2, 0.95)
    assert (model.residual_df, model.residual_ss, model.residual_sd, model.r2) == (0, 0, None, 1)
    assert [t.effects[0].estimate for t in model.terms] == pytest.approx([1.25, 0.75, 0.25])
    assert all(t.p is None and t.f is None and t.p_adjusted is None and t.effects[0].low is None for t in model.terms)
    assert model.intercept.estimate == pytest.approx(2.75) and model.intercept.low is None
    assert [t.share for t in model.terms] == pytest.approx([1.25**2 * 4 / 8.75, 0.75**2 * 4 / 8.75, 0.25**2 * 4 / 8.75])
    # one unit alone
    model = linear_model(units_of([7], [1]), two("a"), 1, 0.95)
    assert (model.terms, model.intercept.estimate, model.r2) == ([], 7, None)
    assert model.inestimable == ["a: measured at 1 only"]
    # a setting that was not measured is no setting
    model = linear_model(units_of([1, 2, 4, 5], [0, 0, 2, 2]), [factor("a", "x", "y", "z")], 1, 0.95)
    (of_z,) = model.terms[0].effects
    assert of_z.settings == {"a": "z"} and of_z.estimate == pytest.approx(1.5)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e-9, -3e12])
def test_a_constant_response_tells_nothing(value: float) -> None:
    model = linear_model(units_of([value] * 8, [0, 1] * 4), two("a"), 1, 0.95)
    assert (model.total_ss, model.residual_ss, model.r2, model.unexplained) == (0, 0, None, None)
    assert (model.intercept.estimate, model.terms[0].effects[0].estimate) == (value, 0)
    assert (model.terms[0].p, model.terms[0].share, model.terms[0].effects[0].low) == (None, None, None)
    # rounding of means is no spread: the mean of three is not quite the value
    apart = [value, (value + value + value) / 3, value, value]
    model = linear_model(units_of(apart, [0, 0, 1, 1]), two("a"), 1, 0.95)
    assert (model.terms[0].p, model.total_ss) == (None, 0)


def test_effects_of_exact_values_are_exact_where_floats_hold_them() -> None:
    # additive counts of unequal replicates: the mean of treatments, and what each setting adds, are whole numbers
    codes = np.array(list(product(range(3), range(2), range(3))))
    codes = codes.repeat(np.arange(1, 19), axis=0)
    y = 2_000_003 + np.array([-70, 30, 40])[codes[:, 0]] + np.array([-9, 9])[codes[:, 1]] + 1000.0 * (codes[:, 2] - 1)
    factors = [factor("a", 0, 1, 2), factor("b", 0, 1), factor("c", 0, 1, 2)]
    for order in (1, 2, 3):
        model = linear_model(units_of(y, *codes.T), factors, order, 0.95)
        assert model.intercept.estimate == 2_000_003 and model.residual_ss == 0
        added = {each.term: [e.estimate for e in each.effects] for each in model.terms}
        assert (added.pop("a"), added.pop("b"), added.pop("c")) == ([-70, 30, 40], [9], [-1000, 0, 1000])
        assert all(estimate == 0 for own in added.values() for estimate in own)
        assert all(each.p == (each.term not in "abc") for each in model.terms)
        of_terms = [e for each in model.terms for e in each.effects]
        assert all(e.low == e.high == e.estimate and e.p == (not e.estimate) for e in of_terms)


def test_what_cannot_be_estimated_is_named_and_what_holds_it_goes_too() -> None:
    codes = np.array([(0, 0), (0, 1), (1, 0)] * 3)
    of = [factor("load", "idle", "busy"), factor("clients", 1, 8)]
    model = linear_model(units_of(np.arange(9.0), *codes.T), of, 2, 0.95)
    assert model.inestimable == ["load:clients: load=busy was not measured with clients=8"]
    cells = np.array([c for c in product((0, 1), repeat=3) if c[:2] != (1, 1)])
    units = units_of(np.arange(12.0), *np.vstack((cells, cells)).T)
    model = linear_model(units, two("abc"), 3, 0.95)
    assert model.inestimable == ["a:b: a=1 was not measured with b=1; without it there is no a:b:c"]
    # a factor that goes with another is its alias
    units = units_of([1, 2, 3, 4, 5, 7], [0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 1, 1])
    model = linear_model(units, [factor("os", "a", "b", "c"), factor("disk", "x", "y")], 2, 0.95)
    assert [(term.term, term.aliases) for term in model.terms] == [("os", ["disk", "os:disk"])]
    assert model.inestimable == []


def test_beside_an_empty_cell_an_interaction_is_left_out_and_named() -> None:
    cells = np.array([cell for cell in product(range(3), range(3)) if cell != (2, 2)]).repeat(4, axis=0)
    y = 10 + 2.0 * cells[:, 0] + np.random.default_rng(0).normal(size=len(cells))
    of = [factor("load", "idle", "mid", "busy"), factor("clients", 1, 8, 64)]
    model = linear_model(units_of(y, *cells.T), of, 2, 0.95)
    assert [(t.term, t.df) for t in model.terms] == [("load", 2), ("clients", 2)]
    assert model.inestimable == ["load:clients: load=busy was not measured with clients=64"]
    # so is what a fraction of three settings mixes with factors: the third is the sum of the others, modulo 3
    codes = np.array([(a, b, (a + b) % 3) for a, b in product(range(3), range(3))])
    assert coded(codes, [3, 3, 3], 2).left_out == ((0, 1), (0, 2), (1, 2))
