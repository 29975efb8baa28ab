"""A finding's interval as a bar, on one axis for all findings of a report."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from gate.model import Finding
from gate.words import numbers
from gate.words.numbers import known

BAR_WIDTH = 150.0
_MARGIN = 6.0


class Bar(msgspec.Struct, frozen=True):
    """A finding's interval as positions on an axis that all findings of the report share (logarithmic, 1 centred).

    low, high: ends of the line; None: there is no interval. open_low, open_high: the interval goes on there.
    """

    one: float
    band_low: float
    band_high: float
    estimate: float | None
    low: float | None
    high: float | None
    open_low: bool
    open_high: bool


def bars(findings: Sequence[Finding]) -> list[Bar]:
    """Draw up the bar of each finding, all on one axis."""
    half = _half_range(findings)
    return [_bar(finding, half) for finding in findings]


def _half_range(findings: Sequence[Finding]) -> float:
    limit = max([math.log1p(f.threshold) for f in findings if known(f.threshold)], default=0.0) or math.log1p(0.03)
    reach = [abs(math.log(x)) for f in findings for x in _ends(f) if known(x) and x > 0]
    # wide enough for the band of the threshold, not so wide that one outlier flattens all others
    return min(max([1.5 * limit, *(1.05 * x for x in reach)]), 6 * limit)


def _ends(finding: Finding) -> tuple[float | None, float | None]:
    ratio = numbers.shown(finding)
    return ratio.low, ratio.high


def _bar(finding: Finding, half: float) -> Bar:
    def place(value: float) -> float:
        share = math.log(value) / half if value > 0 else -math.inf
        return round(_MARGIN + (min(max(share, -1.0), 1.0) + 1) / 2 * (BAR_WIDTH - 2 * _MARGIN), 1)

    def beyond(value: float) -> bool:
        return value <= 0 or abs(math.log(value)) > half

    ratio = numbers.shown(finding)
    low = ratio.low if ratio.kind in ("bounded", "half-line") and known(ratio.low) else None
    high = ratio.high if ratio.kind in ("bounded", "half-line") and known(ratio.high) else None
    drawn = ratio.kind != "withheld" and not (ratio.kind == "bounded" and (low is None or high is None))
    edge = 1 + (finding.threshold if known(finding.threshold) else 0.0)
    return Bar(
        one=place(1.0),
        band_low=place(1 / edge),
        band_high=place(edge),
        estimate=place(ratio.estimate) if known(ratio.estimate) else None,
        low=(_MARGIN if low is None else place(low)) if drawn else None,
        high=(BAR_WIDTH - _MARGIN if high is None else place(high)) if drawn else None,
        open_low=drawn and (low is None or beyond(low)),
        open_high=drawn and (high is None or beyond(high)),
    )
