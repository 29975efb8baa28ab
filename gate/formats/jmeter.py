"""JMeter's results (JTL): CSV with any columns, with or without a header line, and XML.

A transaction controller is a label of its own (kind=transaction), which contains the samplers below it; redirects and
embedded resources may be labels too. Throughput counts what succeeded, from the label's first start to its last end.
"""

from __future__ import annotations

import csv
from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import compress
from operator import add
from xml.parsers import expat

from gate.formats.parts.output import OutputError, shown
from gate.formats.parts.requests import Requests, Rows, Table, measured, succeeded
from gate.formats.parts.result import Format, Result
from gate.formats.parts.source import Source

FORMAT = Format(title="JMeter (`-l FILE`: JTL as CSV or XML)")
_BESIDE = frozenset({"timeStamp", "label", "responseCode", "success", "threadName", "Latency"})
_DELIMITERS = ",;\t|"
_BEGINS = ("timeStamp", "elapsed", "label", "responseCode")
_DEFAULT = (
    *_BEGINS, "responseMessage", "threadName", "dataType", "success", "failureMessage", "bytes", "sentBytes",
    "grpThreads", "allThreads", "URL", "Latency", "IdleTime", "Connect",
)  # fmt: skip
# the orders of JMeter's defaults over the years, by their width
_ORDERS = {
    17: _DEFAULT,
    16: tuple(name for name in _DEFAULT if name != "URL"),
    15: tuple(name for name in _DEFAULT if name not in ("URL", "sentBytes")),
    12: (*_DEFAULT[:8], "bytes", "grpThreads", "allThreads", "Latency"),
    10: (*_DEFAULT[:8], "bytes", "Latency"),
}
_XML = {"latency": "lt", "connect": "ct", "bytes": "by"}
_ELEMENTS = frozenset({"sample", "httpSample"})
_PART = 256
"""Rows that are read at once; more of them cost more, as they leave the processor's caches."""
_TRANSACTION = "Number of samples in transaction"
"""How the message of a transaction controller begins."""
_NONE_FAILED = "number of failing samples : 0"
_OTHERS = {"Latency": "latency", "Connect": "connect", "bytes": "bytes"}
_SCALES = {"latency": 1e-3, "connect": 1e-3, "bytes": 1.0}
"""What takes a further value of a sample to its base unit."""
_Row = tuple[int, list[str]]
"""The line where it ends, and its cells."""
_Table = Table[tuple[str, bool]]
"""By label, and whether it is a transaction."""


class _Places:
    """Where a row has what; None: nowhere."""

    def __init__(self, names: Sequence[str]) -> None:
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
        self.others = [(names.index(column), _SCALES[name]) for column, name in known.items()]

    def table(self) -> _Table:
        """Make a table for such rows."""
        return Table(self.names, tells=self.success is not None)


def _place(names: Sequence[str], name: str) -> int | None:
    return names.index(name) if name in names else None


def recognises(source: Source) -> bool:
    """Return whether it is XML with <testResults>, or CSV whose header line or first row is JMeter's."""
    lines = source.head.lines
    if not lines:
        return False
    if lines[0].lstrip().startswith("<"):
        return "<testResults" in source.head.text[:4096]
    return _columns(_cells(lines[0])) is not None


def read(source: Source) -> Iterator[Result]:
    """Yield a process for each label, in the order of its first sample."""
    yield from _xml(source) if source.head.text.lstrip().startswith("<") else _csv(source)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([line], delimiter=_delimiter(line)), [])]


def _delimiter(line: str) -> str:
    return max(_DELIMITERS, key=line.count)


def _columns(first: Sequence[str]) -> Sequence[str] | None:
    """Return the names of the columns by the first row: those that it gives, or JMeter's default; None: neither."""
    if "elapsed" in first and _BESIDE.intersection(first):
        return first
    stamped = len(first) >= 8 and first[0].isdecimal() and len(first[0]) >= 12 and first[1].isdecimal()
    if not stamped or first[7] not in ("true", "false"):
        return None
    return _ORDERS.get(len(first), (*_DEFAULT[:8], *("" for _ in first[8:])))


def _csv(source: Source) -> Iterator[Result]:
    head = source.head.first
    names = _columns(_cells(head))
    if names is None:
        raise OutputError("line 1: neither a header line with 'elapsed' nor JMeter's default columns")
    places = _Places(names)
    table, execution = places.table(), 0
    for rows in _parts(csv.reader(source.raw_lines(), delimiter=_delimiter(head)), places):
        if rows:
            # sort rows by their label, and take in their values
            sorted_rows: dict[tuple[str, bool], list[_Row]] = defaultdict(list)
            label, message = places.label, places.message
            for each in rows:
                row = each[1]
                whole = message is not None and row[message].startswith(_TRANSACTION)
                sorted_rows["" if label is None else row[label], whole].append(each)
            for key, own in sorted_rows.items():
                requests = table[key]
                try:
                    _add_part(requests, places, [row for _, row in own], whole=key[1])
                except ValueError:
                    _find(places, own, whole=key[1])
        elif table:
            yield from _results(table, execution)
            table, execution = places.table(), execution + 1
    yield from _results(table, execution)


def _parts(reader: Rows, places: _Places) -> Iterator[list[_Row]]:
    """Yield rows with their lines, many at once; none where the header line stands again."""
    rows: list[_Row] = []
    torn: str | None = None
    width, elapsed = places.width, places.elapsed
    for row in reader:
        if torn is not None:
            raise OutputError(torn)
        if len(row) != width:
            # the last row may be cut off
            torn = f"line {reader.line_num}: {len(row)} cells instead of {width}" if any(map(str.strip, row)) else None
        elif row[elapsed] == "elapsed" or row[elapsed].strip() == "elapsed":
            yield rows
            if rows:
                yield []
            rows = []
        else:
            rows.append((reader.line_num, row))
            if len(rows) >= _PART:
                yield rows
                rows = []
    if rows:
        yield rows


def _results(table: _Table, execution: int) -> Iterator[Result]:
    for (label, whole), requests in table.items():
        yield measured(label, requests, execution=execution, labels={"kind": "transaction"} if whole else {})


class _Samples:
    """What an XML parser calls for each element."""

    def __init__(self) -> None:
        self.table: _Table = Table(tuple(_XML))

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name not in _ELEMENTS:
            return
        try:
            self._add(attributes)
        except ValueError:
            raise OutputError(f"<{name}> {attributes.get('lb', '')!r} has text where a number should be") from None

    def _add(self, attributes: dict[str, str]) -> None:
        bad = succeeded(attributes.get("s") or attributes.get("rc", "")) is False
        if "t" not in attributes and not bad:
            # what is saved of a sample can be chosen, and without a time nothing is left
            return
        requests = self.table[attributes.get("lb", ""), attributes.get("rm", "").startswith(_TRANSACTION)]
        elapsed = float(attributes.get("t", "0")) * 1e-3
        if (stamp := attributes.get("ts", "")).isdecimal():
            start = int(stamp) * 1e-3
            requests.lasted(start, start + elapsed)
        if bad:
            requests.failed += 1
        else:
            requests.times.append(elapsed)
            for name, attribute in _XML.items():
                value = attributes.get(attribute)
                if value:
                    requests.others[name].append(float(value) * _SCALES[name])


def _xml(source: Source) -> Iterator[Result]:
    samples, parser = _Samples(), expat.ParserCreate()
    parser.StartElementHandler = samples.start
    parser.EntityDeclHandler = _refuse_entities
    try:
        # a declared encoding is not that of text; a file that ends before its last element is of a run that was stopped
        for line in source.raw_lines():
            parser.Parse(line, False)  # it takes no keyword
    except expat.ExpatError as error:
        raise OutputError(f"line {error.lineno}: no XML: {expat.ErrorString(error.code)}") from None
    except OutputError as error:
        raise OutputError(f"line {parser.CurrentLineNumber}: {error}") from None
    yield from _results(samples.table, 0)


def _refuse_entities(*_: object) -> None:
    raise OutputError("an entity is declared, which JMeter never writes")


def _add_part(requests: Requests, places: _Places, rows: list[list[str]], *, whole: bool) -> None:
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


def _failed(columns: Sequence[Sequence[str]], places: _Places, *, whole: bool) -> list[bool]:
    if places.success is None:
        return []
    if whole and places.by_code and places.message is not None:
        # the code of a transaction is that of its last sample
        return [not message.endswith(_NONE_FAILED) for message in columns[places.message]]
    cells = columns[places.success]
    known = {cell: succeeded(cell) is False for cell in set(cells)}
    return [known[cell] for cell in cells] if any(known.values()) else []


def _find(places: _Places, rows: Sequence[_Row], *, whole: bool) -> None:
    for line, row in rows:
        try:
            _add_part(Requests(others={name: array("d") for name in places.names}), places, [row], whole=whole)
        except OutputError as error:
            raise OutputError(f"line {line}: {error}") from None
        except ValueError:
            raise OutputError(f"line {line}: {shown(','.join(row).encode())} has text for a number") from None
