"""Report -> Markdown for a comment on a pull request."""

from __future__ import annotations

from gate.decide.importance import ordered, plain
from gate.model import Finding, Report
from gate.report.links import Links
from gate.report.markdown import tables as parts
from gate.report.markdown.accept import accept
from gate.report.markdown.escape import size
from gate.report.markdown.explanations import functions_table
from gate.report.markdown.opening import Room, opening, shown_of, write
from gate.words import findings as finding_words
from gate.words.failures import FailureGroup, grouped

LIMIT = 60_000
"""Bytes a comment may have, and so at most as many characters; GitHub refuses more than 65,536 characters."""

_LINES = 15
# bytes of the sentence that says what was left out
_SAID = 400
# tried from the first; only names and texts made to be long need the others
_ROOMS = (Room(10, 5, 5, 10, 300), Room(5, 3, 3, 3, 120), Room(2, 1, 1, 1, 60), Room(0, 0, 0, 0, 60))


def render(report: Report, links: Links | None = None, *, limit: int = LIMIT) -> str:
    """Write a comment of at most `limit` bytes: the verdict, ten rows, and the rest in details.

    Where it would be longer, details are left out first, and the comment says so; the verdict is always there.
    """
    found, groups = ordered(report.findings), grouped(report.failures, by_output=False)
    for room in _ROOMS:
        begun = opening(report, links, found, groups, room)
        values = {**begun.values, "parts": [], "left_out": []}
        bare = size(write("comment.md.j2", values)) + _SAID
        if bare <= limit:
            details = _details(report, found, shown_of(found, room.rows), groups, begun.warnings)
            fitted = parts.fit(details, limit - bare)
            return write("comment.md.j2", values | {"parts": fitted.parts, "left_out": fitted.left_out})
    return f"### {report.verdict.capitalize()}\n"


def _details(
    report: Report, found: list[Finding], shown: int, groups: list[FailureGroup], warnings: list[str]
) -> list[parts.Part]:
    told = [f for f in found[:shown] if not plain(f) or finding_words.warnings(f)]
    return [
        parts.reasons(told, share=0.5),
        accept(report, share=0.2),
        functions_table(report, share=0.3),
        parts.outputs(groups, _LINES, share=0.5),
        parts.findings_table(parts.more_findings(found, shown), found[shown:], share=0.8),
        parts.identical(report, share=0.5),
        parts.machines_table(found, share=0.6),
        parts.interactions_table(report, share=0.6),
        parts.recorded_table(report.recorded, share=0.6),
        parts.listed("More warnings", "warning", warnings, share=0.5),
        parts.rules(report),
    ]
