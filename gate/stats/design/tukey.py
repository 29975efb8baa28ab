"""All pairs of means by Tukey-Kramer, and the letters that sum them up (Tukey 1953, Kramer 1956, Piepho 2004)."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from gate.stats.design.cells import held
from gate.stats.design.studentized import studentized_range, studentized_range_quantile
from gate.stats.ratio import t_quantile
from gate.stats.special import stdtr

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Mean:
    """An estimate with its variance in units of the common variance: 1/n for the mean of n."""

    value: float
    share: float


@dataclass(frozen=True, slots=True)
class Pair:
    """Two means by their numbers, and their difference second - first; low, high, p: None where nothing is known."""

    first: int
    second: int
    difference: float
    low: float | None
    high: float | None
    p: float | None


MOST_PAIRS = 200
"""Most pairs that are listed."""
MOST_LETTERS = 50_000
"""Most letters of all words together; means that share more are not to be read from letters."""
_FEW = 16
"""Up to so many means there are at most a few hundred sets that do not differ, whatever the pairs."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Pairs, in the order of their numbers, and a word of letters for each mean ("": nothing is known)."""

    pairs: list[Pair]
    letters: list[str]


def tukey_kramer(means: Sequence[Mean], variance: float, df: int, confidence: float) -> Compared:
    """Compare all pairs; the confidence holds for all intervals together.

    variance: common to all, on df degrees of freedom. p < 1 - confidence exactly where the interval leaves out 0, and
    there the two means share no letter. Of more than MOST_PAIRS pairs those are listed that are farthest apart, in
    units of their errors; the letters are of all pairs. Without degrees of freedom, or at a variance of 0 or beyond a
    float, there are no intervals.
    """
    k = len(means)
    values, shares = (
        np.array([getattr(mean, name) for mean in means], dtype=np.float64) for name in ("value", "share")
    )
    if k < 2:
        return Compared([], [""] * k)
    known = df >= 1 and 0 < variance < math.inf
    with np.errstate(over="ignore", invalid="ignore"):
        # of two means q is sqrt(2) t
        error = np.sqrt(variance * (shares[:, None] + shares) / 2) if known else np.ones((k, k))
        # halves, since a difference of two floats can be beyond a float
        apart = 2 * (np.abs(values[:, None] / 2 - values / 2) / error)
    q = _critical(k, df, confidence) if known else math.inf
    first, second = np.triu_indices(k, 1)
    if len(first) > MOST_PAIRS:
        largest = np.sort(np.argsort(-apart[first, second], kind="stable")[:MOST_PAIRS])
        first, second = first[largest], second[largest]
    chances = _p(apart[first, second], k, df).tolist() if known else [None] * len(first)
    pairs = [
        _pair(means, _Chosen(i, j), q * float(error[i, j]) if known else None, p)
        for i, j, p in zip(first.tolist(), second.tolist(), chances, strict=True)
    ]
    return Compared(pairs, _words(values, apart > q) if known else [""] * k)


@dataclass(frozen=True, slots=True)
class _Chosen:
    first: int
    second: int


def _pair(means: Sequence[Mean], of: _Chosen, half: float | None, p: float | None) -> Pair:
    difference = means[of.second].value - means[of.first].value
    if half is None or p is None or not math.isfinite(abs(difference) + half):
        return Pair(of.first, of.second, held(difference), None, None, p)
    return Pair(of.first, of.second, difference, difference - half, difference + half, p)


def _p(q: Array, k: int, df: int) -> Array:
    if k == 2:
        found: Array = 2 * stdtr(df, -q / math.sqrt(2))
        return np.minimum(found, 1.0)
    return studentized_range(q, k, df)


@lru_cache(maxsize=1024)
def _critical(k: int, df: int, confidence: float) -> float:
    if k == 2:
        return math.sqrt(2) * t_quantile(df, (1 - confidence) / 2)
    return studentized_range_quantile(confidence, k, df)


def letters(means: Sequence[float], different: Collection[tuple[int, int]]) -> list[str]:
    """Return a word of letters for each mean: two means share a letter exactly where they do not differ.

    different: pairs of numbers of means, in either order. "a" stands with the lowest mean. A letter stands for a
    largest set of means of which no two differ, as by insert and absorb (Piepho 2004). Of many means (more than 16) not
    all such sets have a letter, if those that do not differ from one are not next to each other in rank; those that
    have one cover all pairs. No letters at all where there would be more than MOST_LETTERS.
    """
    apart = np.zeros((len(means), len(means)), dtype=np.bool_)
    for i, j in different:
        apart[i, j] = apart[j, i] = True
    return _words(np.array(means, dtype=np.float64), apart)


def _words(means: Array, apart: npt.NDArray[np.bool_]) -> list[str]:
    k = len(means)
    if not k:
        return []
    ranked = np.argsort(means, kind="stable")
    alike = ~apart[np.ix_(ranked, ranked)]
    np.fill_diagonal(alike, True)
    # how far up from each mean those go that do not differ from it, without a gap
    upper = np.triu(~alike, 1)
    ends = np.where(upper.any(axis=1), upper.argmax(axis=1), k)
    gapless = bool((np.triu(alike).sum(axis=1) == ends - np.arange(k)).all() and (np.diff(ends) >= 0).all())
    if gapless:
        before = np.concatenate(([0], ends[:-1]))
        columns = [list(range(i, end)) for i, end in enumerate(ends.tolist()) if end > before[i]]
    else:
        columns = _absorbed(alike) if k <= _FEW else _cover(alike)
    words: list[list[str]] = [[] for _ in range(k)]
    if sum(map(len, columns)) > MOST_LETTERS:
        return [""] * k
    for number, column in enumerate(sorted(columns)):
        for rank in column:
            words[ranked[rank]].append(_letter(number))
    return ["".join(word) for word in words]


def _absorbed(alike: npt.NDArray[np.bool_]) -> list[list[int]]:
    """Return all largest sets of means of which no two differ, by ranks: insert and absorb."""
    columns = [frozenset(range(len(alike)))]
    for i, j in np.argwhere(np.triu(~alike)).tolist():
        pair = {i, j}
        split = [part for column in columns for part in ([column - {r} for r in pair] if pair <= column else [column])]
        columns = [c for c in dict.fromkeys(split) if not any(c < other for other in split)]
    return [sorted(column) for column in columns]


def _cover(alike: npt.NDArray[np.bool_]) -> list[list[int]]:
    """Return largest sets of which no two differ that hold every pair that does not, and every mean."""
    open_pairs = np.triu(alike)
    columns = []
    for i in range(len(alike)):
        while open_pairs[i].any():
            column = [i, int(open_pairs[i].argmax())]
            fits = alike[column[0]] & alike[column[1]]
            fits[column] = False
            # those that close most open pairs of this mean first
            for rank in np.argsort(~open_pairs[i], kind="stable").tolist():
                if fits[rank]:
                    column.append(rank)
                    fits &= alike[rank]
                    fits[rank] = False
            column = sorted(set(column))
            open_pairs[np.ix_(column, column)] = False
            columns.append(column)
    return columns


def _letter(number: int) -> str:
    """Return a, b, ... z, a2, b2, ..."""
    turn, place = divmod(number, 26)
    return chr(ord("a") + place) + (str(turn + 1) if turn else "")
