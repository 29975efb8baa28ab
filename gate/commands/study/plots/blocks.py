"""The block plot of a factor: its settings compared in boxes of equal settings of the others (NIST TN 1855, Fig. 7)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

import numpy as np

from gate.commands.study.plots import marks as m
from gate.commands.study.plots.marks import (
    LAYOUTS,
    Entry,
    Scale,
    Vertical,
    codes,
    combination,
    entries,
    factors_by_name,
    look_of,
    said,
)  # fmt: skip
from gate.commands.study.plots.treatment_columns import ROW, Places, keyed, labels, names_room, ordered
from gate.model.study import Blocks, Box, Factor, Response, Setting
from gate.plots.axes import grid
from gate.plots.picture import Picture, Sheet
from gate.writing.plain import clip

_WIDTH = 720
_HEAD, _PLOT = 30, 216
MOST = 48
"""Boxes that are drawn at most."""
_BROAD = 120.0
_NUMBERED = {"wide": 40.0, "narrow": 56.0}
"""Narrower slots than this have no room for the number of a setting beside its mark."""
_TAG = 2
_TAGGED = 6
"""More marks in a box than this have no room for tags."""
_GAP = {"wide": 14.0, "narrow": 22.0}
_LAST = 30
_RED = "regression"
"""The colour of questionable treatments."""


def blocks(prefix: str, response: Response, blocks: Blocks) -> Picture | None:
    """Draw the means of a factor's settings in a box for each combination of the others; None: there are no boxes."""
    factor = factors_by_name(response).get(blocks.factor)
    boxes = [box for box in blocks.boxes if box.points]
    values = np.array([mean for box in boxes for _, mean in box.points])
    of = m.scale(response, values)
    if factor is None or of is None or all(len(box.points) < 2 for box in boxes):
        return None
    others = [f for f in response.factors if f.name != factor.name and any(f.name in box.at for box in boxes)]
    kept = [boxes[k] for k in ordered(others, [box.at for box in boxes])][:MOST]
    left = names_room(others)
    tagged = len(factor.settings) <= _TAGGED and (_WIDTH - left - 8) / len(kept) >= _NUMBERED["wide"]
    # what stands beside the mark of a setting: its name if all are short, else its number
    short = all(len(said(s)) <= _TAG for s in factor.settings)
    tags = {s: said(s) if short else str(n) for n, s in enumerate(factor.settings, start=1)}
    listed = entries(factor)
    if tagged and not short:
        listed = [Entry(own.look, f"{tag} {own.name}") for tag, own in zip(tags.values(), listed, strict=True)]
    top = _HEAD + m.legend_height(listed, _WIDTH - 24, said(factor.name)) + 14
    y = m.vertical(of.of(values), of.measure.log, top, top + _PLOT)
    left = max(y.room, left)
    # a phone's tags are broader than narrow boxes: the last one has to end on the sheet
    slot = min((_WIDTH - left - (_LAST if tagged else 8)) / len(kept), _BROAD)
    places = Places([left + 6 + slot * (k + 0.5) for k in range(len(kept))], slot)
    sheet = Sheet(_WIDTH, top + _PLOT + 8 + ROW * len(others) + 8)
    m.name(sheet, response, of, "mean ")
    m.legend(sheet, listed, 12, _HEAD, _WIDTH - 24, said(factor.name))
    grid(sheet, y.axis, y.ticks, left, _WIDTH - 8)
    orders = {k: own for k, box in enumerate(boxes) if (own := _order(box, factor)) is not None}
    commonest = max(Counter(orders.values()).items(), key=lambda own: own[1], default=(None, 0))[0]
    doubted = [
        {s for s, _ in box.points if {**box.at, factor.name: s} in response.questionable} for box in kept
    ]  # fmt: skip
    for box, x, doubt in zip(kept, places.xs, doubted, strict=True):
        _box(sheet, box, x, slot, y, of, factor, tags, doubt, odd=_order(box, factor) not in (None, commonest))
    labels(sheet, others, [box.at for box in kept], places, top + _PLOT + 8, left)
    caption = _caption(factor, blocks, len(boxes) - len(kept))
    if any(doubted):
        caption += " Red marks in boxes with a red edge are the questionable treatments, which --without names."
    caption += keyed(others, [box.at for box in kept], places)
    shown = [
        f"{combination(box.at, 60)}: {', '.join(f'{clip(said(s), 16)} {of.say(mean)}' for s, mean in box.points)}"
        for box in kept[:4]
    ]
    described = f"Means by {clip(said(factor.name), 30)}. {'; '.join(shown)}."
    title = f"Block plot of {blocks.factor} for {response.benchmark}, {response.metric}"
    return sheet.picture(prefix, title, described, caption)


def _order(box: Box, factor: Factor) -> tuple[Setting, ...] | None:
    """Return the settings of a complete box from the lowest to the highest mean; None: it lacks some."""
    if len(box.points) < len(factor.settings):
        return None
    number = codes(factor)
    return tuple(s for s, _ in sorted(box.points, key=lambda p: (p[1], number[p[0]])))


def _box(
    sheet: Sheet, box: Box, x: float, slot: float, y: Vertical, of: Scale, factor: Factor, tags: Mapping[Setting, str],
    doubt: set[Setting], *, odd: bool,
) -> None:  # fmt: skip
    """Draw a box. odd: its order is not the commonest; doubt: the settings at which its treatment is questionable."""
    pixels = [y.axis.at(of.one(mean)) for _, mean in box.points]
    half = min(slot * 0.42, 34)
    low, high = max(pixels) + 9, min(pixels) - 9
    corners = [(x - half, low), (x + half, low), (x + half, high), (x - half, high)]
    whole = len(box.points) == len(factor.settings)
    for kind, drawn in (
        ("frame" if odd or not whole else "shell", True),
        ("limit", odd),
        (f"fine-{_RED}", bool(doubt)),
    ):
        sheet.lines(kind, [corners] if drawn else [], closed=True)
    shift = half * 0.35 if slot >= _NUMBERED["wide"] else 0
    for (setting, _), at in zip(box.points, pixels, strict=True):
        red = _RED if setting in doubt else None
        look_of(factor, setting).marks(sheet, [(x - shift, at)], "large" if slot >= 24 else "middle", colour=red)
    for layout, _ in LAYOUTS:
        gap = _GAP[layout]
        if slot < _NUMBERED[layout] or len(pixels) > _TAGGED:
            continue
        spread = (len(pixels) - 1) * gap
        middle = min(max((low + high) / 2, y.axis.end + spread / 2), y.axis.start - 8 - spread / 2)
        ends = min(high + 4, middle - spread / 2), max(low - 4, middle + spread / 2)
        for (setting, _), place in zip(box.points, m.apart(pixels, gap, *ends), strict=True):
            sheet.text(x + shift * 0.6, place, tags[setting], f"middle small {layout}", full=said(setting))


def _caption(factor: Factor, blocks: Blocks, left_out: int) -> str:
    total, complete = len(blocks.boxes), blocks.complete
    name = clip(said(factor.name), 30)
    words = [f"A box holds the treatments that differ in {name} only; a mark is a treatment's mean."]
    if complete < 2:
        words.append("There are too few complete boxes to compare their orders.")
    elif blocks.order is not None:
        order = " < ".join(clip(said(s), 20) for s in blocks.order)
        words.append(f"All {complete} complete boxes have the same order, {order}.")
        if blocks.chance is not None:
            words.append(f"If the order in a box were luck, the chance of that would be {_chance(blocks.chance)}.")
    else:
        words.append(f"The order differs: {blocks.same} of {complete} complete boxes have the commonest one.")
        words.append("The others have a dashed edge.")
        if blocks.tail is not None:
            luck = "If the order in a box were luck, the chance of so many or more would be"
            words.append(f"{luck} {_chance(blocks.tail)}.")
    if complete < total:
        words.append(f"{total - complete} of {total} boxes lack a setting and are not counted; they are unfilled.")
    if left_out:
        words.append(f"{left_out} boxes are left out of the picture; the counts are of all.")
    return " ".join(words)


def _chance(chance: float) -> str:
    shown = f"{chance * 100:.3g}%" if chance >= 1e-6 else f"{chance:.1e}"
    one_in = 1 / chance if chance > 0 else math.inf
    whole = math.isfinite(one_in) and abs(one_in - round(one_in)) < 1e-6 * one_in and one_in < 1e9
    return f"1/{round(one_in):,} ({shown})" if whole and chance < 1 else shown
