"""Intervals of means, by metric in panels of one span (NIST TN 1855, Fig. 1) and by sample size (Fig. 10 and 11)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from gate.commands.study.plots import marks as m
from gate.commands.study.plots.columns import ordered
from gate.commands.study.plots.marks import LAYOUTS, Array, Entry, Look, Vertical, combination, in_unit, look_of, said
from gate.model.study import Factor, MeanInterval, Response, SampleSize, SampleSizes, Setting
from gate.plots.axes import grid, tick_room
from gate.plots.picture import Picture, Sheet, room
from gate.plots.scales import Axis
from gate.units import format_confidence, format_number, plural

_WIDTH = 720
_HEAD, _TITLE, _HEADING, _PLOT, _GAP = 8, 30, 28, 116, 12
_ACROSS = 3
_UNIT = 6
"""Columns of a unit in the name of a panel."""
MOST = 24
"""Panels that are drawn at most."""


class _Panel(msgspec.Struct, frozen=True, eq=False):
    """One metric at one combination of the factors that are not told apart by colour."""

    response: Response
    at: dict[str, Setting]
    means: list[MeanInterval]

    @property
    def ends(self) -> Array:
        return np.array([v for own in self.means for v in (own.mean, own.low, own.high) if v is not None])


def means_by_metric(prefix: str, responses: Sequence[Response], confidence: float) -> Picture | None:
    """Draw the mean of each treatment with its interval, a panel for each metric and combination.

    The panels of one combination and unit span the same, each around its own means.

    None: there is nothing to draw.

    Args:
        responses: metrics of one benchmark.
    """
    shown = [r for r in responses if r.factors and r.means]
    if not shown:
        return None
    varied = [f for f in shown[0].factors if len(f.settings) > 1] or list(shown[0].factors)
    # colours tell apart the factor of the fewest settings, one that varies by boot first, as NIST's
    factor = min(reversed(varied), key=lambda f: (len(f.settings), f.varies != "session"))
    rows = _rows(shown, factor)
    kept: list[list[_Panel]] = []
    for row in rows:
        if sum(map(len, kept)) + len(row) <= MOST or not kept:
            kept.append(row[:MOST])
    listed, several = m.entries(factor), len(shown) > 1
    names = _names([panel for row in kept for panel in row], several=several)
    top = _HEAD + m.legend_height(listed, _WIDTH - 24, said(factor.name)) + 8
    heading = _HEADING if several and any(row[0].at for row in kept) else 0
    lines = [-(-len(row) // _ACROSS) for row in kept]
    pitch = _TITLE + _PLOT + _GAP
    sheet = Sheet(_WIDTH, top + sum(heading + n * pitch for n in lines) + 4)
    m.legend(sheet, listed, 12, _HEAD, _WIDTH - 24, said(factor.name))
    at = float(top)
    for row, count in zip(kept, lines, strict=True):
        if heading:
            m.write(sheet, 12, at + 18, combination(row[0].at, 200), _WIDTH - 24, "strong other", "start")
        at += heading
        for number, panel in enumerate(row):
            left, above = 12 + number % _ACROSS * (_WIDTH - 12) / _ACROSS, at + pitch * (number // _ACROSS)
            own = panel.response.unit, panel.response.scale
            span = max(float(np.ptp(p.ends)) for p in row if (p.response.unit, p.response.scale) == own)
            _panel(sheet, panel, factor, left, above, span, names[id(panel)])
        at += count * pitch
    drawn, total = sum(map(len, kept)), sum(map(len, rows))
    means = [own for row in kept for panel in row for own in panel.means]
    words = [f"Mean of the units of each treatment, with its {format_confidence(confidence)} BCa bootstrap interval."]
    words.append("Panels of one unit beside each other span the same, each around its own means.")
    if any(own.low is None for own in means):
        words.append("A mark without a bar has fewer than 3 units, or no spread.")
    fewest = min(own.units for own in means)
    if fewest < 10:
        words.append(f"With {plural(fewest, 'unit')} such an interval is too narrow: at least 10 are better.")
    if drawn < total:
        words.append(f"{drawn} of {total} panels are drawn.")
    described = f"{plural(drawn, 'panel')} of {plural(len(shown), 'metric')}."
    return sheet.picture(prefix, f"Means with BCa intervals of {shown[0].benchmark}", described, " ".join(words))


def _rows(responses: Sequence[Response], factor: Factor) -> list[list[_Panel]]:
    """Return the panels, those of one combination in a row of metrics; of one metric all in a row."""
    found: dict[tuple[tuple[str, Setting], ...], dict[str, _Panel]] = {}
    for response in responses:
        for own in response.means:
            key = tuple((k, v) for k, v in own.settings.items() if k != factor.name)
            row = found.setdefault(key, {})
            row.setdefault(response.metric, _Panel(response, dict(key), [])).means.append(own)
    others = [f for f in responses[0].factors if f.name != factor.name]
    keys = list(found)
    rows = [list(found[keys[k]].values()) for k in ordered(others, [dict(key) for key in keys])]
    return rows if len(responses) > 1 else [[panel for row in rows for panel in row]]


def _names(panels: Sequence[_Panel], *, several: bool) -> dict[int, dict[str, str]]:
    """Name the panels for both layouts so that they stay different: by metric, or by their settings."""
    full = [
        said(p.response.metric) if several or not p.at else ", ".join(said(s) for s in p.at.values()) for p in panels
    ]
    found: dict[int, dict[str, str]] = {id(panel): {} for panel in panels}
    for layout, letters in LAYOUTS:
        width = int(((_WIDTH - 12) / _ACROSS - 14) / room("0", letters)) - _UNIT - 2
        cut = m.shortened(list(dict.fromkeys(full)), width)
        for number, (panel, text) in enumerate(zip(panels, full, strict=True), start=1):
            found[id(panel)][layout] = cut.get(text) or f"{number}"
    return found


def _panel(
    sheet: Sheet, panel: _Panel, factor: Factor, left: float, top: float, span: float, names: Mapping[str, str]
) -> None:
    middle = float(panel.ends.max() + panel.ends.min()) / 2
    reach = 0.6 * span or 0.05 * abs(middle) or 1.0
    outer = np.array([middle - reach, middle + reach])
    of = m.scale(panel.response, np.concatenate((panel.ends, outer)))
    if of is None:
        return
    low, high = of.of(outer).tolist()
    y = Axis(low, high, top + _TITLE + _PLOT, top + _TITLE)
    marks = m.marks_between(low, high, 4, log=of.measure.log)
    start, right = left + tick_room(marks) - 6, left + (_WIDTH - 12) / _ACROSS - 14
    for layout, text in names.items():
        full = f"{said(panel.response.metric)}, {combination(panel.at, 200)}"
        unit = in_unit(of.measure.unit, _UNIT)
        sheet.text(left, top + 18, f"{text}{unit}", f"soft other {layout}", full=full)
    grid(sheet, y, marks, start, right)
    slot = (right - start) / len(factor.settings)
    cap = min(6.0, slot * 0.3)
    for own in panel.means:
        setting = own.settings[factor.name]
        look, x = look_of(factor, setting), start + slot * (factor.settings.index(setting) + 0.5)
        if own.low is not None and own.high is not None:
            ends = y.at(of.one(own.low)), y.at(of.one(own.high))
            caps = ([(x - cap, end), (x + cap, end)] for end in ends)
            sheet.lines(f"fine-{look.colour}", [[(x, end) for end in ends], *caps])
        look.marks(sheet, [(x, y.at(of.one(own.mean)))], "large" if slot > 16 else "middle")


_ABOVE, _TALL, _FOOT = 62, 196, 62
_BETWEEN = 26
_LOG = 8.0
"""Widths that differ by more than this factor are drawn by their logarithm."""
_METHODS = {"t": ("t interval", Look(0), -5.0), "bca": ("BCa bootstrap", Look(1), 5.0)}


def sample_sizes(prefix: str, response: Response, sizes: SampleSizes) -> Picture | None:
    """Draw the widths of intervals and their coverage against the size of the sample; None: there are no sizes."""
    rows = sizes.rows
    widths = np.array([w for r in rows for w in r.widths])
    if not rows or float(widths.max()) <= 0:
        return None
    percent = response.scale == "log"
    effect = sizes.median_effect if sizes.median_effect is not None and sizes.median_effect > 0 else None
    found = None if percent else m.differences(response, widths)
    factor, unit = (found.factor, found.unit) if found else (0.01, "%") if percent else (1.0, response.unit)
    every = widths / factor if effect is None else np.append(widths, effect) / factor
    log = bool(every.min() > 0 and every.max() / every.min() > _LOG)
    listed = [Entry(look, name) for key, (name, look, _) in _METHODS.items() if any(r.method == key for r in rows)]
    top = _ABOVE + m.legend_height(listed, _WIDTH - 24)
    sheet = Sheet(_WIDTH, top + _TALL + _FOOT)
    m.legend(sheet, listed, 12, 6, _WIDTH - 24)
    left = m.vertical(np.log10(every) if log else np.append(every, 0.0), log, top, top + _TALL)
    shares = [r.coverage * 100 for r in rows] + [sizes.confidence * 100, 100.0]
    right = m.vertical(np.array(shares), False, top, top + _TALL, count=6)
    width = (_WIDTH - left.room - right.room - _BETWEEN) / 2
    spans = (left.room, left.room + width), (left.room + width + _BETWEEN + right.room - 12, _WIDTH - 12)

    def pixel(number: float) -> float:
        return left.axis.at(math.log10(number) if log else number)

    x = _across(sheet, rows, left, spans[0], None if effect is None else pixel(effect / factor))
    for method, (_, look, shift) in _METHODS.items():
        lines, caps, points = [], [], []
        for row in sorted((r for r in rows if r.method == method), key=lambda r: r.size):
            px = x.at(math.log10(row.size)) + shift
            low, middle, high = (pixel(w / factor) for w in row.widths)
            lines.append([(px, low), (px, high)])
            caps += [[(px - 4, end), (px + 4, end)] for end in (low, high)]
            points.append((px, middle))
        sheet.lines(f"fine-{look.colour}", [*lines, *caps])
        sheet.lines(look.lines("line"), [points] if len(points) > 1 else [])
        look.marks(sheet, points, "large")
    x = _across(sheet, rows, right, spans[1], right.axis.at(sizes.confidence * 100))
    for method, (_, look, shift) in _METHODS.items():
        own = sorted((r for r in rows if r.method == method), key=lambda r: r.size)
        points = [(x.at(math.log10(r.size)) + shift / 2, right.axis.at(r.coverage * 100)) for r in own]
        sheet.lines(look.lines("line"), [points] if len(points) > 1 else [])
        look.marks(sheet, points, "large")

    name = f"interval width{in_unit(unit, 10)}"
    m.both(sheet, 12, top - 14, f"{name}{' (log axis)' if log else ''}", name, "strong other")
    sheet.text(spans[1][0] - right.room + 12, top - 14, "coverage, %", "strong")
    shown = [r for r in rows if r.method == "t"] or rows
    ends = " and ".join(f"{row.coverage:.1%} at {row.size}" for row in (shown[0], shown[-1]))
    title = f"Sample sizes for {response.benchmark}, {response.metric}"
    caption = _sizes_caption(sizes, None if effect is None else f"{format_number(effect / factor, 3)} {said(unit)}")
    return sheet.picture(prefix, title, f"{sizes.units:,} units; coverage {ends}.", caption)


def _across(
    sheet: Sheet, rows: Sequence[SampleSize], y: Vertical, span: tuple[float, float], dotted: float | None
) -> Axis:
    """Draw a panel over the sizes with a dotted line at a pixel, and return its axis of their logarithms."""
    places = sorted({math.log10(r.size): f"{r.size}" for r in rows}.items())
    low, high = places[0][0], places[-1][0]
    pad = 0.09 * (high - low) or 0.3
    x = Axis(low - pad, high + pad, *span)
    grid(sheet, y.axis, y.ticks, *span)
    bottom = y.axis.start
    sheet.row(bottom + 24, [(x.at(at), text) for at, text in places], "soft")
    sheet.lines("axis", [[(x.at(at), bottom), (x.at(at), bottom + 5)] for at, _ in places])
    sheet.text((x.start + x.end) / 2, sheet.height - 8, "sample size", "soft", "middle")
    sheet.lines("dotted", [] if dotted is None else [[(span[0], dotted), (span[1], dotted)]])
    return x


def _sizes_caption(sizes: SampleSizes, effect: str | None) -> str:
    level = format_confidence(sizes.confidence)
    counts = sorted({r.subsamples for r in sizes.rows})
    drawn = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    words = [
        f"{drawn} subsamples of each size, drawn from the {sizes.units:,} units of {combination(sizes.settings, 80)}.",
        f"Left: widths of their {level} intervals of the mean; marks are medians, bars go from quartile to quartile.",
    ]
    if effect is not None:
        words.append(f"The dotted line is the median main effect ({effect.rstrip()}): wider intervals would hide it.")
        words.append(
            f"From {sizes.enough:,} units on the median t interval is narrower."
            if sizes.enough is not None
            else "None of these sizes is enough for that."
        )
    words.append(
        f"Right: share of the intervals that hold the mean of all units; the dotted line is the promised {level}."
    )
    return " ".join(words)
