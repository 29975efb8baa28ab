"""From a data file to rates: made-up times whose verdicts are known."""

from functools import cache

import pytest

from benchmarks.trial import judging, plan
from benchmarks.trial.comparisons import Comparison, comparisons, mean
from benchmarks.trial.judging import Difference, Judged, Rate, Trial, level_for, levels_without, reach
from benchmarks.trial.rules.registry import PERFGATE, RULES
from benchmarks.trial.rules.rule import Call, Rule
from tests.support.trial import START, lines

WITHOUT_NOISE = 0.001
HISTORY = ("github-action-benchmark", "Bencher t-test")
"""They call nothing before a program's second bundle."""
SIZES = dict(zip(plan.CHANGED, plan.SIZES, strict=False))


@cache
def made(bundles: int = 8, noise: float = WITHOUT_NOISE) -> list[Comparison]:
    return comparisons(lines(bundles, noise), 1)


def named(name: str) -> Rule:
    return next(rule for rule in RULES if rule.name == name)


def of_kind(kind: str) -> Comparison:
    # not of the first bundles, which have no history
    return [each for each in made() if each.kind == kind][-1]


def test_a_bundle_that_lacks_a_launch_is_not_judged() -> None:
    whole = lines(2, WITHOUT_NOISE)
    assert {each.bundle for each in comparisons(whole, 1)} == {0, 1}
    assert {each.bundle for each in comparisons(whole[:-1], 1)} == {0}


def test_a_comparison_has_the_starts_of_its_sides_without_those_that_warm_up() -> None:
    found = of_kind("plus-12")
    base, head = (mean([start.time for start in side]) for side in found.turns)
    assert head / base == pytest.approx(1.12, abs=0.001)
    assert [len(side) for side in (*found.blocks, *found.turns)] == [len(found.turns[0])] * 4
    assert [len(each.starts) for each in found.rounds] == [2 * (10 + plan.WARM)] * plan.ROUNDS
    # what the launcher takes is shared out
    assert sum(start.seconds for start in found.rounds[0].starts) > sum(start.time for start in found.rounds[0].starts)
    assert found.history == pytest.approx([START / 1e9] * len(found.history), rel=0.001)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule.name))
def test_almost_without_noise_a_rule_with_a_setting_of_five_percent_calls_what_is_beyond_it(rule: Rule) -> None:
    if rule.name == "Bencher t-test":
        pytest.skip("its setting is no size")
    for kind in ("plus-2", "plus-4.5", "plus-6", "plus-12"):
        found = rule.judge(of_kind(kind), 4.0, 0.05)
        assert found.slower == (SIZES[kind] > 0.05), kind
        assert not found.inconclusive or not found.slower


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule.name))
def test_a_rules_reach_is_what_it_measures(rule: Rule) -> None:
    reached = [reach(rule, of_kind(kind), 4.0) for kind in ("plus-2", "plus-6", "plus-12")]
    if rule.name == "Bencher t-test":
        # its history, and so its limit, is another one in each bundle
        assert min(reached) > 0
        return
    beyond = [rule.levels[count - 1] for count in reached]
    for found, true in zip(beyond, (0.02, 0.06, 0.12), strict=True):
        # the steps of the levels are a quarter of a percent
        assert true - 0.008 <= found <= true + 0.003


@pytest.mark.parametrize("rule", [rule for rule in RULES if not rule.once], ids=lambda rule: str(rule.name))
def test_no_rule_takes_more_time_than_it_is_given_but_for_the_start_that_it_is_in(rule: Rule) -> None:
    if rule is not PERFGATE:
        assert rule.judge(of_kind("plus-6"), 2.0, 0.0).seconds <= 2.0 + 2 * 1.1 * START / 1e9


def test_perfgate_stops_at_a_look_and_pays_for_the_rounds_until_then() -> None:
    clear = of_kind("plus-12")
    found = PERFGATE.judge(clear, None, PERFGATE.own)
    assert found.slower
    rounds = clear.rounds[:6]
    starts = sum(start.seconds for each in rounds for start in each.starts)
    later = sum(build.seconds or 0.0 for each in rounds[1:] for build in each.builds)
    assert found.seconds <= 1.05 * (starts + later + clear.building) * 1.001
    # at its own setting a change that is as large is not called
    assert not PERFGATE.judge(of_kind("plus-2"), None, 0.02).slower


def test_the_level_lets_so_few_pass_that_the_guarantee_holds() -> None:
    # 80 comparisons: two may be called
    assert level_for([9, 7, 5, *[1] * 77], 20) == 5
    assert level_for([9, 7, 5, *[1] * 36], 20) == 9
    assert level_for([20, 20], 20) == 20
    assert level_for([], 20) == 0


def test_a_bundle_is_judged_by_what_the_other_bundles_set() -> None:
    # half of the bundles have no such change
    small = {0: 1, 1: 1, 2: 1, 3: 6}
    found = levels_without(small, range(8), 20)
    assert found.pop(3) == 1
    assert found == dict.fromkeys([None, 0, 1, 2, 4, 5, 6, 7], 6)


@pytest.mark.endtoend
def test_the_whole_of_it_at_equal_guarantee(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = [rule for rule in RULES if rule.name not in {*HISTORY, "criterion.rs"}]
    monkeypatch.setattr(judging, "RULES", rules)
    trial = judging.judged(made(2, 0.004), lambda _: None)
    for rule in rules:
        rate = trial.rate(rule.name, "equal", ("plus-25",))
        assert rate is not None
        assert rate.share == 1.0, rule.name
        if not rule.once:
            assert trial.seconds(rule.name, "equal") <= trial.seconds(PERFGATE.name, "equal") + 0.05
    assert 0.01 <= trial.settings["two numbers"] <= 0.03


def test_wilsons_interval() -> None:
    # Newcombe 1998, table I: 81 of 263, and 0 of 20
    found = Rate.of_counts(81, 263, 263)
    assert (found.low, found.high) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    found = Rate.of_counts(0, 20, 20)
    assert (found.low, found.high) == pytest.approx((0.0, 0.1611), abs=5e-5)


@pytest.mark.parametrize(
    ("both", "more", "less", "neither"), [(0, 20, 0, 10), (0, 0, 7, 23), (30, 0, 0, 0), (20, 5, 0, 0)]
)
def test_without_correlation_it_is_newcombes_of_two_samples(both: int, more: int, less: int, neither: int) -> None:
    from statsmodels.stats.proportion import confint_proportions_2indep  # type: ignore[import-untyped] # it has no types

    found = Difference.of_counts(both, more, less, neither)
    n = both + more + less + neither
    expected = confint_proportions_2indep(both + more, n, both + less, n, method="newcomb", compare="diff")
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-6)


def test_the_interval_of_a_difference_is_narrower_where_both_call_the_same() -> None:
    apart, together = Difference.of_counts(5, 10, 0, 5), Difference.of_counts(8, 10, 0, 12)
    assert apart.word == together.word == "better"
    assert Difference.of_counts(5, 0, 10, 5).word == "worse"
    assert Difference.of_counts(12, 3, 2, 13).word == ""
    # no call that differs leaves a difference possible
    same = Difference.of_counts(26, 0, 0, 0)
    assert (same.low, same.high) == pytest.approx((-0.129, 0.129), abs=0.001)
    independent = 2 * 1.96 * (2 * 0.5 * 0.5 / 40) ** 0.5
    close = Difference.of_counts(19, 1, 1, 19)
    assert close.high - close.low < independent / 2


def test_an_interval_counts_bundles_and_what_is_measured_once_programs() -> None:
    calls = {name: Call(slower=False, seconds=2.0) for name in ("two numbers", "instructions")}
    found = [
        Judged("sort", bundle, plan.AS_FOUND, kind, calls, calls) for bundle in range(5) for kind in ("same", "edited")
    ]
    trial = Trial(found, {})
    two, once = (trial.rate(name, "own", plan.SAME) for name in ("two numbers", "instructions"))
    assert two is not None
    assert once is not None
    assert (two.of, two.independent, once.independent) == (10, 5, 1)
    assert trial.rate("two numbers", "own", ("plus-6",)) is None
    assert trial.rate("two numbers", "own", plan.SAME, loaded=True) is None
