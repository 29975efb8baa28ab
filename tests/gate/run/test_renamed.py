"""A benchmark under another name: measured and called renamed; else it is missing, with the ways on that help."""

from pathlib import Path

import pytest

from tests.support.project import ENOUGH, Project, quick, repository
from tests.support.project import FEW as CONFIG

pytestmark = pytest.mark.xdist_group("measures")

NEW = CONFIG.replace('"bench"', '"new-name"')
LABEL = "by the label `perf-accepted` on the pull request, or "
ENTRY = 'an `[[override]]` entry with `benchmark = "bench"` and `missing = "pass"`'


def project(top: Path, before: str, after: str, speed: float = 1.0) -> Project:
    return repository(
        top, {"perfgate.toml": before, **quick(1.0)}, {"perfgate.toml": after, **quick(speed), "readme": "2"}
    )


@pytest.mark.endtoend
@pytest.mark.parametrize(("ci", "speed", "code"), [("true", 2.0, 1), ("", 1.0, 0)])
def test_it_is_measured_on_both_sides(tmp_path: Path, ci: str, speed: float, code: int) -> None:
    made = project(tmp_path / "repo", CONFIG, NEW, speed)
    both = ("--benchmark", "bench", "--benchmark", "new-name", *(ENOUGH if code else ()))
    done = made.perfgate("check", "--base", "HEAD~1", *both, CI=ci)
    assert done.returncode == code, done.stdout + done.stderr
    assert "bench → new-name (renamed)" in " ".join(done.stdout.split("\n\n")[0].split())
    assert "no case that ran" not in done.stderr
    report = made.report()
    assert (report["failures"], report["new"]) == ([], [])
    found = [*report["findings"]]
    assert [each["benchmark"] for each in found] == ["bench" if ci else "new-name"]
    assert (report["warnings"][0]["kind"], report["warnings"][0]["details"]) == (
        "renamed",
        {"was": "bench", "now": "new-name"},
    )
    assert "bench → new-name (renamed)" in made.perfgate("report", "--format", "markdown").stdout.splitlines()[0]
    assert "bench → new-name (renamed)" in (made.top / ".perfgate/report.html").read_text()


def test_what_is_missing_names_the_ways_that_help_where_it_runs(tmp_path: Path) -> None:
    made = project(tmp_path / "repo", CONFIG, NEW.replace("sh bench.sh", "sh ./bench.sh"))
    check = ("check", "--base", "HEAD~1")
    done = made.perfgate(*check, CI="true")
    assert done.returncode == 4
    said = " ".join(done.stdout.split())
    assert f"next Restore the missing benchmark, or allow it: {LABEL}{ENTRY}, merged first" in said
    done = made.perfgate(*check)
    paragraphs = [" ".join(each.split()) for each in done.stdout.split("\n\n")]
    assert f"next Restore the missing benchmark, or allow it with {ENTRY}" in paragraphs


@pytest.mark.endtoend
@pytest.mark.parametrize(("entry", "code"), [('benchmark = "ben*"', 0), ('benchmark = "other"', 4)])
def test_an_entry_of_base_allows_it(tmp_path: Path, entry: str, code: int) -> None:
    second = CONFIG[CONFIG.index("[[benchmark]]") :].replace('"bench"', '"second"')
    base = CONFIG + second + f'[[override]]\n{entry}\nmissing = "pass"\n'
    head = CONFIG.replace("[[benchmark]]", "").partition("name =")[0] + second
    made = project(tmp_path / "repo", base, head)
    done = made.perfgate("check", "--base", "HEAD~1", CI="true")
    assert done.returncode == code, done.stdout + done.stderr
    assert ("bench is missing, allowed by the rules" in " ".join(done.stdout.split("\n\n")[0].split())) == (code == 0)
    junit = made.perfgate("report", "--format", "junit").stdout
    assert ('errors="0"' in junit) == (code == 0)
