"""The words of one case: what is compared, its numbers and intervals, and a sentence that says what happened.

As in gate.words.numbers, the texts are safe on one line and not yet escaped for any markup.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from gate.evidence.factors import pairs
from gate.model import Finding, Level, Overall, QuantileCurve, RatioInterval, Recorded, SideSummary, Verdict
from gate.units import format_confidence, format_number, format_share, format_value, shown_unit
from gate.words.arrangement import known
from gate.words.numbers import format_percent, format_ratio, plural
from gate.words.plain import clip, visible

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
    return visible(pairs(case.factors))


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
        whole = float(number).is_integer() and abs(number) < 1e15
        return f"{number:,.0f}" if whole else _separated(format_number(number))
    return _separated(format_value(number, shown, like=like if known(like) else None))


def _separated(text: str) -> str:
    number, blank, unit = text.partition(" ")
    return f"{int(number):,}{blank}{unit}" if number.removeprefix("-").isdecimal() else text


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


def interval_at(ratio: RatioInterval) -> str:
    """Write the interval with its confidence, for a column where they differ: "+3.2% to +7.1% at 99.76%"."""
    text = interval(ratio)
    return f"{text} at {format_confidence(ratio.confidence)}" if text[0] in "+-0123456789" else text


def overall(item: Overall) -> str:
    """Write the change of a group: "+0.40% (-0.20% to +1.0%, 95% interval over 5 builds a side), geometric ..."."""
    limits = interval(item.ratio)
    if item.ratio.kind != "withheld":
        limits += f", {format_confidence(item.ratio.confidence)} interval over {plural(item.units, item.level)} a side"
    return f"{change(item.ratio)} ({limits}), geometric mean of {plural(item.cases, 'case')}"


def ratio_interval(ratio: RatioInterval) -> str:
    """Write the interval as a ratio: "1.0320 to 1.0710", "no interval"."""
    return _limits(ratio, format_ratio)


def decided_interval(finding: Finding) -> str:
    """Write the interval that decided, as a change; "no interval" where it has no limits."""
    low, high = _ends(finding.decided_at.low, finding.decided_at.high)
    ends = [format_share(limit - 1, sign=True) if limit is not None else None for limit in (low, high)]
    if ends[0] and ends[1]:
        return f"{ends[0]} to {ends[1]}"
    return f"{ends[0]} or more" if ends[0] else f"{ends[1]} or less" if ends[1] else "no interval"


def _ends(low: float | None, high: float | None) -> tuple[float | None, float | None]:
    """Give the ends that exist. No measured quantity is below 0, so a set that goes on below it ends there in words."""
    return (max(low, 0.0) if known(low) else None), (max(high, 0.0) if known(high) else None)


def _limits(ratio: RatioInterval, write: Callable[[float], str]) -> str:
    ends = _ends(ratio.low, ratio.high)
    low, high = (write(end) if end is not None else None for end in ends)
    if ratio.kind == "bounded" and low and high:
        return "exact" if ratio.method == "exact" else f"{low} to {high}"
    if ratio.kind == "half-line" and (low or high):
        return f"{low} or more" if low else f"{high} or less"
    return "unbounded" if ratio.kind in ("complement", "line", "half-line") else "no interval"


def sentence(case: Finding | Recorded) -> str:
    """Say what happened for a newcomer: "head is 5.1% slower (3.2% to 7.1%, 95% interval over 5 builds)"."""
    more, less = _directions(case)
    note = "; higher is better" if case.better == "higher" else ""
    return f"{_changed(case)} ({_spread(case, more, less)}{note})"


def conclusion(finding: Finding) -> str:
    """Say what happened, against which threshold, and what follows, for a newcomer; no full stop at its end.

    "head is 4.1% slower (1.9% to 6.4%, 95% interval over 5 builds); the threshold is 3%, so this may be below it:
    inconclusive; about 4 more builds would tell". The verdict is the finding's own.
    """
    if finding.ratio.kind != "withheld":
        said = sentence(finding)
    else:
        said = _changed(finding) + (" as measured" if known(finding.ratio.estimate) else "")
    return f"{said}; {_ENDS[finding.verdict](finding)}"


def _regression(finding: Finding) -> str:
    if finding.ratio.kind == "withheld":
        return f"{clip(visible(finding.reason), _QUOTED)}: regression"
    limit = _limit(finding, below=finding.better == "higher")
    return f"the threshold is {limit}, so this is beyond it{_also(finding)}: regression"


def _improvement(finding: Finding) -> str:
    limit = _limit(finding, below=finding.better == "lower")
    return f"the threshold is {limit}, so this is beyond it for the better{_also(finding)}: improvement"


def _accepted(finding: Finding) -> str:
    limit = _limit(finding, below=finding.better == "higher")
    text = f"the threshold is {limit}, so this is beyond it, but accepted"
    entry = finding.accepted
    if entry is None:
        return text
    reason = clip(visible(entry.reason), _QUOTED)
    if entry.up_to is None:
        return f"{text} by {reason}"
    return f"{text} up to {format_percent(entry.up_to)} until {visible(entry.until or 'ever')}: {reason}"


def _unchanged(finding: Finding) -> str:
    low, high = _ends(finding.ratio.low, finding.ratio.high)
    limit = _limit(finding, below=high is not None and high < 1)
    if low is None or high is None:
        return f"{clip(visible(finding.reason), _QUOTED)}: unchanged"
    if low == high == 1:
        return "nothing changed: unchanged"
    if known(finding.floor) and (_beyond_low(finding) or _beyond_high(finding)):
        return f"the change is smaller than the floor of {floor(finding)}: unchanged"
    if finding.ratio.method == "exact":
        return f"the threshold is {limit}, so this is within it: unchanged"
    if low > 1 or high < 1:
        return f"the change is real, but below the threshold of {limit}: unchanged"
    return f"the threshold is {limit}, so any change is below it: unchanged"


def _limit(finding: Finding, *, below: bool) -> str:
    """Write the threshold; below: with what it is below 1, where the inverse ratio is what it limits."""
    text = threshold(finding)
    return f"{text} ({format_share(1 - _edge(finding))} {_directions(finding)[1]})" if below else text


def _edge(finding: Finding) -> float:
    return 1 / (1 + finding.threshold)


def _beyond_low(finding: Finding) -> bool:
    low = finding.ratio.low
    return known(low) and low < _edge(finding)


def _beyond_high(finding: Finding) -> bool:
    high = finding.ratio.high
    return known(high) and high > 1 + finding.threshold


def _inconclusive(finding: Finding) -> str:
    more = "" if finding.more_builds is None else f"; about {plural(finding.more_builds, 'more build')} would tell"
    if _TOO_WIDE in finding.reason:
        return f"{_may_be(finding)}: inconclusive{more or _hopeless(finding)}"
    if finding.not_worse and finding.reason.startswith(_NOT_WORSE):
        improved = f"whether it improved by more than {threshold(finding)}"
        return f"{_not_worse(finding)}, but {improved} is open: inconclusive, not worse"
    return f"inconclusive: {clip(visible(finding.reason), _QUOTED)}{more}"


def _hopeless(finding: Finding) -> str:
    """Say that builds do not help, where that is known: with degrees of freedom, and the build as the unit."""
    several = max(finding.base.counts.session, finding.head.counts.session) > 1
    known_so = finding.ratio.df is not None and not several
    return "; as it stands, no reasonable number of builds would tell" if known_so else ""


def _not_worse(finding: Finding) -> str:
    worse = "slowdown" if "slower" in _directions(finding) else "change for the worse"
    past = _beyond_high(finding) if finding.better == "lower" else _beyond_low(finding)
    if past:
        return f"any {worse} is below the floor of {floor(finding)}"
    return f"the threshold is {_limit(finding, below=finding.better == 'higher')}, so any {worse} is below it"


def _may_be(finding: Finding) -> str:
    ratio = finding.ratio.estimate
    if _beyond_low(finding) and _beyond_high(finding):
        return f"the threshold is {threshold(finding)}, and more than that is possible in both directions"
    limit = _limit(finding, below=_beyond_low(finding))
    past = known(ratio) and not _edge(finding) <= ratio <= 1 + finding.threshold
    return f"the threshold is {limit}, {'so this may be below it' if past else 'and this may be beyond it'}"


def _also(finding: Finding) -> str:
    # the interval that is shown is the nominal one; many findings and several looks ask for more
    decided, shown = format_confidence(finding.decided_at.confidence), format_confidence(finding.ratio.confidence)
    return "" if decided == shown or finding.ratio.method == "exact" else f", also at the {decided} that decided"


_ENDS: dict[Verdict, Callable[[Finding], str]] = {
    "regression": _regression,
    "inconclusive": _inconclusive,
    "accepted": _accepted,
    "improvement": _improvement,
    "unchanged": _unchanged,
}
_QUOTED = 300
_TOO_WIDE = "too wide to tell"
_NOT_WORSE = "not worse: any"


def _changed(case: Finding | Recorded) -> str:
    statistic = case.statistic if isinstance(case, Finding) and case.statistic != "mean" else ""
    more, less = _directions(case)
    name = clip(visible(f"{statistic} {case.metric}".lstrip()), 60)
    subject, measure = "head", ""
    if case.unit != "s":
        # whether a name is one thing or many is not known: "throughput", "instructions"
        measure = f" in {name}"
    elif case.metric != "time" or statistic:
        subject = f"head's {name}"
    if not known(case.ratio.estimate):
        return f"{subject} cannot be put in relation to base{measure}"
    relative = case.ratio.estimate - 1
    size = format_share(abs(relative))
    change = "the same as base" if relative == 0 else f"{size} {more if relative > 0 else less}"
    return f"{subject} is {change}{measure}"


def _directions(case: Finding | Recorded) -> tuple[str, str]:
    # a rate in seconds is no time: only less time is faster
    return ("slower", "faster") if case.unit == "s" and case.better == "lower" else ("higher", "lower")


def _spread(case: Finding | Recorded, more: str, less: str) -> str:
    ratio, over = case.ratio, _over(case)
    low, high = _ends(ratio.low, ratio.high)
    confidence = f"{format_confidence(ratio.confidence)} interval"
    if ratio.kind == "withheld":
        one = all(side.counts.build == 1 and side.counts.session == 1 for side in (case.base, case.head))
        return "no interval: one build a side" if one else f"no interval, {over}"
    if ratio.kind == "half-line" and (low is not None or high is not None):
        return f"{interval(ratio)}, {confidence} with one end {over}"
    if ratio.kind != "bounded" or low is None or high is None:
        return f"the {confidence} {over} has no ends"
    if ratio.method == "exact":
        return "compared as exact numbers"
    edge = case.threshold if isinstance(case, Finding) else 0.0
    up, down = edge, 1 - 1 / (1 + edge)
    if low >= 1:
        limits = f"{_apart(low - 1, up)} to {_apart(high - 1, up)}"
    elif high <= 1:
        limits = f"{_apart(1 - high, down)} to {_apart(1 - low, down)}"
    else:
        limits = f"{_apart(1 - low, down)} {less} to {_apart(high - 1, up)} {more}"
    return f"{limits}, {confidence} {over}"


def _apart(share: float, limit: float) -> str:
    """Write a share, with more digits where it would read like a limit that it is not."""
    text = format_share(share)
    if text != format_share(limit) or math.isclose(share, limit, rel_tol=1e-9):
        return text
    more = (
        f"{share * 100:.{digits}g}%" for digits in (3, 4, 5, 6, 8) if f"{share:.{digits}g}" != f"{limit:.{digits}g}"
    )
    return next(more, text)


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
        size = f" up to {format_percent(entry.up_to)}" if entry.up_to is not None else ""
        until = f" until {visible(entry.until)}" if entry.until is not None else ""
        found.append(f"accepted{size}{until}: {visible(entry.reason)}")
    return found


def says_why(finding: Finding) -> bool:
    """Tell whether the conclusion says all that decide's reason says."""
    if finding.verdict == "inconclusive":
        return _TOO_WIDE in finding.reason or finding.reason.startswith(_NOT_WORSE)
    if finding.verdict in ("regression", "improvement"):
        # the reason has the interval that decided, where that is another one than the sentence has
        return finding.ratio.kind != "withheld" and not _also(finding)
    return True


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
