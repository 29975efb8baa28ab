"""How long quantile regression effects of a designed experiment take, beside statsmodels' QuantReg in the same run.

    python -m benchmarks.study_quantiles [--quick]

Both fit all main effects and interactions at ten quantiles of the same values, with an interval of each effect:
gate.stats with clustered intervals, QuantReg with its own (it knows no clusters). The last column is the largest amount
by which the sum of the check function of gate.stats is above that of QuantReg, as a share of it. Ends with 1 unless
gate.stats is ahead at every size, is nowhere above by more than rounding, and 16 treatments of 5 executions with 1,000
values each take less than 5 s.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt
import pandas as pd
from statsmodels.regression.quantile_regression import QuantReg  # type: ignore[import-untyped] # it has no types

from gate.model.study import Effect, Factor
from gate.stats.design.coding import coded
from gate.stats.design.quantiles import DEFAULT_TAUS, quantile_effects

Floats = npt.NDArray[np.float64]
MOST_SECONDS = 5.0
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Size:
    """Factors of two settings, executions a treatment, values an execution; complete: every treatment measured."""

    factors: int
    executions: int
    values: int
    complete: bool = True
    compared: bool = True
    limited: bool = False

    @property
    def treatments(self) -> list[tuple[int, ...]]:
        """All of them, or all but one of those with three settings of the last factor."""
        full = list(product(range(2), repeat=self.factors))
        if self.complete:
            return full
        three = [*full, *((*codes, 2) for codes in product(range(2), repeat=self.factors - 1))]
        return sorted(three)[:-1]

    @property
    def settings(self) -> list[int]:
        """How many each factor has."""
        return [2] * (self.factors - 1) + [2 if self.complete else 3]

    def __str__(self) -> str:
        """Write it as the table does."""
        return f"{len(self.treatments)}x{self.executions}x{self.values}{'' if self.complete else ' incomplete'}"


SIZES = [
    Size(3, 5, 100),
    Size(4, 5, 1000, limited=True),
    Size(3, 5, 1000, complete=False),
    Size(4, 5, 12_500, compared=False),
    Size(4, 5, 8700, complete=False, compared=False),
]
QUICK = SIZES[:1]


def drawn(size: Size, seed: int) -> pd.DataFrame:
    """Draw skewed values with an effect of the first factor on the upper tail, and effects of executions."""
    rng = np.random.default_rng(seed)
    m = len(size.treatments)
    tail = np.array([codes[0] for codes in size.treatments])[:, None, None]
    logs = 0.1 * rng.normal(size=(m, size.executions, 1)) + 0.5 * rng.normal(size=(m, size.executions, size.values))
    y = np.exp(logs) + tail * np.maximum(logs, 0)
    place = np.repeat(np.arange(m), size.executions * size.values)
    codes = {f"f{k}": np.array(size.treatments)[place, k] for k in range(size.factors)}
    execution = np.repeat(np.arange(m * size.executions), size.values)
    return pd.DataFrame({"y": y.ravel(), **codes, "execution": execution})


def check_function(y: Floats, fitted: Floats, tau: float) -> float:
    """Return the sum that quantile regression makes least."""
    r = y - fitted
    return float(np.maximum(tau * r, (tau - 1) * r).sum())


def fitted(values: pd.DataFrame, factors: Sequence[Factor], effects: Sequence[Effect]) -> Floats:
    """Add up the effects at each value's settings; of two settings the first has the negative of the second."""
    total = np.zeros(len(values))
    number = {factor.name: k for k, factor in enumerate(factors)}
    for effect in effects:
        sign = np.ones(len(values))
        for name, setting in effect.settings.items():
            other = -1.0 if len(factors[number[name]].settings) == 2 else 0.0
            sign *= np.where(values[name].to_numpy() == setting, 1.0, other)
        total += sign * effect.estimate
    return total


def compare(size: Size) -> bool:
    """Measure one size and write its line; tell whether gate.stats keeps what it promises."""
    values = drawn(size, 1)
    factors = [Factor(name=f"f{k}", settings=list(range(n))) for k, n in enumerate(size.settings)]
    start = time.perf_counter()
    found = quantile_effects(values, factors)
    own = time.perf_counter() - start
    kept = own < MOST_SECONDS or not size.limited
    line = f"{size!s:22} {own:8.2f}"
    if size.compared:
        codes = values[[f"f{k}" for k in range(size.factors)]].to_numpy(dtype=np.int64)
        design = coded(codes, size.settings, size.factors).matrix
        y = values["y"].to_numpy()
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it does not always converge
            theirs = [np.asarray(QuantReg(y, design).fit(q=tau).params) for tau in DEFAULT_TAUS]
        other = time.perf_counter() - start
        above = 0.0
        for model, params in zip(found.models, theirs, strict=True):
            best = check_function(y, design @ params, model.tau)
            above = max(above, check_function(y, fitted(values, factors, model.effects), model.tau) / best - 1)
        kept = kept and own < other and above <= ROUNDING
        line += f" {other:9.2f} {other / own:7.1f} {above:9.1e}"
    sys.stdout.write(line + ("\n" if kept else "  not kept\n"))
    sys.stdout.flush()
    return kept


def main() -> int:
    """Measure, and tell by the exit code whether gate.stats keeps what it promises."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.study_quantiles", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--quick", action="store_true", help="the smallest size only, some seconds")
    quick = parser.parse_args().quick
    sys.stdout.write(f"{len(DEFAULT_TAUS)} quantiles, seconds\n\n")
    sys.stdout.write(f"{'values':22} {'gate':>8} {'QuantReg':>9} {'ahead':>7} {'above':>9}\n")
    kept = [compare(size) for size in (QUICK if quick else SIZES)]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
