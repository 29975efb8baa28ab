"""Changes of a response in words: in its unit, or in percent of a logarithmic scale."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from gate.model.study import Effect, Factor, Response, Setting, Trend
from gate.units import format_confidence, format_number, shown_unit
from gate.words import numbers


class Unit(msgspec.Struct, frozen=True):
    """What numbers in the base unit of a response are divided by, and the name of the result."""

    factor: float
    name: str


def unit_of(response: Response) -> Unit:
    """Return the one unit of all words, tables and pictures of a response: that of its middle treatment."""
    means = sorted(abs(level_of(t.mean, response)) for t in response.treatments if math.isfinite(t.mean))
    return Unit(*shown_unit(means[len(means) // 2] if means else 1.0, response.unit))


def level_of(value: float, response: Response) -> float:
    """Return a value of a response itself, where it is its logarithm."""
    return math.exp(min(value, 700.0)) if response.scale == "log" else value


class Change(msgspec.Struct, frozen=True):
    """What changes between two settings; low and high None: it has no interval. Of a logarithm: its difference."""

    estimate: float
    low: float | None
    high: float | None
    first: Setting
    second: Setting


def change_of(effect: Effect, factor: Factor) -> Change:
    """Turn the effect of a factor of two settings, half the change, into the change."""
    low, high = (None if end is None else 2 * end for end in (effect.low, effect.high))
    return Change(2 * effect.estimate, low, high, factor.settings[0], factor.settings[-1])


def say_change(change: Change, response: Response, confidence: float | None) -> str:
    """Write a change: "+3.1 ms (95%: +2.8 to +3.4 ms)"; without a confidence the estimate alone."""
    text = signed(change.estimate, response)
    if confidence is None or change.low is None or change.high is None:
        return text
    low, high = (signed(end, response) for end in (change.low, change.high))
    return f"{text} ({format_confidence(confidence)}: {low} to {high})"


def signed(value: float, response: Response) -> str:
    """Write a difference with its sign; of logarithms as the share by which values change."""
    if response.scale == "log":
        return numbers.changed(math.exp(min(value, 700.0)))
    return f"{'-' if value < 0 else '+'}{size(value, response)}"


def size(value: float, response: Response) -> str:
    """Write the size of a change without its sign."""
    if response.scale == "log":
        return numbers.size(math.exp(min(abs(value), 700.0)))
    unit = unit_of(response)
    return f"{format_number(abs(value) / unit.factor, 3)} {unit.name}".rstrip()


def say_trend(trend: Trend, response: Response) -> str:
    """Write a trend: "+2.3 ms per doubling, less at the high end (curvature -0.4 ms)".

    The curvature is said where its interval leaves out 0.
    """
    step = "doubling" if trend.axis == "log2" else f"unit of {trend.factor}"
    text = f"{signed(trend.slope.estimate, response)} per {step}"
    bend = trend.curvature
    if bend is None or bend.low is None or bend.high is None or bend.low <= 0 <= bend.high:
        return text
    more = "more" if (bend.estimate > 0) == (trend.slope.estimate > 0) else "less"
    return f"{text}, {more} at the high end (curvature {signed(bend.estimate, response)})"


def either(term: str, aliases: Sequence[str], most: int = 2) -> str:
    """Name a term with those that it cannot be told from: "C, or A:B"."""
    if not aliases:
        return term
    if len(aliases) <= most:
        return f"{term}, or {' or '.join(aliases)}"
    return f"{term}, or one of {', '.join(aliases[:most])} and {len(aliases) - most} more"


def named(term: str, aliases: Sequence[str]) -> str:
    """Name the same within a sentence, where a comma ends it."""
    return f"{either(term, aliases)}," if aliases else term


def percentile(tau: float) -> str:
    """Name a quantile: 0.99 -> "p99"."""
    return f"p{100 * tau:.10g}"


def settings_text(settings: Mapping[str, Setting]) -> str:
    """Write settings: "load=busy, clients=8"."""
    return ", ".join(f"{name}={setting}" for name, setting in settings.items())
