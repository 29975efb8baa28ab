"""The search for a plan, against brute force over all counts."""

import itertools

import msgspec
import pytest

from gate.stats.cheapest import cheapest
from gate.stats.planning import (
    Aim,
    CheapestPlan,
    Components,
    Costs,
    Counts,
    Interval,
    PlanLimits,
    PlannedCase,
    Terms,
    half_width,
    seconds,
)
from gate.stats.power import power
from gate.stats.sequential import look_rounds, spending
from gate.stats.shared_variance import expected_degrees
from tests.support.samples import there

ALPHA = 0.05
FIXED = PlanLimits(early=False)
ONE = Terms(ALPHA, family=1, min_builds=5, interval="fieller")
PARSE = PlannedCase("parse", Components(0.02, 0.0004, 0.0002), Costs(10, 0.1, 0.5, 0.05), 0.03, (Aim(0.03),))
ENCODE = PlannedCase("encode", Components(0.004, 0.0, 0.0009), Costs(10, 0.0, 0.2, 0.2), 0.03, (Aim(0.04),))


def brute(cases: list[PlannedCase], terms: Terms, most: tuple[int, int, int]) -> tuple[float, Counts]:
    """The cheapest fixed design whose half-widths are narrow enough, over all counts."""
    found = []
    for b, e, i in itertools.product(range(5, most[0] + 1), range(1, most[1] + 1), range(1, most[2] + 1)):
        counts = Counts(b, e, i)
        halves = [half_width(c.components, counts, ALPHA, terms.interval_of(c, b)) for c in cases]
        if all(half <= (c.aims[0].half_width or 0) for half, c in zip(halves, cases, strict=True)):
            found.append((seconds(cases, counts), counts))
    return min(found, key=lambda pair: pair[0])


def planned(cases: list[PlannedCase], terms: Terms, limits: PlanLimits, *, reached: bool = True) -> CheapestPlan:
    plan = there(cheapest(cases, terms, limits))
    assert plan.reached == reached
    return plan


@pytest.mark.parametrize("cases", [[PARSE], [ENCODE], [PARSE, ENCODE]], ids=lambda cases: str(len(cases)))
@pytest.mark.parametrize("interval", ["fieller", "fieller-paired", "auto"])
def test_no_fixed_design_is_cheaper(cases: list[PlannedCase], interval: str) -> None:
    terms = Terms(ALPHA, len(cases), 5, interval)  # type: ignore[arg-type]  # parametrized
    limits = PlanLimits(builds=10, executions=12, iterations=30, early=False)
    plan = planned(cases, terms, limits)
    time, counts = brute(cases, terms, (10, 12, 30))
    assert plan.most == pytest.approx(time)
    assert seconds(cases, plan.counts) == pytest.approx(time)
    assert (plan.looks, plan.expected) == ((counts.builds,), plan.most)


def test_benchmarks_share_builds_and_cases_share_executions() -> None:
    counts = Counts(3, 2, 4)
    alone = [seconds([case], counts) for case in (PARSE, ENCODE)]
    together = seconds([PARSE, ENCODE, PARSE], counts)
    assert together == pytest.approx(sum(alone) - 2 * 3 * 10)
    # 2 sides x 3 builds x (10 s + 2 executions of 0.6 s and 4 iterations of 0.05 s)
    assert alone[0] == pytest.approx(6 * (10 + 2 * (0.6 + 0.2)))


def test_memory_needs_fewer_builds() -> None:
    def builds_with(degrees: float) -> int:
        components, costs = Components(0.005, 0.0, 0.00004), Costs(1200, 0, 1, 0.1)
        case = PlannedCase("x", components, costs, 0.02, (Aim(None, 0.05, 0.6),), degrees=degrees)
        return planned([case], Terms(ALPHA, 1, 5), FIXED).counts.builds

    assert builds_with(0) == 5 > builds_with(20)


def test_a_plan_finds_the_change_it_is_for_and_a_family_asks_for_more() -> None:
    case = msgspec.structs.replace(PARSE, threshold=0.02, aims=(Aim(None, 0.08, 0.9), Aim(None, 0.05, 0.3)))
    plan = planned([case], ONE, FIXED)
    for aim in case.aims:
        found = power(
            case.components, plan.counts, aim.change, threshold=0.02, alpha=ALPHA, interval=Interval("fieller"),
            min_builds=5,
        )  # fmt: skip
        assert found >= aim.power - 1e-6
    assert planned([case], Terms(ALPHA, 20, 5, "fieller"), FIXED).most > 1.3 * plan.most


def test_a_quantile_has_enough_values_and_a_budget_below_min_builds_reaches_nothing() -> None:
    case = PlannedCase("x", Components(0, 0, 0.0002), PARSE.costs, 0.03, (Aim(0.03),), values=1000)
    plan = planned([case], ONE, FIXED)
    assert plan.executions * plan.iterations >= 1000
    # a budget below min_builds reaches nothing, whatever the width
    still = PlannedCase("x", Components(1e-9, 0, 1e-9), Costs(10, 0, 0, 1), 0.03, (Aim(0.03),))
    assert planned([still], ONE, PlanLimits(budget=70.0), reached=False).counts.builds < 5
    assert cheapest([still], ONE, PlanLimits(budget=43.0)) is None


def test_what_does_not_fit_the_budget_comes_as_near_as_it_can() -> None:
    budget = 0.8 * planned([PARSE], ONE, FIXED).most
    short = planned([PARSE], ONE, PlanLimits(early=False, budget=budget), reached=False)
    assert short.most <= budget
    every = itertools.product(range(5, 12), range(1, 20), range(1, 60))
    within = [Counts(*each) for each in every if seconds([PARSE], Counts(*each)) <= budget]
    best = min(half_width(PARSE.components, counts, ALPHA, Interval("fieller")) for counts in within)
    # a tenth of the variance is none
    assert half_width(PARSE.components, short.counts, ALPHA, Interval("fieller")) <= 1.06 * best
    for seconds_ in (60.0, 333.0):
        plan = cheapest([PARSE, ENCODE], ONE, PlanLimits(budget=seconds_))
        assert plan is None or plan.most <= seconds_ * (1 + 1e-9)


def test_looks_are_those_of_the_range_in_the_config() -> None:
    steady = Components(0.01, 0, 0.00001)
    case = PlannedCase("x", steady, Costs(60, 0, 0.5, 0.05), 0.02, (Aim(None, 0.1, 0.97),), degrees=20)
    plan, fixed = (planned([case], Terms(ALPHA, 1, 5), limits) for limits in (PlanLimits(), FIXED))
    # a memory that is given up in a seventh of the runs needs the 5 builds that all may need, but seldom do
    assert fixed.counts.builds == 5
    assert plan.expected < 0.9 * fixed.most
    assert len(plan.looks) > 1
    assert plan.looks == look_rounds(plan.looks[0], plan.looks[-1])
    assert plan.looks[0] >= 2
    assert plan.expected < plan.most


def test_early_stopping_is_counted_at_its_own_levels() -> None:
    terms = Terms(ALPHA, 4, 5, "fieller-paired")
    interval = terms.interval_of(PARSE, 8)
    looks = (4, 6, 8)
    design = spending(looks)
    assert terms.family_levels(looks, interval) == tuple(design.nominal(k, ALPHA / 4, paired=True) for k in range(3))
    assert terms.nominal_levels(looks, interval)[-1] == design.nominal(2, ALPHA, paired=True)
    assert terms.nominal_levels((8,), interval) == (ALPHA,)


def test_intervals_are_chosen_as_the_gate_does() -> None:
    calibrated = PlannedCase("x", PARSE.components, PARSE.costs, 0.03, (Aim(0.03),), shared=0.0001, degrees=12)
    auto = Terms(ALPHA, 1, 5)
    assert auto.interval_of(calibrated, 5) == Interval("fieller-moderated", 0.0001, 12, paired=True)
    assert auto.interval_of(PARSE, 6).method == "paired"
    assert auto.interval_of(PARSE, 3).method == "fieller"
    shared = Terms(ALPHA, 20, 5, cases=20).interval_of(PARSE, 6)
    assert shared == Interval("paired-shared", PARSE.shared, expected_degrees(20, 6))
    assert Terms(ALPHA, 20, 5, "paired", cases=20).interval_of(PARSE, 6).method == "paired"
    for name in ("fieller", "fieller-kj", "fieller-paired", "paired"):
        assert Terms(ALPHA, 1, 5, name).interval_of(calibrated, 4).method == name


def test_a_case_without_an_aim_is_paid_for_and_asks_for_nothing() -> None:
    fixed = PlanLimits(builds=10, executions=12, iterations=30, early=False)
    noisy = msgspec.structs.replace(ENCODE, components=Components(9.0, 9.0, 9.0), aims=())
    alone, plan = planned([PARSE], ONE, fixed), planned([PARSE, noisy], ONE, fixed)
    assert plan.most == pytest.approx(seconds([PARSE, noisy], plan.counts))
    assert plan.most > alone.most
    for nothing in ([PARSE, noisy], []):
        with pytest.raises(ValueError, match="nothing to plan"):
            cheapest(nothing, ONE, PlanLimits(early=True))
