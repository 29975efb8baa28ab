"""Treatments as measured, and effect coding: from treatments to the columns of a linear model, and to its effects.

A factor of k settings has k - 1 columns; its first setting is -1 in all of them, setting j is 1 in column j and 0 in
the others. With two settings that is -1 and +1 (Born de Oliveira et al. 2013, section 5). A column of an interaction is
a product of columns, one of each factor. Terms that the treatments measured do not tell from others are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import combinations, product
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gate.model.study import Effect, Factor, Setting
from gate.stats.design.layers import groups
from gate.stats.rounding import Array, Ints
from gate.writing.phrases import listed

if TYPE_CHECKING:
    import pandas as pd

INTERCEPT = "intercept"
DEPENDENT = 1e-9
"""A column of which less than this share stands apart from the columns before it tells nothing of its own."""
_MIXED = "the measured treatments do not separate it from other terms"


class CodedDesign(msgspec.Struct, frozen=True, eq=False):
    """Units sorted into the treatments that were measured."""

    names: tuple[str, ...]
    settings: tuple[tuple[Setting, ...], ...]
    """Of each factor those measured, as Factor has them."""
    codes: Ints
    """Shape (treatments, factors), numbers of settings among those measured."""
    place: Ints
    """The treatment of each unit."""
    counts: Ints

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

    def term(self, factors: Sequence[int]) -> str:
        """Name a term: "load:clients"."""
        return ":".join(self.names[factor] for factor in factors)

    def totals(self, values: Array) -> Array:
        """Sum values of units by treatment."""
        sums: Array = np.bincount(self.place, weights=values, minlength=len(self.counts)).astype(np.float64)
        return sums


def lay_out(units: pd.DataFrame, factors: Sequence[Factor]) -> CodedDesign:
    """Sort units into treatments; settings that no unit has are not counted."""
    columns, settings = [], []
    for i, factor in enumerate(factors):
        present, codes = np.unique(units[f"f{i}"].to_numpy(dtype=np.int64), return_inverse=True)
        columns.append(codes.reshape(len(units)))
        settings.append(tuple(factor.settings[code] for code in present.tolist()))
    found = groups(np.zeros(len(units), dtype=np.int64), *columns)
    first = np.unique(found.of, return_index=True)[1]
    rows = np.array([codes[first] for codes in columns], dtype=np.int64).reshape(len(columns), len(first)).T
    return CodedDesign(tuple(f.name for f in factors), tuple(settings), rows, found.of, found.sizes)


class TermColumns(msgspec.Struct, frozen=True):
    """Where a term stands in a design matrix."""

    factors: tuple[int, ...]
    """Their numbers; (): the intercept."""
    start: int
    stop: int


class Coded(msgspec.Struct, frozen=True, eq=False):
    """A design matrix, shape (n, p), and its terms: the intercept, factors, interactions of two, and so on."""

    matrix: Array
    terms: tuple[TermColumns, ...]
    left_out: tuple[tuple[int, ...], ...]
    """Terms that the rows do not tell from those before them; they have no columns."""


def coded(codes: Ints, sizes: Sequence[int], order: int) -> Coded:
    """Return the design matrix of all terms of up to `order` factors.

    A term of which a column depends on the columns before it is left out, as is every interaction that holds it.

    Args:
        codes: shape (n, factors), the number of each row's setting, from 0.
        sizes: how many settings each factor has.
    """
    rows, place = np.unique(codes, axis=0, return_inverse=True)
    q = np.empty((len(rows), len(rows)), order="F")
    q[:, 0] = 1 / np.sqrt(len(rows))
    parts, terms = [np.ones((len(rows), 1))], [TermColumns((), 0, 1)]
    left_out: list[tuple[int, ...]] = []
    for size in range(1, min(order, rows.shape[1]) + 1):
        for factors in combinations(range(rows.shape[1]), size):
            columns, width = columns_of(rows, sizes, factors), terms[-1].stop
            lost = any(set(other) <= set(factors) for other in left_out)
            if lost or not columns.shape[1] or not _apart(q[:, :width], columns):
                left_out.append(factors)
                continue
            end = width + columns.shape[1]
            found = np.linalg.qr(_less(q[:, :width], columns))[0]
            q[:, width:end] = found - q[:, :width] @ (q[:, :width].T @ found)
            parts.append(columns)
            terms.append(TermColumns(factors, width, end))
    matrix = np.hstack(parts)[place.reshape(len(codes))]
    return Coded(np.ascontiguousarray(matrix), tuple(terms), tuple(left_out))


def contrasts(factors: Sequence[int], sizes: Sequence[int]) -> list[tuple[dict[int, int], Array]]:
    """Return what a term adds at its settings (by number of factor), as weights of its coefficients.

    Of two settings at the second only, which adds the negative at its first; of more at each.

    Args:
        factors: the term's.
        sizes: of all factors.
    """
    own = [range(1, 2) if sizes[f] == 2 else range(sizes[f]) for f in factors]
    bases = [_basis(sizes[f]) for f in factors]
    return [
        (
            dict(zip(factors, chosen, strict=True)),
            _outer(basis[setting] for basis, setting in zip(bases, chosen, strict=True)),
        )
        for chosen in product(*own)
    ]


def _outer(vectors: Iterable[Array]) -> Array:
    return reduce(lambda one, other: np.multiply.outer(one, other).ravel(), vectors, np.ones(1))


def _basis(size: int) -> Array:
    """Return the rows of a factor's settings, shape (size, size - 1)."""
    return np.vstack((-np.ones((1, size - 1)), np.eye(size - 1)))


def columns_of(codes: Ints, sizes: Sequence[int], factors: Sequence[int]) -> Array:
    """Return the columns of a term for rows of codes, shape (n, ...)."""
    columns = np.ones((len(codes), 1))
    for factor in factors:
        own = _basis(sizes[factor])[codes[:, factor]]
        columns = (columns[:, :, None] * own[:, None, :]).reshape(len(codes), -1)
    return columns


def _apart(q: Array, columns: Array) -> bool:
    """Return whether all columns stand apart from the orthonormal ones of q, and from those before them."""
    lengths = np.linalg.norm(columns, axis=0)
    if columns.shape[1] > len(q) - q.shape[1] or not lengths.all():
        return False
    left = np.linalg.qr(_less(q, columns))[1]
    return bool((np.abs(np.diag(left)) > DEPENDENT * lengths).all())


def _less(q: Array, columns: Array) -> Array:
    apart = columns - q @ (q.T @ columns)
    found: Array = apart - q @ (q.T @ apart)
    return found


class Addend(msgspec.Struct, frozen=True, eq=False):
    """What a term adds at some settings: a weighted sum of all coefficients."""

    number: int
    """Of the term; 0 is the intercept."""
    term: str
    settings: dict[str, Setting]
    weights: Array

    def effect(self, estimate: float, low: float | None, high: float | None, p: float | None) -> Effect:
        """Return it with its interval and p."""
        return Effect(term=self.term, settings=self.settings, estimate=estimate, low=low, high=high, p=p)


def addends(design: CodedDesign, model: Coded) -> list[Addend]:
    """Return what each term adds, the intercept first; terms in the order of the model."""
    found = []
    for number, columns in enumerate(model.terms):
        name = design.term(columns.factors) or INTERCEPT
        for codes, own in contrasts(columns.factors, design.sizes):
            weights = np.zeros(model.matrix.shape[1])
            weights[columns.start : columns.stop] = own
            settings = {design.names[f]: design.settings[f][code] for f, code in codes.items()}
            found.append(Addend(number, name, settings, weights))
    return found


def inestimable(design: CodedDesign, model: Coded) -> list[str]:
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
        holding = [design.term(other) for other in gone if set(factors) < set(other)]
        without = f"; without it there is no {listed(holding)}" if holding else ""
        lacking = [f"{' and '.join(own[:-1])} was not measured with {own[-1]}" for own in _lacking(design, factors)]
        found.append(f"{design.term(factors)}: {listed(lacking) or _MIXED}{without}")
    return found


def _lacking(design: CodedDesign, factors: Sequence[int]) -> list[list[str]]:
    """Name the combinations of an interaction's settings that were not measured."""
    met = set(map(tuple, design.codes[:, list(factors)].tolist()))
    every = product(*(range(design.sizes[f]) for f in factors)) if len(factors) > 1 else ()
    return [
        [f"{design.names[f]}={design.settings[f][c]}" for f, c in zip(factors, codes, strict=True)]
        for codes in every
        if codes not in met
    ]
