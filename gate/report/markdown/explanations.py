"""Which functions add to the changes that were profiled, for a comment and a job summary."""

from __future__ import annotations

from collections.abc import Sequence

from gate.document.markdown import Md, brief, code, escape, prose
from gate.model import Report
from gate.model.explanation import Candidate, Explanation
from gate.report.markdown.tables import Part, Written
from gate.words import explanations as words
from gate.words.names import Names
from gate.writing.phrases import more_are


def why(report: Report, most: int, width: int, names: Names) -> list[Md]:
    """Name three functions of each of so many explanations, a list each; width: the characters a note may take."""
    texts = [_named(found, width, names) for found in report.explanations[:most]]
    texts += [Md(f"- {prose(words.unprofiled(each, names))}") for each in report.unprofiled[:most]]
    left = len(report.explanations[most:]) + len(report.unprofiled[most:])
    return [*texts, *([escape(f"{more_are(left, 'profile')} in the report.")] if left and most else [])]


def _named(found: Explanation, width: int, names: Names) -> Md:
    lines = [f"Why {code(words.title(found, names))} ({brief(words.profiled_by(found), width)})", ""]
    lines += [f"- {brief(text, width)}" for text in words.cautions(found)]
    lines += [_line(each, found, width) for each in found.candidates[: words.NAMED]]
    return Md("\n".join([*lines, ""]))


def _line(candidate: Candidate, found: Explanation, width: int) -> str:
    line = words.line(candidate, found)
    place = f" ({code(line.place)})" if line.place else ""
    notes = f": {brief('; '.join(line.notes), width)}" if line.notes else ""
    return f"- {code(line.name)} {escape(line.added)}{place}{notes}"


def functions_table(report: Report, names: Names, share: float = 1.0) -> Part:
    """Write all functions that are listed, benchmark by benchmark, and what moved."""
    rows: list[tuple[Explanation, Candidate | int]] = []
    for found in report.explanations:
        rows += [(found, each) for each in (*found.candidates, *found.fewer)]
        rows += [(found, number) for number in range(len(found.moved))]
    title = "Functions behind the changes"
    opening = "| benchmark | function | change | base → head | notes |\n|:--|:--|--:|:--|:--|\n"
    return Part(title, "function", Written(rows, lambda each: _row(each, names)), share, opening)


def _row(row: tuple[Explanation, Candidate | int], names: Names) -> Md:
    found, what = row
    if isinstance(what, int):
        cells: Sequence[str] = ("moved", "", "", brief(words.moved(found.moved[what], found.unit), 300))
    else:
        line = words.line(what, found)
        base, head = words.amount(what.cost.base, found.unit), words.amount(what.cost.head, found.unit)
        place = f"<br>{code(line.place)}" if line.place else ""
        notes = brief("; ".join(line.notes), 300)
        cells = (Md(f"{code(line.name)}{place}"), escape(line.added), escape(f"{base} → {head}"), notes)
    return Md(f"| {' | '.join((code(words.title(found, names)), *cells))} |")
