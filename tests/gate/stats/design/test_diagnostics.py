"""The checks of the linear model: against R, literal formulas, and data with known faults."""

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from scipy import stats

from gate.model.study import Diagnostics, Factor, ModelCheck
from gate.stats.design.coding import coded
from gate.stats.design.linear import diagnostics
from gate.stats.rounding import Array
from tests.support.samples import there
from tests.support.units_frame import WARPBREAKS

Codes = npt.NDArray[np.int64]

WARP_FACTORS = [Factor(name="wool", settings=["A", "B"]), Factor(name="tension", settings=["L", "M", "H"])]
FACTORS = [Factor(name=name, settings=["low", "high"]) for name in ("load", "sched", "machine", "vmstat")]


def frame(y: npt.ArrayLike, codes: npt.ArrayLike, order: npt.ArrayLike | None = None) -> pd.DataFrame:
    rows = np.asarray(codes, dtype=np.int64)
    columns = {f"f{i}": rows[:, i] for i in range(rows.shape[1])}
    n = len(rows)
    return pd.DataFrame({"y": np.asarray(y, dtype=np.float64)} | columns).assign(
        session=0, build=0, execution=np.arange(n), order=np.arange(n) if order is None else np.asarray(order)
    )


WARP = frame(WARPBREAKS, np.column_stack((np.repeat([0, 1], 27), np.tile(np.repeat([0, 1, 2], 9), 2))))


NOT_NORMAL = [("residuals are far from normal (skewness", "see the quantile effects")]
UNEQUAL = ("treatments differ in their variance (the standard deviation at load=high",)


def factorial(k: int, replicates: int) -> Codes:
    """All treatments once in each iteration of the design."""
    return np.tile(np.array(list(product((0, 1), repeat=k))), (replicates, 1))


def check(of: Diagnostics, name: str) -> ModelCheck:
    return next(each for each in of.checks if each.name == name)


def told(of: Diagnostics, name: str) -> list[float | None]:
    return [check(of, name).statistic, check(of, name).p]


def test_warpbreaks_as_r_has_it() -> None:
    # R 4.2.2: m <- lm(breaks ~ wool * tension, warpbreaks); e <- resid(m); shapiro.test(rstandard(m));
    # max(cooks.distance(m)); summary(lm(breaks ~ wool * tension + I(1:54), warpbreaks));
    # anova(lm(breaks ~ wool + tension, warpbreaks), m)
    found = diagnostics(WARP, WARP_FACTORS, 2, 0.95)
    assert told(found, "normal residuals") == pytest.approx([0.9868607601, 0.816192896], rel=1e-6)
    assert found.largest_cook == pytest.approx(0.12677687309)
    assert told(found, "no drift") == pytest.approx([1.8888605731590, 0.0650898411231])
    assert "not tested" in check(found, "terms enough").words
    less = check(diagnostics(WARP, WARP_FACTORS, 1, 0.95), "terms enough")
    assert [less.statistic, less.p, *less.df] == pytest.approx([4.18907, 0.021044, 2, 48], rel=1e-4)


def test_residuals_are_those_of_least_squares() -> None:
    rng = np.random.default_rng(1)
    codes = factorial(3, 4)[rng.permutation(32)[:25]]
    y = 1e-3 * (10 + codes @ [1, 2, 3] + rng.normal(size=25))
    found = diagnostics(frame(y, codes, rng.permutation(25)), FACTORS[:3], 2, 0.95)
    x = coded(codes, [2, 2, 2], 2).matrix
    hat = x @ np.linalg.pinv(x)
    e = y - hat @ y
    h = np.diag(hat)
    p = x.shape[1]
    cook = e**2 / (p * (e @ e) / (25 - p)) * h / (1 - h) ** 2
    assert [r.residual for r in found.residuals] == pytest.approx(e)
    assert [r.fitted for r in found.residuals] == pytest.approx(hat @ y)
    assert [r.cook for r in found.residuals] == pytest.approx(cook)
    assert found.largest_cook == pytest.approx(cook.max())
    # R's qqnorm: qnorm(ppoints(25)) has a = 1/2 above 10 values; Blom's 3/8 is the better mean of normal order statistics
    scores = stats.norm.ppf((stats.rankdata(e) - 3 / 8) / (25 + 1 / 4))
    assert [r.quantile for r in found.residuals] == pytest.approx(scores)


def test_what_only_rounding_tells_apart_is_said_alike() -> None:
    codes = factorial(2, 4)
    apart = np.repeat([-3.1, -0.7, 0.7, 3.1], 4) * np.where(codes.all(axis=1), 0.9, 1.0)
    said = "the standard deviation at load=low, sched=low is 1.1 times that at load=high, sched=high"
    for offset in (0.7, 2.2, 17.3, 1e3):
        found = diagnostics(frame(offset + apart + codes @ [5.3, 1.9], codes), FACTORS[:2], 2, 0.95)
        assert said in check(found, "equal variances").words
        assert ", skewness 0.0," in check(found, "normal residuals").words


@pytest.mark.parametrize("replicates", [3, 4])
def test_variances_against_a_literal_test(replicates: int) -> None:
    rng = np.random.default_rng(replicates)
    codes = factorial(2, replicates)
    y = codes @ [5, 1] + rng.normal(size=len(codes)) * (1 + codes[:, 0])
    found = diagnostics(frame(y, codes), FACTORS[:2], 1, 0.95)
    groups = []
    for treatment in range(4):
        own = np.sort(np.abs(y[treatment::4] - np.median(y[treatment::4])))
        # Hines and O'Hara Hines 2000: the zero of an odd count goes, the two equal ones of an even count are one
        groups.append(own[1:] if replicates % 2 else np.concatenate(([own[0] * math.sqrt(2)], own[2:])))
    expected = stats.f_oneway(*groups)
    assert told(found, "equal variances") == pytest.approx([expected.statistic, expected.pvalue])
    assert check(found, "equal variances").df == [3, 4 * (replicates - 1) - 4]


def growing(at: Codes, rng: np.random.Generator) -> Array:
    """Born de Oliveira et al. 2013, Fig. 5."""
    found: Array = np.exp(at @ [1.0, 0.5, 0.2] + 0.3 * rng.normal(size=len(at)))
    return found


def crossed(at: Codes, rng: np.random.Generator) -> Array:
    signs = 2.0 * at - 1
    found: Array = 50 + 3 * signs[:, 0] + 4 * signs.prod(axis=1) + rng.normal(size=len(at))
    return found


@pytest.mark.parametrize(
    ("seed", "size", "order", "drawn", "said"),
    [
        (5, (4, 5), 2, lambda at, rng: 50 + at @ [1, 2, 3, 4] + np.exp(rng.normal(size=80)), NOT_NORMAL),
        (5, (4, 5), 2, lambda at, rng: 50 + at @ [1, 2, 3, 4] + rng.standard_t(2, size=80), NOT_NORMAL),
        (6, (3, 10), 3, growing, [UNEQUAL]),
        # the size of the noise depends on the load alone, far from 0
        (7, (2, 20), 2, lambda at, rng: 1000 + 20 * at[:, 0] + rng.normal(size=80) * (1 + 4 * at[:, 0]), [UNEQUAL]),
        (12, (3, 5), 2, crossed, [("try --order 3",)]),
        (12, (3, 5), 3, crossed, []),
        # Born de Oliveira et al. 2013, section 5.2: an explained variability of 12.19%
        (13, (2, 30), 2, lambda at, rng: 5 + 0.35 * (2.0 * at[:, 0] - 1) + rng.normal(size=120),
         [("more is unexplained than explained",)]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told(
    seed: int,
    size: tuple[int, int],
    order: int,
    drawn: Callable[[Codes, np.random.Generator], Array],
    said: list[tuple[str, ...]],
) -> None:
    codes = factorial(*size)
    y = drawn(codes, np.random.default_rng(seed))
    warnings = diagnostics(frame(y, codes), FACTORS[: size[0]], order, 0.95).warnings
    for parts in said:
        assert any(all(part in text for part in parts) for text in warnings), warnings
    assert said or not warnings


def test_clean_data_gives_no_warning_nor_what_is_sure_but_small() -> None:
    codes = factorial(4, 5)
    y = 50 + codes @ [10, 6, 3, 4] + np.random.default_rng(8).normal(size=80)
    found = diagnostics(frame(y, codes), FACTORS, 2, 0.95)
    assert found.warnings == [] and all(each.holds for each in found.checks)
    # nor what is sure but small
    rng = np.random.default_rng(9)
    codes = factorial(2, 5000)
    y = 50 + codes @ [10, 6] + rng.standard_gamma(100, size=20_000) / 10  # skewness 0.2
    found = diagnostics(frame(y, codes, rng.permutation(20_000)), FACTORS[:2], 2, 0.95)
    normal = check(found, "normal residuals")
    assert normal.holds and there(normal.p) < 1e-6 and "too little to matter" in normal.words
    assert "D'Agostino" in normal.words and found.warnings == []


def test_a_drift_is_told_with_its_size() -> None:
    rng = np.random.default_rng(11)
    codes = factorial(3, 10)[rng.permutation(80)]
    y = 100 + 8 * np.arange(80) / 79 + rng.normal(size=80)
    found = diagnostics(frame(y, codes), FACTORS[:3], 2, 0.95)
    (text,) = (text for text in found.warnings if "drift" in text)
    assert text.startswith("values drift up over the run: from the first execution to the last by ")
    assert 6.5 < float(text.split("last by ")[1].split("%")[0]) < 8.5
    logs = diagnostics(frame(np.log(y), codes), FACTORS[:3], 2, 0.95, "log")
    assert any("drift up" in text and "of the mean" not in text for text in logs.warnings)


def test_what_cannot_be_checked() -> None:
    # time without an order
    found = diagnostics(frame(np.arange(8.0) ** 2, factorial(2, 2), np.full(8, -1)), FACTORS[:2], 1, 0.95)
    drift = check(found, "no drift")
    assert drift.p is None and "does not say in which order" in drift.words
    assert all(r.order is None for r in found.residuals)
    # anything without degrees of freedom
    found = diagnostics(frame([1, 2, 4, 9], factorial(2, 1)), FACTORS[:2], 2, 0.95)
    assert all(each.p is None and each.holds for each in found.checks)
    assert (found.largest_cook, found.where) == (None, None)
    assert found.warnings == [
        "one observation for each effect: nothing is left to estimate the noise from; measure replicates"
    ]
    assert [r.residual for r in found.residuals] == [0] * 4


def test_one_wild_unit_is_told_and_where_it_is() -> None:
    rng = np.random.default_rng(14)
    codes = factorial(2, 4)
    y = 100 + codes @ [10, 5] + rng.normal(size=16)
    y[6] += 40
    found = diagnostics(frame(y, codes, np.arange(100, 116)), FACTORS[:2], 2, 0.95)
    assert found.where == "execution at load=high, sched=low, at 106 in the order of the run"
    assert any(text.startswith("one execution moves the effects by itself (Cook's distance") for text in found.warnings)
    two = diagnostics(frame(y, codes, np.full(16, -1)).assign(session=[0, 1] * 8), FACTORS[:2], 2, 0.95)
    assert two.where == "execution at load=high, sched=low, session 0"


@pytest.mark.parametrize(
    ("by_load", "said"),
    [
        (0.0, "all values are alike: there is nothing to explain (is the timer too coarse?)"),
        (1.0, "no spread within treatments: intervals have no width, which holds for exact values only"),
    ],
)
def test_values_that_are_all_alike_are_told(by_load: float, said: str) -> None:
    codes = factorial(2, 3)
    found = diagnostics(frame(1e6 + by_load * codes[:, 0], codes), FACTORS[:2], 2, 0.95)
    assert all(each.p is None for each in found.checks) and found.warnings == [said]


@pytest.mark.parametrize("order", [1, 2])
def test_few_units_never_fail(order: int) -> None:
    rng = np.random.default_rng(15)
    for replicates, lacking in product((1, 2, 3), range(4)):
        codes = factorial(2, replicates)[: 4 * replicates - lacking]
        y = np.round(rng.normal(size=len(codes)), 1)
        found = diagnostics(frame(y, codes), FACTORS[:2], order, 0.95)
        assert all(each.p is None or 0 <= each.p <= 1 for each in found.checks)
        assert all(each.words for each in found.checks)


def test_a_picture_has_at_most_500_points_with_the_largest_among_them() -> None:
    rng = np.random.default_rng(16)
    codes = factorial(2, 25_000)
    y = 10 + codes @ [1, 2] + rng.standard_t(3, size=100_000)
    found = diagnostics(frame(y, codes, rng.permutation(100_000)), FACTORS[:2], 2, 0.95)
    kept = np.array([r.residual for r in found.residuals])
    means = np.array([y[i::4].mean() for i in range(4)])
    every = y - means[np.arange(100_000) % 4]
    assert len(kept) == 500
    assert np.sort(np.abs(kept))[-100:] == pytest.approx(np.sort(np.abs(every))[-100:])
    assert np.median(kept) == pytest.approx(0, abs=0.05)
    # a score belongs to the rank among all, not among those shown
    assert max(r.quantile for r in found.residuals) == pytest.approx(stats.norm.ppf((100_000 - 3 / 8) / 100_000.25))
