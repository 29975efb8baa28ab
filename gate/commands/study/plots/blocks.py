"""The block plot of a factor: its settings compared in boxes of equal settings of the others (NIST TN 1855, Fig. 7)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gate.commands.study.plots.columns import ROW, Places, keyed, labels, names_room, ordered
from gate.commands.study.plots.marks import (
    LAYOUTS,
    Entry,
    Scale,
    Size,
    Vertical,
    apart,
    codes,
    combination,
    entries,
    factors_by_name,
    legend,
    legend_height,
    look_of,
    name,
    said,
    scale,
    vertical,
)
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


@dataclass(frozen=True, slots=True)
class _Drawn:
    """What a box is drawn with."""

    box: Box
    x: float
    odd: bool
    """Its order is not the commonest."""
    doubted: frozenset[Setting]
    """The settings at which its treatment is questionable."""


def blocks(prefix: str, response: Response, blocks: Blocks) -> Picture | None:
    """Draw the means of a factor's settings in a box for each combination of the others; None: there are no boxes."""
    factor = factors_by_name(response).get(blocks.factor)
    boxes = [box for box in blocks.boxes if box.points]
    values = np.array([mean for box in boxes for _, mean in box.points])
    of = scale(response, values)
    if factor is None or of is None or all(len(box.points) < 2 for box in boxes):
        return None
    others = [f for f in response.factors if f.name != factor.name and any(f.name in box.at for box in boxes)]
    order = ordered(others, [box.at for box in boxes])
    kept = [boxes[k] for k in order][:MOST]
    left = names_room(others)
    tagged = len(factor.settings) <= _TAGGED and (_WIDTH - left - 8) / len(kept) >= _NUMBERED["wide"]
    listed = _numbered(factor) if tagged else entries(factor)
    top = _HEAD + legend_height(listed, _WIDTH - 24, said(factor.name)) + 14
    y = vertical(of.of(values), of.measure.log, top, top + _PLOT)
    left = max(y.room, left)
    # a phone's tags are broader than narrow boxes: the last one has to end on the sheet
    slot = min((_WIDTH - left - (_LAST if tagged else 8)) / len(kept), _BROAD)
    places = Places([left + 6 + slot * (k + 0.5) for k in range(len(kept))], slot)
    sheet = Sheet(_WIDTH, top + _PLOT + 8 + ROW * len(others) + 8)
    name(sheet, response, of, "mean ")
    legend(sheet, listed, 12, _HEAD, _WIDTH - 24, said(factor.name))
    grid(sheet, y.axis, y.ticks, left, _WIDTH - 8)
    commonest = _commonest(boxes, factor)
    doubted = [_doubted(response, factor, box) for box in kept]
    for box, x, doubt in zip(kept, places.xs, doubted, strict=True):
        own = _order(box, factor)
        _box(sheet, _Drawn(box, x, own is not None and own != commonest, doubt), factor, y, of, slot)
    labels(sheet, others, [box.at for box in kept], places, top + _PLOT + 8, left)
    caption = _caption(factor, blocks, len(boxes) - len(kept))
    if any(doubted):
        caption += " Red marks in boxes with a red edge are the questionable treatments, which --without names."
    caption += keyed(others, [b.at for b in kept], places)
    title = f"Block plot of {blocks.factor} for {response.benchmark}, {response.metric}"
    return sheet.picture(prefix, title, _described(factor, kept, of), caption)


def _numbered(factor: Factor) -> list[Entry]:
    """Return the legend of the settings, with the numbers that stand beside their marks where names would not fit."""
    own = zip(factor.settings, entries(factor), strict=True)
    if _short(factor):
        return [entry for _, entry in own]
    tags = _tags(factor)
    return [Entry(entry.look, f"{tags[setting]} {entry.name}") for setting, entry in own]


def _short(factor: Factor) -> bool:
    return all(len(said(s)) <= _TAG for s in factor.settings)


def _tags(factor: Factor) -> dict[Setting, str]:
    """Return what stands beside the mark of a setting: its name if all are short, else its number."""
    short = _short(factor)
    return {s: said(s) if short else str(n) for n, s in enumerate(factor.settings, start=1)}


def _order(box: Box, factor: Factor) -> tuple[Setting, ...] | None:
    """Return the settings of a complete box from the lowest to the highest mean; None: it lacks some."""
    if len(box.points) < len(factor.settings):
        return None
    number = codes(factor)
    return tuple(s for s, _ in sorted(box.points, key=lambda p: (p[1], number.get(p[0], 0))))


def _commonest(boxes: Sequence[Box], factor: Factor) -> tuple[Setting, ...] | None:
    counts = Counter(order for box in boxes if (order := _order(box, factor)) is not None)
    return counts.most_common(1)[0][0] if counts else None


def _box(sheet: Sheet, drawn: _Drawn, factor: Factor, y: Vertical, of: Scale, slot: float) -> None:
    tags = _tags(factor)
    points = [(setting, y.axis.at(of.one(mean))) for setting, mean in drawn.box.points]
    pixels = [at for _, at in points]
    half = min(slot * 0.42, 34)
    low, high = max(pixels) + 9, min(pixels) - 9
    x = drawn.x
    corners = [(x - half, low), (x + half, low), (x + half, high), (x - half, high)]
    whole = len(points) == len(factor.settings)
    sheet.lines("frame" if drawn.odd or not whole else "shell", [corners], closed=True)
    if drawn.odd:
        sheet.lines("limit", [corners], closed=True)
    if drawn.doubted:
        sheet.lines(f"fine-{_RED}", [corners], closed=True)
    shift = half * 0.35 if slot >= _NUMBERED["wide"] else 0
    for setting, at in points:
        size: Size = "large" if slot >= 24 else "middle"
        red = _RED if setting in drawn.doubted else None
        look_of(factor, setting).marks(sheet, [(x - shift, at)], size, colour=red)
    for layout, _ in LAYOUTS:
        gap = _GAP[layout]
        if slot < _NUMBERED[layout] or len(points) > _TAGGED:
            continue
        spread = (len(points) - 1) * gap
        middle = (low + high) / 2
        middle = min(max(middle, y.axis.end + spread / 2), y.axis.start - 8 - spread / 2)
        ends = min(high + 4, middle - spread / 2), max(low - 4, middle + spread / 2)
        for (setting, _), place in zip(points, apart(pixels, gap, *ends), strict=True):
            sheet.text(x + shift * 0.6, place, tags.get(setting, "?"), f"middle small {layout}", full=said(setting))


def _doubted(response: Response, factor: Factor, box: Box) -> frozenset[Setting]:
    return frozenset(s for s, _ in box.points if {**box.at, factor.name: s} in response.questionable)


def _caption(factor: Factor, blocks: Blocks, left_out: int) -> str:
    total = len(blocks.boxes)
    words = [
        f"A box holds the treatments that differ in {clip(said(factor.name), 30)} only; a mark is a treatment's mean."
    ]
    words += _agreement(blocks)
    if blocks.complete < total:
        words.append(
            f"{total - blocks.complete} of {total} boxes lack a setting and are not counted; they are unfilled."
        )
    if left_out:
        words.append(f"{left_out} boxes are left out of the picture; the counts are of all.")
    return " ".join(words)


def _agreement(blocks: Blocks) -> list[str]:
    if blocks.complete < 2:
        return ["There are too few complete boxes to compare their orders."]
    if blocks.order is not None:
        order = " < ".join(clip(said(s), 20) for s in blocks.order)
        words = [f"All {blocks.complete} complete boxes have the same order, {order}."]
        if blocks.chance is not None:
            words.append(f"If the order in a box were luck, the chance of that would be {_chance(blocks.chance)}.")
        return words
    words = [f"The order differs: {blocks.same} of {blocks.complete} complete boxes have the commonest one."]
    words.append("The others have a dashed edge.")
    if blocks.tail is not None:
        words.append(f"If the order in a box were luck, the chance of so many or more would be {_chance(blocks.tail)}.")
    return words


def _chance(chance: float) -> str:
    shown = f"{chance * 100:.3g}%" if chance >= 1e-6 else f"{chance:.1e}"
    one_in = 1 / chance if chance > 0 else math.inf
    whole = math.isfinite(one_in) and abs(one_in - round(one_in)) < 1e-6 * one_in and one_in < 1e9
    return f"1/{round(one_in):,} ({shown})" if whole and chance < 1 else shown


def _described(factor: Factor, kept: Sequence[Box], of: Scale) -> str:
    said_ = []
    for box in kept[:4]:
        points = ", ".join(f"{clip(said(s), 16)} {of.say(mean)}" for s, mean in box.points)
        said_.append(f"{combination(box.at, 60)}: {points}")
    return f"Means by {clip(said(factor.name), 30)}. {'; '.join(said_)}."
