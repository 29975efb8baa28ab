"""perfgate bisect on small repositories: what it finds, refuses, keeps and says."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gate.cli import option_values
from gate.commands.bisect import words
from gate.commands.bisect.bisect import FORMATS
from gate.commands.bisect.result import ChangeFromGood, Member, Result, SearchCost
from gate.commands.bisect.search import RangeCommit
from gate.model import Commit
from gate.model.case import CaseId
from tests.support.project import SHELL_BENCH, SHELL_CONFIG, Project

pytestmark = pytest.mark.endtoend

SHORT = (
    SHELL_CONFIG.replace("[plan]\n", "min_builds = 3\n[plan]\n")
    .replace("builds = 5", "builds = 3")
    .replace("iterations = 4", "iterations = 1")
)


def bench(speed: float) -> str:
    """A benchmark that reads what every commit changes."""
    return ". ./other.sh\n" + SHELL_BENCH.replace("0.01", "0.001").replace("SPEED", str(speed))


BROKEN = {"bench.sh": "exit 1\n"}


def history(top: Path, *changes: float | dict[str, str], config: str = SHORT) -> tuple[Project, list[str]]:
    """A repository of a commit with perfgate.toml, and one more for each speed, or for other files."""
    project = Project(top)
    files = {"start": {"perfgate.toml": config, "bench.sh": bench(1.0), "other.sh": ""}}
    for number, change in enumerate(changes, 1):
        faster = {} if isinstance(change, dict) else {"bench.sh": bench(change), "other.sh": f"# {number}\n"}
        files[f"change {number}"] = change if isinstance(change, dict) else faster
    shas = project.commits(*files, files=files.__getitem__)
    project.git("reset", "-q", "--hard")
    return project, shas


def bisect(project: Project, good: str, *more: str) -> subprocess.CompletedProcess[str]:
    return project.perfgate("bisect", "--good", good, "--seed", "3", *more)


def result(project: Project) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((project.top / ".perfgate/bisect/bisect.json").read_text())
    return found


def likeliest(found: dict[str, Any]) -> dict[str, Any]:
    commit: dict[str, Any] = max(found["commits"], key=lambda each: each["probability"])
    return commit


Searched = tuple[Project, list[str], subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Searched:
    words = [{"README.md": f"{number}\n"} for number in range(3)]
    changes: list[float | dict[str, str]] = [*[1.0] * 4, *words, *[1.0] * 3, *[1.2] * 5]
    project, shas = history(tmp_path_factory.mktemp("bisect") / "p", *changes)
    return project, shas, bisect(project, shas[0], "--bad", "main")


def test_it_names_the_commit_and_keeps_every_measurement_as_a_run(searched: Searched) -> None:
    project, shas, done = searched
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0), done.stderr
    found = result(project)
    best = likeliest(found)
    assert (found["outcome"], best["sha"], best["number"]) == ("culprit", shas[11], 11)
    assert found["step"]["ratio"] == pytest.approx(1.2, abs=0.02)
    assert done.stdout.startswith(f"{shas[11][:10]} change 11 made bench ")
    assert f"git show {shas[11][:10]}" in done.stdout
    # documentation is not measured
    assert [(each["state"], each["rounds"]) for each in found["commits"][4:7]] == [("inert", 0)] * 3
    folder = project.top / ".perfgate/bisect"
    measured = [each for each in found["commits"] if each["rounds"]]
    assert len(measured) >= 3
    assert (folder / "ends/report.html").is_file()
    for each in measured[:-1]:
        shown = project.perfgate("report", str(folder / each["sha"][:12]), "--json", "-")
        run = json.loads(shown.stdout)["run"]
        assert (run["base"]["sha"], run["head"]["sha"]) == (shas[0], each["sha"])


def test_resuming_measures_nothing_again_but_what_a_killed_search_lost(searched: Searched) -> None:
    project, shas, _ = searched
    folder = project.top / ".perfgate/bisect"

    def measurements() -> dict[Path, bytes]:
        return {file: file.read_bytes() for file in folder.glob("*/measurements.jsonl")}

    before = measurements()
    again = project.perfgate("bisect", "--good", shas[0], "--resume", "--quiet")
    assert again.returncode == 0, again.stderr
    assert again.stdout.count("\n") == 1
    assert measurements() == before
    # another range or other rules are another search
    other = project.perfgate("bisect", "--good", shas[1], "--resume")
    rules = project.perfgate("bisect", "--good", shas[0], "--resume", "--set", "gate.threshold=7%")
    assert (other.returncode, rules.returncode) == (2, 2)
    assert f"base was {shas[0][:12]}, is {shas[1][:12]}" in other.stderr
    assert "gate.threshold" in rules.stderr
    # as it was before its last visit was noted, in the middle of a line
    journal = folder / "bisect.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]) + lines[-1][:20])
    last = folder / json.loads(lines[-1])["commit"][:12] / "measurements.jsonl"
    last.write_bytes(b"".join(last.read_bytes().splitlines(keepends=True)[:-2]))
    again = bisect(project, shas[0], "--resume")
    assert again.returncode == 0, again.stderr
    assert likeliest(result(project))["sha"] == shas[11]
    assert [file for file, data in measurements().items() if before.get(file) != data] in ([], [last])


def test_a_budget_that_ends_leaves_commits_and_one_that_does_not_run_leaves_a_set(tmp_path: Path) -> None:
    project, shas = history(tmp_path / "p", 1.0, 1.0, BROKEN, 1.2, 1.2)
    done = bisect(project, shas[0], "--budget", "10ms")
    assert (done.returncode, result(project)["outcome"]) == (3, "open"), done.stderr
    assert "--resume --budget" in done.stdout
    done = bisect(project, shas[0], "--resume", "--budget", "10m")
    found = result(project)
    assert (done.returncode, found["outcome"]) == (3, "set"), done.stderr
    assert found["remaining"] == [shas[3], shas[4]]
    assert found["commits"][2]["state"] == "unmeasurable"
    assert f"git log -p {shas[3][:10]}~1..{shas[4][:10]}" in done.stdout


def test_ends_that_do_not_differ_or_do_not_run_are_no_search(tmp_path: Path) -> None:
    project, shas = history(tmp_path / "same", 1.0, 1.001)
    done = bisect(project, shas[0])
    found = result(project)
    assert (done.returncode, found["outcome"], found["cost"]["rounds"]) == (3, "no-difference", 0)
    assert found["ends"]["low"] < found["ends"]["high"] < 1.05
    assert "--set gate.threshold=" in done.stdout
    project, shas = history(tmp_path / "proved", config=SHORT.replace('sameness = "off"\n', ""))
    project.commit("nothing")
    done = bisect(project, shas[0])
    assert (done.returncode, result(project)["ends_verdict"]) == (3, "identical"), done.stderr
    project, shas = history(tmp_path / "broken", 1.0, BROKEN)
    done = bisect(project, shas[0])
    assert (done.returncode, result(project)["outcome"]) == (4, "failed"), done.stderr


def test_a_range_that_is_none_is_refused_in_one_line(tmp_path: Path) -> None:
    project, _ = history(tmp_path / "p", 1.0)
    project.git("checkout", "-q", "-b", "side", "main~1")
    project.commit("aside")
    project.git("checkout", "-q", "main")
    for good, bad, said in (
        ("main", "main~1", "swap --good and --bad"),
        ("main", "main", "the same commit"),
        ("side", "main", "they diverged at"),
        ("nothing", "main", "--good nothing: no such commit"),
        ("main~1", "nothing", "--bad nothing: no such commit"),
    ):
        done = project.perfgate("bisect", "--good", good, "--bad", bad)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert said in done.stderr
    assert project.perfgate("bisect").returncode == 2


def test_a_dry_run_measures_nothing_and_counts_merges_once(tmp_path: Path) -> None:
    project, shas = history(tmp_path / "p", 1.0)
    project.git("checkout", "-q", "-b", "side")
    for number in range(3):
        project.write("side.py", f"{number}\n")
        project.commit("aside")
    project.git("checkout", "-q", "main")
    project.git("merge", "-q", "--no-ff", "-m", "merge side", "side")
    done = bisect(project, shas[0], "--dry-run")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 commits after good")
    assert not (project.top / ".perfgate/bisect").exists()
    one = bisect(project, "HEAD~1", "--dry-run")
    assert one.stdout.startswith("1 commit after good: ")
    assert one.stdout.splitlines()[0].endswith(" merge side") and " to " not in one.stdout.splitlines()[0]


# --- what it says ------------------------------------------------------------------------------------------------------


def member(number: int, probability: float = 0.0, **more: Any) -> Member:
    given: dict[str, Any] = {"state": "inferred", "rounds": 0, "change": None, "subject": f"change {number}"}
    given |= {"sha": f"{number:x}" * 40, "author": "A", "date": "2026-11-20", "probability": probability}
    return Member(number=number, **(given | more))


def a_result(**more: Any) -> Result:
    given: dict[str, Any] = {
        "schema": 1, "outcome": "culprit", "exit_code": 0,
        "good": Commit(ref="v1", sha="0" * 40), "bad": Commit(ref="main", sha="3" * 40),
        "case": CaseId("parse", "time", "", "mean"), "unit": "s", "threshold": 0.03,
        "ends": ChangeFromGood(1.1, 1.05, 1.15), "ends_verdict": "regression", "step": ChangeFromGood(1.1, 1.08, 1.12),
        "commits": [member(1), member(2, 0.97, state="measured", rounds=2, change=ChangeFromGood(1.1, 1.07, 1.13)),
                    member(3, 0.03, state="measured", rounds=5, change=ChangeFromGood(1.1, 1.05, 1.15))],
        "remaining": ["2" * 40], "failures": [], "parents": ["1" * 40],
        "cost": SearchCost(seconds=900.0, gate=400.0, rounds=7, budget=3600.0), "seed": 7,
        "folder": ".perfgate/bisect",
    } | more  # fmt: skip
    return Result(**given)


def commands(**more: Any) -> list[str]:
    return [each.text for each in words.next_steps(a_result(**more))]


def test_a_merge_is_searched_inside_and_reverted_as_one() -> None:
    found = commands(parents=["1" * 40, "a" * 40])
    inside = f'--good "$(git merge-base {"1" * 10} {"a" * 10})" --bad {"a" * 10} --benchmark parse'
    assert f"perfgate bisect {inside}" in found
    assert f"git revert -m 1 {'2' * 10}" in found


def test_a_next_step_repeats_what_the_search_was_asked() -> None:
    rules, given = ["--set", "plan.builds=6"], "--benchmark 'p*' --set plan.builds=6"
    asked: dict[str, Any] = {"rules": rules, "again": ["--benchmark", "p*", *rules, "--out", "a b"]}
    went_on = f"perfgate bisect --good {'0' * 10} --bad {'3' * 10} {given} --out 'a b'"
    assert commands(outcome="open", **asked) == [f"{went_on} --resume --budget 2h00min"]
    assert float(option_values.duration("2h00min")) == 7200
    spent = SearchCost(seconds=400.0, gate=400.0, rounds=0, budget=2.0)
    assert commands(outcome="open", cost=spent)[0].endswith("--resume --budget 13min20s")
    alone = f"perfgate check --base {'2' * 10}~1 --head {'2' * 10} --benchmark parse --set plan.builds=6"
    assert alone in commands(**asked)
    one_of_many = CaseId("parse[a*]", "time", "", "mean")
    assert any("--benchmark 'parse[[]a[*]]'" in each for each in commands(case=one_of_many, **asked))


def test_ends_that_were_not_told_apart_are_measured_by_a_lower_threshold_or_another_plan() -> None:
    found: dict[str, Any] = {"outcome": "no-difference", "ends_verdict": "inconclusive"}
    assert "gate.threshold=1.0%" in commands(**found, ends=ChangeFromGood(1.03, 1.02, 1.04))[0]
    # above the threshold, and not decided because of too few rounds: a higher threshold would find less
    for ends in (ChangeFromGood(1.5, 1.2, 1.8), ChangeFromGood(1.1, 0.9, 1.3)):
        assert commands(**found, ends=ends) == ["perfgate plan .perfgate/bisect/ends"]


def test_every_outcome_is_said_and_no_subject_is_taken_for_markup() -> None:
    for outcome in ("culprit", "set", "open", "no-difference", "failed"):
        found = a_result(outcome=outcome)
        assert words.headline(found) and words.next_steps(found)
        assert all(render(found).endswith("\n") for render in FORMATS.values())
    evil = '<script>alert("x")</script> | @team `x`'
    commits = [member(1), member(2, 0.97, subject=evil, author=evil), member(3, 0.03)]
    shown = {form: render(a_result(commits=commits)) for form, render in FORMATS.items()}
    assert json.loads(shown.pop("json"))["commits"][1]["subject"] == evil
    assert not any("<script>" in text for text in shown.values())
    assert "@team" not in shown["markdown"]


def test_documentation_is_known_by_name() -> None:
    def inert(*paths: str) -> bool:
        return RangeCommit("0" * 40, "A", "2026", "s", paths).inert

    assert inert() and inert("README.md", "docs/x.py") and inert(".github/workflows/ci.yml", "LICENSE")
    for paths in (["CMakeLists.txt"], ["requirements.txt"], ["src/readme.c", "README.md"], ["data.txt"]):
        assert not inert(*paths)
