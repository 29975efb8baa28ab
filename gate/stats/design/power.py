"""The chance that a planned experiment finds a change of a factor's mean, in standard deviations of its noise.

By the noncentral F distribution, of a design with so many units of each treatment and an error with so many degrees of
freedom (Montgomery, Design and Analysis of Experiments, 3.7 and 6.2); where there is no error, of Lenth's method by
simulation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gate.stats.special import fdtri, ncfdtr, stdtrit

if TYPE_CHECKING:
    import numpy.typing as npt

    from gate.stats.design.coding import Coded

    Array = npt.NDArray[np.float64]

_DRAWS = 4000
_MANY = 60
"""Contrasts from which on the limits are simulated with fewer draws."""


def change_power(model: Coded, units: Array, factor: int, change: float, error_df: int, alpha: float) -> float | None:
    """Return the chance that the test of a factor finds a change; None: there is no test.

    Args:
        model: its rows are treatments.
        units: of each treatment, all of variance 1 about it, blocks taken off.
        factor: its number; of more than two settings the first and the last differ by the change, the others are
            halfway.
        change: between settings, in standard deviations of a unit.
        error_df: degrees of freedom of the error.
        alpha: level of the test of this factor.
    """
    term = next((own for own in model.terms if own.factors == (factor,)), None)
    if term is None or error_df < 1:
        return None
    solved = np.linalg.inv(model.matrix.T @ (model.matrix * units[:, None]))
    own = slice(term.start, term.stop)
    effect = np.zeros(term.stop - term.start)
    effect[-1] = change / 2
    noncentrality = float(effect @ np.linalg.solve(solved[own, own], effect))
    limit = float(fdtri(len(effect), error_df, 1 - alpha))
    return float(1 - ncfdtr(len(effect), error_df, noncentrality, limit))


def lenth_power(contrasts: int, treatments: int, change: float, confidence: float) -> float:
    """Return the chance that Lenth's limit for all contrasts finds the change by one factor, all others doing nothing.

    Args:
        contrasts: how many there are.
        treatments: each measured once.
        change: in standard deviations of a measurement.
        confidence: of no false alarm at all.
    """
    rng = np.random.default_rng(1989)
    sizes = np.abs(rng.normal(0, 1, (_DRAWS if contrasts <= _MANY else _DRAWS // 4, contrasts)) + _shift(
        contrasts, change / 2 * treatments**0.5
    ))  # fmt: skip
    first = 1.5 * np.median(sizes, axis=1, keepdims=True)
    quiet = np.where(sizes < 2.5 * first, sizes, np.nan)
    limit = float(stdtrit(contrasts / 3, (1 + confidence ** (1 / contrasts)) / 2)) * 1.5 * np.nanmedian(quiet, axis=1)
    return float((sizes[:, 0] > limit).mean())


def _shift(contrasts: int, first: float) -> Array:
    found = np.zeros(contrasts)
    found[0] = first
    return found
