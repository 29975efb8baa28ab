"""Intervals of means, by metric in panels of one span (NIST TN 1855, Fig. 1) and by sample size (Fig. 10 and 11)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from gate.commands.study.plots import marks as m
from gate.commands.study.plots.marks import (
    LAYOUTS,
    Array,
    Entry,
    Look,
    Vertical,
    combination,
    factors_by_name,
    in_unit,
    look_of,
    said,
)
from gate.commands.study.plots.treatment_columns import ordered
from gate.model import study
from gate.plots.axes import grid, tick_room
from gate.plots.picture import Picture, Sheet, room
from gate.plots.scales import Axis, minus, ticks
from gate.units import format_confidence, format_number, plural
from gate.writing.plain import clip

_WIDTH = 720
_HEAD, _TITLE, _HEADING, _PLOT, _GAP = 8, 30, 28, 116, 12
_ACROSS = 3
_UNIT = 6
"""Columns of a unit in the name of a panel."""
MOST = 24
"""Panels that are drawn at most."""


class _Panel(msgspec.Struct, frozen=True, eq=False):
    """One metric at one combination of the factors that are not told apart by colour."""

    response: study.Response
    at: dict[str, study.Setting]
    means: list[study.MeanInterval]

    @property
    def ends(self) -> Array:
        return np.array([v for own in self.means for v in (own.mean, own.low, own.high) if v is not None])


def means_by_metric(prefix: str, responses: Sequence[study.Response], confidence: float) -> Picture | None:
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


def _rows(responses: Sequence[study.Response], factor: study.Factor) -> list[list[_Panel]]:
    """Return the panels, those of one combination in a row of metrics; of one metric all in a row."""
    found: dict[tuple[tuple[str, study.Setting], ...], dict[str, _Panel]] = {}
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
    sheet: Sheet, panel: _Panel, factor: study.Factor, left: float, top: float, span: float, names: Mapping[str, str]
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


def sample_sizes(prefix: str, response: study.Response, sizes: study.SampleSizes) -> Picture | None:
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
    sheet: Sheet, rows: Sequence[study.SampleSize], y: Vertical, span: tuple[float, float], dotted: float | None
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


def _sizes_caption(sizes: study.SampleSizes, effect: str | None) -> str:
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


_TOP, _BOXES, _BELOW = 62, 200, 62
_PAIR = 30
_LABELS = 246
MOST_PAIRS = 10
"""Differences that are drawn at most."""
_DRAWN = 60
"""Units of a setting that are drawn at most."""

Units = Mapping[study.Setting, npt.NDArray[np.float64]]


def one_way(
    prefix: str, response: study.Response, one: study.OneWay, units: Units | None = None, confidence: float = 0.95
) -> Picture | None:
    """Draw the units of each setting, with letters of what does not differ, and the differences of pairs below.

    Args:
        units: those of each setting, on the scale of the response; without them only their quantiles are drawn. None:
            there are fewer than two settings or nothing that a picture could show.
    """
    rows = one.rows[:MOST]
    of = m.scale(response, np.array([v for r in rows for v in (*r.quantiles.values(), r.mean)]))
    if len(rows) < 2 or of is None:
        return None
    known = [p for p in one.pairs if p.low is not None and p.high is not None]
    pairs = sorted(known, key=lambda p: -abs(p.difference))[:MOST_PAIRS]
    values = np.array([v for r in rows for v in (*r.quantiles.values(), r.mean)])
    y = m.vertical(of.of(values), of.measure.log, _TOP, _TOP + _BOXES)
    below = _TOP + _BOXES + _BELOW
    sheet = Sheet(_WIDTH, below - 24 + (_PAIR * len(pairs) + 92 if pairs else 0))
    m.name(sheet, response, of)
    grid(sheet, y.axis, y.ticks, y.room, _WIDTH - 10)
    slot = min((_WIDTH - 10 - y.room) / len(rows), 150.0)
    half = min(slot * 0.32, 30.0)
    for number, row in enumerate(rows):
        x, look = y.room + slot * (number + 0.5), look_of(factors_by_name(response)[one.factor], row.setting)
        at = {key: y.axis.at(of.one(value)) for key, value in row.quantiles.items()}
        m.box(sheet, look, x, half, (at["25%"], at["median"], at["75%"]), (at["10%"], at["90%"]))
        given = None if units is None else units.get(row.setting)
        if given is None:
            look.hollow(sheet, [(x, at["minimum"]), (x, at["maximum"])])
        else:
            drawn = m.evenly(np.sort(given), _DRAWN) if given.size > _DRAWN else given
            xs = x + (m.spread_out(drawn.size) * 2 - 1) * half * 0.85
            look.marks(sheet, list(zip(xs.tolist(), y.axis.all(of.of(drawn)), strict=True)), "small")
        look.marks(sheet, [(x, y.axis.at(of.one(row.mean)))], "large")
        if row.letters:
            m.write(sheet, x, _TOP - 12, row.letters, slot - 6, "strong")
        m.write(sheet, x, y.axis.start + 24, said(row.setting), slot - 8)
    if pairs:
        _pairs(sheet, pairs, response, below + 26)
    caption = _caption(one, rows, len(pairs), len(known), confidence, given=units is not None)
    title = f"{one.factor} at {combination(one.at, 100)}: {response.benchmark}, {response.metric}"
    described = "; ".join(f"{clip(said(r.setting), 24)} {of.say(r.mean)} {r.letters}".rstrip() for r in rows[:8])
    return sheet.picture(prefix, title, f"Means: {described}.", caption)


def _pairs(sheet: Sheet, pairs: Sequence[study.PairwiseDifference], response: study.Response, top: float) -> None:
    found = [(p, p.low or 0.0, p.high or 0.0) for p in pairs]
    ends = np.array([end for p, low, high in found for end in (low, high, p.difference)])
    of = m.differences(response, ends)
    if of is None:
        return
    numbers = [of.of(float(e)) for e in ends] + [0.0]
    low, high = min(numbers), max(numbers)
    pad = 0.06 * (high - low) or 1.0
    x = Axis(low - pad, high + pad, _LABELS, _WIDTH - 20)
    end = top + _PAIR * len(pairs)
    sheet.text(12, top - 14, f"differences of means{in_unit(of.unit, 14)}", "strong other")
    marks = ticks(x.low, x.high, 6)
    sheet.lines("grid", [[(x.at(t.at), top), (x.at(t.at), end)] for t in marks])
    sheet.lines("zero", [[(x.at(0), top), (x.at(0), end)]])
    for number, (pair, low, high) in enumerate(found):
        middle = top + _PAIR * (number + 0.5)
        names = said(pair.b), said(pair.a)
        for layout, letters in LAYOUTS:
            columns = int((_LABELS - 16) / room("0", letters)) - 3
            # a short name leaves its room to the other
            width = max(columns // 2, columns - min(map(len, names)))
            text = " − ".join(clip(name, width) for name in names)
            sheet.text(_LABELS - 12, middle, text, f"other middle {layout}", "end", full=" − ".join(names))
        clear = low > 0 or high < 0
        sheet.lines("bar-s0" if clear else "fine-s0", [[(x.at(of.of(low)), middle), (x.at(of.of(high)), middle)]])
        (Look(0).marks if clear else Look(0).hollow)(sheet, [(x.at(of.of(pair.difference)), middle)], "large")
    sheet.row(end + 24, [(x.at(t.at), minus(t.label)) for t in marks], "soft")


def _caption(
    one: study.OneWay, rows: Sequence[study.OneWayRow], drawn: int, known: int, confidence: float, *, given: bool
) -> str:
    place = f"At {combination(one.at, 100)}" if one.at else "Over all the other factors"
    words = [f"{place}: {clip(said(one.factor), 30)}."]
    words.append(
        "Boxes go from quartile to quartile with the median in them, whiskers from 10% to 90%; the mark is the mean."
    )
    words.append("Small marks are single units." if given else "Hollow marks are the smallest and the largest unit.")
    words.append(f"{', '.join(f'{clip(said(r.setting), 20)}: {r.count}' for r in rows[:8])} units.")
    if any(r.letters for r in rows):
        words.append("Settings that share a letter at the top do not differ clearly.")
    if drawn:
        words.append(
            f"Below, differences with their Tukey-Kramer interval, {format_confidence(confidence)} for all of them "
            "together; thin and hollow where it holds 0."
        )
    if known > drawn:
        words.append(f"The {drawn} largest of {known} differences are drawn.")
    if len(one.rows) > len(rows):
        words.append(f"{len(rows)} of {len(one.rows)} settings are drawn.")
    return " ".join(words)
