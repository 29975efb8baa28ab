"""Quantile regression on treatments: the coefficients, and their intervals where the values of a cluster depend.

A cluster is what values are dependent within: an execution, a build or a session. It may hold values of several
treatments. The coefficients are those of the linear programme, for many values of few treatments.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import msgspec
import numpy as np

from gate.stats.rounding import Array, Flags, Ints, smallest_step
from gate.stats.special import ndtri, stdtr, stdtrit

ZERO = 1e-13
"""What is below this share of the largest value is what is left of a difference of equal numbers."""


def quantile_regression(y: Array, design: Array, tau: float) -> Array:
    """Return the coefficients b that minimise the sum of rho(y - design b), rho(u) = u (tau - 1[u < 0]).

    Where several vectors minimise the sum, it is one that fits as many values exactly as there are columns. The dual
    linear programme is solved by HiGHS: y'd is largest among the weights d of the values with x'd = 0 and
    tau - 1 <= d <= tau, d being the slope of rho. statsmodels' QuantReg comes near the minimum only.

    Source: Koenker and Bassett 1978, Koenker 2005, 6.2.

    Args:
        y: shape (n,), finite.
        design: shape (n, p), n >= p >= 1, of rank p, with its own column of ones where an intercept is wanted.
        tau: 0 < tau < 1.
    """
    from scipy import linalg, optimize

    largest, scale = float(np.abs(y).max()) or 1.0, np.abs(design).max(axis=0)
    values, columns = y / largest, design / scale
    q, r = np.linalg.qr(columns)
    # least squares first: what is left is near 0 and of one scale, whatever the location and the unit of y
    start = q.T @ values
    start += q.T @ (values - q @ start)
    rest = values - q @ start
    size = float(np.abs(rest).mean())
    if size <= ZERO:
        return np.asarray(np.linalg.solve(r, start) / scale * largest, dtype=np.float64)
    found = optimize.linprog(
        -rest / size,
        A_eq=q.T,
        b_eq=np.zeros(q.shape[1]),
        bounds=(tau - 1, tau),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    near = start - size * np.asarray(found.eqlin.marginals)
    # through the values themselves, so that they are fitted to the last bit: the nearest whose rows are independent
    weights = 1 / (np.abs(values - q @ near) + ZERO)
    rows = linalg.qr((q * weights[:, None]).T, mode="r", pivoting=True)[1][: q.shape[1]]
    exact, other = np.linalg.solve(columns[rows], values[rows]), np.linalg.solve(r, near)

    def objective(beta: Array) -> float:
        residuals = values - columns @ beta
        return float(np.maximum(tau * residuals, (tau - 1) * residuals).sum())

    best = exact if objective(exact) <= objective(other) * (1 + 1e-9) + ZERO else other
    return np.asarray(best / scale * largest, dtype=np.float64)


def sparsity(residuals: Array, tau: float, coefficients: int) -> float | None:
    """Return the derivative of the quantile function of independent residuals at a fitted quantile tau.

    The slope, by median regression, of the residuals nearest to 0 over their ranks; those of the values that the fit
    goes through are left out, and as many follow as Hall and Sheather's bandwidth holds. So does summary.rq(se="iid")
    of R's quantreg, whose standard errors it gives. None: there are too few residuals, or they do not rise.

    Source: Koenker and Bassett 1978, Koenker 2005, 3.4.1.

    Args:
        residuals: shape (n,).
        coefficients: of the fit.
    """
    n = len(residuals)
    sizes = np.abs(residuals)
    hit = int((sizes <= 1e-12 * float(sizes.max(initial=0.0))).sum())
    # Hall and Sheather 1988, as bandwidth.rq has it for a 95% interval
    z = float(ndtri(tau))
    square = float(ndtri(0.975)) ** 2 * 1.5 * math.exp(-z * z) / (2 * math.pi) / ((2 * z * z + 1) * max(n, 1))
    near = max(coefficients + 1, math.ceil(n * math.cbrt(square)))
    ranks = np.arange(hit, min(hit + near + 1, n))
    if len(ranks) < 3 or n <= coefficients:
        return None
    nearest = np.sort(residuals[np.argsort(sizes, kind="stable")[ranks]])
    line = np.column_stack((np.ones(len(ranks)), (ranks + 1) / (n - coefficients)))
    slope = float(quantile_regression(nearest, line, 0.5)[1])
    return slope if slope > 0 else None


ROUNDING = 1e-12
"""A share of the largest value."""
SMALL = 5000
"""So many values are given to the linear programme as they are."""
REACH = 1.5
"""Over how many standard errors of the share below it the slope of the quantile function is taken.

Far enough that clusters which differ much are seen to move the quantile far, since the values next to it are often of
one cluster; more would be wide without need. This and LAST by simulation, see tests/promise/test_study_tables.py.
"""
FEW = 0.75
"""A standard error of the share above this part of the share beyond: about as with one cluster that has all of it."""
LAST = 0.9
"""The slope is taken over at most this part of the values beyond the quantile: the last ones are anywhere."""


class Ordered(msgspec.Struct, frozen=True, eq=False):
    """The values of one treatment, ascending."""

    ordered: Array
    own: Ints
    """For each value, which of the treatment's clusters it is of, from 0."""
    clusters: Ints
    """Their numbers over the whole data."""
    others: tuple[Ints, ...]
    """Of each cluster, how many values of the others stand before each of its own."""
    step: float
    """The smallest distance of two values that differ; 0 where none do."""


def by_treatment(y: Array, place: Ints, clusters: Ints) -> list[Ordered]:
    """Sort values, shape (n,), into treatments; place, clusters: the treatment and the cluster of each value."""
    order = np.lexsort((y, place))
    ends = np.cumsum(np.bincount(place))[:-1]
    found = []
    for part in np.split(order, ends):
        names, own = np.unique(clusters[part], return_inverse=True)
        own = own.reshape(len(part)).astype(np.int64)
        ranks = np.split(np.argsort(own, kind="stable"), np.cumsum(np.bincount(own))[:-1])
        others = tuple(rank - np.arange(len(rank)) for rank in ranks)
        found.append(Ordered(y[part], own, names, others, smallest_step(y[part])))
    return found


def minimiser(ordered: Array, tau: float) -> float:
    """Return the value with the least sum of the check function that is nearest to the type 8 quantile.

    Any number from the k-th to the next value is such a minimiser where n tau = k, and the k-th alone where k is n tau
    rounded up (Koenker and Bassett 1978). In the first case the type 8 quantile lies between them, so that the numbers
    here are those of a table of the treatments' quantiles.
    """
    n = len(ordered)
    exact = n * Fraction(tau).limit_denominator(10**9)
    lowest = max(math.ceil(exact), 1) - 1
    at = _position(n, tau)
    return _between(ordered, min(max(at, lowest), math.floor(exact), n - 1) if exact.denominator == 1 else lowest)


class Around(msgspec.Struct, frozen=True, eq=False):
    """How the quantile of one treatment follows its clusters.

    Squares of either sum to a variance; none where there are fewer than 2 clusters.
    """

    low: float
    high: float
    """low and high: slope of its quantile function below and above, in units of the values per share."""
    scores: Array
    """What each cluster adds to the error of the share of values below."""
    errors: Array
    """What it adds to that of the quantile, by leaving it out."""
    least: float
    """The variance that the smallest step leaves."""
    seen: bool
    """Whether the values beyond the quantile are of more than one or two clusters."""


def around(cell: Ordered, fitted: float, tau: float) -> Around:
    """Return what the clusters of a treatment do to its quantile, fitted at this value for this tau.

    Scores and slopes are those of Woodruff 1952 for a quantile under cluster sampling, a slope for each side. The
    errors are those of the jackknife over clusters of unequal size (Busing et al. 1999).
    """
    y, n, groups = cell.ordered, len(cell.ordered), len(cell.clusters)
    first, last = (int(np.searchsorted(y, fitted, side=side)) for side in ("left", "right"))
    # values equal to the quantile count as below in part, so that the share below it is tau where it can be
    share = min(max(tau, first / n), last / n)
    part = (share * n - first) / (last - first) if last > first else 0.0
    sizes = np.bincount(cell.own, minlength=groups)
    below = np.bincount(cell.own[:first], minlength=groups) + part * np.bincount(cell.own[first:last], minlength=groups)
    if groups < 2:
        return Around(0.0, 0.0, np.zeros(groups), np.zeros(groups), 0.0, True)
    scores = (below - share * sizes) / n * math.sqrt(groups / (groups - 1))
    error = float(np.sqrt(scores @ scores))
    reach = max(REACH * error, 1 / n)
    least, most = 0.5 / n, 1 - 0.5 / n
    centre = min(max(share, least), most)
    down, up = min(reach, LAST * share), min(reach, LAST * (1 - share))
    at = np.array([max(centre - down, least), centre, min(centre + up, most)])
    quantiles = np.array([_between(y, _position(n, tau)) for tau in at.tolist()])
    spans = np.diff(at)
    slopes = np.diff(quantiles) / np.where(spans > 0, spans, 1.0)
    low, high = np.where(spans > 0, slopes, slopes[::-1]).tolist()
    seen = error <= FEW * min(share, 1 - share)
    return Around(low, high, scores, _jackknife(cell, sizes, centre), cell.step**2 / (12 * groups), seen)


def _jackknife(cell: Ordered, sizes: Ints, share: float) -> Array:
    """Return what each cluster adds to the error of the quantile, by leaving it out; 0 where that tells nothing.

    To leave out single values moves a quantile by the distance of two neighbours, whatever its error: clusters must
    hold more than the square root of all values (Shao and Wu 1989).
    """
    y, groups, n = cell.ordered, len(sizes), len(cell.ordered)
    if groups**2 > n:
        return np.zeros(groups)
    without = []
    for others in cell.others:
        # the quantile of the values of all other clusters
        at = _position(n - len(others), share)
        places = np.array((math.floor(at), math.ceil(at)))
        low, high = y[places + others.searchsorted(places, side="right")].tolist()
        without.append(low + (at - math.floor(at)) * (high - low))
    moved, times = _between(y, _position(n, share)) - np.array(without), n / sizes
    errors: Array = ((times - 1) * moved - ((1 - 1 / times) * moved).sum()) / np.sqrt(groups * (times - 1))
    return errors


def _position(n: int, share: float) -> float:
    """Return where the type 8 quantile stands among n ascending values, from 0 (Hyndman and Fan 1996)."""
    return min(max((n + 1 / 3) * share - 2 / 3, 0.0), n - 1.0)


def _between(ordered: Array, at: float) -> float:
    low, high = float(ordered[math.floor(at)]), float(ordered[math.ceil(at)])
    return low + (at - math.floor(at)) * (high - low)


def fit(cells: Sequence[Ordered], rows: Array, tau: float) -> tuple[Array, Array]:
    """Return coefficients with the least sum of the check function over all values, and what they give each cell.

    Source: Koenker and Bassett 1978; to leave out the values far from the fit, Portnoy and Koenker 1997.

    Returns:
        Shapes (p,) and (cells,).

    Args:
        rows: shape (cells, p), the columns of each cell, of full rank p. With as many columns as cells the sum
            separates: each cell is fitted by a quantile of its own, the one that `minimiser` says. Otherwise the
            minimum is that of `quantile_regression`.
    """
    if rows.shape[0] == rows.shape[1]:
        quantiles = np.array([minimiser(cell.ordered, tau) for cell in cells])
        return np.asarray(np.linalg.solve(rows, quantiles), dtype=np.float64), quantiles
    beta, fitted = _programme(cells, rows, tau), []
    for cell, at in zip(cells, (rows @ beta).tolist(), strict=True):
        # the value that is fitted, where the fit misses it by rounding alone
        y, place = cell.ordered, int(np.searchsorted(cell.ordered, at))
        rounding = ROUNDING * max(abs(float(y[0])), abs(float(y[-1])))
        near = [value for value in y[max(place - 1, 0) : place + 1].tolist() if abs(value - at) <= rounding]
        fitted.append(min(near, key=lambda value: abs(value - at), default=at))
    return beta, np.array(fitted)


def _programme(cells: Sequence[Ordered], rows: Array, tau: float) -> Array:
    every = [cell.ordered for cell in cells]
    step = 1 if sum(map(len, every)) <= SMALL else sum(map(len, every)) // SMALL + 1
    values = [y[(len(y) - 1) % step // 2 :: step] for y in every]
    beta = quantile_regression(np.concatenate(values), np.repeat(rows, [*map(len, values)], axis=0), tau)
    width = 4 * step
    while step > 1:
        # positions first <= k < last of the values that may be crossed by the fit
        middles = [int(np.searchsorted(y, float(centre))) for y, centre in zip(every, rows @ beta, strict=True)]
        bands = [(max(at - width, 0), min(at + width, len(y))) for y, at in zip(every, middles, strict=True)]
        # minimise with all values outside the bands as one: as far as the fit stays inside, the sum is the same
        values = [y[first:last] for y, (first, last) in zip(every, bands, strict=True)]
        inside = np.repeat(rows, [len(own) for own in values], axis=0)
        pulls, far = [], 0.0
        for y, (first, last) in zip(every, bands, strict=True):
            pull = len(y) - last - (1 - tau) / tau * first
            pulls.append(pull)
            far += float((pull * y[[max(first - 1, 0), min(last, len(y) - 1)]]).max())
        outside = np.array(pulls) @ rows
        beta = quantile_regression(np.append(np.concatenate(values), far), np.vstack((inside, outside)), tau)
        # whether all values outside lie on the side of the fit that they were taken to
        if all(
            (last == len(y) or value <= float(y[last])) and (first == 0 or value >= float(y[first - 1]))
            for (first, last), y, value in zip(bands, every, (rows @ beta).tolist(), strict=True)
        ):
            break
        width *= 4
    return beta


class Clusters(msgspec.Struct, frozen=True, eq=False):
    """Which clusters each treatment has, one entry for each pair of them."""

    cell: Ints
    cluster: Ints
    """cell and cluster: numbers of both."""
    group: Ints
    """Of each cluster, treatments that share clusters being one group."""
    df: Array
    """Of each group, one less than the fewest clusters that a treatment in it has."""
    shared: Flags
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


class QuantileInterval(msgspec.Struct, frozen=True):
    """An interval, the p of no effect, and the degrees of freedom of its t."""

    low: float
    high: float
    p: float
    df: float


def limits(
    estimates: Sequence[float], weights: Array, parts: Sequence[Around], clusters: Clusters, confidence: float
) -> list[QuantileInterval]:
    """Return the intervals of weighted sums of the treatments' quantiles; each treatment has 2 clusters or more.

    The limits are at t times the error on their side: what a cluster adds to the shares of values below, times the
    slopes of the quantile functions on that side, summed over the cluster before squares are taken, so that what a
    build does to all of its treatments cancels in an effect; at least the error by the jackknife over clusters, and by
    the smallest step of the values. Treatments that share clusters have one slope for both sides, since what clusters
    do to them alike cancels only so. t has Satterthwaite's degrees of freedom, groups of treatments without a common
    cluster being independent.

    Source: Woodruff 1952 for the share and its slopes, Zou and Donner 2008 for the sum of intervals with unequal sides;
    what is put together here is ours, with its coverage in tests/promise/test_study_tables.py.

    Args:
        weights: shape (sums, cells).
        parts: of each treatment.
    """
    scores, errors = (np.concatenate([getattr(part, name) for part in parts]) for name in ("scores", "errors"))
    low, high, least = (np.array([getattr(part, name) for part in parts]) for name in ("low", "high", "least"))
    low, high = (np.where(clusters.shared, (low + high) / 2, side) for side in (low, high))

    def variance(of: Array, added: Array) -> Array:
        """Return the variance that each group of treatments has, from what each cluster adds in each treatment."""
        sums = np.bincount(clusters.cluster, weights=of[clusters.cell] * added)
        found: Array = np.bincount(clusters.group, weights=sums**2, minlength=len(clusters.df)).astype(np.float64)
        return found

    found = []
    for estimate, own in zip(estimates, weights, strict=True):
        floor = max(float(own**2 @ least), float(variance(own, errors).sum()))
        below, above = (
            math.sqrt(max(float(variance(own * np.where((own > 0) == down, low, high), scores).sum()), floor))
            for down in (True, False)
        )
        variances = variance(own * (low + high) / 2, scores)
        largest, df = float(variances.max()), float(clusters.df.min())
        if largest:
            # Satterthwaite's degrees of a sum of variances
            shares = variances / largest
            df = float(shares.sum() ** 2 / (shares**2 / clusters.df).sum())
        t = float(stdtrit(df, (1 + confidence) / 2))
        facing = below if estimate > 0 else above
        p = float(2 * stdtr(df, -abs(estimate) / facing)) if facing else float(estimate == 0)
        found.append(QuantileInterval(estimate - t * below, estimate + t * above, p, df))
    return found


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
