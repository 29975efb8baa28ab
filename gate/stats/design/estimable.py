"""What the measured treatments estimate of each term where combinations of settings are lacking.

SAS calls these hypotheses type III (Goodnight 1978, Tests of hypotheses in fixed effects linear models; Milliken and
Johnson, Analysis of Messy Data, chapters 13 and 14). Those of a term are the sums of treatment means that hold nothing
but that term and terms that contain it, and that are orthogonal to all such sums of the latter, as sums of the
parameters of a model with one for each setting and each combination. Where every combination was measured they are the
effects of the usual coding, whose means weigh all settings alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import islice, product
from typing import TYPE_CHECKING

import msgspec
import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Codes = npt.NDArray[np.int64]

MOST_TREATMENTS = 256
"""Of more treatments, whose third power the work grows with, terms are estimated whole or not at all."""
_NONE = 1e-9
"""Singular values below this share of the largest are 0."""

_SAME = 1e-7
_TRIED = 100
"""Most combinations of settings that are tried as the one that others are compared with."""

Term = tuple[int, ...]
"""The numbers of its factors; (): the intercept."""


class Contrast(msgspec.Struct, frozen=True):
    """What a term adds at some settings: the sum of weights times the term's own coefficients."""

    settings: dict[int, int]
    """Factor number -> number of its setting."""
    weights: tuple[float, ...]
    against: dict[int, int] = {}
    """The settings that these alone are compared with, as if factors had these two; {}: all settings."""


class Part(msgspec.Struct, frozen=True, eq=False):
    """The coefficients of one term: sums of treatment means, and what they say about its settings."""

    sums: Array
    """Shape (df, treatments)."""
    contrasts: list[Contrast] | None
    """None: coefficients are the effects at all but the first settings, as of effect coding."""


def estimable(rows: Codes, sizes: Sequence[int], terms: Sequence[Term], df: Sequence[int]) -> list[Part] | None:
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
    """Do it once for the models of one design."""
    rows = np.frombuffer(data, dtype=np.int64).reshape(-1, factors)
    same = {term: _alike(rows, term) for term in terms}
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
        held = np.hstack([own[other] for other in above]) if above else np.zeros((len(free), 0))
        found = free @ _null(held.T @ metric @ free) if held.shape[1] else free
        if found.shape[1] != wanted:
            return None
        own[term] = found
        parts.append(_part(rows, sizes, term, within @ found))
    return parts[::-1]


def _alike(rows: Codes, term: Term) -> Array:
    """Return which treatments have the same settings of a term's factors."""
    chosen = rows[:, list(term)]
    found: Array = (chosen[:, None, :] == chosen[None, :, :]).all(axis=2).astype(np.float64)
    return found


def _null(matrix: Array) -> Array:
    _, values, vectors = np.linalg.svd(matrix)
    rank = int((values > _NONE * max(float(values.max(initial=0.0)), 1e-300)).sum())
    found: Array = vectors[rank:].T
    return found


def _part(rows: Codes, sizes: Sequence[int], term: Term, sums: Array) -> Part:
    """Choose coefficients among the sums of a term, the columns of `sums`, that mean something to a reader."""
    cells = list(product(*(range(sizes[f]) for f in term)))
    place = {cell: k for k, cell in enumerate(cells)}
    inside = np.zeros((len(cells), len(rows)))
    for n, row in enumerate(rows[:, list(term)].tolist()):
        inside[place[tuple(row)], n] = 1.0
    held = inside @ sums
    effects = np.array([_effect(term, sizes, cell) for cell in product(*(range(1, sizes[f]) for f in term))])
    solved = np.linalg.lstsq(held, effects.T)[0]
    if sums.shape[1] == len(effects) and np.allclose(held @ solved, effects.T, atol=_SAME):
        return Part((sums @ solved).T, None)
    return Part(sums.T, _between(term, sizes, held))


def _effect(term: Term, sizes: Sequence[int], cell: tuple[int, ...]) -> Array:
    """Return the weights of the settings of a term in its effect at one of their combinations."""
    weights = np.ones(1)
    for factor, setting in zip(term, cell, strict=True):
        own = np.full(sizes[factor], -1 / sizes[factor])
        own[setting] += 1
        weights = np.multiply.outer(weights, own).ravel()
    return weights


def _between(term: Term, sizes: Sequence[int], held: Array) -> list[Contrast]:
    """Return effects between two settings of each factor that are estimable, as many as there are degrees of freedom.

    One of the two is the first setting of each factor, as far as that goes; then others are tried.
    """
    inverse = np.asarray(np.linalg.pinv(held), dtype=np.float64)
    found: list[Contrast] = []
    known = np.zeros((0, held.shape[1]))
    for base in islice(product(*(range(sizes[f]) for f in term)), _TRIED):
        cells = list(product(*([s for s in range(sizes[f]) if s != b] for f, b in zip(term, base, strict=True))))
        wanted = np.array([_two(term, sizes, cell, base) for cell in cells])
        weights = wanted @ inverse.T
        there = (np.abs(weights @ held.T - wanted) < _SAME).all(axis=1)
        for k in np.flatnonzero(there).tolist():
            more = np.vstack((known, weights[k]))
            if np.linalg.matrix_rank(more, tol=_SAME) > len(known):
                known = more
                against = dict(zip(term, base, strict=True))
                found.append(Contrast(dict(zip(term, cells[k], strict=True)), tuple(weights[k].tolist()), against))
        if len(known) == held.shape[1]:
            break
    return found


def _two(term: Term, sizes: Sequence[int], cell: tuple[int, ...], base: tuple[int, ...]) -> Array:
    weights = np.ones(1)
    for factor, setting, other in zip(term, cell, base, strict=True):
        own = np.zeros(sizes[factor])
        own[setting], own[other] = 0.5, -0.5
        weights = np.multiply.outer(weights, own).ravel()
    return weights
