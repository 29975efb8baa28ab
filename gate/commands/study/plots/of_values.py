"""All values of all treatments: in violins with dots (NIST TN 1855, Fig. 6), as boxes (QR Fig. 2), and in time.

Boxes of units, the settings of one factor beside each other wherever the others are held, show whether mean and spread
differ (Fig. 8). The histogram of one treatment is that of Fig. 4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gate.commands.study.plots import styles as m
from gate.commands.study.plots.styles import (
    WIDTH,
    TreatmentColumn,
    TreatmentColumns,
    TreatmentValues,
    columns,
    combination,
    in_unit,
    said,
)
from gate.commands.study.words import Amounts
from gate.model.study import Diagnostics, Factor, Response, Setting, Varies
from gate.plots import panels
from gate.plots.panels import Array, Panel, half_violin, tick_room
from gate.plots.picture import SETTINGS, Picture, Sheet
from gate.plots.scales import Axis, Tick, density, limits, ticks
from gate.stats.centers import needed_values, type8
from gate.writing.plain import clip
from gate.writing.units import agree, plural

_MANY, _DRAWN = 2000, 600
"""So many values are drawn without choosing; of more so many."""
_OUTLIERS, _ALL = 40, 600
"""Outliers of a treatment, and in all, that are drawn at most; of more some, the extremes among them."""


def violins(prefix: str, response: Response, samples: Sequence[TreatmentValues]) -> Picture | None:
    """Draw the values of every treatment with the shape of their distribution; None where there is no spread."""
    stage = columns(response, samples)
    if stage is None:
        return None
    total = sum(column.numbers.size for column in stage.columns)
    quota = total if total <= _MANY else max(8, _DRAWN // len(stage.columns))
    count = 0
    for column in stage.columns:
        numbers, look, panel = column.numbers, column.look, column.panel
        half, x = min(panel.slot * 0.44, 46), panel.x.at(column.place)
        found = density(numbers, panel.y.low, panel.y.high, 16 if half < 14 else 40)
        widths = np.full(numbers.size, 0.5)
        if found is not None:
            outline = half_violin(panel.y, found, x, half)
            mirrored = [(2 * x - px, at) for px, at in reversed(outline[1:-1])]
            stage.sheet.lines(f"violin-{look.colour}", [[*outline, *mirrored]], closed=True)
            grid_at = np.linspace(found.low, found.high, found.heights.size)
            widths = np.interp(numbers, grid_at, found.heights) if found.high > found.low else widths
        # evenly in their order, and the two extremes
        even = np.linspace(0, numbers.size - 1, min(numbers.size, quota)).astype(np.int64)
        kept = np.union1d(even, [int(numbers.argmin()), int(numbers.argmax())])
        shift = panels.spread_out(numbers.size) * half * 0.9 * np.maximum(widths, 0.04) / panel.slot
        panel.marks(look, column.place + shift[kept], numbers[kept])
        panel.beyond(look, column.place, numbers)
        panel.bar(column.place, stage.of.one(float(np.mean(column.sample.values))), half * 0.8)
        count += kept.size
    return stage.picture(
        prefix,
        f"Values of {response.benchmark}, {response.metric}, by treatment",
        "Each column is a treatment, each mark a value; the shape shows how all values are spread.",
        "A bar is the mean of the values.",
        total > _MANY
        and f"{count:,} of {plural(total, 'value')} are drawn: some evenly chosen in their order, and the extremes.",
    )


def whiskers(values: Array) -> tuple[list[float], tuple[float, float], Array]:
    """Return the quartiles of values, at least one, the ends of the whiskers, and the values beyond them, ascending.

    Quartiles are of type 8 as all quantiles of a study. Whiskers reach to the last value within 1.5 times the distance
    of the quartiles (Tukey).
    """
    quartiles = np.quantile(values, (0.25, 0.5, 0.75), method="median_unbiased").tolist()
    first, _, third = quartiles
    reach = 1.5 * (third - first)
    inside = values[(values >= first - reach) & (values <= third + reach)]
    # between two clusters there may be no value at all
    low, high = (min(float(inside.min()), first), max(float(inside.max()), third)) if inside.size else (first, third)
    return quartiles, (low, high), np.sort(values[(values < low) | (values > high)])


def boxes(prefix: str, response: Response, samples: Sequence[TreatmentValues]) -> Picture | None:
    """Draw a box with whiskers for every treatment; None where there is no spread."""
    stage = columns(response, samples)
    if stage is None:
        return None
    quota = max(6, min(_OUTLIERS, _ALL // len(stage.columns)))
    counts = np.array([_box(stage, column, quota) for column in stage.columns])
    for column in stage.columns:
        column.panel.beyond(column.look, column.place, column.numbers)
    outliers, drawn = int(counts.sum()), int(np.minimum(counts, quota).sum())
    return stage.picture(
        prefix,
        f"Box plots of {response.benchmark}, {response.metric}, by treatment",
        "Each box goes from the lower to the upper quartile of all values of a treatment, with the median in it.",
        "Whiskers end at the last value within 1.5 times that distance from the box; marks beyond them are outliers, a "
        "cross is the mean.",
        drawn < outliers and f"{drawn:,} of {outliers:,} outliers are drawn, the extremes among them.",
    )


def _box(stage: TreatmentColumns, column: TreatmentColumn, quota: int | None = None) -> int:
    """Draw a box where a treatment stands, and return how many outliers it has.

    Args:
        quota: of its outliers, hollow; None: all of them, filled.
    """
    quartiles, ends, outliers = whiskers(column.sample.values)
    panel, x = column.panel, column.place
    half = min(panel.slot * 0.32, 30.0)
    first, middle, third, low, high = stage.of.of(np.array([*quartiles, *ends])).tolist()
    panel.box(column.look, x, half, (first, middle, third), (low, high))
    out = stage.of.of(outliers if quota is None else panels.evenly(outliers, quota))
    panel.marks(column.look, np.full(out.size, float(x)), out, hollow=quota is not None)
    mean = stage.of.one(float(np.mean(column.sample.values)))
    for kind in ("halo", "mean"):
        stage.sheet.marks(kind, "cross", panel.points([x], [mean]), min(4.5, half * 0.6))
    return outliers.size


def spreads(prefix: str, response: Response, factor: Factor, units: Sequence[TreatmentValues]) -> Picture | None:
    """Draw boxes of units by treatment with this factor fastest; None: there is no spread, or it has one setting.

    units: of each treatment, on the scale of the response.
    """
    if len({s.settings.get(factor.name) for s in units}) < 2:
        return None
    order = [*(f for f in response.factors if f.name != factor.name), factor]
    stage = columns(response, units, order=order, logs=response.scale == "log")
    if stage is None:
        return None
    for column in stage.columns:
        _box(stage, column)
    return stage.picture(
        prefix,
        f"Mean and spread of {response.benchmark}, {response.metric}, by {factor.name}",
        f"Boxes of the units, the settings of {clip(said(factor.name), 30)} side by side.",
        "They go from quartile to quartile with the median in them, whiskers to the last unit within 1.5 times that "
        "distance; a cross is the mean.",
    )


_TITLE, _LINE, _HIGH, _BELOW = 34, 27, 150, 64
_FEWEST, _MOST = 8, 60
"""Bars."""
_TAIL = 0.99


def bins(numbers: Array) -> tuple[Array, npt.NDArray[np.int64]] | None:
    """Return the ends of bars as broad as Freedman and Diaconis have them, and their counts; None: all are the same.

    Numbers that an instrument rounds get bars of whole steps, so that no bar is empty because no number falls into it.
    """
    low, high = float(numbers.min()), float(numbers.max())
    if not high - low > 1e-9 * max(abs(low), abs(high)):
        return None
    first, third = np.percentile(numbers, (25, 75))
    width = 2 * float(third - first) * numbers.size ** (-1 / 3) or (high - low) / _FEWEST
    width = min(max(width, (high - low) / _MOST), (high - low) / _FEWEST)
    gaps = np.diff(np.unique(numbers))
    step = float(gaps[gaps > 1e-7 * (high - low)].min())
    if (high - low) / step < 20 * _MOST and np.allclose(gaps / step, np.rint(gaps / step), atol=1e-3):
        width = step * max(1, math.ceil(width / step - 1e-6))
        low -= step / 2
    count = max(1, math.ceil((high - low) / width + 1e-9))
    place = np.minimum(((numbers - low) / width + 1e-9).astype(np.int64), count - 1)
    return np.asarray(low + width * np.arange(count + 1)), np.bincount(place, minlength=count).astype(np.int64)


def histogram(prefix: str, response: Response, sample: TreatmentValues) -> Picture | None:
    """Draw the histogram of a treatment's values with their median, mean and p99; None where there is no spread."""
    of = m.scale(response, sample.values, plain=True)
    if of is None:
        return None
    numbers = of.of(sample.values)
    low, high = limits(numbers)
    inside = (numbers >= low) & (numbers <= high)
    found = bins(numbers[inside])
    if found is None:
        return None
    steps, counts = found
    told = {"median": type8(sample.values, 0.5), "mean": float(sample.values.mean())}
    if sample.values.size >= needed_values(_TAIL):
        told["p99"] = type8(sample.values, _TAIL)
    top = _TITLE + _LINE * len(told)
    sheet = Sheet(WIDTH, top + _HIGH + _BELOW)
    most = float(counts.max()) * 1.05
    y = panels.Span(0, most, [Tick(t.at, f"{t.at:.0f}") for t in ticks(0, most, 4) if t.at % 1 == 0])
    across = panels.whole(steps)
    m.write(sheet, 12, 18, combination(sample.settings, 200), WIDTH - 60, "strong other", "start")
    panel = Panel.on(sheet, Axis(*across, tick_room(y.ticks), WIDTH - 34), y, top, _HIGH)
    ground, bars = panel.y.start, []
    for number in np.flatnonzero(counts).tolist():
        begin, end = (panel.x.at(float(steps[k])) for k in (number, number + 1))
        gap, high = min(0.5, (end - begin) / 8), panel.y.at(int(counts[number]))
        bars.append([(begin + gap, ground), (end - gap, ground), (end - gap, high), (begin + gap, high)])
    sheet.lines("pip-s0", bars, closed=True)
    panel.level("axis", 0)
    for row, (label, value) in enumerate(told.items()):
        if across[0] <= of.one(value) <= across[1]:
            # a line from its label down to the axis; the label stands where there is room for it
            at, height = panel.x.at(of.one(value)), _TITLE + _LINE * row
            sheet.lines("dotted" if label == "mean" else "zero", [[(at, height + 12), (at, ground)]])
            before = at > panel.middle
            space = (at if before else WIDTH - at) - 20
            m.write(sheet, at - 5 if before else at + 5, height + 14, f"{label} {of.say(value)}", space, "other middle",
                    "end" if before else "start")  # fmt: skip
    metric = f"{clip(said(response.metric), 24)}{in_unit(of.measure.unit, 14)}{' (log axis)' if of.log else ''}"
    panel.ruler(panels.marks_between(*across, 8, log=of.log), metric, classes="soft other")
    total, out = plural(sample.values.size, "value"), sample.values[~inside]
    far = ""
    if out.size:
        far = f"{of.say(float(out.min()))} to {of.say(float(out.max()))}" if out.size > 1 else of.say(float(out[0]))
    caption = m.words(
        f"How many of the {total} of {combination(sample.settings, 80)} fall into each bar.",
        "Several peaks are several modes; a long tail to the right is usual for times.",
        far and f"{out.size:,} {agree(out.size, 'lies', 'lie')} beyond the axis ({far}).",
    )
    described = ", ".join(f"{label} {of.say(value)}" for label, value in told.items())
    title = f"Histogram of {response.benchmark}, {response.metric}, at {combination(sample.settings, 100)}"
    return sheet.picture(prefix, title, f"{total}: {described}.", caption)


# --- in time ----------------------------------------------------------------------------------------------------------

_PLOT, _HEAD, _FOOT = 214, 30, 58
_FEW = 150
_LEGEND = 90
"""A legend of treatments that would be higher gives way to one of settings."""
_SESSIONS = 40
"""More sessions than this are not separable."""


def _panel(
    response: Response, of: m.AxisScale, values: panels.Array, listed: Sequence[m.Entry], title: str, count: int
) -> Panel:
    """Draw a legend above a panel with so many places."""
    top = _HEAD + m.legend_height(listed, WIDTH - 24, title) + 22
    sheet = Sheet(WIDTH, top + _PLOT + _FOOT)
    y = panels.span(of.of(values), of.log, cut_off=True)
    m.name(sheet, response, of)
    m.legend(sheet, listed, 12, _HEAD, WIDTH - 24, title)
    return Panel.on(sheet, Axis(-0.5, count - 0.5, y.room, WIDTH - 12), y, top, _PLOT)


def _beyond(panel: Panel, numbers: panels.Array) -> str:
    count = int((~panel.span.inside(numbers)).sum())
    return f"{count:,} {agree(count, 'lies', 'lie')} beyond the axis, marked at its edge." if count else ""


def series(prefix: str, response: Response) -> Picture | None:
    """Draw the units of analysis in the order of time; None where there are fewer than three or no spread."""
    points = sorted(response.series, key=lambda p: (p.session, p.order, p.build))
    values = np.array([p.value for p in points])
    of = m.scale(response, values)
    if len(points) < 3 or of is None or float(values.min()) == float(values.max()):
        return None
    kinds, listed, title, by = _kinds(response)
    panel = _panel(response, of, values, listed, title, len(points))
    sheet, x, y = panel.sheet, panel.x, panel.y
    # part and name the sessions
    found = np.array([p.session for p in points])
    starts = np.flatnonzero(np.diff(found, prepend=found[0] - 1))
    several = 1 < len(starts) <= _SESSIONS
    if several:
        sheet.lines("axis", [[(x.at(k - 0.5), y.end - 18), (x.at(k - 0.5), y.start)] for k in starts[1:].tolist()])
        middles = (starts + np.append(starts[1:], len(found)) - 1) / 2
        names = [f"{'' if k else 'session '}{found[k]}" for k in starts.tolist()]
        sheet.row(y.end - 6, list(zip(x.all(middles), names, strict=True)), "soft small")
    numbers = of.of(values)
    kind_of = np.array([kinds[p.treatment] for p in points])
    for kind, (look, _) in enumerate(listed):
        own = kind_of == kind
        xs = np.flatnonzero(own).astype(np.float64)
        panel.marks(look, xs, numbers[own], "small" if len(points) > _FEW else "middle")
        panel.edges(look, xs, numbers[own])
    total = sum(treatment.executions for treatment in response.treatments)
    # every so many of them are in the series
    step = -(-total // len(points)) or 1
    whole = [Tick(t.at / step, f"{t.at:.0f}") for t in ticks(0, step * (len(points) - 1), 8) if t.at % 1 == 0]
    panel.ruler(whole, "execution, in the order of the run")
    caption = m.words(
        f"Each mark is the mean of a start; its shape and colour show {by}.",
        len(points) < total and f"{len(points):,} of {total:,} are drawn, evenly chosen in their order.",
        _beyond(panel, numbers),
        several and "Vertical lines separate the sessions.",
        "Without drift each kind of mark keeps its height from left to right.",
    )
    low, high = (of.say(float(end)) for end in (values.min(), values.max()))
    described = f"{plural(len(points), 'mark')} from {low} to {high}."
    return sheet.picture(
        prefix, f"{response.benchmark}, {response.metric}, in the order of the run", described, caption
    )


def _kinds(response: Response) -> tuple[list[int], list[m.Entry], str, str]:
    """Tell treatments apart where there are few; else by the setting of the factor that matters most.

    Returns:
        The number of the kind of each treatment, the legend with its title, and in words what kinds are.
    """
    texts = [", ".join(said(s) for s in t.settings.values()) or "all" for t in response.treatments]
    named = [(panels.PlotStyle(k), text) for k, text in enumerate(texts)]
    if not response.factors:
        return [0] * len(named), [(panels.PlotStyle(0), "all")], "", "the treatment"
    brief = len(named) <= SETTINGS and m.legend_height(named, WIDTH - 24) <= _LEGEND
    if brief and len(response.factors) > 1:
        return list(range(len(named))), named, "", "the treatment"
    # its settings tell most of what a point of many treatments is
    terms = response.linear.terms if response.linear else []
    squares = {t.factors[0]: t.sum_of_squares for t in terms if len(t.factors) == 1}
    varied = [f for f in response.factors if len(f.settings) > 1] or list(response.factors)
    factor = max(varied, key=lambda f: squares.get(f.name, -1.0))
    settings = [t.settings[factor.name] for t in response.treatments]
    used = [s for s in factor.settings if s in settings]
    by = f"the setting of {clip(said(factor.name), 30)}"
    return [used.index(s) for s in settings], m.entries(factor, used), said(factor.name), by


MOST = 60
"""Columns that are drawn at most: more cannot be told apart."""
_SPOTS = 2000
"""Units that are drawn at most."""


def boots(
    prefix: str, response: Response, level: Varies, found: Sequence[tuple[Setting | None, panels.Array]],
    factor: Factor | None, *, adjusted: bool,
) -> Picture | None:  # fmt: skip
    """Draw a column of units for each session or build; None with fewer than two, or where there is no spread.

    Args:
        found: in the order of time, of each the setting of the factor and the units, what other factors do taken off.
        factor: the one that varies by the level, whose settings are told apart.
        adjusted: the means of treatments were taken off, but for that factor's.
    """
    drawn = list(found[:MOST])
    every = np.concatenate([values for _, values in drawn]) if drawn else np.zeros(0)
    of = m.scale(response, every)
    if len(drawn) < 2 or of is None or float(every.min()) == float(every.max()):
        return None
    listed = m.entries(factor, [s for s in factor.settings if any(own == s for own, _ in drawn)]) if factor else []
    whole = _panel(response, of, every, listed, said(factor.name) if factor else "", len(drawn))
    panel = whole.across(panels.places(whole.x.start, min(whole.slot, 90.0), len(drawn)))
    quota = max(5, _SPOTS // len(drawn))
    for number, (setting, values) in enumerate(drawn):
        look = m.look_of(factor, setting) if factor and setting is not None else panels.PlotStyle(0)
        numbers = of.of(panels.evenly(values, quota))
        panel.marks(look, number + panels.spread_out(numbers.size) * 0.35, numbers)
        panel.beyond(look, number, numbers)
        panel.bar(number, of.one(float(values.mean())), panel.slot * 0.4)
    panel.sheet.row(panel.y.start + 24, [(panel.x.at(k), str(k)) for k in range(len(drawn))], "soft")
    panel.sheet.text(panel.middle, panel.sheet.height - 8, level, "soft", "middle")
    checks = [said(d.check.words).strip() for d in response.dependences if d.level == level]
    count = sum(min(values.size, quota) for _, values in drawn)
    caption = m.words(
        f"Each column is a {level}, in the order of time; each mark is the mean of a start.",
        f"A bar is the mean of the {level}; if nothing depends on the {level}, "
        f"columns{' of one colour' if factor else ''} look alike.",
        adjusted
        and f"What the treatments differ in{f' but for {clip(said(factor.name), 30)}' if factor else ''} is taken off.",
        *(f"{text[:1].upper()}{text[1:].rstrip('.')}." for text in checks),
        count < every.size and f"{count:,} of {every.size:,} units are drawn, evenly chosen.",
        _beyond(panel, of.of(every)),
        len(drawn) < len(found) and f"The first {len(drawn)} of {plural(len(found), level)} are drawn.",
    )
    means = [float(values.mean()) for _, values in drawn]
    described = f"{plural(len(drawn), level)}; means from {of.say(min(means))} to {of.say(max(means))}."
    return panel.sheet.picture(prefix, f"{response.benchmark}, {response.metric}, by {level}", described, caption)


_HEIGHT, _TOP, _BOTTOM = 334, 66, 266
_GAP = 30
_QUARTILE = 0.6744897501960817


def residuals(prefix: str, response: Response, diagnostics: Diagnostics) -> Picture | None:
    """Draw residuals against fitted values and against normal quantiles; None where there are fewer than three."""
    found = diagnostics.residuals
    fits = m.scale(response, np.array([r.fitted for r in found]))
    sizes = np.array([r.residual for r in found])
    of = Amounts(response)
    if len(found) < 3 or fits is None or float(np.abs(sizes).max()) == 0:
        return None
    # on a log scale residuals stay logarithms, or the normal plot would bend
    factor, unit = (1.0, "natural log") if of.log else (of.unit.factor, of.unit.name)
    heights = sizes / factor
    y = panels.span(np.append(heights, 0.0), False)
    middle = (WIDTH + y.room) / 2
    sheet = Sheet(WIDTH, _HEIGHT)
    sheet.text(12, 20, f"residual{m.in_unit(unit, 24)}", "soft other")
    far = max((k for k, r in enumerate(found) if r.cook is not None), key=lambda k: found[k].cook or 0.0, default=None)

    def draw(panel: Panel, xs: panels.Array, title: str) -> None:
        points = panel.points(xs, heights)
        panels.PlotStyle(0).marks(sheet, points, "middle" if len(points) <= 60 else "small")
        panels.PlotStyle(1).marks(sheet, [] if far is None else [points[far]], "large")
        sheet.text(panel.middle, _TOP - 14, title, "strong", "middle")

    numbers = fits.of(np.array([r.fitted for r in found]))
    ends = panels.whole(numbers)
    left = Panel.on(sheet, Axis(*ends, y.room, middle - _GAP / 2), y, _TOP, _BOTTOM - _TOP)
    left.level("zero", 0)
    draw(left, numbers, "residual and fitted")
    left.ruler(
        panels.marks_between(*ends, 5, log=fits.log), f"fitted value{m.in_unit(fits.measure.unit, 12)}",
        classes="soft other",
    )  # fmt: skip

    quantiles = np.array([r.quantile for r in found])
    reach = 1.07 * float(np.abs(quantiles).max()) or 1.0
    x = Axis(-reach, reach, middle + _GAP / 2, WIDTH - 14)
    right = Panel.on(sheet, x, y, _TOP, _BOTTOM - _TOP, labels=False)
    # the line through the quartiles, where normal residuals would lie
    ranked = np.array(sorted((r.quantile, r.residual / factor) for r in found)).T
    if ranked[0, 0] < -_QUARTILE < _QUARTILE < ranked[0, -1]:
        first, third = np.interp([-_QUARTILE, _QUARTILE], *ranked)
        begin, slope = (first + third) / 2, (third - first) / (2 * _QUARTILE)
        low, high = -reach, reach
        if slope > 0:
            low, high = max(low, (y.low - begin) / slope), min(high, (y.high - begin) / slope)
        right.line("zero", [low, high], [begin + slope * low, begin + slope * high])
    draw(right, quantiles, "normal probability")
    right.ruler([t for t in ticks(-reach, reach, 6) if abs(t.at) <= reach], "normal quantile")

    total = max(len(found), response.linear.observations if response.linear else 0)
    cook = "" if diagnostics.largest_cook is None else f" ({diagnostics.largest_cook:.3g})"
    caption = m.words(
        "Left: residuals should scatter evenly around 0 at every fitted value.",
        "Right: normal residuals would lie along the line, which goes through their quartiles.",
        far is not None and f"The triangle is the observation with the largest Cook's distance{cook}.",
        len(found) < total and f"{len(found):,} of {total:,} residuals are drawn, the largest among them.",
    )
    warnings = plural(len(diagnostics.warnings), "warning") if diagnostics.warnings else "no warnings"
    extent = f"from {of.signed(float(sizes.min()))} to {of.signed(float(sizes.max()))}"
    described = f"{plural(total, 'residual')} {extent}{'' if of.log else m.in_unit(unit, 24)}; {warnings}."
    title = f"Residuals of the linear model of {response.benchmark}, {response.metric}"
    return sheet.picture(prefix, title, described, caption)
