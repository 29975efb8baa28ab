"""A case: its values by build and start (NIST TN 1855, Fig. 6), in the order of the run, and its change by quantile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import msgspec
import numpy as np
import numpy.typing as npt

from gate.model import SIDES, Case, Finding, QuantileCurve, Sample, Side, SideSummary
from gate.model.case import TYPICAL
from gate.plots import axes
from gate.plots.panels import Panel, Span
from gate.plots.picture import LETTERS, Picture, Point, Sheet, room
from gate.plots.scales import (
    Axis,
    Flags,
    Kept,
    Range,
    Tick,
    build_sizes,
    density,
    minus,
    places,
    thinned,
    ticks,
    used_builds,
)
from gate.units import plural
from gate.words import numbers

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
    axes.frame(sheet, y, case, _WIDTH - 8)
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
                shapes[used].append(axes.half_violin(y.axis, found, middles[name] + sign, sign * (half - 1)))
        sheet.lines(f"violin-{of.side}", shapes[True], closed=True)
        sheet.lines(f"violin-{of.side} faint", shapes[False], closed=True)
    drawn = []
    for of in sides:
        kept = thinned(of.sample, _DRAWN)
        where = places(of.sample, kept.indices)
        # an execution is a thin column within its build, and its iterations go from left to right within it
        share = where.of_execution + (where.of_iteration - 0.5) * where.share * 0.5
        share = 0.9 * share + 0.05 if of.side == "head" else 0.9 * (share - 1) - 0.05
        xs = (np.array([middles[name] for name in of.sample.builds])[where.build] + share * half).tolist()
        axes.spots(sheet, y, of.side, kept, xs, of.used[where.build])
        drawn.append(kept)
    whole = _panel(sheet, y, right, sides, finding.top)
    caption = _caption(case, finding, y, drawn) + axes.beyond_words(y, case)
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
        axes.edges(sheet, y.axis, y.range, f"arrow-{of.side}", [middle] * len(marked), marked)
        axes.key(sheet, of.side, middle, _BOTTOM + 24)
        said = y.say(of.own.value)
        small = " small" if room(said, LETTERS + 1) > width else ""
        sheet.text(middle, _BOTTOM + 50, said, f"strong{small}", "middle")
    return shapes


_READING = (
    "Every mark is a value: circles base, triangles head; columns within a build are its starts.",
    "On the right are all builds together, with the side's own value and its interval.",
    "Builds that differ from each other but are tight in themselves point to their layout: more builds help.",
    "Hollow marks are the extremes.",
)
_SHAPES = "Shapes show how the values are spread, from the smallest to the largest."


def _caption(case: Case, finding: Finding, y: axes.Vertical, drawn: Sequence[Kept]) -> str:
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


_TALL, _FLOOR, _RIGHT = 298, 244, 622
_SPOTS = 220
"""Values of a side that are drawn at most in the order of the run."""
_MEANS = 150
"""More executions than this leave no room for a mean each."""

_ROUNDS = 100
"""More rounds than this leave no room to shade them."""

Order = dict[Side, npt.NDArray[np.float64]]
"""Where the executions of each side stand in time."""


def series(case: Case, finding: Finding, prefix: str) -> Picture | None:
    """Draw the values of both sides over the run; None: no spread, one execution a side, or the order is not known.

    Args:
        finding: builds that it does not rest on are faint.
    """
    y = axes.vertical(case, [], _TOP, _FLOOR)
    samples: dict[Side, Sample] = {"base": case.base, "head": case.head}
    order = _order(samples)
    if y is None or order is None or all(len(s.counts[0]) < 2 for s in samples.values()):
        return None
    last = max(float(at.max()) for at in order.values())
    x = Axis(-0.5, last + 0.5, y.left, _RIGHT)
    sheet = Sheet(_WIDTH, _TALL)
    shaded = _rounds(sheet, x, samples, order)
    axes.frame(sheet, y, case, _RIGHT)
    for side, at in zip(SIDES, (_WIDTH - 154, _WIDTH - 60), strict=True):
        axes.key(sheet, side, at, 20)
    drawn = []
    for side in SIDES:
        kept = thinned(samples[side], _SPOTS)
        where = places(samples[side], kept.indices)
        xs = x.all(order[side][where.execution] + (where.of_iteration - 0.5) * 0.7)
        used = used_builds(samples[side], (finding.base if side == "base" else finding.head).counts.build)
        axes.spots(sheet, y, side, kept, xs, used[where.build])
        drawn.append(kept)
    counts = [sample.counts[0] for sample in samples.values()]
    means = max(int(own.max()) for own in counts) > 2 and sum(own.size for own in counts) <= _MEANS
    for side in SIDES if means else ():
        sizes, numbers = samples[side].counts[0], samples[side].values
        sums = np.add.reduceat(numbers / sizes.max(), np.cumsum(sizes) - sizes) * (sizes.max() / sizes)
        own = y.measure.of(sums)
        bars = zip(order[side].tolist(), y.axis.all(own), own.tolist(), strict=True)
        inside = [(at, pixel) for at, pixel, number in bars if y.holds(number)]
        sheet.lines(f"bar-{side}", [[(x.at(at - 0.42), pixel), (x.at(at + 0.42), pixel)] for at, pixel in inside])
    whole = [tick for tick in ticks(0, last, 8) if tick.at % 1 == 0]
    sheet.row(_FLOOR + 22, [(x.at(tick.at), f"{tick.at:.0f}") for tick in whole], "soft")
    sheet.text((x.start + x.end) / 2, _TALL - 8, "start, in the order of the run", "soft", "middle")
    title = f"Values of {case.benchmark}, {case.metric}, in the order of the run"
    executions = sum(len(s.counts[0]) for s in samples.values())
    total = case.base.values.size + case.head.values.size
    caption = axes.thinned_words(drawn, total) + axes.used_words(case, finding) + axes.beyond_words(y, case)
    described = f"{plural(executions, 'execution')}; base as circles, head as triangles."
    reading = [
        "Both sides should be level: a slope is a machine that warms up, a step something else that began.",
        "A bar is the mean of a start." if means else "",
        "Shading separates the rounds." if shaded else "",
    ]
    return sheet.picture(prefix, title, described, caption, [*filter(None, reading)])


def _order(samples: dict[Side, Sample]) -> Order | None:
    """Place each execution as the files say, sessions after each other; None: they do not."""
    sessions = sorted({session for sample in samples.values() for session, _ in sample.builds})
    own = {
        side: np.repeat(np.array([session for session, _ in sample.builds], dtype=np.int64), sample.counts[1])
        for side, sample in samples.items()
    }
    # the files give each execution of a session its own place
    given = {
        place
        for side, sample in samples.items()
        if sample.orders is not None
        for place in zip(own[side].tolist(), sample.orders.tolist(), strict=True)
    }
    if len(given) < sum(len(sample.counts[0]) for sample in samples.values()):
        return None
    of = {side: np.asarray(sample.orders, dtype=np.float64).copy() for side, sample in samples.items()}
    begin = 0.0
    for session in sessions:
        inside = {side: own[side] == session for side in samples}
        found = np.concatenate([of[side][inside[side]] for side in samples])
        # a case is a part of the run: places are counted within the case, so that others leave no holes
        ranks = np.unique(found)
        for side in samples:
            of[side][inside[side]] = begin + np.searchsorted(ranks, of[side][inside[side]])
        begin += ranks.size
    return of


def _rounds(sheet: Sheet, x: Axis, samples: dict[Side, Sample], order: Order) -> bool:
    """Shade every other round, where they follow each other and have room; tell whether they do."""
    ends: dict[Key, list[float]] = {}
    for side, sample in samples.items():
        places_of = np.split(order[side], np.cumsum(sample.counts[1])[:-1])
        for build, own in zip(sample.builds, places_of, strict=True):
            ends.setdefault(build, []).extend(own.tolist())
    rounds = sorted((min(at), max(at), build) for build, at in ends.items())
    if not 2 <= len(rounds) <= _ROUNDS or any(one[1] >= two[0] for one, two in pairwise(rounds)):
        return False
    stripes = [
        [(x.at(low - 0.5), _TOP), (x.at(high + 0.5), _TOP), (x.at(high + 0.5), _FLOOR), (x.at(low - 0.5), _FLOOR)]
        for low, high, _ in rounds[1::2]
    ]
    sheet.lines("stripe", stripes, closed=True)
    many = len({session for session, _ in ends}) > 1
    labels = [((low + high) / 2, f"{build[0]}/{build[1]}" if many else str(build[1])) for low, high, build in rounds]
    # the first one tells what the numbers are
    named = [(x.at(at), text if index else f"round {text}") for index, (at, text) in enumerate(labels)]
    sheet.row(_TOP - 8, named, "soft small")
    return True


# --- the change over the quantiles ------------------------------------------------------------------------------------

_BEFORE, _AFTER, _CURVE = 96, 104, (40, 204)
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
