"""The block plot of a factor: its settings compared in boxes of equal settings of the others (NIST TN 1855, Fig. 7)."""

from __future__ import annotations

from collections import Counter

import numpy as np

from gate.commands.study.plots import marks as m
from gate.commands.study.plots.marks import WIDTH, combination, look_of, said
from gate.commands.study.plots.treatment_columns import ROW, labels, names_room, ordered
from gate.model.study import Blocks, Box, Response, Setting
from gate.plots import panels
from gate.plots.panels import Panel
from gate.plots.picture import Picture, Sheet
from gate.plots.scales import Axis
from gate.writing.plain import clip

_HEAD, _PLOT = 30, 216
MOST = 48
"""Boxes that are drawn at most."""
_BROAD = 120.0
_RED = "regression"
"""The colour of questionable treatments."""


def blocks(prefix: str, response: Response, blocks: Blocks) -> Picture | None:
    """Draw the means of a factor's settings in a box for each combination of the others; None: there are no boxes."""
    factor = m.factors_by_name(response).get(blocks.factor)
    boxes = [box for box in blocks.boxes if box.points]
    values = np.array([mean for box in boxes for _, mean in box.points])
    of = m.scale(response, values)
    if factor is None or of is None or all(len(box.points) < 2 for box in boxes):
        return None
    others = [f for f in response.factors if f.name != factor.name and any(f.name in box.at for box in boxes)]
    kept = [boxes[k] for k in ordered(others, [box.at for box in boxes])][:MOST]
    y = panels.span(of.of(values), of.log)
    left = max(y.room, names_room(others))
    slot = min((WIDTH - left - 14) / len(kept), _BROAD)
    listed = m.entries(factor)
    top = _HEAD + m.legend_height(listed, WIDTH - 24, said(factor.name)) + 14
    sheet = Sheet(WIDTH, top + _PLOT + 8 + ROW * len(others) + 8, phone=False)
    m.name(sheet, response, of, "mean ")
    m.legend(sheet, listed, 12, _HEAD, WIDTH - 24, said(factor.name))
    panel = Panel.on(sheet, Axis(0, 1, left, WIDTH - 8), y, top, _PLOT).across(panels.places(left + 6, slot, len(kept)))
    number = m.codes(factor)

    def order(box: Box) -> tuple[Setting, ...] | None:
        """Return the settings of a complete box from the lowest to the highest mean; None: it lacks some."""
        if len(box.points) < len(factor.settings):
            return None
        return tuple(s for s, _ in sorted(box.points, key=lambda p: (p[1], number[p[0]])))

    orders = [own for box in boxes if (own := order(box)) is not None]
    commonest = Counter(orders).most_common(1)[0][0] if orders else None
    half = min(slot * 0.42, 34)
    red = False
    for place, box in enumerate(kept):
        x, pixels = panel.x.at(place), panel.y.all(of.of(np.array([mean for _, mean in box.points])))
        low, high = max(pixels) + 9, min(pixels) - 9
        corners = [(x - half, low), (x + half, low), (x + half, high), (x - half, high)]
        doubt = {s for s, _ in box.points if {**box.at, factor.name: s} in response.questionable}
        odd = order(box) not in (None, commonest)
        red = red or bool(doubt)
        for kind, drawn in (
            ("frame" if odd or len(box.points) < len(factor.settings) else "shell", True),
            ("limit", odd),
            (f"fine-{_RED}", bool(doubt)),
        ):
            sheet.lines(kind, [corners] if drawn else [], closed=True)
        for (setting, _), at in zip(box.points, pixels, strict=True):
            colour = _RED if setting in doubt else None
            size: panels.Size = "large" if slot >= 24 else "middle"
            look_of(factor, setting).marks(sheet, [(x, at)], size, colour)
    lacking = len(boxes) - blocks.complete
    keyed = labels(sheet, others, [box.at for box in kept], panel.x, top + _PLOT + 8)
    caption = m.words(
        f"A box holds the treatments that differ in {clip(said(factor.name), 30)} only; a mark is a treatment's mean.",
        blocks.complete < 2 and "There are too few complete boxes to compare their orders.",
        blocks.complete > 1 and blocks.order is None and "Boxes that have not the commonest order have a dashed edge.",
        lacking > 0 and f"{lacking} of {len(boxes)} boxes lack a setting and are not counted; they are unfilled.",
        len(kept) < len(boxes) and f"{len(boxes) - len(kept)} boxes are left out of the picture.",
        red and "Red marks in boxes with a red edge are the questionable treatments, which --without names.",
        keyed,
    )
    shown = [
        f"{combination(box.at, 60)}: {', '.join(f'{clip(said(s), 16)} {of.say(mean)}' for s, mean in box.points)}"
        for box in kept[:4]
    ]
    title = f"Block plot of {blocks.factor} for {response.benchmark}, {response.metric}"
    return sheet.picture(prefix, title, f"Means by {clip(said(factor.name), 30)}. {'; '.join(shown)}.", caption)
