"""The change of findings on each machine, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from gate.document.terminal import Cell, Column, lay_out, paint
from gate.model import Finding
from gate.words import findings as finding_words
from gate.words import numbers, reports
from gate.words.names import Names
from gate.writing.phrases import machine, more_are
from gate.writing.plain import distinct, wrap


def lines_by_machine(found: Sequence[Finding], most: int | None, width: int, style: str, names: Names) -> list[str]:
    """Lay out the machines of findings, each machine with its own interval.

    most: findings that are shown; None: all. style: of titles.
    """
    shown = found[:most]
    same_metric = reports.uniform(finding_words.quantity(each) for each in found) is not None
    title = reports.titled(next((at.ratio.confidence for each in shown for at in each.sessions), None))
    head = [Column("benchmark"), Column("machine"), Column("rounds", right=True), Column(title)]
    rows = []
    for finding in shown:
        name = names.label(finding) + ("" if same_metric else f" {finding_words.quantity(finding)}")
        for number, at in enumerate(finding.sessions):
            # the name once: what follows below it is of the same finding
            cells = (
                "" if number else name,
                machine(at.session, at.host),
                str(at.rounds),
                numbers.in_points(finding, f"{numbers.change(at.ratio)} ({numbers.interval(at.ratio)})"),
            )
            rows.append([Cell(text) for text in cells])
    lines = lay_out(head, rows, width - 2, style=style) or _stacked(rows, width - 2)
    lines = [paint("each machine by itself", style), *(f"  {line}" for line in lines)]
    left = len(found) - len(shown)
    text = f"{more_are(left, 'finding')} in report.json and report.html."
    return lines + (wrap(text, width, first="  ", rest="  ") if left else [])


def _stacked(rows: Sequence[Sequence[Cell]], width: int) -> list[str]:
    """A line a machine, for a terminal too narrow for a table."""
    lines = []
    names = distinct([row[0].text for row in rows], width)
    for name, (_, where, _, changed) in zip(names, rows, strict=True):
        lines += [name] if name else []
        lines += wrap(f"{where.text}: {changed.text}", width, first="  ", rest="    ")
    return lines
