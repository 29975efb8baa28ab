"""A trend -> JSON with stable keys, which docs/trend.md names."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from gate.commands.history.trend import words
from gate.commands.history.trend.formats import Screen
from gate.history.trend_types import CaseTrend, ChangePoint, Trend
from gate.stats.series.sums import Interval

SCHEMA = 1
_SUSPECTS = 20


def render(trend: Trend, _: Screen) -> str:
    """Write all commits, runs and changes; ratios are to the parent, what does not exist is null."""
    chain = trend.chain
    found = {
        "schema": SCHEMA,
        "confidence": trend.confidence,
        "family": {"method": trend.family, "size": trend.comparisons},
        "threshold": trend.threshold,
        "commits": [
            {
                "commit": link.commit, "parent": link.parent, "subject": link.subject or None,
                "committed": link.committed, "gap": link.gap, "runs": [record.run for record in link.records],
            }
            for link in chain.links
        ],
        "machines": [
            {
                "id": segment.machine, "name": segment.name, "first": chain.links[segment.first].commit,
                "last": chain.links[segment.last].commit,
                "changed": [{"fact": f.name, "before": f.before, "after": f.after} for f in segment.changed],
            }
            for segment in trend.segments
        ],
        "cases": [_case(case, trend) for case in trend.cases],
        "left_out": {
            "controls": [record.run for record in chain.controls],
            "pinned": [record.run for record in chain.pinned],
            "other_branches": [record.run for record in chain.aside],
            "problems": trend.problems,
        },
    }  # fmt: skip
    return msgspec.json.format(msgspec.json.encode(_plain(found)), indent=1).decode() + "\n"


def _case(case: CaseTrend, trend: Trend) -> dict[str, Any]:
    links = trend.chain.links
    return {
        "benchmark": case.id.benchmark, "metric": case.id.metric, "statistic": case.id.statistic,
        "unit": case.unit, "better": case.better, "factors": case.factors,
        "sd": {"ratio": case.build_sd, "days": case.day_sd},
        "chain": {"ratio": _ratio(case.chain.estimate), "unmeasured": case.chain.missing},
        "changes": [_change(change, case, trend) for change in case.changes],
        "runs": [
            {
                "commit": links[run.step].commit, "run": run.run, "measured": run.measured,
                "ratio": _interval(run.ratio), "base": run.base, "head": run.head, "builds": run.builds,
                "machine": run.machine, "verdict": run.verdict, "outlier": run.outlier,
            }
            for run in case.runs
        ],
        "levels": [
            {
                "commit": links[place - 1].commit if place else links[0].parent, "ratio": _ratio(point.level),
                "low": _ratio(point.low), "high": _ratio(point.high), "piece": point.piece,
            }
            for place, point in enumerate(case.path)
        ],
        "accepted": [
            {"commit": links[step].commit, "up_to": a.up_to, "until": a.until, "reason": a.reason}
            for step, a in case.accepted.items()
        ],
    }  # fmt: skip


def _change(change: ChangePoint, case: CaseTrend, trend: Trend) -> dict[str, Any]:
    said = words.said(change, case, trend)
    return {
        "commit": trend.chain.links[change.at].commit, "good": change.good, "bad": change.bad,
        "commits": change.last - change.first + 1, "unmeasured": change.suspects.unmeasured,
        "direction": change.direction, "ratio": _interval(change.change), "shown": _interval(change.shown),
        "p": change.p, "p_adjusted": change.p_adjusted, "cause": change.cause, "gradual": change.gradual,
        "ratios": _interval(change.ratios), "same": _interval(change.same), "controlled": change.controlled,
        "suspects": [
            {
                "commit": each.commit, "subject": each.subject or None, "ratio": _interval(each.change),
                "expected": _ratio(each.expected), "share": each.share, "shown": each.shown,
            }
            for each in change.suspects.ranked[:_SUSPECTS]
        ],
        "text": f"{said.name}: {said.headline}", "why": " ".join(said.why), "command": said.next.command,
    }  # fmt: skip


def _interval(found: Interval) -> dict[str, float | None]:
    return {"estimate": _ratio(found.estimate), "low": _ratio(found.low), "high": _ratio(found.high)}


def _ratio(log: float | None) -> float | None:
    return None if log is None or not math.isfinite(log) or abs(log) > 700 else math.exp(log)


def _plain(value: Any) -> Any:
    """Write as null what JSON has no number for."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
