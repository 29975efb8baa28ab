"""Report -> Markdown for a comment on a pull request."""

from __future__ import annotations

import re
from typing import Any

from gate.model import Failure, Finding, Recorded, Report
from gate.report import cases, failures, wording
from gate.report.plain import clip, last_lines, visible
from gate.report.templating import render_template
from gate.report.view import grouped, ordered

LIMIT = 60_000
"""Characters a comment may have; GitHub refuses more than 65,536."""

_ROWS = 10
_NAME = 80
_TEXT = 400
# What the details may hold, tried from the first; rows of findings and recorded metrics, failures, lines of output.
_SIZES = ((1000, 10, 15), (200, 10, 15), (50, 5, 10), (0, 5, 5), (0, 0, 0))

_SPECIAL = re.compile(r"[\\`*\[\]~|$<>&]|(?<![^\W_])_|_(?![^\W_])")
# What becomes a mention, a reference, a link or an emoji; these are looked for after entities are text again, so an
# empty comment has to split the text as well.
_LINKING = re.compile(r"@|#(?=\d)|:(?=[^\s\d])|(?<=\b[Gg][Hh])-(?=\d)|(?<=\b[Ww][Ww][Ww])\.")
_LINE_START = re.compile(r"(?:[-+=]|#+|\d+[.)])(?=\s|[-=]|$)")


class Md(str):
    """Text that is Markdown already."""

    __slots__ = ()


def escape(text: object) -> Md:
    """Write any text so that Markdown shows it as it is: no markup, HTML, link, mention, reference or new line."""
    if isinstance(text, Md):
        return text
    plain = visible(str(text)).strip()
    start = _LINE_START.match(plain)
    if start:
        # a list item or a heading's underline; the last character of the marker is what makes it one
        end = start.end()
        return Md(f"{plain[: end - 1]}&#{ord(plain[end - 1])};{_escape(plain[end:])}")
    return Md(_escape(plain))


def _escape(text: str) -> str:
    # linking first would split the comments' own angle brackets; the ampersands written here precede no linking mark
    special = _SPECIAL.sub(lambda match: f"&{ord(match[0])};", text)
    linked = _LINKING.sub(lambda match: f"&{ord(match[0])};<!-- -->", special)
    return re.sub(r"&(?=\d+;)", "&#", linked)


def code(text: object) -> Md:
    """Write a name in a code span that holds in a table too, shortened to what a table can bear."""
    plain = clip(visible(str(text)), _NAME)
    if not plain.strip():
        return escape(repr(plain))
    if not re.search(r"[`|\\]", plain):
        return Md(f"`{plain}`")
    # in a table no code span can hold all of these
    return Md(f"<code>{escape(plain)}</code>")


def block(text: str) -> Md:
    """Write lines as a code block that nothing in them ends."""
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
    return Md(f"{fence}text\n{text}\n{fence}")


def render(report: Report, *, limit: int = LIMIT) -> str:
    """Write a comment of at most `limit` characters: the verdict, ten rows, and the rest in details.

    Where it would be longer, details are left out first, and the comment says so.
    """
    for rows, shown, lines in _SIZES:
        text = _render(report, rows, shown, lines)
        if len(text) <= limit:
            return text
    head = f"### {escape(wording.headline(report))}\n\n{escape(wording.counts(report))}\n"
    note = "\nThe rest is too long for a comment and stands in the report.\n"
    return (head + note)[:limit]


def _render(report: Report, rows: int, shown: int, lines: int) -> str:
    found = ordered(report.findings)
    deciding = [f for f in found if f.verdict != "unchanged"]
    # a short table is shown whole, of a long one only what changed
    first = found if len(found) <= _ROWS else deciding[:_ROWS]
    rest = found[len(first) :]
    groups = grouped(report.failures, by_output=False)
    values = {
        "report": report,
        "words": wording,
        "cases": cases,
        "failures": failures,
        "code": code,
        "cut": lambda text: escape(clip(visible(str(text)), _TEXT)),
        "rows": [_row(f) for f in first],
        "rest": [_row(f) for f in rest[:rows]],
        "rest_left_out": max(0, len(rest) - rows),
        "recorded": [_recorded(case) for case in report.recorded[:rows]],
        "recorded_left_out": max(0, len(report.recorded) - rows),
        "notes": [_notes(f) for f in first if f.verdict != "unchanged" or f.warnings],
        "groups": groups[:shown],
        "told": [group for group in groups[:shown] if _output(group.first, lines)],
        "groups_left_out": max(0, len(groups) - shown),
        "output": lambda failure: _output(failure, lines),
        "new": Md(", ".join(code(name) for name in report.new[:20])),
        "warnings": report.warnings[:20],
    }
    return render_template("comment.md.j2", values, html=False, finalize=escape).rstrip("\n") + "\n"


def _row(finding: Finding) -> dict[str, Any]:
    like = cases.larger(finding)
    return {
        "name": _name(finding),
        "statistic": finding.statistic,
        "base": cases.value(finding.base, finding.unit, like),
        "head": cases.value(finding.head, finding.unit, like),
        "change": cases.change(finding.ratio),
        "interval": cases.interval(finding.ratio),
        "threshold": cases.threshold(finding),
        "verdict": cases.verdict(finding),
        "bad": finding.verdict == "regression",
    }


def _recorded(case: Recorded) -> dict[str, Any]:
    like = cases.larger(case)
    return {
        "name": _name(case),
        "base": cases.value(case.base, case.unit, like),
        "head": cases.value(case.head, case.unit, like),
        "change": cases.change(case.ratio),
        "interval": cases.interval(case.ratio),
    }


def _name(case: Finding | Recorded) -> Md:
    settings = cases.factors(case)
    metric = escape(clip(visible(case.metric), 40)) + (", higher is better" if case.better == "higher" else "")
    parts = [code(case.benchmark), metric]
    return Md(" ".join([*parts, code(settings)] if settings else parts))


def _notes(finding: Finding) -> dict[str, Any]:
    texts = [*cases.notes(finding), *finding.warnings[:5]]
    sentence = cases.sentence(finding)
    # of times the sentence does not name the metric, and a suite has many
    named = finding.metric == "time" or visible(finding.metric) in sentence
    return {
        "name": code(finding.benchmark) if named else Md(f"{code(finding.benchmark)} {escape(finding.metric)}"),
        "sentence": sentence,
        "notes": [clip(visible(text), _TEXT) for text in texts],
    }


def _output(failure: Failure, lines: int) -> Md | None:
    steps = [clip(step, 1000) for step in failures.repeat(failure)]
    output = [clip(line, 200) for line in last_lines(failure.stderr, lines)] if lines else []
    said = "\n".join(["# to repeat it by hand:", *steps] if steps else [])
    text = "\n\n".join(part for part in ("\n".join(output), said) if part.strip())
    return block(text) if text else None
