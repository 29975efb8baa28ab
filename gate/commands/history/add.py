"""perfgate history add and list: put a run into the history, and show what it holds."""

from __future__ import annotations

from typing import TextIO

from gate.cli.groups import RulesOptions
from gate.codes import Exit
from gate.commands.history.command import AddOptions, ListOptions
from gate.decide.reasons import nothing_to_compare
from gate.evidence.inputs import DEFAULT_FOLDER, read_inputs
from gate.model.history import UNTESTED, HistoryRecord
from gate.planning.deciding import decide_inputs
from gate.run.memory import here, opened
from gate.store.history_records import Added, Reading, encode, proof_of
from gate.store.recording import commits_of, descends, describe, record_of
from gate.units import agree, plural
from gate.writing.plain import visible

NOTHING_TO_COMPARE = "Nothing to record: base has no benchmarks to compare with; the next commit will.\n"
_SHORT = 10
_LISTED = 3


def added(done: Added, record: HistoryRecord, store: str) -> str:
    """Say what became of a record."""
    commit, kept = record.commit[:_SHORT], plural(done.kept, "record")
    if done.known:
        first = f"{commit} is recorded already, of the same measurements: {store} holds {kept}"
    else:
        against = "against itself, as a control" if record.control else f"against {record.parent[:_SHORT]}"
        first = f"Recorded {commit} {against}: {plural(len(record.decided), 'case')}; {store} holds {kept}"
    return f"{first}\n" + (f"Pushed to {done.pushed}\n" if done.pushed else "")


def listed(reading: Reading, store: str, limit: int) -> str:
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
        more = f" and {len(without) - _LISTED} more" if len(without) > _LISTED else ""
        named = visible(", ".join(without[:_LISTED]))
        err.write(f"perfgate: not recorded, without a ratio (values of 0 or below, or other sessions): {named}{more}\n")
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

    Raises:
        UserError: there is no such store.
    """
    store = opened(options.history)
    reading = store.read()
    out.write(listed(reading, str(store), options.limit))
    err.writelines(f"perfgate: {visible(problem)}\n" for problem in reading.problems)
    return Exit.USAGE if reading.problems else Exit.PASS
