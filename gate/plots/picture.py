"""A drawing as one clean <svg> element for a page: classes for styles, text as text, short paths."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import islice, pairwise, starmap
from typing import Literal
from xml.sax.saxutils import escape

import msgspec
import numpy as np
from markupsafe import Markup

from gate.document.document import Figure
from gate.model import VERDICTS
from gate.writing.plain import clip, columns

_SIDES = ("base", "head")
SETTINGS = 8
"""So many settings of a factor have a colour of their own: the variables --s0 to --s7 of the page."""
_COLOURS = (*_SIDES, *VERDICTS, *(f"s{number}" for number in range(SETTINGS)))

_RULES: dict[str, str] = {
    "grid": "fill:none;stroke:var(--line)",
    "axis": "fill:none;stroke:var(--soft)",
    "zero": "fill:none;stroke:var(--ink);stroke-width:1.2",
    "limit": "fill:none;stroke:var(--soft);stroke-width:1.4;stroke-dasharray:6 4",
    "stripe": "fill:var(--wash)",
    "soft": "fill:var(--soft)",
    "strong": "font-weight:600",
    "name": "font-family:ui-monospace,monospace;font-size:12.5px;unicode-bidi:isolate",
    "other": "unicode-bidi:isolate",
    "spread": "fill:var(--head);fill-opacity:.2;stroke:none",
    "curve": "fill:none;stroke:var(--head);stroke-width:2;stroke-linejoin:round",
    "point": "fill:var(--head);stroke:var(--page)",
    "small": "font-size:12px",
    "middle": "dominant-baseline:central",
    "halo": "fill:none;stroke:var(--page);stroke-width:6.4",
    "hole": "fill:none;stroke:var(--page);stroke-width:2.4;stroke-linecap:round",
    "hub": "fill:none;stroke:var(--page);stroke-width:4.6;stroke-linecap:round",
    "frame": "fill:none;stroke:var(--soft);stroke-width:1.2",
    "shell": "fill:var(--wash);stroke:var(--soft);stroke-width:1.2",
    "dotted": "fill:none;stroke:var(--ink);stroke-width:1.8;stroke-dasharray:.1 4.5;stroke-linecap:round",
    "mean": "fill:none;stroke:var(--ink);stroke-width:2.4",
    "tip": "fill:none;stroke:transparent;stroke-width:var(--tip,6)",
    "dash-1": "stroke-dasharray:8 4",
    "dash-2": "stroke-dasharray:2.5 3",
    "dash-3": "stroke-dasharray:10 3 2.5 3",
    "dash-4": "stroke-dasharray:14 4",
    "dash-5": "stroke-dasharray:5 5",
    "dash-6": "stroke-dasharray:10 3 2 3 2 3",
    "dash-7": "stroke-dasharray:1.5 6",
}
_PER_COLOUR: dict[str, str] = {
    "dot": "fill:none;stroke:{};stroke-width:4;stroke-linecap:round;stroke-opacity:.75",
    "spot": "fill:none;stroke:{};stroke-width:7;stroke-linecap:round;stroke-opacity:.85",
    "tri": "fill:{};fill-opacity:.75",
    "ring": "fill:none;stroke:{};stroke-width:4.6;stroke-linecap:round",
    "hollow": "fill:none;stroke:{};stroke-width:1",
    "cross": "fill:none;stroke:{};stroke-width:3.4",
    "fine": "fill:none;stroke:{};stroke-width:1.6",
    "violin": "fill:{};fill-opacity:.16;stroke:{};stroke-opacity:.45;stroke-width:.8",
    "bar": "fill:none;stroke:{};stroke-width:3",
    "wing": "fill:none;stroke:{};stroke-width:1.3",
    "big": "fill:none;stroke:{};stroke-width:11;stroke-linecap:round",
    "mark": "fill:{};stroke:var(--page);stroke-width:1.5;paint-order:stroke",
    "pip": "fill:{}",
    "edge": "fill:none;stroke:{};stroke-width:2",
    "arrow": "fill:none;stroke:{};stroke-width:2.5",
    "say": "fill:{};font-weight:600",
    "line": "fill:none;stroke:{};stroke-width:2;stroke-linejoin:round",
    "area": "fill:{};fill-opacity:.18;stroke:none",
    "hair": "fill:none;stroke:{};stroke-width:1.3;stroke-dasharray:4 3",
    "wheel": "fill:none;stroke:{};stroke-width:8;stroke-linecap:round",
    "box": "fill:{};fill-opacity:.14;stroke:{};stroke-width:1.4",
}
LETTERS = 13
"""Size of text in the units of a picture."""


def marked(classes: str) -> str:
    """Write a class attribute; names begin with p-, so that the styles of the page do not meet those of a picture."""
    names = " ".join(f"p-{name}" for name in classes.split())
    return f' class="{names}"' if names else ""


def style(root: str, classes: Iterable[str]) -> str:
    """Write the rules that classes need, for the element with an id only.

    Classes are names of rules, or a rule and a colour: "dot-base", "mark-regression".
    """
    used = dict.fromkeys(classes)

    def rule(name: str) -> str:
        kind, _, colour = name.partition("-")
        if colour in _COLOURS:
            return _PER_COLOUR[kind].replace("{}", f"var(--{colour})")
        return _RULES.get(name, "")

    letters = f"#{root} text{{font:{LETTERS}px system-ui,sans-serif;font-variant-numeric:tabular-nums;fill:var(--ink)}}"
    return "".join([letters, *(f"#{root} .p-{name}{{{own}}}" for name in used if (own := rule(name)))])


Anchor = Literal["start", "middle", "end"]
Shape = Literal[
    "circle", "triangle", "diamond", "square", "cross", "star", "chevron-up", "chevron-down", "left", "right"
]
Point = tuple[float, float]

_TIP = 240
_ILLEGAL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_STEADY = 6
"""Digits of a place that may choose its tenth: the last bits differ between processors."""
_LINES = ("circle", "cross", "chevron-up", "chevron-down")
"""Shapes that are strokes, not areas."""
_GAP = 12
_LETTER = 0.64
"""Width of a letter or a digit in times the size of the text: wide, as in DejaVu Sans."""
# corners around the middle, y downwards, for marks of "size" 1
_CORNERS: dict[str, tuple[Point, ...]] = {
    "triangle": ((0, -1.2), (1.1, 0.8), (-1.1, 0.8)),
    "diamond": ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    "square": ((-0.95, -0.95), (0.95, -0.95), (0.95, 0.95), (-0.95, 0.95)),
    # one line through the middle and back
    "cross": ((-0.95, -0.95), (0.95, 0.95), (0, 0), (0.95, -0.95), (-0.95, 0.95)),
    "star": tuple(
        (round(r * math.sin(k * math.pi / 5), 2), round(-r * math.cos(k * math.pi / 5), 2))
        for k in range(10)
        for r in ((1.5, 0.62)[k % 2],)
    ),
    "left": ((-1.2, 0), (0.8, -1.1), (0.8, 1.1)),
    "right": ((1.2, 0), (-0.8, -1.1), (-0.8, 1.1)),
    "chevron-up": ((-1.1, 0.6), (0, -0.6), (1.1, 0.6)),
    "chevron-down": ((-1.1, -0.6), (0, 0.6), (1.1, -0.6)),
}


class Picture(msgspec.Struct, frozen=True):
    """A picture for a page."""

    svg: str
    """One <svg> element."""
    caption: str
    """Plain text, what is particular to it: what it leaves out, or what it shows."""
    reading: tuple[str, ...] = ()
    """Sentences on how to read any such picture."""

    def figure(self, kind: str, name: str) -> Figure:
        """Give it a place in a document."""
        # every name that a plot writes is escaped
        return Figure(kind, name, Markup(self.svg), self.caption, self.reading)  # noqa: S704


class Sheet:
    """A sheet to draw on, in pixels from the upper left corner; what is drawn later lies above."""

    def __init__(self, width: float, height: float) -> None:
        self.width = width
        self.height = height
        self._shapes: list[tuple[str, str]] = []
        self._texts: list[tuple[str, str]] = []
        self._tips: list[str] = []

    def lines(self, classes: str, lines: Iterable[Sequence[Point]], *, closed: bool = False) -> None:
        """Draw lines, or areas where they are closed, as one element."""
        kept = list(lines)
        if kept:
            self._shapes.append((classes, f'<path{marked(classes)} d="{_path(kept, closed=closed)}"/>'))

    def marks(self, classes: str, shape: Shape, points: Iterable[Point], size: float = 3.0) -> None:
        """Draw marks of a shape as one element; a circle is a line without length, whose width the style gives."""
        corners = _CORNERS.get(shape, ((0.0, 0.0), (0.0, 0.0)))
        lines = ([(x + size * a, y + size * b) for a, b in corners] for x, y in points)
        self.lines(classes, lines, closed=shape not in _LINES)

    def text(
        self, x: float, y: float, text: str, classes: str = "", anchor: Anchor = "start", full: str | None = None
    ) -> None:
        """Write any text with its baseline at y, above all shapes; full: what to show on hovering, if it is not all."""
        more = f"<title>{legal(clip(full, _TIP))}</title>" if full is not None and full != text else ""
        at = f'x="{round(x, _STEADY):.1f}" y="{round(y, _STEADY):.1f}"'
        at += "" if anchor == "start" else f' text-anchor="{anchor}"'
        self._texts.append((classes, f"<text{marked(classes)} {at}>{legal(text)}{more}</text>"))

    def tip(self, x: float, top: float, bottom: float, text: str) -> None:
        """Lay a vertical stretch above everything that shows a text on hovering; the style gives its width."""
        path = _path([[(x, top), (x, bottom)]], closed=False)
        self._tips.append(f'<path d="{path}"><title>{legal(text)}</title></path>')

    def row(self, y: float, labels: Sequence[tuple[float, str]], classes: str = "") -> None:
        """Write labels, from left to right, around their x: every second, every third or so where all would meet."""

        def meet(one: tuple[float, str], two: tuple[float, str]) -> bool:
            return two[0] - one[0] < (room(one[1], LETTERS) + room(two[1], LETTERS)) / 2 + _GAP

        strides = range(1, len(labels))
        stride = next((n for n in strides if not any(meet(*pair) for pair in pairwise(labels[::n]))), len(labels) or 1)
        for x, text in labels[::stride]:
            self.text(x, y, text, classes, "middle")

    def picture(self, prefix: str, title: str, description: str, caption: str, reading: Sequence[str] = ()) -> Picture:
        """Finish the sheet; all ids begin with the prefix, of letters, digits, - and _."""
        drawn = [*self._shapes, *self._texts]
        body = [element for _, element in drawn]
        if self._tips:
            body += [f"<g{marked('tip')}>", *self._tips, "</g>"]
        used = [name for classes, _ in drawn for name in classes.split()] + ["tip"] * bool(self._tips)
        lines = "\n".join(body)
        ids = [f"{prefix}-{name}" for name in ("svg", "title", "desc")]
        return Picture(
            f'<svg xmlns="http://www.w3.org/2000/svg" id="{ids[0]}" class="picture" role="img" '
            f'viewBox="0 0 {self.width:g} {self.height:g}" aria-labelledby="{ids[1]} {ids[2]}">'
            f'<title id="{ids[1]}">{legal(title)}</title><desc id="{ids[2]}">{legal(description)}</desc>\n'
            f"<style>{style(ids[0], used)}</style>\n{lines}\n</svg>",
            caption.strip(),
            tuple(reading),
        )


def legal(text: str) -> str:
    """Escape a text for XML; what XML cannot hold becomes the replacement character."""
    return escape(_ILLEGAL.sub("\ufffd", text))


def room(text: str, letters: float) -> float:
    """Return about how wide a text is in letters of a size; what browsers draw is rarely wider."""
    return columns(text) * letters * _LETTER


def _path(lines: Sequence[Sequence[Point]], *, closed: bool) -> str:
    """Write straight lines in whole tenths of a pixel, each point from the one before."""
    lengths = [len(line) for line in lines]
    tenths = np.rint(np.round([point for line in lines for point in line], _STEADY) * 10)
    before = np.vstack((np.zeros(2), tenths[:-1]))
    if closed:
        # z leads back to where a line began
        begins = np.cumsum([0, *lengths[:-1]])
        before[begins[1:]] = tenths[begins[:-1]]
    steps = iter((tenths - before).astype(np.int64).tolist())
    parts: list[str] = []
    for length in lengths:
        dx, dy = next(steps)
        parts.append(f"m{_tenths(dx)}{_joined(dy)}")
        parts += starmap(_step, islice(steps, length - 1))
        if closed:
            parts.append("z")
    return "".join(parts)


@cache
def _step(dx: int, dy: int) -> str:
    if dy == 0:
        return f"h{_tenths(dx)}"
    return f"v{_tenths(dy)}" if dx == 0 else f"l{_tenths(dx)}{_joined(dy)}"


@cache
def _tenths(value: int) -> str:
    whole, rest = divmod(abs(value), 10)
    sign = "-" if value < 0 else ""
    return f"{sign}{whole or '' if rest else whole}{f'.{rest}' if rest else ''}"


def _joined(value: int) -> str:
    return _tenths(value) if value < 0 else f" {_tenths(value)}"
