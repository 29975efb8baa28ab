"""Helpers of the adapters of suites: lenient JSON, printable names, checks of values."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from gate.formats.live.values import EmptyError, OutputError, Series, checked, usable
from gate.model.bounds import out_of_bounds, why_out_of_bounds
from gate.model.visible import visible


@dataclass(frozen=True, slots=True)
class Suite:
    """The benchmarks that a suite's output names, in its order."""

    benchmarks: dict[str, dict[str, Series]]
    """By discovered name, the values of each metric in the order in which they were measured, in base units."""
    errors: dict[str, str]
    """Discovered names that gave no usable values, and why, in one line."""


T = TypeVar("T")
NAME = r"\S(?:.*?\S)??"
"""A printed name, for a pattern; spaces follow it as `\\s++`, so that a long line of any other text is left at once."""
_NO_NEGATIVES = ("s", "B", "1/s", "B/s")
UNQUOTED = re.compile(
    r'"(?:[^"\\]|\\.)*+"|(?<![\w.])-?(?:nan(?:\([\w ]*\))?|inf(?:inity)?|1\.#[A-Z]{3,4})(?!\w)',
    re.DOTALL | re.IGNORECASE,
)
_SURROGATES = re.compile(
    r"\\\\|\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|(\\ud[89a-f][0-9a-f]{2})", re.ASCII | re.IGNORECASE
)
"""Of JSON's text: a backslash, a pair, or half of one, which is no text and nothing can write."""
"""A string, or a number that is none as C, C++ and the library of Microsoft print it."""


def parse_json(text: str, whole: Callable[[str], float] = float) -> Any:
    """Read JSON that may hold NaN, Infinity, nan, inf, raw control characters and halves of a surrogate pair.

    Args:
        whole: reads an integer; one of any length fits into a float, if only as infinity.

    Raises:
        ValueError: it is no JSON.
        RecursionError: it is too deep.
    """
    if "\\ud" in text or "\\uD" in text:
        text = _SURROGATES.sub(lambda found: f"\\{found[1]}" if found[1] else found[0], text)
    try:
        return json.loads(text, strict=False, parse_int=whole)
    except json.JSONDecodeError:
        replaced = UNQUOTED.sub(_as_python, text)
        if replaced == text:
            raise
        return json.loads(replaced, strict=False, parse_int=whole)


def _as_python(found: re.Match[str]) -> str:
    """Write a number that JSON does not have as Python's reader knows it; a string stays."""
    shown = found[0].lower()
    if shown.startswith('"'):
        return found[0]
    if shown.lstrip("-").startswith("inf") or shown.endswith("#inf"):
        return "-Infinity" if shown.startswith("-") else "Infinity"
    return "NaN"


def read_json(data: bytes, shape: type[T], what: str) -> T:
    """Read JSON that may hold NaN, nan, Infinity, inf, raw control characters and bytes that are no UTF-8.

    Args:
        what: what it is, for the message.

    Raises:
        OutputError: it is no JSON, or not of the shape.
    """
    try:
        text = data.decode("utf-8", "backslashreplace")
        return msgspec.convert(parse_json(text), shape)
    except (ValueError, RecursionError) as error:
        raise OutputError(f"{what} is not as expected: {visible(str(error)).replace('`', '')}") from None


def add(suite: Suite, name: str, series: Mapping[str, Series]) -> None:
    """Add a benchmark with its metrics, or an error where it cannot be used: a name twice, no values, or bad ones."""
    name = visible(name)
    if name in suite.benchmarks or name in suite.errors:
        suite.benchmarks.pop(name, None)
        suite.errors[name] = "two benchmarks have this name"
        return
    faults = [fault for metric, each in series.items() if (fault := why_unusable(metric, each))]
    if faults:
        suite.errors[name] = faults[0]
    else:
        suite.benchmarks[name] = dict(series)


def why_unusable(metric: str, series: Series) -> str | None:
    """Say why the values of a metric cannot be used; None: they can."""
    if not series.values:
        return f"no values of {metric!r}"
    if usable(series.values, "s" if series.unit in _NO_NEGATIVES else series.unit):
        return None
    for value in series.values:
        if not math.isfinite(value):
            return f"{value} in {metric!r} is not a finite number"
        if out_of_bounds([value]) is not None:
            return f"{metric!r} holds {why_out_of_bounds(value)}"
        if value < 0 and series.unit in _NO_NEGATIVES:
            return f"{value:g} in {metric!r} is below 0"
    return None


def times(found: Iterable[tuple[str, float, *tuple[float | None, ...]]], what: str) -> dict[str, Series]:
    """Make metrics of named times in seconds, as a program prints one of each benchmark.

    Args:
        found: the name and the mean of each; behind it its median and its fastest time, where they are printed, too.
            They become NAME.median and NAME.fastest, views of the mean, of which load disturbs the median less.
        what: what the output should be, for the message.

    Raises:
        EmptyError: there is none.
        OutputError: two have one name, or one is not a usable time.
    """
    series: dict[str, Series] = {}
    views: dict[str, Series] = {}
    for name, seconds, *others in found:
        if name in series:
            raise OutputError(f"two benchmarks are called {name!r}: give each a name of its own")
        series[name] = Series("s", [checked(seconds, "s", f"{name}: {seconds}".encode())])
        for view, value in zip(("median", "fastest"), others, strict=False):
            # of what a clock does not resolve there is no ratio
            if value is not None and value > 0 and usable([value], "s"):
                views[f"{name}.{view}"] = Series("s", [value], view_of=name, sharp=view == "median")
    if not series:
        raise EmptyError(f"no benchmark in the output: {what}")
    # a benchmark may have the name of another one's view
    return views | series if views.keys() & series.keys() else series | views
