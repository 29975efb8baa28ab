"""What only the page of a trend has: a picture of each case, and its values."""

from __future__ import annotations

import math

import numpy as np

from gate.commands.history.trend import words
from gate.document.document import Cell, Column, Figures, Fold, Items, Part, Row, Table
from gate.plots.axes import grid, tick_room
from gate.plots.picture import LETTERS, LETTERS_NARROW, Picture, Point, Sheet, Tip, room
from gate.plots.scales import Axis, change_ticks
from gate.store.series import CaseTrend, Run, Trend
from gate.units import plural
from gate.writing.amounts import amount
from gate.writing.plain import clip, visible

_WIDTH, _HEIGHT = 960, 300
_TOP, _BOTTOM, _RIGHT = 46, 240, 946
_LEAST_HALF = 0.02
"""Half the height of the axis at least, in log: noise of a per cent looks like noise."""
_FEW = 120
"""So many commits get a mark each."""
_DATES = 12
_LETTER = 0.62


def picture(case: CaseTrend, trend: Trend, prefix: str, tips: int) -> Picture:
    """Draw the level of a case over the commits, as far as it is known.

    Args:
        case: of the trend.
        trend: the commits and machines.
        prefix: what ids begin with.
        tips: stretches with a text at most; of more commits several share one.
    """
    name, count = words.name(case.series), case.path.level.size
    sheet = Sheet(_WIDTH, _HEIGHT)
    # choose the height: of all levels, and of the intervals as far as these do not flatten them
    path = case.path
    low, high = np.nanmin([*path.level, np.inf]), np.nanmax([*path.level, -np.inf])
    if low > high:
        low = high = 0.0
    reach = max(_LEAST_HALF, 0.6 * (high - low))
    low = max(np.nanmin([low, *path.low]), low - reach)
    high = min(np.nanmax([high, *path.high]), high + reach)
    low, high = min(float(low), -_LEAST_HALF), max(float(high), _LEAST_HALF)
    pad = 0.04 * (high - low)
    y = Axis(low - pad, high + pad, _BOTTOM, _TOP)
    marks = change_ticks(y, lambda _: 30)
    left = max(tick_room(marks), 70)
    x = Axis(0, max(count - 1, 1), left + 6, _RIGHT)
    _machines(sheet, x, trend, left)
    grid(sheet, y, marks, left, _RIGHT)
    sheet.lines("axis", [[(left, y.at(0)), (_RIGHT, y.at(0))]])
    sheet.text(12, 20, "level, relative to the start", "soft wide")
    sheet.text(12, 20, "level", "soft narrow")
    areas: list[list[Point]] = []
    curves: list[list[Point]] = []
    for piece in np.unique(path.piece):
        known = np.flatnonzero((path.piece == piece) & np.isfinite(path.level)).tolist()
        curves.append([(x.at(k), y.at(float(path.level[k]))) for k in known])
        bounded = [k for k in known if math.isfinite(path.low[k])]
        lows, highs = ([(x.at(k), y.at(float(each[k]))) for k in bounded] for each in (path.low, path.high))
        areas.append([*lows, *reversed(highs)])
    sheet.lines("spread", [area for area in areas if len(area) > 2], closed=True)
    sheet.lines("line-head", [curve for curve in curves if curve])
    if count <= _FEW:
        sheet.marks("dot-head", "circle", [point for curve in curves for point in curve])
    days = ["", *(words.day(link.committed) for link in trend.chain.links)]
    dated = sorted({1 + round(k * (count - 2) / (_DATES - 1)) for k in range(_DATES)} if count > 2 else {count - 1})
    half = room("2026-01-31", LETTERS_NARROW) / 2
    if labels := [(x.at(k), days[k]) for k in dated if x.at(k) + half <= _WIDTH]:
        sheet.row(_BOTTOM + 24, labels, "soft")
    else:
        sheet.text(_RIGHT, _BOTTOM + 24, days[-1], "soft", "end")
    sheet.text((x.start + x.end) / 2, _HEIGHT - 10, "commits, evenly spaced, with their dates", "soft wide", "middle")
    # a text over each commit, or each few where there are more than fit
    runs: dict[int, list[Run]] = {}
    for run in case.series.runs:
        runs.setdefault(run.step, []).append(run)
    for first in range(0, count, math.ceil(count / tips)):
        last = min(first + math.ceil(count / tips), count) - 1
        texts = [_tip(place - 1, case, trend, runs.get(place - 1, [])) for place in dict.fromkeys((first, last))]
        sheet.tips("tip", [Tip(x.at((first + last) / 2), _TOP, _BOTTOM, "\n… ".join(texts))])
    levels = np.nan_to_num(case.path.level)
    stars = [(x.at(step + 1), y.at(float(levels[step + 1])) - 16) for step in case.accepted]
    sheet.marks("mark-accepted", "star", stars, 6)
    reasons = [f"accepted: {visible(each.reason)}" for each in case.accepted.values()]
    sheet.tips("tip", [Tip(at, top - 9, top + 9, text) for (at, top), text in zip(stars, reasons, strict=True)])
    said = "The line is the level of each commit, by ratios to the parent and levels of days, with its 95% interval."
    if case.accepted:
        said += " A star is an accepted regression."
    if len(trend.segments) > 1:
        said += " Dashed lines: another machine; levels of different machines are joined by ratios alone."
    return sheet.picture(prefix, f"Level of {name} over the commits", f"{plural(count, 'commit')}.", said)


def _machines(sheet: Sheet, x: Axis, trend: Trend, left: float) -> None:
    """Shade every other machine, and name each where there is room: by what is new of it, the first by itself."""
    stripes = []
    machines = trend.segments
    for number, each in enumerate(machines):
        begin = left if number == 0 else x.at(each.first + 0.5)
        end = _RIGHT if each is machines[-1] else x.at(each.last + 1.5)
        if number % 2:
            stripes.append([(begin, _TOP - 18), (end, _TOP - 18), (end, _BOTTOM), (begin, _BOTTOM)])
        if len(machines) > 1:
            name = visible(", ".join(f"{fact} {after}" for fact, _, after in each.changed[:2]) or each.name)
            for layout, letters in (("wide", LETTERS), ("narrow", LETTERS_NARROW)):
                fitting = int((end - begin - 8) / (letters * _LETTER))
                if fitting >= min(len(name), 6):
                    full = words.machine(each, trend)
                    sheet.text(begin + 4, _TOP - 5, clip(name, fitting), f"soft {layout}", full=full)
    sheet.lines("stripe", stripes, closed=True)
    borders = [x.at(each.first + 0.5) for each in machines[1:]]
    sheet.lines("hair-identical", [[(at, _TOP - 18), (at, _BOTTOM)] for at in borders])


def _tip(step: int, case: CaseTrend, trend: Trend, runs: list[Run]) -> str:
    link = trend.chain.links[max(step, 0)]
    if step < 0:
        return f"{words.short(link.parent)}, the commit before the first"
    title = words.commit(link.commit, link.subject)
    if not runs:
        return f"{title}: not measured"
    lines = [f"{title}, {words.day(link.committed)}; level {words.level(case, step + 1)}"]
    for run in runs:
        builds = f", {plural(run.builds, 'build')}" if run.builds else ", the same program"
        outlier = "; an outlier of the machine" if run.outlier else ""
        lines.append(f"to its parent {words.change(run.ratio.estimate)} ({words.limits(run.ratio)}){builds}{outlier}")
    return "\n".join(lines)


_OPEN = 12
"""Cases that are open; of more all are folded."""
_PICTURES = 200
"""Cases that are drawn."""
_MOST, _ALL, _LEAST = 500, 6000, 60
"""Rows of the table of values, and texts in the picture, of one case at most; of all, unless each has the least."""


def cases(found: Trend) -> list[list[Part]]:
    """Give what a page has of each case: its picture, and its values."""
    most = min(_MOST, max(_LEAST, _ALL // max(len(found.cases), 1)))
    folds: list[Part] = []
    captions = dict[str, None]()
    for number, case in enumerate(found.cases, 1):
        figures, runs, name = [], case.series.runs, words.name(case.series)
        if number <= _PICTURES:
            figures.append(picture(case, found, f"case-{number}-picture", most).figure("trend", "Level"))
            captions[figures[0].caption] = None
        left = len(runs) - most
        older = f"{plural(left, 'older run')} in the JSON." if left > 0 else ""
        rows = []
        for run in reversed(runs[-most:]):
            link, base, head = found.chain.links[run.step], run.change.base, run.change.head
            values = "not measured: the same"
            if base is not None and head is not None:
                like = max(base.value, head.value, key=abs)
                values = " → ".join(amount(side.value, case.series.unit, like) for side in (base, head))
            told = (
                words.short(link.commit),
                words.day(link.committed),
                words.change(run.ratio.estimate),
                words.limits(run.ratio),
                words.level(case, run.step + 1),
                values,
                str(run.builds) if run.builds else "",
                link.subject,
            )
            rows.append(Row([*map(Cell, told)]))
        title = f"Values of {plural(len(rows), 'run')}"
        parts: list[Part] = [Figures(figures), Fold(title, [Table(name, "", list(_HEAD), rows, note=older)])]
        folds.append(Fold(name, parts, f"case-{number}", len(found.cases) <= _OPEN))
    return [[Items(list(captions), "rest", "How to read the pictures")], folds]


_HEAD = (
    Column("commit"), Column("date"), Column("to its parent", right=True), Column("95% interval"),
    Column("level", right=True), Column("base → head"), Column("builds", right=True), Column("subject"),
)  # fmt: skip
