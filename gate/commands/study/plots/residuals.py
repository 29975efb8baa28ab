"""Residuals of the linear model: against the fitted values, and as a normal probability plot (QR Fig. 3, 5 and 6)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gate.commands.study.plots import marks as m
from gate.commands.study.plots.marks import Look, Vertical, in_unit
from gate.model.study import Diagnostics, Residual, Response
from gate.plots.axes import grid
from gate.plots.picture import Picture, Sheet
from gate.plots.scales import Axis, Tick, minus, ticks
from gate.units import plural

_WIDTH, _HEIGHT = 720, 334
_TOP, _BOTTOM = 66, 266
_GAP = 30
_DRAWN, _LARGEST = 500, 100
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
    m.both(sheet, 12, 20, f"residual{in_unit(unit, 24)}", f"residual{in_unit(unit, 12)}")

    numbers = fits.of(np.array([r.fitted for r in kept]))
    ends = m.whole(numbers)
    x = Axis(ends.low, ends.high, y.room, middle - _GAP / 2)
    grid(sheet, y.axis, y.ticks, x.start, x.end)
    sheet.lines("zero", [[(x.start, y.axis.at(0)), (x.end, y.axis.at(0))]])
    across = m.marks_between(ends.low, ends.high, 5, log=fits.measure.log)
    fitted = f"fitted value{in_unit(fits.measure.unit, 12)}"
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
    if len(ranked) <= _DRAWN:
        return ranked
    rest = sorted(ranked[_LARGEST:], key=lambda r: (r.fitted, r.residual))
    chosen = np.linspace(0, len(rest) - 1, _DRAWN - _LARGEST).astype(int)
    return [*ranked[:_LARGEST], *(rest[k] for k in dict.fromkeys(chosen.tolist()))]


def _panel(
    sheet: Sheet, kept: Sequence[Residual], across: tuple[Axis, list[float], list[Tick]], y: Vertical, factor: float,
    words: tuple[str, str, str],
) -> None:  # fmt: skip
    """Draw residuals above an axis, and the largest Cook's distance; words: its name, how to write it, its title."""
    x, xs, marks = across
    points = [(at, y.axis.at(r.residual / factor)) for at, r in zip(xs, kept, strict=True)]
    Look(0).marks(sheet, points, "middle" if len(points) <= 60 else "small")
    far = max((k for k, r in enumerate(kept) if r.cook is not None), key=lambda k: kept[k].cook or 0.0, default=None)
    if far is not None:
        Look(1).marks(sheet, [points[far]], "large")
    sheet.row(_BOTTOM + 24, [(x.at(t.at), minus(t.label)) for t in marks], "soft")
    sheet.text((x.start + x.end) / 2, _HEIGHT - 12, words[0], words[1], "middle")
    sheet.text((x.start + x.end) / 2, _TOP - 14, words[2], "strong", "middle")


def _line(found: Sequence[Residual], factor: float, x: Axis, y: Vertical) -> list[list[tuple[float, float]]]:
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
