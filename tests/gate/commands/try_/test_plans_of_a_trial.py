"""What a trial computes: seconds of an execution as planned, of rounds, and what budgets are enough for."""

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from gate.commands.try_.executions import Ran, cases_of, planned_seconds
from gate.commands.try_.plans import plans, round_cost
from gate.commands.try_.result import Built, Case, RoundCost, Tried
from gate.config.config_text import from_tables
from gate.config.parse import parse
from gate.config.types import Config
from gate.model import Execution, Metric
from gate.run import preview
from gate.run.duration import Expected
from harness.loop.execution import Executed

BUILT = Built(
    command="make",
    setup=2.0,
    seconds=30.0,
    later=1.0,
    relinks=True,
    full=None,
    artifacts=("app",),
    needs_git=False,
    compiled=None,
    kept=False,
)


def config(**plan: Any) -> Config:
    benchmarks = [
        {"name": "a", "command": "a", "instrument": "spawn"},
        {"name": "b", "command": "b", "instrument": "callgrind"},
    ]
    table = {"builds": {"min": 4, "max": 12}, "executions": 5, "iterations": 10, "budget": "10m", **plan}
    return parse(from_tables({"plan": table, "benchmark": benchmarks, "gate": {"threshold": "3%"}}, "here"))


def case(benchmark: str = "a", spread: float | None = 0.02, **more: Any) -> Case:
    made = Case(
        benchmark=benchmark, metric="time", unit="s", mean=0.1, spread=spread, values=5, decided=True, exact=False
    )
    return msgspec.structs.replace(made, **more)


def tried(benchmark: str = "a", execution: float | None = 1.0, **more: Any) -> Tried:
    made = Tried(benchmark=benchmark, instrument="spawn", cases=(case(benchmark),), execution=execution)
    return msgspec.structs.replace(made, **more)


def ran(asked: int, seconds: float, values: list[float] | None = None) -> Ran:
    metrics = {"count": Metric(unit="", better="lower", values=[1.0] * asked)}
    if values is not None:
        metrics = {"time": Metric(unit="s", better="lower", values=values)}
    made = Execution(benchmark="a", side="head", build=0, execution=0, seconds=seconds, metrics=metrics)
    return Ran(asked, Executed([made], [], seconds))


@pytest.mark.parametrize(
    ("made", "wanted", "seconds"),
    [
        # 0.5 s of start, 0.2 s an iteration
        ([ran(5, 1.5, [0.2] * 5)], 20, 0.5 + 20 * 0.2),
        # what says no time: 3 s of compiling and 1 s a value
        ([ran(1, 4.0), ran(5, 8.0)], 20, 23.0),
        # a program that writes what it likes, and one whose first start filled a cache
        ([ran(1, 4.0), ran(5, 4.0)], 20, 4.0),
        ([ran(1, 9.0), ran(5, 4.0)], 20, 4.0),
        # Criterion was asked for 1 value and gave 10
        ([ran(1, 24.0, [2e-9] * 10)], 10, 24.0),
        ([ran(1, 24.0, [2e-9] * 10)], 20, 48.0),
        ([ran(2, 4.0)], 20, 40.0),
    ],
)
def test_seconds_of_an_execution_as_planned(made: list[Ran], wanted: int, seconds: float) -> None:
    assert planned_seconds(made, wanted) == pytest.approx(seconds)


def test_the_cost_of_rounds() -> None:
    cost = round_cost(BUILT, [tried(), tried("b", 4.0)], config())
    assert cost is not None
    # both sides: the checkout, what compiling takes longer than linking, and the check of the link
    assert cost.once == 2 * (2.0 + 29.0 + 1.0)
    assert cost.builds == 2.0
    # what counts exactly is executed once a build
    assert cost.executions == 2 * (5 * 1.0 + 4.0)
    assert not cost.least
    assert cost.of(3) == cost.once + 3 * 20.0
    assert round_cost(BUILT, [tried(execution=None, cases=())], config()) is None


KEPT = {
    # head is not compiled again, and what its build took is what base's takes
    "kept": (msgspec.structs.replace(BUILT, kept=True), 2.0 + 29.0 + 1.0),
    "again": (msgspec.structs.replace(BUILT, setup=None, seconds=1.0, compiled=33.0, kept=True), 33.0 - 1.0),
}


@pytest.mark.parametrize("name", KEPT)
def test_a_head_that_is_kept(name: str) -> None:
    cost = round_cost(KEPT[name][0], [tried()], config())
    assert cost is not None and cost.once == KEPT[name][1]


def test_what_a_check_counts_is_counted_by_what_was_tried() -> None:
    case = Case(benchmark="a", metric="active", unit="s", mean=0.02, spread=0.004, values=10, decided=True, exact=False)
    own = Tried(benchmark="a", instrument="spawn", cases=(case,), execution=0.3, iteration=0.025)
    found = parse(from_tables({"benchmark": [{"name": "a", "command": "x"}], "gate": {"threshold": "3%"}}, "here"))
    cost = round_cost(BUILT, [own], found)
    assert cost is not None
    # five seconds are as long as 100 starts of both sides
    assert cost.starts == {"a": 50}
    assert cost.executions == pytest.approx(2 * 50 * 0.025)
    noisy = msgspec.structs.replace(own, cases=(msgspec.structs.replace(case, spread=0.2),))
    more = round_cost(BUILT, [noisy], found)
    assert more is not None and more.starts == {"a": 200}
    made = plans(more, [noisy], found, None, {})
    assert made is not None
    (fit,) = (fit for fit in made.fits if fit.configured)
    assert (fit.executions, fit.iterations, fit.first, fit.builds) == (200, 1, 4, 56)
    assert (fit.sooner, fit.seconds) == (more.of(4), more.of(56))
    fixed = parse(from_tables({"benchmark": [{"name": "a", "command": "x"}], "plan": {"starts": 30}}, "here"))
    own_plan = round_cost(BUILT, [noisy], fixed)
    assert own_plan is not None and own_plan.starts == {"a": 30}


def test_another_budget_has_the_starts_that_a_check_would_count_within_it() -> None:
    case = Case(benchmark="a", metric="active", unit="s", mean=0.02, spread=0.2, values=10, decided=True, exact=False)
    own = Tried(benchmark="a", instrument="spawn", cases=(case,), execution=0.3, iteration=0.025)

    def within(budget: str) -> Config:
        tables = {"benchmark": [{"name": "a", "command": "x"}], "plan": {"budget": budget}}
        return parse(from_tables(tables, "here"))

    least, most = (round_cost(BUILT, [own], within(budget)) for budget in ("90s", "1h"))
    assert least is not None and most is not None
    made = plans(least, [own], within("90s"), None, {})
    assert made is not None
    # ten are what it affords; a larger one has more starts, and not only more builds
    assert [(fit.budget, fit.executions) for fit in made.fits] == [(90.0, 10), (300.0, 200), (840.0, 200)]
    assert made.fits[-1].seconds == most.of(made.fits[-1].builds)


def test_a_burst_asks_for_no_more_starts_than_a_check_would_count() -> None:
    rules = parse(from_tables({"benchmark": [{"name": "a", "command": "x"}]}, "here"))

    def starts(*values: float) -> int:
        metrics = {
            "time": Metric(unit="s", values=list(values), better="lower"),
            "active": Metric(unit="s", values=list(values), better="lower", view_of="time", sharp=True),
        }
        ran = Execution(benchmark="a", side="head", build=0, execution=0, metrics=metrics)
        own = Tried(benchmark="a", instrument="spawn", cases=tuple(cases_of(ran, rules)), execution=1.0, iteration=0.1)
        cost = round_cost(BUILT, [own], rules)
        assert cost is not None
        return cost.starts["a"]

    calm = [0.01002, 0.01000, 0.01004, 0.01003, 0.00998, 0.00997, 0.01001, 0.01004, 0.01000, 0.00999]
    least = starts(*calm)
    assert starts(*calm[:4], 0.03, *calm[5:]) == least < 60
    # a host that gets slower is no noise of the starts
    assert starts(*(value * (1 + number / 50) for number, value in enumerate(calm))) == least


def test_a_check_names_the_builds_that_the_trial_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = parse(from_tables({"benchmark": [{"name": "a", "command": "x"}], "plan": {"budget": "5m"}}, "here"))
    cost = RoundCost(once=41.0, builds=2.9, executions=16.1, least=False)
    made = plans(cost, [tried()], found, None, {})
    assert made is not None
    (fit,) = (fit for fit in made.fits if fit.configured)

    def after(job: Any, rounds: int) -> Expected:
        return Expected(cost.of(rounds), "memory")

    monkeypatch.setattr(preview, "_expected", after)
    settings = SimpleNamespace(rules=found)
    run = SimpleNamespace(looks=56)
    job: Any = SimpleNamespace(project=SimpleNamespace(settings=settings), rounds=range(56), run=run)
    assert preview._rounds(job) == (fit.first, fit.builds) == (4, 12)


COST = RoundCost(once=40.0, builds=2.0, executions=18.0, least=False)


def fits(each: Tried, cost: RoundCost = COST, **plan: Any) -> dict[float, Any]:
    found = plans(cost, [each], config(**plan), None, {})
    assert found is not None
    assert found.basis == ("exact" if each.cases[0].exact else "one-build")
    return {fit.budget: fit for fit in found.fits}


def test_budgets_and_what_they_find() -> None:
    found = fits(tried())
    # 90% of 5 min are 40 s and 11 rounds of 20 s
    assert (found[300.0].builds, found[300.0].seconds) == (11, 260.0)
    # no more than the plan has
    assert (found[600.0].builds, found[600.0].configured) == (12, True)
    # an hour has room for more than the most builds, which take 19 minutes
    assert (found[1320.0].builds, found[1320.0].seconds, 3600.0 in found) == (56, 1160.0, False)
    assert 0.03 < found[1320.0].finds < found[600.0].finds < found[300.0].finds < 0.06


def test_of_several_findings_the_quieter_half_has_a_number_of_its_own() -> None:
    spreads = (0.005, 0.01, 0.02, 0.2)
    cases = tuple(case(metric=f"m{n}", spread=spread) for n, spread in enumerate(spreads))
    rules = parse(from_tables({"benchmark": [{"name": "a", "command": "a", "metrics": ["m*"]}]}, "here"))

    def own(*cases: Case) -> Any:
        found = plans(COST, [tried(cases=cases)], rules, None, {})
        return found and next(each for each in found.fits if each.configured)

    found = own(*cases)
    assert found.hardest == "a m3"
    assert own(*cases[:2]).finds < found.half < found.finds
    # of two the noisier one is all that there is to say
    assert fits(tried())[600.0].half is None


def test_few_builds_call_no_regression_and_a_budget_may_hold_none() -> None:
    found = fits(tried(), cost=RoundCost(once=40.0, builds=2.0, executions=58.0, least=False))[300.0]
    assert (found.builds, found.finds) == (3, None)
    none = fits(tried(), cost=RoundCost(once=40.0, builds=2.0, executions=298.0, least=False))
    assert (none[300.0].builds, none[300.0].seconds, none[300.0].finds) == (0, 340.0, None)
    assert none[600.0].builds == 1


def test_without_a_spread_nothing_is_promised() -> None:
    found = fits(tried(cases=(case(spread=None),)))[600.0]
    assert (found.builds, found.finds, found.unknown, found.hardest) == (12, None, True, "a")
    # a quiet case beside it does not make it known
    both = fits(tried(cases=(case(spread=None), case("b", spread=0.01))))[600.0]
    assert (both.finds, both.unknown, both.hardest) == (None, True, "a")


def test_what_is_zero_has_no_noise_to_plan_by() -> None:
    zero = msgspec.structs.replace(case(metric="zero"), mean=0.0, spread=None)
    found = plans(COST, [tried(cases=(case(), zero))], config(), None, {})
    assert found is not None
    assert not any(fit.unknown for fit in found.fits) and found.fits[-1].finds is not None


def test_noise_and_what_differs_between_executions_find_less() -> None:
    same = case(spread=0.01), case(spread=0.2), case(spread=0.2, executions=5)
    quiet, noisy, several = (fits(tried(cases=(each,)))[600.0].finds for each in same)
    # what differs between executions is not divided by the iterations of the plan
    assert quiet < noisy < several


def test_the_direction_is_that_of_the_noisiest() -> None:
    noisy = case("b", spread=0.2, better="higher", metric="rate")
    found = fits(tried(cases=(case(spread=0.01), noisy)))[600.0]
    assert (found.hardest, found.better) == ("b rate", "higher")


def enough(cost: RoundCost, spread: float = 0.02, **plan: Any) -> tuple[float | None, int | None] | None:
    found = plans(cost, [tried(cases=(case(spread=spread),))], config(**plan), None, {})
    assert found is not None
    return None if found.enough is None else (found.enough.budget, found.enough.builds)


def test_the_budget_that_would_be_enough() -> None:
    cost = RoundCost(once=40.0, builds=2.0, executions=130.0, least=False)
    # 3 of the 5 builds of a regression fit 10 min; 40 s and 5 rounds of 132 s are 90% of 13 min
    assert enough(cost) == (13 * 60.0, None)
    assert enough(cost, budget="13m") is None
    assert enough(COST) is None
    # of a plan of fewer builds they are raised, and the budget where it must be
    assert enough(cost, builds=4) == (13 * 60.0, 5)
    assert enough(cost, builds=4, budget="13m") == (None, 5)


@pytest.mark.parametrize("spread", [0.5, 2.0, 3.0])
@pytest.mark.parametrize("plan", [{}, {"builds": 6}, {"builds": 3, "budget": "1h"}])
def test_what_is_said_to_be_enough_finds_something(spread: float, plan: dict[str, Any]) -> None:
    cost = RoundCost(once=40.0, builds=2.0, executions=130.0, least=False)
    found = enough(cost, spread=spread, **plan, executions=1, iterations=1)
    own = config(**plan).plan
    if found is not None:
        budget, builds = found
        raised = {**plan, **({} if builds is None else {"builds": builds})}
        raised |= {} if budget is None else {"budget": f"{budget:.0f}s"}
        again = fits(tried(cases=(case(spread=spread),)), cost, **raised, executions=1, iterations=1)
        assert again[float(own.budget) if budget is None else budget].finds is not None
    assert found is not None or spread > 1


def test_exact_counts_find_what_is_beyond_the_threshold() -> None:
    found = fits(tried("b", cases=(case("b", None, exact=True),)))
    assert found[300.0].finds == 0.03


@pytest.mark.parametrize(
    ("each", "cost"),
    [
        (tried(cases=(), longer_than=12.0), msgspec.structs.replace(COST, least=True)),
        (tried(cases=(case(decided=False),)), COST),
        (tried(cases=(), execution=None), COST),
    ],
    ids=["too-long", "nothing-decided", "refused"],
)
def test_without_values_there_is_no_plan(each: Tried, cost: RoundCost) -> None:
    assert plans(cost, [each], config(), None, {}) is None


def leaner(cost: RoundCost, *each: Tried, **plan: Any) -> Any:
    found = plans(cost, each, config(**plan), None, {})
    assert found is not None
    return found.leaner


def test_where_too_few_builds_fit_fewer_executions_and_iterations_are_named() -> None:
    # 5 executions of 1 + 10 values of 2 s, and 2 s of start, on both sides: 540 s of the budget are two rounds
    long = tried(execution=24.0, iteration=2.0)
    cost = RoundCost(once=0.0, builds=0.0, executions=240.0, least=False)
    found = leaner(cost, long)
    # 12 rounds of at most 45 s
    assert (found.builds, found.executions, found.iterations) == (12, 1, 5)
    assert found.seconds == pytest.approx(12 * 2 * (24.0 - 5 * 2.0))
    assert found.finds is not None
    # enough builds need none
    assert leaner(COST, tried()) is None
    assert leaner(cost, long, budget="1h") is None
    # 5 of 12 rounds fit as configured, which no leaner plan changes
    alone = RoundCost(once=0.0, builds=0.0, executions=100.0, least=False)
    assert leaner(alone, tried(execution=50.0), executions=1) is None
    # nor does one of which fewer iterations take no less, or whose plan has too few builds
    assert leaner(msgspec.structs.replace(cost, executions=2400.0), tried(execution=240.0)) is None
    assert leaner(cost, long, builds=3) is None
    # nor one that finds nothing
    assert leaner(cost, tried(execution=24.0, iteration=2.0, cases=(case(spread=20.0),))) is None


@pytest.mark.endtoend
def test_of_many_cases_that_do_not_fit_some_are_to_be_chosen_rather_than_each_measured_less() -> None:
    cost = RoundCost(once=0.0, builds=0.0, executions=240.0, least=False)

    def found(count: int, spread: float | None) -> Any:
        cases = tuple(case(spread=spread, metric=f"m{number}") for number in range(count))
        return plans(cost, [tried(execution=24.0, iteration=2.0, cases=cases)], config(), None, {})

    # one value of each says nothing of its noise
    assert (found(60, None).leaner, found(60, None).choose) == (None, 60)
    assert (found(20, None).leaner is not None, found(20, None).choose) == (True, None)
    # a plan that finds something is one
    assert (found(60, 0.02).leaner is not None, found(60, 0.02).choose) == (True, None)


def test_where_not_all_builds_fit_as_many_as_a_regression_needs_must() -> None:
    long = tried(execution=90.0, iteration=2.0)
    found = leaner(RoundCost(once=0.0, builds=0.0, executions=900.0, least=False), long)
    # one execution of one iteration takes 72 s on each side: three such rounds fit
    assert found is None
    found = leaner(RoundCost(once=0.0, builds=0.0, executions=900.0, least=False), long, budget="20m")
    assert (found.builds, found.executions, found.iterations) == (6, 1, 10)


def test_a_plan_without_a_most_uses_its_budget() -> None:
    # 12 rounds of 20 s are four of ten minutes
    least = fits(tried(cases=(case(spread=0.1),)), executions=1, iterations=1, builds={"min": 4, "max": 12})[600.0]
    found = fits(tried(cases=(case(spread=0.1),)), executions=1, iterations=1, builds={"min": 4})[600.0]
    assert (least.builds, found.builds) == (12, 25)
    assert found.finds < 0.85 * least.finds


def test_what_counts_is_executed_once_a_build_with_any_plan() -> None:
    cost = RoundCost(once=0.0, builds=0.0, executions=2 * (5 * 10.0 + 60.0), least=False)
    assert leaner(cost, tried(execution=10.0, iteration=0.9), tried("b", 60.0)) is None
    cost = RoundCost(once=0.0, builds=0.0, executions=2 * (5 * 10.0 + 20.0), least=False)
    found = leaner(cost, tried(execution=10.0, iteration=0.9), tried("b", 20.0))
    assert (found.builds, found.executions, found.iterations) == (12, 1, 1)


def test_a_sharper_view_is_what_a_check_would_go_by() -> None:
    metrics = {
        "time": Metric(unit="s", values=[0.01, 0.03]),
        "active": Metric(unit="s", values=[0.01, 0.0101], view_of="time", sharp=True),
    }
    made = Execution(benchmark="a", side="head", build=0, execution=0, metrics=metrics)
    assert {each.metric: each.decided for each in cases_of(made, config())} == {"time": False, "active": True}
    several = {**metrics, "active": msgspec.structs.replace(metrics["active"], sharp=False)}
    shared = msgspec.structs.replace(made, metrics=several)
    assert {each.metric: each.decided for each in cases_of(shared, config())} == {"time": True, "active": False}
