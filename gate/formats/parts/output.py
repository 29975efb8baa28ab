"""What readers give of one execution, and what is wrong with it: series of values, errors of one line."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from gate.model import Better
from gate.model.bounds import LARGEST, SMALLEST, out_of_bounds
from gate.model.digits import Digits
from gate.writing.plain import visible

_LONGEST = 500
"""Characters of an error."""
_SHOWN = 60
_NO_NEGATIVES = ("s", "B", "1/s", "B/s")
NAME = r"\S(?:.*?\S)??"
"""A printed name, for a pattern; spaces follow it as `\\s++`, so that a long line of any other text is left at once."""


class OutputError(ValueError):
    """A tool's output that gives no usable values; its text is one line, whatever it quotes."""

    def __init__(self, why: str) -> None:
        line = visible(why)
        super().__init__(line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…")


class EmptyError(OutputError):
    """The output of a tool that found no benchmark."""


@dataclass(frozen=True, slots=True)
class Series:
    """The values of one metric in order, in its base unit (s, B or a count)."""

    unit: str
    values: list[float]
    better: Better | None = None
    """What the tool says; None: its name and unit are all there is."""
    whole: bool = False
    """Its one value is of the whole output, which has no warm-up to drop."""
    view_of: str | None = None
    """The metric that it shows by another clock or statistic; None: it is one of its own."""
    sharp: bool = False
    """Of such a view: what else runs on the host disturbs it less."""
    step: float | None = field(default=None, compare=False)
    """Of the last digit that the tool wrote; None: as its values say, where they are `Digits`."""


@dataclass(frozen=True, slots=True)
class Suite:
    """The benchmarks that a suite's output names, in its order."""

    benchmarks: dict[str, dict[str, Series]]
    """By discovered name, the values of each metric in the order in which they were measured, in base units."""
    errors: dict[str, str]
    """Discovered names that gave no usable values, and why, in one line."""


Live = Callable[[bytes, Mapping[str, str | None]], dict[str, Series]]
"""Reads a program's output, given the declared metrics and their units (None: not said); raises OutputError.

A module of gate/formats whose LIVE is one can be the `format` of a benchmark, by the module's name.
"""


def refuse_cut_off(data: bytes, what: str) -> None:
    """Refuse a text whose last line has no newline at its end: of 0.123 the beginning is a number too.

    Raises:
        OutputError: naming what it is.
    """
    end = data.rpartition(b"\n")[2].strip()
    if end:
        raise OutputError(
            f"the last line of {what}, {shown(end)}, has no newline at its end, so it may be cut off: end every line "
            "with a newline"
        )


def number(line: bytes) -> Digits:
    """Read a number. Raises OutputError: it is none."""
    try:
        # float() would take 1_000
        if b"_" in line:
            raise ValueError
        return Digits(line)
    except ValueError:
        raise OutputError(f"{shown(line)} is not a number") from None


def plain_metric(units: Mapping[str, str | None]) -> str:
    """Name the metric of values that come without a name: the only declared one, else time."""
    return next(iter(units)) if len(units) == 1 else "time"


def usable(values: Sequence[float], unit: str) -> bool:
    """Return whether all of some values of a base unit can be computed with."""
    return out_of_bounds(values) is None and (unit not in _NO_NEGATIVES or min(values, default=0.0) >= 0)


def _fault(value: float, unit: str) -> str:
    if not math.isfinite(value):
        return "is not a finite number"
    if out_of_bounds([value]) is not None:
        return f"is neither 0 nor of a size from {SMALLEST:g} to {LARGEST:g}"
    return "is below 0" if value < 0 and unit in _NO_NEGATIVES else ""


def checked(value: float, unit: str, line: bytes) -> float:
    """Return a value of a base unit.

    Raises:
        OutputError: it is no finite number, too large or small, or a time, size or rate below 0; line: what it was read
            from.
    """
    if why := _fault(value, unit):
        raise OutputError(f"{shown(line)} {why}")
    return value


def shown(line: bytes) -> str:
    """Quote the beginning of a line for a message, without control characters."""
    text = line.decode("utf-8", "replace")
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")


def why_unusable(metric: str, values: Sequence[float], unit: str) -> str:
    """Say why the values of a metric, in a base unit, cannot be used; "": they can."""
    if not values:
        return f"no values of {metric!r}"
    if usable(values, unit):
        return ""
    return next(f"{value:g} in {metric!r} {why}" for value in values if (why := _fault(value, unit)))
