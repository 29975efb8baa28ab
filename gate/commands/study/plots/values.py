"""All values of all treatments: in violins with dots (NIST TN 1855, Fig. 6), as boxes (QR Fig. 2).

Boxes of units, the settings of one factor beside each other wherever the others are held, show whether mean and spread
differ (Fig. 8). The histogram of one treatment is that of Fig. 4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby

import msgspec
import numpy as np
import numpy.typing as npt

from gate.commands.study.plots import marks as m
from gate.commands.study.plots.marks import LAYOUTS, Array, Scale, combination, in_unit, said
from gate.commands.study.plots.treatment_columns import Column, Columns, TreatmentValues, columns
from gate.model.study import Factor, Response, Setting
from gate.plots.axes import grid, half_violin, tick_room
from gate.plots.picture import Picture, Sheet, room
from gate.plots.scales import Axis, density, limits, ticks
from gate.stats.quantile import needed_values, type8
from gate.units import agree, plural
from gate.writing.amounts import format_p
from gate.writing.plain import clip

_MANY, _DRAWN = 2000, 600
"""So many values are drawn without choosing; of more so many."""
_OUTLIERS, _ALL = 40, 600
"""Outliers of a treatment, and in all, that are drawn at most; of more some, the extremes among them."""
_ROWS = 58
"""Height of the two rows of p below the labels."""


def violins(prefix: str, response: Response, samples: Sequence[TreatmentValues]) -> Picture | None:
    """Draw the values of every treatment with the shape of their distribution; None where there is no spread."""
    stage = columns(response, samples)
    if stage is None:
        return None
    total = sum(s.values.size for s in stage.drawn)
    quota = total if total <= _MANY else max(8, _DRAWN // len(stage.drawn))
    count = sum(_violin(stage.sheet, column, stage.of, quota) for column in stage.columns)
    words = ["Each column is a treatment, each mark a value; the shape shows how all values are spread."]
    words.append("A bar is the mean of the values.")
    if total > _MANY:
        words.append(
            f"{count:,} of {plural(total, 'value')} {agree(count, 'is', 'are')} drawn, evenly chosen in the order of "
            "measurement; hollow marks are the extremes, added to them."
        )
    title = f"Values of {response.benchmark}, {response.metric}, by treatment"
    return stage.picture(prefix, title, words)


def _violin(sheet: Sheet, column: Column, of: Scale, quota: int) -> int:
    """Draw one treatment, and return how many of its values were drawn."""
    values, x, y, look = column.sample.values, column.x, column.y, column.look
    half = min(column.slot * 0.44, 46)
    numbers = of.of(values)
    found = density(numbers, y.range.low, y.range.high, 16 if half < 14 else 40)
    widths = np.full(numbers.size, 0.5)
    if found is not None:
        outline = half_violin(y.axis, found, x, half)
        whole = [*outline, *((2 * x - px, at) for px, at in reversed(outline[1:-1]))]
        sheet.lines(f"violin-{look.colour}", [whole], closed=True)
        grid_at = np.linspace(found.low, found.high, found.heights.size)
        widths = np.interp(numbers, grid_at, found.heights) if found.high > found.low else widths
    kept = even = np.arange(values.size)
    if values.size > quota:
        # evenly in their order, and the two extremes
        even = np.unique(np.linspace(0, values.size - 1, quota - 2).astype(np.int64))
        kept = np.union1d(even, [int(values.argmin()), int(values.argmax())])
    xs = x + (m.spread_out(numbers.size) * 2 - 1) * half * 0.9 * np.maximum(widths, 0.04)
    pixels, inside = y.axis.all(numbers), y.inside(numbers)
    extreme = ~np.isin(kept, even)
    look.marks(sheet, [(float(xs[k]), pixels[k]) for k in kept[~extreme].tolist() if inside[k]], "small")
    look.hollow(sheet, [(float(xs[k]), pixels[k]) for k in kept[extreme].tolist() if inside[k]])
    y.beyond(sheet, look, x, numbers)
    mean = y.axis.at(of.one(float(np.mean(values))))
    for kind in ("halo", "mean"):
        sheet.lines(kind, [[(x - half * 0.8, mean), (x + half * 0.8, mean)]])
    return int(kept.size)


class Whiskers(msgspec.Struct, frozen=True, eq=False):
    """A box: the quartiles, the ends of the whiskers, and the values beyond them, ascending."""

    quartiles: tuple[float, float, float]
    ends: tuple[float, float]
    outliers: Array


def whiskers(values: Array) -> Whiskers:
    """Return the box of values, at least one; quartiles are of type 8 as all quantiles of a study.

    Whiskers reach to the last value within 1.5 times the distance of the quartiles (Tukey).
    """
    first, middle, third = np.quantile(values, (0.25, 0.5, 0.75), method="median_unbiased").tolist()
    reach = 1.5 * (third - first)
    inside = values[(values >= first - reach) & (values <= third + reach)]
    # between two clusters there may be no value at all
    low, high = (min(float(inside.min()), first), max(float(inside.max()), third)) if inside.size else (first, third)
    return Whiskers((first, middle, third), (low, high), np.sort(values[(values < low) | (values > high)]))


def boxes(prefix: str, response: Response, samples: Sequence[TreatmentValues]) -> Picture | None:
    """Draw a box with whiskers for every treatment; None where there is no spread."""
    stage = columns(response, samples)
    if stage is None:
        return None
    quota = max(6, min(_OUTLIERS, _ALL // len(stage.columns)))
    outliers = drawn = 0
    for column in stage.columns:
        own = whiskers(column.sample.values).outliers
        outliers, drawn = outliers + own.size, drawn + min(own.size, quota)
        _box(stage, column, quota)
        column.y.beyond(stage.sheet, column.look, column.x, stage.of.of(column.sample.values))
    words = ["Each box goes from the lower to the upper quartile of all values of a treatment, with the median in it."]
    words.append(
        "Whiskers end at the last value within 1.5 times that distance from the box; marks beyond them are outliers, a "
        "cross is the mean."
    )
    if drawn < outliers:
        words.append(f"{drawn:,} of {outliers:,} outliers are drawn, the extremes among them.")
    return stage.picture(prefix, f"Box plots of {response.benchmark}, {response.metric}, by treatment", words)


def _box(stage: Columns, column: Column, quota: int | None = None) -> None:
    """Draw a box where a treatment stands; quota: of its outliers, hollow, None: all of them filled."""
    sheet, of, x, y, look = stage.sheet, stage.of, column.x, column.y, column.look
    found, half = whiskers(column.sample.values), min(column.slot * 0.32, 30.0)
    low, first, middle, third, high = (
        y.axis.at(of.one(v)) for v in (found.ends[0], *found.quartiles, found.ends[1])
    )  # fmt: skip
    m.box(sheet, look, x, half, (first, middle, third), (low, high))
    numbers = of.of(found.outliers if quota is None else m.evenly(found.outliers, quota))
    points = [(x, pixel) for pixel, inside in zip(y.axis.all(numbers), y.inside(numbers), strict=True) if inside]
    if quota is None:
        look.marks(sheet, points, "small")
    else:
        look.hollow(sheet, points)
    for kind in ("halo", "mean"):
        sheet.marks(kind, "cross", [(x, y.axis.at(of.one(float(np.mean(column.sample.values)))))], min(4.5, half * 0.6))


def spreads(prefix: str, response: Response, factor: Factor, units: Sequence[TreatmentValues]) -> Picture | None:
    """Draw boxes of units by treatment with this factor fastest, and below them whether mean and spread differ.

    units: of each treatment, on the scale of the response. None: there is no spread, or the factor has one setting.
    """
    if len({s.settings.get(factor.name) for s in units}) < 2:
        return None
    order = [*(f for f in response.factors if f.name != factor.name), factor]
    stage = columns(response, units, order=order, below=_ROWS, logs=response.scale == "log")
    if stage is None:
        return None
    for column in stage.columns:
        _box(stage, column)
    words = [f"Boxes of the units, the settings of {clip(said(factor.name), 30)} side by side."]
    words.append(
        "They go from quartile to quartile with the median in them, whiskers to the last unit within 1.5 times that "
        "distance; a cross is the mean."
    )
    if _tests(stage, response, factor):
        two = len(factor.settings) == 2
        mean = "t test" if two else "Tukey and Kramer, of the farthest apart"
        spread = "F test, for normal units" if two else "Brown and Forsythe"
        words.append(f"Below: p of equal means ({mean}) and of equal variances ({spread}), each by itself.")
    title = f"Mean and spread of {response.benchmark}, {response.metric}, by {factor.name}"
    return stage.picture(prefix, title, words)


def _tests(stage: Columns, response: Response, factor: Factor) -> bool:
    """Write the p of each group of columns; tell whether any is there."""

    def key(at: Mapping[str, Setting]) -> tuple[tuple[str, Setting], ...]:
        return tuple(sorted((name, setting) for name, setting in at.items() if name != factor.name))

    alone = len(response.factors) < 2
    means = {
        key(o.at): min((pair.p for pair in o.pairs if pair.p is not None), default=None)
        for o in response.one_ways
        if o.factor == factor.name and (o.at or alone)
    }
    variances = {
        key(s.at): s.levene_p if s.f_p is None else s.f_p
        for s in response.spreads
        if s.factor == factor.name and (s.at or alone)
    }
    apart = groupby(stage.columns, key=lambda column: (column.y.axis.start, key(column.sample.settings)))
    groups = [(at, start, list(own)) for (start, at), own in apart]
    spaces = [own[-1].x - own[0].x + own[0].slot - 4 for _, _, own in groups]
    shown = False
    for row, (name, found) in enumerate((("mean", means), ("spread", variances))):
        texts = ["" if (p := found.get(at)) is None else format_p(p) for at, _, _ in groups]
        below = stage.labels + 16 + 27 * row
        for layout, letters in LAYOUTS:
            # a row is whole, or it is not there
            fits = all(room(text, letters) <= space for text, space in zip(texts, spaces, strict=True))
            if not any(texts) or not fits:
                continue
            shown = True
            for text, (_, start, own) in zip(texts, groups, strict=True):
                middle, full = (own[0].x + own[-1].x) / 2, f"p of equal {name}s: {text}"
                stage.sheet.text(middle, start + below, text, f"middle {layout}", "middle", full=full)
            for bottom in dict.fromkeys(start for _, start, _ in groups):
                stage.sheet.text(stage.left - 8, bottom + below, f"p, {name}", f"soft middle {layout}", "end")
    return shown


_WIDTH = 720
_TITLE, _LINE, _PLOT, _FOOT = 34, 27, 150, 64
_FEWEST, _MOST = 8, 60
"""Bars."""
_TAIL = 0.99


class Bins(msgspec.Struct, frozen=True, eq=False):
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
    of = m.scale(response, sample.values, plain=True)
    if of is None:
        return None
    numbers = of.of(sample.values)
    ends = limits(numbers, [])
    inside = (numbers >= ends.low) & (numbers <= ends.high)
    found = bins(numbers[inside])
    if found is None:
        return None
    told = {"median": type8(sample.values, 0.5), "mean": float(sample.values.mean())}
    if sample.values.size >= needed_values(_TAIL):
        told["p99"] = type8(sample.values, _TAIL)
    top = _TITLE + _LINE * len(told)
    sheet = Sheet(_WIDTH, top + _PLOT + _FOOT)
    most = float(found.counts.max())
    marks = [t for t in ticks(0, most * 1.05, 4) if t.at % 1 == 0]
    left, right = tick_room(marks), _WIDTH - 34
    y = Axis(0, most * 1.05, top + _PLOT, top)
    span = m.whole(np.array([found.low, found.high]))
    x = Axis(span.low, span.high, left, right)
    m.write(sheet, 12, 18, combination(sample.settings, 200), _WIDTH - 60, "strong other", "start")
    grid(sheet, y, marks, left, right)
    bars = []
    for number in np.flatnonzero(found.counts).tolist():
        begin, end = (x.at(found.low + found.width * k) for k in (number, number + 1))
        gap, high = min(0.5, (end - begin) / 8), y.at(int(found.counts[number]))
        bars.append([(begin + gap, y.start), (end - gap, y.start), (end - gap, high), (begin + gap, high)])
    sheet.lines("pip-s0", bars, closed=True)
    sheet.lines("axis", [[(left, y.start), (right, y.start)]])
    for row, (label, value) in enumerate(told.items()):
        if span.low <= of.one(value) <= span.high:
            # a line from its label down to the axis; the label stands where there is room for it
            at, height = x.at(of.one(value)), _TITLE + _LINE * row
            sheet.lines("dotted" if label == "mean" else "zero", [[(at, height + 12), (at, y.start)]])
            before = at > (x.start + x.end) / 2
            space = (at if before else _WIDTH - at) - 20
            m.write(sheet, at - 5 if before else at + 5, height + 14, f"{label} {of.say(value)}", space, "other middle",
                    "end" if before else "start")  # fmt: skip
    across = m.marks_between(span.low, span.high, 8, log=of.measure.log)
    sheet.row(y.start + 24, [(x.at(t.at), t.label) for t in across], "soft")
    unit = in_unit(of.measure.unit, 14)
    wide, narrow = (" (log axis)", " (log)") if of.measure.log else ("", "")
    metric = said(response.metric)
    m.both(sheet, (left + right) / 2, sheet.height - 10, f"{clip(metric, 24)}{unit}{wide}",
           f"{clip(metric, 14)}{unit}{narrow}", anchor="middle")  # fmt: skip
    total = plural(sample.values.size, "value")
    words = [f"How many of the {total} of {combination(sample.settings, 80)} fall into each bar."]
    words.append("Several peaks are several modes; a long tail to the right is usual for times.")
    if ends.beyond:
        out = sample.values[~inside]
        far = f"{of.say(float(out.min()))} to {of.say(float(out.max()))}" if out.size > 1 else of.say(float(out[0]))
        words.append(f"{out.size:,} {agree(out.size, 'lies', 'lie')} beyond the axis ({far}).")
    described = ", ".join(f"{label} {of.say(value)}" for label, value in told.items())
    title = f"Histogram of {response.benchmark}, {response.metric}, at {combination(sample.settings, 100)}"
    return sheet.picture(prefix, title, f"{total}: {described}.", " ".join(words))
