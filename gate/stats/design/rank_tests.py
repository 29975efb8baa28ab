"""Tests of treatments beside the linear model: of their distributions by ranks, and of their variances.

Variances may differ be the means equal (Born de Oliveira et al. 2013, section 7). The paper tests whether the
distributions of two schedulers differ in each experiment, then whether those of each scheduler differ between
experiments (4.6): a factor's settings with the others held, and the treatments with one setting.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gate.model.study import Check, Factor, RankTest, Setting, Spread, Varies
from gate.stats.design.cells import HAIR, Cell, boxes, cells, measured
from gate.stats.family import holm
from gate.stats.special import chdtrc, fdtr, fdtrc

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    Array = npt.NDArray[np.float64]


NAME = "Kruskal-Wallis"
FEW = 5
"""Units of a treatment below which the chi-square distribution is a rough guide (Kruskal and Wallis 1952)."""

Group = Sequence[Cell]
"""The treatments with one setting of a factor."""


def spreads(units: pd.DataFrame, factors: Sequence[Factor]) -> list[Spread]:
    """Compare the variances of each factor's settings, at each combination of the others and over all of them.

    For two settings the variance ratio second/first with its two-sided F test, which takes values for normal; for two
    and more Levene's test on distances from the median (Brown and Forsythe 1974), which hardly does. Over all
    combinations ({}; where there are several) each treatment's own mean or median is taken off; where another factor
    changes the spread too, that is an average over unlike variances. A treatment of one unit does not count. What
    cannot be told is None.
    """
    of = [cell for cell in cells(units, factors) if len(cell.y) > 1]
    found = []
    for k, factor in enumerate(factors):
        apart = boxes(of, k)
        compared: list[tuple[dict[str, Setting], list[Group]]] = [
            (box.at(factors), [[cell] for cell in box.cells]) for box in apart if len(box.cells) > 1
        ]
        codes = measured(of, k)
        if len(apart) > 1 and len(codes) > 1:
            compared.append(({}, [[cell for cell in of if cell.codes[k] == code] for code in codes]))
        for at, groups in compared:
            ratio, p = variance_ratio(*groups) if len(groups) == 2 else (None, None)
            found.append(Spread(factor=factor.name, at=at, ratio=ratio, f_p=p, levene_p=brown_forsythe(groups)))
    return found


def variance_ratio(first: Group, second: Group) -> tuple[float, float] | tuple[None, None]:
    """Return the variance around treatment means of the second group over that of the first, and its two-sided p.

    None where one is 0, as no variance of normal values is.
    """
    d1, d2 = (sum(len(cell.y) - 1 for cell in group) for group in (first, second))
    s1, s2 = (sum(cell.squares for cell in group) for group in (first, second))
    if not (s1 > 0 and s2 > 0):
        return None, None
    ratio = (s2 / d2) / (s1 / d1)
    return ratio, min(1.0, 2 * float(min(fdtr(d2, d1, ratio), fdtrc(d2, d1, ratio))))


def brown_forsythe(groups: Sequence[Group]) -> float | None:
    """Return the p of equal mean distances from the treatments' medians, by analysis of variance.

    Treatments of two units are left out, since both distances of a pair are the same number. None where a group is then
    empty, or distances do not vary within groups.
    """
    kept = [[cell.y for cell in group if len(cell.y) > 2] for group in groups]
    if len(kept) < 2 or not all(kept):
        return None
    from scipy import stats

    # in shares of the largest value, so that squares are floats
    largest = max(float(np.abs(y).max()) for group in kept for y in group) or 1.0
    away = [np.concatenate([np.abs(y / largest - np.median(y / largest)) for y in group]) for group in kept]
    if sum(float(((z - z.mean()) ** 2).sum()) for z in away) <= sum(map(len, away)) * HAIR**2:
        return None
    return float(stats.f_oneway(*away).pvalue)


def kruskal(units: pd.DataFrame, factors: Sequence[Factor], *, confidence: float = 0.95) -> Check:
    """Test whether all treatments have the same distribution (Kruskal and Wallis 1952, corrected for ties).

    p by the chi-square distribution with one degree of freedom less than treatments. All values equal: p = 1. With
    fewer than two treatments, or one unit in each, nothing can be told: p is None. holds: p >= 1 - confidence.
    """
    from scipy import stats

    groups = [cell.y for cell in cells(units, factors)]
    sizes = np.array([len(y) for y in groups])
    if len(groups) < 2 or sizes.max() < 2:
        lacking = "needs two treatments" if len(groups) < 2 else "needs more than one unit in a treatment"
        return Check(name=NAME, statistic=None, df=[], p=None, holds=True, words=f"not tested: {lacking}")
    if np.ptp(np.concatenate(groups)):
        found = stats.kruskal(*groups)
        h, p = max(float(found.statistic), 0.0), float(found.pvalue)
    else:
        h, p = 0.0, 1.0
    holds = p >= 1 - confidence
    said = "no difference between treatments is shown" if holds else "at least one treatment differs from the others"
    rough = f"; p is rough, since a treatment has fewer than {FEW} units" if sizes.min() < FEW else ""
    return Check(name=NAME, statistic=h, df=[len(groups) - 1.0], p=p, holds=holds, words=f"{said} ({shown(p)}{rough})")


def shown(p: float) -> str:
    """Write a p: "p = 0.031", "p < 0.001"."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2f}" if p >= 0.1 else f"p = {p:.3f}"


MOST = 200
"""Most combinations of the other factors at which a factor is tested by itself."""
_LEVELS: tuple[Varies, ...] = ("execution", "build", "session")


def rank_tests(units: pd.DataFrame, factors: Sequence[Factor]) -> list[RankTest]:
    """Test each factor at each combination of the others, over all of these, and each of its settings.

    Over all combinations ({}; where there are several) the statistics and the degrees of freedom of the single tests
    are added: they are independent. What is compared is units; treatments of a factor that varies by build or session
    are compared by the means of those, whose units share their luck. p by the chi-square distribution; None: fewer than
    two groups, or one unit in each. p_adjusted: by Holm over all these tests but the sums.
    """
    found = [test for k in range(len(factors)) for test in _of_factor(units, factors, k)]
    single = [
        k
        for k, test in enumerate(found)
        if test.p is not None and (test.setting is not None or len(test.at) == len(factors) - 1)
    ]
    shares = holm([found[k].p or 0.0 for k in single], 0.05)
    adjusted = {k: own.p_adjusted for k, own in zip(single, shares, strict=True)}
    return [msgspec.structs.replace(test, p_adjusted=adjusted.get(k)) for k, test in enumerate(found)]


def _of_factor(units: pd.DataFrame, factors: Sequence[Factor], factor: int) -> list[RankTest]:
    if len(factors[factor].settings) < 2:
        return []
    name = factors[factor].name
    own = boxes(cells(_at_level(units, factors, [factor]), factors), factor)
    found = []
    if len(own) <= MOST:
        found = [_test(name, None, box.at(factors), [box.cells]) for box in own if len(box.cells) > 1]
    if len(own) > 1:
        found.append(_test(name, None, {}, [box.cells for box in own]))
    others = [k for k in range(len(factors)) if k != factor]
    treatments = cells(_at_level(units, factors, others), factors) if others else []
    for code, setting in enumerate(factors[factor].settings):
        group = [cell for cell in treatments if cell.codes[factor] == code]
        if len(group) > 1:
            found.append(_test(name, setting, {name: setting}, [group]))
    return found


def _at_level(units: pd.DataFrame, factors: Sequence[Factor], compared: Sequence[int]) -> pd.DataFrame:
    """Return the units, or the means of those that share what the factors compared vary by."""
    level = max((factors[k].varies for k in compared), key=_LEVELS.index)
    if level == "execution":
        return units
    keys = [*(f"f{k}" for k in range(len(factors))), level]
    found: pd.DataFrame = units.groupby(keys, sort=True)["y"].mean().reset_index()
    return found


def _test(factor: str, setting: Setting | None, at: dict[str, Setting], groups: Sequence[Sequence[Cell]]) -> RankTest:
    """Add up the tests of groups of treatments, those that can be tested."""
    known = [(h, len(own) - 1) for own in groups if (h := statistic([cell.y for cell in own])) is not None]
    h, df = sum(h for h, _ in known), sum(df for _, df in known)
    told = (h, df, float(chdtrc(df, h))) if known else (None, None, None)
    most = max(len(own) for own in groups)
    return RankTest(
        factor=factor, setting=setting, at=at, groups=most, statistic=told[0], df=told[1], p=told[2], p_adjusted=None
    )


def statistic(groups: Sequence[Array]) -> float | None:
    """Return H of Kruskal and Wallis, corrected for ties; None of one group, or of one unit in each."""
    if len(groups) < 2 or max(map(len, groups)) < 2:
        return None
    every = np.concatenate(groups)
    if not np.ptp(every):
        return 0.0
    from scipy import stats

    return max(float(stats.kruskal(*groups).statistic), 0.0)
