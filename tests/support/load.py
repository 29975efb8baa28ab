"""Short forms of what a file of a load test says, for tests."""

from pathlib import Path

from gate.formats.parts.reading import Reading, read
from gate.formats.parts.source import Source

DATA = Path(__file__).parents[1] / "data" / "results"


def of_file(place: str) -> Reading:
    """Read a file of tests/data/results."""
    return read(Source(place, DATA / place))


def of_text(text: str | bytes, wanted: str | None = None) -> Reading:
    """Read a text as a file, in a format or that which it is in."""
    return read(Source("x", None, text if isinstance(text, bytes) else text.encode()), wanted)


def of(reading: Reading, benchmark: str, metric: str, **labels: str) -> list[float]:
    """Return the values of one metric of a benchmark, to nine digits."""
    (one,) = [m for m in reading.measured if m.benchmark == benchmark and labels.items() <= m.labels.items()]
    return [rounded(value) for value in one.metrics[metric].values]


def mean(reading: Reading, benchmark: str, metric: str = "time", **labels: str) -> float:
    """Return their mean, to nine digits."""
    values = of(reading, benchmark, metric, **labels)
    return rounded(sum(values) / len(values))


def told(reading: Reading, benchmark: str, metric: str = "time", execution: int = 0, **labels: str) -> dict[str, float]:
    """Return the aggregates of one metric by their statistic, to nine digits."""
    return {
        a.statistic: rounded(a.value)
        for a in reading.aggregates
        if a.benchmark == benchmark
        and a.metric == metric
        and a.execution == execution
        and labels.items() <= a.labels.items()
    }


def failed(reading: Reading) -> list[tuple[str | None, str]]:
    """Return what failed, and how."""
    return [(each.benchmark, each.status) for each in reading.failed]


def rounded(value: float) -> float:
    """Round to nine digits."""
    return float(f"{value:.9g}")
