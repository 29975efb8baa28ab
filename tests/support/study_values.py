"""Values of designed experiments whose quantiles are known."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
from scipy.special import ndtri

from gate.model.study import Factor

WITHIN = 0.5
"""Standard deviation of the logarithm within an execution."""


@dataclass(frozen=True)
class Drawn:
    """Values of a full factorial of factors with two settings each, and what is true of them."""

    values: pd.DataFrame
    factors: list[Factor]
    scales: Sequence[float]
    sd: float

    def effects(self, tau: float) -> dict[str, float]:
        """Effects on the quantile tau over all executions there could be, by term."""
        quantiles = np.array(self.scales) * math.exp(self.sd * float(ndtri(tau)))
        signs = np.array(list(product((-1, 1), repeat=len(self.factors))))
        found = {}
        for chosen in product((False, True), repeat=len(self.factors)):
            names = [factor.name for factor, own in zip(self.factors, chosen, strict=True) if own]
            found[":".join(names) or "intercept"] = float((signs[:, chosen].prod(axis=1) * quantiles).mean())
        return found


def drawn(
    rng: np.random.Generator,
    sizes: tuple[int, ...],
    *,
    executions: int,
    values: int,
    between: float,
    scales: Sequence[float] | None = None,
) -> Drawn:
    """Draw lognormal values. between: sd of executions, in units of that within. scales: of each treatment."""
    treatments = list(product(*map(range, sizes)))
    scales = [1.0] * len(treatments) if scales is None else scales
    m = len(treatments)
    logs = WITHIN * (between * rng.normal(size=(m, executions, 1)) + rng.normal(size=(m, executions, values)))
    place = np.repeat(np.arange(m), executions * values)
    columns = {f"f{k}": np.array(treatments)[place, k] for k in range(len(sizes))}
    build = np.tile(np.repeat(np.arange(executions), values), m)
    y = np.array(scales)[place] * np.exp(logs.ravel())
    frame = pd.DataFrame({"y": y, **columns, "build": build, "execution": place * executions + build})
    factors = [Factor(name="abcd"[k], settings=list(range(size))) for k, size in enumerate(sizes)]
    return Drawn(frame, factors, scales, WITHIN * math.hypot(1, between))
