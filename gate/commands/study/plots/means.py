"""Means by setting: main effects and interactions of two factors (NIST TN 1855, Fig. 12), and block plots (Fig. 7)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import permutations

import msgspec
import numpy as np

from gate.commands.study.changes import alias_sets, named, named_short
from gate.commands.study.plots import styles as m
from gate.commands.study.plots.styles import (
    ROW,
    WIDTH,
    codes,
    combination,
    factors_by_name,
    labels,
    look_of,
    names_room,
    ordered,
    said,
)
from gate.model.study import Blocks, Box, Factor, MainEffect, MeanPoint, Response, Setting
from gate.plots import panels
from gate.plots.panels import Panel, PlotStyle
from gate.plots.picture import LETTERS, Picture, Sheet, room
from gate.plots.scales import Axis
from gate.writing.plain import clip
from gate.writing.units import agree

_HEAD, _TITLE, _PLOT, _BELOW = 32, 32, 150, 36
_TALL = 176
_PER_ROW = 12
"""Settings beside each other in a row of main effects; more begin another row."""
MOST = 12
"""Interactions that are drawn at most."""
_EDGE = 36
"""For the half of the last name that stands beyond its panel."""
_LISTED = 12
"""Alias sets that a caption names."""


def mains(prefix: str, response: Response) -> Picture | None:
    """Draw the mean of each setting of each factor, all on one scale; None where no factor has two settings."""
    factors, aliases = factors_by_name(response), alias_sets(response)
    drawn: list[tuple[Factor, list[MeanPoint]]] = []
    for main in response.mains:
        if len(main.factors) == 1 and len(main.points) > 1:
            factor = factors[main.factors[0]]
            place = codes(factor)
            drawn.append((factor, sorted(main.points, key=lambda p: place[p.settings[factor.name]])))
    values = np.array([point.mean for _, points in drawn for point in points])
    of = m.scale(response, values)
    if not drawn or of is None:
        return None
    # fill rows with panels, by the settings that they hold
    total = sum(len(points) for _, points in drawn)
    wanted = total / math.ceil(total / _PER_ROW)
    rows: list[list[tuple[Factor, list[MeanPoint]]]] = [[]]
    for panel_of in drawn:
        size, held = len(panel_of[1]), sum(len(points) for _, points in rows[-1])
        if rows[-1] and (held + size / 2 > wanted or held + size > _PER_ROW):
            rows.append([])
        rows[-1].append(panel_of)
    y = panels.span(of.of(values), of.log)
    # few settings do not make wide panels
    slots = [min((WIDTH - 10 - y.room) / sum(len(points) + 0.4 for _, points in row), 110.0) for row in rows]
    names = [[said(p.settings[factor.name]) for factor, points in row for p in points] for row in rows]
    pitch = _TITLE + _PLOT + _BELOW
    sheet = Sheet(WIDTH, _HEAD + pitch * len(rows))
    m.name(sheet, response, of, "mean ")
    for number, (row, slot) in enumerate(zip(rows, slots, strict=True)):
        panel = Panel.on(sheet, Axis(0, 1, y.room, WIDTH - 10), y, _HEAD + pitch * number + _TITLE, _PLOT)
        panel.level("dotted", float(of.of(np.array([p.mean for _, points in row for p in points])).mean()))
        left, xs = panel.x.start, list[float]()
        for factor, means in row:
            if xs:
                sheet.lines("axis", [[(left, panel.y.end - _TITLE + 8), (left, panel.y.start)]])
            own = panel.across(panels.places(left + 0.2 * slot, slot, len(means)))
            points = own.points(range(len(means)), of.of(np.array([p.mean for p in means])))
            sheet.lines("line-s0", [points])
            PlotStyle(0).marks(sheet, points, "large")
            width = slot * (len(means) + 0.4)
            _title(sheet, left + width / 2, panel.y.end - 12, factor.name, aliases, width - 10)
            xs += [x for x, _ in points]
            left += width
        _settings(sheet, xs, names[number], panel.y.start + 23, slot)
    caption = m.words(
        "Mean of each setting, over the treatments that have it, each treatment counting alike. The steeper a line, "
        "the more its factor matters; the dotted line is the mean of all. All panels have one scale.",
        _unbalanced(response),
        _aliased([factor.name for factor, _ in drawn], aliases, " (*)"),
    )
    ends = [(factor.name, sorted(p.mean for p in points)) for factor, points in drawn[:8]]
    shown = [f"{clip(said(name), 30)} from {of.say(own[0])} to {of.say(own[-1])}" for name, own in ends]
    title = f"Main effects on {response.benchmark}, {response.metric}"
    return sheet.picture(prefix, title, f"Means by setting: {'; '.join(shown)}.", caption)


def _title(sheet: Sheet, x: float, y: float, name: str, aliases: Mapping[str, Sequence[str]], space: float) -> None:
    """Name a factor with its aliases, where these do not fit with a star that the caption explains."""
    full, text = said(name), m.cut(said(name), space)
    if name in aliases:
        full, short = (said(how(name, aliases[name])) for how in (named, named_short))
        starred = f"{clip(said(name), max(1, m.letters_in(space) - 1))}*"
        text = next((t for t in (full, short) if room(t, LETTERS) <= space), starred)
    sheet.text(x, y, text, "strong other", "middle", full=full)


def _unbalanced(response: Response) -> str:
    return "" if response.balanced else "The treatments are not balanced: a mean also holds what else differs."


def _aliased(terms: Sequence[str], aliases: Mapping[str, Sequence[str]], mark: str = "") -> str:
    """Say which terms of a picture these treatments do not tell from which others; "" for none."""
    own = [clip(said(named(t, names)), 60) for t, names in aliases.items() if {t, *names} & set(terms)]
    more = f"; and {len(own) - _LISTED} more" if len(own) > _LISTED else ""
    return f"Not told apart by these treatments{mark}: {'; '.join(own[:_LISTED])}{more}." if own else ""


def _settings(sheet: Sheet, xs: Sequence[float], names: Sequence[str], y: float, slot: float) -> None:
    """Write the names of settings below an axis: shortened where that tells them apart, else some of them."""
    width = int((slot - 6) / room("0", LETTERS))
    short = m.shortened(names, width) if width > 2 else {}
    every = 1 if short else math.ceil(room("000000", LETTERS) / slot)
    for x, text in list(zip(xs, names, strict=True))[::every]:
        sheet.text(x, y, short.get(text) or clip(text, 6), "soft other", "middle", full=text)


class _Lines(msgspec.Struct, frozen=True):
    """An interaction to draw: x is the factor along the axis, by that of the lines."""

    x: Factor
    by: Factor
    means: dict[tuple[int, int], float]
    """By the number of the line and the place along the axis."""

    @property
    def lines(self) -> list[int]:
        """The settings that have a line."""
        return sorted({line for line, _ in self.means})

    @property
    def places(self) -> list[int]:
        """The settings along the axis."""
        return sorted({place for _, place in self.means})

    @property
    def names(self) -> list[str]:
        """Of the settings along the axis."""
        return [said(self.x.settings[place]) for place in self.places]

    @property
    def unparallel(self) -> float:
        """The largest distance from what rows and columns alone would give, where all cells are there; else 0."""
        if len(self.means) < len(self.lines) * len(self.places):
            return 0.0
        table = np.array([[self.means[a, b] for b in self.places] for a in self.lines])
        rest = table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean()
        return float(np.abs(rest).max())


def interactions(prefix: str, response: Response, listed: Sequence[MainEffect]) -> Picture | None:
    """Draw the means of two factors at a time, a line for each setting of the second; None where there are none.

    At most 12 are drawn, those whose lines are the least parallel.
    """
    found = [own for own in (_lines(main, factors_by_name(response)) for main in listed) if own is not None]
    drawn = [found[k] for k in sorted(sorted(range(len(found)), key=lambda k: -found[k].unparallel)[:MOST])]
    values = np.array([v for own in drawn for v in own.means.values()])
    of = m.scale(response, values)
    if not drawn or of is None:
        return None
    y = panels.span(of.of(values), of.log)
    columns = 1 if len(drawn) == 1 else 2
    width = (WIDTH - y.room) / columns
    legends = [m.entries(own.by, [own.by.settings[line] for line in own.lines]) for own in drawn]
    extra = max(m.legend_height(own, width - 24) for own in legends)
    pitch = _TITLE + extra + _TALL + _BELOW
    sheet = Sheet(WIDTH, _HEAD + pitch * math.ceil(len(drawn) / columns))
    m.name(sheet, response, of, "mean ")
    for number, (own, entries) in enumerate(zip(drawn, legends, strict=True)):
        top, first = _HEAD + pitch * (number // columns) + _TITLE + extra, number % columns == 0
        left = y.room + width * (number % columns)
        x = Axis(-0.5, len(own.places) - 0.5, left + (0 if first else 12), left + width - _EDGE)
        panel = Panel.on(sheet, x, y, top, _TALL, labels=first)
        m.legend(sheet, entries, x.start, top - extra - 6, width - 24)
        m.write(sheet, x.start, top - extra - 12, f"{said(own.by.name)} by {said(own.x.name)}", width - 20,
                "strong other", "start")  # fmt: skip
        for line in own.lines:
            known = [(k, of.one(own.means[line, p])) for k, p in enumerate(own.places) if (line, p) in own.means]
            points, look = panel.points(*zip(*known, strict=True)), look_of(own.by, own.by.settings[line])
            sheet.lines(look.lines("line"), [points])
            look.marks(sheet, points, "large")
        _settings(sheet, [x.at(k) for k in range(len(own.places))], own.names, panel.y.start + 23, panel.slot)
    pairs = [":".join(names) for own in drawn for names in permutations((own.x.name, own.by.name))]
    left_out = len(found) - len(drawn)
    caption = m.words(
        "Means of treatments by two factors; a line for each setting of one of them.",
        "Parallel lines: the factors act independently; lines that part or cross: they interact.",
        "All panels have one scale.",
        _unbalanced(response),
        any(len(own.means) < len(own.lines) * len(own.places) for own in drawn)
        and "Combinations that were not measured are missing.",
        _aliased(pairs, alias_sets(response)),
        left_out > 0 and f"{left_out} more, the most parallel, {agree(left_out, 'is', 'are')} left out.",
    )
    title = f"Interactions of two factors on {response.benchmark}, {response.metric}"
    shown = [f"{clip(said(own.by.name), 30)} by {clip(said(own.x.name), 30)}" for own in drawn[:8]]
    return sheet.picture(prefix, title, f"Means of {'; '.join(shown)}.", caption)


def _lines(main: MainEffect, factors: Mapping[str, Factor]) -> _Lines | None:
    pair = [factors[n] for n in main.factors if n in factors]
    if len(pair) != 2:
        return None
    # the factor with more settings goes along the axis
    x, by = (pair[1], pair[0]) if len(pair[1].settings) > len(pair[0].settings) else (pair[0], pair[1])
    across, along = codes(by), codes(x)
    found = _Lines(x, by, {(across[p.settings[by.name]], along[p.settings[x.name]]): p.mean for p in main.points})
    return found if len(found.lines) > 1 and len(found.places) > 1 else None


_ABOVE, _BOXES = 30, 216
MOST_BOXES = 48
"""Boxes that are drawn at most."""
_BROAD = 120.0
_RED = "regression"
"""The colour of questionable treatments."""


def blocks(prefix: str, response: Response, blocks: Blocks) -> Picture | None:
    """Draw the means of a factor's settings in a box for each combination of the others; None: there are no boxes."""
    factor = m.factors_by_name(response).get(blocks.factor)
    boxes = [box for box in blocks.boxes if box.points]
    values = np.array([mean for box in boxes for _, mean in box.points])
    of = m.scale(response, values)
    if factor is None or of is None or all(len(box.points) < 2 for box in boxes):
        return None
    others = [f for f in response.factors if f.name != factor.name and any(f.name in box.at for box in boxes)]
    kept = [boxes[k] for k in ordered(others, [box.at for box in boxes])][:MOST_BOXES]
    y = panels.span(of.of(values), of.log)
    left = max(y.room, names_room(others))
    slot = min((WIDTH - left - 14) / len(kept), _BROAD)
    listed = m.entries(factor)
    top = _ABOVE + m.legend_height(listed, WIDTH - 24, said(factor.name)) + 14
    sheet = Sheet(WIDTH, top + _BOXES + 8 + ROW * len(others) + 8)
    m.name(sheet, response, of, "mean ")
    m.legend(sheet, listed, 12, _ABOVE, WIDTH - 24, said(factor.name))
    panel = Panel.on(sheet, Axis(0, 1, left, WIDTH - 8), y, top, _BOXES).across(
        panels.places(left + 6, slot, len(kept))
    )
    number = m.codes(factor)

    def order(box: Box) -> tuple[Setting, ...] | None:
        """Return the settings of a complete box from the lowest to the highest mean; None: it lacks some."""
        if len(box.points) < len(factor.settings):
            return None
        return tuple(s for s, _ in sorted(box.points, key=lambda p: (p[1], number[p[0]])))

    orders = [own for box in boxes if (own := order(box)) is not None]
    commonest = Counter(orders).most_common(1)[0][0] if orders else None
    half = min(slot * 0.42, 34)
    red = False
    for place, box in enumerate(kept):
        x, pixels = panel.x.at(place), panel.y.all(of.of(np.array([mean for _, mean in box.points])))
        low, high = max(pixels) + 9, min(pixels) - 9
        corners = [(x - half, low), (x + half, low), (x + half, high), (x - half, high)]
        doubt = {s for s, _ in box.points if {**box.at, factor.name: s} in response.questionable}
        odd = order(box) not in (None, commonest)
        red = red or bool(doubt)
        for kind, drawn in (
            ("frame" if odd or len(box.points) < len(factor.settings) else "shell", True),
            ("limit", odd),
            (f"fine-{_RED}", bool(doubt)),
        ):
            sheet.lines(kind, [corners] if drawn else [], closed=True)
        for (setting, _), at in zip(box.points, pixels, strict=True):
            colour = _RED if setting in doubt else None
            size: panels.Size = "large" if slot >= 24 else "middle"
            look_of(factor, setting).marks(sheet, [(x, at)], size, colour)
    lacking = len(boxes) - blocks.complete
    labels(sheet, others, [box.at for box in kept], panel.x, top + _BOXES + 8)
    caption = m.words(
        f"A box holds the treatments that differ in {clip(said(factor.name), 30)} only; a mark is a treatment's mean.",
        blocks.complete < 2 and "There are too few complete boxes to compare their orders.",
        blocks.complete > 1 and blocks.order is None and "Boxes that have not the commonest order have a dashed edge.",
        lacking > 0 and f"{lacking} of {len(boxes)} boxes lack a setting and are not counted; they are unfilled.",
        len(kept) < len(boxes) and f"{len(boxes) - len(kept)} boxes are left out of the picture.",
        red and "Red marks in boxes with a red edge are the questionable treatments, which --without names.",
    )
    shown = [
        f"{combination(box.at, 60)}: {', '.join(f'{clip(said(s), 16)} {of.say(mean)}' for s, mean in box.points)}"
        for box in kept[:4]
    ]
    title = f"Block plot of {blocks.factor} for {response.benchmark}, {response.metric}"
    return sheet.picture(prefix, title, f"Means by {clip(said(factor.name), 30)}. {'; '.join(shown)}.", caption)
