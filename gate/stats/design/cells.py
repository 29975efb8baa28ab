"""The units of analysis by treatment, and their means by treatment, by the setting of a factor, and by those of two.

What tables, plots and tests of a designed experiment begin with (NIST TN 1855, 4.6.2 and Fig. 12 to 27); block plots
with the chance of their pattern (4.6.3); and whether the spread of treatments grows with their level.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gate.model import study
from gate.model.study import Blocks, Factor, MainEffect, MeanPoint, Setting, Treatment
from gate.stats.centers import needed_values, type8
from gate.stats.design.aliases import orthogonal
from gate.stats.rounding import Array, Ints

if TYPE_CHECKING:
    import pandas as pd

Codes = tuple[int, ...]
"""The number of the setting of each factor."""
TAUS = (0.5, 0.9, 0.95, 0.99)
"""The quantiles of a treatment."""
_LISTED = 10_000
"""Most combinations of settings among which those that were not measured are named."""
HAIR = 1e-12
"""The share of a value that is rounding of floats rather than a difference."""


class TreatmentCell(msgspec.Struct, frozen=True, eq=False):
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


def cells(frame: pd.DataFrame, factors: Sequence[Factor]) -> list[TreatmentCell]:
    """Return the treatments of a frame (columns y, f0, f1, ...) in standard order, the last factor fastest."""
    y = frame["y"].to_numpy(dtype=np.float64)
    if not len(y):
        return []
    if not factors:
        return [TreatmentCell((), y, np.arange(len(y)))]
    codes = np.column_stack([frame[f"f{k}"].to_numpy(dtype=np.int64) for k in range(len(factors))])
    found, place = np.unique(codes, axis=0, return_inverse=True)
    place = place.reshape(len(y))
    order = np.argsort(place, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(place))[:-1])
    return [TreatmentCell(tuple(c), y[rows], rows) for c, rows in zip(found.tolist(), parts, strict=True)]


def settings(factors: Sequence[Factor], codes: Codes, without: int | None = None) -> dict[str, Setting]:
    """Return a treatment's settings by name. without: the number of a factor to leave out."""
    pairs = enumerate(zip(factors, codes, strict=True))
    return {factor.name: factor.settings[code] for k, (factor, code) in pairs if k != without}


class BoxCells(msgspec.Struct, frozen=True, eq=False):
    """The treatments that differ in one factor only, in the order of its settings."""

    factor: int
    cells: tuple[TreatmentCell, ...]

    @property
    def codes(self) -> list[int]:
        """The settings that were measured here."""
        return [cell.codes[self.factor] for cell in self.cells]

    def at(self, factors: Sequence[Factor]) -> dict[str, Setting]:
        """Return the settings of the other factors."""
        return settings(factors, self.cells[0].codes, without=self.factor)


def boxes(of: Sequence[TreatmentCell], factor: int) -> list[BoxCells]:
    """Sort treatments by the settings of the other factors, in standard order."""
    found: dict[Codes, list[TreatmentCell]] = {}
    for cell in of:
        found.setdefault((*cell.codes[:factor], *cell.codes[factor + 1 :]), []).append(cell)
    return [BoxCells(factor, tuple(found[codes])) for codes in sorted(found)]


def complete(of: Sequence[BoxCells]) -> list[BoxCells]:
    """Return the boxes with every setting of the factor that was measured anywhere."""
    every = {code for box in of for code in box.codes}
    return [box for box in of if len(box.codes) == len(every)]


def treatments(units: pd.DataFrame, values: pd.DataFrame, factors: Sequence[Factor]) -> list[Treatment]:
    """Return what was measured of each treatment, in standard order: the last factor changes fastest.

    Mean and sd are of the units; counts and type 8 quantiles (Hyndman and Fan 1996) of the values, those that have
    10 values beyond them.
    """
    of, found = {cell.codes: cell for cell in cells(values, factors)}, []
    for cell in cells(units, factors):
        inside = of[cell.codes]
        sessions, builds, executions = (
            int(values[name].iloc[inside.rows].nunique()) for name in ("session", "build", "execution")
        )
        found.append(
            Treatment(
                settings=settings(factors, cell.codes),
                sessions=sessions,
                builds=builds,
                executions=executions,
                values=len(inside.y),
                mean=cell.mean,
                sd=sd(cell.y),
                quantiles={str(tau): type8(inside.y, tau) for tau in TAUS if len(inside.y) >= needed_values(tau)},
            )
        )
    return found


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


def main_effects(units: pd.DataFrame, factors: Sequence[Factor], size: int = 1) -> list[MainEffect]:
    """Return for each factor the mean at each of its settings: of treatment means, each treatment counting alike.

    A setting that was not measured has no point. Where treatments are lacking the points of a factor are means over
    different settings of the others: see `lacking`.

    Args:
        size: of how many factors at a time; of two there is a mean for each combination of their settings.
    """
    of, found = cells(units, factors), []
    for chosen in combinations(range(len(factors)), size):
        means: dict[Codes, list[float]] = {}
        for cell in of:
            means.setdefault(tuple(cell.codes[k] for k in chosen), []).append(cell.mean)
        own = [factors[k] for k in chosen]
        points = [
            MeanPoint(settings=settings(own, codes), mean=sum(each) / len(each), treatments=len(each))
            for codes, each in sorted(means.items())
        ]
        found.append(MainEffect(factors=[factor.name for factor in own], points=points))
    return found


def blocks(units: pd.DataFrame, factors: Sequence[Factor]) -> list[Blocks]:
    """Return a block plot for each factor.

    Boxes without a mean for every setting measured are shown, not counted. Equal means (to rounding) are in no order,
    and their box agrees with none; it counts as a box all the same, so the chances err to the cautious side.
    """
    of, found = cells(units, factors), []
    for factor, each in enumerate(factors):
        own = boxes(of, factor)
        shown = [
            study.Box(at=box.at(factors), points=[(each.settings[c.codes[factor]], c.mean) for c in box.cells])
            for box in own
        ]
        whole = complete(own)
        size = len(whole[0].cells) if whole else 0
        told = Blocks(factor=each.name, boxes=shown, complete=0, order=None, same=0, chance=None)
        if size > 1:
            orders: Counter[tuple[int, ...]] = Counter()
            for box in whole:
                ranked = sorted((cell.mean, code) for cell, code in zip(box.cells, box.codes, strict=True))
                # two means that are equal to rounding are in no order
                if not any(high - low <= HAIR * max(abs(low), abs(high)) for (low, _), (high, _) in pairwise(ranked)):
                    orders[tuple(code for _, code in ranked)] += 1
            (order, same), *_ = [*orders.most_common(1), ((), 0)]
            told = msgspec.structs.replace(
                told,
                complete=len(whole),
                order=[each.settings[code] for code in order] if same == len(whole) else None,
                same=same,
                # that all boxes have one same order, whichever
                chance=float(Fraction(1, math.factorial(size) ** (len(whole) - 1))),
            )
        found.append(told)
    return found


LEAST_RATIO = 3.0
"""The largest treatment over the smallest: below it both scales say the same."""
LEAST_SLOPE = 0.5
"""From here on logarithms make spreads more alike than values do."""
_CLEAR = 2.5
"""Standard errors that the slope is above 0."""
_APART = 6.0
"""Standard errors that the largest and the smallest treatment are apart: luck of heavy tails is no level."""


def spread_grows(units: pd.DataFrame, factors: Sequence[Factor]) -> bool:
    """Return whether units (columns y, f0, f1, ...) are all above 0 and spread the more the larger they are."""
    found = [cell.y for cell in cells(units, factors)]
    if len(found) < 2 or min(float(y.min()) for y in found) <= 0:
        return False
    known = [y for y in found if len(y) > 1 and np.ptp(y) > 0]
    if len(known) < 2:
        return False
    n = np.array([len(y) for y in known], dtype=np.float64)
    level = np.log([y.mean() for y in known])
    spread = np.log([y.std(ddof=1) for y in known])
    # where tails are long, luck moves means and standard deviations together, but not medians
    middle = np.log([np.median(y) for y in known])
    ratio = float(min(np.ptp(level), np.ptp(middle)))
    if ratio < math.log(LEAST_RATIO):
        return False
    within = sum(float(((np.log(y) - np.log(y).mean()) ** 2).sum()) for y in known) / float((n - 1).sum())
    if ratio < _APART * math.sqrt(2 * within / n.min()):
        return False
    weights = n - 1
    x = level - np.average(level, weights=weights)
    square = float(weights @ x**2)
    slope = float(weights @ (x * spread)) / square
    rest = spread - np.average(spread, weights=weights) - slope * x
    # the logarithm of the sd of n normal values has about this variance; long tails are seen in the residuals
    noise = 0.5 if len(known) < 4 else max(0.5, float(weights @ rest**2) / (len(known) - 2))
    return slope >= LEAST_SLOPE and slope > _CLEAR * math.sqrt(noise / square)
