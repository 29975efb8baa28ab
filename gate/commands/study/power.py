"""What a plan could find, said before it is measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gate.commands.study.design import Design
from gate.commands.study.report.words import ERRORS
from gate.commands.study.warnings import sessions_of_each
from gate.config.fractions.chosen import model_order
from gate.config.replicates import shares_of
from gate.config.treatments import SIDE, jobs
from gate.units import agree
from gate.writing.phrases import joined

if TYPE_CHECKING:
    import pandas as pd

    from gate.stats.design.power import Power

SIZES = (1.0, 2.0)
"""Changes, in standard deviations of executions, or of means of builds or sessions."""
_MOST = 200_000
"""Most executions of a benchmark for which it is worked out."""
_TAUS = (0.5, 0.9, 0.99)


def powers(design: Design, sessions: int | None) -> list[Power]:
    """Return the power for each factor; none for a design too large to lay out.

    Args:
        sessions: of all jobs together; None: this is the only job.
    """
    each = sessions_of_each(design, sessions or 1)
    study = design.study
    if study.replicates * len(design.planned) * each > _MOST:
        return []
    # pandas takes its time to load
    from gate.stats.design.power import power
    from gate.stats.quantile import needed_values

    values = study.replicates * design.project.settings.rules.plan.iterations * each
    return power(
        _units(design, each),
        [factor for factor in design.factors if factor.name in study.factor],
        model_order(study),
        study.block or "replicate",
        SIZES,
        quantiles=sum(needed_values(tau) <= values for tau in _TAUS),
    )


def _units(design: Design, sessions: int) -> pd.DataFrame:
    """Lay out one benchmark's executions, as they will be measured."""
    import pandas as pd

    study = design.study
    places = {f.name: {str(s): code for code, s in enumerate(f.settings)} for f in design.factors}
    built = [f.name for f in design.factors if f.varies == "build"]
    rows: list[tuple[int, ...]] = []
    builds: dict[tuple[int, int, tuple[str, ...]], int] = {}
    shares = shares_of(study)
    for planned in design.planned:
        at = {SIDE: planned.side, **planned.settings}
        codes = [places[f.name][str(at[f.name])] for f in design.factors]
        variant = tuple(str(at[name]) for name in built)
        for job in jobs(study, [planned], sessions):
            for round_, share in enumerate(shares):
                build = builds.setdefault((job.session, round_, variant), len(builds))
                place = job.session * len(shares) + round_
                rows += [(*codes, job.session, place, planned.fold, build, replicate) for replicate in range(share)]
    names = [f"f{k}" for k in range(len(design.factors))]
    return pd.DataFrame(rows, columns=[*names, "session", "round", "fold", "build", "replicate"])


def as_text(found: Sequence[Power]) -> list[str]:
    """Say which changes would be found, in a line for each kind of factor."""
    if not found:
        return []
    groups: dict[tuple[Any, ...], list[Power]] = {}
    for each in found:
        told = (each.stratum, each.df, *(round(chance, 2) for chance in each.chances))
        groups.setdefault(told, []).append(each)
    return [*(_line(own) for own in groups.values()), ""]


def _line(own: Sequence[Power]) -> str:
    names = joined([each.factor for each in own], 4)
    first = own[0]
    if first.df is None:
        return f"power: nothing can be told of {names}: there {agree(len(own), 'is', 'are')} too few {_of(first)}"
    one, two = (_share(chance) for chance in first.chances)
    told = "by Lenth's method, about" if first.lenth else f"tested against {_of(first)},"
    return (
        f"power: a change of the mean by {names} is found in {two} of studies if it is 2 sd of {_drawn(first)}, in "
        f"{one} if it is 1 sd ({told} {first.df:.3g} df)"
    )


def _share(chance: float) -> str:
    return "under 1%" if chance < 0.01 else "over 99%" if chance > 0.99 else f"{chance:.0%}"


def _drawn(own: Power) -> str:
    return f"the means of {own.stratum}s" if own.stratum in ("build", "session") else "executions"


def _of(own: Power) -> str:
    return ERRORS[own.stratum]


def as_json(found: Sequence[Power]) -> list[dict[str, Any]]:
    """Return the power of each factor as it is in the plan's JSON."""
    return [
        {
            "factor": each.factor,
            "error": each.stratum,
            "df": each.df,
            "found": None if each.df is None else {f"{s:g} sd": c for s, c in zip(SIZES, each.chances, strict=True)},
        }
        for each in found
    ]
