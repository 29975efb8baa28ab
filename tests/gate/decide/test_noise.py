"""The next step where more builds make no sense: another metric of the run, or another host."""

from typing import Any

import msgspec
import pytest

from gate.decide.next_steps import next_step
from gate.model import Family, Finding, Report, Whose
from gate.model.controls import Control
from gate.model.evidence import Pace
from gate.model.reasons import FewBuilds
from gate.model.report import NextPlan, View
from gate.model.warnings.hosts import Pressure, Steal
from gate.words import reports
from tests.gate.report import examples

BUSY = Pressure("cpu", 0.93)
PLAN = {"builds": 12, "executions": 5, "iterations": 10, "budget": "5m"}


def noisy(name: str = "a", **changes: Any) -> Finding:
    return examples.finding(name, "inconclusive", estimate=1.1, half=0.3, **changes)


def of_a_command(
    name: str = "a", half: float = 0.03, metrics: tuple[str, ...] = ("user", "system"), ratio: float = 1.1
) -> list[Any]:
    interval = examples.interval(ratio, half)
    return [examples.recorded(name, metric, unit="s", ratio=interval) for metric in metrics]


def report(
    *found: Finding,
    recorded: tuple[Any, ...] = (),
    warnings: tuple[Any, ...] = (BUSY,),
    plan: Any = PLAN,
    pace: float = 5.0,
) -> Report:
    facts = examples.run_facts(
        settings={"plan": plan}, pace=Pace(once=1.0, round=pace), again=["decide", ".perfgate"],
        typed=["check", "--benchmark", "a"],
    )  # fmt: skip
    return msgspec.structs.replace(
        examples.report("inconclusive", list(found), run=facts), recorded=list(recorded), warnings=list(warnings)
    )


def step(*found: Finding, **changes: Any) -> dict[str, Any]:
    chosen = next_step(report(*found, **changes))
    assert chosen is not None and chosen.kind == "reduce-noise", chosen
    return chosen.details


def test_a_recorded_metric_that_is_much_narrower_decides_the_same_run() -> None:
    asked = report(noisy(reason=examples.wide(hopeless=True)), recorded=(*of_a_command(),))
    chosen = next_step(asked)
    assert chosen is not None and chosen.kind == "reduce-noise"
    assert [chosen.details[key] for key in ("metric", "findings", "may_be_worse")] == ["user", 1, 1]
    assert reports.next_step(asked) == (
        "Decide by user time, which this run recorded and which decides it (user time leaves out waits, disk, system calls "
        "and other processes): `perfgate decide .perfgate --set 'plan.metrics=[\"user\"]'`"
    )


def test_what_a_benchmark_names_itself_is_changed_there() -> None:
    wide = [noisy(name, reason=examples.wide(hopeless=True)) for name in ("a/x", "a/y")]
    asked = report(*wide, recorded=(*of_a_command("a/x"), *of_a_command("a/y")))
    own = msgspec.structs.replace(asked.run, tables={"a/x": "a", "a/y": "a"})
    asked = msgspec.structs.replace(asked, run=own)
    assert reports.next_step(asked).endswith('processes): write `metrics = ["user"]` in the `[[benchmark]]` of a')
    base = msgspec.structs.replace(asked, policy=examples.policy(whose=Whose(kind="base")))
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
def test_a_metric_is_named_only_where_its_interval_would_decide(
    ratio: float, half: float, comparisons: int, decides: bool
) -> None:
    asked = report(
        noisy(reason=examples.wide(hopeless=True)), recorded=(*of_a_command(half=half, ratio=ratio),), warnings=()
    )
    asked = msgspec.structs.replace(asked, family=Family(method="holm", size=comparisons))
    chosen = next_step(asked)
    assert (chosen is not None and chosen.kind == "reduce-noise" and chosen.details["metric"] == "user") == decides


def test_no_metric_decides_of_too_few_builds() -> None:
    few = FewBuilds(needs=5, has=3)
    assert (
        getattr(next_step(report(noisy(more_builds=2, reason=few), recorded=(*of_a_command(),))), "kind", "")
        == "more-builds"
    )


def test_it_has_to_decide_most_and_to_be_recorded_of_all() -> None:
    both = [noisy(name, reason=examples.wide(hopeless=True)) for name in "ab"]
    wide = (*of_a_command(half=0.25), *of_a_command("b", half=0.25))
    assert step(*both, recorded=wide)["metric"] is None
    assert step(*both, recorded=(*of_a_command(),))["metric"] is None
    assert step(*both, recorded=(*of_a_command(), *of_a_command("b")))["metric"] == "user"
    counted = [
        examples.recorded(name, "instructions", unit="", ratio=examples.interval(1.1, 0.0, method="exact"))
        for name in "ab"
    ]
    exact = step(*both, recorded=(*counted,))
    assert exact["metric"] == "instructions"
    # memory is no measure of what a program does
    assert step(*both, recorded=tuple(examples.recorded(name) for name in "ab"))["metric"] is None


@pytest.mark.parametrize("loaded", [(BUSY,), (Steal(share=0.2),), ()])
def test_where_no_metric_decides_and_no_builds_do_a_quieter_host_is_the_advice(loaded: tuple[Any, ...]) -> None:
    hopeless = report(noisy(reason=examples.wide(hopeless=True)), recorded=(*of_a_command(half=0.3),), warnings=loaded)
    said = reports.next_step(hopeless)
    assert said.startswith("Use a quieter host (`perfgate doctor` examines it): more measuring would not help")
    assert ("waited for a processor 93.0% of the time" in said) is (loaded == (BUSY,))


@pytest.mark.parametrize(
    ("priority", "loaded", "first"), [(0, (BUSY,), True), (-20, (BUSY,), False), (5, (BUSY,), False), (0, (), False)]
)
def test_root_is_the_advice_where_what_is_measured_waits_for_other_programs(
    priority: int, loaded: tuple[Any, ...], first: bool
) -> None:
    asked = report(noisy(reason=examples.wide(hopeless=True)), recorded=(*of_a_command(half=0.3),), warnings=loaded)
    facts = msgspec.structs.replace(asked.run, host={"priority": priority})
    said = reports.next_step(msgspec.structs.replace(asked, run=facts))
    assert (
        said.startswith("Measure as root (a container needs SYS_NICE), whose programs go before others, or use")
        is first
    )


@pytest.mark.parametrize(
    ("starts", "cpu", "warnings", "itself"),
    [
        (0.4, 0.3, (BUSY,), True),
        (0.4, 0.3, (), True),
        (0.1, 0.3, (BUSY,), False),  # one after the other they agree: the host, or the layout
        (0.4, 0.3, (Steal(share=0.2),), False),
        (None, 0.3, (BUSY,), False),
    ],
)
def test_a_program_whose_work_differs_from_start_to_start_needs_no_other_host(
    starts: float | None, cpu: float, warnings: tuple[Any, ...], itself: bool
) -> None:
    halves = None if starts is None else Control(ratio=1.0, low=1 - starts, high=1 + starts, rounds=6, alarmed=False)
    found = noisy(metric="active", control=halves, reason=examples.wide(hopeless=True))
    asked = report(found, recorded=(*of_a_command(half=cpu),), warnings=warnings)
    said = reports.next_step(asked)
    assert said.startswith("Give the program the same work" if itself else "Use a quieter host"), said
    assert ("perfgate doctor" in said) is not itself
    assert said.endswith("so neither host nor more measuring helps") is itself
    # of waits its CPU time knows nothing, and decides
    waits = report(found, recorded=(*of_a_command(half=0.02),), warnings=warnings)
    assert reports.next_step(waits).startswith("Decide by user time")


def test_more_builds_are_the_advice_where_they_are_few_and_the_host_is_quiet() -> None:
    unsure = (*of_a_command(ratio=1.02),)
    few = noisy(more_builds=6)
    assert getattr(next_step(report(few, recorded=unsure, warnings=())), "kind", "") == "more-builds"
    # what the run shows already costs nothing
    assert step(few, recorded=(*of_a_command(),), warnings=())["metric"] == "user"
    # on a host that others load, what hardly minds them comes first
    assert step(few, recorded=(*of_a_command(),))["metric"] == "user"
    # and where there is nothing else, a few builds are better than none
    assert getattr(next_step(report(few)), "kind", "") == "more-builds"
    assert getattr(next_step(report(few, recorded=(*of_a_command(half=0.3),))), "kind", "") == "more-builds"


def test_seventy_builds_for_one_of_21_findings_are_no_advice() -> None:
    found = [noisy(f"case-{n}", reason=examples.wide(hopeless=True)) for n in range(20)]
    chosen = step(*found, noisy("b", more_builds=65))
    assert (chosen["builds"], chosen["may_be_worse"], chosen["waited"]) == (70, 21, 0.93)
    said = reports.next_step(report(*found, noisy("b", more_builds=65)))
    assert "--set" not in said and "70 builds of each would decide only 1 of 21, and take about 5 min 51 s" in said


def test_more_than_an_hour_or_four_budgets_are_no_advice() -> None:
    calm: dict[str, Any] = {"warnings": ()}
    assert getattr(next_step(report(noisy(more_builds=55), **calm)), "kind", "") == "more-builds"
    # 60 builds of 21 s are more than four times five minutes
    assert step(noisy(more_builds=55), **calm, pace=21.0)["seconds"] == 1261.0
    assert step(noisy(more_builds=55), **calm, pace=61.0, plan=PLAN | {"budget": "55m"})["seconds"] == 3661.0


@pytest.mark.parametrize(("builds", "executions", "taken"), [(4, 6, False), (4, 7, True), (6, 1, True)])
def test_a_plan_that_measures_less_than_the_run_did_would_not_decide_it(
    builds: int, executions: int, taken: bool
) -> None:
    asked = report(noisy(more_builds=20), warnings=())
    counts = asked.findings[0].base.counts
    assert (counts.build, counts.execution) == (5, 25)
    plan = NextPlan(builds=builds, executions=executions, iterations=1, seconds=4.0)
    chosen = next_step(msgspec.structs.replace(asked, run=msgspec.structs.replace(asked.run, plan=plan)))
    assert chosen is not None and chosen.kind == "more-builds"
    assert chosen.details["builds"] == (builds if taken else 25)


def test_active_time_is_no_advice_where_several_tasks_do_the_work_of_a_benchmark() -> None:
    recorded = (*of_a_command("a", metrics=("active", "user")), *of_a_command("b", metrics=("active", "user")))
    reason = examples.wide(hopeless=True)
    assert step(noisy("a", reason=reason), noisy("b", reason=reason), recorded=recorded)["metric"] == "active"
    tree = noisy("b", reason=reason, view=View(why="tasks", times=None))
    assert step(noisy("a", reason=reason), tree, recorded=recorded)["metric"] == "user"
