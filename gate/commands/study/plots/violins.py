"""All values of all treatments in violins with dots (NIST TN 1855, Fig. 6); the histogram of one (QR Fig. 4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gate.commands.study.plots.columns import Column, Columns, TreatmentValues, columns, edges
from gate.commands.study.plots.marks import Array, Scale, combination, marks_between, said, scale, whole, write
from gate.model.study import Response
from gate.plots.axes import grid, half_violin, tick_room
from gate.plots.picture import Picture, Point, Sheet
from gate.plots.scales import Axis, Range, limits, ticks
from gate.plots.thinning import density
from gate.stats.quantile import needed_values, type8
from gate.units import agree, plural
from gate.writing.plain import clip

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


_WIDTH = 720
_TITLE, _LINE, _PLOT, _FOOT = 34, 27, 150, 64
_FEWEST, _MOST = 8, 60
"""Bars."""
_TAIL = 0.99


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """Counts between evenly spaced ends, in the numbers of the axis."""

    low: float
    width: float
    counts: npt.NDArray[np.int64]

    @property
    def high(self) -> float:
        """The right end of the last bar."""
        return self.low + self.width * len(self.counts)


def bins(numbers: Array) -> Bins | None:
    """Count numbers in bars as broad as Freedman and Diaconis have them; None where all are the same.

    Numbers that an instrument rounds get bars of whole steps, so that no bar is empty because no number falls into it.
    """
    low, high = float(numbers.min()), float(numbers.max())
    if not high - low > 1e-9 * max(abs(low), abs(high)):
        return None
    first, third = np.percentile(numbers, (25, 75))
    width = 2 * float(third - first) * numbers.size ** (-1 / 3) or (high - low) / _FEWEST
    width = min(max(width, (high - low) / _MOST), (high - low) / _FEWEST)
    gaps = np.diff(np.unique(numbers))
    step = float(gaps[gaps > 1e-7 * (high - low)].min())
    if (high - low) / step < 20 * _MOST and np.allclose(gaps / step, np.rint(gaps / step), atol=1e-3):
        width = step * max(1, math.ceil(width / step - 1e-6))
        low -= step / 2
    count = max(1, math.ceil((high - low) / width + 1e-9))
    place = np.minimum(((numbers - low) / width + 1e-9).astype(np.int64), count - 1)
    return Bins(low, width, np.bincount(place, minlength=count))


def histogram(prefix: str, response: Response, sample: TreatmentValues) -> Picture | None:
    """Draw the histogram of a treatment's values with their median, mean and p99; None where there is no spread."""
    of = scale(response, sample.values, plain=True)
    if of is None:
        return None
    numbers = of.of(sample.values)
    ends = limits(numbers, [])
    inside = numbers[(numbers >= ends.low) & (numbers <= ends.high)]
    found = bins(inside)
    if found is None:
        return None
    lines = _lines(sample.values)
    top = _TITLE + _LINE * len(lines)
    sheet = Sheet(_WIDTH, top + _PLOT + _FOOT)
    most = float(found.counts.max())
    marks = [t for t in ticks(0, most * 1.05, 4) if t.at % 1 == 0]
    left, right = tick_room(marks), _WIDTH - 34
    y = Axis(0, most * 1.05, top + _PLOT, top)
    span = whole(np.array([found.low, found.high]))
    x = Axis(span.low, span.high, left, right)
    write(sheet, 12, 18, combination(sample.settings, 200), _WIDTH - 60, "strong other", "start")
    grid(sheet, y, marks, left, right)
    bars = []
    for number, count in enumerate(found.counts.tolist()):
        if count:
            begin, end = (x.at(found.low + found.width * k) for k in (number, number + 1))
            gap = min(0.5, (end - begin) / 8)
            bars.append(
                [(begin + gap, y.start), (end - gap, y.start), (end - gap, y.at(count)), (begin + gap, y.at(count))]
            )
    sheet.lines("pip-s0", bars, closed=True)
    sheet.lines("axis", [[(left, y.start), (right, y.start)]])
    for row, (label, value) in enumerate(lines):
        _line(sheet, f"{label} {of.say(value)}", x, y, of.one(value), _TITLE + _LINE * row, span)
    sheet.row(
        y.start + 24,
        [(x.at(t.at), t.label) for t in marks_between(span.low, span.high, 8, log=of.measure.log)],
        "soft",
    )
    unit = f", {clip(said(of.measure.unit), 14)}" if of.measure.unit else ""
    for layout, width, kind in (("wide", 24, " (log axis)"), ("narrow", 14, " (log)")):
        log = kind if of.measure.log else ""
        text = f"{clip(said(response.metric), width)}{unit}{log}"
        sheet.text((left + right) / 2, sheet.height - 10, text, f"soft other {layout}", "middle")
    total = plural(sample.values.size, "value")
    words = [f"How many of the {total} of {combination(sample.settings, 80)} fall into each bar."]
    words.append("Several peaks are several modes; a long tail to the right is usual for times.")
    if ends.beyond:
        out = sample.values[(numbers < ends.low) | (numbers > ends.high)]
        far = f"{of.say(float(out.min()))} to {of.say(float(out.max()))}" if out.size > 1 else of.say(float(out[0]))
        words.append(f"{out.size:,} {agree(out.size, 'lies', 'lie')} beyond the axis ({far}).")
    said_ = ", ".join(f"{label} {of.say(value)}" for label, value in lines)
    title = f"Histogram of {response.benchmark}, {response.metric}, at {combination(sample.settings, 100)}"
    return sheet.picture(prefix, title, f"{plural(sample.values.size, 'value')}: {said_}.", " ".join(words))


def _lines(values: Array) -> list[tuple[str, float]]:
    found = [("median", type8(values, 0.5)), ("mean", float(values.mean()))]
    if values.size >= needed_values(_TAIL):
        found.append(("p99", type8(values, _TAIL)))
    return found


def _line(sheet: Sheet, text: str, x: Axis, y: Axis, number: float, top: float, span: Range) -> None:
    """Draw a line from its label down to the axis; the label stands where there is room for it."""
    if not span.low <= number <= span.high:
        return
    at = x.at(number)
    sheet.lines("dotted" if text.startswith("mean") else "zero", [[(at, top + 12), (at, y.start)]])
    left = at > (x.start + x.end) / 2
    space = at - 12 if left else _WIDTH - at - 12
    write(sheet, at - 5 if left else at + 5, top + 14, text, space - 8, "other middle", "end" if left else "start")
