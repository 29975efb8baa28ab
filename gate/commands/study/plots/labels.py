"""Treatments along an axis: one row of labels a factor, the last factor in the upper row, equal neighbours joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from gate.commands.study.plots.marks import LAYOUTS, look_of, said, shortened, write
from gate.model.study import Factor, Setting
from gate.plots.picture import Sheet, room
from gate.plots.style import LETTERS_NARROW
from gate.writing.plain import clip

ROW = 27
"""Height of a row of labels, enough for the letters of a phone."""
_NAMES = 124.0


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring places with the same setting of a factor, and of all slower ones."""

    setting: Setting | None
    first: int
    last: int
    """Included."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where treatments stand."""

    xs: Sequence[float]
    slot: float
    """The width of one."""


def ordered(factors: Sequence[Factor], found: Sequence[Mapping[str, Setting]]) -> list[int]:
    """Return the order in which the last factor changes fastest, as indices."""
    numbers = [{setting: n for n, setting in enumerate(factor.settings)} for factor in factors]

    def key(index: int) -> list[int]:
        own = found[index]
        return [numbers[k].get(own[f.name], len(f.settings)) if f.name in own else -1 for k, f in enumerate(factors)]

    return sorted(range(len(found)), key=key)


def runs(factors: Sequence[Factor], found: Sequence[Mapping[str, Setting]]) -> list[list[Run]]:
    """Return the runs of each factor along treatments in their order."""
    result = []
    for depth, factor in enumerate(factors):
        names = [f.name for f in factors[: depth + 1]]
        keys = [tuple(settings.get(n) for n in names) for settings in found]
        own, at = [], 0
        for _, group in groupby(keys):
            size = len(list(group))
            own.append(Run(found[at].get(factor.name), at, at + size - 1))
            at += size
        result.append(own)
    return result


def names_room(factors: Sequence[Factor]) -> float:
    """Return the room that the names of factors want at the left, within reason."""
    return min(max((room(said(f.name), LETTERS_NARROW) for f in factors), default=0.0) + 18, _NAMES)


def height(factors: Sequence[Factor]) -> float:
    """Return the height of the labels of treatments."""
    return ROW * len(factors)


def labels(
    sheet: Sheet, factors: Sequence[Factor], found: Sequence[Mapping[str, Setting]], places: Places, top: float,
    left: float, *, marked: Factor | None = None,
) -> None:  # fmt: skip
    """Write the settings of treatments below an axis, and the factors' names before them.

    Args:
        found: in their order.
        left: the room for names of factors.
        marked: the factor whose settings have marks, drawn before its names where there is room.
    """
    for depth, (factor, own) in enumerate(reversed(list(zip(factors, runs(factors, found), strict=True)))):
        middle = top + ROW * (depth + 0.5)
        write(sheet, left - 8, middle, said(factor.name), left - 12, "soft other small middle", "end")
        short = {layout: _short(factor, own, places, letters) for layout, letters in LAYOUTS}
        # marks stand before all names of a layout, or before none
        with_marks = frozenset(
            layout
            for layout, letters in LAYOUTS
            if factor == marked and all(_room(run, short[layout], letters) + 20 <= _space(run, places) for run in own)
        )
        for run in own:
            _label(sheet, factor, run, places, middle, short, with_marks)
        if depth:
            _brackets(sheet, own, places, middle - ROW / 2 - 1)


def _brackets(sheet: Sheet, own: Sequence[Run], places: Places, y: float) -> None:
    edge = places.slot * 0.4
    sheet.lines("axis", [[(places.xs[r.first] - edge, y), (places.xs[r.last] + edge, y)] for r in own])


def _label(
    sheet: Sheet, factor: Factor, run: Run, places: Places, middle: float, short: Mapping[str, Mapping[str, str]],
    with_marks: frozenset[str],
) -> None:  # fmt: skip
    if run.setting is None:
        return
    x = (places.xs[run.first] + places.xs[run.last]) / 2
    full = said(run.setting)
    for layout, letters in LAYOUTS:
        text = short[layout].get(full, "")
        mark = 20 if layout in with_marks else 0
        if mark:
            at = x - room(text, letters) / 2 - 2
            look_of(factor, run.setting).marks(sheet, [(at, middle)], "middle", f" {layout}")
        if text:
            sheet.text(x + mark / 2, middle, text, f"other middle {layout}", "middle", full=full)


def _room(run: Run, short: Mapping[str, str], letters: float) -> float:
    return 0.0 if run.setting is None else room(short.get(said(run.setting), ""), letters)


def _space(run: Run, places: Places) -> float:
    return places.slot * (run.last - run.first + 1) - 1


def _short(factor: Factor, own: Sequence[Run], places: Places, letters: float) -> dict[str, str]:
    """Shorten the names of settings to the narrowest run, to what still tells them apart; {}: nothing fits."""
    # some air between neighbours
    space = min((_space(run, places) for run in own), default=0.0) - (5 if letters == LETTERS_NARROW else 10)
    width = int(space / room("0", letters))
    names = [said(setting) for setting in factor.settings]
    cut = shortened(names, width)
    if cut:
        return cut
    numbers = {name: str(number) for number, name in enumerate(names, start=1)}
    return numbers if all(len(number) <= width for number in numbers.values()) else {}


def keyed(factors: Sequence[Factor], found: Sequence[Mapping[str, Setting]], places: Places) -> str:
    """Say which settings have a number in place of a name, in words; empty where none has."""
    words = []
    for factor, own in zip(factors, runs(factors, found), strict=True):
        cut = [_short(factor, own, places, letters) for _, letters in LAYOUTS]
        names = [said(setting) for setting in factor.settings]
        if any(c and any(c[n] != n and c[n] == str(k) for k, n in enumerate(names, start=1)) for c in cut):
            listed = ", ".join(f"{k} {clip(n, 24)}" for k, n in enumerate(names, start=1))
            words.append(f"{clip(said(factor.name), 24)}: {listed}")
    return f" Where names do not fit, settings are numbered: {'; '.join(words)}." if words else ""
