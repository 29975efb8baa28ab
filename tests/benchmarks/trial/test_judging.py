"""From a data file to rates: made-up times whose verdicts are known."""

from collections.abc import Sequence

import pytest

from benchmarks.trial import plan
from benchmarks.trial.comparisons import Comparison, comparisons
from benchmarks.trial.judging import Judged, Rate, Trial, sizes
from benchmarks.trial.programs import PROGRAMS
from benchmarks.trial.records import Line
from benchmarks.trial.rules import asv, bencher, github_action_benchmark, instructions, perfgate, tachometer
from benchmarks.trial.rules.perfgate import gated
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
    for rule in (tachometer.RULES[0], asv.RULES[0]):
        assert rule.judge(comparison, own).seconds <= own


def test_wilsons_interval() -> None:
    # Newcombe 1998, table I: 81 of 263, and 0 of 20
    found = Rate.of_counts(81, 263, 263)
    assert (found.low, found.high) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    found = Rate.of_counts(0, 20, 20)
    assert (found.low, found.high) == pytest.approx((0.0, 0.1611), abs=5e-5)


def test_an_interval_is_that_of_comparisons_without_a_process_in_common() -> None:
    kinds = ["same", "same", "edited", "edited", "relaid", "relaid"]
    judged = [
        Judged("sort", bundle, kind, {("two numbers", "default"): Call(bundle == 0, 2.0)})
        for bundle in range(5)
        for kind in kinds
    ]
    trial = Trial(judged, Rate.of_counts(0, 0, 0))
    found = trial.alarms("two numbers", "default")
    assert found is not None
    # two of the four sides of a bundle have no process in common with the other two
    assert (found.share, found.independent) == (0.2, 10)
    assert found.low == pytest.approx(Rate.of_counts(2, 10, 10).low)
    of_kind = trial.alarms("two numbers", "default", ["same"])
    assert of_kind is not None
    assert of_kind.independent == 5
    assert trial.pull_request("two numbers", "default") == pytest.approx(1 - 0.8**10)
    assert trial.misses("two numbers", "default", "plus-6") is None


def test_the_size_of_a_change_is_measured_by_all_rounds() -> None:
    found = {size.kind: size for size in sizes(made(QUIET))}
    assert found["plus-6"].time == pytest.approx(0.06, abs=0.002)
    assert found["plus-6"].instructions == pytest.approx(0.06, abs=1e-6)
