"""perfgate history: lists what the store holds."""

from __future__ import annotations

from typing import TextIO

from gate.codes import Exit
from gate.commands.history import words
from gate.commands.history.options import ListOptions
from gate.commands.history.place import opened
from gate.writing.plain import visible


def run(options: ListOptions, out: TextIO, err: TextIO) -> int:
    """List the newest records; 2 where some cannot be read, which are named.

    Raises:
        UserError: there is no such store.
    """
    store = opened(options.store)
    reading = store.read()
    out.write(words.listed(reading, str(store), options.limit))
    err.writelines(f"perfgate: {visible(problem)}\n" for problem in reading.problems)
    return Exit.USAGE if reading.problems else Exit.PASS
