"""Kruskal-Wallis: whether treatments differ, by ranks, where values are too far from normal for a linear model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gate.model.study import Check, Factor
from gate.stats.design.cells import cells
from gate.stats.special import chdtrc

if TYPE_CHECKING:
    import pandas as pd

NAME = "Kruskal-Wallis"
FEW = 5
"""Units of a treatment below which the chi-square distribution is a rough guide (Kruskal and Wallis 1952)."""


def kruskal(units: pd.DataFrame, factors: Sequence[Factor], *, confidence: float = 0.95) -> Check:
    """Test whether all treatments have the same distribution (Kruskal and Wallis 1952, corrected for ties).

    p by the chi-square distribution with one degree of freedom less than treatments. All values equal: p = 1. With
    fewer than two treatments, or one unit in each, nothing can be told: p is None. holds: p >= 1 - confidence.
    """
    from scipy.stats import rankdata

    groups = [cell.y for cell in cells(units, factors)]
    sizes = np.array([len(y) for y in groups])
    if len(groups) < 2 or sizes.max() < 2:
        lacking = "needs two treatments" if len(groups) < 2 else "needs more than one unit in a treatment"
        return Check(name=NAME, statistic=None, df=[], p=None, holds=True, words=f"not tested: {lacking}")
    ranks = rankdata(np.concatenate(groups))
    n, df = len(ranks), len(groups) - 1
    sums = np.add.reduceat(ranks, np.cumsum(sizes) - sizes)
    between = float((sums**2 / sizes).sum()) - n * (n + 1) ** 2 / 4
    # the variance of the ranks, ties taken into account
    total = float(((ranks - (n + 1) / 2) ** 2).sum()) / (n - 1)
    h = max(between / total, 0.0) if total else 0.0
    p = float(chdtrc(df, h)) if total else 1.0
    holds = p >= 1 - confidence
    said = "no difference between treatments is shown" if holds else "at least one treatment differs from the others"
    rough = f"; p is rough, since a treatment has fewer than {FEW} units" if sizes.min() < FEW else ""
    return Check(name=NAME, statistic=h, df=[float(df)], p=p, holds=holds, words=f"{said} ({shown(p)}{rough})")


def shown(p: float) -> str:
    """Write a p: "p = 0.031", "p < 0.001"."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2f}" if p >= 0.1 else f"p = {p:.3f}"
