"""A baseline of Criterion.rs that critcmp has exported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from gate.adapters.values import OutputError
from gate.model.visible import visible
from gate.results.criterion_estimates import Estimates, aggregates, amount
from gate.results.result import Failed, Format, Result
from gate.results.source import Source

FORMAT = Format(
    title="critcmp (`--export BASELINE`)",
    execution="none",
    iteration="none: mean and median with Criterion's confidence intervals",
    trap="the values are left behind: keep the folder target/criterion instead, which can be decided on",
    column="baseline",
)
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
    labels = {"baseline": visible(export.name)} if export.name else {}
    for key, value in export.benchmarks.items():
        name = visible(key)
        try:
            found = msgspec.convert(value, _Exported, strict=False)
            if found.estimates is None:
                raise OutputError("it has no estimates")
        except (msgspec.ValidationError, OutputError) as error:
            yield Failed(benchmark=name, status=visible(str(error)).replace("`", ""), labels=labels)
            continue
        yield from aggregates(
            found.estimates, visible(found.info.full_id or key), labels, amount(found.info.throughput)
        )
