"""Intervals of means, by metric in panels of one span (NIST TN 1855, Fig. 1) and by sample size (Fig. 10 and 11)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from gate.commands.study.plots import styles as m
from gate.commands.study.plots.styles import WIDTH, combination, in_unit, letters_in, look_of, ordered, said
from gate.commands.study.words import Amounts
from gate.model import study
from gate.plots import panels
from gate.plots.panels import Array, Panel, PlotStyle
from gate.plots.picture import Picture, Sheet
from gate.plots.scales import Axis, Tick
from gate.writing.amounts import format_number
from gate.writing.plain import clip
from gate.writing.units import format_confidence, plural

_HEAD, _TITLE, _HEADING, _PLOT, _GAP = 8, 30, 28, 116, 12
_ACROSS = 3
_UNIT = 6
"""Columns of a unit in the name of a panel."""
MOST = 24
"""Panels that are drawn at most."""


class _Means(msgspec.Struct, frozen=True, eq=False):
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
    kept: list[list[_Means]] = []
    for row in rows:
        if sum(map(len, kept)) + len(row) <= MOST or not kept:
            kept.append(row[:MOST])
    listed, several = m.entries(factor), len(shown) > 1
    every = [own for row in kept for own in row]
    # panels are named by metric, or by their settings, so that they stay different
    full = [
        said(own.response.metric) if several or not own.at else ", ".join(map(said, own.at.values())) for own in every
    ]
    width = (WIDTH - 12) / _ACROSS
    short = m.shortened(list(dict.fromkeys(full)), letters_in(width - 14) - _UNIT - 2)
    names = {id(own): short.get(text) or f"{k}" for k, (own, text) in enumerate(zip(every, full, strict=True), start=1)}
    top = _HEAD + m.legend_height(listed, WIDTH - 24, said(factor.name)) + 8
    heading = _HEADING if several and any(row[0].at for row in kept) else 0
    lines = [-(-len(row) // _ACROSS) for row in kept]
    pitch = _TITLE + _PLOT + _GAP
    sheet = Sheet(WIDTH, top + sum(heading + n * pitch for n in lines) + 4)
    m.legend(sheet, listed, 12, _HEAD, WIDTH - 24, said(factor.name))
    at = float(top)
    for row, count in zip(kept, lines, strict=True):
        if heading:
            m.write(sheet, 12, at + 18, combination(row[0].at, 200), WIDTH - 24, "strong other", "start")
        at += heading
        for number, own in enumerate(row):
            left, above = 12 + number % _ACROSS * width, at + pitch * (number // _ACROSS)
            alike = [p for p in row if (p.response.unit, p.response.scale) == (own.response.unit, own.response.scale)]
            extent = max(float(np.ptp(p.ends)) for p in alike)
            _draw(sheet, own, factor, left, above, width, extent, names[id(own)])
        at += count * pitch
    drawn, total = len(every), sum(map(len, rows))
    fewest = min(mean.units for own in every for mean in own.means)
    caption = m.words(
        f"Mean of the units of each treatment, with its {format_confidence(confidence)} BCa bootstrap interval.",
        "Panels of one unit beside each other span the same, each around its own means.",
        any(mean.low is None for own in every for mean in own.means)
        and "A mark without a bar has fewer than 3 units, or no spread.",
        fewest < 10 and f"With {plural(fewest, 'unit')} such an interval is too narrow: at least 10 are better.",
        drawn < total and f"{drawn} of {total} panels are drawn.",
    )
    described = f"{plural(drawn, 'panel')} of {plural(len(shown), 'metric')}."
    return sheet.picture(prefix, f"Means with BCa intervals of {shown[0].benchmark}", described, caption)


def _rows(responses: Sequence[study.Response], factor: study.Factor) -> list[list[_Means]]:
    """Return the panels, those of one combination in a row of metrics; of one metric all in a row."""
    found: dict[tuple[tuple[str, study.Setting], ...], dict[str, _Means]] = {}
    for response in responses:
        for own in response.means:
            key = tuple((k, v) for k, v in own.settings.items() if k != factor.name)
            row = found.setdefault(key, {})
            row.setdefault(response.metric, _Means(response, dict(key), [])).means.append(own)
    others = [f for f in responses[0].factors if f.name != factor.name]
    keys = list(found)
    rows = [list(found[keys[k]].values()) for k in ordered(others, [dict(key) for key in keys])]
    return rows if len(responses) > 1 else [[own for row in rows for own in row]]


def _draw(
    sheet: Sheet, own: _Means, factor: study.Factor, left: float, top: float, width: float, extent: float, name: str
) -> None:
    middle = float(own.ends.max() + own.ends.min()) / 2
    reach = 0.6 * extent or 0.05 * abs(middle) or 1.0
    outer = np.array([middle - reach, middle + reach])
    of = m.scale(own.response, np.concatenate((own.ends, outer)))
    if of is None:
        return
    low, high = of.of(outer).tolist()
    y = panels.Span(low, high, panels.marks_between(low, high, 4, log=of.log))
    full = f"{said(own.response.metric)}, {combination(own.at, 200)}"
    sheet.text(left, top + 18, f"{name}{in_unit(of.measure.unit, _UNIT)}", "soft other", full=full)
    x = Axis(-0.5, len(factor.settings) - 0.5, left + y.room - 6, left + width - 14)
    panel = Panel.on(sheet, x, y, top + _TITLE, _PLOT)
    for mean in own.means:
        setting = mean.settings[factor.name]
        look, place = look_of(factor, setting), factor.settings.index(setting)
        if mean.low is not None and mean.high is not None:
            ends = of.one(mean.low), of.one(mean.high)
            panel.interval(f"fine-{look.colour}", place, ends, min(6.0, panel.slot * 0.3))
        look.marks(sheet, panel.points([place], [of.one(mean.mean)]), "large" if panel.slot > 16 else "middle")


_ABOVE, _TALL, _FOOT = 62, 196, 62
_BETWEEN = 26
_LOG = 8.0
"""Widths that differ by more than this factor are drawn by their logarithm."""
_METHODS = {"t": ("t interval", PlotStyle(0), -5.0), "bca": ("BCa bootstrap", PlotStyle(1), 5.0)}


def sample_sizes(prefix: str, response: study.Response, sizes: study.SampleSizes) -> Picture | None:
    """Draw the widths of intervals and their coverage against the size of the sample; None: there are no sizes."""
    rows = sizes.rows
    widths = np.array([w for r in rows for w in r.widths])
    if not rows or float(widths.max()) <= 0:
        return None
    of_change = Amounts(response)
    effect = sizes.median_effect if sizes.median_effect is not None and sizes.median_effect > 0 else None
    factor, unit = (0.01, "%") if of_change.log else (of_change.unit.factor, of_change.unit.name)
    every = widths / factor if effect is None else np.append(widths, effect) / factor
    log = bool(every.min() > 0 and every.max() / every.min() > _LOG)
    listed = [(look, name) for key, (name, look, _) in _METHODS.items() if any(r.method == key for r in rows)]
    top = _ABOVE + m.legend_height(listed, WIDTH - 24)
    sheet = Sheet(WIDTH, top + _TALL + _FOOT)
    m.legend(sheet, listed, 12, 6, WIDTH - 24)

    def of(number: float) -> float:
        return math.log10(number / factor) if log else number / factor

    shares = [r.coverage * 100 for r in rows] + [sizes.confidence * 100, 100.0]
    left = panels.span(np.log10(every) if log else np.append(every, 0.0), log)
    right = panels.span(np.array(shares), False)
    at = {math.log10(r.size): f"{r.size}" for r in rows}
    pad = 0.09 * (max(at) - min(at)) or 0.3
    low, high = min(at) - pad, max(at) + pad
    width = (WIDTH - left.room - right.room - _BETWEEN) / 2
    first = Axis(low, high, left.room, left.room + width)
    second = Axis(low, high, first.end + _BETWEEN + right.room - 12, WIDTH - 12)
    of_width, of_share = Panel.on(sheet, first, left, top, _TALL), Panel.on(sheet, second, right, top, _TALL)
    for panel in (of_width, of_share):
        panel.ruler([Tick(place, text) for place, text in sorted(at.items())], "sample size")
        bottom = panel.y.start
        sheet.lines("axis", [[(panel.x.at(place), bottom), (panel.x.at(place), bottom + 5)] for place in at])
    if effect is not None:
        of_width.level("dotted", of(effect))
    of_share.level("dotted", sizes.confidence * 100)
    for method, (_, look, shift) in _METHODS.items():
        own = sorted((r for r in rows if r.method == method), key=lambda r: r.size)
        # methods stand beside each other, not on each other
        xs = np.log10([r.size for r in own])
        beside = xs + shift / of_width.slot
        for x, row in zip(beside.tolist(), own, strict=True):
            of_width.interval(f"fine-{look.colour}", x, (of(row.widths[0]), of(row.widths[2])), 4)
        for panel, places, ys in (
            (of_width, beside, [of(r.widths[1]) for r in own]),
            (of_share, xs + shift / 2 / of_share.slot, [r.coverage * 100 for r in own]),
        ):
            points = panel.points(places, ys)
            sheet.lines(look.lines("line"), [points] if len(points) > 1 else [])
            look.marks(sheet, points, "large")
    widths_name = f"interval width{in_unit(unit, 10)}{' (log axis)' if log else ''}"
    sheet.text(12, top - 14, widths_name, "strong other")
    sheet.text(second.start - right.room + 12, top - 14, "coverage, %", "strong")
    shown = [r for r in rows if r.method == "t"] or rows
    ends = " and ".join(f"{row.coverage:.1%} at {row.size}" for row in (shown[0], shown[-1]))
    level = format_confidence(sizes.confidence)
    counts = sorted({r.subsamples for r in rows})
    drawn = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    told = "" if effect is None else f"{format_number(effect / factor, 3)} {said(unit)}".rstrip()
    caption = m.words(
        f"{drawn} subsamples of each size, drawn from the {sizes.units:,} units of {combination(sizes.settings, 80)}.",
        f"Left: widths of their {level} intervals of the mean; marks are medians, bars go from quartile to quartile.",
        told and f"The dotted line is the median main effect ({told}): wider intervals would hide it.",
        f"Right: share of the intervals that hold the mean of all units; the dotted line is the promised {level}.",
    )
    title = f"Sample sizes for {response.benchmark}, {response.metric}"
    return sheet.picture(prefix, title, f"{sizes.units:,} units; coverage {ends}.", caption)


_TOP, _BOXES, _BELOW = 62, 200, 38
_DRAWN = 60
"""Units of a setting that are drawn at most."""


def one_way(
    prefix: str, response: study.Response, one: study.OneWay, units: Mapping[study.Setting, Array]
) -> Picture | None:
    """Draw the units of each setting, with letters of what does not differ; None: there are fewer than two settings.

    Args:
        units: those of each setting, on the scale of the response.
    """
    rows = one.rows[:MOST]
    values = np.array([v for r in rows for v in (*r.quantiles.values(), r.mean)])
    of = m.scale(response, values)
    if len(rows) < 2 or of is None:
        return None
    y = panels.span(of.of(values), of.log)
    sheet = Sheet(WIDTH, _TOP + _BOXES + _BELOW)
    m.name(sheet, response, of)
    panel = Panel.on(sheet, Axis(0, 1, y.room, WIDTH - 10), y, _TOP, _BOXES)
    slot = min((WIDTH - 10 - y.room) / len(rows), 150.0)
    panel = panel.across(panels.places(y.room, slot, len(rows)))
    half = min(slot * 0.32, 30.0)
    for place, row in enumerate(rows):
        x, look = panel.x.at(place), look_of(m.factors_by_name(response)[one.factor], row.setting)
        at = {key: of.one(value) for key, value in row.quantiles.items()}
        panel.box(look, place, half, (at["25%"], at["median"], at["75%"]), (at["10%"], at["90%"]))
        given = units[row.setting]
        drawn = panels.evenly(np.sort(given), _DRAWN) if given.size > _DRAWN else given
        xs = place + panels.spread_out(drawn.size) * half * 0.85 / slot
        look.marks(sheet, panel.points(xs, of.of(drawn)), "small")
        look.marks(sheet, panel.points([place], [of.one(row.mean)]), "large")
        if row.letters:
            m.write(sheet, x, _TOP - 12, row.letters, slot - 6, "strong")
        m.write(sheet, x, panel.y.start + 24, said(row.setting), slot - 8)
    caption = m.words(
        f"{f'At {combination(one.at, 100)}' if one.at else 'Over all the other factors'}: "
        f"{clip(said(one.factor), 30)}.",
        "Boxes go from quartile to quartile with the median in them, whiskers from 10% to 90%; the mark is the mean.",
        "Small marks are single units.",
        f"{', '.join(f'{clip(said(r.setting), 20)}: {r.count}' for r in rows[:8])} units.",
        any(r.letters for r in rows) and "Settings that share a letter at the top do not differ clearly.",
        len(one.rows) > len(rows) and f"{len(rows)} of {len(one.rows)} settings are drawn.",
    )
    title = f"{one.factor} at {combination(one.at, 100)}: {response.benchmark}, {response.metric}"
    described = "; ".join(f"{clip(said(r.setting), 24)} {of.say(r.mean)} {r.letters}".rstrip() for r in rows[:8])
    return sheet.picture(prefix, title, f"Means: {described}.", caption)
