from typing import Any

import msgspec
import pytest

from gate.config.types import Benchmark, Config, MetricRules
from gate.evidence.gather import gather
from gate.evidence.runs import EvidenceError, run_of
from gate.model.warnings.measured import (
    ExecutionsShort,
    IdenticalBuilds,
    IdenticalSides,
    OneTree,
    RoundsShort,
    SameBuilds,
    UndecidedBenchmarks,
    ValuesShort,
)
from tests.support.lines import builds, execution, located

BOTH = [[[1.0, 2.0], [3.0]], [[4.0, 5.0]]]


def run_line(**more: object) -> dict[str, object]:
    return {"type": "run", "base": {"sha": "a"}, "head": {"sha": "b"}, **more}


def test_values_nest_by_build_and_execution_whatever_the_order_of_the_lines() -> None:
    lines = [*builds("head", BOTH), *builds("base", BOTH)]
    evidence = gather(located(*reversed(lines)), Config())
    (case,) = evidence.cases
    assert case.base.values.tolist() == [1, 2, 3, 4, 5]
    assert [c.tolist() for c in case.base.counts] == [[2, 1, 2], [2, 1], [2]]
    assert case.base.builds == ((0, 0), (0, 1))


def test_sessions_come_above_builds() -> None:
    lines = [
        execution(s, [v], build=b, session=t) for s in ("base", "head") for t in (1, 0) for b in (1, 0) for v in (1.0,)
    ]
    case = gather(located(*lines), Config()).cases[0]
    assert case.base.builds == ((0, 0), (0, 1), (1, 0), (1, 1))
    assert case.base.counts[2].tolist() == [2, 2]


def test_units_become_base_units() -> None:
    lines = [execution("base", [10], unit="ms"), execution("head", [0.02], unit="s")]
    case = gather(located(*lines), Config()).cases[0]
    assert (case.unit, case.base.values[0], case.head.values[0]) == ("s", 0.01, 0.02)


def test_the_same_execution_twice_names_both_lines() -> None:
    with pytest.raises(
        EvidenceError, match=r"^test.jsonl:1 and test.jsonl:3: the same start twice \(bench, time, base"
    ):
        gather(located(execution("base", [1]), execution("head", [1]), execution("base", [2])), Config())


def test_one_execution_may_bring_its_metrics_on_two_lines() -> None:
    lines = [execution(s, [1], metric=m) for s in ("base", "head") for m in ("time", "memory")]
    assert [c.metric for c in gather(located(*lines), Config()).cases] == ["time", "memory"]


def test_factor_settings_are_cases_of_their_own() -> None:
    lines = [
        execution(s, [1], execution=e, factors={"load": load})
        for s in ("base", "head")
        for e, load in enumerate(("idle", "busy"))
    ]
    assert [c.factors for c in gather(located(*lines), Config()).cases] == [{"load": "idle"}, {"load": "busy"}]


def test_what_base_has_and_head_lacks_is_missing_and_the_other_way_new() -> None:
    lines = [execution("base", [1], benchmark="old"), execution("head", [1], benchmark="fresh")]
    evidence = gather(located(*lines), Config())
    assert [(f.kind, f.benchmark, f.side) for f in evidence.failures] == [("missing", "old", "head")]
    assert evidence.new == ["fresh"]
    assert evidence.cases == []


def test_an_expected_benchmark_without_values_is_missing() -> None:
    run = run_line(benchmarks={"base": ["a", "gone"], "head": ["a", "new"]})
    evidence = gather(located(run), Config())
    assert [(f.benchmark, f.side, f.status) for f in evidence.failures] == [
        ("a", "base", "gave no values"),
        ("gone", "head", "base has it, head does not"),
    ]
    assert evidence.new == ["new"]


def test_a_failure_at_some_settings_leaves_the_others() -> None:
    failure = {"type": "failure", "kind": "execution", "benchmark": "bench", "side": "head", "status": "exit 1"}

    def side(name: str, *sizes: int) -> list[dict[str, object]]:
        return [execution(name, [1.0], build=b, factors={"size": size}) for b in (0, 1) for size in sizes]

    at = {**failure, "factors": {"size": 1}}
    evidence = gather(located(*side("base", 1, 2), *side("head", 1, 2), at), Config())
    assert [case.factors for case in evidence.cases] == [{"size": 2}]
    assert [(f.kind, f.factors) for f in evidence.failures] == [("execution", {"size": 1})]
    # of what did not fail a side may still lack something
    lacking = gather(located(*side("base", 1, 2), at), Config())
    assert [(f.kind, f.side, f.factors) for f in lacking.failures] == [
        ("execution", "head", {"size": 1}), ("missing", "head", {"size": 2}),
    ]  # fmt: skip
    # one without settings is of all
    assert gather(located(*side("base", 1, 2), *side("head", 1, 2), failure), Config()).cases == []


def test_a_suite_that_leaves_a_setting_of_a_benchmark_out_names_it() -> None:
    def line(side: str, build: int, size: int) -> dict[str, object]:
        return execution(side, [1.0], benchmark="s/x", suite="s", build=build, factors={"size": size})

    lines = [line(side, build, size) for side in ("base", "head") for build in (0, 1) for size in (1, 2)]
    found = gather(located(*lines[:-1]), Config())
    assert [case.factors for case in found.cases] == [{"size": 1}]
    assert [(f.benchmark, f.side, f.build, f.factors, f.status) for f in found.failures] == [
        ("s/x", "head", 1, {"size": 2}, "1 of 2 starts of its suite left it out")
    ]


def test_a_decided_metric_that_one_side_lacks_is_missing() -> None:
    lines = [*builds("base", BOTH), *builds("head", BOTH), execution("base", [1], build=9, metric="latency")]
    evidence = gather(located(*lines), Config())
    assert [f.status for f in evidence.failures] == ["metric latency gave no values"]
    command = Config(benchmark=[Benchmark(name="bench", command="x", instrument="spawn")])
    assert gather(located(*lines), command).failures == []


def test_the_config_says_what_is_exact_decided_and_better() -> None:
    rules = {"count": MetricRules(exact=True, better="higher")}
    config = Config(benchmark=[Benchmark(name="bench", command="x", instrument="values", metric=rules)])
    lines = [execution(s, [1], metric="count", better="lower" if s == "base" else "higher") for s in ("base", "head")]
    case = gather(located(*lines), config).cases[0]
    assert (case.exact, case.better, case.decided, case.warnings) == (True, "higher", True, [])
    unclear = gather(located(*lines), Config())
    assert unclear.cases == []
    assert [f.status for f in unclear.failures] == [
        "metric count: the lines disagree which direction is better; say better in [benchmark.metric.count]"
    ]


def test_a_selection_leaves_the_others_out_also_of_what_is_expected() -> None:
    lines = [execution(s, [1], benchmark=b) for s in ("base", "head") for b in ("a", "b")]
    run = run_line(benchmarks={"base": ["a", "b", "c"], "head": ["a", "b", "c"]})
    evidence = gather(located(run, *lines), Config(), ["a"])
    assert [c.benchmark for c in evidence.cases] == ["a"]
    assert evidence.failures == []


@pytest.mark.parametrize(
    ("other", "what"),
    [
        ({"base": {"sha": "z"}}, "base commit"),
        ({"head": {"sha": "z"}}, "head commit"),
        ({"config": {"gate": {}}}, "rules"),
    ],
)
def test_files_of_one_gate_must_agree(other: dict[str, object], what: str) -> None:
    with pytest.raises(EvidenceError, match=f"differ in their {what}"):
        run_of(located(run_line(), run_line(**other)))
    assert run_of(located(run_line(id="x"), run_line(id="y"))) is not None


def build_line(side: str, build: int, digest: str) -> dict[str, object]:
    return {"type": "build", "side": side, "build": build, "artifacts": {"app": digest}}


def test_identical_builds_are_said_to_be_identical() -> None:
    table: dict[str, Any] = {"command": "make", "artifacts": ["app"]}
    run = run_line(config={"build": table, "plan": {"builds": 2, "executions": 1}})
    same = [build_line(side, b, "sha256:1") for side in ("base", "head") for b in (0, 1)]
    values = [*builds("base", BOTH), *builds("head", BOTH)]
    assert gather(located(run, *same, *values), Config()).warnings == [
        IdenticalBuilds((SameBuilds(2, "base", ""), SameBuilds(2, "head", ""))),
        IdenticalSides(),
    ]
    # what is found without being named may be data, which every build makes alike
    found = run_line(config={"build": {"command": "make"}, "plan": {"builds": 2, "executions": 1}})
    assert gather(located(found, *same, *values), Config()).warnings == []
    setup = run_line(config={"build": {"command": None, "setup": "npm ci"}, "plan": {"builds": 2, "executions": 1}})
    one = [build_line("base", 0, "sha256:1"), build_line("head", 0, "sha256:2")]
    assert gather(located(setup, *one, *values), Config()).warnings == [OneTree()]
    differ = [build_line(side, b, f"sha256:{side}{b}") for side in ("base", "head") for b in (0, 1)]
    assert gather(located(run, *differ, *values), Config()).warnings == []


def test_fewer_rounds_than_planned_are_said() -> None:
    run = run_line(config={"build": {"command": "make"}, "plan": {"builds": 5, "executions": 1}})
    evidence = gather(located(run, *builds("base", BOTH), *builds("head", BOTH)), Config())
    assert (evidence.rounds.done, evidence.rounds.planned) == (2, 5)
    assert evidence.warnings == [RoundsShort(2, 5)]


def test_the_time_spent_is_that_of_builds_and_executions() -> None:
    lines = [execution(s, [1], seconds=2.5) for s in ("base", "head")]
    build = {"type": "build", "side": "base", "build": 0, "seconds": 10}
    assert gather(located(build, *lines), Config()).seconds == 15
    assert gather(located(execution("base", [1]), execution("head", [1])), Config()).seconds is None


def test_the_same_commit_and_rules_may_be_written_in_two_ways() -> None:
    first = run_line(base={"ref": "main", "sha": "a"}, config={"gate": {"threshold": "3%"}})
    second = run_line(base={"ref": "origin/main", "sha": "a"}, config={"gate": {"threshold": 0.03}})
    assert run_of(located(first, second)) is not None


def test_an_execution_with_an_empty_decided_metric_is_a_failure() -> None:
    line = execution("head", [1.0])
    line["metrics"]["latency"] = {"values": []}
    lines = [*builds("base", BOTH), line]
    assert [f.status for f in gather(located(*lines), Config()).failures] == ["no values of latency"]
    timed = Config(benchmark=[Benchmark(name="bench", command="x", instrument="spawn")])
    assert gather(located(*lines), timed).failures == []


def test_a_metric_that_only_head_has_is_new() -> None:
    lines = [*builds("base", BOTH), *builds("head", BOTH), execution("head", [1], build=9, metric="latency")]
    evidence = gather(located(*lines), Config())
    assert (evidence.new, evidence.failures) == (["bench: metric latency"], [])


def test_a_metric_that_changes_its_unit_is_an_error_whatever_the_policy_for_missing_ones() -> None:
    lines = [execution("base", [1], unit="ms"), execution("head", [1], unit="B")]
    (failure,) = gather(located(*lines), Config()).failures
    assert (failure.kind, failure.status) == ("execution", "metric time has several units: B, s")


def test_fewer_executions_than_the_plan_or_the_other_side_are_said() -> None:
    lines = [*builds("base", [[[1.0], [2.0]], [[1.0], [2.0]]]), *builds("head", [[[1.0], [2.0]], [[1.0]]])]
    assert gather(located(*lines), Config()).warnings == [ExecutionsShort("bench", "", 4, 3, 4)]
    run = run_line(config={"build": {"command": "make"}, "plan": {"builds": 2, "executions": 3}})
    assert gather(located(run, *lines), Config()).warnings == [ExecutionsShort("bench", "", 4, 3, 6)]


def test_factor_settings_are_the_same_as_whole_numbers_and_as_floats() -> None:
    lines = [execution("base", [1], factors={"n": 1}), execution("head", [1], factors={"n": 1.0})]
    assert len(gather(located(*lines), Config()).cases) == 1


# --- suites -----------------------------------------------------------------------------------------------------------


def suite(side: str, names: str, build: int = 0) -> list[dict[str, object]]:
    return [execution(side, [1.0], benchmark=f"s/{n}", suite="s", lines=len(names), build=build) for n in names]


def test_a_suite_stands_for_what_it_names() -> None:
    run = run_line(benchmarks={"base": ["s", "other"], "head": ["s", "other"]})
    lines = [execution(side, [1.0], benchmark="other") for side in ("base", "head")]
    evidence = gather(located(run, *suite("base", "xy"), *suite("head", "yz"), *lines), Config())
    assert [case.benchmark for case in evidence.cases] == ["s/y", "other"]
    assert [(f.kind, f.benchmark, f.side, f.status) for f in evidence.failures] == [
        ("missing", "s/x", "head", "base has it, head does not")
    ]
    assert evidence.new == ["s/z"]


def test_a_suite_that_names_nothing_on_one_side_is_missing_there() -> None:
    run = run_line(benchmarks={"base": ["s"], "head": ["s"]})
    evidence = gather(located(run, *suite("base", "xy")), Config())
    assert {(f.kind, f.benchmark, f.side) for f in evidence.failures} == {
        ("missing", name, "head") for name in ("s/x", "s/y")
    }
    assert evidence.new == []
    both = gather(located(run), Config())
    assert [(f.kind, f.benchmark) for f in both.failures] == [("missing", "s")]


def test_nothing_is_judged_of_a_suite_that_failed() -> None:
    run = run_line(benchmarks={"base": ["s"], "head": ["s"]})
    failed = {"type": "failure", "kind": "execution", "benchmark": "s", "side": "head", "build": 1, "status": "exit 2"}
    evidence = gather(located(run, *suite("base", "xy"), *suite("head", "xy"), failed), Config())
    assert evidence.cases == []
    assert [f.benchmark for f in evidence.failures] == ["s"]


@pytest.mark.parametrize(
    ("instrument", "metrics", "decided"),
    [
        ("hyperfine", ["time", "user"], ["time"]),
        ("go", ["time", "B/op"], ["time"]),
        ("jmh", ["throughput", "gc.alloc.rate"], ["throughput"]),
        ("pytest-benchmark", ["cpu_time"], ["cpu_time"]),
        ("perf_stat", ["task-clock", "cycles", "time"], ["task-clock"]),
        ("callgrind", ["instructions"], ["instructions"]),
        ("values", ["a", "b"], ["a", "b"]),
    ],
)
def test_the_chief_metric_of_an_instrument_is_decided(instrument: str, metrics: list[str], decided: list[str]) -> None:
    config = msgspec.convert({"benchmark": [{"name": "s", "command": "x", "instrument": instrument}]}, Config)
    # of other metrics only the names are of interest
    lines = [
        execution(side, [1.0], benchmark="s", metric=m, better="lower") for side in ("base", "head") for m in metrics
    ]
    cases = gather(located(*lines), config).cases
    assert [case.metric for case in cases if case.decided] == decided
    assert [case.metric for case in cases if case.exact] == (["instructions"] if instrument == "callgrind" else [])


@pytest.mark.parametrize(
    ("rules", "plan", "decided"),
    [
        ({}, {}, ["sort"]),
        ({"metric": {"sort.median": {}}}, {}, ["sort", "sort.median"]),
        ({}, {"metrics": ["*.median"]}, ["sort.median"]),
    ],
)
def test_a_view_is_shown_and_decided_where_it_is_named(
    rules: dict[str, Any], plan: dict[str, Any], decided: list[str]
) -> None:
    benchmark = {"name": "b", "command": "x", "instrument": "values", "format": "divan", **rules}
    config = msgspec.convert({"benchmark": [benchmark], "plan": plan}, Config)
    lines = [execution(side, [1.0], benchmark="b", metric="sort") for side in ("base", "head")]
    for line in lines:
        line["metrics"]["sort.median"] = {"unit": "s", "values": [0.5], "view_of": "sort", "sharp": True}
        line["metrics"]["sort.fastest"] = {"unit": "s", "values": [0.25], "view_of": "sort"}
    cases = gather(located(*lines), config).cases
    assert {case.metric: case.view_of for case in cases} == {
        "sort": None, "sort.median": "sort", "sort.fastest": "sort"
    }  # fmt: skip
    assert [case.metric for case in cases if case.decided] == decided
    by_turns = gather(located({"type": "run", "turns": True}, *lines), config).cases
    assert [case.metric for case in by_turns if case.sharp] == ["sort.median"]


@pytest.mark.parametrize("sharp", [(True, True), (True, False)])
def test_active_time_of_a_suite_is_decided_where_one_thread_does_the_work_on_both_sides(
    sharp: tuple[bool, bool],
) -> None:
    config = msgspec.convert({"benchmark": [{"name": "s", "command": "x", "instrument": "pytest-benchmark"}]}, Config)
    lines = [execution(side, [1.0], benchmark="s/a", suite="s") for side in ("base", "head")]
    for line, known in zip(lines, sharp, strict=True):
        line["metrics"]["active"] = {"unit": "s", "values": [0.5], "view_of": "time", "sharp": known}
    cases = gather(located(run_line(turns=True), *lines), config).cases
    assert [case.metric for case in cases if case.decided] == (["time", "active"] if all(sharp) else ["time"])


@pytest.mark.parametrize("named", [False, True])
def test_a_view_that_one_side_lacks_fails_only_if_it_was_asked_for(named: bool) -> None:
    plan = {"metrics": ["sort", "*.median"]} if named else {}
    benchmark = {"name": "b", "command": "x", "instrument": "values"}
    config = msgspec.convert({"benchmark": [benchmark], "plan": plan}, Config)
    base, head = (execution(side, [1.0], benchmark="b", metric="sort") for side in ("base", "head"))
    base["metrics"]["sort.median"] = {"unit": "s", "values": [0.5], "view_of": "sort", "sharp": True}
    evidence = gather(located(run_line(turns=True), base, head), config)
    assert [each.kind for each in evidence.failures] == (["missing"] if named else [])
    assert [case.metric for case in evidence.cases] == ["sort"]


def test_a_benchmark_of_which_nothing_is_decided_is_named() -> None:
    config = msgspec.convert({"benchmark": [{"name": "s", "command": "x", "instrument": "go"}]}, Config)
    lines = [
        execution(side, [1.0], benchmark=f"s/{name}", metric=metric, unit="")
        for side in ("base", "head")
        for name, metrics in (("a", ["time", "B/op"]), *((n, ["hits", "B/op"]) for n in "bcde"))
        for metric in metrics
    ]
    assert gather(located(*lines), config).warnings == [
        UndecidedBenchmarks(("s/b", "s/c", "s/d", "s/e"), ("hits", "B/op"))
    ]


def at(load: str, *, session: int = 0, rounds: int = 2, executions: int = 1, **more: Any) -> list[dict[str, Any]]:
    return [
        execution(side, [1.0], build=b, execution=e, session=session, factors={"load": load}, **more)
        for side in ("base", "head")
        for b in range(rounds)
        for e in range(executions)
    ]


def planned(**study: Any) -> dict[str, object]:
    plan = {"builds": 2, "executions": 3}
    return run_line(sessions=2, config={"plan": plan, **({"study": study} if study else {})})


def test_executions_are_counted_at_each_setting() -> None:
    lines = [run_line(config={"plan": {"builds": 2, "executions": 3}}), *at("idle", executions=3), *at("busy")]
    evidence = gather(located(*lines), Config())
    assert evidence.rounds.planned == 2
    assert [w for w in evidence.warnings if isinstance(w, ExecutionsShort)] == [
        ExecutionsShort("bench", "load=busy", 2, 2, 6)
    ]


def test_an_experiment_has_replicates_in_place_of_the_plan() -> None:
    config: dict[str, Any] = {"plan": {"builds": 12, "executions": 3}, "study": {"factor": {"load": ["idle", "busy"]}}}
    evidence = gather(located(run_line(config=config), *at("idle"), *at("busy", executions=2)), Config())
    assert (evidence.rounds.done, evidence.rounds.planned) == (2, None)
    assert [w for w in evidence.warnings if isinstance(w, (ExecutionsShort, RoundsShort))] == []


@pytest.mark.parametrize("bound", [True, False])
def test_a_setting_that_belongs_to_some_sessions_is_missing_in_no_other(bound: bool) -> None:
    settings = {"idle": {"session": 0}, "busy": {"session": 1}} if bound else {"idle": {}, "busy": {}}
    lines = [planned(factor={"load": settings}), *at("idle", session=0), *at("busy", session=1)]
    evidence = gather(located(*lines), Config())
    assert len(evidence.cases) == (2 if bound else 0)
    assert bool(evidence.failures) is not bound


def test_a_suite_that_leaves_a_benchmark_out_at_one_setting_names_it() -> None:
    lines = [
        {**line, "factors": {"load": load}}
        for load, names in (("idle", "xy"), ("busy", "x"))
        for side in ("base", "head")
        for line in suite(side, names)
    ]
    run = run_line(config={"study": {"factor": {"load": ["idle", "busy"]}}})
    failures = gather(located(run, *lines), Config()).failures
    assert [(f.benchmark, f.side, f.factors, f.status) for f in failures] == [
        ("s/y", "base", {"load": "busy"}, "1 of 2 starts of its suite left it out"),
        ("s/y", "head", {"load": "busy"}, "1 of 2 starts of its suite left it out"),
    ]


def test_a_suite_may_give_its_benchmarks_settings_of_their_own() -> None:
    lines = [{**line, "factors": {"n": name}} for s in ("base", "head") for name in "xy" for line in suite(s, name)]
    assert gather(located(*lines), Config()).failures == []


def built(side: str, number: int, opt: str, digest: str) -> dict[str, Any]:
    return {"type": "build", "side": side, "build": number, "factors": {"opt": opt}, "artifacts": {"app": digest}}


def test_builds_with_other_settings_are_other_builds() -> None:
    fresh = [built(s, b, opt, f"{s}{b}{opt}") for s in ("base", "head") for b in (0, 1) for opt in ("O2", "O3")]
    assert gather(located(*fresh), Config()).warnings == []
    alike = [built(s, b, opt, f"{s}{b}" if opt == "O2" else s) for s in ("base", "head") for b in (0, 1)
             for opt in ("O2", "O3")]  # fmt: skip
    assert gather(located(*alike), Config()).warnings == [
        IdenticalBuilds((SameBuilds(2, "base", "opt=O3"), SameBuilds(2, "head", "opt=O3")))
    ]
    same = [built(s, 0, opt, opt) for s in ("base", "head") for opt in ("O2", "O3")]
    assert gather(located(*same), Config()).warnings == [IdenticalSides()]


def test_an_execution_without_values_names_its_setting() -> None:
    lines = [execution(s, [] if s == "head" else [1.0], factors={"load": "busy"}) for s in ("base", "head")]
    (failure,) = gather(located(*lines), Config()).failures
    assert (failure.kind, failure.status, failure.factors) == ("execution", "no values", {"load": "busy"})


@pytest.mark.parametrize(("own", "sharp"), [(None, True), (0.99, True), (0.5, False)])
def test_active_time_is_sharp_by_what_single_starts_tell_or_by_its_own_word(own: float | None, sharp: bool) -> None:
    lines = [execution(side, [1.0], benchmark="b") for side in ("base", "head")]
    for line in lines:
        line["metrics"]["active"] = {"unit": "s", "values": [0.5], "view_of": "time", "sharp": True}
        line["own"] = own
    config = msgspec.convert({"benchmark": [{"name": "b", "command": "x"}]}, Config)
    cases = gather(located({"type": "run", "turns": True}, *lines), config).cases
    assert {case.metric: case.sharp for case in cases} == {"time": False, "active": sharp}


@pytest.mark.parametrize("suite", [False, True])
def test_executions_of_short_turns_are_as_many_and_as_long_as_was_found(suite: bool) -> None:
    """Of a plan of 2 starts of 4 iterations: 4 of 2 are complete, and one that has 1 of 2 values is short."""
    name, owner = ("s/case", "s") if suite else ("s", None)
    table = {"name": "s", "command": "x", "instrument": "go" if suite else "values"}
    config = msgspec.convert({"benchmark": [table], "plan": {"executions": 2, "iterations": 4}}, Config)
    run = run_line(turns=True, config={"build": {"command": "make"}, "plan": {"builds": 1, "executions": 2}})
    turn = {"type": "turn", "benchmark": "s", "executions": 4, "iterations": 2, "starting": 0.03}
    lines = [
        execution(side, [1.0, 2.0], benchmark=name, execution=number, suite=owner)
        for side in ("base", "head")
        for number in range(4)
    ]

    def said(*records: dict[str, object]) -> list[object]:
        found = gather(located(*records), config)
        return [w for w in (*found.warnings, *found.cases[0].warnings) if isinstance(w, (ExecutionsShort, ValuesShort))]

    assert said(run, turn, *lines) == []
    assert said(run, turn, *lines[:-1]) == [ExecutionsShort(name, "", 4, 3, 4)]
    cut = execution("head", [1.0], benchmark=name, execution=3, suite=owner)
    assert said(run, turn, *lines[:-1], cut) == [ValuesShort(0, 1, 8, 2)]
    # a session that found longer ones is as complete
    longer = {**turn, "session": 1, "executions": 2, "iterations": 4}
    assert said(run, turn, longer, *lines[:-2]) == [ExecutionsShort(name, "", 4, 2, 4)]
    assert gather(located(run, turn, *lines), config).turns[0].executions == 4
