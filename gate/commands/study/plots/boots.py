"""The units of analysis by boot: a column for each session or build, in the order of time (NIST TN 1855, Fig. 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gate.commands.study.plots.marks import Entry, Look, entries, legend, legend_height, look_of, said
from gate.commands.study.plots.scale import Array, Scale, Vertical, name, scale, vertical
from gate.model.study import Factor, Response, Setting, Varies
from gate.plots.axes import grid
from gate.plots.picture import Picture, Sheet
from gate.units import agree, plural
from gate.writing.plain import clip

_WIDTH, _PLOT = 720, 214
_HEAD, _FOOT = 30, 58
MOST = 60
"""Columns that are drawn at most: more cannot be told apart."""
_DRAWN = 2000
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
    quota = max(5, _DRAWN // len(drawn))
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
    numbers = at.of.of(_thinned(boot.values, quota))
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


def _thinned(values: Array, quota: int) -> Array:
    if values.size <= quota:
        return values
    return values[np.linspace(0, values.size - 1, quota).astype(np.int64)]


def _checked(words: str) -> str:
    words = words.strip()
    return f"{words[:1].upper()}{words[1:].rstrip('.')}." if words else ""
