"""Creep where docs/creep.md promises it: false alarms of a year of nights, and nights until a creep is found.

The statistic is the gate's own (gate.stats.creep), on log ratios drawn night by night. `python -m
tests.promise.test_creep` prints the tables of docs/creep.md.
"""

import math
import sys
from typing import Literal, NamedTuple

import numpy as np
import pytest

from gate.stats.creep import NIGHTS, creeping, spread_of
from gate.stats.rounding import Array
from tests.promise.test_gate import standard_error
from tests.support.seeds import some

ALPHA = 0.05
AT_ONCE = 100
Shape = Literal["normal", "two layouts", "lognormal"]


class Year(NamedTuple):
    """A year without a creep beyond the threshold of 3%.

    at: true change, all year. sd: of D, the log ratio of a round. day: sd of what a day adds to the ratio. correlation:
    of the days of successive nights. shared: share of the day's variance that all cases have in common. bad: share of
    nights that are 5% slower.
    """

    name: str
    at: float = 0.03
    builds: int = 12
    sd: float = 0.02
    day: float = 0.0
    correlation: float = 0.0
    cases: int = 1
    shared: float = 0.0
    bad: float = 0.0
    shape: Shape = "normal"

    def __str__(self) -> str:
        """Name it."""
        return self.name


YEARS = [
    Year("no change, days 1%, correlation 0.8", at=0.0, day=0.01, correlation=0.8),
    Year("at the threshold, sd 2%"),
    Year("at the threshold, sd 6%, 8 builds", builds=8, sd=0.06),
    Year("at the threshold, days 1%", day=0.01),
    Year("at the threshold, days 0.5%, correlation 0.5", day=0.005, correlation=0.5),
    Year("at the threshold, days 1%, correlation 0.5", day=0.01, correlation=0.5),
    Year("no change, days 1%, correlation 0.9", at=0.0, day=0.01, correlation=0.9),
    Year("at the threshold, 20 cases, days 0.5% half in common", cases=20, day=0.005, shared=0.5),
    Year("at the threshold, two layouts, sd 6%", sd=0.06, shape="two layouts", builds=8),
    Year("at the threshold, lognormal builds, sd 6%", sd=0.06, shape="lognormal"),
    Year("at the threshold, 2% of nights 5% slower", day=0.005, bad=0.02),
    Year("half the threshold, 2% of nights 5% slower, days 0.5%, correlation 0.5", at=0.015, day=0.005,
         correlation=0.5, bad=0.02),
]  # fmt: skip


class Creep(NamedTuple):
    """Five merges of +1%, one of every six of 30 nightly merges, after so many quiet nights."""

    threshold: float
    builds: int
    sd: float
    quiet: int
    nights: int
    """After the last of them, within which it is to be found in 90%."""

    def __str__(self) -> str:
        """Name it."""
        return f"{self.threshold:.0%}, {self.builds} builds, sd {self.sd:.0%}, after {self.quiet}"


CREEPS = [
    Creep(0.02, 12, 0.02, 60, 2), Creep(0.02, 8, 0.02, 60, 3), Creep(0.02, 12, 0.04, 60, 8),
    Creep(0.02, 8, 0.04, 60, 11), Creep(0.02, 12, 0.06, 60, 15), Creep(0.02, 8, 0.06, 60, 20),
    Creep(0.03, 12, 0.02, 60, 9), Creep(0.03, 8, 0.02, 60, 11), Creep(0.03, 12, 0.04, 60, 20),
    Creep(0.03, 8, 0.04, 60, 26), Creep(0.03, 12, 0.06, 60, 36), Creep(0.02, 12, 0.02, 10, 6),
    Creep(0.02, 12, 0.04, 10, 12), Creep(0.03, 12, 0.02, 10, 14),
]  # fmt: skip
FOLLOWED = 60
"""Nights after the last merge."""
DAY = 0.003
"""Standard deviation of days in these."""


def days(rng: np.random.Generator, size: tuple[int, ...], sd: float, correlation: float) -> Array:
    drawn = rng.normal(size=size)
    for night in range(1, size[-1]):
        drawn[..., night] = correlation * drawn[..., night - 1] + math.sqrt(1 - correlation**2) * drawn[..., night]
    return sd * drawn


def rounds(
    rng: np.random.Generator, size: tuple[int, ...], builds: int, sd: float, shape: Shape
) -> tuple[Array, Array]:
    """The mean of the rounds of each night without day and change, and its estimated variance."""
    if shape == "normal":
        variance, df = sd**2 / builds, builds - 1
        return math.sqrt(variance) * rng.normal(size=size), variance * rng.chisquare(df, size) / df
    drawn = rng.normal(size=(*size, builds))
    lognormal = (np.exp(drawn) - math.exp(0.5)) / math.sqrt((math.e - 1) * math.e)
    values = sd * (np.sign(drawn) if shape == "two layouts" else lognormal)
    return values.mean(axis=-1), values.var(axis=-1, ddof=1) / builds


def alarmed(year: Year, years: int, seed: int = 1) -> float:
    """The share of years with any alarm of any case."""
    rng = np.random.default_rng(seed)
    alarms = 0
    for begin in range(0, years, AT_ONCE):
        size = (min(AT_ONCE, years - begin), year.cases, NIGHTS)
        means, variances = rounds(rng, size, year.builds, year.sd, year.shape)
        common = days(rng, (size[0], 1, NIGHTS), year.day * math.sqrt(year.shared), year.correlation)
        own = days(rng, size, year.day * math.sqrt(1 - year.shared), year.correlation)
        bad = math.log(1.05) * (rng.random((size[0], 1, NIGHTS)) < year.bad)
        ratios = math.log1p(year.at) + means + common + own + bad
        found = creeping(ratios, variances, math.log(1.03), ALPHA, year.cases, spread_of([]))
        alarms += int(found.alarm.any(axis=(1, 2)).sum())
    return alarms / years


def waits(creep: Creep, years: int, seed: int = 2) -> Array:
    """Nights from the last merge until the alarm; negative before it, inf: not within 60 nights."""
    rng = np.random.default_rng(seed)
    last = creep.quiet + 24
    level = np.zeros(last + FOLLOWED)
    for merge in range(5):
        level[creep.quiet + 6 * merge :] += math.log(1.01)
    found = []
    for begin in range(0, years, AT_ONCE):
        size = (min(AT_ONCE, years - begin), len(level))
        means, variances = rounds(rng, size, creep.builds, creep.sd, "normal")
        ratios = level + means + days(rng, size, DAY, 0.0)
        alarm = creeping(ratios, variances, math.log1p(creep.threshold), ALPHA, 1, spread_of([])).alarm
        found.append(np.where(alarm.any(axis=-1), alarm.argmax(axis=-1) - last, np.inf))
    return np.concatenate(found)


def found_within(creep: Creep, years: int, seed: int = 2) -> float:
    return float((waits(creep, years, seed) <= creep.nights).mean())


def of(year: Year) -> int:
    """Years to draw, of 365 reports each."""
    return 200 if year.cases > 1 else 1000


@pytest.mark.parametrize(("year", "years"), some([(YEARS[5], 50), *((year, of(year)) for year in YEARS)], 1), ids=str)
def test_a_year_of_nights_raises_an_alarm_in_at_most_five_of_a_hundred(year: Year, years: int) -> None:
    assert alarmed(year, years) <= ALPHA + 3 * standard_error(ALPHA, years)


@pytest.mark.parametrize(
    ("creep", "years"),
    some([(CREEPS[0], 100), (CREEPS[2], 100), *((creep, 1000) for creep in CREEPS)], 2),
    ids=str,
)
def test_five_merges_of_one_percent_are_found_in_ninety_of_a_hundred(creep: Creep, years: int) -> None:
    assert found_within(creep, years) >= 0.9 - 3 * standard_error(0.9, years)


def main() -> None:
    """Print the tables of docs/creep.md."""
    out = sys.stdout
    out.write("| a year of nights, threshold 3% | years with a false alarm |\n| --- | --- |\n")
    for year in YEARS:
        out.write(f"| {year} | {alarmed(year, of(year)):.1%} |\n")
    head = "| threshold | builds | sd of D | quiet nights before | half found | 90% found |"
    out.write(f"\n{head}\n{'| --- ' * 6}|\n")
    for creep in CREEPS:
        half, most = np.quantile(waits(creep, 1000), [0.5, 0.9], method="higher")
        own = f"{creep.threshold:.0%} | {creep.builds} | {creep.sd:.0%} | {creep.quiet}"
        out.write(f"| {own} | {half:.0f} | {most:.0f} |\n")


if __name__ == "__main__":
    main()
