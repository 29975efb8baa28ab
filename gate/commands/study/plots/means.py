"""Main effects and interactions of two factors: means by setting (NIST TN 1855, Fig. 12)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import permutations

import msgspec
import numpy as np

from gate.commands.study.plots import marks as m
from gate.commands.study.plots.marks import LAYOUTS, Entry, Look, Scale, Vertical, codes, factors_by_name, look_of, said
from gate.model.study import Factor, MainEffect, Response
from gate.plots.axes import grid
from gate.plots.picture import Picture, Point, Sheet, room
from gate.units import agree
from gate.words.effects import alias_sets, named, named_short
from gate.writing.plain import clip

_WIDTH = 720
_HEAD, _TITLE, _PLOT, _BELOW = 32, 32, 150, 36
_TALL = 176
_LOWER = 25
_PER_ROW = 12
"""Settings beside each other in a row of main effects; more begin another row."""
MOST = 12
"""Interactions that are drawn at most."""
_LISTED = 12
"""Alias sets that a caption names."""
_LABEL = 96
_LABELLED = 6
"""More lines in a panel than this have a legend above it in place of labels at their ends."""
_PLAIN = Look(0)


class _Main(msgspec.Struct, frozen=True):
    """A factor to draw: its settings that were measured with their means, and a second line, [] for none."""

    factor: Factor
    names: list[str]
    means: list[float]
    curve: list[float]


def mains(prefix: str, response: Response) -> Picture | None:
    """Draw the mean of each setting of each factor, all on one scale; None where no factor has two settings."""
    drawn, aliases = _mains(response), alias_sets(response)
    values = np.array([v for main in drawn for v in main.means] + [v for main in drawn for v in main.curve])
    of = m.scale(response, values)
    if not drawn or of is None:
        return None
    rows = _packed(drawn)
    y = m.vertical(of.of(values), of.measure.log, 0, _PLOT)
    # few settings do not make wide panels
    slots = [min((_WIDTH - 10 - y.room) / sum(len(main.names) + 0.4 for main in row), 110.0) for row in rows]
    names = [[name for main in row for name in main.names] for row in rows]
    below = _BELOW + max(_lower(own, slot) for own, slot in zip(names, slots, strict=True))
    pitch = _TITLE + _PLOT + below
    sheet = Sheet(_WIDTH, _HEAD + pitch * len(rows))
    m.name(sheet, response, of, "mean ")
    for number, row in enumerate(rows):
        top = _HEAD + pitch * number + _TITLE
        xs = _main_row(sheet, row, y.moved(top, _PLOT), of, slots[number], aliases)
        _settings(sheet, xs, names[number], top + _PLOT + 23, slots[number])
    caption = (
        "Mean of each setting, over the treatments that have it, each treatment counting alike. The steeper a line, "
        "the more its factor matters; the dotted line is the mean of all. All panels have one scale."
    )
    if any(main.curve for main in drawn):
        caption += (
            " Dashed: the means of the linear model, which allow for the combinations that were not measured."
            if response.lacking
            else " Dashed: the parabola through the settings of a factor that are numbers."
        )
    caption += "" if response.balanced else " The treatments are not balanced: a mean also holds what else differs."
    caption += _aliased([main.factor.name for main in drawn], aliases, " (*)")
    shown = [
        f"{clip(said(main.factor.name), 30)} from {of.say(min(main.means))} to {of.say(max(main.means))}"
        for main in drawn[:8]
    ]
    title = f"Main effects on {response.benchmark}, {response.metric}"
    return sheet.picture(prefix, title, f"Means by setting: {'; '.join(shown)}.", caption)


def _mains(response: Response) -> list[_Main]:
    """Return the factors, beside empty cells with their means in the linear model, else with their parabola."""
    found, model = [], response.linear
    for main in response.mains:
        if len(main.factors) != 1 or len(main.points) < 2:
            continue
        factor = factors_by_name(response)[main.factors[0]]
        place = codes(factor)
        points = sorted(main.points, key=lambda p: place[p.settings[factor.name]])
        means, curve = [p.mean for p in points], []
        if response.lacking:
            term = next((t for t in model.terms if t.factors == main.factors), None) if model else None
            effects = [e.estimate for e in term.effects] if term else []
            effects = [-effects[0], *effects] if len(effects) == 1 else effects
            curve = [model.intercept.estimate + e for e in effects] if model else []
        else:
            fitted = next((t.fitted for t in response.trends if t.factor == factor.name and len(t.settings) > 3), [])
            level = float(np.mean([p.mean for p in main.points]))
            curve = [level + f for f in fitted]
        found.append(_Main(factor, [said(p.settings[factor.name]) for p in points], means, curve))
    return found


def _packed(drawn: Sequence[_Main]) -> list[list[_Main]]:
    """Fill rows with panels, by the settings that they hold."""
    total = sum(len(main.names) for main in drawn)
    wanted = total / math.ceil(total / _PER_ROW)
    rows: list[list[_Main]] = [[]]
    held = 0
    for main in drawn:
        size = len(main.names)
        if rows[-1] and (held + size / 2 > wanted or held + size > _PER_ROW):
            rows.append([])
            held = 0
        rows[-1].append(main)
        held += size
    return rows


def _main_row(
    sheet: Sheet, row: Sequence[_Main], y: Vertical, of: Scale, slot: float, aliases: Mapping[str, Sequence[str]]
) -> list[float]:
    """Draw a row of panels, and return where their settings stand."""
    left, right = y.room, _WIDTH - 10
    grid(sheet, y.axis, y.ticks, left, right)
    middle = y.axis.at(float(of.of(np.array([mean for main in row for mean in main.means])).mean()))
    sheet.lines("dotted", [[(left, middle), (right, middle)]])
    at = left
    xs: list[float] = []
    for main in row:
        if at > left:
            sheet.lines("axis", [[(at, y.axis.end - _TITLE + 8), (at, y.axis.start)]])
        own = [at + slot * (k + 0.7) for k in range(len(main.names))]
        line = [(x, y.axis.at(of.one(mean))) for x, mean in zip(own, main.means, strict=True)]
        sheet.lines(f"line-{_PLAIN.colour}", [line])
        if len(main.curve) == len(own):
            sheet.lines("hair-s1", [[(x, y.axis.at(of.one(v))) for x, v in zip(own, main.curve, strict=True)]])
        _PLAIN.marks(sheet, line, "large")
        width = slot * (len(own) + 0.4)
        _main_title(sheet, at + width / 2, y.axis.end - 12, main.factor.name, aliases, width - 10)
        xs += own
        at += width
    return xs


def _main_title(
    sheet: Sheet, x: float, y: float, name: str, aliases: Mapping[str, Sequence[str]], space: float
) -> None:
    """Name a factor with its aliases, where these do not fit with a star that the caption explains."""
    if name not in aliases:
        m.write(sheet, x, y, said(name), space, "strong other")
        return
    full, short = (said(how(name, aliases[name])) for how in (named, named_short))
    for layout, letters in LAYOUTS:
        cut = f"{clip(said(name), max(1, int(space / room('0', letters)) - 1))}*"
        text = next((t for t in (full, short) if room(t, letters) <= space), cut)
        sheet.text(x, y, text, f"strong other {layout}", "middle", full=full)


def _aliased(terms: Sequence[str], aliases: Mapping[str, Sequence[str]], mark: str = "") -> str:
    """Say which terms of a picture these treatments do not tell from which others; "" for none."""
    own = [clip(said(named(t, names)), 60) for t, names in aliases.items() if {t, *names} & set(terms)]
    more = f"; and {len(own) - _LISTED} more" if len(own) > _LISTED else ""
    return f" Not told apart by these treatments{mark}: {'; '.join(own[:_LISTED])}{more}." if own else ""


def _settings(sheet: Sheet, xs: Sequence[float], names: Sequence[str], y: float, slot: float) -> None:
    """Write the names of settings below an axis: in two rows by turns where one is too narrow, else some of them."""
    for layout, letters in LAYOUTS:
        two = not _fits(names, slot, letters)
        # the last name of a row stands at the edge of the sheet
        width = int((1.4 * slot + 14 if two else slot - 6) / room("0", letters))
        cut = m.shortened(names, width) if width > 2 else {}
        every = 1 if cut else math.ceil(room("000000", letters) / slot)
        for k, (x, text) in enumerate(zip(xs, names, strict=True)):
            if k % every == 0:
                lower = _LOWER if cut and two and k % 2 else 0
                shown = cut.get(text) or clip(text, 6)
                sheet.text(x, y + lower, shown, f"soft other {layout}", "middle", full=text)


def _fits(names: Sequence[str], slot: float, letters: float) -> bool:
    return all(room(name, letters) <= slot - 6 for name in names)


def _lower(names: Sequence[str], slot: float) -> float:
    """Return the height of a second row of names; 0: one is enough, or two are not."""
    two = [letters for _, letters in LAYOUTS if not _fits(names, slot, letters)]
    return _LOWER if any(1.4 * slot + 14 >= room("000", letters) for letters in two) else 0


class _Lines(msgspec.Struct, frozen=True):
    """An interaction to draw: x is the factor along the axis, by that of the lines."""

    x: Factor
    by: Factor
    means: dict[tuple[int, int], float]
    """By the number of the line and the place along the axis."""

    @property
    def lines(self) -> list[int]:
        """The settings that have a line."""
        return sorted({line for line, _ in self.means})

    @property
    def places(self) -> list[int]:
        """The settings along the axis."""
        return sorted({place for _, place in self.means})

    @property
    def names(self) -> list[str]:
        """Of the settings along the axis."""
        return [said(self.x.settings[place]) for place in self.places]

    @property
    def beside(self) -> float:
        """The room at the right, for labels of lines where there are few."""
        return _LABEL if len(self.lines) <= _LABELLED else 14

    @property
    def unparallel(self) -> float:
        """The largest distance from what rows and columns alone would give, where all cells are there; else 0."""
        if len(self.means) < len(self.lines) * len(self.places):
            return 0.0
        table = np.array([[self.means[a, b] for b in self.places] for a in self.lines])
        rest = table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean()
        return float(np.abs(rest).max())


def interactions(prefix: str, response: Response, listed: Sequence[MainEffect]) -> Picture | None:
    """Draw the means of two factors at a time, a line for each setting of the second; None where there are none.

    At most 12 are drawn, those whose lines are the least parallel.
    """
    found = [own for own in (_lines(main, factors_by_name(response)) for main in listed) if own is not None]
    drawn = [found[k] for k in sorted(sorted(range(len(found)), key=lambda k: -found[k].unparallel)[:MOST])]
    values = np.array([v for own in drawn for v in own.means.values()])
    of = m.scale(response, values)
    if not drawn or of is None:
        return None
    y = m.vertical(of.of(values), of.measure.log, 0, _TALL)
    columns = 1 if len(drawn) == 1 else 2
    width = (_WIDTH - y.room) / columns
    # a panel that has too many lines to label each at its end
    legends = [
        []
        if len(own.lines) <= _LABELLED
        else [Entry(look_of(own.by, s), said(s)) for s in map(own.by.settings.__getitem__, own.lines)]
        for own in drawn
    ]
    extra = max((m.legend_height(own, width - 24) for own in legends), default=0.0)
    below = _BELOW + max(_lower(own.names, (width - 12 - own.beside) / len(own.places)) for own in drawn)
    pitch = _TITLE + extra + _TALL + below
    sheet = Sheet(_WIDTH, _HEAD + pitch * math.ceil(len(drawn) / columns))
    m.name(sheet, response, of, "mean ")
    for number, (own, entries) in enumerate(zip(drawn, legends, strict=True)):
        top = _HEAD + pitch * (number // columns) + _TITLE + extra
        left, first = y.room + width * (number % columns), number % columns == 0
        if entries:
            m.legend(sheet, entries, left, top - extra - 6, width - 24)
        start = left + (0 if first else 12)
        title = f"{said(own.by.name)} by {said(own.x.name)}"
        placed = y.moved(top, _TALL)
        grid(sheet, placed.axis, placed.ticks, start, left + width - own.beside, labels=first)
        slot = _panel(sheet, own, placed, of, start, left + width - own.beside)
        m.write(sheet, start, top - extra - 12, title, width - 20, "strong other", "start")
        xs = [start + slot * (k + 0.5) for k in range(len(own.places))]
        _settings(sheet, xs, own.names, placed.axis.start + 23, slot)
    words = ["Means of treatments by two factors; a line for each setting of one of them."]
    words.append("Parallel lines: the factors act independently; lines that part or cross: they interact.")
    words.append("All panels have one scale.")
    if not response.balanced:
        words.append("The treatments are not balanced: a mean also holds what else differs.")
    if any(len(own.means) < len(own.lines) * len(own.places) for own in drawn):
        words.append("Combinations that were not measured are missing.")
    pairs = [":".join(names) for own in drawn for names in permutations((own.x.name, own.by.name))]
    words += filter(None, [_aliased(pairs, alias_sets(response)).strip()])
    left_out = len(found) - len(drawn)
    if left_out:
        words.append(f"{left_out} more, the most parallel, {agree(left_out, 'is', 'are')} left out.")
    title = f"Interactions of two factors on {response.benchmark}, {response.metric}"
    shown = [f"{clip(said(own.by.name), 30)} by {clip(said(own.x.name), 30)}" for own in drawn[:8]]
    return sheet.picture(prefix, title, f"Means of {'; '.join(shown)}.", " ".join(words))


def _lines(main: MainEffect, factors: Mapping[str, Factor]) -> _Lines | None:
    pair = [factors[n] for n in main.factors if n in factors]
    if len(pair) != 2:
        return None
    # the factor with more settings goes along the axis
    x, by = (pair[1], pair[0]) if len(pair[1].settings) > len(pair[0].settings) else (pair[0], pair[1])
    across, along = codes(by), codes(x)
    found = _Lines(x, by, {(across[p.settings[by.name]], along[p.settings[x.name]]): p.mean for p in main.points})
    return found if len(found.lines) > 1 and len(found.places) > 1 else None


def _panel(sheet: Sheet, own: _Lines, y: Vertical, of: Scale, start: float, right: float) -> float:
    """Draw the lines, with labels at their right ends where there are few; return the room of a setting."""
    slot = (right - start) / len(own.places)
    ends: list[Point] = []
    for number in own.lines:
        line = [
            (start + slot * (k + 0.5), y.axis.at(of.one(own.means[number, place])))
            for k, place in enumerate(own.places)
            if (number, place) in own.means
        ]
        look = look_of(own.by, own.by.settings[number])
        sheet.lines(look.lines("line"), [line])
        look.marks(sheet, line, "large")
        ends.append(line[-1])
    for layout, letters in LAYOUTS if len(ends) <= _LABELLED else ():
        # labels move apart where they would meet; a thin line leads to one that moved
        gap, lowest = (16, y.axis.start) if layout == "wide" else (27, y.axis.start + 27)
        places = m.apart([at for _, at in ends], gap, y.axis.end, lowest)
        for (x, at), place, number in zip(ends, places, own.lines, strict=True):
            full = said(own.by.settings[number])
            sheet.lines(f"grid {layout}", [[(x + 7, at), (right + 2, place)]])
            text = clip(full, max(1, int((_LABEL - 22) / room("0", letters))))
            sheet.text(right + 5, place, text, f"other middle {layout}", full=full)
    return slot
