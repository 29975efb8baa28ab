"""What a comment and a job summary show at first sight: the verdict, counts, rows, what to do next, warnings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from gate.decide.importance import plain
from gate.model import Finding, Report
from gate.model.warnings import AnyWarning
from gate.model.warnings.base import WEIGHTS
from gate.report.links import Links
from gate.report.markdown.escape import Md, brief, code, escape, link, prose
from gate.report.markdown.explanations import why
from gate.report.markdown.tables import bullets, by_factor, failed, findings_table
from gate.report.templates import render_template
from gate.words import creep, interactions, numbers, reports, sameness
from gate.words.failures import FailureGroup
from gate.words.numbers import known
from gate.words.sentences import say

_EXPLAINED = 3


class Weighed(msgspec.Struct, frozen=True):
    """Warnings to show at once, and those for the details."""

    shown: list[str]
    rest: list[str]


def weigh(warnings: Sequence[AnyWarning], most: int) -> Weighed:
    """Divide warnings, those that matter first: at most so many are shown at once."""
    first, middle, later = ([each for each in warnings if each.weight == weight] for weight in WEIGHTS)
    found = [*first, *middle]
    return Weighed([*map(say, found[:most])], [*map(say, [*found[most:], *later])])


class Room(msgspec.Struct, frozen=True):
    """How much is shown at first sight: items of each list, and characters of a text from elsewhere."""

    rows: int
    failures: int
    warnings: int
    new: int
    text: int


class Opening(msgspec.Struct, frozen=True):
    """What the templates show at first sight, and the warnings that can wait in the details."""

    values: dict[str, Any]
    warnings: list[str]


def opening(
    report: Report, links: Links | None, found: Sequence[Finding], groups: Sequence[FailureGroup], room: Room
) -> Opening:
    """Return what stands above the details.

    found: the findings, those that matter most first. groups: the failures, those that say the same together.
    """
    rows = found[: shown_of(found, room.rows)]
    table = findings_table("", rows)
    warned = weigh(report.warnings, room.warnings)
    shown = interactions.proven(report)
    values = {
        "gate": brief(links.gate, 80) if links is not None and links.gate else None,
        "headline": brief(reports.headline(report), room.text),
        "creep": prose(creep.line(report)) or None,
        "suspects": _suspects(report),
        "unnamed": prose(creep.suspected(report.creep)) if report.creep is not None else None,
        "counts": _counts(report),
        "could_have_shown": escape(reports.could_have_shown(report)),
        "not_measured": escape(sameness.not_measured(report)),
        "failed": [failed(group, room.text) for group in groups[: room.failures]],
        "failures_left_out": max(0, len(groups) - room.failures),
        "table": table,
        "intervals": escape(reports.basis(rows)),
        "why": why(report, min(room.warnings, _EXPLAINED), room.text),
        "by_factor": by_factor(shown[: room.warnings], room.text),
        "by_factor_left_out": max(0, len(shown) - room.warnings),
        "compared": compared(report, threshold=not table.items),
        "step": next_step(report, room.text, label=_label(report, links)),
        "linked": linked(links, report),
        "warnings": bullets(warned.shown, room.text),
        "new": _new(report, room.new),
    }
    return Opening(values, warned.rest)


def shown_of(found: Sequence[Finding], rows: int) -> int:
    """Count the rows to show: a short table is shown whole, of a long one only what changed, which comes first."""
    return len(found) if len(found) <= rows else min(rows, sum(not plain(f) for f in found))


def write(template: str, values: dict[str, Any]) -> str:
    """Render one of the Markdown templates; what is not Markdown yet is escaped."""
    return render_template(template, values, html=False, finalize=escape).strip("\n") + "\n"


def _counts(report: Report) -> Md:
    text = reports.counts(report)
    # whether an inconclusive one blocks is a matter of policy, and the word does not say it
    gate = f"; the gate {'fails' if report.exit_code else 'passes'}" if report.verdict == "inconclusive" else ""
    return escape(f"{text}{gate}")


def _suspects(report: Report) -> list[Md]:
    found = creep.suspects(report.creep) if report.creep is not None else []
    return [
        Md(f"- {code(case.benchmark)}: {_commit(one.commit)} {brief(creep.deed(one), 200)}")
        for case, suspects in found
        for one in suspects
    ][:_SUSPECTS]


_SUSPECTS = 15


def _commit(sha: str) -> Md:
    """Write a commit so that the forge links it."""
    return Md(sha[:12]) if re.fullmatch(r"[0-9a-f]{40,64}", sha) else code(sha, 20)


def _new(report: Report, most: int) -> Md | None:
    if not report.new:
        return None
    more = len(report.new) - most
    return Md(", ".join(map(code, report.new[:most])) + (f" and {more} more" if more > 0 else ""))


def compared(report: Report, *, threshold: bool) -> Md:
    """Write what was compared and how much was measured, in one line; threshold: by which threshold as well."""
    base, head = (reports.commit(side) for side in (report.run.base, report.run.head))
    sides = [] if base == head == "unknown" else [f"{code(base, 60)} → {code(head, 60)}"]
    limits = sorted({f.threshold for f in report.findings if known(f.threshold)}) if threshold else []
    span = " to ".join(numbers.format_percent(limit) for limit in dict.fromkeys((*limits[:1], *limits[-1:])))
    measured = reports.measured_briefly(report)
    texts = [*([f"threshold {span}"] if span else []), *([brief(measured, 200)] if measured else [])]
    return Md("; ".join([*sides, *texts]))


def _label(report: Report, links: Links | None) -> str:
    """Name the label that lets a regression pass, where there is a pull request to put it on."""
    name = report.policy.gate.get("accept_label")
    on_pull = links is not None and links.pull
    return name if report.verdict == "regression" and on_pull and isinstance(name, str) else ""


def next_step(report: Report, width: int, *, label: str = "") -> Md | None:
    """Say what to do next; None: nothing.

    width: the characters that a text from elsewhere may take. label: what lets a regression pass on a pull request.
    """
    said = reports.next_step(report)
    command = next((f.command.strip() for f in report.failures if f.command), "")
    found = [Md(f"{prose(said)}, or by the label {code(label, 50)}") if label else prose(said)] if said else []
    return Md(". First failed: ".join([*found, *([code(command, width)] if command else [])])) if said else None


def linked(links: Links | None, report: Report) -> Md | None:
    """Write the links to the report and the run, else where the values are to be seen; None where there are none."""
    whole = link("Full report", links.report) if links is not None else None
    run = link("workflow run", links.run) if links is not None else None
    if whole is not None:
        return Md(" · ".join(each for each in (whole, run) if each is not None))
    if run is not None:
        return Md(f"The full report, report.html, is among the artifacts of the {run}.")
    return Md("The full report is the run's report.html.") if report.findings or report.identical else None
