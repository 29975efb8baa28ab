"""Main effects and interactions of two factors: means by setting (NIST TN 1855, Fig. 12)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from gate.commands.study.plots.marks import (
    LAYOUTS,
    Array,
    Entry,
    Look,
    Scale,
    Vertical,
    apart,
    codes,
    factors_by_name,
    legend,
    legend_height,
    look_of,
    name,
    said,
    scale,
    shortened,
    vertical,
    write,
)
from gate.model.study import Factor, MainEffect, MeanPoint, Response, Setting
from gate.plots.axes import grid
from gate.plots.picture import Picture, Point, Sheet, room
from gate.plots.scales import Axis
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


@dataclass(frozen=True, slots=True)
class _Lines:
    """An interaction to draw."""

    x: Factor
    """The factor along the axis."""
    by: Factor
    """That of the lines."""
    means: dict[tuple[int, int], float]
    size: float


# --- main effects ---------------------------------------------------------------------------------------------------


def mains(prefix: str, response: Response) -> Picture | None:
    """Draw the mean of each setting of each factor, all on one scale; None where no factor has two settings."""
    factors = factors_by_name(response)
    drawn = [(factors[m.factors[0]], m) for m in response.mains if len(m.factors) == 1 and len(m.points) > 1]
    curves, aliases = _curves(response, [m for _, m in drawn]), alias_sets(response)
    values = np.append(_values([m for _, m in drawn]), [v for own in curves.values() for v in own])
    of = scale(response, values)
    if not drawn or of is None:
        return None
    rows = _packed(drawn)
    y = vertical(of.of(values), of.measure.log, 0, _PLOT)
    slots = [_slot(row, y.room) for row in rows]
    below = _BELOW + max(_lower(_row_names(row), slot) for row, slot in zip(rows, slots, strict=True))
    pitch = _TITLE + _PLOT + below
    sheet = Sheet(_WIDTH, _HEAD + pitch * len(rows))
    name(sheet, response, of, "mean ")
    for number, row in enumerate(rows):
        top = _HEAD + pitch * number + _TITLE
        _main_row(sheet, row, _moved(y, top, _PLOT), of, slots[number], curves, aliases)
    caption = (
        "Mean of each setting, over the treatments that have it, each treatment counting alike. The steeper a line, "
        "the more its factor matters; the dotted line is the mean of all. All panels have one scale."
    )
    if curves and response.lacking:
        caption += " Dashed: the means of the linear model, which allow for the combinations that were not measured."
    elif curves:
        caption += " Dashed: the parabola through the settings of a factor that are numbers."
    caption += "" if response.balanced else " The treatments are not balanced: a mean also holds what else differs."
    caption += _aliased([f.name for f, _ in drawn], aliases, " (*)")
    shown = [f"{clip(said(f.name), 30)} {_spread(m, of)}" for f, m in drawn[:8]]
    title = f"Main effects on {response.benchmark}, {response.metric}"
    return sheet.picture(prefix, title, f"Means by setting: {'; '.join(shown)}.", caption)


def _curves(response: Response, drawn: Sequence[MainEffect]) -> dict[str, list[float]]:
    """Return a second line for factors: beside empty cells their means in the linear model, else their parabola."""
    model = response.linear
    if response.lacking:
        found = {}
        for term in model.terms if model else []:
            effects = [e.estimate for e in term.effects]
            effects = [-effects[0], *effects] if len(effects) == 1 else effects
            found[term.term] = (
                [model.intercept.estimate + e for e in effects] if model and len(term.factors) == 1 else []
            )
        return found
    level = {m.factors[0]: float(np.mean([p.mean for p in m.points])) for m in drawn}
    return {t.factor: [level[t.factor] + f for f in t.fitted] for t in response.trends
            if len(t.settings) > 3 and t.factor in level}  # fmt: skip


def _spread(main: MainEffect, of: Scale) -> str:
    means = [p.mean for p in main.points]
    return f"from {of.say(min(means))} to {of.say(max(means))}"


def _values(drawn: Sequence[MainEffect]) -> Array:
    return np.array([p.mean for m in drawn for p in m.points], dtype=np.float64)


def _moved(y: Vertical, top: float, height: float) -> Vertical:
    return Vertical(y.range, Axis(y.range.low, y.range.high, top + height, top), y.ticks, y.room)


_Main = tuple[Factor, MainEffect]


def _packed(drawn: Sequence[_Main]) -> list[list[_Main]]:
    """Fill rows with panels, by the settings that they hold."""
    total = sum(len(m.points) for _, m in drawn)
    wanted = total / math.ceil(total / _PER_ROW)
    rows: list[list[_Main]] = [[]]
    held = 0
    for one in drawn:
        size = len(one[1].points)
        if rows[-1] and (held + size / 2 > wanted or held + size > _PER_ROW):
            rows.append([])
            held = 0
        rows[-1].append(one)
        held += size
    return rows


def _slot(row: Sequence[_Main], left: float) -> float:
    # few settings do not make wide panels
    return min((_WIDTH - 10 - left) / sum(len(m.points) + 0.4 for _, m in row), 110.0)


def _row_names(row: Sequence[_Main]) -> list[str]:
    return [said(p.settings[f.name]) for f, m in row for p in _sorted(f, m)]


def _sorted(factor: Factor, main: MainEffect) -> list[MeanPoint]:
    order = codes(factor)
    return sorted(main.points, key=lambda p: order.get(p.settings[factor.name], len(order)))


def _main_row(
    sheet: Sheet, row: Sequence[_Main], y: Vertical, of: Scale, slot: float, curves: Mapping[str, Sequence[float]],
    aliases: Mapping[str, Sequence[str]],
) -> None:  # fmt: skip
    left, right = y.room, _WIDTH - 10
    grid(sheet, y.axis, y.ticks, left, right)
    every = np.array([p.mean for m in row for p in m[1].points])
    middle = y.axis.at(float(of.of(every).mean()))
    sheet.lines("dotted", [[(left, middle), (right, middle)]])
    at = left
    xs: list[float] = []
    for factor, main in row:
        if at > left:
            sheet.lines("axis", [[(at, y.axis.end - _TITLE + 8), (at, y.axis.start)]])
        own = [at + slot * (k + 0.7) for k in range(len(main.points))]
        line = [(x, y.axis.at(of.one(p.mean))) for x, p in zip(own, _sorted(factor, main), strict=True)]
        sheet.lines(f"line-{_PLAIN.colour}", [line])
        curve = curves.get(factor.name, ())
        if len(curve) == len(own):
            sheet.lines("hair-s1", [[(x, y.axis.at(of.one(v))) for x, v in zip(own, curve, strict=True)]])
        _PLAIN.marks(sheet, line, "large")
        width = slot * (len(main.points) + 0.4)
        _main_title(sheet, at + width / 2, y.axis.end - 12, factor, aliases.get(factor.name, ()), width - 10)
        xs += own
        at += width
    _settings(sheet, xs, _row_names(row), y.axis.start + 23, slot)


def _main_title(sheet: Sheet, x: float, y: float, factor: Factor, aliases: Sequence[str], space: float) -> None:
    """Name a factor with its aliases, where these do not fit with a star that the caption explains."""
    if not aliases:
        write(sheet, x, y, said(factor.name), space, "strong other")
        return
    full, name_ = said(named(factor.name, aliases)), said(factor.name)
    for layout, letters in LAYOUTS:
        columns = int(space / room("0", letters))
        fitting = (t for t in (full, said(named_short(factor.name, aliases))) if room(t, letters) <= space)
        text = next(fitting, f"{clip(name_, max(1, columns - 1))}*")
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
        cut = shortened(names, width) if width > 2 else {}
        every = 1 if cut else _every(slot, letters)
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


def _every(slot: float, letters: float) -> int:
    return math.ceil(room("000000", letters) / slot)


# --- interactions ---------------------------------------------------------------------------------------------------


def interactions(prefix: str, response: Response, listed: Sequence[MainEffect]) -> Picture | None:
    """Draw the means of two factors at a time, a line for each setting of the second; None where there are none.

    At most 12 are drawn, those whose lines are the least parallel.
    """
    factors = factors_by_name(response)
    found = [lines for m in listed if (lines := _lines(m, factors)) is not None]
    kept = sorted(sorted(range(len(found)), key=lambda k: -found[k].size)[:MOST])
    drawn = [found[k] for k in kept]
    values = np.array([v for lines in drawn for v in lines.means.values()])
    of = scale(response, values)
    if not drawn or of is None:
        return None
    y = vertical(of.of(values), of.measure.log, 0, _TALL)
    columns = 1 if len(drawn) == 1 else 2
    legends = [_listed(lines) for lines in drawn]
    width = (_WIDTH - y.room) / columns
    extra = max((legend_height(own, width - 24) for own in legends), default=0.0)
    below = _BELOW + max(_lower(_x_names(d), _x_slot(d, width)) for d in drawn)
    pitch = _TITLE + extra + _TALL + below
    sheet = Sheet(_WIDTH, _HEAD + pitch * math.ceil(len(drawn) / columns))
    name(sheet, response, of, "mean ")
    for number, (lines, own) in enumerate(zip(drawn, legends, strict=True)):
        top = _HEAD + pitch * (number // columns) + _TITLE + extra
        left = y.room + width * (number % columns)
        if own:
            legend(sheet, own, left, top - extra - 6, width - 24)
        _panel(sheet, lines, _moved(y, top, _TALL), of, left, width, first=number % columns == 0, above=extra)
    caption = _interaction_caption(response, len(found) - len(drawn), drawn)
    title = f"Interactions of two factors on {response.benchmark}, {response.metric}"
    named = [f"{clip(said(d.by.name), 30)} by {clip(said(d.x.name), 30)}" for d in drawn[:8]]
    return sheet.picture(prefix, title, f"Means of {'; '.join(named)}.", caption)


def _lines(main: MainEffect, factors: dict[str, Factor]) -> _Lines | None:
    pair = [factors[n] for n in main.factors if n in factors]
    if len(pair) != 2:
        return None
    # the factor with more settings goes along the axis
    x, by = (pair[1], pair[0]) if len(pair[1].settings) > len(pair[0].settings) else (pair[0], pair[1])
    across, along = codes(by), codes(x)
    means = {
        (across[p.settings[by.name]], along[p.settings[x.name]]): p.mean
        for p in main.points
        if p.settings.get(by.name) in across and p.settings.get(x.name) in along
    }
    if len({a for _, a in means}) < 2 or len({b for b, _ in means}) < 2:
        return None
    return _Lines(x, by, means, _unparallel(means))


def _unparallel(means: dict[tuple[int, int], float]) -> float:
    """Return the largest distance from what rows and columns alone would give, where all cells are there; else 0."""
    rows, columns = sorted({a for a, _ in means}), sorted({b for _, b in means})
    if len(means) < len(rows) * len(columns):
        return 0.0
    table = np.array([[means[a, b] for b in columns] for a in rows])
    rest = table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean()
    return float(np.abs(rest).max())


def _listed(lines: _Lines) -> list[Entry]:
    """Return the legend of a panel that has too many lines to label each at its end."""
    own = sorted({by for by, _ in lines.means})
    if len(own) <= _LABELLED:
        return []
    return [Entry(look_of(lines.by, s), said(s)) for s in (lines.by.settings[k] for k in own)]


def _x_names(lines: _Lines) -> list[str]:
    return [said(lines.x.settings[x]) for x in sorted({x for _, x in lines.means})]


def _x_slot(lines: _Lines, width: float) -> float:
    """Return the room for a setting along the axis of the narrowest panel."""
    labelled = len({by for by, _ in lines.means}) <= _LABELLED
    return (width - 12 - (_LABEL if labelled else 14)) / len({x for _, x in lines.means})


def _panel(
    sheet: Sheet, lines: _Lines, y: Vertical, of: Scale, left: float, width: float, *, first: bool, above: float
) -> None:
    by_settings = sorted({by for by, _ in lines.means})
    labelled = len(by_settings) <= _LABELLED
    start = left + (0 if first else 12)
    right = left + width - (_LABEL if labelled else 14)
    grid(sheet, y.axis, y.ticks, start, right, labels=first)
    along = sorted({x for _, x in lines.means})
    slot = (right - start) / len(along)
    xs = {x: start + slot * (k + 0.5) for k, x in enumerate(along)}
    ends: list[Point] = []
    looks: list[tuple[Look, Setting]] = []
    for by in by_settings:
        line = [(xs[x], y.axis.at(of.one(lines.means[by, x]))) for x in along if (by, x) in lines.means]
        look = look_of(lines.by, lines.by.settings[by])
        sheet.lines(look.lines("line"), [line])
        look.marks(sheet, line, "large")
        ends.append(line[-1])
        looks.append((look, lines.by.settings[by]))
    if labelled:
        _ends(sheet, ends, [s for _, s in looks], y, right)
    title = f"{said(lines.by.name)} by {said(lines.x.name)}"
    write(sheet, start, y.axis.end - above - 12, title, width - 20, "strong other", "start")
    _settings(sheet, list(xs.values()), _x_names(lines), y.axis.start + 23, slot)


def _ends(sheet: Sheet, ends: Sequence[Point], settings: Sequence[Setting], y: Vertical, right: float) -> None:
    """Label lines at their right ends, moved apart where they would meet; a thin line leads to a label that moved."""
    for layout, letters in LAYOUTS:
        gap = 16 if layout == "wide" else 27
        low, high = y.axis.end, y.axis.start + (gap if layout == "narrow" else 0)
        for (x, at), place, setting in zip(ends, apart([at for _, at in ends], gap, low, high), settings, strict=True):
            text = clip(said(setting), max(1, int((_LABEL - 22) / room("0", letters))))
            sheet.lines(f"grid {layout}", [[(x + 7, at), (right + 2, place)]])
            sheet.text(right + 5, place, text, f"other middle {layout}", full=said(setting))


def _interaction_caption(response: Response, left_out: int, drawn: Sequence[_Lines]) -> str:
    words = ["Means of treatments by two factors; a line for each setting of one of them."]
    words.append("Parallel lines: the factors act independently; lines that part or cross: they interact.")
    words.append("All panels have one scale.")
    if not response.balanced:
        words.append("The treatments are not balanced: a mean also holds what else differs.")
    if any(len(d.means) < len({a for a, _ in d.means}) * len({b for _, b in d.means}) for d in drawn):
        words.append("Combinations that were not measured are missing.")
    pairs = [":".join(own) for d in drawn for own in permutations((d.x.name, d.by.name))]
    words += filter(None, [_aliased(pairs, alias_sets(response)).strip()])
    if left_out:
        words.append(f"{left_out} more, the most parallel, {agree(left_out, 'is', 'are')} left out.")
    return " ".join(words)
