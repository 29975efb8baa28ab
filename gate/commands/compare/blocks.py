"""The table as words: titles, cells and changes, safe on one line and not yet escaped for any markup."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import msgspec

from gate.commands.compare.geomeans import ALL
from gate.commands.compare.table import Block, Cell, Change, Column, Row, Table
from gate.model import RatioInterval
from gate.model.case import pairs
from gate.units import format_number, format_share, plural, shown_unit, whole_of
from gate.words import numbers, reports, views
from gate.writing import amounts
from gate.writing.amounts import known
from gate.writing.plain import clip, visible

NARROWEST = 14
"""Columns that a name keeps of a table."""
_SPAN = 1000.0
"""The largest value of a block over its smallest, up to which both read well in one unit."""
_WIDEST = 10
"""The share of a value from which its interval is called ">1000%"."""
_METRIC = 60
_NAMED = {"p50": "p50 (median)", "min": "minimum", "max": "maximum", "value": "(as given)"}


class Value(msgspec.Struct, frozen=True):
    """A value with what is known of its spread: "101.5" or "101.5 ms", "±" and "0.5%"."""

    text: str
    mark: str
    """± before the half-width of an interval, σ before a standard deviation, "" before nothing."""
    half: str
    notes: tuple[str, ...]


class Told(msgspec.Struct, frozen=True):
    """A change, and what it shows."""

    text: str
    shown: str
    notes: tuple[str, ...]


class Line(msgspec.Struct, frozen=True):
    """One row."""

    name: str
    is_mean: bool
    """A geometric mean, which is no benchmark."""
    values: list[Value | None]
    changes: list[Told | None]
    notes: tuple[str, ...]
    row: Row


class Written(msgspec.Struct, frozen=True):
    """One block in one unit."""

    title: str
    short: str
    """The title without what is said of the changes."""
    change: str
    """The title of the columns of changes."""
    lines: list[Line]
    block: Block


def written(table: Table) -> list[Written]:
    """Write all blocks."""
    return [_block(block, table) for block in table.blocks]


def _block(block: Block, table: Table) -> Written:
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
    return Written(title, short, change, [_line(row, block.unit, scaled) for row in block.rows], block)


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


def _line(row: Row, unit: str, scaled: _Scaled | None) -> Line:
    settings = visible(pairs(row.factors)) if row.factors else ""
    mean = row.kind == "geomean"
    if mean:
        name = "geomean" if row.benchmark == ALL else f"geomean of {visible(row.benchmark)}"
    else:
        name = f"{visible(row.benchmark)}{f' ({settings})' if settings else ''}"
    sizes = [abs(cell.value) for cell in row.cells if cell is not None and known(cell.value)]
    like = max(sizes, default=1.0)
    return Line(
        name=name,
        is_mean=mean,
        values=[None if cell is None else _value(cell, unit, scaled, like) for cell in row.cells],
        changes=[None if change is None else _told(change) for change in row.changes],
        notes=tuple(map(visible, row.notes)),
        row=row,
    )


def _value(cell: Cell, unit: str, scaled: _Scaled | None, like: float) -> Value:
    text = _amount(cell.value, scaled) if scaled else amounts.amount(cell.value, unit, like)
    mark, half = _spread(cell)
    return Value(text, mark, half, tuple(map(visible, cell.notes)))


def _amount(value: float, scaled: _Scaled) -> str:
    if not known(value):
        return "unknown"
    number = value / scaled.scale
    return f"{number:,.0f}" if scaled.whole and float(number).is_integer() else format_number(number)


def _spread(cell: Cell) -> tuple[str, str]:
    """Write the half-width of a value's own interval, or else the spread of the values within the one build."""
    if known(cell.low) and known(cell.high) and known(cell.value):
        distance = max(cell.high - cell.value, cell.value - cell.low)
        if distance <= 0:
            return "±", "0%"
        if not cell.value:
            return "", ""
        share = distance / abs(cell.value)
        # two builds that differ by much give bounds of many digits
        return "±", format_share(share) if share < _WIDEST else f">{_WIDEST * 100}%"
    if known(cell.sd) and known(cell.value) and cell.value:
        return "σ", "0%" if cell.sd == 0 else format_share(cell.sd / abs(cell.value))
    return "", ""


def interval_of(change: Change) -> RatioInterval:
    """Give the interval of a change as reports have it."""
    return RatioInterval(
        estimate=change.estimate, low=change.low, high=change.high, confidence=change.confidence,
        method=change.method, df=None, kind=change.kind,
    )  # fmt: skip


def _told(change: Change) -> Told:
    notes = tuple(map(visible, change.notes))
    if change.shown == "both 0":
        return Told(change.shown, "", notes)
    if change.shown == "identical":
        return Told("identical", "", notes)
    ratio = interval_of(change)
    estimate = numbers.change(ratio) if known(change.estimate) else "no ratio"
    if change.kind == "withheld":
        return Told(estimate, "", notes)
    interval = numbers.interval(ratio)
    if change.shown == "same" and change.method == "exact":
        return Told(f"= ({interval})", change.shown, notes)
    mark = {"not shown": "~ ", "same": "= "}.get(change.shown, "")
    return Told(f"{mark}{estimate} ({interval})", change.shown, notes)


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
    """Say how many builds, executions and values the rows of a column have."""
    return ", ".join(
        plural(span.least, noun) if span.least == span.most else f"{span.least} to {span.most} {noun}s"
        for noun, span in column.counts.items()
        if noun != "session" or span.most > 1
    )


def legend(table: Table) -> str:
    """Say how to read the marks, and how many rows may well be wrong; nothing where there are no rows."""
    rows = [row for block in table.blocks for row in block.rows if row.kind == "benchmark"]
    changes = [change for row in rows for change in row.changes if change is not None]
    cells = [cell for row in rows for cell in row.cells if cell is not None]
    marks = {_spread(cell)[0] for cell in cells}
    with_intervals = [c for c in changes if c.shown and c.method != "exact"]
    parts = list(_marks(marks, with_intervals, changes, table))
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
    return f"{text}. No correction for multiple comparisons: about 1 of {once} unchanged rows shows a change."


def _marks(marks: set[str], with_intervals: Sequence[Change], changes: Sequence[Change], table: Table) -> Iterator[str]:
    confidence = reports.uniform(amounts.format_percent(c.confidence) for c in (with_intervals or changes))
    if "±" in marks:
        own = "a side's own interval" if table.alone or not confidence else f"the {confidence} interval"
        yield f"±: half-width of {own}"
    if "σ" in marks:
        yield "σ: standard deviation of the values of the one build, which says nothing of other builds"
    if with_intervals:
        yield "~: no change is shown"


def hidden(table: Table) -> str:
    """Say how many rows --min-change leaves out; "" where there are none."""
    if not table.hidden:
        return ""
    verb = "is" if table.hidden == 1 else "are"
    return f"{plural(table.hidden, 'row')} changed less than --min-change and {verb} hidden"
