"""The rows of JMeter's CSV -> requests by label, many rows at once: a file may have millions."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import compress
from operator import add
from typing import Protocol

from gate.formats.parts.load_tests import succeeded
from gate.formats.parts.output import OutputError, shown
from gate.formats.parts.requests import Requests, Table

TRANSACTION = "Number of samples in transaction"
"""How the message of a transaction controller begins."""
_NONE_FAILED = "number of failing samples : 0"
_OTHERS = {"Latency": "latency", "Connect": "connect", "bytes": "bytes"}
SCALES = {"latency": 1e-3, "connect": 1e-3, "bytes": 1.0}
"""What takes a further value of a sample to its base unit."""
Row = tuple[int, list[str]]
"""The line where it ends, and its cells."""
Samples = Table[tuple[str, bool]]
"""By label, and whether it is a transaction."""


class Reader(Iterator[list[str]], Protocol):
    """A reader of the csv module."""

    @property
    def line_num(self) -> int:
        """The line that was read last."""
        ...


class Places:
    """Where a row has what; None: nowhere."""

    def __init__(self, names: Sequence[str]) -> None:
        """Find the columns by their names, of which "elapsed" is one."""
        self.width = len(names)
        self.elapsed = names.index("elapsed")
        self.label = _place(names, "label")
        self.stamp = _place(names, "timeStamp")
        self.message = _place(names, "responseMessage")
        success = _place(names, "success")
        self.by_code = success is None
        self.success = _place(names, "responseCode") if success is None else success
        known = {column: name for column, name in _OTHERS.items() if column in names}
        self.names = tuple(known.values())
        self.others = [(names.index(column), SCALES[name]) for column, name in known.items()]

    def table(self) -> Samples:
        """Make a table for such rows."""
        return Table(self.names, tells=self.success is not None)


def _place(names: Sequence[str], name: str) -> int | None:
    return names.index(name) if name in names else None


def add_rows(table: Samples, places: Places, rows: Sequence[Row]) -> None:
    """Sort rows by their label, and take in their values.

    Raises:
        OutputError: a row that cannot be read, by its line.
    """
    sorted_rows: dict[tuple[str, bool], list[Row]] = defaultdict(list)
    label, message = places.label, places.message
    for each in rows:
        row = each[1]
        whole = message is not None and row[message].startswith(TRANSACTION)
        sorted_rows["" if label is None else row[label], whole].append(each)
    for key, own in sorted_rows.items():
        requests = table[key]
        try:
            _add(requests, places, [row for _, row in own], whole=key[1])
        except ValueError:
            _find(places, own, whole=key[1])


def _add(requests: Requests, places: Places, rows: list[list[str]], *, whole: bool) -> None:
    columns = list(zip(*rows, strict=True))
    elapsed = array("d", (float(cell) * 1e-3 for cell in columns[places.elapsed]))
    bad = _failed(columns, places, whole=whole)
    good = [not each for each in bad] if any(bad) else None
    others = [
        array(
            "d", (float(cell or 0) * scale for cell in (columns[at] if good is None else compress(columns[at], good)))
        )
        for at, scale in places.others
    ]
    if places.stamp is not None and all(map(str.isdecimal, columns[places.stamp])):
        starts = [float(stamp) * 1e-3 for stamp in columns[places.stamp]]
        requests.lasted(min(starts), max(map(add, starts, elapsed)))
    requests.failed += sum(bad)
    requests.times.extend(elapsed if good is None else compress(elapsed, good))
    for found, values in zip(requests.others.values(), others, strict=True):
        found.extend(values)


def _failed(columns: Sequence[Sequence[str]], places: Places, *, whole: bool) -> list[bool]:
    if places.success is None:
        return []
    if whole and places.by_code and places.message is not None:
        # the code of a transaction is that of its last sample
        return [not message.endswith(_NONE_FAILED) for message in columns[places.message]]
    cells = columns[places.success]
    known = {cell: succeeded(cell) is False for cell in set(cells)}
    return [known[cell] for cell in cells] if any(known.values()) else []


def _find(places: Places, rows: Sequence[Row], *, whole: bool) -> None:
    """Name the first of some rows that cannot be read."""
    for line, row in rows:
        try:
            _add(Requests(others={name: array("d") for name in places.names}), places, [row], whole=whole)
        except OutputError as error:
            raise OutputError(f"line {line}: {error}") from None
        except ValueError:
            raise OutputError(f"line {line}: {shown(','.join(row).encode())} has text for a number") from None
