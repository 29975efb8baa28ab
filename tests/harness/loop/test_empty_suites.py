"""A suite in which one side has no benchmark: what the other side has is new, or missing, and nothing failed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.project import Project

PLAN = "[gate]\nmin_builds = 2\nsameness = 'off'\n[plan]\nbuilds = 2\nexecutions = 2\niterations = 1\nsandbox = 'off'\n"
OTHER = '[[benchmark]]\nname = "other"\ninstrument = "values"\ncommand = "echo 1; cat other"\n'
GO = "goos: linux\npkg: example.org/m\n%sPASS\nok  \texample.org/m\t1.2s\n"
SUITES = {
    "go": (GO % "", GO % "BenchmarkF-2  \t100\t12.3 ns/op\n"),
    "libtest": (
        "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured\n",
        "running 1 test\ntest f ... bench:          12 ns/iter (+/- 3)\n",
    ),
}
NEW = {"go": "suite/example.org/m.BenchmarkF", "libtest": "suite"}


def suite(tool: str) -> str:
    how = 'instrument = "go"' if tool == "go" else f'instrument = "values"\nformat = "{tool}"'
    # options are added at the end
    return f'[[benchmark]]\nname = "suite"\n{how}\ncommand = ["sh", "suite.sh", "..."]\n'


def made(tmp_path: Path, config: str, base: str, head: str) -> Project:
    """Make a project whose suite prints these texts, or runs these scripts."""
    project = Project(tmp_path / "project")
    project.write("perfgate.toml", PLAN + config)
    for text, other in ((base, "1\n"), (head, "1.0\n")):
        project.write("suite.sh", text if text.startswith("#!") else f"cat <<'END'\n{text}END\n")
        project.write("other", other)
        project.commit()
    return project


def checked(project: Project, *options: str) -> tuple[int, dict[str, Any]]:
    done = project.perfgate("check", "--base", "HEAD~1", *options)
    assert (project.top / ".perfgate/report.json").exists(), done.stderr
    return done.returncode, project.report()


def failed(report: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    return [(f["kind"], f["benchmark"], f["side"], f["status"]) for f in report["failures"]]


def executed(project: Project, side: str) -> int:
    text = (project.top / ".perfgate/measurements.jsonl").read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    return sum(
        line["type"] == "execution" and line["side"] == side and line["benchmark"].startswith("suite") for line in lines
    )


@pytest.mark.parametrize("tool", SUITES)
def test_the_first_benchmark_of_a_suite_is_new(tmp_path: Path, tool: str) -> None:
    project = made(tmp_path, suite(tool) + OTHER, *SUITES[tool])
    code, report = checked(project)
    assert (code, failed(report), report["new"]) == (0, [], [NEW[tool]])
    assert [finding["benchmark"] for finding in report["findings"]] == ["other"]
    # what only head has is executed once
    assert (executed(project, "base"), executed(project, "head")) == (0, 1)
    file = project.top / ".perfgate/measurements.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if '"type":"failure"' in line)
    # as a kill after that leaves the file: nothing of the suite is made again
    file.write_text("".join(lines[: at + 1]))
    code, report = checked(project, "--resume")
    assert (code, failed(report), report["new"]) == (0, [], [NEW[tool]])
    assert sum('"type":"failure"' in line for line in file.read_text().splitlines()) == 1


@pytest.mark.parametrize("tool", SUITES)
def test_alone_there_is_nothing_to_compare_yet(tmp_path: Path, tool: str) -> None:
    project = made(tmp_path, suite(tool), *SUITES[tool])
    done = project.perfgate("check", "--base", "HEAD~1")
    report = project.report()
    assert (done.returncode, report["verdict"], report["new"]) == (0, "pass", [NEW[tool]])
    assert " ".join(done.stdout.split()).startswith("○ Nothing to compare yet: suite has no benchmark in base ")
    assert report["summary"]["details"]["why"]["text"] == (
        "suite has no benchmark in base: head is measured alone. Once head runs and is merged, the next change is "
        "compared with it"
    )
    assert not [each for each in report["warnings"] if each["kind"] == "rounds-short"]


@pytest.mark.parametrize("tool", SUITES)
def test_what_head_removes_is_missing(tmp_path: Path, tool: str) -> None:
    project = made(tmp_path, suite(tool) + OTHER, *reversed(SUITES[tool]))
    code, report = checked(project)
    assert (code, failed(report)) == (4, [("missing", NEW[tool], "head", "base has it, head does not")])
    assert report["next"]["kind"] == "restore-benchmark"
    assert project.perfgate("decide", ".perfgate", "--set", "gate.missing=pass").returncode == 0


@pytest.mark.parametrize("tool", SUITES)
def test_a_suite_that_is_empty_on_both_sides_fails(tmp_path: Path, tool: str) -> None:
    """A filter or a path that is wrong on both sides would never measure anything."""
    code, report = checked(made(tmp_path, suite(tool) + OTHER, SUITES[tool][0], SUITES[tool][0]))
    assert (code, report["new"]) == (4, [])
    assert {(f["kind"], f["benchmark"]) for f in report["failures"]} == {("execution", "suite")}
    assert {f["side"] for f in report["failures"]} == {"base", "head"}
    assert all(f["status"].startswith("no benchmark") for f in report["failures"])


def test_a_suite_that_loses_its_benchmarks_later_fails(tmp_path: Path) -> None:
    nothing, one = SUITES["go"]
    seen = tmp_path / "seen"
    # base is started once before all is measured
    flaky = (
        f"#!/bin/sh\necho >> {seen}\n"
        f"if [ $(wc -l < {seen}) -gt 2 ]; then printf '%s' '{nothing}'; else printf '%s' '{one}'; fi\n"
    )
    code, report = checked(made(tmp_path, suite("go") + OTHER, flaky, one))
    assert (code, failed(report)) == (4, [("execution", "suite", "base", "no benchmarks")])


def test_a_base_that_fails_otherwise_is_no_empty_suite(tmp_path: Path) -> None:
    code, report = checked(made(tmp_path, suite("libtest") + OTHER, "#!/bin/sh\nkill -9 $$\n", SUITES["libtest"][1]))
    assert (code, [failure["side"] for failure in report["failures"]]) == (4, ["base"])
