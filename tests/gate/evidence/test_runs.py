"""Several files of one gate: parts that are missing or twice, rounds and looks of all, what is remembered, machines."""

from typing import Any

import msgspec
import pytest

from gate.config.config_text import read_source
from gate.config.parse import parse
from gate.config.types import Config
from gate.evidence.gather import gather
from gate.evidence.lines import Located
from gate.evidence.records import read
from gate.evidence.runs import EvidenceError, run_of
from gate.model import SIDES, Evidence, Memory
from gate.model.warnings.base import Said
from gate.model.warnings.hosts import UnfitHost
from gate.model.warnings.measured import MetricMissing, RoundsShort
from tests.support.lines import builds, execution, text
from tests.support.warned import kinds, texts

ONE = [[[1.0], [2.0]], [[3.0], [4.0]]]
CONFIG = {"plan": {"builds": 2, "executions": 2}, "build": {"command": "make"}}
MEMORY = msgspec.to_builtins(Memory(findings=[], contrast_nu=None, build_nu=None, unused=[Said("not used")]))


def run_line(benchmarks: str = "", **more: Any) -> dict[str, Any]:
    """Make a run line; benchmarks: names of one letter that both sides have, none for a line that does not say."""
    known = {"benchmarks": {side: list(benchmarks) for side in ("base", "head")}} if benchmarks else {}
    return {"type": "run", "base": {"sha": "a"}, "head": {"sha": "b"}, "config": CONFIG, **known, **more}


def both(name: str, session: int = 0, nested: list[list[list[float]]] = ONE) -> list[dict[str, Any]]:
    return [{**line, "session": session} for side in ("base", "head") for line in builds(side, nested, benchmark=name)]


def files(*contents: list[dict[str, Any]]) -> list[Located]:
    """Read lines as files a, b, c..."""
    return [
        located
        for name, lines in zip("abcdefgh", contents, strict=False)
        for located in read(name, text(lines).encode()).records
    ]


def part(names: str, shard: str, session: int, sessions: int = 2, **more: Any) -> list[dict[str, Any]]:
    values = [line for name in names for line in both(name, session)]
    return [run_line(names, shard=shard, session=session, sessions=sessions, **more), *values]


ALL = [part("x", "1/2", 0), part("yz", "2/2", 0), part("x", "1/2", 1), part("yz", "2/2", 1)]


def gathered(*contents: list[dict[str, Any]], select: tuple[str, ...] = ()) -> Evidence:
    return gather(files(*contents), Config(), select)


def statuses(evidence: Evidence) -> list[tuple[str | None, str]]:
    return [(f.benchmark, f.status) for f in evidence.failures]


# --- parts ------------------------------------------------------------------------------------------------------------


def test_parts_become_one_run_also_in_one_file() -> None:
    evidence = gathered(*ALL)
    assert evidence.failures == []
    assert (evidence.rounds.done, evidence.rounds.planned) == (4, 4)
    assert evidence.run is not None
    assert evidence.run.benchmarks == {"base": ["x", "y", "z"], "head": ["x", "y", "z"]}
    assert [case.base.counts[2].tolist() for case in evidence.cases] == [[2, 2]] * 3
    assert kinds(evidence.warnings) == ["two-sessions"]
    together = gathered([line for lines in ALL for line in lines])
    assert (together.failures, together.rounds.done) == ([], 4)


OLD = {**run_line(shard="2/2", session=0), "benchmarks": {"base": ["old"], "head": []}}
FAILED = {"type": "failure", "kind": "build", "side": "head", "session": 1, "build": 0, "status": "exit 2"}


@pytest.mark.parametrize(
    ("files_", "said"),
    [
        (ALL[:3], [(None, "shard 2 of 2 of session 1 is missing")]),
        (
            [ALL[0], ALL[3]],
            [(None, "shard 2 of 2 of session 0 is missing"), (None, "shard 1 of 2 of session 1 is missing")],
        ),
        ([ALL[0], ALL[2]], [(None, "shard 2 of 2 is missing")]),
        (ALL[2:], [(None, "session 0 of 2 is missing")]),
        # a part without an execution names its file; one that failed says what failed and no more
        (
            [*ALL[:3], ALL[3][:1]],
            [(None, "shard 2 of 2 of session 1 gave no values: d ends before the first start")],
        ),
        ([*ALL[:3], [ALL[3][0], FAILED]], [(None, "exit 2")]),
        ([*ALL[:3], [ALL[3][0], {**FAILED, "kind": "setup"}]], [(None, "exit 2")]),
        # a session of one side is no session
        (
            [*ALL[:2], [line for line in ALL[2] if line.get("side") != "head"], ALL[3]],
            [(None, "shard 1 of 2 of session 1 has no values of head")],
        ),
        # a shard without anything to compare is not missing
        ([part("x", "1/2", 0, 1), [OLD]], [("old", "base has it, head does not")]),
    ],
)
def test_each_missing_part_is_named(files_: list[list[dict[str, Any]]], said: list[tuple[str | None, str]]) -> None:
    evidence = gathered(*files_)
    # of what was not measured at all nothing is said of single benchmarks
    assert [each for each in statuses(evidence) if each[0] in (None, "old")] == said
    if OLD in files_[-1]:
        assert (evidence.rounds.done, evidence.rounds.planned) == (2, 2)


def test_a_benchmark_that_one_session_lacks_is_not_judged_by_the_others() -> None:
    without = [line for line in ALL[3] if line.get("benchmark") != "z"]
    evidence = gathered(*ALL[:3], without)
    assert set(statuses(evidence)) == {("z", "gave no values in session 1")}
    assert [case.benchmark for case in evidence.cases] == ["x", "y"]
    assert gathered(*ALL[:3], without, select=("x",)).failures == []


def metrics(session: int, without: str = "", side: str = "", **more: Any) -> list[dict[str, Any]]:
    """Make a session whose executions have the metrics a and b, without one of them, on one side or both."""
    lines = []
    for line in both("x", session):
        values = line["metrics"]["time"]
        kept = [name for name in "ab" if name != without or line["side"] not in (side or SIDES)]
        lines.append({**line, "metrics": dict.fromkeys(kept, values), **more})
    return [run_line("x", session=session, sessions=2), *lines]


@pytest.mark.parametrize("side", ["base", "head", ""])
@pytest.mark.parametrize("session", [0, 1])
def test_a_metric_that_one_session_lacks_is_not_judged_by_the_others(session: int, side: str) -> None:
    parts = [metrics(s, "b" if s == session else "", side) for s in (0, 1)]
    evidence = gathered(*parts)
    (failure,) = evidence.failures
    assert (failure.kind, failure.benchmark, failure.session) == ("missing", "x", session)
    assert (failure.side, failure.status) == (side or None, f"metric b gave no values in session {session}")
    assert [case.metric for case in evidence.cases] == ["a"]
    # of one that is only recorded it is a warning
    config = parse(read_source('[plan]\nmetrics = ["a"]', "perfgate.toml"))
    evidence = gather(files(*parts), config)
    assert evidence.failures == []
    assert MetricMissing("x", "b", "{}", session) in evidence.warnings
    assert {case.metric: case.decided for case in evidence.cases} == {"a": True, "b": False}


def test_metrics_and_settings_that_each_side_or_session_lacks_elsewhere() -> None:
    evidence = gathered(metrics(0, "b", "base"), metrics(1, "b", "head"))
    assert [(f.session, f.side) for f in evidence.failures] == [(0, "base"), (1, "head")]
    evidence = gathered(metrics(0, factors={"size": 1}), metrics(1, factors={"size": 2}))
    assert [(f.benchmark, f.factors, f.status) for f in evidence.failures][:2] == [
        ("x", {"size": 1}, f"metric {name} gave no values in session 1") for name in "ab"
    ]
    assert (len(evidence.failures), evidence.cases) == (4, [])


def test_an_unfit_host_is_named_where_there_are_several() -> None:
    unfit = {"kind": "unfit-host", "problem": "power supply: battery"}
    held = {"kind": "unfit-host", "problem": "governor: powersave"}
    told: list[list[dict[str, Any]]] = [[unfit], [], [unfit, held]]
    parts = [
        [run_line("x", session=k, sessions=3, host={"hostname": f"m{k}"}, warnings=own), *both("x", k)]
        for k, own in enumerate(told)
    ]
    found = [w for w in gathered(*parts).warnings if isinstance(w, UnfitHost)]
    assert found == [
        UnfitHost("power supply: battery", ("session 0 (m0)", "session 2 (m2)")),
        UnfitHost("governor: powersave", ("session 2 (m2)",)),
    ]
    alone = gathered([run_line("x", host={"hostname": "m"}, warnings=[unfit]), *both("x")]).warnings
    assert UnfitHost("power supply: battery") in alone


def test_the_order_of_files_changes_nothing() -> None:
    own = [[{**each[0], "seed": k, "warnings": [f"of {k}"]}, *each[1:]] for k, each in enumerate(ALL)]
    first, second = (gathered(*order) for order in (own, own[::-1]))
    assert first.run is not None
    assert (first.run, first.run.seed) == (second.run, 0)
    assert [case.benchmark for case in second.cases] == [case.benchmark for case in first.cases] == ["x", "y", "z"]
    assert (second.warnings, second.failures) == (first.warnings, first.failures)
    # one file keeps its own order
    alone = gathered([line for lines in own[::-1] for line in lines])
    assert alone.run is not None
    assert alone.run.seed == 3


def test_the_same_part_twice_names_both_files() -> None:
    said = "^b:1 and e:1: both hold shard 2 of 2 of session 0: leave one out$"
    with pytest.raises(EvidenceError, match=said):
        gathered(*ALL, ALL[1][:1])
    with pytest.raises(EvidenceError, match=r"^a:1 and b:1: both hold shard 1 of 2: leave"):
        run_of(files([run_line(shard="1/2")], [run_line(shard="1/2")]))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"shard": "3/2"}, "a:1: shard 3/2: there are 2"),
        ({"sessions": 2, "session": 2}, "a:1: session 2 of 2: they count from 0"),
        ({"session": 1}, "a:1: session 1 of 1: they count from 0"),
        ({"shard": "1/9999", "sessions": 10_000}, "a:1: 9,999 shards x 10,000 sessions are more than 4096 parts"),
    ],
)
def test_parts_that_cannot_be_are_refused(more: dict[str, Any], said: str) -> None:
    with pytest.raises(EvidenceError) as caught:
        gathered([run_line(**more)])
    assert str(caught.value) == said


# --- rounds and looks -------------------------------------------------------------------------------------------------


def test_a_round_counts_when_every_shard_has_it() -> None:
    short = [line for line in ALL[3] if line.get("build") != 1]
    evidence = gathered(*ALL[:3], short)
    assert (evidence.rounds.done, evidence.rounds.planned) == (3, 4)
    assert evidence.warnings[0] == RoundsShort(3, 4)
    assert texts(evidence.warnings, "parts-short") == ["shard 2 of 2 of session 1 measured 1 of its 2 rounds"]
    # what of it is decided changes nothing of what was measured
    chosen = gathered(*ALL[:3], short, select=("x",))
    assert (chosen.rounds, chosen.failures) == (evidence.rounds, [])


PLAN = {"plan": {"builds": {"min": 4, "max": 12}, "budget": 100}}


def test_looks_are_those_of_the_slowest_session_and_of_the_whole_run() -> None:
    look = {"type": "look", "look": 4}
    lines = [
        execution(side, [1.0], benchmark=name, session=session, build=b, seconds=seconds)
        for side in ("base", "head")
        for name, seconds in (("x", 1.0), ("y", 4.2))
        for session in (0, 1)
        for b in range(4)
    ]
    run = {**run_line("xy"), "config": PLAN}
    # 10.4 s a round in each session, and 5% for perfgate itself, 100 s: 9 rounds; both together would leave 4
    assert gathered([run, *lines, look]).looks == [4, 5, 7, 9]
    assert gathered([run, *lines, look], select=("x",)).looks == [4, 5, 7, 9]


def test_the_round_at_which_the_budget_ended_is_looked_at() -> None:
    def looks(done: int, *, stop: str = "budget", session: int = 0) -> list[int]:
        run = {**run_line("x"), "config": PLAN}
        lines = [
            execution(side, [1.0], benchmark="x", session=own, build=b, seconds=5.2)
            for side in ("base", "head")
            for own in {0, session}
            for b in range(done)
        ]
        looked = [{"type": "look", "look": n + 1} for n in range(done)]
        ends = [{"type": "host", "when": "end", "session": own, "state": {}, "stop": stop} for own in {0, session}]
        return gathered([run, *lines, *looked, *ends]).looks

    assert [looks(done) for done in (4, 6, 8, 9)] == [[4, 5, 7, 9], [4, 5, 6, 7, 9], [4, 5, 7, 8, 9], [4, 5, 7, 9]]
    # before the first look nothing has been spent; what ended by itself has its looks; sessions end apart
    assert looks(3) == looks(6, stop="settled") == looks(6, session=1) == [4, 5, 7, 9]


# --- machines ---------------------------------------------------------------------------------------------------------


def of_host(name: str, **more: Any) -> dict[str, Any]:
    return {"host": {"fingerprint": name * 4, "hostname": name}, **more}


SEVERAL = "it holds one session, and this run has several"
M, N = of_host("m"), of_host("n")


@pytest.mark.parametrize(
    ("contents", "why"),
    [
        ([[run_line("x", memory=MEMORY, **M), *both("x")]], None),
        (
            [part("x", "1/2", 0, 1, memory=MEMORY, **M), part("y", "2/2", 0, 1, memory=MEMORY, **N)],
            SEVERAL,
        ),
        ([part("x", "1/2", 0, 1, memory=MEMORY, **M), part("y", "2/2", 0, 1, **M)], SEVERAL),
        ([[run_line("x", memory=MEMORY, **M), *both("x"), *both("x", 1)]], SEVERAL),
        ([part("x", "1/1", s, memory=MEMORY, **M) for s in (0, 1)], SEVERAL),
    ],
)
def test_what_one_machine_remembers_stays_in_one_run_of_it(contents: list[Any], why: str | None) -> None:
    evidence = gathered(*contents)
    assert evidence.run is not None
    assert (evidence.run.memory is None) is (why is not None)
    said = texts(evidence.warnings, "memory-unused")
    assert said == ([f"the memory of this host is not used: {why}"] if why else [])


def test_several_machines_are_named() -> None:
    contents = [part("x", "1/1", s, 3, **of_host(name)) for s, name in enumerate("mnm")]
    (found,) = texts(gathered(*contents).warnings, "several-machines")
    assert found.startswith("host: measured on 2 machines or boots, host m (machine mmmm) and host n (machine nnnn); ")
