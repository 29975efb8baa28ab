"""Report -> one self-contained HTML file."""

from __future__ import annotations

from typing import Any

from gate.decide.importance import tallies
from gate.document.html import render_template
from gate.model import Failure, Report, outcomes
from gate.report.measurements import Material
from gate.units import format_confidence, format_number, plural
from gate.words import failures, marks, numbers, reports, sameness, verdict_line, views
from gate.words import findings as finding_words
from gate.writing import amounts
from gate.writing.amounts import known
from gate.writing.plain import clip, last_lines, visible

_OUTPUT = 400


def render(report: Report, material: Material | None = None) -> str:
    """Write the page: readable without JavaScript, it loads nothing.

    material: what is at hand beside the report; None: nothing, so that there are no pictures of values.
    """
    # with the template engine and what the page is made of, which no other format needs
    from gate.report.page.document import page_of
    from gate.report.page.embedded import script_hash
    from gate.report.page.findings import NAME
    from gate.report.page.forest import MARKS
    from gate.report.page.variance import SHARES_WIDTH

    values: dict[str, Any] = {
        "title": verdict_line.text(report),
        "line": verdict_line.verdict_line(report),
        "mark": marks.of_report(report),
        "page": page_of(report, material or Material()),
        "report": report,
        "tallies": tallies(report),
        "neutral": isinstance(report.summary, outcomes.NothingToCompare),
        "shapes": marks.SHAPES,
        "same": reports.uniform(finding_words.quantity(f) for f in report.findings),
        "better": reports.uniform(f.better for f in report.findings),
        "clauses": views.clauses(report.findings),
        "confidence": reports.confidence(report.findings),
        "confidences": reports.basis(report.findings),
        "script_hash": script_hash(),
        "words": reports,
        "written": numbers,
        "amounts": amounts,
        "plural": plural,
        "finding_words": finding_words,
        "failures": failures,
        "sameness": sameness,
        "visible": visible,
        "name_width": NAME,
        "short": lambda text: clip(visible(text), NAME),
        "output": _last_output,
        "known": known,
        "number": format_number,
        "level": format_confidence,
        "marks": MARKS,
        "shares_width": SHARES_WIDTH,
    }
    return render_template("report.html.j2", values, html=True).lstrip()


def _last_output(failure: Failure) -> str:
    return "\n".join(last_lines(failure.stderr, _OUTPUT))
