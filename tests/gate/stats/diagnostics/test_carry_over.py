"""Carry-over: what one side leaves behind for the other, and what is none."""

from typing import Any

import numpy as np
import pytest

from gate.model import Sample
from gate.model.warnings.estimates import CarryOver
from gate.stats.diagnostics.rounds import carry_over
from tests.support import turns


def sides(seed: int, *, after: dict[str, float], spread: float = 0.005, **more: Any) -> tuple[Sample, Sample]:
    """Turns in which a side takes more after the other one; after: by which share, by side."""
    rng = np.random.default_rng(seed)
    setting = turns.Turns(starts=12, active=spread, rounds=8, **more)
    active = turns.drawn(rng, setting)[1]
    assert active.base.orders is not None and active.head.orders is not None
    side_at = dict.fromkeys(active.base.orders.tolist(), "base") | dict.fromkeys(active.head.orders.tolist(), "head")
    found = []
    for name, sample in (("base", active.base), ("head", active.head)):
        assert sample.orders is not None
        before = [side_at.get(order - 1, name) for order in sample.orders.tolist()]
        factors = np.array([1 + after.get(name, 0.0) if side != name else 1.0 for side in before])
        found.append(Sample(sample.values * factors, sample.counts, sample.builds, sample.orders))
    return found[0], found[1]


@pytest.mark.parametrize("side", ["base", "head"])
@pytest.mark.parametrize("change", [0.02, -0.02])
def test_what_one_side_leaves_behind_is_warned_of(side: str, change: float) -> None:
    found = carry_over(*sides(1, after={side: change}))
    assert isinstance(found, CarryOver)
    assert found.side == side
    assert found.change == pytest.approx(change, abs=0.005)


def test_a_change_is_none() -> None:
    assert carry_over(*sides(2, after={}, change=1.3)) is None


def test_less_than_half_a_percent_is_none_however_sure() -> None:
    assert carry_over(*sides(3, after={"head": 0.003}, spread=0.0001)) is None


def test_without_orders_or_with_few_turns_nothing_is_known() -> None:
    base, head = sides(4, after={"head": 0.5})
    assert carry_over(base, head) is not None
    assert carry_over(Sample(base.values, base.counts, base.builds), head) is None
    rng = np.random.default_rng(5)
    few = turns.drawn(rng, turns.Turns(starts=4, rounds=2))[1]
    assert carry_over(few.base, few.head) is None


def test_it_is_rare_without_any() -> None:
    count = 200
    hosts = list(turns.HOSTS)
    found = [carry_over(*sides(100 + k, after={}, spread=0.05, host=hosts[k % len(hosts)])) for k in range(count)]
    # two sides beyond three standard errors each: 0.5%, and a heavy tail
    assert sum(each is not None for each in found) <= 0.02 * count
