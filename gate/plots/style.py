"""The styles of pictures: colours are variables of the page, so that light, dark and print work."""

from __future__ import annotations

from collections.abc import Iterable

from gate.model import VERDICTS

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
    "faint": "opacity:.3",
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
LETTERS_NARROW = 22
"""Sizes of text in the units of a picture; on a phone, half as many pixels remain of them."""
_HALF_WIDTH = 640
"""Pictures of this width stand side by side on paper."""


def marked(classes: str) -> str:
    """Write a class attribute; names begin with p-, so that the styles of the page do not meet those of a picture."""
    names = " ".join(f"p-{name}" for name in classes.split())
    return f' class="{names}"' if names else ""


def style(root: str, classes: Iterable[str], width: float) -> str:
    """Write the rules that classes need, for the element with an id only.

    Classes are names of rules, or a rule and a colour: "dot-base", "mark-regression". A phone gets larger letters, and
    "narrow" texts in place of "wide" ones.
    """
    used = dict.fromkeys(classes)
    small = "(max-width:640px),print" if width <= _HALF_WIDTH else "(max-width:640px)"
    rules = [
        f"#{root} text{{font:{LETTERS}px system-ui,sans-serif;font-variant-numeric:tabular-nums;fill:var(--ink)}}",
        f"#{root} .p-narrow{{display:none}}",
        *(f"#{root} .p-{name}{{{rule}}}" for name in used if (rule := _rule(name))),
        f"@media{small}{{#{root} text{{font-size:{LETTERS_NARROW}px}}",
        *(f"#{root} .p-{name}{{font-size:{LETTERS_NARROW}px}}" for name in ("small", "name") if name in used),
        f"#{root} .p-wide{{display:none}}#{root} .p-narrow{{display:inline}}}}",
    ]
    return "".join(rules)


def _rule(name: str) -> str:
    kind, _, colour = name.partition("-")
    if colour in _COLOURS:
        return _PER_COLOUR[kind].replace("{}", f"var(--{colour})")
    return _RULES.get(name, "")
