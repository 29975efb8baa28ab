"""A gate on several runners as a workflow has it: a matrix, a process for each of its jobs, one decision over all."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.project import BENCH, Project, python_benchmark, repository

# all of them on what is measured once
pytestmark = [pytest.mark.xdist_group("many runners"), pytest.mark.endtoend]

CONFIG = """\
[gate]
threshold = "5%"
sameness = "off"
[plan]
sandbox = "off"
builds = 3
executions = 1
iterations = 2
shards = 2
sessions = 2
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Head makes one of three benchmarks 40% slower, removes a fourth and adds a fifth."""
    quiet = BENCH.replace("0.01", "0.0001")
    both = CONFIG + "".join(map(python_benchmark, ("render", "parse", "load")))
    base = {f"{name}.py": quiet.replace("SPEED", "1.0") for name in ("render", "parse", "load", "new")}
    head = {"perfgate.toml": both + python_benchmark("new"), "parse.py": quiet.replace("SPEED", "1.4")}
    return repository(tmp_path_factory.mktemp("several") / "project", {"perfgate.toml": both, **base}, head)


@pytest.fixture(scope="module")
def jobs(project: Project) -> dict[tuple[str, int], Path]:
    """Measure every job of the matrix in a process and a folder of its own."""
    done = project.process("plan", "--matrix", "--base", "HEAD~1")
    assert done.returncode == 0, done.stderr
    folders = {}
    for job in json.loads(done.stdout)["include"]:
        out = project.top.parent / job["name"]
        options = ("--shard", job["shard"], "--session", str(job["session"]), "--sessions", str(job["sessions"]))
        measured = project.perfgate("measure", "--base", "HEAD~1", "--seed", "5", "--out", str(out), *options)
        assert measured.returncode == 0, measured.stderr
        folders[job["shard"], job["session"]] = out
    return folders


def decided(project: Project, *folders: Path, more: tuple[str, ...] = ()) -> tuple[int, dict[str, Any]]:
    done = project.perfgate("decide", *map(str, folders), "--json", "-", *more)
    return done.returncode, json.loads(done.stdout) if done.stdout else {"error": done.stderr}


def test_all_parts_together_are_one_gate(project: Project, jobs: dict[tuple[str, int], Path]) -> None:
    assert list(jobs) == [("1/2", 0), ("2/2", 0), ("1/2", 1), ("2/2", 1)]
    code, found = decided(project, *jobs.values())
    verdicts = {f["benchmark"]: f["verdict"] for f in found["findings"]}
    assert (code, verdicts) == (1, {"load": "unchanged", "parse": "regression", "render": "unchanged"})
    assert (found["failures"], found["new"]) == ([], ["new"])
    assert found["run"]["rounds"] == {"done": 6, "planned": 6}
    counts = found["findings"][0]["base"]["counts"]
    assert (counts["session"], counts["build"]) == (2, 6)
    assert any(each["kind"] == "two-sessions" for each in found["warnings"])
    # the order of the files is no matter
    again = decided(project, *reversed(jobs.values()))[1]
    assert {f["benchmark"]: f["ratio"] for f in again["findings"]} == {
        f["benchmark"]: f["ratio"] for f in found["findings"]
    }
    assert decided(project, *jobs.values(), more=("--set", "gate.threshold=90%"))[0] == 0


def test_the_same_parts_are_judged_each_machine_by_itself(project: Project, jobs: dict[tuple[str, int], Path]) -> None:
    code, found = decided(project, *jobs.values(), more=("--set", "gate.sessions=fixed"))
    verdicts = {f["benchmark"]: f["verdict"] for f in found["findings"]}
    assert (code, verdicts) == (1, {"load": "unchanged", "parse": "regression", "render": "unchanged"})
    assert {f["ratio"]["method"] for f in found["findings"]} == {"fixed-sessions"}
    assert [[at["rounds"] for at in f["sessions"]] for f in found["findings"]] == [[3, 3]] * 3
    # two machines are all that is asked about
    assert not any(each["kind"] == "two-sessions" for each in found["warnings"])


def test_a_job_measures_its_shard_in_its_session(project: Project, jobs: dict[tuple[str, int], Path]) -> None:
    layouts = {}
    for (shard, session), folder in jobs.items():
        run, *rest = project.records(folder=folder)
        assert (run["shard"], run["session"], run["sessions"]) == (shard, session, 2)
        wanted = {"1/2": ["load", "parse"], "2/2": ["render"]}[shard]
        assert sorted(run["benchmarks"]["base"]) == wanted
        assert {line["benchmark"] for line in rest if line["type"] == "execution"} - {"new"} == set(wanted)
        assert {line["session"] for line in rest} == {session}
        layouts[shard, session] = [line["seed"] for line in rest if line["type"] == "build"]
    # a session lays out its builds afresh, also where --seed is the same for all
    assert not set(layouts["1/2", 0]) & set(layouts["1/2", 1])
    assert layouts["1/2", 1] == layouts["2/2", 1]


def cut_to(folder: Path, to: Path, count: int) -> Path:
    shutil.copytree(folder, to)
    text = (folder / "measurements.jsonl").read_text().splitlines(keepends=True)
    (to / "measurements.jsonl").write_text("".join(text[:count]))
    return to


def test_a_job_that_was_killed_is_never_green(
    project: Project, jobs: dict[tuple[str, int], Path], tmp_path: Path
) -> None:
    lenient = ("--set", "gate.threshold=90%", "--set", "gate.missing=pass")
    others = [folder for part, folder in jobs.items() if part != ("1/2", 1)]
    begun = cut_to(jobs["1/2", 1], tmp_path / "begun", 1)
    code, found = decided(project, *others, begun, more=lenient)
    file = begun / "measurements.jsonl"
    said = f"shard 1 of 2 of session 1 gave no values: {file} ends before the first start"
    assert (code, [f["status"] for f in found["failures"]]) == (4, [said])
    empty = cut_to(jobs["1/2", 1], tmp_path / "empty", 0)
    code, found = decided(project, *others, empty, more=lenient)
    assert (code, [f["status"] for f in found["failures"]]) == (4, ["shard 1 of 2 of session 1 is missing"])
    # run line, host, two builds, and one execution of one side
    one = cut_to(jobs["1/2", 1], tmp_path / "one", 5)
    code, found = decided(project, *others, one, more=lenient)
    assert (code, found["verdict"]) == (4, "error")
    assert any("of session 1 has no values of" in f["status"] for f in found["failures"])


def test_resume_goes_on_with_its_own_part_only(
    project: Project, jobs: dict[tuple[str, int], Path], tmp_path: Path
) -> None:
    begun = cut_to(jobs["2/2", 1], tmp_path / "begun", 6)
    measure = ("measure", "--base", "HEAD~1", "--out", str(begun), "--resume", "--shard", "2/2", "--session")
    other = project.perfgate(*measure, "0")
    assert (other.returncode, "is shard 2/2, session 1 of 2, this is shard 2/2, session 0 of 2" in other.stderr) == (
        2,
        True,
    )
    done = project.perfgate(*measure, "1")
    assert done.returncode == 0, done.stderr
    whole, resumed = (
        [
            (line["benchmark"], line["side"], line["session"], line["build"], line["metrics"])
            for line in project.records(folder=folder)
            if line["type"] == "execution"
        ]
        for folder in (jobs["2/2", 1], begun)
    )
    assert resumed == whole
