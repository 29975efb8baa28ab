"""Records -> evidence: how values nest, what is missing, new or short, and what of it is decided."""

from typing import Any

import msgspec
import pytest

from gate.config.types import Config
from gate.evidence.gather import gather
from gate.evidence.runs import EvidenceError, run_of
from gate.model import SIDES, Evidence
from gate.model.warnings.measured import IDENTICAL_SIDES, ExecutionsShort, RoundsShort
from tests.support.lines import builds, execution, located
from tests.support.warned import texts

Line = dict[str, Any]
NESTED = [[[1.0, 2.0], [3.0]], [[4.0, 5.0]]]
FAILURE: Line = {"type": "failure", "kind": "execution", "benchmark": "bench", "side": "head", "status": "exit 1"}


def of(*lines: Line, select: tuple[str, ...] = (), **config: Any) -> Evidence:
    return gather(located(*lines), msgspec.convert(config, Config), select)


def run_line(*names: str, **more: Any) -> Line:
    """Make a run line; names: the benchmarks that both sides have."""
    known = {"benchmarks": {side: list(names) for side in SIDES}} if names else {}
    return {"type": "run", "base": {"sha": "a"}, "head": {"sha": "b"}, **known, **more}


def each(*values: float, **more: Any) -> list[Line]:
    """Make an execution of each side."""
    return [execution(side, values or [1.0], **more) for side in SIDES]


def nested(**more: Any) -> list[Line]:
    return [line for side in SIDES for line in builds(side, NESTED, **more)]


def benchmark(instrument: str, **more: Any) -> dict[str, Any]:
    return {"name": "bench", "command": "x", "instrument": instrument, **more}


def outcome(evidence: Evidence) -> list[str]:
    """Say what failed, what is new, and of which benchmarks there are cases."""
    return [
        *(
            f"{f.kind} {f.benchmark} on {f.side}{f' at {f.factors}' if f.factors else ''}: {f.status}"
            for f in evidence.failures
        ),
        *(f"new {name}" for name in evidence.new),
        *(f"case {case.benchmark}" for case in evidence.cases),
    ]


def decided(evidence: Evidence) -> list[str]:
    return [case.metric for case in evidence.cases if case.decided]


# --- samples ----------------------------------------------------------------------------------------------------------


def test_values_nest_by_session_build_and_execution_whatever_the_order_of_the_lines() -> None:
    (case,) = of(*reversed(nested())).cases
    assert case.base.values.tolist() == [1, 2, 3, 4, 5]
    assert [c.tolist() for c in case.base.counts] == [[2, 1, 2], [2, 1], [2]]
    assert case.base.builds == ((0, 0), (0, 1))
    (case,) = of(*(line for t in (1, 0) for b in (1, 0) for line in each(build=b, session=t))).cases
    assert case.base.builds == ((0, 0), (0, 1), (1, 0), (1, 1))
    assert case.base.counts[2].tolist() == [2, 2]
    (case,) = of(execution("base", [10], unit="ms"), execution("head", [0.02], unit="s")).cases
    assert (case.unit, case.base.values[0], case.head.values[0]) == ("s", 0.01, 0.02)


def test_metrics_and_settings_are_cases_of_their_own() -> None:
    assert [c.metric for c in of(*each(), *each(metric="memory")).cases] == ["time", "memory"]
    settings = [line for e, load in enumerate(("idle", "busy")) for line in each(execution=e, factors={"load": load})]
    assert [c.factors for c in of(*settings).cases] == [{"load": "idle"}, {"load": "busy"}]
    # a whole number is the same as a float
    assert len(of(execution("base", [1], factors={"n": 1}), execution("head", [1], factors={"n": 1.0})).cases) == 1


@pytest.mark.parametrize(
    ("steps", "builds", "expected"),
    [
        # as the lines say, of each side the coarsest; otherwise the finest digit of all, of several builds
        ({("base", 0): 2.0, ("head", 0): 0.5, ("head", 1): 4.0}, 2, (0.002, 0.004)),
        ({}, 2, (0.00001, 0.00001)),
        ({}, 1, (0.0, 0.0)),
    ],
)
def test_the_step_of_values(steps: dict[tuple[str, int], float], builds: int, expected: tuple[float, float]) -> None:
    lines = [execution(side, [12.25, 13.0], build=b, unit="ms") for side in SIDES for b in range(builds)]
    for line in lines:
        line["metrics"]["time"]["step"] = steps.get((line["side"], line["build"]))
    (case,) = of(*lines).cases
    assert (case.base.step, case.head.step) == pytest.approx(expected)


def test_the_same_execution_twice_names_both_lines() -> None:
    why = r"^test.jsonl:1 and test.jsonl:3: the same start twice \(bench, time, base"
    with pytest.raises(EvidenceError, match=why):
        of(*each(), execution("base", [2]))


@pytest.mark.parametrize(
    ("other", "what"),
    [
        ({"base": {"sha": "z"}}, "base commit"),
        ({"head": {"sha": "z"}}, "head commit"),
        ({"config": {"gate": {"threshold": "4%"}}}, "rules"),
        ({"id": "x", "base": {"ref": "main", "sha": "a"}, "config": {"gate": {"threshold": 0.03}}}, None),
    ],
)
def test_files_of_one_gate_must_agree(other: Line, what: str | None) -> None:
    lines = located(run_line(config={"gate": {"threshold": "3%"}}), {**run_line(), **other})
    if what is None:
        assert run_of(lines) is not None
        return
    with pytest.raises(EvidenceError, match=f"differ in their {what}"):
        run_of(lines)


# --- what is missing, new or failed -----------------------------------------------------------------------------------


def at_sizes(side: str, *sizes: int) -> list[Line]:
    return [execution(side, [1.0], build=b, factors={"size": size}) for b in (0, 1) for size in sizes]


def suite(side: str, names: str, **more: Any) -> list[Line]:
    return [execution(side, [1.0], benchmark=f"s/{n}", suite="s", lines=len(names), **more) for n in names]


VALUES, SPAWN = [benchmark("values")], [benchmark("spawn")]
LATENCY = execution("base", [1], build=9, metric="latency")
EMPTY = execution("head", [1.0])
EMPTY["metrics"]["latency"] = {"values": []}
AT_1 = {**FAILURE, "factors": {"size": 1}}
BUSY: Line = {"factors": {"load": "busy"}}
IDLE: Line = {"factors": {"load": "idle"}}
LEFT_OUT = "1 of 2 starts of its suite left it out"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            [execution("base", [1], benchmark="old"), execution("head", [1], benchmark="fresh")],
            ["missing old on head: base has it, head does not", "new fresh"],
        ),
        (
            [run_line(benchmarks={"base": ["a", "gone"], "head": ["a", "new"]})],
            ["missing a on base: gave no values", "missing gone on head: base has it, head does not", "new new"],
        ),
        # metrics
        ([*nested(), LATENCY], ["missing bench on head: metric latency gave no values", "case bench"]),
        ([*nested(), {**LATENCY, "side": "head"}], ["new bench: metric latency", "case bench"]),
        ([*builds("base", NESTED), EMPTY], ["execution bench on head: no values of latency"]),
        (
            [execution("base", [1], unit="ms"), execution("head", [1], unit="B")],
            ["execution bench on None: metric time has several units: B, s"],
        ),
        # settings: the others stay, of which a side may still lack something; a failure without settings is of all
        (
            [*at_sizes("base", 1, 2), *at_sizes("head", 1, 2), AT_1],
            ["execution bench on head at {'size': 1}: exit 1", "case bench"],
        ),
        (
            [*at_sizes("base", 1, 2), AT_1],
            [
                "execution bench on head at {'size': 1}: exit 1",
                "missing bench on head at {'size': 2}: base has it, head does not",
            ],
        ),
        ([*at_sizes("base", 1), *at_sizes("head", 1), FAILURE], ["execution bench on head: exit 1"]),
        (
            [execution("base", [1.0], **BUSY), execution("head", [], **BUSY)],
            ["execution bench on head at {'load': 'busy'}: no values"],
        ),
        # a suite stands for what it names, unless it names nothing; nothing is judged of one that failed
        (
            [run_line("s", "other"), *suite("base", "xy"), *suite("head", "yz"), *each(benchmark="other")],
            ["missing s/x on head: base has it, head does not", "new s/z", "case s/y", "case other"],
        ),
        ([run_line("s"), *suite("base", "x")], ["missing s/x on head: base has it, head does not"]),
        ([run_line("s")], ["missing s on base: gave no values"]),
        (
            [run_line("s"), *suite("base", "xy"), *suite("head", "xy"), {**FAILURE, "benchmark": "s", "build": 1}],
            ["execution s on head: exit 1"],
        ),
        # what a suite leaves out once is named, at the setting where it does; it may give each its own settings
        (
            [*(line for s in SIDES for b in (0, 1) for line in suite(s, "xy", build=b, **BUSY))][:-1],
            [f"execution s/y on head at {{'load': 'busy'}}: {LEFT_OUT}", "case s/x"],
        ),
        (
            [
                run_line(config={"study": {"factor": {"load": ["idle", "busy"]}}}),
                *(line for side in SIDES for line in (*suite(side, "xy", **IDLE), *suite(side, "x", **BUSY))),
            ],
            [
                *(f"execution s/y on {s} at {{'load': 'busy'}}: {LEFT_OUT}" for s in SIDES),
                "case s/x",
                "case s/y",
                "case s/x",
            ],
        ),
        ([x for s in SIDES for n in "xy" for x in suite(s, n, factors={"n": n})], ["case s/x", "case s/y"]),
    ],
)
def test_what_is_missing_new_or_failed(lines: list[Line], said: list[str]) -> None:
    assert outcome(of(*lines)) == said


def test_a_metric_that_is_not_decided_may_be_missing_or_empty() -> None:
    assert outcome(of(*nested(), LATENCY, benchmark=SPAWN)) == ["case bench"]
    assert outcome(of(*builds("base", NESTED), EMPTY, benchmark=SPAWN)) == ["case bench"]


def test_a_selection_leaves_the_others_out_also_of_what_is_expected() -> None:
    evidence = of(run_line("a", "b", "c"), *each(benchmark="a"), *each(benchmark="b"), select=("a",))
    assert ([c.benchmark for c in evidence.cases], evidence.failures) == (["a"], [])


# --- what is decided --------------------------------------------------------------------------------------------------


def test_the_config_says_what_is_exact_decided_and_better() -> None:
    lines = [execution(s, [1], metric="count", better="lower" if s == "base" else "higher") for s in SIDES]
    rules = benchmark("values", metric={"count": {"exact": True, "better": "higher"}})
    (case,) = of(*lines, benchmark=[rules]).cases
    assert (case.exact, case.better, case.decided, case.warnings) == (True, "higher", True, [])
    why = "the lines disagree which direction is better; say better in [benchmark.metric.count]"
    assert outcome(of(*lines)) == [f"execution bench on None: metric count: {why}"]


@pytest.mark.parametrize(
    ("instrument", "metrics", "chief"),
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
def test_the_chief_metric_of_an_instrument_is_decided(instrument: str, metrics: list[str], chief: list[str]) -> None:
    evidence = of(
        *(line for m in metrics for line in each(metric=m, better="lower")), benchmark=[benchmark(instrument)]
    )
    assert decided(evidence) == chief
    exact = [case.metric for case in evidence.cases if case.exact]
    assert exact == (["instructions"] if instrument == "callgrind" else [])


def viewed(line: Line, of: str = "time", sharp: bool = True, name: str = "active") -> Line:
    view = {"unit": "s", "values": [0.5], "view_of": of, "sharp": sharp}
    return {**line, "metrics": {**line["metrics"], name: view}}


@pytest.mark.parametrize(
    ("metric", "plan", "chosen"),
    [
        ({}, {}, ["sort"]),
        ({"sort.median": {}}, {}, ["sort", "sort.median"]),
        ({}, {"metrics": ["*.median"]}, ["sort.median"]),
    ],
)
def test_a_view_is_shown_and_decided_where_it_is_named(metric: Line, plan: Line, chosen: list[str]) -> None:
    rules: Line = {"benchmark": [benchmark("values", format="divan", metric=metric)], "plan": plan}
    lines = [viewed(line, "sort", name="sort.median") for line in each(metric="sort")]
    lines = [viewed(line, "sort", sharp=False, name="sort.fastest") for line in lines]
    evidence = of(*lines, **rules)
    views = {"sort": None, "sort.median": "sort", "sort.fastest": "sort"}
    assert ({case.metric: case.view_of for case in evidence.cases}, decided(evidence)) == (views, chosen)
    assert [case.metric for case in of(run_line(turns=True), *lines, **rules).cases if case.sharp] == ["sort.median"]


@pytest.mark.parametrize("named", [False, True])
def test_a_view_that_one_side_lacks_fails_only_if_it_was_asked_for(named: bool) -> None:
    base, head = each(metric="sort")
    plan = {"metrics": ["sort", "*.median"]} if named else {}
    evidence = of(run_line(turns=True), viewed(base, "sort", name="sort.median"), head, benchmark=VALUES, plan=plan)
    assert [f.kind for f in evidence.failures] == (["missing"] if named else [])
    assert [case.metric for case in evidence.cases] == ["sort"]


@pytest.mark.parametrize("both", [True, False])
def test_active_time_of_a_suite_is_decided_where_one_thread_does_the_work_on_both_sides(both: bool) -> None:
    base, head = each(benchmark="bench/a", suite="bench")
    rules = [benchmark("pytest-benchmark")]
    evidence = of(run_line(turns=True), viewed(base), viewed(head, sharp=both), benchmark=rules)
    assert decided(evidence) == (["time", "active"] if both else ["time"])


@pytest.mark.parametrize(("own", "sharp"), [(None, True), (0.99, True), (0.5, False)])
def test_active_time_is_sharp_by_what_single_starts_tell_or_by_its_own_word(own: float | None, sharp: bool) -> None:
    evidence = of(run_line(turns=True), *map(viewed, each(own=own)), benchmark=[benchmark("spawn")])
    assert {case.metric: case.sharp for case in evidence.cases} == {"time": False, "active": sharp}


def test_a_benchmark_of_which_nothing_is_decided_is_named() -> None:
    metrics = {"a": ["time", "B/op"], **{n: ["hits", "B/op"] for n in "bcde"}}
    lines = [x for n in metrics for m in metrics[n] for x in each(benchmark=f"bench/{n}", metric=m, unit="")]
    (told,) = of(*lines, benchmark=[benchmark("go")]).warnings
    assert told.sentence().startswith("no metric of bench/b, bench/c, bench/d and 1 more is decided: declare one")
    assert told.sentence().endswith("(hits, B/op)")


# --- what is short, or the same ---------------------------------------------------------------------------------------


def planned(build: Line, executions: int = 1, builds: int = 2) -> Line:
    return run_line(config={"build": build, "plan": {"builds": builds, "executions": executions}})


def built(digest: str, rounds: int = 2, **more: Any) -> list[Line]:
    """Make build lines; digest: of the artifact, with {side} and {build} in it."""
    return [
        {"type": "build", "side": s, "build": b, "artifacts": {"app": digest.format(side=s, build=b)}, **more}
        for s in SIDES
        for b in range(rounds)
    ]


MADE: Line = {"command": "make", "artifacts": ["app"]}
SAME = "all 2 builds of base{at} are one program, as are all 2 builds of head{at}: layout was not varied ("
TWO = [*builds("base", [[[1.0], [2.0]], [[1.0], [2.0]]]), *builds("head", [[[1.0], [2.0]], [[1.0]]])]


@pytest.mark.parametrize(
    ("lines", "warnings"),
    [
        ([planned(MADE), *built("sha256:1"), *nested()], [SAME.format(at=""), IDENTICAL_SIDES.text]),
        ([planned(MADE), *built("sha256:{side}{build}"), *nested()], []),
        # what is found without being named may be data, which every build makes alike
        ([planned({"command": "make"}), *built("sha256:1"), *nested()], []),
        (
            [planned({"setup": "npm ci"}), *built("sha256:{side}", 1), *nested()],
            ["no build command: every build reuses the tree of the set-up"],
        ),
        ([planned({"command": "make"}, builds=5), *nested()], [RoundsShort(2, 5).sentence()]),
        # than the other side has, and than the plan says
        (TWO, [ExecutionsShort("bench", "", 4, 3, 4).sentence()]),
        ([planned({"command": "make"}, executions=3), *TWO], [ExecutionsShort("bench", "", 4, 3, 6).sentence()]),
        # builds with other settings are other builds
        ([*built("{side}{build}2", factors={"opt": "O2"}), *built("{side}{build}3", factors={"opt": "O3"})], []),
        (
            [*built("{side}{build}", factors={"opt": "O2"}), *built("{side}", factors={"opt": "O3"})],
            [SAME.format(at=" at opt=O3")],
        ),
        ([*built("2", 1, factors={"opt": "O2"}), *built("3", 1, factors={"opt": "O3"})], [IDENTICAL_SIDES.text]),
    ],
)
def test_equal_builds_and_few_rounds_and_executions(lines: list[Line], warnings: list[Any]) -> None:
    told = [each.sentence() for each in of(*lines).warnings]
    assert [each.startswith(said) for each, said in zip(told, warnings, strict=True)] == [True] * len(told)


def test_the_time_spent_is_that_of_builds_and_executions() -> None:
    build = {"type": "build", "side": "base", "build": 0, "seconds": 10}
    assert of(build, *each(seconds=2.5)).seconds == 15
    assert of(*each()).seconds is None


def at(load: str, *, session: int = 0, executions: int = 1) -> list[Line]:
    place = {"session": session, "factors": {"load": load}}
    return [line for b in range(2) for e in range(executions) for line in each(build=b, execution=e, **place)]


def test_executions_are_counted_at_each_setting_but_in_an_experiment() -> None:
    plan = {"plan": {"builds": 2, "executions": 3}}
    evidence = of(run_line(config=plan), *at("idle", executions=3), *at("busy"))
    assert evidence.rounds.planned == 2
    assert evidence.warnings == [ExecutionsShort("bench", "load=busy", 2, 2, 6)]
    study = {"plan": {"builds": 12, "executions": 3}, "study": {"factor": {"load": ["idle", "busy"]}}}
    evidence = of(run_line(config=study), *at("idle"), *at("busy", executions=2))
    assert (evidence.rounds.done, evidence.rounds.planned) == (2, None)
    assert [w for w in evidence.warnings if isinstance(w, (ExecutionsShort, RoundsShort))] == []


@pytest.mark.parametrize("bound", [True, False])
def test_a_setting_that_belongs_to_some_sessions_is_missing_in_no_other(bound: bool) -> None:
    settings = {"idle": {"session": 0}, "busy": {"session": 1}} if bound else {"idle": {}, "busy": {}}
    config = {"plan": {"builds": 2, "executions": 3}, "study": {"factor": {"load": settings}}}
    evidence = of(run_line(sessions=2, config=config), *at("idle"), *at("busy", session=1))
    assert (len(evidence.cases), bool(evidence.failures)) == ((2, False) if bound else (0, True))


@pytest.mark.parametrize("of_suite", [False, True])
def test_executions_of_short_turns_are_as_many_and_as_long_as_was_found(of_suite: bool) -> None:
    """Of a plan of 2 starts of 4 iterations: 4 of 2 are complete, and one that has 1 of 2 values is short."""
    name, owner = ("bench/case", "bench") if of_suite else ("bench", None)
    plan = {"executions": 2, "iterations": 4}
    rules: Line = {"benchmark": [benchmark("go" if of_suite else "values")], "plan": plan}
    run = run_line(turns=True, config={"build": {"command": "make"}, "plan": {"builds": 1, "executions": 2}})
    turn = {"type": "turn", "benchmark": "bench", "executions": 4, "iterations": 2, "starting": 0.03}
    lines = [
        execution(side, [1.0, 2.0], benchmark=name, execution=number, suite=owner)
        for side in SIDES
        for number in range(4)
    ]

    def said(*records: Line) -> list[str]:
        found = of(*records, **rules)
        every = [*found.warnings, *found.cases[0].warnings]
        return [*texts(every, "executions-short"), *texts(every, "values-short")]

    assert said(run, turn, *lines) == []
    assert said(run, turn, *lines[:-1]) == [ExecutionsShort(name, "", 4, 3, 4).sentence()]
    cut = execution("head", [1.0], benchmark=name, execution=3, suite=owner)
    (few,) = said(run, turn, *lines[:-1], cut)
    assert few.startswith("1 of 8 starts gave fewer than the 2 values asked for (1 of head), ")
    # a session that found longer ones is as complete
    longer = {**turn, "session": 1, "executions": 2, "iterations": 4}
    assert said(run, turn, longer, *lines[:-2]) == [ExecutionsShort(name, "", 4, 2, 4).sentence()]
    assert of(run, turn, *lines, **rules).turns[0].executions == 4
