"""The units of analysis by treatment, and their means by treatment, by the setting of a factor, and by those of two.

What tables, plots and tests of a designed experiment begin with (NIST TN 1855, 4.6.2 and Fig. 12 to 27).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from itertools import combinations, product
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gate.model.study import Factor, MainEffect, MeanPoint, Setting, Treatment
from gate.stats.design.aliases import orthogonal
from gate.stats.quantile import needed_values, type8

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    Array = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]

Codes = tuple[int, ...]
"""The number of the setting of each factor."""
TAUS = (0.5, 0.9, 0.95, 0.99)
"""The quantiles of a treatment."""
_LISTED = 10_000
"""Most combinations of settings among which those that were not measured are named."""
HAIR = 1e-12
"""The share of a value that is rounding of floats rather than a difference."""


class Cell(msgspec.Struct, frozen=True, eq=False):
    """One treatment that was measured. y: its units, float64, shape (n,), n >= 1. rows: where they are in the frame."""

    codes: Codes
    y: Array
    rows: Ints

    @property
    def mean(self) -> float:
        """The mean of the units, the same in whatever order they come."""
        return mean(self.y)

    @property
    def squares(self) -> float:
        """Sum of squared deviations from the mean; exactly 0 where they are rounding."""
        return squares(self.y)


def mean(y: Array) -> float:
    """Return the mean of y, shape (n,), n >= 1, the same in whatever order the values come."""
    return math.fsum(y) / len(y)


def squares(y: Array) -> float:
    """Return the sum of squared deviations from the mean of y, shape (n,); exactly 0 where they are rounding."""
    away = y - mean(y)
    return float((away**2).sum()) if np.abs(away).max() > HAIR * np.abs(y).max() else 0.0


def sd(y: Array) -> float | None:
    """Return the standard deviation of y, shape (n,); None of one value."""
    return math.sqrt(squares(y) / (len(y) - 1)) if len(y) > 1 else None


def cells(frame: pd.DataFrame, factors: Sequence[Factor]) -> list[Cell]:
    """Return the treatments of a frame (columns y, f0, f1, ...) in standard order, the last factor fastest."""
    y = frame["y"].to_numpy(dtype=np.float64)
    if not len(y):
        return []
    if not factors:
        return [Cell((), y, np.arange(len(y)))]
    codes = np.column_stack([frame[f"f{k}"].to_numpy(dtype=np.int64) for k in range(len(factors))])
    found, place = np.unique(codes, axis=0, return_inverse=True)
    place = place.reshape(len(y))
    order = np.argsort(place, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(place))[:-1])
    return [Cell(tuple(c), y[rows], rows) for c, rows in zip(found.tolist(), parts, strict=True)]


def settings(factors: Sequence[Factor], codes: Codes, without: int | None = None) -> dict[str, Setting]:
    """Return a treatment's settings by name. without: the number of a factor to leave out."""
    pairs = enumerate(zip(factors, codes, strict=True))
    return {factor.name: factor.settings[code] for k, (factor, code) in pairs if k != without}


def measured(of: Sequence[Cell], factor: int) -> list[int]:
    """Return the settings of one factor that any treatment has, in order."""
    return sorted({cell.codes[factor] for cell in of})


class Box(msgspec.Struct, frozen=True, eq=False):
    """The treatments that differ in one factor only, in the order of its settings."""

    factor: int
    cells: tuple[Cell, ...]

    @property
    def codes(self) -> list[int]:
        """The settings that were measured here."""
        return [cell.codes[self.factor] for cell in self.cells]

    def at(self, factors: Sequence[Factor]) -> dict[str, Setting]:
        """Return the settings of the other factors."""
        return settings(factors, self.cells[0].codes, without=self.factor)


def boxes(of: Sequence[Cell], factor: int) -> list[Box]:
    """Sort treatments by the settings of the other factors, in standard order."""
    found: dict[Codes, list[Cell]] = {}
    for cell in of:
        found.setdefault((*cell.codes[:factor], *cell.codes[factor + 1 :]), []).append(cell)
    return [Box(factor, tuple(found[codes])) for codes in sorted(found)]


def complete(of: Sequence[Box]) -> list[Box]:
    """Return the boxes with every setting of the factor that was measured anywhere."""
    every = {code for box in of for code in box.codes}
    return [box for box in of if len(box.codes) == len(every)]


def treatments(units: pd.DataFrame, values: pd.DataFrame, factors: Sequence[Factor]) -> list[Treatment]:
    """Return what was measured of each treatment, in standard order: the last factor changes fastest.

    Mean and sd are of the units; counts and type 8 quantiles (Hyndman and Fan 1996) of the values, those that have
    10 values beyond them.
    """
    of = {cell.codes: cell for cell in cells(values, factors)}
    return [_treatment(cell, of.get(cell.codes), values, factors) for cell in cells(units, factors)]


def _treatment(cell: Cell, inside: Cell | None, values: pd.DataFrame, factors: Sequence[Factor]) -> Treatment:
    counts = dict.fromkeys(("session", "build", "execution"), 0)
    quantiles = {}
    if inside is not None:
        counts = {name: int(values[name].iloc[inside.rows].nunique()) for name in counts}
        quantiles = {str(tau): type8(inside.y, tau) for tau in TAUS if len(inside.y) >= needed_values(tau)}
    return Treatment(
        settings=settings(factors, cell.codes),
        sessions=counts["session"],
        builds=counts["build"],
        executions=counts["execution"],
        values=0 if inside is None else len(inside.y),
        mean=cell.mean,
        sd=sd(cell.y),
        quantiles=quantiles,
    )


def lacking(units: pd.DataFrame, factors: Sequence[Factor]) -> list[dict[str, Setting]]:
    """Return the combinations of settings without a unit, in standard order.

    None of a fraction, which leaves them out by design, and none of more than 10,000 combinations.
    """
    there = {cell.codes for cell in cells(units, factors)}
    sizes = [len(factor.settings) for factor in factors]
    if math.prod(sizes) > _LISTED or (len(there) > 1 and _orthogonal(there, sizes)):
        return []
    every = product(*map(range, sizes))
    return [settings(factors, codes) for codes in every if codes not in there]


def balanced(units: pd.DataFrame, factors: Sequence[Factor]) -> bool:
    """Return whether all treatments have as many units and are all combinations, or an orthogonal fraction of them."""
    of = cells(units, factors)
    sizes = [len(factor.settings) for factor in factors]
    if len({len(cell.y) for cell in of}) != 1:
        return False
    there = {cell.codes for cell in of}
    return len(there) == math.prod(sizes) or _orthogonal(there, sizes)


def _orthogonal(there: Collection[Codes], sizes: Sequence[int]) -> bool:
    return orthogonal(np.array(sorted(there), dtype=np.int64), sizes)


def main_effects(units: pd.DataFrame, factors: Sequence[Factor]) -> list[MainEffect]:
    """Return for each factor the mean at each of its settings: of treatment means, each treatment counting alike.

    A setting that was not measured has no point. Where treatments are lacking the points of a factor are means over
    different settings of the others: see `lacking`.
    """
    return _effects(units, factors, 1)


def interactions(units: pd.DataFrame, factors: Sequence[Factor]) -> list[MainEffect]:
    """Return the same for each two factors: a mean for each combination of their settings that was measured."""
    return _effects(units, factors, 2)


def _effects(units: pd.DataFrame, factors: Sequence[Factor], size: int) -> list[MainEffect]:
    of = cells(units, factors)
    return [_effect(of, factors, chosen) for chosen in combinations(range(len(factors)), size)]


def _effect(of: list[Cell], factors: Sequence[Factor], chosen: tuple[int, ...]) -> MainEffect:
    means: dict[tuple[int, ...], list[float]] = {}
    for cell in of:
        means.setdefault(tuple(cell.codes[k] for k in chosen), []).append(cell.mean)
    own = [factors[k] for k in chosen]
    points = [
        MeanPoint(
            settings=settings(own, codes), mean=sum(means[codes]) / len(means[codes]), treatments=len(means[codes])
        )
        for codes in sorted(means)
    ]
    return MainEffect(factors=[factor.name for factor in own], points=points)
