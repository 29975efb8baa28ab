"""perfgate history export: the records as a table in CSV."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import TextIO

import msgspec

from gate.codes import Exit, MisuseError
from gate.commands.history.command import ExportOptions
from gate.model import LEVELS, Level, Side
from gate.model.history import Change, HistoryRecord
from gate.report.formats.csv import cell
from gate.report.outputs import deliver
from gate.run.memory import opened
from gate.stats.ratio import t_quantile
from gate.store.history_records import when
from gate.units import plural
from gate.writing.plain import visible

_TAIL = 0.025
_Value = str | float | int | bool | None
_Column = Callable[[HistoryRecord, Change], _Value]


def _side(side: Side) -> dict[str, _Column]:
    def read(name: str) -> _Column:
        # nothing of a side that was not measured
        return lambda _, change: getattr(getattr(change, side), name, None)

    def variance(level: Level) -> _Column:
        return lambda _, change: next(
            (each.relative for each in getattr(getattr(change, side), "spread", ()) if each.level == level), None
        )

    counts = {f"{side}_{name}": read(name) for name in ("builds", "executions", "iterations")}
    return {side: read("value"), **counts, **{f"{side}_var_{level}": variance(level) for level in LEVELS}}


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


COLUMNS: dict[str, _Column] = {
    "commit": lambda r, _: r.commit,
    "parent": lambda r, _: r.parent,
    "control": lambda r, _: r.control,
    "subject": lambda r, _: r.subject,
    "committed": lambda r, _: _time(r.committed),
    "measured": lambda r, _: _time(r.measured),
    "run": lambda r, _: r.run,
    "perfgate": lambda r, _: r.perfgate,
    "machine": lambda r, _: r.machine.id,
    "machine_facts": lambda r, _: _json(r.machine.facts),
    "raw": lambda r, _: " ".join(r.raw),
    "benchmark": lambda _, c: c.benchmark,
    "metric": lambda _, c: c.metric,
    "unit": lambda _, c: c.unit,
    "better": lambda _, c: c.better,
    "statistic": lambda _, c: c.statistic,
    "factors": lambda _, c: _json(c.factors),
    "verdict": lambda _, c: c.verdict,
    "decided_by": lambda _, c: None if c.decided_by is None else " ".join(c.decided_by),
    "ratio": lambda _, c: math.exp(c.log_ratio),
    "ratio_low": lambda _, c: _limit(c, -1),
    "ratio_high": lambda _, c: _limit(c, 1),
    "log_ratio": lambda _, c: c.log_ratio,
    "log_ratio_var": lambda _, c: c.variance,
    "log_ratio_df": lambda _, c: c.df,
    "method": lambda _, c: c.method,
    **_side("base"),
    **_side("head"),
    "accepted_up_to": lambda _, c: c.accepted.up_to if c.accepted else None,
    "accepted_until": lambda _, c: c.accepted.until if c.accepted else None,
    "accepted_reason": lambda _, c: c.accepted.reason if c.accepted else None,
}
"""The columns by their names, which docs/history.md explains."""


def csv_lines(records: Iterable[HistoryRecord]) -> Iterator[str]:
    """Yield the table as lines of RFC 4180 CSV, with a header; what does not exist is an empty cell."""
    yield ",".join(COLUMNS) + "\n"
    for record in records:
        for change in record.changes:
            values = (value(record, change) for value in COLUMNS.values())
            yield ",".join(str(v).lower() if isinstance(v, bool) else cell(v) for v in values) + "\n"


def run(options: ExportOptions, out: TextIO, err: TextIO) -> int:
    """Write the table; 2 where some records cannot be read, which are named and left out.

    Raises:
        MisuseError: no file is named.
        UserError: there is no such store, or a file cannot be written.
    """
    if options.csv is None:
        raise MisuseError("name a file: --csv FILE (-: print it)")
    reading = opened(options.history).read()
    deliver({"csv": options.csv}, {"csv": lambda: "".join(csv_lines(reading.records))}, str, out)
    rows = sum(len(record.changes) for record in reading.records)
    err.writelines(f"perfgate: {visible(problem)}\n" for problem in reading.problems)
    err.write(f"perfgate: {plural(rows, 'row')} of {plural(len(reading.records), 'record')}\n")
    return Exit.USAGE if reading.problems else Exit.PASS
