"""perfgate bisect on small repositories: what it finds, refuses, keeps and says."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gate.cli import option_values
from gate.commands.bisect import words
from gate.commands.bisect.bisect import Reads, untouched
from gate.commands.bisect.outputs import FORMATS
from gate.commands.bisect.result import Asked, Change, Cost, End, Member, Result, Several
from gate.commands.bisect.search import RangeCommit
from gate.model.case import CaseId
from tests.support.project import SHELL_BENCH, SHELL_CONFIG, Project

SHORT = (
    SHELL_CONFIG.replace("[plan]\n", "min_builds = 3\n[plan]\n")
    .replace("builds = 5", "builds = 3")
    .replace("iterations = 4", "iterations = 1")
)


def bench(speed: float) -> str:
    """A benchmark that reads what every commit changes."""
    return ". ./other.sh\n" + SHELL_BENCH.replace("0.01", "0.001").replace("SPEED", str(speed))


def history(top: Path, speeds: list[float | str], config: str = SHORT) -> tuple[Project, list[str]]:
    """A repository of a commit with perfgate.toml, and one more for each speed; a text is the whole benchmark."""
    project = Project(top)
    files = {"start": {"perfgate.toml": config, "bench.sh": bench(1.0), "other.sh": ""}}
    for number, speed in enumerate(speeds, 1):
        changed = (
            {"bench.sh": bench(speed), "other.sh": f"# {number}\n"} if isinstance(speed, float) else {"bench.sh": speed}
        )
        files[f"change {number}"] = changed
    shas = project.commits(*files, files=files.__getitem__)
    project.git("reset", "-q", "--hard")
    return project, shas


def bisect(project: Project, good: str, *more: str) -> subprocess.CompletedProcess[str]:
    return project.perfgate("bisect", "--good", good, "--seed", "3", *more)


def result(project: Project) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((project.top / ".perfgate/bisect/bisect.json").read_text())
    return found


Searched = tuple[Project, list[str], subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Searched:
    project, shas = history(tmp_path_factory.mktemp("bisect") / "p", [*[1.0] * 7, *[1.2] * 5])
    return project, shas, bisect(project, shas[0], "--bad", "main")


def test_it_names_the_commit(searched: Searched) -> None:
    project, shas, done = searched
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0), done.stderr
    found = result(project)
    best = max(found["commits"], key=lambda each: each["probability"])
    assert (found["outcome"], best["sha"], best["number"]) == ("culprit", shas[8], 8)
    assert found["step"]["ratio"] == pytest.approx(1.2, abs=0.02)
    assert done.stdout.startswith(f"{shas[8][:10]} change 8 made bench ")
    assert f"git show {shas[8][:10]}" in done.stdout


def test_every_measurement_is_kept_as_a_run(searched: Searched) -> None:
    project, shas, _ = searched
    folder = project.top / ".perfgate/bisect"
    measured = [each for each in result(project)["commits"] if each["rounds"]]
    assert len(measured) >= 3
    assert (folder / "ends/report.html").is_file()
    for each in measured[:-1]:
        shown = project.perfgate("report", str(folder / each["sha"][:12]), "--json", "-")
        report = json.loads(shown.stdout)
        assert (report["run"]["base"]["sha"], report["run"]["head"]["sha"]) == (shas[0], each["sha"])


def test_resuming_a_search_that_ended_measures_nothing_again(searched: Searched) -> None:
    project, shas, _ = searched
    folder = project.top / ".perfgate/bisect"
    before = {file: file.read_bytes() for file in folder.glob("*/measurements.jsonl")}
    again = project.perfgate("bisect", "--good", shas[0], "--resume", "--quiet")
    assert again.returncode == 0, again.stderr
    assert again.stdout.count("\n") == 1
    assert {file: file.read_bytes() for file in folder.glob("*/measurements.jsonl")} == before


def test_another_range_or_other_rules_are_not_resumed(searched: Searched) -> None:
    project, shas, _ = searched
    other = project.perfgate("bisect", "--good", shas[1], "--resume")
    rules = project.perfgate("bisect", "--good", shas[0], "--resume", "--set", "gate.threshold=7%")
    assert (other.returncode, rules.returncode) == (2, 2)
    assert f"base was {shas[0][:12]}, is {shas[1][:12]}" in other.stderr
    assert "gate.threshold" in rules.stderr


def test_what_a_killed_search_measured_counts(tmp_path: Path) -> None:
    project, shas = history(tmp_path / "p", [1.0, 1.0, 1.2, 1.2])
    first = bisect(project, shas[0])
    folder = project.top / ".perfgate/bisect"
    # as it was before its last visit was noted, in the middle of a line
    journal = folder / "bisect.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]) + lines[-1][:20])
    last = folder / json.loads(lines[-1])["commit"][:12] / "measurements.jsonl"
    kept = last.read_bytes().splitlines(keepends=True)
    last.write_bytes(b"".join(kept[:-2]))
    again = bisect(project, shas[0], "--resume")
    assert (first.returncode, again.returncode) == (0, 0), again.stderr
    assert max(result(project)["commits"], key=lambda each: each["probability"])["sha"] == shas[3]


def test_ends_that_do_not_differ_are_no_search(tmp_path: Path) -> None:
    project, shas = history(tmp_path / "p", [1.0, 1.001])
    done = bisect(project, shas[0])
    found = result(project)
    assert (done.returncode, found["outcome"], found["cost"]["rounds"]) == (3, "no-difference", 0)
    assert found["ends"]["low"] < found["ends"]["high"] < 1.05
    assert "--set gate.threshold=" in done.stdout


def test_ends_that_run_the_same_cannot_differ(tmp_path: Path) -> None:
    project, shas = history(tmp_path / "p", [], SHORT.replace('sameness = "off"\n', ""))
    project.commit("nothing")
    done = bisect(project, shas[0])
    assert (done.returncode, result(project)["ends_verdict"]) == (3, "identical"), done.stderr


def test_a_commit_that_does_not_run_leaves_a_set(tmp_path: Path) -> None:
    project, shas = history(tmp_path / "p", [1.0, 1.0, "exit 1\n", 1.2, 1.2])
    done = bisect(project, shas[0])
    found = result(project)
    assert (done.returncode, found["outcome"]) == (3, "set"), done.stderr
    assert found["remaining"] == [shas[3], shas[4]]
    assert found["commits"][2]["state"] == "unmeasurable"
    assert f"git log -p {shas[3][:10]}~1..{shas[4][:10]}" in done.stdout


def test_an_end_that_does_not_run_is_an_error(tmp_path: Path) -> None:
    project, shas = history(tmp_path / "p", [1.0, "exit 1\n"])
    done = bisect(project, shas[0])
    assert (done.returncode, result(project)["outcome"]) == (4, "failed"), done.stderr


def test_documentation_is_not_measured(tmp_path: Path) -> None:
    project, shas = history(tmp_path / "p", [1.0, 1.2])
    for number in range(4):
        project.write("README.md", f"{number}\n")
        shas.append(project.commit("docs"))
    done = bisect(project, shas[0])
    found = result(project)
    assert done.returncode == 0, done.stderr
    assert [each["state"] for each in found["commits"][2:-1]] == ["inert"] * 3
    assert [each["rounds"] for each in found["commits"][2:-1]] == [0, 0, 0]


def test_a_budget_that_ends_leaves_commits_and_goes_on(tmp_path: Path) -> None:
    project, shas = history(tmp_path / "p", [*[1.0] * 5, *[1.2] * 5])
    done = bisect(project, shas[0], "--budget", "10ms")
    assert (done.returncode, result(project)["outcome"]) == (3, "open"), done.stderr
    assert "--resume --budget" in done.stdout
    again = bisect(project, shas[0], "--resume", "--budget", "10m")
    assert again.returncode == 0, again.stderr


@pytest.fixture(scope="module")
def diverged(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project, _ = history(tmp_path_factory.mktemp("diverged") / "p", [1.0])
    project.git("checkout", "-q", "-b", "side", "main~1")
    project.commit("aside")
    project.git("checkout", "-q", "main")
    return project


@pytest.mark.parametrize(
    ("good", "bad", "said"),
    [
        ("main", "main~1", "swap --good and --bad"),
        ("main", "main", "the same commit"),
        ("side", "main", "they diverged at"),
        ("nothing", "main", "--good nothing: no such commit"),
        ("main~1", "nothing", "--bad nothing: no such commit"),
    ],
)
def test_a_range_that_is_none_is_refused_in_one_line(diverged: Project, good: str, bad: str, said: str) -> None:
    done = diverged.perfgate("bisect", "--good", good, "--bad", bad)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr


def test_good_must_be_named(diverged: Project) -> None:
    assert diverged.perfgate("bisect").returncode == 2


def test_a_dry_run_measures_nothing_and_counts_merges_once(tmp_path: Path) -> None:
    project, shas = history(tmp_path / "p", [1.0])
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
    given: dict[str, Any] = {
        "number": number, "sha": f"{number:x}" * 40, "subject": f"change {number}", "author": "A", "date": "2026-11-20",
        "files": 1, "added": 2, "removed": 1, "probability": probability, "state": "inferred", "rounds": 0,
        "change": None,
    } | more  # fmt: skip
    return Member(**given)


def a_result(**more: Any) -> Result:
    given: dict[str, Any] = {
        "schema": 1, "outcome": "culprit", "exit_code": 0,
        "good": End(ref="v1", sha="0" * 40), "bad": End(ref="main", sha="3" * 40),
        "case": CaseId("parse", "time", "", "mean"), "unit": "s", "threshold": 0.03,
        "ends": Change(1.1, 1.05, 1.15), "ends_verdict": "regression", "step": Change(1.1, 1.08, 1.12), "noise": 0.02,
        "commits": [member(1), member(2, 0.97, state="measured", rounds=2, change=Change(1.1, 1.07, 1.13)),
                    member(3, 0.03, state="measured", rounds=5, change=Change(1.1, 1.05, 1.15))],
        "remaining": ["2" * 40], "several": None, "failures": [], "parents": ["1" * 40],
        "cost": Cost(seconds=900.0, gate=400.0, rounds=7, executions=2, budget=3600.0), "seed": 7, "detectable": 0.04,
        "folder": ".perfgate/bisect",
    } | more  # fmt: skip
    return Result(**given)


def test_a_merge_is_searched_inside_and_reverted_as_one() -> None:
    found = commands(parents=["1" * 40, "a" * 40])
    assert (
        f'perfgate bisect --good "$(git merge-base {"1" * 10} {"a" * 10})" --bad {"a" * 10} --benchmark parse' in found
    )
    assert f"git revert -m 1 {'2' * 10}" in found


def commands(**more: Any) -> list[str]:
    return [each.text for each in words.next_steps(a_result(**more))]


def test_a_next_step_repeats_what_the_search_was_asked() -> None:
    asked = Asked(benchmarks=["--benchmark", "p*"], rules=["--set", "plan.builds=6"], out=["--out", "a b"])
    given = "--benchmark 'p*' --set plan.builds=6"
    went_on = f"perfgate bisect --good {'0' * 10} --bad {'3' * 10} {given} --out 'a b'"
    assert commands(outcome="open", asked=asked) == [f"{went_on} --resume --budget 2h00min"]
    assert float(option_values.duration("2h00min")) == 7200
    spent = Cost(seconds=400.0, gate=400.0, rounds=0, executions=2, budget=2.0)
    assert commands(outcome="open", cost=spent)[0].endswith("--resume --budget 13min20s")
    alone = f"perfgate check --base {'2' * 10}~1 --head {'2' * 10} --benchmark parse --set plan.builds=6"
    assert alone in commands(asked=asked)
    one_of_many = CaseId("parse[a*]", "time", "", "mean")
    assert any("--benchmark 'parse[[]a[*]]'" in each for each in commands(case=one_of_many, asked=asked))


def test_a_change_that_may_be_below_the_threshold_is_searched_with_a_lower_one() -> None:
    found = {"outcome": "no-difference", "ends_verdict": "inconclusive"}
    assert "gate.threshold=1.0%" in commands(**found, ends=Change(1.03, 1.02, 1.04))[0]
    # above the threshold, and not decided because of too few rounds: a higher threshold would find less
    assert "gate.threshold" not in commands(**found, ends=Change(1.5, 1.2, 1.8))[0]


def test_more_rounds_are_more_than_were_planned() -> None:
    cost = Cost(seconds=60.0, gate=60.0, rounds=0, executions=0, budget=3600.0, planned=6)
    found = {"outcome": "no-difference", "ends_verdict": "inconclusive", "ends": Change(1.1, 0.9, 1.3), "cost": cost}
    (step,) = words.next_steps(a_result(**found))
    assert step.text.endswith("--set plan.builds=12")
    assert "about 2 min" in step.purpose
    # in a budget that has room for them
    found["cost"] = msgspec.structs.replace(cost, limit=100.0)
    (step,) = words.next_steps(a_result(**found))
    assert step.text.endswith("--set plan.builds=12 --set plan.budget=3m")


def test_several_changes_are_said() -> None:
    found = " ".join(words.details(a_result(several=Several(0.9, "1" * 40, 0.95))))
    assert "several changes" in found
    assert "faster" in found


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_no_format_takes_a_subject_for_markup(form: str) -> None:
    evil = '<script>alert("x")</script> | @team `x`'
    shown = FORMATS[form](
        a_result(commits=[member(1), member(2, 0.97, subject=evil, author=evil), member(3, 0.03)])
    )  # fmt: skip
    if form == "json":
        assert json.loads(shown)["commits"][1]["subject"] == evil
    else:
        assert "<script>" not in shown
    if form == "markdown":
        assert "@team" not in shown


def test_every_outcome_has_a_headline_and_a_next_step() -> None:
    for outcome in ("culprit", "set", "open", "no-difference", "failed"):
        found = a_result(outcome=outcome)
        assert words.headline(found)
        assert words.next_steps(found)
        for render in FORMATS.values():
            assert render(found).endswith("\n")


def test_a_commit_is_untouched_only_if_nothing_of_it_is_read() -> None:
    def commit(*paths: str, moved: frozenset[str] = frozenset()) -> RangeCommit:
        return RangeCommit("0" * 40, "A", "2026", "s", paths, moved, 1, 1)

    reads = Reads(frozenset({"src/a.c", "Makefile"}), frozenset({"src"}))
    commits = [
        commit("src/a.c"),
        commit("src/b.c"),
        commit("src/b.c", moved=frozenset({"src/b.c"})),
        commit("tests/x.c", moved=frozenset({"tests/x.c"})),
        commit("docs/x"),
    ]
    # bad itself is never among them
    assert untouched(commits, reads) == frozenset({2, 4})
    assert untouched(commits, None) is None


@pytest.mark.parametrize(
    ("paths", "inert"),
    [
        (("README.md", "docs/x.py"), True),
        (("CMakeLists.txt",), False),
        (("requirements.txt",), False),
        (("src/readme.c", "README.md"), False),
        ((".github/workflows/ci.yml", "LICENSE"), True),
        (("data.txt",), False),
        ((), True),
    ],
)
def test_documentation_is_known_by_name(paths: tuple[str, ...], inert: bool) -> None:
    assert RangeCommit("0" * 40, "A", "2026", "s", paths, frozenset(), 0, 0).inert is inert
