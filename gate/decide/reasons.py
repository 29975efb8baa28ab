"""The words of a decision: why a finding has its verdict, and the report's verdict in one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, log

from gate.decide.estimates import BOOTSTRAP_BUILDS, Estimated
from gate.decide.looks import ONLY_REPORTS, Position
from gate.evidence.factors import pairs
from gate.model import Accepted, Case, Evidence, Finding, ReportVerdict, Verdict
from gate.stats.ratio import Limits
from gate.units import Share, format_confidence, format_share, format_value


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """What a reason is made of; decided: the limits at the confidence that decided."""

    verdict: Verdict
    found: Estimated
    nominal: Limits
    decided: Limits
    confidence: float
    position: Position
    min_builds: int
    accepted: Accepted | None
    exceeded: Accepted | None
    """An accept entry for a smaller regression than this one."""

    @property
    def threshold(self) -> float:
        """The threshold of the finding."""
        return self.found.subject.threshold

    @property
    def floor(self) -> float | None:
        """Its floor."""
        return self.found.subject.floor

    @property
    def case(self) -> Case:
        """Its case."""
        return self.found.subject.case


def finding(facts: Facts) -> str:
    """Say why a finding has its verdict."""
    if facts.accepted is not None:
        return _accepted(facts, facts.accepted)
    if facts.found.reduced.trouble:
        return _trouble(facts)
    threshold = str(Share(facts.threshold))
    if facts.verdict in ("regression", "improvement"):
        if facts.found.exact:
            return f"an exact count that changed by more than the threshold of {threshold}{_exceeded(facts)}"
        side = " on the good side" if facts.verdict == "improvement" else ""
        interval = f"the {format_confidence(facts.confidence)} interval {_limits(facts.decided)}"
        return f"{interval} lies beyond the threshold of {threshold}{side}{_exceeded(facts)}"
    if facts.verdict == "unchanged":
        return _unchanged(facts, threshold)
    return _inconclusive(facts, threshold)


def _accepted(facts: Facts, entry: Accepted) -> str:
    if entry.up_to is None:
        return f"a regression{_exceeded(facts)}, let through by {entry.reason}"
    return (
        f"a known regression, not shown to exceed the {Share(entry.up_to)} accepted until {entry.until}: {entry.reason}"
    )


def _exceeded(facts: Facts) -> str:
    entry = facts.exceeded
    if entry is None or entry.up_to is None:
        return ""
    return f", and beyond the {Share(entry.up_to)} accepted until {entry.until}: {entry.reason}"


def _unchanged(facts: Facts, threshold: str) -> str:
    low, high = facts.nominal.low, facts.nominal.high
    if facts.position.within_floor:
        return f"the change is smaller than the floor of {_floor(facts)}"
    if facts.found.exact:
        same = facts.found.ratio.x == facts.found.ratio.y
        return "the same count" if same else f"an exact count that changed by no more than the threshold of {threshold}"
    if low is not None and high is not None and not low <= 1 <= high:
        return f"real but below the threshold of {threshold}"
    return f"the interval lies within the threshold of {threshold}"


def _inconclusive(facts: Facts, threshold: str) -> str:
    kind = facts.nominal.kind
    if kind in ("complement", "line", "half-line"):
        return "base's mean cannot be told from 0 with this spread, so the interval of the ratio has no bounds"
    held = _held(facts)
    if held and (_excludes(facts) or facts.found.hold in ONLY_REPORTS):
        return held
    if facts.position.not_worse and _beyond(facts, facts.nominal, worse=False):
        return (
            f"not worse, and better by more than the threshold of {threshold} on its own, "
            "but not at the confidence that decides"
        )
    if facts.position.not_worse:
        return (
            f"not worse: any {_worsening(facts)} is below {_bound(facts, threshold)}, "
            f"whether it improved by more than {threshold} is open"
        )
    if facts.floor is not None and _beyond(facts, facts.decided, worse=True):
        return f"beyond the threshold of {threshold}, but not shown to be above the floor of {_floor(facts)}"
    if _excludes(facts):
        return (
            f"beyond the threshold of {threshold} on its own, not at the {format_confidence(facts.confidence)} "
            "that the number of findings asks for"
        )
    beyond = f"a change beyond the threshold of {threshold}"
    return f"the interval is too wide to tell {beyond} from none; more {facts.found.unit}s narrow it"


def _worsening(facts: Facts) -> str:
    return "slowdown" if facts.case.unit == "s" and facts.case.better == "lower" else "change for the worse"


def _bound(facts: Facts, threshold: str) -> str:
    """Name what a change for the worse is shown to be below: the threshold, else the floor."""
    low, high, d = facts.nominal.low, facts.nominal.high, facts.threshold
    lower = facts.case.better == "lower"
    below = low is not None and high is not None and (high < 1 + d if lower else low > 1 / (1 + d))
    return f"the threshold of {threshold}" if below else f"the floor of {_floor(facts)}"


def _held(facts: Facts) -> str:
    has, units, unit = facts.found.builds, facts.found.units, facts.found.unit
    return {
        "": "",
        "builds": f"the change looks real, but a verdict needs {facts.min_builds} builds a side, this has {has}",
        "bootstrap": f"a bootstrap interval over {units} {unit}s covers too little to decide by: it takes "
        f"{BOOTSTRAP_BUILDS}, or an interval that knows its degrees",
        "memory": "one build a side: the interval rests on remembered variance alone, which reports and never decides",
    }[facts.found.hold]


def _excludes(facts: Facts) -> bool:
    return _beyond(facts, facts.nominal, worse=True) or _beyond(facts, facts.nominal, worse=False)


def _beyond(facts: Facts, limits: Limits, *, worse: bool) -> bool:
    low, high, d = limits.low, limits.high, facts.threshold
    if low is None or high is None:
        return False
    return low > 1 + d if worse == (facts.case.better == "lower") else high < 1 / (1 + d)


_TROUBLES = {
    "negative": "negative values have no ratio",
    "overflow": "the values are too large or too small to form a ratio",
    "apart": "base and head were measured in different sessions: what differs from session to session is not known",
    "zero-quantile": "a quantile of 0 has no logarithm, so there is no ratio of quantiles",
    "no-rounds": "fewer than two rounds were measured on both sides: a paired interval needs them",
    "no-spread": "no spread: timer too coarse? (a count or size can be declared exact = true)",
}


def _trouble(facts: Facts) -> str:
    reduced = facts.found.reduced
    if reduced.trouble in _TROUBLES:
        return _TROUBLES[reduced.trouble]
    if reduced.trouble == "one-unit":
        few = [side for side, tops in (("base", reduced.base), ("head", reduced.head)) if tops.n < 2]
        unit = facts.found.unit
        where = "a side" if len(few) == 2 else f"of {few[0]}"
        return f"one {unit} {where} leaves open what differs from {unit} to {unit}, so there is no interval"
    if reduced.trouble == "few-values" and reduced.shortage is not None:
        short, name = reduced.shortage, facts.found.subject.statistic
        return f"{name} needs {short.needs} values per build, has {short.has}: {short.needs - short.has} are missing"
    return _zero_base(facts)


def _zero_base(facts: Facts) -> str:
    if facts.found.ratio.y == 0:
        return "both sides are 0"
    if facts.verdict == "regression":
        return f"base is 0 and head is beyond the floor of {_floor(facts)}"
    return "base is 0: there is no ratio, and only an absolute floor could tell" + (
        ""
        if facts.floor is None or not facts.found.subject.lower
        else f"; head is not shown to be above the floor of {_floor(facts)}"
    )


def _floor(facts: Facts) -> str:
    return format_value(facts.floor or 0.0, facts.case.unit, digits=3)


def _limits(limits: Limits) -> str:
    if limits.low is None or limits.high is None:
        return "(without bounds)"
    return f"{format_share(limits.low - 1, sign=True)} to {format_share(limits.high - 1, sign=True)}"


def _size(finding: Finding) -> float:
    # how far from no change, whichever direction is better; from 0 it is without limit
    ratio = finding.ratio.estimate
    return abs(log(ratio)) if ratio else inf


def _names(regressed: Sequence[Finding], findings: Sequence[Finding], only: Mapping[int, tuple[str, ...]]) -> list[str]:
    """Name what regressed, the largest first: once for what one benchmark, metric and statistic is confined to.

    findings: all there are. only: id of a finding -> the factors by whose settings alone it is found.
    """
    several = Counter(f.benchmark for f in findings)
    every: dict[Hashable, list[Finding]] = {}
    for finding in findings:
        every.setdefault(_subject(finding), []).append(finding)
    groups: dict[Hashable, list[Finding]] = {}
    for finding in sorted(regressed, key=_size, reverse=True):
        place = _where(finding, only.get(id(finding), ()))
        groups.setdefault((_subject(finding), place), []).append(finding)
    names = []
    for own in groups.values():
        first = own[0]
        statistic = [first.statistic] if first.statistic != "mean" else []
        where = _where(first, only.get(id(first), ())) or _spread(own, every[_subject(first)])
        alone = several[first.benchmark] == 1
        names.append(first.benchmark if alone else " ".join([first.benchmark, first.metric, *statistic, *where]))
    return names


def _subject(finding: Finding) -> Hashable:
    return finding.benchmark, finding.metric, finding.statistic


def _where(finding: Finding, factors: Sequence[str]) -> tuple[str, ...]:
    return (f"only under {pairs({name: finding.factors[name] for name in factors}, ' ')}",) if factors else ()


def _spread(own: Sequence[Finding], every: Sequence[Finding]) -> list[str]:
    """Say at which of its settings a case regressed; the largest first."""
    largest = pairs(own[0].factors, " ")
    if len(own) == 1:
        return [largest] if largest else []
    if len(own) == len(every):
        return ["at every setting"]
    varied = [name for name in own[0].factors if len({repr(f.factors.get(name)) for f in every}) > 1]
    what = "settings" if len(varied) == 1 else "combinations of settings"
    return [f"at {len(own):,} of {len(every):,} {what} (most at {largest})"]


def _apart(findings: Sequence[Finding]) -> str:
    """Count those that are shown not to be worse apart: they are inconclusive, and no risk."""
    found = [f.not_worse for f in findings if f.verdict == "inconclusive"]
    if not any(found):
        return ""
    return " but not worse" if all(found) else f", {sum(found):,} of them not worse"


def summary(
    verdict: ReportVerdict,
    findings: Sequence[Finding],
    evidence: Evidence,
    only: Mapping[int, tuple[str, ...]] | None = None,
) -> str:
    """Say the report's verdict in one sentence.

    only: id of a finding -> the factors at whose settings alone a benchmark regressed.
    """
    counts = Counter(f.verdict for f in findings)
    total = f"{len(findings):,} finding{'s' if len(findings) != 1 else ''}"
    if verdict == "regression":
        regressed = [f for f in findings if f.verdict == "regression"]
        worst = _names(regressed, findings, only or {})
        names = ", ".join(worst[:3]) + (f" and {len(worst) - 3:,} more" if len(worst) > 3 else "")
        return f"{counts['regression']:,} of {total} regressed: {names}"
    if verdict == "error":
        if not findings and not evidence.failures:
            measured = ", ".join(dict.fromkeys(case.metric for case in evidence.cases))
            return f"nothing was decided: plan.metrics names none of {measured}" if measured else "nothing was measured"
        failed = len(evidence.failures)
        what = f"{failed} failure{'s' if failed != 1 else ''}"
        return f"{what}, and nothing was measured" if not findings else f"{what} beside {total}"
    if verdict == "inconclusive":
        return f"{counts['inconclusive']:,} of {total} inconclusive{_apart(findings)}, none regressed"
    if counts["accepted"]:
        labels = {f.accepted.reason for f in findings if f.accepted is not None and f.accepted.up_to is None}
        by = f" by {', '.join(sorted(labels))}" if labels else ""
        return f"{counts['accepted']:,} of {total} accepted{by}, nothing else regressed"
    return f"nothing regressed in {total}"
