"""The words that all forms of a study report share."""

from __future__ import annotations

import math

from gate.model.study import Abridged, Blocks, Effect, Response, Stratum
from gate.units import format_number, format_share, shown_unit
from gate.words.effects import settings_text
from gate.words.numbers import plural

UNITS = {"iteration": "iterations", "execution": "executions", "build": "builds"}


def scale_of(response: Response) -> tuple[float, str]:
    """Return what the numbers of a response are divided by, and the unit that is then theirs."""
    if response.scale == "log":
        return 1.0, f"ln({response.unit})" if response.unit else "ln"
    means = sorted(abs(t.mean) for t in response.treatments if math.isfinite(t.mean)) or [1.0]
    return shown_unit(means[len(means) // 2], response.unit)


def number(value: float, response: Response, *, sign: bool = False) -> str:
    """Write a number of a response in its own scaled unit, which is named once for all."""
    factor, _ = scale_of(response)
    text = format_number(value / factor)
    return f"+{text}" if sign and value > 0 else text


def unit_name(response: Response) -> str:
    """Name the unit that `number` writes in; "" for none."""
    return scale_of(response)[1]


def t_value(estimate: float, error: float | None) -> str:
    """Write an estimate over its standard error; "" where there is none."""
    return "" if not error else f"{estimate / error:.2f}"


def squared(response: Response) -> str:
    """Name the unit of sums of squares, which are in the base unit; "" for none."""
    return f"{response.unit}²" if response.unit and response.scale == "value" else ""


def measured(response: Response) -> str:
    """Say what was measured: factors, treatments, units."""
    counts = [t.executions for t in response.treatments]
    factors = " x ".join(f"{f.name} ({', '.join(map(str, f.settings))})" for f in response.factors) or "no factor"
    each = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    unit = unit_name(response)
    values = sum(t.values for t in response.treatments)
    text = (
        f"{factors}: {plural(len(response.treatments), 'treatment')}, "
        f"{each} {'execution' if each == '1' else 'executions'} each, {plural(values, 'value')} in all. "
        f"{UNITS[response.analysis_unit].capitalize()} are the units of the linear model"
    )
    kind = " of logarithms" if response.scale == "log" else ""
    return f"{text}{kind}; numbers are in {unit}." if unit else f"{text}{kind}."


def coding(response: Response) -> str:
    """Say what an effect is."""
    two = [f for f in response.factors if len(f.settings) == 2]
    parts = []
    if two:
        names = ", ".join(f"{f.name} from {f.settings[0]} to {f.settings[1]}" for f in two)
        parts.append(f"effects are half the change ({names})")
    if len(two) < len(response.factors):
        parts.append("those of factors with more settings are distances from their mean")
    return "; ".join(parts)


def effect_name(effect: Effect, response: Response) -> str:
    """Name an effect: its term, and the settings where the term alone is ambiguous."""
    sizes = {f.name: len(f.settings) for f in response.factors}
    if all(sizes.get(name, 2) == 2 for name in effect.settings):
        return effect.term
    return settings_text(effect.settings)


def blocks(response: Response, found: Blocks) -> str:
    """Say what a block plot shows, with the exact chance of its pattern where boxes are independent."""
    shared = next((f.varies for f in response.factors if f.name == found.factor and f.varies != "execution"), None)
    if shared is not None:
        return f"{found.factor}: one order in {found.same} of {found.complete} boxes, which share {shared}s: no chance"
    if found.order is not None and found.chance is not None:
        order = " below ".join(map(str, found.order))
        return (
            f"{found.factor}: {order} in all {found.complete} boxes; by chance alone in "
            f"{format_share(min(found.chance, 1.0))} of such experiments"
        )
    tail = "" if found.tail is None else f"; so many or more by chance in {format_share(min(found.tail, 1.0))}"
    return f"{found.factor}: the same order in {found.same} of {found.complete} boxes{tail}"


def abridged(response: Response, found: Abridged) -> list[str]:
    """Say which effects an abridged data set has, beside those of all treatments."""
    whole = {t.term: t for t in (response.linear.terms if response.linear else [])}
    lines = [f"{plural(found.treatments, 'treatment')}, {'balanced' if found.balanced else 'not balanced'}"]
    for term in found.linear.terms:
        if len(term.factors) != 1:
            continue
        for effect in term.effects:
            full = next((e for e in (whole[term.term].effects if term.term in whole else [])
                         if e.settings == effect.settings), None)  # fmt: skip
            beside = "" if full is None else f" (with all treatments {number(full.estimate, response, sign=True)})"
            lines.append(f"{effect_name(effect, response)}: {number(effect.estimate, response, sign=True)}{beside}")
    return lines


def stratum(found: Stratum) -> str:
    """Say what a stratum is for."""
    names = list(dict.fromkeys(name for term in found.linear.terms for name in term.factors))
    varies = f"{' and '.join(names)} {'varies' if len(names) == 1 else 'vary'} by {found.level}"
    return f"{varies}: on the means of the {found.units} {found.level}s, whose executions share their luck"


def lacking(response: Response) -> list[str]:
    """Say which combinations were not measured."""
    if not response.lacking:
        return []
    some = "; ".join(settings_text(at) for at in response.lacking[:3])
    more = f" and {len(response.lacking) - 3} more" if len(response.lacking) > 3 else ""
    return [f"{plural(len(response.lacking), 'combination')} of settings not measured: {some}{more}"]
