"""The units of analysis in time: drift is seen here (NIST TN 1855, Fig. 4 and 9), and each boot's column (Fig. 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gate.commands.study.plots.marks import (
    Array,
    Entry,
    Look,
    Scale,
    Vertical,
    entries,
    legend,
    legend_height,
    look_of,
    name,
    said,
    scale,
    strongest,
    vertical,
)
from gate.model.study import Factor, Response, SeriesPoint, Setting, Varies
from gate.plots.axes import grid
from gate.plots.picture import Picture, Sheet
from gate.plots.scales import Axis, ticks
from gate.plots.style import SETTINGS
from gate.units import agree, plural
from gate.writing.plain import clip

_WIDTH, _PLOT = 720, 214
_HEAD, _FOOT = 30, 58
_DRAWN = 700
"""Units that are drawn at most, but for the extremes."""
_EXTREMES = 20
_FEW = 150
_LEGEND = 90
"""A legend of treatments that would be higher gives way to one of settings."""
_SESSIONS = 40
"""More sessions than this are not separable."""


@dataclass(frozen=True, slots=True)
class _Kinds:
    """What the marks mean."""

    of: list[int]
    """The number of the kind of each treatment."""
    entries: list[Entry]
    title: str
    by: str
    """In words."""


@dataclass(frozen=True, slots=True)
class _Stage:
    """What the picture draws on."""

    sheet: Sheet
    y: Vertical
    of: Scale
    kinds: _Kinds
    points: list[SeriesPoint]
    shown: list[SeriesPoint]
    """The points drawn, of `points`."""


def series(prefix: str, response: Response) -> Picture | None:
    """Draw the units of analysis in the order of time; None where there are fewer than three or no spread."""
    stage = _stage(response)
    if stage is None:
        return None
    known = stage.points[0].order >= 0
    ranks = {id(p): k for k, p in enumerate(stage.points)}
    left, right = stage.y.room, _WIDTH - 12
    x = Axis(-0.5, len(stage.points) - 0.5, left, right)
    sheet, y = stage.sheet, stage.y
    several = _bounds(stage, x)
    grid(sheet, y.axis, y.ticks, left, right)
    _marks(stage, [x.at(ranks[id(p)]) for p in stage.shown])
    whole = [t for t in ticks(0, len(stage.points) - 1, 8) if t.at % 1 == 0]
    sheet.row(y.axis.start + 24, [(x.at(t.at), f"{t.at:.0f}") for t in whole], "soft")
    unit = response.analysis_unit
    for layout, order in (("wide", ", in the order of the run" if known else ", by session and build"), ("narrow", "")):
        sheet.text((left + right) / 2, sheet.height - 8, f"{unit}{order}", f"soft {layout}", "middle")
    words = [_opening(stage, unit)]
    if several:
        words.append("Vertical lines separate the sessions.")
    if not known:
        words.append("The files do not give the order of the run: marks are sorted by session and build.")
    words.append("Without drift each kind of mark keeps its height from left to right.")
    title = f"{response.benchmark}, {response.metric}, in the order of the run"
    return sheet.picture(prefix, title, _described(stage), " ".join(words))


def _stage(response: Response) -> _Stage | None:
    points = sorted(
        (p for p in response.series if 0 <= p.treatment < len(response.treatments)),
        key=lambda p: (p.session, p.order, p.build),
    )
    values = np.array([p.value for p in points])
    of = scale(response, values)
    if len(points) < 3 or of is None or float(values.min()) == float(values.max()):
        return None
    kinds = _kinds(response)
    top = _HEAD + legend_height(kinds.entries, _WIDTH - 24, kinds.title) + 22
    y = vertical(of.of(values), of.measure.log, top, top + _PLOT, cut=True)
    sheet = Sheet(_WIDTH, top + _PLOT + _FOOT)
    name(sheet, response, of)
    legend(sheet, kinds.entries, 12, _HEAD, _WIDTH - 24, kinds.title)
    return _Stage(sheet, y, of, kinds, points, _thinned(points))


def _kinds(response: Response) -> _Kinds:
    """Tell treatments apart where there are few; else by the setting of the factor that matters most."""
    named = [Entry(Look(k), _treatment(t.settings)) for k, t in enumerate(response.treatments)]
    brief = len(named) <= SETTINGS and legend_height(named, _WIDTH - 24) <= _LEGEND
    if brief and len(response.factors) != 1:
        return _Kinds(list(range(len(named))), named, "", "the treatment")
    if not response.factors:
        return _Kinds([0] * len(response.treatments), [Entry(Look(0), "all")], "", "the treatment")
    factor = strongest(response)
    used = [s for s in factor.settings if any(t.settings.get(factor.name) == s for t in response.treatments)]
    return _Kinds(
        [
            used.index(t.settings[factor.name]) if t.settings.get(factor.name) in used else 0
            for t in response.treatments
        ],
        _entries(factor, used),
        said(factor.name),
        f"the setting of {clip(said(factor.name), 30)}",
    )


def _entries(factor: Factor, used: Sequence[str | int | float]) -> list[Entry]:
    listed = entries(factor, used)
    return listed or [Entry(look_of(factor, ""), "all")]


def _treatment(settings: dict[str, str | int | float]) -> str:
    return ", ".join(said(s) for s in settings.values()) or "all"


def _thinned(points: Sequence[SeriesPoint]) -> list[SeriesPoint]:
    """Choose units evenly in time, and the extremes."""
    if len(points) <= _DRAWN:
        return list(points)
    even = set(np.linspace(0, len(points) - 1, _DRAWN).astype(int).tolist())
    ranked = sorted(range(len(points)), key=lambda k: points[k].value)
    return [points[k] for k in sorted(even | set(ranked[:_EXTREMES]) | set(ranked[-_EXTREMES:]))]


def _marks(stage: _Stage, xs: Sequence[float]) -> None:
    numbers = stage.of.of(np.array([p.value for p in stage.shown]))
    pixels = stage.y.axis.all(numbers)
    inside = stage.y.inside(numbers)
    small = len(stage.shown) > _FEW
    for kind, entry in enumerate(stage.kinds.entries):
        own = [k for k, p in enumerate(stage.shown) if stage.kinds.of[p.treatment] == kind]
        entry.look.marks(stage.sheet, [(xs[k], pixels[k]) for k in own if inside[k]], "small" if small else "middle")
        over = [(xs[k], stage.y.axis.end + 4) for k in own if numbers[k] > stage.y.range.high]
        under = [(xs[k], stage.y.axis.start - 4) for k in own if numbers[k] < stage.y.range.low]
        stage.sheet.marks(f"edge-{entry.look.colour}", "chevron-up", over, 4)
        stage.sheet.marks(f"edge-{entry.look.colour}", "chevron-down", under, 4)


def _bounds(stage: _Stage, x: Axis) -> bool:
    """Part and name the sessions; tell whether there are several."""
    found = [p.session for p in stage.points]
    starts = [k for k, s in enumerate(found) if k == 0 or s != found[k - 1]]
    if not 1 < len(starts) <= _SESSIONS:
        return False
    y = stage.y.axis
    stage.sheet.lines("axis", [[(x.at(k - 0.5), y.end - 18), (x.at(k - 0.5), y.start)] for k in starts[1:]])
    names = [
        (x.at((k + end - 1) / 2), f"{found[k]}" if k else f"session {found[k]}")
        for k, end in zip(starts, [*starts[1:], len(found)], strict=True)
    ]
    stage.sheet.row(y.end - 6, names, "soft small")
    return True


def _opening(stage: _Stage, unit: str) -> str:
    what = "a value" if unit == "iteration" else f"the mean of {'an' if unit == 'execution' else 'a'} {unit}"
    words = f"Each mark is {what}; its shape and colour show {stage.kinds.by}."
    if len(stage.shown) < len(stage.points):
        words += f" {len(stage.shown):,} of {len(stage.points):,} are drawn, evenly chosen, and the extremes with them."
    beyond = stage.y.range.beyond
    if beyond:
        words += f" {beyond:,} {agree(beyond, 'lies', 'lie')} beyond the axis, marked at its edge."
    return words


def _described(stage: _Stage) -> str:
    values = [p.value for p in stage.points]
    return f"{plural(len(values), 'mark')} from {stage.of.say(min(values))} to {stage.of.say(max(values))}."


MOST = 60
"""Columns that are drawn at most: more cannot be told apart."""
_SPOTS = 2000
"""Units that are drawn at most."""
_GOLDEN = 0.6180339887498949


@dataclass(frozen=True, slots=True, eq=False)
class Boot:
    """The units of one session or build.

    setting: that of the factor which varies by it; None: there is none. values: what other factors do taken off.
    """

    setting: Setting | None
    values: Array


def boots(
    prefix: str, response: Response, level: Varies, found: Sequence[Boot], factor: Factor | None, *, adjusted: bool
) -> Picture | None:
    """Draw a column of units for each session or build; None with fewer than two, or where there is no spread.

    Args:
        found: in the order of time.
        factor: the one that varies by the level, whose settings are told apart.
        adjusted: the means of treatments were taken off, but for that factor's.
    """
    drawn = list(found[:MOST])
    every = np.concatenate([b.values for b in drawn]) if drawn else np.zeros(0)
    of = scale(response, every)
    if len(drawn) < 2 or of is None or float(every.min()) == float(every.max()):
        return None
    used = [s for s in (factor.settings if factor else ()) if any(b.setting == s for b in drawn)]
    listed: list[Entry] = entries(factor, used) if factor else []
    title = said(factor.name) if factor else ""
    top = _HEAD + legend_height(listed, _WIDTH - 24, title) + 22
    y = vertical(of.of(every), of.measure.log, top, top + _PLOT, cut=True)
    sheet = Sheet(_WIDTH, top + _PLOT + _FOOT)
    name(sheet, response, of)
    legend(sheet, listed, 12, _HEAD, _WIDTH - 24, title)
    left, right = y.room, _WIDTH - 12
    grid(sheet, y.axis, y.ticks, left, right)
    slot = min((right - left) / len(drawn), 90.0)
    quota = max(5, _SPOTS // len(drawn))
    for number, boot in enumerate(drawn):
        look = look_of(factor, boot.setting) if factor and boot.setting is not None else Look(0)
        _column(sheet, boot, _Place(left + slot * (number + 0.5), slot, y, of), look, quota)
    sheet.row(y.axis.start + 24, [(left + slot * (k + 0.5), str(k)) for k in range(len(drawn))], "soft")
    sheet.text((left + left + slot * len(drawn)) / 2, sheet.height - 8, level, "soft", "middle")
    means = [float(b.values.mean()) for b in drawn]
    described = f"{plural(len(drawn), level)}; means from {of.say(min(means))} to {of.say(max(means))}."
    words = _words(response, level, factor, adjusted=adjusted)
    count = sum(min(b.values.size, quota) for b in drawn)
    if count < every.size:
        words.append(f"{count:,} of {every.size:,} units are drawn, evenly chosen.")
    if y.range.beyond:
        words.append(f"{y.range.beyond:,} {agree(y.range.beyond, 'lies', 'lie')} beyond the axis, marked at its edge.")
    if len(drawn) < len(found):
        words.append(f"The first {len(drawn)} of {plural(len(found), level)} are drawn.")
    return sheet.picture(prefix, f"{response.benchmark}, {response.metric}, by {level}", described, " ".join(words))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a boot is drawn."""

    x: float
    slot: float
    y: Vertical
    of: Scale


def _column(sheet: Sheet, boot: Boot, at: _Place, look: Look, quota: int) -> None:
    x, y = at.x, at.y
    numbers = at.of.of(_spread_out(boot.values, quota))
    share = (np.arange(numbers.size) * _GOLDEN) % 1 - 0.5
    points = [
        (x + float(s) * at.slot * 0.7, pixel)
        for s, pixel, inside in zip(share, y.axis.all(numbers), y.inside(numbers), strict=True)
        if inside
    ]
    look.marks(sheet, points, "small")
    if (numbers > y.range.high).any():
        sheet.marks(f"edge-{look.colour}", "chevron-up", [(x, y.axis.end + 4)], 4)
    if (numbers < y.range.low).any():
        sheet.marks(f"edge-{look.colour}", "chevron-down", [(x, y.axis.start - 4)], 4)
    mean = y.axis.at(at.of.one(float(boot.values.mean())))
    bar = [[(x - at.slot * 0.4, mean), (x + at.slot * 0.4, mean)]]
    sheet.lines("halo", bar)
    sheet.lines("mean", bar)


def _words(response: Response, level: Varies, factor: Factor | None, *, adjusted: bool) -> list[str]:
    alike = f"columns{' of one colour' if factor else ''} look alike"
    words = [f"Each column is a {level}, in the order of time; each mark is {_unit(response)}."]
    words.append(f"A bar is the mean of the {level}; if nothing depends on the {level}, {alike}.")
    if adjusted:
        off = f" but for {clip(said(factor.name), 30)}" if factor else ""
        words.append(f"What the treatments differ in{off} is taken off.")
    words += [_checked(said(d.check.words)) for d in response.dependences if d.level == level]
    return [text for text in words if text]


def _unit(response: Response) -> str:
    unit = response.analysis_unit
    return "a value" if unit == "iteration" else f"the mean of {'an' if unit == 'execution' else 'a'} {unit}"


def _spread_out(values: Array, quota: int) -> Array:
    if values.size <= quota:
        return values
    return values[np.linspace(0, values.size - 1, quota).astype(np.int64)]


def _checked(words: str) -> str:
    words = words.strip()
    return f"{words[:1].upper()}{words[1:].rstrip('.')}." if words else ""
