"""Quantile regression effects of a designed experiment, Born de Oliveira et al. 2013, section 6."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gate.model.study import Effect, Factor, QuantileEffects, QuantileModel, Varies
from gate.stats.centers import needed_values
from gate.stats.design.aliases import orthogonal, without_aliased
from gate.stats.design.coding import Addend, Coded, CodedDesign, addends, coded, inestimable, lay_out
from gate.stats.design.quantile_fit import (
    Clusters,
    Ordered,
    QuantileInterval,
    around,
    by_treatment,
    clusters_of,
    fit,
    independent_covariance,
    limits,
)
from gate.stats.special import stdtr, stdtrit
from gate.writing.phrases import listed

if TYPE_CHECKING:
    import pandas as pd

DEFAULT_TAUS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99)
MOST_CELLS = 2000
"""Most treatments that are fitted: the work grows with their third power."""
_MANY = 12
"""Factors of which not all interactions are looked at."""
MOST_SIZE = 40_000
"""Most coefficients times treatments where the model is not one mean a treatment, which takes a linear programme."""


def quantile_effects(
    values: pd.DataFrame, factors: Sequence[Factor], taus: Sequence[float] = DEFAULT_TAUS, *,
    cluster: Varies = "execution", confidence: float = 0.95, iid: bool = False, order: int | None = None,
) -> QuantileEffects:  # fmt: skip
    """Fit quantiles of the values by all factors and all their interactions.

    values: a row for each value, with y, f0, f1, ... (numbers of settings) and the column `cluster` (any integers):
    values of one of these may depend on each other, in whatever way. taus: the quantiles, 0 < tau < 1. confidence: of
    each interval, without correction for their number. iid: give the intervals for independent values as well. order:
    of a fraction of the combinations, interactions of up to so many factors.

    Coefficients have the least sum of the check function; with all interactions measured they are contrasts of the
    treatments' own quantiles (type 8, where that is such a minimum). Intervals are by clusters (quantile_limits); none
    where a treatment has fewer than 2 of them, or where all values are the same. The smallest degrees of freedom of a
    model's intervals are its df, rounded down. enough says whether each treatment has 10 values beyond the quantile.

    Source: Born de Oliveira et al. 2013, section 6, Table 4 and Fig. 7. The half-widths there fit the p beside them as
    90% intervals, not the 95% that the table says.
    """
    y = values["y"].to_numpy(dtype=np.float64)
    design = lay_out(values, factors)
    count, treatments = len(design.sizes), len(design.counts)
    # of all combinations all interactions, of a fraction those asked for; those of many factors cannot be counted
    if (
        order is None
        or treatments == math.prod(design.sizes)
        or (count <= _MANY and not orthogonal(design.codes, design.sizes))
    ):
        order = count
    clusters = int(values[cluster].nunique())
    why = "" if treatments <= MOST_CELLS else f"{treatments:,} treatments are more than the {MOST_CELLS:,} possible"
    model = coded(design.codes, design.sizes, min(order, count)) if not why else None
    if model is not None and model.matrix.shape[1] < treatments and model.matrix.size > MOST_SIZE:
        many = f"{model.matrix.shape[1]:,} coefficients of {treatments:,} treatments are too many to fit"
        why = f"{many}, unless every combination of settings is measured"
    if model is None or why:
        warning = f"no quantile effects: {why}; analyse a part with --only or --without"
        return QuantileEffects(cluster=cluster, clusters=clusters, models=[], inestimable=[], warnings=[warning])
    cells = by_treatment(y, design.place, values[cluster].to_numpy(dtype=np.int64))
    several = y.min() < y.max() and min(len(cell.clusters) for cell in cells) > 1
    shared = clusters_of(cells) if several else None
    sums = addends(design, model)
    found = [_at(cells, model, sums, shared, tau, confidence, iid=iid) for tau in taus]
    return QuantileEffects(
        cluster=cluster,
        clusters=clusters,
        models=[model for model, _ in found],
        inestimable=inestimable(design, without_aliased(design, model)),
        warnings=_cautions(design, cells, found, cluster),
    )


def _at(
    cells: Sequence[Ordered], model: Coded, sums: Sequence[Addend], clusters: Clusters | None, tau: float,
    confidence: float, *, iid: bool,
) -> tuple[QuantileModel, list[int]]:  # fmt: skip
    """Fit one quantile; give the treatments whose clusters move it farther than their values reach.

    Args:
        clusters: None: there are no intervals by clusters.
        iid: with the intervals for independent values, by t on n - p degrees of freedom.
    """
    rows, weights = model.matrix, np.array([own.weights for own in sums])
    beta, fitted = fit(cells, rows, tau)
    parts = [around(cell, at, tau) for cell, at in zip(cells, fitted.tolist(), strict=True)]
    estimates: list[float] = (weights @ beta).tolist()
    found: list[QuantileInterval | None] = [None] * len(estimates)
    if clusters is not None:
        # how the coefficients follow the quantile of each treatment, shape (p, cells)
        if rows.shape[0] == rows.shape[1]:
            leverage = np.linalg.inv(rows)
        else:
            # least squares of the quantiles, weighted by the density of values at the fit: where the sum of the check
            # function is least, its curvature says how it moves
            slopes = np.array([(part.low + part.high) / 2 for part in parts])
            largest = float(slopes.max()) or 1.0
            dense = np.array([len(cell.ordered) for cell in cells]) / np.maximum(slopes / largest, 1e-6)
            leverage = np.linalg.solve(rows.T @ (rows * dense[:, None]), rows.T * dense)
        found = [*limits(estimates, weights @ leverage, parts, clusters, confidence)]
    alone: list[tuple[QuantileInterval | None, float | None]] | None = None
    plain = [float(own.weights @ beta) for own in sums]
    if iid:
        covariance = independent_covariance(cells, rows, fitted, tau)
        df = sum(len(cell.ordered) for cell in cells) - len(beta)
        alone = [(None, None)] * len(sums)
        if covariance is not None and df > 0:
            errors = [math.sqrt(float(own.weights @ covariance @ own.weights)) for own in sums]
            t = float(stdtrit(df, (1 + confidence) / 2))
            alone = [
                (QuantileInterval(at - t * error, at + t * error, float(2 * stdtr(df, -abs(at) / error)), df), error)
                for at, error in zip(plain, errors, strict=True)
            ]

    def effects(each: Sequence[QuantileInterval | None], at: Sequence[float]) -> list[Effect]:
        return [
            own.effect(value, *((None, None, None) if limit is None else (limit.low, limit.high, limit.p)))
            for own, value, limit in zip(sums, at, each, strict=True)
        ]

    model_at = QuantileModel(
        tau=tau,
        effects=effects(found, estimates),
        iid=None if alone is None else effects([limit for limit, _ in alone], plain),
        iid_errors=None if alone is None else [error for _, error in alone],
        df=min((math.floor(own.df) for own in found if own), default=None),
        enough=min(len(cell.ordered) for cell in cells) >= needed_values(tau),
    )  # fmt: skip
    return model_at, [number for number, part in enumerate(parts) if not part.seen]


def _cautions(
    design: CodedDesign, cells: Sequence[Ordered], found: Sequence[tuple[QuantileModel, list[int]]], cluster: Varies
) -> list[str]:
    """Say which treatments, the cells of a design, have too few clusters, or quantiles that rest on few of them."""
    few = [k for k, cell in enumerate(cells) if len(cell.clusters) < 2]
    if few:
        own = listed([f"{_name(design, k)} has {len(cells[k].clusters)}" for k in few], between="; ")
        return [f"no intervals of quantile effects: each treatment needs 2 {cluster}s, {own}"]
    rests = {model.tau: unseen for model, unseen in found if unseen and model.enough}
    if not rests:
        return []
    unseen_at = sorted({k for unseen in rests.values() for k in unseen})
    named = listed([_name(design, k) for k in unseen_at], between="; ")
    differ = f"the {cluster}s of {named} differ so much that it rests on few of them"
    quantiles = ", ".join(f"p{100 * tau:.10g}" for tau in rests)
    return [f"{quantiles}: {differ}; its intervals may be too narrow"]


def _name(design: CodedDesign, number: int) -> str:
    return design.treatment(number) or "the treatment"
