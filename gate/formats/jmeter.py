"""JMeter's results (JTL): CSV with any columns below a header line, and XML.

A transaction controller is a label of its own (kind=transaction), which contains the samplers below it; redirects and
embedded resources may be labels too. Throughput counts what succeeded, from the label's first start to its last end.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from operator import itemgetter
from xml.parsers import expat

from gate.formats.parts.output import OutputError, shown
from gate.formats.parts.requests import Table, measured, succeeded
from gate.formats.parts.result import Format, Result
from gate.formats.parts.source import Source

FORMAT = Format(title="JMeter (`-l FILE`: JTL as CSV or XML)")
_BESIDE = frozenset({"timeStamp", "label", "responseCode", "success", "threadName", "Latency"})
_ATTRIBUTES = {
    "timeStamp": "ts", "elapsed": "t", "label": "lb", "responseCode": "rc", "responseMessage": "rm", "success": "s",
    "Latency": "lt", "Connect": "ct", "bytes": "by",
}  # fmt: skip
"""The columns that are read, and what XML calls them."""
_OTHERS = {"lt": ("latency", 1e-3), "ct": ("connect", 1e-3), "by": ("bytes", 1.0)}
"""Further values of a sample: what they are called here, and what takes them to their base unit."""
_TRANSACTION = "Number of samples in transaction"
"""How the message of a transaction controller begins."""
_NONE_FAILED = "number of failing samples : 0"
_Table = Table[tuple[str, bool]]
"""By label, and whether it is a transaction."""


def recognises(source: Source) -> bool:
    """Return whether it is XML with <testResults>, or CSV whose header line is JMeter's."""
    first = source.head.first
    if first.lstrip().startswith("<"):
        return "<testResults" in source.head.text[:4096]
    return _is_header(_header(first)[0])


def read(source: Source) -> Iterator[Result]:
    """Yield a process for each label, in the order of its first sample."""
    yield from _xml(source) if source.head.text.lstrip().startswith("<") else _csv(source)


def _header(line: str) -> tuple[list[str], str]:
    """Return the names of the columns, and what stands between them."""
    delimiter = max(",;\t|", key=line.count)
    return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [])], delimiter


def _is_header(names: list[str]) -> bool:
    return "elapsed" in names and not _BESIDE.isdisjoint(names)


def _csv(source: Source) -> Iterator[Result]:
    names, delimiter = _header(source.head.first)
    if not _is_header(names):
        raise OutputError("line 1: no header line with 'elapsed': set jmeter.save.saveservice.print_field_names=true")
    places = [(_ATTRIBUTES[name], names.index(name)) for name in _ATTRIBUTES if name in names]
    known = dict(places)
    attributes, cells = list(known), itemgetter(*known.values(), known["t"])  # two at least, or it gives no tuple
    others = tuple(own for attribute, (own, _) in _OTHERS.items() if attribute in known)
    reader = csv.reader(source.raw_lines(), delimiter=delimiter)

    table, execution = _Table(others, tells=not known.keys().isdisjoint(("s", "rc"))), 0
    for row in reader:
        if len(row) != len(names):
            if any(map(str.strip, row)):
                raise OutputError(f"line {reader.line_num}: {len(row)} cells instead of {len(names)}")
            continue
        sample = dict(zip(attributes, cells(row), strict=False))
        if sample["t"].strip() == "elapsed":
            if table:
                yield from _results(table, execution)
                table.clear()
                execution += 1
            continue
        try:
            _add(table, sample)
        except OutputError as error:
            raise OutputError(f"line {reader.line_num}: {error}") from None
        except ValueError:
            why = f"{shown(','.join(row).encode())} has text for a number"
            raise OutputError(f"line {reader.line_num}: {why}") from None
    yield from _results(table, execution)


def _results(table: _Table, execution: int) -> Iterator[Result]:
    for (label, whole), requests in table.items():
        yield measured(label, requests, execution=execution, labels={"kind": "transaction"} if whole else {})


def _add(table: _Table, sample: dict[str, str]) -> None:
    """Take in a sample by its attributes, as XML names them.

    Raises:
        ValueError: a number is none.
        OutputError: it says something else than whether it succeeded.
    """
    message = sample.get("rm", "")
    whole = message.startswith(_TRANSACTION)
    if whole and "s" not in sample and "rc" in sample:
        # the code of a transaction is that of its last sample
        bad = not message.endswith(_NONE_FAILED)
    else:
        bad = succeeded(sample.get("s") or sample.get("rc", "")) is False
    if "t" not in sample and not bad:
        # what is saved of a sample can be chosen, and without a time nothing is left
        return
    elapsed = float(sample.get("t", "0")) * 1e-3
    requests = table[sample.get("lb", ""), whole]
    if (stamp := sample.get("ts", "")).isdecimal():
        start = int(stamp) * 1e-3
        requests.lasted(start, start + elapsed)
    if bad:
        requests.failed += 1
        return
    requests.times.append(elapsed)
    for attribute, (name, scale) in _OTHERS.items():
        if value := sample.get(attribute):
            requests.others[name].append(float(value) * scale)


def _xml(source: Source) -> Iterator[Result]:
    table, parser = _Table(tuple(name for name, _ in _OTHERS.values())), expat.ParserCreate()

    def start(name: str, attributes: dict[str, str]) -> None:
        if name in ("sample", "httpSample"):
            try:
                _add(table, attributes)
            except OutputError:
                raise
            except ValueError:
                raise OutputError(f"<{name}> {attributes.get('lb', '')!r} has text where a number should be") from None

    def refuse_entities(*_: object) -> None:
        raise OutputError("an entity is declared, which JMeter never writes")

    parser.StartElementHandler = start
    parser.EntityDeclHandler = refuse_entities
    try:
        # a declared encoding is not that of text; a file that ends before its last element is of a run that was stopped
        for line in source.raw_lines():
            parser.Parse(line, False)  # it takes no keyword
    except expat.ExpatError as error:
        raise OutputError(f"line {error.lineno}: no XML: {expat.ErrorString(error.code)}") from None
    except OutputError as error:
        raise OutputError(f"line {parser.CurrentLineNumber}: {error}") from None
    yield from _results(table, 0)
