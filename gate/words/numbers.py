"""How the numbers of a report are written: values, changes, intervals, shares; the same in every format."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol, TypeGuard

from msgspec import structs

from gate.model import Better, Finding, IntervalKind, RatioInterval, Recorded, SideSummary, Verdict, reasons
from gate.units import format_confidence, format_number, format_share, format_value, shown_unit, whole_of
from gate.units import plural as plural  # whoever writes a number finds it here
from gate.words.plain import clip, visible


def known(value: float | None) -> TypeGuard[float]:
    """Return whether a number exists; NaN and infinity are treated as numbers that do not."""
    return value is not None and math.isfinite(value)


def format_percent(share: float) -> str:
    """Write a share as it was configured: "3%"; a confidence as everywhere: "99.58%"."""
    return format_confidence(share) if known(share) else "unknown"


_TIMES = 100
"""Ratios from this on are multiples: nobody reads "+8190790%"."""


def _multiple(ratio: float) -> str | None:
    """Write a large ratio as a multiple, in two digits: "82,000"; None: it is none."""
    if ratio < _TIMES:
        return None
    return f"{float(f'{ratio:.2g}'):,.0f}" if ratio < 1e9 else f"{ratio:.2g}"


def format_ratio(ratio: float | None) -> str:
    """Write a ratio: "1.0510"."""
    return f"{ratio:.4f}" if known(ratio) else "unknown"


def format_p(p: float | None) -> str:
    """Write a p value: "0.0048", "< 0.0001", "none"."""
    if not known(p):
        return "none"
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.1 else f"{p:.2f}"


# --- values -----------------------------------------------------------------------------------------------------------


def larger(case: Finding | Recorded) -> float:
    """Give the value of the side that both are written like: the larger, since one may be 0."""
    return max(case.base.value, case.head.value, key=abs)


def value(side: SideSummary, unit: str, like: float) -> str:
    """Write a side's value in the unit that suits `like`: "101.5 ms", "1,048,576", "unknown"."""
    return amount(side.value, unit, like)


def both_values(case: Finding | Recorded) -> tuple[str, str]:
    """Write the values of both sides: "101.5", "109.9 ms"."""
    like = larger(case)
    return _in_one_unit(value(case.base, case.unit, like), value(case.head, case.unit, like))


def _in_one_unit(first: str, second: str) -> tuple[str, str]:
    """Say the unit of two amounts once where they have the same."""
    number, _, unit = first.rpartition(" ")
    return number if number and second.endswith(f" {unit}") else first, second


def amount(number: float | None, unit: str, like: float | None) -> str:
    """Write a value of a metric; whole counts are written in full."""
    if not known(number):
        return "unknown"
    shown = clip(visible(unit), 12)
    if shown in ("", "count"):
        whole = float(number).is_integer() and abs(number) < 1e15
        return f"{number:,.0f}" if whole else _separated(format_number(number))
    return _separated(format_value(number, shown, like=like if known(like) else None))


def _separated(text: str) -> str:
    number, blank, unit = text.partition(" ")
    return f"{int(number):,}{blank}{unit}" if number.removeprefix("-").isdecimal() else text


def as_configured(number: float, unit: str) -> str:
    """Write an amount of a rule: "1 us"."""
    scale, name = shown_unit(number, unit)
    return f"{number / scale:.4g} {'' if name == 'count' else name}".rstrip()


def side_interval(side: SideSummary, unit: str, like: float) -> str:
    """Write a side's own interval: "101.0 to 102.0 ms", "no spread", "no interval"."""
    if not known(side.low) or not known(side.high):
        return "no interval"
    if side.low == side.high:
        return "no spread"
    return " to ".join(_in_one_unit(amount(side.low, unit, like), amount(side.high, unit, like)))


# --- changes ----------------------------------------------------------------------------------------------------------


class Measured(Protocol):
    """What has a direction: a finding, a recorded metric."""

    @property
    def unit(self) -> str:
        """Of the metric."""

    @property
    def better(self) -> Better:
        """Which direction is better."""


def is_time(case: Measured) -> bool:
    """Return whether less of it is faster; a rate in seconds is no time."""
    return case.unit == "s" and case.better == "lower"


def direction(case: Measured, ratio: float) -> str:
    """Write the sign of a change: "slower"."""
    more, less = ("slower", "faster") if is_time(case) else ("higher", "lower")
    return more if ratio > 1 else less


def changed(ratio: float) -> str:
    """Write a ratio as a change: "+5.1%", "82,000 times"."""
    multiple = _multiple(ratio)
    return f"{multiple} times" if multiple else _signed(ratio)


def _signed(ratio: float) -> str:
    # what is left of it is not nothing, which "-100%" would say
    return f"-{format_confidence(1 - ratio)}" if 0 < ratio < 0.0005 else format_share(ratio - 1, sign=True)


def drawn(ratio: float) -> str:
    """Write a ratio as a change where there is little room: "+5.1%", "82,000 ×"."""
    multiple = _multiple(ratio)
    return f"{multiple} ×" if multiple else _signed(ratio)


def size(ratio: float, limit: float = math.nan) -> str:
    """Write a change without its direction: "5.1%", "82,000 times".

    limit: a change that it must not read like, if it is another.
    """
    multiple = _multiple(ratio)
    return f"{multiple} times" if multiple else apart(abs(ratio - 1), limit)


def in_points(case: Finding | Recorded, change: str) -> str:
    """Give a change its unit: of a share percentage points, of anything else percent of base."""
    return change if whole_of(case.metric, case.unit) is None else change.replace("%", " points")


def effect(ratio: float | None) -> str:
    """Write one point of a curve as a change: "+5.1%"; "none" where there is no band."""
    return changed(ratio) if known(ratio) else "none"


def change(ratio: RatioInterval) -> str:
    """Write the change of the estimate: "+5.1%"."""
    return changed(ratio.estimate) if known(ratio.estimate) else "unknown"


def interval(ratio: RatioInterval) -> str:
    """Write the interval as a change: "+3.2% to +7.1%", "+3.2% or more", "exact", "no interval", "unbounded"."""
    return _limits(ratio, changed)


def interval_in(ratio: RatioInterval, column: float | None) -> str:
    """Write the interval for a column of a confidence, with its own if it is another: "+3.2% or more at 99.76%"."""
    own = has_ends(ratio) and ratio.confidence != column
    return interval(ratio) + (f" at {format_confidence(ratio.confidence)}" if own else "")


def has_ends(ratio: RatioInterval) -> bool:
    """Return whether an interval has an end that can be written, and so a confidence."""
    ended = ratio.kind in ("bounded", "half-line") and (known(ratio.low) or known(ratio.high))
    return ended and ratio.method != "exact"


def ratio_interval(ratio: RatioInterval) -> str:
    """Write the interval as a ratio: "1.0320 to 1.0710", "no interval"."""
    return _limits(ratio, format_ratio)


def is_called(case: Finding) -> bool:
    """Return whether a change is called: a regression, accepted or not, or an improvement."""
    return case.verdict in ("regression", "accepted", "improvement")


def decided(case: Finding) -> RatioInterval | None:
    """Return the interval that decided where it is not the one that is shown; None: it is that."""
    at = case.decided_at
    if case.shown != "decided_at" or at.confidence == case.ratio.confidence:
        return None
    kinds: dict[int, IntervalKind] = {2: "bounded", 1: "half-line", 0: "line"}
    kind = kinds[known(at.low) + known(at.high)]
    return structs.replace(case.ratio, low=at.low, high=at.high, confidence=at.confidence, kind=kind)


def ends(low: float | None, high: float | None) -> tuple[float | None, float | None]:
    """Give the ends that exist. No measured quantity is below 0, so a set that goes on below it ends there in words."""
    return (max(low, 0.0) if known(low) else None), (max(high, 0.0) if known(high) else None)


def _limits(ratio: RatioInterval, write: Callable[[float], str]) -> str:
    low, high = (write(end) if end is not None else None for end in ends(ratio.low, ratio.high))
    if ratio.kind == "bounded" and low and high:
        if ratio.method == "exact":
            return "exact"
        return f"{low} to {high}"
    if ratio.kind == "half-line" and (low or high):
        return f"{low} or more" if low else f"{high} or less"
    return "unbounded" if ratio.kind in ("complement", "line", "half-line") else "no interval"


def apart(share: float, limit: float) -> str:
    """Write a share, with more digits where it would read like a limit that it is not."""
    text = format_share(share)
    if text != format_share(limit) or math.isclose(share, limit, rel_tol=1e-9):
        return text
    more = (
        f"{share * 100:.{digits}g}%" for digits in (3, 4, 5, 6, 8) if f"{share:.{digits}g}" != f"{limit:.{digits}g}"
    )
    return next(more, text)


def verdict(name: Verdict) -> str:
    """Write a verdict for people: "no sign", "regression"."""
    return _VERDICTS.get(name, name)


def verdict_of(finding: Finding) -> str:
    """Write the verdict of a row: "regression", "no sign of 4.1%", "inconclusive <42%", "inconclusive (floor)"."""
    return f"{verdict(finding.verdict)}{resolution(finding)}{' (floor)' if by_floor(finding) else ''}"


def resolution(finding: Finding) -> str:
    """Say what could be seen, behind a verdict that rests on it: " of 4.1%", " <42%"; otherwise nothing."""
    if not known(finding.detectable):
        return ""
    if finding.verdict == "no-sign":
        return f" of {detectable(finding)}"
    return f" <{detectable(finding)}" if isinstance(finding.reason, reasons.TooNoisy) else ""


def by_floor(finding: Finding) -> bool:
    """Return whether the floor made the verdict of a row what it is."""
    return finding.is_hidden or (finding.verdict == "unchanged" and finding.is_bound_by_floor)


def detectable(finding: Finding) -> str:
    """Write the size of a change for the worse that would have shown; of a rate as what is lost of it."""
    found = finding.detectable
    if not known(found):
        return "unknown"
    return in_points(finding, size(1 + found if finding.better == "lower" else 1 / (1 + found)))


_VERDICTS: dict[Verdict, str] = {"no-sign": "no sign"}


# --- rules ---------------------------------------------------------------------------------------------------------


def worse(case: Measured, least: float, limit: float = math.nan) -> str:
    """Name a change for the worse of a size or more: "slowdown of 9.1% or more"; of a rate as what is lost of it.

    limit: a size that it must not read like, if it is another.
    """
    above, below = nouns(case)
    lower = case.better == "lower"
    noun, ratio = (above, 1 + least) if lower else (below, 1 / (1 + least))
    return f"{noun} of {size(ratio, limit if lower else 1 - 1 / (1 + limit))} or more"


def a_worse(case: Measured, least: float, limit: float = math.nan) -> str:
    """Name it with its article: "a slowdown of 9.1% or more"."""
    return f"{worse_noun(case).partition(' ')[0]} {worse(case, least, limit)}"


def worse_noun(case: Measured) -> str:
    """Name a change for the worse with its article: "a slowdown", "an increase"."""
    noun = nouns(case)[0 if case.better == "lower" else 1]
    return f"{'an' if noun == 'increase' else 'a'} {noun}"


def threshold(finding: Finding) -> str:
    """Write the threshold: "3%", of a share "3 points"."""
    return in_points(finding, format_percent(finding.threshold))


def floor(finding: Finding) -> str:
    """Write the floor as it was configured: "1 us", "no floor"."""
    if not known(finding.floor):
        return "no floor"
    return visible(as_configured(finding.floor, finding.unit))


def nouns(finding: Measured) -> tuple[str, str]:
    """Name a change to ratios above 1, and one to ratios below."""
    return ("slowdown", "speedup") if is_time(finding) else ("increase", "decrease")
