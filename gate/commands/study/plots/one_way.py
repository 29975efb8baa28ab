"""One factor at fixed settings of the others: quantile boxes, and differences by Tukey-Kramer (SCHED appendix)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from gate.commands.study.plots import marks as m
from gate.commands.study.plots.marks import LAYOUTS, Look, combination, factors_by_name, in_unit, look_of, said
from gate.model.study import OneWay, OneWayRow, PairwiseDifference, Response, Setting
from gate.plots.axes import grid
from gate.plots.picture import Picture, Sheet, room
from gate.plots.scales import Axis, minus, ticks
from gate.units import format_confidence
from gate.writing.plain import clip

_WIDTH = 720
_TOP, _PLOT, _BELOW = 62, 200, 62
_PAIR = 30
_LABELS = 246
MOST_PAIRS = 10
"""Differences that are drawn at most."""
MOST = 24
"""Settings that are drawn at most."""
_DRAWN = 60
"""Units of a setting that are drawn at most."""

Units = Mapping[Setting, npt.NDArray[np.float64]]


def one_way(
    prefix: str, response: Response, one: OneWay, units: Units | None = None, confidence: float = 0.95
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
    y = m.vertical(of.of(values), of.measure.log, _TOP, _TOP + _PLOT)
    below = _TOP + _PLOT + _BELOW
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


def _pairs(sheet: Sheet, pairs: Sequence[PairwiseDifference], response: Response, top: float) -> None:
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


def _caption(one: OneWay, rows: Sequence[OneWayRow], drawn: int, known: int, confidence: float, *, given: bool) -> str:
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
