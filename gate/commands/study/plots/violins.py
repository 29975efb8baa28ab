"""All values of all treatments: a hybrid violin-scatter plot (NIST TN 1855, Fig. 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gate.commands.study.plots.columns import Column, Columns, TreatmentValues, columns, edges
from gate.commands.study.plots.scale import Array, Scale
from gate.model.study import Response
from gate.plots.axes import half_violin
from gate.plots.picture import Picture, Point, Sheet
from gate.plots.thinning import density
from gate.units import agree, plural

_MANY = 2000
"""So many values are drawn without choosing; of more a part."""
_DRAWN = 600
_GOLDEN = 0.6180339887498949


@dataclass(frozen=True, slots=True, eq=False)
class _Kept:
    indices: npt.NDArray[np.int64]
    extreme: npt.NDArray[np.bool_]


def violins(prefix: str, response: Response, samples: Sequence[TreatmentValues]) -> Picture | None:
    """Draw the values of every treatment with the shape of their distribution; None where there is no spread."""
    stage = columns(response, samples)
    if stage is None:
        return None
    quota = _quota(stage.drawn)
    for column in stage.columns:
        _treatment(stage.sheet, column, min(column.slot * 0.44, 46), stage.of, quota)
    title = f"Values of {response.benchmark}, {response.metric}, by treatment"
    return stage.sheet.picture(prefix, title, stage.described(), f"{_caption(stage, quota)}{stage.keyed}")


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


def _treatment(sheet: Sheet, column: Column, half: float, of: Scale, quota: int | None) -> None:
    sample, x, y, look = column.sample, column.x, column.y, column.look
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
    edges(sheet, numbers, column)
    mean = y.axis.at(of.one(float(np.mean(sample.values))))
    sheet.lines("halo", [[(x - half * 0.8, mean), (x + half * 0.8, mean)]])
    sheet.lines("mean", [[(x - half * 0.8, mean), (x + half * 0.8, mean)]])


def _outline(half: Sequence[Point], x: float) -> list[Point]:
    return [*half, *((2 * x - px, at) for px, at in reversed(half[1:-1]))]


def _caption(stage: Columns, quota: int | None) -> str:
    words = ["Each column is a treatment, each mark a value; the shape shows how all values are spread."]
    words.append("A bar is the mean of the values.")
    if quota is not None:
        total = sum(s.values.size for s in stage.drawn)
        count = sum(_thinned(s.values, quota).indices.size for s in stage.drawn)
        words.append(
            f"{count:,} of {plural(total, 'value')} {agree(count, 'is', 'are')} drawn, evenly chosen in the order of "
            "measurement; hollow marks are the extremes, added to them."
        )
    return " ".join([*words, *stage.left_out()])
