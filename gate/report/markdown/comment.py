"""Report -> Markdown for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gate.decide.importance import is_changed, ordered, plain
from gate.document.markdown import Md, escape, html_prose, prose, size
from gate.model import Finding, Report
from gate.report.links import Links
from gate.report.markdown import tables as parts
from gate.report.markdown.accept import accept
from gate.report.markdown.opening import Room, compared, new, next_step, opening, write
from gate.report.markdown.tables import Part, functions_table, why
from gate.units import plural
from gate.words import reports, sameness
from gate.words.failures import FailureGroup, grouped
from gate.words.findings import in_row
from gate.words.notes import notes, weigh
from gate.words.short_names import Names

LIMIT = 60_000
"""Bytes a comment may have, and so at most as many characters; GitHub refuses more than 65,536 characters."""

_LINES = 15
_NEW = 10
_WIDTH = 300
# bytes of the sentence that says what was left out
_SAID = 400
# tried from the first; only names and texts made to be long need the others
_ROOMS = (Room(10, 5, 400), Room(5, 3, 120), Room(2, 1, 60), Room(0, 0, 60))


def render(report: Report, links: Links | None = None, *, limit: int = LIMIT) -> str:
    """Write a comment of at most `limit` bytes: the line of verdict, ten rows, and the rest folded.

    Where it would be longer, details are left out first, and the comment says so; the verdict is always there.
    """
    found, groups = ordered(report.findings), grouped(report.failures, by_output=False)
    common = parts.in_common(report, found)
    for room in _ROOMS:
        shown, rest = parts.divided(found, room.rows)
        step, folded = _folded(report, links, shown, rest, groups, common)
        texts = [
            *opening(report, links, shown, rest, groups, room, common),
            f"**Next:** {step}" if step else "",
        ]
        bare = size(write(texts, "comment")) + _SAID
        if bare <= limit:
            return write(texts, "comment", parts.fit(folded, limit - bare))
    return f"{report.verdict.capitalize()}\n"


def _folded(
    report: Report,
    links: Links | None,
    shown: Sequence[Finding],
    rest: Sequence[Finding],
    groups: list[FailureGroup],
    common: parts.Marked,
) -> tuple[Md | None, list[Part]]:
    """Write what to do next, where no part of the details goes with it, and these."""
    told = [f for f in shown if not (plain(f) or in_row(f)) or notes(f)]
    sentences, pasted = parts.reasons(told, common.names, share=0.5), accept(report, share=0.2)
    outputs = parts.outputs(report, groups, _LINES, share=0.5)
    # what to do stands as the title of what it needs
    needed = {"regression": pasted, "error": outputs, "inconclusive": sentences}.get(report.verdict)
    said = next_step(report, links, pull=bool(pasted.items))
    folded = [] if needed is None or not needed.items or not said else [needed]
    titled = [msgspec.structs.replace(part, title=Md(f"<b>Next</b>: {html_prose(said)}")) for part in folded]
    first, later = weigh(reports.warnings(report), len(report.warnings))
    warned = [*first, *later]
    tables, found = parts.folded_tables(rest, common, share=0.8), [*shown, *rest]
    # what changed comes before all that is said of it
    changed = tables[: any(map(is_changed, rest))]
    others = [
        *changed,
        sentences,
        pasted,
        Part("Functions that add to the changes", "profile", why(report, 3, _WIDTH, common.names), 0.3),
        functions_table(report, common.names, share=0.3),
        parts.listed(plural(len(warned), "warning"), "warning", warned, 0.3),
        outputs,
        *tables[len(changed) :],
        parts.identical(report, common.names, share=0.5, first=sameness.too_long(report)),
        parts.machines_table(found, common.names, share=0.6),
        parts.views_table(found, common.names, share=0.6),
        parts.recorded_table(report.recorded, common.names, share=0.6),
        _measured(report, shown, common.names),
    ]
    return prose(said) if said and not titled else None, titled + [p for p in others if p not in folded]


def _measured(report: Report, rows: Sequence[Finding], names: Names) -> Part:
    """Say what was compared, what the intervals rest on, and by which rules."""
    only_head = new(report, names, _NEW)
    first = [compared(report), *([Md(f"new in head, not compared: {only_head}")] if only_head else [])]
    return parts.rules(report, first=[*filter(None, [*first, escape(reports.basis(rows))])])
