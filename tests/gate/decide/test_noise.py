"""The next step where more builds make no sense: another metric of the run, or another host."""

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from gate.decide.next_steps import next_step
from gate.model import Family, Finding, Recorded, Report, RulesSource
from gate.model.evidence import Pace
from gate.model.history import Control
from gate.model.reasons import FewBuilds
from gate.model.report import NextPlan, View
from gate.model.warnings.hosts import HostEvent
from gate.words import reports
from tests.gate.report import examples

BUSY, STEAL = HostEvent("cpu pressure", "", 0.93), HostEvent("steal", "", 0.2)
PLAN = {"builds": 12, "executions": 5, "iterations": 10, "budget": "5m"}


def noisy(name: str = "a", **changes: Any) -> Finding:
    """An undecided finding; of what no builds decide unless their number is given."""
    changes = {"reason": examples.wide(hopeless="more_builds" not in changes), **changes}
    return examples.finding(name, "inconclusive", estimate=1.1, half=0.3, **changes)


def of_commands(
    *names: str, half: float = 0.03, metrics: Sequence[str] = ("user", "system"), ratio: float = 1.1
) -> list[Recorded]:
    interval = examples.interval(ratio, half)
    return [examples.recorded(name, metric, unit="s", ratio=interval) for name in names or "a" for metric in metrics]


def report(
    *found: Finding,
    recorded: Sequence[Recorded] = (),
    warnings: Sequence[Any] = (BUSY,),
    plan: Any = PLAN,
    pace: float = 5.0,
    **facts: Any,
) -> Report:
    run = examples.run_facts(
        settings={"plan": plan}, pace=Pace(once=1.0, round=pace), again=["decide", ".perfgate"],
        typed=["check", "--benchmark", "a"], **facts,
    )  # fmt: skip
    of = examples.report("inconclusive", list(found or [noisy()]), run=run)
    return replace(of, recorded=list(recorded), warnings=list(warnings))


def details(*found: Finding, **changes: Any) -> dict[str, Any]:
    chosen = next_step(report(*found, **changes))
    assert chosen is not None and chosen.kind == "reduce-noise", chosen
    return chosen.details


def kind(*found: Finding, **changes: Any) -> str:
    return getattr(next_step(report(*found, **changes)), "kind", "")


def test_a_recorded_metric_that_is_much_narrower_decides_the_same_run() -> None:
    asked = details(recorded=of_commands())
    assert [asked[key] for key in ("metric", "findings", "may_be_worse")] == ["user", 1, 1]
    assert reports.next_step(report(recorded=of_commands())) == (
        "Decide by user time, which this run recorded and which decides it (user time leaves out waits, disk, system calls "
        "and other processes): `perfgate decide .perfgate --set 'plan.metrics=[\"user\"]'`"
    )


def test_what_a_benchmark_names_itself_is_changed_there() -> None:
    names = ("a/x", "a/y")
    asked = report(*map(noisy, names), recorded=of_commands(*names), tables=dict.fromkeys(names, "a"))
    assert reports.next_step(asked).endswith('processes): write `metrics = ["user"]` in the `[[benchmark]]` of a')
    base = replace(asked, policy=examples.policy(whose=RulesSource(kind="base")))
    assert "in the `[[benchmark]]` of a. It takes effect once" in reports.next_step(base)


@pytest.mark.parametrize(
    ("ratio", "half", "comparisons", "decides"),
    [
        (1.1, 0.03, 1, True),  # a regression
        (1.06, 0.028, 1, True),
        (1.06, 0.028, 50, False),  # after correction for 50 comparisons none
        (1.0, 0.025, 1, True),  # the same
        (1.02, 0.03, 1, True),  # one of 10% would have shown
        (1.02, 0.06, 1, False),  # not of that size
        (0.9, 0.03, 1, True),  # an improvement
    ],
)
def test_a_metric_is_named_where_it_would_decide(ratio: float, half: float, comparisons: int, decides: bool) -> None:
    asked = report(recorded=of_commands(half=half, ratio=ratio), warnings=())
    chosen = next_step(replace(asked, family=Family(method="holm", size=comparisons)))
    assert (chosen is not None and chosen.kind == "reduce-noise" and chosen.details["metric"] == "user") == decides


def test_it_has_to_decide_most_and_to_be_recorded_of_all() -> None:
    both = [noisy("a"), noisy("b")]
    exact = examples.interval(1.1, 0.0, method="exact")
    for recorded, metric in (
        (of_commands("a", "b", half=0.25), None),
        (of_commands("a"), None),
        (of_commands("a", "b"), "user"),
        ([examples.recorded(name, "instructions", unit="", ratio=exact) for name in "ab"], "instructions"),
        # memory is no measure of what a program does
        ([examples.recorded(name) for name in "ab"], None),
        (of_commands("a", "b", metrics=("active", "user")), "active"),
    ):
        assert details(*both, recorded=recorded)["metric"] == metric
    # nor active time where several tasks do the work of a benchmark
    tree = noisy("b", view=View(why="tasks", times=None))
    assert details(noisy("a"), tree, recorded=of_commands("a", "b", metrics=("active", "user")))["metric"] == "user"


@pytest.mark.parametrize(
    ("priority", "loaded", "root"),
    [
        (None, (BUSY,), False),
        (None, (STEAL,), False),
        (None, (), False),
        # root helps where what is measured waits for other programs
        (0, (BUSY,), True),
        (-20, (BUSY,), False),
        (5, (BUSY,), False),
        (0, (), False),
    ],
)
def test_where_nothing_decides_a_quieter_host_would(priority: int | None, loaded: tuple[Any, ...], root: bool) -> None:
    host: dict[str, Any] = {} if priority is None else {"host": {"priority": priority}}
    said = reports.next_step(report(recorded=of_commands(half=0.3), warnings=loaded, **host))
    quieter = "a quieter host (`perfgate doctor` examines it): more measuring would not help"
    before = (
        "Measure as root (a container needs SYS_NICE), whose programs go before others, or use " if root else "Use "
    )
    assert said.startswith(f"{before}{quieter}")
    assert ("waited for a processor 93.0% of the time" in said) is (loaded == (BUSY,))


@pytest.mark.parametrize(
    ("starts", "warnings", "itself"),
    [
        (0.4, (BUSY,), True),
        (0.4, (), True),
        (0.1, (BUSY,), False),  # one after the other they agree: the host, or the layout
        (0.4, (STEAL,), False),
        (None, (BUSY,), False),
    ],
)
def test_work_that_differs_needs_no_other_host(starts: float | None, warnings: tuple[Any, ...], itself: bool) -> None:
    halves = None if starts is None else Control(ratio=1.0, low=1 - starts, high=1 + starts, rounds=6, alarmed=False)
    found = noisy(metric="active", control=halves)
    said = reports.next_step(report(found, recorded=of_commands(half=0.3), warnings=warnings))
    assert said.startswith("Give the program the same work" if itself else "Use a quieter host"), said
    assert ("perfgate doctor" in said) is not itself
    assert said.endswith("so neither host nor more measuring helps") is itself
    # of waits its CPU time knows nothing, and decides
    waits = report(found, recorded=of_commands(half=0.02), warnings=warnings)
    assert reports.next_step(waits).startswith("Decide by user time")


def test_more_builds_are_the_advice_where_they_are_few_and_the_host_is_quiet() -> None:
    few = noisy(more_builds=6)
    assert kind(few, recorded=of_commands(ratio=1.02), warnings=()) == "more-builds"
    # what the run shows already costs nothing, and on a host that others load what hardly minds them comes first
    for warnings in ((), (BUSY,)):
        assert details(few, recorded=of_commands(), warnings=warnings)["metric"] == "user"
    # where there is nothing else, a few builds are better than none
    assert kind(few) == kind(few, recorded=of_commands(half=0.3)) == "more-builds"
    # and no metric decides of too few builds
    assert kind(noisy(more_builds=2, reason=FewBuilds(needs=5, has=3)), recorded=of_commands()) == "more-builds"


def test_builds_that_take_too_long_or_decide_too_little_are_no_advice() -> None:
    found = [*(noisy(f"case-{n}") for n in range(20)), noisy("b", more_builds=65)]
    chosen = details(*found)
    assert (chosen["builds"], chosen["may_be_worse"], chosen["waited"]) == (70, 21, 0.93)
    said = reports.next_step(report(*found))
    assert "--set" not in said and "70 builds of each would decide only 1 of 21, and take about 5 min 51 s" in said
    many = noisy(more_builds=55)
    assert kind(many, warnings=()) == "more-builds"
    # 60 builds of 21 s are more than four times five minutes, and of 61 s more than an hour
    assert details(many, warnings=(), pace=21.0)["seconds"] == 1261.0
    assert details(many, warnings=(), pace=61.0, plan=PLAN | {"budget": "55m"})["seconds"] == 3661.0


@pytest.mark.parametrize(("builds", "executions", "taken"), [(4, 6, False), (4, 7, True), (6, 1, True)])
def test_a_plan_of_less_than_the_run_would_not_decide_it(builds: int, executions: int, taken: bool) -> None:
    plan = NextPlan(builds=builds, executions=executions, iterations=1, seconds=4.0)
    asked = report(noisy(more_builds=20), warnings=())
    counts = asked.findings[0].base.counts
    assert (counts.build, counts.execution) == (5, 25)
    chosen = next_step(replace(asked, run=replace(asked.run, plan=plan)))
    assert chosen is not None and chosen.kind == "more-builds"
    assert chosen.details["builds"] == (builds if taken else 25)
