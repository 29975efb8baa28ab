"""Effects of every factor over the distribution, in small panels, and contrasts that were measured once by their size.

The panels are quantile-regression 2013, Fig. 7. In the half-normal plot (Daniel 1959) noise lies along a line, and what
acts is above it at the right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import zip_longest

import msgspec
import numpy as np

from gate.commands.study.changes import alias_sets, named, named_short
from gate.commands.study.plots import styles as m
from gate.commands.study.plots.styles import WIDTH, AxisScale, in_unit, letters_in, said
from gate.commands.study.words import Amounts
from gate.model.study import Effect, QuantileEffects, Response
from gate.plots import panels
from gate.plots.panels import Panel, PlotStyle, tick_room
from gate.plots.picture import LETTERS, Picture, Sheet, room
from gate.plots.scales import Axis, Tick, minus, ticks
from gate.stats.special import ndtri
from gate.words.reports import level_name
from gate.writing.amounts import format_number
from gate.writing.plain import clip
from gate.writing.units import agree, format_confidence, plural

_COLUMNS = 3
_HEAD, _TITLE, _PLOT, _BELOW, _FOOT = 34, 38, 128, 34, 30
MOST = 12
"""Panels at most, the intercept among them."""
_ALIKE = 4.0
"""Panels share one scale unless the largest is so many times as high as the smallest."""
_WIDEST = 1.5
"""So many times the height of its curves a band may add to a panel at either end."""
_LOOK, _IID = PlotStyle(0), PlotStyle(1)
Ends = tuple[float, float] | None


class _Curve(msgspec.Struct, frozen=True):
    """An effect, or the intercept, over the quantiles, in numbers of its panel."""

    term: str
    title: str
    single: bool
    taus: list[float]
    values: list[float]
    ends: list[Ends]
    """Intervals."""
    iid: list[Ends]
    """Those of the paper."""
    enough: list[bool]

    @property
    def size(self) -> float:
        """The largest effect."""
        return max(map(abs, self.values))

    @property
    def extent(self) -> tuple[float, float]:
        """The ends that it wants: its curve, of an effect with 0, and its band unless that is much higher."""
        values = [*self.values, *([0.0] if self.term else [])]
        low, high = min(values), max(values)
        reach = _WIDEST * (high - low) if high > low else math.inf
        ends = [end for own in (*self.ends, *self.iid) for end in own or ()]
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
    of = Amounts(response)
    absolute = m.scale(response, np.array([e for at, e in estimates if not at]))
    known = [
        _curve(row, response, own) for row in rows.values() if (own := of if row[0][1].settings else absolute)
    ]  # fmt: skip
    intercept, every = [c for c in known if not c.term], [c for c in known if c.term]
    # the largest effect of each term, main effects first, then the largest of the rest; main effects stay in order
    ranked = sorted(every, key=lambda c: (not c.single, -c.size))
    first = {curve.term: curve for curve in reversed(ranked)}
    order = sorted(ranked, key=lambda c: (c is not first[c.term], not c.single and c is first[c.term], -c.size))
    kept = order[: MOST - len(intercept)]
    chosen = [c for c in every if c in kept and c.single]
    chosen += sorted((c for c in every if c in kept and not c.single), key=lambda c: -c.size)
    if not chosen:
        return None
    curves = [*intercept, *chosen]
    pitch, width = _TITLE + _PLOT + _BELOW, (WIDTH - 8) / _COLUMNS
    sheet = Sheet(WIDTH, _HEAD + math.ceil(len(curves) / _COLUMNS) * pitch + _FOOT)
    sheet.text(12, 22, f"effect on {clip(said(response.metric), 30)}{in_unit(of.sign, 12)}", "soft other")
    extents = [c.extent for c in chosen]
    heights = [high - low for low, high in extents]
    alike = min(heights) * _ALIKE >= max(heights)
    for index, curve in enumerate(curves):
        log = not curve.term and absolute is not None and absolute.log
        ends = [end for own in (extents if alike and curve.term else [curve.extent]) for end in own]
        y = panels.span(np.array(ends), log, count=4)
        left, top = 8 + width * (index % _COLUMNS), _HEAD + pitch * (index // _COLUMNS) + _TITLE
        m.write(sheet, left + 4, top - 17, curve.title, width - 18, "strong other", "start")
        panel = Panel.on(sheet, Axis(0, 1, left + y.room, left + width - 22), y, top, _PLOT)
        if curve.term:
            panel.level("zero", 0)
        panel.band(f"area-{_LOOK.colour}", f"wing-{_LOOK.colour}", curve.taus, curve.ends)
        known_ends = [(tau, own) for tau, own in zip(curve.taus, curve.iid, strict=True) if own is not None]
        for side in (0, 1) if known_ends else ():
            panel.line(f"hair-{_IID.colour}", [tau for tau, _ in known_ends], [own[side] for _, own in known_ends])
        panel.line(f"line-{_LOOK.colour}", curve.taus, curve.values)
        points = panel.points(curve.taus, curve.values)
        _LOOK.marks(sheet, [at for at, enough in zip(points, curve.enough, strict=True) if enough])
        _LOOK.hollow(sheet, [at for at, enough in zip(points, curve.enough, strict=True) if not enough], "middle")
        panel.ruler([Tick(share / 100, f"{share}") for share in (0, 25, 50, 75, 100)], below=20)
    sheet.text(WIDTH / 2, sheet.height - 8, "quantile of the values, %", "soft", "middle")
    title = f"Effects over the quantiles of {response.benchmark}, {response.metric}"
    told = "%" if of.log else f" {said(of.sign)}".rstrip()
    described = []
    for curve in chosen[:6]:
        both = (f"{curve.values[k]:.3g}{told} at {curve.taus[k]:.3g}" for k in (0, -1))
        described.append(f"{clip(curve.title, 60)}: {', '.join(both)}")
    caption = _caption(response, effects, confidence, chosen, len(every) - len(chosen), alike=alike)
    return sheet.picture(prefix, title, "; ".join(described) + ".", caption)


def _curve(
    row: Sequence[tuple[float, Effect, Effect | None, bool]], response: Response, of: AxisScale | Amounts
) -> _Curve:
    number = of.one if isinstance(of, AxisScale) else of.number

    def ends(effect: Effect | None) -> Ends:
        if effect is None or effect.low is None or effect.high is None:
            return None
        low, high = number(effect.low), number(effect.high)
        return (low, high) if math.isfinite(low) and math.isfinite(high) else None

    first = row[0][1]
    term, title, single = "", "", True
    if isinstance(of, AxisScale):
        title = f"intercept{in_unit(of.measure.unit, 12)}"
    else:
        sizes = {name: len(factor.settings) for name, factor in m.factors_by_name(response).items()}
        names = [said(n) if sizes.get(n) == 2 else f"{said(n)}={said(s)}" for n, s in first.settings.items()]
        aliases = [said(name).replace(":", " × ") for name in alias_sets(response).get(first.term, ())]
        term, title, single = first.term, named_short(" × ".join(names), aliases), len(first.settings) == 1
    return _Curve(
        term, title, single, [tau for tau, *_ in row], [number(e.estimate) for _, e, _, _ in row],
        [ends(e) for _, e, _, _ in row], [ends(twin) for *_, twin, _ in row], [enough for *_, enough in row],
    )  # fmt: skip


def _caption(
    response: Response, effects: QuantileEffects, confidence: float, chosen: Sequence[_Curve], left_out: int, *,
    alike: bool,
) -> str:  # fmt: skip
    two = [f for f in response.factors if len(f.settings) == 2]
    pairs = ", ".join(
        f"{clip(said(f.name), 20)}: {clip(said(f.settings[0]), 16)} → {clip(said(f.settings[1]), 16)}" for f in two[:4]
    )
    percent = ", in percent" if response.scale == "log" else ""
    return m.words(
        "What each factor adds to each quantile of all values, from the smallest on the left to the largest.",
        pairs and f"With two settings an effect is half the change from the first to the second ({pairs}).",
        len(two) < len(response.factors)
        and "With more settings it is the distance of a setting from the mean over the settings.",
        f"Below 0 a quantile becomes smaller{percent}; {response.better} is better.",
        f"The band is pointwise, {format_confidence(confidence)}, with values dependent within "
        f"a {level_name(effects.cluster)} ({effects.clusters:,} of them).",
        any(any(curve.iid) for curve in chosen)
        and "Dashed lines are the interval that treats all values as independent: it is too narrow.",
        not all(all(curve.ends) for curve in chosen) and "Where there is no band there is no interval.",
        not all(all(curve.enough) for curve in chosen)
        and "Hollow: some treatment has fewer than 10 values beyond that quantile.",
        "All effects have one scale; the intercept has its own."
        if alike
        else "Each panel has a scale of its own: compare the numbers, not the heights.",
        "Where a band reaches the edge, it continues beyond it.",
        left_out > 0
        and f"{plural(left_out, 'smaller effect')} {agree(left_out, 'is', 'are')} left out; "
        "the largest of each term go first, and the table has all.",
    )


# --- contrasts of unreplicated designs --------------------------------------------------------------------------------

_REACH = 2.5
"""A limit beyond so many times the largest size is said, not drawn."""


class _Size(msgspec.Struct, frozen=True):
    """One contrast: its size in the unit of the axis, and how many of the two limits it is beyond."""

    term: str
    name: str
    """With how many others it cannot be told from, or with the one."""
    full: str
    """The same with all that it cannot be told from."""
    number: float
    beyond: int

    def fitted(self, space: float) -> str:
        """Return its name as long as there is room for it; a star stands for others that do not fit."""
        star = "*" if self.name != self.term else ""
        cut = f"{clip(self.term, max(1, letters_in(space) - len(star)))}{star}"
        return next((text for text in (self.full, self.name) if room(text, LETTERS) <= space), cut)


class _Contrasts(msgspec.Struct, frozen=True):
    """All that is drawn."""

    sizes: Sequence[_Size]
    """The largest first."""
    limits: Sequence[tuple[str, float]]
    """Their names and numbers: that of one contrast, and that of all at once."""
    noise: float
    """The slope of the line in a half-normal plot along which noise lies."""
    unit: str

    @property
    def end(self) -> float:
        """Return the end of an axis that begins at 0 and holds the limits unless they are far away."""
        largest = self.sizes[0].number
        return 1.06 * max([largest, *(at for _, at in self.limits if at <= _REACH * largest)])

    @property
    def drawn_limits(self) -> list[tuple[str, float]]:
        """The limits within the axis."""
        return [(name, at) for name, at in self.limits if at <= self.end]

    def say(self, number: float) -> str:
        """Write a size with its unit."""
        return f"{format_number(number, 3)}{'' if self.unit == '%' else ' '}{said(self.unit)}".rstrip()

    def picture(self, sheet: Sheet, prefix: str, kind: str, response: Response, before: str, after: str) -> Picture:
        """Finish a picture; before and after: of its caption, around what the limits are."""
        beyond = sum(own.beyond > 1 for own in self.sizes)
        largest = ", ".join(f"{clip(own.name, 30)} {self.say(own.number)}" for own in self.sizes[:6])
        described = (
            f"{plural(len(self.sizes), 'contrast')}, the largest {largest}; "
            f"{beyond} {agree(beyond, 'is', 'are')} beyond the limit of all at once."
        )
        limits = " and ".join(f"{name} is {self.say(at)}" for name, at in self.limits)
        far = [name for name, at in self.limits if at > self.end]
        away = f" ({' and '.join(far)} beyond the picture)" if far else ""
        caption = m.words(
            before,
            f"{limits}{away}.",
            any(own.name != own.term for own in self.sizes)
            and "Others that a contrast cannot be told from are named, or a star stands for them.",
            after,
        )
        title = f"{kind} of the contrasts of {response.benchmark}, {response.metric}"
        return sheet.picture(prefix, title, described, caption)


def _contrasts(response: Response, *, logs: bool = False) -> _Contrasts | None:
    """Bring Lenth's contrasts into numbers; None where there are none, or all are 0.

    Args:
        logs: leave contrasts of logarithms as they are, where they would become percent.
    """
    found = response.lenth
    if found is None or not any(c.estimate for c in found.contrasts):
        return None
    of = Amounts(response)
    plain = of.log and logs
    number = float if plain else of.number
    return _Contrasts(
        sizes=[
            _Size(
                term=said(c.term),
                name=said(named_short(c.term, c.aliases)),
                full=said(named(c.term, c.aliases)),
                number=number(abs(c.estimate)),
                beyond=c.possible + c.active,
            )
            for c in found.contrasts
        ],
        limits=[("ME", number(found.me)), ("SME", number(found.sme))],
        noise=number(found.pse),
        unit="natural log" if plain else of.sign,
    )


MOST_CONTRASTS = 30
"""Bars at most."""
_RIGHT = 706
_OVER, _ROW, _UNDER = 66, 27, 64
_NAMES_ROOM = 250.0
_KINDS = ("shell", "box-s0", "pip-s0")
"""How bars within the limits, beyond one of them and beyond both are drawn."""


def pareto(prefix: str, response: Response) -> Picture | None:
    """Draw the sizes of contrasts, at most 30 of them; None where there are none or all are 0."""
    found = _contrasts(response)
    if found is None:
        return None
    drawn = found.sizes[:MOST_CONTRASTS]
    left = 20 + min(max(room(own.full, LETTERS) for own in drawn), _NAMES_ROOM)
    bottom = _OVER + _ROW * len(drawn)
    sheet = Sheet(WIDTH, bottom + _UNDER)
    x = Axis(0, found.end, left, _RIGHT)
    marks = ticks(0, found.end, 6)
    sheet.lines("grid", [[(x.at(t.at), _OVER), (x.at(t.at), bottom)] for t in marks])
    sheet.row(bottom + 24, [(x.at(t.at), minus(t.label)) for t in marks], "soft")
    for k, own in enumerate(drawn):
        top, end = _OVER + _ROW * k + 4.5, x.at(own.number)
        corners = [(left, top), (end, top), (end, top + _ROW - 9), (left, top + _ROW - 9)]
        sheet.lines(_KINDS[own.beyond], [corners], closed=True)
        sheet.text(left - 8, top + _ROW / 2 - 4.5, own.fitted(left - 14), "other middle", "end", full=own.full)
    sheet.lines("axis", [[(left, _OVER), (left, bottom)]])
    for row, (name, number) in enumerate(found.drawn_limits):
        # the name of the first at its left, that of the second at its right, at the edge above its line
        top, at = 22 + 28 * row, x.at(number)
        sheet.lines("limit", [[(at, top + 6 if row else top - 10), (at, bottom)]])
        text = f"{name} {clip(found.say(number), 16)}"
        wide = room(text, LETTERS)
        place = min(at + 5, WIDTH - wide - 4) if row else max(at - 5, wide + 4)
        sheet.text(place, top, text, "other", "start" if row else "end")
    axis = f"size of the contrast{in_unit(found.unit, 24)}"
    sheet.text((left + _RIGHT) / 2, sheet.height - 10, axis, "soft other", "middle")
    left_out = len(found.sizes) - len(drawn)
    more = f"{plural(left_out, 'smaller contrast')} left out; the table has all." if left_out else ""
    filled = "Filled: beyond SME; outlined: beyond ME only; grey: no more than noise."
    return found.picture(sheet, prefix, "Pareto picture", response, filled, more)


_TOP, _TALL = 40, 292
_MARGIN = 92
"""For the names of the limits, at the right."""
_MOST = 12
"""Points that are named, the largest first."""
_MANY = 60
_TIP = 16
"""From a point to its name."""
_GAP = 16.0
_QUIET, _LOUD = PlotStyle(0), PlotStyle(1)


def half_normal(prefix: str, response: Response) -> Picture | None:
    """Draw the sizes of contrasts against half-normal quantiles; None where there are none or all are 0."""
    found = _contrasts(response, logs=True)
    if found is None:
        return None
    count = len(found.sizes)
    quantiles = ndtri(0.5 + (count - np.arange(count) - 0.5) / (2 * count))
    y = panels.Span(0, found.end, ticks(0, found.end, 6))
    x = Axis(0, 1.06 * float(quantiles[0]), tick_room(y.ticks), WIDTH - _MARGIN)
    sheet = Sheet(WIDTH, _TOP + _TALL + 68)
    sheet.text(12, 20, f"size of the contrast{in_unit(found.unit, 24)}", "soft other")
    panel = Panel.on(sheet, x, y, _TOP, _TALL)
    panel.ruler(ticks(0, x.high, 6), "half-normal quantile")
    if found.noise > 0:
        end = min(x.high, found.end / found.noise)
        panel.line("zero", [0, end], [0, found.noise * end])
    limits = found.drawn_limits
    panel.level("limit", *(number for _, number in limits))
    heights = [panel.y.at(number) for _, number in limits]
    for (name, _), at, place in zip(limits, heights, m.apart(heights, _GAP, _TOP, panel.y.start), strict=True):
        sheet.lines("grid", [[(x.end, at), (x.end + 5, place)]])
        sheet.text(x.end + 7, place, name, "other middle")
    points = list(zip(panel.points(quantiles, [own.number for own in found.sizes]), found.sizes, strict=True))
    loud = [each for each in points if each[1].beyond]
    _QUIET.marks(sheet, [at for at, own in points if not own.beyond], "middle" if count <= _MANY else "small")
    # names stand at the left of points, where no larger ones are; those with too little room there at their right
    shown = loud[:_MOST]
    beside = sum(room(own.name, LETTERS) <= px - _TIP - 8 - x.start for (px, _), own in shown)
    places = m.apart([at[1] for at, _ in shown], _GAP, _TOP, panel.y.start - 10)
    for k, (((px, py), own), place) in enumerate(zip(shown, places, strict=True)):
        side = -1 if k < beside else 1
        tip = px + side * _TIP
        sheet.lines("grid", [[(px, py), (tip, place)]])
        text = own.fitted(tip - 4 - x.start if k < beside else x.end - tip - 4)
        sheet.text(tip + 3 * side, place, text, "other middle", "end" if k < beside else "start", full=own.full)
    _LOUD.marks(sheet, [at for at, _ in loud], "large")
    without = len(loud) - _MOST
    more = f"{plural(without, 'smaller one')} of these without a name; the table has all." if without > 0 else ""
    noise = "Noise alone would lie along the line; contrasts far above it act. Triangles, with names, are beyond ME."
    return found.picture(sheet, prefix, "Half-normal plot", response, noise, more)
