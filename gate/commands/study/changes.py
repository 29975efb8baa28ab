"""Changes of a response in words: in its unit, or in percent of a logarithmic scale."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from gate.model.study import Effect, Factor, LinearModel, Response, Setting
from gate.writing import amounts
from gate.writing.amounts import format_number, shown_unit
from gate.writing.phrases import listed
from gate.writing.units import format_confidence

_NAMED = 2
"""Aliases that are named where there are many."""


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


class EffectInterval(msgspec.Struct, frozen=True):
    """What changes between two settings; low and high None: it has no interval. Of a logarithm: its difference."""

    estimate: float
    low: float | None
    high: float | None
    first: Setting
    second: Setting


def change_of(effect: Effect, factor: Factor) -> EffectInterval:
    """Turn the effect of a factor of two settings, half the change, into the change."""
    low, high = (None if end is None else 2 * end for end in (effect.low, effect.high))
    return EffectInterval(2 * effect.estimate, low, high, factor.settings[0], factor.settings[-1])


def say_change(change: EffectInterval, response: Response, confidence: float | None) -> str:
    """Write a change: "+3.1 ms (95%: +2.8 to +3.4 ms)"; without a confidence the estimate alone."""
    text = signed(change.estimate, response)
    if confidence is None or change.low is None or change.high is None:
        return text
    low, high = (signed(end, response) for end in (change.low, change.high))
    return f"{text} ({format_confidence(confidence)}: {low} to {high})"


def signed(value: float, response: Response) -> str:
    """Write a difference with its sign; of logarithms as the share by which values change."""
    if response.scale == "log":
        return amounts.changed(math.exp(min(value, 700.0)))
    return f"{'-' if value < 0 else '+'}{size(value, response)}"


def size(value: float, response: Response) -> str:
    """Write the size of a change without its sign."""
    if response.scale == "log":
        return amounts.size(math.exp(min(abs(value), 700.0)))
    unit = unit_of(response)
    return f"{format_number(abs(value) / unit.factor, 3)} {unit.name}".rstrip()


def named(term: str, aliases: Sequence[str]) -> str:
    """Name a term with those that it cannot be told from: "C, or A:B", "C, or one of A:B, D:E and 3 more"."""
    if len(aliases) < 2:
        return ", or ".join([term, *aliases])
    # one more name is as short as "1 more"
    if len(aliases) <= _NAMED + 1:
        return f"{term}, or one of {', '.join(aliases[:-1])} and {aliases[-1]}"
    return f"{term}, or one of {', '.join(aliases[:_NAMED])} and {len(aliases) - _NAMED} more"


def named_short(term: str, aliases: Sequence[str]) -> str:
    """Name a term with its aliases where there is little room: "C, or A:B", "C, or 5 others"."""
    return named(term, aliases) if len(aliases) < 2 else f"{term}, or {len(aliases)} others"


def alias_sets(response: Response, model: LinearModel | None = None) -> dict[str, list[str]]:
    """Return what terms of a response cannot be told from; model: that of an abridged data set, in place of its own."""
    own = model or response.linear
    found = {t.term: t.aliases for t in own.terms} if own else {}
    if response.lenth is not None and model in (None, response.linear):
        found = {c.term: c.aliases for c in response.lenth.contrasts} | found
    return {term: names for term, names in found.items() if names}


def partial_aliases(model: LinearModel) -> str:
    """Say which interactions the effects of a model hold a part of; "" where there are none."""
    biased = [t for t in model.terms if t.partial_aliases]
    told = []
    for term in biased[:_NAMED]:
        largest = sorted(term.partial_aliases.items(), key=lambda own: -round(abs(own[1]), 6))
        told.append(f"{term.term} {listed([f'{part:+.2g} of {name}' for name, part in largest], _NAMED)}")
    more = f"; {len(biased) - _NAMED} more alike" if len(biased) > _NAMED else ""
    return f"effects also hold a part of interactions: {'; '.join(told)}{more}" if biased else ""


def percentile(tau: float) -> str:
    """Name a quantile: 0.99 -> "p99"."""
    return f"p{100 * tau:.10g}"


def settings_text(settings: Mapping[str, Setting]) -> str:
    """Write settings: "load=busy, clients=8"."""
    return ", ".join(f"{name}={setting}" for name, setting in settings.items())
