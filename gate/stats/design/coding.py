"""Treatments as measured, and effect coding: from treatments to the columns of a linear model, and to its effects.

A factor of k settings has k - 1 columns; its first setting is -1 in all of them, setting j is 1 in column j and 0 in
the others. With two settings that is -1 and +1 (Born de Oliveira et al. 2013, section 5). A column of an interaction is
a product of columns, one of each factor. Terms that the treatments measured do not tell from others are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import TYPE_CHECKING

import msgspec
import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from gate.model.study import Factor, Setting

    Array = npt.NDArray[np.float64]
    Codes = npt.NDArray[np.int64]

INTERCEPT = "intercept"
DEPENDENT = 1e-9
"""A column of which less than this share stands apart from the columns before it tells nothing of its own."""
_NAMED = 3
"""Most combinations, or terms, that one line names."""


class Design(msgspec.Struct, frozen=True, eq=False):
    """Units sorted into the treatments that were measured."""

    names: tuple[str, ...]
    settings: tuple[tuple[Setting, ...], ...]
    """Of each factor those measured, as Factor has them."""
    codes: Codes
    """Shape (treatments, factors), numbers of settings among those measured."""
    place: Codes
    """The treatment of each unit."""
    counts: Codes

    @property
    def sizes(self) -> list[int]:
        """How many settings of each factor were measured."""
        return [len(own) for own in self.settings]

    def treatment(self, number: int) -> str:
        """Name a treatment: "load=busy, clients=8"."""
        return ", ".join(
            f"{name}={own[code]}"
            for name, own, code in zip(self.names, self.settings, self.codes[number].tolist(), strict=True)
        )

    def totals(self, values: Array) -> Array:
        """Sum values of units by treatment."""
        sums: Array = np.bincount(self.place, weights=values, minlength=len(self.counts)).astype(np.float64)
        return sums


def lay_out(units: pd.DataFrame, factors: Sequence[Factor]) -> Design:
    """Sort units into treatments; settings that no unit has are not counted.

    Raises:
        ValueError: no units.
    """
    if not len(units):
        raise ValueError("no units")
    columns, settings = [], []
    for i, factor in enumerate(factors):
        present, codes = np.unique(units[f"f{i}"].to_numpy(dtype=np.int64), return_inverse=True)
        columns.append(codes.reshape(len(units)))
        settings.append(tuple(factor.settings[code] for code in present.tolist()))
    # one number a treatment, last factor fastest: rows of many columns are slow to compare
    keys = np.zeros(len(units), dtype=np.int64)
    for codes, own in zip(columns, settings, strict=True):
        keys = np.unique(keys * len(own) + codes, return_inverse=True)[1].reshape(len(units))
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    place = place.reshape(len(units))
    rows = np.array([codes[first] for codes in columns], dtype=np.int64).reshape(len(columns), len(first)).T
    counts = np.bincount(place)
    return Design(tuple(f.name for f in factors), tuple(settings), rows, place, counts)


class Columns(msgspec.Struct, frozen=True):
    """Where a term stands in a design matrix."""

    factors: tuple[int, ...]
    """Their numbers; (): the intercept."""
    start: int
    stop: int


class Coded(msgspec.Struct, frozen=True, eq=False):
    """A design matrix, shape (n, p), and its terms: the intercept, factors, interactions of two, and so on."""

    matrix: Array
    terms: tuple[Columns, ...]
    left_out: tuple[tuple[int, ...], ...]
    """Terms that the rows do not tell from those before them; they have no columns."""


class Contrast(msgspec.Struct, frozen=True):
    """What a term adds at some settings: the sum of weights times the term's own coefficients."""

    settings: dict[int, int]
    """Factor number -> number of its setting."""
    weights: tuple[float, ...]


def coded(codes: Codes, sizes: Sequence[int], order: int) -> Coded:
    """Return the design matrix of all terms of up to `order` factors.

    A term of which a column depends on the columns before it (settings that were not measured together) is left out
    whole, as is every interaction that holds it.

    Args:
        codes: shape (n, factors), the number of each row's setting, from 0.
        sizes: how many settings each factor has.
    """
    n, count = codes.shape
    rows, place = np.unique(codes, axis=0, return_inverse=True)
    parts = [np.ones((len(rows), 1))]
    width = 1
    q = np.empty((len(rows), len(rows)), order="F")
    q[:, 0] = 1 / np.sqrt(len(rows))
    terms = [Columns((), 0, 1)]
    left_out: list[tuple[int, ...]] = []
    for size in range(1, min(order, count) + 1):
        for factors in combinations(range(count), size):
            columns = _columns(rows, sizes, factors)
            lost = any(set(gone) <= set(factors) for gone in left_out)
            apart = None if lost or not columns.shape[1] else _apart(q[:, :width], columns)
            if apart is None:
                left_out.append(factors)
                continue
            stop = width + columns.shape[1]
            terms.append(Columns(factors, width, stop))
            parts.append(columns)
            q[:, width:stop] = apart
            width = stop
    matrix = np.hstack(parts)
    return Coded(np.ascontiguousarray(matrix[place.reshape(n)]), tuple(terms), tuple(left_out))


def contrasts(factors: Sequence[int], sizes: Sequence[int]) -> list[Contrast]:
    """Return what a term adds at its settings: of two settings at the second only, of more at each.

    A factor of two settings adds the negative at its first.

    Args:
        factors: the term's.
        sizes: of all factors.
    """
    own = [range(1, 2) if sizes[f] == 2 else range(sizes[f]) for f in factors]
    bases = [_basis(sizes[f]) for f in factors]
    found = []
    for chosen in product(*own):
        weights = np.ones(1)
        for basis, setting in zip(bases, chosen, strict=True):
            weights = np.multiply.outer(weights, basis[setting]).ravel()
        found.append(Contrast(dict(zip(factors, chosen, strict=True)), tuple(weights.tolist())))
    return found


def _basis(size: int) -> Array:
    """Return the rows of a factor's settings, shape (size, size - 1)."""
    return np.vstack((-np.ones((1, size - 1)), np.eye(size - 1)))


def _columns(codes: Codes, sizes: Sequence[int], factors: Sequence[int]) -> Array:
    columns = np.ones((len(codes), 1))
    for factor in factors:
        own = _basis(sizes[factor])[codes[:, factor]]
        columns = (columns[:, :, None] * own[:, None, :]).reshape(len(codes), -1)
    return columns


def _apart(q: Array, columns: Array) -> Array | None:
    """Return what columns add to the orthonormal ones of q; None where one lies in the space of those before it."""
    lengths = np.linalg.norm(columns, axis=0)
    if not lengths.all() or q.shape[1] + columns.shape[1] > len(q):
        return None
    apart = columns - q @ (q.T @ columns)
    apart -= q @ (q.T @ apart)
    found, left = np.linalg.qr(apart)
    # the diagonal is what of each column stands apart from those of its own term before it, too
    if (np.abs(np.diag(left)) <= DEPENDENT * lengths).any():
        return None
    again: Array = found - q @ (q.T @ found)
    return again


class Addend(msgspec.Struct, frozen=True, eq=False):
    """What a term adds at some settings: a weighted sum of all coefficients."""

    number: int
    """Of the term; 0 is the intercept."""
    term: str
    settings: dict[str, Setting]
    weights: Array


def addends(design: Design, model: Coded) -> list[Addend]:
    """Return what each term adds, the intercept first; terms in the order of the model."""
    found = []
    for number, columns in enumerate(model.terms):
        name = ":".join(design.names[f] for f in columns.factors) or INTERCEPT
        for contrast in contrasts(columns.factors, design.sizes):
            weights = np.zeros(model.matrix.shape[1])
            weights[columns.start : columns.stop] = contrast.weights
            settings = {design.names[f]: design.settings[f][code] for f, code in contrast.settings.items()}
            found.append(Addend(number, name, settings, weights))
    return found


def inestimable(design: Design, model: Coded) -> list[str]:
    """Say which terms are left out and why: "load:clients: load=busy was not measured with clients=8".

    A factor measured at one setting is named once, and so is an interaction, with those that hold it.

    Args:
        model: its rows are the treatments of the design.
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
            return f"the measured treatments do not separate it from {_term(design, term.factors)}"
    return "the measured treatments do not separate it from the terms before it"


def _not_together(design: Design, factors: Sequence[int], codes: Sequence[int]) -> str:
    settings = [f"{design.names[f]}={design.settings[f][c]}" for f, c in zip(factors, codes, strict=True)]
    return f"{' and '.join(settings[:-1])} was not measured with {settings[-1]}"


def _within(columns: Array, others: Array) -> bool:
    """Return whether one of the columns is a sum of others and a constant."""
    space = np.column_stack((np.ones(len(others)), others))
    apart = columns - space @ np.linalg.lstsq(space, columns)[0]
    return bool((np.linalg.norm(apart, axis=0) <= DEPENDENT * np.linalg.norm(columns, axis=0)).any())
