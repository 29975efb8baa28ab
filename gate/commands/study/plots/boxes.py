"""All values of all treatments as boxes with whiskers (Born de Oliveira et al. 2013, Fig. 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gate.commands.study.plots.columns import Column, TreatmentValues, columns, edges
from gate.commands.study.plots.scale import Array, Scale
from gate.model.study import Response
from gate.plots.picture import Picture, Sheet

REACH = 1.5
"""Whiskers reach to the last value within so many times the distance of the quartiles (Tukey)."""
_OUTLIERS = 40
"""Outliers of a treatment that are drawn at most; of more some, the extremes among them."""
_ALL = 600
"""Outliers that are drawn at most in all."""


@dataclass(frozen=True, slots=True, eq=False)
class Whiskers:
    """A box: the quartiles, the ends of the whiskers, and the values beyond them, ascending."""

    first: float
    median: float
    third: float
    low: float
    high: float
    outliers: Array


def whiskers(values: Array) -> Whiskers:
    """Return the box of values, at least one; quartiles are of type 8 as all quantiles of a study."""
    first, middle, third = np.quantile(values, (0.25, 0.5, 0.75), method="median_unbiased").tolist()
    reach = REACH * (third - first)
    inside = values[(values >= first - reach) & (values <= third + reach)]
    # between two clusters there may be no value at all
    low, high = (min(float(inside.min()), first), max(float(inside.max()), third)) if inside.size else (first, third)
    return Whiskers(first, middle, third, low, high, np.sort(values[(values < low) | (values > high)]))


def boxes(prefix: str, response: Response, samples: Sequence[TreatmentValues]) -> Picture | None:
    """Draw a box with whiskers for every treatment; None where there is no spread."""
    stage = columns(response, samples)
    if stage is None:
        return None
    own = [whiskers(column.sample.values) for column in stage.columns]
    quota = max(6, min(_OUTLIERS, _ALL // len(own)))
    for column, box in zip(stage.columns, own, strict=True):
        mean = float(np.mean(column.sample.values))
        draw(stage.sheet, column, box, stage.of, _chosen(box.outliers, quota), mean)
        edges(stage.sheet, stage.of.of(column.sample.values), column)
    words = [LEGEND]
    outliers, drawn = (
        sum(counts) for counts in ([b.outliers.size for b in own], [min(b.outliers.size, quota) for b in own])
    )
    if drawn < outliers:
        words.append(f"{drawn:,} of {outliers:,} outliers are drawn, the extremes among them.")
    words += stage.left_out()
    title = f"Box plots of {response.benchmark}, {response.metric}, by treatment"
    return stage.sheet.picture(prefix, title, stage.described(), " ".join(words) + stage.keyed)


LEGEND = (
    "Each box goes from the lower to the upper quartile of all values of a treatment, with the median in it. Whiskers "
    "end at the last value within 1.5 times that distance from the box; marks beyond them are outliers, a cross is the "
    "mean."
)


def draw(
    sheet: Sheet, column: Column, box: Whiskers, of: Scale, outliers: Array, mean: float, *, filled: bool = False
) -> None:
    """Draw a box where a treatment stands.

    Args:
        outliers: those to draw.
        filled: draw them as marks, not hollow.
    """
    x, y, look = column.x, column.y, column.look
    half = min(column.slot * 0.32, 30.0)
    low, first, middle, third, high = (
        y.axis.at(of.one(value)) for value in (box.low, box.first, box.median, box.third, box.high)
    )
    sheet.lines(
        f"box-{look.colour}",
        [[(x - half, first), (x + half, first), (x + half, third), (x - half, third)]],
        closed=True,
    )
    stems = [[(x, first), (x, low)], [(x, third), (x, high)]]
    caps = [[(x - half / 2, end), (x + half / 2, end)] for end in (low, high)]
    sheet.lines(f"fine-{look.colour}", [*stems, *caps])
    sheet.lines(f"bar-{look.colour}", [[(x - half, middle), (x + half, middle)]])
    numbers = of.of(outliers)
    points = [(x, pixel) for pixel, inside in zip(y.axis.all(numbers), y.inside(numbers), strict=True) if inside]
    if filled:
        look.marks(sheet, points, "small")
    else:
        look.hollow(sheet, points)
    at = (x, y.axis.at(of.one(mean)))
    size = min(4.5, half * 0.6)
    sheet.marks("halo", "cross", [at], size)
    sheet.marks("mean", "cross", [at], size)


def _chosen(outliers: Array, quota: int) -> Array:
    if outliers.size <= quota:
        return outliers
    return outliers[np.linspace(0, outliers.size - 1, quota).astype(np.int64)]
