"""A trend -> JSON with stable keys, which docs/trend.md names."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from gate.commands.history.trend.formats import Screen, ratio_of
from gate.stats.series import Interval
from gate.store.trend import CaseTrend, Trend

SCHEMA = 1


def render(trend: Trend, _: Screen) -> str:
    """Write all commits, runs and levels; ratios are to the parent, what does not exist is null."""
    chain = trend.chain
    found = {
        "schema": SCHEMA,
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
    of, path, links = case.series, case.path, trend.chain.links
    return {
        "benchmark": of.id.benchmark, "metric": of.id.metric, "statistic": of.id.statistic,
        "unit": of.unit, "better": of.better, "factors": of.factors,
        "sd": {"ratio": case.build_sd, "days": case.day_sd},
        "chain": {
            "ratio": ratio_of(case.chain.estimate), "low": ratio_of(case.chain.low),
            "high": ratio_of(case.chain.high), "unmeasured": case.unmeasured,
        },
        "runs": [
            {
                "commit": links[run.step].commit, "run": run.record.run, "measured": run.record.measured,
                "ratio": _interval(run.ratio), "base": run.change.base and run.change.base.value,
                "head": run.change.head and run.change.head.value, "builds": run.builds,
                "machine": run.record.machine.id, "verdict": run.change.verdict, "outlier": run.outlier,
            }
            for run in of.runs
        ],
        "levels": [
            {
                "commit": links[place - 1].commit if place else links[0].parent, "ratio": ratio_of(level),
                "low": ratio_of(low), "high": ratio_of(high), "piece": piece,
            }
            for place, (level, low, high, piece) in enumerate(
                zip(*(each.tolist() for each in (path.level, path.low, path.high, path.piece)), strict=True)
            )
        ],
        "accepted": [
            {"commit": links[step].commit, "up_to": a.up_to, "until": a.until, "reason": a.reason}
            for step, a in case.accepted.items()
        ],
    }  # fmt: skip


def _interval(found: Interval) -> dict[str, float | None]:
    return {"estimate": ratio_of(found.estimate), "low": ratio_of(found.low), "high": ratio_of(found.high)}


def _plain(value: Any) -> Any:
    """Write as null what JSON has no number for."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
