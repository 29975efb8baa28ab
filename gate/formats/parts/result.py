"""What a result file of another tool says, before anybody says which side and build it is."""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

import msgspec

from gate.formats.parts.output import usable, why_unusable
from gate.model import Better, Metric
from gate.model.bounds import Digits, number
from gate.model.directions import told_or_known
from gate.writing.plain import visible

if TYPE_CHECKING:
    from gate.formats.parts.source import Source

T = TypeVar("T")
MOST = 2**53
"""The largest whole number that every reader of JSON keeps."""


Otherwise = tuple[str, dict[str, str]]
"""Name and labels of a result if what ends its name in the file is a part of it."""


class ProcessValues(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The values of one benchmark in one process."""

    benchmark: str
    metrics: dict[str, Metric]
    """By name, in base units (s, B, 1/s, B/s) or as the tool names them; `values` may be an array("d")."""
    execution: int = 0
    """The process that measured them, counted from 0 within the file."""
    labels: dict[str, str] = {}
    """What else the file says of these values, for --by and --filter: parameters, "goos", "baseline", "commit".

    Where two of one name differ in a label, it becomes a factor of both, so parameters need not be part of the name.
    """
    otherwise: Otherwise | None = None
    """Where the file alone does not say what its name is: the other one (`reading.named_alike` chooses)."""


class ToolAggregate(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A mean, median or quantile that a tool gives without the values behind it (see gate.evidence.aggregates)."""

    benchmark: str
    metric: str
    statistic: str
    """Such as "mean", "median", "min", "p99"; "value" where the file does not say."""
    value: float
    unit: str = ""
    better: Better | None = None
    """What the file or the format says; None: its name and unit are all there is."""
    low: float | None = None
    high: float | None = None
    """The tool's own interval of the value, in the same unit; None: it gives none."""
    confidence: float | None = None
    """Of that interval; None: not known."""
    sd: float | None = None
    """Standard deviation of the values, in the same unit."""
    step: float | None = None
    """Of the last digit that is written of the value, in its unit; None: as a `Digits` says, or its own digits."""
    count: float | None = None
    """The values that it is of, as the file says; what is none from 1 to 2^53 is left out."""
    execution: int = 0
    labels: dict[str, str] = {}


class FailedResult(msgspec.Struct, frozen=True, kw_only=True):
    """A benchmark, or a process of it, that the file says has failed."""

    benchmark: str | None
    status: str
    """In a few words: "exit 1 in 3 of 10 runs"."""
    stderr: str = ""
    execution: int = 0
    labels: dict[str, str] = {}
    otherwise: Otherwise | None = None
    """As of `ProcessValues`."""


class LeftOut(msgspec.Struct, frozen=True):
    """Something in the file that looks like a result, and was left out or read in part."""

    status: str
    """What and where, in a few words: "line 5: something was printed into the results of BenchmarkX"."""


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What a file says of itself, once."""

    host: dict[str, Any] = {}
    """Of the machine: "hostname", "cpu", "kernel" and whatever else the tool records."""
    commit: str | None = None
    dirty: bool = False
    """It had changes that were not committed."""
    created: str | None = None
    """When it was measured, ISO 8601."""
    tool: str = ""
    """The tool with its version, such as "pyperf 2.9.0"."""


Result = ProcessValues | ToolAggregate | FailedResult | LeftOut | About


class Format(msgspec.Struct, frozen=True, kw_only=True):
    """A format; docs/import.md says how its repetitions are read."""

    title: str
    """The tool, and what writes the file: "pyperf (`-o FILE`)"."""
    again: Literal["", "number", "process"] = ""
    """What a benchmark is that a file has again under one name and labels (of one execution an error).

    number: another one, told apart by the label "number". process: a further process. "": as
    the reader says.
    """
    column: str = ""
    """The label that tells several measurings in one file apart, oldest first ("baseline", "commit"); "": one only."""

    @property
    def tool(self) -> str:
        """The tool alone."""
        return self.title.partition(" (")[0]


class Adapter(Protocol):
    """A module of gate/formats."""

    @property
    def FORMAT(self) -> Format:  # noqa: N802  # a constant of the module
        """The format that it reads."""
        ...

    def recognises(self, source: Source, /) -> bool:
        """Return whether a file begins like one of this format (`source.head`), or a folder holds its files."""
        ...

    def read(self, source: Source, /) -> Iterator[Result]:
        """Yield what a file says, in its order. Raises OutputError: what cannot be read, with its line or its place."""
        ...


def checked(found: Result) -> Result:
    """Give a result that can be used, or why it has failed; all of its text becomes printable.

    Metrics whose values cannot be computed with are left out; where it is the one that the benchmark is about, all of
    it has failed. So are intervals and deviations of an aggregate that are none.
    """
    if isinstance(found, ProcessValues):
        return _usable(found)
    if isinstance(found, ToolAggregate):
        return _sound(found)
    own = {name: _printable(getattr(found, name)) for name in found.__struct_fields__ if name != "otherwise"}
    return msgspec.structs.replace(found, **own)


def _usable(found: ProcessValues) -> ProcessValues | FailedResult:
    labels, benchmark = _visible(found.labels), visible(found.benchmark)
    faults = {name: why for name, own in found.metrics.items() if (why := why_unusable(name, own.values, own.unit))}
    chief = "time" if "time" in found.metrics else next(iter(found.metrics), "")
    if chief in faults or not found.metrics:
        return FailedResult(
            benchmark=benchmark, status=faults.get(chief, "no values"), execution=found.execution, labels=labels,
            otherwise=found.otherwise,
        )  # fmt: skip
    metrics = {}
    for name, own in found.metrics.items():
        if name not in faults:
            better, unit = told_or_known(own.better, name, own.unit), visible(own.unit)
            dropped = own.dropped if usable(own.dropped, own.unit) else []
            alike = better == own.better and unit == own.unit and dropped is own.dropped
            metrics[visible(name)] = (
                own if alike else msgspec.structs.replace(own, better=better, unit=unit, dropped=dropped)
            )
    return msgspec.structs.replace(found, benchmark=benchmark, metrics=metrics, labels=labels)


def _sound(found: ToolAggregate) -> ToolAggregate | FailedResult:
    labels, benchmark = _visible(found.labels), visible(found.benchmark)
    metric, statistic = visible(found.metric), visible(found.statistic)
    if why := why_unusable(metric, [found.value], found.unit):
        return FailedResult(benchmark=benchmark, status=f"{statistic}: {why}", execution=found.execution, labels=labels)
    low, high, sd = (None if each is None else float(each) for each in (found.low, found.high, found.sd))
    # a file may give one limit alone
    limits = [limit for limit in (low, high) if limit is not None]
    is_interval = bool(limits) and all(map(math.isfinite, limits)) and limits == sorted(limits)
    return msgspec.structs.replace(
        found, benchmark=benchmark, metric=metric, statistic=statistic, unit=visible(found.unit), labels=labels,
        value=float(found.value), step=found.value.step if isinstance(found.value, Digits) else found.step,
        better=told_or_known(found.better, found.metric, found.unit),
        low=low if is_interval else None, high=high if is_interval else None,
        confidence=found.confidence if is_interval else None,
        sd=sd if sd is not None and math.isfinite(sd) and sd >= 0 else None,
        count=found.count if found.count is not None and 1 <= found.count <= MOST else None,
    )  # fmt: skip


def _printable(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(str(key)): _printable(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_printable(each) for each in value]
    return number(value) if isinstance(value, int) and abs(value) > MOST else value


def aggregate(
    benchmark: str, metric: str, statistic: str, value: float | None, *,
    unit: str = "", scale: float = 1.0, better: Better | None = None, low: float | None = None,
    high: float | None = None, confidence: float | None = None, sd: float | None = None, count: float | None = None,
    execution: int = 0, labels: Mapping[str, str] | None = None,
) -> ToolAggregate | FailedResult:  # fmt: skip
    """Give a statistic of a benchmark, or say that it failed where it has no value.

    A value whose text is gone is taken to be written with no more digits than it needs.

    Args:
        scale: takes value, low, high and sd to the unit.
    """
    own = dict(labels or {})
    if value is None:
        status = f"{visible(metric)}, {visible(statistic)}: no value"
        return FailedResult(benchmark=visible(benchmark), status=status, execution=execution, labels=own)
    low, high, sd = (None if each is None else each * scale for each in (low, high, sd))
    written = value if isinstance(value, Digits) else Digits.shortest(value)
    return ToolAggregate(
        benchmark=benchmark, metric=metric, statistic=statistic, value=written * scale, unit=unit, better=better,
        low=low, high=high, confidence=confidence, sd=sd, count=count, execution=execution, labels=own,
    )  # fmt: skip


def entry(found: object, shape: type[T], place: str, *names: str) -> T | FailedResult:
    """Read a benchmark of a JSON document; one that is not of the shape has failed, and says what is wrong where.

    Args:
        place: where it stands in the document, such as "results[3]".
        names: the keys that may hold its name, the best one first.
    """
    try:
        return msgspec.convert(found, shape, strict=False)
    except msgspec.ValidationError as error:
        own = found if isinstance(found, dict) else {}
        name = next((visible(own[key]) for key in names if isinstance(own.get(key), str) and own[key]), None)
        return FailedResult(benchmark=name, status=f"{place}: {visible(str(error)).replace('`', '')}")


def told_apart(results: Iterable[Result], again: str) -> Iterator[Result]:
    """Say of what a file has again under one name and labels what it is, as `Format.again` has it."""
    return {"number": _numbered, "process": _continued}.get(again, iter)(results)


def _numbered(results: Iterable[Result]) -> Iterator[Result]:
    """Tell what a file has twice under one name and the same labels apart: by a label "number", from "2" on."""
    seen: Counter[Any] = Counter()
    for result in results:
        if isinstance(result, (About, LeftOut)):
            yield result
            continue
        what = (result.metric, result.statistic) if isinstance(result, ToolAggregate) else ()
        key = (type(result), result.benchmark, what, result.execution, tuple(result.labels.items()))
        seen[key] += 1
        again = seen[key] > 1
        yield msgspec.structs.replace(result, labels={**result.labels, "number": str(seen[key])}) if again else result


def _continued(results: Iterable[Result]) -> Iterator[Result]:
    """Let the processes of what comes again follow those before; a process gives each statistic once."""
    begins: Counter[Any] = Counter()
    ends: Counter[Any] = Counter()
    seen: defaultdict[Any, set[tuple[str, str]]] = defaultdict(set)
    for result in results:
        if isinstance(result, (About, LeftOut)):
            yield result
            continue
        key = result.benchmark, tuple(result.labels.items())
        what = (result.metric, result.statistic) if isinstance(result, ToolAggregate) else None
        if what in seen[key] if what is not None else begins[key] + result.execution < ends[key]:
            begins[key] = ends[key]
            seen[key].clear()
        seen[key].update([what] if what is not None else ())
        ends[key] = max(ends[key], begins[key] + result.execution + 1)
        yield msgspec.structs.replace(result, execution=begins[key] + result.execution) if begins[key] else result


def _visible(labels: Mapping[str, str] | None) -> dict[str, str]:
    # all results of a commit share one where nothing must be changed: there are millions
    if isinstance(labels, dict) and all(key.isprintable() and value.isprintable() for key, value in labels.items()):
        return labels
    return {visible(key): visible(value) for key, value in labels.items()} if labels else {}


def sampled(
    benchmark: str, samples: Iterable[Any], scale: float, labels: Mapping[str, str] | None = None, execution: int = 0
) -> ProcessValues | FailedResult:
    """Give the times of samples as JSON has them, 8 bytes each; scale takes them to seconds."""
    own = dict(labels or {})
    try:
        values = array("d", map(scale.__mul__, samples))
    except (TypeError, OverflowError):
        return FailedResult(benchmark=benchmark, status="not all of its samples are numbers", labels=own)
    metrics = {"time": Metric(unit="s", values=values)}
    return ProcessValues(benchmark=benchmark, metrics=metrics, labels=own, execution=execution)
