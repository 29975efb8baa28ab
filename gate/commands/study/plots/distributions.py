"""All values of all treatments: in violins with dots (NIST TN 1855, Fig. 6), as boxes (QR Fig. 2).

Boxes of units, the settings of one factor beside each other wherever the others are held, show whether mean and spread
differ (Fig. 8). The histogram of one treatment is that of Fig. 4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gate.commands.study.plots import styles as m
from gate.commands.study.plots.styles import (
    WIDTH,
    Column,
    Columns,
    TreatmentValues,
    columns,
    combination,
    in_unit,
    said,
)
from gate.model.study import Factor, Response
from gate.plots import panels
from gate.plots.panels import Array, Panel, half_violin, tick_room
from gate.plots.picture import Picture, Sheet
from gate.plots.scales import Axis, Tick, density, limits, ticks
from gate.stats.centers import needed_values, type8
from gate.units import agree, plural
from gate.writing.plain import clip

_MANY, _DRAWN = 2000, 600
"""So many values are drawn without choosing; of more so many."""
_OUTLIERS, _ALL = 40, 600
"""Outliers of a treatment, and in all, that are drawn at most; of more some, the extremes among them."""


def violins(prefix: str, response: Response, samples: Sequence[TreatmentValues]) -> Picture | None:
    """Draw the values of every treatment with the shape of their distribution; None where there is no spread."""
    stage = columns(response, samples)
    if stage is None:
        return None
    total = sum(column.numbers.size for column in stage.columns)
    quota = total if total <= _MANY else max(8, _DRAWN // len(stage.columns))
    count = 0
    for column in stage.columns:
        numbers, look, panel = column.numbers, column.look, column.panel
        half, x = min(panel.slot * 0.44, 46), panel.x.at(column.place)
        found = density(numbers, panel.y.low, panel.y.high, 16 if half < 14 else 40)
        widths = np.full(numbers.size, 0.5)
        if found is not None:
            outline = half_violin(panel.y, found, x, half)
            mirrored = [(2 * x - px, at) for px, at in reversed(outline[1:-1])]
            stage.sheet.lines(f"violin-{look.colour}", [[*outline, *mirrored]], closed=True)
            grid_at = np.linspace(found.low, found.high, found.heights.size)
            widths = np.interp(numbers, grid_at, found.heights) if found.high > found.low else widths
        # evenly in their order, and the two extremes
        even = np.linspace(0, numbers.size - 1, min(numbers.size, quota)).astype(np.int64)
        kept = np.union1d(even, [int(numbers.argmin()), int(numbers.argmax())])
        shift = panels.spread_out(numbers.size) * half * 0.9 * np.maximum(widths, 0.04) / panel.slot
        panel.marks(look, column.place + shift[kept], numbers[kept])
        panel.beyond(look, column.place, numbers)
        panel.bar(column.place, stage.of.one(float(np.mean(column.sample.values))), half * 0.8)
        count += kept.size
    return stage.picture(
        prefix,
        f"Values of {response.benchmark}, {response.metric}, by treatment",
        "Each column is a treatment, each mark a value; the shape shows how all values are spread.",
        "A bar is the mean of the values.",
        total > _MANY
        and f"{count:,} of {plural(total, 'value')} are drawn: some evenly chosen in their order, and the extremes.",
    )


def whiskers(values: Array) -> tuple[list[float], tuple[float, float], Array]:
    """Return the quartiles of values, at least one, the ends of the whiskers, and the values beyond them, ascending.

    Quartiles are of type 8 as all quantiles of a study. Whiskers reach to the last value within 1.5 times the distance
    of the quartiles (Tukey).
    """
    quartiles = np.quantile(values, (0.25, 0.5, 0.75), method="median_unbiased").tolist()
    first, _, third = quartiles
    reach = 1.5 * (third - first)
    inside = values[(values >= first - reach) & (values <= third + reach)]
    # between two clusters there may be no value at all
    low, high = (min(float(inside.min()), first), max(float(inside.max()), third)) if inside.size else (first, third)
    return quartiles, (low, high), np.sort(values[(values < low) | (values > high)])


def boxes(prefix: str, response: Response, samples: Sequence[TreatmentValues]) -> Picture | None:
    """Draw a box with whiskers for every treatment; None where there is no spread."""
    stage = columns(response, samples)
    if stage is None:
        return None
    quota = max(6, min(_OUTLIERS, _ALL // len(stage.columns)))
    counts = np.array([_box(stage, column, quota) for column in stage.columns])
    for column in stage.columns:
        column.panel.beyond(column.look, column.place, column.numbers)
    outliers, drawn = int(counts.sum()), int(np.minimum(counts, quota).sum())
    return stage.picture(
        prefix,
        f"Box plots of {response.benchmark}, {response.metric}, by treatment",
        "Each box goes from the lower to the upper quartile of all values of a treatment, with the median in it.",
        "Whiskers end at the last value within 1.5 times that distance from the box; marks beyond them are outliers, a "
        "cross is the mean.",
        drawn < outliers and f"{drawn:,} of {outliers:,} outliers are drawn, the extremes among them.",
    )


def _box(stage: Columns, column: Column, quota: int | None = None) -> int:
    """Draw a box where a treatment stands, and return how many outliers it has.

    Args:
        quota: of its outliers, hollow; None: all of them, filled.
    """
    quartiles, ends, outliers = whiskers(column.sample.values)
    panel, x = column.panel, column.place
    half = min(panel.slot * 0.32, 30.0)
    first, middle, third, low, high = stage.of.of(np.array([*quartiles, *ends])).tolist()
    panel.box(column.look, x, half, (first, middle, third), (low, high))
    out = stage.of.of(outliers if quota is None else panels.evenly(outliers, quota))
    panel.marks(column.look, np.full(out.size, float(x)), out, hollow=quota is not None)
    mean = stage.of.one(float(np.mean(column.sample.values)))
    for kind in ("halo", "mean"):
        stage.sheet.marks(kind, "cross", panel.points([x], [mean]), min(4.5, half * 0.6))
    return outliers.size


def spreads(prefix: str, response: Response, factor: Factor, units: Sequence[TreatmentValues]) -> Picture | None:
    """Draw boxes of units by treatment with this factor fastest; None: there is no spread, or it has one setting.

    units: of each treatment, on the scale of the response.
    """
    if len({s.settings.get(factor.name) for s in units}) < 2:
        return None
    order = [*(f for f in response.factors if f.name != factor.name), factor]
    stage = columns(response, units, order=order, logs=response.scale == "log")
    if stage is None:
        return None
    for column in stage.columns:
        _box(stage, column)
    return stage.picture(
        prefix,
        f"Mean and spread of {response.benchmark}, {response.metric}, by {factor.name}",
        f"Boxes of the units, the settings of {clip(said(factor.name), 30)} side by side.",
        "They go from quartile to quartile with the median in them, whiskers to the last unit within 1.5 times that "
        "distance; a cross is the mean.",
    )


_TITLE, _LINE, _PLOT, _FOOT = 34, 27, 150, 64
_FEWEST, _MOST = 8, 60
"""Bars."""
_TAIL = 0.99


def bins(numbers: Array) -> tuple[Array, npt.NDArray[np.int64]] | None:
    """Return the ends of bars as broad as Freedman and Diaconis have them, and their counts; None: all are the same.

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
    return np.asarray(low + width * np.arange(count + 1)), np.bincount(place, minlength=count).astype(np.int64)


def histogram(prefix: str, response: Response, sample: TreatmentValues) -> Picture | None:
    """Draw the histogram of a treatment's values with their median, mean and p99; None where there is no spread."""
    of = m.scale(response, sample.values, plain=True)
    if of is None:
        return None
    numbers = of.of(sample.values)
    low, high = limits(numbers)
    inside = (numbers >= low) & (numbers <= high)
    found = bins(numbers[inside])
    if found is None:
        return None
    steps, counts = found
    told = {"median": type8(sample.values, 0.5), "mean": float(sample.values.mean())}
    if sample.values.size >= needed_values(_TAIL):
        told["p99"] = type8(sample.values, _TAIL)
    top = _TITLE + _LINE * len(told)
    sheet = Sheet(WIDTH, top + _PLOT + _FOOT)
    most = float(counts.max()) * 1.05
    y = panels.Span(0, most, [Tick(t.at, f"{t.at:.0f}") for t in ticks(0, most, 4) if t.at % 1 == 0])
    across = panels.whole(steps)
    m.write(sheet, 12, 18, combination(sample.settings, 200), WIDTH - 60, "strong other", "start")
    panel = Panel.on(sheet, Axis(*across, tick_room(y.ticks), WIDTH - 34), y, top, _PLOT)
    ground, bars = panel.y.start, []
    for number in np.flatnonzero(counts).tolist():
        begin, end = (panel.x.at(float(steps[k])) for k in (number, number + 1))
        gap, high = min(0.5, (end - begin) / 8), panel.y.at(int(counts[number]))
        bars.append([(begin + gap, ground), (end - gap, ground), (end - gap, high), (begin + gap, high)])
    sheet.lines("pip-s0", bars, closed=True)
    panel.level("axis", 0)
    for row, (label, value) in enumerate(told.items()):
        if across[0] <= of.one(value) <= across[1]:
            # a line from its label down to the axis; the label stands where there is room for it
            at, height = panel.x.at(of.one(value)), _TITLE + _LINE * row
            sheet.lines("dotted" if label == "mean" else "zero", [[(at, height + 12), (at, ground)]])
            before = at > panel.middle
            space = (at if before else WIDTH - at) - 20
            m.write(sheet, at - 5 if before else at + 5, height + 14, f"{label} {of.say(value)}", space, "other middle",
                    "end" if before else "start")  # fmt: skip
    metric = f"{clip(said(response.metric), 24)}{in_unit(of.measure.unit, 14)}{' (log axis)' if of.log else ''}"
    panel.ruler(panels.marks_between(*across, 8, log=of.log), metric, classes="soft other")
    total, out = plural(sample.values.size, "value"), sample.values[~inside]
    far = ""
    if out.size:
        far = f"{of.say(float(out.min()))} to {of.say(float(out.max()))}" if out.size > 1 else of.say(float(out[0]))
    caption = m.words(
        f"How many of the {total} of {combination(sample.settings, 80)} fall into each bar.",
        "Several peaks are several modes; a long tail to the right is usual for times.",
        far and f"{out.size:,} {agree(out.size, 'lies', 'lie')} beyond the axis ({far}).",
    )
    described = ", ".join(f"{label} {of.say(value)}" for label, value in told.items())
    title = f"Histogram of {response.benchmark}, {response.metric}, at {combination(sample.settings, 100)}"
    return sheet.picture(prefix, title, f"{total}: {described}.", caption)
