"""A case: its values by build and start (NIST TN 1855, Fig. 6), in the order of the run, and its change by quantile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import msgspec
import numpy as np

from gate.model import Case, Finding, QuantileCurve, Sample, Side, SideSummary
from gate.model.case import TYPICAL, metric_name
from gate.plots.panels import Array, Panel, Span, edges, grid, half_violin
from gate.plots.picture import LETTERS, Picture, Point, Shape, Sheet, room
from gate.plots.scales import (
    Axis,
    Indices,
    Measure,
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
)
from gate.stats.levels import of_builds
from gate.writing.amounts import changed, known
from gate.writing.plain import clip
from gate.writing.units import agree, plural

_WIDTH, _FOOT = 640, 62
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

_READING = (
    "Every mark is a value: circles base, triangles head; columns within a build are its starts.",
    "On the right are all builds together, with the side's own value and its interval.",
    "Builds that differ from each other but are tight in themselves point to their layout: more builds help.",
)
_SHAPES = "Shapes show how the values are spread, from the smallest to the largest."

Key = tuple[int, int]


class _Sided(msgspec.Struct, frozen=True, eq=False):
    """A side to draw: the builds that the finding rests on."""

    side: Side
    sample: Sample
    own: SideSummary
    numbers: Array
    """Its values on the axis."""


class _Stage(msgspec.Struct, frozen=True, eq=False):
    """A sheet with the vertical axis of a case, and both sides to draw on it."""

    sheet: Sheet
    panel: Panel
    measure: Measure
    sides: list[_Sided]

    def say(self, value: float) -> str:
        """Write a value in the unit of the axis, with digits enough to tell apart what stands apart on it."""
        if self.measure.log:
            return self.measure.say(value)
        places = 2 - math.floor(math.log10(self.panel.y.high - self.panel.y.low))
        # long numbers of both sides would meet each other
        places -= places > _LONG
        text = f"{value / self.measure.factor:.{min(max(places, 0), 12)}f}"
        # what is not 0 does not read as 0
        return self.measure.say(value) if value and not float(text) else text

    def holds(self, number: float) -> bool:
        """Return whether a number lies within the ends."""
        return self.panel.y.low <= number <= self.panel.y.high

    def frame(self) -> None:
        """Draw the grid, above what lies below it."""
        grid(self.sheet, self.panel.y, self.panel.span.ticks, self.panel.x.start, self.panel.x.end)

    def violin(self, of: _Sided, numbers: Array, x: float, half: float, points: int, *, both: bool = False) -> bool:
        """Draw how numbers are spread, on one side of x or on both; tell whether they have a shape."""
        found = density(numbers, self.panel.y.low, self.panel.y.high, points)
        if found is None:
            return False
        outline = half_violin(self.panel.y, found, x, half)
        mirrored = [(2 * x - px, at) for px, at in reversed(outline)] if both else []
        self.sheet.lines(f"violin-{of.side}", [[*outline, *mirrored]], closed=True)
        return True

    def spots(self, of: _Sided, kept: Indices, xs: Sequence[float]) -> None:
        """Mark values of a side, circles of base and triangles of head; xs: pixels."""
        numbers, few = of.numbers[kept], sum(own.numbers.size for own in self.sides) <= _MARKED
        pixels, inside = self.panel.y.all(numbers), self.panel.span.inside(numbers)
        shape: Shape = "circle" if of.side == "base" else "triangle"
        mark = "tri" if of.side == "head" else "spot" if few else "dot"
        points = [(xs[k], pixels[k]) for k in np.flatnonzero(inside).tolist()]
        self.sheet.marks(f"{mark}-{of.side}", shape, points, 4 if few else 2.3)
        self.edges("edge", of.side, xs, numbers)

    def key(self, side: Side, x: float, y: float) -> None:
        """Name a side beside its mark, so that the middle of both is at x."""
        _own_mark(self.sheet, side, (x - 25, y - 5.5))
        self.sheet.text(x - 15, y, side, f"say-{side}")

    def edges(self, kind: str, side: Side, xs: Sequence[float], numbers: Array) -> None:
        """Mark at the edge where numbers lie beyond it; xs: pixels."""
        edges(self.sheet, self.panel.y, f"{kind}-{side}", xs, numbers)


def _stage(case: Case, finding: Finding, bottom: float) -> _Stage | None:
    """Lay out the axis for both sides; None where there is no spread, or none that floats can hold."""
    owns: dict[Side, SideSummary] = {"base": finding.base, "head": finding.head}
    samples = {"base": case.base, "head": case.head}
    for side, own in owns.items():
        # of the first rounds
        used = set(sorted(samples[side].builds, key=lambda build: build[::-1])[: own.counts.build])
        samples[side] = of_builds(samples[side], used.__contains__)
    values = [sample.values for sample in samples.values()]
    if min(v.size for v in values) == 0 or all(float(v.min()) == float(v.max()) for v in values):
        return None
    scale = measure(np.concatenate(values), case.unit)
    if scale is None:
        return None
    sides = [_Sided(side, samples[side], own, scale.of(samples[side].values)) for side, own in owns.items()]
    also = [value for own in owns.values() for value in (own.value, own.low, own.high) if value is not None]
    more = [number for value in also if (number := scale.one(value)) is not None]
    low, high = limits(np.concatenate([of.numbers for of in sides]), more)
    span = Span(low, high, (log_ticks if scale.log else ticks)(low, high, 6))
    sheet = Sheet(_WIDTH, bottom + _FOOT)
    panel = Panel(sheet, Axis(0, 1, span.room, _WIDTH - 8), Axis(low, high, bottom, _TOP), span)
    shown = f", {clip(scale.unit, 16)}" if scale.unit else ""
    log = " (log axis)" if scale.log else ""
    sheet.text(12, 20, f"{clip(metric_name(case.metric), 24)}{shown}{log}", "soft other")
    return _Stage(sheet, panel, scale, sides)


def values(case: Case, finding: Finding, prefix: str) -> Picture | None:
    """Draw the values of both sides by build and start, and each side's own value with its interval.

    Of the builds that the finding rests on. None: there is no spread to draw.
    """
    stage = _stage(case, finding, _BOTTOM)
    if stage is None:
        return None
    stage.frame()
    right = _WIDTH - _PANEL
    middles, half = _builds(stage, right - 14, finding.top)
    drawn = 0
    for of in stage.sides:
        sign = -1 if of.side == "base" else 1
        # more builds leave no room for a violin each; few are broad enough for finer ones
        ends = np.cumsum(build_sizes(of.sample))[:-1] if len(middles) <= _VIOLINS else None
        for name, own in zip(of.sample.builds, [] if ends is None else np.split(of.numbers, ends), strict=False):
            stage.violin(of, own, middles[name] + sign, sign * (half - 1), 32 if len(middles) <= _FEW else 18)
    for of in stage.sides:
        kept = thinned(of.sample, _DRAWN)
        build, share = places(of.sample, kept)
        share = 0.9 * share + 0.05 if of.side == "head" else 0.9 * (share - 1) - 0.05
        xs = np.array([middles[name] for name in of.sample.builds])[build] + share * half
        stage.spots(of, kept, xs.tolist())
        drawn += kept.size
    whole = _panel(stage, right, finding.top)
    caption = [*_left_out(case, stage, drawn), *_unseen(finding, stage)]
    title = f"Values of {case.benchmark}, {case.metric}, by {finding.top} and start"
    reading = [*_READING, *([_SHAPES] if whole else [])]
    both = ", ".join(f"{of.side} {stage.say(of.own.value)}" for of in stage.sides)
    builds = f"{plural(len(case.base.builds), finding.top)} of base and {len(case.head.builds)} of head"
    described = f"{builds}; {_own(finding)}: {both} {stage.measure.unit}".rstrip()
    return stage.sheet.picture(prefix, title, f"{described}.", " ".join(caption), reading)


def _builds(stage: _Stage, right: float, top: str) -> tuple[dict[Key, float], float]:
    """Name the builds of both sides below the axis; return the middle of each, and half the width of one."""
    sheet, left = stage.sheet, stage.panel.x.start
    keys = sorted({build for of in stage.sides for build in of.sample.builds})
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
    sheet.text(middle, _BOTTOM + _FOOT - 8, f"{top}: base on the left, head on the right", "soft", "middle")
    if len(sessions) > 1:
        own = [[found[k] for k in keys if k[0] == session] for session in sessions]
        names = [f"{session}" if index else f"session {session}" for index, session in enumerate(sessions)]
        sheet.row(_TOP - 8, [((o[0] + o[-1]) / 2, name) for o, name in zip(own, names, strict=True)], "soft")
    return found, width * 0.44


def _panel(stage: _Stage, left: float, top: str) -> bool:
    """Draw the values of all builds and each side's own value; tell whether there was a density to draw."""
    shapes, sheet, y = False, stage.sheet, stage.panel.y
    sheet.lines("axis", [[(left, _TOP), (left, _BOTTOM)]])
    width = (_WIDTH - left - 8) / 2
    sheet.text(left + width, 20, f"all {top}s", "soft", "middle")
    for index, of in enumerate(stage.sides):
        middle = left + width * (index + 0.5)
        shapes = stage.violin(of, of.numbers, middle, width * 0.42, 60, both=True) or shapes
        value = stage.measure.one(of.own.value)
        ends = [stage.measure.one(end) for end in (of.own.low, of.own.high) if end is not None]
        known = [end for end in ends if end is not None]
        if len(known) == 2:
            caps = [[(middle - 7, y.at(end)), (middle + 7, y.at(end))] for end in known if stage.holds(end)]
            sheet.lines(f"bar-{of.side}", [[(middle, y.at(known[0])), (middle, y.at(known[1]))], *caps])
        else:
            known = []
        if value is not None and stage.holds(value):
            _own_mark(sheet, of.side, (middle, y.at(value)))
        marked = np.array([*known, *([] if value is None else [value])])
        stage.edges("arrow", of.side, [middle] * len(marked), marked)
        stage.key(of.side, middle, _BOTTOM + 24)
        said = stage.say(of.own.value)
        small = " small" if room(said, LETTERS + 1) > width else ""
        sheet.text(middle, _BOTTOM + 50, said, f"strong{small}", "middle")
    return shapes


def _own_mark(sheet: Sheet, side: Side, point: Point) -> None:
    """Draw the large mark of a side."""
    if side == "base":
        sheet.marks("big-base", "circle", [point])
    else:
        sheet.marks("mark-head", "triangle", [point], 5.5)


def _left_out(case: Case, stage: _Stage, drawn: int) -> list[str]:
    """Say what is not drawn: values between those chosen, builds, and what lies beyond the axis."""
    words, total = [], sum(of.numbers.size for of in stage.sides)
    if drawn < total:
        words.append(f"{drawn:,} of {plural(total, 'value')} are drawn, evenly chosen beside the extremes.")
    counts = [
        (len(of.sample.builds), len(own.builds)) for of, own in zip(stage.sides, (case.base, case.head), strict=True)
    ]
    if any(used < builds for used, builds in counts):
        said = " and ".join(dict.fromkeys(f"{used} of {plural(builds, 'build')}" for used, builds in counts))
        words.append(f"The result uses only the first {said}, which are drawn.")
    out = np.concatenate([of.sample.values[~stage.panel.span.inside(of.numbers)] for of in stage.sides])
    if out.size:
        low, high = stage.measure.say(float(out.min())), stage.measure.say(float(out.max()))
        far = f"{f'at {low}' if low == high else f'from {low} to {high}'} {stage.measure.unit}".rstrip()
        lie = agree(out.size, "lies", "lie")
        words.append(f"{out.size:,} of {total:,} values {lie} beyond the axis ({far}), marked at its edge.")
    return words


def _unseen(finding: Finding, stage: _Stage) -> list[str]:
    """Say which of the sides' own values and intervals are not drawn."""
    words = []
    if all(of.own.low is None or of.own.high is None for of in stage.sides):
        words.append(f"The {_own(finding)} of a side has no interval.")
    for of in stage.sides:
        value = stage.measure.one(of.own.value)
        if value is not None and not stage.holds(value):
            words.append(f"The {_own(finding)} of {of.side} ({stage.say(of.own.value)}) is beyond the axis.")
        if any(end is not None and stage.measure.one(end) is None for end in (of.own.low, of.own.high)):
            words.append(
                f"The interval of {of.side} is not drawn: it reaches 0 or below, which a log axis does not have."
            )
    return words


def _own(finding: Finding) -> str:
    return "typical value" if finding.statistic == TYPICAL else finding.statistic


# --- in the order of the run ------------------------------------------------------------------------------------------

_FLOOR = 240
_MEANS = 150
"""More executions than this leave no room for a mean each."""
_ROUNDS = 100
"""More rounds than this leave no room to shade them."""


def series(case: Case, finding: Finding, prefix: str) -> Picture | None:
    """Draw the values of both sides over the run (NIST TN 1855, Fig. 4).

    Of the builds that the finding rests on. None: no spread, one execution a side, or the order is not known.
    """
    stage = _stage(case, finding, _FLOOR)
    order = None if stage is None else _order(stage.sides)
    if stage is None or order is None or max(at.size for at in order) < 2:
        return None
    executions, drawn = sum(at.size for at in order), 0
    x = Axis(-0.5, executions - 0.5, stage.panel.x.start, stage.panel.x.end)
    shaded = _rounds(stage, x, order)
    stage.frame()
    for of, at, key in zip(stage.sides, order, (_WIDTH - 154, _WIDTH - 60), strict=True):
        stage.key(of.side, key, 20)
        sizes, kept = of.sample.counts[0], thinned(of.sample, _DRAWN)
        begin, own = np.cumsum(sizes) - sizes, np.repeat(np.arange(sizes.size), sizes)[kept]
        within = (kept - begin[own] + 0.5) / sizes[own]
        stage.spots(of, kept, x.all(at[own] + (within - 0.5) * 0.7))
        drawn += kept.size
    means = max(int(of.sample.counts[0].max()) for of in stage.sides) > 2 and executions <= _MEANS
    if means:
        _means(stage, x, order)
    whole = [Tick(tick.at, f"{tick.at:.0f}") for tick in ticks(0, executions - 1, 8) if tick.at % 1 == 0]
    stage.panel.across(x).ruler(whole, "start, in the order of the run")
    title = f"Values of {case.benchmark}, {case.metric}, in the order of the run"
    described = f"{plural(executions, 'execution')}; base as circles, head as triangles."
    reading = [
        "Both sides should be level: a slope is a machine that warms up, a step something else that began.",
        *(["A bar is the mean of a start."] if means else []),
        *(["Shading separates the rounds."] if shaded else []),
    ]
    return stage.sheet.picture(prefix, title, described, " ".join(_left_out(case, stage, drawn)), reading)


def _means(stage: _Stage, x: Axis, order: Sequence[Array]) -> None:
    """Draw the mean of each execution as a bar."""
    for of, at in zip(stage.sides, order, strict=True):
        sizes = of.sample.counts[0]
        # divided first: the sum may be more than floats can hold
        shares = of.sample.values / np.repeat(sizes, sizes)
        numbers = stage.measure.of(np.add.reduceat(shares, np.cumsum(sizes) - sizes))
        seen = stage.panel.span.inside(numbers)
        ends = zip(x.all(at[seen] - 0.42), x.all(at[seen] + 0.42), stage.panel.y.all(numbers[seen]), strict=True)
        stage.sheet.lines(f"bar-{of.side}", [[(left, y), (right, y)] for left, right, y in ends])


def _order(sides: Sequence[_Sided]) -> list[Array] | None:
    """Place the executions of each side as the files say, sessions after each other; None: they do not."""
    keys = []
    for of in sides:
        if of.sample.orders is None:
            return None
        sessions = np.repeat([session for session, _ in of.sample.builds], of.sample.counts[1])
        keys.append([*zip(sessions.tolist(), of.sample.orders.tolist(), strict=True)])
    # a case is a part of the run: places are counted within the case, so that others leave no holes
    ranks = {key: rank for rank, key in enumerate(sorted({key for own in keys for key in own}))}
    # the files give each execution of a session its own place
    if len(ranks) < sum(of.sample.counts[0].size for of in sides):
        return None
    return [np.array([ranks[key] for key in own], dtype=np.float64) for own in keys]


def _rounds(stage: _Stage, x: Axis, order: Sequence[Array]) -> bool:
    """Shade every other round, where they follow each other and have room; tell whether they do."""
    ends: dict[Key, list[float]] = {}
    for of, at in zip(stage.sides, order, strict=True):
        for build, own in zip(of.sample.builds, np.split(at, np.cumsum(of.sample.counts[1])[:-1]), strict=True):
            ends.setdefault(build, []).extend(own.tolist())
    rounds = sorted((min(at), max(at), build) for build, at in ends.items())
    if not 2 <= len(rounds) <= _ROUNDS or any(one[1] >= two[0] for one, two in pairwise(rounds)):
        return False
    stripes = [(x.at(low - 0.5), x.at(high + 0.5)) for low, high, _ in rounds[1::2]]
    corners = [[(low, _TOP), (high, _TOP), (high, _FLOOR), (low, _FLOOR)] for low, high in stripes]
    stage.sheet.lines("stripe", corners, closed=True)
    many = len({session for session, _ in ends}) > 1
    labels = [f"{build[0]}/{build[1]}" if many else f"{build[1]}" for _, _, build in rounds]
    # the first one tells what the numbers are
    labels[0] = f"round {labels[0]}"
    middles = [x.at((low + high) / 2) for low, high, _ in rounds]
    stage.sheet.row(_TOP - 8, [*zip(middles, labels, strict=True)], "soft small")
    return True


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
    panel = Panel.on(sheet, Axis(0, 1, _BEFORE, _WIDTH - _AFTER), Span(low, high, signed), *_CURVE)
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
    described = ", ".join(f"{e.tau:.3g}: {changed(e.ratio) if known(e.ratio) else 'none'}" for e in said)
    shown = " ".join(filter(None, caption))
    return sheet.picture(prefix, title, f"Change by quantile: {described}.", shown, reading)
