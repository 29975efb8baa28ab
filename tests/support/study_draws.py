"""Draws of whole studies, with or without effects, builds that differ, drift, and treatments that builds do something to."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from gate.commands.study.observations import Observed
from gate.model.study import Factor, Varies

Array = npt.NDArray[np.float64]
Codes = tuple[int, ...]


@dataclass(frozen=True)
class Shape:
    """What a study is drawn from; sizes are in standard deviations of executions.

    kind: of executions and values. builds: how builds differ; bimodal: two fifths are 4 such units higher. crossed: what
    a build does to one treatment. drift: sd of a straight drift over the run. correlation: of each value with the last.
    effect: added to the executions of a treatment; tail: factor of what the highest 3% of values exceed the rest by.
    lost: executions that are lacking.
    """

    kind: Literal["normal", "heavy", "lognormal"] = "normal"
    sizes: Codes = (2, 2)
    rounds: int = 5
    replicates: int = 1
    values: int = 20
    builds: float = 0.0
    bimodal: bool = False
    crossed: float = 0.0
    drift: float = 0.0
    correlation: float = 0.0
    lost: int = 0
    varies: Mapping[int, Varies] = field(default_factory=dict)
    effect: Callable[[Codes], float] = lambda _: 0.0
    tail: Callable[[Codes], float] = lambda _: 0.0


def drawn(rng: np.random.Generator, of: Shape) -> Observed:
    """Draw the observations of one response."""
    treatments = list(product(*map(range, of.sizes)))
    factors = tuple(
        Factor(name="abcde"[k], settings=list(range(size)), varies=of.varies.get(k, "execution"))
        for k, size in enumerate(of.sizes)
    )
    plots = [k for k, factor in enumerate(factors) if factor.varies == "build"]
    total = of.rounds * of.replicates * len(treatments)
    rows: list[tuple[int, ...]] = []
    values: list[Array] = []
    builds: dict[tuple[int, Codes], int] = {}
    for round_ in range(of.rounds):
        luck: dict[Codes, float] = {}
        crossed = dict(zip(treatments, of.crossed * rng.normal(size=len(treatments)), strict=True))
        for replicate in range(of.replicates):
            for number in rng.permutation(len(treatments)).tolist():
                at = treatments[number]
                plot = tuple(at[k] for k in plots)
                if plot not in luck:
                    luck[plot] = of.builds * (4.0 * (rng.random() < 0.4) if of.bimodal else rng.normal())
                time = of.drift * (len(rows) / total - 0.5) * math.sqrt(12)
                middle = luck[plot] + crossed[at] + time + of.effect(at) + float(_errors(rng, of.kind, 1)[0])
                own = middle + 0.5 * _series(rng, of)
                own[rng.random(len(own)) < 0.03] += of.tail(at)
                build = builds.setdefault((round_, plot), len(builds))
                rows.append((*at, 0, round_, build, replicate, len(rows), len(rows), of.values))
                values.append(own)
    kept = np.sort(rng.permutation(total)[of.lost :])
    names = [f"f{k}" for k in range(len(factors))]
    columns = [*names, "session", "round", "build", "replicate", "execution", "order", "count"]
    units = pd.DataFrame([rows[k] for k in kept], columns=columns)
    repeated = units.loc[np.repeat(units.index.to_numpy(), of.values)].reset_index(drop=True)
    long = repeated.assign(y=np.concatenate([values[k] for k in kept]))
    units = units.assign(y=[float(values[k].mean()) for k in kept])
    return Observed("bench", "time", "s", "lower", "value", factors, long, units, "replicate")


def _errors(rng: np.random.Generator, kind: str, size: int) -> Array:
    if kind == "heavy":
        return rng.standard_t(3, size) / math.sqrt(3)
    return rng.lognormal(0, 0.8, size) if kind == "lognormal" else rng.normal(size=size)


def _series(rng: np.random.Generator, of: Shape) -> Array:
    if not of.correlation:
        return _errors(rng, of.kind, of.values)
    found = rng.normal(size=of.values)
    for k in range(1, of.values):
        found[k] = of.correlation * found[k - 1] + math.sqrt(1 - of.correlation**2) * found[k]
    return found
