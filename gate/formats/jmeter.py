"""JMeter's results (JTL): CSV with any columns below a header line.

A transaction controller is a label of its own (kind=transaction), which contains the samplers below it; redirects and
embedded resources may be labels too. Throughput counts what succeeded, from the label's first start to its last end.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator

from gate.formats.parts.output import OutputError, shown
from gate.formats.parts.requests import Table, measured, succeeded
from gate.formats.parts.result import Format, Result
from gate.formats.parts.source import Source

FORMAT = Format(title="JMeter (`-l FILE`: JTL as CSV)")
_BESIDE = frozenset({"timeStamp", "label", "responseCode", "success", "threadName", "Latency"})
_OTHERS = {"Latency": ("latency", 1e-3), "Connect": ("connect", 1e-3), "bytes": ("bytes", 1.0)}
"""Further values of a sample: what they are called here, and what takes them to their base unit."""
_TRANSACTION = "Number of samples in transaction"
"""How the message of a transaction controller begins."""
_NONE_FAILED = "number of failing samples : 0"
_Table = Table[tuple[str, bool]]
"""By label, and whether it is a transaction."""


def recognises(source: Source) -> bool:
    """Return whether its header line is JMeter's."""
    return is_header(_header(source.head.first)[0])


def read(source: Source) -> Iterator[Result]:
    """Yield a process for each label, in the order of its first sample; another header line begins further ones."""
    names, delimiter = _header(source.head.first)
    if not is_header(names):
        raise OutputError("line 1: no header line with 'elapsed': set jmeter.save.saveservice.print_field_names=true")
    others = tuple(own for column, (own, _) in _OTHERS.items() if column in names)
    reader = csv.reader(source.raw_lines(), delimiter=delimiter)
    tells = "success" in names or "responseCode" in names
    processes = [_Table(others, tells=tells)]
    for row in reader:
        if not any(map(str.strip, row)):
            continue
        if len(row) != len(names):
            raise OutputError(f"line {reader.line_num}: {len(row)} cells instead of {len(names)}")
        sample = dict(zip(names, row, strict=True))
        if sample["elapsed"].strip() == "elapsed":
            if processes[-1]:
                processes.append(_Table(others, tells=tells))
            continue
        try:
            _add(processes[-1], sample)
        except ValueError as error:
            why = error if isinstance(error, OutputError) else f"{shown(','.join(row).encode())} has text for a number"
            raise OutputError(f"line {reader.line_num}: {why}") from None
    for execution, table in enumerate(processes):
        for (label, whole), requests in table.items():
            yield measured(label, requests, execution=execution, labels={"kind": "transaction"} if whole else {})


def _header(line: str) -> tuple[list[str], str]:
    """Return the names of the columns, and what stands between them."""
    delimiter = max(",;\t|", key=line.count)
    return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [])], delimiter


def is_header(names: list[str]) -> bool:
    """Return whether a table with these columns is JMeter's."""
    return "elapsed" in names and not _BESIDE.isdisjoint(names)


def _add(table: _Table, sample: dict[str, str]) -> None:
    """Take in a sample by its columns.

    Raises:
        ValueError: a number is none.
        OutputError: it says something else than whether it succeeded.
    """
    message = sample.get("responseMessage", "")
    whole = message.startswith(_TRANSACTION)
    if whole and "success" not in sample and "responseCode" in sample:
        # the code of a transaction is that of its last sample
        bad = not message.endswith(_NONE_FAILED)
    else:
        bad = succeeded(sample.get("success") or sample.get("responseCode", "")) is False
    elapsed = float(sample["elapsed"]) * 1e-3
    requests = table[sample.get("label", ""), whole]
    if (stamp := sample.get("timeStamp", "")).isdecimal():
        start = int(stamp) * 1e-3
        requests.lasted(start, start + elapsed)
    if bad:
        requests.failed += 1
        return
    requests.times.append(elapsed)
    for column, (name, scale) in _OTHERS.items():
        if value := sample.get(column):
            requests.others[name].append(float(value) * scale)
