"""What a finding is drawn with in a line: the mark of its verdict, and its interval against the threshold.

A mark stands beside its word, so that colour alone never carries a verdict; bars have one scale for all of a report.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from gate.model import Finding, Report, ReportVerdict, Verdict, outcomes
from gate.writing import amounts
from gate.writing.amounts import known

SHAPES: dict[Verdict, str] = {
    "regression": "✖", "inconclusive": "◆", "accepted": "■", "improvement": "★", "unchanged": "●",
    "no-sign": "○", "identical": "≡",
}  # fmt: skip
"""Of a finding: the marks of the forest plot, each one column of a terminal."""
_OF_REPORT: dict[ReportVerdict, str] = {"pass": "✔", "regression": "✖", "inconclusive": "◆", "error": "✖"}
_NEUTRAL = "○"
_COLOURED: dict[str, str] = {
    "✖": "❌", "◆": "⚠️", "■": "☑️", "★": "🚀", "●": "✅", "○": "✅", "≡": "✅", "✔": "✅",
}  # fmt: skip
_COLOURED_NEUTRAL = "⚪"
STYLES = {
    "regression": "1;31", "error": "1;31", "inconclusive": "33", "accepted": "35", "improvement": "36",
    "no-sign": "32", "unchanged": "2", "identical": "2", "pass": "1;32",
}  # fmt: skip
"""The SGR code of each verdict, of a finding and of a report."""
# every glyph is in the fonts that terminals and GitHub use for code, and as wide as a letter there
_ZONE, _ZERO, _CROSSED, _LINE, _LOW, _HIGH, _AT, _LEFT, _RIGHT = "░│┼─├┤●◄►"
_AROUND = 1.5
_MOST = 12.0
_BOTH = 14.0
_DEFAULT = 0.03
_FARTHEST = 30.0
_BEYOND = 1.3


class Extent(msgspec.Struct, frozen=True):
    """A finding in logarithms of ratios, with the interval that is shown."""

    estimate: float | None
    """None: there is none."""
    low: float | None
    """None: open or not known."""
    high: float | None
    threshold: float
    """How far the threshold is from no change, on both sides; 0: there is none."""
    has_interval: bool


def extent(finding: Finding) -> Extent:
    """Return what is drawn of a finding."""
    ratio = finding.ratio
    threshold = math.log1p(finding.threshold) if known(finding.threshold) else 0.0
    estimate, low, high = (
        math.log(each) if known(each) and each > 0 else None for each in (ratio.estimate, ratio.low, ratio.high)
    )
    return Extent(estimate, low, high, threshold, ratio.kind != "withheld")


Ends = tuple[float, float]
"""The logarithms of the ratios at both ends of a bar; no change is between them."""


def scale(found: Sequence[Extent]) -> Ends:
    """Choose the scale of all bars: each threshold and each interval, but no outlier that would flatten the others."""
    limit = max((of.threshold for of in found), default=0.0) or math.log1p(_DEFAULT)
    reached = []
    for of in found:
        own = [end / limit for end in (of.low, of.high, of.estimate) if end is not None]
        # of an interval without an end, a little beyond the change
        reached += [*own, _BEYOND * of.estimate / limit] if len(own) < 3 and of.estimate is not None else own
    far = [1.05 * max([0.0, *(sign * end for end in reached)]) for sign in (-1, 1)]
    # what half of the changes reach is no outlier
    changes = sorted((_BEYOND * of.estimate / limit for of in found if of.estimate is not None), key=abs)
    shown = changes[: len(changes) // 2 + 1]
    least = [min(most, max([0.0, *(sign * end for end in shown)])) for sign, most in zip((-1, 1), far, strict=True)]
    low, high = (min(max(_AROUND, end), _MOST) for end in far)
    if low + high > _BOTH:
        # the threshold stays as wide as two cells of a common bar
        low, high = min(low, max(_BOTH / 2, _BOTH - high)), min(high, max(_BOTH / 2, _BOTH - low))
    low, high = max(low, least[0]), max(high, least[1])
    return max(_rounded(-low * limit), -_FARTHEST), min(_rounded(high * limit), _FARTHEST)


def _rounded(end: float) -> float:
    """Move an end of the scale outwards to a change that reads well: -20%, +25%."""
    change = abs(math.expm1(end))
    step = 10 ** math.floor(math.log10(change)) / 2
    change = math.ceil(change / step - 1e-9) * step
    # below -100% there is nothing
    return end if end < 0 and change >= 1 else math.log1p(math.copysign(change, end))


def bar(of: Extent, on: Ends, width: int, blank: str = " ") -> str:
    """Draw a finding: `   ░░│░░ ├──●──┤  `; an arrow where the interval goes on beyond the bar."""
    zero = _cell(0.0, on, width)
    # as wide on both sides, and the zone of a small threshold is seen too
    reach = max(zero - _cell(-of.threshold, on, width), _cell(of.threshold, on, width) - zero, 1)
    begin, end = max(0, zero - reach), min(width - 1, zero + reach)

    def place(at: float) -> int:
        # beyond the threshold is always beyond its zone
        cell = _cell(at, on, width)
        if at > of.threshold:
            return min(max(cell, end + 1), width - 1)
        if at < -of.threshold:
            return max(min(cell, begin - 1), 0)
        return min(max(cell, begin), end)

    cells = [blank] * width
    cells[begin : end + 1] = _ZONE * (end + 1 - begin)
    cells[zero] = _ZERO
    if of.has_interval:
        first = 0 if of.low is None else place(of.low)
        last = width - 1 if of.high is None else place(of.high)
        cells[first : last + 1] = [_CROSSED if at == zero else _LINE for at in range(first, last + 1)]
        if first < last:
            cells[first], cells[last] = _LOW, _HIGH
        if of.low is None or of.low < on[0]:
            cells[first] = _LEFT
        if of.high is None or of.high > on[1]:
            cells[last] = _RIGHT
    if of.estimate is not None:
        cells[place(of.estimate)] = _LEFT if of.estimate < on[0] else _RIGHT if of.estimate > on[1] else _AT
    return "".join(cells)


def ends(on: Ends, width: int, blank: str = " ") -> str:
    """Write the changes at both ends of the bars, as wide as a bar, and a line at no change: "-3%   │     +26%"."""
    low, high = (amounts.changed(math.exp(end)).replace(".0%", "%") for end in on)
    zero = _cell(0.0, on, width)
    left = f"{low}{blank * (zero - len(low))}{_ZERO}" if len(low) < zero < width - len(high) - 1 else low
    return f"{left}{blank * (width - len(left) - len(high))}{high}"


def legend(quote: str = "") -> str:
    """Say how to read a bar; quote: around each part of one."""
    whole, zone = f"{_LOW}{_LINE}{_AT}{_LINE}{_HIGH}", f"{_ZONE * 2}{_ZERO}{_ZONE * 2}"
    return f"{quote}{whole}{quote} interval and change, {quote}{zone}{quote} threshold on both sides of no change"


def _cell(at: float, on: Ends, width: int) -> int:
    low, high = on
    share = (at - low) / (high - low)
    return min(max(math.floor(share * width), 0), width - 1)


# --- marks ------------------------------------------------------------------------------------------------------------


def of_report(report: Report) -> str:
    """Give the mark of a report's verdict; where nothing could be compared it is neither good nor bad."""
    return _NEUTRAL if isinstance(report.summary, outcomes.NothingToCompare) else _OF_REPORT[report.verdict]


def emoji_of_report(report: Report) -> str:
    """Give the coloured mark of a report's verdict, for a comment."""
    mark = of_report(report)
    return _COLOURED_NEUTRAL if mark == _NEUTRAL else _COLOURED[mark]


def emoji(verdict: Verdict) -> str:
    """Give the coloured mark of a finding's verdict, for a comment."""
    return _COLOURED[SHAPES[verdict]]
