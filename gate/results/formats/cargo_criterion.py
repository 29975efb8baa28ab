"""The messages of cargo-criterion, one JSON object a line."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from gate.adapters.values import OutputError
from gate.model import Metric
from gate.model.visible import visible
from gate.results.criterion_estimates import amount, throughput
from gate.results.result import Failed, Format, Measured, Result
from gate.results.source import Source
from gate.units import to_base

FORMAT = Format(
    title="cargo-criterion (`--message-format=json`)",
    execution="the file",
    iteration="one sample: a batch of the benchmark's iterations, divided by their number",
    trap="each bench target was a process of its own, but no benchmark was started twice",
)
_COMPLETE = b'"benchmark-complete"'
_AMOUNTS = {"bytes": "Bytes", "elements": "Elements", "bits": "Bits"}


class _Throughput(msgspec.Struct):
    per_iteration: float
    unit: str


class _Message(msgspec.Struct):
    reason: str
    id: str
    iteration_count: list[float]
    measured_values: list[float]
    unit: str
    throughput: list[_Throughput] = []


def recognises(source: Source) -> bool:
    """Return whether one of its first lines is a message about a benchmark."""
    return any(
        line.lstrip().startswith("{") and _COMPLETE.decode() in line and '"measured_values"' in line
        for line in source.head.lines[:200]
    )


def read(source: Source) -> Iterator[Result]:
    """Yield the samples of each benchmark; lines of cargo and other messages are passed over."""
    decoder = msgspec.json.Decoder(_Message)
    for place, line in enumerate(source.bytes_lines(), 1):
        if _COMPLETE not in line or not line.lstrip().startswith(b"{"):
            continue
        try:
            message = decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise OutputError(f"line {place}: {str(error).replace('`', '')}") from None
        if message.reason == "benchmark-complete":
            yield from _measured(message)


def _measured(message: _Message) -> Iterator[Result]:
    name = visible(message.id)
    counts, values = message.iteration_count, message.measured_values
    if len(counts) != len(values) or not all(count > 0 for count in counts):
        yield Failed(benchmark=name, status="its values have not one number of iterations each")
        return
    unit, scale = to_base(message.unit)
    each = [value * scale / count for value, count in zip(values, counts, strict=True)]
    metrics = {"time" if unit == "s" else visible(unit) or "value": Metric(unit=visible(unit), values=each)}
    worked = amount({_AMOUNTS.get(t.unit, t.unit): t.per_iteration for t in message.throughput})
    yield Measured(benchmark=name, metrics=metrics)
    if unit == "s" and each:
        yield from throughput(name, worked, sum(each) / len(each), {})
