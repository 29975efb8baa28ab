"""All values of all treatments: a hybrid violin-scatter plot (NIST TN 1855, Fig. 6)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gate.commands.study.plots.labels import Places, height, keyed, labels, names_room, ordered
from gate.commands.study.plots.marks import Look, combination, look_of
from gate.commands.study.plots.scale import Array, Scale, Vertical, name, scale, vertical
from gate.model.study import Factor, Response, Setting
from gate.plots.axes import grid, half_violin
from gate.plots.picture import Picture, Point, Sheet
from gate.plots.scales import Axis
from gate.plots.thinning import density
from gate.units import agree, plural

_WIDTH = 720
_HEAD, _PLOT = 32, 236
_GAP = 14
_PER_ROW = 24
_ROWS = 3
MOST = _PER_ROW * _ROWS
"""Treatments that are drawn at most."""
_MANY = 2000
"""So many values are drawn without choosing; of more a part."""
_DRAWN = 600
_BROAD = 120.0
_GOLDEN = 0.6180339887498949


@dataclass(frozen=True, slots=True, eq=False)
class TreatmentValues:
    """The values of one treatment as measured, in the base unit of the response and in their order."""

    settings: Mapping[str, Setting]
    values: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class _Kept:
    indices: npt.NDArray[np.int64]
    extreme: npt.NDArray[np.bool_]


def violins(prefix: str, response: Response, samples: Sequence[TreatmentValues]) -> Picture | None:
    """Draw the values of every treatment with the shape of their distribution; None where there is no spread.

    More than 24 treatments stand in several rows; the caption says what is left out.
    """
    found = [s for s in samples if s.values.size]
    every = np.concatenate([s.values for s in found]) if found else np.zeros(0)
    of = scale(response, every, plain=True)
    if of is None or float(every.min()) == float(every.max()):
        return None
    factors = [f for f in response.factors if any(f.name in s.settings for s in found)]
    found = [found[k] for k in ordered(factors, [s.settings for s in found])]
    drawn = found[:MOST]
    y = vertical(of.of(every), of.measure.log, 0, _PLOT, cut=True, count=7)
    rows = _rows(drawn, factors)
    left = max(y.room, names_room(factors))
    places = [_places(left, len(rows[0]), len(row)) for row in rows]
    pitch = _PLOT + 8 + height(factors) + _GAP
    sheet = Sheet(_WIDTH, _HEAD + pitch * len(rows))
    name(sheet, response, of)
    quota = _quota(drawn)
    for number, (row, at) in enumerate(zip(rows, places, strict=True)):
        top = _HEAD + pitch * number
        placed = Vertical(y.range, Axis(y.range.low, y.range.high, top + _PLOT, top), y.ticks, y.room)
        grid(sheet, placed.axis, placed.ticks, left, _WIDTH - 8)
        for sample, x in zip(row, at.xs, strict=True):
            _treatment(sheet, sample, x, min(at.slot * 0.44, 46), placed, of, _look(factors, sample), quota)
        marked = factors[-1] if factors else None
        labels(sheet, factors, [s.settings for s in row], at, top + _PLOT + 8, left, marked=marked)
    caption = _caption(found, drawn, y, of, quota)
    caption += keyed(factors, [s.settings for s in rows[0]], places[0])
    title = f"Values of {response.benchmark}, {response.metric}, by treatment"
    return sheet.picture(prefix, title, _described(drawn, of), caption)


def _look(factors: Sequence[Factor], sample: TreatmentValues) -> Look:
    """Draw by the factor that changes fastest, so that neighbours differ."""
    setting = sample.settings.get(factors[-1].name) if factors else None
    return Look(0) if setting is None else look_of(factors[-1], setting)


def _rows(drawn: Sequence[TreatmentValues], factors: Sequence[Factor]) -> list[list[TreatmentValues]]:
    """Break treatments into rows, where it can be between the settings of a slow factor."""
    if len(drawn) <= _PER_ROW:
        return [list(drawn)]
    length = math.ceil(len(drawn) / math.ceil(len(drawn) / _PER_ROW))
    inner = 1
    for factor in reversed(factors):
        if inner * len(factor.settings) > _PER_ROW:
            break
        inner *= len(factor.settings)
    whole = inner * math.ceil(length / inner)
    length = whole if whole <= _PER_ROW and math.ceil(len(drawn) / whole) <= _ROWS else length
    return [list(drawn[k : k + length]) for k in range(0, len(drawn), length)]


def _places(left: float, most: int, count: int) -> Places:
    slot = min((_WIDTH - left - 12) / most, _BROAD)
    return Places([left + 4 + slot * (k + 0.5) for k in range(count)], slot)


def _quota(drawn: Sequence[TreatmentValues]) -> int | None:
    """Return how many values of a treatment are drawn at most; None: all."""
    total = sum(s.values.size for s in drawn)
    return None if total <= _MANY else max(8, _DRAWN // len(drawn))


def _thinned(values: Array, quota: int | None) -> _Kept:
    """Choose values evenly in their order, and the two extremes."""
    if quota is None or values.size <= quota:
        return _Kept(np.arange(values.size), np.zeros(values.size, dtype=np.bool_))
    even = np.unique(np.linspace(0, values.size - 1, quota - 2).astype(np.int64))
    indices = np.union1d(even, [int(values.argmin()), int(values.argmax())]).astype(np.int64)
    return _Kept(indices, ~np.isin(indices, even))


def _treatment(
    sheet: Sheet, sample: TreatmentValues, x: float, half: float, y: Vertical, of: Scale, look: Look, quota: int | None
) -> None:
    numbers = of.of(sample.values)
    found = density(numbers, y.range.low, y.range.high, 16 if half < 14 else 40)
    widths = np.full(numbers.size, 0.5)
    if found is not None:
        sheet.lines(f"violin-{look.colour}", [_outline(half_violin(y.axis, found, x, half), x)], closed=True)
        grid_at = np.linspace(found.low, found.high, found.heights.size)
        widths = np.interp(numbers, grid_at, found.heights) if found.high > found.low else widths
    kept = _thinned(sample.values, quota)
    # evenly spread over the width of the shape, always the same
    share = (np.arange(numbers.size) * _GOLDEN) % 1 * 2 - 1
    xs = x + share * half * 0.9 * np.maximum(widths, 0.04)
    pixels = y.axis.all(numbers)
    inside = y.inside(numbers)
    plain = [k for k, far in zip(kept.indices.tolist(), kept.extreme.tolist(), strict=True) if inside[k] and not far]
    ends = [k for k, far in zip(kept.indices.tolist(), kept.extreme.tolist(), strict=True) if inside[k] and far]
    look.marks(sheet, [(float(xs[k]), pixels[k]) for k in plain], "small")
    look.hollow(sheet, [(float(xs[k]), pixels[k]) for k in ends])
    _edges(sheet, numbers, x, y, look)
    mean = y.axis.at(of.one(float(np.mean(sample.values))))
    sheet.lines("halo", [[(x - half * 0.8, mean), (x + half * 0.8, mean)]])
    sheet.lines("mean", [[(x - half * 0.8, mean), (x + half * 0.8, mean)]])


def _outline(half: Sequence[Point], x: float) -> list[Point]:
    return [*half, *((2 * x - px, at) for px, at in reversed(half[1:-1]))]


def _edges(sheet: Sheet, numbers: Array, x: float, y: Vertical, look: Look) -> None:
    if (numbers > y.range.high).any():
        sheet.marks(f"edge-{look.colour}", "chevron-up", [(x, y.axis.end + 4)], 4)
    if (numbers < y.range.low).any():
        sheet.marks(f"edge-{look.colour}", "chevron-down", [(x, y.axis.start - 4)], 4)


def _caption(
    found: Sequence[TreatmentValues], drawn: Sequence[TreatmentValues], y: Vertical, of: Scale, quota: int | None
) -> str:
    words = ["Each column is a treatment, each mark a value; the shape shows how all values are spread."]
    words.append("A bar is the mean of the values.")
    total = sum(s.values.size for s in drawn)
    if quota is not None:
        count = sum(_thinned(s.values, quota).indices.size for s in drawn)
        words.append(
            f"{count:,} of {plural(total, 'value')} {agree(count, 'is', 'are')} drawn, evenly chosen in the order of "
            "measurement; hollow marks are the extremes, added to them."
        )
    if y.range.beyond:
        every = np.concatenate([s.values for s in found])
        out = every[~y.inside(of.of(every))]
        far = (
            f"at {of.say(float(out.min()))}"
            if out.size == 1
            else f"{of.say(float(out.min()))} to {of.say(float(out.max()))}"
        )
        words.append(
            f"{out.size:,} of {plural(every.size, 'value')} {agree(out.size, 'lies', 'lie')} beyond the axis ({far}), "
            "marked at its edge."
        )
    if len(drawn) < len(found):
        words.append(f"The first {len(drawn)} of {len(found)} treatments are drawn.")
    return " ".join(words)


def _described(drawn: Sequence[TreatmentValues], of: Scale) -> str:
    means = [(float(np.mean(s.values)), s) for s in drawn]
    low, high = min(means, key=lambda m: m[0]), max(means, key=lambda m: m[0])
    return (
        f"{plural(len(drawn), 'treatment')}; the lowest mean is {of.say(low[0])} ({combination(low[1].settings)}), "
        f"the highest {of.say(high[0])} ({combination(high[1].settings)})."
    )
