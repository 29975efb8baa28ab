"""What the pictures of a study share: looks of settings, legends, texts in their room, and scales of values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gate.model.study import Factor, Response, Setting
from gate.plots.panels import Array, Look
from gate.plots.picture import LETTERS, Anchor, Sheet, room
from gate.plots.scales import Measure, measure, minus
from gate.units import DIMENSIONS, format_number
from gate.words.effects import Unit, unit_of
from gate.writing.plain import clip, told_apart

WIDTH = 720
"""Of every picture."""
_LEGEND = 20
"""Height of a row of a legend."""


# --- settings ---------------------------------------------------------------------------------------------------------


Entry = tuple[Look, str]
"""A line of a legend: a look and what it stands for."""


def said(setting: Setting | str) -> str:
    """Write a setting on one line, without what does not print."""
    text = f"{setting:.6g}" if isinstance(setting, float) else str(setting)
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def combination(settings: Mapping[str, Setting], width: int = 60) -> str:
    """Write settings in words, "load=busy, sched=fifo"; "all" where there are none."""
    names = ", ".join(f"{clip(said(name), 24)}={clip(said(setting), 24)}" for name, setting in settings.items())
    return clip(names, width) if names else "all"


def codes(factor: Factor) -> dict[Setting, int]:
    """Return the number of each setting of a factor."""
    return {setting: number for number, setting in enumerate(factor.settings)}


def look_of(factor: Factor, setting: Setting) -> Look:
    """Return how a setting is drawn; the sides keep the colours that they have everywhere."""
    if factor.name == "side" and setting in ("base", "head"):
        return Look(("base", "head").index(str(setting)))
    return Look(codes(factor).get(setting, len(factor.settings)))


def entries(factor: Factor, settings: Sequence[Setting] | None = None) -> list[Entry]:
    """Return the legend of a factor's settings, or of some of them."""
    return [(look_of(factor, s), said(s)) for s in (factor.settings if settings is None else settings)]


def factors_by_name(response: Response) -> dict[str, Factor]:
    """Return the factors of a response by name."""
    return {factor.name: factor for factor in response.factors}


# --- texts ------------------------------------------------------------------------------------------------------------


def words(*sentences: str | Literal[False] | None) -> str:
    """Join the sentences of a caption that there are."""
    return " ".join(sentence for sentence in sentences if sentence)


def cut(text: str, space: float) -> str:
    """Cut a text to a space in pixels."""
    return text if room(text, LETTERS) <= space else clip(text, letters_in(space))


def letters_in(space: float) -> int:
    """Return how many letters a space in pixels holds, at least 1."""
    return max(1, int(space / room("0", LETTERS)))


def write(
    sheet: Sheet, x: float, y: float, text: str, space: float, classes: str = "soft other", anchor: Anchor = "middle"
) -> None:
    """Write a text that is cut to a space in pixels."""
    sheet.text(x, y, cut(text, space), classes, anchor, full=text)


def shortened(names: Sequence[str], width: int) -> dict[str, str]:
    """Shorten names to a width in columns so that they stay different; {}: no way of cutting them does that."""
    found = told_apart(names, width) if width > 0 else {}
    return found if len({*found.values()}) == len(found) else {}


def in_unit(unit: str, width: int) -> str:
    """Write a unit behind what is in it: ", ms"."""
    return f", {clip(said(unit), width)}" if unit else ""


def legend_height(listed: Sequence[Entry], space: float, title: str = "") -> float:
    """Return the height that a legend takes."""
    return _LEGEND * (1 + max((row for _, row, _, _ in _flow(listed, space, title)), default=-1))


def legend(sheet: Sheet, listed: Sequence[Entry], left: float, top: float, space: float, title: str = "") -> None:
    """Draw marks and names in rows, which break where the space ends."""
    if title and listed:
        write(sheet, left, top + _LEGEND * 0.5, f"{title}:", space / 3, "soft other middle", "start")
    for x, row, (look, name), text in _flow(listed, space, title):
        middle = top + _LEGEND * (row + 0.5)
        look.marks(sheet, [(left + x, middle)], "large")
        sheet.text(left + x + 10, middle, text, "other middle", full=name)


def _flow(listed: Sequence[Entry], space: float, title: str) -> Iterator[tuple[float, int, Entry, str]]:
    """Give place and row of each entry, with as much of its name as there is room for."""
    begin = min(room(f"{title}:", LETTERS), space / 3) + 14 if title else 8.0
    x, row = begin, 0
    for entry in listed:
        text = cut(entry[1], min(space - begin - 20, space / 2))
        width = 10 + room(text, LETTERS)
        if x + width > space and x > begin:
            x, row = begin, row + 1
        yield x, row, entry, text
        x += width + 26


def apart(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move places apart to at least a gap, with the least squares of moves that two ends allow.

    Raises:
        ValueError: the ends do not hold so many.
    """
    from scipy.optimize import isotonic_regression

    if (len(wanted) - 1) * gap > high - low + 1e-6:
        raise ValueError(f"{len(wanted)} places {gap:g} apart need more than {high - low:g}")
    if not wanted:
        return []
    # less a gap for each place before it, places may meet but not cross
    ranked, before = np.argsort(wanted, kind="stable"), gap * np.arange(len(wanted))
    places = np.empty(len(wanted))
    free = isotonic_regression(np.array(wanted)[ranked] - before).x
    places[ranked] = np.clip(free, low, max(low, high - before[-1])) + before
    found: list[float] = places.tolist()
    return found


# --- axes -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scale:
    """How values of a response become numbers of an axis."""

    measure: Measure
    natural: bool
    """The values are natural logarithms."""

    @property
    def log(self) -> bool:
        """Whether the axis is a logarithm."""
        return self.measure.log

    def of(self, values: Array) -> Array:
        """Return the numbers of values."""
        if self.natural:
            return (values - math.log(self.measure.factor)) / math.log(10)
        return self.measure.of(values)

    def one(self, value: float) -> float:
        """Return the number of one value."""
        return float(self.of(np.array([value]))[0])

    def say(self, value: float) -> str:
        """Write a value with its unit."""
        plain = math.exp(value) if self.natural else value
        return f"{self.measure.say(plain)} {said(self.measure.unit)}".rstrip()


def scale(response: Response, values: Array, *, plain: bool = False) -> Scale | None:
    """Choose unit and kind of axis for values of a response; None where floats cannot hold what a picture needs.

    The axis is a logarithm where the response is one.

    Args:
        plain: the values are no logarithms, whatever the response is; they get its axis if they are all above 0.
    """
    logs = response.scale == "log"
    if values.size == 0 or not np.isfinite(values).all():
        return None
    if logs and not plain:
        # the intervals of few replicates reach as far as they like
        if not -600 < values.min() <= values.max() < 600:
            return None
        unit = _unit(response, np.exp(values))
        return None if unit is None else Scale(Measure(unit.factor, unit.name, True), True)
    unit = _unit(response, values)
    return None if unit is None else Scale(Measure(unit.factor, unit.name, bool(logs and values.min() > 0)), False)


def _unit(response: Response, values: Array) -> Unit | None:
    """Return the unit of the response; of a count one with a power of ten, where its numbers are long."""
    found = measure(values, response.unit)
    if found is None:
        return None
    return unit_of(response) if response.unit in DIMENSIONS else Unit(found.factor, found.unit)


@dataclass(frozen=True, slots=True)
class Differences:
    """How differences of values are written: divided by a factor, in a unit; percent where they are of logarithms."""

    factor: float
    unit: str
    percent: bool

    def one(self, difference: float) -> float:
        """Return the number of a difference."""
        return math.expm1(min(difference, 300.0)) * 100 if self.percent else difference / self.factor

    def say(self, difference: float) -> str:
        """Write a difference with its sign and unit."""
        number = self.one(difference)
        sign = "+" if number > 0 else ""
        return minus(f"{sign}{format_number(number, 3)}{'%' if self.percent else f' {said(self.unit)}'.rstrip()}")


def differences(response: Response, sizes: Array) -> Differences | None:
    """Choose the unit of differences; None where there is none that is finite."""
    finite = np.abs(sizes[np.isfinite(sizes)])
    if finite.size == 0:
        return None
    if response.scale == "log":
        return Differences(1.0, "%", True)
    found = _unit(response, np.array([float(finite.max())])) or unit_of(response)
    return Differences(found.factor, found.name, False)


def name(sheet: Sheet, response: Response, of: Scale, before: str = "") -> None:
    """Write above a vertical axis what it holds."""
    metric = clip(said(response.metric), 24)
    sheet.text(12, 20, f"{before}{metric}{in_unit(of.measure.unit, 16)}{' (log axis)' if of.log else ''}", "soft other")
