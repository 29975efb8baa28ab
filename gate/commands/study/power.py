"""What a planned study can find: the error of each kind of factor, and the chance to see a change of its mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gate.commands.study.design import Design
from gate.commands.study.warnings import sessions_of_each
from gate.config.fractions.chosen import model_order
from gate.config.treatments import SIDE, Planned, builds_of, jobs, labels_of, measured_by
from gate.model.study import Error, Setting
from gate.stats.design.aliases import saturated
from gate.stats.design.claims import INTERACTION_OF_MEAN, INTERACTION_OF_QUANTILE, QUANTILE
from gate.stats.design.coding import Coded, coded, lay_out
from gate.stats.design.lenth import FEWEST
from gate.stats.design.power import change_power, lenth_power
from gate.units import format_confidence, format_share, plural
from gate.words.phrases import joined

if TYPE_CHECKING:
    import pandas as pd

CHANGES = (1.0, 2.0)
"""In standard deviations of the noise."""
_QUANTILES = 3
"""Quantiles that share the family with the mean."""
_MOST_UNITS = 200_000
"""Executions that are laid out; what more of them find is certain."""
_UNITS: dict[Error, str] = {
    "session": "the mean of a session",
    "build": "the mean of a build",
    "build x treatment": "an execution",
    "execution": "an execution",
}


@dataclass(frozen=True, slots=True)
class Found:
    """What is found of the factors of one error.

    error_df: 0: nothing is tested by it. lenth: contrasts that Lenth's method judges instead. chances: of each of
    CHANGES, the least over the factors; None: nothing can be tested.
    """

    error: Error
    factors: tuple[str, ...]
    error_df: int
    lenth: int
    chances: tuple[float, ...] | None


def power_of(design: Design, sessions: int | None) -> list[Found]:
    """Return what the factors of each error stratum can show, the finest first.

    Errors are those of the analysis, on the layout that is planned, as if all of it were measured.

    Args:
        sessions: of all jobs together; None: this is the only one.
    """
    from gate.stats.design.layers import layers
    from gate.stats.design.strata import stratum_of

    units = _units(design, sessions)
    factors = design.factors
    lie = layers(units, factors, design.study.block or "replicate")
    laid = lay_out(units, factors)
    model = coded(laid.codes, laid.sizes, model_order(design.study))
    of = {term.factors: stratum_of(term, factors, lie) for term in model.terms[1:]}
    found = []
    for error in ("execution", "build x treatment", "build", "session"):
        own = [(f,) for f in range(len(factors)) if of.get((f,)) == error]
        if not own:
            continue
        groups = lie.errors.get(error)
        used = sum(t.stop - t.start for t in model.terms[1:] if of[t.factors] == error)
        df = max(0, (len(units) if groups is None else groups.count) - lie.dimension(error) - used)
        # the noise is that of one execution, or of the mean of a build or session
        alone = groups is None or error == "build x treatment"
        weights = laid.totals(np.ones(len(units)) if alone or groups is None else 1 / groups.sizes[groups.of])
        level = (1 - _confidence(design)) / _family(model, len(factors))
        chances = [[change_power(model, weights, factor, change, df, level) for (factor,) in own] for change in CHANGES]
        least = tuple(min(c for c in row if c is not None) if None not in row else 0.0 for row in chances)
        names = tuple(factors[factor].name for (factor,) in own)
        found.append(Found(error, names, df, 0, least) if df else Found(error, names, 0, 0, None))
    return found if any(each.error_df for each in found) else _by_lenth(design, found, laid.codes, laid.counts)


def _by_lenth(design: Design, found: list[Found], codes: Any, counts: Any) -> list[Found]:
    """Say what Lenth's method finds where nothing has an error of its own."""
    model = saturated(codes, [len(f.settings) for f in design.factors]) if counts.max() == 1 else None
    if model is None or len(found) != 1 or len(model.terms) - 1 < FEWEST:
        return found
    contrasts = len(model.terms) - 1
    confidence = _confidence(design)
    chances = tuple(lenth_power(contrasts, len(codes), change, confidence) for change in CHANGES)
    return [Found(found[0].error, found[0].factors, 0, contrasts, chances)]


def _confidence(design: Design) -> float:
    return design.project.settings.rules.gate.confidence


def _family(model: Coded, factors: int) -> float:
    """Return the weight of all hypotheses of a response beside one factor's effect on the mean (Holm's first step)."""
    mains = sum(len(term.factors) == 1 for term in model.terms[1:])
    rest = len(model.terms) - 1 - mains
    quantiles = _QUANTILES * (QUANTILE * mains + INTERACTION_OF_QUANTILE * rest)
    return mains + INTERACTION_OF_MEAN * rest + quantiles + QUANTILE * factors


def _units(design: Design, sessions: int | None) -> pd.DataFrame:
    """Lay out the planned executions of a benchmark as the analysis has them."""
    import pandas as pd

    study, rounds = design.study, builds_of(design.study)
    every = jobs(study, design.planned, sessions_of_each(design, sessions or 1))
    most = max(rounds, _MOST_UNITS // max(1, len(design.planned) * len(every)))
    replicates = min(study.replicates, most)
    codes = [{str(s): code for code, s in enumerate(f.settings)} for f in design.factors]
    columns: dict[str, list[int]] = {name: [] for name in ("session", "round", "build", "replicate", "fold")}
    columns |= {f"f{k}": [] for k in range(len(codes))}
    for number, job in enumerate(every):
        runner = None if job.runner is None else ",".join(labels_of(job.runner))
        for planned in measured_by(study, design.planned, job.session, runner):
            at = [own[str(_setting(planned, f.name))] for own, f in zip(codes, design.factors, strict=True)]
            for build in range(rounds):
                for replicate in range(replicates // rounds + (build < replicates % rounds)):
                    row = (number, build, build, replicate, planned.fold, *at)
                    for column, value in zip(columns.values(), row, strict=True):
                        column.append(value)
    return pd.DataFrame(columns)


def _setting(planned: Planned, name: str) -> Setting:
    return planned.side if name == SIDE else planned.settings[name]


# --- in words and as JSON -------------------------------------------------------------------------------------------


def power_lines(found: list[Found], confidence: float) -> list[str]:
    """Say what can be found, a line for each error."""
    title = f"chance to find a change of a factor's mean, at {format_confidence(confidence)} for all sentences together"
    return [title, *(f"  {_line(each)}" for each in found)]


def _line(found: Found) -> str:
    names = joined([*found.factors], 8)
    if found.chances is None:
        why = "one measurement or build of each setting leaves no error to compare with"
        return f"{names}: none can be tested, {why}"
    first, *rest = [
        f"{format_share(chance)} for {int(change)}" for change, chance in zip(CHANGES, found.chances, strict=True)
    ]
    told = ", ".join([f"{first} standard deviation of {_UNITS[found.error]}", *rest])
    how = (
        f"by Lenth's method on {plural(found.lenth, 'contrast')}, if few factors do anything"
        if found.lenth
        else f"{plural(found.error_df, 'degree')} of freedom"
    )
    return f"{names}: {told} ({how})"


def power_json(found: list[Found]) -> list[dict[str, Any]]:
    """Return the same for a program."""
    return [
        {
            "error": each.error,
            "factors": list(each.factors),
            "error_df": each.error_df,
            "method": "lenth" if each.lenth else "F" if each.chances else None,
            "contrasts": each.lenth or None,
            "power": None
            if each.chances is None
            else [{"change_in_sd": c, "chance": p} for c, p in zip(CHANGES, each.chances, strict=True)],
        }
        for each in found
    ]
