"""The words of one finding: what is compared, and a sentence that says what happened and what follows."""

from __future__ import annotations

import math

from gate.model import Finding, Level, Overall, QuantileCurve, Recorded, reasons
from gate.model.case import MEAN, TYPICAL, pairs
from gate.model.names import ACTIVE
from gate.model.reasons import corrected
from gate.words import numbers, views
from gate.words.numbers import threshold
from gate.writing import amounts
from gate.writing.amounts import known
from gate.writing.plain import clip, visible
from gate.writing.units import format_confidence, format_share, plural, whole_of

_FIELLER, _LOGS = "Fieller's interval of a ratio of means", "t interval of the mean logarithm of head/base"
_PAIRS, _OF_ALL = "base and head of each round as a pair", "with the variance of all cases"
_METHODS = {
    "fieller": f"{_FIELLER}, Satterthwaite's degrees of freedom",
    "fieller-kj": f"{_FIELLER} as Kalibera and Jones (2012), eq. 12",
    "fieller-paired": f"{_FIELLER}, {_PAIRS}",
    "fieller-moderated": f"{_FIELLER}, with the variance remembered from earlier runs",
    "paired": f"{_LOGS} over rounds",
    "paired-shared": f"{_LOGS} over rounds, {_OF_ALL}",
    "bootstrap": "percentile interval of the hierarchical bootstrap",
    "bootstrap-bca": "bias-corrected and accelerated interval of the hierarchical bootstrap",
    "fixed-sessions": f"{_LOGS} over these machines, from the rounds of each",
    "fixed-sessions-shared": f"{_LOGS} over these machines, {_OF_ALL} on each",
    "nights": "t of the mean logarithm of head/base over the latest nights, without the slowest of them",
    "exact": "compared as numbers: neither side has any spread",
}
_OVER_ROUNDS = ("paired", "paired-shared")
"""Methods whose change is a mean over rounds."""
_SEEN = math.log(1.05)
"""How far the change may be from that of the values beside it before a reader asks why."""
_OVER_MACHINES = ("fixed-sessions", "fixed-sessions-shared")


def quantity(case: Finding | Recorded) -> str:
    """Name what is compared: "time", "latency p99", "active time"; the usual statistic is not said."""
    if isinstance(case, Finding) and case.view is not None:
        return views.called(case, case)
    if isinstance(case, Recorded) and case.statistic == MEAN:
        return visible(views.metric_name(case.metric))
    return visible(views.quantity(case.metric, case.statistic))


def factors(case: Finding | Recorded | QuantileCurve) -> str:
    """Write the settings of the factors: "size=10, kind=a"."""
    return visible(pairs(case.factors))


def overall_name(item: Overall) -> str:
    """Name a group of cases: "overall, time", "overall, time of parsers"."""
    return visible(f"overall, {views.metric_name(item.metric)}" + ("" if item.group == "all" else f" of {item.group}"))


def overall(item: Overall) -> str:
    """Write the change of a group: "+0.40% (-0.20% to +1.0%, 95% interval over 5 builds of each), geometric ..."."""
    limits = numbers.interval(item.ratio)
    if item.ratio.kind != "withheld":
        limits += f", {format_confidence(item.ratio.confidence)} interval over {plural(item.units, item.level)} of each"
    return f"{numbers.change(item.ratio)} ({limits}), geometric mean of {plural(item.cases, 'case')}"


# --- what happened ----------------------------------------------------------------------------------------------------


def conclusion(finding: Finding) -> str:
    """Say what happened, against which threshold, and what follows; no full stop at its end.

    "32.1% slower (at least 14.2%), threshold 10%: regression"; "4.1% slower (1.9% to 6.3%), threshold 3%: too noisy,
    the slowdown may be smaller; about 4 more builds would decide it".
    """
    between = " " if finding.verdict == "accepted" else ", "
    reason = "; ".join(filter(None, [numbers.MAY_REGRESS if finding.may_regress else "", why(finding)]))
    end = between + reason if reason else ""
    if finding.ratio.kind == "withheld":
        measured = " as measured" if known(finding.ratio.estimate) else ""
        said = f"{_changed(finding)}{measured}: {numbers.word(finding)}{end}"
    else:
        spread = numbers.in_points(finding, _spread(finding))
        said = f"{_changed(finding)}{spread}, threshold {_limit(finding)}"
        if isinstance(finding.reason, reasons.BeyondLimit):
            # the change is beside the point
            head = amounts.amount(finding.head.value, finding.unit, finding.head.value)
            said = f"head is {head}, {finding.reason.held}: {numbers.word(finding)}; {said}"
        else:
            said += f": {numbers.word(finding)}{end}"
    decided_by = views.because(finding)
    return clip(visible(said + _more(finding) + (f"; {decided_by}" if decided_by else "")), _LONGEST)


def reason(finding: Finding) -> str:
    """Say why a finding has its verdict and what follows, in a sentence of its own."""
    return clip(visible(finding.reason.sentence() + _more(finding)), _LONGEST)


def sized(finding: Finding, *, limit: bool = True) -> str:
    """Say how a benchmark changed, behind its name: "is 32.1% slower (at least 14.2%), threshold 10%"; no verdict.

    limit: with the threshold.
    """
    changed = _changed(finding, verb=True)
    if finding.ratio.kind == "withheld":
        return f"{changed}{' as measured' if known(finding.ratio.estimate) else ''}"
    within = f", threshold {_limit(finding)}" if limit else ""
    return f"{changed}{numbers.in_points(finding, _spread(finding))}{within}"


def why(finding: Finding) -> str:
    """Say why a finding has its verdict, behind its change, interval, threshold and verdict; "" where these say it."""
    reason = finding.reason
    return reason.sentence() if finding.ratio.kind == "withheld" else reason.ending(finding)


def in_row(finding: Finding) -> bool:
    """Return whether its row says all of a finding: its noise, or a change that no other view contradicts."""
    called = finding.verdict in ("regression", "improvement") and not why(finding)
    if any(views.broken_limit(each) for each in finding.beside):
        return False
    return finding.is_noise or (called and (finding.view is None or finding.view.why != "regression"))


def basis(finding: Finding) -> str:
    """Say what the interval rests on: "95% confidence, over 5 builds of each"."""
    if finding.shown is None:
        return ""
    base, head = finding.base.counts, finding.head.counts
    noun, pair = (
        ("session", (base.session, head.session)) if base.session > 1 else (finding.top, (base.build, head.build))
    )
    over = f"{plural(pair[0], noun)} of each" if pair[0] == pair[1] else f"{pair[0]} and {pair[1]} {noun}s"
    if isinstance(finding.reason, reasons.Crept):
        over = plural(finding.reason.nights, "night")
    elif finding.ratio.method in _OVER_MACHINES:
        over = f"{plural(base.build, 'round')} on {plural(base.session, 'machine')}"
    return f"{corrected(finding.ratio.confidence, None)}, over {over}"


def decided(finding: Finding) -> str:
    """Write the interval that decided where it is not the one that is shown; otherwise nothing.

    "+4.0% or more at 99.58% confidence after correction for 12 comparisons, interim check 1 of 4".
    """
    ratio, reason, at = numbers.decided(finding), finding.reason, finding.decided_at
    if ratio is None:
        return ""
    held = corrected(ratio.confidence, reason.comparisons if isinstance(reason, reasons.Exceeds) else None)
    look = f", interim check {at.look} of {at.looks}" if at.looks > 1 else ""
    return f"{numbers.in_points(finding, numbers.interval(ratio))} at {held}{look}"


def _changed(finding: Finding, *, verb: bool = False) -> str:
    """Say how it changed; verb: behind the name of the benchmark, as "is 8.3% slower", "has no change"."""
    named, within = _named(finding)
    name, ratio = f"{named} " if named else "", finding.ratio.estimate
    if not known(ratio):
        zero = _from_zero(finding)
        return f"{name}{zero or 'has no ratio'}{within}" if verb or named or zero else f"no ratio{within}"
    if ratio == 1 and not verb:
        return f"no change in {named}" if named else f"no change{within}"
    moved = numbers.in_points(finding, amounts.moved(finding, ratio))
    changed = f"{'is ' * verb}{moved}" if ratio != 1 else "has no change"
    return f"{name}{changed}{within}"


def _named(finding: Finding) -> tuple[str, str]:
    """Name what changed, as its words stand before and behind the change: "latency p99 ", "", or "", " in active time".

    Time is not said of a benchmark that has no other view of it.
    """
    if finding.view is None and (finding.metric, finding.statistic) == ("time", MEAN):
        return "", ""
    name = clip(quantity(finding), 60)
    one_of_several = finding.view is not None or finding.metric == ACTIVE or finding.statistic == TYPICAL
    return ("", f" in {name}") if one_of_several and amounts.is_time(finding) else (name, "")


def _from_zero(finding: Finding) -> str:
    """Say what a value became that was 0: "went from 0 to 3"; "" where it was not, or still is."""
    if finding.base.value != 0 or not finding.head.value > 0:
        return ""
    return f"went from 0 to {amounts.amount(finding.head.value, finding.unit, finding.head.value)}"


def _spread(finding: Finding) -> str:
    """Write the least of a change that is called, else the interval: " (at least 14.2%)", " (1.0% to 3.0%)"."""
    if finding.ratio.method == "exact":
        return " (exact)"
    ratio, at = finding.ratio, finding.decided_at
    called = finding.shown == "decided_at" and numbers.is_called(finding)
    low, high = numbers.ends(at.low, at.high) if called else numbers.ends(ratio.low, ratio.high)
    note = "; higher is better" if finding.better == "higher" else ""
    if called:
        end = low if _is_above(finding) else high
        if end is None:
            return f" (no bounds{note})"
        return f" (at least {_size(finding, end)}{note})"
    if ratio.kind != "bounded" or low is None or high is None:
        return f" ({numbers.interval(ratio)}{note})"
    if low < 1 < high:
        both = [amounts.moved(finding, end, _nearest(finding, end)) for end in (low, high)]
        return f" ({' to '.join(both)}{note})"
    shown = [_size(finding, end) for end in ((low, high) if low >= 1 else (high, low))]
    return f" ({' to '.join(shown)}{note})"


def _is_above(finding: Finding) -> bool:
    """Return whether a change that is called goes to ratios above 1."""
    return (finding.verdict == "improvement") == (finding.better == "higher")


def _size(finding: Finding, end: float) -> str:
    """Write how far an end is from no change, so that it does not read like a threshold that it is not."""
    if end > 1 and known(finding.ratio.estimate) and finding.ratio.estimate >= amounts.FACTORS:
        # as the change is written
        return amounts.factor(end)
    return amounts.size(end, _nearest(finding, end))


def _nearest(finding: Finding, end: float) -> float:
    """Return the size of the threshold on the side of an end."""
    return finding.threshold if end > 1 else 1 - _inverse(finding)


def _inverse(finding: Finding) -> float:
    return 1 / (1 + finding.threshold)


def _limit(finding: Finding) -> str:
    """Write the threshold; where ratios below 1 are meant, with the inverse that limits them."""
    reason = finding.reason
    below = isinstance(reason, reasons.TooWide) and reason.exceeds == "below"
    if finding.verdict in ("regression", "improvement", "accepted"):
        below = not _is_above(finding)
    inverse = _inverse(finding)
    least = numbers.in_points(finding, format_share(1 - inverse))
    # of a small threshold the inverse is the same number
    below = below and round(1 - inverse, 3) != round(finding.threshold, 3)
    other = f" ({least} {amounts.direction(finding, inverse)})" if below else ""
    # the floor where it asks for more than the threshold, and the reason does not name it
    named = isinstance(reason, (reasons.BelowFloor, reasons.FloorOpen)) or (
        isinstance(reason, reasons.NotWorse) and reason.floor is not None
    )
    if named or finding.floor is None or not finding.is_bound_by_floor:
        return threshold(finding) + other
    share = format_share(finding.floor / abs(finding.base.value))
    return f"{threshold(finding)}{other}, floor {numbers.floor(finding)} ({share})"


_LONGEST = 1000


def _more(finding: Finding) -> str:
    if finding.verdict != "inconclusive" or finding.not_worse or finding.is_below_floor:
        return ""
    told = []
    if finding.stopped == "futility":
        builds = min(finding.base.counts.build, finding.head.counts.build)
        above = f" above the floor of {numbers.floor(finding)}" if finding.is_bound_by_floor else ""
        told.append(f"stopped after {plural(builds, finding.top)}: the rest of the plan would not help{above}")
    if finding.more_builds is not None:
        where = " on each machine" if finding.sessions else ""
        told.append(f"about {plural(finding.more_builds, f'more {finding.top}')}{where} would decide it")
    elif isinstance(finding.reason, (reasons.TooWide, reasons.TooNoisy)) and finding.reason.hopeless:
        told.append(f"more {finding.top}s alone would not help")
    if known(finding.detectable) and not isinstance(finding.reason, reasons.TooNoisy):
        told.append(f"this run catches {amounts.caught(finding, finding.detectable)}")
    return "".join(f"; {each}" for each in told)


# --- details ----------------------------------------------------------------------------------------------------------


def method(finding: Finding) -> str:
    """Name the method of an interval in words; of a quantile it is a t interval of logarithms."""
    name = finding.ratio.method
    if finding.statistic == TYPICAL:
        return "t interval over rounds; the value of a round is the 20% trimmed mean of the log ratios of neighbours"
    if finding.statistic == MEAN or name in ("exact", *_OVER_MACHINES):
        return _METHODS.get(name, visible(name))
    extra = {
        "fieller-paired": _PAIRS,
        "paired": _PAIRS,
        "paired-shared": f"{_PAIRS}, {_OF_ALL}",
        "fieller-moderated": "with the variance remembered from earlier runs",
    }.get(name, "Satterthwaite's degrees of freedom")
    return f"t interval over builds of the logarithm of each build's {visible(finding.statistic)}, {extra}"


def from_columns(case: Finding | Recorded) -> str:
    """Say why the change is not that of base and head as they are shown; nothing where a reader would not see it."""
    base, head, ratio = case.base.value, case.head.value, case.ratio.estimate
    # the difference of shares is that of the columns
    if (
        whole_of(case.metric, case.unit)
        or case.ratio.method not in _OVER_ROUNDS
        or not (known(base) and known(head) and known(ratio) and min(base, head, ratio) > 0)
    ):
        return ""
    shown = head / base
    if abs(math.log(shown / ratio)) < _SEEN:
        return ""
    return f"mean of pairs; the columns alone give {amounts.changed(shown)}"


def apart(finding: Finding) -> str:
    """Say after an open verdict whether the finding is not worse: ", not slower" or nothing."""
    return f", {amounts.not_worse(finding)}" if finding.verdict == "inconclusive" and finding.not_worse else ""


def counted_levels(finding: Finding) -> list[Level]:
    """Return the levels worth a count, the highest first: sessions only when there are several."""
    several = max(finding.base.counts.session, finding.head.counts.session) > 1
    levels: list[Level] = ["build", "execution", "iteration"]
    return ["session", *levels] if several else levels
