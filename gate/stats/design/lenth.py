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
_RANK = {"execution": 0, "build": 1, "session": 2}


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
    names = [design.names[factor] for factor in varied]
    found = [
        _contrast(names, model.terms[k].factors, named[model.terms[k].factors].full, float(value), limits)
        for k, value in zip(kept, own, strict=True)
    ]
    found.sort(key=lambda each: -abs(each.estimate))
    return Lenth(contrasts=found, pse=limits.pse, me=limits.me, sme=limits.sme, df=limits.df, confidence=confidence)


def _inner(model: Coded, codes: npt.NDArray[np.int64], factors: Sequence[Factor]) -> list[bool]:
    """Tell which contrasts differ within the builds and sessions, where any do; else all of them."""
    lowest = min(_RANK[factor.varies] for factor in factors)
    outer = [k for k, factor in enumerate(factors) if _RANK[factor.varies] > lowest]
    if not outer:
        return [True] * len(model.terms)
    _, group = np.unique(codes[:, outer], axis=0, return_inverse=True)
    group = group.reshape(len(codes))
    counts = np.bincount(group)
    # the mean over a build or session of a contrast within it is 0
    return [
        bool(np.abs(np.bincount(group, weights=model.matrix[:, term.start]) / counts).max() < _HAIR)
        for term in model.terms
    ]


def _contrast(
    names: Sequence[str], term: tuple[int, ...], others: Sequence[tuple[int, ...]], estimate: float, limits: Margins
) -> Contrast:
    size = abs(estimate)
    return Contrast(
        term=":".join(names[k] for k in term),
        factors=[names[k] for k in term],
        aliases=[":".join(names[k] for k in other) for other in others],
        estimate=estimate,
        active=size > limits.sme,
        possible=size > limits.me,
    )
