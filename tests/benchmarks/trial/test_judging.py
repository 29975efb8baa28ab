"""From a data file to rates: made-up times whose verdicts are known."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from benchmarks.trial import plan
from benchmarks.trial.comparisons import Comparison, Process, comparisons
from benchmarks.trial.judging import Judged, Rate, Trial, sizes
from benchmarks.trial.programs import PROGRAMS
from benchmarks.trial.records import Line
from benchmarks.trial.rules import (
    asv,
    bencher,
    benchstat,
    github_action_benchmark,
    instructions,
    one_process,
    perfgate,
    tachometer,
)
from benchmarks.trial.rules.perfgate import gated
from benchmarks.trial.rules.registry import RULES
from benchmarks.trial.rules.rule import Call, Rule
from tests.support.trial import lines

QUIET = lines(1, 0.002)


def made(of: Sequence[Line]) -> list[Comparison]:
    return comparisons(of, tuple(PROGRAMS), 1)


def test_a_bundle_asks_all_ordered_pairs_without_a_change_and_each_change_twice() -> None:
    found = made(QUIET)
    kinds = [each.kind for each in found]
    assert {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)} == {
        "same": 2, "edited": 4, "relaid": 6, "plus-2": 2, "plus-6": 2, "plus-12": 2,
    }  # fmt: skip
    assert len(found[0].history) == plan.HISTORY_FIRST
    assert {len(each.head.starts) for each in found} == {plan.STARTS}
    assert {tuple(len(r) for r in each.head.rounds) for each in found} == {(plan.EXECUTIONS,) * plan.ROUNDS}


def test_a_bundle_that_lacks_a_process_is_not_judged() -> None:
    assert made(QUIET[:-1]) == []


def test_the_layout_is_common_to_both_sides_of_a_round_but_for_the_side_that_is_laid_out_in_another_way() -> None:
    bundle = plan.bundle(0, tuple(PROGRAMS), 1)
    layouts = {
        side: [
            step.layout for step in bundle.steps if step.part == "rounds" and step.side == side and not step.number % 5
        ]
        for side in bundle.sides
    }
    assert layouts["same-1"] == layouts["edited"] == layouts["plus-2"]
    assert all(one != other for one, other in zip(layouts["same-1"], layouts["relaid"], strict=True))
    assert len(set(layouts["same-1"])) == plan.ROUNDS


@pytest.mark.parametrize(
    ("rule", "smallest"),
    [
        (perfgate.RULES[0], 0.06),
        (asv.RULES[0], 0.12),
        (github_action_benchmark.RULES[0], None),
        (github_action_benchmark.RULES[1], 0.12),
        (bencher.RULES[0], 0.02),
        (bencher.RULES[1], None),
        (tachometer.RULES[0], 0.02),
        (instructions.RULES[0], 0.06),
        (instructions.RULES[1], 0.12),
    ],
    ids=lambda value: value.name if isinstance(value, Rule) else str(value),
)
def test_almost_without_noise_a_rule_sees_what_is_beyond_its_threshold_and_nothing_else(
    rule: Rule, smallest: float | None
) -> None:
    # every process 0.2% off: what tests without a size call different is not asked here
    for comparison in made(QUIET):
        size = dict(zip(plan.CHANGED, plan.SIZES, strict=False)).get(comparison.kind, 0.0)
        if size or rule.threshold:
            assert rule.judge(comparison, None).slower == (smallest is not None and size >= smallest), comparison.kind


def test_perfgate_stops_at_a_look_and_pays_for_the_rounds_until_then() -> None:
    (clear,) = [each for each in made(QUIET) if each.kind == "plus-12"][:1]
    found = gated({"benchmark": clear})
    assert found.report.findings[0].verdict == "regression"
    done = found.report.findings[0].base.counts.build
    assert done < plan.ROUNDS
    executions = sum(e.seconds for side in (clear.base, clear.head) for r in side.rounds[:done] for e in r)
    # a whole build of each side, then links
    assert found.seconds == pytest.approx(1.05 * (executions + 2 * 1.0 + 2 * 0.1 * (done - 1)), rel=0.15)


def test_the_time_of_the_equal_plan_is_that_of_perfgate_as_far_as_the_data_reach() -> None:
    comparison = made(QUIET)[0]
    own = perfgate.RULES[0].judge(comparison, None).seconds
    assert tachometer.RULES[0].judge(comparison, own).seconds <= own
    # and never less than its own plan, whose test would have too few samples
    own_plan = asv.RULES[0].judge(comparison, None).seconds
    assert own_plan <= asv.RULES[0].judge(comparison, own).seconds <= max(own, 1.05 * own_plan)


def test_wilsons_interval() -> None:
    # Newcombe 1998, table I: 81 of 263, and 0 of 20
    found = Rate.of_counts(81, 263, 263)
    assert (found.low, found.high) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    found = Rate.of_counts(0, 20, 20)
    assert (found.low, found.high) == pytest.approx((0.0, 0.1611), abs=5e-5)


def test_an_interval_counts_bundles_since_their_comparisons_share_minutes_and_history() -> None:
    kinds = ["same", "same", "edited", "edited", "relaid", "relaid"]
    judged = [
        Judged(
            "sort",
            bundle,
            kind,
            {(name, "default"): Call(bundle == 0, 2.0) for name in ("two numbers", "instructions at 5%")},
        )
        for bundle in range(5)
        for kind in kinds
    ]
    trial = Trial(judged, Rate.of_counts(0, 0, 0))
    found = trial.alarms("two numbers", "default")
    assert found is not None
    assert (found.share, found.independent) == (0.2, 5)
    assert found.low == pytest.approx(Rate.of_counts(1, 5, 5).low)
    # counted once for the one program
    once = trial.alarms("instructions at 5%", "default")
    assert once is not None
    assert once.independent == 1
    assert trial.misses("two numbers", "default", "plus-6") is None


def test_all_rules_are_asked_about_the_same_pull_requests() -> None:
    judged = [
        Judged("sort", number, "same", {("two numbers", "default"): Call(number == 0, 2.0)}) for number in range(20)
    ]
    draws = tuple(tuple(range(number % 2, number % 2 + 10)) for number in range(100))
    trial = Trial(judged, Rate.of_counts(3, 100, 2), draws)
    # every second draw has the one that alarms
    assert trial.pull_request("two numbers", "default") == 0.5
    assert trial.pull_request("perfgate", "default") == 0.03
    assert trial.pull_request("asv", "default") is None


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.sized is not None], ids=lambda rule: str(rule.name))
def test_with_perfgates_threshold_a_rule_passes_what_is_below_it_and_sees_what_is_twice_as_large(rule: Rule) -> None:
    (small,) = [each for each in made(QUIET) if each.kind == "plus-2"][:1]
    (large,) = [each for each in made(QUIET) if each.kind == "plus-6"][:1]
    assert rule.sized is not None
    assert not rule.sized.judge(small, 30.0).slower
    assert rule.sized.judge(large, 30.0).slower


@pytest.mark.parametrize("rule", one_process.RULES, ids=lambda rule: str(rule.name))
def test_a_short_plan_is_not_charged_with_the_drift_between_long_processes(rule: Rule) -> None:
    (large,) = [each for each in made(QUIET) if each.kind == "plus-12"][:1]
    # the machine was three times as fast by the time of head's long process
    fast = Process(tuple(value / 3 for value in large.head.long.passes), large.head.long.seconds)
    assert rule.judge(replace(large, head=replace(large.head, long=fast)), None).slower


@pytest.mark.parametrize("rule", benchstat.RULES, ids=lambda rule: str(rule.name))
def test_with_little_time_benchstat_still_has_as_many_runs_as_its_test_needs(rule: Rule) -> None:
    (large,) = [each for each in made(QUIET) if each.kind == "plus-12"][:1]
    for seconds in (4.0, 10.0):
        found = rule.judge(large, seconds)
        assert found.slower
        # ten processes a side end with the pass that they are in
        assert found.seconds <= seconds + 2 * benchstat.RUNS * 0.06


def test_the_size_of_a_change_is_measured_by_all_rounds() -> None:
    found = {size.kind: size for size in sizes(made(QUIET))}
    assert found["plus-6"].time == pytest.approx(0.06, abs=0.002)
    assert found["plus-6"].instructions == pytest.approx(0.06, abs=1e-6)
