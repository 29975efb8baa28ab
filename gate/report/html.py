"""Report -> one self-contained HTML file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gate.model import Finding, Level, Report, Variance
from gate.report import cases, failures, wording
from gate.report.plain import clip, last_lines, visible
from gate.report.templating import render_template
from gate.report.view import BAR_WIDTH, Bar, bars, grouped, known, ordered, tallies
from gate.units import format_number, format_share

_OUTPUT = 400
_NAME = 80
# Beside the word, so that no verdict is told by colour alone; no arrows: up is worse for one, better for another.
_SHAPES = {"regression": "✕", "inconclusive": "?", "accepted": "◆", "improvement": "✓", "unchanged": "="}


@dataclass(frozen=True, slots=True)
class Row:
    """A finding with its anchor in the page and its bar."""

    id: str
    finding: Finding
    bar: Bar
    shape: str


@dataclass(frozen=True, slots=True)
class VarianceRow:
    """One level of the variance on both sides, written; None: this side lacks the level."""

    level: Level
    base: VarianceCells | None
    head: VarianceCells | None


@dataclass(frozen=True, slots=True)
class VarianceCells:
    """S2, T2 and the relative spread of one level, written."""

    s2: str
    t2: str
    relative: str
    count: int


def render(report: Report) -> str:
    """Write the page: readable without JavaScript, it loads nothing."""
    found = ordered(report.findings)
    rows = [
        Row(f"finding-{number}", finding, bar, _SHAPES[finding.verdict])
        for number, (finding, bar) in enumerate(zip(found, bars(found), strict=True), 1)
    ]
    values: dict[str, Any] = {
        "report": report,
        "rows": rows,
        "tallies": tallies(report),
        "shapes": _SHAPES,
        "groups": grouped(report.failures, by_output=True),
        "same": wording.uniform(cases.quantity(f) for f in found),
        "better": wording.uniform(f.better for f in found),
        "confidence": wording.confidence(report),
        "host": [(visible(key), wording.setting(key, value)) for key, value in (report.run.host or {}).items()],
        "words": wording,
        "cases": cases,
        "failures": failures,
        "visible": visible,
        "short": lambda text: clip(visible(text), _NAME),
        "output": lambda failure: "\n".join(last_lines(failure.stderr, _OUTPUT)),
        "variance": variance_rows,
        "known": known,
        "number": format_number,
        "bar_width": BAR_WIDTH,
    }
    return render_template("report.html.j2", values, html=True).lstrip()


def variance_rows(finding: Finding) -> list[VarianceRow]:
    """Write the variance table of a finding, the highest level first."""
    base = {item.level: item for item in finding.variance.base}
    head = {item.level: item for item in finding.variance.head}
    levels: list[Level] = ["session", "build", "execution", "iteration"]
    return [
        VarianceRow(level, _cells(base.get(level), finding.base.counts), _cells(head.get(level), finding.head.counts))
        for level in levels
        if level in base or level in head
    ]


def _cells(item: Variance | None, counts: Any) -> VarianceCells | None:
    if item is None:
        return None
    t2 = "unknown" if not known(item.t2) else format_number(item.t2, 3)
    return VarianceCells(
        s2=format_number(item.s2, 3) if known(item.s2) else "unknown",
        t2=f"adds nothing ({t2})" if known(item.t2) and item.t2 < 0 else t2,
        relative=format_share(item.relative) if known(item.relative) else "unknown",
        count=getattr(counts, item.level),
    )
