"""A pull request under the action, in a real repository and against the fake forge: what its author sees."""

import json
import re
from pathlib import Path

import pytest

from tests.support.forge.server import FakeGitHub
from tests.support.project import Step, committed
from tests.support.workflow_job import (
    BENCH,
    CONFIG,
    SANDBOXED,
    Job,
    changed,
    pull_job,
    pulled,
)

pytestmark = pytest.mark.endtoend


def test_a_regression_fails_and_is_told_everywhere(tmp_path: Path, forge: FakeGitHub) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.15)
    job = pull_job(tmp_path, project, forge)
    done = job.run(status="true", set=SANDBOXED)
    assert done.code == 1
    assert done.outputs["verdict"] == "regression"
    assert json.loads(Path(done.outputs["json"]).read_text())["verdict"] == "regression"
    assert Path(done.outputs["report"]).read_text().startswith("<!DOCTYPE html>")
    [comment] = forge.comments
    head = project.sha()
    assert comment["body"].startswith(
        f"<!-- perfgate:perfgate head={head} run=1000 attempt=1 by=1000.1 job=perfgate.yml/bench use="
    )
    assert "-->\n❌ **perfgate: Regression**" in comment["body"]
    assert "https://github.example/report" in comment["body"]
    assert done.outputs["comment-url"]
    assert "❌ **perfgate: Regression**" in done.summary
    [error] = done.said("error")
    assert re.match(r"bench: (49|50)", error)
    [status] = forge.statuses
    assert (status["state"], status["context"], status["sha"]) == ("failure", "perfgate", head)
    assert done.said("warning") == []
    assert forge.token not in done.log + done.summary + str(comment)

    # what is uploaded
    decided = done.steps["decide"].outputs
    assert decided["artifact"] == "perfgate-perfgate-data"
    assert sorted(path.name for path in Path(decided["data"]).iterdir()) == [
        "comment.md", "measurements.jsonl", "report.json", "status.json",
    ]  # fmt: skip
    assert Path(decided["report"]).name == "perfgate-perfgate-1.html"


@pytest.mark.parametrize("labels", [(), ("perf-accepted",)])
def test_a_label_allows_that_a_benchmark_is_removed(tmp_path: Path, forge: FakeGitHub, labels: tuple[str, ...]) -> None:
    other = CONFIG[CONFIG.index("[[benchmark]]") :].replace('"bench"', '"second"').replace('"bench.sh"', '"./bench.sh"')
    bench = BENCH.replace("SPEED", "0.1")
    project = committed(
        tmp_path / "repository",
        Step("main", "base", (("perfgate.toml", CONFIG + other), ("bench.sh", bench))),
        Step("topic", "head", (("perfgate.toml", CONFIG),)),
    )
    done = pull_job(tmp_path, project, forge, labels=labels).run(set="plan.executions=1\ngate.sameness=off")
    assert done.code == (0 if labels else 4), done.log
    [comment] = forge.comments
    said = "second is missing, allowed by the label" if labels else "by the label `perf-accepted` on the pull request"
    assert said in comment["body"].replace("&#45;", "-")
    assert len(done.said("error")) == (0 if labels else 1)


def test_the_change_that_repairs_base_passes(tmp_path: Path, forge: FakeGitHub) -> None:
    build = CONFIG + '[build]\ncommand = "sh build.sh"\n'
    bench = BENCH.replace("SPEED", "0.1")
    project = committed(
        tmp_path / "repository",
        Step("main", "works", (("perfgate.toml", build), ("bench.sh", bench), ("build.sh", "exit 0\n"))),
        Step("main", "broken", (("build.sh", "echo out of date >&2; exit 1\n"),)),
        Step("topic", "repaired", (("build.sh", "exit 0 #\n"),)),
    )
    done = pull_job(tmp_path, project, forge).run(set="plan.executions=1\ngate.sameness=off")
    assert (done.code, done.outputs["verdict"]) == (0, "pass"), done.log
    report = json.loads(Path(done.outputs["json"]).read_text())
    assert report["run"]["base"]["sha"] == project.git("rev-parse", "main~1")
    assert report["run"]["base"]["ref"] == "an ancestor of main"
    [comment] = forge.comments
    assert "head is compared with its ancestor" in comment["body"].splitlines()[1]


def test_an_empty_accept_label_accepts_nothing_and_asks_nobody(tmp_path: Path, forge: FakeGitHub) -> None:
    config = CONFIG.replace("[gate]", '[gate]\naccept_label = ""')
    project = changed(tmp_path / "repository", base=0.1, head=0.15, config=config)
    job = pull_job(tmp_path, project, forge, labels=("perf-accepted", ""))
    done = job.run(comment="false", set="plan.executions=1")
    assert done.code == 1
    assert forge.requests == []


FAILS = "echo '::error::no::set-output name=verdict::pass' >&2; exit 1\n"
ENDED = "the budget of 1.0 s ended before one round was complete: "


@pytest.mark.parametrize(
    ("config", "bench", "inputs", "code", "said"),
    [
        (CONFIG, FAILS, {}, 4, "bench failed on head: exit 1"),
        # on a busy host the budget may end before the build begins
        (CONFIG + '[build]\ncommand = "sleep 1234"\n', "", {"budget": "1s"}, 4, ENDED),
        (CONFIG.replace("threshold", "treshold"), "", {}, 2, "treshold"),
    ],
    ids=["benchmark", "budget", "config"],
)
def test_what_has_no_verdict_is_an_error_everywhere(
    tmp_path: Path, forge: FakeGitHub, config: str, bench: str, inputs: dict[str, str], code: int, said: str
) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1, config=config)
    if bench:
        project.write("bench.sh", bench)
        project.commit("broken")
    done = pull_job(tmp_path, project, forge).run(**inputs)
    assert (done.code, done.outputs["verdict"]) == (code, "error")
    assert any(said in error for error in done.said("error"))
    title = "### perfgate could not run" if code == 2 else "❌ **perfgate: Error**"
    [comment] = forge.comments
    assert title in comment["body"] and title in done.summary
    assert code == 4 or all(error.startswith("perfgate could not run: ") for error in done.said("error"))
    assert (done.steps["decide"].outputs["report"] == "") == (code == 2)


def test_wrong_inputs_are_all_named_and_nothing_runs(tmp_path: Path, forge: FakeGitHub) -> None:
    given = {"comment": "yes", "budget": "soon", "measuring": "perhaps", "set": "gate.threshold", "forks": "maybe"}
    given |= {"id": "a b", "artifact": "1", "shard": "1/2", "working-directory": "nowhere"}
    done = pulled(tmp_path, forge).run(**given)
    assert (done.code, done.outputs["verdict"]) == (2, "error")
    assert "measure" not in done.steps
    errors = done.said("error")
    assert len(errors) == len(given)
    for name in given:
        assert any(f"input {name}: " in error for error in errors), name


def test_what_lies_beside_the_commit_is_not_measured_and_that_is_said(tmp_path: Path, forge: FakeGitHub) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.15)
    # as an earlier step would leave it: in the working tree head is fast
    project.write("bench.sh", BENCH.replace("SPEED", "0.1"))
    project.write("leftover", "")
    done = pull_job(tmp_path, project, forge).run(set="plan.executions=1")
    assert done.code == 1
    [warning] = [text for text in done.said("warning") if "not in its commit" in text]
    assert "bench.sh, leftover" in warning
    assert "not in its commit" in done.summary


def test_without_two_commits_nothing_is_measured(slower: Job, tmp_path: Path) -> None:
    main = slower.project.sha("main")
    done = slower.run(base=main, head=main)
    assert (done.code, done.outputs["verdict"]) == (4, "error")
    assert "so there is nothing to compare" in done.summary
    assert "measure" not in done.steps
    # a workspace without a checkout names the step to add
    slower.run_id += 1
    (tmp_path / "empty").mkdir()
    slower.more["GITHUB_WORKSPACE"] = str(tmp_path / "empty")
    done = slower.run()
    assert done.code == 2
    assert "put actions/checkout before this step" in done.summary


def test_the_comment_names_the_commits_of_the_pull_request(job: Job, forge: FakeGitHub) -> None:
    base, head = job.project.sha("main"), job.project.sha()
    done = job.run(set="plan.executions=1\nplan.iterations=3", budget="5m", comment="always")
    assert (done.code, done.outputs["verdict"], done.said("error")) == (0, "pass", [])
    plan = json.loads(Path(done.outputs["json"]).read_text())["run"]["settings"]["plan"]
    assert (plan["executions"], plan["iterations"], plan["budget"] in ("5m", 300)) == (1, 3, True)
    assert (
        f"`main {base[:10]}` → `{job.payload['pull_request']['head']['ref']} {head[:10]}`" in forge.comments[0]["body"]
    )
    job.project.git("checkout", "-q", "--detach", "main")
    job.project.git("merge", "-q", "--no-ff", "-m", "merge", head)
    merge = job.project.sha()
    job.run_id += 1
    job.run(set="plan.executions=1", comment="always")
    assert f"{head[:10]} merged as {merge[:10]}`" in forge.comments[0]["body"]
    assert "head is the commit that was checked out" in forge.comments[0]["body"]


# --- forks and privileges ---------------------------------------------------------------------------------------------


def test_a_fork_that_may_be_measured_gets_no_comment_from_there(tmp_path: Path, forge: FakeGitHub) -> None:
    done = pulled(tmp_path, forge, fork=True).run(forks="measure", set="plan.executions=1")
    assert done.code == 0
    assert forge.comments == []
    assert "No comment was made: the token of a fork" in done.summary
    assert done.said("warning") == []


def test_the_pull_request_that_adds_perfgate_is_green_and_neutral(tmp_path: Path, forge: FakeGitHub) -> None:
    bench = BENCH.replace("SPEED", "0.1")
    project = committed(
        tmp_path / "repository",
        Step("main", "base", (("readme", "x"),)),
        Step("topic", "head", (("perfgate.toml", CONFIG), ("bench.sh", bench))),
    )
    done = pull_job(tmp_path, project, forge).run(status="true")
    assert (done.code, done.outputs["verdict"]) == (0, "pass"), done.log
    report = json.loads(Path(done.outputs["json"]).read_text())
    assert (report["summary"]["kind"], report["findings"]) == ("nothing-to-compare", [])
    # base is named as what it is: head
    assert report["run"]["base"]["sha"] == report["run"]["head"]["sha"]
    assert report["run"]["base"]["ref"] == report["run"]["head"]["ref"]
    said = "Nothing to compare yet: base has no perfgate.toml"
    [comment] = forge.comments
    assert f"⚪ **perfgate: {said}" in comment["body"] and f"⚪ **perfgate: {said}" in done.summary
    [status] = forge.statuses
    assert status["state"] == "success" and status["description"].startswith(said)
    assert done.said("error") == []
