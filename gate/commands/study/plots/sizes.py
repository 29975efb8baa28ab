"""How wide intervals are and how often they hold the mean, by sample size (NIST TN 1855, Fig. 10 and 11)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gate.commands.study.plots.marks import Entry, Look, combination, legend, legend_height, said
from gate.commands.study.plots.scale import Vertical, differences, vertical
from gate.model.study import Response, SampleSize, SampleSizes
from gate.plots.axes import grid
from gate.plots.picture import Picture, Sheet
from gate.plots.scales import Axis
from gate.units import format_confidence, format_number
from gate.writing.plain import clip

_WIDTH = 720
_HEAD, _PLOT, _FOOT = 62, 196, 62
_GAP = 26
_LOG = 8.0
"""Widths that differ by more than this factor are drawn by their logarithm."""
_METHODS = {"t": ("t interval", Look(0), -5.0), "bca": ("BCa bootstrap", Look(1), 5.0)}


def sample_sizes(prefix: str, response: Response, sizes: SampleSizes) -> Picture | None:
    """Draw the widths of intervals and their coverage against the size of the sample; None: there are no sizes."""
    rows = [r for r in sizes.rows if r.size > 0 and all(map(math.isfinite, (*r.widths, r.coverage)))]
    widths = np.array([w for r in rows for w in r.widths])
    if not rows or float(widths.max()) <= 0:
        return None
    percent = response.scale == "log"
    effect = sizes.median_effect if sizes.median_effect is not None and sizes.median_effect > 0 else None
    found = None if percent else differences(response, widths)
    factor, unit = (found.factor, found.unit) if found else (0.01, "%") if percent else (1.0, response.unit)
    every = widths / factor if effect is None else np.append(widths, effect) / factor
    log = bool(every.min() > 0 and every.max() / every.min() > _LOG)
    listed = [Entry(_METHODS[m][1], _METHODS[m][0]) for m in _METHODS if any(r.method == m for r in rows)]
    top = _HEAD + legend_height(listed, _WIDTH - 24)
    sheet = Sheet(_WIDTH, top + _PLOT + _FOOT)
    legend(sheet, listed, 12, 6, _WIDTH - 24)
    left = vertical(np.log10(every) if log else np.append(every, 0.0), log, top, top + _PLOT)
    shares = [r.coverage * 100 for r in rows] + [sizes.confidence * 100, 100.0]
    right = vertical(np.array(shares), False, top, top + _PLOT, count=6)
    width = (_WIDTH - left.room - right.room - _GAP) / 2
    spans = (left.room, left.room + width), (left.room + width + _GAP + right.room - 12, _WIDTH - 12)
    _widths(sheet, rows, left, spans[0], factor, log=log, effect=None if effect is None else effect / factor)
    _coverage(sheet, rows, right, spans[1], sizes.confidence)
    shown = f", {clip(said(unit), 10)}" if unit else ""
    for layout, log_word in (("wide", " (log axis)" if log else ""), ("narrow", "")):
        sheet.text(12, top - 14, f"interval width{shown}{log_word}", f"strong other {layout}")
    sheet.text(spans[1][0] - right.room + 12, top - 14, "coverage, %", "strong")
    described = _described(rows, sizes)
    title = f"Sample sizes for {response.benchmark}, {response.metric}"
    return sheet.picture(prefix, title, described, _caption(rows, sizes, factor, unit, effect))


def _x(rows: Sequence[SampleSize], span: tuple[float, float]) -> Axis:
    places = [math.log10(r.size) for r in rows]
    low, high = min(places), max(places)
    pad = 0.09 * (high - low) or 0.3
    return Axis(low - pad, high + pad, *span)


def _bottom(sheet: Sheet, rows: Sequence[SampleSize], x: Axis, y: Vertical) -> None:
    found = sorted({r.size for r in rows})
    sheet.row(y.axis.start + 24, [(x.at(math.log10(n)), f"{n}") for n in found], "soft")
    sheet.lines("axis", [[(x.at(math.log10(n)), y.axis.start), (x.at(math.log10(n)), y.axis.start + 5)] for n in found])
    sheet.text((x.start + x.end) / 2, sheet.height - 8, "sample size", "soft", "middle")


def _widths(
    sheet: Sheet, rows: Sequence[SampleSize], y: Vertical, span: tuple[float, float], factor: float, *, log: bool,
    effect: float | None,
) -> None:  # fmt: skip
    x = _x(rows, span)
    grid(sheet, y.axis, y.ticks, *span)
    _bottom(sheet, rows, x, y)

    def at(number: float) -> float:
        return y.axis.at(math.log10(number) if log else number)

    if effect is not None:
        sheet.lines("dotted", [[(span[0], at(effect)), (span[1], at(effect))]])
    for method, (_, look, shift) in _METHODS.items():
        own = sorted((r for r in rows if r.method == method), key=lambda r: r.size)
        bars, caps, points = [], [], []
        for row in own:
            px = x.at(math.log10(row.size)) + shift
            low, middle, high = (at(w / factor) for w in row.widths)
            bars.append([(px, low), (px, high)])
            caps += [[(px - 4, low), (px + 4, low)], [(px - 4, high), (px + 4, high)]]
            points.append((px, middle))
        sheet.lines(f"fine-{look.colour}", [*bars, *caps])
        sheet.lines(look.lines("line"), [points] if len(points) > 1 else [])
        look.marks(sheet, points, "large")


def _coverage(
    sheet: Sheet, rows: Sequence[SampleSize], y: Vertical, span: tuple[float, float], confidence: float
) -> None:
    x = _x(rows, span)
    grid(sheet, y.axis, y.ticks, *span)
    _bottom(sheet, rows, x, y)
    nominal = y.axis.at(confidence * 100)
    sheet.lines("dotted", [[(span[0], nominal), (span[1], nominal)]])
    for method, (_, look, shift) in _METHODS.items():
        own = sorted((r for r in rows if r.method == method), key=lambda r: r.size)
        points = [(x.at(math.log10(r.size)) + shift / 2, y.axis.at(r.coverage * 100)) for r in own]
        sheet.lines(look.lines("line"), [points] if len(points) > 1 else [])
        look.marks(sheet, points, "large")


def _caption(rows: Sequence[SampleSize], sizes: SampleSizes, factor: float, unit: str, effect: float | None) -> str:
    level = format_confidence(sizes.confidence)
    counts = sorted({r.subsamples for r in rows})
    drawn = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    words = [
        f"{drawn} subsamples of each size, drawn from the {sizes.units:,} units of {combination(sizes.settings, 80)}.",
        f"Left: widths of their {level} intervals of the mean; marks are medians, bars go from quartile to quartile.",
    ]
    if effect is not None:
        said_ = f"{format_number(effect / factor, 3)} {said(unit)}".rstrip()
        words.append(f"The dotted line is the median main effect ({said_}): wider intervals would hide it.")
        words.append(
            f"From {sizes.enough:,} units on the median t interval is narrower."
            if sizes.enough is not None
            else "None of these sizes is enough for that."
        )
    words.append(
        f"Right: share of the intervals that hold the mean of all units; the dotted line is the promised {level}."
    )
    return " ".join(words)


def _described(rows: Sequence[SampleSize], sizes: SampleSizes) -> str:
    shown = [r for r in rows if r.method == "t"] or list(rows)
    first, last = shown[0], shown[-1]
    return (
        f"{sizes.units:,} units; coverage {first.coverage:.1%} at {first.size} and {last.coverage:.1%} at {last.size}."
    )
