"""A trend as a document, and as JSON."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np

from gate.commands.history.trend import words
from gate.document import markdown
from gate.document.document import Cell, Column, Document, Items, Row, Said, Table
from gate.stats.series import Interval
from gate.store.trend import CaseTrend, Trend
from gate.writing.phrases import more_are

_BARS = "▁▂▃▄▅▆▇█"
_SPARK = 24
_SMALLEST = 0.02
"""A sparkline's height is at least this change, so that noise stays flat."""
_SHOWN = 100


def document(trend: Trend) -> Document:
    """Say how each case moved, on which machines, and what the numbers are."""
    titles = words.COLUMNS
    numbers = (Column(title, right=True) for title in (titles.ratio_sd, titles.day_sd))
    moved = (Column(title, right=True) for title in (titles.chain, titles.level))
    columns = [Column(titles.name), *moved, Column("trend"), *numbers]
    rows = [
        Row([Cell(text) for text in (each.name, each.chain, each.level, spark(case), each.ratio_sd, each.day_sd)])
        for case in trend.cases[:_SHOWN]
        for each in (words.row(case),)
    ]
    left = len(trend.cases) - len(rows)
    return Document(
        tool="perfgate history trend",
        title="Trend",
        sections=[
            [Said(words.headline(trend)), Said(words.span(trend))],
            [Table("changes", "changes", columns, rows)] if rows else [],
            [Items([f"{more_are(left, 'case')} in the JSON."] if left else [], "rest")],
            [Items(words.machines(trend), "rest")],
            [Items(list(words.notes(trend)), "advice")],
        ],
        elsewhere="in the JSON",
        footer="",
    )


def as_markdown(trend: Trend) -> str:
    """Write a trend as GitHub shows it, ending with a newline."""
    return markdown.render(document(trend))


def spark(case: CaseTrend) -> str:
    """Draw the known levels of a case with block letters; what noise does stays low."""
    levels = case.path.level[np.isfinite(case.path.level)]
    if not levels.size:
        return ""
    means = np.array([float(piece.mean()) for piece in np.array_split(levels, min(_SPARK, levels.size))])
    span = max(float(means.max() - means.min()), _SMALLEST + 4 * (case.build_sd or 0.0))
    scaled = (means - means.min()) / span * (len(_BARS) - 1)
    return "".join(_BARS[round(float(each))] for each in scaled)


SCHEMA = 1


def as_json(trend: Trend) -> str:
    """Write commits, runs and levels by keys that docs/trend.md names; what does not exist is null."""
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


def ratio_of(log: float) -> float | None:
    """Return the ratio of a logarithm; None where it is unknown, or no number."""
    return math.exp(log) if math.isfinite(log) and abs(log) <= 700 else None
