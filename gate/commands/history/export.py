"""perfgate history export: the records as a table in CSV."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TextIO

import msgspec

from gate.codes import Exit, MisuseError
from gate.commands.history.command import ExportOptions
from gate.model import LEVELS, SIDES, Level, Side
from gate.model.history import Change, HistoryRecord, Measured
from gate.report.formats.csv import cell
from gate.report.outputs import deliver
from gate.run.memory import opened
from gate.stats.ratio import t_quantile
from gate.store.history_records import when
from gate.units import plural
from gate.writing.plain import visible

Kind = Literal["text", "time", "number", "count", "flag"]
_TAIL = 0.025
_Value = str | float | int | bool | None


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the table."""

    name: str
    kind: Kind
    about: str
    """For the documentation."""
    value: Callable[[HistoryRecord, Change], _Value]


def _side(side: Side) -> list[Column]:
    def column(name: str, kind: Kind, about: str, read: Callable[[Measured], _Value]) -> Column:
        def value(_: HistoryRecord, change: Change) -> _Value:
            measured = change.base if side == "base" else change.head
            return None if measured is None else read(measured)

        return Column(f"{side}{name}", kind, about, value)

    def variance(level: Level) -> Callable[[Measured], _Value]:
        return lambda measured: next((each.relative for each in measured.spread if each.level == level), None)

    return [
        column("", "number", f"value of {side}, in `unit`; empty if unaffected", lambda m: m.value),
        column("_builds", "count", f"builds of {side}", lambda m: m.builds),
        column("_executions", "count", f"starts of {side}", lambda m: m.executions),
        column("_iterations", "count", f"values of {side}", lambda m: m.iterations),
        *(
            column(f"_var_{level}", "number", f"relative variance of its {level}s; may be below 0", variance(level))
            for level in LEVELS
        ),
    ]


def _limit(change: Change, sign: int) -> float | None:
    if change.variance is None:
        return None
    half = t_quantile(change.df, _TAIL) * math.sqrt(change.variance) if change.df is not None else 0.0
    return math.exp(min(max(change.log_ratio + sign * half, -700.0), 700.0))


def _time(text: str | None) -> str | None:
    # what is no date would be no value of a typed column
    found = when(text)
    return None if found is None else found.isoformat().replace("+00:00", "Z")


def _json(value: object) -> str:
    return msgspec.json.encode(value, order="sorted").decode()


_ACCEPTED: tuple[tuple[str, Kind, str], ...] = (
    ("up_to", "number", "size up to which a regression was accepted"),
    ("until", "text", "date until which it was"),
    ("reason", "text", "why it was"),
)
COLUMNS: tuple[Column, ...] = (
    Column("commit", "text", "sha of head", lambda r, _: r.commit),
    Column("parent", "text", "sha of base, which it was measured against", lambda r, _: r.parent),
    Column("control", "flag", "true: one commit against itself", lambda r, _: r.control),
    Column("subject", "text", "first line of the commit's message", lambda r, _: r.subject),
    Column("committed", "time", "committer's date, UTC", lambda r, _: _time(r.committed)),
    Column("measured", "time", "when the run began, UTC", lambda r, _: _time(r.measured)),
    Column("run", "text", "id of the run", lambda r, _: r.run),
    Column("perfgate", "text", "version that measured", lambda r, _: r.perfgate),
    Column("machine", "text", "class of the machine: equal where its facts are", lambda r, _: r.machine.id),
    Column("machine_facts", "text", "those facts, as JSON", lambda r, _: _json(r.machine.facts)),
    Column("raw", "text", "hash of each measurements file", lambda r, _: " ".join(r.raw)),
    Column("benchmark", "text", "name of the benchmark", lambda _, c: c.benchmark),
    Column("metric", "text", "name of the metric", lambda _, c: c.metric),
    Column("unit", "text", "base unit of its values: `s`, `B`, or empty for a count", lambda _, c: c.unit),
    Column("better", "text", "`lower` or `higher`", lambda _, c: c.better),
    Column("statistic", "text", "`mean`, `typical`, `p50`, `p99`", lambda _, c: c.statistic),
    Column("factors", "text", "settings of factors, as JSON", lambda _, c: _json(c.factors)),
    Column("verdict", "text", "of the gate, as in report.json", lambda _, c: c.verdict),
    Column(
        "decided_by",
        "text",
        "metric and statistic of the view of the benchmark that decided instead; empty: this one did",
        lambda _, c: None if c.decided_by is None else " ".join(c.decided_by),
    ),
    Column("ratio", "number", "head/base", lambda _, c: math.exp(c.log_ratio)),
    Column("ratio_low", "number", "lower end of its 95% interval; empty if unknown", lambda _, c: _limit(c, -1)),
    Column("ratio_high", "number", "upper end of it", lambda _, c: _limit(c, 1)),
    Column("log_ratio", "number", "ln(head/base)", lambda _, c: c.log_ratio),
    Column("log_ratio_var", "number", "variance of `log_ratio`; empty if unknown", lambda _, c: c.variance),
    Column("log_ratio_df", "number", "degrees of freedom of that variance", lambda _, c: c.df),
    Column("method", "text", "how both came about, as in report.json; `exact`, `identical`", lambda _, c: c.method),
    *(column for side in SIDES for column in _side(side)),
    *(
        Column(f"accepted_{name}", kind, about, lambda _, c, name=name: c.accepted and getattr(c.accepted, name))  # type: ignore[misc]
        for name, kind, about in _ACCEPTED
    ),
)


def csv_lines(records: Iterable[HistoryRecord]) -> Iterator[str]:
    """Yield the table as lines of RFC 4180 CSV, with a header; what does not exist is an empty cell."""
    yield ",".join(column.name for column in COLUMNS) + "\n"
    for record in records:
        for change in record.changes:
            values = (column.value(record, change) for column in COLUMNS)
            yield ",".join(str(v).lower() if isinstance(v, bool) else cell(v) for v in values) + "\n"


def run(options: ExportOptions, out: TextIO, err: TextIO) -> int:
    """Write the table; 2 where some records cannot be read, which are named and left out.

    Raises:
        MisuseError: no file is named.
        UserError: there is no such store, or a file cannot be written.
    """
    if options.csv is None:
        raise MisuseError("name a file: --csv FILE (-: print it)")
    reading = opened(options.store.history).read()
    deliver({"csv": options.csv}, {"csv": lambda: "".join(csv_lines(reading.records))}, str, out)
    rows = sum(len(record.changes) for record in reading.records)
    err.writelines(f"perfgate: {visible(problem)}\n" for problem in reading.problems)
    err.write(f"perfgate: {plural(rows, 'row')} of {plural(len(reading.records), 'record')}\n")
    return Exit.USAGE if reading.problems else Exit.PASS
