"""perfgate history export: the records as a table in CSV."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from gate.codes import Exit, MisuseError
from gate.commands.history.options import ExportOptions
from gate.commands.history.place import opened
from gate.commands.history.table import csv_lines
from gate.model import UserError
from gate.model.history import HistoryRecord
from gate.units import plural
from gate.writing.plain import visible


def run(options: ExportOptions, out: TextIO, err: TextIO) -> int:
    """Write the table; 2 where some records cannot be read, which are named and left out.

    Raises:
        MisuseError: no file is named.
        UserError: there is no such store, or a file cannot be written.
    """
    if options.csv is None:
        raise MisuseError("name a file: --csv FILE (-: print it)")
    reading = opened(options.store).read()
    if options.csv == "-":
        out.writelines(csv_lines(reading.records))
    else:
        _write(Path(options.csv), reading.records)
    rows = sum(len(record.changes) for record in reading.records)
    err.writelines(f"perfgate: {visible(problem)}\n" for problem in reading.problems)
    err.write(f"perfgate: {plural(rows, 'row')} of {plural(len(reading.records), 'record')}\n")
    return Exit.USAGE if reading.problems else Exit.PASS


def _write(target: Path, records: Iterable[HistoryRecord]) -> None:
    """Write a file that appears whole or not at all."""
    if target.is_dir():
        raise UserError(f"{target}: is a folder, not a file")
    try:
        with tempfile.TemporaryDirectory(prefix=".perfgate-", dir=target.parent) as folder:
            place = Path(folder) / "table"
            with place.open("w", encoding="utf-8", newline="") as file:
                file.writelines(csv_lines(records))
            os.replace(place, target)  # noqa: PTH105  # over a file that is there
    except OSError as error:
        raise UserError(f"{target}: cannot be written: {error.strerror}") from None
