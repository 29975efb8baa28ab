"""What JMH prints: the value of each iteration, fork after fork, to three decimals, and a table of means at the end."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

from gate.adapters.jmh import known_unit, named
from gate.adapters.values import OutputError
from gate.model import Metric
from gate.results.checking import measured
from gate.results.parts import jmh_tables as tables
from gate.results.result import Aggregate, Failed, Measured, Result
from gate.results.source import Source

_MODES = {"Throughput": "thrpt", "Average time": "avgt", "Sampling time": "sample", "Single shot invocation time": "ss"}
_ITERATION = re.compile(r"Iteration +\d+: (?P<value>\d[\d.,]*)(?: ±\(\S+\) \S+)? (?P<unit>[^\s/]+/\S+)")
_PARAMETERS = re.compile(r", (?=[^,=]+ = )")
_OF_PRIMARY = ("time", "throughput")
_FEWEST = 0.1
"""Below it three decimals are less than three digits, and steps of rounding would look like differences."""


@dataclass(slots=True)
class _Process:
    """One fork of one benchmark."""

    name: str
    labels: dict[str, str]
    values: array[float] = field(default_factory=lambda: array("d"))
    unit: str = ""
    usable: bool = True
    """All of its iterations have values of enough digits."""
    failed: bool = False


def read_printed(source: Source) -> Iterator[Result]:
    """Yield the forks of a log, and the means of its tables for what has no values.

    Raises:
        OutputError: there is neither: the run was broken off.
    """
    log, rows, title = _Log(), list[tuple[str, str]](), ""
    for whole in source.lines():
        line = tables.plain(whole)
        if tables.is_title(line):
            title = line
        elif title and line.strip():
            rows.append((title, line))
        elif rows and not line.strip():
            title = ""
        if not title:
            log.read(line)
    yield tables.version(source.head)
    measured_ = log.results()
    yield from measured_
    names = {each.benchmark for each in measured_ if isinstance(each, Measured)}
    means = [mean for title, line in rows if (mean := tables.row(title, line, log.whole_name)) is not None]
    if not means and not measured_:
        raise OutputError("no table of results (Benchmark Mode Cnt Score Error Units) in it: the run did not end")
    for mean in means:
        # not of what has its values
        if not (isinstance(mean, Aggregate) and mean.benchmark in names and _is_primary(mean)):
            yield mean


def _is_primary(mean: Aggregate) -> bool:
    return mean.metric in _OF_PRIMARY and mean.statistic == "mean"


@dataclass(slots=True)
class _Log:
    """Gathers forks line by line."""

    _mode: str = ""
    _threads: str = ""
    _name: str = ""
    _params: dict[str, str] = field(default_factory=dict)
    _processes: list[_Process] = field(default_factory=list)

    def read(self, line: str) -> None:
        """Read a line; most are of no interest."""
        if line.startswith("Iteration"):
            self._iteration(line)
        elif line.startswith("# Benchmark mode: "):
            self._mode = _MODES.get(line[18:].partition(",")[0], "")
            self._name, self._params = "", {}
        elif line.startswith("# Threads: "):
            self._threads = line[11:].partition(" ")[0]
        elif line.startswith("# Benchmark: "):
            self._name = line[13:].strip()
        elif line.startswith("# Parameters: "):
            shown = line[14:].strip().removeprefix("(").removesuffix(")")
            pairs = (pair.partition(" = ") for pair in _PARAMETERS.split(shown))
            self._params = {name: value for name, _, value in sorted(pairs)}
        elif line.startswith("# Fork: ") and self._name and self._mode:
            labels = {**self._params, "mode": self._mode}
            if self._threads.isdigit():
                labels["threads"] = self._threads
            self._processes.append(_Process(named(self._name, self._params, self._mode), labels))
        elif line.startswith("<failure>") and self._processes:
            self._processes[-1].failed = True

    def _iteration(self, line: str) -> None:
        match = _ITERATION.fullmatch(line.strip())
        if not self._processes:
            return
        own = self._processes[-1]
        value = tables.number(match["value"]) if match else None
        # "≈ 10⁻⁴ ms/op", or the quantiles of mode sample
        if match is None or value is None or value < _FEWEST or own.unit not in ("", match["unit"]):
            own.usable = False
        else:
            own.unit = match["unit"]
            own.values.append(value)

    def results(self) -> list[Result]:
        """Return the forks of the benchmarks all of whose values can be used, and those that failed."""
        unusable = {each.name for each in self._processes if not each.usable}
        found: list[Result] = []
        before: dict[tuple[str, str], int] = {}
        for each in self._processes:
            if each.failed:
                found.append(Failed(benchmark=each.name, status="it threw an exception", labels=each.labels))
            elif each.values and each.name not in unusable:
                key = each.name, each.labels.get("threads", "")
                before[key] = before.get(key, -1) + 1
                unit, scale = known_unit(each.unit)
                values = array("d", map(scale.__mul__, each.values))
                metric = Metric(unit=unit, values=values)
                found.append(
                    measured(each.name, {tables.metric(unit): metric}, execution=before[key], labels=each.labels)
                )
        return found

    def whole_name(self, short: str) -> str | None:
        """Return the name of a benchmark that a table shortened; None: none, or several, end so."""
        names = {name for each in self._processes if (name := each.name.partition(":")[0]).endswith(short)}
        return names.pop() if len(names) == 1 else None
