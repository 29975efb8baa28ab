"""Treatments as measured, and effect coding: from treatments to the columns of a linear model, and to its effects.

A factor of k settings has k - 1 columns; its first setting is -1 in all of them, setting j is 1 in column j and 0 in
the others. With two settings that is -1 and +1 (Born de Oliveira et al. 2013, section 5). A column of an interaction is
a product of columns, one of each factor. Terms that the treatments measured do not tell from others are left out; where
they tell a part of an interaction, that part has columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache, reduce
from itertools import combinations, product
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gate.model.study import Effect, Factor, Setting
from gate.stats.design.layers import groups
from gate.stats.rounding import Array, Ints

if TYPE_CHECKING:
    import pandas as pd

INTERCEPT = "intercept"
DEPENDENT = 1e-9
"""A column of which less than this share stands apart from the columns before it tells nothing of its own."""
_NAMED = 3
"""Most combinations, or terms, that one line names."""
_MIXED = "the measured treatments do not separate it from other terms"


class Design(msgspec.Struct, frozen=True, eq=False):
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


def lay_out(units: pd.DataFrame, factors: Sequence[Factor]) -> Design:
    """Sort units into treatments; settings that no unit has are not counted."""
    columns, settings = [], []
    for i, factor in enumerate(factors):
        present, codes = np.unique(units[f"f{i}"].to_numpy(dtype=np.int64), return_inverse=True)
        columns.append(codes.reshape(len(units)))
        settings.append(tuple(factor.settings[code] for code in present.tolist()))
    found = groups(np.zeros(len(units), dtype=np.int64), *columns)
    first = np.unique(found.of, return_index=True)[1]
    rows = np.array([codes[first] for codes in columns], dtype=np.int64).reshape(len(columns), len(first)).T
    return Design(tuple(f.name for f in factors), tuple(settings), rows, found.of, found.sizes)


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
    partly: tuple[tuple[int, ...], ...]
    """Interactions of which the rows tell a part only, which has a test and no effects at single settings."""
    coded: bool
    """Whether all columns are of effect coding."""


def coded(codes: Ints, sizes: Sequence[int], order: int) -> Coded:
    """Return the design matrix of all terms of up to `order` factors.

    A term of which all columns depend on the columns before it is left out, as is every interaction that holds it. Of
    an interaction of which some do (settings that were not measured together) the estimable part stays, and then all
    coefficients are the type III hypotheses of SAS. If a part is mixed up with a term that it does not contain, as in
    fractions of factors with three settings, the interaction is left out.

    Args:
        codes: shape (n, factors), the number of each row's setting, from 0.
        sizes: how many settings each factor has.
    """
    rows, place = np.unique(codes, axis=0, return_inverse=True)
    place = place.reshape(len(codes))
    gone: set[tuple[int, ...]] = set()
    while True:
        told, left_out = _told(rows, sizes, order, gone)
        ends = np.cumsum([columns.shape[1] for columns, _ in told.values()]).tolist()
        terms = tuple(map(Columns, told, [0, *ends], ends))
        partial = [factors for factors, (columns, of) in told.items() if columns.shape[1] < of]
        if not partial:
            matrix = np.hstack([columns for columns, _ in told.values()])
            return Coded(np.ascontiguousarray(matrix[place]), terms, left_out, (), coded=True)
        parts = estimable(rows, sizes, list(told), [term.stop - term.start for term in terms])
        if parts is not None:
            sums = np.vstack([part.sums for part in parts])
            partly = tuple(own for own, part in zip(told, parts, strict=True) if not part.whole)
            # columns of which these sums of treatment means are the coefficients
            inverse: Array = np.asarray(np.linalg.pinv(sums), dtype=np.float64)
            return Coded(np.ascontiguousarray(inverse[place]), terms, left_out, partly, coded=False)
        gone.add(partial[-1])


def _told(
    rows: Ints, sizes: Sequence[int], order: int, gone: set[tuple[int, ...]]
) -> tuple[dict[tuple[int, ...], tuple[Array, int]], tuple[tuple[int, ...], ...]]:
    """Return the terms in order, with the columns that stand apart from those before them and of how many these are.

    Then those left out.
    """
    q = np.empty((len(rows), len(rows)), order="F")
    q[:, 0] = 1 / np.sqrt(len(rows))
    width = 1
    told: dict[tuple[int, ...], tuple[Array, int]] = {(): (np.ones((len(rows), 1)), 1)}
    left_out: list[tuple[int, ...]] = []
    for size in range(1, min(order, rows.shape[1]) + 1):
        for factors in combinations(range(rows.shape[1]), size):
            columns = columns_of(rows, sizes, factors)
            lost = factors in gone or any(set(other) <= set(factors) for other in left_out)
            kept = np.zeros(0, dtype=np.int64) if lost or not columns.shape[1] else _apart(q[:, :width], columns)
            if not len(kept):
                left_out.append(factors)
                continue
            own = columns[:, kept]
            found = np.linalg.qr(_less(q[:, :width], own))[0]
            q[:, width : width + len(kept)] = found - q[:, :width] @ (q[:, :width].T @ found)
            width += len(kept)
            told[factors] = own, columns.shape[1]
    return told, tuple(left_out)


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


def _apart(q: Array, columns: Array) -> Ints:
    """Return which columns stand apart from the orthonormal ones of q, and from those before them."""
    lengths = np.linalg.norm(columns, axis=0)
    room = len(q) - q.shape[1]
    if columns.shape[1] <= room and lengths.all():
        left = np.linalg.qr(_less(q, columns))[1]
        # the diagonal is what of each column stands apart from those of its own term before it, too
        if (np.abs(np.diag(left)) > DEPENDENT * lengths).all():
            return np.arange(columns.shape[1])
    kept: list[int] = []
    for k in range(columns.shape[1]):
        if len(kept) == room:
            break
        rest = _less(q, columns[:, k : k + 1])
        if np.linalg.norm(rest) > DEPENDENT * lengths[k] > 0:
            q = np.hstack((q, rest / np.linalg.norm(rest)))
            kept.append(k)
    return np.array(kept, dtype=np.int64)


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


def addends(design: Design, model: Coded) -> list[Addend]:
    """Return what each term adds, the intercept first; terms in the order of the model."""
    found = []
    for number, columns in enumerate(model.terms):
        name = design.term(columns.factors) or INTERCEPT
        for codes, own in [] if columns.factors in model.partly else contrasts(columns.factors, design.sizes):
            weights = np.zeros(model.matrix.shape[1])
            weights[columns.start : columns.stop] = own
            settings = {design.names[f]: design.settings[f][code] for f, code in codes.items()}
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
        holding = [design.term(other) for other in gone if set(factors) < set(other)]
        without = f"; without it there is no {_some(holding)}" if holding else ""
        lacking = [f"{' and '.join(own[:-1])} was not measured with {own[-1]}" for own in _lacking(design, factors)]
        found.append(f"{design.term(factors)}: {_some(lacking) or _MIXED}{without}")
    for factors in model.partly:
        name, lacking = design.term(factors), [", ".join(own) for own in _lacking(design, factors)]
        together = f"{name} at {_some(lacking, '; ')}: not measured together"
        part = together if lacking else f"a part of {name}: {_MIXED}"
        found.append(f"{part}, so that it has no effects at single settings")
    return found


def _lacking(design: Design, factors: Sequence[int]) -> list[list[str]]:
    """Name the combinations of an interaction's settings that were not measured."""
    met = set(map(tuple, design.codes[:, list(factors)].tolist()))
    every = product(*(range(design.sizes[f]) for f in factors)) if len(factors) > 1 else ()
    return [
        [f"{design.names[f]}={design.settings[f][c]}" for f, c in zip(factors, codes, strict=True)]
        for codes in every
        if codes not in met
    ]


def _some(names: Sequence[str], between: str = ", ") -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return between.join(names[:_NAMED]) + more


MOST_TREATMENTS = 256
"""Of more treatments, whose third power the work grows with, terms are estimated whole or not at all."""
_NONE = 1e-9
"""Singular values below this share of the largest are 0."""

_SAME = 1e-7

Term = tuple[int, ...]
"""The numbers of its factors; (): the intercept."""


class Part(msgspec.Struct, frozen=True, eq=False):
    """The coefficients of one term: sums of treatment means."""

    sums: Array
    """Shape (df, treatments)."""
    whole: bool
    """Whether they are the effects at all but the first settings, as of effect coding."""


def estimable(rows: Ints, sizes: Sequence[int], terms: Sequence[Term], df: Sequence[int]) -> list[Part] | None:
    """Return the coefficients of each term, as many as df says; None where they are others.

    That is so where a term is mixed up with one that does not contain it, which is no matter of empty cells.

    Args:
        rows: the treatments, shape (n, factors), each once.
        terms: the intercept and all terms in the model, an interaction after those that it holds.
    """
    if len(rows) > MOST_TREATMENTS:
        return None
    return _estimable(
        np.ascontiguousarray(rows, dtype=np.int64).tobytes(), rows.shape[1], tuple(sizes), tuple(terms), tuple(df)
    )


@lru_cache(maxsize=32)
def _estimable(
    data: bytes, factors: int, sizes: tuple[int, ...], terms: tuple[Term, ...], df: tuple[int, ...]
) -> list[Part] | None:
    rows = np.frombuffer(data, dtype=np.int64).reshape(-1, factors)
    # which treatments have the same settings of a term's factors
    chosen = {term: rows[:, list(term)] for term in terms}
    same = {term: (own[:, None, :] == own[None, :, :]).all(axis=2).astype(np.float64) for term, own in chosen.items()}
    values, vectors = np.linalg.eigh(np.sum([same[term] for term in terms], axis=0))
    kept: Array = vectors[:, values > _NONE * values[-1]]
    within = kept
    if within.shape[1] != sum(df):
        return None
    # from here on a sum of means is a vector u, of the means weighted by within @ u
    squares = {term: within.T @ same[term] @ within for term in terms}
    metric = np.sum([squares[term] for term in terms], axis=0)
    own: dict[Term, Array] = {}
    parts: list[Part] = []
    for term, wanted in zip(reversed(terms), reversed(df), strict=True):
        above = [other for other in terms if set(other) > set(term)]
        foreign = [squares[other] for other in terms if not set(other) >= set(term)]
        free = _null(np.sum(foreign, axis=0)) if foreign else np.eye(within.shape[1])
        upper = np.hstack([own[other] for other in above]) if above else np.zeros((len(free), 0))
        found = free @ _null(upper.T @ metric @ free) if upper.shape[1] else free
        if found.shape[1] != wanted:
            return None
        own[term] = found
        # those coefficients among the sums of a term that are its effects, if they are
        sums, cells = within @ found, list(product(*(range(sizes[f]) for f in term)))
        place = {cell: k for k, cell in enumerate(cells)}
        inside = np.zeros((len(cells), len(rows)))
        for n, row in enumerate(rows[:, list(term)].tolist()):
            inside[place[tuple(row)], n] = 1.0
        held = inside @ sums
        # the weights of the settings of the term in its effect at one of their combinations
        effects = np.array(
            [
                _outer(np.eye(sizes[f])[setting] - 1 / sizes[f] for f, setting in zip(term, cell, strict=True))
                for cell in product(*(range(1, sizes[f]) for f in term))
            ]
        )
        solved = np.linalg.lstsq(held, effects.T)[0]
        whole = sums.shape[1] == len(effects) and np.allclose(held @ solved, effects.T, atol=_SAME)
        parts.append(Part((sums @ solved if whole else sums).T, whole))
    return parts[::-1]


def _null(matrix: Array) -> Array:
    _, values, vectors = np.linalg.svd(matrix)
    rank = int((values > _NONE * max(float(values.max(initial=0.0)), 1e-300)).sum())
    found: Array = vectors[rank:].T
    return found
