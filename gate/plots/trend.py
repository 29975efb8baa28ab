"""A case over the commits of its history: its level with an interval, machines and accepted regressions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import msgspec

from gate.plots.axes import grid, tick_room
from gate.plots.picture import Picture, Point, Sheet, Tip, elide, room
from gate.plots.scales import Axis, change_ticks
from gate.plots.style import LETTERS, LETTERS_NARROW
from gate.units import plural

_WIDTH, _HEIGHT = 960, 300
_TOP, _BOTTOM, _RIGHT = 46, 240, 946
_LEAST = 0.02
"""Half the height of the axis at least, in log: noise of a per cent looks like noise."""
_TIPS = 500
"""Stretches with a text; of more commits several share one."""
_FEW = 120
"""So many commits get a mark each."""
_DATES = 12
_LETTER = 0.62


class DrawnCommit(msgspec.Struct, frozen=True):
    """The level of a commit in log, relative to the first, and what hovering shows."""

    level: float | None
    """None: unknown, and not drawn."""
    low: float | None
    high: float | None
    piece: int
    """Commits of different pieces are not joined."""
    day: str
    text: str


class DrawnMachine(msgspec.Struct, frozen=True):
    """Commits that one class of machine measured."""

    first: int
    last: int
    name: str
    text: str


class DrawnAccept(msgspec.Struct, frozen=True):
    """A regression that was accepted."""

    at: int
    text: str


class DrawnTrend(msgspec.Struct, frozen=True):
    """What is drawn of a case."""

    name: str
    commits: Sequence[DrawnCommit]
    """From the parent of the first step."""
    machines: Sequence[DrawnMachine]
    accepts: Sequence[DrawnAccept]


def trend(of: DrawnTrend, prefix: str, *, tips: int = _TIPS) -> Picture:
    """Draw a case over its commits.

    Args:
        of: the case.
        prefix: what ids begin with.
        tips: stretches with a text at most.
    """
    sheet = Sheet(_WIDTH, _HEIGHT)
    y = _axis(of.commits)
    marks = change_ticks(y, lambda _: 30)
    left = max(tick_room(marks), 70)
    x = Axis(0, max(len(of.commits) - 1, 1), left + 6, _RIGHT)
    _machines(sheet, x, of.machines, left)
    grid(sheet, y, marks, left, _RIGHT)
    sheet.lines("axis", [[(left, y.at(0)), (_RIGHT, y.at(0))]])
    sheet.text(12, 20, "level, relative to the start", "soft wide")
    sheet.text(12, 20, "level", "soft narrow")
    _band(sheet, x, y, of.commits)
    if len(of.commits) <= _FEW:
        known = [(x.at(k), y.at(each.level)) for k, each in enumerate(of.commits) if each.level is not None]
        sheet.marks("dot-head", "circle", known)
    _dates(sheet, x, of.commits)
    _tips(sheet, x, of.commits, tips)
    _accepts(sheet, x, y, of)
    described = f"{plural(len(of.commits), 'commit')}."
    return sheet.picture(prefix, f"Level of {of.name} over the commits", described, _caption(of))


def _axis(commits: Sequence[DrawnCommit]) -> Axis:
    """Choose the height: of all levels, and of the intervals as far as these do not flatten them."""
    levels = [each.level for each in commits if each.level is not None] or [0.0]
    low, high = min(levels), max(levels)
    reach = max(_LEAST, 0.6 * (high - low))
    ends = [end for each in commits for end in (each.low, each.high) if end is not None]
    low = max(min([low, *ends]), low - reach)
    high = min(max([high, *ends]), high + reach)
    low, high = min(low, -_LEAST), max(high, _LEAST)
    pad = 0.04 * (high - low)
    return Axis(low - pad, high + pad, _BOTTOM, _TOP)


def _machines(sheet: Sheet, x: Axis, machines: Sequence[DrawnMachine], left: float) -> None:
    """Shade every other machine, and name each where there is room."""
    stripes = []
    for number, each in enumerate(machines):
        begin = left if number == 0 else x.at(each.first + 0.5)
        end = _RIGHT if each is machines[-1] else x.at(each.last + 1.5)
        if number % 2:
            stripes.append([(begin, _TOP - 18), (end, _TOP - 18), (end, _BOTTOM), (begin, _BOTTOM)])
        if len(machines) > 1:
            for layout, letters in (("wide", LETTERS), ("narrow", LETTERS_NARROW)):
                fitting = int((end - begin - 8) / (letters * _LETTER))
                if fitting >= min(len(each.name), 6):
                    shown = elide(each.name, fitting)
                    sheet.text(begin + 4, _TOP - 5, shown, f"soft {layout}", full=each.text)
    sheet.lines("stripe", stripes, closed=True)
    borders = [x.at(each.first + 0.5) for each in machines[1:]]
    sheet.lines("hair-identical", [[(at, _TOP - 18), (at, _BOTTOM)] for at in borders])


def _band(sheet: Sheet, x: Axis, y: Axis, commits: Sequence[DrawnCommit]) -> None:
    areas: list[list[Point]] = []
    curves: list[list[Point]] = []
    for begin, end in _pieces(commits):
        part = list(enumerate(commits[begin:end], begin))
        known = [(x.at(k), y.at(c.low), y.at(c.high)) for k, c in part if c.low is not None and c.high is not None]
        areas.append([(at, low) for at, low, _ in known] + [(at, high) for at, _, high in reversed(known)])
        curves.append([(x.at(k), y.at(c.level)) for k, c in part if c.level is not None])
    sheet.lines("spread", [area for area in areas if len(area) > 2], closed=True)
    sheet.lines("line-head", [curve for curve in curves if curve])


def _pieces(commits: Sequence[DrawnCommit]) -> list[tuple[int, int]]:
    ends = [0, *(k for k, (one, two) in enumerate(pairwise(commits), 1) if one.piece != two.piece), len(commits)]
    return list(pairwise(ends))


def _dates(sheet: Sheet, x: Axis, commits: Sequence[DrawnCommit]) -> None:
    count = len(commits)
    places = sorted({1 + round(k * (count - 2) / (_DATES - 1)) for k in range(_DATES)} if count > 2 else {count - 1})
    half = room("2026-01-31", LETTERS_NARROW) / 2
    labels = [(x.at(k), commits[k].day) for k in places if x.at(k) + half <= _WIDTH]
    if labels:
        sheet.row(_BOTTOM + 24, labels, "soft")
    else:
        sheet.text(_RIGHT, _BOTTOM + 24, commits[-1].day, "soft", "end")
    sheet.text((x.start + x.end) / 2, _HEIGHT - 10, "commits, evenly spaced, with their dates", "soft wide", "middle")


def _tips(sheet: Sheet, x: Axis, commits: Sequence[DrawnCommit], most: int) -> None:
    """Lay a text over each commit, or each few where there are more than fit."""
    every = math.ceil(len(commits) / most)
    found = []
    for begin in range(0, len(commits), every):
        group = commits[begin : begin + every]
        text = group[0].text if len(group) == 1 else f"{group[0].text}\n… {group[-1].text}"
        found.append(Tip(x.at(begin + (len(group) - 1) / 2), _TOP, _BOTTOM, text))
    sheet.tips("tip", found)


def _accepts(sheet: Sheet, x: Axis, y: Axis, of: DrawnTrend) -> None:
    points = [(x.at(each.at + 1), y.at(of.commits[each.at + 1].level or 0.0) - 16) for each in of.accepts]
    sheet.marks("mark-accepted", "star", points, 6)
    sheet.tips("tip", [Tip(at, top - 9, top + 9, e.text) for (at, top), e in zip(points, of.accepts, strict=True)])


def _caption(of: DrawnTrend) -> str:
    words = "The line is the level of each commit, by ratios to the parent and levels of days, with its 95% interval."
    if of.accepts:
        words += " A star is an accepted regression."
    if len(of.machines) > 1:
        words += " Dashed lines: another machine; levels of different machines are joined by ratios alone."
    return words
