"""Effects of every factor over the distribution, in small panels (quantile-regression 2013, Fig. 7)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gate.commands.study.plots.marks import (
    Differences,
    Look,
    Scale,
    Vertical,
    differences,
    factors_by_name,
    said,
    scale,
    vertical,
    write,
)
from gate.model.study import Effect, Factor, QuantileEffects, Response
from gate.plots.axes import grid, tick_room
from gate.plots.picture import Picture, Point, Sheet
from gate.plots.scales import Axis
from gate.units import agree, format_confidence, plural
from gate.words.effects import alias_sets, named_short
from gate.writing.plain import clip

_WIDTH = 720
_COLUMNS = 3
_HEAD = 34
_TITLE, _PLOT, _BELOW = 38, 128, 34
_ROW = _TITLE + _PLOT + _BELOW
_FOOT = 30
MOST = 12
"""Panels at most, the intercept among them."""
_ALIKE = 4.0
"""Panels share one scale unless the largest is so many times as high as the smallest."""
_WIDEST = 1.5
"""So many times the height of its curves a band may add to a panel at either end."""
_LOOK, _IID = Look(0), Look(1)


@dataclass(frozen=True, slots=True)
class _At:
    """An effect at one quantile, in numbers of the panel; ends None: no interval."""

    tau: float
    value: float
    low: float | None
    high: float | None
    iid: tuple[float, float] | None
    """Ends of the paper's interval."""
    enough: bool


@dataclass(frozen=True, slots=True)
class _Panel:
    term: str
    title: str
    points: list[_At]

    @property
    def size(self) -> float:
        return max((abs(p.value) for p in self.points), default=0.0)


@dataclass(frozen=True, slots=True)
class _Chosen:
    intercept: _Panel | None
    effects: list[_Panel]
    left_out: int


def quantile_effects(prefix: str, response: Response, effects: QuantileEffects, confidence: float) -> Picture | None:
    """Draw the intercept and the effect of each term at every quantile, at most 12 panels; None: nothing to draw.

    Main effects come first, then interactions, the largest first; a term of factors with more than two settings has a
    panel for each effect.
    """
    rows = list(_rows(effects))
    sizes = np.array([e.estimate for row in rows if row[0][1].settings for _, e, _, _ in row])
    of = differences(response, sizes) if sizes.size else None
    level = np.array([e.estimate for row in rows if not row[0][1].settings for _, e, _, _ in row])
    absolute = scale(response, level) if level.size else None
    chosen = _choose(rows, response, of, absolute)
    panels = [*([chosen.intercept] if chosen.intercept else []), *chosen.effects]
    if not chosen.effects:
        return None
    lines = math.ceil(len(panels) / _COLUMNS)
    sheet = Sheet(_WIDTH, _HEAD + lines * _ROW + _FOOT)
    unit = of.unit if of else ""
    for layout, width in (("wide", 30), ("narrow", 16)):
        named = f"effect on {clip(said(response.metric), width)}{f', {clip(said(unit), 12)}' if unit else ''}"
        sheet.text(12, 22, named, f"soft other {layout}")
    shared = _shared(chosen.effects)
    for index, panel in enumerate(panels):
        own = None if panel is chosen.intercept else shared
        _draw(sheet, panel, index, own, log=bool(absolute and absolute.measure.log and own is None and index == 0))
    sheet.text(_WIDTH / 2, sheet.height - 8, "quantile of the values, %", "soft", "middle")
    caption = _caption(response, effects, confidence, chosen, shared=shared is not None)
    title = f"Effects over the quantiles of {response.benchmark}, {response.metric}"
    return sheet.picture(prefix, title, _described(chosen.effects, of), caption)


_Row = list[tuple[float, Effect, Effect | None, bool]]


def _rows(effects: QuantileEffects) -> Iterator[_Row]:
    """Collect each effect over the quantiles: (tau, effect, its i.i.d. twin, enough values)."""
    found: dict[str, _Row] = {}
    for model in sorted(effects.models, key=lambda m: m.tau):
        twins = {_key(e): e for e in model.iid or []}
        for effect in model.effects:
            if math.isfinite(effect.estimate):
                row = found.setdefault(_key(effect), [])
                row.append((model.tau, effect, twins.get(_key(effect)), model.enough))
    yield from found.values()


def _key(effect: Effect) -> str:
    return repr((effect.term if effect.settings else "", list(effect.settings.items())))


def _choose(rows: Sequence[_Row], response: Response, of: Differences | None, absolute: Scale | None) -> _Chosen:
    factors, aliases = factors_by_name(response), alias_sets(response)
    intercept: _Panel | None = None
    mains: list[_Panel] = []
    interactions: list[_Panel] = []
    for row in rows:
        settings = row[0][1].settings
        if not settings:
            if absolute is not None:
                unit = f", {clip(said(absolute.measure.unit), 12)}" if absolute.measure.unit else ""
                intercept = _Panel("", f"intercept{unit}", _level(row, absolute))
        elif of is not None:
            panel = _Panel(row[0][1].term, _titled(row[0][1], factors, aliases), _points(row, of))
            (mains if len(settings) == 1 else interactions).append(panel)
    mains_first = [*_first(mains), *_first(interactions)]
    rest = [p for p in [*mains, *interactions] if p not in mains_first]
    ranked = [*mains_first, *sorted(rest, key=lambda p: -p.size)]
    kept = ranked[: MOST - (intercept is not None)]
    more = sorted((p for p in interactions if p in kept), key=lambda p: -p.size)
    return _Chosen(intercept, [*(p for p in mains if p in kept), *more], len(ranked) - len(kept))


def _first(panels: Sequence[_Panel]) -> list[_Panel]:
    """Return the largest effect of each term, the largest first."""
    largest: dict[str, _Panel] = {}
    for panel in panels:
        if panel.term not in largest or panel.size > largest[panel.term].size:
            largest[panel.term] = panel
    return sorted(largest.values(), key=lambda p: -p.size)


def _titled(effect: Effect, factors: dict[str, Factor], aliases: Mapping[str, list[str]]) -> str:
    title = " × ".join(
        said(name) if name in factors and len(factors[name].settings) == 2 else f"{said(name)}={said(setting)}"
        for name, setting in effect.settings.items()
    )
    return named_short(title, [said(name).replace(":", " × ") for name in aliases.get(effect.term, ())])


def _level(row: _Row, absolute: Scale) -> list[_At]:
    return [
        _At(tau, absolute.one(e.estimate), _end(e.low, absolute), _end(e.high, absolute), _both(twin, absolute), enough)
        for tau, e, twin, enough in row
    ]


def _points(row: _Row, of: Differences) -> list[_At]:
    return [
        _At(tau, of.of(e.estimate), _end(e.low, of), _end(e.high, of), _both(twin, of), enough)
        for tau, e, twin, enough in row
    ]


def _end(value: float | None, of: Scale | Differences) -> float | None:
    if value is None or not math.isfinite(value):
        return None
    found = of.one(value) if isinstance(of, Scale) else of.of(value)
    return found if math.isfinite(found) else None


def _both(effect: Effect | None, of: Scale | Differences) -> tuple[float, float] | None:
    if effect is None:
        return None
    low, high = _end(effect.low, of), _end(effect.high, of)
    return None if low is None or high is None else (low, high)


def _extent(panel: _Panel, *, zero: bool) -> tuple[float, float]:
    """Return the ends that a panel wants: its curve, and its band unless that is much higher."""
    values = [p.value for p in panel.points] + ([0.0] if zero else [])
    low, high = min(values), max(values)
    reach = _WIDEST * (high - low)
    ends = [e for p in panel.points for e in (p.low, p.high, *(p.iid or ())) if e is not None]
    if high == low:
        return min([low, *ends]), max([high, *ends])
    return max(min([low, *ends]), low - reach), min(max([high, *ends]), high + reach)


def _shared(panels: Sequence[_Panel]) -> Vertical | None:
    extents = [_extent(p, zero=True) for p in panels]
    heights = [high - low for low, high in extents]
    if min(heights) * _ALIKE < max(heights):
        return None
    return _axis([end for extent in extents for end in extent], log=False)


def _axis(ends: Sequence[float], *, log: bool) -> Vertical:
    return vertical(np.array(ends), log, 0, _PLOT, count=4)


def _draw(sheet: Sheet, panel: _Panel, index: int, shared: Vertical | None, *, log: bool) -> None:
    zero = shared is not None or panel.term != ""
    y = shared or _axis(_extent(panel, zero=zero), log=log)
    width = (_WIDTH - 8) / _COLUMNS
    left = 8 + width * (index % _COLUMNS)
    top = _HEAD + _ROW * (index // _COLUMNS) + _TITLE
    placed = Vertical(y.range, Axis(y.range.low, y.range.high, top + _PLOT, top), y.ticks, y.room)
    start, end = left + tick_room(y.ticks), left + width - 22
    write(sheet, left + 4, top - 17, panel.title, width - 18, "strong other", "start")
    grid(sheet, placed.axis, placed.ticks, start, end)
    x = Axis(0, 1, start, end)
    if zero:
        sheet.lines("zero", [[(start, placed.axis.at(0)), (end, placed.axis.at(0))]])
    _bands(sheet, panel, x, placed.axis)
    line = [(x.at(p.tau), placed.axis.at(p.value)) for p in panel.points]
    sheet.lines(f"line-{_LOOK.colour}", [line])
    _LOOK.marks(sheet, [at for at, p in zip(line, panel.points, strict=True) if p.enough])
    _LOOK.hollow(sheet, [at for at, p in zip(line, panel.points, strict=True) if not p.enough], "middle")
    sheet.row(top + _PLOT + 20, [(x.at(share / 100), f"{share}") for share in (0, 25, 50, 75, 100)], "soft")


def _bands(sheet: Sheet, panel: _Panel, x: Axis, y: Axis) -> None:
    run: list[tuple[float, float, float]] = []
    for p in [*panel.points, None]:
        if p is not None and p.low is not None and p.high is not None:
            run.append((x.at(p.tau), y.at(p.low), y.at(p.high)))
        else:
            _area(sheet, run)
            run = []
    ends = [(x.at(p.tau), p.iid) for p in panel.points if p.iid is not None]
    if ends:
        lower: list[Point] = [(at, y.at(low)) for at, (low, _) in ends]
        upper: list[Point] = [(at, y.at(high)) for at, (_, high) in ends]
        sheet.lines(f"hair-{_IID.colour}", [lower, upper])


def _area(sheet: Sheet, run: Sequence[tuple[float, float, float]]) -> None:
    if len(run) == 1:
        # one point has no width: its interval is a line
        ((at, low, high),) = run
        sheet.lines(f"wing-{_LOOK.colour}", [[(at, low), (at, high)]])
    elif run:
        upper = [(at, high) for at, _, high in run]
        sheet.lines(f"area-{_LOOK.colour}", [[*upper, *((at, low) for at, low, _ in reversed(run))]], closed=True)


def _caption(response: Response, effects: QuantileEffects, confidence: float, chosen: _Chosen, *, shared: bool) -> str:
    points = [p for panel in chosen.effects for p in panel.points]
    words = ["What each factor adds to each quantile of all values, from the smallest on the left to the largest."]
    words += _meaning(response)
    words.append(
        f"The band is pointwise, {format_confidence(confidence)}, with values dependent within "
        f"{'an' if effects.cluster == 'execution' else 'a'} {effects.cluster} ({effects.clusters:,} of them)."
    )
    if any(p.iid for p in points):
        words.append("Dashed lines are the interval that treats all values as independent: it is too narrow.")
    if any(p.low is None or p.high is None for p in points):
        words.append("Where there is no band there is no interval.")
    if not all(p.enough for p in points):
        words.append("Hollow: some treatment has fewer than 10 values beyond that quantile.")
    words.append(
        "All effects have one scale; the intercept has its own."
        if shared
        else "Each panel has a scale of its own: compare the numbers, not the heights."
    )
    words.append("Where a band reaches the edge, it continues beyond it.")
    if chosen.left_out:
        words.append(
            f"{plural(chosen.left_out, 'smaller effect')} {agree(chosen.left_out, 'is', 'are')} left out; "
            "the largest of each term go first, and the table has all."
        )
    return " ".join(words)


def _meaning(response: Response) -> Iterator[str]:
    sizes = {len(f.settings) for f in response.factors}
    said_ = "in percent" if response.scale == "log" else ""
    if 2 in sizes:
        two = [f for f in response.factors if len(f.settings) == 2][:4]
        pairs = ", ".join(
            f"{clip(said(f.name), 20)}: {clip(said(f.settings[0]), 16)} → {clip(said(f.settings[1]), 16)}" for f in two
        )
        yield f"With two settings an effect is half the change from the first to the second ({pairs})."
    if sizes - {2}:
        yield "With more settings it is the distance of a setting from the mean over the settings."
    yield f"Below 0 a quantile becomes smaller{', ' + said_ if said_ else ''}; {response.better} is better."


def _described(panels: Sequence[_Panel], of: Differences | None) -> str:
    unit = "%" if of and of.percent else f" {said(of.unit)}" if of and of.unit else ""
    said_ = []
    for panel in panels[:6]:
        first, last = panel.points[0], panel.points[-1]
        said_.append(
            f"{clip(panel.title, 60)}: {first.value:.3g}{unit} at {first.tau:.3g}, "
            f"{last.value:.3g}{unit} at {last.tau:.3g}"
        )
    return "; ".join(said_) + "."
