"""What readers give of one execution, and what is wrong with it: values, units as people write them, errors."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from gate.model import Better
from gate.model.bounds import LARGEST, SMALLEST, out_of_bounds
from gate.writing.plain import visible
from gate.writing.units import meant, to_base

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

    Raises: OutputError: naming what it is.
    """
    end = data.rpartition(b"\n")[2].strip()
    if end:
        raise OutputError(
            f"the last line of {what}, {shown(end)}, has no newline at its end, so it may be cut off: end every line "
            "with a newline"
        )


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


# --- units as people write them ("ns/iter", "ops/sec", "Megabytes") ---------------------------------------------------


_OPERATION = (
    r"(?:ops?|operations?|iter(?:s|ations?)?|runs?|calls?|invocations?|execs?|executions?|loops?|req(?:s|uests?)?|times?|x|"
    r"tx|transactions?|quer(?:y|ies)|msgs?|messages?|events?|samples?|cycles?)"
)
_EACH = re.compile(rf"({NAME})\s*+(?:/|\bper\b)\s*+{_OPERATION}", re.IGNORECASE)
_RATE = re.compile(rf"({NAME}|)\s*+(?:/|\bper\b)\s*+(ns|us|µs|μs|ms|s|secs?|seconds?|m|mins?|minutes?)", re.IGNORECASE)
_NAMED_RATES = {"rps", "qps", "tps", "iops", "fps", "hz", "ops"}
_SIZES = {"b", "byte", "bytes"}
_OTHER_SECONDS = {"secs": 1.0, "m": 60.0, "mins": 60.0}


class Written(msgspec.Struct, frozen=True):
    """What a written unit means."""

    unit: str
    """The base unit, or the unit itself where it is not known."""
    scale: float = 1.0
    """Takes a value to it."""
    metric: str = "value"
    """"time", "throughput", or "value" where the unit does not say what is measured."""


def written(text: str) -> Written:
    """Read a unit."""
    own = text.strip()
    each = _EACH.fullmatch(own)
    base, scale = _known(each[1] if each else own)
    if base == "s":
        return Written("s", scale, metric="time")
    if base == "B":
        return Written("B", scale)
    rate = _RATE.fullmatch(own)
    if rate is None:
        return Written("1/s", 1.0, "throughput") if own.lower() in _NAMED_RATES else Written(*_known(own))
    below = rate[2].lower()
    seconds = _OTHER_SECONDS.get(below) or to_base(meant(below) or below)[1]
    of, factor = _known(rate[1])
    if of == "B":
        return Written("B/s", factor / seconds, "throughput")
    if re.fullmatch(_OPERATION, of, re.IGNORECASE) or not rate[1]:
        return Written("1/s", factor / seconds, "throughput")
    return Written(*_known(own), "throughput")


def _known(text: str) -> tuple[str, float]:
    own = text.strip()
    if own.lower() in _SIZES:
        return "B", 1.0
    base, scale = to_base(own)
    if base in ("s", "B"):
        # an "m" alone may be anything
        return (base, scale) if own != "m" else (own, 1.0)
    known = meant(own) if len(own) > 1 else None
    return to_base(known) if known is not None else (base, scale)
