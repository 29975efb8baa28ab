"""What the records of a run tell of costs, and how a benchmark is measured."""

from typing import Any

import numpy as np
import pytest

from gate.config.config_text import from_tables
from gate.config.parse import parse
from gate.config.types import Config
from gate.decide.estimates import asked_of
from gate.evidence.gather import gather
from gate.model import Build, Record
from gate.store.learning import costs_of, learn, setup_of, setups_of
from gate.store.memory import Setup, StepCosts
from tests.support import turns
from tests.support.lines import builds, execution, located

_DAY = "2026-11-20T09:00:00Z"


def config(*benchmarks: dict[str, Any], **tables: Any) -> Config:
    return parse(from_tables({"benchmark": list(benchmarks), **tables}, "test"))


def records(*lines: dict[str, Any]) -> list[Record]:
    return [line.record for line in located(*lines)]


def test_the_setup_is_what_must_not_change() -> None:
    read = config(
        {"name": "a", "command": ["./a", "one two"], "warmup": 3, "instrument": "hyperfine"},
        {"name": "b", "command": "./b | tail", "instrument": "values"},
        build={"command": ["make", "all"]},
    )
    assert setups_of(read, {"hyperfine": "1.20.0"}) == {
        "a": Setup(command="./a 'one two'", instrument="hyperfine", warmup=3, build="make all"),
        "b": Setup(command="./b | tail", instrument="values", warmup=0, build="make all"),
    }
    # without hyperfine spawn measures
    assert setups_of(read, {})["a"].instrument == "spawn"
    assert setups_of(config({"name": "a", "command": "x"}), {})["a"].build is None


def test_a_case_of_a_suite_has_the_setup_of_the_suite() -> None:
    read = config({"name": "suite", "command": "x"})
    setups = setups_of(read, {})
    assert setup_of(setups, read, "suite/one") == setups["suite"]
    assert setup_of(setups, read, "other") is None


def test_costs_of_a_benchmark_that_says_its_own_time() -> None:
    lines = [
        {**execution("base", [100, 300], unit="ms", seconds=1.0), "metrics": {"time": {"unit": "ms", "values": [100, 300], "dropped": [500]}}},
        execution("head", [0.2, 0.2], seconds=0.5),
    ]  # fmt: skip
    built = [
        Build(side="base", build=0, seconds=2.0),
        Build(side="head", build=0, seconds=4.0),
        Build(side="head", build=1),
    ]
    found = costs_of([*built, *records(*lines)])
    assert list(found) == ["bench"]
    # 1 s - 0.4 s - 0.5 s and 0.5 s - 0.4 s; 0.5 s and nothing
    assert found["bench"].build == 3.0
    assert found["bench"].start == pytest.approx(0.1)
    assert found["bench"].warmup == pytest.approx(0.25)
    assert found["bench"].iteration == pytest.approx(0.2)


@pytest.mark.parametrize(
    "line",
    [
        execution("base", [7.0, 8.0, 9.0], unit="B", metric="memory", seconds=1.2),
        # several requests at once: their times are not the execution's
        execution("base", [7.0, 8.0, 9.0], seconds=1.2),
    ],
)
def test_an_iteration_of_no_known_time_is_an_even_share(line: dict[str, Any]) -> None:
    found = costs_of(records(line))["bench"]
    assert (found.build, found.start, found.warmup) == (None, None, 0)
    assert found.iteration == pytest.approx(0.4)


def test_costs_that_are_not_known() -> None:
    assert costs_of([]) == {}
    nothing = StepCosts(build=None, start=None, iteration=None, warmup=None)
    assert costs_of(records(execution("base", [1.0])))["bench"] == nothing


def test_what_is_learned_of_each_decided_statistic() -> None:
    read = config(
        {"name": "bench", "command": "x", "instrument": "values", "metric": {"time": {"statistics": ["mean", "p50"]}}},
        {"name": "size", "command": "x", "instrument": "values"},
    )
    rng = np.random.default_rng(1)
    values = {side: rng.normal(1, 0.1, (3, 2, 4)).tolist() for side in ("base", "head")}
    lines = [line for side in ("base", "head") for line in builds(side, values[side])]
    # without spread there is nothing to remember, and what has no setup is of another config
    lines += [line for side in ("base", "head") for line in builds(side, [[[1.0]], [[1.0]]], benchmark="size")]
    lines += [line for side in ("base", "head") for line in builds(side, values[side], benchmark="unknown")]
    found = gather(located(*lines), read)
    when, setups = "2026-11-20T09:00:00Z", setups_of(read, {})
    both = learn(asked_of(found.cases, read), read, setups, records(*lines), session="id", created=when, both=True)
    assert [(one.benchmark, one.metric, one.statistic) for one in both] == [
        ("bench", "time", "mean"),
        ("bench", "time", "p50"),
    ]
    mean, median = (one.remembered for one in both)
    assert mean.contrast is not None and mean.iteration is not None
    assert median.contrast is not None and median.iteration is None
    assert (mean.session, mean.created, mean.rounds) == ("id", "2026-11-20T09:00:00Z", 3)
    base = learn(asked_of(found.cases, read), read, setups, records(*lines), session="id", created=when, both=False)
    assert all(one.remembered.contrast is None for one in base)
    assert base[0].remembered.build is not None and base[0].remembered.build.df == 2


def test_what_is_learned_of_turns_is_what_the_views_decide() -> None:
    read = config({"name": "parse", "command": "x", "instrument": "spawn"})
    setting = turns.Turns(rounds=40, starts=20, active=0.02, layout=0.004)
    cases = turns.drawn(np.random.default_rng(2), setting)
    asked, setups = asked_of(cases, read), setups_of(read, {})
    lines = records(execution("base", [1.0], benchmark="parse"))
    found = learn(asked, read, setups, lines, session="id", created=_DAY, both=True)
    assert [(one.metric, one.statistic) for one in found] == [("active", "typical"), ("time", "mean")]
    active, time = (one.remembered for one in found)
    assert (active.view_of, time.view_of) == ("time", None)
    assert (active.executions, active.iterations, active.iteration) == (20, 1, None)
    # a pair of starts has twice the variance of one, and D of 20 pairs a twentieth of it and what rounds add
    assert active.execution is not None and active.contrast is not None and time.contrast is not None
    assert active.execution.value == pytest.approx(0.02**2 * 1.08**2, rel=0.15)
    assert active.contrast.value == pytest.approx(2 * active.execution.value / 20 + 0.004**2, rel=0.5)
    assert time.contrast.value > 10 * active.contrast.value
    # of base alone there are no neighbours
    alone = learn(asked, read, setups, lines, session="id", created=_DAY, both=False)
    assert [(one.metric, one.statistic) for one in alone] == [("time", "mean")]
