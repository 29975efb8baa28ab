"""Frames of units of analysis, as the statistics of designed experiments take them, and data that R comes with."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pytest

from gate.model.study import Factor

Codes = TypeVar("Codes", bound=tuple[int, ...])

WARPBREAKS = (
    26, 30, 54, 25, 70, 52, 51, 26, 67, 18, 21, 29, 17, 12, 18, 35, 30, 36, 36, 21, 24, 18, 10, 43, 28, 15, 26,
    27, 14, 29, 19, 29, 31, 41, 20, 44, 42, 26, 19, 16, 39, 28, 21, 39, 29, 20, 21, 24, 17, 13, 15, 15, 16, 28,
)  # fmt: skip
"""R's data set warpbreaks: wool A then B, in each tension L, M, H, nine values each."""
NPK_YIELD = (
    49.5, 62.8, 46.8, 57, 59.8, 58.5, 55.5, 56, 62.8, 55.8, 69.5, 55,
    62, 48.8, 45.5, 44.2, 52, 51.5, 49.8, 48.8, 57.2, 59, 53.2, 56,
)  # fmt: skip
"""R's data set npk, its column yield: six blocks of four plots."""
NPK = ("010111000110110010101100", "110001011100010110010110", "100101100101011000111010")
"""Its factors N, P and K, plot by plot."""
WOOL = Factor(name="wool", settings=["A", "B"])
TENSION = Factor(name="tension", settings=["L", "M", "H"])


def factors(*sizes: int) -> list[Factor]:
    """Factors a, b, ... with the settings 0, 1, ..."""
    return [Factor(name=chr(ord("a") + k), settings=list(range(size))) for k, size in enumerate(sizes)]


def about(value: float, rel: float = 1e-6) -> Any:
    """A number to about so many digits, inside a tuple or a mapping that is compared."""
    return pytest.approx(value, rel=rel)


def frame(groups: Mapping[Codes, Sequence[float]]) -> pd.DataFrame:
    """One row a unit; treatments take turns, as iterations of a design do."""
    rows = sorted((i, codes, y) for codes, values in groups.items() for i, y in enumerate(values))
    names = [f"f{k}" for k in range(len(next(iter(groups), ())))]
    data = {
        "y": np.array([y for _, _, y in rows], dtype=np.float64),
        **{name: np.array([codes[k] for _, codes, _ in rows], dtype=np.int64) for k, name in enumerate(names)},
        "session": np.zeros(len(rows), dtype=np.int64),
        "build": np.array([i % 5 for i, _, _ in rows], dtype=np.int64),
        "execution": np.arange(len(rows)),
        "order": np.arange(len(rows)),
        "count": np.ones(len(rows), dtype=np.int64),
    }
    return pd.DataFrame(data)


def crossed(sizes: Sequence[int], draw: Callable[[tuple[int, ...]], Sequence[float]]) -> pd.DataFrame:
    """Units of every combination of settings."""
    return frame({codes: draw(codes) for codes in product(*map(range, sizes))})


def warpbreaks(without: Sequence[int] = ()) -> pd.DataFrame:
    """R's warpbreaks; without: rows to leave out, counted from 1 as R does."""
    groups: dict[tuple[int, ...], list[float]] = {}
    for row, value in enumerate(WARPBREAKS):
        if row + 1 not in without:
            groups.setdefault((row // 27, row // 9 % 3), []).append(value)
    return frame(groups)


UNBALANCED = (1, 2, 3, 30, 54)
"""Rows of warpbreaks that are left out for the unbalanced examples."""
