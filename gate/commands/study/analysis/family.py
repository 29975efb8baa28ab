"""The family of a response: what its sentences may claim, of the mean, of quantiles and of the spread."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gate.commands.study.analysis.method import Method
from gate.commands.study.analysis.observations import Observed
from gate.model.study import Claim, Lenth, LinearModel, Spread
from gate.stats.design.claims import change_of_quantile, claims, of_contrasts, of_mean, of_quantile, of_spread
from gate.stats.design.layers import Layers, layers
from gate.words.effects import percentile

USUAL = (0.5, 0.9, 0.99)
"""The quantiles that sentences are about, where they are analysed; else the last three."""


def lie_of(observed: Observed) -> Layers:
    """Return how the units of a response lie in blocks, builds and sessions."""
    return layers(observed.units, observed.factors, observed.block, repeated=observed.analysis_unit != "iteration")


def in_family(linear: LinearModel | None, found: Sequence[Claim]) -> LinearModel | None:
    """Give the terms the adjusted p of the family of the response."""
    if linear is None:
        return None
    adjusted = {claim.term: claim.p_adjusted for claim in found if claim.statistic == "mean"}
    terms = [msgspec.structs.replace(term, p_adjusted=adjusted.get(term.term)) for term in linear.terms]
    return msgspec.structs.replace(linear, terms=terms)


def family(
    observed: Observed,
    method: Method,
    linear: LinearModel | None,
    taus: Sequence[float],
    varying: Sequence[Spread],
    lie: Layers,
    contrasts: Lenth | None = None,
) -> list[Claim]:
    """Test the family of a response; taus: the quantiles that have their values; contrasts: without another error."""
    if linear is None:
        return []
    told = [tau for tau in taus if any(abs(tau - usual) < 1e-9 for usual in USUAL)] or [*taus[-3:]]
    hypotheses = of_contrasts(contrasts, linear) or of_mean(linear)
    for tau in told:
        hypotheses += of_quantile(
            observed.values, observed.units, observed.factors, method.order, tau, percentile(tau), lie
        )
    # executions of one build or session are alike in that, whatever the setting
    alone = {factor.name for factor in observed.factors if factor.varies == "execution"}
    hypotheses += of_spread([s for s in varying if not s.at and s.factor in alone])
    found = claims(hypotheses, 1 - method.confidence)
    of = {percentile(tau): tau for tau in told}
    return [
        _with_ends(claim, observed, method, of[claim.statistic], lie) if claim.statistic in of else claim
        for claim in found
    ]


def _with_ends(claim: Claim, observed: Observed, method: Method, tau: float, lie: Layers) -> Claim:
    """Give a claimed change of a quantile between two settings its interval."""
    place = next((k for k, f in enumerate(observed.factors) if f.name == claim.term and len(f.settings) == 2), None)
    if place is None or not claim.claimed:
        return claim
    units, factors = observed.units, observed.factors
    ends = change_of_quantile(observed.values, units, factors, method.order, tau, lie, place, method.confidence)
    return claim if ends is None else msgspec.structs.replace(claim, low=ends[0], high=ends[1])
