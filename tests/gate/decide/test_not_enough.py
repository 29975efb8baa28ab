"""A run that ended before a verdict was possible is an error, with what a verdict costs and the setting that gives it."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from gate.publishing.publish import annotated
from gate.report.json import read as read_report
from tests.gate.decide.decided import Lines, typed
from tests.support.lines import execution, text
from tests.support.project import CONFIG, repository, speed

EARLY = {"builds": {"min": 4, "max": 12}, "budget": "3m"}
TWO = {"builds": {"min": 4, "max": 12}, "budget": "17m"}
ENDED = {"type": "host", "when": "end", "state": {}, "stop": "budget"}
NOTHING = "✖ Not enough measured: 1 of 5 builds; a verdict takes about 10 min"
AGAIN = "Run the same check again with `--set "


def saved(folder: Path, found: Lines, *edits: tuple[str, str]) -> str:
    """Write a run into a folder; edits: of its text."""
    written = text(found)
    for old, new in edits:
        written = written.replace(old, new)
    (folder / "measurements.jsonl").write_text(written)
    return str(folder)


def built(build: int, seconds: float = 30.0) -> Lines:
    return [
        {"type": "build", "side": side, "build": build, "seconds": seconds, "artifacts": {}}
        for side in ("base", "head")
    ]


def measured(
    rounds: int,
    plan: dict[str, Any],
    gate: dict[str, Any] | None = None,
    *,
    stop: str | None = "budget",
    spread: float = 0.3,
    change: float = 1.0,
    **run: Any,
) -> Lines:
    """A run in which a round takes a minute of building and as long for executions, the second round 30 s more.

    stop: None: it was interrupted. spread, change: of the values, and of head's. run: more of its line.
    """
    rng = np.random.default_rng(2)
    found: Lines = [{"type": "run", "config": {"plan": plan, "gate": gate or {}}, **run}]
    for build in range(rounds):
        found += built(build)
        for side, mean in (("base", 1.0), ("head", change)):
            seconds = 30.0 + 15.0 * (build == 1)
            found.append(execution(side, (rng.normal(1, spread, 3) * mean).tolist(), build=build, seconds=seconds))
    end = {"when": "begin"} if stop is None else {"when": "end", "stop": stop}
    return [*found, {"type": "host", "time": "2026-11-20T09:09:00Z", "state": {}, **end}]


def decide(folder: str, *options: str) -> tuple[int, str, str]:
    """The exit code, the headline, and all that the terminal shows."""
    code, shown = typed("decide", folder, *options)
    return code, " ".join(shown.partition("\n\n")[0].split()), " ".join(shown.split())


@pytest.mark.parametrize("plan", [{"builds": 5, "budget": "3m"}, EARLY], ids=["fixed", "range"])
def test_every_format_says_so(tmp_path: Path, plan: dict[str, Any]) -> None:
    folder = saved(tmp_path, measured(1, plan))
    told = NOTHING.removeprefix("✖ ")
    for form, head in (("markdown", "❌ **"), ("summary", "❌ **"), ("html", "</span> ")):
        code, written = typed("report", folder, "--format", form)
        assert code == 4
        assert f"{head}{told}" in written and "plan.budget=13m" in written
    junit = ElementTree.fromstring(typed("decide", folder, "--junit", "-")[1])
    assert (junit.get("tests"), junit.get("errors"), junit.get("failures")) == ("2", "1", "0")
    [error] = junit.iter("error")
    assert error.get("message") == told
    again = typed("decide", folder, "--json", "-")[1]
    assert annotated(read_report(again)) == [f"::error title=perfgate%3A not measured::{told}\n"]
    report = json.loads(again)
    assert (report["verdict"], report["exit_code"], report["stopped"]) == ("error", 4, "budget")
    assert [finding["verdict"] for finding in report["findings"]] == ["inconclusive"]
    assert (report["next"]["kind"], report["run"]["rounds"]["done"]) == ("allow-more-builds", 1)
    assert report["summary"]["kind"] == "not-enough-measured"
    details = report["summary"]["details"]
    assert {key: details[key] for key in ("builds", "needed", "why", "round", "seconds")} == {
        "builds": 1, "needed": 5, "why": "budget", "round": 120.0, "seconds": 600.0,
    }  # fmt: skip


LATE = ('"stop": "budget"', '"stop": "budget", "seconds": 650.0')
COLD = ('"side": "base", "build": 0, "seconds": 30.0', '"side": "base", "build": 0, "seconds": 630.0')
LINKED = ('"seconds": 30.0, "art', '"seconds": 600.0, "checked": 1.0, "art')
UNTIMED = ('"seconds": 30.0, ', ""), (', "seconds": 30.0', "")
GONE: dict[str, Any] = {"benchmarks": {"base": ["bench", "gone"], "head": ["bench"]}}
TEN, FIVE = {"min_builds": 10}, {"builds": 5, "budget": "5m"}


@pytest.mark.parametrize(
    ("found", "edits", "lacks", "takes", "budget", "round_"),
    [
        # it is no matter of policy
        (measured(1, EARLY, {"inconclusive": "pass"}), (), "1 of 5", "10 min", "13m", "2 min"),
        (measured(1, EARLY, {"inconclusive": "fail"}), (), "1 of 5", "10 min", "13m", "2 min"),
        # the slowest round says what another costs: 10% more than the 6 min 30 s of three, and seven as long as it
        (measured(3, {"builds": 12, "budget": "8m"}, TEN), (), "3 of 10", "24 min", "30m", "2 min 30 s"),
        # five rounds of 2 min 30 s were to fit: what their executions took does not tell what was between them
        (measured(4, {"builds": 5, "budget": "14m"}), (), "4 of 5", "15 min 15 s", "20m", "2 min 30 s"),
        (measured(4, {"builds": 5, "budget": "14m"}), (LATE,), "4 of 5", "15 min 15 s", "20m", "2 min 30 s"),
        # a cold first build is paid once: 10% more than 16 min 30 s and seven rounds as long as the slowest later one
        (measured(3, {"builds": 12, "budget": "15m"}, TEN), (COLD,), "3 of 10", "34 min", "43m", "2 min 30 s"),
        # after full builds links: 20 min 2 s of building, five minutes of executions, 8 s of links, and 10%
        (measured(1, {"builds": 5, "budget": "21m"}), (LINKED,), "1 of 5", "25 min 10 s", "32m", "1 min 02 s"),
        # what is missing and may be does not lead
        (measured(2, FIVE, {"missing": "pass"}, **GONE), (), "2 of 5", "12 min", "15m", "2 min 30 s"),
    ],
)
def test_the_headline_says_what_is_lacking_and_the_step_what_gives_it(
    tmp_path: Path, found: Lines, edits: tuple[tuple[str, str], ...], lacks: str, takes: str, budget: str, round_: str
) -> None:
    code, told, shown = decide(saved(tmp_path, found, *edits))
    assert code == 4
    assert f"{told};".startswith(f"✖ Not enough measured: {lacks} builds; a verdict takes about {takes};")
    needed = lacks.partition(" of ")[2]
    assert f"next {AGAIN}plan.budget={budget}`: a round takes about {round_} and {needed} are needed" in shown


@pytest.mark.parametrize("builds", [3, {"min": 2, "max": 3}], ids=["fixed", "range"])
def test_where_a_plan_of_too_few_ends_first_its_budget_alone_would_not_do(tmp_path: Path, builds: Any) -> None:
    code, told, shown = decide(saved(tmp_path, measured(1, {"builds": builds, "budget": "3m"})))
    assert (code, told.partition(";")[0]) == (4, "✖ Not enough measured: 1 of 5 builds")
    assert f"next {AGAIN}plan.builds=5 --set plan.budget=13m`: a round takes about 2 min and 5 are needed" in shown


def test_an_interrupted_run_is_continued(tmp_path: Path) -> None:
    code, told, shown = decide(saved(tmp_path, measured(2, {"builds": 5, "budget": "1h"}, stop=None)))
    assert (code, told) == (4, "✖ Not enough measured: 2 of 5 builds; a verdict takes about 12 min")
    said = "Continue the interrupted run with `--resume`: a round takes about 2 min 30 s and 5 are needed"
    assert f"next {said}" in shown


def test_of_files_without_times_the_budget_that_was_too_small_counts(tmp_path: Path) -> None:
    _, _, shown = decide(saved(tmp_path, measured(1, EARLY), *UNTIMED))
    # five times the three minutes of one build, and 10%
    assert f"next {AGAIN}plan.budget=19m`: 5 builds are needed" in shown
    _, _, shown = decide(saved(tmp_path, measured(1, EARLY), *UNTIMED, (', "budget": "3m"', "")))
    assert "next Measure base and head 5 times each: 5 builds are needed" in shown


@pytest.mark.parametrize(
    ("found", "code", "headline"),
    [
        # what is decided is decided: only what may be a regression lacks builds
        (measured(4, {"builds": 4}, stop="finished", spread=0.001), 0, "✔ Pass: 1 result, not worse"),
        # it was planned so; the headline says what a verdict needs
        (measured(4, {"builds": 4}, stop="finished", spread=0.001, change=1.5), 0, "◆ Undecided: bench is 50"),
        (measured(4, {"builds": 4}, stop="finished", spread=0.001, change=0.5), 0, "◆ Undecided: "),
        (measured(3, {"builds": 3, "budget": "1h"}, stop="finished"), 0, "◆ Too noisy: "),
        (measured(3, {"builds": {"min": 2, "max": 3}, "budget": "1h"}, stop="finished"), 0, "◆ Too noisy: "),
        (measured(5, {"builds": 12}), 0, "◆ Too noisy: "),
        (measured(3, {"builds": 12}, stop="finished"), 0, "◆ Too noisy: "),
    ],
)
def test_otherwise_it_is_what_its_values_are(tmp_path: Path, found: Lines, code: int, headline: str) -> None:
    exit_code, told, shown = decide(saved(tmp_path, found))
    assert (exit_code, told.startswith(headline)) == (code, True), told
    assert "plan.budget=" not in shown


def test_builds_of_several_sessions_count_together(tmp_path: Path) -> None:
    """Three jobs of two builds have six; of one build each they lack two."""
    for builds, code, headline, step in (
        (2, 0, "◆ Too noisy: ", ""),
        (
            1, 4, "✖ Not enough measured: 3 of 5 builds; a verdict takes about 1 min 20 s",
            "a round takes about 40 s and 5 are needed",
        ),
    ):  # fmt: skip
        rng = np.random.default_rng(3)
        found: Lines = [{"type": "run", "sessions": 3, "config": {"plan": {"builds": 2, "budget": "30s"}}}]
        found += [
            execution(side, rng.normal(1, 0.3, 3).tolist(), session=session, build=build, seconds=20.0)
            for session in range(3)
            for build in range(builds)
            for side in ("base", "head")
        ]
        exit_code, told, shown = decide(saved(tmp_path, found))
        assert exit_code == code and told.startswith(headline) and step in shown


def test_a_regression_comes_first(tmp_path: Path) -> None:
    """One benchmark was measured to the end and regressed, of the other there is too little."""
    rng = np.random.default_rng(4)
    more = [
        execution(side, rng.normal(1, 0.3, 3).tolist(), build=build, benchmark="other")
        for build in range(2)
        for side in ("base", "head")
    ]
    folder = saved(tmp_path, [*measured(5, {"builds": 8, "budget": "10m"}, spread=0.001, change=1.5), *more])
    code, told, _ = decide(folder)
    assert (code, told[:12]) == (1, "✖ Regression")
    code, told, _ = decide(folder, "--benchmark", "other")
    assert (code, told[:37]) == (4, "✖ Not enough measured: 2 of 5 builds;")


def test_what_was_given_up_does_not_lack_builds(tmp_path: Path) -> None:
    """One of two benchmarks was too noisy to go on after four rounds; the other went on until none fitted the budget."""
    found: Lines = [{"type": "run", "config": {"plan": TWO, "gate": {"threshold": "3%"}}}]
    rng = np.random.default_rng(5)
    for build in range(8):
        found += built(build)
        for side in ("base", "head"):
            for name, spread in (("wild", 0.5), ("edge", 0.012)):
                if name == "edge" or build < 4:
                    values = (rng.normal(1, 0.001, 3) * rng.normal(1.035 if side == "head" else 1, spread)).tolist()
                    found.append(execution(side, values, build=build, benchmark=name, seconds=15.0))
        found.append({"type": "look", "look": build + 1, "settled": ["wild"] if build >= 3 else [], "stop": None})
    code, shown = typed("decide", saved(tmp_path, [*found, ENDED]), "--json", "-")
    report = json.loads(shown)
    given_up = {finding["benchmark"]: finding["stopped"] for finding in report["findings"]}
    assert given_up == {"wild": "futility", "edge": None}
    assert (code, report["summary"]["kind"], report["stopped"]) == (0, "some-inconclusive", "budget")


@pytest.mark.parametrize("stop", ["budget", "settled"])
@pytest.mark.parametrize("most", [12, None])
def test_the_advised_budget_holds_the_rounds_that_are_lacking(tmp_path: Path, stop: str, most: int | None) -> None:
    """Also of a run of before, whose last look was the last round that fitted by the first, settled or not."""
    plan = {"builds": {"min": 4, "max": most}, "budget": "40m"}
    found: Lines = [{"type": "run", "looks": most or 56, "config": {"plan": plan}}]
    rng = np.random.default_rng(5)
    for build in range(3):
        seconds = 420.0 if build else 330.0
        values = {side: rng.normal(1, 0.3, 3).tolist() for side in ("base", "head")}
        found += [*built(build), *(execution(side, own, build=build, seconds=seconds) for side, own in values.items())]
        found.append({"type": "look", "look": build + 1, "settled": [], "stop": None})
    code, shown = typed("decide", saved(tmp_path, [*found, {**ENDED, "stop": stop}]), "--json", "-")
    report = json.loads(shown)
    assert (code, report["summary"]["details"]["why"], report["run"]["looks"]["rounds"][-1]) == (4, "budget", 5)
    assert report["next"]["details"]["budget"] > 660 + 4 * 840


@pytest.mark.parametrize(
    ("done", "phase", "said"),
    [
        (
            [], "build",
            ("Raise the budget, for example `--set plan.budget=3m`: 5 rounds take at least 1 min 20 s; how much more is "
             "not known, because no start was complete"),
        ),
        (
            ["build", "execution"], "execution",
            ("Raise the budget, for example `--set plan.budget=86m`: judging by what was done, 5 rounds take at least "
             "43 min"),
        ),
    ],
    ids=["a build that never ended", "one execution"],
)  # fmt: skip
def test_a_round_without_an_execution_has_no_time(tmp_path: Path, done: list[str], phase: str, said: str) -> None:
    named = {"benchmarks": {"base": ["b"], "head": ["b"]}}
    found: Lines = [{"type": "run", "config": {"plan": {"builds": 5, "budget": "10s"}}, **named}]
    found += built(0, 8.0)[:1] if "build" in done else []
    found += [execution("base", [1.0], benchmark="b", seconds=50.0)] if "execution" in done else []
    cut = {"phase": phase, "side": "base", "benchmark": "b", "build": 0, "execution": 1, "seconds": 8.0}
    code, _, shown = decide(saved(tmp_path, [*found, {**ENDED, "rounds": 0, "cut": cut}]))
    assert code == 4
    assert f"next {said} " in f"{shown} "


@pytest.mark.endtoend
def test_the_next_step_gives_a_verdict(tmp_path: Path) -> None:
    config = f'{CONFIG}[build]\ncommand = "sleep 0.7"\nrelink = "off"\n'
    project = repository(tmp_path / "project", {"perfgate.toml": config, **speed(1.0)})
    project.bench(1.3)
    budgets = [4.0]
    done = project.perfgate("check", "--set", "plan.budget=4s")
    if project.report()["summary"]["kind"] != "not-enough-measured":
        # on a busy host no round is complete in four seconds; five take seven at least
        budgets = [7.0]
        done = project.perfgate("check", "--set", "plan.budget=7s")
    assert done.returncode == 4, done.stdout
    said = " ".join(done.stdout.split())
    assert re.match(r"✖ Not enough measured: [1-4] of 5 builds; a verdict takes about ", said), said
    assert "Run the same check again with `perfgate check --set plan.budget=" in said
    # it is no matter of policy
    assert project.perfgate("decide", ".perfgate", "--set", "gate.inconclusive=fail").returncode == 4
    # where others take the processors away in the middle, the same advice is given anew, with a larger budget
    while done.returncode == 4 and len(budgets) < 8:
        said = " ".join(done.stdout.split())
        asked = re.findall(r"--set plan\.\w+=\w+", said.partition("`")[2].partition("`")[0])
        assert asked, said
        budgets.append(project.report()["next"]["details"]["budget"])
        done = project.perfgate("check", *" ".join(asked).split())
    assert budgets == sorted(set(budgets))
    assert done.returncode == 1, done.stdout
    assert done.stdout.startswith("✖ Regression: bench is ")


@pytest.mark.parametrize(
    ("rounds", "gate", "said"),
    [
        (1, {}, "how rounds vary is unknown"),
        (2, {}, "Not enough measured: 2 of 5 rounds"),
        (8, {}, "8 rounds x 1 start x 3 values of each"),
        (8, {"min_builds": 9, "threshold": "1%"}, "Not enough measured: 8 of 9 rounds"),
    ],
)
def test_two_programs_have_rounds_and_no_builds(tmp_path: Path, rounds: int, gate: dict[str, Any], said: str) -> None:
    few: dict[str, Any] = {"spread": 0.001, "change": 1.2} if gate else {}
    found = measured(rounds, {"builds": rounds} if rounds > 2 else EARLY, gate, **few)
    found[0]["config"]["benchmark"] = [{"name": "bench", "command": "./new", "against": "./old"}]
    folder = saved(tmp_path, found)
    _, _, shown = decide(folder)
    assert said in " ".join((shown, *typed("decide", folder, "--markdown", "-")[1].split()))
    assert "build" not in re.sub("another build of either may differ|plan.builds", "", shown)
    page = typed("decide", folder, "--html", "-")[1].partition("<script")[0]
    assert 'id="builds"' not in page and "of each build" not in page
