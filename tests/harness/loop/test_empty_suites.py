"""A suite in which one side has no benchmark: what the other side has is new, or missing, and nothing failed."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.harness.loop.test_probe import committed
from tests.support.project import Project

PLAN = "[gate]\nmin_builds = 2\nsameness = 'off'\n[plan]\nbuilds = 2\nexecutions = 2\niterations = 1\nsandbox = 'off'\n"
OTHER = '[[benchmark]]\nname = "other"\ninstrument = "values"\ncommand = "echo 1; cat other"\n'
GO = "goos: linux\npkg: example.org/m\n%sPASS\nok  \texample.org/m\t1.2s\n"
EMPTY = {"go": GO % "", "libtest": "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured\n"}
ONE = {
    "go": GO % "BenchmarkF-2  \t100\t12.3 ns/op\n",
    "libtest": "running 1 test\ntest f ... bench:          12 ns/iter (+/- 3)\n",
}
NEW = ["go/example.org/m.BenchmarkF", "libtest"]


def made(tmp_path: Path, base: Mapping[str, str], head: Mapping[str, str], *, other: str = OTHER) -> Project:
    """Make a project whose suites print these texts, or run these scripts; the tool of each is a part of its name."""
    config = PLAN + other
    for name in base:
        how = 'instrument = "go"' if "go" in name else 'instrument = "values"\nformat = "libtest"'
        # options are added at the end
        config += f'[[benchmark]]\nname = "{name}"\n{how}\ncommand = ["sh", "{name}.sh", "..."]\n'
    first, second = (
        {f"{name}.sh": text if text.startswith("#!") else f"cat <<'END'\n{text}END\n" for name, text in texts.items()}
        for texts in (base, head)
    )
    return committed(tmp_path, {"perfgate.toml": config, **first, "other": "1\n"}, {**second, "other": "1.0\n"})


def checked(project: Project, *options: str) -> tuple[int, dict[str, Any]]:
    done = project.perfgate("check", "--base", "HEAD~1", *options)
    assert (project.top / ".perfgate/report.json").exists(), done.stderr
    return done.returncode, project.report()


def failed(report: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    return [(f["kind"], f["benchmark"], f["side"], f["status"]) for f in report["failures"]]


def test_the_first_benchmark_of_a_suite_is_new(tmp_path: Path) -> None:
    project = made(tmp_path, EMPTY, ONE)
    code, report = checked(project)
    assert (code, failed(report), sorted(report["new"])) == (0, [], NEW)
    assert [finding["benchmark"] for finding in report["findings"]] == ["other"]
    lines = [json.loads(line) for line in project.lines()]
    # what only head has is executed once
    executed = [(line["benchmark"], line["side"]) for line in lines if line["type"] == "execution"]
    assert sorted(each for each in executed if each[0] != "other") == [(name, "head") for name in NEW]
    # as a kill after that leaves the file: nothing of the suites is made again
    at = max(i for i, line in enumerate(lines) if line["type"] == "failure")
    file = project.top / ".perfgate/measurements.jsonl"
    file.write_text("".join(f"{line}\n" for line in project.lines()[: at + 1]))
    code, report = checked(project, "--resume")
    assert (code, failed(report), sorted(report["new"])) == (0, [], NEW)
    assert sum('"type":"failure"' in line for line in project.lines()) == len(NEW)


def test_alone_there_is_nothing_to_compare_yet(tmp_path: Path) -> None:
    project = made(tmp_path, {"go": EMPTY["go"]}, ONE, other="")
    done = project.perfgate("check", "--base", "HEAD~1")
    report = project.report()
    assert (done.returncode, report["verdict"], report["new"]) == (0, "pass", NEW[:1])
    assert " ".join(done.stdout.split()).startswith("○ Nothing to compare yet: go has no benchmark in base ")
    assert report["summary"]["details"]["why"]["text"] == (
        "go has no benchmark in base: head is measured alone. Once head runs and is merged, the next change is "
        "compared with it"
    )
    assert not [each for each in report["warnings"] if each["kind"] == "rounds-short"]


def test_what_head_removes_is_missing(tmp_path: Path) -> None:
    project = made(tmp_path, ONE, EMPTY)
    code, report = checked(project)
    assert (code, sorted(failed(report))) == (
        4,
        [("missing", name, "head", "base has it, head does not") for name in NEW],
    )
    assert report["next"]["kind"] == "restore-benchmark"
    assert project.perfgate("decide", ".perfgate", "--set", "gate.missing=pass").returncode == 0


def test_what_is_empty_on_both_sides_or_fails_otherwise_is_a_failure(tmp_path: Path) -> None:
    """A filter or a path that is wrong on both sides would never measure anything."""
    seen = tmp_path / "seen"
    # base is started once before all is measured
    loses = (
        f"#!/bin/sh\necho >> {seen}\n"
        f"if [ $(wc -l < {seen}) -gt 2 ]; then printf '%s' '{EMPTY['go']}'; else printf '%s' '{ONE['go']}'; fi\n"
    )
    more = {"go-later": loses, "libtest-killed": "#!/bin/sh\nkill -9 $$\n"}
    code, report = checked(made(tmp_path, EMPTY | more, {"go-later": ONE["go"], "libtest-killed": ONE["libtest"]}))
    assert (code, report["new"]) == (4, [])
    told = {(benchmark, side): (kind, status) for kind, benchmark, side, status in failed(report)}
    both = {(name, side) for name in EMPTY for side in ("base", "head")}
    assert told.keys() == both | {(name, "base") for name in more}
    assert {kind for kind, _ in told.values()} == {"execution"}
    empty = [status for (name, _), (_, status) in told.items() if name != "libtest-killed"]
    assert all(status.startswith("no benchmark") for status in empty)
    assert told["go-later", "base"][1] == "no benchmarks"
