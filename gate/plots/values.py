"""All values of a case by build and start: a hybrid violin-scatter plot (NIST TN 1855, Fig. 6)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from gate.model import Case, Finding, Sample, Side, SideSummary
from gate.model.case import TYPICAL
from gate.plots import axes
from gate.plots.picture import LETTERS, LETTERS_NARROW, Picture, Point, Sheet, room
from gate.plots.scales import Flags, build_sizes, density, places, thinned, used_builds
from gate.units import plural

_WIDTH, _HEIGHT = 640, 352
_TOP, _BOTTOM = 54, 290
_PANEL = 168
_DRAWN = 200
"""Values of a side that are drawn at most."""
_VIOLINS = 16
"""More builds than this leave no room for a violin each."""
_FEW = 8
"""Up to so many builds are broad enough for finer violins."""
_SESSION_GAP = 0.8

Key = tuple[int, int]
Slots = tuple[dict[Key, float], float]
"""Where the builds of both sides stand: the middle of each (session, build), and half the width of one."""


class _Sided(msgspec.Struct, frozen=True, eq=False):
    """A side to draw."""

    side: Side
    sample: Sample
    own: SideSummary
    used: Flags
    """Which of its builds the finding rests on."""


def values(case: Case, finding: Finding, prefix: str) -> Picture | None:
    """Draw the values of both sides by build and start, and each side's own value with its interval.

    None: there is no spread to draw.
    """
    own = [v for s in (finding.base, finding.head) for v in (s.value, s.low, s.high)]
    y = axes.vertical(case, own, _TOP, _BOTTOM)
    if y is None:
        return None
    sheet = Sheet(_WIDTH, _HEIGHT)
    right = _WIDTH - _PANEL
    slots = _slots(case, y.left, right - 14)
    axes.frame(sheet, y, case, _WIDTH - 8)
    _builds(sheet, slots, finding.top)
    sides = [
        _Sided("base", case.base, finding.base, used_builds(case.base, finding.base.counts.build)),
        _Sided("head", case.head, finding.head, used_builds(case.head, finding.head.counts.build)),
    ]
    if len(slots[0]) <= _VIOLINS:
        for side in sides:
            _build_violins(sheet, y, slots, side)
    drawn = [_points(sheet, y, slots, side) for side in sides]
    shapes = _panel(sheet, y, right, sides, finding.top)
    caption = _caption(case, finding, y, drawn) + axes.beyond_words(y, case)
    title = f"Values of {case.benchmark}, {case.metric}, by {finding.top} and start"
    reading = [*_READING, *([_SHAPES] if shapes else [])]
    both = ", ".join(f"{side} {y.say(s.value)}" for side, s in (("base", finding.base), ("head", finding.head)))
    builds = f"{plural(len(case.base.builds), finding.top)} of base and {len(case.head.builds)} of head"
    described = f"{builds}; {_own(finding)}: {both} {y.measure.unit}".rstrip()
    return sheet.picture(prefix, title, f"{described}.", caption, reading)


def _slots(case: Case, left: float, right: float) -> Slots:
    keys = sorted({*case.base.builds, *case.head.builds})
    at, place, session = {}, 0.0, keys[0][0]
    for name in keys:
        place += _SESSION_GAP if name[0] != session else 0
        session = name[0]
        at[name] = place
        place += 1
    # few builds do not make broad ones
    width = min((right - left) / place, 170.0)
    start = (left + right - width * place) / 2
    return ({name: start + (p + 0.5) * width for name, p in at.items()}, width * 0.44)


def _builds(sheet: Sheet, slots: Slots, top: str) -> None:
    keys = list(slots[0])
    sheet.row(_BOTTOM + 24, [(middle, str(name[1])) for name, middle in slots[0].items()], "soft")
    if 2.27 * slots[1] > 8:
        sheet.lines("axis", [[(slots[0][k], _BOTTOM + 2), (slots[0][k], _BOTTOM + 6)] for k in keys])
    sessions = sorted({session for session, _ in keys})
    middle = (slots[0][keys[0]] + slots[0][keys[-1]]) / 2
    sheet.text(middle, _HEIGHT - 8, f"{top}: base on the left, head on the right", "soft wide", "middle")
    sheet.text(middle, _HEIGHT - 8, f"{top} (base | head)", "soft narrow", "middle")
    if len(sessions) > 1:
        own = [[slots[0][k] for k in keys if k[0] == session] for session in sessions]
        names = [f"{session}" if index else f"session {session}" for index, session in enumerate(sessions)]
        sheet.row(_TOP - 8, [((o[0] + o[-1]) / 2, name) for o, name in zip(own, names, strict=True)], "soft")


def _build_violins(sheet: Sheet, y: axes.Vertical, slots: Slots, of: _Sided) -> None:
    sign = -1 if of.side == "base" else 1
    ends = np.cumsum(build_sizes(of.sample))
    points = 32 if len(slots[0]) <= _FEW else 18
    shapes: dict[bool, list[list[Point]]] = {True: [], False: []}
    for name, begin, end, used in zip(of.sample.builds, [0, *ends[:-1]], ends, of.used.tolist(), strict=True):
        found = density(y.numbers[of.side][begin:end], y.range.low, y.range.high, points)
        if found is not None:
            shapes[used].append(axes.half_violin(y.axis, found, slots[0][name] + sign, sign * (slots[1] - 1)))
    sheet.lines(f"violin-{of.side}", shapes[True], closed=True)
    sheet.lines(f"violin-{of.side} faint", shapes[False], closed=True)


def _points(sheet: Sheet, y: axes.Vertical, slots: Slots, of: _Sided) -> axes.Drawn:
    kept = thinned(of.sample, _DRAWN)
    where = places(of.sample, kept.indices)
    middles = np.array([slots[0][name] for name in of.sample.builds])[where.build]
    # an execution is a thin column within its build, and its iterations go from left to right within it
    share = where.of_execution + (where.of_iteration - 0.5) * where.share * 0.5
    share = share if of.side == "head" else share - 1
    xs = (middles + (share * 0.9 + (0.05 if of.side == "head" else -0.05)) * slots[1]).tolist()
    axes.hover(sheet, y, of.side, of.sample, kept, xs, where)
    return axes.spots(sheet, y, of.side, kept, xs, of.used[where.build])


def _panel(sheet: Sheet, y: axes.Vertical, left: float, sides: Sequence[_Sided], top: str) -> bool:
    """Draw the values of all builds used and each side's own value; tell whether there was a density to draw."""
    shapes = False
    sheet.lines("axis", [[(left, _TOP), (left, _BOTTOM)]])
    width = (_WIDTH - left - 8) / 2
    whole = all(of.used.all() for of in sides)
    sheet.text(left + width, 20, f"all {top}s" if whole else f"{top}s used", "soft", "middle")
    for index, of in enumerate(sides):
        middle = left + width * (index + 0.5)
        numbers = y.numbers[of.side][np.repeat(of.used, build_sizes(of.sample))]
        found = density(numbers, y.range.low, y.range.high, 60)
        if found is not None:
            shapes = True
            right_half = axes.half_violin(y.axis, found, middle, width * 0.42)
            left_half = [(2 * middle - x, v) for x, v in reversed(right_half)]
            sheet.lines(f"violin-{of.side}", [[*right_half, *left_half]], closed=True)
        value = y.measure.one(of.own.value)
        ends = [y.measure.one(end) for end in (of.own.low, of.own.high) if end is not None]
        known = [end for end in ends if end is not None]
        if len(known) == 2:
            caps = [[(middle - 7, y.axis.at(end)), (middle + 7, y.axis.at(end))] for end in known if y.holds(end)]
            sheet.lines(f"bar-{of.side}", [[(middle, y.axis.at(known[0])), (middle, y.axis.at(known[1]))], *caps])
        else:
            known = []
        if value is not None and y.holds(value):
            axes.own_mark(sheet, of.side, (middle, y.axis.at(value)))
        marked = np.array([*known, *([] if value is None else [value])])
        axes.edges(sheet, y, f"arrow-{of.side}", [middle] * len(marked), marked)
        axes.key(sheet, of.side, middle, _BOTTOM + 24)
        said = y.say(of.own.value)
        small = " small" if room(said, LETTERS + 1) > width else ""
        narrow = "" if room(said, LETTERS_NARROW) < width else " wide"
        sheet.text(middle, _BOTTOM + 50, said, f"strong{small}{narrow}", "middle")
    return shapes


_READING = (
    "Every mark is a value: circles base, triangles head; columns within a build are its starts.",
    "On the right are all builds together, with the side's own value and its interval.",
    "Builds that differ from each other but are tight in themselves point to their layout: more builds help.",
    "Hollow marks are the extremes.",
)
_SHAPES = "Shapes show how the values are spread, from the smallest to the largest."


def _caption(case: Case, finding: Finding, y: axes.Vertical, drawn: Sequence[axes.Drawn]) -> str:
    words = axes.thinned_words(drawn, case.base.values.size + case.head.values.size) + axes.used_words(case, finding)
    if all(s.low is None or s.high is None for s in (finding.base, finding.head)):
        words += f" The {_own(finding)} of a side has no interval."
    for name, side in (("base", finding.base), ("head", finding.head)):
        value = y.measure.one(side.value)
        if value is not None and not y.holds(value):
            words += f" The {_own(finding)} of {name} ({y.say(side.value)}) is beyond the axis."
        if any(end is not None and y.measure.one(end) is None for end in (side.low, side.high)):
            words += f" The interval of {name} is not drawn: it reaches 0 or below, which a log axis does not have."
    return words


def _own(finding: Finding) -> str:
    return "typical value" if finding.statistic == TYPICAL else finding.statistic
