"""Effects of every factor over the distribution, in small panels (quantile-regression 2013, Fig. 7)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import zip_longest

import msgspec
import numpy as np

from gate.commands.study.plots import styles as m
from gate.commands.study.plots.styles import WIDTH, Differences, Scale, in_unit, said
from gate.model.study import Effect, QuantileEffects, Response
from gate.plots import panels
from gate.plots.panels import Look, Panel
from gate.plots.picture import Picture, Sheet
from gate.plots.scales import Axis, Tick
from gate.units import agree, format_confidence, plural
from gate.words.effects import alias_sets, named_short
from gate.words.reports import level_name
from gate.writing.plain import clip

_COLUMNS = 3
_HEAD, _TITLE, _PLOT, _BELOW, _FOOT = 34, 38, 128, 34, 30
MOST = 12
"""Panels at most, the intercept among them."""
_ALIKE = 4.0
"""Panels share one scale unless the largest is so many times as high as the smallest."""
_WIDEST = 1.5
"""So many times the height of its curves a band may add to a panel at either end."""
_LOOK, _IID = Look(0), Look(1)
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
    of = m.differences(response, np.array([e for at, e in estimates if at]))
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
    if not chosen or of is None:
        return None
    curves = [*intercept, *chosen]
    pitch, width = _TITLE + _PLOT + _BELOW, (WIDTH - 8) / _COLUMNS
    sheet = Sheet(WIDTH, _HEAD + math.ceil(len(curves) / _COLUMNS) * pitch + _FOOT, phone=False)
    sheet.text(12, 22, f"effect on {clip(said(response.metric), 30)}{in_unit(of.unit, 12)}", "soft other")
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
    told = "%" if of.percent else f" {said(of.unit)}" if of.unit else ""
    described = []
    for curve in chosen[:6]:
        both = (f"{curve.values[k]:.3g}{told} at {curve.taus[k]:.3g}" for k in (0, -1))
        described.append(f"{clip(curve.title, 60)}: {', '.join(both)}")
    caption = _caption(response, effects, confidence, chosen, len(every) - len(chosen), alike=alike)
    return sheet.picture(prefix, title, "; ".join(described) + ".", caption)


def _curve(
    row: Sequence[tuple[float, Effect, Effect | None, bool]], response: Response, of: Scale | Differences
) -> _Curve:
    def ends(effect: Effect | None) -> Ends:
        if effect is None or effect.low is None or effect.high is None:
            return None
        low, high = of.one(effect.low), of.one(effect.high)
        return (low, high) if math.isfinite(low) and math.isfinite(high) else None

    first = row[0][1]
    term, title, single = "", "", True
    if isinstance(of, Scale):
        title = f"intercept{in_unit(of.measure.unit, 12)}"
    else:
        sizes = {name: len(factor.settings) for name, factor in m.factors_by_name(response).items()}
        names = [said(n) if sizes.get(n) == 2 else f"{said(n)}={said(s)}" for n, s in first.settings.items()]
        aliases = [said(name).replace(":", " × ") for name in alias_sets(response).get(first.term, ())]
        term, title, single = first.term, named_short(" × ".join(names), aliases), len(first.settings) == 1
    return _Curve(
        term, title, single, [tau for tau, *_ in row], [of.one(e.estimate) for _, e, _, _ in row],
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
