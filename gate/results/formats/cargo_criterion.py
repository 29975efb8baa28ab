"""The messages of cargo-criterion, one JSON object a line, and the folder where it keeps its measurements."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from gate.adapters.values import OutputError
from gate.model import Metric
from gate.model.visible import visible
from gate.results.formats import criterion
from gate.results.parts.cbor import decode
from gate.results.parts.criterion_estimates import NANOSECOND, amount, throughput
from gate.results.result import Failed, Format, Measured, Result
from gate.results.source import Source
from gate.units import to_base
from gate.walking import walk

FORMAT = Format(
    title="cargo-criterion (`--message-format=json`, the folder `target/criterion` with its `data`)",
    execution="the file",
    iteration="one sample: a batch of the benchmark's iterations, divided by their number",
    trap=(
        "each bench target was a process of its own, but no benchmark was started twice; of a folder only the last "
        "measurement of each benchmark is read, and nothing where `cargo bench` has also written into it"
    ),
)
_COMPLETE = b'"benchmark-complete"'
_RECORD = "benchmark.cbor"
_FOLDERS = ("data", "criterion/data", "target/criterion/data")
_AMOUNTS = {"bytes": "Bytes", "elements": "Elements", "bits": "Bits"}


class _Throughput(msgspec.Struct):
    per_iteration: float
    unit: str


class _Id(msgspec.Struct):
    group_id: str
    function_id: str | None = None
    value_str: str | None = None
    throughput: Any = None


class _Record(msgspec.Struct):
    id: _Id
    latest_record: str


class _Kept(msgspec.Struct):
    avg_values: list[float]
    """The time of an iteration in each sample, in nanoseconds."""


class _Message(msgspec.Struct):
    reason: str
    id: str
    iteration_count: list[float]
    measured_values: list[float]
    unit: str
    throughput: list[_Throughput] = []


def recognises(source: Source) -> bool:
    """Return whether one of its first lines is a message about a benchmark, or a folder holds its measurements."""
    if source.is_folder and source.path is not None:
        return next(_records(source.path), None) is not None and not criterion.recognises(source)
    return any(
        line.lstrip().startswith("{") and _COMPLETE.decode() in line and '"measured_values"' in line
        for line in source.head.lines[:200]
    )


def read(source: Source) -> Iterator[Result]:
    """Yield the samples of each benchmark; lines of cargo and other messages are passed over."""
    if source.is_folder and source.path is not None:
        for folder in _records(source.path):
            yield from _kept(folder)
        return
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


def _records(root: Path) -> Iterator[Path]:
    """Find the folders of benchmarks, sorted."""
    root = next((root / name for name in _FOLDERS if (root / name).is_dir()), root)
    for count, (folder, inner, files) in enumerate(walk(root)):
        if count > criterion.MOST:
            return
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        if _RECORD in files:
            yield Path(folder)


def _kept(folder: Path) -> Iterator[Result]:
    name = visible(folder.name)
    try:
        record = msgspec.convert(decode((folder / _RECORD).read_bytes(), _RECORD), _Record)
        parts = (record.id.group_id, record.id.function_id, record.id.value_str)
        name = visible("/".join(part for part in parts if part))
        # it is a name of this folder, wherever else it may point
        last = folder / Path(record.latest_record).name
        values = msgspec.convert(decode(last.read_bytes(), last.name), _Kept).avg_values
    except (OSError, OutputError, msgspec.ValidationError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        yield Failed(benchmark=name, status=visible(why or "it cannot be read").replace("`", ""))
        return
    seconds = [value * NANOSECOND for value in values]
    yield Measured(benchmark=name, metrics={"time": Metric(unit="s", values=seconds)})
    if seconds:
        yield from throughput(name, amount(record.id.throughput), sum(seconds) / len(seconds), {})
