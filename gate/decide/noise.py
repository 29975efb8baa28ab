"""Where more builds are no sensible way to a verdict: what the report knows that disturbs less."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import msgspec

from gate.model import Finding, RatioInterval, Recorded, Report
from gate.model import outcomes as steps
from gate.model.names import ACTIVE
from gate.model.warnings.hosts import Pressure
from gate.units import Duration

_LONGEST = 3600.0
"""Seconds of a check beyond which more builds are no good advice."""
_TIMES = 4
"""How many plans more builds may be worth."""
_BUSY = 0.5
"""Share of the time in which some program waited for a processor, from which the noise is the host's."""
_QUIETER = (ACTIVE, "cpu", "cpu_time", "user", "instructions")
"""Metrics of a program's own work, which other programs hardly disturb; the best first."""
_NARROWER = 2.0
"""How many times narrower an interval is worth deciding on another metric."""


class _Quieter(msgspec.Struct, frozen=True):
    """A metric whose interval is narrower, at least so many times, in so many of the open findings."""

    metric: str
    narrower: float
    findings: int


def less_noise(
    report: Report, still_open: Sequence[Finding], more: steps.MoreBuilds | None
) -> steps.ReduceNoise | None:
    """Choose what reduces the noise, where more builds would not within reason; None: they would, or nothing tells.

    more: the plan that would settle some of the open findings; None: none is known.
    """
    busy = next((w.share for w in report.warnings if isinstance(w, Pressure) and w.resource == "cpu"), 0.0)
    waited = busy if busy >= _BUSY else None
    quieter = _quieter(report, still_open)
    # active time by turns is as sharp as the CPU time of a duet
    duet = report.run.duet and any(finding.metric != ACTIVE for finding in still_open)
    loaded, other = waited is not None, quieter is not None or duet
    too_much = loaded if more is None else _is_too_much(report, more)
    # on a host that others load, what hardly minds them comes first; a duet does not where a few builds would do
    if not too_much and not (other if more is None else loaded and quieter is not None):
        return None
    return steps.ReduceNoise(
        builds=more.builds if more else None,
        seconds=more.seconds if more else None,
        too_much=too_much or more is None,
        metric=quieter.metric if quieter else None,
        narrower=quieter.narrower if quieter and math.isfinite(quieter.narrower) else None,
        findings=quieter.findings if quieter else 0,
        may_be_worse=len(still_open),
        duet=duet,
        waited=waited,
    )


def _is_too_much(report: Report, more: steps.MoreBuilds) -> bool:
    """Return whether a plan takes too long, or settles few of the open findings."""
    if 2 * more.settled < more.may_be_worse:
        return True
    if more.seconds is None:
        planned = report.run.rounds.planned
        return planned is not None and more.builds > _TIMES * planned
    plan: dict[str, Any] = (report.run.settings or {}).get("plan", {})
    budget = plan.get("budget")
    wanted = float(Duration.parse(budget)) if isinstance(budget, str) else more.seconds
    return more.seconds > min(_LONGEST, _TIMES * wanted)


def _quieter(report: Report, still_open: Sequence[Finding]) -> _Quieter | None:
    """Find a metric that the run recorded of every benchmark, and that is much narrower in most open findings."""
    if report.run.imported:
        return None
    every = {f.benchmark for f in report.findings}
    invalid = {ACTIVE} if any(f.view is not None and f.view.why == "tasks" for f in report.findings) else set()
    for name in (name for name in _QUIETER if name not in invalid):
        found = [r for r in report.recorded if r.metric == name and r.statistic == "mean" and r.better is not None]
        if not every <= {r.benchmark for r in found}:
            continue
        own = {_case(r): r.ratio for r in found}
        gains = [_gain(f.ratio, own[_case(f)]) for f in still_open if _case(f) in own]
        won = [gain for gain in gains if gain >= _NARROWER]
        if won and 2 * len(won) >= len(still_open):
            return _Quieter(name, min(won), len(won))
    return None


def _case(each: Finding | Recorded) -> tuple[str, str]:
    return each.benchmark, repr(sorted(each.factors.items()))


def _gain(of: RatioInterval, by: RatioInterval) -> float:
    """Return how many times narrower one interval is than another, of logarithms; 0: not known."""
    wide, narrow = _width(of), _width(by)
    if narrow is None:
        return 0.0
    return math.inf if wide is None or not narrow else wide / narrow


def _width(ratio: RatioInterval) -> float | None:
    low, high = ratio.low, ratio.high
    if ratio.kind != "bounded" or low is None or high is None or low <= 0:
        return None
    return math.log(high / low)
