"""The file that github-action-benchmark takes for customSmallerIsBetter and customBiggerIsBetter."""

from __future__ import annotations

from collections.abc import Iterator

from gate.results.checking import numbered
from gate.results.parts.action_benchmarks import Bench, of_bench
from gate.results.result import About, Format, Result
from gate.results.source import Source

FORMAT = Format(
    title="github-action-benchmark (the file of customSmallerIsBetter and customBiggerIsBetter)",
    execution="the file",
    iteration="none: a value a benchmark",
    trap=("only the unit may say which values are better (ms, ops/s); what a range means is not known"),
)


def recognises(source: Source) -> bool:
    """Return whether it is a list of objects with a name, a value and a unit."""
    found = source.head.json
    # the last may be cut off
    own = found if source.head.whole or not isinstance(found, list) else found[:-1]
    return isinstance(own, list) and bool(own) and all(_is_bench(each) for each in own[:50])


def _is_bench(found: object) -> bool:
    return (
        isinstance(found, dict) and {"name", "value", "unit"} <= found.keys() and not isinstance(found["value"], dict)
    )


def read(source: Source) -> Iterator[Result]:
    """Yield the value of each benchmark."""
    return numbered(_read(source))


def _read(source: Source) -> Iterator[Result]:
    yield About(tool="github-action-benchmark")
    for bench in source.items("", Bench, "the list of benchmarks"):
        yield from of_bench(bench, "", set(), {}, 0)
