"""Changes of a response in words: in its unit, or in percent of a logarithmic scale."""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec

from gate.model.study import Effect, Factor, Response, Scale, Setting
from gate.units import format_confidence, format_value
from gate.words import numbers


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
    text = signed(change.estimate, response.unit, response.scale)
    if confidence is None or change.low is None or change.high is None:
        return text
    low, high = (signed(end, response.unit, response.scale, like=change.estimate) for end in (change.low, change.high))
    return f"{text} ({format_confidence(confidence)}: {low} to {high})"


def signed(value: float, unit: str, scale: Scale, *, like: float | None = None) -> str:
    """Write a difference with its sign; of logarithms as the share by which values change."""
    if scale == "log":
        return numbers.changed(math.exp(min(value, 700.0)))
    text = format_value(abs(value), unit, like=None if like is None else abs(like), digits=3)
    return f"{'-' if value < 0 else '+'}{text}"


def size(value: float, response: Response) -> str:
    """Write the size of a change without its sign."""
    if response.scale == "log":
        return numbers.size(math.exp(min(abs(value), 700.0)))
    return format_value(abs(value), response.unit, digits=3)


def percentile(tau: float) -> str:
    """Name a quantile: 0.99 -> "p99"."""
    return f"p{100 * tau:.10g}"


def settings_text(settings: Mapping[str, Setting]) -> str:
    """Write settings: "load=busy, clients=8"."""
    return ", ".join(f"{name}={setting}" for name, setting in settings.items())
