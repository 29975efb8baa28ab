"""What a comment and a job summary show at first sight: the line of verdict, what failed, the table, a caption."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from gate.decide.importance import is_changed
from gate.document.markdown import NAME, Md, brief, code, escape, link, prose, short
from gate.model import Finding, Report
from gate.report.links import Links
from gate.report.markdown.tables import Marked, Part, failed, findings_table
from gate.words import bars, creep, numbers, reports, views
from gate.words.failures import FailureGroup
from gate.words.marks import emoji_of_report
from gate.words.short_names import Names
from gate.words.verdict_line import verdict_line


class Room(msgspec.Struct, frozen=True):
    """How much is shown at first sight: items of each list, and characters of a text from elsewhere."""

    rows: int
    """Of each verdict."""
    failures: int
    text: int


def opening(
    report: Report,
    links: Links | None,
    shown: Sequence[Finding],
    rest: Sequence[Finding],
    groups: Sequence[FailureGroup],
    room: Room,
    common: Marked,
) -> list[str]:
    """Write what is shown at first sight: the line of verdict, failures, rows, a caption.

    shown, rest: the findings with and without a row, those that matter most first. groups: the failures, those that
    say the same together.
    """
    left = len(groups) - room.failures
    failures = [failed(group, common.names, reports.top(report), room.text) for group in groups[: room.failures]]
    table = findings_table("", shown, common)
    changed, noisy = [each for each in rest if is_changed(each)], [each for each in rest if each.is_noise]
    changes = [*map(numbers.word, changed)]
    folded = numbers.counted(changes, more=changes) + numbers.counted(map(numbers.word, noisy))
    crept, suspects = prose(creep.line(report)), _suspects(report, common.names)
    unnamed = prose(creep.suspected(report.creep)) if report.creep is not None else ""
    return [
        _line(report, links, room.text),
        "\n".join([*failures, *([f"- and {left} more"] if left > 0 else [])]) if groups else "",
        table.text if table.items else "",
        f"Folded below: {', '.join(folded)}." if folded else "",
        f"<sub>{_caption(report, links, common)}</sub>",
        f"Creep check {crept}." if crept else "",
        "\n\n".join(["**Suspects**", "\n".join(suspects)]) if suspects else "",
        f"{unnamed}." if unnamed else "",
    ]


def write(texts: Iterable[str], document: str, fitted: tuple[Sequence[Part], Sequence[str]] | None = None) -> str:
    """Write a comment or a summary: its paragraphs, and the parts that are folded; what has no text takes no room."""
    found = [text for text in texts if text]
    if fitted is not None:
        parts, left_out = fitted
        left = ", ".join(left_out)
        why = f"Left out here, because a {document} has a limited length"
        found += [f"{why}: {left}. The report has all."] if left else []
        found += [f"<details><summary>{escape(part.title)}</summary>\n\n{part.text}\n\n</details>" for part in parts]
    return "\n\n".join(found).strip("\n") + "\n"


def _line(report: Report, links: Links | None, width: int) -> Md:
    """Write the mark and the verdict in one line."""
    line = verdict_line(report)
    gate = f"{brief(links.gate, 80)}: " if links is not None and links.gate else ""
    said = brief(line.said, width)
    if not line.verdict:
        return Md(f"{emoji_of_report(report)} **{gate}{said}**")
    name = f"{code(line.name)} " if line.name else ""
    return Md(f"{emoji_of_report(report)} **{gate}{line.verdict}**: {name}{said}")


def _caption(report: Report, links: Links | None, common: Marked) -> Md:
    """Say in small print what all rows have in common, how to read their bars, how many there are, and where all is."""
    # a row says itself what holds for it alone
    of_all = common.quantity is not None
    decided = views.clauses(f for f in report.findings if f.view is not None and (of_all or f.view.why == "sharper"))
    quantity = None if common.quantity and len(decided) == 1 else common.quantity
    shared = [quantity, f"{common.better} is better" if common.better else None]
    shared += [f"threshold {common.threshold}" if common.threshold else None]
    shared += [f"names begin with {common.names.prefix}" if common.names.prefix else None]
    texts = [*decided, ", ".join(filter(None, shared))]
    of_rows = [*(brief(text, 200) for text in texts), prose(bars.legend("`"))] if report.findings else []
    return Md(" · ".join(filter(None, [*of_rows, escape(reports.counts(report)), linked(links, report)])))


def _suspects(report: Report, names: Names) -> list[Md]:
    found = creep.suspects(report.creep) if report.creep is not None else []
    return [
        Md(f"- {code(names.benchmark(case.benchmark, NAME))}: {_commit(one.commit)} {brief(creep.deed(one), 200)}")
        for case, suspects in found
        for one in suspects
    ][:_SUSPECTS]


_SUSPECTS = 15


def _commit(sha: str) -> Md:
    """Write a commit so that the forge links it."""
    return Md(sha[:12]) if re.fullmatch(r"[0-9a-f]{40,64}", sha) else code(sha, 20)


def new(report: Report, names: Names, most: int) -> Md | None:
    """Name the benchmarks that only head has."""
    if not report.new:
        return None
    more = len(report.new) - most
    return Md(
        ", ".join(code(names.benchmark(name, NAME)) for name in report.new[:most])
        + (f" and {more} more" if more > 0 else "")
    )


def compared(report: Report) -> Md:
    """Write what was compared and how much was measured, in one line."""
    base, head = reports.sides(report.run.base, report.run.head)
    sides = [] if base == head == "unknown" else [f"{code(base, 60)} → {code(head, 60)}"]
    return Md(
        "; ".join([*sides, *(brief(text, 200) for text in (reports.caution(report), reports.measured(report)) if text)])
    )


def next_step(report: Report, links: Links | None, *, pull: bool) -> str:
    """Say what to do next, as a text with code between backticks; empty: nothing. pull: below is the entry to paste."""
    said = reports.next_step(report, pull=pull)
    label = report.policy.gate.get("accept_label")
    on_pull = links is not None and links.pull
    if report.verdict == "regression" and on_pull and isinstance(label, str) and label:
        return f"{said}, or by the label `{short(label, 50).replace('`', '')}`"
    return said


def linked(links: Links | None, report: Report) -> Md | None:
    """Write the links to the report and the run, else where the values are to be seen; None where there are none."""
    whole = link("Full report", links.report) if links is not None else None
    run = link("workflow run", links.run) if links is not None else None
    if whole is not None:
        return Md(" · ".join(each for each in (whole, run) if each is not None))
    if run is not None:
        return Md(f"The full report, report.html, is among the artifacts of the {run}.")
    return Md("The full report is the run's report.html.") if report.findings or report.identical else None
