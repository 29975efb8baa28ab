"""Quantile regression effects of a designed experiment, Born de Oliveira et al. 2013, section 6."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gate.model.study import Effect, Factor, QuantileEffects, QuantileModel, Varies
from gate.stats.design.aliases import orthogonal, without_aliased
from gate.stats.design.coding import Addend, Coded, Design, addends, coded, inestimable, lay_out
from gate.stats.design.quantile_fit import (
    Around,
    Clusters,
    Fit,
    Limits,
    Ordered,
    around,
    by_treatment,
    clusters_of,
    fit,
    independent_covariance,
    joined,
    limits,
)
from gate.stats.quantile import needed_values
from gate.stats.rounding import Array
from gate.stats.special import stdtr, stdtrit

if TYPE_CHECKING:
    import pandas as pd

DEFAULT_TAUS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99)
_NAMED = 3
"""Most treatments that one line names."""
MOST_CELLS = 2000
"""Most treatments that are fitted: the work grows with their third power."""
_MANY = 12
"""Factors of which not all interactions are looked at."""
MOST_SIZE = 40_000
"""Most coefficients times treatments where the model is not one mean a treatment, which takes a linear programme."""


def quantile_effects(
    values: pd.DataFrame,
    factors: Sequence[Factor],
    taus: Sequence[float] = DEFAULT_TAUS,
    *,
    cluster: Varies = "execution",
    confidence: float = 0.95,
    iid: bool = False,
    order: int | None = None,
) -> QuantileEffects:
    """Fit quantiles of the values by all factors and all their interactions.

    values: a row for each value, with y, f0, f1, ... (numbers of settings) and the column `cluster` (any integers):
    values of one of these may depend on each other, in whatever way. taus: the quantiles, 0 < tau < 1. confidence: of
    each interval, without correction for their number. iid: give the intervals for independent values as well. order:
    of a fraction of the combinations, interactions of up to so many factors.

    Coefficients have the least sum of the check function; with all interactions measured they are contrasts of the
    treatments' own quantiles (type 8, where that is such a minimum). Intervals are by clusters (quantile_limits); none
    where a treatment has fewer than 2 of them, or where all values are the same. The smallest degrees of freedom of a
    model's intervals are its df, rounded down. enough says whether each treatment has 10 values beyond the quantile.

    Raises:
        ValueError: no values, one that is not finite, a tau or a confidence that is not between 0 and 1.

    Source: Born de Oliveira et al. 2013, section 6, Table 4 and Fig. 7. The half-widths there fit the p beside them as
    90% intervals, not the 95% that the table says.
    """
    y = values["y"].to_numpy(dtype=np.float64)
    if not len(y) or not np.isfinite(y).all():
        raise ValueError("quantile effects need values, all of them finite")
    for tau in taus:
        if not 0 < tau < 1:
            raise ValueError(f"tau must lie between 0 and 1, not be {tau}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, not be {confidence}")
    design = lay_out(values, factors)
    if len(design.counts) > MOST_CELLS:
        return _none(values, cluster, f"{len(design.counts):,} treatments are more than the {MOST_CELLS:,} possible")
    model = coded(design.codes, design.sizes, _order(design, order))
    if model.matrix.shape[1] < len(design.counts) and model.matrix.size > MOST_SIZE:
        many = f"{model.matrix.shape[1]:,} coefficients of {len(design.counts):,} treatments are too many to fit"
        return _none(values, cluster, f"{many}, unless every combination of settings is measured")
    cells = by_treatment(y, design.place, values[cluster].to_numpy(dtype=np.int64))
    terms = addends(design, model)
    data = _Data(
        cells,
        model,
        terms,
        np.array([own.weights for own in terms]),
        clusters_of(cells),
        confidence,
        bool(y.min() < y.max()),
    )
    found = [_at(data, tau, iid) for tau in taus]
    return QuantileEffects(
        cluster=cluster,
        clusters=len(data.clusters.group),
        models=[at.model for at in found],
        inestimable=inestimable(design, without_aliased(design, model)),
        warnings=warnings_of(design, cells, found, cluster),
    )


def _order(design: Design, order: int | None) -> int:
    """Return the order of the model: of all combinations all interactions, of a fraction those asked for."""
    count = len(design.sizes)
    if order is None or len(design.counts) == math.prod(design.sizes):
        return count
    # the interactions of many factors are more than a computer counts
    return min(order, count) if count > _MANY or orthogonal(design.codes, design.sizes) else count


def _none(values: pd.DataFrame, cluster: Varies, why: str) -> QuantileEffects:
    count = int(values[cluster].nunique())
    warning = f"no quantile effects: {why}; analyse a part with --only or --without"
    return QuantileEffects(cluster=cluster, clusters=count, models=[], inestimable=[], warnings=[warning])


class _Data(msgspec.Struct, frozen=True, eq=False):
    cells: list[Ordered]
    model: Coded
    sums: list[Addend]
    weights: Array
    clusters: Clusters
    confidence: float
    spread: bool


def _at(data: _Data, tau: float, iid: bool) -> AtTau:
    """Fit one quantile; iid: with the intervals for independent values."""
    fitted = fit(data.cells, data.model.matrix, tau)
    parts = [around(cell, at, tau) for cell, at in zip(data.cells, fitted.fitted.tolist(), strict=True)]
    estimates: list[float] = (data.weights @ fitted.beta).tolist()
    found: list[Limits | None] = [None] * len(estimates)
    if data.spread and min(len(cell.clusters) for cell in data.cells) > 1:
        weights, together = data.weights @ _leverage(data, parts), joined(parts, data.clusters)
        found = [
            limits(estimate, own, together, data.confidence) for estimate, own in zip(estimates, weights, strict=True)
        ]
    alone = _independent(data, fitted, tau) if iid else None
    model = QuantileModel(
        tau=tau,
        effects=[_effect(own, at, limit) for own, at, limit in zip(data.sums, estimates, found, strict=True)],
        iid=None if alone is None else [own.effect for own in alone],
        iid_errors=None if alone is None else [own.error for own in alone],
        df=min((math.floor(own.df) for own in found if own), default=None),
        enough=min(len(cell.ordered) for cell in data.cells) >= needed_values(tau),
    )
    return AtTau(model, [number for number, part in enumerate(parts) if not part.seen])


def _leverage(data: _Data, parts: Sequence[Around]) -> Array:
    """Return how the coefficients follow the quantile of each treatment, shape (p, cells).

    With fewer coefficients than treatments they are least squares of the quantiles, weighted by the density of values
    at the fit: where the sum of the check function is least, its curvature says how it moves.
    """
    rows = data.model.matrix
    if rows.shape[0] == rows.shape[1]:
        return np.asarray(np.linalg.inv(rows), dtype=np.float64)
    slopes = np.array([(part.low + part.high) / 2 for part in parts])
    largest = float(slopes.max()) or 1.0
    weights = np.array([len(cell.ordered) for cell in data.cells]) / np.maximum(slopes / largest, 1e-6)
    return np.asarray(np.linalg.solve(rows.T @ (rows * weights[:, None]), rows.T * weights), dtype=np.float64)


def _effect(own: Addend, estimate: float, limit: Limits | None) -> Effect:
    return own.effect(estimate, *((None, None, None) if limit is None else (limit.low, limit.high, limit.p)))


class _Alone(msgspec.Struct, frozen=True):
    """An effect with the interval for independent values, and its standard error."""

    effect: Effect
    error: float | None


def _independent(data: _Data, fitted: Fit, tau: float) -> list[_Alone]:
    """Return the effects with intervals for independent values, by t on n - p degrees of freedom."""
    covariance = independent_covariance(data.cells, data.model.matrix, fitted.fitted, tau)
    df = sum(len(cell.ordered) for cell in data.cells) - len(fitted.beta)
    found = []
    for own in data.sums:
        estimate, limit, error = float(own.weights @ fitted.beta), None, None
        if covariance is not None and df > 0:
            error = math.sqrt(float(own.weights @ covariance @ own.weights))
            half = float(stdtrit(df, (1 + data.confidence) / 2)) * error
            limit = Limits(estimate - half, estimate + half, float(2 * stdtr(df, -abs(estimate) / error)), df)
        found.append(_Alone(_effect(own, estimate, limit), error))
    return found


class AtTau(msgspec.Struct, frozen=True, eq=False):
    """One model; unseen: numbers of the treatments whose clusters move the quantile farther than their values reach."""

    model: QuantileModel
    unseen: list[int]


def warnings_of(design: Design, cells: Sequence[Ordered], found: Sequence[AtTau], cluster: Varies) -> list[str]:
    """Return one line for each kind of doubt: what is lacking, for which quantiles, where, and what follows.

    design: its treatments are the cells.
    """
    few = [k for k, cell in enumerate(cells) if len(cell.clusters) < 2]
    if few:
        own = [f"{_name(design, k)} has {len(cells[k].clusters)}" for k in few]
        alike = len(few) == len(cells) > 1 and len({len(cell.clusters) for cell in cells}) == 1
        named = f"each has {len(cells[0].clusters)}" if alike else _some(own)
        lines = [f"no intervals of quantile effects: each treatment needs 2 {cluster}s, {named}"]
    else:
        lines = []
    lines += _too_few_values(design, cells, [at.model for at in found if not at.model.enough])
    if not few:
        lines += _unseen(design, [at for at in found if at.unseen and at.model.enough], cluster)
    return lines + _narrow(found, cluster)


def _too_few_values(design: Design, cells: Sequence[Ordered], models: Sequence[QuantileModel]) -> list[str]:
    if not models:
        return []
    needed = {model.tau: needed_values(model.tau) for model in models}
    hardest = max(needed, key=lambda tau: needed[tau])
    most = needed[hardest]
    short = [k for k, cell in enumerate(cells) if len(cell.ordered) < most]
    fewest = sorted(short, key=lambda k: len(cells[k].ordered))
    alike = len({len(cell.ordered) for cell in cells}) == 1
    own = [f"{_name(design, k)} has {len(cells[k].ordered):,}" for k in fewest]
    named = f"each has {len(cells[0].ordered):,}" if alike and len(cells) > 1 else _some(own)
    needs = f"each treatment needs 10 beyond it, {most:,} for {_quantile(hardest)}"
    follows = "intervals of these quantiles may be too narrow"
    return [f"too few values for {_listed([*needed])}: {needs}; {named}; {follows}"]


def _unseen(design: Design, found: Sequence[AtTau], cluster: Varies) -> list[str]:
    if not found:
        return []
    named = _some([_name(design, k) for k in sorted({k for at in found for k in at.unseen})])
    taus = _listed([at.model.tau for at in found])
    few = f"the {cluster}s of {named} differ so much that it rests on few of them"
    return [f"{taus}: {few}; its intervals may be too narrow"]


def _listed(taus: Sequence[float]) -> str:
    names = [_quantile(tau) for tau in taus]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _narrow(found: Sequence[AtTau], cluster: Varies) -> list[str]:
    """Say why the intervals for independent values are too narrow, with the measured ratio of widths."""
    if not any(at.model.iid for at in found):
        return []
    ratios = [
        (ratio, f"{own.term} at {_quantile(at.model.tau)}")
        for at in found
        for own, other in zip(at.model.effects[1:], at.model.iid[1:] if at.model.iid else [], strict=False)
        if ":" not in own.term and (ratio := _ratio(own, other)) is not None
    ]
    reason = f"the i.i.d. intervals take all values for independent, and values of one {cluster} are alike"
    if not ratios:
        return [f"{reason}: they are too narrow; by how much is not known without clustered intervals"]
    widest, where = max(ratios)
    middle = median(ratio for ratio, _ in ratios)
    if widest <= 1:
        return [f"{reason}; here the clustered intervals of main effects are no wider (median {middle:.2g} times)"]
    measured = f"the clustered interval of {where} is {widest:.2g} times as wide"
    return [f"{reason}: {measured}, and in the median of main effects and quantiles {middle:.2g} times"]


def _ratio(own: Effect, other: Effect) -> float | None:
    """Return how many times as wide the first interval is."""
    if own.low is None or own.high is None or other.low is None or other.high is None:
        return None
    width = other.high - other.low
    return (own.high - own.low) / width if width > 0 else None


def _name(design: Design, number: int) -> str:
    return design.treatment(number) or "the treatment"


def _quantile(tau: float) -> str:
    return f"p{100 * tau:.10g}"


def _some(names: Sequence[str]) -> str:
    more = f", and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return "; ".join(names[:_NAMED]) + more
