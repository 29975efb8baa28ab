"""How the numbers of a finding are written: changes, intervals, shares, rules; the same in every format."""

from __future__ import annotations

from msgspec import structs

from gate.model import Finding, Identical, IntervalKind, RatioInterval, Recorded, SideSummary, reasons
from gate.writing.amounts import amount, as_configured, changed, format_percent, in_one_unit, known, size
from gate.writing.plain import visible
from gate.writing.units import format_confidence, whole_of


def larger(case: Finding | Recorded) -> float:
    """Give the value of the side that both are written like: the larger, since one may be 0."""
    return max(case.base.value, case.head.value, key=abs)


def side_interval(side: SideSummary, unit: str, like: float) -> str:
    """Write a side's own interval: "101.0 to 102.0 ms", "no spread", "no interval"."""
    if not known(side.low) or not known(side.high):
        return "no interval"
    if side.low == side.high:
        return "no spread"
    return " to ".join(in_one_unit(amount(side.low, unit, like), amount(side.high, unit, like)))


# --- changes ----------------------------------------------------------------------------------------------------------


def in_points(case: Finding | Recorded, change: str) -> str:
    """Give a change its unit: of a share percentage points, of anything else percent of base."""
    return change if whole_of(case.metric, case.unit) is None else change.replace("%", " points")


def change(ratio: RatioInterval) -> str:
    """Write the change of the estimate: "+5.1%"."""
    return changed(ratio.estimate) if known(ratio.estimate) else "unknown"


def interval(ratio: RatioInterval) -> str:
    """Write the interval as a change: "+3.2% to +7.1%", "+3.2% or more", "exact", "no interval", "unbounded"."""
    low, high = (changed(end) if end is not None else None for end in ends(ratio.low, ratio.high))
    if ratio.kind == "bounded" and low and high:
        return "exact" if ratio.method == "exact" else f"{low} to {high}"
    if ratio.kind == "half-line" and (low or high):
        return f"{low} or more" if low else f"{high} or less"
    return "unbounded" if ratio.kind in ("complement", "line", "half-line") else "no interval"


def change_in(case: Finding | Recorded, ratio: RatioInterval) -> str:
    """Write a change of a case with its interval: "+5.1% (+3.2% to +7.1%)"."""
    return in_points(case, f"{change(ratio)} ({interval(ratio)})")


def interval_in(ratio: RatioInterval, column: float | None) -> str:
    """Write the interval for a column of a confidence, with its own if it is another: "+3.2% or more at 99.76%"."""
    own = has_ends(ratio) and ratio.confidence != column
    return interval(ratio) + (f" at {format_confidence(ratio.confidence)}" if own else "")


def has_ends(ratio: RatioInterval) -> bool:
    """Return whether an interval has an end that can be written, and so a confidence."""
    ended = ratio.kind in ("bounded", "half-line") and (known(ratio.low) or known(ratio.high))
    return ended and ratio.method != "exact"


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


_WORDS: dict[str, str] = {
    "inconclusive": "undecided", "unchanged": "same", "no-sign": "ok", "identical": "unaffected",
}  # fmt: skip
"""What people read for a verdict, where its name in files is not the word."""


def word(finding: Finding | Identical) -> str:
    """Write the verdict of a finding: "regression", "too noisy"; "undecided" where something else is missing."""
    return (
        "too noisy"
        if isinstance(finding, Finding) and finding.is_noise
        else _WORDS.get(finding.verdict, finding.verdict)
    )


def verdict_words(finding: Finding) -> str:
    """Write the verdict of a row: "regression", "ok, catches 4.1%", "too noisy, catches 42%", "same (within 3%)"."""
    return f"{word(finding)}{resolution(finding)}{' (floor)' if by_floor(finding) else ''}"


MAY_REGRESS = "may be a regression"
"""What people read of a finding that is too noisy, and as measured beyond its threshold."""


def resolution(finding: Finding) -> str:
    """Say what a verdict is by, or would have shown: ", catches 4.1%", " (within 3%)", " (limit 50 ms)"; or nothing."""
    if finding.verdict == "unchanged" and not by_floor(finding):
        return f" (within {threshold(finding)})"
    if isinstance(finding.reason, reasons.BeyondLimit):
        return f" (limit {visible(as_configured(finding.reason.limit, finding.unit))})"
    return f", catches {detectable(finding)}" if is_caught(finding) else ""


def is_caught(finding: Finding) -> bool:
    """Return whether a row says which change for the worse would have shown."""
    found = finding.verdict == "no-sign" or (finding.is_noise and not finding.not_worse)
    return found and known(finding.detectable)


def by_floor(finding: Finding) -> bool:
    """Return whether the floor made the verdict of a row what it is."""
    return finding.is_hidden or (finding.verdict == "unchanged" and finding.is_bound_by_floor)


def detectable(finding: Finding) -> str:
    """Write the size of a change for the worse that would have shown; of a rate as what is lost of it."""
    found = finding.detectable
    if not known(found):
        return "unknown"
    return in_points(finding, size(1 + found if finding.better == "lower" else 1 / (1 + found)))


# --- rules ---------------------------------------------------------------------------------------------------------


def threshold(finding: Finding) -> str:
    """Write the threshold: "3%", of a share "3 points"."""
    return in_points(finding, format_percent(finding.threshold))


def floor(finding: Finding) -> str:
    """Write the floor as it was configured: "1 us", "no floor"."""
    if not known(finding.floor):
        return "no floor"
    return visible(as_configured(finding.floor, finding.unit))


def limit(finding: Finding) -> str:
    """Write the limit of head and whether head keeps it: "50 ms: kept"; "" without one."""
    held = finding.limit
    return "" if held is None else f"{visible(as_configured(held.at, finding.unit))}: {held.state}"
