"""A case: its values by build and start (NIST TN 1855, Fig. 6), and its change by quantile."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from gate.model import Case, Finding, QuantileCurve, Sample, Side, SideSummary
from gate.model.case import TYPICAL
from gate.plots.panels import Array, Panel, Span, edges, grid, half_violin, tick_room
from gate.plots.picture import LETTERS, Picture, Point, Shape, Sheet, room
from gate.plots.scales import (
    Axis,
    Flags,
    Indices,
    Measure,
    Range,
    Tick,
    build_sizes,
    density,
    limits,
    log_ticks,
    measure,
    minus,
    places,
    thinned,
    ticks,
    used_builds,
)
from gate.units import plural
from gate.words import numbers, views
from gate.writing.plain import clip

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
_MARKED = 80
"""So few values get larger marks."""
_LONG = 4

Key = tuple[int, int]


class Vertical(msgspec.Struct, frozen=True, eq=False):
    """The vertical axis of a case: its unit, its ends, its ticks, and the numbers of both sides on it."""

    measure: Measure
    range: Range
    axis: Axis
    ticks: list[Tick]
    left: float
    numbers: dict[Side, Array]

    @property
    def few(self) -> bool:
        """Whether there are so few values that their marks may be large."""
        return sum(n.size for n in self.numbers.values()) <= _MARKED

    def say(self, value: float) -> str:
        """Write a value in the unit of the axis, with digits enough to tell apart what stands apart on it."""
        if self.measure.log:
            return self.measure.say(value)
        places = 2 - math.floor(math.log10(self.range.high - self.range.low))
        # long numbers of both sides would meet each other
        places -= places > _LONG
        text = f"{value / self.measure.factor:.{min(max(places, 0), 12)}f}"
        # what is not 0 does not read as 0
        return self.measure.say(value) if value and not float(text) else text

    def holds(self, number: float) -> bool:
        """Return whether a number lies within the ends."""
        return self.range.low <= number <= self.range.high

    def beyond(self, side: Side) -> npt.NDArray[np.bool_]:
        """Tell which numbers of a side lie beyond the ends."""
        numbers = self.numbers[side]
        return (numbers < self.range.low) | (numbers > self.range.high)


def vertical(case: Case, also: Sequence[float | None], top: float, bottom: float) -> Vertical | None:
    """Choose the vertical axis for both sides of a case; None where there is no spread, or none that floats can hold.

    Args:
        also: further values, in the base unit, that should be on it.
    """
    sides: dict[Side, Array] = {"base": case.base.values, "head": case.head.values}
    if min(v.size for v in sides.values()) == 0 or all(float(v.min()) == float(v.max()) for v in sides.values()):
        return None
    both = np.concatenate(list(sides.values()))
    scale = measure(both, case.unit)
    if scale is None:
        return None
    numbers = {side: scale.of(values) for side, values in sides.items()}
    more = [number for value in also if value is not None and (number := scale.one(value)) is not None]
    ends = limits(np.concatenate(list(numbers.values())), more)
    marks = (log_ticks if scale.log else ticks)(ends.low, ends.high, 6)
    return Vertical(scale, ends, Axis(ends.low, ends.high, bottom, top), marks, tick_room(marks), numbers)


def frame(sheet: Sheet, y: Vertical, case: Case, right: float) -> None:
    """Draw the grid, the ticks and the name of a case's vertical axis."""
    grid(sheet, y.axis, y.ticks, y.left, right)
    metric, unit = views.metric_name(case.metric), y.measure.unit
    shown = f", {clip(unit, 16)}" if unit else ""
    sheet.text(12, 20, f"{clip(metric, 24)}{shown}{' (log axis)' if y.measure.log else ''}", "soft other")


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
    y = vertical(case, own, _TOP, _BOTTOM)
    if y is None:
        return None
    sheet = Sheet(_WIDTH, _HEIGHT)
    right = _WIDTH - _PANEL
    frame(sheet, y, case, _WIDTH - 8)
    middles, half = _builds(sheet, case, y.left, right - 14, finding.top)
    sides = [
        _Sided("base", case.base, finding.base, used_builds(case.base, finding.base.counts.build)),
        _Sided("head", case.head, finding.head, used_builds(case.head, finding.head.counts.build)),
    ]
    # more builds leave no room for a violin each; few are broad enough for finer ones
    for of in sides if len(middles) <= _VIOLINS else ():
        sign = -1 if of.side == "base" else 1
        ends = np.cumsum(build_sizes(of.sample))
        shapes: dict[bool, list[list[Point]]] = {True: [], False: []}
        for name, begin, end, used in zip(of.sample.builds, [0, *ends[:-1]], ends, of.used.tolist(), strict=True):
            numbers = y.numbers[of.side][begin:end]
            found = density(numbers, y.range.low, y.range.high, 32 if len(middles) <= _FEW else 18)
            if found is not None:
                shapes[used].append(half_violin(y.axis, found, middles[name] + sign, sign * (half - 1)))
        sheet.lines(f"violin-{of.side}", shapes[True], closed=True)
        sheet.lines(f"violin-{of.side} faint", shapes[False], closed=True)
    drawn = []
    for of in sides:
        kept = thinned(of.sample, _DRAWN)
        where = places(of.sample, kept)
        # an execution is a thin column within its build, and its iterations go from left to right within it
        share = where.of_execution + (where.of_iteration - 0.5) * where.share * 0.5
        share = 0.9 * share + 0.05 if of.side == "head" else 0.9 * (share - 1) - 0.05
        xs = (np.array([middles[name] for name in of.sample.builds])[where.build] + share * half).tolist()
        spots(sheet, y, of.side, kept, xs, of.used[where.build])
        drawn.append(kept)
    whole = _panel(sheet, y, right, sides, finding.top)
    caption = _caption(case, finding, y, drawn) + beyond_words(y, case)
    title = f"Values of {case.benchmark}, {case.metric}, by {finding.top} and start"
    reading = [*_READING, *([_SHAPES] if whole else [])]
    both = ", ".join(f"{side} {y.say(s.value)}" for side, s in (("base", finding.base), ("head", finding.head)))
    builds = f"{plural(len(case.base.builds), finding.top)} of base and {len(case.head.builds)} of head"
    described = f"{builds}; {_own(finding)}: {both} {y.measure.unit}".rstrip()
    return sheet.picture(prefix, title, f"{described}.", caption, reading)


def _builds(sheet: Sheet, case: Case, left: float, right: float, top: str) -> tuple[dict[Key, float], float]:
    """Name the builds of both sides below the axis; return the middle of each, and half the width of one."""
    keys = sorted({*case.base.builds, *case.head.builds})
    sessions = sorted({session for session, _ in keys})
    # a gap before each further session; few builds do not make broad ones
    at = [index + _SESSION_GAP * sessions.index(key[0]) + 0.5 for index, key in enumerate(keys)]
    width = min((right - left) / (at[-1] + 0.5), 170.0)
    start = (left + right - width * (at[-1] + 0.5)) / 2
    found = {key: start + place * width for key, place in zip(keys, at, strict=True)}
    sheet.row(_BOTTOM + 24, [(middle, str(name[1])) for name, middle in found.items()], "soft")
    if width > 8:
        sheet.lines("axis", [[(x, _BOTTOM + 2), (x, _BOTTOM + 6)] for x in found.values()])
    middle = (found[keys[0]] + found[keys[-1]]) / 2
    sheet.text(middle, _HEIGHT - 8, f"{top}: base on the left, head on the right", "soft", "middle")
    if len(sessions) > 1:
        own = [[found[k] for k in keys if k[0] == session] for session in sessions]
        names = [f"{session}" if index else f"session {session}" for index, session in enumerate(sessions)]
        sheet.row(_TOP - 8, [((o[0] + o[-1]) / 2, name) for o, name in zip(own, names, strict=True)], "soft")
    return found, width * 0.44


def _panel(sheet: Sheet, y: Vertical, left: float, sides: Sequence[_Sided], top: str) -> bool:
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
            right_half = half_violin(y.axis, found, middle, width * 0.42)
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
            own_mark(sheet, of.side, (middle, y.axis.at(value)))
        marked = np.array([*known, *([] if value is None else [value])])
        edges(sheet, y.axis, y.range, f"arrow-{of.side}", [middle] * len(marked), marked)
        key(sheet, of.side, middle, _BOTTOM + 24)
        said = y.say(of.own.value)
        small = " small" if room(said, LETTERS + 1) > width else ""
        sheet.text(middle, _BOTTOM + 50, said, f"strong{small}", "middle")
    return shapes


def spots(sheet: Sheet, y: Vertical, side: Side, kept: Indices, xs: Sequence[float], used: Flags) -> None:
    """Mark values of a side: circles of base, triangles of head.

    Args:
        kept: the values that are drawn.
        xs: where each stands.
        used: whether the finding rests on each; faint where it does not.
    """
    numbers = y.numbers[side][kept]
    pixels = y.axis.all(numbers)
    inside = ~y.beyond(side)[kept]
    shape: Shape = "circle" if side == "base" else "triangle"
    mark = "tri" if side == "head" else "spot" if y.few else "dot"
    for flags, faint in ((used, ""), (~used, " faint")):
        points = [(xs[k], pixels[k]) for k in np.flatnonzero(inside & flags).tolist()]
        sheet.marks(f"{mark}-{side}{faint}", shape, points, 4 if y.few else 2.3)
    edges(sheet, y.axis, y.range, f"edge-{side}", xs, numbers)


def key(sheet: Sheet, side: Side, x: float, y: float) -> None:
    """Name a side beside its mark, so that the middle of both is at x."""
    own_mark(sheet, side, (x - 25, y - 5.5))
    sheet.text(x - 15, y, side, f"say-{side}")


def own_mark(sheet: Sheet, side: Side, point: Point) -> None:
    """Draw the large mark of a side."""
    if side == "base":
        sheet.marks("big-base", "circle", [point])
    else:
        sheet.marks("mark-head", "triangle", [point], 5.5)


_READING = (
    "Every mark is a value: circles base, triangles head; columns within a build are its starts.",
    "On the right are all builds together, with the side's own value and its interval.",
    "Builds that differ from each other but are tight in themselves point to their layout: more builds help.",
)
_SHAPES = "Shapes show how the values are spread, from the smallest to the largest."


def _caption(case: Case, finding: Finding, y: Vertical, drawn: Sequence[Indices]) -> str:
    words = thinned_words(drawn, case.base.values.size + case.head.values.size) + used_words(case, finding)
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


def thinned_words(drawn: Sequence[Indices], total: int) -> str:
    """Say how many values are drawn of how many; empty where all are."""
    count = sum(kept.size for kept in drawn)
    if count == total:
        return ""
    return f" {count:,} of {plural(total, 'value')} are drawn, evenly chosen beside the extremes."


def used_words(case: Case, finding: Finding) -> str:
    """Say which builds a finding rests on; empty where it rests on all."""
    counts = [(s.counts.build, len(own.builds)) for s, own in ((finding.base, case.base), (finding.head, case.head))]
    if all(used >= builds for used, builds in counts):
        return ""
    said = " and ".join(dict.fromkeys(f"{used} of {plural(builds, 'build')}" for used, builds in counts))
    return f" The result uses only the first {said}; the others are faint."


def beyond_words(y: Vertical, case: Case) -> str:
    """Say how many values lie beyond the axis, and how far; empty where none does."""
    if not y.range.beyond:
        return ""
    total = sum(n.size for n in y.numbers.values())
    extremes = np.concatenate([case.base.values[y.beyond("base")], case.head.values[y.beyond("head")]])
    low, high = y.measure.say(float(extremes.min())), y.measure.say(float(extremes.max()))
    far = f"at {low}" if low == high else f"from {low} to {high}"
    verb = "lies" if y.range.beyond == 1 else "lie"
    return (
        f" {y.range.beyond:,} of {total:,} values {verb} beyond the axis ({far} {y.measure.unit}".rstrip()
        + "), marked at its edge."
    )


# --- the change over the quantiles ------------------------------------------------------------------------------------

_TALL, _BEFORE, _AFTER, _CURVE = 298, 96, 104, (40, 204)
_USUAL = 0.1, 0.99
"""From where to where the curve goes where there are values enough."""
_MEET = 16
"""Labels of thresholds that stand closer than this would meet."""


def effects(curve: QuantileCurve, finding: Finding, prefix: str) -> Picture | None:
    """Draw the change of each quantile with its band, and the thresholds; None where there is no point to draw."""
    points = [e for e in curve.effects if math.isfinite(e.ratio) and 0 <= e.tau <= 1]
    if not points:
        return None
    taus, changes = [e.tau for e in points], [e.ratio - 1 for e in points]
    bands = [
        (e.low - 1, e.high - 1) if e.low is not None and e.high is not None and math.isfinite(e.low + e.high) else None
        for e in points
    ]
    # as ratios one is the inverse of the other
    edges = finding.threshold, 1 / (1 + finding.threshold) - 1
    low, high = min([*changes, -1.3 * edges[0]]), max([*changes, 1.3 * edges[0]])
    reach = high - low
    # a band may be of any width: it may make the picture three times as high as the curve, no more
    for band in filter(None, bands):
        low, high = min(low, max(band[0], min(changes) - reach)), max(high, min(band[1], max(changes) + reach))
    pad = 0.06 * (high - low) or 0.01
    low, high = low - pad, high + pad
    signed = [Tick(t.at / 100, t.label if t.at <= 0 else f"+{t.label}") for t in ticks(low * 100, high * 100, 6)]
    sheet = Sheet(_WIDTH, _TALL)
    panel = Panel.on(sheet, Axis(0, 1, _BEFORE, _WIDTH - _AFTER), Span(Range(low, high, 0), signed), *_CURVE)
    panel.ruler([Tick(share / 100, f"{share}") for share in range(0, 101, 10)], below=22)
    sheet.text(panel.middle, _TALL - 8, "quantile of the values, %", "soft", "middle")
    sheet.text(12, 20, "change of head, %", "soft")
    up, down = ("worse", "better") if finding.better == "lower" else ("better", "worse")
    sheet.text(_WIDTH - 14, 20, f"↑ {up}   ↓ {down}", "soft", "end")
    panel.level("zero", 0)
    panel.level("limit", *edges)
    upper, lower = (minus(f"{edge * 100:+.3g}%") for edge in edges)
    beside, places = panel.x.end + 6, [panel.y.at(edge) for edge in edges]
    apart = places[1] - places[0]
    if edges[0] > 0 or apart > _MEET:
        sheet.text(beside, places[0], upper, "soft middle")
    if apart > _MEET:
        sheet.text(beside, places[1], lower, "soft middle")
    if apart > 2 * _MEET:
        sheet.text(beside, panel.y.at(0), "no change", "soft middle")
    panel.band("spread", "wing-head", taus, bands)
    panel.line("curve", taus, changes)
    sheet.marks("point", "triangle", panel.points(taus, changes), 3.6)
    several, missing = finding.base.counts.session > 1, bands.count(None)
    # the curve may be shorter than usual
    ends = [
        *([f"below {taus[0] * 100:.4g}%"] if taus[0] > _USUAL[0] else []),
        *([f"above {taus[-1] * 100:.4g}%"] if taus[-1] < _USUAL[1] else []),
    ]
    caption = [
        "All sessions are in one curve: a slow machine has the values on the right." if several else "",
        f"Quantiles {' or '.join(ends)} need more values." if ends else "",
        f"{missing} of {len(points)} points have no band: too few values or builds there." if missing else "",
        "Where the band reaches the edge, it continues beyond it."
        if any(band[0] < low or band[1] > high for band in bands if band is not None)
        else "",
    ]
    fast, slow = ("fastest", "slowest") if finding.unit == "s" else ("smallest", "largest")
    level = "session" if several else "build"
    reading = [
        f"The change of each quantile of all values, from the {fast} on the left to the {slow} on the right.",
        "A level curve: everything changed alike. One that rises to the right: the tail became slower.",
        f"The band is pointwise, 95%, clustered by {level}, without correction; the curve decides nothing.",
    ]
    if edges[0] > 0:
        other = f"and the same ratio in the other direction, 1/{1 + edges[0]:.6g}, which is {lower}"
        reading.append(f"Dashed lines are the thresholds: {upper}, {other}.")
    title = f"Quantile effects of {finding.benchmark}, {finding.metric}"
    said = [points[0], points[len(points) // 2], points[-1]] if len(points) > 2 else points
    described = ", ".join(f"{e.tau:.3g}: {numbers.effect(e.ratio)}" for e in said)
    shown = " ".join(filter(None, caption))
    return sheet.picture(prefix, title, f"Change by quantile: {described}.", shown, reading)
