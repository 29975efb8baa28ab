"""Factors that vary by build or session: their effects against the units that they vary by.

Executions of one build share its luck, so that a factor of which each setting has a few builds is told from noise by
those builds, however many executions they have: the whole plots of a split-plot design (NIST 4.5).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from gate.model.study import Factor, Stratum, Varies
from gate.stats.design.linear import linear_model
from gate.stats.family import holm

if TYPE_CHECKING:
    import pandas as pd

_LEVELS: tuple[Varies, ...] = ("build", "session")
_RANK = {"execution": 0, "build": 1, "session": 2}


def strata(
    units: pd.DataFrame, factors: Sequence[Factor], order: int, confidence: float, response: str = "y"
) -> list[Stratum]:
    """Return the terms of factors that vary by build, and those that vary by session, fitted on the means of those.

    The mean of a build counts the treatments in it alike. Left out are levels at which no factor varies, and those
    where some build (or session) has treatments that others lack: its mean is then of other things.
    """
    found = [_stratum(units, factors, level, order, confidence, response) for level in _LEVELS]
    return [each for each in found if each is not None]


def _stratum(
    units: pd.DataFrame, factors: Sequence[Factor], level: Varies, order: int, confidence: float, response: str
) -> Stratum | None:
    whole = [i for i, f in enumerate(factors) if _RANK[f.varies] >= _RANK[level]]
    within = [f"f{i}" for i in range(len(factors)) if i not in whole]
    own = {factors[i].name for i in whole if factors[i].varies == level}
    if not own or not len(units):
        return None
    plot = [level, *(f"f{i}" for i in whole)]
    means = units.groupby([*plot, *within], sort=True)["y"].mean().reset_index()
    held = {tuple(map(tuple, part[within].to_numpy().tolist())) for _, part in means.groupby(plot, sort=True)}
    if len(held) > 1:
        return None
    plots = means.groupby(plot, sort=True)["y"].mean().reset_index()
    frame = plots.rename(columns={f"f{i}": f"f{k}" for k, i in enumerate(whole)})
    model = linear_model(frame, [factors[i] for i in whole], order, confidence, response)
    # a term of factors that all vary by session is told by sessions alone
    terms = [term for term in model.terms if own & set(term.factors)]
    p = [term.p for term in terms if term.p is not None]
    shares = iter(holm(p, 1 - confidence))
    adjusted = [
        term if term.p is None else msgspec.structs.replace(term, p_adjusted=next(shares).p_adjusted) for term in terms
    ]
    return Stratum(level=level, units=len(plots), linear=msgspec.structs.replace(model, terms=adjusted))
