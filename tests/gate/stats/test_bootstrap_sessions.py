"""Replicates over sessions against full enumeration; machines of other speeds leave the ratio as it is."""

from collections import Counter
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest

from gate.model import Sample
from gate.stats.bootstrap import BootstrapRatio, bootstrap_ratio, pairing
from gate.stats.resample import CHUNK

BASE = [[1.0, 2.0], [10.0, 30.0]]
HEAD = [[3.0, 4.0], [20.0, 21.0]]


def side(sessions: list[list[float]]) -> Sample:
    """Make a side of builds by session: one execution with one iteration each."""
    names = tuple((s, b) for s, builds in enumerate(sessions) for b in range(len(builds)))
    ones = np.ones(len(names), dtype=np.int64)
    return Sample(
        np.array([value for builds in sessions for value in builds]),
        (ones, ones, np.array([len(s) for s in sessions])),
        names,
    )


def replicates(base: list[list[float]], head: list[list[float]], seed: int, chunks: range) -> npt.NDArray[np.float64]:
    found = pairing(side(base), side(head), "RRR", seed)
    assert found is not None
    return found.draw(chunks)[0]


def test_replicates_have_the_distribution_of_all_resamples() -> None:
    def resampled(session: int) -> list[float]:
        means = [[(a + b) / 2 for a, b in product(of[session], repeat=2)] for of in (BASE, HEAD)]
        return [float(np.log(y / x)) for x, y in product(*means)]

    # sessions first, and of each drawn one both sides anew
    every = [(a + b) / 2 for s in product((0, 1), repeat=2) for a, b in product(*(resampled(session) for session in s))]
    expected = Counter(np.round(every, 9).tolist())
    found = Counter(np.round(replicates(BASE, HEAD, 3, range(20)), 9).tolist())
    assert found.keys() == expected.keys()
    total = 20 * CHUNK
    for value, count in expected.items():
        share = count / len(every)
        assert abs(found[value] / total - share) < 5 * np.sqrt(share * (1 - share) / total)


def test_chunks_are_no_copies_and_the_same_seed_gives_the_same() -> None:
    rng = np.random.default_rng(1)
    base, head = (rng.normal(10, 1, (3, 6)).tolist() for _ in range(2))
    first, second = (replicates(base, head, 5, range(c, c + 1)) for c in (0, 1))
    assert len(np.unique(np.concatenate((first, second)))) > 1.9 * CHUNK
    assert np.array_equal(first, replicates(base, head, 5, range(1)))
    assert not np.array_equal(first, replicates(base, head, 6, range(1)))


def test_what_has_no_logarithm_or_no_partner_is_not_paired() -> None:
    assert pairing(side(BASE), side([[0.0, 4.0], [20.0, 21.0]]), "RRR", 1) is None
    assert pairing(side(BASE), side(HEAD[:1]), "RRR", 1) is None
    assert pairing(side(BASE), side(HEAD), "FLAT", 1) is None
    # of two runs, whose rounds compare numbers apart
    head = side(HEAD)
    apart = Sample(head.values, head.counts, tuple((session, build + 7) for session, build in head.builds))
    assert pairing(side(BASE), apart, "RRR", 1) is None


def interval(speeds: float, *, bca: bool, change: float = 0.0) -> BootstrapRatio:
    rng = np.random.default_rng(4)
    host = np.exp(speeds * rng.normal(0, 1, (10, 1)))
    ratio = 1.1 * np.exp(change * rng.normal(0, 1, (10, 1)))
    base, head = (host * rng.normal(1, 0.01, (10, 4)) for _ in range(2))
    sides = [side(each.tolist()) for each in (base, head * ratio)]
    return bootstrap_ratio(*sides, scheme="RNN", bca=bca, seed=1, alphas=(0.05,), sessions=True, cap=4 * CHUNK)


@pytest.mark.parametrize("bca", [False, True])
def test_machines_of_other_speeds_have_the_same_interval(bca: bool) -> None:
    alike, apart = interval(0.0, bca=bca), interval(1.0, bca=bca)
    one, other = alike.limits(0.05), apart.limits(0.05)
    assert one.low and one.high and other.low and other.high
    assert (other.low, other.high) == pytest.approx((one.low, one.high), rel=1e-9)
    assert 1.08 < one.low < 1.1 < one.high < 1.12
    # a ratio that moves from machine to machine is what it is for
    moving = interval(1.0, bca=bca, change=0.1).limits(0.05)
    assert moving.low and moving.high
    assert moving.high - moving.low > 5 * (one.high - one.low)


def test_a_difference_is_that_of_a_machine_in_the_middle() -> None:
    found = interval(1.0, bca=False)
    difference = found.difference_limits(0.05)
    limits = found.limits(0.05)
    assert difference.low and difference.high and limits.low and limits.high
    middle = np.sqrt(found.x * found.y)
    for ratio, change in ((limits.low, difference.low), (limits.high, difference.high)):
        assert change == pytest.approx(middle * (np.sqrt(ratio) - 1 / np.sqrt(ratio)), rel=1e-9)
