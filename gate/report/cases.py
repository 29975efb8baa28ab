"""The words of one case: what is compared, its numbers and intervals, and a sentence that says what happened.

As in gate.report.wording, the texts are safe on one line and not yet escaped for any markup.
"""

from __future__ import annotations

from typing import Any

from gate.model import Better, Finding, Level, QuantileCurve, RatioInterval, Recorded, SideSummary
from gate.report.plain import clip, visible
from gate.report.view import known
from gate.report.wording import format_percent, format_ratio, plural
from gate.units import format_number, format_share, format_value, shown_unit

_METHODS = {
    "fieller": "Fieller's interval of a ratio of means, Satterthwaite's degrees of freedom",
    "fieller-kj": "Fieller's interval of a ratio of means as Kalibera and Jones (2012), eq. 12",
    "fieller-paired": "Fieller's interval of a ratio of means, base and head of each round as a pair",
    "fieller-moderated": "Fieller's interval of a ratio of means, with the variance remembered from calibration",
    "bootstrap": "percentile interval of the hierarchical bootstrap",
    "bootstrap-bca": "bias-corrected and accelerated interval of the hierarchical bootstrap",
    "exact": "compared as numbers: neither side has any spread",
}


def quantity(case: Finding | Recorded) -> str:
    """Name what is compared: "time", "latency p99"; the mean is not said."""
    statistic = case.statistic if isinstance(case, Finding) and case.statistic != "mean" else ""
    return visible(f"{case.metric} {statistic}".rstrip())


def effect(ratio: float | None) -> str:
    """Write one point of a curve as a change: "+5.1%"; "none" where there is no band."""
    return format_share(ratio - 1, sign=True) if known(ratio) else "none"


def factors(case: Finding | Recorded | QuantileCurve) -> str:
    """Write the settings of the factors: "size=10, kind=a"."""
    return ", ".join(f"{visible(name)}={visible(str(value))}" for name, value in case.factors.items())


def larger(case: Finding | Recorded) -> float:
    """Give the value of the side that both are written like: the larger, since one may be 0."""
    return max(case.base.value, case.head.value, key=abs)


def value(side: SideSummary, unit: str, like: float) -> str:
    """Write a side's value in the unit that suits `like`: "101.5 ms", "1,048,576", "unknown"."""
    return amount(side.value, unit, like)


def amount(number: float | None, unit: str, like: float | None) -> str:
    """Write a value of a metric; whole counts are written in full."""
    if not known(number):
        return "unknown"
    shown = clip(visible(unit), 12)
    if shown in ("", "count"):
        return f"{number:,.0f}" if float(number).is_integer() and abs(number) < 1e15 else format_number(number)
    return format_value(number, shown, like=like if known(like) else None)


def side_interval(side: SideSummary, unit: str, like: float) -> str:
    """Write a side's own interval: "101.0 to 102.0 ms", "no spread", "no interval"."""
    if not known(side.low) or not known(side.high):
        return "no interval"
    if side.low == side.high:
        return "no spread"
    low, high = amount(side.low, unit, like), amount(side.high, unit, like)
    head, _, name = low.rpartition(" ")
    return f"{head} to {high}" if name and high.endswith(f" {name}") else f"{low} to {high}"


def change(ratio: RatioInterval) -> str:
    """Write the change of the estimate: "+5.1%"."""
    return format_share(ratio.estimate - 1, sign=True) if known(ratio.estimate) else "unknown"


def interval(ratio: RatioInterval) -> str:
    """Write the interval as a change: "+3.2% to +7.1%", "+3.2% or more", "exact", "no interval", "unbounded"."""
    return _limits(ratio, lambda limit: format_share(limit - 1, sign=True))


def ratio_interval(ratio: RatioInterval) -> str:
    """Write the interval as a ratio: "1.0320 to 1.0710", "no interval"."""
    return _limits(ratio, format_ratio)


def decided_interval(finding: Finding) -> str:
    """Write the interval that decided, as a change; "no interval" where it has no limits."""
    low, high = finding.decided_at.low, finding.decided_at.high
    ends = [format_share(limit - 1, sign=True) if known(limit) else None for limit in (low, high)]
    if ends[0] and ends[1]:
        return f"{ends[0]} to {ends[1]}"
    return f"{ends[0]} or more" if ends[0] else f"{ends[1]} or less" if ends[1] else "no interval"


def _limits(ratio: RatioInterval, write: Any) -> str:
    low = write(ratio.low) if known(ratio.low) else None
    high = write(ratio.high) if known(ratio.high) else None
    if ratio.kind == "bounded" and low and high:
        return "exact" if ratio.method == "exact" else f"{low} to {high}"
    if ratio.kind == "half-line" and (low or high):
        return f"{low} or more" if low else f"{high} or less"
    return "unbounded" if ratio.kind in ("complement", "line", "half-line") else "no interval"


def sentence(case: Finding | Recorded) -> str:
    """Say what happened for a newcomer: "head is 5.1% slower (3.2% to 7.1%, 95% interval over 5 builds)"."""
    statistic = case.statistic if isinstance(case, Finding) else "mean"
    more, less = _directions(case.unit, case.better)
    if case.unit == "s":
        subject = "head" if statistic == "mean" else f"head's {visible(statistic)}"
    else:
        subject = f"{quantity(case)} of head"
    if not known(case.ratio.estimate):
        text = f"{subject} cannot be put in relation to base"
    else:
        text = f"{subject} is {_words(case.ratio.estimate - 1, more, less)}"
    note = " (higher is better)" if case.better == "higher" else ""
    return f"{text} ({_spread(case, more, less)}){note}"


def _directions(unit: str, better: Better) -> tuple[str, str]:
    # a rate in seconds is no time: only less time is faster
    return ("slower", "faster") if unit == "s" and better == "lower" else ("higher", "lower")


def _words(relative: float, more: str, less: str) -> str:
    size = format_share(abs(relative))
    return "the same as base" if relative == 0 else f"{size} {more if relative > 0 else less}"


def _spread(case: Finding | Recorded, more: str, less: str) -> str:
    ratio, over = case.ratio, _over(case)
    confidence = f"{format_percent(ratio.confidence)} interval"
    if ratio.kind == "withheld":
        one = all(side.counts.build == 1 and side.counts.session == 1 for side in (case.base, case.head))
        return "no interval: one build a side" if one else f"no interval, {over}"
    if ratio.kind == "half-line" and (known(ratio.low) or known(ratio.high)):
        return f"{interval(ratio)}, {confidence} with one end {over}"
    if ratio.kind != "bounded" or not known(ratio.low) or not known(ratio.high):
        return f"the {confidence} {over} has no ends"
    low, high = ratio.low - 1, ratio.high - 1
    if ratio.method == "exact":
        return "compared as exact numbers"
    if low >= 0:
        limits = f"{format_share(low)} to {format_share(high)}"
    elif high <= 0:
        limits = f"{format_share(-high)} to {format_share(-low)}"
    else:
        limits = f"{format_share(-low)} {less} to {format_share(high)} {more}"
    return f"{limits}, {confidence} {over}"


def _over(case: Finding | Recorded) -> str:
    base, head = case.base.counts, case.head.counts
    noun, pair = ("session", (base.session, head.session)) if base.session > 1 else ("build", (base.build, head.build))
    return f"over {plural(pair[0], noun)}" if pair[0] == pair[1] else f"over {pair[0]} and {pair[1]} {noun}s"


def method(name: str) -> str:
    """Name the method of an interval in words."""
    return _METHODS.get(name, visible(name))


def finding_method(finding: Finding) -> str:
    """Name the method of a finding's interval; of a quantile it is a t interval of logarithms."""
    if finding.statistic == "mean" or finding.ratio.method == "exact":
        return method(finding.ratio.method)
    extra = {
        "fieller-paired": ", base and head of each round as a pair",
        "fieller-moderated": ", with the variance remembered from calibration",
    }.get(finding.ratio.method, ", Satterthwaite's degrees of freedom")
    return f"t interval over builds of the logarithm of each build's {visible(finding.statistic)}{extra}"


def without_memory(finding: Finding) -> str:
    """Write the interval as it would be without what is remembered; nothing where nothing is."""
    memory = finding.memory
    return interval(memory.without) if memory is not None and memory.without is not None else ""


def notes(finding: Finding) -> list[str]:
    """Why the verdict is what it is: decide's reason, and the entry that accepts a regression."""
    reason = visible(finding.reason).strip()
    found = [reason] if reason else []
    if finding.accepted is not None and visible(finding.accepted.reason) not in reason:
        entry = finding.accepted
        size, until = format_percent(entry.up_to), visible(entry.until)
        found.append(f"accepted up to {size} until {until}: {visible(entry.reason)}")
    return found


def verdict(finding: Finding) -> str:
    """Name the verdict of a finding, with what an inconclusive one does tell."""
    note = ", not worse" if finding.verdict == "inconclusive" and finding.not_worse else ""
    return finding.verdict + note


def threshold(finding: Finding) -> str:
    """Write the threshold: "3%"."""
    return format_percent(finding.threshold)


def floor(finding: Finding) -> str:
    """Write the floor as it was configured: "1 us", "no floor"."""
    if not known(finding.floor):
        return "no floor"
    scale, name = shown_unit(finding.floor, finding.unit)
    return f"{finding.floor / scale:.4g} {visible(name)}".rstrip()


def counted_levels(finding: Finding) -> list[Level]:
    """Return the levels worth a count, the highest first: sessions only when there are several."""
    several = max(finding.base.counts.session, finding.head.counts.session) > 1
    levels: list[Level] = ["build", "execution", "iteration"]
    return ["session", *levels] if several else levels
