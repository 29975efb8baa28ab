"""One factor at fixed settings of the others: quantile boxes, and differences by Tukey-Kramer (SCHED appendix)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from gate.commands.study.plots.marks import (
    LAYOUTS,
    Look,
    Scale,
    Vertical,
    combination,
    differences,
    factors_by_name,
    look_of,
    name,
    said,
    scale,
    vertical,
    write,
)
from gate.model.study import Factor, OneWay, OneWayRow, PairwiseDifference, Response, Setting
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
_GOLDEN = 0.6180339887498949

Units = Mapping[Setting, npt.NDArray[np.float64]]


def one_way(
    prefix: str, response: Response, one: OneWay, units: Units | None = None, confidence: float = 0.95
) -> Picture | None:
    """Draw the units of each setting, with letters of what does not differ, and the differences of pairs below.

    Args:
        units: those of each setting, on the scale of the response; without them only their quantiles are drawn. None:
            there are fewer than two settings or nothing that a picture could show.
    """
    factor = factors_by_name(response).get(one.factor) or Factor(
        name=one.factor, settings=[r.setting for r in one.rows]
    )
    rows = [r for r in one.rows if math.isfinite(r.mean)][:MOST]
    values = np.array([v for r in rows for v in (*r.quantiles.values(), r.mean)])
    of = scale(response, values)
    if len(rows) < 2 or of is None:
        return None
    pairs = _chosen(one.pairs)
    y = vertical(of.of(values), of.measure.log, _TOP, _TOP + _PLOT)
    below = _TOP + _PLOT + _BELOW
    sheet = Sheet(_WIDTH, below - 24 + (_PAIR * len(pairs) + 92 if pairs else 0))
    name(sheet, response, of)
    grid(sheet, y.axis, y.ticks, y.room, _WIDTH - 10)
    slot = min((_WIDTH - 10 - y.room) / len(rows), 150.0)
    for number, row in enumerate(rows):
        x = y.room + slot * (number + 0.5)
        _column(sheet, row, x, slot, y, of, look_of(factor, row.setting), units)
    if pairs:
        _pairs(sheet, pairs, response, below + 26)
    caption = _caption(one, rows, pairs, confidence, given=units is not None)
    title = f"{one.factor} at {combination(one.at, 100)}: {response.benchmark}, {response.metric}"
    described = "; ".join(f"{clip(said(r.setting), 24)} {of.say(r.mean)} {r.letters}".rstrip() for r in rows[:8])
    return sheet.picture(prefix, title, f"Means: {described}.", caption)


def _column(
    sheet: Sheet, row: OneWayRow, x: float, slot: float, y: Vertical, of: Scale, look: Look, units: Units | None
) -> None:
    half = min(slot * 0.32, 30.0)
    at = {key: y.axis.at(of.one(value)) for key, value in row.quantiles.items() if math.isfinite(value)}
    if {"25%", "75%"} <= at.keys():
        low, high = at["25%"], at["75%"]
        box = [(x - half, low), (x + half, low), (x + half, high), (x - half, high)]
        sheet.lines(f"box-{look.colour}", [box], closed=True)
        whiskers = [(inner, outer) for inner, outer in (("25%", "10%"), ("75%", "90%")) if outer in at]
        stems = [[(x, at[inner]), (x, at[outer])] for inner, outer in whiskers]
        caps = [[(x - half / 2, at[outer]), (x + half / 2, at[outer])] for _, outer in whiskers]
        sheet.lines(f"fine-{look.colour}", [*stems, *caps])
    if "median" in at:
        sheet.lines(f"bar-{look.colour}", [[(x - half, at["median"]), (x + half, at["median"])]])
    given = None if units is None else units.get(row.setting)
    if given is None:
        look.hollow(sheet, [(x, at[end]) for end in ("minimum", "maximum") if end in at])
    else:
        _dots(sheet, given, x, half, y, of, look)
    mean = (x, y.axis.at(of.one(row.mean)))
    look.marks(sheet, [mean], "large")
    if row.letters:
        write(sheet, x, _TOP - 12, row.letters, slot - 6, "strong")
    write(sheet, x, y.axis.start + 24, said(row.setting), slot - 8)


def _dots(
    sheet: Sheet, values: npt.NDArray[np.float64], x: float, half: float, y: Vertical, of: Scale, look: Look
) -> None:
    finite = values[np.isfinite(values)]
    if finite.size > _DRAWN:
        ranked = np.sort(finite)
        finite = ranked[np.linspace(0, ranked.size - 1, _DRAWN).astype(int)]
    share = (np.arange(finite.size) * _GOLDEN) % 1 * 2 - 1
    points = zip((x + share * half * 0.85).tolist(), y.axis.all(of.of(finite)), strict=True)
    look.marks(sheet, list(points), "small")


def _chosen(pairs: Sequence[PairwiseDifference]) -> list[PairwiseDifference]:
    known = [p for p in pairs if p.low is not None and p.high is not None and math.isfinite(p.difference)]
    return sorted(known, key=lambda p: -abs(p.difference))[:MOST_PAIRS]


def _pairs(sheet: Sheet, pairs: Sequence[PairwiseDifference], response: Response, top: float) -> None:
    ends = np.array([end for p in pairs for end in (p.low, p.high, p.difference) if end is not None])
    of = differences(response, ends)
    if of is None:
        return
    numbers = [of.of(float(e)) for e in ends] + [0.0]
    low, high = min(numbers), max(numbers)
    pad = 0.06 * (high - low) or 1.0
    x = Axis(low - pad, high + pad, _LABELS, _WIDTH - 20)
    end = top + _PAIR * len(pairs)
    unit = f", {clip(said(of.unit), 14)}" if of.unit else ""
    sheet.text(12, top - 14, f"differences of means{unit}", "strong other")
    marks = ticks(x.low, x.high, 6)
    sheet.lines("grid", [[(x.at(t.at), top), (x.at(t.at), end)] for t in marks])
    sheet.lines("zero", [[(x.at(0), top), (x.at(0), end)]])
    for number, pair in enumerate(pairs):
        middle = top + _PAIR * (number + 0.5)
        _pair_name(sheet, pair, middle)
        begin, stop = x.at(of.of(pair.low or 0.0)), x.at(of.of(pair.high or 0.0))
        clear = (pair.low or 0.0) > 0 or (pair.high or 0.0) < 0
        sheet.lines("bar-s0" if clear else "fine-s0", [[(begin, middle), (stop, middle)]])
        at = x.at(of.of(pair.difference))
        (Look(0).marks if clear else Look(0).hollow)(sheet, [(at, middle)], "large")
    sheet.row(end + 24, [(x.at(t.at), minus(t.label)) for t in marks], "soft")


def _pair_name(sheet: Sheet, pair: PairwiseDifference, middle: float) -> None:
    names = said(pair.b), said(pair.a)
    for layout, letters in LAYOUTS:
        columns = int((_LABELS - 16) / room("0", letters)) - 3
        # a short name leaves its room to the other
        width = max(columns // 2, columns - min(map(len, names)))
        text = " − ".join(clip(name, width) for name in names)
        sheet.text(_LABELS - 12, middle, text, f"other middle {layout}", "end", full=" − ".join(names))


def _caption(
    one: OneWay, rows: Sequence[OneWayRow], pairs: Sequence[PairwiseDifference], confidence: float, *, given: bool
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
    if pairs:
        words.append(
            f"Below, differences with their Tukey-Kramer interval, {format_confidence(confidence)} for all of them "
            "together; thin and hollow where it holds 0."
        )
    known = sum(p.low is not None and p.high is not None for p in one.pairs)
    if known > len(pairs):
        words.append(f"The {len(pairs)} largest of {known} differences are drawn.")
    if len(one.rows) > len(rows):
        words.append(f"{len(rows)} of {len(one.rows)} settings are drawn.")
    return " ".join(words)
