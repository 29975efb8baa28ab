"""Tests of treatments beside the linear model: of their distributions by ranks, and of their variances.

Variances may differ be the means equal (Born de Oliveira et al. 2013, section 7).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gate.model.study import Check, Factor, Setting, Spread
from gate.stats.design.cells import HAIR, Cell, boxes, cells
from gate.stats.special import fdtr, fdtrc

if TYPE_CHECKING:
    import pandas as pd

NAME = "Kruskal-Wallis"
FEW = 5
"""Units of a treatment below which the chi-square distribution is a rough guide (Kruskal and Wallis 1952)."""

Group = Sequence[Cell]
"""The treatments with one setting of a factor."""


class VarianceRatio(msgspec.Struct, frozen=True):
    """Variance of the second group over that of the first, and the two-sided p of its F test."""

    ratio: float
    p: float


def spreads(units: pd.DataFrame, factors: Sequence[Factor]) -> list[Spread]:
    """Compare the variances of each factor's settings, at each combination of the others and over all of them.

    For two settings the variance ratio second/first with its two-sided F test, which takes values for normal; for two
    and more Levene's test on distances from the median (Brown and Forsythe 1974), which hardly does. Over all
    combinations ({}; where there are several) each treatment's own mean or median is taken off; where another factor
    changes the spread too, that is an average over unlike variances. A treatment of one unit does not count. What
    cannot be told is None.
    """
    of = [cell for cell in cells(units, factors) if len(cell.y) > 1]
    return [spread for k in range(len(factors)) for spread in _spreads(of, factors, k)]


def _spreads(of: Sequence[Cell], factors: Sequence[Factor], factor: int) -> list[Spread]:
    name, apart = factors[factor].name, boxes(of, factor)
    found = [_spread(name, box.at(factors), [[cell] for cell in box.cells]) for box in apart if len(box.cells) > 1]
    groups: dict[int, list[Cell]] = {}
    for cell in of:
        groups.setdefault(cell.codes[factor], []).append(cell)
    if len(apart) > 1 and len(groups) > 1:
        found.append(_spread(name, {}, [groups[code] for code in sorted(groups)]))
    return found


def _spread(factor: str, at: dict[str, Setting], groups: Sequence[Group]) -> Spread:
    test = variance_ratio(*groups) if len(groups) == 2 else None
    return Spread(
        factor=factor,
        at=at,
        ratio=test.ratio if test else None,
        f_p=test.p if test else None,
        levene_p=brown_forsythe(groups),
    )


def variance_ratio(first: Group, second: Group) -> VarianceRatio | None:
    """Compare two variances around treatment means; None where one is 0, as no variance of normal values is."""
    d1, d2 = (sum(len(cell.y) - 1 for cell in group) for group in (first, second))
    s1, s2 = (sum(cell.squares for cell in group) for group in (first, second))
    if not (s1 > 0 and s2 > 0):
        return None
    ratio = (s2 / d2) / (s1 / d1)
    return VarianceRatio(ratio, min(1.0, 2 * float(min(fdtr(d2, d1, ratio), fdtrc(d2, d1, ratio)))))


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
