"""The words of a study: those that all forms of its report share, and the sentences of its analysis."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gate.commands.study.changes import (
    EffectInterval,
    alias_sets,
    change_of,
    level_of,
    named,
    partial_aliases,
    percentile,
    say_change,
    settings_text,
    signed,
    size,
    unit_of,
)
from gate.model import study
from gate.model.study import Effect, Factor, LinearModel, QuantileModel, Response
from gate.stats.special import stdtrit
from gate.writing.amounts import format_number
from gate.writing.phrases import joined, listed
from gate.writing.units import format_share, plural


class Amounts:
    """Writes the values of a response in its one unit, which captions name; None is ""."""

    def __init__(self, response: study.Response) -> None:
        self.response = response
        self.unit = unit_of(response)
        self.log = response.scale == "log"
        self.changes = "percent" if self.log else self.unit.name
        """The unit that `change` writes in; "" for none."""
        self.sign = "%" if self.log else self.unit.name
        """The same, as an axis has it."""
        self.squared = f", {self.unit.name}²" if self.unit.name and not self.log else ""
        """The unit that `squares` writes in, as a heading has it."""

    def level(self, value: float | None) -> str:
        """Write a value; of a logarithm the value itself."""
        return "" if value is None else format_number(level_of(value, self.response) / self.unit.factor)

    def number(self, change: float) -> float:
        """Return the number of a difference; of logarithms its percentage."""
        return 100 * math.expm1(min(change, 300.0)) if self.log else change / self.unit.factor

    def change(self, value: float | None) -> str:
        """Write a difference; of logarithms as a percentage."""
        if value is None:
            return ""
        return format_share(self.number(value) / 100) if self.log else format_number(self.number(value))

    def signed(self, value: float | None) -> str:
        """Write a difference with its sign."""
        if value is not None and self.log:
            return format_share(self.number(value) / 100, sign=True)
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
    some = listed([*map(settings_text, response.lacking)], between="; ")
    return [f"{plural(len(response.lacking), 'combination')} of settings not measured: {some}"]


def cautions(response: study.Response) -> list[str]:
    """Return what a reader of the response must keep in mind."""
    return [
        *response.warnings,
        *(response.diagnostics.warnings if response.diagnostics else []),
        *(response.quantiles.warnings if response.quantiles else []),
        *lacking(response),
    ]


def checks(response: study.Response) -> list[study.ModelCheck]:
    """Return all checks of a response."""
    return [*(response.diagnostics.checks if response.diagnostics else []), *(d.check for d in response.dependences)]


# --- sentences: which factors matter for which quantile, by how much, and is it enough? Only what the family claims ---

_SAID = 4
"""Most factors and most interactions that sentences name."""


def words_of(response: Response, confidence: float) -> list[str]:
    """Sum up a response in sentences, the most important first."""
    if response.linear is None:
        return []
    if any(claim.by == "lenth" for claim in response.claims):
        found = _of_contrasts(response)
    else:
        found = _on_the_mean(response, response.linear, confidence)
    if response.diagnostics is not None and not all(check.holds for check in response.diagnostics.checks):
        found.append("The linear model of the mean is doubtful here: use the quantiles. The checks show why.")
    if response.quantiles is not None:
        # of a quantile that lacks values nothing is claimed; that it does is said at the end
        told = {claim.statistic for claim in response.claims if claim.p is not None}
        models = [m for m in response.quantiles.models if percentile(m.tau) in told]
        found += [_at(response, model) for model in models]
        for factor in response.factors:
            found += filter(None, (_along(response, models, factor), _in_the_tail(response, models, factor)))
    return [*found, *_spread(response), *_enough(response)]


def _called(term: str, aliases: Sequence[str]) -> str:
    """Name a term in a sentence, with those that it cannot be told from: "C, or A:B,"."""
    return f"{named(term, aliases)}," if aliases else term


def _claimed(response: Response, statistic: str) -> set[str]:
    return {claim.term for claim in response.claims if claim.statistic == statistic and claim.claimed}


def _of_contrasts(response: Response) -> list[str]:
    """Say which contrasts of an unreplicated design are more than noise."""
    claimed = _claimed(response, "mean")
    acting = [c for c in (response.lenth.contrasts if response.lenth else ()) if c.term in claimed]
    if not acting:
        return ["By Lenth's method no contrast is more than noise: each treatment has one observation."]
    told = [f"{_called(c.term, c.aliases)} ({signed(2 * c.estimate, response)})" for c in acting]
    return [f"Each treatment has one observation; by Lenth's method more than noise: {joined(told, 6)}."]


def _on_the_mean(response: Response, model: LinearModel, confidence: float) -> list[str]:
    mains = [term for term in model.terms if len(term.factors) == 1]
    tested = [term for term in mains if term.p is not None]
    if not tested:
        return ["The mean: the measurements cannot separate an effect from noise."]
    claimed = _claimed(response, "mean")
    clear = sorted((t for t in tested if t.term in claimed), key=lambda t: -t.sum_of_squares)
    sentences: list[str] = []
    for term in clear[:_SAID]:
        factor = next(f for f in response.factors if f.name == term.factors[0])
        part = term.share
        share = "" if part is None else f", {'under 1%' if part < 0.01 else f'{part:.0%}'} of all variability"
        lead = "has an effect on the mean, too" if sentences else "has the largest effect on the mean"
        if len(factor.settings) == 2:
            change = change_of(term.effects[0], factor)
            between = f"from {change.first} to {change.second}"
        else:
            low, high = (pick(term.effects, key=lambda e: e.estimate) for pick in (min, max))
            settings = low.settings[factor.name], high.settings[factor.name]
            change = EffectInterval(high.estimate - low.estimate, None, None, *settings)
            between = f"from its lowest setting, {change.first}, to its highest, {change.second}"
        said = say_change(change, response, confidence)
        sentences.append(f"{_called(term.term, term.aliases)} {lead}: {said} {between}{share}.")
    unclear = [term for term in tested if term not in clear]
    if unclear:
        # say which factors show no effect, and how large one could still be
        sizes = []
        for term in unclear:
            ends = [abs(end) for e in term.effects for end in (e.low, e.high) if end is not None]
            # of two settings half the change; of more the distance from their mean, which two settings may both have
            name = _called(term.term, term.aliases)
            sizes.append(f"{name} (at most {size(2 * max(ends), response)})" if ends else name)
        what = "Without" if clear else "No factor has"
        sentences.append(f"{what} a clear effect on the mean: {joined(sizes)}.")
    silent = [t.factors[0] for t in mains if t.p is None]
    if silent:
        sentences.append(f"No conclusion about {joined(silent)}: too few builds or sessions.")
    together = [t for t in model.terms if len(t.factors) > 1 and t.term in claimed]
    largest = sorted(together, key=lambda t: -max(abs(e.estimate) for e in t.effects))[:_SAID]
    if largest:
        names = [
            f"{_called(' and '.join(t.factors), t.aliases)}{_by_twice(response, t.effects, t.term)}" for t in largest
        ]
        sentences.append(f"Interactions, where the change by one depends on the other: {joined(names)}.")
    return sentences


def _at(response: Response, model: QuantileModel) -> str:
    claimed = _claimed(response, percentile(model.tau))
    largest = {e.term: max(abs(o.estimate) for o in model.effects if o.term == e.term) for e in model.effects}
    clear = sorted((term for term in largest if term in claimed), key=lambda term: -largest[term])
    if not clear:
        return f"At {percentile(model.tau)} no effect is clear."
    mains = [factor for term in clear for factor in response.factors if factor.name == term]
    parts = []
    for factor in mains[:_SAID]:
        effects = [e for e in model.effects if e.term == factor.name]
        if len(factor.settings) == 2:
            change = change_of(effects[0], factor)
        else:
            low, high = (pick(effects, key=lambda e: e.estimate) for pick in (min, max))
            ends = (low.settings[factor.name], high.settings[factor.name])
            change = EffectInterval(high.estimate - low.estimate, None, None, *ends)
        name = _alike(response, factor.name, factor.name)
        parts.append(f"{name} ({change.first} to {change.second}): {say_change(change, response, None)}")
    together = [term for term in clear if all(factor.name != term for factor in mains)]
    found = [", ".join(parts)] if parts else []
    if together:
        pairs = [
            f"{_alike(response, term, ' and '.join(term.split(':')))}{_by_twice(response, model.effects, term)}"
            for term in together
        ]
        found.append(f"the change by one depends on the other for {joined(pairs, 3)}")
    return f"At {percentile(model.tau)} {'; '.join(found)}."


def _alike(response: Response, term: str, text: str) -> str:
    terms = response.linear.terms if response.linear else []
    return _called(text, next((t.aliases for t in terms if t.term == term), []))


def _by_twice(response: Response, effects: Sequence[Effect], term: str) -> str:
    most = max(abs(e.estimate) for e in effects if e.term == term)
    return f" (by ±{size(2 * most, response)})"


def _along(response: Response, models: Sequence[QuantileModel], factor: Factor) -> str:
    """Say that a factor acts at some quantiles only.

    It is claimed there by closed testing (Holm with weights), and the intervals of the others, shared by Bonferroni,
    leave no room for an effect as large as the least of these.
    """
    clear = [m for m in models if factor.name in _claimed(response, percentile(m.tau))]
    others = [m for m in models if m not in clear]
    if not clear or not others or len(factor.settings) != 2:
        return ""
    near = min(_reach(m, factor, len(models), least=True) for m in clear)
    if max(_reach(m, factor, len(models), least=False) for m in others) >= near:
        return ""
    name, where = _alike(response, factor.name, factor.name), joined([percentile(m.tau) for m in clear], 6)
    return f"{name} acts at {where} only; elsewhere its effect is smaller, if there is one."


def _reach(model: QuantileModel, factor: Factor, shared: int, *, least: bool) -> float:
    """Return the smallest or the largest size that an interval, widened to be one of several, leaves an effect."""
    effect = next(e for e in model.effects if e.term == factor.name)
    if effect.low is None or effect.high is None:
        return 0.0 if least else math.inf
    one, several = (float(stdtrit(model.df or 1, 1 - 0.025 / m)) for m in (1, shared))
    wider = several / one
    low, high = (effect.estimate + wider * (end - effect.estimate) for end in (effect.low, effect.high))
    if least:
        return 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    return max(abs(low), abs(high))


def _in_the_tail(response: Response, models: Sequence[QuantileModel], factor: Factor) -> str:
    """Say where a factor does more to the highest quantile than to the mean, which a study of means would miss."""
    model = models[-1] if models else None
    term = next((t for t in (response.linear.terms if response.linear else []) if t.term == factor.name), None)
    if model is None or term is None or len(factor.settings) != 2 or model.tau <= 0.5:
        return ""
    effect, mean = next(e for e in model.effects if e.term == factor.name), term.effects[0]
    if factor.name not in _claimed(response, percentile(model.tau)) or mean.low is None or mean.high is None:
        return ""
    if not _reach(model, factor, 2, least=True) > max(abs(mean.low), abs(mean.high)):
        return ""
    at, over = (say_change(change_of(e, factor), response, None) for e in (effect, mean))
    name = _alike(response, factor.name, factor.name)
    return f"{name} matters most in the tail: {at} at {percentile(model.tau)}, {over} on the mean."


def _spread(response: Response) -> list[str]:
    """Name two-setting factors that change the variance of the units, each treatment's mean taken off."""
    found = []
    for spread in response.spreads:
        if spread.at or spread.ratio is None or spread.factor not in _claimed(response, "spread"):
            continue
        factor = next(f for f in response.factors if f.name == spread.factor)
        wide = factor.settings[1 if spread.ratio > 1 else 0]
        times = max(spread.ratio, 1 / spread.ratio)
        found.append(f"{factor.name}={wide} varies more: its variance is {format_number(times, 3)} times the other's.")
    return found


def _enough(response: Response) -> list[str]:
    """Say whether enough was measured for what the effects are."""
    found = []
    # what an unreplicated design leaves to its residuals is no measure of the noise
    model = None if any(claim.by == "lenth" for claim in response.claims) else response.linear
    if model is not None and model.unexplained is not None and model.residual_df > 0:
        found.append(
            f"The factors explain {1 - model.unexplained:.1%} of the variability of the mean; {model.unexplained:.1%} "
            f"is noise{f', what differs between {model.block}s,' if model.block else ''} or what was not varied."
        )
    halves = [
        (e.high - e.low) * math.sqrt(settings / (settings - 1) / 2)
        for t in (model.terms if model else []) if len(t.factors) == 1
        for settings in [len(next(f for f in response.factors if f.name == t.factors[0]).settings)]
        for e in t.effects if e.low is not None and e.high is not None
    ]  # fmt: skip
    if halves and max(halves) > 0:
        # the half-width of the change between two settings, which is wider than that of a distance from their mean;
        # twice that is found in nearly all experiments
        reach = 2 * max(halves)
        mean = sum(t.mean for t in response.treatments) / max(1, len(response.treatments))
        positive = mean > 0 and all(t.mean > 0 for t in response.treatments)  # of a mean near 0 a share says nothing
        share = "" if response.scale == "log" or not positive else f" ({format_share(reach / mean)} of it)"
        found.append(f"A change of the mean by {size(reach, response)}{share} would be found in most studies.")
    short = [m for m in (response.quantiles.models if response.quantiles else []) if not m.enough]
    if short:
        names = joined([percentile(m.tau) for m in short])
        found.append(f"Not enough for {names}: a quantile needs 10 values beyond it in every treatment.")
    return found
