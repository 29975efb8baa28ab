"""What may be claimed of a response: one family of hypotheses, each that a term does nothing to a statistic.

The mean is tested by the linear model. A quantile is tested without a density: what share of an execution's values lies
below a common quantile is a response of its own, with the same strata. Under the hypothesis that share is alike at all
settings of the term, whatever builds, sessions or the time do to the values (a rank score of quantile regression,
Gutenbrunner, Jureckova, Koenker and Portnoy 1993; of one quantile Mood's median test in blocks).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gate.model.study import Claim, Contrast, Error, Factor, Lenth, LinearModel, SpreadTest
from gate.stats.centers import needed_values, type8
from gate.stats.design.aliases import aliases, saturated
from gate.stats.design.coding import DEPENDENT, Coded, CodedDesign, coded, lay_out
from gate.stats.design.layers import RANK, Layers, groups
from gate.stats.design.strata import stratified, stratum_of
from gate.stats.rounding import Array, Ints
from gate.stats.sequential import weighted_holm
from gate.stats.special import stdtr, stdtrit

if TYPE_CHECKING:
    import pandas as pd

FEWEST_CONTRASTS = 3
"""Contrasts that there must be: a third of them are the degrees of freedom."""
_MOST_TREATMENTS = 4096
_HAIR = 1e-12
"""The share of the largest contrast that is rounding."""


def margins(contrasts: Array, confidence: float) -> tuple[float, float, float]:
    """Return Lenth's pseudo standard error and limits for contrasts of one variance, shape (m,), m >= 1.

    The limits, for one contrast and for all at once, are t on a third of their number of degrees of freedom.
    """
    sizes = np.abs(contrasts)
    first = 1.5 * float(np.median(sizes))
    quiet = sizes[sizes < 2.5 * first]
    pse = 1.5 * float(np.median(quiet)) if len(quiet) else 0.0
    count = len(sizes)
    one, all_ = (1 + confidence) / 2, (1 + confidence ** (1 / count)) / 2
    return pse, float(stdtrit(count / 3, one)) * pse, float(stdtrit(count / 3, all_)) * pse


def lenth(units: pd.DataFrame, factors: Sequence[Factor], confidence: float) -> Lenth | None:
    """Judge the contrasts of two-level treatments with one unit each; None: there are more units, or other factors.

    Contrasts are as effects elsewhere, half the change. Those of factors that all vary by build or session differ by
    the luck of these too, so they are left out where other factors vary by execution.
    """
    if not len(units) or not factors:
        return None
    design = lay_out(units, factors)
    if design.counts.max() > 1 or len(design.counts) > _MOST_TREATMENTS:
        return None
    varied = [factor for factor, size in enumerate(design.sizes) if size > 1]
    sizes = [design.sizes[factor] for factor in varied]
    codes = design.codes[:, varied]
    model = saturated(codes, sizes) if varied else None
    if model is None:
        return None
    means = design.totals(units["y"].to_numpy(dtype=np.float64))
    estimates = model.matrix.T @ (means - means.mean()) / len(means)
    named = aliases(codes, sizes, model, 2)
    # contrasts that differ within the builds and sessions, where any do; else all of them
    ranks = [RANK[factors[factor].varies] for factor in varied]
    outer = [codes[:, k] for k, rank in enumerate(ranks) if rank > min(ranks)]
    held = np.zeros(model.matrix.shape[1])
    if outer:
        # the mean over a build or session of a contrast within it is 0
        held = np.abs(groups(*outer).means(model.matrix)).max(axis=0)
    kept = [k for k, term in enumerate(model.terms) if k and held[term.start] < _HAIR]
    if len(kept) < FEWEST_CONTRASTS:
        return None
    own = estimates[kept]
    own[np.abs(own) <= _HAIR * float(np.abs(means).max())] = 0.0
    pse, me, sme = margins(own, confidence)

    def name(term: Sequence[int]) -> str:
        return ":".join(design.names[varied[k]] for k in term)

    found = [
        Contrast(
            term=name(term), factors=[name([k]) for k in term], aliases=[name(other) for other in named[term][0]],
            estimate=value, active=abs(value) > sme, possible=abs(value) > me,
        )
        for term, value in zip((model.terms[k].factors for k in kept), own.tolist(), strict=True)
    ]  # fmt: skip
    found.sort(key=lambda each: -abs(each.estimate))
    return Lenth(contrasts=found, pse=pse, me=me, sme=sme, df=len(own) / 3, confidence=confidence)


INTERACTION_OF_MEAN = 0.2
QUANTILE = 0.04
INTERACTION_OF_QUANTILE = 0.01
"""Weights beside 1 for a factor's effect on the mean: what is asked first keeps nearly all of its power."""
MOST_MOVED = 8
"""Most treatments of which a unit is put on the other side, where settings are apart altogether."""
MOST_CELLS = 2000
"""Most treatments of which quantiles are claimed."""


def claims(hypotheses: Sequence[Claim], alpha: float) -> list[Claim]:
    """Share alpha over the hypotheses of a response by Holm's procedure with weights."""
    tested = [(each.p, each.weight) for each in hypotheses if each.p is not None]
    shares = iter(weighted_holm([p for p, _ in tested], [weight for _, weight in tested], alpha))
    found = []
    for each in hypotheses:
        share = next(shares) if each.p is not None else None
        adjusted, claimed = (share.p_adjusted, share.rejected) if share else (None, False)
        found.append(msgspec.structs.replace(each, p_adjusted=adjusted, claimed=claimed))
    return found


def of_mean(model: LinearModel) -> list[Claim]:
    """Return the terms of the linear model."""
    return [
        Claim(term=t.term, statistic="mean", weight=1.0 if len(t.factors) == 1 else INTERACTION_OF_MEAN, p=t.p)
        for t in model.terms
    ]


def of_contrasts(found: Lenth | None, model: LinearModel) -> list[Claim]:
    """Return the contrasts of an unreplicated design, by Lenth's pseudo standard error.

    None where that has no more degrees of freedom than the terms that the model leaves out.
    """
    df = min((t.error_df for t in model.terms if t.error_df is not None), default=0.0)
    if found is None or not found.pse > 0 or found.df <= df:
        return []
    return [
        Claim(
            term=c.term,
            statistic="mean",
            weight=1.0 if len(c.factors) == 1 else INTERACTION_OF_MEAN,
            p=2 * float(stdtr(found.df, -abs(c.estimate) / found.pse)),
            by="lenth",
        )
        for c in found.contrasts
    ]


def of_spread(found: Sequence[SpreadTest]) -> list[Claim]:
    """Return the factors whose settings may differ in variance: by both tests, since each is misled by something."""
    return [
        Claim(term=s.factor, statistic="spread", weight=QUANTILE, p=max(s.levene_p, s.f_p))
        for s in found
        if s.levene_p is not None and s.f_p is not None
    ]


def of_quantile(
    values: pd.DataFrame, units: pd.DataFrame, factors: Sequence[Factor], order: int, tau: float, name: str,
    layers: Layers,
) -> list[Claim]:  # fmt: skip
    """Test each term of up to `order` factors at one quantile; none where a treatment lacks values for it.

    values, units: a row for each value and for each unit, with y, f0, f1, ... and the `execution` they are of. An
    interaction has to be seen both with a quantile common to all of its settings and with what the other terms do to
    the quantiles taken off: each is misled where the other is not.
    """
    treated, own = lay_out(values, factors), lay_out(units, factors)
    if len(treated.counts) > MOST_CELLS or int(treated.counts.min()) < needed_values(tau):
        return []
    y, unit = values["y"].to_numpy(dtype=np.float64), np.arange(len(values))
    if len(units) != len(values):
        names = [*(f"f{i}" for i in range(len(factors))), "session", "round", "build", "execution"]
        if units["execution"].nunique() < values["execution"].nunique():
            # units are builds, which name their first execution
            names.pop()
        both = groups(*(np.concatenate((units[n].to_numpy(np.int64), values[n].to_numpy(np.int64))) for n in names)).of
        place = np.zeros(int(both.max()) + 1, dtype=np.int64)
        place[both[: len(units)]] = np.arange(len(units))
        unit = place[both[len(units) :]]
    data = _Data(own, coded(own.codes, own.sizes, order), unit, factors, layers)
    codes, cells = treated.codes, _places(treated.place)
    interactions = any(len(term.factors) > 1 for term in data.model.terms)
    full = coded(codes, treated.sizes, len(treated.sizes)) if interactions else data.model
    found = []
    for number, term in enumerate(data.model.terms[1:], 1):
        # the quantile that is common to all settings of the term, at each combination of the other factors
        others = [codes[:, f] for f in range(len(factors)) if f not in term.factors]
        of = (groups(*others).of if others else np.zeros(len(codes), dtype=np.int64))[treated.place]
        p = _p(data, number, y - np.array([type8(y[part], tau) for part in _places(of)])[of])
        if p is not None and len(term.factors) > 1:
            kept = [t for t in full.terms if not set(term.factors) <= set(t.factors)]
            matrix = np.hstack([full.matrix[:, t.start : t.stop] for t in kept])
            fitted = matrix @ np.linalg.lstsq(matrix, np.array([type8(y[part], tau) for part in cells]))[0]
            apart = y - fitted[treated.place]
            alone = _p(data, number, apart - type8(apart, tau))
            p = None if alone is None else max(p, alone)
        weight = QUANTILE if len(term.factors) == 1 else INTERACTION_OF_QUANTILE
        found.append(Claim(term=own.term(term.factors), statistic=name, weight=weight, p=p))
    return found


class _Data(msgspec.Struct, frozen=True, eq=False):
    units: CodedDesign
    model: Coded
    unit: Ints
    """Of each value, the number of its unit."""
    factors: Sequence[Factor]
    layers: Layers


def _p(data: _Data, number: int, apart: Array) -> float | None:
    """Test a term by the share of each unit's values that lie below; apart: values less their quantile."""
    below = (apart < 0) + 0.5 * (apart == 0)
    counts = np.bincount(data.unit, minlength=len(data.units.place))
    shares = np.bincount(data.unit, weights=below, minlength=len(counts)) / counts
    if not np.ptp(shares) > 0:
        return 1.0
    at = np.bincount(data.units.place, weights=shares) / np.bincount(data.units.place)
    error = stratum_of(data.model.terms[number], data.factors, data.layers)
    if not np.abs(shares - at[data.units.place]).max() > DEPENDENT:
        # likelihoods of data without any spread have no maximum
        return _apart(data, number, shares, error)
    found = stratified(shares - shares.mean(), data.units, data.model, data.factors, data.layers)
    test = found.tests[number - 1]
    if test is not None:
        return test.p
    known = found.errors.get(error)
    return None if known is not None and known.df < 1 else _apart(data, number, shares, error)


def _apart(data: _Data, number: int, shares: Array, error: Error) -> float | None:
    """Test a term where all units of a treatment have one share, as where settings do not overlap.

    There is no error then, however large the change: the test is that with one unit (a build of a factor that varies by
    build) on the other side, the worst of some, so that units that are apart are no clearer than those that nearly are.
    """
    layer = data.layers.errors.get(error)
    own = np.arange(len(shares)) if layer is None else layer.of
    low, high = float(shares.min()), float(shares.max())
    firsts = np.unique(data.units.place, return_index=True)[1]
    chosen = firsts[np.unique(np.linspace(0, len(firsts) - 1, MOST_MOVED).astype(np.int64))]
    worst = 0.0
    for unit in chosen.tolist():
        moved = own == own[unit]
        other = np.where(moved, np.where(shares > (low + high) / 2, low, high), shares)
        test = stratified(
            other - other.mean(), data.units, data.model, data.factors, data.layers
        ).tests[number - 1]  # fmt: skip
        if test is None:
            return None
        worst = max(worst, test.p)
    return worst


def _places(of: Ints) -> list[Ints]:
    return np.split(np.argsort(of, kind="stable"), np.cumsum(np.bincount(of))[:-1])
