"""Means with BCa intervals, by metric: small panels of one span (NIST TN 1855, Fig. 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gate.commands.study.plots.labels import ordered
from gate.commands.study.plots.marks import (
    LAYOUTS,
    combination,
    entries,
    legend,
    legend_height,
    look_of,
    said,
    shortened,
    write,
)
from gate.commands.study.plots.scale import Array, Scale, marks_between, scale
from gate.model.study import Factor, MeanInterval, Response, Setting
from gate.plots.axes import grid, tick_room
from gate.plots.picture import Picture, Sheet, room
from gate.plots.scales import Axis
from gate.units import format_confidence, plural
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
