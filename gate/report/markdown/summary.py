"""Report -> Markdown for the summary of a job: what a comment has, with room for all of it."""

from __future__ import annotations

from gate.decide.importance import ordered, plain
from gate.model import Report
from gate.report.links import Links
from gate.report.markdown import tables as parts
from gate.report.markdown.accept import accept
from gate.report.markdown.escape import size
from gate.report.markdown.explanations import functions_table
from gate.report.markdown.opening import Room, opening, shown_of, write
from gate.words import findings as finding_words
from gate.words.failures import grouped

LIMIT = 900_000
"""Bytes a summary may have; GitHub refuses more than 1 MiB a step."""

_LINES = 60
_SAID = 400
_ROOM = Room(rows=20, failures=10, warnings=10, new=20, text=300)


def render(report: Report, links: Links | None = None, *, limit: int = LIMIT) -> str:
    """Write a job summary of at most `limit` bytes: 20 rows at first sight, and the rest in details.

    What matters least is left out first, and the summary says so.
    """
    found, groups = ordered(report.findings), grouped(report.failures, by_output=False)
    told = [f for f in found if not plain(f) or finding_words.warnings(f)]
    shown = shown_of(found, _ROOM.rows)
    begun = opening(report, links, found, groups, _ROOM)
    values = {**begun.values, "parts": [], "left_out": []}
    room = limit - _SAID - size(write("summary.md.j2", values))
    sections = [
        parts.reasons(told, share=0.5),
        accept(report, share=0.2),
        functions_table(report, share=0.3),
        parts.outputs(groups, _LINES, share=0.5),
        parts.findings_table(parts.more_findings(found, shown), found[shown:], share=0.6),
        parts.identical(report, share=0.4),
        parts.machines_table(found, share=0.6),
        parts.interactions_table(report, share=0.6),
        parts.recorded_table(report.recorded, share=0.6),
        parts.listed("More warnings", "warning", begun.warnings, share=0.3),
        parts.rules(report, share=0.8),
        parts.host(report),
    ]
    fitted = parts.fit(sections, room)
    return write("summary.md.j2", values | {"parts": fitted.parts, "left_out": fitted.left_out})
