"""Quantile regression as the linear programme that it is."""

import numpy as np
import numpy.typing as npt
from scipy import optimize

Array = npt.NDArray[np.float64]


def linear_programme(y: Array, design: Array, tau: float) -> tuple[float, Array]:
    """The least sum and its coefficients by HiGHS, in the textbook form: tau u + (1 - tau) v, y - design b = u - v; u, v >= 0.

    Columns and values are scaled before, and values centred, since HiGHS's tolerances are absolute.
    """
    n, p = design.shape
    scale = np.abs(design).max(axis=0)
    scale[scale == 0] = 1
    scaled = design / scale
    center = np.linalg.lstsq(scaled, y, rcond=None)[0]
    rest = y - scaled @ center
    size = float(np.abs(rest).max()) or 1.0
    found = optimize.linprog(
        np.concatenate((np.zeros(p), np.full(n, tau), np.full(n, 1 - tau))),
        A_eq=np.hstack((scaled, np.eye(n), -np.eye(n))),
        b_eq=rest / size,
        bounds=[(None, None)] * p + [(0, None)] * (2 * n),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert found.status == 0 and found.fun is not None and found.x is not None
    return float(found.fun) * size, (center + size * np.asarray(found.x[:p])) / scale
