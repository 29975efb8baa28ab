"""The JSON of JMH (-rf json, 1.0 to 1.37) -> values."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from gate.formats.live.suites import Suite, add, read_json
from gate.formats.live.values import OutputError, Series, usable
from gate.model.visible import visible

# What TimeValue.tuToString writes.
_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "hr": 3600.0, "day": 86400.0}
_COUNTS = ("counts", "#", "#/op")
_OF_PRIMARY = ("time", "throughput")
_FAILURE = re.compile(r"^# Benchmark: (?P<name>.*)|<failure>$", re.MULTILINE)

# JMH writes NaN and infinities as strings
Number = float | str


class Scores(msgspec.Struct):
    """A metric of a benchmark."""

    scoreUnit: str  # noqa: N815  # JMH's name
    score: Number | None = None
    scoreConfidence: list[Number] = []  # noqa: N815  # JMH's name
    rawData: list[list[Number]] = []  # noqa: N815  # JMH's name
    rawDataHistogram: list[list[list[tuple[Number, float]]]] = []  # noqa: N815  # JMH's name


class Result(msgspec.Struct):
    """A benchmark in one mode, with one choice of parameters."""

    benchmark: str
    mode: str
    primaryMetric: Scores  # noqa: N815  # JMH's name
    secondaryMetrics: dict[str, Scores] = {}  # noqa: N815  # JMH's name
    params: dict[str, str] | None = None
    threads: float | None = None
    forks: float | None = None
    jmhVersion: str | None = None  # noqa: N815  # JMH's name
    jvm: str | None = None
    jvmArgs: list[str] | None = None  # noqa: N815  # JMH's name
    jdkVersion: str | None = None  # noqa: N815  # JMH's name
    vmName: str | None = None  # noqa: N815  # JMH's name
    vmVersion: str | None = None  # noqa: N815  # JMH's name


def parse(data: bytes) -> Suite:
    """Read one value of each metric for each measurement iteration, fork after fork.

    Names: "package.Class.method:{a=1,b=x}:mode", the parameters in the order of their names; the mode always, so that
    a name does not depend on what else is measured. Metrics: "throughput" (operations a second, more is better) or
    "time" (seconds an operation); the secondary ones under their own names, unless some of their values are missing
    or no numbers.
    In mode sample a value is the mean of an iteration's histogram. The single samples have lost their order, and sorted
    values would look like a trend; their quantiles are the secondary metrics "p0.50", "p0.99" and so on.

    Raises:
        OutputError: not such a file.
    """
    suite = Suite({}, {})
    for result in read_json(data, list[Result], "JMH's JSON"):
        name = named(result.benchmark, result.params, result.mode)
        try:
            add(suite, name, _series(result))
        except OutputError as error:
            suite.errors[visible(name)] = str(error)
    return suite


def failed(text: str) -> str | None:
    """Return the benchmark of which JMH's text says that it failed; the JSON leaves it out. "" where it has no name."""
    name = ""
    for found in _FAILURE.finditer(text):
        if found["name"] is None:
            return visible(name)
        name = found["name"]
    return None


def named(benchmark: str, params: Mapping[str, str] | None, mode: str) -> str:
    """Name a benchmark by its parameters, in the order of their names, and its mode."""
    shown = ",".join(f"{name}={value}" for name, value in sorted((params or {}).items()))
    return f"{benchmark}:{{{shown}}}:{mode}" if shown else f"{benchmark}:{mode}"


def _series(result: Result) -> dict[str, Series]:
    unit, scale = known_unit(result.primaryMetric.scoreUnit)
    if unit not in ("s", "1/s"):
        raise OutputError(f"its unit is {visible(result.primaryMetric.scoreUnit)!r}, which this perfgate does not know")
    values = [value * scale for fork in forks(result.primaryMetric) for value in fork]
    series = {"time" if unit == "s" else "throughput": Series(unit, values)}
    for name, metric in result.secondaryMetrics.items():
        unit, scale = known_unit(metric.scoreUnit)
        values = [number(value) * scale for fork in metric.rawData for value in fork]
        # in every iteration, or its values would not belong to those of the others
        if len(values) == len(next(iter(series.values())).values) and usable(values, unit):
            own = visible(name)
            view_of = "time" if is_median(own) and "time" in series else None
            # as JMH's table writes it
            shown = f":{own}" if own in _OF_PRIMARY else own
            series[shown] = Series(unit, values, view_of=view_of, sharp=view_of is not None)
    return series


def is_median(name: str) -> bool:
    """Return whether a secondary metric is the median of mode sample; before 1.36 the method stood in front of it."""
    return name.rpartition("·")[2] == "p0.50"


def forks(metric: Scores) -> list[list[float]]:
    """Return the values of a metric by fork, as JMH scales them; in mode sample the means of the iterations.

    Raises:
        OutputError: one is no number, or an iteration has no samples.
    """
    if not metric.rawDataHistogram:
        return [[number(value) for value in fork] for fork in metric.rawData]
    return [[_mean(iteration) for iteration in fork] for fork in metric.rawDataHistogram]


def _mean(histogram: list[tuple[Number, float]]) -> float:
    counts = sum(count for _, count in histogram)
    if not counts > 0:
        raise OutputError("an iteration has no samples: make iterations longer (-r)")
    return sum(number(value) * count for value, count in histogram) / counts


def number(value: Number) -> float:
    """Read a number, which JMH may have written as text.

    Raises:
        OutputError: it is none.
    """
    try:
        # float() would take 1_0, and the digits of other scripts
        if isinstance(value, str) and ("_" in value or not value.isascii()):
            raise ValueError
        return float(value)
    except ValueError:
        raise OutputError(f"{visible(repr(value))} among its values is not a number") from None


def known_unit(unit: str) -> tuple[str, float]:
    """Return the base unit of one of JMH, and the factor that takes a value there."""
    above, _, below = unit.partition("/")
    if above == "ops" and below in _SECONDS:
        return "1/s", 1 / _SECONDS[below]
    if above in _SECONDS and below in ("op", ""):
        return "s", _SECONDS[above]
    if unit == "B/op":
        return "B", 1.0
    # the megabytes of "MB/sec" are 2**20 B in some profilers and 10**6 B in others
    return "" if unit in _COUNTS else visible(unit), 1.0
