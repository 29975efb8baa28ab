"""Each term of a designed experiment tested in its own error stratum (NIST TN 1855, 4.5; statistics.md, 17).

Where blocks and whole plots hold treatments alike, the sums of squares of strata are projections, as those of R's
`aov(Error())`, and exact. Else variances are by REML with Satterthwaite's degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import TYPE_CHECKING, Literal

import msgspec
import numpy as np

from gate.model.study import Error, Factor, Stratum, Varies
from gate.stats.design.coding import DEPENDENT, Coded, CodedDesign, TermColumns
from gate.stats.design.layers import NESTED, RANK, FTest, Groups, Layers, Mixed, groups, reml
from gate.stats.design.layers import layers as lay
from gate.stats.rounding import Array
from gate.stats.special import fdtrc

if TYPE_CHECKING:
    import pandas as pd

_LOWEST: tuple[Error, ...] = ("execution",)
MOST_COLUMNS = 20_000_000
"""Most numbers in the columns of blocks and terms together; of more the blocks are rounds or sessions."""


class ErrorTerm(msgspec.Struct, frozen=True):
    """What a stratum leaves to its terms: residual sum of squares for a unit of analysis, and degrees of freedom."""

    squares: float
    df: int

    @property
    def variance(self) -> float | None:
        """Mean square; None without degrees of freedom."""
        return self.squares / self.df if self.df > 0 else None

    def test(self, squares: float, df: int) -> FTest | None:
        """Test a sum of squares of df degrees of freedom; None: there is no error, or it is 0."""
        if not self.variance:
            return None
        f = squares / df / self.variance
        return FTest(f, df, float(self.df), float(fdtrc(df, self.df, f)))

    def of_sum(self, weights: Array, coefficients: Array, covariance: Array) -> Sum:
        """Return a sum of coefficients; covariance: theirs, for a variance of 1."""
        estimate = fsum(weights * coefficients)
        if self.variance is None:
            return Sum(estimate)
        return Sum(estimate, float(self.variance * (weights @ covariance @ weights)) ** 0.5, float(self.df))


def explained(coefficients: Array, covariance: Array) -> float:
    """Return the sum of squares that is lost without some coefficients; covariance: theirs, for a variance of 1."""
    return float(coefficients @ np.linalg.solve(covariance, coefficients)) if len(coefficients) else 0.0


class Sum(msgspec.Struct, frozen=True):
    """A weighted sum of coefficients with its standard error; None: there is no error to tell it from."""

    estimate: float
    error: float | None = None
    df: float = 0.0


class Strata(msgspec.Struct, frozen=True, eq=False):
    """Least squares or REML of the units' values, scaled as they were given.

    tests: of each term of the model but the intercept, None where there is no error. found: the errors, the lowest
    last.
    """

    method: Literal["least squares", "projections", "REML"]
    layers: Layers
    of: tuple[Error, ...]
    """The stratum of each term but the intercept."""
    tests: tuple[FTest | None, ...]
    found: tuple[Stratum, ...]
    coefficients: Array
    solved: Array
    """(X'X)^-1 of the terms."""
    errors: dict[Error, ErrorTerm]
    mixed: Mixed | None
    blocks: ErrorTerm

    def sum_of(self, weights: Array, number: int) -> Sum:
        """Return a sum of the coefficients of one term; number: 0 is the intercept, told from blocks if there are."""
        if self.mixed is not None:
            longer = np.zeros(self.mixed.x.shape[1])
            longer[: len(weights)] = weights
            variance = float(longer @ self.mixed.covariance @ longer)
            silent = number > 0 and self.tests[number - 1] is None
            estimate = float(longer @ self.mixed.coefficients)
            return Sum(estimate) if silent else Sum(estimate, variance**0.5, self.mixed.error_df(longer))
        estimate = float(weights @ self.coefficients)
        if number:
            error = self.errors[self.of[number - 1]]
        else:
            # of the mean over all: what differs most between groups of units
            upper = [self.errors[name] for name in ("session", "build") if name in self.errors]
            lowest = self.errors["build x treatment" if self.layers.cells else "execution"]
            error = next((each for each in (*upper, self.blocks) if each.df > 0), lowest)
        # that groups are alike beside units that are not is chance or rounding: it tells no sum from 0
        return error.of_sum(weights, self.coefficients, self.solved) if error.variance else Sum(estimate)


def stratum_of(columns: TermColumns, factors: Sequence[Factor], layers: Layers) -> Error:
    """Return the stratum of a term: the lowest of what its factors vary by."""
    lowest = min(RANK[factors[f].varies] for f in columns.factors)
    if lowest:
        return "build" if lowest == 1 else "session"
    return "build x treatment" if layers.cells else "execution"


def stratified(y: Array, design: CodedDesign, model: Coded, factors: Sequence[Factor], layers: Layers) -> Strata:
    """Test the terms of a model, whose rows are the treatments of a design; y: of the units, shape (n,)."""
    of = tuple(stratum_of(term, factors, layers) for term in model.terms[1:])
    x = model.matrix[design.place]
    if layers.plain or _orthogonal(x, model, of, layers):
        return _projected(y, model, of, layers, design)
    return _by_likelihood(y, x, model, of, layers)


# --- balanced -------------------------------------------------------------------------------------------------------


def _orthogonal(x: Array, model: Coded, of: Sequence[Error], layers: Layers) -> bool:
    """Return whether every term lies in its own stratum: the groups above it hold its columns alike."""
    if layers.cells and len(set(layers.errors["build x treatment"].sizes.tolist())) > 1:
        return False
    center = x - x.mean(axis=0)
    for error in dict.fromkeys(of):
        told = [t for t, e in zip(model.terms[1:], of, strict=True) if e == error]
        own = np.concatenate([np.arange(t.start, t.stop) for t in told])
        depth = NESTED.index(error) if error in NESTED else len(NESTED) - 1
        above = [*layers.held(error), *(layers.errors[e] for e in NESTED[:depth] if e in layers.errors)]
        for held in above:
            if len(own) and np.abs(held.means(center[:, own])).max() > DEPENDENT:
                return False
    upper = [g for name in ("build",) if (g := layers.errors.get(name)) is not None]
    crossed = layers.block == "replicate" and layers.blocks.count > 1 and layers.block_at("execution")
    if upper and crossed and not layers.cells:
        return len(set(groups(upper[0].of, layers.blocks.of).sizes.tolist())) == 1
    return True


def _projected(y: Array, model: Coded, of: tuple[Error, ...], layers: Layers, design: CodedDesign) -> Strata:
    counts = design.counts.astype(np.float64)
    means = design.totals(y) / counts
    weighted = model.matrix * counts[:, None]
    solved = np.asarray(np.linalg.inv(model.matrix.T @ weighted), dtype=np.float64)
    beta = solved @ (weighted.T @ means)
    errors: dict[Error, ErrorTerm] = {}
    centered = y - y.mean()
    lowest: Error = "build x treatment" if layers.cells else "execution"
    for error in (*(e for e in NESTED if e in layers.errors), *(() if layers.cells else (lowest,))):
        told = [t for t, own in zip(model.terms[1:], of, strict=True) if own == error]
        # of all its columns at once: with unequal counts the terms' own sums of squares are not parts of it
        columns = np.concatenate([np.zeros(0, dtype=np.int64), *(np.arange(t.start, t.stop) for t in told)])
        own, held = layers.errors.get(error), layers.held(error)
        squares = _square(centered) if own is None else _square(own.means(centered))
        # what is held by two kinds of groups that share coarser ones is taken off once
        squares -= sum(_square(each.means(centered)) for each in held)
        if len(held) > 1 and (shared := layers.shared()) is not None:
            squares += _square(shared.means(centered))
        left = squares - explained(beta[columns], solved[np.ix_(columns, columns)])
        df = (len(y) if own is None else own.count) - layers.dimension(error) - len(columns)
        errors[error] = ErrorTerm(max(left, 0.0), df)
    if layers.cells:
        within = _square(centered) - _square(layers.errors["build x treatment"].means(centered))
        errors["execution"] = ErrorTerm(max(within, 0.0), len(y) - layers.errors["build x treatment"].count)
    tests = []
    for term, stratum in zip(model.terms[1:], of, strict=True):
        at = slice(term.start, term.stop)
        tests.append(errors[stratum].test(explained(beta[at], solved[at, at]), term.stop - term.start))
    blocks = ErrorTerm(_square(layers.blocks.means(centered)), layers.blocks.count - 1)
    rows: list[Stratum] = []
    below = None
    for name in reversed([each for each in (*NESTED, *_LOWEST) if each in errors]):
        variance = errors[name].variance
        count = len(y) if name == "execution" else layers.errors[name].count
        component = variance
        if name != "execution" and variance is not None and below is not None:
            component = max(variance - below, 0.0) / (len(y) / count)
        free = float(errors[name].df)
        rows.append(Stratum(name=name, groups=count, df=free, mean_square=variance, component=component))
        below = variance if variance is not None else below
    return Strata(
        "least squares" if layers.plain else "projections", layers, of, tuple(tests), tuple(reversed(rows)), beta,
        solved, errors, None, blocks,
    )  # fmt: skip


def _square(values: Array) -> float:
    return float(values @ values)


# --- not balanced ---------------------------------------------------------------------------------------------------


def _by_likelihood(y: Array, x: Array, model: Coded, of: tuple[Error, ...], layers: Layers) -> Strata:
    nested = [layers.errors[e] for e in NESTED if e in layers.errors]

    def known(error: Error) -> bool:
        """Return whether a stratum has more groups than its terms and what is held have columns."""
        own = layers.errors.get(error)
        if own is None or error == "build x treatment":
            return True
        used = sum(t.stop - t.start for t, e in zip(model.terms[1:], of, strict=True) if e == error)
        return own.count - max([1, *(each.count for each in layers.held(error))]) - used > 0

    columns = _block_columns(x, layers)
    whole = np.column_stack((x, columns)) if columns.shape[1] else x
    random = [g for g in nested if g.count < len(y)]
    solved = np.asarray(np.linalg.inv(x.T @ x), dtype=np.float64)
    if len(y) <= whole.shape[1]:
        beta = np.asarray(np.linalg.lstsq(whole, y)[0], dtype=np.float64)
        none = tuple(None for _ in of)
        empty: dict[Error, ErrorTerm] = dict.fromkeys((*NESTED, "execution"), ErrorTerm(0.0, 0))
        return Strata("least squares", layers, of, none, (), beta[: x.shape[1]], solved,
                      empty, None, ErrorTerm(0.0, 0))  # fmt: skip
    fit = reml(y, whole, random)
    tests = tuple(
        fit.test(term.start, term.stop) if known(stratum) and fit.components[-1] > 0 else None
        for term, stratum in zip(model.terms[1:], of, strict=True)
    )
    names = [e for e in NESTED if e in layers.errors and layers.errors[e].count < len(y)]
    rows = [
        Stratum(name=name, groups=layers.errors[name].count, df=None, mean_square=None, component=component)
        for name, component in zip(names, fit.components.tolist(), strict=False)
    ]
    rest = Stratum(name="execution", groups=len(y), df=None, mean_square=None, component=float(fit.components[-1]))
    return Strata(
        "REML" if random else "least squares", layers, of, tests, (*rows, rest), fit.coefficients[: x.shape[1]],
        solved, {}, fit, ErrorTerm(0.0, 0),
    )  # fmt: skip


def _block_columns(x: Array, layers: Layers) -> Array:
    """Return columns of blocks beside those of terms: contrasts of the blocks of a session, if sessions are random."""
    blocks = layers.blocks
    if blocks.count < 2 or not layers.block_at("execution" if not layers.cells else "build x treatment"):
        rounds = layers.rounds
        if rounds is None or rounds.count < 2 or "build" not in layers.errors or layers.block == "session":
            return np.zeros((len(x), 0))
        blocks = rounds
    if len(x) * (blocks.count + x.shape[1]) > MOST_COLUMNS:
        coarser = layers.rounds
        if coarser is None or len(x) * (coarser.count + x.shape[1]) > MOST_COLUMNS:
            return np.zeros((len(x), 0))
        blocks = coarser
    outer = layers.errors.get("session") or Groups(np.zeros(len(x), dtype=np.int64), np.array([len(x)]))
    owner = np.zeros(blocks.count, dtype=np.int64)
    owner[blocks.of] = outer.of
    last = {int(own): k for k, own in enumerate(owner)}
    columns = []
    for k, own in enumerate(owner.tolist()):
        if last[own] != k:
            columns.append((blocks.of == k).astype(np.float64) - (blocks.of == last[own]))
    if not columns:
        return np.zeros((len(x), 0))
    from scipy.linalg import qr

    # those that the columns of terms, and each other, do not hold
    found = np.array(columns, dtype=np.float64).T
    q = np.linalg.qr(x)[0]
    apart = found - q @ (q.T @ found)
    apart -= q @ (q.T @ apart)
    _, r, order = qr(apart, mode="economic", pivoting=True)
    largest = max(float(np.linalg.norm(found, axis=0).max()), 1.0)
    rank = int((np.abs(np.diag(r)) > DEPENDENT * largest).sum())
    return found[:, np.sort(order[:rank])]


# --- for methods of one error ---------------------------------------------------------------------------------------


def aligned(units: pd.DataFrame, factors: Sequence[Factor], layers: Layers, varies: Varies) -> pd.DataFrame:
    """Return units for a comparison of settings that knows one error only: that of factors that vary by `varies`.

    A row is the mean of what is one draw of that error (a build's executions of a treatment, a session's). What blocks
    and whole plots do to all treatments alike is taken off, and what is left is stretched by the degrees of freedom
    that took, so that its variance is that of the stratum. Means of treatments stay, up to unequal counts.
    """
    error: Error = ("build x treatment" if layers.cells else "execution") if varies == "execution" else varies
    names = [f"f{i}" for i in range(len(factors))]
    at = ["session"] if varies == "session" else ["session", "round", "build"]
    if error != "execution":
        kept = {"y": "mean", "execution": "min", "replicate": "min", "order": "min", "count": "sum"}
        kept |= {name: "min" for name in ("round", "build") if name not in at}
        at += ["fold"] if "fold" in units else []
        units = units.groupby([*at, *names], sort=False).agg(kept).reset_index()
    if layers.plain or not len(units):
        return units
    own = lay(units, factors, layers.block, repeated=False)
    y = units["y"].to_numpy(dtype=np.float64)
    codes = [units[name].to_numpy(dtype=np.int64) for name in names]
    treatments = groups(np.zeros(len(y), dtype=np.int64), *codes)
    middle = treatments.means(y)
    apart = y - middle
    lowest: Error = "execution" if varies == "execution" else error
    held = own.held(lowest)
    for _ in range(1 if len(held) < 2 else 30):
        for each in held:
            apart = apart - each.means(apart)
        apart = apart - treatments.means(apart)
    ranks = [RANK[f.varies] for f in factors]
    own_codes, above = (
        [c for c, r in zip(codes, ranks, strict=True) if r >= least] for least in (RANK[varies], RANK[varies] + 1)
    )
    plots = len(y) if varies == "execution" else own.errors[error].count
    room = plots - (groups(*own_codes).count if own_codes else 1)
    # settings that vary by what is held are among its means already
    left = room - own.dimension(lowest) + (groups(*above).count if above else 1)
    stretch = (room / left) ** 0.5 if held and left > 0 else 1.0
    return units.assign(y=middle + apart * stretch)
