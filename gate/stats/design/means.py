"""Means by treatment, by the setting of a factor, and by those of two (NIST TN 1855, 4.6.2 and Fig. 12 to 27)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import TYPE_CHECKING

from gate.model.study import Factor, MainEffect, MeanPoint, Setting, Treatment
from gate.stats.design.cells import Cell, average, cells, held, sd, settings, unit_of
from gate.stats.quantile import needed_values, type8

if TYPE_CHECKING:
    import pandas as pd

TAUS = (0.5, 0.9, 0.95, 0.99)
"""The quantiles of a treatment."""


def treatments(units: pd.DataFrame, values: pd.DataFrame, factors: Sequence[Factor]) -> list[Treatment]:
    """Return what was measured of each treatment, in standard order: the last factor changes fastest.

    Mean and sd are of the units; counts and type 8 quantiles (Hyndman and Fan 1996) of the values, those that have
    10 values beyond them.
    """
    of = {cell.codes: cell for cell in cells(values, factors)}
    return [_treatment(cell, of.get(cell.codes), values, factors) for cell in cells(units, factors)]


def _treatment(cell: Cell, inside: Cell | None, values: pd.DataFrame, factors: Sequence[Factor]) -> Treatment:
    counts = dict.fromkeys(("session", "build", "execution"), 0)
    quantiles = {}
    if inside is not None:
        counts = {name: int(values[name].iloc[inside.rows].nunique()) for name in counts}
        unit = unit_of(inside.y)
        quantiles = {
            str(tau): held(unit * type8(inside.y / unit, tau)) for tau in TAUS if len(inside.y) >= needed_values(tau)
        }
    return Treatment(
        settings=settings(factors, cell.codes),
        sessions=counts["session"],
        builds=counts["build"],
        executions=counts["execution"],
        values=0 if inside is None else len(inside.y),
        mean=cell.mean,
        sd=sd(cell.y),
        quantiles=quantiles,
    )


def lacking(units: pd.DataFrame, factors: Sequence[Factor]) -> list[dict[str, Setting]]:
    """Return the combinations of settings without a unit, in standard order."""
    there = {cell.codes for cell in cells(units, factors)}
    every = product(*(range(len(factor.settings)) for factor in factors))
    return [settings(factors, codes) for codes in every if codes not in there]


def balanced(units: pd.DataFrame, factors: Sequence[Factor]) -> bool:
    """Tell whether every combination of settings was measured, and each by as many units."""
    counts = {len(cell.y) for cell in cells(units, factors)}
    return len(counts) == 1 and not lacking(units, factors)


def main_effects(units: pd.DataFrame, factors: Sequence[Factor]) -> list[MainEffect]:
    """Return for each factor the mean at each of its settings: of treatment means, each treatment counting alike.

    A setting that was not measured has no point. Where treatments are lacking the points of a factor are means over
    different settings of the others: see `lacking`.
    """
    return _effects(units, factors, 1)


def interactions(units: pd.DataFrame, factors: Sequence[Factor]) -> list[MainEffect]:
    """Return the same for each two factors: a mean for each combination of their settings that was measured."""
    return _effects(units, factors, 2)


def _effects(units: pd.DataFrame, factors: Sequence[Factor], size: int) -> list[MainEffect]:
    of = cells(units, factors)
    return [_effect(of, factors, chosen) for chosen in combinations(range(len(factors)), size)]


def _effect(of: list[Cell], factors: Sequence[Factor], chosen: tuple[int, ...]) -> MainEffect:
    means: dict[tuple[int, ...], list[float]] = {}
    for cell in of:
        means.setdefault(tuple(cell.codes[k] for k in chosen), []).append(cell.mean)
    own = [factors[k] for k in chosen]
    points = [
        MeanPoint(settings=settings(own, codes), mean=average(means[codes]), treatments=len(means[codes]))
        for codes in sorted(means)
    ]
    return MainEffect(factors=[factor.name for factor in own], points=points)
