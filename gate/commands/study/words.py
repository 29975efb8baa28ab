"""The words that all forms of a study report share."""

from __future__ import annotations

import math

from gate.model import study
from gate.units import format_number, format_share, plural
from gate.words.effects import alias_sets, level_of, named, partial_aliases, settings_text, unit_of


class Amounts:
    """Writes the values of a response in its one unit, which captions name; None is ""."""

    def __init__(self, response: study.Response) -> None:
        self.response = response
        self.unit = unit_of(response)
        self.log = response.scale == "log"
        self.changes = "percent" if self.log else self.unit.name
        """The unit that `change` writes in; "" for none."""
        self.squared = f", {self.unit.name}²" if self.unit.name and not self.log else ""
        """The unit that `squares` writes in, as a heading has it."""

    def level(self, value: float | None) -> str:
        """Write a value; of a logarithm the value itself."""
        return "" if value is None else format_number(level_of(value, self.response) / self.unit.factor)

    def change(self, value: float | None) -> str:
        """Write a difference; of logarithms as a percentage."""
        if value is None:
            return ""
        return format_share(math.expm1(min(value, 700.0))) if self.log else format_number(value / self.unit.factor)

    def signed(self, value: float | None) -> str:
        """Write a difference with its sign."""
        if value is not None and self.log:
            return format_share(math.expm1(min(value, 700.0)), sign=True)
        return f"{'+' if value is not None and value > 0 else ''}{self.change(value)}"

    def squares(self, value: float | None) -> str:
        """Write a sum of squares in the square of the unit; of logarithms it has none."""
        return "" if value is None else f"{value if self.log else value / self.unit.factor**2:.4g}"

    def ends(self, effect: study.Effect | None) -> tuple[str, str, str]:
        """Write an effect with the ends of its interval: low, estimate, high."""
        if effect is None:
            return "", "", ""
        write = self.change if effect.settings else self.level
        return write(effect.low), write(effect.estimate), write(effect.high)


def measured(response: study.Response) -> str:
    """Say what was measured: factors, treatments, units."""
    counts = [t.executions for t in response.treatments]
    factors = " x ".join(f"{f.name} ({', '.join(map(str, f.settings))})" for f in response.factors) or "no factor"
    each = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    unit = unit_of(response).name
    values = sum(t.values for t in response.treatments)
    text = (
        f"{factors}: {plural(len(response.treatments), 'treatment')}, "
        f"{each} {'start' if each == '1' else 'starts'} each, {plural(values, 'value')} in all. "
        "Executions are the units of the linear model"
    )
    kind = " of logarithms, so that means are geometric and effects are in percent" if response.scale == "log" else ""
    return f"{text}{kind}; values are in {unit}." if unit else f"{text}{kind}."


def below(response: study.Response, model: study.LinearModel) -> list[str]:
    """Say below a linear model what an effect is, what it also holds, and what the treatments do not separate."""
    two = [f for f in response.factors if len(f.settings) == 2]
    parts = []
    if two:
        names = ", ".join(f"{f.name} from {f.settings[0]} to {f.settings[1]}" for f in two)
        parts.append(f"effects are half the change ({names})")
    if len(two) < len(response.factors):
        more = "those of factors with more settings" if two else "effects"
        parts.append(f"{more} are distances from the mean of the settings")
    partial = [text for text in (partial_aliases(model),) if text]
    return ["; ".join(parts), *partial, *(f"not separable: {text}" for text in model.inestimable)]


ERRORS: dict[study.Error, str] = {
    "session": "sessions", "build": "builds", "build x treatment": "builds by treatment", "execution": "executions",
}  # fmt: skip
_BLOCKS: dict[study.Block, str] = {
    "replicate": "iterations of the design",
    "build": "rounds of builds",
    "session": "sessions",
}


def error_of(term: study.Term) -> str:
    """Name what a term is tested against: "builds (8 df)"."""
    if term.error_df is None:
        return f"too few {ERRORS[term.stratum]}"
    return f"{ERRORS[term.stratum]} ({term.error_df:.3g} df)"


def errors(model: study.LinearModel) -> str:
    """Say which terms are tested against what: "a, a:b against builds (8 df); b against executions (16 df)"."""
    of: dict[str, list[str]] = {}
    for term in model.terms:
        of.setdefault(error_of(term), []).append(term.term)
    told = "; ".join(f"{', '.join(terms) if len(of) > 1 else 'tested'} against {error}" for error, terms in of.items())
    return f"{told}; {method(model)}"


def method(model: study.LinearModel) -> str:
    """Say how errors were separated, and within what executions are compared."""
    block = f"compared within {model.blocks} {_BLOCKS[model.block]}; " if model.block else ""
    exact = {
        "least squares": "by least squares",
        "projections": "balanced, so that sums of squares are exact",
        "REML": "not balanced: variances by REML, degrees of freedom by Satterthwaite",
    }
    return f"{block}{exact[model.method]}"


def effect_name(effect: study.Effect, response: study.Response, model: study.LinearModel | None = None) -> str:
    """Name an effect: its term, or the settings where the term alone is ambiguous, and what it cannot be told from.

    Args:
        model: of an abridged data set, whose aliases are its own.
    """
    aliases = alias_sets(response, model).get(effect.term, [])
    sizes = {f.name: len(f.settings) for f in response.factors}
    if effect.settings and any(sizes.get(name, 2) != 2 for name in effect.settings):
        name = settings_text(effect.settings)
    else:
        name = effect.term
    return named(name, aliases)


def blocks(response: study.Response, found: study.Blocks) -> str:
    """Say what a block plot shows, with the exact chance that all boxes agree where they are independent."""
    shared = next((f.varies for f in response.factors if f.name == found.factor and f.varies != "execution"), None)
    if shared is not None:
        same = f"one order in {found.same} of {found.complete} boxes"
        return f"{found.factor}: {same}; they share {shared}s, so no probability is given"
    if found.order is None or found.chance is None:
        return f"{found.factor}: the same order in {found.same} of {found.complete} boxes"
    luck = format_share(found.chance) if found.chance >= 1e-5 else "less than 0.001%"
    order = " below ".join(map(str, found.order))
    return f"{found.factor}: {order} in all {found.complete} boxes; by chance alone in {luck} of such experiments"


def lacking(response: study.Response) -> list[str]:
    """Say which combinations were not measured."""
    if not response.lacking:
        return []
    some = "; ".join(settings_text(at) for at in response.lacking[:3])
    more = f" and {len(response.lacking) - 3} more" if len(response.lacking) > 3 else ""
    return [f"{plural(len(response.lacking), 'combination')} of settings not measured: {some}{more}"]


def cautions(response: study.Response) -> list[str]:
    """Return what a reader of the response must keep in mind."""
    return [
        *response.warnings,
        *(response.diagnostics.warnings if response.diagnostics else []),
        *(response.quantiles.warnings if response.quantiles else []),
        *lacking(response),
    ]


def checks(response: study.Response) -> list[study.Check]:
    """Return all checks of a response."""
    return [*(response.diagnostics.checks if response.diagnostics else []), *(d.check for d in response.dependences)]
