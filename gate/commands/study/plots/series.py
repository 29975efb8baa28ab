"""The units of analysis in time: drift is seen here (NIST TN 1855, Fig. 4 and 9), and each boot's column (Fig. 5)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from gate.commands.study.plots import marks as m
from gate.model.study import Diagnostics, Factor, Residual, Response, SeriesPoint, Setting, Varies
from gate.plots.axes import grid
from gate.plots.picture import SETTINGS, Picture, Sheet
from gate.plots.scales import Axis, Tick, minus, ticks
from gate.units import agree, plural
from gate.words.reports import level_name
from gate.writing.plain import clip

_WIDTH, _PLOT = 720, 214
_HEAD, _FOOT = 30, 58
_DRAWN, _EXTREMES = 700, 20
"""Units that are drawn at most, but for so many of the highest and of the lowest."""
_FEW = 150
_LEGEND = 90
"""A legend of treatments that would be higher gives way to one of settings."""
_SESSIONS = 40
"""More sessions than this are not separable."""


def _frame(
    response: Response, of: m.Scale, values: m.Array, listed: Sequence[m.Entry], title: str
) -> tuple[Sheet, m.Vertical]:
    top = _HEAD + m.legend_height(listed, _WIDTH - 24, title) + 22
    y = m.vertical(of.of(values), of.measure.log, top, top + _PLOT, cut=True)
    sheet = Sheet(_WIDTH, top + _PLOT + _FOOT)
    m.name(sheet, response, of)
    m.legend(sheet, listed, 12, _HEAD, _WIDTH - 24, title)
    return sheet, y


def _unit(response: Response) -> str:
    unit = response.analysis_unit
    return "a value" if unit == "iteration" else f"the mean of a {level_name(unit)}"


def _beyond(y: m.Vertical) -> list[str]:
    count = y.range.beyond
    return [f"{count:,} {agree(count, 'lies', 'lie')} beyond the axis, marked at its edge."] if count else []


def series(prefix: str, response: Response) -> Picture | None:
    """Draw the units of analysis in the order of time; None where there are fewer than three or no spread."""
    points = sorted(response.series, key=lambda p: (p.session, p.order, p.build))
    values = np.array([p.value for p in points])
    of = m.scale(response, values)
    if len(points) < 3 or of is None or float(values.min()) == float(values.max()):
        return None
    kinds, listed, title, by = _kinds(response)
    sheet, y = _frame(response, of, values, listed, title)
    known = points[0].order >= 0
    left, right = y.room, _WIDTH - 12
    x = Axis(-0.5, len(points) - 0.5, left, right)
    several = _sessions(sheet, points, x, y)
    grid(sheet, y.axis, y.ticks, left, right)
    shown = np.arange(len(points))
    if len(points) > _DRAWN:
        ranked = np.argsort(values, kind="stable")
        even = np.linspace(0, len(points) - 1, _DRAWN).astype(int)
        shown = np.unique(np.concatenate((even, ranked[:_EXTREMES], ranked[-_EXTREMES:])))
    numbers = of.of(values)
    pixels, inside = y.axis.all(numbers), y.inside(numbers)
    for kind, entry in enumerate(listed):
        own = [k for k in shown.tolist() if kinds[points[k].treatment] == kind]
        drawn = [(x.at(k), pixels[k]) for k in own if inside[k]]
        entry.look.marks(sheet, drawn, "small" if len(shown) > _FEW else "middle")
        y.edges(sheet, entry.look, [x.at(k) for k in own], numbers[own])
    whole = [t for t in ticks(0, len(points) - 1, 8) if t.at % 1 == 0]
    sheet.row(y.axis.start + 24, [(x.at(t.at), f"{t.at:.0f}") for t in whole], "soft")
    unit = response.analysis_unit
    order = ", in the order of the run" if known else ", by session and build"
    m.both(sheet, (left + right) / 2, sheet.height - 8, f"{unit}{order}", unit, "soft", "middle")
    words = [f"Each mark is {_unit(response)}; its shape and colour show {by}."]
    if len(shown) < len(points):
        words.append(f"{len(shown):,} of {len(points):,} are drawn, evenly chosen, and the extremes with them.")
    words += _beyond(y)
    if several:
        words.append("Vertical lines separate the sessions.")
    if not known:
        words.append("The files do not give the order of the run: marks are sorted by session and build.")
    words.append("Without drift each kind of mark keeps its height from left to right.")
    low, high = (of.say(float(end)) for end in (values.min(), values.max()))
    described = f"{plural(len(points), 'mark')} from {low} to {high}."
    title = f"{response.benchmark}, {response.metric}, in the order of the run"
    return sheet.picture(prefix, title, described, " ".join(words))


def _kinds(response: Response) -> tuple[list[int], list[m.Entry], str, str]:
    """Tell treatments apart where there are few; else by the setting of the factor that matters most.

    Returns:
        The number of the kind of each treatment, the legend with its title, and in words what kinds are.
    """
    texts = [", ".join(m.said(s) for s in t.settings.values()) or "all" for t in response.treatments]
    named = [m.Entry(m.Look(k), text) for k, text in enumerate(texts)]
    brief = len(named) <= SETTINGS and m.legend_height(named, _WIDTH - 24) <= _LEGEND
    if brief and len(response.factors) != 1:
        return list(range(len(named))), named, "", "the treatment"
    if not response.factors:
        return [0] * len(named), [m.Entry(m.Look(0), "all")], "", "the treatment"
    factor = m.strongest(response)
    settings = [t.settings[factor.name] for t in response.treatments]
    used = [s for s in factor.settings if s in settings]
    by = f"the setting of {clip(m.said(factor.name), 30)}"
    return [used.index(s) for s in settings], m.entries(factor, used), m.said(factor.name), by


def _sessions(sheet: Sheet, points: Sequence[SeriesPoint], x: Axis, y: m.Vertical) -> bool:
    """Part and name the sessions; tell whether there are several."""
    found = [p.session for p in points]
    starts = [k for k, s in enumerate(found) if k == 0 or s != found[k - 1]]
    if not 1 < len(starts) <= _SESSIONS:
        return False
    ends = [*starts[1:], len(found)]
    sheet.lines("axis", [[(x.at(k - 0.5), y.axis.end - 18), (x.at(k - 0.5), y.axis.start)] for k in starts[1:]])
    names = [f"{found[k]}" if k else f"session {found[k]}" for k in starts]
    middles = [x.at((k + end - 1) / 2) for k, end in zip(starts, ends, strict=True)]
    sheet.row(y.axis.end - 6, list(zip(middles, names, strict=True)), "soft small")
    return True


MOST = 60
"""Columns that are drawn at most: more cannot be told apart."""
_SPOTS = 2000
"""Units that are drawn at most."""


class Boot(msgspec.Struct, frozen=True, eq=False):
    """The units of one session or build.

    setting: that of the factor which varies by it; None: there is none. values: what other factors do taken off.
    """

    setting: Setting | None
    values: m.Array


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
    of = m.scale(response, every)
    if len(drawn) < 2 or of is None or float(every.min()) == float(every.max()):
        return None
    used = [s for s in (factor.settings if factor else ()) if any(b.setting == s for b in drawn)]
    listed: list[m.Entry] = m.entries(factor, used) if factor else []
    sheet, y = _frame(response, of, every, listed, m.said(factor.name) if factor else "")
    left, right = y.room, _WIDTH - 12
    grid(sheet, y.axis, y.ticks, left, right)
    slot = min((right - left) / len(drawn), 90.0)
    quota = max(5, _SPOTS // len(drawn))
    for number, boot in enumerate(drawn):
        look = m.look_of(factor, boot.setting) if factor and boot.setting is not None else m.Look(0)
        x = left + slot * (number + 0.5)
        numbers = of.of(m.evenly(boot.values, quota))
        xs = x + (m.spread_out(numbers.size) - 0.5) * slot * 0.7
        inside = y.inside(numbers)
        points = list(zip(xs[inside].tolist(), y.axis.all(numbers[inside]), strict=True))
        look.marks(sheet, points, "small")
        y.beyond(sheet, look, x, numbers)
        mean = y.axis.at(of.one(float(boot.values.mean())))
        for kind in ("halo", "mean"):
            sheet.lines(kind, [[(x - slot * 0.4, mean), (x + slot * 0.4, mean)]])
    sheet.row(y.axis.start + 24, [(left + slot * (k + 0.5), str(k)) for k in range(len(drawn))], "soft")
    sheet.text((left + left + slot * len(drawn)) / 2, sheet.height - 8, level, "soft", "middle")
    alike = f"columns{' of one colour' if factor else ''} look alike"
    words = [f"Each column is a {level}, in the order of time; each mark is {_unit(response)}."]
    words.append(f"A bar is the mean of the {level}; if nothing depends on the {level}, {alike}.")
    if adjusted:
        off = f" but for {clip(m.said(factor.name), 30)}" if factor else ""
        words.append(f"What the treatments differ in{off} is taken off.")
    checks = [m.said(d.check.words).strip() for d in response.dependences if d.level == level]
    words += [f"{text[:1].upper()}{text[1:].rstrip('.')}." for text in checks]
    count = sum(min(b.values.size, quota) for b in drawn)
    if count < every.size:
        words.append(f"{count:,} of {every.size:,} units are drawn, evenly chosen.")
    words += _beyond(y)
    if len(drawn) < len(found):
        words.append(f"The first {len(drawn)} of {plural(len(found), level)} are drawn.")
    means = [float(b.values.mean()) for b in drawn]
    described = f"{plural(len(drawn), level)}; means from {of.say(min(means))} to {of.say(max(means))}."
    return sheet.picture(prefix, f"{response.benchmark}, {response.metric}, by {level}", described, " ".join(words))


_HEIGHT = 334
_TOP, _BOTTOM = 66, 266
_GAP = 30
_RESIDUALS, _LARGEST = 500, 100
"""Residuals that are drawn at most, and how many of them are the largest."""
_QUARTILE = 0.6744897501960817


def residuals(prefix: str, response: Response, diagnostics: Diagnostics) -> Picture | None:
    """Draw residuals against fitted values and against normal quantiles; None where there are fewer than three."""
    found = diagnostics.residuals
    fits = m.scale(response, np.array([r.fitted for r in found]))
    sizes = np.array([r.residual for r in found])
    of = m.differences(response, sizes)
    if len(found) < 3 or fits is None or of is None or float(np.abs(sizes).max()) == 0:
        return None
    # on a log scale residuals stay logarithms, or the normal plot would bend
    factor, unit = (1.0, "natural log") if of.percent else (of.factor, of.unit)
    kept = _thinned(found)
    y = m.vertical(np.append(sizes / factor, 0.0), False, _TOP, _BOTTOM, count=6)
    middle = (_WIDTH + y.room) / 2
    sheet = Sheet(_WIDTH, _HEIGHT)
    m.both(sheet, 12, 20, f"residual{m.in_unit(unit, 24)}", f"residual{m.in_unit(unit, 12)}")

    numbers = fits.of(np.array([r.fitted for r in kept]))
    ends = m.whole(numbers)
    x = Axis(ends.low, ends.high, y.room, middle - _GAP / 2)
    grid(sheet, y.axis, y.ticks, x.start, x.end)
    sheet.lines("zero", [[(x.start, y.axis.at(0)), (x.end, y.axis.at(0))]])
    across = m.marks_between(ends.low, ends.high, 5, log=fits.measure.log)
    fitted = f"fitted value{m.in_unit(fits.measure.unit, 12)}"
    _panel(sheet, kept, (x, x.all(numbers), across), y, factor, (fitted, "soft other", "residual and fitted"))

    quantiles = np.array([r.quantile for r in kept])
    reach = 1.07 * float(np.abs(quantiles).max()) or 1.0
    x = Axis(-reach, reach, middle + _GAP / 2, _WIDTH - 14)
    grid(sheet, y.axis, y.ticks, x.start, x.end, labels=False)
    sheet.lines("zero", _line(found, factor, x, y))
    across = [t for t in ticks(-reach, reach, 6) if abs(t.at) <= reach]
    _panel(sheet, kept, (x, x.all(quantiles), across), y, factor, ("normal quantile", "soft", "normal probability"))

    words = ["Left: residuals should scatter evenly around 0 at every fitted value."]
    words.append("Right: normal residuals would lie along the line, which goes through their quartiles.")
    if any(r.cook is not None for r in kept):
        size = f" ({diagnostics.largest_cook:.3g})" if diagnostics.largest_cook is not None else ""
        words.append(f"The triangle is the observation with the largest Cook's distance{size}.")
    if len(kept) < len(found):
        words.append(
            f"{len(kept):,} of {len(found):,} residuals are drawn, evenly chosen, and the {_LARGEST} largest with them."
        )
    warnings = plural(len(diagnostics.warnings), "warning") if diagnostics.warnings else "no warnings"
    span = f"from {of.say(float(sizes.min()))} to {of.say(float(sizes.max()))}"
    described = f"{plural(len(found), 'residual')} {span}; {warnings}."
    title = f"Residuals of the linear model of {response.benchmark}, {response.metric}"
    return sheet.picture(prefix, title, described, " ".join(words))


def _thinned(found: Sequence[Residual]) -> list[Residual]:
    """Keep the largest and, of the rest in order of size, some evenly."""
    ranked = sorted(found, key=lambda r: -abs(r.residual))
    if len(ranked) <= _RESIDUALS:
        return ranked
    rest = sorted(ranked[_LARGEST:], key=lambda r: (r.fitted, r.residual))
    chosen = np.linspace(0, len(rest) - 1, _RESIDUALS - _LARGEST).astype(int)
    return [*ranked[:_LARGEST], *(rest[k] for k in dict.fromkeys(chosen.tolist()))]


def _panel(
    sheet: Sheet, kept: Sequence[Residual], across: tuple[Axis, list[float], list[Tick]], y: m.Vertical, factor: float,
    words: tuple[str, str, str],
) -> None:  # fmt: skip
    """Draw residuals above an axis, and the largest Cook's distance; words: its name, how to write it, its title."""
    x, xs, marks = across
    points = [(at, y.axis.at(r.residual / factor)) for at, r in zip(xs, kept, strict=True)]
    m.Look(0).marks(sheet, points, "middle" if len(points) <= 60 else "small")
    far = max((k for k, r in enumerate(kept) if r.cook is not None), key=lambda k: kept[k].cook or 0.0, default=None)
    if far is not None:
        m.Look(1).marks(sheet, [points[far]], "large")
    sheet.row(_BOTTOM + 24, [(x.at(t.at), minus(t.label)) for t in marks], "soft")
    sheet.text((x.start + x.end) / 2, _HEIGHT - 12, words[0], words[1], "middle")
    sheet.text((x.start + x.end) / 2, _TOP - 14, words[2], "strong", "middle")


def _line(found: Sequence[Residual], factor: float, x: Axis, y: m.Vertical) -> list[list[tuple[float, float]]]:
    """Return the line through the quartiles within a panel, where normal residuals would lie; [] of too few."""
    ranked = sorted((r.quantile, r.residual / factor) for r in found)
    at, values = np.array([q for q, _ in ranked]), np.array([v for _, v in ranked])
    if not at[0] < -_QUARTILE < _QUARTILE < at[-1]:
        return []
    first, third = np.interp([-_QUARTILE, _QUARTILE], at, values)
    begin, slope = float(first + third) / 2, float(third - first) / (2 * _QUARTILE)
    ends = [x.low, x.high]
    if slope > 0:
        ends = [max(x.low, (y.range.low - begin) / slope), min(x.high, (y.range.high - begin) / slope)]
    return [[(x.at(q), y.axis.at(begin + slope * q)) for q in ends]]
