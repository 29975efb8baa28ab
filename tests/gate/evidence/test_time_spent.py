"""A budget that ended within a round, and a tree that changed: what does not count, and what the report says of it."""

import io
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gate.cli.main import main
from gate.config.types import Config
from gate.decide.causes import budget_ended
from gate.evidence.runs import run_of
from gate.evidence.time_spent import cost_of, spent, uncounted, unfinished
from gate.model import SIDES, Cost, Execution, Record
from tests.support.lines import execution, located, text

CONFIG = {
    "plan": {"builds": 6, "executions": 2, "budget": "60s"},
    "benchmark": [{"name": "bench", "command": "x", "instrument": "values"}],
}
RUN = {"type": "run", "schema": 1, "id": "r", "seed": 1, "benchmarks": {"base": ["bench"], "head": ["bench"]}}


def build(side: str, number: int, seconds: float, setup: float | None = None) -> dict[str, Any]:
    return {"type": "build", "side": side, "build": number, "seconds": seconds, "setup": setup}


def rounds(count: int, head: float = 1.0) -> list[dict[str, Any]]:
    return [
        execution(side, [value + 0.001 * b, value + 0.002 * e], build=b, execution=e, seconds=1.0)
        for b in range(count)
        for side, value in (("base", 1.0), ("head", head))
        for e in range(2)
    ]


def end(rounds: int, **cut: Any) -> dict[str, Any]:
    place = {"phase": "execution", "side": "base", "build": rounds, "seconds": 3.0}
    return {"type": "host", "when": "end", "stop": "budget", "rounds": rounds, "cut": place | cut}


def decided(
    folder: Path, *lines: dict[str, Any], config: dict[str, Any] = CONFIG, run: dict[str, Any] | None = None
) -> tuple[int, str, dict[str, Any]]:
    file = folder / "measurements.jsonl"
    file.write_text(text([RUN | {"config": config} | (run or {}), *lines]))
    out, err = io.StringIO(), io.StringIO()
    code = main(["decide", str(file), "--json", str(folder / "report.json")], out, err)
    assert err.getvalue() == ""
    return code, " ".join(out.getvalue().split()), json.loads((folder / "report.json").read_text())


def test_the_round_that_the_budget_ended_does_not_count(tmp_path: Path) -> None:
    # only what is left of round 6 would be a regression, and only of head
    torn = [execution("head", [9.0, 9.0], build=5, execution=0, seconds=1.0)]
    code, out, report = decided(tmp_path, *rounds(5), *torn, end(5, benchmark="bench", execution=0))
    assert (code, report["verdict"], report["stopped"]) == (0, "pass", "budget")
    assert report["run"]["rounds"] == {"done": 5, "planned": 6}
    assert report["findings"][0]["head"]["counts"]["build"] == 5
    assert report["findings"][0]["head"]["value"] < 1.01
    assert report["failures"] == []
    assert "5 of 6 builds" in out


def test_a_failure_in_that_round_counts(tmp_path: Path) -> None:
    failed = {
        "type": "failure", "kind": "execution", "benchmark": "bench", "side": "head", "build": 5, "status": "exit 1",
    }  # fmt: skip
    code, _, report = decided(tmp_path, *rounds(5), failed, end(5))
    assert (code, report["verdict"], len(report["failures"])) == (4, "error", 1)


FIRST = build("base", 0, 30.0, 1.0)
TO_HEAD = end(0, phase="build", side="head", seconds=9.0)
ALONE = end(0, phase="build", side="base", seconds=40.0)
AND_FIRST = "ended before one round was comp"


@pytest.mark.parametrize(
    ("table", "lines", "said"),
    [
        # links, by their check: 2 x (1 + 30) of first builds, 8 links, 10 executions of a round of 1 each
        ({"command": "make"}, [FIRST | {"checked": 0.5}, TO_HEAD], "5 rounds take at least 1 min 06 s;"),
        # full ones, since links cannot replace them
        (
            {"command": "make"},
            [FIRST | {"checked": 0.5, "full": {"kind": "unsound"}}, TO_HEAD],
            "5 rounds take at least 5 min 02 s;",
        ),
        # a fresh checkout is no link
        ({}, [FIRST, TO_HEAD], "5 rounds take at least 5 min 02 s;"),
        # without one build links are not counted
        *[
            ({"command": "make", "relink": relink}, [ALONE], f"5 rounds take at least {least};")
            for relink, least in (("auto", "1 min 20 s"), ("off", "6 min 40 s"), ("true", "1 min 20 s"))
        ],
        # the first builds may go on beyond the budget
        (
            {},
            [build("base", 0, 40.0), end(0, phase="build", side="head", seconds=80.0, beyond=60.0)],
            f"the budget of 1 min, and 1 min more for first builds and proofs, {AND_FIRST}",
        ),
        # both are complete, and nothing was measured then
        (
            {},
            [*(build(side, 0, 40.0) for side in SIDES), end(0, phase="build", side="head", seconds=0.0)],
            f"the budget of 1 min {AND_FIRST}lete: during the first build of head (2 builds took 1 min 20 s)",
        ),
    ],
)
def test_later_builds_cost(tmp_path: Path, table: dict[str, Any], lines: list[dict[str, Any]], said: str) -> None:
    config = CONFIG | ({"build": table} if table else {})
    assert said in decided(tmp_path, *lines, config=config)[1]


def test_only_the_last_end_of_a_job_counts(tmp_path: Path) -> None:
    # of a run that was resumed, or of other sessions
    code, _, report = decided(tmp_path, *rounds(2), end(1), *rounds(3)[8:], end(3) | {"stop": "finished", "cut": None})
    assert (code, report["run"]["rounds"]["done"]) == (0, 3)


@pytest.mark.parametrize(
    ("lines", "headline", "least", "advised"),
    [
        # 2 sides x 40 s, or more than the budget
        ([end(0, phase="setup", seconds=40.0)], "during set-up of base", "1 min 20 s", "3m"),
        ([end(0, phase="setup", seconds=8.0)], "during set-up of base", "1 min", "2m"),
        # 2 sides x (2 s + 5 builds x 8 s)
        (
            [end(0, phase="build", seconds=8.0, setup=2.0)],
            "during the first build of base (set-up took 2.0 s)",
            "1 min 24 s",
            "3m",
        ),
        # 2 sides x (2 s + 5 x (1 s + 2 starts x 4 s))
        (
            [
                *(build(side, 0, 1.0, 2.0) for side in SIDES),
                *rounds(1)[:1],
                end(0, benchmark="bench", execution=1, seconds=4.0),
            ],
            "while bench was running on base (set-up took 4.0 s, 2 builds took 2.0 s, 1 start took 1.0 s)",
            "1 min 34 s",
            "4m",
        ),
        # 2 sides x (0.5 s + 5 x (1 s + 2 starts x 4 s))
        (
            [
                *(build(side, 0, 1.0, 0.5) for side in SIDES),
                end(0, phase="comparison", side="head", benchmark="bench", seconds=4.0, compared=1, comparing=3.0),
            ],
            "while the outputs of bench were compared on head (set-up took 1.0 s, 2 builds took 2.0 s, 1 start took 3.0 s)",
            "1 min 31 s",
            "4m",
        ),
    ],
)
def test_a_budget_that_ended_before_one_round(
    tmp_path: Path, lines: list[dict[str, Any]], headline: str, least: str, advised: str
) -> None:
    code, out, report = decided(tmp_path, *lines)
    assert (code, report["verdict"], report["stopped"], report["findings"]) == (4, "error", "budget", [])
    assert f"Error: the budget of 1 min ended before one round was complete: {headline} next " in out
    assert f"5 rounds take at least {least}" in out
    assert (report["failures"], report["summary"]["kind"]) == ([], "budget-ended")
    # there is room for more than the least
    assert re.findall(r"plan\.budget=(\w+)`", out) == [advised]


def changed(build: int, **more: Any) -> dict[str, Any]:
    return {"type": "failure", "kind": "tree", "side": "base", "build": build, "status": "a.py, by x", **more}


def test_what_was_measured_from_the_round_of_a_changed_tree_on_does_not_count(tmp_path: Path) -> None:
    slow = [execution("head", [9.0, 9.0], build=5, execution=e, seconds=1.0) for e in range(2)]
    lines = [*rounds(6)[: 5 * 4 + 2], *slow]
    code, out, report = decided(tmp_path, *lines, changed(5))
    assert (code, report["verdict"]) == (4, "error")
    assert [(each["kind"], each["side"], each["build"]) for each in report["failures"]] == [("tree", "base", 5)]
    assert report["run"]["rounds"]["done"] == 5
    assert report["findings"][0]["head"]["counts"]["build"] == 5
    assert "files of base changed: a.py, by x" in out
    # the same values in trees that nothing changed
    assert decided(tmp_path, *lines)[2]["findings"][0]["head"]["counts"]["build"] == 6


@pytest.mark.parametrize(
    ("measured", "at", "identical"),
    [(rounds(5), None, 1), (rounds(5), 1, 1), ([], 0, 0)],
    ids=["none", "later", "first"],
)
def test_nothing_is_missing(tmp_path: Path, measured: list[dict[str, Any]], at: int | None, identical: int) -> None:
    found = {"hash": {"base": "x", "head": "y"}, "differ": ["a"], "differ_count": 1}
    run = {"benchmarks": {side: ["bench", "other"] for side in SIDES}}
    lines = [{"type": "same", "benchmark": "other", **found}, *measured, *([] if at is None else [changed(at)])]
    _, _, report = decided(tmp_path, *lines, run=run)
    assert {each["kind"] for each in report["failures"]} <= {"tree"}
    # what was proved in the trees of the first round was perhaps proved of others
    assert [each["verdict"] for each in report["findings"]].count("identical") == identical


def test_in_an_experiment_other_settings_stay() -> None:
    lines = [
        execution(side, [1.0], build=build, execution=0, factors={"opt": opt, "n": n})
        for side in SIDES
        for build in range(2)
        for opt in ("O2", "O3")
        for n in (1, 2)
    ]
    records = located(*lines, changed(1, factors={"opt": "O3"}))
    dropped = uncounted(records)
    left = [r for each in records if isinstance(r := each.record, Execution) and id(r) not in dropped]
    kept = [(0, "O2"), (0, "O3"), (1, "O2")]
    assert [(e.side, e.build, e.factors["opt"]) for e in left] == [(s, *k) for s in SIDES for k in kept for _ in (1, 2)]


def test_the_cost_of_a_verdict_is_that_of_short_turns() -> None:
    run = {"type": "run", "turns": True, "benchmarks": {"base": ["b"], "head": ["b"]}}
    turn = {"type": "turn", "benchmark": "b", "executions": 10, "iterations": 1, "starting": 0.03}
    lines = [run, turn, execution("base", [1.0], benchmark="b", seconds=1.0), end(0)]
    found = unfinished(located(*lines), 60.0)
    assert found is not None and found.turns == {"b": 10}
    table = {"benchmark": [{"name": "b", "command": "x", "instrument": "values"}]}
    config = msgspec.convert({**table, "plan": {"executions": 2, "iterations": 5, "builds": 4}}, Config)
    # 4 rounds of 10 on both sides, at least of the 3 s that the cut took
    assert budget_ended(found, run_of(located(*lines)), config).least == pytest.approx(2 * 4 * 10 * 3.0)
    # and at least what the budget was that did not do
    large = unfinished(located(*lines), 500.0)
    assert large is not None and budget_ended(large, run_of(located(*lines)), config).least == 500.0


# --- where the time of a run went, by its records -----------------------------------------------------------------------


def made(side: str, number: int, seconds: float, **more: Any) -> dict[str, Any]:
    return {"type": "build", "side": side, "build": number, "seconds": seconds, **more}


def read_back(*lines: dict[str, Any]) -> list[Record]:
    return [each.record for each in located(*lines)]


BEGIN = {"type": "host", "when": "begin"}
BUILT = (
    made("base", 0, 20.0, setup=5.0, checked=1.0),
    made("head", 0, 22.0, setup=6.0, checked=1.5),
    made("base", 1, 1.0, relinked=True),
    made("head", 1, 2.0, relinked=True),
)
RAN = tuple(execution(side, [1.0], benchmark="b", seconds=3.0) for side in ("base", "head"))
LOOK = {"type": "look", "look": 1, "settled": [], "seconds": 0.5}


def ended(**more: Any) -> dict[str, Any]:
    return {"type": "host", "when": "end", **more}


def test_every_second_is_of_one_part() -> None:
    found = cost_of(read_back(BEGIN, *BUILT, *RAN, LOOK, ended(seconds=80.0, probe=4.0)))
    assert found == Cost(
        setup=11.0, compile=42.0, link=5.5, probe=4.0, measure=6.0, decide=0.5, other=11.0, total=80.0,
        compiled=2, linked=2,
    )  # fmt: skip
    assert spent(found) == 80.0


def test_what_a_run_does_beside_its_steps_has_parts() -> None:
    aside = {
        "start": 1.0, "probe": 4.0, "keep": 2.0, "again": 0.5, "outside": 3.0, "trees": 0.25, "of a newer one": 9.0,
    }  # fmt: skip
    found = cost_of(read_back(BEGIN, *BUILT, *RAN, LOOK, ended(seconds=80.0, probe=4.0, aside=aside)))
    assert (found.start, found.keep, found.again, found.outside, found.trees) == (1.0, 2.0, 0.5, 3.0, 0.25)
    assert found.other == 11.0 - 6.75
    # what comes once is no part of what each execution costs
    assert (found.before, found.between) == (4.0 + 1.0 + 3.0, 11.0 - 6.75 + 0.5 + 0.25)
    # a run that was resumed has two ends
    twice = cost_of(
        read_back(BEGIN, *BUILT, ended(seconds=70.0, aside=aside), BEGIN, *RAN, ended(seconds=9.0, aside=aside))
    )
    assert (twice.start, twice.trees) == (2.0, 0.5)


def test_what_was_profiled_after_the_end_is_part_of_the_whole() -> None:
    profile = {
        "type": "profile", "benchmark": "b", "side": "base", "profiler": "perf", "unit": "s", "seconds": 3.0,
        "frames": [{"function": "f"}], "stacks": [{"frames": [0], "cost": 1.0}],
    }  # fmt: skip
    none = {"type": "unprofiled", "benchmark": "c", "kind": "failed", "seconds": 2.0}
    before = cost_of(read_back(BEGIN, *BUILT, *RAN, ended(seconds=80.0)))
    found = cost_of(read_back(BEGIN, *BUILT, *RAN, ended(seconds=80.0), profile, none))
    assert (found.profile, found.total, found.other) == (5.0, 85.0, before.other)


def test_a_part_of_a_run_that_was_killed_leaves_the_total_open() -> None:
    killed = cost_of(read_back(BEGIN, *BUILT[:2], BEGIN, *BUILT[2:], *RAN, ended(seconds=9.0)))
    assert (killed.total, killed.other) == (None, None)
    assert spent(killed) == 11.0 + 42.0 + 5.5 + 6.0
    failed = {"type": "failure", "kind": "setup", "side": "head", "build": 0, "seconds": 4.0}
    costs = cost_of(read_back(failed)), cost_of(read_back({**failed, "kind": "build"}))
    assert (costs[0].setup, costs[1].compile) == (4.0, 4.0)
    nothing = cost_of([])
    assert (nothing.total, spent(nothing)) == (None, None)
    resumed = cost_of(read_back(BEGIN, *BUILT, ended(seconds=70.0, probe=1.0), BEGIN, *RAN, ended(seconds=9.0)))
    assert (resumed.total, resumed.probe) == (79.0, 1.0)


def test_what_failed_and_what_the_budget_cut_took_time_too() -> None:
    failed = {"type": "failure", "kind": "build", "side": "head", "build": 0, "status": "exit 1", "seconds": 7.0}
    assert cost_of(read_back(made("base", 0, 20.0), failed)).compile == 27.0
    cut = {"phase": "execution", "side": "base", "benchmark": "b", "build": 0, "execution": 0, "seconds": 2.0}
    assert cost_of(read_back(*RAN, ended(stop="budget", rounds=0, cut=cut))).measure == 8.0
    setting_up = {"phase": "setup", "side": "base", "build": 0, "seconds": 2.0}
    assert cost_of(read_back(ended(stop="budget", rounds=0, cut=setting_up))).setup == 2.0
    # the seconds of the probe are all its own
    comparing = {"phase": "comparison", "side": "base", "benchmark": "b", "build": 0, "execution": 0, "seconds": 2.0}
    found = cost_of(read_back(ended(stop="budget", rounds=0, cut=comparing, probe=5.0)))
    assert (found.probe, found.measure) == (5.0, None)
