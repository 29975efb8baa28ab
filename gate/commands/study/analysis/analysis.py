"""One response through every method of statistics.md section 9."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from gate.commands.study.analysis.abridge import Abridgement, abridged
from gate.commands.study.analysis.observations import Observed
from gate.commands.study.analysis.words import words_of
from gate.model.study import (
    Abridged,
    Dependence,
    Diagnostics,
    LinearModel,
    QuantileEffects,
    Response,
    SeriesPoint,
    Varies,
)
from gate.stats.design.blocks import blocks
from gate.stats.design.cells import balanced, interactions, lacking, main_effects, treatments
from gate.stats.design.dependence import dependence
from gate.stats.design.diagnostics import diagnostics
from gate.stats.design.lenth import lenth
from gate.stats.design.linear import linear_model
from gate.stats.design.one_way import one_ways, percents
from gate.stats.design.quantiles import quantile_effects
from gate.stats.design.rank_tests import kruskal, spreads
from gate.stats.design.sample_size import sample_sizes
from gate.stats.design.strata import strata

_IN_TIME = 5000
"""Most units that the picture in time shows."""


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


def analyse(observed: Observed, method: Method) -> Response:
    """Analyse one response; what cannot be said is left out, and the warnings say why.

    Raises:
        UserError: an abridgement that names what was not measured.
    """
    units, values, factors = observed.units, observed.values, observed.factors
    confidence = method.confidence
    varied = any(len(factor.settings) > 1 for factor in factors)
    linear = linear_model(units, factors, method.order, confidence, observed.metric) if varied else None
    mains = main_effects(units, factors)
    found = Response(
        benchmark=observed.benchmark,
        metric=observed.metric,
        unit=observed.unit,
        better=observed.better,
        scale=observed.scale,
        analysis_unit=observed.analysis_unit,
        factors=list(factors),
        treatments=treatments(units, values, factors),
        lacking=lacking(units, factors),
        balanced=balanced(units, factors),
        linear=linear,
        strata=strata(units, factors, method.order, confidence, observed.metric) if varied else [],
        diagnostics=_diagnostics(observed, method) if varied else None,
        quantiles=_quantiles(observed, method) if varied else None,
        kruskal=kruskal(units, factors) if varied else None,
        spreads=spreads(units, factors),
        one_ways=one_ways(units, factors, confidence),
        percents=percents(units, factors, observed.better, confidence, unit=observed.unit, log=observed.scale == "log"),
        mains=mains,
        interactions=interactions(units, factors),
        blocks=blocks(units, factors),
        sample_sizes=sample_sizes(units, factors, confidence, method.seed, mains),
        dependences=_dependences(observed, confidence),
        series=series(observed),
        abridged=[each for a in method.abridgements if (each := _abridged(observed, a, method)) is not None],
        words=[],
        warnings=_warnings(observed, linear),
        lenth=lenth(units, factors, confidence) if varied else None,
    )
    return msgspec.structs.replace(found, words=words_of(found, confidence))


def _quantiles(observed: Observed, method: Method) -> QuantileEffects:
    return quantile_effects(
        observed.values,
        observed.factors,
        method.taus,
        cluster=_cluster(observed),
        confidence=method.confidence,
        iid=method.iid,
        order=method.order,
    )


def _diagnostics(observed: Observed, method: Method) -> Diagnostics:
    return diagnostics(
        observed.units, observed.factors, method.order, observed.analysis_unit, method.confidence, observed.scale
    )


def _dependences(observed: Observed, confidence: float) -> list[Dependence]:
    found = [dependence(observed.units, observed.factors, level, confidence) for level in ("session", "build")]
    return [each for each in found if each is not None]


def _cluster(observed: Observed) -> Varies:
    """Return within what values may be alike: what factors vary by, if each treatment has two of those or more."""
    values, varies = observed.values, {factor.varies for factor in observed.factors}
    wanted: list[Varies] = []
    if "session" in varies:
        wanted.append("session")
    if "build" in varies or observed.analysis_unit == "build":
        wanted.append("build")
    treatments = values.groupby([f"f{i}" for i in range(len(observed.factors))])
    return next((level for level in wanted if int(treatments[level].nunique().min()) > 1), "execution")


def _abridged(observed: Observed, abridgement: Abridgement, method: Method) -> Abridged | None:
    kept = abridged(observed, abridgement)
    if kept is None:
        return None
    return Abridged(
        name=abridgement.name,
        treatments=len(treatments(kept.units, kept.values, kept.factors)),
        balanced=balanced(kept.units, kept.factors),
        linear=linear_model(kept.units, kept.factors, method.order, method.confidence, observed.metric),
        mains=main_effects(kept.units, kept.factors),
        interactions=interactions(kept.units, kept.factors),
        blocks=blocks(kept.units, kept.factors),
    )


def series(observed: Observed) -> list[SeriesPoint]:
    """Return the units in the order of time, every k-th where there are too many; none where no order is known."""
    units = observed.units
    if not len(units) or int(units["order"].min()) < 0:
        return []
    names = [f"f{i}" for i in range(len(observed.factors))]
    codes = units[names].to_numpy(dtype=np.int64).reshape(len(units), len(names))
    # in standard order, the last factor fastest, as the list of treatments
    _, number = np.unique(codes, axis=0, return_inverse=True)
    step = -(-len(units) // _IN_TIME)
    ordered = np.argsort(units["order"].to_numpy(), kind="stable")[::step]
    rows = zip(
        *(units[name].to_numpy()[ordered].tolist() for name in ("order", "session", "build")),
        number.reshape(len(units))[ordered].tolist(),
        units["y"].to_numpy()[ordered].tolist(),
        strict=True,
    )
    return [SeriesPoint(order=o, session=s, build=b, treatment=t, value=v) for o, s, b, t, v in rows]


def _warnings(observed: Observed, linear: LinearModel | None) -> list[str]:
    found: list[str] = []
    if all(len(factor.settings) < 2 for factor in observed.factors):
        found.append("no factor has two settings here: there is nothing to compare")
    if linear is not None and linear.residual_df < 1:
        found.append(
            f"there is one {observed.analysis_unit} a treatment: effects have no intervals; measure replicates"
        )
    if observed.analysis_unit == "iteration" and observed.values["execution"].nunique() < len(observed.values):
        found.append(
            "iterations are the units, as requested: values of one execution are alike, so intervals and p are too "
            "narrow and too small; the default unit is the execution"
        )
    found += _luck(observed)
    return found


def _luck(observed: Observed) -> Sequence[str]:
    """Name the factors whose effect cannot be separated from what one build or session was like."""
    units = observed.units
    found = []
    for i, factor in enumerate(observed.factors):
        if factor.varies == "execution":
            continue
        own = units.groupby(f"f{i}")[factor.varies].nunique()
        if int(own.min()) < 2:
            what = "layout of its" if factor.varies == "build" else "state of its"
            found.append(
                f"{factor.name} varies by {factor.varies}, and a setting has one {factor.varies} only: its effect "
                f"cannot be separated from the {what} {factor.varies}"
            )
    return found
