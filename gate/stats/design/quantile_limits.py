"""Intervals of quantile effects where the values of a cluster depend on each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gate.stats.design.quantile_fit import ROUNDING, Around, Ordered
from gate.stats.regression import sparsity
from gate.stats.special import stdtr, stdtrit

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Codes = npt.NDArray[np.int64]


class Clusters(msgspec.Struct, frozen=True, eq=False):
    """Which clusters each treatment has, one entry for each pair of them."""

    cell: Codes
    cluster: Codes
    """cell and cluster: numbers of both."""
    group: Codes
    """Of each cluster, treatments that share clusters being one group."""
    df: Array
    """Of each group, one less than the fewest clusters that a treatment in it has."""
    shared: npt.NDArray[np.bool_]
    """Of each treatment, whether it shares clusters."""


def clusters_of(cells: Sequence[Ordered]) -> Clusters:
    """Number clusters from 0, and put treatments that share some into one group."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    counts = np.array([len(cell.clusters) for cell in cells])
    cell = np.repeat(np.arange(len(cells)), counts)
    names, cluster = np.unique(np.concatenate([cell.clusters for cell in cells]), return_inverse=True)
    cluster = cluster.reshape(len(cell)).astype(np.int64)
    size = len(cells) + len(names)
    links = coo_array((np.ones(len(cell)), (cell, len(cells) + cluster)), shape=(size, size))
    groups, group = connected_components(links, directed=False)
    fewest = np.full(groups, np.iinfo(np.int64).max)
    np.minimum.at(fewest, group[: len(cells)], counts)
    treatments = np.bincount(group[: len(cells)], minlength=groups)
    return Clusters(
        cell, cluster, group[len(cells) :].astype(np.int64), fewest - 1.0, treatments[group[: len(cells)]] > 1
    )


class Limits(msgspec.Struct, frozen=True):
    """An interval, the p of no effect, and the degrees of freedom of its t."""

    low: float
    high: float
    p: float
    df: float


class Joined(msgspec.Struct, frozen=True, eq=False):
    """What the clusters do to the quantiles of all treatments, one entry of scores and errors as in `clusters`."""

    clusters: Clusters
    scores: Array
    errors: Array
    low: Array
    high: Array
    least: Array
    """low, high and least: of each treatment, as in Around; of treatments that share clusters one slope for both sides,
    since what clusters do to them alike cancels only so.
    """


def joined(parts: Sequence[Around], clusters: Clusters) -> Joined:
    """Put the treatments together; each has 2 clusters or more."""
    scores = np.concatenate([part.scores for part in parts])
    errors = np.concatenate([part.errors for part in parts])
    low, high, least = (np.array([getattr(part, name) for part in parts]) for name in ("low", "high", "least"))
    low, high = (np.where(clusters.shared, (low + high) / 2, side) for side in (low, high))
    return Joined(clusters, scores, errors, low, high, least)


def limits(estimate: float, weights: Array, of: Joined, confidence: float) -> Limits:
    """Return the interval of a weighted sum of the treatments' quantiles.

    The limits are at t times the error on their side: what a cluster adds to the shares of values below, times the
    slopes of the quantile functions on that side, summed over the cluster before squares are taken, so that what a
    build does to all of its treatments cancels in an effect; at least the error by the jackknife over clusters, and by
    the smallest step of the values. t has Satterthwaite's degrees of freedom, groups of treatments without a common
    cluster being independent.

    Source: Woodruff 1952 for the share and its slopes, Zou and Donner 2008 for the sum of intervals with unequal sides;
    what is put together here is ours, with its coverage in tests/promise/test_study_quantiles.py.

    Args:
        weights: shape (cells,).
    """
    clusters = of.clusters
    down, up = np.where(weights > 0, of.low, of.high), np.where(weights > 0, of.high, of.low)
    floor = max(float(weights**2 @ of.least), float(_variance(clusters, weights, of.errors).sum()))
    below, above = (
        math.sqrt(max(float(_variance(clusters, weights * slope, of.scores).sum()), floor)) for slope in (down, up)
    )
    df = _df(_variance(clusters, weights * (of.low + of.high) / 2, of.scores), clusters.df)
    t = float(stdtrit(df, (1 + confidence) / 2))
    facing = below if estimate > 0 else above
    p = float(2 * stdtr(df, -abs(estimate) / facing)) if facing else float(estimate == 0)
    return Limits(estimate - t * below, estimate + t * above, p, df)


def _variance(clusters: Clusters, weights: Array, added: Array) -> Array:
    """Return the variance that each group of treatments has, from what each cluster adds in each treatment."""
    sums = np.bincount(clusters.cluster, weights=weights[clusters.cell] * added)
    found: Array = np.bincount(clusters.group, weights=sums**2, minlength=len(clusters.df)).astype(np.float64)
    return found


def _df(variances: Array, df: Array) -> float:
    """Return Satterthwaite's degrees of freedom of a sum of variances."""
    largest = float(variances.max())
    if not largest:
        return float(df.min())
    shares = variances / largest
    return float(shares.sum() ** 2 / (shares**2 / df).sum())


def independent_covariance(cells: Sequence[Ordered], rows: Array, fitted: Array, tau: float) -> Array | None:
    """Return tau (1 - tau) s^2 (X'X)^-1, shape (p, p), None where the values do not show their sparsity s at tau.

    Values count as independent and their residuals as of one distribution, as with summary.rq(se="iid") of R's
    quantreg.

    Source: Koenker and Bassett 1978.

    Args:
        rows: shape (cells, p), the columns of each treatment.
        fitted: shape (cells,).
    """
    counts = np.array([len(cell.ordered) for cell in cells])
    residuals = np.concatenate([cell.ordered - at for cell, at in zip(cells, fitted.tolist(), strict=True)])
    largest = max(float(np.abs(cell.ordered).max()) for cell in cells)
    # what the fit goes through is 0, not the rounding of a difference
    residuals[np.abs(residuals) <= ROUNDING * largest] = 0.0
    slope = sparsity(residuals, tau, rows.shape[1])
    if slope is None:
        return None
    found: Array = tau * (1 - tau) * slope**2 * np.linalg.inv(rows.T @ (rows * counts[:, None]))
    return found
