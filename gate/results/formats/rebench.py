"""ReBench's data files: tab-separated rows, with a header since 1.0, and the JSON lines of 1.3 and later.

Format: rebench/persistence.py and rebench/model/measurement.py of ReBench 0.10.1, 1.2.0 and 1.4.0.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from gate.adapters.suites import why_unusable
from gate.adapters.values import OutputError, Series, shown
from gate.model import Better, Metric
from gate.model.visible import visible
from gate.results.result import About, Failed, Format, Measured, Result
from gate.results.source import Source
from gate.units import meant, to_base

FORMAT = Format(
    title="ReBench (`.data` files)",
    execution="one invocation; before ReBench 1.0 the rows that were written within a second of each other",
    iteration="one iteration of an invocation; those that the configuration calls warm-up are kept apart",
    trap=(
        "benchmarks that failed are not in the file; executors, suites, sizes and arguments are labels, not parts of "
        "the name (`--by executor`)"
    ),
)
_COLUMNS = (
    "invocation", "iteration", "value", "unit", "criterion", "benchmark", "executor", "suite", "extraArgs", "cores",
    "inputSize", "varValue", "tag", "machine", "runId",
)  # fmt: skip
# without invocations and iterations, but with the warm-up that was asked for
_OLD = ("benchmark", "executor", "suite", "extraArgs", "warmup", "cores", "inputSize", "varValue")
_NO_LABELS = ("benchmark", "runId", "warmup")
_VALUES = 5
"""Columns before those that say which benchmark it is."""
_ROW = re.compile(rb"(?:\d+\t\d+|\[\d{4}-\d\d-\d\dT[\d:]+\])\t[^\t]+\t[^\t]*\t[^\t]+\t[^\t]")
_RECOGNISED = re.compile(
    r"^(?:invocation\titeration\tvalue\tunit\tcriterion\t|# Execution Start: \d|"
    r"\[\d{4}-\d\d-\d\dT[\d:]+\]\t[-+.\deE]+\t\w*\t\S[^\t]*\t\S|"
    r"\d+\t\d+\t[-+.\deE]+\t[\w/]+\t[^\t\n]+\t[^\t\n]+\t[^\t\n]+\t[^\t\n]+\t)",
    re.MULTILINE,
)
_PER = re.compile(r"(?P<count>\w+)/(?P<unit>\w+)")
_OPERATIONS = ("op", "ops")
# what GNU time calls kbytes are units of 1024 bytes
_GNU_TIME = {("MaxRSS", "kb"): ("B", 1024.0)}
_HOST = {"hostName": "hostname", "osType": "system", "memory": "memory", "cpu": "cpu", "clockSpeed": "clock_speed"}

Invocation = tuple[bytes, int, bytes]
"""Which benchmark, in which session of ReBench (it appends to its file), and the number that it gave."""


@dataclass(slots=True)
class _File:
    """What was read so far."""

    values: dict[Invocation, dict[tuple[bytes, bytes], array[float]]] = field(default_factory=dict)
    """By invocation, then by criterion and unit."""
    dropped: dict[Invocation, dict[tuple[bytes, bytes], array[float]]] = field(default_factory=dict)
    failed: dict[bytes, str] = field(default_factory=dict)
    columns: Sequence[str] = _COLUMNS
    session: int = 0
    written: dict[bytes, tuple[float, bytes]] = field(default_factory=dict)
    """Of each run, when its last row was, and what stands for its invocation; before 1.0."""
    warmups: dict[bytes, int] = field(default_factory=dict)
    """By the text of the id of a run, where there are any."""
    benchmarks: dict[str, int] = field(default_factory=dict)
    host: dict[str, Any] = field(default_factory=dict)
    commit: str | None = None
    created: str | None = None


def recognises(source: Source) -> bool:
    """Return whether it has ReBench's header, or a first row as ReBench writes it."""
    text = source.head.text
    if text[:1] in ("{", "[") and not text.startswith("[2"):
        return False
    found = _RECOGNISED.search(text)
    # nothing but comments stands before the first row
    return found is not None and all(line.startswith("#") for line in text[: found.start()].splitlines() if line)


def read(source: Source) -> Iterator[Result]:
    """Yield each invocation of each run; what ReBench varies as labels.

    Raises:
        OutputError: a row whose value is no number, by its line.
    """
    file = _File()
    for place, line in enumerate(source.bytes_lines(), 1):
        if line.startswith(b"#"):
            _read_comment(file, line.decode("utf-8", "replace"))
        elif line.startswith(b"invocation\t"):
            file.columns = line.decode("utf-8", "replace").split("\t")
        elif line:
            _read_row(file, line, place)
    yield About(host=file.host, commit=file.commit, created=file.created, tool="ReBench")
    yield from _results(file)


def _read_comment(file: _File, line: str) -> None:
    if line.startswith("#!"):
        file.session += 1
        return
    key, _, rest = line[1:].strip().partition(": ")
    if key == "Execution Start":
        file.created = file.created or visible(rest)
    elif key in ("Environment", "Source", "benchmark", "run_id"):
        number, _, text = rest.partition("=") if key in ("benchmark", "run_id") else ("", "", rest)
        try:
            said = json.loads(text)
        except (ValueError, RecursionError):
            return
        if isinstance(said, dict):
            _read_metadata(file, key, number, said)


def _read_metadata(file: _File, key: str, number: str, said: dict[str, Any]) -> None:
    if key == "Environment":
        file.host |= {name: said[own] for own, name in _HOST.items() if said.get(own)}
        software = said.get("software")
        for each in software if isinstance(software, list) else ():
            if isinstance(each, dict) and each.get("name") == "kernel-release":
                file.host["kernel"] = str(each.get("version"))
    elif key == "Source":
        commit = said.get("commitId")
        file.commit = commit if isinstance(commit, str) else file.commit
    elif key == "benchmark":
        details = said.get("runDetails")
        warmup = details.get("warmup") if isinstance(details, dict) else None
        file.benchmarks[number] = warmup if isinstance(warmup, int) else 0
    elif warmup := file.benchmarks.get(str(said.get("benchmark_id")), 0):
        file.warmups[number.encode()] = warmup


def _read_row(file: _File, line: bytes, place: int) -> None:
    if not _ROW.match(line):
        # what was cut off, or another table
        return
    if line.startswith(b"["):
        _, value, unit, criterion, which = line.split(b"\t", 4)
        invocation, iteration = _invocation(file, line[1:20], which), 0
        file.columns = (*_COLUMNS[:_VALUES], *_OLD)
    else:
        invocation, number, value, unit, criterion, which = line.split(b"\t", _VALUES)
        iteration = int(number)
    if unit == b"bool":
        if value in (b"False", b"0", b"0.000000"):
            file.failed.setdefault(which, f"{criterion.decode('utf-8', 'replace')} is false in an iteration")
        return
    try:
        number_read = float(value)
    except ValueError:
        raise OutputError(f"line {place}: {shown(value)} is not a number") from None
    key = (which, file.session, invocation)
    warm = file.warmups and iteration <= file.warmups.get(which.rpartition(b"\t")[2], 0)
    kept = (file.dropped if warm else file.values).setdefault(key, {})
    values = kept.get((criterion, unit))
    if values is None:
        values = kept[criterion, unit] = array("d")
    values.append(number_read)


def _invocation(file: _File, written: bytes, which: bytes) -> bytes:
    """Tell the processes of a run apart by the times of their rows: those of one process were read at once."""
    now = _seconds(written)
    before = file.written.get(which)
    invocation = before[1] if before is not None and 0 <= now - before[0] <= 1 else written
    file.written[which] = now, invocation
    return invocation


@lru_cache(maxsize=64)
def _seconds(written: bytes) -> float:
    try:
        return datetime.fromisoformat(written.decode("ascii")).replace(tzinfo=UTC).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _results(file: _File) -> Iterator[Result]:
    executions: dict[bytes, int] = {}
    for which, status in file.failed.items():
        name, labels = _said(which, tuple(file.columns[_VALUES:]))
        yield Failed(benchmark=name, status=visible(status), labels=labels)
    for key, criteria in file.values.items():
        which = key[0]
        if which in file.failed:
            continue
        name, labels = _said(which, tuple(file.columns[_VALUES:]))
        execution = executions.get(which, 0)
        executions[which] = execution + 1
        metrics, why = _metrics(criteria, file.dropped.get(key, {}))
        if why:
            yield Failed(benchmark=name, status=why, execution=execution, labels=labels)
        else:
            yield Measured(benchmark=name, metrics=metrics, execution=execution, labels=labels)


@lru_cache(maxsize=4096)
def _said(which: bytes, columns: tuple[str, ...]) -> tuple[str, dict[str, str]]:
    """Return the name and the labels of a run."""
    texts = [visible(text) for text in which.decode("utf-8", "replace").split("\t")]
    row = dict(zip(columns, texts, strict=False))
    return row.get("benchmark", texts[0]), {key: text for key, text in row.items() if text and key not in _NO_LABELS}


def _metrics(
    criteria: dict[tuple[bytes, bytes], array[float]], dropped: dict[tuple[bytes, bytes], array[float]]
) -> tuple[dict[str, Metric], str]:
    metrics: dict[str, Metric] = {}
    for key, raw in criteria.items():
        name, unit, scale, better = _metric(*key)
        values = array("d", map(scale.__mul__, raw)) if scale != 1.0 else raw
        if why := why_unusable(name, Series(unit, values)):  # type: ignore[arg-type]  # an array is a sequence of floats
            return {}, why
        before = [value * scale for value in dropped.get(key, ())]
        metrics[name] = Metric(unit=unit, better=better, values=values, dropped=before)
    return metrics, ""


@lru_cache(maxsize=1024)
def _metric(criterion: bytes, unit: bytes) -> tuple[str, str, float, Better]:
    """Return name, base unit, scale and direction: of what is called "total" the unit says what it is."""
    name, text = (visible(part.decode("utf-8", "replace")) for part in (criterion, unit))
    per = _PER.fullmatch(text)
    if per and per["unit"] in _OPERATIONS:
        # JMH's average time, "ms/op"
        base, scale = _base(per["count"])
        better: Better = "lower"
    elif per and per["count"] in _OPERATIONS and _base(per["unit"])[0] == "s":
        base, scale, better = "1/s", 1 / _base(per["unit"])[1], "higher"
    else:
        base, scale = _GNU_TIME.get((name, text)) or _base(text)
        better = "higher" if per and _base(per["unit"])[0] == "s" else "lower"
    if name == "total":
        name = {"s": "time", "1/s": "throughput", "B": "memory"}.get(base, name)
    return name, base, scale, better


def _base(unit: str) -> tuple[str, float]:
    return to_base(meant(unit) or unit)
