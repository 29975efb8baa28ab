"""A made-up study to draw: results as an analysis would give them, computed here in the plainest way."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from scipy.stats import norm

from gate.commands.study.plots.styles import TreatmentValues
from gate.model.study import (
    Contrast,
    Diagnostics,
    Effect,
    Factor,
    Lenth,
    LinearModel,
    OneWay,
    QuantileEffects,
    QuantileModel,
    Residual,
    Response,
    SampleSize,
    SampleSizes,
    SeriesPoint,
    Setting,
    Term,
    Treatment,
)
from gate.stats.design.cells import blocks, main_effects
from gate.stats.design.one_way import one_ways
from tests.support.units_frame import crossed, frame

TAUS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)

LOAD = Factor(name="load", settings=["idle", "compile", "encode"])
SCHED = Factor(name="sched", settings=["cfs", "bfs"])
MACHINE = Factor(name="machine", settings=["core2", "i7"], varies="session")
CLIENTS = Factor(name="clients", settings=[1, 8])
FACTORS = (LOAD, SCHED, MACHINE, CLIENTS)


def treatments(factors: Sequence[Factor]) -> list[dict[str, Setting]]:
    """The full factorial in standard order."""
    names = [f.name for f in factors]
    return [dict(zip(names, own, strict=True)) for own in itertools.product(*(f.settings for f in factors))]


def level(factors: Sequence[Factor], settings: Mapping[str, Setting]) -> float:
    """A mean for a treatment, 10 to 40 ms: the first factor matters most, and the first two interact."""
    at = [f.settings.index(settings[f.name]) / max(1, len(f.settings) - 1) for f in factors]
    value = 0.01 + sum(0.012 / (k + 1) * a for k, a in enumerate(at))
    return value + (0.009 * at[0] * at[1] if len(at) > 1 else 0.0)


def samples(factors: Sequence[Factor], count: int) -> list[TreatmentValues]:
    """Long-tailed values of every treatment, with a second mode."""
    rng = np.random.default_rng(0)
    found = []
    for settings in treatments(factors):
        more = 0.12 * rng.gamma(2, 0.5, count) * (1 + 1.5 * (rng.random(count) < 0.1))
        found.append(TreatmentValues(settings, level(factors, settings) * (1 + more)))
    return found


def effect(term: str, settings: dict[str, Setting], estimate: float, half: float | None = None) -> Effect:
    low, high = (None, None) if half is None else (estimate - half, estimate + half)
    return Effect(term=term, settings=settings, estimate=estimate, low=low, high=high, p=None)


def quantile_effects(
    factors: Sequence[Factor], *, iid: bool = True, order: int = 2, half: float = 0.0004, enough_below: float = 0.96
) -> QuantileEffects:
    """Effects that grow towards the upper tail, one row for each but the first setting of every factor."""
    models = []
    for tau in TAUS:
        rows = [effect("(intercept)", {}, 0.012 + 0.02 * tau**4, 2 * half)]
        for depth in range(1, order + 1):
            for own in itertools.combinations(factors, depth):
                for pick in itertools.product(*(f.settings[1:] for f in own)):
                    settings = dict(zip([f.name for f in own], pick, strict=True))
                    sign = 1 - 2 * (sum(map(factors.index, own)) % 2)
                    size = sign * 0.003 / (1 + sum(map(factors.index, own))) / depth**2
                    rows.append(
                        effect(":".join(settings), settings, size * (0.2 + 3 * tau**6), half * (1 + 4 * tau**8))
                    )
        twins = [msgspec.structs.replace(e, low=e.estimate - half / 3, high=e.estimate + half / 3) for e in rows]
        models.append(
            QuantileModel(
                tau=tau, effects=rows, iid=twins if iid else None, iid_errors=[half / 6] * len(rows) if iid else None,
                df=11, enough=tau < enough_below,
            )
        )  # fmt: skip
    return QuantileEffects(cluster="execution", clusters=480, models=models, inestimable=[], warnings=[])


def diagnostics(count: int) -> Diagnostics:
    rng = np.random.default_rng(1)
    fitted = rng.choice(np.linspace(0.01, 0.04, 12), count)
    rest = np.sort(rng.standard_t(3, count)) * 0.002
    quantiles = norm.ppf((np.arange(count) + 0.5) / count)
    found = [
        Residual(fitted=float(f), residual=float(r), quantile=float(q), cook=float(abs(r)) * 50, order=k)
        for k, (f, r, q) in enumerate(zip(fitted, rest, quantiles, strict=True))
    ]
    return Diagnostics(
        checks=[], residuals=found, largest_cook=max(r.cook or 0 for r in found), where="somewhere", warnings=[]
    )


def response(factors: Sequence[Factor] = FACTORS, **more: Any) -> Response:
    """A response with means, interactions, blocks, series and sample sizes of the factors given."""
    rng = np.random.default_rng(3)
    every = treatments(factors)
    means = {repr(s): level(factors, s) * (1 + 0.02 * rng.standard_normal()) for s in every}
    drawn = iter(means.values())
    units = crossed([len(f.settings) for f in factors], lambda _: [next(drawn)])
    terms = [
        Term(term=f.name, factors=[f.name], df=1, sum_of_squares=1.0 / (k + 1), share=None, f=None, p=None,
             p_adjusted=None, effects=[])
        for k, f in enumerate(factors)
    ]  # fmt: skip
    made = Response(
        benchmark="latt", metric="latency", unit="s", better="lower", scale="value",
        factors=list(factors),
        treatments=[
            Treatment(settings=s, sessions=1, builds=5, executions=20, values=400, mean=means[repr(s)], sd=None,
                      quantiles={})
            for s in every
        ],
        lacking=[], balanced=True, other_scale="",
        linear=LinearModel(
            observations=1, intercept=effect("", {}, 0.02), terms=terms, residual_df=1, residual_ss=0.0,
            residual_sd=None, total_ss=1.0, r2=None, unexplained=None, inestimable=[],
        ),
        diagnostics=None, claims=[], quantiles=None, ranks=[], means=[],
        questionable=[], histograms=[], spreads=[], one_ways=[], percents=[],
        mains=main_effects(units, factors), interactions=main_effects(units, factors, 2), blocks=blocks(units, factors),
        sample_sizes=None, dependences=[], series=series(means, 5), abridged=[], words=[], warnings=[],
    )  # fmt: skip
    return msgspec.structs.replace(made, **more)


def series(means: Mapping[str, float], each: int, sessions: int = 1) -> list[SeriesPoint]:
    """So many units of every treatment a session, in a random order within each replicate, drifting a little."""
    rng = np.random.default_rng(5)
    found: list[SeriesPoint] = []
    levels = list(means.values())
    for session, build in itertools.product(range(sessions), range(each)):
        for k in rng.permutation(len(levels)).tolist():
            value = levels[k] * (1 + 0.03 * rng.standard_normal() + 0.02 * session) + 1e-6 * len(found)
            found.append(SeriesPoint(order=len(found), session=session, build=build, treatment=k, value=float(value)))
    return found


def sample_sizes(settings: dict[str, Setting] | None = None) -> SampleSizes:
    rows = []
    for size in (5, 10, 20, 40, 80, 160, 320):
        for method, bonus in (("t", 0.0), ("bca", -0.012)):
            width = 0.004 / size**0.5 * (1.02 if method == "bca" else 1)
            rows.append(
                SampleSize(size=size, method=method, widths=(width * 0.8, width, width * 1.4),  # type: ignore[arg-type]
                           coverage=0.95 - 0.4 / size + bonus, subsamples=2000)
            )  # fmt: skip
    return SampleSizes(
        settings=settings or {"load": "idle", "sched": "cfs"}, units=1000, confidence=0.95, rows=rows,
        median_effect=0.0006, enough=80,
    )  # fmt: skip


def one_way(factor: Factor) -> OneWay:
    """The third setting is as fast as the first, the others are slower."""
    rng = np.random.default_rng(9)
    values = {
        (k,): 0.02 * (1 + 0.1 * k * (k != 2)) + 0.001 * rng.gamma(2, 0.7, 20) for k in range(len(factor.settings))
    }
    return one_ways(frame({codes: own.tolist() for codes, own in values.items()}), [factor], 0.95)[0]


def lenth(names: Sequence[str], count: int, noise: float, size: float = 0.004) -> Lenth:
    """Contrasts that become smaller, with 0 to 6 aliases; noise: the limits in times the largest."""
    found = []
    for k in range(count):
        own = [*(names[i % len(names)] for i in range(k % 3 + 1)), str(k)]
        found.append(
            contrast(":".join(own), (-1) ** k * size * 0.8**k, [f"{own[0]}:x{j}" for j in range(k % 7)], noise * size)
        )
    return Lenth(
        contrasts=found, pse=noise * size / 3, me=noise * size, sme=2 * noise * size, df=count / 3, confidence=0.95
    )


def contrast(term: str, estimate: float, aliases: list[str], me: float) -> Contrast:
    """A contrast that is possible beyond ME and active beyond twice as much."""
    return Contrast(
        term=term, factors=term.split(":"), aliases=aliases, estimate=estimate, active=abs(estimate) > 2 * me,
        possible=abs(estimate) > me,
    )  # fmt: skip


def aliased(names: Sequence[str]) -> Lenth:
    """Contrasts of factors: the first has no alias, the second one, and so on."""
    found = [contrast(name, 0.001, [f"{names[0]}:x{j}" for j in range(k)], 0.003) for k, name in enumerate(names)]
    return Lenth(contrasts=found, pse=0.001, me=0.003, sme=0.006, df=len(found) / 3, confidence=0.95)
