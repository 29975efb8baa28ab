"""Each rule beside the output of its tool on the same values, or beside values that its documentation gives.

tests/data/trial/README.md has the versions and commands.
"""

import csv
import json
import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import NormalDist, median
from typing import Any

import numpy as np
import pytest
from scipy import stats

from benchmarks.trial.rules import (
    asv,
    bencher,
    benchstat,
    criterion,
    datadog,
    duckdb,
    github_action_benchmark,
    instructions,
    one_process,
    tachometer,
)
from tests.support.seeds import some

DATA = Path(__file__).parents[2] / "data/trial"
CASES: list[dict[str, Any]] = json.loads((DATA / "cases.json").read_text(encoding="utf-8"))
NAMES = [case["name"] for case in CASES]
DIVERSE = ("plus-3-10", "ties-20", "faster-10", "skewed-50")


def captured(tool: str) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in json.loads((DATA / f"{tool}.json").read_text(encoding="utf-8"))}


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_benchstat_prints_the_same_p_and_the_same_verdict(case: dict[str, Any]) -> None:
    with (DATA / "benchstat.csv").open(encoding="utf-8") as file:
        rows = {row[0]: row for row in csv.reader(file) if len(row) == 7}
    row = rows[case["name"].replace("-", "_")]
    assert row[6].split()[0] == f"p={benchstat.p_value(case['base'], case['head']):.3f}"
    assert benchstat.slower(case["base"], case["head"]) == row[5].startswith("+")


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_asv_has_the_same_p_and_the_same_verdict(case: dict[str, Any]) -> None:
    found = captured("asv")[case["name"]]
    assert asv.p_value(case["base"], case["head"]) == pytest.approx(found["p"], rel=1e-9)
    assert asv.slower(case["base"], case["head"]) == (found["worse"] and len(case["base"]) >= 6)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_tachometer_has_the_same_interval_and_goes_on_sampling_as_long(case: dict[str, Any]) -> None:
    found = captured("tachometer")[case["name"]]
    interval = tachometer.interval(case["base"], case["head"])
    assert (interval.low, interval.high) == pytest.approx(
        (found["relative"]["low"], found["relative"]["high"]), abs=1e-8
    )
    count = len(case["base"])
    if count == len(case["head"]):
        more = [*case["base"], *case["base"]], [*case["head"], *case["head"]]
        assert (tachometer.sampled(*more, least=count) == count) == found["resolved"]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_duckdb_has_the_same_median_and_interval_and_goes_on_sampling_as_long(case: dict[str, Any]) -> None:
    expected = captured("duckdb")[case["name"]]
    count = expected["pairs"]
    found = duckdb.paired(case["base"][:count], case["head"][:count])
    none = [-math.inf if expected["low"] is None else expected["low"], expected["high"] or math.inf]
    assert [found.low, found.high] == pytest.approx(none, rel=1e-12)
    assert found.ratio == pytest.approx(expected["ratio"], rel=1e-12)
    assert duckdb.goes_on(found, duckdb.LIMIT) == expected["more"]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_datadogs_interval_excludes_0_where_its_predecessors_test_is_below_ten_percent(case: dict[str, Any]) -> None:
    found = datadog.change(case["base"], case["head"])
    p = float(stats.ttest_ind(case["head"], case["base"], equal_var=False).pvalue)
    assert (found.low > 0 or found.high < 0) == (p < 1 - datadog.CONFIDENCE)
    assert found.low < found.estimate < found.high
    # its reports: significant, and a change of at least 5%
    assert datadog.regressed(found) == (p < 0.10 and found.estimate >= 0.05)


@pytest.mark.parametrize("name", some(sorted(captured("criterion"), key=lambda name: name not in DIVERSE), 4))
def test_criterion_has_the_same_interval_p_and_verdict_as_far_as_a_bootstrap_can(name: str) -> None:
    (case,) = (case for case in CASES if case["name"] == name)
    found = captured("criterion")[name]
    interval = criterion.interval(case["base"], case["head"])
    width = found["high"] - found["low"]
    # only sqrt(100,000) resamples of head are behind its ends, so those of two runs of criterion differ as much
    assert interval.low == pytest.approx(found["low"], abs=0.12 * width)
    assert interval.high == pytest.approx(found["high"], abs=0.12 * width)
    # printed with two digits
    assert criterion.p_value(case["base"], case["head"]) == pytest.approx(found["p"], abs=0.011)
    assert criterion.regressed(case["base"], case["head"]) == (found["verdict"] == "regressed")


def test_github_action_benchmark_alerts_to_what_exceeds_its_threshold() -> None:
    # README: 100 and then 230 is an alert at 200%; the ratio must exceed the threshold
    assert github_action_benchmark.alert(100, 230, 2.0)
    assert not github_action_benchmark.alert(100, 200, 2.0)
    assert github_action_benchmark.alert(100, 111, 1.1)
    assert not github_action_benchmark.alert(100, 109, 1.1)
    assert not github_action_benchmark.alert(0, 0, 1.1)


def test_benchers_limits_are_those_of_its_documentation() -> None:
    # docs, thresholds, t-test: 25 metrics, mean 100, sample standard deviation 10, boundary 0.977: 121.46
    spread = 10 / (25 / 24) ** 0.5
    history = [100 - spread, 100 + spread] * 12 + [100.0]
    scale = 10 / (sum((value - 100) ** 2 for value in history) / 24) ** 0.5
    history = [100 + scale * (value - 100) for value in history]
    assert bencher.t_limit(history, 0.977) == pytest.approx(121.46, abs=0.005)
    # docs, thresholds, percentage: mean 100 and 0.10: 110
    assert bencher.percentage_limit([90, 110], 0.10) == pytest.approx(110)
    assert bencher.t_limit([100.0]) is None
    assert bencher.t_limit([100.0, 100.0]) is None


def test_an_instruction_count_fails_beyond_its_limit_alone() -> None:
    assert not instructions.slower(100, 105, 0.05)
    assert instructions.slower(10_000, 10_501, 0.05)


def test_a_rule_that_needs_an_improvement_to_be_no_regression() -> None:
    (faster,) = (case for case in CASES if case["name"] == "faster-10")
    assert median(faster["head"]) < median(faster["base"])
    for rule in (benchstat.slower, asv.slower, criterion.regressed):
        assert not rule(faster["base"], faster["head"])
        assert rule(faster["head"], faster["base"])


# --- with independent normal values a rule is wrong as often as it says it is -----------------------------------------


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


@pytest.mark.parametrize("count", some([100, 300, 3000], 1))
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


@pytest.mark.parametrize("count", some([150, 400, 4000], 1))
def test_tachometers_interval_covers_95_percent_at_a_fixed_size_and_less_when_it_stops_at_0(count: int) -> None:
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
