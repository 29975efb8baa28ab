"""Intervals of means, by metric in panels of one span (NIST TN 1855, Fig. 1) and by sample size (Fig. 10 and 11)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gate.commands.study.plots.columns import ordered
from gate.commands.study.plots.marks import (
    LAYOUTS,
    Array,
    Entry,
    Look,
    Scale,
    Vertical,
    combination,
    differences,
    entries,
    legend,
    legend_height,
    look_of,
    marks_between,
    said,
    scale,
    shortened,
    vertical,
    write,
)
from gate.model.study import Factor, MeanInterval, Response, SampleSize, SampleSizes, Setting
from gate.plots.axes import grid, tick_room
from gate.plots.picture import Picture, Sheet, room
from gate.plots.scales import Axis
from gate.units import format_confidence, format_number, plural
from gate.writing.plain import clip

_WIDTH = 720
_HEAD, _TITLE, _HEADING, _PLOT, _GAP = 8, 30, 28, 116, 12
_ACROSS = 3
_UNIT = 6
"""Columns of a unit in the name of a panel."""
MOST = 24
"""Panels that are drawn at most."""


@dataclass(frozen=True, slots=True, eq=False)
class _Panel:
    """One metric at one combination of the factors that are not told apart by colour."""

    response: Response
    at: dict[str, Setting]
    means: list[MeanInterval]

    @property
    def ends(self) -> Array:
        return np.array([v for m in self.means for v in (m.mean, m.low, m.high) if v is not None])


def means_by_metric(prefix: str, responses: Sequence[Response], confidence: float) -> Picture | None:
    """Draw the mean of each treatment with its interval, a panel for each metric and combination.

    The panels of one combination and unit span the same, each around its own means.

    None: there is nothing to draw.

    Args:
        responses: metrics of one benchmark.
    """
    shown = [r for r in responses if r.factors and any(np.isfinite(m.mean) for m in r.means)]
    if not shown:
        return None
    factor = _told_apart(shown[0])
    rows = _rows(shown, factor)
    if not rows:
        return None
    kept: list[list[_Panel]] = []
    for row in rows:
        if sum(map(len, kept)) + len(row) <= MOST or not kept:
            kept.append(row[:MOST])
    listed = entries(factor)
    several = len(shown) > 1
    names = _names(kept, several=several)
    top = _HEAD + legend_height(listed, _WIDTH - 24, said(factor.name)) + 8
    heading = _HEADING if several and any(row[0].at for row in kept) else 0
    lines = [-(-len(row) // _ACROSS) for row in kept]
    pitch = _TITLE + _PLOT + _GAP
    sheet = Sheet(_WIDTH, top + sum(heading + n * pitch for n in lines) + 4)
    legend(sheet, listed, 12, _HEAD, _WIDTH - 24, said(factor.name))
    at = float(top)
    for row, count in zip(kept, lines, strict=True):
        if heading:
            write(sheet, 12, at + 18, combination(row[0].at, 200), _WIDTH - 24, "strong other", "start")
        at += heading
        for number, panel in enumerate(row):
            across = number % _ACROSS
            place = (12 + across * (_WIDTH - 12) / _ACROSS, at + pitch * (number // _ACROSS))
            _panel(sheet, panel, factor, place, _span(panel, row), names[id(panel)])
        at += count * pitch
    drawn, total = sum(map(len, kept)), sum(map(len, rows))
    first = shown[0]
    described = f"{plural(drawn, 'panel')} of {plural(len(shown), 'metric')}."
    caption = _caption(kept, total, confidence)
    return sheet.picture(prefix, f"Means with BCa intervals of {first.benchmark}", described, caption)


def _caption(kept: Sequence[Sequence[_Panel]], total: int, confidence: float) -> str:
    drawn = sum(map(len, kept))
    words = [f"Mean of the units of each treatment, with its {format_confidence(confidence)} BCa bootstrap interval."]
    words.append("Panels of one unit beside each other span the same, each around its own means.")
    if any(m.low is None for row in kept for panel in row for m in panel.means):
        words.append("A mark without a bar has fewer than 3 units, or no spread.")
    fewest = min(m.units for row in kept for panel in row for m in panel.means)
    if fewest < 10:
        words.append(f"With {plural(fewest, 'unit')} such an interval is too narrow: at least 10 are better.")
    if drawn < total:
        words.append(f"{drawn} of {total} panels are drawn.")
    return " ".join(words)


def _told_apart(response: Response) -> Factor:
    """Choose the factor that colours tell apart: of the fewest settings, one that varies by boot first, as NIST's."""
    several = [f for f in response.factors if len(f.settings) > 1] or list(response.factors)
    return min(reversed(several), key=lambda f: (len(f.settings), f.varies != "session"))


def _rows(responses: Sequence[Response], factor: Factor) -> list[list[_Panel]]:
    """Return the panels, those of one combination in a row of metrics; of one metric all in a row."""
    found: dict[tuple[tuple[str, Setting], ...], list[_Panel]] = {}
    for response in responses:
        own: dict[tuple[tuple[str, Setting], ...], list[MeanInterval]] = {}
        for m in response.means:
            if np.isfinite(m.mean):
                key = tuple((k, v) for k, v in m.settings.items() if k != factor.name)
                own.setdefault(key, []).append(m)
        for key, means in own.items():
            found.setdefault(key, []).append(_Panel(response, dict(key), means))
    others = [f for f in responses[0].factors if f.name != factor.name]
    keys = list(found)
    rows = [found[keys[k]] for k in ordered(others, [dict(key) for key in keys])]
    return rows if len(responses) > 1 else [[panel for row in rows for panel in row]]


def _names(rows: Sequence[Sequence[_Panel]], *, several: bool) -> dict[int, dict[str, str]]:
    """Name the panels for both layouts so that they stay different: by metric, or by their settings."""
    panels = [panel for row in rows for panel in row]
    full = [
        said(p.response.metric) if several or not p.at else ", ".join(said(s) for s in p.at.values()) for p in panels
    ]
    found: dict[int, dict[str, str]] = {id(panel): {} for panel in panels}
    for layout, letters in LAYOUTS:
        width = int(((_WIDTH - 12) / _ACROSS - 14) / room("0", letters)) - _UNIT - 2
        cut = shortened(list(dict.fromkeys(full)), width)
        for number, (panel, text) in enumerate(zip(panels, full, strict=True), start=1):
            found[id(panel)][layout] = cut.get(text) or f"{number}"
    return found


def _span(panel: _Panel, row: Sequence[_Panel]) -> float:
    alike = [p.ends for p in row if (p.response.unit, p.response.scale) == (panel.response.unit, panel.response.scale)]
    return max(float(ends.max() - ends.min()) for ends in alike)


def _panel(
    sheet: Sheet, panel: _Panel, factor: Factor, place: tuple[float, float], span: float, names: Mapping[str, str]
) -> None:
    ends = panel.ends
    middle = float(ends.max() + ends.min()) / 2
    reach = 0.6 * span or 0.05 * abs(middle) or 1.0
    outer = np.array([middle - reach, middle + reach])
    of = scale(panel.response, np.concatenate((ends, outer)))
    if of is None:
        return
    low, high = of.of(outer).tolist()
    left, top = place
    y = Axis(low, high, top + _TITLE + _PLOT, top + _TITLE)
    marks = marks_between(low, high, 4, log=of.measure.log)
    start, right = left + tick_room(marks) - 6, left + (_WIDTH - 12) / _ACROSS - 14
    unit = f", {clip(said(of.measure.unit), _UNIT)}" if of.measure.unit else ""
    for layout, text in names.items():
        full = f"{said(panel.response.metric)}, {combination(panel.at, 200)}"
        sheet.text(left, top + 18, f"{text}{unit}", f"soft other {layout}", full=full)
    grid(sheet, y, marks, start, right)
    _means(sheet, panel, factor, y, of, start, right)


def _means(sheet: Sheet, panel: _Panel, factor: Factor, y: Axis, of: Scale, start: float, right: float) -> None:
    slot = (right - start) / len(factor.settings)
    for m in panel.means:
        setting = m.settings.get(factor.name)
        if setting not in factor.settings:
            continue
        look = look_of(factor, setting)
        x = start + slot * (factor.settings.index(setting) + 0.5)
        if m.low is not None and m.high is not None:
            low, high = y.at(of.one(m.low)), y.at(of.one(m.high))
            cap = min(6.0, slot * 0.3)
            sheet.lines(
                f"fine-{look.colour}", [[(x, low), (x, high)], *([(x - cap, e), (x + cap, e)] for e in (low, high))]
            )
        look.marks(sheet, [(x, y.at(of.one(m.mean)))], "large" if slot > 16 else "middle")


_ABOVE, _TALL, _FOOT = 62, 196, 62
_BETWEEN = 26
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
    top = _ABOVE + legend_height(listed, _WIDTH - 24)
    sheet = Sheet(_WIDTH, top + _TALL + _FOOT)
    legend(sheet, listed, 12, 6, _WIDTH - 24)
    left = vertical(np.log10(every) if log else np.append(every, 0.0), log, top, top + _TALL)
    shares = [r.coverage * 100 for r in rows] + [sizes.confidence * 100, 100.0]
    right = vertical(np.array(shares), False, top, top + _TALL, count=6)
    width = (_WIDTH - left.room - right.room - _BETWEEN) / 2
    spans = (left.room, left.room + width), (left.room + width + _BETWEEN + right.room - 12, _WIDTH - 12)
    _widths(sheet, rows, left, spans[0], factor, log=log, effect=None if effect is None else effect / factor)
    _coverage(sheet, rows, right, spans[1], sizes.confidence)
    shown = f", {clip(said(unit), 10)}" if unit else ""
    for layout, log_word in (("wide", " (log axis)" if log else ""), ("narrow", "")):
        sheet.text(12, top - 14, f"interval width{shown}{log_word}", f"strong other {layout}")
    sheet.text(spans[1][0] - right.room + 12, top - 14, "coverage, %", "strong")
    described = _described(rows, sizes)
    title = f"Sample sizes for {response.benchmark}, {response.metric}"
    return sheet.picture(prefix, title, described, _sizes_caption(rows, sizes, factor, unit, effect))


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


def _sizes_caption(
    rows: Sequence[SampleSize], sizes: SampleSizes, factor: float, unit: str, effect: float | None
) -> str:
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
