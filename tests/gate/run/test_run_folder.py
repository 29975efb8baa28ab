"""What a resumed run must find unchanged."""

from pathlib import Path

import msgspec
import pytest

from gate.config.config_text import from_tables
from gate.config.parse import parse
from gate.config.schema import to_tables
from gate.model import Commit, Run, UserError
from gate.run.run_folder import refuse_other


def run(**plan: object) -> Run:
    tables = {"plan": plan, "benchmark": [{"name": "a", "command": "true", "instrument": "values"}]}
    return Run(id="1", seed=7, config=to_tables(parse(from_tables(tables, "test"))), benchmarks={"base": ["a"]})


def test_a_key_that_an_older_perfgate_did_not_know_changes_nothing() -> None:
    now = run()
    assert now.config is not None and "format" in now.config["benchmark"][0]
    older = [{key: value for key, value in each.items() if key != "format"} for each in now.config["benchmark"]]
    refuse_other(msgspec.structs.replace(now, config=now.config | {"benchmark": older}), now, Path("folder"))


def differing(past: Run, now: Run) -> str:
    with pytest.raises(UserError) as caught:
        refuse_other(past, now, Path("folder"))
    start = "--resume: cannot continue the run in folder: "
    assert str(caught.value).startswith(start)
    return str(caught.value).removeprefix(start)


def test_what_changed_of_the_rules_is_named() -> None:
    assert differing(run(budget="5m"), run(budget="10m")) == 'plan.budget was "5m", is "10m"'
    assert differing(run(), run(iterations=9, metrics=["time"])) == (
        'plan.iterations was 10, is 9; plan.metrics was none, is ["time"]'
    )
    assert differing(run(builds=3), run()) == "plan.builds was 3, is a table"
    assert differing(run(builds={"min": 4, "max": 12}), run(builds={"min": 4, "max": 16})) == (
        "plan.builds.max was 12, is 16"
    )


@pytest.mark.parametrize(("was", "now"), [(0, -20), (-20, 0), (None, -20)])
def test_a_run_of_another_priority_is_another(was: int | None, now: int) -> None:
    past, other = (
        msgspec.structs.replace(run(), host={} if priority is None else {"priority": priority})
        for priority in (was, now)
    )
    assert differing(past, other) == f"the priority was {was or 0}, is {now}"
    refuse_other(other, other, Path("folder"))


def test_many_changes_are_counted() -> None:
    now = run(iterations=9, executions=2, budget="1h", builds=3, shards=2)
    said = differing(run(), now)
    assert said.count(" was ") == 4
    assert said.endswith("; 1 more setting changed")


def test_a_changed_benchmark_is_named() -> None:
    now = run()
    assert now.config is not None
    first = now.config["benchmark"][0]
    other = now.config | {"benchmark": [first | {"command": "false"}]}
    assert differing(now, msgspec.structs.replace(now, config=other)) == ('benchmark.a.command was "true", is "false"')
    more = now.config | {"benchmark": [first, first | {"name": "b"}]}
    assert differing(now, msgspec.structs.replace(now, config=more)) == "benchmark.b was none, is a table"
    sides = msgspec.structs.replace(now, benchmarks={"base": ["a"], "head": ["a"]})
    assert differing(now, sides) == 'head\'s benchmarks were none, are ["a"]'


def test_keys_that_may_differ_and_others_are_told_apart() -> None:
    past, now = run(budget="5m", iterations=3), run(budget="10m", iterations=4)
    with pytest.raises(UserError) as caught:
        refuse_other(past, now, Path("folder"), [("plan", "budget")])
    assert str(caught.value).endswith("folder: plan.iterations was 3, is 4")
    refuse_other(past, run(budget="10m", iterations=3), Path("folder"), [("plan", "budget")])


def test_another_commit_with_the_same_sources_is_the_same_to_a_study() -> None:
    def at(sha: str, sources: str | None) -> Run:
        sources_of = {"head": sources} if sources else {}
        return msgspec.structs.replace(run(), head=Commit(ref="HEAD", sha=sha), sources=sources_of)

    refuse_other(at("a", "sha256:1"), at("b", "sha256:1"), Path("folder"))
    assert differing(at("a", "sha256:1"), at("b", "sha256:2")) == "head was a, is b"
    assert differing(at("a", None), at("b", None)) == "head was a, is b"
