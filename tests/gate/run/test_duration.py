"""How long a run takes, and whether one round fits the budget, before anything is measured."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gate.config.config_text import read_source
from gate.config.parse import parse
from gate.config.study import SettingTable, Study
from gate.config.treatments import treatments
from gate.config.types import BuildTable, Config
from gate.evidence.records import read
from gate.evidence.time_spent import pace_of
from gate.model import SIDES, Commit, Run
from gate.model.warnings.setup import BudgetHoldsFew
from gate.run.duration import budget_warnings, expected_time, past_of
from gate.run.job import plan_warnings, quantile_warnings
from harness.loop.schedule import Round, design_schedule, schedule
from tests.support.lines import execution, text

ROUNDS = schedule({"base": ["b"], "head": ["b"]}, 3, 2, seed=1)


def config(budget: float) -> Config:
    written = f'[plan]\nbudget = "{budget}s"\nbuilds = 3\nexecutions = 2\niterations = 5\n[build]\ncommand = "x"\n'
    return parse(
        read_source(written + '[[benchmark]]\nname = "b"\ncommand = "x"\ninstrument = "hyperfine"\n', "perfgate.toml")
    )


def build(side: str, seconds: float, setup: float | None = None, number: int = 0, **more: Any) -> dict[str, Any]:
    return {"type": "build", "side": side, "build": number, "seconds": seconds, "setup": setup, **more}


def built(seconds: float = 1.0, setup: float | None = None, **more: Any) -> list[dict[str, Any]]:
    """A build of each side."""
    return [build(side, seconds, setup, **more) for side in SIDES]


def ran(seconds: float = 0.5, values: Sequence[float] = (1.0,), **more: Any) -> list[dict[str, Any]]:
    """An execution on each side."""
    return [execution(side, [*values], benchmark="b", seconds=seconds, **more) for side in SIDES]


def left(folder: Path, *lines: dict[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "measurements.jsonl").write_text(text(lines))
    return folder


def warned(rounds: Sequence[Round], folder: Path, budget: float) -> list[BudgetHoldsFew]:
    return budget_warnings(rounds, folder, config(budget))


def expected(rounds: Sequence[Round], folder: Path) -> float | None:
    return expected_time(rounds, past_of(folder), config(900.0))


def test_set_up_counts_once_a_side(tmp_path: Path) -> None:
    folder = left(tmp_path, build("base", 1.0, 10.0), build("head", 2.0, 20.0), *ran())
    # 10 + 20 of set-up; a round is 1 + 2 of builds and 4 executions
    assert expected(ROUNDS, folder) == pytest.approx(30 + 3 * (3 + 4 * 0.5))
    # a tenth stays free
    assert warned(ROUNDS, folder, 50.0) == []
    # all three rounds are less than a regression needs
    assert warned(ROUNDS, folder, 49.9) == [BudgetHoldsFew(2, 3, 45.0, 49.9, 60.0)]
    assert warned(ROUNDS, folder, 39.0) == [BudgetHoldsFew(1, 3, 45.0, 39.0, 60.0)]
    assert warned(ROUNDS, folder, 34.9) == [BudgetHoldsFew(0, 3, 45.0, 34.9, 60.0)]
    more = schedule({"base": ["b"], "head": ["b"]}, 12, 2, seed=1)
    assert warned(more, folder, 61.0) == [BudgetHoldsFew(4, 5, 55.0, 61.0, 120.0)]


def test_a_run_that_only_waited_leaves_the_estimate_to_the_one_before(tmp_path: Path) -> None:
    last = [*built(), *ran()]
    held = {"type": "failure", "kind": "lock", "status": "x"}
    names = ("runs/20260101T000000Z-a", "runs/20260102T000000Z-b", "runs/20260103T000000Z-c", ".")
    for name, lines in zip(names, ([], last, [held], [held]), strict=True):
        left(tmp_path / name, *lines)
    assert expected(ROUNDS, tmp_path) == pytest.approx(3 * (2 + 4 * 0.5))
    # one that waited, was resumed and measured is the last
    left(tmp_path, held, {"type": "host", "when": "begin"}, *built(), *ran(1.5))
    assert expected(ROUNDS, tmp_path) == pytest.approx(3 * (2 + 4 * 1.5))


def test_a_budget_that_ended_the_last_run_is_too_small_again(tmp_path: Path) -> None:
    run = {"type": "run", "schema": 1, "config": {"plan": {"budget": "60s"}}}
    cut = {"phase": "build", "side": "base", "build": 0, "seconds": 50.0}
    end = {"type": "host", "when": "end", "stop": "budget", "rounds": 0, "cut": cut}
    folder = left(tmp_path, run, end)
    assert warned(ROUNDS, folder, 60.0) == [BudgetHoldsFew(0, 3, 60.0, 60.0, None)]
    assert warned(ROUNDS, folder, 61.0) == []


def test_a_kept_build_does_not_end_the_next_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the run that the budget ended the builds are kept that were done: here base's, of 45 of the 60 s."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CI", raising=False)

    def of(base: str) -> Run:
        return Run(base=Commit(ref="main", sha=base), head=Commit(ref="HEAD", sha="two"))

    sides = {"base": {"ref": "main", "sha": "one"}, "head": {"ref": "HEAD", "sha": "two"}}
    first = {"type": "run", "schema": 1, "config": {"plan": {"budget": "60s"}}, **sides}
    cut = {"phase": "build", "side": "head", "build": 0, "seconds": 15.0}
    end = {"type": "host", "when": "end", "stop": "budget", "rounds": 0, "cut": cut}
    folder = left(tmp_path, first, build("base", 43.0, 1.0, checked=1.0), end)
    assert budget_warnings(ROUNDS, folder, config(60.0), of("one")) == []
    # what remains of the 60 s is 16: 44 are saved, with a link of 1 s to be made in any case
    assert budget_warnings(ROUNDS, folder, config(16.1), of("one")) == []
    assert budget_warnings(ROUNDS, folder, config(16.0), of("one")) == [BudgetHoldsFew(0, 3, 60.0, 16.0, None)]
    assert budget_warnings(ROUNDS, folder, config(60.0), of("other")) == [BudgetHoldsFew(0, 3, 60.0, 60.0, None)]


def test_later_builds_take_less_than_the_first(tmp_path: Path) -> None:
    first, later = built(20.0), built(number=1, relinked=True)
    # two first builds, two rounds of later ones, 12 executions
    assert expected(ROUNDS, left(tmp_path, *first, *later, *ran())) == pytest.approx(40 + 4 + 6)
    # where one round is all that was made, linking again to check the first build tells what the next ones take
    assert expected(ROUNDS, left(tmp_path, *built(20.0, checked=1.5), *ran())) == pytest.approx(43 + 6 + 6)
    unsound = built(20.0, checked=1.5, full={"kind": "unsound"})
    assert expected(ROUNDS, left(tmp_path, *unsound, *ran())) == pytest.approx(43 + 80 + 6)


def test_a_report_counts_rounds_as_a_dry_run_does(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [{"type": "host", "when": "begin"}]
    lines += built(20.0, 3.0, checked=1.5)
    lines += [build(side, 1.0 + number, number=number, relinked=True) for side in SIDES for number in (1, 2)]
    lines += [
        execution(side, [1.0], benchmark="b", seconds=0.5 + number, build=number, execution=each)
        for side in SIDES
        for number in (0, 1, 2)
        for each in (0, 1)
    ]
    # settled after its first round: a plan without looks executes it in every one
    lines += [execution(side, [1.0], benchmark="c", seconds=4.0, execution=each) for side in SIDES for each in (0, 1)]
    lines += [{"type": "host", "when": "end", "seconds": 120.0, "probe": 5.0}]
    folder = left(tmp_path, *lines)
    pace = pace_of([each.record for each in read("x", text(lines).encode()).records])
    assert pace is not None
    for count in (3, 30):
        rounds = schedule({"base": ["b", "c"], "head": ["b", "c"]}, count, 2, seed=1)
        assert pace.of(count) == pytest.approx(expected(rounds, folder))


def test_what_perfgate_itself_takes_and_the_probe_count(tmp_path: Path) -> None:
    last = [*built(), *ran()]
    begin = {"type": "host", "when": "begin"}
    end = {"type": "host", "when": "end", "seconds": 10.0, "probe": 6.0}
    # 10 s less 2 of builds, 1 of executions and 6 of the probe is 1 s for 2 executions
    assert expected(ROUNDS, left(tmp_path, begin, *last, end)) == pytest.approx(6 + 12 * (0.5 + 0.5) + 6)


def test_a_run_of_another_plan_tells_nothing(tmp_path: Path) -> None:
    other = {"type": "run", "schema": 1, "config": {"plan": {"executions": 2, "iterations": 3}}}
    assert expected(ROUNDS, left(tmp_path, other, *built(), *ran())) is None
    left(
        tmp_path / "runs/20260101T000000Z-a",
        other | {"config": {"plan": {"executions": 2, "iterations": 5}}},
        *built(),
        *ran(),
    )
    assert expected(ROUNDS, tmp_path) == pytest.approx(6 + 6)


def test_turns_count_as_short_as_they_were(tmp_path: Path) -> None:
    turn = {"type": "turn", "benchmark": "b", "executions": 10, "iterations": 1, "starting": 0.1}
    last = [*built(), *(line for n in range(10) for line in ran(values=[0.45], execution=n))]
    # three rounds of 20 executions of half a second
    assert expected(ROUNDS, left(tmp_path, turn, *last)) == pytest.approx(6 + 3 * 20 * 0.5)


def test_names_that_lead_others_and_lines_of_suites_count_once(tmp_path: Path) -> None:
    rounds = schedule({side: ["b", "b/c"] for side in SIDES}, 3, 2, seed=1)
    now = [*built(), *(execution(side, [1.0], benchmark="b/c", seconds=2.0) for side in SIDES)]
    was = [*now]
    for side, lines in {"base": "xy", "head": "zv"}.items():
        now += [execution(side, [0.1], benchmark=f"b/{x}", seconds=0.25, suite="b", lines=2) for x in lines]
        was += [execution(side, [0.1], benchmark=f"b/old-{x}", seconds=9.0, suite="b", lines=2) for x in lines]
    left(tmp_path / "runs/20260101T000000Z-a", *was)
    assert expected(rounds, left(tmp_path, *now)) == pytest.approx(6 + 12 * (0.5 + 2.0))


def test_what_compiles_for_an_unknown_time_takes_an_unknown_time(tmp_path: Path) -> None:
    assert expected(ROUNDS, left(tmp_path, *built(0.1, cached=True, following=0.1), *ran())) is None


def test_what_was_identical_takes_as_long_as_its_proof(tmp_path: Path) -> None:
    run = Run(base=Commit(sha="a"), head=Commit(sha="b"))
    same = {"type": "same", "benchmark": "b", "differ": [], "differ_count": 0, "read_count": 1, "hash": {}}
    lines = {"type": "run", "schema": 1, "base": {"sha": "a"}, "head": {"sha": "b"}}
    folder = left(tmp_path, lines, *built(1.0, 3.0), same)
    found = expected_time(
        ROUNDS,
        past_of(folder),
        msgspec.structs.replace(config(900.0), build=BuildTable(command="x", cache="off")),
        run,
    )
    assert found == pytest.approx(8.0)


def test_a_commit_that_was_built_before_is_not_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(base: str, head: str) -> Run:
        return Run(base=Commit(sha=base), head=Commit(sha=head))

    def seconds(base: str, head: str) -> float:
        found = expected_time(ROUNDS, past_of(tmp_path), config(900.0), run(base, head))
        assert found is not None
        return found

    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    first = {"type": "run", "schema": 1, "base": {"sha": "one"}, "head": {"sha": "two"}}
    left(tmp_path, first, *built(20.0, 5.0, checked=2.0), *built(number=1, relinked=True), *ran())
    # links of 1 s in later rounds, and in place of the first builds that are kept
    assert seconds("three", "four") == pytest.approx(2 * 27 + 4 + 6)
    assert seconds("one", "three") == pytest.approx(27 + 1 + 4 + 6)
    assert seconds("two", "one") == pytest.approx(6 + 6)
    # in CI nothing is kept
    monkeypatch.setenv("CI", "true")
    assert seconds("two", "one") == pytest.approx(2 * 27 + 4 + 6)
    # a run of kept builds says nothing of compiling: the one before it does
    monkeypatch.delenv("CI")
    (tmp_path / "runs/20260101T000000Z-a").mkdir(parents=True)
    (tmp_path / "measurements.jsonl").rename(tmp_path / "runs/20260101T000000Z-a" / "measurements.jsonl")
    left(tmp_path, first, *built(2.0, cached=True, relinked=True), *ran())
    assert seconds("three", "four") == pytest.approx(2 * 27 + 4 * 2 + 6)
    # nor is what depends on settings kept
    study = Study(factor={"opt": {"O2": SettingTable(build_env={"C": "1"}), "O3": SettingTable()}})
    steps = design_schedule(["b"], treatments(study, BuildTable(command="x")), (1, 1), seed=1)
    settings: list[dict[str, Any]] = [{"factors": {"opt": opt}} for opt in ("O2", "O3")]
    left(
        tmp_path,
        first,
        *(build("head", 20.0, 5.0, checked=2.0, **each) for each in settings),
        *(execution("head", [1.0], benchmark="b", seconds=0.5, **each) for each in settings),
    )
    found = expected_time(steps, past_of(tmp_path), config(900.0), run("one", "two"))
    assert found == pytest.approx(2 * 27 + 2 * 2 + 4 * 0.5)


def test_a_checkout_that_is_the_build_takes_no_time(tmp_path: Path) -> None:
    steps = design_schedule(["b"], treatments(Study(factor={"n": [1, 2]}), BuildTable()), (1, 1), seed=1)
    done = [execution("head", [1.0], benchmark="b", seconds=0.5, factors={"n": n}) for n in (1, 2)]
    folder = left(tmp_path, build("head", 0.0, 3.0), *done)
    assert expected(steps, folder) == pytest.approx(3 + 4 * 0.5)


def test_a_quantile_that_the_plan_is_too_small_for_is_named() -> None:
    def rules(iterations: int, *statistics: str) -> Config:
        benchmark = {
            "name": "b", "command": "x", "metric": {"latency": {"statistics": statistics}}, "instrument": "values",
        }  # fmt: skip
        table = {"plan": {"builds": 5, "executions": 2, "iterations": iterations}, "benchmark": [benchmark]}
        return msgspec.convert(table, Config)

    said = "b: p99 of latency needs 1000 values per build, the plan has 20 (2 starts x 10 values)"
    assert quantile_warnings(rules(10, "mean", "p50", "p99")) == [said]
    assert quantile_warnings(rules(500, "p99")) == []
    # the program may write more: the report must not say so
    assert plan_warnings(rules(10, "p99"), None) == []
