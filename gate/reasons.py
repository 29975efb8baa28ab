"""The words of a decision: why a finding has its verdict, and the report's verdict in one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, inf, log

from gate.model import Accepted, Case, Evidence, Finding, ReportVerdict, Verdict
from gate.stats.estimate import Estimate
from gate.stats.family import Tested
from gate.stats.ratio import Limits
from gate.units import Share, format_share, format_value


@dataclass(frozen=True, slots=True)
class Facts:
    """What a reason is made of; decided: the limits at the confidence that decided."""

    verdict: Verdict
    case: Case
    estimate: Estimate
    nominal: Limits
    decided: Limits
    confidence: float
    threshold: float
    floor: float | None
    within_floor: bool
    not_worse: bool
    needs_builds: int | None
    """The builds a side that a regression or improvement needs, when there are fewer."""
    accepted: Accepted | None


def finding(facts: Facts) -> str:
    """Say why a finding has its verdict."""
    if facts.accepted is not None:
        a = facts.accepted
        return f"a known regression, not shown to exceed the {Share(a.up_to)} accepted until {a.until}: {a.reason}"
    if facts.estimate.trouble:
        return _trouble(facts)
    threshold = str(Share(facts.threshold))
    if facts.verdict in ("regression", "improvement"):
        if facts.estimate.exact:
            return f"an exact count that changed by more than the threshold of {threshold}"
        side = " on the good side" if facts.verdict == "improvement" else ""
        interval = f"the {_percent(facts.confidence)} interval {_limits(facts.decided)}"
        return f"{interval} lies beyond the threshold of {threshold}{side}"
    if facts.verdict == "unchanged":
        return _unchanged(facts, threshold)
    return _inconclusive(facts, threshold)


def _unchanged(facts: Facts, threshold: str) -> str:
    low, high = facts.nominal.low, facts.nominal.high
    if facts.within_floor:
        return f"the change is smaller than the floor of {_floor(facts)}"
    if facts.estimate.exact:
        same = facts.estimate.pair.x == facts.estimate.pair.y
        return "the same count" if same else f"an exact count that changed by no more than the threshold of {threshold}"
    if low is not None and high is not None and not low <= 1 <= high:
        return f"real but below the threshold of {threshold}"
    return f"the interval lies within the threshold of {threshold}"


def _inconclusive(facts: Facts, threshold: str) -> str:
    kind = facts.nominal.kind
    if kind in ("complement", "line", "half-line"):
        return "base's mean cannot be told from 0 with this spread, so the interval of the ratio has no bounds"
    builds = min(len(facts.case.base.builds), len(facts.case.head.builds))
    if facts.needs_builds is not None and _excludes(facts):
        return f"the change looks real, but a verdict needs {facts.needs_builds} builds a side, this has {builds}"
    if facts.not_worse:
        return f"not worse: any slowdown is below the threshold of {threshold}, whether it improved is open"
    if facts.floor is not None and _beyond(facts, worse=True):
        return f"beyond the threshold of {threshold}, but not shown to be above the floor of {_floor(facts)}"
    if _excludes(facts):
        return (
            f"beyond the threshold of {threshold} on its own, not at the {_percent(facts.confidence)} "
            "that the number of findings asks for"
        )
    beyond = f"a change beyond the threshold of {threshold}"
    return f"the interval is too wide to tell {beyond} from none; more builds narrow it"


def _excludes(facts: Facts) -> bool:
    return _beyond(facts, worse=True) or _beyond(facts, worse=False)


def _beyond(facts: Facts, *, worse: bool) -> bool:
    low, high, d = facts.nominal.low, facts.nominal.high, facts.threshold
    if low is None or high is None:
        return False
    return low > 1 + d if worse == (facts.case.better == "lower") else high < 1 / (1 + d)


def _trouble(facts: Facts) -> str:
    case, trouble = facts.case, facts.estimate.trouble
    if trouble == "negative":
        return "negative values have no ratio"
    if trouble == "overflow":
        return "the values are too large or too small to form a ratio"
    if trouble == "apart":
        return "base and head were measured in different sessions: what differs from session to session is not known"
    if trouble == "one-unit":
        few = [side for side, n in (("base", facts.estimate.base.n), ("head", facts.estimate.head.n)) if n < 2]
        unit = "session" if len(case.base.counts[2]) > 1 else "build"
        where = "a side" if len(few) == 2 else f"of {few[0]}"
        return f"one {unit} {where}: what differs from {unit} to {unit} is not known, so there is no interval"
    if trouble == "no-spread":
        return "no spread: timer too coarse? (a count or size can be declared exact = true)"
    if facts.estimate.pair.y == 0:
        return "both sides are 0"
    if facts.verdict == "regression":
        return f"base is 0 and head is beyond the floor of {_floor(facts)}"
    return "base is 0: there is no ratio, and only an absolute floor could tell" + (
        "" if facts.floor is None else f"; head is not shown to be above the floor of {_floor(facts)}"
    )


def _floor(facts: Facts) -> str:
    return format_value(facts.floor or 0.0, facts.case.unit, digits=3)


def _percent(confidence: float) -> str:
    return f"{confidence * 100:.4g}%"


def _limits(limits: Limits) -> str:
    if limits.low is None or limits.high is None:
        return "(without bounds)"
    return f"{format_share(limits.low - 1, sign=True)} to {format_share(limits.high - 1, sign=True)}"


def normality(tested: Tested, p: float | None, case: Case) -> list[str]:
    """Warn when a p is smaller than any rearrangement of the builds could give: it rests on normal build effects."""
    base, head = len(case.base.builds), len(case.head.builds)
    if p is None or not tested.rejected or p >= 1 / comb(base + head, base):
        return []
    return [f"the p rests on normally distributed build effects: {base} + {head} builds alone cannot show one so small"]


def _size(finding: Finding) -> float:
    # how far from no change, whichever direction is better; from 0 it is without limit
    ratio = finding.ratio.estimate
    return abs(log(ratio)) if ratio else inf


def summary(verdict: ReportVerdict, findings: Sequence[Finding], evidence: Evidence) -> str:
    """Say the report's verdict in one sentence."""
    counts = Counter(f.verdict for f in findings)
    total = f"{len(findings)} finding{'s' if len(findings) != 1 else ''}"
    if verdict == "regression":
        regressed = [f for f in findings if f.verdict == "regression"]
        several = Counter(f.benchmark for f in findings)
        worst = [
            f"{f.benchmark} {f.metric}" if several[f.benchmark] > 1 else f.benchmark
            for f in sorted(regressed, key=_size, reverse=True)
        ]
        names = ", ".join(dict.fromkeys(worst[:3])) + (f" and {len(worst) - 3} more" if len(worst) > 3 else "")
        return f"{counts['regression']} of {total} regressed: {names}"
    if verdict == "error":
        if not findings and not evidence.failures:
            measured = ", ".join(dict.fromkeys(case.metric for case in evidence.cases))
            return f"nothing was decided: plan.metrics names none of {measured}" if measured else "nothing was measured"
        failed = len(evidence.failures)
        what = f"{failed} failure{'s' if failed != 1 else ''}"
        return f"{what}, and nothing was measured" if not findings else f"{what} beside {total}"
    if verdict == "inconclusive":
        return f"{counts['inconclusive']} of {total} inconclusive, none regressed"
    return f"nothing regressed in {total}"
