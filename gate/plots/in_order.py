"""The values of a case in the order in which they were measured (NIST TN 1855, Fig. 4)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from gate.model import SIDES, Case, Finding, Sample, Side
from gate.plots.axes import Vertical, beyond_words, frame, hover, key, spots, thinned_words, used_words, vertical
from gate.plots.picture import Picture, Sheet
from gate.plots.scales import Axis, places, thinned, ticks, used_builds
from gate.units import plural

_WIDTH, _HEIGHT = 640, 298
_TOP, _BOTTOM, _RIGHT = 54, 244, 622
_DRAWN = 220
"""Values of a side that are drawn at most."""
_MEANS = 150
"""More executions than this leave no room for a mean each."""

_ROUNDS = 100
"""More rounds than this leave no room to shade them."""

Key = tuple[int, int]


Order = dict[Side, npt.NDArray[np.float64]]
"""Where the executions of each side stand in time."""


def series(case: Case, prefix: str, finding: Finding | None = None) -> Picture | None:
    """Draw the values of both sides over the run; None where there is no spread, or only one execution a side.

    Args:
        finding: builds that it does not rest on are faint.
    """
    y = vertical(case, [], _TOP, _BOTTOM)
    samples: dict[Side, Sample] = {"base": case.base, "head": case.head}
    if y is None or all(len(s.counts[0]) < 2 for s in samples.values()):
        return None
    order, known = _order(samples)
    last = max(float(at.max()) for at in order.values())
    x = Axis(-0.5, last + 0.5, y.left, _RIGHT)
    sheet = Sheet(_WIDTH, _HEIGHT)
    shaded = _rounds(sheet, x, samples, order, known=known)
    frame(sheet, y, case, _RIGHT)
    for side, at in zip(SIDES, (_WIDTH - 154, _WIDTH - 60), strict=True):
        key(sheet, side, at, 20)
    drawn = []
    for side in SIDES:
        kept = thinned(samples[side], _DRAWN)
        where = places(samples[side], kept.indices)
        xs = x.all(order[side][where.execution] + (where.of_iteration - 0.5) * 0.7)
        hover(sheet, y, side, samples[side], kept, xs, where)
        used = None if finding is None else {"base": finding.base, "head": finding.head}[side].counts.build
        drawn.append(spots(sheet, y, side, kept, xs, used_builds(samples[side], used)[where.build]))
    means = _means(sheet, x, y, samples, order)
    whole = [tick for tick in ticks(0, last, 8) if tick.at % 1 == 0]
    sheet.row(_BOTTOM + 22, [(x.at(tick.at), f"{tick.at:.0f}") for tick in whole], "soft")
    label, short = "start, in the order of the run", "start, in order of the run"
    if not known:
        label, short = "start, by build (the order is not known)", "start, by build"
    sheet.text((x.start + x.end) / 2, _HEIGHT - 8, label, "soft wide", "middle")
    sheet.text((x.start + x.end) / 2, _HEIGHT - 8, short, "soft narrow", "middle")
    title = f"Values of {case.benchmark}, {case.metric}, in the order of the run"
    executions = sum(len(s.counts[0]) for s in samples.values())
    total = case.base.values.size + case.head.values.size
    caption = (
        thinned_words(drawn, total) + (used_words(case, finding) if finding is not None else "") + beyond_words(y, case)
    )
    described = f"{plural(executions, 'execution')}; base as circles, head as triangles."
    reading = [
        "Both sides should be level: a slope is a machine that warms up, a step something else that began.",
        "A bar is the mean of a start." if means else "",
        "Shading separates the rounds." if shaded else "",
        "" if known else "Where the files do not give the order of the starts, they are sorted by build.",
    ]
    return sheet.picture(prefix, title, described, caption, [*filter(None, reading)])


def _order(samples: dict[Side, Sample]) -> tuple[Order, bool]:
    """Place each execution: as the files say, sessions after each other; else by round, base before head.

    The last says whether the files do.
    """
    sessions = sorted({session for sample in samples.values() for session, _ in sample.builds})
    own = {
        side: np.repeat(np.array([session for session, _ in sample.builds], dtype=np.int64), sample.counts[1])
        for side, sample in samples.items()
    }
    # the files give each execution of a session its own place
    given = {
        place
        for side, sample in samples.items()
        if sample.orders is not None
        for place in zip(own[side].tolist(), sample.orders.tolist(), strict=True)
    }
    if len(given) < sum(len(sample.counts[0]) for sample in samples.values()):
        keys = sorted(
            (*key, nth, side == "head", side, index)
            for side, sample in samples.items()
            for index, (key, nth) in enumerate(_executions(sample))
        )
        of = {side: np.zeros(len(sample.counts[0])) for side, sample in samples.items()}
        for place, (*_, side, index) in enumerate(keys):
            of[side][index] = place
        return of, False
    of = {side: np.asarray(sample.orders, dtype=np.float64).copy() for side, sample in samples.items()}
    begin = 0.0
    for session in sessions:
        inside = {side: own[side] == session for side in samples}
        found = np.concatenate([of[side][inside[side]] for side in samples])
        # a case is a part of the run: places are counted within the case, so that others leave no holes
        ranks = np.unique(found)
        for side in samples:
            of[side][inside[side]] = begin + np.searchsorted(ranks, of[side][inside[side]])
        begin += ranks.size
    return of, True


def _executions(sample: Sample) -> list[tuple[Key, int]]:
    return [(key, n) for key, count in zip(sample.builds, sample.counts[1].tolist(), strict=True) for n in range(count)]


def _rounds(sheet: Sheet, x: Axis, samples: dict[Side, Sample], order: Order, *, known: bool) -> bool:
    """Shade every other round, where they follow each other and have room; tell whether they do."""
    ends: dict[Key, list[float]] = {}
    for side, sample in samples.items():
        for (build, _), at in zip(_executions(sample), order[side].tolist(), strict=True):
            ends.setdefault(build, []).append(at)
    rounds = sorted((min(at), max(at), build) for build, at in ends.items())
    if not 2 <= len(rounds) <= _ROUNDS or any(one[1] >= two[0] for one, two in pairwise(rounds)):
        return False
    stripes = [
        [(x.at(low - 0.5), _TOP), (x.at(high + 0.5), _TOP), (x.at(high + 0.5), _BOTTOM), (x.at(low - 0.5), _BOTTOM)]
        for low, high, _ in rounds[1::2]
    ]
    sheet.lines("stripe", stripes, closed=True)
    many = len({session for session, _ in ends}) > 1
    labels = [((low + high) / 2, f"{build[0]}/{build[1]}" if many else str(build[1])) for low, high, build in rounds]
    # the first one tells what the numbers are
    noun = "round" if known else "build"
    named = [(x.at(at), text if index else f"{noun} {text}") for index, (at, text) in enumerate(labels)]
    sheet.row(_TOP - 8, named, "soft small")
    return True


def _means(sheet: Sheet, x: Axis, y: Vertical, samples: dict[Side, Sample], order: Order) -> bool:
    counts = [sample.counts[0] for sample in samples.values()]
    if max(int(c.max()) for c in counts) < 3 or sum(c.size for c in counts) > _MEANS:
        return False
    for side, sample in samples.items():
        sizes = sample.counts[0]
        means = np.add.reduceat(sample.values / sizes.max(), np.cumsum(sizes) - sizes) * (sizes.max() / sizes)
        numbers = y.measure.of(means)
        pixels = y.axis.all(numbers)
        bars = [
            [(x.at(at - 0.42), pixel), (x.at(at + 0.42), pixel)]
            for at, pixel, number in zip(order[side].tolist(), pixels, numbers, strict=True)
            if y.range.low <= number <= y.range.high
        ]
        sheet.lines(f"bar-{side}", bars)
    return True
