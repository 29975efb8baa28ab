"""The table in every format of `compare --format`: as a document for text, Markdown and a page, as JSON and CSV."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from gate.commands.compare.rows import (
    ALL,
    ColumnRatio,
    CompareCell,
    CompareColumn,
    CompareRow,
    CompareTable,
    Shown,
)
from gate.document import document as doc
from gate.document import html, markdown, terminal
from gate.document.terminal import Screen
from gate.model.case import pairs
from gate.report.formats.csv import cell
from gate.report.json import text_of
from gate.words import numbers, reports, views
from gate.writing import amounts
from gate.writing.amounts import format_number, known, shown_unit
from gate.writing.plain import clip, visible
from gate.writing.units import format_share, plural, whole_of

_SPAN = 1000.0
"""The largest value of a block over its smallest, up to which both read well in one unit."""
_WIDEST = 10
"""The share of a value from which its interval is called ">1000%"."""
_METRIC = 60
_NAMED = {"p50": "p50 (median)", "min": "minimum", "max": "maximum", "value": "(as given)"}
_TONES: dict[Shown, doc.Tone] = {"worse": "worse", "better": "better", "differs": "differs"}
_MARKS = {"not shown": "~ ", "same": "= "}


def document_of(table: CompareTable) -> doc.Document:
    """Write a comparison."""
    titles, reading = [visible(column.title) for column in table.columns], legend(table)
    sections: list[list[doc.Part]] = [
        [
            doc.Facts([(title, source(column)) for title, column in zip(titles, table.columns, strict=True)]),
            doc.Items(table.told, "told"),
            doc.Items(table.cautions, "caution"),
        ],
        [doc.Statement(f"nothing to compare: {table.nothing}" if table.nothing else "", "error")],
    ]
    sections += [[_block(rows, table, reading)] for rows in table.blocks]
    sections += [
        [doc.Footnotes()],
        [doc.Items(table.rest, "rest")],
        [doc.Items(table.warnings, "warning")],
    ]
    others = titles[1] if len(titles) == 2 else f"{len(titles) - 1} others"
    of = titles[0 if len(titles) == 2 else table.base]
    return doc.Document(
        tool="perfgate compare",
        title=f"Results of {titles[0]}" if len(titles) == 1 else f"Comparison of {of} and {others}",
        sections=sections,
        elsewhere="in --format json",
        footer="Written by perfgate compare, which has no threshold and no verdict; `perfgate check` decides.",
    )


def _block(rows: Sequence[CompareRow], table: CompareTable, reading: str) -> doc.Table:
    unit, write = _unit(rows)
    confidences = [
        amounts.format_percent(change.confidence)
        for row in rows
        for change in row.changes
        if change is not None and change.shown and change.method != "exact" and row.kind == "benchmark"
    ]
    interval = f"{reports.uniform(confidences) or 'own'} interval" if confidences else ""
    many = len(table.columns) > 2
    first = rows[0]
    title = clip(visible(views.quantity(first.metric, _NAMED.get(first.statistic, first.statistic))), _METRIC)
    title += f" in {unit}" if unit and unit != first.metric else ""
    title += f", {first.better} is better" if first.better else ", direction unknown"
    title += "" if whole_of(first.metric, first.unit) is None else ", changes in percentage points"
    title += ", recorded only" if first.recorded else ""
    short = title
    if many:
        base = clip(visible(table.columns[table.base].title), 40)
        title += f"; changes against {base}{f' with {interval}s' if interval else ''}"
    change = "change" if many or not interval else f"change ({interval})"
    head = [doc.Column("benchmark")]
    for place, column in enumerate(table.columns):
        name, is_base = visible(column.title), place == table.base
        head.append(doc.Column(name, right=True, fixed=is_base))
        if not is_base:
            head.append(doc.Column(change, follows=True, label=f"{name}: {change}" if many else change))
    return doc.Table(title, short, head, [_row(row, write, table.base) for row in rows], reading)


def _unit(rows: Sequence[CompareRow]) -> tuple[str, Callable[[float, CompareRow], str]]:
    """Choose the unit for a block, and what writes a value in it; "" for plain counts, or where it has several."""
    own, cells = rows[0].unit, [cell for row in rows if row.kind == "benchmark" for cell in row.cells if cell]
    sizes = [abs(cell.value) for cell in cells if known(cell.value) and cell.value]
    least, most = min(sizes, default=1.0), max(sizes, default=1.0)

    def apart(value: float, row: CompareRow) -> str:
        like = max((abs(c.value) for c in row.cells if c is not None and known(c.value)), default=1.0)
        return amounts.amount(value, own, like)

    if len({shown_unit(size, own) for size in sizes}) > 1 and most > _SPAN * least:
        return "", apart
    scale, name = shown_unit(math.sqrt(least) * math.sqrt(most), own)
    whole = scale == 1 and name != "s" and all(float(size).is_integer() and size < 1e15 for size in sizes)

    def together(value: float, _: CompareRow) -> str:
        if not known(value):
            return "unknown"
        number = value / scale
        return f"{number:,.0f}" if whole and float(number).is_integer() else format_number(number)

    return "" if name == "count" else clip(visible(name), 12), together


def _row(row: CompareRow, write: Callable[[float, CompareRow], str], base: int) -> doc.Row:
    settings = f" ({visible(pairs(row.factors))})" if row.factors else ""
    name = f"{visible(row.benchmark)}{settings}"
    if row.kind == "geomean":
        name = "geomean" if row.benchmark == ALL else f"geomean of {visible(row.benchmark)}"
    cells = [doc.Cell(name, notes=tuple(map(visible, row.notes)))]
    for place, (own, change) in enumerate(zip(row.cells, row.changes, strict=True)):
        if own is None:
            cells.append(doc.Cell(""))
        else:
            cells.append(doc.Cell(write(own.value, row), _spread(own), tuple(map(visible, own.notes))))
        if place != base:
            cells.append(doc.Cell("") if change is None else _changed(change))
    return doc.Row(cells, row.kind == "geomean")


def _spread(cell: CompareCell) -> str:
    """Write the half-width of a value's own interval, or else the spread of the values within the one build."""
    if known(cell.low) and known(cell.high) and known(cell.value):
        distance = max(cell.high - cell.value, cell.value - cell.low)
        if distance <= 0:
            return "± 0%"
        if not cell.value:
            return ""
        share = distance / abs(cell.value)
        # two builds that differ by much give bounds of many digits
        return f"± {format_share(share)}" if share < _WIDEST else f"± >{_WIDEST * 100}%"
    if known(cell.sd) and known(cell.value) and cell.value:
        return "σ 0%" if cell.sd == 0 else f"σ {format_share(cell.sd / abs(cell.value))}"
    return ""


def _changed(change: ColumnRatio) -> doc.Cell:
    notes = tuple(map(visible, change.notes))
    if change.shown == "both 0":
        return doc.Cell(change.shown, notes=notes)
    estimate = numbers.change(change) if known(change.estimate) else "no ratio"
    if change.kind == "withheld":
        return doc.Cell(estimate, notes=notes)
    interval = numbers.interval(change)
    if change.shown == "same" and change.method == "exact":
        return doc.Cell(f"= ({interval})", notes=notes)
    text = f"{_MARKS.get(change.shown, '')}{estimate} ({interval})"
    return doc.Cell(text, notes=notes, tone=_TONES.get(change.shown, ""))


# --- what stands around the blocks ------------------------------------------------------------------------------------


def source(column: CompareColumn) -> str:
    """Say what one column is: "runs/a, its head: main 1a2b3c4d5e, 2026-11-20 09:00 on vm, 5 builds, ..."."""
    when = [visible(column.created)[:16].replace("T", " ")] if column.created else []
    when += [f"on {clip(visible(column.host), 60)}"] if column.host else []
    commit = reports.commit(column.commit) if column.commit else ""
    facts = [commit, " ".join(when), counted(column)]
    told = ", ".join(fact for fact in facts if fact)
    name = visible(column.name) + (f", its {column.side}" if column.side else "")
    return name + (f": {told}" if told else "")


def counted(column: CompareColumn) -> str:
    """Say how many builds, starts and values the rows of a column have."""
    return ", ".join(
        plural(least, noun) if least == most else f"{least} to {most} {noun}s"
        for noun, (least, most) in ((reports.level_name(level), span) for level, span in column.counts.items())
    )


def legend(table: CompareTable) -> str:
    """Say how to read the marks, and how many rows may well be wrong; nothing where there are no rows."""
    rows = [row for row in table.rows if row.kind == "benchmark"]
    changes = [change for row in rows for change in row.changes if change is not None]
    cells = [cell for row in rows for cell in row.cells if cell is not None]
    marks = {_spread(cell)[:1] for cell in cells}
    with_intervals = [c for c in changes if c.shown and c.method != "exact"]
    confidence = reports.uniform(amounts.format_percent(c.confidence) for c in (with_intervals or changes))
    own = "a side's own interval" if table.alone or not confidence else f"the {confidence} interval"
    means = {
        "±": f"half-width of {own}",
        "σ": "standard deviation of the values of the one build, which says nothing of other builds",
        "~": "no change is shown",
    }
    parts = [f"{mark}: {text}" for mark, text in means.items() if mark in marks or (mark == "~" and with_intervals)]
    if not parts:
        return ""
    text = "; ".join(parts)
    if table.alone:
        text += ". Changes are as `perfgate decide` shows them"
        return f"{text}; {table.confidences}." if table.confidences else f"{text}."
    confidence = reports.uniform(amounts.format_percent(c.confidence) for c in with_intervals)
    if len(with_intervals) < 2 or not confidence:
        return f"{text}."
    once = round(1 / (1 - with_intervals[0].confidence))
    return f"{text}. No correction for multiple comparisons: about 1 of {once} rows that did not change shows a change."


COLUMNS = (
    "row", "benchmark", "metric", "unit", "better", "statistic", "factors",
    "column", "value", "low", "high", "sd", "builds", "executions", "values",
    "base", "ratio", "ratio_low", "ratio_high", "confidence", "change", "notes",
)  # fmt: skip


def as_csv(table: CompareTable, _: Screen) -> str:
    r"""Write all rows in long form as RFC 4180 has it, with a header line and "\n" at line ends.

    row is "benchmark" or "geomean"; of the latter benchmark is the group ("all" or a suite). factors is a JSON object.
    Values are in base units, what does not exist is empty. ratio is of the column to that which base names. change:
    worse, better, differs, same, not shown, no interval or both 0.
    """
    lines = [cells for row in table.rows for cells in _lines(row, table)]
    return "\n".join([",".join(COLUMNS), *(",".join(map(cell, each)) for each in lines)]) + "\n"


def _lines(row: CompareRow, table: CompareTable) -> Iterator[Sequence[object]]:
    factors = msgspec.json.encode(row.factors, order="sorted").decode() if row.factors else None
    mean = row.kind == "geomean"
    unit = None if mean else row.unit or None
    names = (row.kind, row.benchmark, row.metric, unit, row.better)
    for place, column in enumerate(table.columns):
        own, change = row.cells[place], row.changes[place]
        if own is None and change is None:
            continue
        base = table.columns[table.base].title if change is not None else None
        notes = "; ".join([*row.notes, *(own.notes if own else ()), *(change.notes if change else ())]) or None
        values: Sequence[object] = (None,) * 7
        if own is not None:
            numbers = (_number(value) for value in (own.value, own.low, own.high, own.sd))
            values = (*numbers, own.builds or None, own.executions or None, own.values or None)
        changed: Sequence[object] = (None,) * 5
        if change is not None:
            ends = (_number(value) for value in (change.estimate, change.low, change.high))
            shown = None if mean else change.shown or "no interval"
            changed = (*ends, change.confidence, shown)
        yield (*names, row.statistic, factors, column.title, *values, base, *changed, notes)


def _number(value: float | None) -> float | None:
    return float(value) if known(value) else None


SCHEMA = 1
_FIELDS = ("low", "high", "kind", "confidence", "method")


def as_json(table: CompareTable, _: Screen) -> str:
    """Write columns and rows by the keys of docs/compare.md; values are in base units, what does not exist is null."""
    titles = [column.title for column in table.columns]
    rows = []
    for row in table.rows:
        changes: dict[str, Any] = {}
        for title, change in zip(titles, row.changes, strict=True):
            if change is not None:
                fields = {name: getattr(change, name) for name in _FIELDS}
                shown = change.shown or "no interval"
                changes[title] = {"ratio": change.estimate, **fields, "shown": shown, "notes": change.notes}
        of = {name: getattr(row, name) for name in ("metric", "statistic", "unit", "better", "recorded")}
        own = {"row": row.kind, "benchmark": row.benchmark, "factors": row.factors, **of}
        cells = dict(zip(titles, row.cells, strict=True))
        rows.append({**own, "cells": cells, "changes": changes, "notes": row.notes})
    found = {
        "schema": SCHEMA, "base": titles[table.base], "columns": table.columns, "rows": rows,
        "identical": table.identical, "told": table.told, "cautions": table.cautions,
        "left_out": table.rest, "nothing": table.nothing or None, "warnings": table.warnings,
    }  # fmt: skip
    return text_of(found)


FORMATS: Mapping[str, Callable[[CompareTable, Screen], str]] = {
    "csv": as_csv,
    "html": lambda table, _: html.render(document_of(table)),
    "json": as_json,
    "markdown": lambda table, _: markdown.render(document_of(table)),
    "text": lambda table, screen: terminal.render(document_of(table), screen),
}
"""What is printed, each ending with a newline."""
