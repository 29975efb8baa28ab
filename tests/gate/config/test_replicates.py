"""How replicates are spread over rounds, and that a study that has begun keeps what was measured when it is extended."""

import random
from collections.abc import Sequence

import pytest

from gate.config.study import Study
from gate.config.treatments import extended, shares_of, spread


@pytest.mark.parametrize(
    ("replicates", "rounds", "wanted"),
    [(7, 1, (7,)), (7, 2, (4, 3)), (7, 5, (2, 2, 1, 1, 1)), (7, 9, (1,) * 7), (1, 1, (1,))],
)
def test_replicates_are_spread_evenly(replicates: int, rounds: int, wanted: tuple[int, ...]) -> None:
    assert spread(replicates, rounds) == wanted


def test_a_study_that_names_no_builds_has_at_most_five() -> None:
    assert shares_of(Study(replicates=3)) == (1, 1, 1)
    assert shares_of(Study(replicates=12)) == (3, 3, 2, 2, 2)
    assert shares_of(Study(replicates=12, builds=2)) == (6, 6)


@pytest.mark.parametrize(
    ("shares", "begun", "replicates", "builds", "wanted"),
    [
        # finished: what is added are new rounds
        ((1,) * 5, (1,) * 5, 8, 5, (1, 1, 1, 1, 1, 2, 1)),
        ((2, 2, 1), (2, 2, 1), 8, 3, (2, 2, 1, 3)),
        ((2, 2, 1), (2, 2, 1), 8, 6, (2, 2, 1, 1, 1, 1)),
        ((10,), (10,), 20, 1, (10, 10)),
        # paused: what has not begun is laid out again
        ((2, 2, 1), (2, 1), 8, 3, (2, 2, 2, 2)),
        ((5, 5), (3,), 10, 5, (3, 2, 2, 2, 1)),
        ((10,), (0,), 10, 5, (2, 2, 2, 2, 2)),
        # nothing is left to be spread
        ((5, 5), (5, 5), 10, 5, (5, 5)),
        # nothing has begun
        ((1, 1, 1), (), 7, 5, (2, 2, 1, 1, 1)),
    ],
)
def test_extensions(
    shares: Sequence[int], begun: Sequence[int], replicates: int, builds: int, wanted: tuple[int, ...]
) -> None:
    assert extended(shares, begun, replicates, builds) == wanted


def test_what_was_measured_stays_whatever_is_asked_for() -> None:
    rng = random.Random(3)
    for _ in range(3000):
        replicates, builds = rng.randint(1, 20), rng.randint(1, 8)
        shares = spread(replicates, builds)
        measured = 0
        for _ in range(rng.randint(1, 4)):
            measured = rng.randint(measured, sum(shares))
            begun = _begun(shares, measured)
            replicates += rng.choice((0, 1, rng.randint(0, 20)))
            builds += rng.choice((0, 0, rng.randint(0, 5)))
            now = extended(shares, begun, replicates, builds)
            assert sum(now) == replicates
            # every replicate that was measured has its round and number
            assert all(after >= done for after, done in zip(now, begun, strict=False))
            assert len(now) >= len(begun)
            assert all(now)
            # no added round has more than one of a new study would have
            assert max(now[len(begun) :], default=0) <= spread(replicates, builds)[0]
            if sum(begun) < replicates and not begun:
                assert now == spread(replicates, builds)
            # the same again, and after any further progress, changes nothing
            further = _begun(now, rng.randint(measured, sum(now)))
            assert extended(now, further, replicates, builds) == now
            shares = now


def _begun(shares: Sequence[int], measured: int) -> tuple[int, ...]:
    found = []
    for share in shares:
        if measured <= 0:
            break
        found.append(min(share, measured))
        measured -= share
    return tuple(found)
