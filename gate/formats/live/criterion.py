"""The files that Criterion.rs (0.3 to 0.8) writes for each benchmark -> values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from gate.formats.live.suites import Suite, add, read_json
from gate.formats.live.values import OutputError, Series
from gate.model.visible import visible
from gate.units import plural

_SECONDS = 1e-9


@dataclass(frozen=True, slots=True)
class Files:
    """What Criterion wrote for one benchmark."""

    benchmark: bytes | None
    sample: bytes | None
    again: bool
    """It compared two measurements of it, so it measured it twice."""


class _Id(msgspec.Struct):
    full_id: str


class _Sample(msgspec.Struct):
    iters: list[float]
    times: list[float]


def parse(found: Mapping[str, Files]) -> Suite:
    """Read the values of each benchmark: a batch's time over its iterations, in seconds, in order, all of one weight.

    In linear sampling batches grow (d, 2d, 3d, ... iterations), so early values are means over fewer iterations and
    scatter more. Criterion's own mean weighs them alike too; weights by size would make it a ratio of sums, which no
    longer shows the iterations one by one. No value is left out.

    Args:
        found: by directory, for the messages.
    """
    suite = Suite({}, {})
    for directory, files in found.items():
        name = visible(directory)
        try:
            if files.benchmark is not None:
                name = read_json(files.benchmark, _Id, "benchmark.json").full_id
            add(suite, name, {"time": Series("s", _values(files))})
        except OutputError as error:
            suite.errors[visible(name)] = str(error)
    return suite


def _values(files: Files) -> list[float]:
    if files.benchmark is None or files.sample is None:
        raise OutputError(f"{'benchmark' if files.benchmark is None else 'sample'}.json is missing: a write failed")
    if files.again:
        raise OutputError("measured twice into one directory: do two bench targets have a benchmark of this name?")
    sample = read_json(files.sample, _Sample, "sample.json")
    if len(sample.iters) != len(sample.times):
        raise OutputError(
            f"sample.json has {plural(len(sample.iters), 'count')} of iterations "
            f"and {plural(len(sample.times), 'time')}"
        )
    if not all(count > 0 for count in sample.iters):
        raise OutputError("sample.json has a batch without iterations")
    return [time / count * _SECONDS for time, count in zip(sample.times, sample.iters, strict=True)]
