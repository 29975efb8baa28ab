"""The quantile-effect curve: how head changes each part of the distribution (quantile-regression 2013, Fig. 7)."""

from __future__ import annotations

import math
from collections.abc import Iterator

from gate.model import Finding, QuantileCurve, QuantileEffect
from gate.plots.picture import Picture, Sheet
from gate.plots.scales import Axis, Tick, minus, ticks
from gate.words import numbers

_WIDTH, _HEIGHT = 640, 298
_LEFT, _RIGHT, _TOP, _BOTTOM = 96, 104, 40, 244
_USUAL = 0.1, 0.99
"""From where to where the curve goes where there are values enough."""
_MEET, _MEET_NARROW = 16, 28
"""Labels of thresholds that stand closer than this would meet; on a phone they are larger."""


def effects(curve: QuantileCurve, finding: Finding, prefix: str) -> Picture | None:
    """Draw the change of each quantile with its band, and the thresholds; None where there is no point to draw."""
    points = [e for e in curve.effects if math.isfinite(e.ratio) and 0 <= e.tau <= 1]
    if not points:
        return None
    sheet = Sheet(_WIDTH, _HEIGHT)
    x = Axis(0, 1, _LEFT, _WIDTH - _RIGHT)
    y = _vertical(points, finding.threshold)
    marks = ticks(y.low * 100, y.high * 100, 6)
    sheet.lines("grid", [[(x.start, y.at(t.at / 100)), (x.end, y.at(t.at / 100))] for t in marks])
    for tick in marks:
        sheet.text(x.start - 8, y.at(tick.at / 100), _signed(tick), "soft middle", "end")
    sheet.row(_BOTTOM + 22, [(x.at(share / 100), f"{share}") for share in range(0, 101, 10)], "soft")
    sheet.text((x.start + x.end) / 2, _HEIGHT - 8, "quantile of the values, %", "soft", "middle")
    sheet.text(12, 20, "change of head, %", "soft")
    up, down = ("worse", "better") if finding.better == "lower" else ("better", "worse")
    sheet.text(_WIDTH - 14, 20, f"↑ {up}   ↓ {down}", "soft", "end")
    sheet.lines("zero", [[(x.start, y.at(0)), (x.end, y.at(0))]])
    edges = _thresholds(finding)
    sheet.lines("limit", [[(x.start, y.at(edge)), (x.end, y.at(edge))] for edge in edges])
    apart = y.at(edges[1]) - y.at(edges[0])
    for edge, layout in zip(edges, ("", "" if apart > _MEET_NARROW else " wide"), strict=True):
        if edge > 0 or apart > _MEET:
            sheet.text(x.end + 6, y.at(edge), _percent(edge), f"soft middle{layout}")
    if apart > 2 * _MEET:
        sheet.text(x.end + 6, y.at(0), "no change", "soft middle wide")
    _curve(sheet, x, y, points)
    missing = sum(_band(e) is None for e in points)
    several = finding.base.counts.session > 1
    caption = "All sessions are in one curve: a slow machine has the values on the right." if several else ""
    caption += _few(points)
    if missing:
        caption += f" {missing} of {len(points)} points have no band: too few values or builds there."
    if any(_outside(y, e) for e in points):
        caption += " Where the band reaches the edge, it continues beyond it."
    title = f"Quantile effects of {finding.benchmark}, {finding.metric}"
    return sheet.picture(prefix, title, _described(points), caption, list(_reading(finding)))


def _reading(finding: Finding) -> Iterator[str]:
    ends = ("fastest", "slowest") if finding.unit == "s" else ("smallest", "largest")
    yield f"The change of each quantile of all values, from the {ends[0]} on the left to the {ends[1]} on the right."
    yield "A level curve: everything changed alike. One that rises to the right: the tail became slower."
    level = "session" if finding.base.counts.session > 1 else "build"
    yield f"The band is pointwise, 95%, clustered by {level}, without correction; the curve decides nothing."
    upper, lower = _thresholds(finding)
    if upper > 0:
        yield (
            f"Dashed lines are the thresholds: {_percent(upper)}, and the same ratio in the other direction, "
            f"1/{1 + upper:.6g}, which is {_percent(lower)}."
        )


def _vertical(points: list[QuantileEffect], threshold: float) -> Axis:
    changes = [e.ratio - 1 for e in points]
    low, high = min([*changes, -1.3 * threshold]), max([*changes, 1.3 * threshold])
    span = high - low
    # a band may be of any width: it may make the picture three times as high as the curve, no more
    for band in filter(None, map(_band, points)):
        low, high = min(low, max(band[0], min(changes) - span)), max(high, min(band[1], max(changes) + span))
    pad = 0.06 * (high - low) or 0.01
    return Axis(low - pad, high + pad, _BOTTOM, _TOP)


def _few(points: list[QuantileEffect]) -> str:
    """Say that the curve is shorter than usual, and why."""
    ends = [
        *([f"below {points[0].tau * 100:.4g}%"] if points[0].tau > _USUAL[0] else []),
        *([f"above {points[-1].tau * 100:.4g}%"] if points[-1].tau < _USUAL[1] else []),
    ]
    return f" Quantiles {' or '.join(ends)} need more values." if ends else ""


def _percent(change: float) -> str:
    return minus(f"{change * 100:+.3g}%")


def _thresholds(finding: Finding) -> tuple[float, float]:
    """Return the changes beyond which a finding is decided: as ratios one is the inverse of the other."""
    return finding.threshold, 1 / (1 + finding.threshold) - 1


def _curve(sheet: Sheet, x: Axis, y: Axis, points: list[QuantileEffect]) -> None:
    run: list[QuantileEffect] = []
    for effect in [*points, None]:
        if effect is not None and _band(effect) is not None:
            run.append(effect)
        else:
            _area(sheet, x, y, run)
            run = []
    line = [(x.at(e.tau), y.at(e.ratio - 1)) for e in points]
    sheet.lines("curve", [line])
    sheet.marks("point", "triangle", line, 3.6)


def _area(sheet: Sheet, x: Axis, y: Axis, run: list[QuantileEffect]) -> None:
    edges = [(x.at(e.tau), band) for e in run if (band := _band(e)) is not None]
    if len(edges) == 1:
        # one point has no width: its interval is a line
        at, (low, high) = edges[0]
        sheet.lines("wing-head", [[(at, y.at(low)), (at, y.at(high))]])
    elif edges:
        upper = [(at, y.at(high)) for at, (_, high) in edges]
        lower = [(at, y.at(low)) for at, (low, _) in reversed(edges)]
        sheet.lines("spread", [[*upper, *lower]], closed=True)


def _band(effect: QuantileEffect) -> tuple[float, float] | None:
    if effect.low is None or effect.high is None:
        return None
    ends = effect.low - 1, effect.high - 1
    return ends if all(map(math.isfinite, ends)) else None


def _outside(y: Axis, effect: QuantileEffect) -> bool:
    band = _band(effect)
    return band is not None and (band[0] < y.low or band[1] > y.high)


def _signed(tick: Tick) -> str:
    return minus(tick.label) if tick.at <= 0 else f"+{tick.label}"


def _described(points: list[QuantileEffect]) -> str:
    said = [points[0], points[len(points) // 2], points[-1]] if len(points) > 2 else points
    return "Change by quantile: " + ", ".join(f"{e.tau:.3g}: {numbers.effect(e.ratio)}" for e in said) + "."
