"""Terms that the treatments measured do not tell from others, in words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from gate.stats.design.coding import DEPENDENT, coded

if TYPE_CHECKING:
    import numpy.typing as npt

    from gate.stats.design.coding import Coded
    from gate.stats.design.design import Design

    Array = npt.NDArray[np.float64]

_NAMED = 3
"""Most combinations, or terms, that one line names."""


def inestimable(design: Design, model: Coded) -> list[str]:
    """Say which terms are left out and why: "load:clients: load=busy was not measured with clients=8".

    model: its rows are the treatments of the design. A factor measured at one setting is named once, and so is an
    interaction, with those that hold it.
    """
    single = [f for f, size in enumerate(design.sizes) if size < 2]
    found = [f"{design.names[f]}: measured at {design.settings[f][0]} only" for f in single]
    gone = [factors for factors in model.left_out if not set(factors) & set(single)]
    for factors in gone:
        if any(set(other) < set(factors) for other in gone):
            continue
        holding = [_term(design, other) for other in gone if set(factors) < set(other)]
        without = f"; without it there is no {_some(holding)}" if holding else ""
        found.append(f"{_term(design, factors)}: {_why(design, model, factors)}{without}")
    return found


def _term(design: Design, factors: Sequence[int]) -> str:
    return ":".join(design.names[f] for f in factors)


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _why(design: Design, model: Coded, factors: tuple[int, ...]) -> str:
    if len(factors) > 1:
        met = set(map(tuple, design.codes[:, list(factors)].tolist()))
        lacking = [codes for codes in product(*(range(design.sizes[f]) for f in factors)) if codes not in met]
        if lacking:
            return _some([_not_together(design, factors, codes) for codes in lacking])
    own = coded(design.codes[:, list(factors)], [design.sizes[f] for f in factors], len(factors))
    columns = own.matrix[:, own.terms[-1].start :]
    for term in model.terms[1:]:
        if not set(term.factors) & set(factors) and _within(columns, model.matrix[:, term.start : term.stop]):
            return f"the treatments measured do not tell it from {_term(design, term.factors)}"
    return "the treatments measured do not tell it from the terms before it"


def _not_together(design: Design, factors: Sequence[int], codes: Sequence[int]) -> str:
    settings = [f"{design.names[f]}={design.settings[f][c]}" for f, c in zip(factors, codes, strict=True)]
    return f"{' and '.join(settings[:-1])} was not measured with {settings[-1]}"


def _within(columns: Array, others: Array) -> bool:
    """Tell whether one of the columns is a sum of others and a constant."""
    space = np.column_stack((np.ones(len(others)), others))
    apart = columns - space @ np.linalg.lstsq(space, columns)[0]
    return bool((np.linalg.norm(apart, axis=0) <= DEPENDENT * np.linalg.norm(columns, axis=0)).any())
