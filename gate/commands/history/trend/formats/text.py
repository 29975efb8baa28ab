"""A trend -> text for a terminal, and for files."""

from __future__ import annotations

import numpy as np

from gate.commands.history.trend import words
from gate.commands.history.trend.formats import Screen
from gate.store.trend import CaseTrend, Trend
from gate.words.grid import Cell, Column, lay_out, paint
from gate.writing.phrases import more_are
from gate.writing.plain import distinct, wrap

_BARS = "▁▂▃▄▅▆▇█"
_SPARK = 24
_SMALLEST = 0.02
"""A sparkline's height is at least this change, so that noise stays flat."""
_CASES = 60
_NARROWEST = 20


def render(trend: Trend, screen: Screen) -> str:
    """Write a trend within the width of a terminal."""
    width = max(screen.width, _NARROWEST)
    bold = "1" if screen.color else ""
    machines = [line for text in words.machines(trend) for line in wrap(text, width, first="  - ", rest="    ")]
    parts = [
        [
            *(paint(line, bold) for line in wrap(words.headline(trend), width)),
            *(wrap(words.span(trend), width) if trend.chain.links else []),
        ],
        _cases(trend, width, bold),
        [paint("machines", bold), *machines] if machines else [],
        [line for note in words.notes(trend) for line in wrap(note, width)],
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _cases(trend: Trend, width: int, bold: str) -> list[str]:
    """Lay out a line each case without the columns from the right that do not fit, or each case over several lines."""
    shown = trend.cases[:_CASES]
    if not shown:
        return []
    titles = words.COLUMNS
    head = [
        Column(titles.name),
        *(Column(title, right=True) for title in (titles.chain, titles.level)),
        Column("trend"),
        *(Column(title, right=True) for title in (titles.ratio_sd, titles.day_sd)),
    ]
    said = [words.row(case) for case in shown]
    rows = [
        [Cell(text) for text in (each.name, each.chain, each.level, spark(case), each.ratio_sd, each.day_sd)]
        for each, case in zip(said, shown, strict=True)
    ]
    fitting = (lay_out(head[:count], [row[:count] for row in rows], width, style=bold) for count in (6, 5, 4, 3))
    lines = next((lines for lines in fitting if lines is not None), None)
    if lines is None:
        lines = [
            line
            for name, each in zip(distinct([each.name for each in said], width), said, strict=True)
            for line in (
                name,
                *wrap(f"{titles.chain} {each.chain}", width, first="  ", rest="    "),
                *wrap(f"{titles.level} {each.level}", width, first="  ", rest="    "),
            )
        ]
    left = len(trend.cases) - len(shown)
    return lines + ([f"{more_are(left, 'case')} in the JSON."] if left else [])


def spark(case: CaseTrend) -> str:
    """Draw the known levels of a case with block letters; what noise does stays low."""
    levels = case.path.level[np.isfinite(case.path.level)]
    if not levels.size:
        return ""
    means = np.array([float(piece.mean()) for piece in np.array_split(levels, min(_SPARK, levels.size))])
    span = max(float(means.max() - means.min()), _SMALLEST + 4 * (case.build_sd or 0.0))
    scaled = (means - means.min()) / span * (len(_BARS) - 1)
    return "".join(_BARS[round(float(each))] for each in scaled)
