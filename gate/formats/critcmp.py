"""A baseline of Criterion.rs that critcmp has exported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from gate.formats.criterion import Estimates, aggregates, amount
from gate.formats.parts.output import OutputError
from gate.formats.parts.result import Failed, Format, Result
from gate.formats.parts.source import Source

FORMAT = Format(title="critcmp (`--export BASELINE`)", column="baseline")
_BENCHMARK, _ESTIMATES = "criterion_benchmark_v1", "criterion_estimates_v1"


class _Benchmark(msgspec.Struct):
    full_id: str | None = None
    throughput: Any = None


class _Exported(msgspec.Struct):
    info: _Benchmark = msgspec.field(default_factory=_Benchmark, name=_BENCHMARK)
    estimates: Estimates | None = msgspec.field(default=None, name=_ESTIMATES)


class _Export(msgspec.Struct):
    benchmarks: dict[str, Any]
    name: str = ""


def recognises(source: Source) -> bool:
    """Return whether it is JSON with "benchmarks" that hold Criterion's estimates."""
    found = source.head.json
    benchmarks = found.get("benchmarks") if isinstance(found, dict) else None
    first = next(iter(benchmarks.values()), None) if isinstance(benchmarks, dict) else None
    return isinstance(first, dict) and (_ESTIMATES in first or _BENCHMARK in first)


def read(source: Source) -> Iterator[Result]:
    """Yield the estimates of each benchmark, labelled by the baseline."""
    export = source.document(_Export, "critcmp's JSON")
    labels = {"baseline": export.name} if export.name else {}
    for key, value in export.benchmarks.items():
        try:
            found = msgspec.convert(value, _Exported, strict=False)
            if found.estimates is None:
                raise OutputError("it has no estimates")
        except (msgspec.ValidationError, OutputError) as error:
            yield Failed(benchmark=key, status=str(error).replace("`", ""), labels=labels)
            continue
        yield from aggregates(found.estimates, found.info.full_id or key, labels, amount(found.info.throughput))
