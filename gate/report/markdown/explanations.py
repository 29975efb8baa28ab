"""Which functions add to the changes that were profiled, for a comment and a job summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gate.document.markdown import Md, brief, code, escape, prose
from gate.model import Report
from gate.model.explanation import Candidate, Explanation, Moved
from gate.report.markdown.tables import Part, tabled
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
    things: list[tuple[Explanation, Candidate | Moved]] = []
    for found in report.explanations:
        things += [(found, each) for each in (*found.candidates, *found.fewer)]
        things += [(found, each) for each in found.moved]

    def rows(thing: tuple[Explanation, Candidate | Moved]) -> Iterator[Sequence[str]]:
        found, what = thing
        name = code(words.title(found, names))
        if isinstance(what, Moved):
            yield name, "moved", "", "", brief(words.moved(what, found.unit), 300)
            return
        line = words.line(what, found)
        base, head = words.amount(what.cost.base, found.unit), words.amount(what.cost.head, found.unit)
        place = f"<br>{code(line.place)}" if line.place else ""
        notes = brief("; ".join(line.notes), 300)
        yield name, f"{code(line.name)}{place}", escape(line.added), escape(f"{base} → {head}"), notes

    head = ["benchmark", "function", ">change", "base → head", "notes"]
    return tabled("Functions behind the changes", "function", head, things, rows, share)
