"""Lenth's method: which contrasts of an unreplicated two-level experiment are more than noise.

Most effects are taken to be none; the pseudo standard error is a median of those that look like it. ME is the margin
of error of one contrast, SME that of all of them at once.

Source: R. V. Lenth, Quick and easy analysis of unreplicated factorials, Technometrics 31 (1989).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gate.model.study import Contrast, Lenth
from gate.stats.design.aliases import aliases, saturated
from gate.stats.design.coding import lay_out
from gate.stats.design.layers import RANK, groups
from gate.stats.special import stdtrit

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from gate.model.study import Factor
    from gate.stats.design.coding import Coded

    Array = npt.NDArray[np.float64]

FEWEST = 3
"""Contrasts that there must be: a third of them are the degrees of freedom."""
_MOST_TREATMENTS = 4096
_HAIR = 1e-12
"""The share of the largest contrast that is rounding."""


class Margins(msgspec.Struct, frozen=True):
    """Lenth's pseudo standard error and limits, in the unit of the contrasts. df: a third of their number."""

    pse: float
    me: float
    sme: float
    df: float


def margins(contrasts: Array, confidence: float) -> Margins:
    """Return Lenth's limits for contrasts of one variance, shape (m,), m >= 1."""
    sizes = np.abs(contrasts)
    first = 1.5 * float(np.median(sizes))
    quiet = sizes[sizes < 2.5 * first]
    pse = 1.5 * float(np.median(quiet)) if len(quiet) else 0.0
    count = len(sizes)
    df = count / 3
    one, all_ = (1 + confidence) / 2, (1 + confidence ** (1 / count)) / 2
    return Margins(pse, float(stdtrit(df, one)) * pse, float(stdtrit(df, all_)) * pse, df)


def lenth(units: pd.DataFrame, factors: Sequence[Factor], confidence: float) -> Lenth | None:
    """Judge the contrasts of two-level treatments with one unit each; None: there are more units, or other factors.

    Contrasts are as effects elsewhere, half the change. Those of factors that all vary by build or session differ by
    the luck of these too, so they are left out where other factors vary by execution.
    """
    if not len(units) or not factors:
        return None
    design = lay_out(units, factors)
    if design.counts.max() > 1 or len(design.counts) > _MOST_TREATMENTS:
        return None
    varied = [factor for factor, size in enumerate(design.sizes) if size > 1]
    sizes = [design.sizes[factor] for factor in varied]
    codes = design.codes[:, varied]
    model = saturated(codes, sizes) if varied else None
    if model is None:
        return None
    means = design.totals(units["y"].to_numpy(dtype=np.float64))
    estimates = model.matrix.T @ (means - means.mean()) / len(means)
    named = aliases(codes, sizes, model, 2)
    inner = _inner(model, codes, [factors[factor] for factor in varied])
    kept = [k for k in range(1, len(model.terms)) if inner[k]]
    if len(kept) < FEWEST:
        return None
    own = estimates[kept]
    own[np.abs(own) <= _HAIR * float(np.abs(means).max())] = 0.0
    limits = margins(own, confidence)

    def name(term: Sequence[int]) -> str:
        return ":".join(design.names[varied[k]] for k in term)

    found = [
        Contrast(
            term=name(term),
            factors=[name([k]) for k in term],
            aliases=[name(other) for other in named[term].full],
            estimate=value,
            active=abs(value) > limits.sme,
            possible=abs(value) > limits.me,
        )
        for term, value in zip((model.terms[k].factors for k in kept), own.tolist(), strict=True)
    ]
    found.sort(key=lambda each: -abs(each.estimate))
    return Lenth(contrasts=found, pse=limits.pse, me=limits.me, sme=limits.sme, df=limits.df, confidence=confidence)


def _inner(model: Coded, codes: npt.NDArray[np.int64], factors: Sequence[Factor]) -> list[bool]:
    """Tell which contrasts differ within the builds and sessions, where any do; else all of them."""
    lowest = min(RANK[factor.varies] for factor in factors)
    outer = [codes[:, k] for k, factor in enumerate(factors) if RANK[factor.varies] > lowest]
    if not outer:
        return [True] * len(model.terms)
    # the mean over a build or session of a contrast within it is 0
    held = np.abs(groups(*outer).means(model.matrix)).max(axis=0) < _HAIR
    return [bool(held[term.start]) for term in model.terms]
