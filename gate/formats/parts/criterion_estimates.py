"""The estimates that Criterion.rs makes of a benchmark, as it and critcmp keep them -> aggregates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from gate.formats.parts.result import Aggregate, Failed

NANOSECOND = 1e-9


class _Interval(msgspec.Struct):
    confidence_level: float | None = None
    lower_bound: float | None = None
    upper_bound: float | None = None


class Estimate(msgspec.Struct):
    """A statistic of the times of one iteration, in nanoseconds."""

    point_estimate: float
    confidence_interval: _Interval = msgspec.field(default_factory=_Interval)


class Estimates(msgspec.Struct):
    """What estimates.json holds; before 0.3 its keys began with capitals."""

    mean: Estimate
    median: Estimate | None = None
    std_dev: Estimate | None = None


class Amount(NamedTuple):
    """What one iteration works through."""

    number: float
    unit: str
    """Of the throughput: "B/s", "1/s" or "bit/s"."""


def amount(throughput: Any) -> Amount | None:
    """Read the "throughput" of benchmark.json, such as {"Bytes": 1024}; None: it has none."""
    if not isinstance(throughput, dict):
        return None
    found = throughput.get("ElementsAndBytes")
    throughput = {k.capitalize(): v for k, v in found.items()} if isinstance(found, dict) else throughput
    units = {"Bytes": "B/s", "BytesDecimal": "B/s", "Elements": "1/s", "Bits": "bit/s"}
    for key, unit in units.items():
        number = throughput.get(key)
        if isinstance(number, (int, float)) and not isinstance(number, bool) and number > 0:
            return Amount(float(number), unit)
    return None


def aggregates(
    estimates: Estimates, name: str, labels: dict[str, str], each: Amount | None
) -> Iterator[Aggregate | Failed]:
    """Yield mean and median with their intervals, and the throughput by the mean, as critcmp gives it."""
    sd = estimates.std_dev.point_estimate * NANOSECOND if estimates.std_dev else None
    for statistic, estimate in (("mean", estimates.mean), ("median", estimates.median)):
        if estimate is not None:
            interval = estimate.confidence_interval
            yield Aggregate(
                    benchmark=name, metric="time", statistic=statistic, unit="s", sd=sd, labels=labels,
                    value=estimate.point_estimate * NANOSECOND, low=_seconds(interval.lower_bound),
                    high=_seconds(interval.upper_bound), confidence=interval.confidence_level,
                )  # fmt: skip
    yield from throughput(name, each, estimates.mean.point_estimate * NANOSECOND, labels)


def throughput(name: str, each: Amount | None, mean: float, labels: dict[str, str]) -> Iterator[Aggregate | Failed]:
    """Yield the throughput at the mean time of an iteration, as critcmp gives it.

    It is no metric with values: the mean of the samples' rates would be another number, and a verdict on it one more
    about the same times.
    """
    if each is not None and mean > 0:
        yield Aggregate(
                benchmark=name, metric="throughput", statistic="mean", value=each.number / mean, unit=each.unit,
                better="higher", labels=labels,
            )  # fmt: skip


def _seconds(nanoseconds: float | None) -> float | None:
    return None if nanoseconds is None else nanoseconds * NANOSECOND
