"""A run that ended before a verdict was possible is an error, with what a verdict costs and the setting that gives it."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from gate.github.publishing.publish import annotated
from gate.report.json import read as read_report
from tests.gate.decide.decided import typed
from tests.support import lines
from tests.support.project import CONFIG, Project

EARLY = {"builds": {"min": 4, "max": 12}, "budget": "3m"}


def written(
    folder: Path,
    rounds: int,
    plan: dict[str, Any],
    gate: dict[str, Any] | None = None,
    *,
    stop: str | None = "budget",
    spread: float = 0.3,
    change: float = 1.0,
) -> str:
    """A run in which a round takes a minute of building and as long for executions, the second round 30 s more.

    stop: None: it was interrupted. spread, change: of the values, and of head's.
    """
    rng = np.random.default_rng(2)
    found: list[dict[str, Any]] = [{"type": "run", "config": {"plan": plan, "gate": gate or {}}}]
    for build in range(rounds):
        for side in ("base", "head"):
            found.append({"type": "build", "side": side, "build": build, "seconds": 30.0, "artifacts": {}})
            value = (rng.normal(1, spread, 3) * (change if side == "head" else 1)).tolist()
            seconds = 30.0 + 15.0 * (build == 1)
            found.append(lines.execution(side, value, build=build, seconds=seconds))
    end = {"when": "begin"} if stop is None else {"when": "end", "stop": stop}
    found.append({"type": "host", "time": "2026-11-20T09:09:00Z", "state": {}, **end})
    (folder / "measurements.jsonl").write_text(lines.text(found))
    return str(folder)


def headline(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split())


@pytest.mark.parametrize("plan", [{"builds": 5, "budget": "3m"}, EARLY], ids=["fixed", "range"])
def test_one_build(tmp_path: Path, plan: dict[str, Any]) -> None:
    folder = written(tmp_path, 1, plan)
    code, text = typed("decide", folder)
    assert (code, headline(text)) == (4, "✖ Not enough measured: 1 of 5 builds; a verdict takes about 10 min")
    said = " ".join(text.split())
    step = "Run the same check again with `--set plan.budget=13m`: a round takes about 2 min and 5 are needed"
    assert f"next {step}" in said
    for form, head in (("markdown", "❌ **"), ("summary", "❌ **"), ("html", "</span> ")):
        code, written_as = typed("report", folder, "--format", form)
        assert code == 4
        assert f"{head}Not enough measured: 1 of 5 builds; a verdict takes about 10 min" in written_as
        assert "plan.budget=13m" in written_as
    junit = ElementTree.fromstring(typed("decide", folder, "--junit", "-")[1])
    assert (junit.get("tests"), junit.get("errors"), junit.get("failures")) == ("2", "1", "0")
    [error] = junit.iter("error")
    assert error.get("message") == "Not enough measured: 1 of 5 builds; a verdict takes about 10 min"
    assert annotated(read_report(typed("decide", folder, "--json", "-")[1])) == [
        "::error title=perfgate%3A not measured::Not enough measured: 1 of 5 builds; a verdict takes about 10 min\n"
    ]
    report = json.loads(typed("decide", folder, "--json", "-")[1])
    assert (report["verdict"], report["exit_code"], report["stopped"]) == ("error", 4, "budget")
    assert [finding["verdict"] for finding in report["findings"]] == ["inconclusive"]
    assert report["next"]["kind"] == "allow-more-builds"
    assert (report["summary"]["kind"], report["summary"]["details"]["builds"], report["summary"]["details"]["needed"]) == (
        "not-enough-measured", 1, 5,
    )  # fmt: skip
    assert report["run"]["rounds"] == {"done": 1, "planned": report["run"]["rounds"]["planned"]}
    assert (report["summary"]["details"]["why"], report["summary"]["details"]["round"], report["summary"]["details"]["seconds"]) == (
        "budget", 120.0, 600.0,
    )  # fmt: skip


def test_it_is_no_matter_of_policy(tmp_path: Path) -> None:
    for policy in ("pass", "fail"):
        code, text = typed("decide", written(tmp_path, 1, EARLY, {"inconclusive": policy}))
        assert (code, headline(text)) == (4, "✖ Not enough measured: 1 of 5 builds; a verdict takes about 10 min")


def test_the_slowest_round_says_what_another_costs(tmp_path: Path) -> None:
    _, text = typed("decide", written(tmp_path, 3, {"builds": 12, "budget": "8m"}, {"min_builds": 10}))
    assert headline(text) == "✖ Not enough measured: 3 of 10 builds; a verdict takes about 24 min"
    assert "a round takes about 2 min 30 s and 10 are needed" in " ".join(text.split())
    # 10% more than the 6 min 30 s that three rounds took, and seven as long as the slowest
    assert "plan.budget=30m" in text


def test_a_verdict_takes_longer_than_the_budget_that_was_too_small(tmp_path: Path) -> None:
    # five rounds of 2 min 30 s were to fit: what their executions took does not tell what was between them
    file = Path(written(tmp_path, 4, {"builds": 5, "budget": "14m"}), "measurements.jsonl")
    assert headline(typed("decide", str(tmp_path))[1]).endswith("4 of 5 builds; a verdict takes about 15 min 15 s")
    file.write_text(file.read_text().replace('"stop": "budget"', '"stop": "budget", "seconds": 650.0'))
    assert headline(typed("decide", str(tmp_path))[1]).endswith("4 of 5 builds; a verdict takes about 15 min 15 s")


def test_a_cold_first_build_is_paid_once(tmp_path: Path) -> None:
    folder = written(tmp_path, 3, {"builds": 12, "budget": "15m"}, {"min_builds": 10})
    file = Path(folder, "measurements.jsonl")
    # ten minutes longer than the builds after it
    file.write_text(file.read_text().replace('"build": 0, "seconds": 30.0', '"build": 0, "seconds": 630.0', 1))
    text = " ".join(typed("decide", folder)[1].split())
    assert "a round takes about 2 min 30 s and 10 are needed" in text
    # 10% more than 16 min 30 s and seven rounds as long as the slowest of the later ones
    assert "plan.budget=43m" in text


def test_links_after_a_full_build_are_counted_as_links(tmp_path: Path) -> None:
    folder = written(tmp_path, 1, {"builds": 5, "budget": "21m"})
    file = Path(folder, "measurements.jsonl")
    # ten minutes, and as the check of it says 1 s for the next
    file.write_text(file.read_text().replace('"seconds": 30.0, "art', '"seconds": 600.0, "checked": 1.0, "art'))
    text = " ".join(typed("decide", folder)[1].split())
    assert "a round takes about 1 min 02 s and 5 are needed" in text
    # 20 min 2 s of building, five minutes of executions, 8 s of links, and 10%
    assert "plan.budget=32m" in text


@pytest.mark.parametrize("builds", [3, {"min": 2, "max": 3}], ids=["fixed", "range"])
def test_a_plan_of_too_few_builds(tmp_path: Path, builds: Any) -> None:
    """It is what somebody wants; where its budget ends first, that alone would not do."""
    code, text = typed("decide", written(tmp_path, 1, {"builds": builds, "budget": "3m"}, stop="budget"))
    assert (code, headline(text).partition(";")[0]) == (4, "✖ Not enough measured: 1 of 5 builds")
    said = "--set plan.builds=5 --set plan.budget=13m`: a round takes about 2 min and 5 are needed"
    assert f"next Run the same check again with `{said}" in " ".join(text.split())
    code, text = typed("decide", written(tmp_path, 3, {"builds": builds, "budget": "1h"}, stop="finished"))
    assert code == 0 and headline(text).startswith("◆ Too noisy: ")


def test_builds_of_several_sessions_count_together(tmp_path: Path) -> None:
    """Three jobs of two builds have six; of one build each they lack two."""
    text = ""
    for builds, code in ((2, 0), (1, 4)):
        found: list[dict[str, Any]] = [
            {"type": "run", "sessions": 3, "config": {"plan": {"builds": 2, "budget": "30s"}}}
        ]
        rng = np.random.default_rng(3)
        found += [
            lines.execution(side, rng.normal(1, 0.3, 3).tolist(), session=session, build=build, seconds=20.0)
            for session in range(3)
            for build in range(builds)
            for side in ("base", "head")
        ]
        (tmp_path / "measurements.jsonl").write_text(lines.text(found))
        exit_code, text = typed("decide", str(tmp_path))
        assert exit_code == code, text
    assert headline(text) == "✖ Not enough measured: 3 of 5 builds; a verdict takes about 1 min 20 s"
    assert "a round takes about 40 s and 5 are needed" in " ".join(text.split())


def test_an_interrupted_run_is_continued(tmp_path: Path) -> None:
    code, text = typed("decide", written(tmp_path, 2, {"builds": 5, "budget": "1h"}, stop=None))
    assert (code, headline(text)) == (4, "✖ Not enough measured: 2 of 5 builds; a verdict takes about 12 min")
    said = "Continue the interrupted run with `--resume`: a round takes about 2 min 30 s and 5 are needed"
    assert f"next {said}" in " ".join(text.split())


def test_fewer_builds_may_show_that_nothing_changed(tmp_path: Path) -> None:
    """What is decided is decided: only what may be a regression lacks builds."""
    code, text = typed("decide", written(tmp_path, 4, {"builds": 4}, stop="finished", spread=0.001))
    assert (code, headline(text)) == (0, "✔ Pass: 1 result, not worse")
    code, text = typed("decide", written(tmp_path, 4, {"builds": 4}, stop="finished", spread=0.001, change=1.5))
    # it was planned so; the headline says what a verdict needs
    assert code == 0 and "looks real, but a verdict needs 5 builds of each and there are 4" in " ".join(text.split())
    code, text = typed("decide", written(tmp_path, 4, {"builds": 4}, stop="finished", spread=0.001, change=0.5))
    assert code == 0


def test_a_regression_comes_first(tmp_path: Path) -> None:
    """One benchmark was measured to the end and regressed, of the other there is too little."""
    folder = written(tmp_path, 5, {"builds": 8, "budget": "10m"}, spread=0.001, change=1.5)
    file, rng = Path(folder, "measurements.jsonl"), np.random.default_rng(4)
    more = [
        lines.execution(side, rng.normal(1, 0.3, 3).tolist(), build=build, benchmark="other")
        for build in range(2)
        for side in ("base", "head")
    ]
    file.write_text(file.read_text() + lines.text(more))
    code, text = typed("decide", folder)
    assert (code, headline(text)[:12]) == (1, "✖ Regression")
    code, text = typed("decide", folder, "--benchmark", "other")
    assert (code, headline(text)[:37]) == (4, "✖ Not enough measured: 2 of 5 builds;")


def test_missing_that_is_allowed_does_not_lead(tmp_path: Path) -> None:
    folder = written(tmp_path, 2, {"builds": 5, "budget": "5m"}, {"missing": "pass"})
    file = Path(folder, "measurements.jsonl")
    file.write_text(
        file.read_text().replace('"config"', '"benchmarks": {"base": ["bench", "gone"], "head": ["bench"]}, "config"')
    )
    code, text = typed("decide", folder)
    assert (code, headline(text)[:37]) == (4, "✖ Not enough measured: 2 of 5 builds;")
    assert "next Run the same check again with `--set plan.budget=15m`" in " ".join(text.split())


def test_what_was_given_up_does_not_lack_builds(tmp_path: Path) -> None:
    """One of two benchmarks was too noisy to go on after four rounds; the other went on until none fitted the budget."""
    plan = {"builds": {"min": 4, "max": 12}, "budget": "17m"}
    config = {"plan": plan, "gate": {"threshold": "3%"}}
    found: list[dict[str, Any]] = [{"type": "run", "config": config}]
    rng = np.random.default_rng(5)
    for build in range(8):
        for side in ("base", "head"):
            found.append({"type": "build", "side": side, "build": build, "seconds": 30.0, "artifacts": {}})
            for name, spread in (("wild", 0.5), ("edge", 0.012)):
                if name == "edge" or build < 4:
                    values = (rng.normal(1, 0.001, 3) * rng.normal(1.035 if side == "head" else 1, spread)).tolist()
                    found.append(lines.execution(side, values, build=build, benchmark=name, seconds=15.0))
        found.append({"type": "look", "look": build + 1, "settled": ["wild"] if build >= 3 else [], "stop": None})
    found.append({"type": "host", "when": "end", "state": {}, "stop": "budget"})
    (tmp_path / "measurements.jsonl").write_text(lines.text(found))
    code, text = typed("decide", str(tmp_path), "--json", "-")
    report = json.loads(text)
    given_up = {finding["benchmark"]: finding["stopped"] for finding in report["findings"]}
    assert given_up == {"wild": "futility", "edge": None}
    assert (code, report["summary"]["kind"], report["stopped"]) == (0, "some-inconclusive", "budget")


@pytest.mark.parametrize("late", [90.0, 600.0])
@pytest.mark.parametrize("most", [12, None])
def test_the_advised_budget_is_larger_than_the_one_that_was_too_small(
    tmp_path: Path, late: float, most: int | None
) -> None:
    """Looks are laid out by the first round; where that was the slowest, time is left when the last look came."""
    plan = {"builds": {"min": 4, "max": most}, "budget": "40m"}
    found: list[dict[str, Any]] = [{"type": "run", "looks": most or 56, "config": {"plan": plan}}]
    rng = np.random.default_rng(5)
    for build in range(3):
        for side in ("base", "head"):
            found.append({"type": "build", "side": side, "build": build, "seconds": 30.0, "artifacts": {}})
            value = rng.normal(1, 0.3, 3).tolist()
            found.append(lines.execution(side, value, build=build, seconds=late if build else 330.0))
        found.append({"type": "look", "look": build + 1, "settled": [], "stop": None})
    found.append({"type": "host", "when": "end", "state": {}, "stop": "settled"})
    (tmp_path / "measurements.jsonl").write_text(lines.text(found))
    code, text = typed("decide", str(tmp_path), "--json", "-")
    report = json.loads(text)
    assert (code, report["summary"]["details"]["why"], report["run"]["looks"]["rounds"][-1]) == (4, "budget", 3)
    # five rounds as long as the first: 60 min, of which the looks count 5% more
    assert report["next"]["details"]["budget"] > 1.05 * 3600


@pytest.mark.parametrize(
    ("rounds", "plan", "stop"),
    [(5, {"builds": 12}, "budget"), (3, {"builds": 12}, "finished")],
    ids=["enough builds", "not the budget"],
)
def test_otherwise_it_is_inconclusive(tmp_path: Path, rounds: int, plan: dict[str, Any], stop: str) -> None:
    _, text = typed("decide", written(tmp_path, rounds, plan, stop=stop))
    assert headline(text).startswith("◆ Too noisy: ")
    assert "plan.budget=" not in text


def test_of_files_without_times_the_budget_that_was_too_small_counts(tmp_path: Path) -> None:
    folder = written(tmp_path, 1, EARLY)
    file = Path(folder, "measurements.jsonl")
    file.write_text(file.read_text().replace('"seconds": 30.0, ', "").replace(', "seconds": 30.0', ""))
    text = " ".join(typed("decide", folder)[1].split())
    # five times the three minutes of one build, and 10%
    assert "next Run the same check again with `--set plan.budget=19m`: 5 builds are needed" in text
    file.write_text(file.read_text().replace(', "budget": "3m"', ""))
    text = " ".join(typed("decide", folder)[1].split())
    assert "next Measure base and head 5 times each: 5 builds are needed" in text


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
def test_what_a_round_takes_is_not_known_before_an_execution(
    tmp_path: Path, done: list[str], phase: str, said: str
) -> None:
    found: list[dict[str, Any]] = [
        {
            "type": "run",
            "config": {"plan": {"builds": 5, "budget": "10s"}},
            "benchmarks": {"base": ["b"], "head": ["b"]},
        }
    ]
    if "build" in done:
        found.append({"type": "build", "side": "base", "build": 0, "seconds": 8.0, "artifacts": {}})
    if "execution" in done:
        found.append(lines.execution("base", [1.0], benchmark="b", seconds=50.0))
    cut = {"phase": phase, "side": "base", "benchmark": "b", "build": 0, "execution": 1, "seconds": 8.0}
    found.append({"type": "host", "when": "end", "state": {}, "stop": "budget", "rounds": 0, "cut": cut})
    (tmp_path / "measurements.jsonl").write_text(lines.text(found))
    code, text = typed("decide", str(tmp_path))
    assert code == 4
    assert f"next {said} " in " ".join(text.split()) + " "


@pytest.mark.endtoend
def test_a_check_whose_budget_ends(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    # the first builds of both sides are made at once or not: a round takes 5 s or 10 s, a second one 10 s more
    project.write("perfgate.toml", f'{CONFIG}[build]\ncommand = "sleep 5"\n')
    project.bench(1.0)
    project.commit()
    project.bench(1.3)
    done = project.perfgate("check", "--set", "plan.budget=14.8s")
    assert done.returncode == 4
    assert headline(done.stdout).startswith("✖ Not enough measured: 1 of 5 builds; a verdict takes about ")
    assert "Run the same check again with `perfgate check --set plan.budget=" in " ".join(done.stdout.split())
    code = project.perfgate("decide", ".perfgate", "--set", "gate.inconclusive=fail").returncode
    assert code == 4


@pytest.mark.endtoend
def test_the_next_step_gives_a_verdict(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    project.write("perfgate.toml", f'{CONFIG}[build]\ncommand = "sleep 0.7"\nrelink = "off"\n')
    project.bench(1.0)
    project.commit()
    project.bench(1.3)
    done = project.perfgate("check", "--set", "plan.budget=4s")
    assert done.returncode == 4, done.stdout
    budgets = [4.0]
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
def test_two_given_programs_have_rounds_and_no_builds(
    tmp_path: Path, rounds: int, gate: dict[str, Any], said: str
) -> None:
    few: dict[str, Any] = {"spread": 0.001, "change": 1.2} if gate else {}
    folder = written(tmp_path, rounds, {"builds": rounds} if rounds > 2 else EARLY, gate, **few)
    file = Path(folder, "measurements.jsonl")
    first, rest = file.read_text().split("\n", 1)
    run_line = json.loads(first)
    run_line["config"]["benchmark"] = [{"name": "bench", "command": "./new", "against": "./old"}]
    file.write_text(f"{json.dumps(run_line)}\n{rest}")
    text = " ".join(typed("decide", folder)[1].split())
    assert said in " ".join((text, *typed("decide", folder, "--markdown", "-")[1].split()))
    plain = re.sub("another build of either may differ|plan.builds", "", text)
    assert "build" not in plain
    page = typed("decide", folder, "--html", "-")[1].partition("<script")[0]
    assert 'id="builds"' not in page and "of each build" not in page
