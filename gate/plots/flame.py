"""The call tree of both sides: callers above what they call, red where head spends more itself, blue where less."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from gate.model.explanation import Explanation, FlameNode
from gate.plots.picture import Picture, legal
from gate.words import explanations as words
from gate.writing.plain import clip

_WIDTH = 1000.0
_ROW = 20
_TOP = 26
_LETTER = 6.7
"""Pixels of a letter."""
_SHOWN = 22
"""A narrower box has no name."""
_STEPS = 4
"""Shades of red and of blue."""
_FAINT = 0.02
"""Share of the largest change below which a box has no colour."""
_STYLE = (
    "#{id} text{{font:11.5px ui-monospace,monospace;fill:var(--ink);pointer-events:none;unicode-bidi:isolate}}"
    "#{id} .f-key{{font:12px system-ui,sans-serif;fill:var(--soft)}}"
    "#{id} rect{{stroke:var(--page);stroke-width:1;fill:var(--band)}}"
    "#{id} g[tabindex]{{cursor:pointer;outline:none}}"
    "#{id} g:hover rect,#{id} g:focus rect{{stroke:var(--ink);stroke-width:1.5}}"
    "{shades}"
)
_SHADES = (0.18, 0.34, 0.52, 0.72)


class _Box(msgspec.Struct, frozen=True):
    node: FlameNode
    x: float
    width: float
    level: int
    own: float
    """Change of what it spends itself, small callees included."""


def flame_graph(found: Explanation, title: str, prefix: str) -> Picture | None:
    """Draw the call tree of an explanation; None: it has none.

    The width of a box is the larger of both sides' costs with all below it; where the boxes below a box are wider than
    it, because cost went from one to another, they are drawn narrower.
    """
    if len(found.flame) < 2:
        return None
    boxes = _boxes(found.flame)
    largest = max((abs(box.own) for box in boxes), default=0.0)
    height = _TOP + _ROW * (1 + max(box.level for box in boxes)) + 2
    total = max(found.total.base, found.total.head)
    body = "\n".join(_box(box, found, total, largest) for box in boxes)
    said = f"{words.profiled_by(found)}"
    shades = "".join(
        f"#{prefix}-svg .f-{sign}{step} rect{{fill:var(--{colour});fill-opacity:{opacity}}}"
        for sign, colour in (("more", "regression"), ("less", "improvement"))
        for step, opacity in enumerate(_SHADES, 1)
    )
    style = _STYLE.format(id=f"{prefix}-svg", shades=shades)
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" id="{prefix}-svg" class="picture flame-graph" role="img" '
        f'viewBox="0 0 {_WIDTH:g} {height}" aria-labelledby="{prefix}-title">'
        f'<title id="{prefix}-title">{legal(f"Call tree of {title}: {said}")}</title>\n'
        f"<style>{style}</style>\n{''.join(_key())}\n{body}\n</svg>"
    )
    return Picture(svg, _APPROXIMATE if found.approximate else "", _READING)


_APPROXIMATE = "Stacks are drawn from callers and callees in proportion, so a path may be wrong."
_READING = (
    "Callers stand above what they call. A box is as wide as its cost with all that it calls (the larger of both).",
    "Red (▲): head spends more in the function itself; blue (▼): less. Small boxes are left out.",
    "Click a box or press Enter to enlarge it, the top box or Escape to see all.",
)


def _key() -> Iterator[str]:
    yield from (
        f'<g class="f-{kind}"><rect x="{x}" y="4" width="14" height="14"/></g>'
        f'<text class="f-key" x="{x + 20}" y="15">{text}</text>'
        for x, kind, text in ((2, "more3", "▲ more in head"), (140, "less3", "▼ less"), (222, "same", "about the same"))
    )


def _boxes(nodes: Sequence[FlameNode]) -> list[_Box]:
    """Place the boxes of the nodes, whose callers come before them."""
    children: list[list[int]] = [[] for _ in nodes]
    for index, node in enumerate(nodes[1:], 1):
        children[node.parent].append(index)
    boxes: list[_Box] = []
    # number, left edge, width, level
    pending = [(0, 0.0, _WIDTH, 0)]
    while pending:
        index, x, width, level = pending.pop()
        node = nodes[index]
        below = children[index]
        spent = [sum(side) for side in zip(*((nodes[i].base, nodes[i].head) for i in below), strict=True)] or [0.0, 0.0]
        boxes.append(_Box(node, x, width, level, (node.head - spent[1]) - (node.base - spent[0])))
        sizes = [max(nodes[i].base, nodes[i].head) for i in below]
        scale = width / max(max(node.base, node.head), sum(sizes), 1e-300)
        for child, size in zip(below, sizes, strict=True):
            pending.append((child, x, size * scale, level + 1))
            x += size * scale
    return boxes


def _box(box: _Box, found: Explanation, total: float, largest: float) -> str:
    share, shade = abs(box.own) / largest if largest else 0.0, "same"
    if share >= _FAINT:
        shade = f"{'more' if box.own > 0 else 'less'}{min(_STEPS, 1 + int(share * _STEPS))}"
    node = box.node
    name = words.name(node.frame) if box.level else "all"
    mark = {"more": "▲ ", "less": "▼ "}.get(shade[:4], "") if shade[4:] in ("3", "4") else ""
    label = f"{mark}{name}"
    shown = clip(label, int((box.width - 6) / _LETTER)) if box.width >= _SHOWN else ""
    y = _TOP + _ROW * box.level
    quoted = legal(label).replace('"', "&quot;")
    said = legal(words.box(node, box.own, found, total, name))
    return (
        f'<g class="f-{shade}" tabindex="0" data-name="{quoted}">'
        f"<title>{said}</title>"
        f'<rect x="{box.x:.1f}" y="{y}" width="{max(box.width, 0.2):.1f}" height="{_ROW - 1}"/>'
        f'<text x="{box.x + 3:.1f}" y="{y + 14}">{legal(shown)}</text></g>'
    )
