"""A trend -> text for a terminal, and for files."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gate.commands.history.trend import words
from gate.commands.history.trend.formats import Screen
from gate.history.trend_types import CaseTrend, ChangePoint, Trend
from gate.units import format_share
from gate.words.grid import Cell, Column, lay_out, paint
from gate.words.numbers import changed
from gate.words.phrases import more_are
from gate.words.plain import clip, visible, wrap

_STYLES = {"worse": "31", "better": "36"}
_BARS = "▁▂▃▄▅▆▇█"
_SPARK = 24
_SMALLEST = 0.02
"""A sparkline's height is at least this change, so that noise stays flat."""
_CASES = 60
_NARROWEST = 20


def render(trend: Trend, screen: Screen) -> str:
    """Write a trend; only commands go beyond the width of a terminal, so that they can be copied."""
    width = max(screen.width, _NARROWEST)
    bold = "1" if screen.color else ""
    parts = [
        [
            *(paint(line, bold) for line in wrap(words.headline(trend), width)),
            *(wrap(words.span(trend), width) if trend.chain.links else []),
        ],
        *_changes(trend, screen, width),
        _listed("machines", words.machines(trend), bold, width),
        _cases(trend, screen, width),
        [line for note in words.notes(trend) for line in wrap(note, width)],
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _changes(trend: Trend, screen: Screen, width: int) -> Iterator[list[str]]:
    number = 0
    for case in trend.cases:
        for change in case.changes:
            number += 1
            yield _change(number, change, case, trend, screen, width)


def _change(number: int, change: ChangePoint, case: CaseTrend, trend: Trend, screen: Screen, width: int) -> list[str]:
    said = words.said(change, case, trend)
    style = _STYLES[change.direction] if screen.color else ""
    first = f"{number}. "
    rest = " " * len(first)
    lines = [paint(line, style) for line in wrap(f"{said.name}: {said.headline}", width, first=first, rest=rest)]
    for text in said.why:
        lines += wrap(text, width, first=rest, rest=rest)
    if said.suspects:
        lines += wrap("Suspects, by their own ratios:", width, first=rest, rest=rest)
        for text in said.suspects:
            lines += wrap(text, width, first=f"{rest}- ", rest=f"{rest}  ")
        if said.more:
            lines += wrap(said.more, width, first=f"{rest}- ", rest=f"{rest}  ")
    lines.append(f"{rest}$ {said.next.command}")
    return lines + wrap(f"({said.next.why})", width, first=f"{rest}  ", rest=f"{rest}  ")


def _listed(title: str, texts: list[str], bold: str, width: int) -> list[str]:
    lines = [line for text in texts for line in wrap(text, width, first="  - ", rest="    ")]
    return [paint(title, bold), *lines] if lines else []


def _cases(trend: Trend, screen: Screen, width: int) -> list[str]:
    """Lay out a line each case; columns that do not fit are left out, from the right."""
    shown = trend.cases[:_CASES]
    if not shown:
        return []
    head = [
        Column("benchmark"),
        Column("since start", right=True),
        Column("changes", right=True),
        Column("trend"),
        Column("ratio ±", right=True),
        Column("days ±", right=True),
    ]
    rows = [
        [
            Cell(words.name(case)),
            Cell(since(case)),
            Cell(str(len(case.changes)) if case.changes else "none"),
            Cell(spark(case)),
            Cell(_sd(case.build_sd)),
            Cell(_sd(case.day_sd)),
        ]
        for case in shown
    ]
    bold = "1" if screen.color else ""
    for columns in range(len(head), 1, -1):
        lines = lay_out(head[:columns], [row[:columns] for row in rows], width, style=bold)
        if lines is not None:
            break
    else:
        lines = [clip(f"{words.name(case)} {since(case)}", width) for case in shown]
    left = len(trend.cases) - len(shown)
    return lines + ([f"{more_are(left, 'case')} in the JSON."] if left else [])


def since(case: CaseTrend) -> str:
    """Write how far the changes called moved a case since the first commit; "none" where there is none."""
    moved = [change for change in case.changes if change.cause != "machine"]
    return changed(words.times(sum(change.change.estimate for change in moved))) if moved else "none"


def _sd(sd: float | None) -> str:
    return "unknown" if sd is None else format_share(sd)


def spark(case: CaseTrend) -> str:
    """Draw the path of a case with block letters; what noise does stays low."""
    levels = np.array([point.level for point in case.path])
    pieces = np.array_split(levels, min(_SPARK, levels.size))
    means = np.array([float(piece.mean()) for piece in pieces])
    span = max(float(means.max() - means.min()), _SMALLEST + 4 * (case.build_sd or 0.0))
    scaled = (means - means.min()) / span * (len(_BARS) - 1)
    return visible("".join(_BARS[round(float(each))] for each in scaled))
