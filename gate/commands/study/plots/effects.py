"""Effects of every factor over the distribution, in small panels (quantile-regression 2013, Fig. 7)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import zip_longest

import msgspec
import numpy as np

from gate.commands.study.plots import marks as m
from gate.commands.study.plots.marks import Differences, Look, Scale, Vertical, factors_by_name, in_unit, said
from gate.model.study import Effect, QuantileEffects, Response
from gate.plots.axes import grid, tick_room
from gate.plots.picture import Picture, Sheet
from gate.plots.scales import Axis
from gate.units import agree, format_confidence, plural
from gate.words.effects import alias_sets, named_short
from gate.words.reports import level_name
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


class _At(msgspec.Struct, frozen=True):
    """An effect at one quantile, in numbers of the panel; ends None: no interval. iid: those of the paper's."""

    tau: float
    value: float
    ends: tuple[float, float] | None
    iid: tuple[float, float] | None
    enough: bool


class _Panel(msgspec.Struct, frozen=True):
    """An effect, or the intercept, over the quantiles."""

    term: str
    title: str
    single: bool
    points: list[_At]

    @property
    def size(self) -> float:
        """The largest effect."""
        return max(abs(p.value) for p in self.points)

    def extent(self, *, zero: bool) -> tuple[float, float]:
        """Return the ends that it wants: its curve, and its band unless that is much higher."""
        values = [p.value for p in self.points] + ([0.0] if zero else [])
        low, high = min(values), max(values)
        reach = _WIDEST * (high - low) if high > low else math.inf
        ends = [e for p in self.points for e in (*(p.ends or ()), *(p.iid or ()))]
        return max(min([low, *ends]), low - reach), min(max([high, *ends]), high + reach)


def quantile_effects(prefix: str, response: Response, effects: QuantileEffects, confidence: float) -> Picture | None:
    """Draw the intercept and the effect of each term at every quantile, at most 12 panels; None: nothing to draw.

    Main effects come first, then interactions, the largest first; a term of factors with more than two settings has a
    panel for each effect.
    """
    rows: dict[str, list[tuple[float, Effect, Effect | None, bool]]] = {}
    for model in sorted(effects.models, key=lambda own: own.tau):
        for effect, twin in zip_longest(model.effects, model.iid or ()):
            key = repr((effect.term if effect.settings else "", list(effect.settings.items())))
            rows.setdefault(key, []).append((model.tau, effect, twin, model.enough))
    estimates = [(bool(e.settings), e.estimate) for row in rows.values() for _, e, _, _ in row]
    of = m.differences(response, np.array([e for at, e in estimates if at]))
    absolute = m.scale(response, np.array([e for at, e in estimates if not at]))
    found = [_panel(row, response, of if row[0][1].settings else absolute) for row in rows.values()]
    known = [panel for panel in found if panel is not None]
    intercept, every = [p for p in known if not p.term], [p for p in known if p.term]
    chosen = _chosen(every, MOST - len(intercept))
    if not chosen or of is None:
        return None
    panels = [*intercept, *chosen]
    sheet = Sheet(_WIDTH, _HEAD + math.ceil(len(panels) / _COLUMNS) * _ROW + _FOOT)
    unit, metric = in_unit(of.unit, 12), said(response.metric)
    wide, narrow = (f"effect on {clip(metric, width)}{unit}" for width in (30, 16))
    m.both(sheet, 12, 22, wide, narrow)
    extents = [p.extent(zero=True) for p in chosen]
    heights = [high - low for low, high in extents]
    alike = min(heights) * _ALIKE >= max(heights)
    shared = _axis([end for extent in extents for end in extent], log=False) if alike else None
    for index, panel in enumerate(panels):
        log = not panel.term and absolute is not None and absolute.measure.log
        own = shared if panel.term else None
        _draw(sheet, panel, index, own or _axis(panel.extent(zero=bool(panel.term)), log=log))
    sheet.text(_WIDTH / 2, sheet.height - 8, "quantile of the values, %", "soft", "middle")
    caption = _caption(response, effects, confidence, chosen, len(every) - len(chosen), alike=alike)
    title = f"Effects over the quantiles of {response.benchmark}, {response.metric}"
    told = "%" if of.percent else f" {said(of.unit)}" if of.unit else ""
    described = []
    for panel in chosen[:6]:
        ends = (f"{p.value:.3g}{told} at {p.tau:.3g}" for p in (panel.points[0], panel.points[-1]))
        described.append(f"{clip(panel.title, 60)}: {', '.join(ends)}")
    return sheet.picture(prefix, title, "; ".join(described) + ".", caption)


def _panel(
    row: Sequence[tuple[float, Effect, Effect | None, bool]], response: Response, of: Scale | Differences | None
) -> _Panel | None:
    if of is None:
        return None
    number = of.one if isinstance(of, Scale) else of.of

    def ends(effect: Effect | None) -> tuple[float, float] | None:
        if effect is None or effect.low is None or effect.high is None:
            return None
        low, high = number(effect.low), number(effect.high)
        return (low, high) if math.isfinite(low) and math.isfinite(high) else None

    points = [_At(tau, number(e.estimate), ends(e), ends(twin), enough) for tau, e, twin, enough in row]
    first = row[0][1]
    if isinstance(of, Scale):
        return _Panel("", f"intercept{in_unit(of.measure.unit, 12)}", True, points)
    sizes = {name: len(factor.settings) for name, factor in factors_by_name(response).items()}
    names = [said(n) if sizes.get(n) == 2 else f"{said(n)}={said(s)}" for n, s in first.settings.items()]
    aliases = [said(name).replace(":", " × ") for name in alias_sets(response).get(first.term, ())]
    return _Panel(first.term, named_short(" × ".join(names), aliases), len(first.settings) == 1, points)


def _chosen(panels: Sequence[_Panel], most: int) -> list[_Panel]:
    """Keep the largest effect of each term, main effects first, then the largest of the rest; mains stay in order."""
    ranked = sorted(panels, key=lambda p: (not p.single, -p.size))
    first = {panel.term: panel for panel in reversed(ranked)}.values()
    order = sorted(ranked, key=lambda p: (p not in first, not p.single if p in first else False, -p.size))
    kept = order[:most]
    more = sorted((p for p in panels if p in kept and not p.single), key=lambda p: -p.size)
    return [*(p for p in panels if p in kept and p.single), *more]


def _axis(ends: Sequence[float], *, log: bool) -> Vertical:
    return m.vertical(np.array(ends), log, 0, _PLOT, count=4)


def _draw(sheet: Sheet, panel: _Panel, index: int, y: Vertical) -> None:
    width = (_WIDTH - 8) / _COLUMNS
    left = 8 + width * (index % _COLUMNS)
    top = _HEAD + _ROW * (index // _COLUMNS) + _TITLE
    placed = y.moved(top, _PLOT)
    x = Axis(0, 1, left + tick_room(y.ticks), left + width - 22)
    m.write(sheet, left + 4, top - 17, panel.title, width - 18, "strong other", "start")
    grid(sheet, placed.axis, placed.ticks, x.start, x.end)
    if panel.term:
        sheet.lines("zero", [[(x.start, placed.axis.at(0)), (x.end, placed.axis.at(0))]])
    run: list[tuple[float, float, float]] = []
    for p in [*panel.points, None]:
        if p is not None and p.ends is not None:
            run.append((x.at(p.tau), placed.axis.at(p.ends[0]), placed.axis.at(p.ends[1])))
            continue
        if len(run) == 1:
            # one point has no width: its interval is a line
            sheet.lines(f"wing-{_LOOK.colour}", [[(at, end) for end in ends] for at, *ends in run])
        elif run:
            outline = [*((at, high) for at, _, high in run), *((at, low) for at, low, _ in reversed(run))]
            sheet.lines(f"area-{_LOOK.colour}", [outline], closed=True)
        run = []
    known = [(x.at(p.tau), p.iid) for p in panel.points if p.iid is not None]
    if known:
        sheet.lines(
            f"hair-{_IID.colour}", [[(at, placed.axis.at(ends[side])) for at, ends in known] for side in (0, 1)]
        )
    line = [(x.at(p.tau), placed.axis.at(p.value)) for p in panel.points]
    sheet.lines(f"line-{_LOOK.colour}", [line])
    _LOOK.marks(sheet, [at for at, p in zip(line, panel.points, strict=True) if p.enough])
    _LOOK.hollow(sheet, [at for at, p in zip(line, panel.points, strict=True) if not p.enough], "middle")
    sheet.row(top + _PLOT + 20, [(x.at(share / 100), f"{share}") for share in (0, 25, 50, 75, 100)], "soft")


def _caption(
    response: Response, effects: QuantileEffects, confidence: float, chosen: Sequence[_Panel], left_out: int, *,
    alike: bool,
) -> str:  # fmt: skip
    points = [p for panel in chosen for p in panel.points]
    words = ["What each factor adds to each quantile of all values, from the smallest on the left to the largest."]
    two = [f for f in response.factors if len(f.settings) == 2]
    if two:
        pairs = ", ".join(
            f"{clip(said(f.name), 20)}: {clip(said(f.settings[0]), 16)} → {clip(said(f.settings[1]), 16)}"
            for f in two[:4]
        )
        words.append(f"With two settings an effect is half the change from the first to the second ({pairs}).")
    if len(two) < len(response.factors):
        words.append("With more settings it is the distance of a setting from the mean over the settings.")
    percent = ", in percent" if response.scale == "log" else ""
    words.append(f"Below 0 a quantile becomes smaller{percent}; {response.better} is better.")
    words.append(
        f"The band is pointwise, {format_confidence(confidence)}, with values dependent within "
        f"a {level_name(effects.cluster)} ({effects.clusters:,} of them)."
    )
    if any(p.iid for p in points):
        words.append("Dashed lines are the interval that treats all values as independent: it is too narrow.")
    if any(p.ends is None for p in points):
        words.append("Where there is no band there is no interval.")
    if not all(p.enough for p in points):
        words.append("Hollow: some treatment has fewer than 10 values beyond that quantile.")
    words.append(
        "All effects have one scale; the intercept has its own."
        if alike
        else "Each panel has a scale of its own: compare the numbers, not the heights."
    )
    words.append("Where a band reaches the edge, it continues beyond it.")
    if left_out:
        words.append(
            f"{plural(left_out, 'smaller effect')} {agree(left_out, 'is', 'are')} left out; "
            "the largest of each term go first, and the table has all."
        )
    return " ".join(words)
