"""Which functions add to the changes that were profiled, as the page shows it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gate.document.document import Figure
from gate.model import Report
from gate.model.explanation import Candidate, Explanation
from gate.report.page.pictures import flame_of
from gate.units import plural
from gate.words import explanations as words
from gate.words.names import Names


class FunctionRow(msgspec.Struct, frozen=True):
    """A function, written."""

    name: str
    place: str
    tone: str
    """Class of its colour: of a function in a changed file, of one that takes less."""
    base: str
    head: str
    change: str
    share: str
    inclusive: str
    notes: str


class Why(msgspec.Struct, frozen=True):
    """One explanation, written."""

    id: str
    benchmark: str
    title: str
    profiled: str
    cautions: tuple[str, ...]
    rows: tuple[FunctionRow, ...]
    more: str
    """How many functions are not listed; "" where all are."""
    fewer: tuple[FunctionRow, ...]
    moved: tuple[str, ...]
    flame: Figure | None


def whys_of(report: Report, names: Names) -> list[Why]:
    """Bring the explanations of a report into the form of the page."""
    return [_why(found, names, f"why-{number}") for number, found in enumerate(report.explanations, 1)]


def _why(found: Explanation, names: Names, prefix: str) -> Why:
    left, title = found.left_out, words.title(found, names)
    return Why(
        id=prefix,
        benchmark=found.benchmark,
        title=title,
        profiled="; ".join(text for text in (words.profiled_by(found), words.tool(found)) if text),
        cautions=tuple(words.cautions(found)),
        rows=tuple(_rows(found.candidates, found)),
        more=f"{plural(left, 'more function')}" if left else "",
        fewer=tuple(_rows(found.fewer, found)),
        moved=tuple(words.moved(each, found.unit) for each in found.moved),
        flame=flame_of(found, title, prefix),
    )


def _rows(candidates: Sequence[Candidate], found: Explanation) -> list[FunctionRow]:
    rows = []
    for each in candidates:
        line = words.line(each, found)
        rows.append(
            FunctionRow(
                name=line.name,
                place=line.place,
                tone="improvement" if each.change < 0 else "regression" if each.in_diff else "",
                base=words.amount(each.cost.base, found.unit),
                head=words.amount(each.cost.head, found.unit),
                change=words.signed(each.change, found.unit),
                share=words.share(each),
                inclusive=words.grown(each.inclusive),
                notes="; ".join(line.notes),
            )
        )
    return rows
