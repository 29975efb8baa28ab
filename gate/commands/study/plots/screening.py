"""Effects of a two-level design against noise: by size (Pareto), and as a half-normal plot (Daniel 1959), with limits.

Without an error of their own the limits are Lenth's (ME for one effect, SME for all at once); else they are the
half-widths of the effects' intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gate.commands.study.plots.marks import LAYOUTS, Look, apart, said
from gate.commands.study.plots.scale import Vertical, differences, vertical
from gate.model.study import Response
from gate.plots.axes import grid, tick_room
from gate.plots.picture import Picture, Sheet, elide, room
from gate.plots.scales import Axis, minus, ticks
from gate.plots.style import LETTERS_NARROW
from gate.stats.design.lenth import FEWEST, margins
from gate.stats.special import ndtri
from gate.units import format_confidence, format_number, plural
from gate.words.effects import either

_WIDTH = 720
_TOP, _PLOT = 64, 250
_ROW, _BAR = 27, 7
FEWEST_TESTED = 6
"""Effects that there must be where they have an error of their own: those of three factors."""
MOST = 24
"""Effects that the Pareto picture has at most."""
_NAMED = 8
"""Points of the half-normal plot that have a name at most."""
_FAR = 3.0
"""A limit so many times as large as the largest effect is said, not drawn."""
_QUIET, _CLEAR = Look(0), Look(1)


@dataclass(frozen=True, slots=True)
class _Bar:
    """One effect. limit: of its own, beyond which it is more than noise by itself."""

    term: str
    aliases: tuple[str, ...]
    value: float
    limit: float | None
    clear: bool

    @property
    def name(self) -> str:
        """With all that it cannot be told from."""
        return said(either(self.term, self.aliases, len(self.aliases)))

    def fitted(self, space: float, letters: float) -> str:
        """Shorten the name to a space: the others become a number, and only then letters go."""
        count = len(self.aliases)
        texts = [self.name, *([f"{said(self.term)}, or {plural(count, 'other')}"] if count else [])]
        found = next((text for text in texts if room(text, letters) <= space), None)
        return found if found is not None else elide(texts[-1], max(3, int(space / room("0", letters))))

    @property
    def size(self) -> float:
        return abs(self.value)


@dataclass(frozen=True, slots=True)
class _Screen:
    """The effects, the largest first, in the unit of the axis. limits: names and places of lines; slope: of noise."""

    bars: list[_Bar]
    limits: list[tuple[str, float]]
    slope: float
    lenth: bool
    unit: str

    def say(self, value: float) -> str:
        """Write a number of the axis with its unit."""
        return minus(f"{format_number(value, 3)} {self.unit}".rstrip())

    def reach(self) -> float:
        """Return where the axis of sizes ends."""
        largest = self.bars[0].size
        return 1.06 * max([largest, *(at for _, at in self.limits if at <= _FAR * largest)])


def screen(response: Response, confidence: float) -> _Screen | None:
    """Return the effects of a two-level design; None: it is another, or has too few effects, or no differences."""
    if response.linear is None or any(len(f.settings) > 2 for f in response.factors):
        return None
    if response.lenth is not None:
        bars = [_Bar(c.term, tuple(c.aliases), c.estimate, None, c.active) for c in response.lenth.contrasts]
        limits = [("ME", response.lenth.me), ("SME", response.lenth.sme)]
    else:
        claimed = {claim.term for claim in response.claims if claim.statistic == "mean" and claim.claimed}
        terms = [(t, t.effects[0]) for t in response.linear.terms if len(t.effects) == 1]
        bars = [
            _Bar(
                t.term, tuple(t.aliases), e.estimate,
                None if e.low is None or e.high is None else (e.high - e.low) / 2, t.term in claimed,
            )
            for t, e in terms
        ]  # fmt: skip
        limits = _shared([bar.limit for bar in bars], confidence)
    of = differences(response, np.array([bar.value for bar in bars]))
    largest = max((bar.size for bar in bars), default=0.0)
    if len(bars) < (FEWEST if response.lenth else FEWEST_TESTED) or of is None or not largest > 0:
        return None
    # on a log scale effects stay logarithms, or noise would bend
    factor, unit = (0.01, "% (log)") if of.percent else (of.factor, said(of.unit))
    found = [
        _Bar(b.term, b.aliases, b.value / factor, None if b.limit is None else b.limit / factor, b.clear)
        for b in sorted(bars, key=lambda b: -b.size)
    ]
    slope = margins(np.array([bar.value for bar in found]), confidence).pse
    return _Screen(found, [(name, at / factor) for name, at in limits], slope, response.lenth is not None, unit)


def _shared(limits: Sequence[float | None], confidence: float) -> list[tuple[str, float]]:
    """Return the one limit of all effects, where they have one."""
    known = [limit for limit in limits if limit is not None]
    if not known or len(known) < len(limits) or max(known) > min(known) * (1 + 1e-6):
        return []
    return [(f"{format_confidence(confidence)}:", known[0])]


def pareto(prefix: str, response: Response, confidence: float) -> Picture | None:
    """Draw the effects as bars, the largest first; None where there is nothing to draw."""
    found = screen(response, confidence)
    if found is None:
        return None
    bars = found.bars[:MOST]
    values = [minus(format_number(bar.value, 3)) for bar in bars]
    left = min(max(room(bar.name, LETTERS_NARROW) for bar in bars) + 18, _WIDTH * 0.55)
    right = _WIDTH - max(room(text, LETTERS_NARROW) for text in values) - 18
    top = 22 + 28 * max(1, len(_drawn(found)))
    bottom = top + _ROW * len(bars)
    sheet = Sheet(_WIDTH, bottom + 58)
    x = Axis(0, found.reach(), left, right)
    marks = [t for t in ticks(0, found.reach(), 5) if t.at <= found.reach()]
    sheet.lines("grid", [[(x.at(t.at), top), (x.at(t.at), bottom)] for t in marks])
    sheet.lines("axis", [[(left, top), (left, bottom)]])
    _limits(sheet, found, x, top, bottom)
    for number, (bar, value) in enumerate(zip(bars, values, strict=True)):
        middle = top + _ROW * (number + 0.5)
        end = x.at(bar.size)
        look = _CLEAR if bar.clear else _QUIET
        corners = [(left, middle - _BAR), (end, middle - _BAR), (end, middle + _BAR), (left, middle + _BAR)]
        sheet.lines(f"area-{look.colour}", [corners], closed=True)
        look.marks(sheet, [(end, middle)], "middle")
        if bar.limit is not None and not found.limits and bar.limit <= found.reach():
            at = x.at(bar.limit)
            sheet.lines("wing-s1", [[(at, middle - 11), (at, middle + 11)]])
        _label(sheet, bar, (left - 8, middle), left - 12)
        sheet.text(_WIDTH - 6, middle, value, "soft small middle", "end")
    sheet.row(bottom + 22, [(x.at(t.at), minus(t.label)) for t in marks], "soft")
    _named(sheet, (left + right) / 2, bottom + 48, found)
    title = f"Effects by size of {response.benchmark}, {response.metric}"
    return sheet.picture(prefix, title, _described(found), _caption(found, confidence, len(bars)))


def _drawn(found: _Screen) -> list[tuple[str, float]]:
    return [(name, at) for name, at in found.limits if at <= found.reach()]


def _label(sheet: Sheet, bar: _Bar, at: tuple[float, float], space: float) -> None:
    """Write the name of an effect before a place."""
    short = {layout: bar.fitted(space, letters) for layout, letters in LAYOUTS}
    if len(set(short.values())) == 1:
        sheet.text(*at, short["wide"], "other small middle", "end", full=bar.name)
        return
    for layout, text in short.items():
        sheet.text(*at, text, f"other small middle {layout}", "end", full=bar.name)


def _limits(sheet: Sheet, found: _Screen, x: Axis, top: float, bottom: float) -> None:
    for row, (name, at) in enumerate(_drawn(found)):
        place = x.at(at)
        sheet.lines("hair-s1", [[(place, top - 8), (place, bottom)]])
        text = f"{name} {minus(format_number(at, 3))}"
        half = room(text, LETTERS_NARROW) / 2
        # a row for each, or names of near limits would lie on each other
        sheet.text(min(max(place, half), _WIDTH - half), top - 14 - 28 * row, text, "soft other", "middle")


def _named(sheet: Sheet, x: float, y: float, found: _Screen) -> None:
    unit = f", {elide(found.unit, 14)}" if found.unit else ""
    sheet.text(x, y, f"size of the effect{unit}", "soft other", "middle")


def half_normal(prefix: str, response: Response, confidence: float) -> Picture | None:
    """Draw the sizes of effects against those of normal noise; None where there is nothing to draw."""
    found = screen(response, confidence)
    if found is None:
        return None
    sizes = np.array([bar.size for bar in found.bars])
    count = len(sizes)
    quantiles = ndtri(0.5 + 0.5 * (np.arange(count, 0, -1) - 0.5) / count)
    y = vertical(np.array([0.0, found.reach()]), False, _TOP, _TOP + _PLOT)
    sheet = Sheet(_WIDTH, _TOP + _PLOT + 58)
    left, right = tick_room(y.ticks), _WIDTH - 24
    reach = 1.07 * float(quantiles.max())
    x = Axis(0, reach, left, right)
    grid(sheet, y.axis, y.ticks, left, right)
    if found.slope > 0:
        end = min(reach, y.range.high / found.slope)
        sheet.lines("zero", [[(x.at(0), y.axis.at(0)), (x.at(end), y.axis.at(end * found.slope))]])
    _levels(sheet, found, y, left, right)
    points = [(at, y.axis.at(size)) for at, size in zip(x.all(quantiles), sizes.tolist(), strict=True)]
    for look, clear in ((_QUIET, False), (_CLEAR, True)):
        look.marks(sheet, [p for p, bar in zip(points, found.bars, strict=True) if bar.clear == clear], "middle")
    _names(sheet, found, points)
    unit = f", {elide(found.unit, 14)}" if found.unit else ""
    sheet.text(12, 20, f"size of the effect{unit}", "soft other")
    marks = [t for t in ticks(0, reach, 6) if t.at <= reach]
    sheet.row(_TOP + _PLOT + 24, [(x.at(t.at), t.label) for t in marks], "soft")
    sheet.text((left + right) / 2, _TOP + _PLOT + 50, "half-normal quantile", "soft", "middle")
    title = f"Half-normal plot of the effects of {response.benchmark}, {response.metric}"
    return sheet.picture(prefix, title, _described(found), _half_normal_caption(found, confidence))


def _levels(sheet: Sheet, found: _Screen, y: Vertical, left: float, right: float) -> None:
    drawn = _drawn(found)
    if not drawn:
        return
    wanted = [y.axis.at(at) - 6 for _, at in drawn]
    places = apart(wanted, 26, _TOP - 24, _TOP + _PLOT)
    for (name, at), place in zip(drawn, places, strict=True):
        sheet.lines("hair-s1", [[(left, y.axis.at(at)), (right, y.axis.at(at))]])
        sheet.text(left + 6, place, f"{name} {minus(format_number(at, 3))}", "soft other small")


def _names(sheet: Sheet, found: _Screen, points: Sequence[tuple[float, float]]) -> None:
    """Name the clear effects, or where there is none the largest, at the left of their points."""
    chosen = [k for k, bar in enumerate(found.bars) if bar.clear][:_NAMED] or [0]
    places = apart([points[k][1] for k in chosen], 25, _TOP - 30, _TOP + _PLOT + 10)
    for k, place in zip(chosen, places, strict=True):
        x = points[k][0]
        # limits have their names at the left
        _label(sheet, found.bars[k], (x - 10, place), x - 14 - (130 if found.limits else 60))


def _described(found: _Screen) -> str:
    clear = [bar.name for bar in found.bars if bar.clear]
    largest = ", ".join(f"{elide(b.name, 40)} {found.say(b.value)}" for b in found.bars[:3])
    return f"{plural(len(found.bars), 'effect')}, {len(clear)} of them more than noise; the largest: {largest}."


def _caption(found: _Screen, confidence: float, drawn: int) -> str:
    words = ["Half the change from the first setting to the second, by size; the number has its sign.", _mark(found)]
    words += _limit_words(found, confidence)
    if any(len(bar.aliases) > 1 for bar in found.bars):
        words.append("The table names the others that an effect cannot be told from.")
    if drawn < len(found.bars):
        words.append(f"The {drawn} largest of {len(found.bars)} are drawn.")
    return " ".join(words)


def _half_normal_caption(found: _Screen, confidence: float) -> str:
    words = ["Effects that are only noise lie along the line; what lies far above it is more than noise.", _mark(found)]
    return " ".join([*words, *_limit_words(found, confidence)])


def _mark(found: _Screen) -> str:
    if not any(bar.clear for bar in found.bars):
        return "No effect is more than noise here."
    how = "by the limit for all effects" if found.lenth else "in the sentences of this response"
    return f"Triangles are effects that are more than noise {how}."


def _limit_words(found: _Screen, confidence: float) -> list[str]:
    told = ", ".join(f"{name} {found.say(at)}" for name, at in found.limits)
    percent = format_confidence(confidence)
    if found.lenth:
        what = f"Lenth's limits at {percent}: ME for one effect, SME for all at once"
        return [f"{what} ({told})."]
    if found.limits:
        return [f"The dashed line is the half-width of the {percent} interval of each effect by itself."]
    if any(bar.limit is not None for bar in found.bars):
        return [f"Effects have errors of their own: a tick is the half-width of the {percent} interval."]
    return []
