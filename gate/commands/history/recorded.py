"""perfgate history add, list and export: put a run into the history, show what it holds, and write it as CSV."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import TextIO

import msgspec

from gate.cli.groups import RulesOptions
from gate.codes import Exit, MisuseError
from gate.commands.history.command import AddOptions, ExportOptions, ListOptions
from gate.decide.causes import nothing_to_compare
from gate.evidence.records import DEFAULT_FOLDER, read_inputs
from gate.model import LEVELS, Level, Side
from gate.model.history import UNTESTED, Change, HistoryRecord
from gate.planning.deciding import decide_inputs
from gate.report.formats.csv import cell
from gate.report.outputs import deliver
from gate.run.memory import here, opened
from gate.stats.ratio import t_quantile
from gate.store.history_records import Added, StoreReading, encode, proof_of
from gate.store.recording import commits_of, descends, describe, record_of
from gate.writing import phrases
from gate.writing.plain import visible
from gate.writing.units import agree, plural, when

NOTHING_TO_COMPARE = "Nothing to record: base has no benchmarks to compare with; the next commit will.\n"
_SHORT = 10


def added(done: Added, record: HistoryRecord, store: str) -> str:
    """Say what became of a record."""
    commit, kept = record.commit[:_SHORT], plural(done.kept, "record")
    if done.known:
        first = f"{commit} is recorded already, of the same measurements: {store} holds {kept}"
    else:
        against = "against itself, as a control" if record.control else f"against {record.parent[:_SHORT]}"
        first = f"Recorded {commit} {against}: {plural(len(record.decided), 'case')}; {store} holds {kept}"
    return f"{first}\n" + (f"Pushed to {done.pushed}\n" if done.pushed else "")


def listed(reading: StoreReading, store: str, limit: int) -> str:
    """List the newest records."""
    records = reading.records
    if not records:
        return f"{store} holds no records.\n"
    cases = len({(c.benchmark, c.metric, c.statistic) for record in records for c in record.decided})
    machines = len({record.machine.id for record in records})
    shown = records[-limit:]
    size = f"{reading.size / 1e6:.1f} MB" if reading.size >= 1e5 else f"{reading.size / 1e3:.1f} kB"
    classes = f"{machines} {agree(machines, 'class', 'classes')} of machine"
    first = f"{store}: {plural(len(records), 'record')}, {plural(cases, 'case')}, {classes}, {size}"
    lines, proof = [first], proof_of(records)
    if proof is not None:
        lines.append(f"{proof.sentence()}. {UNTESTED}")
        lines += [visible(f"Warning: {warning}")] if (warning := proof.warning()) else []
    lines.append("")
    named = {"regression": "slower", "accepted": "accepted", "improvement": "faster"}
    for record in reversed(shown):
        date = (record.committed or record.measured or "")[:10] or "no date   "
        verdicts = [change.verdict for change in record.decided]
        worst = ", ".join(f"{verdicts.count(each)} {word}" for each, word in named.items() if each in verdicts)
        what = "control" if record.control else worst or "no change called"
        count = f"{plural(len(verdicts), 'case'):>9}"
        # a ref may come from anywhere
        lines.append(visible(f"{date}  {record.commit[:_SHORT]}  {count}  {what}  {record.subject}".rstrip()))
    if len(shown) < len(records):
        lines.append(f"and {len(records) - len(shown)} older; --limit {len(records)} lists all")
    return "\n".join(lines) + "\n"


def run(options: AddOptions, out: TextIO, err: TextIO) -> int:
    """Record a run, decided by its own rules; every record is written once.

    Raises:
        UserError: the run cannot be recorded, or the store not be written.
        ConflictError: other writers were faster, time and again.
    """
    store = opened(options.history, options.push)
    decided = decide_inputs(read_inputs(options.runs or (DEFAULT_FOLDER,)), RulesOptions())
    if nothing_to_compare(decided.evidence) is not None:
        out.write(NOTHING_TO_COMPARE)
        return 0
    (base, head), git = commits_of(decided), here()
    record, without = record_of(decided, *((None, "") if git is None else describe(git, head)))
    if without:
        named = visible(phrases.listed(without))
        err.write(f"perfgate: not recorded, without a ratio (values of 0 or below, or other sessions): {named}\n")
    if git is not None and not descends(git, head, base):
        err.write(
            f"perfgate: base {base[:_SHORT]} is no ancestor of {head[:_SHORT]}: it is recorded as its parent, and the "
            "trend only follows it from there\n"
        )
    if options.dry_run:
        out.write(encode(record).decode())
        return 0
    out.write(added(store.add(record), record, str(store)))
    if record.controls is not None and record.controls.alarmed:
        # without an alarm evidence only falls: then the whole store need not be read
        proof = proof_of(store.read().records)
        if proof is not None and proof.warning():
            err.write(visible(f"perfgate: {proof.sentence()}, {proof.warning()}") + "\n")
    return 0


def run_list(options: ListOptions, out: TextIO, err: TextIO) -> int:
    """List the newest records; 2 where some cannot be read, which are named.

    Raises: UserError: there is no such store.
    """
    store = opened(options.history)
    reading = store.read()
    out.write(listed(reading, str(store), options.limit))
    err.writelines(f"perfgate: {visible(problem)}\n" for problem in reading.problems)
    return Exit.USAGE if reading.problems else Exit.PASS


# --- export -----------------------------------------------------------------------------------------------------------

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


def run_export(options: ExportOptions, out: TextIO, err: TextIO) -> int:
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
