"""One response through every method of statistics.md section 9."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from gate.commands.study.changes import percentile, settings_text
from gate.commands.study.observations import Abridgement, Observed, Pattern, abridged, matching, on_scale, written
from gate.commands.study.words import words_of
from gate.model import UserError
from gate.model.study import (
    Abridged,
    Claim,
    Lenth,
    LinearModel,
    PercentRow,
    QuantileEffects,
    Response,
    SeriesPoint,
    SpreadTest,
    Varies,
)
from gate.stats.design.cells import balanced, blocks, lacking, main_effects, treatments
from gate.stats.design.claims import claims, lenth, of_contrasts, of_mean, of_quantile, of_spread
from gate.stats.design.coding import lay_out
from gate.stats.design.layers import Layers, layers
from gate.stats.design.linear import diagnostics, linear_model
from gate.stats.design.model_checks import dependence
from gate.stats.design.one_way import one_ways, percents, rank_tests, spreads
from gate.stats.design.quantiles import quantile_effects
from gate.stats.design.sample_size import FEWEST, mean_intervals, sample_sizes
from gate.stats.design.strata import aligned


@dataclass(frozen=True, slots=True)
class Method:
    """How a response is analysed."""

    order: int
    """Interactions of up to so many factors in the linear model."""
    taus: tuple[float, ...]
    confidence: float
    iid: bool
    seed: int
    abridgements: tuple[Abridgement, ...]
    sample: Pattern | None = None
    """The treatment of the sample-size study; None: one with the most units."""
    histograms: tuple[Pattern, ...] = ()


USUAL = (0.5, 0.9, 0.99)
"""The quantiles that sentences are about, where they are analysed; else the last three."""


def lie_of(observed: Observed) -> Layers:
    """Return how the units of a response lie in blocks, builds and sessions."""
    return layers(observed.units, observed.factors, observed.block)


def family(
    observed: Observed, method: Method, linear: LinearModel | None, taus: Sequence[float],
    varying: Sequence[SpreadTest], lie: Layers, contrasts: Lenth | None = None,
) -> list[Claim]:  # fmt: skip
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
    return claims(hypotheses, 1 - method.confidence)


_IN_TIME = 1000
"""Most units that the picture in time shows."""


def analyse(observed: Observed, method: Method) -> Response:
    """Analyse one response; what cannot be said is left out, and the warnings say why.

    Raises: UserError: an abridgement that names what was not measured.
    """
    units, values, factors = observed.units, observed.values, observed.factors
    order, confidence = method.order, method.confidence
    varied = any(len(factor.settings) > 1 for factor in factors)
    lie = lie_of(observed)
    linear = linear_model(units, factors, order, confidence, lie) if varied else None
    mains = main_effects(units, factors)
    alike = aligned(units, factors, lie, "execution")
    quantiles = _quantiles(observed, method, lie) if varied else None
    varying = spreads(alike, factors)
    told = [model.tau for model in quantiles.models if model.enough] if quantiles else []
    contrasts = lenth(units, factors, confidence) if varied else None
    claimed = family(observed, method, linear, told, varying, lie, contrasts)
    adjusted = {claim.term: claim.p_adjusted for claim in claimed if claim.statistic == "mean"}
    terms = [msgspec.structs.replace(t, p_adjusted=adjusted.get(t.term)) for t in (linear.terms if linear else [])]
    checked = diagnostics(alike, factors, order, confidence, observed.scale) if varied else None
    sampled = _sampled(observed, method)
    sizes = sample_sizes(units, factors, confidence, method.seed, mains, sampled)
    # the treatments that an abridgement leaves out by naming them
    named = [pattern for word, patterns in method.abridgements if word == "without" for pattern in patterns]
    without = dict.fromkeys(own for pattern in named for own in matching(observed, pattern, "--without"))
    depending = [dependence(units, factors, level, confidence) for level in ("session", "build")]
    # the error of each factor's stratum, where it is exact: what its settings are compared by
    strata = {own.name: own for own in linear.strata} if linear and linear.method == "projections" else {}
    errors = {t.factors[0]: strata[t.stratum] for t in linear.terms if len(t.factors) == 1} if linear and strata else {}
    errors = {name: own for name, own in errors.items() if own.mean_square is not None and own.df}
    found = Response(
        benchmark=observed.benchmark,
        metric=observed.metric,
        unit=observed.unit,
        better=observed.better,
        scale=observed.scale,
        factors=list(factors),
        treatments=treatments(units, values, factors),
        lacking=lacking(units, factors),
        balanced=balanced(units, factors),
        other_scale=_other_scale(observed, method, linear, claimed),
        linear=None if linear is None else msgspec.structs.replace(linear, terms=terms),
        claims=claimed,
        diagnostics=checked,
        quantiles=quantiles,
        ranks=rank_tests(alike, factors),
        means=mean_intervals(units, factors, confidence, method.seed),
        spreads=varying,
        one_ways=one_ways(units, factors, confidence, errors=errors),
        percents=_percents(observed, confidence, lie),
        mains=mains,
        interactions=main_effects(units, factors, 2),
        blocks=blocks(units, factors),
        sample_sizes=sizes,
        dependences=[each for each in depending if each is not None],
        series=series(observed),
        abridged=[each for a in method.abridgements if (each := _abridged(observed, a, method)) is not None],
        questionable=[observed.settings(own) for own in without],
        histograms=[
            observed.settings(own) for pattern in method.histograms for own in _known(observed, pattern, "--histogram")
        ],
        words=[],
        warnings=_warnings(observed, linear, sampled if sizes is None else None),
        lenth=contrasts,
    )
    return msgspec.structs.replace(found, words=words_of(found, confidence))


def _known(observed: Observed, pattern: Pattern, option: str) -> list[tuple[int, ...]]:
    found = matching(observed, pattern, option)
    if not found:
        raise UserError(f"{option} {written(pattern)}: this combination was not measured")
    return found


def _sampled(observed: Observed, method: Method) -> tuple[int, ...] | None:
    if method.sample is None:
        return None
    found = _known(observed, method.sample, "--sample")
    if len(found) > 1:
        lacking = [f.name for f in observed.factors if f.name not in method.sample]
        many = f"{len(found)} treatments have these settings: name {', '.join(lacking)} too"
        raise UserError(f"--sample {written(method.sample)}: {many}")
    return found[0]


def _other_scale(observed: Observed, method: Method, linear: LinearModel | None, claimed: Sequence[Claim]) -> str:
    """Fit the same linear model on the other scale, and say which terms would be clear there; "": it is not known.

    claimed: the family of the response; there too its quantiles and spreads have their share, or the line would call
    terms clear that the sentences do not.
    """
    if linear is None or (observed.scale == "value" and float(observed.values["y"].min()) <= 0):
        return ""
    other = on_scale(observed, "value" if observed.scale == "log" else "log")
    own = linear_model(other.units, other.factors, method.order, method.confidence, lie_of(other))
    if not all(any(term.p is not None for term in model.terms) for model in (linear, own)):
        return ""
    others = [claim for claim in claimed if claim.statistic != "mean"]
    here, there = (
        [claim.term for claim in each if claim.statistic == "mean" and claim.claimed]
        for each in (claimed, claims([*of_mean(own), *others], 1 - method.confidence))
    )
    where = f"On the {'log' if other.scale == 'log' else 'plain'} scale"
    if here == there:
        return f"{where} {'the same terms' if here else 'no terms either'} of the linear model are clear."
    named = (("clear too", there, here), ("not clear", here, there))
    told = [f"{text}: {', '.join(t for t in own if t not in rest)}" for text, own, rest in named if {*own} - {*rest}]
    return f"{where} other terms of the linear model are clear ({'; '.join(told)})."


def _quantiles(observed: Observed, method: Method, lie: Layers) -> QuantileEffects:
    """Fit quantiles, with values dependent within what factors vary by, if each treatment has two of those or more.

    Else within a build, where builds repeat treatments: then what it does to all of them cancels, and to one is an
    error.
    """
    values, varies = observed.values, {factor.varies for factor in observed.factors}
    wanted: list[Varies] = ["session"] if "session" in varies else []
    if "build" in varies or lie.cells:
        wanted.append("build")
    treatments = values.groupby([f"f{i}" for i in range(len(observed.factors))])
    return quantile_effects(
        values,
        observed.factors,
        method.taus,
        cluster=next((level for level in wanted if int(treatments[level].nunique().min()) > 1), "execution"),
        confidence=method.confidence,
        iid=method.iid,
        order=method.order,
    )


def _percents(observed: Observed, confidence: float, lie: Layers) -> list[PercentRow]:
    """Compare each factor's settings by units of its own stratum."""
    factors, log = observed.factors, observed.scale == "log"
    found: dict[str, list[PercentRow]] = {factor.name: [] for factor in factors}
    for varies in dict.fromkeys(factor.varies for factor in factors):
        own = {factor.name for factor in factors if factor.varies == varies}
        units = aligned(observed.units, factors, lie, varies)
        if len(units) <= len(units.groupby([f"f{i}" for i in range(len(factors))])):
            # one build or session each: the executions in it are all there is, and a warning says so
            units = observed.units
        for row in percents(units, factors, observed.better, confidence, unit=observed.unit, log=log):
            if row.factor in own:
                found[row.factor].append(row)
    return [row for rows in found.values() for row in rows]


def _abridged(observed: Observed, abridgement: Abridgement, method: Method) -> Abridged | None:
    kept = abridged(observed, abridgement)
    if kept is None:
        return None
    (word, patterns), units, factors = abridgement, kept.units, kept.factors
    return Abridged(
        name=f"{word} {' and '.join(map(settings_text, patterns))}",
        treatments=len(treatments(units, kept.values, factors)),
        balanced=balanced(units, factors),
        linear=linear_model(units, factors, method.order, method.confidence, lie_of(kept)),
        mains=main_effects(units, factors),
        interactions=main_effects(units, factors, 2),
        blocks=blocks(units, factors),
    )


def series(observed: Observed) -> list[SeriesPoint]:
    """Return the units in the order of time, every k-th where there are too many; none where no order is known."""
    units = observed.units
    if not len(units) or int(units["order"].min()) < 0:
        return []
    # in standard order, the last factor fastest, as the list of treatments
    number = lay_out(units, observed.factors).place
    step = -(-len(units) // _IN_TIME)
    ordered = np.argsort(units["order"].to_numpy(), kind="stable")[::step]
    rows = zip(
        *(units[name].to_numpy()[ordered].tolist() for name in ("order", "session", "build")),
        number[ordered].tolist(),
        units["y"].to_numpy()[ordered].tolist(),
        strict=True,
    )
    return [SeriesPoint(order=o, session=s, build=b, treatment=t, value=v) for o, s, b, t, v in rows]


def _warnings(observed: Observed, linear: LinearModel | None, unsampled: tuple[int, ...] | None) -> list[str]:
    """Say what the analysis cannot show; unsampled: the treatment that was to be sampled, of too few units."""
    found: list[str] = []
    if all(len(factor.settings) < 2 for factor in observed.factors):
        found.append("no factor has two settings here: there is nothing to compare")
    if linear is not None and linear.residual_df < 1:
        found.append("there is one execution a treatment: effects have no intervals; measure replicates")
    for i, factor in enumerate(observed.factors):
        # an effect that cannot be separated from what one build or session was like
        if factor.varies != "execution" and int(observed.units.groupby(f"f{i}")[factor.varies].nunique().min()) < 2:
            what = "layout of its" if factor.varies == "build" else "state of its"
            found.append(
                f"{factor.name} varies by {factor.varies}, and a setting has one {factor.varies} only: its effect "
                f"cannot be separated from the {what} {factor.varies}"
            )
    if unsampled is not None:
        count = int(np.all([observed.units[f"f{i}"] == code for i, code in enumerate(unsampled)], axis=0).sum())
        has = f"{settings_text(observed.settings(unsampled))} has {count} executions"
        found.append(f"no study of sample sizes: {has}, and it needs {FEWEST}")
    return found
