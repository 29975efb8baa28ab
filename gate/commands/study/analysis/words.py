"""The sentences of an analysis: which factors matter for which quantile, by how much; is it enough?"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from gate.model.study import Effect, Factor, LinearModel, QuantileEffects, QuantileModel, Response, Term, Varies
from gate.stats.family import holm
from gate.units import format_share
from gate.words.effects import Change, change_of, percentile, say_change, settings_text, signed, size
from gate.words.phrases import joined

_RANK: dict[Varies, int] = {"execution": 0, "build": 1, "session": 2}
_SAID = 4
"""Most factors and most interactions that sentences name."""


def words_of(response: Response, confidence: float) -> list[str]:
    """Sum up a response in sentences, the most important first."""
    if response.linear is None:
        return []
    alpha = 1 - confidence
    found: list[str] = []
    if response.linear is not None:
        found += _on_the_mean(response, response.linear, confidence)
    if response.diagnostics is not None and not all(check.holds for check in response.diagnostics.checks):
        found.append("The linear model of the mean is doubtful here: use the quantiles. The checks show why.")
    if response.quantiles is not None:
        found += _on_quantiles(response, response.quantiles, confidence)
    found += _spread(response, alpha)
    found += _enough(response)
    return found


def _on_the_mean(response: Response, model: LinearModel, confidence: float) -> list[str]:
    alpha = 1 - confidence
    told = told_terms(response, model)
    tested = [term for term in told if len(term.factors) == 1 and term.p_adjusted is not None]
    if not tested:
        return ["The mean: the measurements cannot separate an effect from noise."]
    clear = sorted((t for t in tested if _below(t.p_adjusted, alpha)), key=lambda t: -_share(model, t))
    sentences = [_mean_effect(response, model, term, confidence, first=not i) for i, term in enumerate(clear[:_SAID])]
    unclear = [term for term in tested if term not in clear]
    if unclear:
        sentences.append(_not_seen(response, unclear, none=not clear))
    silent = [t.factors[0] for t in told if len(t.factors) == 1 and t.p_adjusted is None]
    if silent:
        sentences.append(f"No conclusion about {joined(silent)}: too few builds or sessions.")
    sentences += _interactions(response, told, alpha)
    return sentences


def told_terms(response: Response, model: LinearModel) -> list[Term]:
    """Return the terms that distinguish effects on the mean from chance.

    A term of factors that all vary by build or session is that of the means of those, with more than one execution in
    each: as executions they are not independent. Without such means its p is not known.
    """
    varies = {factor.name: factor.varies for factor in response.factors}
    own = {term.term: term for stratum in response.strata for term in stratum.linear.terms}
    return [
        term
        if any(varies[name] == "execution" for name in term.factors)
        else own.get(term.term, msgspec.structs.replace(term, p=None, p_adjusted=None))
        for term in model.terms
    ]


def _share(model: LinearModel, term: Term) -> float:
    return next((t.sum_of_squares for t in model.terms if t.term == term.term), term.sum_of_squares)


def _below(p: float | None, alpha: float) -> bool:
    return p is not None and p < alpha


def _mean_effect(response: Response, model: LinearModel, term: Term, confidence: float, *, first: bool) -> str:
    factor = next(f for f in response.factors if f.name == term.factors[0])
    whole = next((t.share for t in model.terms if t.term == term.term), None)
    share = "" if whole is None else f", {'under 1%' if whole < 0.01 else f'{whole:.0%}'} of all variability"
    lead = f"On the mean {factor.name} matters most" if first else f"{factor.name} matters too"
    if len(factor.settings) == 2:
        change = change_of(term.effects[0], factor)
        said = say_change(change, response, confidence)
        return f"{lead}: {said} from {factor.settings[0]} to {factor.settings[1]}{share}."
    low, high = (pick(term.effects, key=lambda e: e.estimate) for pick in (min, max))
    change = Change(high.estimate - low.estimate, None, None, low.settings[factor.name], high.settings[factor.name])
    said = say_change(change, response, None)
    return f"{lead}: {said} from its lowest setting, {change.first}, to its highest, {change.second}{share}."


def _not_seen(response: Response, unclear: Sequence[Term], *, none: bool) -> str:
    """Say which factors show no effect, and how large one could still be."""
    sizes = []
    for term in unclear:
        ends = [abs(end) for e in term.effects for end in (e.low, e.high) if end is not None]
        # of two settings half the change; of more the distance from their mean, which two settings may both have
        sizes.append(f"{term.term} (at most {size(2 * max(ends), response)})" if ends else term.term)
    what = "No factor has" if none else "Without"
    return f"{what} a clear effect on the mean: {joined(sizes)}."


def _interactions(response: Response, told: Sequence[Term], alpha: float) -> list[str]:
    clear = [t for t in told if len(t.factors) > 1 and _below(t.p_adjusted, alpha)]
    if not clear:
        return []
    largest = sorted(clear, key=lambda t: -max(abs(e.estimate) for e in t.effects))
    names = [f"{' and '.join(t.factors)}{_by_twice(response, t.effects, t.term)}" for t in largest[:_SAID]]
    return [f"Interactions, where the change by one depends on the other: {joined(names)}."]


def _on_quantiles(response: Response, found: QuantileEffects, confidence: float) -> list[str]:
    # of a quantile that lacks values nothing is claimed; that it does is said at the end
    models = [_told(m, response, found.cluster) for m in found.models if m.enough]
    models = [m for m in models if any(e.p is not None for e in m.effects[1:])]
    if not models:
        return []
    alpha = 1 - confidence
    usual = [m for m in models if any(abs(m.tau - tau) < 1e-9 for tau in (0.5, 0.9, 0.99))]
    sentences = [_at(response, model, confidence) for model in usual or models[-3:]]
    sentences += [text for factor in response.factors if (text := _along(models, factor, alpha))]
    sentences += [text for factor in response.factors if (text := _in_the_tail(response, models[-1], factor, alpha))]
    return sentences


def _told(model: QuantileModel, response: Response, cluster: Varies) -> QuantileModel:
    """Take the p of effects whose factors all vary by more than the clusters: their intervals know nothing of that."""
    beyond = {f.name for f in response.factors if _RANK[f.varies] > _RANK[cluster]}
    effects = [
        msgspec.structs.replace(e, p=None) if e.settings and set(e.settings) <= beyond else e for e in model.effects
    ]
    return msgspec.structs.replace(model, effects=effects)


def clear_effects(model: QuantileModel, alpha: float) -> list[Effect]:
    """Return the effects that differ from 0, by Holm over those of the model, the largest first."""
    tested = [e for e in model.effects if e.settings and e.p is not None]
    shares = holm([e.p for e in tested if e.p is not None], alpha)
    clear = [e for e, own in zip(tested, shares, strict=True) if own.rejected]
    return sorted(clear, key=lambda e: -abs(e.estimate))


def _at(response: Response, model: QuantileModel, confidence: float) -> str:
    clear = clear_effects(model, 1 - confidence)
    if not clear:
        return f"At {percentile(model.tau)} no effect is clear."
    names = {factor.name for factor in response.factors}
    mains = [e for e in clear if e.term in names]
    said = [_effect(response, e, confidence if not i else None) for i, e in enumerate(mains[:_SAID])]
    together = [e for e in clear if e.term not in names]
    parts = [", ".join(said)] if said else []
    if together:
        terms = {e.term: list(e.settings) for e in reversed(together)}
        ordered = list(dict.fromkeys(e.term for e in together))
        pairs = [f"{' and '.join(terms[term])}{_by_twice(response, together, term)}" for term in ordered]
        parts.append(f"the change by one depends on the other for {joined(pairs, 3)}")
    return f"At {percentile(model.tau)} {'; '.join(parts)}."


def _by_twice(response: Response, effects: Sequence[Effect], term: str) -> str:
    most = max(abs(e.estimate) for e in effects if e.term == term)
    return f" (by ±{size(2 * most, response)})"


def _effect(response: Response, effect: Effect, confidence: float | None) -> str:
    factor = next((f for f in response.factors if f.name == effect.term), None)
    if factor is not None and len(factor.settings) == 2:
        said = say_change(change_of(effect, factor), response, confidence)
        return f"{factor.name} ({factor.settings[0]} to {factor.settings[1]}): {said}"
    return f"{settings_text(effect.settings)}: {signed(effect.estimate, response)}"


def _along(models: Sequence[QuantileModel], factor: Factor, alpha: float) -> str:
    """Say where in the distribution a factor is seen to act, where that is not everywhere.

    "only": where the others' intervals leave no room for an effect as large as the least of these.
    """
    clear = [m for m in models if any(e.term == factor.name for e in clear_effects(m, alpha))]
    others = [m for m in models if m not in clear]
    if not clear or not others or len(factor.settings) != 2:
        return ""
    near = min(_reach(_main(m, factor), least=True) for m in clear)
    far = max(_reach(_main(m, factor), least=False) for m in others)
    where = joined(_ranges([m.tau for m in clear], [m.tau for m in models]), 6)
    if far < near:
        return f"{factor.name} acts at {where} only; elsewhere its effect is smaller, if there is one."
    return f"{factor.name} has a clear effect at {where}; elsewhere it may have one too, but none is shown."


def _main(model: QuantileModel, factor: Factor) -> Effect:
    return next(e for e in model.effects if e.term == factor.name)


def _reach(effect: Effect, *, least: bool) -> float:
    """Return the smallest or the largest size that the interval of an effect leaves."""
    low, high = effect.low, effect.high
    if low is None or high is None:
        return 0.0 if least else math.inf
    if least:
        return 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    return max(abs(low), abs(high))


def _ranges(clear: Sequence[float], taus: Sequence[float]) -> list[str]:
    """Join quantiles that follow each other: p10, p30 to p90."""
    found: list[list[float]] = []
    for before, tau in zip((None, *taus), taus, strict=False):
        if tau in clear:
            if found and found[-1][-1] == before:
                found[-1].append(tau)
            else:
                found.append([tau])
    return [percentile(own[0]) + (f" to {percentile(own[-1])}" if len(own) > 1 else "") for own in found]


def _in_the_tail(response: Response, model: QuantileModel, factor: Factor, alpha: float) -> str:
    """Say where a factor does more to the highest quantile than to the mean, which a study of means would miss."""
    effect = next((e for e in clear_effects(model, alpha) if e.term == factor.name), None)
    term = next((t for t in (response.linear.terms if response.linear else []) if t.term == factor.name), None)
    if effect is None or term is None or len(factor.settings) != 2 or model.tau <= 0.5:
        return ""
    if not _reach(effect, least=True) > _reach(term.effects[0], least=False):
        return ""
    changes = (change_of(e, factor) for e in (effect, term.effects[0]))
    at, mean = (say_change(change, response, None) for change in changes)
    return f"{factor.name} matters most in the tail: {at} at {percentile(model.tau)}, {mean} on the mean."


def _spread(response: Response, alpha: float) -> list[str]:
    """Name two-setting factors that change the variance of the units, each treatment's mean taken off."""
    # executions of one build or session are alike in that, whatever the setting
    alone = {factor.name for factor in response.factors if factor.varies == "execution"}
    pooled = [s for s in response.spreads if not s.at and s.factor in alone]
    tested = [s for s in pooled if s.ratio and s.levene_p is not None and s.f_p is not None]
    found = []
    for spread in tested:
        # both tests, shared over the factors: one is misled by outliers, the other by values that are not normal
        if not max(spread.levene_p or 0.0, spread.f_p or 0.0) < alpha / len(tested) or spread.ratio is None:
            continue
        factor = next(f for f in response.factors if f.name == spread.factor)
        wide = factor.settings[1 if spread.ratio > 1 else 0]
        times = max(spread.ratio, 1 / spread.ratio)
        found.append(f"{factor.name}={wide} varies more: its variance is {times:.3g} times the other's.")
    return found


def _percent(reach: float, response: Response) -> str:
    mean = sum(t.mean for t in response.treatments) / max(1, len(response.treatments))
    return "" if response.scale == "log" or not mean > 0 else f" ({format_share(reach / mean)} of it)"


def _enough(response: Response) -> list[str]:
    """Say whether enough was measured for what the effects are."""
    found = []
    model = response.linear
    if model is not None and model.unexplained is not None and model.residual_df > 0:
        found.append(
            f"The factors explain {1 - model.unexplained:.1%} of the variability of the mean; {model.unexplained:.1%} "
            f"is noise or what was not varied."
        )
    halves = [
        (e.high - e.low) for t in (model.terms if model else []) if len(t.factors) == 1 for e in t.effects
        if e.low is not None and e.high is not None
    ]  # fmt: skip
    if halves and max(halves) > 0:
        # twice the half-width of its interval: a change that is found in about four of five experiments
        reach = 2 * max(halves)
        share = _percent(reach, response)
        found.append(f"A change of the mean by {size(reach, response)}{share} would be found in most studies.")
    short = [m for m in (response.quantiles.models if response.quantiles else []) if not m.enough]
    if short:
        names = joined([percentile(m.tau) for m in short])
        found.append(f"Not enough for {names}: a quantile needs 10 values beyond it in every treatment.")
    return found
