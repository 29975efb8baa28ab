"""The table as a document: titles, cells, changes and what stands around them."""

from __future__ import annotations

import math

import msgspec

from gate.commands.compare.table import ALL, Block, Cell, Change, Column, Row, Shown, Table
from gate.document import document as doc
from gate.model.case import pairs
from gate.units import format_number, format_share, plural, shown_unit, whole_of
from gate.words import numbers, reports, views
from gate.writing import amounts
from gate.writing.amounts import known
from gate.writing.plain import clip, visible

_SPAN = 1000.0
"""The largest value of a block over its smallest, up to which both read well in one unit."""
_WIDEST = 10
"""The share of a value from which its interval is called ">1000%"."""
_METRIC = 60
_NAMED = {"p50": "p50 (median)", "min": "minimum", "max": "maximum", "value": "(as given)"}
_TONES: dict[Shown, doc.Tone] = {"worse": "worse", "better": "better", "differs": "differs"}
_MARKS = {"not shown": "~ ", "same": "= "}


def document_of(table: Table) -> doc.Document:
    """Write a comparison."""
    titles, reading = [visible(column.title) for column in table.columns], legend(table)
    sections: list[list[doc.Part]] = [
        [
            doc.Facts([(title, source(column)) for title, column in zip(titles, table.columns, strict=True)]),
            doc.Items(table.told, "told"),
            doc.Items(table.cautions, "caution"),
        ],
        [doc.Said(f"nothing to compare: {table.nothing}" if table.nothing else "", "error")],
    ]
    sections += [[_block(block, table, reading)] for block in table.blocks]
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


def _block(block: Block, table: Table, reading: str) -> doc.Table:
    scaled = _common(block)
    confidences = [
        amounts.format_percent(change.confidence)
        for row in block.rows
        for change in row.changes
        if change is not None and change.shown and change.method != "exact" and row.kind == "benchmark"
    ]
    interval = f"{reports.uniform(confidences) or 'own'} interval" if confidences else ""
    many = len(table.columns) > 2
    title = short = _title(block, scaled)
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
    rows = [_row(row, block.unit, scaled, table.base) for row in block.rows]
    return doc.Table(title, short, head, rows, reading)


def _title(block: Block, scaled: _Scaled | None) -> str:
    name = scaled.name if scaled else ""
    what = clip(visible(views.quantity(block.metric, _NAMED.get(block.statistic, block.statistic))), _METRIC)
    unit = f" in {name}" if name and name != block.metric else ""
    title = f"{what}{unit}, {f'{block.better} is better' if block.better else 'direction unknown'}"
    points = "" if whole_of(block.metric, block.unit) is None else ", changes in percentage points"
    return title + points + (", recorded only" if block.recorded else "")


class _Scaled(msgspec.Struct, frozen=True):
    """The unit that all values of a block are written in."""

    scale: float
    name: str
    """Empty for plain counts."""
    whole: bool
    """All values are whole numbers, written in full."""

    def amount(self, value: float) -> str:
        """Write a value without its unit."""
        number = value / self.scale
        if not known(value):
            return "unknown"
        return f"{number:,.0f}" if self.whole and float(number).is_integer() else format_number(number)


def _common(block: Block) -> _Scaled | None:
    """Choose one unit for a block; None where its values are too far apart for one."""
    cells = [cell for row in block.rows if row.kind == "benchmark" for cell in row.cells if cell is not None]
    sizes = [abs(cell.value) for cell in cells if known(cell.value) and cell.value]
    least, most = min(sizes, default=1.0), max(sizes, default=1.0)
    if len({shown_unit(size, block.unit) for size in sizes}) > 1 and most > _SPAN * least:
        return None
    scale, name = shown_unit(math.sqrt(least) * math.sqrt(most), block.unit)
    whole = scale == 1 and name != "s" and all(float(size).is_integer() and size < 1e15 for size in sizes)
    return _Scaled(scale, "" if name == "count" else clip(visible(name), 12), whole)


def _row(row: Row, unit: str, scaled: _Scaled | None, base: int) -> doc.Row:
    settings = f" ({visible(pairs(row.factors))})" if row.factors else ""
    name = f"{visible(row.benchmark)}{settings}"
    if row.kind == "geomean":
        name = "geomean" if row.benchmark == ALL else f"geomean of {visible(row.benchmark)}"
    like = max((abs(c.value) for c in row.cells if c is not None and known(c.value)), default=1.0)
    cells = [doc.Cell(name, notes=tuple(map(visible, row.notes)))]
    for place, (cell, change) in enumerate(zip(row.cells, row.changes, strict=True)):
        if cell is None:
            cells.append(doc.Cell(""))
        else:
            text = scaled.amount(cell.value) if scaled else numbers.amount(cell.value, unit, like)
            cells.append(doc.Cell(text, _spread(cell), tuple(map(visible, cell.notes))))
        if place != base:
            cells.append(doc.Cell("") if change is None else _changed(change))
    return doc.Row(cells, row.kind == "geomean")


def _spread(cell: Cell) -> str:
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


def _changed(change: Change) -> doc.Cell:
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


def source(column: Column) -> str:
    """Say what one column is: "runs/a, its head: main 1a2b3c4d5e, 2026-11-20 09:00 on vm, 5 builds, ..."."""
    when = [visible(column.created)[:16].replace("T", " ")] if column.created else []
    when += [f"on {clip(visible(column.host), 60)}"] if column.host else []
    commit = reports.commit(column.commit) if column.commit else ""
    facts = [commit, " ".join(when), counted(column)]
    told = ", ".join(fact for fact in facts if fact)
    name = visible(column.name) + (f", its {column.side}" if column.side else "")
    return name + (f": {told}" if told else "")


def counted(column: Column) -> str:
    """Say how many builds, starts and values the rows of a column have."""
    return ", ".join(
        plural(least, noun) if least == most else f"{least} to {most} {noun}s"
        for noun, (least, most) in ((reports.level_name(level), span) for level, span in column.counts.items())
    )


def legend(table: Table) -> str:
    """Say how to read the marks, and how many rows may well be wrong; nothing where there are no rows."""
    rows = [row for block in table.blocks for row in block.rows if row.kind == "benchmark"]
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
