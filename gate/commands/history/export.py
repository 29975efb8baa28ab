"""perfgate history export: the records as a table in CSV or Parquet."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TextIO

from gate.codes import Exit, MisuseError
from gate.commands.history.options import ExportOptions
from gate.commands.history.place import opened
from gate.commands.history.table import COLUMNS, Kind, csv_lines
from gate.model import UserError
from gate.model.history import HistoryRecord
from gate.model.visible import visible
from gate.units import plural

_TYPES: dict[Kind, str] = {
    "text": "VARCHAR", "time": "TIMESTAMPTZ", "number": "DOUBLE", "count": "BIGINT", "flag": "BOOLEAN",
}  # fmt: skip


def run(options: ExportOptions, out: TextIO, err: TextIO) -> int:
    """Write the table; 2 where some records cannot be read, which are named and left out.

    Raises:
        MisuseError: no file is named.
        UserError: there is no such store, or a file cannot be written.
    """
    if options.csv is None and options.parquet is None:
        raise MisuseError("name a file: --csv FILE (-: print it) or --parquet FILE")
    if options.parquet == "-":
        raise MisuseError("--parquet: a terminal or pipe takes no Parquet: name a file")
    reading = opened(options.store).read()
    if options.csv == "-":
        out.writelines(csv_lines(reading.records))
    elif options.csv is not None:
        _written(Path(options.csv), lambda place: _write_csv(place, reading.records))
    if options.parquet is not None:
        _written(Path(options.parquet), lambda place: _write_parquet(place, reading.records))
    rows = sum(len(record.changes) for record in reading.records)
    err.writelines(f"perfgate: {visible(problem)}\n" for problem in reading.problems)
    err.write(f"perfgate: {plural(rows, 'row')} of {plural(len(reading.records), 'record')}\n")
    return Exit.USAGE if reading.problems else Exit.PASS


def _written(target: Path, write: Callable[[Path], None]) -> None:
    """Write a file that appears whole or not at all."""
    if target.is_dir():
        raise UserError(f"{target}: is a folder, not a file")
    try:
        with tempfile.TemporaryDirectory(prefix=".perfgate-", dir=target.parent) as folder:
            place = Path(folder) / "table"
            write(place)
            os.replace(place, target)  # noqa: PTH105  # over a file that is there
    except OSError as error:
        raise UserError(f"{target}: cannot be written: {error.strerror}") from None


def _write_csv(place: Path, records: Iterable[HistoryRecord]) -> None:
    with place.open("w", encoding="utf-8", newline="") as file:
        file.writelines(csv_lines(records))


def _write_parquet(place: Path, records: Iterable[HistoryRecord]) -> None:
    # it takes its time to load, and the action's environment has it not
    import duckdb

    table = place.with_name("table.csv")
    _write_csv(table, records)
    types = {column.name: _TYPES[column.kind] for column in COLUMNS}
    try:
        # it downloads nothing, and leaves the other processors to who measures
        with duckdb.connect(config={"threads": 1, "autoinstall_known_extensions": False}) as connection:
            read = connection.read_csv(
                str(table), header=True, auto_detect=False, columns=types, delimiter=",", quotechar='"',
                escapechar='"', na_values="", parallel=False,
            )  # fmt: skip
            read.write_parquet(str(place), compression="zstd")
    except duckdb.Error as error:
        raise UserError(f"--parquet: {str(error).partition(chr(10))[0]}") from None
