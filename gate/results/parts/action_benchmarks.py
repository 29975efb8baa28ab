"""A benchmark as github-action-benchmark keeps it: a name, a value, a unit and a range."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from typing import Any

import msgspec

from gate.model import Better
from gate.results.checking import aggregate, number
from gate.results.result import Result
from gate.results.written_units import Written, written

_BIGGER = {"benchmarkjs", "pytest", "customBiggerIsBetter"}
_MEANS = {"benchmarkjs", "pytest", "googlecpp", "catch2", "jmh", "benchmarkdotnet"}
"""The tools whose value is a mean for certain."""
_CUSTOM = {"customBiggerIsBetter", "customSmallerIsBetter"}
_RANGE = re.compile(r"\s*+(?:±|\+/-|\+-|\ufffd)?\s*+(\d[\d,]*+(?:\.\d*+)?(?:[eE][-+]?\d++)?)\s*+(%)?\s*+")
_COUNT = re.compile(r"^(?:rounds: (\d{1,15})|(\d{1,15}) samples)$", re.MULTILINE)
_MEAN = re.compile(r"^mean: (\S+) (nsec|usec|msec|sec)$", re.MULTILINE)
_STDDEV = re.compile(r"stddev: (\S+)")
_SECONDS = {"nsec": 1e-9, "usec": 1e-6, "msec": 1e-3, "sec": 1.0}


class Bench(msgspec.Struct):
    """An element of "benches", or of the file that is given to the action."""

    name: Any = ""
    value: Any = None
    """A number, or its text."""
    unit: Any = None
    range: Any = None
    extra: Any = None
    """Lines of text, or what else users write."""


def of_bench(bench: Bench, tool: str, names: Set[str], labels: Mapping[str, str], execution: int) -> Iterator[Result]:
    """Yield the value of a benchmark, and of go bench and pytest what else its texts hold.

    Args:
        tool: of the suite, as the action names it; "" where it is not known.
        names: of all benchmarks beside it.
    """
    name, unit = str(bench.name), str(bench.unit or "")
    if tool == "go":
        yield from _of_go(bench, name, unit, names, labels, execution)
        return
    own = written(unit)
    # a custom tool is named by the direction that it takes for better
    better: Better | None = "higher" if tool in _BIGGER else "lower" if tool in _CUSTOM else None
    value = _number(bench.value)
    low, high, sd, confidence = _spread(bench, tool, value)
    statistic = "mean" if tool in _MEANS else "value"
    yield aggregate(
        name, own.metric, statistic, value, unit=own.unit, scale=own.scale, better=better, low=low, high=high,
        confidence=confidence, sd=sd, count=_count(bench), labels=labels, execution=execution,
    )  # fmt: skip
    if tool == "pytest":
        yield from _mean_of_pytest(bench, name, labels, execution)


def _spread(
    bench: Bench, tool: str, value: float | None
) -> tuple[float | None, float | None, float | None, float | None]:
    """Return the interval, the standard deviation and the confidence that a range means."""
    match = _RANGE.fullmatch(str(bench.range)) if bench.range is not None else None
    half = _number(match[1].replace(",", "")) if match else None
    # the deviation of Catch2 is in a unit of its own, which is left out; that of pytest is of the time
    if match is None or half is None or value is None or tool in ("catch2", "pytest"):
        return None, None, None, None
    if tool == "benchmarkdotnet":
        return None, None, half, None
    half = abs(value) * half / 100 if match[2] else half
    return value - half, value + half, None, 0.95 if tool == "benchmarkjs" else None


def _count(bench: Bench) -> int | None:
    match = _COUNT.search(str(bench.extra or ""))
    return int(match[1] or match[2]) if match else None


def _mean_of_pytest(bench: Bench, name: str, labels: Mapping[str, str], execution: int) -> Iterator[Result]:
    match = _MEAN.search(str(bench.extra or ""))
    mean = _number(match[1]) if match else None
    if match and mean is not None:
        stddev = _STDDEV.fullmatch(str(bench.range or ""))
        scale = _SECONDS[match[2]]
        sd = _number(stddev[1]) if stddev else None
        yield aggregate(
            name, "time", "mean", mean * scale, unit="s", sd=sd, count=_count(bench), labels=labels, execution=execution
        )


def _of_go(
    bench: Bench, name: str, unit: str, names: Set[str], labels: Mapping[str, str], execution: int
) -> Iterator[Result]:
    """Yield what a line of go bench holds: before 1.18 of the action all units after the first are in one text."""
    units, values = [unit], [_number(bench.value)]
    words = unit.split()
    if len(words) > 1:
        if f"{name} - {words[0]}" in names:
            # it is there for older versions: each unit has an element of its own
            return
        units, values = words[::2], [values[0], *map(_number, words[1::2])]
    for own, value in zip(units, values, strict=False):
        meaning = written(own)
        metric = "time" if own == "ns/op" else own
        if own == "MB/s":
            # as go's adapter: of 10**6 B, and the unit is kept
            meaning = Written(own, 1.0, "higher")
        yield aggregate(
            name.removesuffix(f" - {own}"), metric or "value", "mean", value, unit=meaning.unit, scale=meaning.scale,
            labels=labels, execution=execution,
        )  # fmt: skip


def _number(value: Any) -> float | None:
    if not isinstance(value, str):
        return number(value)
    try:
        return float(value) if value.isascii() and "_" not in value else None
    except ValueError:
        return None
