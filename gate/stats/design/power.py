"""The power of a designed experiment before it is measured: how often a change of a mean would be claimed.

All errors are taken for normal. A change is between the first and the last setting of a factor, over all settings of
the others, in standard deviations of what its stratum draws: executions, or the means of builds or sessions. The level
is what the family of a response gives a factor's effect on the mean (gate.stats.design.claims). Source: noncentral t,
as Montgomery, Design and Analysis of Experiments, 3.7.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gate.stats.design.aliases import saturated
from gate.stats.design.claims import INTERACTION_OF_MEAN, INTERACTION_OF_QUANTILE, QUANTILE
from gate.stats.design.coding import addends, coded, lay_out
from gate.stats.design.layers import layers
from gate.stats.design.lenth import FEWEST
from gate.stats.design.strata import stratified
from gate.stats.special import nctdtr, stdtrit

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from gate.model.study import Block, Error, Factor
    from gate.stats.design.coding import Coded, Design
    from gate.stats.design.layers import Groups, Layers

    Array = npt.NDArray[np.float64]


class Power(msgspec.Struct, frozen=True):
    """Of one factor. df: of its error, None: there is none. chances: of each size asked for, in the same order."""

    factor: str
    stratum: Error
    df: float | None
    chances: tuple[float, ...]
    lenth: bool = False
    """By Lenth's pseudo standard error, with about the power of its degrees of freedom."""


def power(
    units: pd.DataFrame,
    factors: Sequence[Factor],
    order: int,
    block: Block | None,
    sizes: Sequence[float],
    *,
    quantiles: int,
    alpha: float = 0.05,
) -> list[Power]:
    """Return the chance that a change is claimed, for each factor in the linear model.

    units: as for `layers`, of the whole design. sizes: of changes, in standard deviations of executions, or of means of
    builds or sessions where those are the error. quantiles: how many of p50, p90 and p99 will have their values.
    """
    design = lay_out(units, factors)
    model = coded(design.codes, design.sizes, order)
    lie = layers(units, factors, block)
    # of balanced designs any values tell the degrees of freedom, of others those of builds that differ like executions
    rng = np.random.default_rng(1)
    y = rng.normal(size=len(units)) + sum(rng.normal(size=own.count)[own.of] for own in lie.errors.values())
    found = stratified(y, design, model, factors, lie)
    contrasts = _contrasts(design)
    terms = [len(t.factors) for t in model.terms[1:]]
    mains = sum(size == 1 for size in terms)
    more = len(terms) - mains
    spreads = sum(f.varies == "execution" and len(f.settings) == 2 for f in factors)
    level = alpha / (
        mains * (1 + quantiles * QUANTILE)
        + more * (INTERACTION_OF_MEAN + quantiles * INTERACTION_OF_QUANTILE)
        + spreads * QUANTILE
    )
    result = []
    for number, term in enumerate(model.terms[1:], 1):
        if len(term.factors) > 1:
            continue
        own = [a for a in addends(design, model) if a.number == number and not a.against]
        test = found.tests[number - 1]
        name = design.names[term.factors[0]]
        if contrasts / 3 > (test.error_df if test else 0.0):
            chances = tuple(_chance(size * len(units) ** 0.5 / 2, contrasts / 3, level) for size in sizes)
            result.append(Power(name, found.of[number - 1], contrasts / 3, chances, lenth=True))
            continue
        if test is None or not own:
            result.append(Power(name, found.of[number - 1], None, tuple(0.0 for _ in sizes)))
            continue
        weights = 2 * own[0].weights if len(own) == 1 else own[-1].weights - own[0].weights
        error = float(weights @ _solved(model, design, _drawn(lie, found.of[number - 1])) @ weights) ** 0.5
        chances = tuple(_chance(size / error, test.error_df, level) for size in sizes)
        result.append(Power(name, found.of[number - 1], test.error_df, chances))
    return result


def _drawn(lie: Layers, error: Error) -> Groups | None:
    """Return the groups of which one draw of an error is the mean; None: it is an execution."""
    return lie.errors.get(error) if error in ("build", "session") else None


def _solved(model: Coded, design: Design, drawn: Groups | None) -> Array:
    """Return the covariance of the coefficients for draws of variance 1."""
    units = np.ones(len(design.place)) if drawn is None else 1 / drawn.sizes[drawn.of]
    weighted = model.matrix * design.totals(units)[:, None]
    return np.asarray(np.linalg.inv(model.matrix.T @ weighted), dtype=np.float64)


def _contrasts(design: Design) -> int:
    """Count the contrasts that Lenth's method would judge; 0: there are replicates, or other factors."""
    own = saturated(design.codes, design.sizes) if design.counts.max() == 1 else None
    return 0 if own is None or own.matrix.shape[1] - 1 < FEWEST else own.matrix.shape[1] - 1


def _chance(shift: float, df: float, level: float) -> float:
    limit = float(stdtrit(df, 1 - level / 2))
    # far beyond both ends the distribution is 0 to a float, which the function does not say
    below, beyond = (np.nan_to_num(nctdtr(df, shift, end)) for end in (limit, -limit))
    return float(1 - below + beyond)
