"""Effect coding: treatments -> the columns of a linear model, and what its coefficients say of each setting.

A factor of k settings has k - 1 columns; its first setting is -1 in all of them, setting j is 1 in column j and 0 in
the others. With two settings that is -1 and +1 (Born de Oliveira et al. 2013, section 5). A column of an interaction is
a product of columns, one of each factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Codes = npt.NDArray[np.int64]

DEPENDENT = 1e-9
"""A column of which less than this share stands apart from the columns before it tells nothing of its own."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Where a term stands in a design matrix. factors: their numbers; (): the intercept."""

    factors: tuple[int, ...]
    start: int
    stop: int


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A design matrix, shape (n, p), and its terms: the intercept, factors, interactions of two, and so on.

    left_out: terms that the rows do not tell from those before them; they have no columns.
    """

    matrix: Array
    terms: tuple[Columns, ...]
    left_out: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Contrast:
    """What a term adds at some settings: the sum of weights times the term's own coefficients.

    settings: factor number -> number of its setting.
    """

    settings: dict[int, int]
    weights: tuple[float, ...]


def coded(codes: Codes, sizes: Sequence[int], order: int) -> Coded:
    """Return the design matrix of all terms of up to `order` factors.

    codes: shape (n, factors), the number of each row's setting, from 0. sizes: how many settings each factor has.
    A term of which a column depends on the columns before it (settings that were not measured together) is left out
    whole, as is every interaction that holds it.
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

    factors: the term's; sizes: of all factors. A factor of two settings adds the negative at its first.
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
