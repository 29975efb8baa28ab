"""Starts a side of a round, by what the first ones of the first round showed."""

import math
from collections.abc import Mapping

import numpy as np
import pytest
from msgspec.structs import replace

from gate.config.config_text import from_tables
from gate.config.parse import parse
from gate.config.rules import executions_of
from gate.config.schema import to_tables
from gate.config.types import Builds, Config, Plan
from gate.decide.starts import StartNeeds, afforded, counting, wanted
from gate.evidence.gather import gather
from gate.evidence.lines import Located
from gate.model import SIDES, Build, Execution, Metric, Record, Run
from gate.model.warnings.measured import ExecutionsShort
from gate.writing.units import Duration

SPREAD = 0.08


def run_of(plan: Mapping[str, object] = {}, *more: dict[str, object]) -> Run:
    tables = {
        "gate": {"threshold": "3%"},
        "plan": dict(plan),
        "benchmark": [{"name": "prog", "command": "./x"}, *more],
    }
    config = to_tables(parse(from_tables(tables, "test")))
    return Run(id="1", seed=1, config=config, turns=True)


def builds(seconds: float) -> list[Record]:
    return [Build(side=side, build=0, seconds=seconds) for side in SIDES]


def starts(
    name: str = "prog", count: int = 10, each: float = 0.002, spread: float = SPREAD, head: float = 1.0, build: int = 0
) -> list[Record]:
    """A block of starts whose typical value varies so much; head: times as long."""
    made: list[Record] = []
    noise = np.random.default_rng(3).standard_normal((2, count)) * spread / math.sqrt(2)
    for number in range(count):
        for at, side in enumerate(SIDES):
            time = each * math.exp(noise[at, number]) * (head if side == "head" else 1.0)
            metrics = {
                "time": Metric(unit="s", values=[2 * time], better="lower"),
                "active": Metric(unit="s", values=[time], better="lower", view_of="time", sharp=True),
            }
            made.append(
                Execution(
                    benchmark=name, side=side, build=build, execution=number, order=2 * number + at,
                    seconds=each, metrics=metrics, own=1.0,
                )
            )  # fmt: skip
    return made


def counted(run: Run, records: list[Record]) -> dict[str, int]:
    count = counting(run, parse(from_tables(run.config or {}, "test"), lenient=True))
    assert count is not None
    return count(records)


@pytest.mark.parametrize(
    ("noise", "seconds", "builds", "expected"),
    [
        (0.05, 4.0, 0.0, 10),  # sharp and long
        (0.05, 0.004, 2.0, 50),  # as many as cost no more than the builds
        (0.05, 0.2, 8.0, 40),
        (0.05, 0.2, 0.0, 25),  # five seconds are no burden, without any build
        (0.05, 0.01, 0.0, 50),
        (2 / 3, 0.5, 0.0, 40),  # a standard error of a third of the threshold
        (9.0, 0.1, 0.0, 200),
        (math.inf, 4.0, 0.0, 200),  # threshold = 0
        (None, 4.0, 0.0, 200),  # nothing is known of its noise
    ],
)
def test_a_round_goes_by_noise_and_cost(noise: float | None, seconds: float, builds: float, expected: int) -> None:
    assert wanted(StartNeeds(noise, seconds), builds) == expected


def test_the_budget_is_shared_by_what_is_wanted_beyond_the_fewest() -> None:
    needs = {"a": StartNeeds(9.0, 1.0), "b": StartNeeds(2 / 3, 1.0), "c": StartNeeds(0.05, 1.0)}

    def shared(seconds: float, builds: float = 0.0, others: float = 0.0) -> dict[str, int]:
        plan = Plan(builds=Builds(min=4, max=12), budget=Duration(12 * seconds / 0.9 + 10.0 / 0.9))
        return afforded(needs, Config(plan=plan), builds=builds, others=others, once=10.0)

    assert shared(1e6) == {"a": 200, "b": 40, "c": 10}
    # 30 s for the first ten of each, and half of 220 s
    assert shared(140.0) == {"a": 105, "b": 25, "c": 10}
    assert shared(151.0, others=11.0) == {"a": 105, "b": 25, "c": 10}
    assert shared(41.1, builds=5.0, others=6.0) == {"a": 10, "b": 10, "c": 10}


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        # 8 s go by without a value, 1 s with the short ones
        (40.0, {"short": 10, "long": 1, "warmed": 3}),
        (81.1, {"short": 10, "long": 2, "warmed": 9}),
        (1.0, {"short": 1, "long": 1, "warmed": 1}),
    ],
)
def test_where_long_starts_leave_no_room_each_has_its_share(seconds: float, expected: dict[str, int]) -> None:
    needs = {"long": StartNeeds(9.0, 16.0), "warmed": StartNeeds(9.0, 4.0, warmup=8.0), "short": StartNeeds(9.0, 0.1)}
    config = Config(plan=Plan(budget=Duration(12 * seconds / 0.9)))
    assert afforded(needs, config, builds=0.0, others=0.0, once=0.0) == expected


@pytest.mark.parametrize(
    ("plan", "builds", "expected"),
    [
        # 105 s are five rounds of 14 s that come to 21 s: 1 s for the first ten, 13 s for 130 more
        (Plan(builds=5, budget=Duration(115)), None, 140),
        (Plan(builds=Builds(min=4, max=5), budget=Duration(115)), None, 140),
        # fewer builds than a regression needs are all needed too
        (Plan(builds=4, budget=Duration(115)), None, 175),
        # rounds to spare are room enough: 93.5 s for twelve
        (Plan(builds=Builds(min=4), budget=Duration(115)), None, 78),
        # long builds leave room for some starts: twelve rounds have 22.5 s each, five may have 40 s
        *(
            (Plan(budget=Duration(300)), builds, n)
            for builds, n in ((10.0, 12), (20.0, 5), (30.0, 7), (39.0, 1), (60.0, 1))
        ),
    ],
)
def test_the_builds_of_a_regression_fit_the_budget(plan: Plan, builds: float | None, expected: int) -> None:
    each, once = (0.1, 10.0) if builds is None else (1.0, 0.0)
    found = afforded({"a": StartNeeds(9.0, each)}, Config(plan=plan), builds=builds or 0.0, others=0.0, once=once)
    assert found == {"a": expected}


@pytest.mark.parametrize(
    ("each", "spread", "expected"),
    # 75 s a round of 15 minutes, less what is kept back, hold 16 starts of 2 s
    [(0.002, SPREAD, 120), (0.002, 0.01, 50), (0.002, 0.2, 200), (2.0, 0.003, 10), (2.0, 0.2, 16)],
)
def test_a_short_program_has_many_starts_and_a_long_one_few(each: float, spread: float, expected: int) -> None:
    assert counted(run_of(), [*builds(1.0), *starts(each=each, spread=spread)]) == {"prog": expected}


@pytest.mark.parametrize("noise", [0.003, 0.2])
def test_a_start_of_seconds_is_made_as_often_as_rounds_fit_the_budget(noise: float) -> None:
    # 22.5 s a round of 5 minutes, less what is kept back; the first starts of a round are warmed up by one more
    run = run_of({"budget": "5m", "starts": "auto"})
    records = [*builds(0.1), *warmed(starts(each=2.0, spread=noise))]
    assert counted(run, records[:4]) == counted(run, records[:9]) == counted(run, records) == {"prog": 4}
    # what a start takes is known of the first one, and room for ten says no more until there are ten
    short = [*builds(0.1), *warmed(starts(each=0.4, spread=noise))]
    assert counted(run, short[:4]) == {"prog": 10}
    assert counted(run, short)["prog"] == (27 if noise > 0.1 else 10)


def warmed(records: list[Record]) -> list[Record]:
    """Give the first start of each side one before it that is dropped."""
    made: list[Record] = []
    for each in records:
        if isinstance(each, Execution) and not each.execution:
            metrics = {name: replace(metric, dropped=metric.values) for name, metric in each.metrics.items()}
            each = replace(each, seconds=2 * (each.seconds or 0.0), metrics=metrics)
        made.append(each)
    return made


def test_neither_an_effect_nor_what_comes_later_counts() -> None:
    run, first = run_of(), [*builds(1.0), *starts()]
    found = counted(run, first)
    assert 50 < found["prog"] < 200
    for head in (0.5, 1.06, 3.0):
        assert counted(run, [*builds(1.0), *starts(head=head)]) == found
    more = [each for each in starts(count=60, spread=0.9) if isinstance(each, Execution) and each.execution >= 10]
    later = [*starts(build=1, spread=0.9), Build(side="base", build=1, seconds=99.0)]
    assert counted(run, [*first, *more, *later]) == found


def test_what_does_not_go_by_starts_takes_its_time_of_each_round() -> None:
    suite: dict[str, object] = {"name": "suite", "command": "x", "instrument": "values"}
    run = run_of({"budget": "2m"}, suite)
    alone = [*builds(0.1), *starts(each=0.02, spread=0.2)]
    one = [
        Execution(benchmark="suite", side=side, build=0, execution=0, seconds=0.8, metrics={"t": Metric(unit="s", values=[1.0])})
        for side in SIDES
    ]  # fmt: skip
    assert counted(run, alone) == {"prog": 200}
    found = counted(run, [*alone, *one])
    assert found == {"prog": pytest.approx(22, abs=4)}
    # its first execution tells, and those after it come when the starts are counted
    assert counted(run, [*alone, *one, *(replace(each, execution=1, seconds=9.0) for each in one)]) == found


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        ({"starts": 30}, 30),
        ({"executions": 4}, 40),
        ({"iterations": 3}, 15),
        ({"executions": 4, "iterations": 3, "starts": 7}, 7),
    ],
)
def test_who_names_counts_gets_them(plan: dict[str, object], expected: int) -> None:
    run = run_of(plan)
    config = parse(from_tables(run.config or {}, "test"), lenient=True)
    assert counting(run, config) is None
    assert executions_of(config, "prog") == expected


def test_auto_may_be_named_beside_counts_and_what_gave_nothing_on_a_side_is_not_counted() -> None:
    assert counted(run_of({"executions": 4, "starts": "auto"}), [*builds(1.0), *starts()])
    of_head = [each for each in starts() if isinstance(each, Execution) and each.side == "head"]
    assert counted(run_of(), [*builds(1.0), *of_head]) == {}
    # a file of before had what its plan said
    run = run_of()
    assert run.config is not None
    before = {**run.config, "plan": {key: value for key, value in run.config["plan"].items() if key != "starts"}}
    assert counting(run, parse(from_tables(before, "test"), lenient=True)) is None


def test_rounds_that_fall_short_of_the_first_are_named() -> None:
    run = run_of()
    config = parse(from_tables(run.config or {}, "test"), lenient=True)
    whole = [run, *builds(1.0), *starts(count=12), *starts(count=12, build=1)]

    def short(records: list[Record]) -> list[tuple[int, int, int]]:
        found = gather([Located(record, "test", n) for n, record in enumerate(records, 1)], config)
        return [(w.base, w.head, w.wanted) for w in found.warnings if isinstance(w, ExecutionsShort)]

    assert short(whole) == []
    assert short(whole[:-1]) == [(24, 23, 24)]
    # both sides of a round that was broken off
    assert short(whole[:-8]) == [(20, 20, 24)]
