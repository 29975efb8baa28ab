"""With independent normal values a rule is wrong as often as it says it is: seeded simulations."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from statistics import NormalDist

import numpy as np
import pytest

from benchmarks.trial.rules import asv, bencher, benchstat, criterion, one_process, tachometer
from tests.support.seeds import some

SIMULATIONS = 1000


def alarms(
    rule: Callable[[Sequence[float], Sequence[float]], bool], base: int, head: int, count: int = SIMULATIONS
) -> float:
    draw = np.random.default_rng(11)
    found = (rule(draw.normal(100, 5, base).tolist(), draw.normal(100, 5, head).tolist()) for _ in range(count))
    return sum(found) / count


def near(share: float, of: int = SIMULATIONS) -> object:
    """Within three standard errors of the simulation."""
    return pytest.approx(share, abs=3 * math.sqrt(share * (1 - share) / of))


@pytest.mark.parametrize("count", some([300, 3000], 1))
def test_tests_at_5_percent_call_head_slower_in_half_of_these(count: int) -> None:
    assert alarms(one_process.welch, 30, 30, count) == near(0.025, count)
    assert alarms(one_process.mann_whitney, 30, 30, count) == near(0.025, count)
    # of the exact test with ten values a side the level that can be attained is 4.33%
    assert alarms(benchstat.slower, 10, 10, count) == near(0.0433 / 2, count)


def test_two_numbers_alarm_as_often_as_their_noise_exceeds_5_percent() -> None:
    deviation = 5 * math.sqrt((1 + 1.05**2) / 2)
    assert alarms(one_process.two_numbers, 2, 2) == near(1 - NormalDist().cdf(5 / deviation))


def test_benchers_prediction_limit_is_passed_by_1_percent_of_new_values() -> None:
    draw = np.random.default_rng(12)
    over = 0
    for _ in range(SIMULATIONS):
        limit = bencher.t_limit(draw.normal(100, 5, 20).tolist())
        over += limit is not None and draw.normal(100, 5) > limit
    assert over / SIMULATIONS == near(0.01)


@pytest.mark.parametrize("count", some([400, 4000], 1))
def test_tachometers_interval_covers_95_percent_at_a_fixed_size_and_less_when_it_stops_at_0(
    count: int,
) -> None:
    draw = np.random.default_rng(13)
    fixed = stopped = 0
    for _ in range(count):
        base, head = draw.normal(100, 5, 100).tolist(), draw.normal(100, 5, 100).tolist()
        fixed += tachometer.interval(base[:50], head[:50]).low > 0
        size = tachometer.sampled(base, head)
        stopped += tachometer.interval(base[:size], head[:size]).low > 0
    assert fixed / count == near(0.025, count)
    assert stopped > 1.3 * fixed


def test_asv_and_criterion_alarm_less_often_than_their_tests_since_both_ask_for_a_size_too() -> None:
    assert alarms(asv.slower, 10, 10) < 0.002
    few = partial(criterion.regressed, resamples=2000)
    assert alarms(few, 30, 30, 400) < 0.025 + 3 * math.sqrt(0.025 * 0.975 / 400)
