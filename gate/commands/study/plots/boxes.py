"""All values of all treatments as boxes with whiskers (Born de Oliveira et al. 2013, Fig. 2).

The settings of one factor stand beside each other wherever the others are held, with their mean and spread (Fig. 8).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from gate.commands.study.plots.columns import Column, Columns, TreatmentValues, columns, edges
from gate.commands.study.plots.marks import LAYOUTS, Array, Scale, said
from gate.model.study import Factor, OneWay, Response, Setting
from gate.plots.picture import Picture, Sheet, room
from gate.writing.amounts import format_p
from gate.writing.plain import clip

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


_At = tuple[tuple[str, Setting], ...]
ROWS = 58
"""Height of the two rows of p below the labels."""


def spreads(prefix: str, response: Response, factor: Factor, units: Sequence[TreatmentValues]) -> Picture | None:
    """Draw boxes of units by treatment with this factor fastest, and below them whether mean and spread differ.

    units: of each treatment, on the scale of the response. None: there is no spread, or the factor has one setting.
    """
    others = [f for f in response.factors if f.name != factor.name]
    if len({s.settings.get(factor.name) for s in units}) < 2:
        return None
    stage = columns(response, units, order=[*others, factor], below=ROWS, logs=response.scale == "log")
    if stage is None:
        return None
    for column in stage.columns:
        values = column.sample.values
        box = whiskers(values)
        draw(stage.sheet, column, box, stage.of, box.outliers, float(np.mean(values)), filled=True)
    shown = _tests(stage, response, factor)
    two = len(factor.settings) == 2
    words = [f"Boxes of the units, the settings of {clip(said(factor.name), 30)} side by side."]
    words.append(
        "They go from quartile to quartile with the median in them, whiskers to the last unit within 1.5 times that "
        "distance; a cross is the mean."
    )
    if shown:
        mean = "t test" if two else "Tukey and Kramer, of the farthest apart"
        spread = "F test, for normal units" if two else "Brown and Forsythe"
        words.append(f"Below: p of equal means ({mean}) and of equal variances ({spread}), each by itself.")
    words += stage.left_out()
    title = f"Mean and spread of {response.benchmark}, {response.metric}, by {factor.name}"
    return stage.sheet.picture(prefix, title, stage.described(), " ".join(words) + stage.keyed)


def _tests(stage: Columns, response: Response, factor: Factor) -> bool:
    """Write the p of each group of columns; tell whether any is there."""
    means = {
        _key(o.at): _mean_p(o) for o in response.one_ways if o.factor == factor.name and (o.at or not _others(response))
    }
    rows = {
        _key(s.at): s.f_p if s.f_p is not None else s.levene_p
        for s in response.spreads
        if s.factor == factor.name and (s.at or not _others(response))
    }

    def at(number: int) -> tuple[float, _At]:
        column = stage.columns[number]
        own = {k: v for k, v in column.sample.settings.items() if k != factor.name}
        return column.y.axis.start, _key(own)

    groups = [
        [stage.columns[k] for k in group] for _, group in groupby(range(len(stage.columns)), key=lambda k: at(k)[:2])
    ]
    shown = False
    for row, (name, found) in enumerate((("mean", means), ("spread", rows))):
        ps = [found.get(at(stage.columns.index(own[0]))[1]) for own in groups]
        texts = ["" if p is None else format_p(p) for p in ps]
        for layout, letters in LAYOUTS:
            # a row is whole, or it is not there
            if not any(texts) or not all(
                room(text, letters) <= _space(own) for text, own in zip(texts, groups, strict=True)
            ):
                continue
            shown = True
            for text, own in zip(texts, groups, strict=True):
                y = own[0].y.axis.start + stage.labels + 16 + 27 * row
                middle = (own[0].x + own[-1].x) / 2
                stage.sheet.text(middle, y, text, f"middle {layout}", "middle", full=f"p of equal {name}s: {text}")
            for bottom in dict.fromkeys(own[0].y.axis.start for own in groups):
                y = bottom + stage.labels + 16 + 27 * row
                stage.sheet.text(stage.left - 8, y, f"p, {name}", f"soft middle {layout}", "end")
    return shown


def _space(own: Sequence[Column]) -> float:
    return own[-1].x - own[0].x + own[0].slot - 4


def _others(response: Response) -> bool:
    return len(response.factors) > 1


def _key(at: Mapping[str, Setting]) -> _At:
    return tuple(sorted(at.items()))


def _mean_p(found: OneWay) -> float | None:
    return min((pair.p for pair in found.pairs if pair.p is not None), default=None)
