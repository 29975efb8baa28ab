"""perfgate history add: a run -> its record in the store."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from gate.cli.groups import RulesOptions
from gate.commands.history import words
from gate.commands.history.options import AddOptions
from gate.commands.history.place import here, opened
from gate.decide.measurements import decide_inputs
from gate.decide.nothing_to_compare import nothing_to_compare
from gate.evidence.inputs import DEFAULT_FOLDER, MEASUREMENTS, REPORT, read_inputs
from gate.history.commits import UNKNOWN, descends, describe
from gate.history.encoding import encode
from gate.history.record import commits_of, record_of
from gate.model import UserError


def run(options: AddOptions, out: TextIO, err: TextIO) -> int:
    """Record a run, decided by its own rules; every record is written once.

    Raises:
        UserError: the run cannot be recorded, or the store not be written.
        ConflictError: other writers were faster, time and again.
    """
    store = opened(options.store, options.push)
    decided = decide_inputs(read_inputs([_measured(run) for run in options.runs or (DEFAULT_FOLDER,)]), RulesOptions())
    if nothing_to_compare(decided.evidence) is not None:
        out.write(words.NOTHING_TO_COMPARE)
        return 0
    commits, git = commits_of(decided), here()
    made = record_of(decided, UNKNOWN if git is None else describe(git, commits.head))
    if made.left_out:
        err.write(words.left_out(made.left_out))
    if git is not None and not descends(git, commits.head, commits.base):
        err.write(words.no_ancestor(commits.head, commits.base))
    if options.dry_run:
        out.write(encode(made.record).decode())
        return 0
    out.write(words.added(store.add(made.record, options.keep), made.record, str(store)))
    return 0


def _measured(run: str) -> str:
    """Return the measurements that stand beside a report, otherwise what was named.

    Raises:
        UserError: a report without its measurements, whose hash a record needs.
    """
    file = Path(run)
    if file.name != REPORT or not file.is_file():
        return run
    beside = file.with_name(MEASUREMENTS)
    if not beside.is_file():
        raise UserError(f"{file}: there is no {MEASUREMENTS} beside it, which a record is made of: give that file")
    return str(beside)
