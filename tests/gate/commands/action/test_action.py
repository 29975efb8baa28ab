"""The steps of the action in a real repository, against the fake forge: what a user of the action sees."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

from gate.github.publishing.request import slug_of
from tests.support.forge.server import FakeGitHub
from tests.support.project import Project, environment
from tests.support.runner_log import commands
from tests.support.workflow_job import BENCH, CONFIG, HIDDEN, Job, changed, pull_payload

ROOT = Path(__file__).parents[4]


@pytest.fixture
def forge() -> Iterator[FakeGitHub]:
    with FakeGitHub() as fake:
        yield fake
        assert fake.violations == []


def pull_job(
    tmp_path: Path, project: Project, forge: FakeGitHub, *, labels: tuple[str, ...] = (), fork: bool = False
) -> Job:
    """Make the job of pull request 7, of which the forge knows."""
    base, head = project.git("rev-parse", "main"), project.git("rev-parse", "HEAD")
    forge.add_pull(7, head_sha=head, base_sha=base, labels=labels, head_repository="someone/widget" if fork else "")
    payload = pull_payload(project, base, fork=fork)
    return Job(project, tmp_path / "job", "pull_request", payload, api=forge.url, token=forge.token)


# --- a pull request ---------------------------------------------------------------------------------------------------


def test_a_regression_fails_and_is_told_everywhere_and_then_accepted_by_a_label(
    tmp_path: Path, forge: FakeGitHub
) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.15)
    job = pull_job(tmp_path, project, forge)
    done = job.run(status="true")
    assert done.code == 1
    assert done.outputs["verdict"] == "regression"
    assert json.loads(Path(done.outputs["json"]).read_text())["verdict"] == "regression"
    assert Path(done.outputs["report"]).read_text().startswith("<!DOCTYPE html>")
    [comment] = forge.comments
    head = project.git("rev-parse", "HEAD")
    assert comment["body"].startswith(
        f"<!-- perfgate:perfgate head={head} run=1000 attempt=1 -->\n### perfgate: Regression"
    )
    assert "https://github.example/report" in comment["body"]
    assert done.outputs["comment-url"]
    assert "### perfgate: Regression" in done.summary
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

    # the label, from what was measured before: nothing is measured again, and the same comment says accepted
    measured = Path(decided["data"], "measurements.jsonl").read_bytes()
    forge.add_artifact(1000, "perfgate-perfgate-data", zipped(measured), head_sha=head)
    forge.pulls[7].labels.append("perf-accepted")
    again = Job(
        project, tmp_path / "again", "pull_request", {**job.payload, "action": "labeled"}, forge.url, forge.token
    )
    again.run_id = 1001
    accepted = again.run()
    assert set(accepted.steps) == {"prepare", "decide", "publish"}
    assert accepted.outputs["verdict"] == "pass"
    assert accepted.code == 0
    [comment] = forge.comments
    assert "the label perf&#45;accepted of" in comment["body"] or "perf-accepted" in comment["body"]
    assert "### perfgate: Pass" in comment["body"]
    # of the run that measured: its next attempt is newer than the label
    assert " run=1000 attempt=1 -->" in comment["body"]


def zipped(measurements: bytes) -> bytes:
    """Pack measurements as upload-artifact does."""
    import io
    import zipfile

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("measurements.jsonl", measurements)
    return packed.getvalue()


def test_a_label_without_measurements_measures(tmp_path: Path, forge: FakeGitHub) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.15)
    job = pull_job(tmp_path, project, forge, labels=("perf-accepted",))
    job.payload["action"] = "labeled"
    done = job.run(set="plan.executions=1")
    assert "measure" in done.steps
    assert (done.code, done.outputs["verdict"]) == (0, "pass")


def test_an_empty_accept_label_accepts_nothing_and_asks_nobody(tmp_path: Path, forge: FakeGitHub) -> None:
    config = CONFIG.replace("[gate]", '[gate]\naccept_label = ""')
    project = changed(tmp_path / "repository", base=0.1, head=0.15, config=config)
    job = pull_job(tmp_path, project, forge, labels=("perf-accepted", ""))
    done = job.run(comment="false", set="plan.executions=1")
    assert done.code == 1
    assert forge.requests == []


def test_what_passes_passes(tmp_path: Path, forge: FakeGitHub) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1)
    done = pull_job(tmp_path, project, forge).run(set="plan.executions=1\nplan.iterations=3", budget="5m")
    assert (done.code, done.outputs["verdict"]) == (0, "pass")
    assert done.said("error") == []
    plan = json.loads(Path(done.outputs["json"]).read_text())["run"]["settings"]["plan"]
    assert (plan["executions"], plan["iterations"]) == (1, 3)
    assert plan["budget"] in ("5m", 300)


def test_a_failing_forge_changes_no_verdict(tmp_path: Path, forge: FakeGitHub) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.15)
    job = pull_job(tmp_path, project, forge)
    forge.permissions.clear()
    done = job.run(status="true", set="plan.executions=1")
    assert done.code == 1
    assert "### perfgate: Regression" in done.summary
    warnings = done.said("warning")
    assert len(warnings) == 2, (
        "the comment and the status; what keeps the label from being read is said by the comment's"
    )
    assert any("pull-requests: write" in warning for warning in warnings)
    assert any("statuses: write" in warning for warning in warnings)
    assert forge.comments == []


def test_a_benchmark_that_fails_is_an_error_and_says_where(tmp_path: Path, forge: FakeGitHub) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1)
    project.write("bench.py", "import sys; sys.exit('::error::no::set-output name=verdict::pass')")
    project.commit("broken")
    done = pull_job(tmp_path, project, forge).run()
    assert (done.code, done.outputs["verdict"]) == (4, "error")
    [error] = done.said("error")
    assert error.startswith("bench failed on head: exit 1")
    assert "### perfgate: Error" in forge.comments[0]["body"]


def test_a_wrong_config_is_told_in_one_line(tmp_path: Path, forge: FakeGitHub) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1, config=CONFIG.replace("threshold", "treshold"))
    done = pull_job(tmp_path, project, forge).run()
    assert (done.code, done.outputs["verdict"]) == (2, "error")
    [error] = done.said("error")
    assert error.startswith("perfgate could not run: ")
    assert "treshold" in error
    assert "### perfgate could not run" in done.summary
    assert "### perfgate could not run" in forge.comments[0]["body"]
    assert done.steps["decide"].outputs["report"] == ""


def test_wrong_inputs_are_all_named_and_nothing_runs(tmp_path: Path, forge: FakeGitHub) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1)
    given = {
        "comment": "yes",
        "budget": "soon",
        "set": "gate.threshold",
        "forks": "maybe",
        "id": "a b",
        "artifact": "1",
    }
    done = pull_job(tmp_path, project, forge).run(**given)
    assert (done.code, done.outputs["verdict"]) == (2, "error")
    assert "measure" not in done.steps
    errors = done.said("error")
    assert len(errors) == len(given)
    for name in given:
        assert any(f"input {name}: " in error for error in errors), name


def test_a_check_measures_all_of_it(tmp_path: Path, forge: FakeGitHub) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1)
    done = pull_job(tmp_path, project, forge).run(shard="1/2")
    assert (done.code, "measure" in done.steps) == (2, False)
    assert done.said("error") == [
        "perfgate could not run: input shard: goes with command plan or measure, not with check"
    ]


def test_switches_switch_off(tmp_path: Path, forge: FakeGitHub) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.15)
    job = pull_job(tmp_path, project, forge)
    off = dict.fromkeys(("comment", "summary", "annotations"), "false")
    done = job.run(set="plan.executions=1", **off)
    assert done.code == 1
    assert (forge.comments, done.summary, done.said("error")) == ([], "", [])


def test_gates_in_folders_have_names_of_their_own(tmp_path: Path, forge: FakeGitHub) -> None:
    project = Project(tmp_path / "repository")
    project.write("packages/a b/perfgate.toml", CONFIG)
    project.write("packages/a b/bench.py", BENCH.replace("SPEED", "0.1"))
    project.commit("base")
    project.git("switch", "-q", "-c", "topic")
    project.commit("head")
    done = pull_job(tmp_path, project, forge).run(**{"working-directory": "packages/a b", "status": "true"})
    assert done.code == 0
    name = slug_of(PurePosixPath("packages/a b"))
    assert f"<!-- perfgate:{name} head=" in forge.comments[0]["body"]
    assert done.steps["decide"].outputs["artifact"] == f"perfgate-{name}-data"
    assert forge.statuses[0]["context"] == f"perfgate/{name}"


def test_a_working_directory_that_is_not_there_is_named(tmp_path: Path, forge: FakeGitHub) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1)
    done = pull_job(tmp_path, project, forge).run(**{"working-directory": "nowhere"})
    assert done.code == 2
    assert "input working-directory: 'nowhere'" in done.said("error")[0]


# --- forks and privileges ---------------------------------------------------------------------------------------------


def test_a_fork_on_a_self_hosted_runner_is_refused_and_that_is_no_pass(tmp_path: Path, forge: FakeGitHub) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1)
    done = pull_job(tmp_path, project, forge, fork=True).run()
    assert set(done.steps) == {"prepare", "decide", "publish"}
    assert (done.code, done.outputs["verdict"]) == (4, "error")
    assert "not measured: fork on a self-hosted runner" in done.said("error")[0]
    assert "workflow_run" in done.summary
    assert not any(seen.method in ("POST", "PATCH") for seen in forge.requests)


def test_a_fork_that_may_be_measured_gets_no_comment_from_there(tmp_path: Path, forge: FakeGitHub) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1)
    done = pull_job(tmp_path, project, forge, fork=True).run(forks="measure", set="plan.executions=1")
    assert done.code == 0
    assert forge.comments == []
    assert "No comment was made: a fork" in done.summary
    assert done.said("warning") == []


def test_nothing_is_measured_under_pull_request_target(tmp_path: Path, forge: FakeGitHub) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1)
    job = pull_job(tmp_path, project, forge, fork=True)
    job.event = "pull_request_target"
    done = job.run(forks="measure")
    assert (done.code, "measure" in done.steps) == (4, False)


# --- the measuring step -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HIDDEN)
def test_with_a_token_nothing_is_measured(tmp_path: Path, forge: FakeGitHub, name: str) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1)
    job = pull_job(tmp_path, project, forge)
    request = job.step("prepare").outputs["request"]
    assert forge.token not in request
    given = job.environment({"request": request})
    token = {name: "secret"}
    done = in_process(given | dict.fromkeys(HIDDEN, "") | token, project.top, "measure")
    assert done.returncode == 0
    decided = job.step("decide", request=request)
    assert "the measuring step must not have the token" in decided.log
    published = job.step("publish", request=request)
    assert published.outputs["exit-code"] == "4"
    assert "secret" not in done.stdout + decided.log + published.log


def in_process(given: dict[str, str], directory: Path, step: str) -> subprocess.CompletedProcess[str]:
    """Run a step as a process of its own, which does not begin again without the tokens it is given."""
    code = "import sys; from gate.cli.main import main; sys.exit(main(['action', sys.argv[1]], sys.stdout, sys.stderr))"
    return subprocess.run(
        [sys.executable, "-c", code, step],
        cwd=directory,
        env={**given, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


SPY = """\
import os, pathlib, sys
found = []
for name in pathlib.Path("/proc").iterdir():
    if name.name.isdigit():
        for part in ("environ", "cmdline"):
            try:
                if b"ghs_made_up" in (name / part).read_bytes():
                    found.append(f"{name.name} {part}")
            except OSError:
                pass
pathlib.Path(SEEN).open("a").write(f"{found} {[n for n in os.environ if n.startswith(('GITHUB', 'INPUT', 'RUNNER'))]}\\n")
parent = pathlib.Path(f"/proc/{os.getppid()}")
given = dict(pair.split(b"=", 1) for pair in (parent / "environ").read_bytes().split(b"\\0") if b"=" in pair)
for name, text in ((b"GITHUB_OUTPUT", "verdict=pass\\nexit-code=0\\n"), (b"GITHUB_ENV", "LD_PRELOAD=/x.so\\n")):
    pathlib.Path(os.fsdecode(given[name])).open("a").write(text)
print("::set-output name=verdict::pass")
print("::error::from the benchmark", file=sys.stderr)
pathlib.Path(sys.argv[1]).write_text("0.1\\n0.101\\n0.102\\n0.103\\n")
"""


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks into /proc")
def test_hostile_code_finds_no_token_and_changes_no_later_step(tmp_path: Path, forge: FakeGitHub) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1)
    seen = tmp_path / "seen"
    project.write("bench.py", SPY.replace("SEEN", repr(str(seen))))
    project.commit("hostile")
    job = pull_job(tmp_path, project, forge)
    request = job.step("prepare").outputs["request"]
    # a process of its own: the one that runs these tests has the token in its memory and not in its environment
    given = job.environment({"request": request}) | dict.fromkeys(HIDDEN, "") | {"INPUT_PYTHON": "/of/perfgate"}
    done = in_process(given, project.top, "measure")
    assert done.returncode == 0
    assert done.stderr == ""
    assert "failed" not in done.stdout
    assert set(seen.read_text().splitlines()) == {"[] []"}
    assert Path(given["GITHUB_OUTPUT"]).read_text() == ""
    assert Path(given["GITHUB_ENV"]).read_text() == ""
    carried_out = commands(done.stdout)
    assert {command.name for command in carried_out} == {"warning"}
    assert [command.data for command in carried_out] == [
        f"benchmark code wrote to {name}; it was taken back" for name in ("GITHUB_OUTPUT", "GITHUB_ENV")
    ]


def test_a_measuring_step_that_was_killed_is_an_error(tmp_path: Path, forge: FakeGitHub) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1)
    job = pull_job(tmp_path, project, forge)
    request = job.step("prepare").outputs["request"]
    # as far as it got: whole measurements, and no word of how it ended
    run = Path(json.loads(request)["folder"], "run")
    run.mkdir()
    (run / "measurements.jsonl").write_text(measured("bench"))
    decided = job.step("decide", request=request)
    published = job.step("publish", request=request)
    assert published.outputs["exit-code"] == "4"
    assert published.outputs["verdict"] == "error"
    assert "ended without a word" in published.said("error")[0]
    assert decided.code == 0


def test_a_signal_ends_the_measuring_step_with_its_number(tmp_path: Path, forge: FakeGitHub) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1)
    project.write("bench.py", "import os, signal, time; os.kill(os.getppid(), signal.SIGTERM); time.sleep(30)")
    project.commit("hangs up")
    job = pull_job(tmp_path, project, forge)
    request = job.step("prepare").outputs["request"]
    done = in_process(job.environment({"request": request}), project.top, "measure")
    assert done.returncode == 143
    assert commands(done.stdout) == [], "the fence is closed"
    job.step("decide", request=request)
    assert job.step("publish", request=request).outputs["exit-code"] == "143"


def folder_of(request: str) -> Path:
    return Path(json.loads(request)["folder"])


def write_to_env(given: dict[str, str]) -> str:
    return f"open({given['GITHUB_ENV']!r}, 'a').write('LD_PRELOAD=/x.so\\n')\n"


def test_planted_names_of_the_folder_stop_neither_the_status_nor_restoring(tmp_path: Path, forge: FakeGitHub) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1)
    job = pull_job(tmp_path, project, forge)
    request = job.step("prepare").outputs["request"]
    given = job.environment({"request": request}) | dict.fromkeys(HIDDEN, "")
    folder = folder_of(request)
    plant = (
        f"import os\n{write_to_env(given)}"
        f"os.makedirs(f'{folder}/.status.json.{{os.getppid()}}', exist_ok=True)\n"
        f"os.makedirs('{folder}/status.json/inner', exist_ok=True)\n"
    )
    project.write("bench.py", plant + BENCH.replace("SPEED", "0.1"))
    project.commit("plants")
    done = in_process(given, project.top, "measure")
    assert done.returncode == 0
    assert json.loads((folder / "status.json").read_text()) == {"code": 0, "lines": []}
    assert Path(given["GITHUB_ENV"]).read_text() == ""


def test_the_runner_s_files_are_restored_however_measuring_ends(
    tmp_path: Path, forge: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1)
    job = pull_job(tmp_path, project, forge)
    job.more["PERFGATE_TRACEBACK"] = ""
    request = job.step("prepare").outputs["request"]

    def broken(*_: object) -> None:
        Path(os.environ.get("GITHUB_ENV") or job.directory / f"env-{job.count}").write_text("LD_PRELOAD=/x.so\n")
        raise RuntimeError("a fault")

    monkeypatch.setattr("gate.commands.action.measure.write_status", broken)
    done = job.step("measure", request=request)
    assert done.code == 4
    assert (job.directory / f"env-{job.count}").read_text() == ""
    assert done.said("warning") == ["benchmark code wrote to GITHUB_ENV; it was taken back"]


def test_a_file_that_cannot_be_restored_fails_the_measuring_step(
    tmp_path: Path, forge: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1)
    job = pull_job(tmp_path, project, forge)
    request = job.step("prepare").outputs["request"]

    def measured_code(*_: object) -> int:
        (job.directory / f"env-{job.count}").write_text("LD_PRELOAD=/x.so\n")
        return 0

    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("gate.commands.action.measure._measured", measured_code)
    monkeypatch.setattr("gate.github.command_files.put", refused)
    monkeypatch.setattr("gate.commands.action.measure.write_status", lambda *_: None)
    done = job.step("measure", request=request)
    assert done.code == 4
    assert done.said("error") == ["benchmark code wrote to GITHUB_ENV, and it cannot be taken back: Permission denied"]


@pytest.mark.parametrize("outcome", ["failure", "cancelled"])
def test_after_a_failed_measuring_step_nothing_that_it_left_counts(
    tmp_path: Path, forge: FakeGitHub, outcome: str
) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1)
    job = pull_job(tmp_path, project, forge)
    request = job.step("prepare").outputs["request"]
    folder = folder_of(request)
    # a pass, if it counted
    (folder / "run").mkdir()
    (folder / "run" / "measurements.jsonl").write_text(measured("bench"))
    (folder / "status.json").write_text('{"code":0,"lines":[]}')
    decided = job.step("decide", request=request, measured=outcome, token="")
    assert (decided.outputs["report"], decided.outputs["data"]) == ("", "")
    (folder / "outcome.json").write_text(
        '{"code":0,"verdict":"pass","notices":[],"report":false,"target":{"pull":7,"sha":"","run":1,"attempt":1}}'
    )
    published = job.step("publish", request=request, measured=outcome, token="")
    assert (published.outputs["exit-code"], published.outputs["verdict"]) == ("4", "error")
    assert "the measuring step failed" in published.said("error")[0]
    assert published.said("warning") == [], "that there is no token is on purpose"
    assert "after a measuring step that failed, no step has the token" in (job.directory / "summary.md").read_text()


def test_after_a_failed_deciding_step_its_outcome_does_not_count(tmp_path: Path, forge: FakeGitHub) -> None:
    job = gate_job(tmp_path, forge)
    request = job.step("prepare").outputs["request"]
    (folder_of(request) / "outcome.json").write_text(
        '{"code":0,"verdict":"pass","notices":[],"report":false,"target":{"pull":7,"sha":"","run":1,"attempt":1}}'
    )
    assert job.step("publish", request=request).outputs["exit-code"] == "0"
    assert job.step("publish", request=request, decided="failure").outputs["exit-code"] == "4"


@pytest.mark.parametrize("name", ["status.json", "run/measurements.jsonl", "run"])
def test_links_that_measured_code_planted_are_not_followed(tmp_path: Path, forge: FakeGitHub, name: str) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1)
    job = pull_job(tmp_path, project, forge)
    request = job.step("prepare").outputs["request"]
    folder = folder_of(request)
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "measurements.jsonl").write_text(measured("bench"))
    (secret / "status.json").write_text('{"code":0,"lines":["GITHUB_TOKEN"]}')
    (folder / "run").mkdir()
    for each in ("run/measurements.jsonl", "status.json"):
        (folder / each).write_bytes((secret / Path(each).name).read_bytes())
    planted = folder / name
    if planted.is_dir():
        (planted / "measurements.jsonl").unlink()
        planted.rmdir()
    else:
        planted.unlink()
    planted.symlink_to(secret / Path(name).name if name != "run" else secret)
    (folder / "data").symlink_to(secret)
    decided = job.step("decide", request=request, measured="success")
    data = Path(decided.outputs["data"] or folder / "data")
    assert not data.is_symlink()
    assert not any(file.is_symlink() for file in data.rglob("*"))
    assert sorted(file.name for file in secret.iterdir()) == ["measurements.jsonl", "status.json"]
    published = job.step("publish", request=request, measured="success")
    assert (published.outputs["exit-code"], published.outputs["verdict"]) == ("4", "error")


def test_the_uploaded_status_is_written_anew(tmp_path: Path, forge: FakeGitHub) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1)
    job = pull_job(tmp_path, project, forge)
    request = job.step("prepare").outputs["request"]
    (folder_of(request) / "status.json").write_text("HOME=/\0GITHUB_TOKEN=ghs_something")
    decided = job.step("decide", request=request)
    found = (folder_of(request) / "data" / "status.json").read_text()
    assert json.loads(found)["code"] == 4
    assert "ghs_something" not in found + decided.log


def test_a_calibration_that_leads_elsewhere_is_not_shown(tmp_path: Path) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1)
    project.git("switch", "-q", "-C", "main")
    job = Job(project, tmp_path / "job", "schedule", {"schedule": "0 3 * * *"})
    request = job.step("prepare").outputs["request"]
    folder = folder_of(request)
    (tmp_path / "secret").write_text("GITHUB_TOKEN=ghs_something")
    (folder / "calibration.txt").symlink_to(tmp_path / "secret")
    (folder / "status.json").write_text('{"code":0,"lines":[]}')
    job.step("decide", request=request)
    (folder / "calibration.txt").unlink(missing_ok=True)
    # also by who is quick enough to plant it between two steps
    (folder / "calibration.txt").symlink_to(tmp_path / "secret")
    job.step("publish", request=request)
    assert "ghs_something" not in (job.directory / "summary.md").read_text()


def test_secrets_of_the_whole_job_are_named(tmp_path: Path, forge: FakeGitHub) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1)
    job = pull_job(tmp_path, project, forge)
    job.more |= {"DEPLOY_TOKEN": "s3cr3t", "EMPTY_SECRET": "", "GPG_KEY": "A035", "RUNNER_KEY": "x"}
    done = job.run(set="plan.executions=1")
    assert done.said("warning") == [
        "the job's `env:` holds DEPLOY_TOKEN, which measured code can read: give secrets to the steps that need them"
    ]
    assert "s3cr3t" not in done.log


def test_what_benchmarks_do_not_get_is_warned_of() -> None:
    from gate.commands.action.measure import secret_warnings
    from harness.process.execute import clean_environment

    given = dict.fromkeys(("A_TOKEN", "MySecret", "DB_PASSWORD", "AWS_CREDENTIALS", "SSH_KEY", "HOME", "PATH"), "x")
    hidden = given.keys() - clean_environment(given).keys()
    assert len(hidden) == 5
    [warning] = secret_warnings(given)
    assert all(name in warning for name in hidden)
    assert "HOME" not in warning


# --- deciding and publishing ------------------------------------------------------------------------------------------


def measured(*names: str, head: float = 1.0) -> str:
    """Write measurements of a fixed design in which head takes so many times as long."""
    lines = [
        json.dumps({
            "type": "execution", "benchmark": name, "side": side, "build": build, "execution": 0,
            "metrics": {"time": {"unit": "s", "values": [scale * (1 + 0.001 * ((7 * build + i) % 5)) for i in range(5)]}},
        })
        for name in names
        for side, scale in (("base", 1.0), ("head", head))
        for build in range(6)
    ]  # fmt: skip
    return "".join(f"{line}\n" for line in lines)


def gate_job(tmp_path: Path, forge: FakeGitHub) -> Job:
    project = Project(tmp_path / "repository")
    project.commit("only one")
    return pull_job(tmp_path, changed(tmp_path / "other", base=1, head=1), forge)


HOSTILE = (
    "::error::x", "a%0A::error::y", "a\n::set-output name=verdict::pass", "##[error]z", "a]]>b", "::stop-commands::t",
    "a\r::add-mask::e", "<!-- perfgate:perfgate head=0 run=1 attempt=1 -->", "@everyone", "a\x1b[31m", "$(id)", "`id`",
    "x" * 5000,
)  # fmt: skip


def test_hostile_names_are_only_names(tmp_path: Path, forge: FakeGitHub) -> None:
    job = gate_job(tmp_path, forge)
    folder = tmp_path / "downloads" / "perfgate-data-1"
    folder.mkdir(parents=True)
    (folder / "measurements.jsonl").write_text(measured(*HOSTILE, head=1.5))
    done = job.run(command="publish", runs=str(tmp_path / "downloads" / "perfgate-data-*"))
    assert done.code == 1
    found = done.steps["decide"].commands + done.steps["publish"].commands
    assert {command.name for command in found} == {"error"}
    assert len(found) == 10, "at most ten, of which the last stands for the rest"
    assert "and 4 more" in found[-1].data
    assert all("\n" not in command.data and "\r" not in command.data for command in found)
    assert set(done.outputs) == {"exit-code", "verdict", "report", "json", "comment-url"}
    assert forge.comments[0]["body"].count("<!-- perfgate:") == 1
    assert len(forge.comments[0]["body"]) < 65_536


def test_the_gate_of_a_matrix_merges_what_was_downloaded(tmp_path: Path, forge: FakeGitHub) -> None:
    job = gate_job(tmp_path, forge)
    for part, name in (("one", "a"), ("two", "b")):
        folder = tmp_path / "downloads" / f"perfgate-data-{part}"
        folder.mkdir(parents=True)
        # a torn write at the end of one must not spoil the next
        (folder / "measurements.jsonl").write_text(measured(name) + '{"type":"exec')
        (folder / "status.json").write_text('{"code":0,"lines":[]}')
    done = job.run(command="publish", runs=str(tmp_path / "downloads"))
    assert (done.code, done.outputs["verdict"]) == (0, "pass")
    findings = json.loads(Path(done.outputs["json"]).read_text())["findings"]
    assert [finding["benchmark"] for finding in findings] == ["a", "b"]
    merged = Path(done.steps["decide"].outputs["data"], "measurements.jsonl").read_text()
    assert merged == measured("a") + measured("b")


def test_without_downloads_the_gate_fails(tmp_path: Path, forge: FakeGitHub) -> None:
    done = gate_job(tmp_path, forge).run(command="publish", runs="perfgate-data-*")
    assert (done.code, done.outputs["verdict"]) == (4, "error")
    assert "the measuring jobs failed or their artifacts were not downloaded" in done.said("error")[0]


def test_a_part_that_broke_off_fails_the_gate(tmp_path: Path, forge: FakeGitHub) -> None:
    job = gate_job(tmp_path, forge)
    folder = tmp_path / "downloads"
    folder.mkdir()
    (folder / "measurements.jsonl").write_text(measured("a"))
    (folder / "status.json").write_text('{"code":4,"lines":["No space left on device"]}')
    done = job.run(command="publish", runs=str(folder))
    assert done.code == 4
    assert "No space left on device" in done.said("error")[0]


@pytest.mark.parametrize("text", ["", "{}", '{"code":0,"verdict":"error","notices":[],"report":false}', "not json"])
def test_a_broken_outcome_is_never_a_pass(tmp_path: Path, forge: FakeGitHub, text: str) -> None:
    job = gate_job(tmp_path, forge)
    request = job.step("prepare").outputs["request"]
    Path(json.loads(request)["folder"], "outcome.json").write_text(text)
    published = job.step("publish", request=request)
    assert (published.outputs["exit-code"], published.outputs["verdict"]) == ("4", "error")
    assert published.said("error")


def test_an_outcome_that_measured_code_left_does_not_stand(
    tmp_path: Path, forge: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = gate_job(tmp_path, forge)
    job.more["PERFGATE_TRACEBACK"] = ""
    runs = tmp_path / "downloads"
    runs.mkdir()
    (runs / "measurements.jsonl").write_text(measured("a"))
    request = job.step("prepare", command="publish", runs=str(runs)).outputs["request"]
    first = job.step("decide", request=request)
    assert job.step("publish", request=request).outputs["exit-code"] == "0"
    assert first.code == 0

    def broken(*_: object) -> str:
        raise RuntimeError("a fault")

    # a green outcome lies there, and this time nothing is decided
    monkeypatch.setattr("gate.commands.action.decide.conclude", broken)
    assert job.step("decide", request=request).code == 4
    assert job.step("publish", request=request).outputs["exit-code"] == "4"


def test_a_fault_of_perfgate_while_publishing_comes_after_the_exit_code(
    tmp_path: Path, forge: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = gate_job(tmp_path, forge)
    job.more["PERFGATE_TRACEBACK"] = ""
    folder = tmp_path / "downloads"
    folder.mkdir()
    (folder / "measurements.jsonl").write_text(measured("a", head=1.5))

    def broken(*_: object) -> str:
        raise RuntimeError("a fault")

    monkeypatch.setattr("gate.report.markdown.summary.render", broken)
    monkeypatch.setattr("gate.github.publishing.publish.annotated", broken)
    done = job.run(command="publish", runs=str(folder))
    assert done.code == 1
    assert done.outputs["verdict"] == "regression"
    assert any("RuntimeError" in message for message in done.said("error") + done.said("warning"))


def test_a_failed_upload_is_a_warning(tmp_path: Path, forge: FakeGitHub) -> None:
    job = gate_job(tmp_path, forge)
    request = job.step("prepare", command="publish", runs="none").outputs["request"]
    job.step("decide", request=request)
    published = job.step("publish", request=request, uploads="failure skipped")
    assert any("an artifact was not uploaded" in warning for warning in published.said("warning"))


@pytest.mark.parametrize("uploads", ["failure failure", "skipped skipped", "failure success"])
def test_without_its_upload_the_report_is_not_said_to_be_an_artifact(
    tmp_path: Path, forge: FakeGitHub, uploads: str
) -> None:
    job = gate_job(tmp_path, forge)
    runs = tmp_path / "downloads"
    runs.mkdir()
    (runs / "measurements.jsonl").write_text(measured("a", head=1.5))
    request = job.step("prepare", command="publish", runs=str(runs)).outputs["request"]
    job.step("decide", request=request)
    job.step("publish", request=request, uploads=uploads)
    assert "### perfgate: Regression" in forge.comments[0]["body"]
    assert "among the artifacts" not in forge.comments[0]["body"]


def test_more_than_can_be_read_is_refused(tmp_path: Path, forge: FakeGitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gate.github.publishing.collected_measurements._LARGEST", 1000)
    job = gate_job(tmp_path, forge)
    runs = tmp_path / "downloads"
    runs.mkdir()
    (runs / "measurements.jsonl").write_text(measured("a"))
    done = job.run(command="publish", runs=str(runs))
    assert (done.code, done.outputs["verdict"]) == (2, "error")
    assert "measurements.jsonl: is larger than " in done.said("error")[0]


# --- other commands and events ----------------------------------------------------------------------------------------


def test_the_plan_is_an_output_and_measures_nothing(tmp_path: Path, forge: FakeGitHub) -> None:
    second = '[[benchmark]]\nname = "other"\ncommand = "python3 bench.py {output}"\ninstrument = "values"\n'
    project = changed(tmp_path / "repository", base=0.1, head=0.1, config=CONFIG + second)
    done = pull_job(tmp_path, project, forge).run(command="plan", shard="2", sessions="2")
    matrix = json.loads(done.steps["prepare"].outputs["matrix"])
    assert [(each["shard"], each["session"]) for each in matrix["include"]] == [
        ("1/2", 0), ("2/2", 0), ("1/2", 1), ("2/2", 1),
    ]  # fmt: skip
    assert (done.code, done.outputs["verdict"], forge.comments) == (0, "", [])


def test_a_part_is_measured_and_only_its_data_leaves(tmp_path: Path, forge: FakeGitHub) -> None:
    second = '[[benchmark]]\nname = "other"\ncommand = "python3 bench.py {output}"\ninstrument = "values"\n'
    project = changed(tmp_path / "repository", base=0.1, head=0.2, config=CONFIG + second)
    given = {"command": "measure", "shard": "2/2", "session": "1", "sessions": "2", "set": "plan.executions=1"}
    done = pull_job(tmp_path, project, forge).run(**given)
    decided = done.steps["decide"].outputs
    assert decided["artifact"] == "perfgate-perfgate-data-shard2of2-session1"
    assert decided["report"] == ""
    first, *rest = Path(decided["data"], "measurements.jsonl").read_text().splitlines()
    assert json.loads(first)["shard"] == "2/2"
    assert {record["benchmark"] for record in map(json.loads, rest) if record["type"] == "execution"} == {"other"}
    assert (done.code, done.outputs["verdict"], forge.comments) == (0, "", [])


def push(project: Project, *, default: str = "main") -> dict[str, object]:
    before = project.git("rev-parse", "HEAD~1")
    return {"before": before, "repository": {"full_name": "acme/widget", "default_branch": default}}


@pytest.mark.tools
def test_a_schedule_calibrates_and_only_then_is_the_history_written(tmp_path: Path) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1)
    project.git("switch", "-q", "-C", "main")
    job = Job(project, tmp_path / "job", "schedule", {"schedule": "0 3 * * *"})
    done = job.run(set="plan.executions=1\nplan.iterations=2", budget="20s")
    assert done.code == 0
    assert "### perfgate calibrate" in done.summary
    assert Path(job.directory, "history.sqlite").exists()
    pull = pull_payload(project, project.git("rev-parse", "HEAD~1"))
    other = Job(project, tmp_path / "other", "pull_request", pull)
    refused = other.run(command="calibrate")
    assert refused.code == 4
    assert "not calibrated" in refused.said("error")[0]
    assert not Path(other.directory, "history.sqlite").exists()


def sessions(file: Path) -> int:
    import sqlite3

    with sqlite3.connect(file) as connection:
        found: int = connection.execute("SELECT COUNT(*) FROM session").fetchone()[0]
    return found


@pytest.mark.tools
def test_only_the_default_branch_adds_to_the_history(tmp_path: Path) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1)
    project.git("switch", "-q", "-C", "main")
    calibrated = Job(project, tmp_path / "job", "schedule", {"schedule": "0 3 * * *"})
    calibrated.run(set="plan.executions=1\nplan.iterations=2", budget="20s")
    history = calibrated.directory / "history.sqlite"
    project.git("branch", "other", "HEAD~1")
    counts = [sessions(history)]
    pull = pull_payload(project, project.git("rev-parse", "HEAD~1"))
    for event, payload in (("pull_request", pull), ("push", push(project, default="other")), ("push", push(project))):
        job = Job(project, tmp_path / f"{event}{len(counts)}", event, payload)
        job.more["PERFGATE_HISTORY"] = str(history)
        done = job.run(set="plan.executions=1\nplan.iterations=2", comment="false")
        assert done.outputs["verdict"] in ("pass", "inconclusive"), done.log
        counts.append(sessions(history))
    assert counts == [1, 1, 1, 2]


def test_a_push_says_it_in_the_summary_alone(tmp_path: Path, forge: FakeGitHub) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.15)
    project.git("switch", "-q", "-C", "main")
    job = Job(project, tmp_path / "job", "push", push(project), api=forge.url, token=forge.token)
    done = job.run(set="plan.executions=1")
    assert done.code == 1
    assert "### perfgate: Regression" in done.summary
    assert forge.requests == []


def test_outside_a_workflow_it_is_one_line(tmp_path: Path) -> None:
    for step in ("prepare", "measure", "decide", "publish"):
        done = in_process(environment(), tmp_path, step)
        assert done.returncode == 2
        assert done.stderr == ""
        assert len(commands(done.stdout)) == 1


def test_a_fault_in_the_first_step_is_one_error_and_no_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1)
    job = Job(project, tmp_path / "job", "pull_request", pull_payload(project, project.git("rev-parse", "main")))
    job.more["PERFGATE_TRACEBACK"] = ""

    def broken(*_: object, **__: object) -> bool:
        raise RuntimeError("a\nfault")

    monkeypatch.setattr("gate.commands.action.prepare.may_write_history", broken)
    done = job.step("prepare")
    assert (done.code, done.outputs) == (4, {})
    [error] = done.said("error")
    assert "internal error in prepare, RuntimeError: a\\nfault" in error


def test_a_token_of_githubs_under_another_name_is_left_behind(tmp_path: Path) -> None:
    held = {"MY_PAT": "ghs_0123456789abcdef", "OTHER": "x github_pat_0123456789_abc", "PLAIN": "ghost_story"}
    done = subprocess.run(
        [sys.executable, "-I", "-m", "gate", "action", "measure"],
        env={**os.environ, **held}, cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    # once: the process that began again has neither
    [line] = [line for line in done.stdout.splitlines() if "holds a token" in line]
    assert "(MY_PAT, OTHER): it was left out" in line
    assert "ghs_0123456789abcdef" not in done.stdout + done.stderr


def test_what_lies_beside_the_commit_is_not_measured_and_that_is_said(tmp_path: Path, forge: FakeGitHub) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.15)
    # as an earlier step would leave it: in the working tree head is fast
    project.bench(0.1, leftover="")
    done = pull_job(tmp_path, project, forge).run(set="plan.executions=1")
    assert done.code == 1
    [warning] = [text for text in done.said("warning") if "beside its commit" in text]
    assert "bench.py, leftover" in warning
    assert "beside its commit" in done.summary


def test_a_pull_request_against_itself_is_not_measured(tmp_path: Path, forge: FakeGitHub) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.15)
    job = pull_job(tmp_path, project, forge)
    done = job.run(head=project.git("rev-parse", "main"))
    assert (done.code, done.outputs["verdict"]) == (4, "error")
    assert "nothing of the change would be measured" in done.summary
    assert "measure" not in done.steps


def test_a_workspace_without_a_checkout_names_the_step_to_add(tmp_path: Path, forge: FakeGitHub) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.15)
    job = pull_job(tmp_path, project, forge)
    (tmp_path / "empty").mkdir()
    job.more["GITHUB_WORKSPACE"] = str(tmp_path / "empty")
    done = job.run()
    assert done.code == 2
    assert "put actions/checkout before this step" in done.summary


def test_the_comment_names_the_commits_of_the_pull_request(tmp_path: Path, forge: FakeGitHub) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1)
    job = pull_job(tmp_path, project, forge)
    base, head = project.git("rev-parse", "main"), project.git("rev-parse", "HEAD")
    job.run(set="plan.executions=1")
    assert (
        f"`main {base[:10]}` → `{job.payload['pull_request']['head']['ref']} {head[:10]}`" in forge.comments[0]["body"]
    )
    project.git("checkout", "-q", "--detach", "main")
    project.git("merge", "-q", "--no-ff", "-m", "merge", head)
    merge = project.git("rev-parse", "HEAD")
    job.run(set="plan.executions=1")
    assert f"{head[:10]} merged as {merge[:10]}`" in forge.comments[0]["body"]
    assert "head is the commit that was checked out" in forge.comments[0]["body"]
