"""JMeter's results (JTL): CSV with any columns, with or without a header line, and XML."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import IO
from xml.parsers import expat

from gate.adapters.load_tests import succeeded
from gate.adapters.values import OutputError, shown
from gate.results.load.requests import Requests, Table, measured
from gate.results.load.rows import first_line
from gate.results.result import Format, Result
from gate.results.source import Source

FORMAT = Format(
    title="JMeter (`-l FILE`: JTL as CSV or XML)",
    execution="the file, and each part of a CSV that begins with a header line again",
    iteration="one sample of the label",
    trap=(
        "times are whole milliseconds; a transaction controller is a label of its own (kind=transaction) that contains "
        "the samplers below it, and redirects and embedded resources may be labels too; throughput counts what "
        "succeeded, from the label's first start to its last end; threads are no executions, and runs that were "
        "appended to a file without a header line are one"
    ),
)
_BESIDE = frozenset({"timeStamp", "label", "responseCode", "success", "threadName", "Latency"})
_DELIMITERS = ",;\t|"
_BEGINS = ("timeStamp", "elapsed", "label", "responseCode")
_OTHERS = {"Latency": "latency", "Connect": "connect", "bytes": "bytes"}
_SCALES = {"latency": 1e-3, "connect": 1e-3, "bytes": 1.0}
_TRANSACTION = "Number of samples in transaction"
_NONE_FAILED = "number of failing samples : 0"
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
_CHUNK = 1 << 16


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
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=_delimiter(line)), [])]
    except csv.Error:
        return []


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

    def table(self) -> Table[tuple[str, bool]]:
        return Table(self.names, tells=self.success is not None)


def _place(names: Sequence[str], name: str) -> int | None:
    return names.index(name) if name in names else None


def _csv(source: Source) -> Iterator[Result]:
    head = first_line(source)
    names = _columns(_cells(head))
    if names is None:
        raise OutputError("line 1: neither a header line with 'elapsed' nor JMeter's default columns")
    places = _Places(names)
    table, execution = places.table(), 0
    torn: str | None = None
    with closing(source.text_file()) as text:
        reader = csv.reader(text, delimiter=_delimiter(head))
        try:
            for row in reader:
                if torn is not None:
                    raise OutputError(torn)
                if len(row) != places.width:
                    # the last row may be cut off
                    torn = _torn(row, places.width, reader.line_num)
                elif row[places.elapsed].strip() == "elapsed":
                    if table:
                        yield from _results(table, execution)
                        table, execution = places.table(), execution + 1
                else:
                    _add(table, places, row, reader.line_num)
        except csv.Error as error:
            raise OutputError(f"line {reader.line_num}: {error}") from None
    yield from _results(table, execution)


def _torn(row: Sequence[str], width: int, line: int) -> str | None:
    return f"line {line}: {len(row)} cells instead of {width}" if any(cell.strip() for cell in row) else None


def _add(table: Table[tuple[str, bool]], places: _Places, row: Sequence[str], line: int) -> None:
    label = "" if places.label is None else row[places.label]
    whole = places.message is not None and row[places.message].startswith(_TRANSACTION)
    requests = table[label, whole]
    try:
        elapsed = float(row[places.elapsed]) * 1e-3
        if places.stamp is not None and (stamp := row[places.stamp]).isdecimal():
            start = int(stamp) * 1e-3
            # most are neither the first nor the last
            if requests.start is None or start < requests.start or start + elapsed > (requests.end or 0.0):
                requests.lasted(start, start + elapsed)
        if places.success is not None and _has_failed(row[places.success], row, places, whole=whole):
            requests.failed += 1
            return
        others = [float(row[at] or 0) * scale for at, scale in places.others]
    except OutputError as error:
        raise OutputError(f"line {line}: {error}") from None
    except ValueError:
        raise OutputError(f"line {line}: {shown(','.join(row).encode())} has text where a number should be") from None
    requests.times.append(elapsed)
    for found, value in zip(requests.others.values(), others, strict=True):
        found.append(value)


def _has_failed(cell: str, row: Sequence[str], places: _Places, *, whole: bool) -> bool:
    if whole and places.by_code and places.message is not None:
        # the code of a transaction is that of its last sample
        return not row[places.message].endswith(_NONE_FAILED)
    return succeeded(cell) is False


def _results(table: Table[tuple[str, bool]], execution: int) -> Iterator[Result]:
    for (label, whole), requests in table.items():
        yield measured(label, requests, execution=execution, labels={"kind": "transaction"} if whole else {})


class _Samples:
    """What an XML parser calls for each element."""

    def __init__(self) -> None:
        self.table: Table[tuple[str, bool]] = Table(tuple(_XML))

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name not in _ELEMENTS:
            return
        try:
            self._add(attributes)
        except ValueError:
            raise OutputError(f"<{name}> {attributes.get('lb', '')!r} has text where a number should be") from None

    def _add(self, attributes: dict[str, str]) -> None:
        bad = _is_bad(attributes)
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
            _others(requests, attributes)


def _is_bad(attributes: dict[str, str]) -> bool:
    return succeeded(attributes.get("s") or attributes.get("rc", "")) is False


def _others(requests: Requests, attributes: dict[str, str]) -> None:
    for name, attribute in _XML.items():
        value = attributes.get(attribute)
        if value:
            requests.others[name].append(float(value) * _SCALES[name])


def _xml(source: Source) -> Iterator[Result]:
    samples, parser = _Samples(), expat.ParserCreate()
    parser.StartElementHandler = samples.start
    parser.EntityDeclHandler = _refuse_entities
    with closing(source.text_file()) as text:
        try:
            _feed(parser, text)
        except expat.ExpatError as error:
            raise OutputError(f"line {error.lineno}: no XML: {expat.ErrorString(error.code)}") from None
        except OutputError as error:
            raise OutputError(f"line {parser.CurrentLineNumber}: {error}") from None
    yield from _results(samples.table, 0)


def _feed(parser: expat.XMLParserType, text: IO[str]) -> None:
    """Parse it all; a file that ends before its last element does is one of a run that was stopped."""
    # a declared encoding is not that of text
    while chunk := text.read(_CHUNK):
        parser.Parse(chunk, False)  # it takes no keyword


def _refuse_entities(*_: object) -> None:
    raise OutputError("an entity is declared, which JMeter never writes")
