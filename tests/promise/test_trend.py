"""What `perfgate history trend` promises: years without a change stay quiet, creeps and steps are found (docs/trend.md).

A year is 250 merges of 10 cases, measured with 5 to 12 builds: sd of a build's log ratio 2.5%, days as each setting has
it. All is vectorised over steps and windows, as the command works; a year takes about 50 ms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

import msgspec
import numpy as np
import pytest

from gate.stats.series.places import place
from gate.stats.series.search import comparisons, searched
from tests.support.histories import Array, Noise, creep, flat, step
from tests.support.series import called, steps_of

MERGES, CASES = 250, 10


class Year(msgspec.Struct, frozen=True):
    """How a year without a change is measured."""

    noise: Noise
    machines: tuple[int, ...] = ()
    moved: Array | None = None
    """What the machine does to levels beside the noise."""
    threshold: float = 0.0


class Found(msgspec.Struct, frozen=True):
    """What is planted, and from which step to which it counts as found."""

    true: Callable[[np.random.Generator], Array]
    first: int
    last: int
    days: float
    least: float
    """Share in which it must be found."""


WEEK: Array = np.where(np.arange(MERGES) % 7 >= 5, 0.03, 0.0)
QUIET: Mapping[str, Year] = {
    "days 1%": Year(Noise(day=0.01)),
    "days 2%": Year(Noise()),
    "days 3%": Year(Noise(day=0.03)),
    "days 2%, correlation 0.5": Year(Noise(slow=0.5)),
    "days 2%, correlation 0.8": Year(Noise(slow=0.8)),
    "days 2%, 3% of runs off by 20%": Year(Noise(outliers=0.03)),
    "days 2%, weekends 3% slower": Year(Noise(), moved=WEEK),
    "days 2%, two changes of machine": Year(Noise(), (80, 170), step(249, 80, 0.2) + step(249, 170, -0.3)),
    "days 2%, threshold 2%": Year(Noise(), threshold=0.02),
    "builds 5%": Year(Noise(build=0.05)),
}
DRIFTING: Mapping[str, Year] = {
    "drift 0.05% a day": Year(Noise(walk=0.0005)),
    "drift 0.1% a day": Year(Noise(walk=0.001)),
    "drift 0.1% a day, threshold 2%": Year(Noise(walk=0.001), threshold=0.02),
}
"""Where the machine drifts for good: no promise (docs/trend.md)."""


def crept(after: int) -> Callable[[np.random.Generator], Array]:
    """Five steps of 1% within 30 merges, and so many merges after them."""
    return lambda rng: creep(rng, MERGES, MERGES - after - 29)


def stepped(size: float, after: int, until: int | None = None) -> Callable[[np.random.Generator], Array]:
    return lambda _: step(MERGES, MERGES - after, size, until)


FINDS: Mapping[str, Found] = {
    **{
        f"5 x 1% in 30 merges, {after} merges after, days {days:.0%}": Found(
            crept(after), MERGES - after - 40, MERGES, days, least
        )
        for days, after, least in (
            (0.01, 0, 0.9), (0.01, 10, 0.97), (0.02, 0, 0.6), (0.02, 10, 0.9), (0.02, 20, 0.95),
            (0.03, 0, 0.12), (0.03, 20, 0.73), (0.03, 40, 0.94),
        )
    },
    **{
        f"step {size:.0%}, {after} merges after, days {days:.0%}": Found(
            stepped(size, after), MERGES - after - 12, MERGES - after + 10, days, least
        )
        for size, after, days, least in (
            (0.03, 125, 0.01, 0.97), (0.03, 125, 0.02, 0.97), (0.03, 125, 0.03, 0.82), (0.03, 5, 0.01, 0.71),
            (0.03, 5, 0.02, 0.18), (0.05, 5, 0.02, 0.92), (0.1, 0, 0.02, 0.97), (0.1, 5, 0.03, 0.97),
        )
    },
    **{
        f"step {size:.0%} and its revert 10 merges later, days 2%": Found(
            stepped(size, 125, 135), 120, 140, 0.02, least
        )
        for size, least in ((0.05, 0.89), (0.1, 0.97))
    },
}  # fmt: skip


def alarms(year: Year, count: int, seed: int = 1) -> float:
    """Share of years without a change in which any is called."""
    rng = np.random.default_rng(seed)

    def calls() -> bool:
        steps = steps_of(rng, flat(MERGES), year.noise, moved=year.moved, machines=year.machines)
        return bool(called(steps, cases=CASES, threshold=year.threshold))

    return float(np.mean([any(calls() for _ in range(CASES)) for _ in range(count)]))


def finds(found: Found, count: int, seed: int = 2) -> float:
    """Share of histories in which what was planted in one of 10 cases is called, within its steps."""
    rng = np.random.default_rng(seed)
    noise = Noise(day=found.days)
    hits = [
        any(found.first <= at <= found.last for at in called(steps_of(rng, found.true(rng), noise), cases=CASES))
        for _ in range(count)
    ]
    return float(np.mean(hits))


@pytest.mark.promise
@pytest.mark.parametrize("name", QUIET)
def test_years_without_a_change_are_quiet(name: str) -> None:
    assert alarms(QUIET[name], 400) <= 0.05


@pytest.mark.promise
def test_a_machine_that_drifts_is_not_the_code() -> None:
    rng = np.random.default_rng(3)
    each = 0.05 / (comparisons(MERGES) * CASES)
    causes = Counter(
        place(found.steps, point).cause
        for found in (
            searched(steps_of(rng, flat(MERGES), DRIFTING["drift 0.1% a day"].noise), each) for _ in range(1000)
        )
        for point in found.points
    )
    assert causes.total() > 30
    assert causes["code"] + causes["both"] <= 0.05 * causes.total()


@pytest.mark.promise
@pytest.mark.parametrize("name", FINDS)
def test_what_is_planted_is_found(name: str) -> None:
    assert finds(FINDS[name], 400) >= FINDS[name].least
