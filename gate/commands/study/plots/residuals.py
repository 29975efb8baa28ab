"""Residuals of the linear model: against the fitted values, and as a normal probability plot (QR Fig. 3, 5 and 6)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gate.commands.study.plots.marks import (
    Look,
    Scale,
    Vertical,
    differences,
    marks_between,
    said,
    scale,
    vertical,
    whole,
)
from gate.model.study import Diagnostics, Residual, Response
from gate.plots.axes import grid
from gate.plots.picture import Picture, Sheet
from gate.plots.scales import Axis, minus, ticks
from gate.units import plural
from gate.writing.plain import clip

_WIDTH, _HEIGHT = 720, 334
_TOP, _BOTTOM = 66, 266
_GAP = 30
_DRAWN = 500
"""Residuals that are drawn at most; a hundred of them are the largest."""
_LARGEST = 100
_QUARTILE = 0.6744897501960817
_LOOK, _FAR = Look(0), Look(1)

Array = npt.NDArray[np.float64]


def residuals(prefix: str, response: Response, diagnostics: Diagnostics) -> Picture | None:
    """Draw residuals against fitted values and against normal quantiles; None where there are fewer than three."""
    found = [r for r in diagnostics.residuals if all(map(math.isfinite, (r.fitted, r.residual, r.quantile)))]
    fits = scale(response, np.array([r.fitted for r in found]))
    sizes = np.array([r.residual for r in found])
    of = differences(response, sizes)
    if len(found) < 3 or fits is None or of is None or float(np.abs(sizes).max()) == 0:
        return None
    # on a log scale residuals stay logarithms, or the normal plot would bend
    factor, unit = (1.0, "natural log") if of.percent else (of.factor, of.unit)
    kept = _thinned(found)
    y = vertical(np.append(sizes / factor, 0.0), False, _TOP, _BOTTOM, count=6)
    middle = (_WIDTH + y.room) / 2
    sheet = Sheet(_WIDTH, _HEIGHT)
    for layout, width in (("wide", 24), ("narrow", 12)):
        shown = f", {clip(said(unit), width)}" if unit else ""
        sheet.text(12, 20, f"residual{shown}", f"soft other {layout}")
    _against_fitted(sheet, kept, y, fits, (y.room, middle - _GAP / 2), factor)
    _against_normal(sheet, kept, found, y, (middle + _GAP / 2, _WIDTH - 14), factor)
    caption = _caption(kept, found, diagnostics)
    title = f"Residuals of the linear model of {response.benchmark}, {response.metric}"
    described = (
        f"{plural(len(found), 'residual')} from {of.say(float(sizes.min()))} to {of.say(float(sizes.max()))}; "
        f"{plural(len(diagnostics.warnings), 'warning') if diagnostics.warnings else 'no warnings'}."
    )
    return sheet.picture(prefix, title, described, caption)


def _thinned(found: Sequence[Residual]) -> list[Residual]:
    """Keep the largest and, of the rest in order of size, some evenly."""
    ranked = sorted(found, key=lambda r: -abs(r.residual))
    if len(ranked) <= _DRAWN:
        return ranked
    rest = sorted(ranked[_LARGEST:], key=lambda r: (r.fitted, r.residual))
    chosen = np.linspace(0, len(rest) - 1, _DRAWN - _LARGEST).astype(int)
    return [*ranked[:_LARGEST], *(rest[k] for k in dict.fromkeys(chosen.tolist()))]


def _against_fitted(
    sheet: Sheet, kept: Sequence[Residual], y: Vertical, fits: Scale, span: tuple[float, float], factor: float
) -> None:
    left, right = span
    numbers = fits.of(np.array([r.fitted for r in kept]))
    ends = whole(numbers)
    x = Axis(ends.low, ends.high, left, right)
    grid(sheet, y.axis, y.ticks, left, right)
    sheet.lines("zero", [[(left, y.axis.at(0)), (right, y.axis.at(0))]])
    _spots(sheet, kept, x.all(numbers), y, factor)
    marks = marks_between(ends.low, ends.high, 5, log=fits.measure.log)
    sheet.row(_BOTTOM + 24, [(x.at(t.at), minus(t.label)) for t in marks], "soft")
    unit = f", {clip(said(fits.measure.unit), 12)}" if fits.measure.unit else ""
    sheet.text((left + right) / 2, _HEIGHT - 12, f"fitted value{unit}", "soft other", "middle")
    sheet.text((left + right) / 2, _TOP - 14, "residual and fitted", "strong", "middle")


def _against_normal(
    sheet: Sheet, kept: Sequence[Residual], found: Sequence[Residual], y: Vertical, span: tuple[float, float],
    factor: float,
) -> None:  # fmt: skip
    left, right = span
    quantiles = np.array([r.quantile for r in kept])
    reach = 1.07 * float(np.abs(quantiles).max()) or 1.0
    x = Axis(-reach, reach, left, right)
    grid(sheet, y.axis, y.ticks, left, right, labels=False)
    line = _line(found, factor)
    if line is not None:
        sheet.lines("zero", [_clipped(line, x, y)])
    _spots(sheet, kept, x.all(quantiles), y, factor)
    marks = [t for t in ticks(-reach, reach, 6) if abs(t.at) <= reach]
    sheet.row(_BOTTOM + 24, [(x.at(t.at), minus(t.label)) for t in marks], "soft")
    sheet.text((left + right) / 2, _HEIGHT - 12, "normal quantile", "soft", "middle")
    sheet.text((left + right) / 2, _TOP - 14, "normal probability", "strong", "middle")


def _line(found: Sequence[Residual], factor: float) -> tuple[float, float] | None:
    """Return intercept and slope of the line through the quartiles, where normal residuals would lie."""
    ranked = sorted((r.quantile, r.residual / factor) for r in found)
    at, values = np.array([q for q, _ in ranked]), np.array([v for _, v in ranked])
    if not at[0] < -_QUARTILE < _QUARTILE < at[-1]:
        return None
    first, third = np.interp([-_QUARTILE, _QUARTILE], at, values)
    return float(first + third) / 2, float(third - first) / (2 * _QUARTILE)


def _clipped(line: tuple[float, float], x: Axis, y: Vertical) -> list[tuple[float, float]]:
    """Return the ends of a line within the panel."""
    begin, slope = line
    ends = [x.low, x.high]
    if slope > 0:
        ends = [max(x.low, (y.range.low - begin) / slope), min(x.high, (y.range.high - begin) / slope)]
    return [(x.at(at), y.axis.at(begin + slope * at)) for at in ends]


def _spots(sheet: Sheet, kept: Sequence[Residual], xs: Sequence[float], y: Vertical, factor: float) -> None:
    points = [(x, y.axis.at(r.residual / factor)) for x, r in zip(xs, kept, strict=True)]
    _LOOK.marks(sheet, points, "middle" if len(points) <= 60 else "small")
    far = _furthest(kept)
    if far is not None:
        _FAR.marks(sheet, [points[far]], "large")


def _furthest(kept: Sequence[Residual]) -> int | None:
    known = [k for k, r in enumerate(kept) if r.cook is not None]
    return max(known, key=lambda k: kept[k].cook or 0.0) if known else None


def _caption(kept: Sequence[Residual], found: Sequence[Residual], diagnostics: Diagnostics) -> str:
    words = ["Left: residuals should scatter evenly around 0 at every fitted value."]
    words.append("Right: normal residuals would lie along the line, which goes through their quartiles.")
    if _furthest(kept) is not None:
        size = f" ({diagnostics.largest_cook:.3g})" if diagnostics.largest_cook is not None else ""
        words.append(f"The triangle is the observation with the largest Cook's distance{size}.")
    if len(kept) < len(found):
        words.append(
            f"{len(kept):,} of {len(found):,} residuals are drawn, evenly chosen, and the {_LARGEST} largest with them."
        )
    return " ".join(words)
