"""Result files of other tools, and what is read from them."""

from pathlib import Path

from gate.formats.parts.reading import Reading, read
from gate.formats.parts.result import ProcessValues, ToolAggregate
from gate.formats.parts.source import Source

DATA = Path(__file__).parents[1] / "data" / "results"


def files(name: str) -> list[Path]:
    """Return the test files of a format."""
    return sorted(file for file in (DATA / name).iterdir() if file.name != "README.md")


def of_file(place: str | Path) -> Reading:
    """Read a file or folder of tests/data/results, or another one."""
    return read(Source(str(place), DATA / place))


def of_text(text: str | bytes, wanted: str | None = None) -> Reading:
    """Read a text as a file, in a format or that which it is in."""
    return read(Source("x", None, text if isinstance(text, bytes) else text.encode()), wanted)


def measured(found: Reading, benchmark: str, **labels: str) -> list[ProcessValues]:
    """Return the processes of a benchmark that have some labels."""
    return [m for m in found.measured if m.benchmark == benchmark and labels.items() <= m.labels.items()]


def of(found: Reading, benchmark: str, metric: str = "time", **labels: str) -> list[float]:
    """Return the values of one metric of a benchmark's one process, to nine digits."""
    (one,) = measured(found, benchmark, **labels)
    return [rounded(value) for value in one.metrics[metric].values]


def mean(found: Reading, benchmark: str, metric: str = "time", **labels: str) -> float:
    """Return their mean, to nine digits."""
    values = of(found, benchmark, metric, **labels)
    return rounded(sum(values) / len(values))


def aggregates(found: Reading, benchmark: str, metric: str = "time", **labels: str) -> dict[str, ToolAggregate]:
    """Return the aggregates of a metric by their statistics."""
    own = [a for a in found.aggregates if (a.benchmark, a.metric) == (benchmark, metric)]
    return {a.statistic: a for a in own if labels.items() <= a.labels.items()}


def told(found: Reading, benchmark: str, metric: str = "time", execution: int = 0, **labels: str) -> dict[str, float]:
    """Return the values of a process's aggregates by their statistics, to nine digits."""
    own = [a for a in found.aggregates if (a.benchmark, a.metric, a.execution) == (benchmark, metric, execution)]
    return {a.statistic: rounded(a.value) for a in own if labels.items() <= a.labels.items()}


def failed(found: Reading) -> list[tuple[str | None, str]]:
    """Return what failed, and how."""
    return [(each.benchmark, each.status) for each in found.failed]


def rounded(value: float) -> float:
    """Round to nine digits."""
    return float(f"{value:.9g}")
