"""The call tree of both sides: callers above what they call, red where head spends more itself, blue where less."""

from __future__ import annotations

from gate.model.profile import Explanation
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


def flame_graph(found: Explanation, title: str, prefix: str) -> Picture | None:
    """Draw the call tree of an explanation; None: it has none.

    The width of a box is the larger of both sides' costs with all below it; where the boxes below a box are wider than
    it, because cost went from one to another, they are drawn narrower.
    """
    nodes = found.flame
    if len(nodes) < 2:
        return None
    # callers come before what they call
    children: list[list[int]] = [[] for _ in nodes]
    for index, node in enumerate(nodes[1:], 1):
        children[node.parent].append(index)
    # number, left edge, width, level
    boxes, own = [(0, 0.0, _WIDTH, 0)], [0.0] * len(nodes)
    for index, x, width, level in boxes:
        node, below = nodes[index], [nodes[child] for child in children[index]]
        # what it spends itself, small callees included
        own[index] = (node.head - sum(n.head for n in below)) - (node.base - sum(n.base for n in below))
        sizes = [max(n.base, n.head) for n in below]
        scale = width / max(max(node.base, node.head), sum(sizes), 1e-300)
        for child, size in zip(children[index], sizes, strict=True):
            boxes.append((child, x, size * scale, level + 1))
            x += size * scale
    largest = max(map(abs, own))
    body = []
    for index, x, width, level in boxes:
        share, shade = abs(own[index]) / largest if largest else 0.0, "same"
        if share >= _FAINT:
            shade = f"{'more' if own[index] > 0 else 'less'}{min(_STEPS, 1 + int(share * _STEPS))}"
        name = words.name(nodes[index].frame) if level else "all"
        mark = {"more": "▲ ", "less": "▼ "}.get(shade[:4], "") if shade[4:] in ("3", "4") else ""
        label, y = f"{mark}{name}", _TOP + _ROW * level
        shown = clip(label, int((width - 6) / _LETTER)) if width >= _SHOWN else ""
        quoted = legal(label).replace('"', "&quot;")
        said = words.box(nodes[index], own[index], found, max(found.total.base, found.total.head), name)
        body.append(
            f'<g class="f-{shade}" tabindex="0" data-name="{quoted}">'
            f"<title>{legal(said)}</title>"
            f'<rect x="{x:.1f}" y="{y}" width="{max(width, 0.2):.1f}" height="{_ROW - 1}"/>'
            f'<text x="{x + 3:.1f}" y="{y + 14}">{legal(shown)}</text></g>'
        )
    key = "".join(
        f'<g class="f-{kind}"><rect x="{x}" y="4" width="14" height="14"/></g>'
        f'<text class="f-key" x="{x + 20}" y="15">{text}</text>'
        for x, kind, text in ((2, "more3", "▲ more in head"), (140, "less3", "▼ less"), (222, "same", "about the same"))
    )
    shades = "".join(
        f"#{prefix}-svg .f-{sign}{step} rect{{fill:var(--{colour});fill-opacity:{opacity}}}"
        for sign, colour in (("more", "regression"), ("less", "improvement"))
        for step, opacity in enumerate(_SHADES, 1)
    )
    height, lines = _TOP + _ROW * (1 + max(level for *_, level in boxes)) + 2, "\n".join(body)
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" id="{prefix}-svg" class="picture flame-graph" role="img" '
        f'viewBox="0 0 {_WIDTH:g} {height}" aria-labelledby="{prefix}-title">'
        f'<title id="{prefix}-title">{legal(f"Call tree of {title}: {words.profiled_by(found)}")}</title>\n'
        f"<style>{_STYLE.format(id=f'{prefix}-svg', shades=shades)}</style>\n{key}\n{lines}\n</svg>"
    )
    return Picture(svg, _APPROXIMATE if found.approximate else "", _READING)


_APPROXIMATE = "Stacks are drawn from callers and callees in proportion, so a path may be wrong."
_READING = (
    "Callers stand above what they call. A box is as wide as its cost with all that it calls (the larger of both).",
    "Red (▲): head spends more in the function itself; blue (▼): less. Small boxes are left out.",
    "Click a box or press Enter to enlarge it, the top box or Escape to see all.",
)
