"""What `perfgate history trend` promises: both intervals cover how far a case moved as often as they say (docs/trend.md).

A year is 250 merges, measured with 5 to 12 builds: sd of a build's log ratio 2.5%, days as each setting has it. A year
takes about 5 ms. `python -m tests.promise.test_trend` prints the table that docs/trend.md sums up.
"""

import sys
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pytest

from gate.stats.series import path, summed
from tests.support.histories import Array, Noise, creep, flat, step, steps_of
from tests.support.seeds import some

MERGES = 250
FIRST = np.random.default_rng(0)


class Year(NamedTuple):
    """What becomes of a case in a year, how it is measured, and what the machine does to levels beside the noise."""

    true: Array
    noise: Noise
    machines: tuple[int, ...] = ()
    moved: Array | None = None


WEEK: Array = np.where(np.arange(MERGES) % 7 >= 5, 0.03, 0.0)
YEARS: Mapping[str, Year] = {
    "no change, days 1%": Year(flat(MERGES), Noise(day=0.01)),
    "days 2%": Year(flat(MERGES), Noise()),
    "days 3%": Year(flat(MERGES), Noise(day=0.03)),
    "days 2%, correlated by 0.5": Year(flat(MERGES), Noise(slow=0.5)),
    "days 2%, 3% of runs off by 20%": Year(flat(MERGES), Noise(outliers=0.03)),
    "days 2%, weekends 3% slower": Year(flat(MERGES), Noise(), moved=WEEK),
    "days 2%, two changes of machine": Year(
        flat(MERGES), Noise(), (80, 170), step(249, 80, 0.2) + step(249, 170, -0.3)
    ),
    "days 2%, a step of 10%": Year(step(MERGES, 120, 0.1), Noise()),
    "days 2%, five steps of 1%": Year(creep(FIRST, MERGES, 120), Noise()),
    "builds 5%": Year(flat(MERGES), Noise(build=0.05)),
}
DRIFTING = Year(flat(MERGES), Noise(walk=0.005))
"""A machine that drifts for good, by 0.5% a day: no promise of the level."""


class Covered(NamedTuple):
    """How often an interval holds the truth, and its median half width in log."""

    share: float
    half: float


def covered(year: Year, count: int, seed: int = 1) -> tuple[Covered, Covered]:
    """Return that of the chain and of the level, from the first commit to the last."""
    rng = np.random.default_rng(seed)
    truth = float(year.true[-1] - year.true[0])
    ends = np.empty((count, 2, 2))
    for number in range(count):
        steps = steps_of(rng, year.true, year.noise, moved=year.moved, machines=year.machines)
        chain, levels = summed(steps, 0, MERGES - 1), path(steps)
        ends[number] = (chain.low, chain.high), (levels.low[-1], levels.high[-1])
    low, high = ends[..., 0], ends[..., 1]
    shares, halves = ((low <= truth) & (truth <= high)).mean(axis=0), np.median(high - low, axis=0) / 2
    return Covered(float(shares[0]), float(halves[0])), Covered(float(shares[1]), float(halves[1]))


@pytest.mark.parametrize(
    ("name", "count", "least"),
    some([("days 2%, a step of 10%", 100, 0.861), *((name, 2000, 0.935) for name in YEARS)], 1),
)
def test_both_intervals_cover(name: str, count: int, least: float) -> None:
    # of few years three standard errors below it
    chain, level = covered(YEARS[name], count)
    assert chain.share >= least
    assert level.share >= least
    assert level.half < chain.half


@pytest.mark.promise
def test_the_chain_does_not_follow_a_machine_that_drifts() -> None:
    assert covered(DRIFTING, 2000)[0].share >= 0.935


def main() -> None:
    """Print the table that docs/trend.md sums up."""
    sys.stdout.write("| a year of 250 merges | chain covers | ± | level covers | ± |\n| --- |" + " ---: |" * 4 + "\n")
    for name, year in {**YEARS, "a machine that drifts by 0.5% a day": DRIFTING}.items():
        cells = [f"{each.share:.1%} | {np.expm1(each.half):.1%}" for each in covered(year, 2000)]
        sys.stdout.write(f"| {name} | {' | '.join(cells)} |\n")


if __name__ == "__main__":
    main()
