"""The first pull request of a project: base has no perfgate.toml, and perhaps none of head's benchmarks."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.project import ENOUGH, Project, repository
from tests.support.project import FEW as CONFIG
from tests.support.project import SHELL_BENCH as BENCH

pytestmark = [pytest.mark.endtoend, pytest.mark.xdist_group("measures")]

SECOND = CONFIG[CONFIG.index("[[benchmark]]") :].replace('"bench"', '"second"').replace("bench.sh", "second.sh")
BUILD = '[build]\ncommand = "test -e bench.sh"\n'
FAST, SLOW = (BENCH.replace("SPEED", speed) for speed in ("1.0", "2.0"))


def project(top: Path, base: dict[str, str], head: dict[str, str], inner: str = "") -> Project:
    """Make a base of these files, and a head that adds others."""
    return repository(top, {"readme": "", **base}, {inner + name: text for name, text in head.items()})


def check(made: Project, code: int, *more: str, cwd: Path | None = None) -> str:
    """Compare the last commit with the one before; returns what it says, on one line."""
    done = made.perfgate("check", "--base", "HEAD~1", *more, cwd=cwd)
    assert done.returncode == code, done.stdout + done.stderr
    return " ".join(done.stdout.split())


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
    "its build fails": ({}, {"bench.sh": FAST, "perfgate.toml": CONFIG + BUILD}, "build"),
    "no benchmark runs": ({}, {"bench.sh": FAST, "perfgate.toml": CONFIG}, "execution"),
}


@pytest.mark.parametrize("base", BASES)
def test_head_is_measured_against_itself(tmp_path: Path, base: str) -> None:
    before, after, failed = BASES[base]
    made = project(tmp_path / "repo", before, after)
    first, head = made.git("rev-list", "--reverse", "HEAD").splitlines()
    said = check(made, 0, *ENOUGH)
    assert said.startswith("○ Nothing to compare yet: base has no perfgate.toml, and ")
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
    decided = made.perfgate("decide", ".perfgate/measurements.jsonl")
    assert decided.returncode == 0 and said.startswith(" ".join(decided.stdout.splitlines()[0].split()))


def test_a_base_without_the_folder_of_the_project(tmp_path: Path) -> None:
    made = project(tmp_path / "repo", {}, {"bench.sh": FAST, "perfgate.toml": CONFIG}, "inner/")
    said = check(made, 0, *ENOUGH, cwd=made.top / "inner")
    assert said.startswith("○ Nothing to compare yet: base has no perfgate.toml, nor the folder of the project; ")


def test_what_base_runs_is_compared_and_the_rest_is_new(tmp_path: Path) -> None:
    head = {"second.sh": SLOW, "perfgate.toml": CONFIG + SECOND + BUILD, "bench.sh": SLOW}
    made = project(tmp_path / "repo", {"bench.sh": FAST}, head)
    check(made, 1, *ENOUGH)
    report = made.report()
    assert [(f["benchmark"], f["verdict"]) for f in report["findings"]] == [("bench", "regression")]
    assert (report["new"], report["failures"]) == (["second"], [])


@pytest.mark.parametrize("broken", ["one of two", "all", "the build"])
def test_head_that_fails_is_an_error(tmp_path: Path, broken: str) -> None:
    files = {
        "bench.sh": FAST,
        "perfgate.toml": CONFIG + SECOND,
        "second.sh": "raise SystemExit(3)",
    }
    if broken == "all":
        files["bench.sh"] = files["second.sh"]
    if broken == "the build":
        files["perfgate.toml"] = CONFIG + BUILD.replace("test -e bench.sh", "false")
    made = project(tmp_path / "repo", {}, files)
    said = check(made, 4)
    assert said.startswith("✖ Error: ") and made.report()["findings"] == []


def test_head_that_fails_beside_a_benchmark_of_base_is_an_error(tmp_path: Path) -> None:
    head = {"second.sh": "raise SystemExit(3)", "perfgate.toml": CONFIG + SECOND}
    made = project(tmp_path / "repo", {"bench.sh": FAST}, head)
    check(made, 4)
    assert [(f["benchmark"], f["side"]) for f in made.report()["failures"]] == [("second", "head")]


@pytest.mark.parametrize("kind", ["nothing runs", "one of two runs"])
def test_it_is_resumed_as_it_was_begun(tmp_path: Path, kind: str) -> None:
    alone = kind == "nothing runs"
    head = {"second.sh": SLOW, "perfgate.toml": CONFIG + SECOND}
    bench = {"bench.sh": FAST}
    made = project(tmp_path / "repo", {} if alone else bench, {**head, **bench})
    check(made, 0)
    whole = lines(made)
    file = made.top / ".perfgate/measurements.jsonl"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:6]))
    check(made, 0, "--resume")
    again = lines(made)
    assert again[0] == whole[0]
    executed = [sum(line["type"] == "execution" for line in each) for each in (whole, again)]
    assert executed[0] == executed[1]


@pytest.mark.parametrize("compared", [True, False])
def test_shards_do_not_know_what_the_others_have_to_compare(tmp_path: Path, compared: bool) -> None:
    """In each of the jobs base stays what it is."""
    head = {"second.sh": SLOW, "bench.sh": FAST, "perfgate.toml": CONFIG + SECOND}
    made = project(tmp_path / "repo", {"bench.sh": FAST} if compared else {}, head)
    for part in ("1/2", "2/2"):
        done = made.perfgate("measure", "--base", "HEAD~1", "--shard", part, "--out", f"part{part[0]}")
        assert done.returncode == 0, done.stderr
    done = made.perfgate("decide", "part1", "part2", "--json", "report.json")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((made.top / "report.json").read_text())
    if compared:
        assert [f["benchmark"] for f in report["findings"]] == ["bench"] and report["new"] == ["second"]
    else:
        assert done.stdout.startswith("○ Nothing to compare yet: ")
        # a part that is missing is missing here too
        assert made.perfgate("decide", "part1").returncode == 4
