"""What a trial computes: seconds of an execution as planned, of rounds, and what budgets are enough for."""

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from gate.commands.try_.executions import Ran, cases_of, planned_seconds
from gate.commands.try_.plans import plans, round_cost
from gate.commands.try_.result import Built, Case, Plans, RoundCost, Tried
from gate.config.config_text import from_tables
from gate.config.parse import parse
from gate.config.types import Config
from gate.model import Execution, Metric
from gate.run import preview
from harness.loop.execution import Executed

BUILT = Built(
    command="make", setup=2.0, seconds=30.0, later=1.0, relinks=True, full=None, artifacts=("app",), needs_git=False,
    compiled=None, kept=False,
)  # fmt: skip


def rules(**tables: Any) -> Config:
    """A program whose starts a check counts itself."""
    return parse(from_tables({"benchmark": [{"name": "a", "command": "x"}], **tables}, "here"))


def config(**plan: Any) -> Config:
    benchmarks = [
        {"name": "a", "command": "a", "instrument": "spawn"},
        {"name": "b", "command": "b", "instrument": "callgrind"},
    ]
    table = {"builds": {"min": 4, "max": 12}, "executions": 5, "iterations": 10, "budget": "10m", **plan}
    return rules(plan=table, benchmark=benchmarks, gate={"threshold": "3%"})


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


def costs(each: Tried, of: Config, built: Built = BUILT) -> RoundCost:
    found = round_cost(built, [each], of)
    assert found is not None
    return found


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
    # a head that is kept is not compiled again, and what its build took is what base's takes
    kept = msgspec.structs.replace(BUILT, kept=True)
    assert costs(tried(), config(), kept).once == 2.0 + 29.0 + 1.0
    again = msgspec.structs.replace(kept, setup=None, seconds=1.0, compiled=33.0)
    assert costs(tried(), config(), again).once == 33.0 - 1.0


ACTIVE = Case(benchmark="a", metric="active", unit="s", mean=0.02, spread=0.2, values=10, decided=True, exact=False)
STARTED = Tried(benchmark="a", instrument="spawn", cases=(ACTIVE,), execution=0.3, iteration=0.025)


def planned(cost: RoundCost, each: Tried, of: Config) -> Plans:
    found = plans(cost, [each], of)
    assert found is not None
    return found


def test_what_a_check_counts_is_counted_by_what_was_tried() -> None:
    found = rules(gate={"threshold": "3%"})
    quiet = msgspec.structs.replace(STARTED, cases=(msgspec.structs.replace(ACTIVE, spread=0.004),))
    cost = costs(quiet, found)
    # five seconds are as long as 100 starts of both sides
    assert cost.starts == {"a": 50}
    assert cost.executions == pytest.approx(2 * 50 * 0.025)
    more = costs(STARTED, found)
    assert more.starts == {"a": 200}
    fit = planned(more, STARTED, found).fit
    assert (fit.executions, fit.iterations, fit.first, fit.builds) == (200, 1, 4, 56)
    assert (fit.sooner, fit.seconds) == (more.of(4), more.of(56))
    assert costs(STARTED, rules(plan={"starts": 30})).starts == {"a": 30}


def test_a_burst_asks_for_no_more_starts_than_a_check_would_count() -> None:
    def starts(*values: float) -> int:
        metrics = {
            "time": Metric(unit="s", values=list(values), better="lower"),
            "active": Metric(unit="s", values=list(values), better="lower", view_of="time", sharp=True),
        }
        ran = Execution(benchmark="a", side="head", build=0, execution=0, metrics=metrics)
        own = Tried(
            benchmark="a", instrument="spawn", cases=tuple(cases_of(ran, rules())), execution=1.0, iteration=0.1
        )
        return costs(own, rules()).starts["a"]

    calm = [0.01002, 0.01000, 0.01004, 0.01003, 0.00998, 0.00997, 0.01001, 0.01004, 0.01000, 0.00999]
    least = starts(*calm)
    assert starts(*calm[:4], 0.03, *calm[5:]) == least < 60
    # a host that gets slower is no noise of the starts
    assert starts(*(value * (1 + number / 50) for number, value in enumerate(calm))) == least


def test_a_check_names_the_builds_that_the_trial_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = rules(plan={"budget": "5m"})
    cost = RoundCost(once=41.0, builds=2.9, executions=16.1, least=False)
    fit = planned(cost, tried(), found).fit
    monkeypatch.setattr(preview, "expected_seconds", lambda job, rounds: cost.of(rounds))
    project = SimpleNamespace(settings=SimpleNamespace(rules=found))
    job: Any = SimpleNamespace(project=project, rounds=range(56), run=SimpleNamespace(looks=56))
    assert preview._rounds(job) == (fit.first, fit.builds) == (4, 12)


COST = RoundCost(once=40.0, builds=2.0, executions=18.0, least=False)


def fit_of(each: Tried, cost: RoundCost = COST, **plan: Any) -> Any:
    found = planned(cost, each, config(**plan))
    assert found.basis == ("exact" if each.cases[0].exact else "one-build")
    return found.fit


def test_budgets_and_what_they_find() -> None:
    few, own = fit_of(tried(), budget="5m"), fit_of(tried())
    # 90% of 5 min are 40 s and 11 rounds of 20 s
    assert (few.builds, few.seconds) == (11, 260.0)
    # no more than the plan has; without a most no more than any check has, which take 19 minutes
    most = fit_of(tried(), budget="1h", builds={"min": 4})
    assert (own.builds, most.builds, most.seconds) == (12, 56, 1160.0)
    assert 0.03 < most.finds < own.finds < few.finds < 0.06


def test_few_builds_call_no_regression_and_a_budget_may_hold_none() -> None:
    few, none = (
        fit_of(tried(), msgspec.structs.replace(COST, executions=seconds), budget="5m") for seconds in (58.0, 298.0)
    )
    assert (few.builds, few.finds) == (3, None)
    assert (none.builds, none.seconds, none.finds) == (0, 340.0, None)


def test_without_a_spread_nothing_is_promised() -> None:
    found = fit_of(tried(cases=(case(spread=None),)))
    assert (found.builds, found.finds, found.unknown, found.hardest) == (12, None, True, "a")
    # a quiet case beside it does not make it known
    both = fit_of(tried(cases=(case(spread=None), case("b", spread=0.01))))
    assert (both.finds, both.unknown, both.hardest) == (None, True, "a")
    # what is zero has no noise to plan by, and exact counts find what is beyond the threshold
    zero = fit_of(tried(cases=(case(), case(metric="zero", mean=0.0, spread=None))))
    assert not zero.unknown and zero.finds is not None
    assert fit_of(tried("b", cases=(case("b", None, exact=True),))).finds == 0.03


def test_noise_and_what_differs_between_executions_find_less() -> None:
    same = case(spread=0.01), case(spread=0.2), case(spread=0.2, executions=5)
    quiet, noisy, several = (fit_of(tried(cases=(each,))).finds for each in same)
    # what differs between executions is not divided by the iterations of the plan
    assert quiet < noisy < several
    # the direction is that of the noisiest
    found = fit_of(tried(cases=(same[0], case("b", spread=0.2, better="higher", metric="rate"))))
    assert (found.hardest, found.better) == ("b rate", "higher")


def enough(cost: RoundCost, spread: float = 0.02, **plan: Any) -> float | None:
    return planned(cost, tried(cases=(case(spread=spread),)), config(**plan)).enough


MUCH = msgspec.structs.replace(COST, executions=130.0)


def test_the_budget_that_would_be_enough() -> None:
    # 3 of the 5 builds of a regression fit 10 min; 40 s and 5 rounds of 132 s are 90% of 13 min
    assert enough(MUCH) == 13 * 60.0
    assert enough(MUCH, budget="13m") is None
    # no budget is enough for a plan of too few builds
    assert enough(COST) is enough(MUCH, builds=4) is None


@pytest.mark.parametrize("plan", [{}, {"builds": 6}])
def test_what_is_said_to_be_enough_finds_something(plan: dict[str, Any]) -> None:
    plan = {**plan, "executions": 1, "iterations": 1}
    found = enough(MUCH, spread=0.5, **plan)
    assert found is not None
    assert fit_of(tried(cases=(case(spread=0.5),)), MUCH, **plan, budget=f"{found:.0f}s").finds is not None


def test_without_values_there_is_no_plan() -> None:
    too_long, undecided = tried(cases=(), longer_than=12.0), tried(cases=(case(decided=False),))
    for each in (too_long, undecided, tried(cases=(), execution=None)):
        assert plans(msgspec.structs.replace(COST, least=each is too_long), [each], config()) is None


def leaner(cost: RoundCost, *each: Tried, **plan: Any) -> Any:
    found = plans(cost, each, config(**plan))
    assert found is not None
    return found.leaner


def executing(seconds: float) -> RoundCost:
    return RoundCost(once=0.0, builds=0.0, executions=seconds, least=False)


def test_where_too_few_builds_fit_fewer_executions_and_iterations_are_named() -> None:
    # 5 executions of 1 + 10 values of 2 s, and 2 s of start, on both sides: 540 s of the budget are two rounds
    long = tried(execution=24.0, iteration=2.0)
    cost = executing(240.0)
    found = leaner(cost, long)
    # 12 rounds of at most 45 s
    assert (found.builds, found.executions, found.iterations) == (12, 1, 5)
    assert found.seconds == pytest.approx(12 * 2 * (24.0 - 5 * 2.0))
    assert found.finds is not None
    # enough builds need none
    assert leaner(COST, tried()) is None
    assert leaner(cost, long, budget="1h") is None
    # 5 of 12 rounds fit as configured, which no leaner plan changes
    alone = executing(100.0)
    assert leaner(alone, tried(execution=50.0), executions=1) is None
    # nor does one of which fewer iterations take no less, or whose plan has too few builds
    assert leaner(msgspec.structs.replace(cost, executions=2400.0), tried(execution=240.0)) is None
    assert leaner(cost, long, builds=3) is None
    # nor one that finds nothing
    assert leaner(cost, tried(execution=24.0, iteration=2.0, cases=(case(spread=20.0),))) is None


def test_where_not_all_builds_fit_as_many_as_a_regression_needs_must() -> None:
    long = tried(execution=90.0, iteration=2.0)
    # one execution of one iteration takes 72 s on each side: three such rounds fit
    assert leaner(executing(900.0), long) is None
    found = leaner(executing(900.0), long, budget="20m")
    assert (found.builds, found.executions, found.iterations) == (6, 1, 10)


def test_what_counts_is_executed_once_a_build_with_any_plan() -> None:
    starts = tried(execution=10.0, iteration=0.9)
    assert leaner(executing(2 * (5 * 10.0 + 60.0)), starts, tried("b", 60.0)) is None
    found = leaner(executing(2 * (5 * 10.0 + 20.0)), starts, tried("b", 20.0))
    assert (found.builds, found.executions, found.iterations) == (12, 1, 1)


def test_a_sharper_view_is_what_a_check_would_go_by() -> None:
    for sharp in (True, False):
        active = Metric(unit="s", values=[0.01, 0.0101], view_of="time", sharp=sharp)
        metrics = {"time": Metric(unit="s", values=[0.01, 0.03]), "active": active}
        made = Execution(benchmark="a", side="head", build=0, execution=0, metrics=metrics)
        assert {each.metric: each.decided for each in cases_of(made, config())} == {"time": not sharp, "active": sharp}
