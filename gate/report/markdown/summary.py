"""Report -> Markdown for the summary of a job: what a comment has, with room for all of it."""

from __future__ import annotations

from gate.decide.importance import ordered, plain
from gate.document.markdown import escape, prose, size
from gate.model import Report
from gate.report.links import Links
from gate.report.markdown import tables as parts
from gate.report.markdown.accept import accept
from gate.report.markdown.comment import Room, compared, new, next_step, opening, write
from gate.report.markdown.tables import why
from gate.words import reports, sameness
from gate.words.failures import grouped
from gate.words.findings import in_row
from gate.words.notes import notes, weigh

LIMIT = 900_000
"""Bytes a summary may have; GitHub refuses more than 1 MiB a step."""

_LINES = 60
_SAID = 400
_MOST = 10
_WIDTH = 300
_ROOM = Room(rows=20, failures=10, text=400)


def render(report: Report, links: Links | None = None, *, limit: int = LIMIT) -> str:
    """Write a job summary of at most `limit` bytes: what a comment shows, 20 rows, and more than it at first sight.

    What matters least is left out first, and the summary says so.
    """
    found, groups = ordered(report.findings), grouped(report.failures, by_output=False)
    told = [f for f in found if not (plain(f) or in_row(f)) or notes(f)]
    common, (shown, rest) = parts.in_common(report, found), parts.divided(found, _ROOM.rows)
    first, later = weigh(reports.warnings(report), _MOST)
    said = next_step(report, links, pull=False)
    minded = (sameness.too_long(report), reports.basis(shown))
    warnings, only_head = parts.bullets(first, _WIDTH), new(report, common.names, 20)
    texts = [
        *opening(report, links, shown, rest, groups, _ROOM, common),
        f"**Next:** {prose(said)}" if said else "",
        *(f"{escape(text)}." for text in minded if text),
        compared(report),
        "\n".join(why(report, 3, _WIDTH, common.names)),
        "\n".join(["**Warnings**", "", *warnings]) if warnings else "",
        f"New in head, not compared: {only_head}" if only_head else "",
    ]
    sections = [
        parts.reasons(told, common.names, share=0.5),
        accept(report, share=0.2),
        parts.outputs(report, groups, _LINES, share=0.5),
        *parts.folded_tables(rest, common, share=0.6),
        parts.identical(report, common.names, share=0.4),
        parts.machines_table(found, common.names, share=0.6),
        parts.views_table(found, common.names, share=0.6),
        parts.recorded_table(report.recorded, common.names, share=0.6),
        parts.listed("More warnings", "warning", later, share=0.3),
        parts.rules(report, share=0.8),
    ]
    return write(texts, "summary", parts.fit(sections, limit - _SAID - size(write(texts, "summary"))))
