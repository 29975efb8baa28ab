"""The first pull request of a project: base has no perfgate.toml, and perhaps none of head's benchmarks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.project import ENOUGH, Project
from tests.support.project import FEW as CONFIG
from tests.support.project import SHELL_BENCH as BENCH

pytestmark = [pytest.mark.endtoend, pytest.mark.xdist_group("measures")]

SECOND = CONFIG[CONFIG.index("[[benchmark]]") :].replace('"bench"', '"second"').replace("bench.sh", "second.sh")
BUILD = '[build]\ncommand = "test -e bench.sh"\n'
SLOW = BENCH.replace("SPEED", "2.0")


def config(*parts: str) -> str:
    return CONFIG + "".join(parts)


def project(top: Path, base: dict[str, str], head: dict[str, str], inner: str = "") -> Project:
    """Make a base of these files, and a head that adds others."""
    made = Project(top)
    for message, files in (("base", {"readme": "", **base}), ("head", head)):
        for name, text in files.items():
            made.write(inner + name if message == "head" else name, text)
        made.commit(message)
    return made


def lines(made: Project) -> list[dict[str, Any]]:
    text = (made.top / ".perfgate/measurements.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def nothing_compared(made: Project) -> dict[str, Any]:
    """Check what every format says where nothing is compared, and return the report."""
    report = made.report()
    assert (report["verdict"], report["exit_code"], report["findings"]) == ("pass", 0, [])
    assert report["summary"]["kind"] == "nothing-to-compare"
    assert made.perfgate("report", "--format", "markdown").stdout.startswith("⚪ **Nothing to compare yet: ")
    assert made.perfgate("report", "--format", "summary").stdout.startswith("⚪ **Nothing to compare yet: ")
    page = (made.top / ".perfgate/report.html").read_text()
    assert '<div class="verdict">\n<h1>' in page and "</span> Nothing to compare yet: " in page
    junit = made.perfgate("report", "--format", "junit").stdout
    assert 'skipped="1"' in junit and 'failures="0"' in junit and 'errors="0"' in junit
    return report


BASES: dict[str, tuple[dict[str, str], dict[str, str], str]] = {
    "its build fails": ({}, {"bench.sh": BENCH.replace("SPEED", "1.0"), "perfgate.toml": config(BUILD)}, "build"),
    "no benchmark runs": ({}, {"bench.sh": BENCH.replace("SPEED", "1.0"), "perfgate.toml": config()}, "execution"),
}


@pytest.mark.parametrize("base", BASES)
def test_head_is_measured_against_itself(tmp_path: Path, base: str) -> None:
    before, after, failed = BASES[base]
    made = project(tmp_path / "repo", before, after)
    first, head = made.git("rev-list", "--reverse", "HEAD").splitlines()
    done = made.perfgate("check", "--base", "HEAD~1", *ENOUGH)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("○ Nothing to compare yet: base has no perfgate.toml, and ")
    report = nothing_compared(made)
    details = report["summary"]["details"]
    why = details["why"]["details"]
    assert (why["base"], why["itself"], why["failed"]) == (first, True, failed)
    # noise of 1% in 5 builds of a value
    assert details["quietest"] == details["noisiest"]
    assert 0.001 < details["quietest"]["detectable"] < 0.1
    assert report["run"]["base"]["sha"] == report["run"]["head"]["sha"] == head
    assert report["new"] == ["bench"] and report["recorded"][0]["base"]["counts"]["build"] == 5
    kinds = [warning["kind"] for warning in report["warnings"]]
    assert "nothing-to-compare" in kinds and "same-commit" not in kinds
    # again from the file alone
    (decided := made.perfgate("decide", ".perfgate/measurements.jsonl"))
    assert (decided.returncode, decided.stdout.splitlines()[0]) == (0, done.stdout.splitlines()[0])


def test_a_base_without_the_folder_of_the_project(tmp_path: Path) -> None:
    made = project(
        tmp_path / "repo", {}, {"bench.sh": BENCH.replace("SPEED", "1.0"), "perfgate.toml": config()}, "inner/"
    )
    done = made.perfgate("check", "--base", "HEAD~1", *ENOUGH, cwd=made.top / "inner")
    assert done.returncode == 0, done.stdout + done.stderr
    said = " ".join(done.stdout.split())
    assert said.startswith("○ Nothing to compare yet: base has no perfgate.toml, nor the folder of the project; ")


def test_a_base_that_runs_the_benchmarks_is_compared(tmp_path: Path) -> None:
    made = project(
        tmp_path / "repo",
        {"bench.sh": BENCH.replace("SPEED", "1.0")},
        {"perfgate.toml": config(BUILD), "bench.sh": SLOW},
    )
    done = made.perfgate("check", "--base", "HEAD~1", *ENOUGH)
    assert done.returncode == 1, done.stderr
    assert [f["verdict"] for f in made.report()["findings"]] == ["regression"]


def test_what_base_does_not_run_is_new(tmp_path: Path) -> None:
    head = {"second.sh": SLOW, "perfgate.toml": config(SECOND)}
    made = project(tmp_path / "repo", {"bench.sh": BENCH.replace("SPEED", "1.0")}, head)
    done = made.perfgate("check", "--base", "HEAD~1")
    assert done.returncode == 0, done.stdout + done.stderr
    report = made.report()
    assert [f["benchmark"] for f in report["findings"]] == ["bench"] and report["new"] == ["second"]
    assert report["failures"] == []


@pytest.mark.parametrize("broken", ["one of two", "all", "the build"])
def test_head_that_fails_is_an_error(tmp_path: Path, broken: str) -> None:
    files = {
        "bench.sh": BENCH.replace("SPEED", "1.0"),
        "perfgate.toml": config(SECOND),
        "second.sh": "raise SystemExit(3)",
    }
    if broken == "all":
        files["bench.sh"] = files["second.sh"]
    if broken == "the build":
        files["perfgate.toml"] = config(BUILD.replace("test -e bench.sh", "false"))
    made = project(tmp_path / "repo", {}, files)
    done = made.perfgate("check", "--base", "HEAD~1")
    assert done.returncode == 4, done.stdout
    assert done.stdout.startswith("✖ Error: ") and made.report()["findings"] == []


def test_head_that_fails_beside_a_benchmark_of_base_is_an_error(tmp_path: Path) -> None:
    head = {"second.sh": "raise SystemExit(3)", "perfgate.toml": config(SECOND)}
    made = project(tmp_path / "repo", {"bench.sh": BENCH.replace("SPEED", "1.0")}, head)
    assert made.perfgate("check", "--base", "HEAD~1").returncode == 4
    assert [(f["benchmark"], f["side"]) for f in made.report()["failures"]] == [("second", "head")]


@pytest.mark.parametrize("kind", ["nothing runs", "one of two runs"])
def test_it_is_resumed_as_it_was_begun(tmp_path: Path, kind: str) -> None:
    alone = kind == "nothing runs"
    head = {"second.sh": SLOW, "perfgate.toml": config(SECOND)}
    bench = {"bench.sh": BENCH.replace("SPEED", "1.0")}
    made = project(tmp_path / "repo", {} if alone else bench, {**head, **bench})
    assert made.perfgate("check", "--base", "HEAD~1").returncode == 0
    whole = lines(made)
    file = made.top / ".perfgate/measurements.jsonl"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:6]))
    done = made.perfgate("check", "--base", "HEAD~1", "--resume")
    assert done.returncode == 0, done.stderr
    again = lines(made)
    assert again[0] == whole[0]
    executed = [sum(line["type"] == "execution" for line in each) for each in (whole, again)]
    assert executed[0] == executed[1]


def test_shards_of_which_one_has_something_to_compare(tmp_path: Path) -> None:
    """The jobs of a matrix do not know what the others have: base stays what it is."""
    head = {"second.sh": SLOW, "perfgate.toml": config(SECOND)}
    made = project(tmp_path / "repo", {"bench.sh": BENCH.replace("SPEED", "1.0")}, head)
    for part in ("1/2", "2/2"):
        done = made.perfgate("measure", "--base", "HEAD~1", "--shard", part, "--out", f"part{part[0]}")
        assert done.returncode == 0, done.stderr
    done = made.perfgate("decide", "part1", "part2", "--json", "report.json")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((made.top / "report.json").read_text())
    assert [f["benchmark"] for f in report["findings"]] == ["bench"] and report["new"] == ["second"]


def test_shards_that_have_nothing_to_compare(tmp_path: Path) -> None:
    head = {"second.sh": SLOW, "bench.sh": SLOW, "perfgate.toml": config(SECOND)}
    made = project(tmp_path / "repo", {}, head)
    for part in ("1/2", "2/2"):
        done = made.perfgate("measure", "--base", "HEAD~1", "--shard", part, "--out", f"part{part[0]}")
        assert done.returncode == 0, done.stderr
    done = made.perfgate("decide", "part1", "part2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("○ Nothing to compare yet: ")
    # a part that is missing is missing here too
    assert made.perfgate("decide", "part1").returncode == 4
