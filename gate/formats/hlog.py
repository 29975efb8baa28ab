"""HdrHistogram's interval logs (.hlog): the values of each interval, and its tag as the benchmark."""

from __future__ import annotations

import itertools
import math
import random
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from gate.formats.live import hdr
from gate.formats.live.values import OutputError
from gate.formats.parts import checking
from gate.formats.parts.requests import aggregates, float_of
from gate.formats.parts.result import Format, LeftOut, Result
from gate.formats.parts.source import Source
from gate.model import Metric

FORMAT = Format(
    title="HdrHistogram interval log (.hlog)",
    execution="the file",
    iteration="one recorded value, in a fixed random order within its interval",
    trap=(
        "integers without a unit: taken for nanoseconds where the log shows its maxima a million times smaller (as "
        "writers do by default), a thousand million times, or not at all, for microseconds where it is a thousand "
        "times, else for bare numbers; values are the middle of their bucket; of more than ten million values only "
        "quantiles are read"
    ),
)
_NAME = "histogram"
_UNITS = {6: 1e-9, 9: 1e-9, 3: 1e-6}
"""Seconds of one by the power of ten between a value and what the log shows of it."""
_QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}


@dataclass(slots=True)
class _Tagged:
    values: array[float] = field(default_factory=lambda: array("d"))
    counts: Counter[int] = field(default_factory=Counter)


def recognises(source: Source) -> bool:
    """Return whether it has the version line, the legend or an interval of such a log."""
    return hdr.recognises("\n".join(source.head.lines).encode())


def read(source: Source) -> Iterator[Result]:
    """Yield a process for each tag; one without a tag is called "histogram"."""
    tagged: dict[str | None, _Tagged] = {}
    power: tuple[float, int | None] = 0.0, None
    total, torn = 0, ""
    for number, line in enumerate(source.bytes_lines(), 1):
        if torn:
            raise OutputError(torn)
        try:
            found = hdr.interval(line.strip())
            if found is None:
                continue
            counts = [(bucket.value, bucket.count) for bucket in found.buckets]
        except OutputError as error:
            # the last line may be cut off
            torn = f"line {number}: {error}"
            continue
        own = tagged.setdefault(found.tag, _Tagged())
        total += sum(count for _, count in counts)
        _add(own, counts, number, keep=total <= hdr.MAX_VALUES)
        power = max(power, _power(found.highest, counts), key=lambda each: each[0])
    if torn:
        yield LeftOut(f"{torn}: the file may be cut off there")
    for tag, own in tagged.items():
        if own.counts:
            yield from _results(tag, own, power[1], whole=total <= hdr.MAX_VALUES)


def _add(own: _Tagged, counts: list[tuple[int, int]], number: int, *, keep: bool) -> None:
    for value, count in counts:
        own.counts[value] += count
    if keep:
        values = array("d", itertools.chain.from_iterable(itertools.repeat(value, count) for value, count in counts))
        random.Random(number).shuffle(values)  # noqa: S311  # an order, no secret
        own.values.extend(values)
    else:
        own.values = array("d")


def _power(highest: bytes, counts: list[tuple[int, int]]) -> tuple[float, int | None]:
    """Return the largest value as an interval shows it, and the power of ten by which it is made smaller."""
    shown = float_of(highest.decode("ascii", "replace"))
    most = counts[-1][0] if counts else 0
    if shown is None or not 0 < shown < math.inf or most <= 0:
        return 0.0, None
    return shown, round(math.log10(most / shown))


def _results(tag: str | None, own: _Tagged, power: int | None, *, whole: bool) -> Iterator[Result]:
    scale = 1e-9 if power is None else _UNITS.get(power, 1.0)
    name, metric, unit = tag or _NAME, *(("value", "") if scale == 1.0 else ("time", "s"))
    if whole:
        metrics: dict[str, Metric] = {
            metric: Metric(unit=unit, values=array("d", (value * scale for value in own.values)))
        }
        yield checking.measured(name, metrics)
        return
    found = {statistic: value * scale for statistic, value in _quantiles(own.counts)}
    yield from aggregates(name, metric, found, unit=unit, count=own.counts.total())


def _quantiles(counts: Counter[int]) -> Iterator[tuple[str, float]]:
    total, below = counts.total(), 0
    yield "mean", sum(value * count for value, count in counts.items()) / total
    wanted = dict(_QUANTILES)
    for value in sorted(counts):
        below += counts[value]
        for statistic in [each for each, share in wanted.items() if below >= share * total]:
            del wanted[statistic]
            yield statistic, value
    yield "max", max(counts)
