"""The output of one execution -> its values, by the readers of result files, and strictly.

What a reader is not sure of fails: results with no name, a name that comes twice, statistics in place of values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from gate.formats.parts.output import (
    EmptyError,
    Live,
    OutputError,
    Series,
    Suite,
    checked,
    refuse_cut_off,
    usable,
    why_unusable,
)
from gate.formats.parts.result import About, Adapter, FailedResult, LeftOut, ProcessValues, Result, ToolAggregate
from gate.formats.parts.source import GZIP, Source, guarded
from gate.model import UserError
from gate.writing.plain import visible

T = TypeVar("T")


def results(read: Callable[[Source], Iterator[T]], data: bytes, *, beginning: int | None = None) -> list[T]:
    """Read all that an output says.

    Args:
        beginning: bytes by which the reader tells its kinds of output apart; None: as many as of a file.

    Raises:
        OutputError: it cannot be read.
    """
    # a program's output is not trusted: it may unpack to more than there is memory
    if data.startswith(GZIP):
        raise OutputError("the output is packed: write it as it is")
    try:
        source = Source("the output", None, data, beginning=beginning)
        return list(guarded(read(source), source))
    except UserError as error:
        raise OutputError(str(error)) from None


def suite(tool: Adapter, data: bytes, unsampled: str = "it has statistics, and no values") -> Suite:
    """Read the values of a suite's benchmarks; those of a benchmark's processes follow one another.

    Args:
        unsampled: what to say of a benchmark that has statistics alone.

    Raises:
        OutputError: it is no such output, or something in it fails that has no name.
    """
    found = results(tool.read, data)
    if all(isinstance(each, About) for each in found) and not tool.recognises(Source("the output", None, data)):
        raise OutputError(f"the output is not of {tool.FORMAT.tool}")
    return sorted_by_name(found, unsampled)


def sorted_by_name(found: Iterable[Result], unsampled: str) -> Suite:
    """Put the values of each benchmark together, and say of those that cannot be used why.

    Raises: OutputError: something failed that has no name.
    """
    made, processes = Suite({}, {}), dict[str, int]()
    for each in found:
        if isinstance(each, (About, LeftOut)):
            continue
        name = visible(each.benchmark or "")
        if not name:
            raise OutputError(each.status if isinstance(each, FailedResult) else "results without a name")
        if not isinstance(each, ToolAggregate):
            if each.execution < processes.get(name, 0):
                made.errors[name] = "two benchmarks have this name"
            processes[name] = each.execution + 1
        if isinstance(each, ProcessValues):
            _join(made.benchmarks.setdefault(name, {}), each)
        elif isinstance(each, FailedResult) or name not in made.benchmarks:
            made.errors.setdefault(name, each.status if isinstance(each, FailedResult) else unsampled)
    for name, series in made.benchmarks.items():
        faults = (why_unusable(metric, own.values, own.unit) for metric, own in series.items())
        made.errors.update((name, fault) for fault in list(filter(None, faults))[:1])
    return Suite({name: own for name, own in made.benchmarks.items() if name not in made.errors}, made.errors)


def _join(known: dict[str, Series], found: ProcessValues) -> None:
    """Add the values of a process; a metric that only some processes have would shift the others."""
    metrics = {visible(name): metric for name, metric in found.metrics.items()}
    if found.execution:
        for name in known.keys() - metrics.keys():
            del known[name]
    for name, own in metrics.items():
        if name in known:
            known[name].values.extend(own.values)
        elif not found.execution:
            values = list(own.values)
            known[name] = Series(own.unit, values, own.better, view_of=own.view_of, sharp=own.sharp, step=own.step)


def printed(
    read: Callable[[Source], Iterator[Result]], expected: str, document: Callable[[Source], bool] | None = None
) -> Live:
    """Make a format of the values instrument: one value of each benchmark, as a program prints it.

    Behind a mean its median and its fastest time, where they are printed too, become NAME.median and NAME.fastest,
    views of the mean, of which load disturbs the median less.

    Args:
        expected: what the output should be, for the message.
        document: whether an output is of the tool; None: it consists of lines, of which the last may be cut off.
    """

    def parse(data: bytes, units: Mapping[str, str | None]) -> dict[str, Series]:  # noqa: ARG001 - as all formats
        # what it says beside its results may be long, and come first
        found = _one_each(results(read, data, beginning=len(data)))
        if not found:
            is_empty = document is None or document(Source("the output", None, data))
            raise (EmptyError if is_empty else OutputError)(f"no benchmark in the output: {expected}")
        if document is None:
            refuse_cut_off(data, "the output")
        return found

    return parse


def _one_each(found: Iterable[Result]) -> dict[str, Series]:
    series: dict[str, Series] = {}
    views: dict[str, Series] = {}
    first: dict[str, tuple[str, str]] = {}
    for each in found:
        if isinstance(each, About):
            continue
        if isinstance(each, LeftOut) or not each.benchmark:
            raise OutputError(each.status if isinstance(each, (LeftOut, FailedResult)) else "a result without a name")
        name = visible(each.benchmark)
        if isinstance(each, FailedResult):
            raise OutputError(f"benchmark {name!r}: {each.status}")
        what = (each.metric, each.statistic) if isinstance(each, ToolAggregate) else ("", "")
        if first.setdefault(name, what) == what and name in series:
            raise OutputError(f"two benchmarks are called {name!r}: give each a name of its own")
        if isinstance(each, ProcessValues):
            metric = each.metrics.get("time") or next(iter(each.metrics.values()))
            values = [checked(value, metric.unit, f"{name}: {value}".encode()) for value in metric.values]
            series[name] = Series(metric.unit, values, metric.better)
        elif name not in series:
            value = checked(each.value, each.unit, f"{name}: {each.value}".encode())
            series[name] = Series(each.unit, [value], each.better)
        # of what a clock does not resolve there is no ratio
        elif first[name] == ("time", "mean") and each.metric == "time" and each.value > 0 and usable([each.value], "s"):
            view = {"median": "median", "p50": "median", "min": "fastest"}.get(each.statistic)
            if view is not None:
                views[f"{name}.{view}"] = Series("s", [each.value], view_of=name, sharp=view == "median")
    # a benchmark may have the name of another one's view
    return views | series if views.keys() & series.keys() else series | views
