"""A CSV file with a row for each request: hey's, oha's and ghz's."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Protocol

from gate.adapters.load_tests import succeeded
from gate.adapters.values import OutputError, shown
from gate.results.parts.requests import UNNAMED, Requests, Table, measured
from gate.results.result import Result
from gate.results.source import Source


class _Reader(Iterator[list[str]], Protocol):
    @property
    def line_num(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Rows:
    """The columns of such a file."""

    time: str
    success: str
    """A status: of HTTP, or one of `good`; a file may be without."""
    scale: float
    """Takes a time to seconds."""
    others: Mapping[str, str] = field(default_factory=dict)
    """Further metrics and their columns, in the unit of the time; "bytes" in bytes."""
    start: str = ""
    """When the request began, in the unit of the time; "": not told."""
    good: frozenset[str] = frozenset()
    loose: bool = False
    """Whether the last column is text with delimiters in it that the tool does not quote."""


def read_rows(source: Source, rows: Rows) -> Iterator[Result]:
    """Yield the process of a file.

    Raises:
        OutputError: a row that cannot be read, by its line; the last one may be cut off.
    """
    with closing(source.text_file()) as text:
        reader = csv.reader(text)
        try:
            requests = _requests(reader, rows)
        except csv.Error as error:
            raise OutputError(f"line {reader.line_num}: {error}") from None
    if requests.times or requests.failed:
        yield measured(UNNAMED, requests)


def first_line(source: Source) -> str:
    """Return the first line of a file that is not blank; "" where there is none."""
    return next(iter(source.head.lines), "")


def header(reader: Iterable[list[str]]) -> list[str]:
    """Return the names of the columns, which some tools write behind a blank line."""
    return next(([name.strip() for name in row] for row in reader if row), [])


def _requests(reader: _Reader, rows: Rows) -> Requests:
    names = header(reader)
    if rows.time not in names:
        raise OutputError(f"line 1: no column {rows.time!r}")
    time, success = names.index(rows.time), names.index(rows.success) if rows.success in names else None
    others = {name: names.index(column) for name, column in rows.others.items() if column in names}
    start = names.index(rows.start) if rows.start in names else None
    requests = Table[str](tuple(others), tells=success is not None)[""]
    torn: str | None = None
    for row in reader:
        if torn is not None:
            raise OutputError(torn)
        if len(row) != len(names) and not (rows.loose and len(row) > len(names)):
            torn = f"line {reader.line_num}: {len(row)} cells instead of {len(names)}" if row else None
            continue
        try:
            took = float(row[time]) * rows.scale
            if start is not None:
                began = float(row[start]) * rows.scale
                requests.lasted(began, began + took)
            if success is not None and not _succeeded(row[success], rows):
                requests.failed += 1
                continue
            found = [(name, float(row[at]) * (1.0 if name == "bytes" else rows.scale)) for name, at in others.items()]
        except OutputError as error:
            raise OutputError(f"line {reader.line_num}: {error}") from None
        except ValueError:
            raise OutputError(f"line {reader.line_num}: {shown(','.join(row).encode())} is no row of times") from None
        requests.times.append(took)
        for name, value in found:
            requests.others[name].append(value)
    return requests


def _succeeded(cell: str, rows: Rows) -> bool:
    return cell.strip() in rows.good if rows.good else succeeded(cell) is True
