"""Sums of random draws with replacement from many small groups of values at once, several values to a pick.

One random index picks a tuple of k values, from a table of the sums of all n^k tuples of a group of n: sums of k draws
with replacement have exactly this distribution. The entries that belong to a group lie side by side, or, where all
groups have as many, a stride of the number of groups apart, since sums over a first axis are the fast ones.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from gate.stats.rounding import Array, Ints

Counts = Ints | int
"""One number for each of several groups, or the one that all of them have."""
_Bits = TypeVar("_Bits", np.uint16, np.uint32)

TABLE = 1 << 16
"""Most entries of tables that are used together: 512 KiB, which the cache of a core holds."""
LARGEST = 256
"""Most values of a group: their pairs fill a table."""
_USES = 2000
"""How often each group is drawn from, about, while its table lives."""
_PASS = 1 << 15
"""Picks made at once: what bounds the memory, and fits the cache."""
_WORDS = 1 << 13
"""Random words made at once."""


class Stream:
    """Uniform integers from one seed, without bias; random bits are made many at a time, and few are used for each."""

    def __init__(self, seed: np.random.SeedSequence) -> None:
        self._rng = np.random.default_rng(seed)
        self._spare = np.empty(0, dtype=np.uint64)

    def below(self, bound: Counts, size: int) -> Ints:
        """Return size integers below bound <= 2^16: one bound, or an array of one for each."""
        if not isinstance(bound, int):
            picks: Ints = self._bits(size, np.uint32) // ((1 << 32) // bound)
            again = np.flatnonzero(picks >= bound)
            picks[again] = self._rng.integers(0, bound[again])
            return picks
        if bound == 1:
            return np.zeros(size, dtype=np.int64)
        if bound & (bound - 1) == 0:
            raw = self._bits(size, np.uint16)
            return (raw if bound == 1 << 16 else raw & np.uint16(bound - 1)).astype(np.int64)
        if bound > 1 << 12:
            return self._whole(bound, size).astype(np.int64)
        # 32 bits make two
        both = self._whole(bound * bound, -(-size // 2))
        pair = np.empty((2, len(both)), dtype=np.int64)
        pair[0] = upper = both // np.uint32(bound)
        pair[1] = both - upper * np.uint32(bound)
        return pair.ravel()[:size]

    def shares(self, draws: Ints, sizes: Ints) -> Ints:
        """Draw how many of draws[r] fall to each of the parts with these sizes; shape (parts, replicates)."""
        shares = self._rng.multinomial(draws, sizes / sizes.sum())
        return np.ascontiguousarray(shares.T, dtype=np.int64)

    def _whole(self, bound: int, size: int) -> npt.NDArray[np.uint32]:
        # 2^32 holds the bound a whole number of times, and a rest that is drawn again
        times = (1 << 32) // bound
        raw = self._bits(size, np.uint32)
        picks: npt.NDArray[np.uint32] = raw // np.uint32(times)
        if size and int(raw.max()) >= times * bound:
            again = np.flatnonzero(picks >= bound)
            picks[again] = self._rng.integers(0, bound, len(again))
        return picks

    def _bits(self, size: int, kind: type[_Bits]) -> npt.NDArray[_Bits]:
        words = -(-size * np.dtype(kind).itemsize // 8)
        if words > len(self._spare):
            self._spare = self._rng.integers(0, (1 << 64) - 1, max(words, _WORDS), dtype=np.uint64, endpoint=True)
        used, self._spare = self._spare[:words], self._spare[words:]
        return used.view(kind)[:size]


class Picks(msgspec.Struct, frozen=True, eq=False):
    """How groups pick, each from what is its own."""

    start: Ints
    size: Counts
    """start and size: where a group's own begins, and how much it is."""
    many: Counts
    """Picks of each group."""
    step: int
    """Start[g] = g * step; 0 where starts are not even."""

    @staticmethod
    def of(start: Ints, size: Ints, many: Ints) -> Picks:
        """Note what all groups have in common; arrays of one number for each group."""
        even = isinstance(common(size), int) and np.array_equal(start, np.arange(len(start)) * size[0])
        return Picks(start, common(size), common(many), int(size[0]) if even else 0)

    def draw(self, ids: Ints, stream: Stream) -> Ints:
        """Return what the groups of ids pick, a group that comes twice anew."""
        begin = ids * self.step if self.step else self.start.take(ids)
        many, size = at(self.many, ids), at(self.size, ids)
        if isinstance(many, int):
            picks = stream.below(size if isinstance(size, int) else np.tile(size, many), many * len(ids))
            picks.reshape(many, -1)[:] += begin
            return picks
        picks = stream.below(size if isinstance(size, int) else np.repeat(size, many), int(many.sum()))
        picks += np.repeat(begin, many)
        return picks


class _Sums(msgspec.Struct, frozen=True, eq=False):
    """Picks of tuples from tables, each group from its own."""

    picks: Picks
    table: Array

    def draw(self, ids: Ints, stream: Stream) -> Array:
        """Return for each group of ids the sum of what it picks."""
        total = np.zeros(len(ids))
        if len(self.table) == len(self.picks.start):
            return total  # an empty tuple each
        for rows in passes(len(ids), float(np.mean(self.picks.many))):
            values = self.table.take(self.picks.draw(ids[rows], stream))
            total[rows] = totals(values, at(self.picks.many, ids[rows]))
        return total


class Groups(msgspec.Struct, frozen=True, eq=False):
    """Groups of at most LARGEST values whose means are resampled."""

    n: Counts
    """Values of each group."""
    full: _Sums
    """The tuples that make up a mean, of k values each."""
    rest: _Sums
    """One of what k leaves of n."""

    @staticmethod
    def of(values: Array, first: Ints) -> Groups:
        """Make the tables; group g holds values[first[g]:first[g + 1]]."""
        n = np.diff(first)
        many = np.empty_like(n)
        full, rest = _Tables.of(n), _Tables.of(n)
        for same in np.unique(n):
            which = np.flatnonzero(n == same)
            k = tuple_length(int(same))
            many[which], over = divmod(int(same), k)
            sums = _tuples(values[first[which][:, None] + np.arange(same)], k)
            full.add(which, sums[k])
            rest.add(which, sums[over])
        return Groups(common(n), full.sums(many), rest.sums(np.ones_like(n)))

    def means(self, ids: Ints, stream: Stream) -> Array:
        """Return a resampled mean for each group of ids: of as many values as the group has."""
        total = self.full.draw(ids, stream)
        total += self.rest.draw(ids, stream)
        total /= at(self.n, ids)
        return total


class _Tables(msgspec.Struct, frozen=True, eq=False):
    """Tables of groups, put one after the other."""

    start: Ints
    size: Ints
    """start and size: where a group's own begins, its entries."""
    tables: list[Array]

    @staticmethod
    def of(n: Ints) -> _Tables:
        return _Tables(np.empty_like(n), np.empty_like(n), [])

    def add(self, groups: Ints, tables: Array) -> None:
        self.start[groups] = sum(map(len, self.tables)) + np.arange(len(groups)) * tables.shape[1]
        self.size[groups] = tables.shape[1]
        self.tables.append(tables.ravel())

    def sums(self, many: Ints) -> _Sums:
        return _Sums(Picks.of(self.start, self.size, many), np.concatenate(self.tables))


def drawn(values: Array, draws: Ints, stream: Stream) -> Array:
    """Return for each replicate r the sum of draws[r] of at most LARGEST values."""
    n, k = len(values), tuple_length(len(values))
    sums = [table[0] for table in _tuples(values[None, :], k)]
    shorter, start = np.concatenate(sums[:k]), starts(n ** np.arange(k))
    full, rest = np.divmod(draws, k)
    total = shorter.take(stream.below(common(n**rest), len(rest)) + start[rest])
    for rows in passes(len(draws), full.mean()):
        picks = stream.below(len(sums[k]), int(full[rows].sum()))
        total[rows] += totals(sums[k].take(picks), common(full[rows]))
    return total


@lru_cache
def tuple_length(n: int) -> int:
    """Return how many of n values one pick takes: the k with the least work, for _USES times n draws."""
    # counted in entries of a table: a pick costs about four of them
    work = {k: n**k + 4 * _USES * math.ceil(n / k) for k in range(1, n + 1) if n**k <= TABLE}
    return min(work, key=work.__getitem__)


def _tuples(values: Array, k: int) -> list[Array]:
    """Return the sums of all tuples of 0, 1, .. k values of each group; values: shape (groups, n)."""
    sums = [np.zeros((len(values), 1))]
    for _ in range(k):
        sums.append((sums[-1][:, :, None] + values[:, None, :]).reshape(len(values), -1))
    return sums


def common(counts: Ints) -> Counts:
    """Return the number that all counts are, if it is above 0; else the counts."""
    return int(counts[0]) if len(counts) and counts[0] > 0 and (counts == counts[0]).all() else counts


def at(counts: Counts, groups: Ints) -> Counts:
    """Return the counts of groups; one number stays one."""
    return counts if isinstance(counts, int) else counts.take(groups)


def totals(entries: Array, many: Counts) -> Array:
    """Return the sum of each group's entries; many: how many it has, possibly none."""
    if isinstance(many, int):
        total: Array = entries.reshape(many, -1).sum(axis=0)
        return total
    total = np.zeros(len(many))
    some = many > 0
    if some.any():
        total[some] = np.add.reduceat(entries, starts(many)[some])
    return total


def starts(many: Ints) -> Ints:
    """Return where the entries of each group begin."""
    begin: Ints = np.cumsum(many) - many
    return begin


def passes(rows: int, picks: float) -> list[slice]:
    """Cut rows with that many picks each, on average, into runs that are worked on at once."""
    step = max(1, int(_PASS / max(picks, 1)))
    return [slice(start, start + step) for start in range(0, rows, step)]
