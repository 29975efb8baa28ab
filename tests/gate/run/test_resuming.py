"""--resume in a project, through the command line; and what it must find unchanged."""

import json
from pathlib import Path

import msgspec
import pytest

from gate.config.config_text import from_tables
from gate.config.parse import parse
from gate.config.schema import to_tables
from gate.model import Commit, Run, UserError
from gate.run.run_folder import refuse_other
from tests.support.project import Project, small_project

pytestmark = pytest.mark.xdist_group("measures")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return small_project(tmp_path / "repo")


def shorten(project: Project) -> list[str]:
    """Take the end of a run away, as if it had been killed; return what is left."""
    file = project.top / ".perfgate/measurements.jsonl"
    lines = file.read_text().splitlines(keepends=True)[:4]
    file.write_text("".join(lines))
    return lines


@pytest.mark.parametrize("before", ["nothing in it", "a run in it"])
def test_a_folder_without_its_gitignore_is_no_change_of_the_project(project: Project, before: str) -> None:
    folder = project.top / ".perfgate"
    folder.mkdir()
    if before == "a run in it":
        (folder / "measurements.jsonl").write_text("")
        (folder / "report.json").write_text("{}")
    first = project.perfgate("check", "--seed", "3")
    assert first.returncode == 0, first.stderr
    assert not project.report()["run"]["head"]["dirty"]
    assert project.git("status", "--porcelain") == ""
    kept = shorten(project)
    (folder / ".gitignore").unlink()
    done = project.perfgate("check", "--resume")
    assert done.returncode == 0, done.stderr
    assert (folder / "measurements.jsonl").read_text().startswith("".join(kept))


@pytest.mark.parametrize("there", ["", '{"type":"run","sch'])
def test_with_nothing_to_resume_a_run_starts(project: Project, there: str) -> None:
    """So that `until perfgate check --resume` works, also where the first one is killed before it wrote a line."""
    folder = project.top / "results"
    folder.mkdir()
    file = folder / "measurements.jsonl"
    if there:
        file.write_text(there)
    first = ""
    for _ in range(2):
        done = project.perfgate("check", "--resume", "--out", "results")
        assert done.returncode == 0, done.stderr
        lines = file.read_text().splitlines()
        assert sum('"type":"execution"' in line for line in lines) == 4
        assert lines[0] == first or not first
        first = lines[0]
    # a folder of the user's
    assert not (folder / ".gitignore").exists()


def test_a_finished_run_is_decided_again_as_it_was(project: Project) -> None:
    """Nothing is measured, so today's load is nothing that happened to its values, and its record stays the same."""
    assert project.perfgate("check").returncode == 0
    file = project.top / ".perfgate/measurements.jsonl"
    finished, report = file.read_bytes(), project.report()
    assert project.perfgate("check", "--resume").returncode == 0
    assert file.read_bytes() == finished
    assert project.report() == report
    # killed after its last start: its end is missing, and no more
    lines = finished.splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:-1]))
    assert project.perfgate("check", "--resume").returncode == 0
    assert [json.loads(line)["type"] for line in file.read_bytes().splitlines()[len(lines) - 1 :]] == ["host", "host"]
    assert json.loads(file.read_bytes().splitlines()[-1])["when"] == "end"


def test_measurements_of_another_program_are_not_resumed(project: Project) -> None:
    (project.top / ".perfgate").mkdir()
    line = {"type": "host", "when": "begin", "time": "2026-01-01T00:00:00Z", "state": {}}
    (project.top / ".perfgate/measurements.jsonl").write_text(json.dumps(line) + "\n")
    done = project.perfgate("check", "--resume")
    assert done.returncode == 2
    assert "does not begin with a run line" in done.stderr


# --- what must be found unchanged -------------------------------------------------------------------------------------


def run(**plan: object) -> Run:
    tables = {"plan": plan, "benchmark": [{"name": "a", "command": "true", "instrument": "values"}]}
    return Run(id="1", seed=7, config=to_tables(parse(from_tables(tables, "test"))), benchmarks={"base": ["a"]})


def test_a_key_that_an_older_perfgate_did_not_know_changes_nothing() -> None:
    now = run()
    assert now.config is not None and "format" in now.config["benchmark"][0]
    older = [{key: value for key, value in each.items() if key != "format"} for each in now.config["benchmark"]]
    refuse_other(msgspec.structs.replace(now, config=now.config | {"benchmark": older}), now, Path("folder"))


def differing(past: Run, now: Run) -> str:
    with pytest.raises(UserError) as caught:
        refuse_other(past, now, Path("folder"))
    start = "--resume: cannot continue the run in folder: "
    assert str(caught.value).startswith(start)
    return str(caught.value).removeprefix(start)


def test_what_changed_of_the_rules_is_named() -> None:
    assert differing(run(budget="5m"), run(budget="10m")) == 'plan.budget was "5m", is "10m"'
    assert differing(run(), run(iterations=9, metrics=["time"])) == (
        'plan.iterations was 10, is 9; plan.metrics was none, is ["time"]'
    )
    assert differing(run(builds=3), run()) == "plan.builds was 3, is a table"
    assert differing(run(builds={"min": 4, "max": 12}), run(builds={"min": 4, "max": 16})) == (
        "plan.builds.max was 12, is 16"
    )


@pytest.mark.parametrize(("was", "now"), [(0, -20), (-20, 0), (None, -20)])
def test_a_run_of_another_priority_is_another(was: int | None, now: int) -> None:
    past, other = (
        msgspec.structs.replace(run(), host={} if priority is None else {"priority": priority})
        for priority in (was, now)
    )
    assert differing(past, other) == f"the priority was {was or 0}, is {now}"
    refuse_other(other, other, Path("folder"))


def test_many_changes_are_counted() -> None:
    now = run(iterations=9, executions=2, budget="1h", builds=3, shards=2)
    said = differing(run(), now)
    assert said.count(" was ") == 4
    assert said.endswith("; 1 more setting changed")


def test_a_changed_benchmark_is_named() -> None:
    now = run()
    assert now.config is not None
    first = now.config["benchmark"][0]
    other = now.config | {"benchmark": [first | {"command": "false"}]}
    assert differing(now, msgspec.structs.replace(now, config=other)) == ('benchmark.a.command was "true", is "false"')
    more = now.config | {"benchmark": [first, first | {"name": "b"}]}
    assert differing(now, msgspec.structs.replace(now, config=more)) == "benchmark.b was none, is a table"
    sides = msgspec.structs.replace(now, benchmarks={"base": ["a"], "head": ["a"]})
    assert differing(now, sides) == 'head\'s benchmarks were none, are ["a"]'


def test_keys_that_may_differ_and_others_are_told_apart() -> None:
    past, now = run(budget="5m", iterations=3), run(budget="10m", iterations=4)
    with pytest.raises(UserError) as caught:
        refuse_other(past, now, Path("folder"), [("plan", "budget")])
    assert str(caught.value).endswith("folder: plan.iterations was 3, is 4")
    refuse_other(past, run(budget="10m", iterations=3), Path("folder"), [("plan", "budget")])


def test_another_commit_with_the_same_sources_is_the_same_to_a_study() -> None:
    def at(sha: str, sources: str | None) -> Run:
        sources_of = {"head": sources} if sources else {}
        return msgspec.structs.replace(run(), head=Commit(ref="HEAD", sha=sha), sources=sources_of)

    refuse_other(at("a", "sha256:1"), at("b", "sha256:1"), Path("folder"))
    assert differing(at("a", "sha256:1"), at("b", "sha256:2")) == "head was a, is b"
    assert differing(at("a", None), at("b", None)) == "head was a, is b"
