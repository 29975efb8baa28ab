"""The variance that the cases of a report share, on arrays of reports: gate.stats.shared_variance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gate.commands.simulate.arrays.pairs import LogMoments
from gate.stats.prior import trigamma_inverse
from gate.stats.shared_variance import FEWEST_CASES, MOST_DF, TOO_NOISY
from gate.stats.special import fdtrc, polygamma, psi

if TYPE_CHECKING:
    from gate.commands.simulate.arrays.pairs import Array, Mask


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """Variance of a round's log ratio and its degrees, shape (reports, cases), and where other cases count in it."""

    variance: Array
    df: Array
    used: Mask


def share_variance(cases: LogMoments) -> Shared:
    """Weigh the variance of each case with those of its report.

    Args:
        cases: shape (reports, cases), the rounds that each case has.
    """
    own, d = cases.contrast, cases.rounds - 1
    if own.shape[1] < FEWEST_CASES:
        return Shared(own, d, np.zeros(own.shape, dtype=np.bool_))
    noise = polygamma(1, d / 2).mean(axis=1)
    correction = psi(d / 2) - np.log(d / 2)
    plain_df, plain = _prior(np.log(own) - correction, noise)
    relative_df, relative = _prior(np.log(own / cases.total) - correction, noise)
    size = np.maximum(plain[:, None], relative[:, None] * cases.total)
    df = 1 / (1 / np.minimum(np.minimum(plain_df, relative_df), MOST_DF) + 2 / d.sum(axis=1))[:, None]
    used = fdtrc(d, df, own / size) >= TOO_NOISY
    variance = np.where(used, (df * size + d * own) / (df + d), own)
    return Shared(variance, np.where(used, df + d, d), used)


def _prior(e: Array, noise: Array) -> tuple[Array, Array]:
    """Return degrees and size of each report's prior, shape (reports,)."""
    excess = e.var(axis=1, ddof=1) - noise
    df = np.array([2 * trigamma_inverse(float(x)) if x > 0 else np.inf for x in excess])
    finite = np.where(np.isfinite(df), df, 1.0)
    shift = np.where(np.isfinite(df), psi(finite / 2) - np.log(finite / 2), 0.0)
    return df, np.exp(e.mean(axis=1) + shift)
