"""A trend as text, Markdown and JSON."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np

from gate.commands.history.trend import words
from gate.document.markdown import code, prose, short
from gate.document.terminal import Cell, Column, lay_out, paint
from gate.stats.series import Interval
from gate.store.trend import CaseTrend, Trend
from gate.writing.phrases import more_are
from gate.writing.plain import distinct, wrap

_BARS = "▁▂▃▄▅▆▇█"
_SPARK = 24
_SMALLEST = 0.02
"""A sparkline's height is at least this change, so that noise stays flat."""
_IN_TEXT = 60
_NARROWEST = 20


def as_text(trend: Trend, width: int, *, color: bool) -> str:
    """Write a trend within the width of a terminal."""
    width = max(width, _NARROWEST)
    bold = "1" if color else ""
    machines = [line for text in words.machines(trend) for line in wrap(text, width, first="  - ", rest="    ")]
    parts = [
        [
            *(paint(line, bold) for line in wrap(words.headline(trend), width)),
            *(wrap(words.span(trend), width) if trend.chain.links else []),
        ],
        _rows(trend, width, bold),
        [paint("machines", bold), *machines] if machines else [],
        [line for note in words.notes(trend) for line in wrap(note, width)],
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _rows(trend: Trend, width: int, bold: str) -> list[str]:
    """Lay out a line each case without the columns from the right that do not fit, or each case over several lines."""
    shown = trend.cases[:_IN_TEXT]
    if not shown:
        return []
    titles = words.COLUMNS
    head = [
        Column(titles.name),
        *(Column(title, right=True) for title in (titles.chain, titles.level)),
        Column("trend"),
        *(Column(title, right=True) for title in (titles.ratio_sd, titles.day_sd)),
    ]
    said = [words.row(case) for case in shown]
    rows = [
        [Cell(text) for text in (each.name, each.chain, each.level, spark(case), each.ratio_sd, each.day_sd)]
        for each, case in zip(said, shown, strict=True)
    ]
    fitting = (lay_out(head[:count], [row[:count] for row in rows], width, style=bold) for count in (6, 5, 4, 3))
    lines = next((lines for lines in fitting if lines is not None), None)
    if lines is None:
        lines = [
            line
            for name, each in zip(distinct([each.name for each in said], width), said, strict=True)
            for line in (
                name,
                *wrap(f"{titles.chain} {each.chain}", width, first="  ", rest="    "),
                *wrap(f"{titles.level} {each.level}", width, first="  ", rest="    "),
            )
        ]
    left = len(trend.cases) - len(shown)
    return lines + ([f"{more_are(left, 'case')} in the JSON."] if left else [])


def spark(case: CaseTrend) -> str:
    """Draw the known levels of a case with block letters; what noise does stays low."""
    levels = case.path.level[np.isfinite(case.path.level)]
    if not levels.size:
        return ""
    means = np.array([float(piece.mean()) for piece in np.array_split(levels, min(_SPARK, levels.size))])
    span = max(float(means.max() - means.min()), _SMALLEST + 4 * (case.build_sd or 0.0))
    scaled = (means - means.min()) / span * (len(_BARS) - 1)
    return "".join(_BARS[round(float(each))] for each in scaled)


_TEXT = 1000
_IN_MARKDOWN = 100


def as_markdown(trend: Trend) -> str:
    """Write a trend as GitHub shows it, ending with a newline."""

    def said(text: str) -> str:
        return prose(short(text, _TEXT))

    table = []
    if trend.cases:
        table = [f"| {' | '.join(words.COLUMNS)} |", "| --- | ---: | ---: | ---: | ---: |"]
        for case in trend.cases[:_IN_MARKDOWN]:
            name, *others = words.row(case)
            table.append(f"| {' | '.join([code(name), *others])} |")
        if len(trend.cases) > _IN_MARKDOWN:
            table += ["", f"{more_are(len(trend.cases) - _IN_MARKDOWN, 'case')} in the JSON."]
    parts = [
        f"**{said(words.headline(trend))}**  \n{said(words.span(trend))}".rstrip(),
        "\n".join(f"- {said(text)}" for text in words.machines(trend)),
        "\n".join(table),
        "\n".join(f"- {said(text)}" for text in words.notes(trend)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


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
