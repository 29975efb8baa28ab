"""What speaks against the intervals of quantile effects, in plain words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from gate.stats.quantile import needed_values

if TYPE_CHECKING:
    from gate.model.study import Effect, QuantileModel, Varies
    from gate.stats.design.design import Design
    from gate.stats.design.quantile_cells import Ordered

_NAMED = 3
"""Most treatments that one line names."""


@dataclass(frozen=True, slots=True, eq=False)
class AtTau:
    """One model; unseen: numbers of the treatments whose clusters move the quantile farther than their values reach."""

    model: QuantileModel
    unseen: list[int]


def warnings_of(design: Design, cells: Sequence[Ordered], found: Sequence[AtTau], cluster: Varies) -> list[str]:
    """Return one line for each kind of doubt: what is lacking, for which quantiles, where, and what follows.

    design: its treatments are the cells.
    """
    few = [k for k, cell in enumerate(cells) if len(cell.clusters) < 2]
    if few:
        named = _some([f"{_name(design, k)} has {len(cells[k].clusters)}" for k in few])
        lines = [f"no intervals of quantile effects: each treatment needs 2 {cluster}s, {named}"]
    else:
        lines = []
    lines += _too_few_values(design, cells, [at.model for at in found if not at.model.enough])
    if not few:
        lines += _unseen(design, [at for at in found if at.unseen and at.model.enough], cluster)
    return lines + _narrow(found, cluster)


def _too_few_values(design: Design, cells: Sequence[Ordered], models: Sequence[QuantileModel]) -> list[str]:
    if not models:
        return []
    needed = {model.tau: needed_values(model.tau) for model in models}
    hardest = max(needed, key=lambda tau: needed[tau])
    most = needed[hardest]
    short = [k for k, cell in enumerate(cells) if len(cell.ordered) < most]
    fewest = sorted(short, key=lambda k: len(cells[k].ordered))
    named = _some([f"{_name(design, k)} has {len(cells[k].ordered):,}" for k in fewest])
    needs = f"each treatment needs 10 beyond it, {most:,} for {_quantile(hardest)}"
    return [f"too few values for {_listed([*needed])}: {needs}; {named}; its intervals may be too narrow"]


def _unseen(design: Design, found: Sequence[AtTau], cluster: Varies) -> list[str]:
    if not found:
        return []
    named = _some([_name(design, k) for k in sorted({k for at in found for k in at.unseen})])
    taus = _listed([at.model.tau for at in found])
    few = f"the {cluster}s of {named} differ so much that it rests on few of them"
    return [f"{taus}: {few}; its intervals may be too narrow"]


def _listed(taus: Sequence[float]) -> str:
    names = [_quantile(tau) for tau in taus]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _narrow(found: Sequence[AtTau], cluster: Varies) -> list[str]:
    """Say why the intervals for independent values are too narrow, with the measured ratio of widths."""
    if not any(at.model.iid for at in found):
        return []
    ratios = [
        (ratio, f"{own.term} at {_quantile(at.model.tau)}")
        for at in found
        for own, other in zip(at.model.effects[1:], at.model.iid[1:] if at.model.iid else [], strict=False)
        if ":" not in own.term and (ratio := _ratio(own, other)) is not None
    ]
    reason = f"the i.i.d. intervals take all values for independent, and values of one {cluster} are alike"
    if not ratios:
        return [f"{reason}: they are too narrow; by how much is not known without clustered intervals"]
    widest, where = max(ratios)
    middle = median(ratio for ratio, _ in ratios)
    if widest <= 1:
        return [f"{reason}; here the clustered intervals of main effects are no wider (median {middle:.2g} times)"]
    measured = f"the clustered interval of {where} is {widest:.2g} times as wide"
    return [f"{reason}: {measured}, and in the median of main effects and quantiles {middle:.2g} times"]


def _ratio(own: Effect, other: Effect) -> float | None:
    """Return how many times as wide the first interval is."""
    if own.low is None or own.high is None or other.low is None or other.high is None:
        return None
    width = other.high - other.low
    return (own.high - own.low) / width if width > 0 and math.isfinite(width) else None


def _name(design: Design, number: int) -> str:
    return design.treatment(number) or "the treatment"


def _quantile(tau: float) -> str:
    return f"p{100 * tau:.10g}"


def _some(names: Sequence[str]) -> str:
    more = f", and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return "; ".join(names[:_NAMED]) + more
