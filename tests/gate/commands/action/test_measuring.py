"""The measuring step of the action: it has no token, and what it runs changes no later step."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

from gate.commands.action.measure import SECRET as HIDDEN
from gate.github.runner import remove
from tests.support.forge.server import FakeGitHub
from tests.support.project import inside
from tests.support.runner_log import commands
from tests.support.workflow_job import (
    BENCH,
    Job,
    changed,
    folder_of,
    gate_job,
    measured,
    pull_job,
)

ROOT = Path(__file__).parents[4]


@pytest.mark.parametrize("name", HIDDEN)
def test_with_a_token_nothing_is_measured(job: Job, forge: FakeGitHub, name: str) -> None:
    request = job.step("prepare").outputs["request"]
    assert forge.token not in request
    given = job.environment({"request": request})
    token = {name: "secret"}
    done = inside(("action", "measure"), job.project.top, given | dict.fromkeys(HIDDEN, "") | token)
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
        [sys.executable, "-c", code, step], cwd=directory, env={**given, "PYTHONPATH": str(ROOT)}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip


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


@pytest.mark.endtoend
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks into /proc")
def test_hostile_code_finds_no_token_and_changes_no_later_step(tmp_path: Path, forge: FakeGitHub) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1)
    seen = tmp_path / "seen"
    project.write("spy.py", SPY.replace("SEEN", repr(str(seen))))
    project.write("bench.sh", 'exec python3 spy.py "$1"\n')
    project.commit("hostile")
    job = pull_job(tmp_path, project, forge)
    request = job.step("prepare", set="plan.sandbox=off").outputs["request"]
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
        f"benchmark code wrote to {name}; the change was undone" for name in ("GITHUB_OUTPUT", "GITHUB_ENV")
    ]


def test_a_measuring_step_that_was_killed_is_an_error(job: Job) -> None:
    request = job.step("prepare").outputs["request"]
    # as far as it got: whole measurements and a torn line, and no word of how it ended
    run = Path(json.loads(request)["folder"], "run")
    run.mkdir()
    (run / "measurements.jsonl").write_text(measured("bench") + '{"type":"exec')
    decided = job.step("decide", request=request)
    assert Path(decided.outputs["data"], "measurements.jsonl").read_text() == measured("bench")
    published = job.step("publish", request=request)
    assert published.outputs["exit-code"] == "4"
    assert published.outputs["verdict"] == "error"
    assert "ended without an outcome" in published.said("error")[0]
    assert decided.code == 0


@pytest.mark.endtoend
def test_a_signal_ends_the_measuring_step_with_its_number(tmp_path: Path, forge: FakeGitHub) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1)
    project.write("bench.sh", "kill -TERM $PPID; exec sleep 30\n")
    project.commit("hangs up")
    job = pull_job(tmp_path, project, forge)
    request = job.step("prepare", set="plan.sandbox=off").outputs["request"]
    done = in_process(job.environment({"request": request}), project.top, "measure")
    assert done.returncode == 143
    assert commands(done.stdout) == [], "the fence is closed"
    job.step("decide", request=request)
    assert job.step("publish", request=request).outputs["exit-code"] == "143"


def write_to_env(given: dict[str, str]) -> str:
    return f"echo LD_PRELOAD=/x.so >>{shlex.quote(given['GITHUB_ENV'])}\n"


def test_planted_names_of_the_folder_stop_neither_the_status_nor_restoring(job: Job) -> None:
    request = job.step("prepare").outputs["request"]
    given = job.environment({"request": request}) | dict.fromkeys(HIDDEN, "")
    folder = folder_of(request)
    plant = f'{write_to_env(given)}mkdir -p "{folder}/.status.json.$PPID"\nmkdir -p "{folder}/status.json/inner"\n'
    job.project.write("bench.sh", plant + BENCH.replace("SPEED", "0.1"))
    job.project.commit("plants")
    done = inside(("action", "measure"), job.project.top, given)
    assert done.returncode == 0
    assert json.loads((folder / "status.json").read_text()) == {"code": 0, "lines": []}
    assert Path(given["GITHUB_ENV"]).read_text() == ""


def test_the_runner_s_files_are_restored_however_measuring_ends(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    job.more["PERFGATE_TRACEBACK"] = ""
    request = job.step("prepare").outputs["request"]

    def broken(*_: object) -> None:
        Path(os.environ.get("GITHUB_ENV") or job.directory / f"env-{job.count}").write_text("LD_PRELOAD=/x.so\n")
        raise RuntimeError("a fault")

    monkeypatch.setattr("gate.commands.action.measure.keep", broken)
    done = job.step("measure", request=request)
    assert done.code == 4
    assert (job.directory / f"env-{job.count}").read_text() == ""
    assert done.said("warning") == ["benchmark code wrote to GITHUB_ENV; the change was undone"]


def test_a_file_that_cannot_be_restored_fails_the_measuring_step(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    request = job.step("prepare").outputs["request"]

    def measured_code(*_: object) -> int:
        (job.directory / f"env-{job.count}").write_text("LD_PRELOAD=/x.so\n")
        return 0

    refused = mock.Mock(side_effect=PermissionError(13, "Permission denied"))
    monkeypatch.setattr("gate.commands.action.measure._measured", measured_code)
    monkeypatch.setattr("gate.github.runner.put", refused)
    monkeypatch.setattr("gate.commands.action.measure.keep", lambda *_: None)
    done = job.step("measure", request=request)
    assert done.code == 4
    assert done.said("error") == ["benchmark code wrote to GITHUB_ENV, and it cannot be undone: Permission denied"]


@pytest.mark.parametrize("name", ["status.json", "run/measurements.jsonl", "run"])
def test_links_that_measured_code_planted_are_not_followed(job: Job, tmp_path: Path, name: str) -> None:
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
    remove(planted)
    planted.symlink_to(secret / Path(name).name if name != "run" else secret)
    (folder / "data").symlink_to(secret)
    decided = job.step("decide", request=request, measured="success")
    data = Path(decided.outputs["data"] or folder / "data")
    assert not data.is_symlink()
    assert not any(file.is_symlink() for file in data.rglob("*"))
    assert sorted(file.name for file in secret.iterdir()) == ["measurements.jsonl", "status.json"]
    published = job.step("publish", request=request, measured="success")
    assert (published.outputs["exit-code"], published.outputs["verdict"]) == ("4", "error")


def test_the_uploaded_status_is_written_anew(job: Job) -> None:
    request = job.step("prepare").outputs["request"]
    (folder_of(request) / "status.json").write_text("HOME=/\0GITHUB_TOKEN=ghs_something")
    decided = job.step("decide", request=request)
    found = (folder_of(request) / "data" / "status.json").read_text()
    assert json.loads(found)["code"] == 4
    assert "ghs_something" not in found + decided.log


def test_secrets_of_the_whole_job_are_named(job: Job) -> None:
    job.more |= {"DEPLOY_TOKEN": "s3cr3t", "EMPTY_SECRET": "", "GPG_KEY": "A035", "RUNNER_KEY": "x"}
    done = job.run(set="plan.executions=1")
    assert done.said("warning") == [
        "the job's `env:` holds DEPLOY_TOKEN, which measured code can read: give secrets to the steps that need them"
    ]
    assert "s3cr3t" not in done.log


# --- the deciding and the publishing step: measured code, other jobs or perfgate itself fail ---------------------------


HOSTILE = (
    "::error::x", "a%0A::error::y", "a\n::set-output name=verdict::pass", "##[error]z", "a]]>b", "::stop-commands::t",
    "a\r::add-mask::e", "<!-- perfgate:perfgate head=0 run=1 attempt=1 -->", "@everyone", "a\x1b[31m", "$(id)", "`id`",
    "x" * 500,
)  # fmt: skip


@pytest.fixture
def gate(tmp_path: Path, forge: FakeGitHub) -> Job:
    made = gate_job(tmp_path, forge)
    made.more["PERFGATE_TRACEBACK"] = ""
    return made


def downloaded(tmp_path: Path, lines: str, part: str = ".") -> str:
    """The folder of what one job measured, or of one part of it."""
    folder = tmp_path / "downloads" / part
    folder.mkdir(parents=True)
    (folder / "measurements.jsonl").write_text(lines)
    (folder / "status.json").write_text('{"code":0,"lines":[]}')
    return str(tmp_path / "downloads")


def decided(gate: Job, runs: str) -> str:
    """Decide over these; returns the request."""
    request = gate.step("prepare", command="publish", runs=runs).outputs["request"]
    assert gate.step("decide", request=request).code == 0
    return request


def test_hostile_names_are_only_names(tmp_path: Path, gate: Job, forge: FakeGitHub) -> None:
    done = gate.run(command="publish", runs=downloaded(tmp_path, measured(*HOSTILE, head=1.5)))
    assert done.code == 1
    found = done.steps["decide"].commands + done.steps["publish"].commands
    assert {command.name for command in found} == {"error"}
    assert len(found) == 10, "at most ten, of which the last stands for the rest"
    assert "and 4 more" in found[-1].data
    assert all("\n" not in command.data and "\r" not in command.data for command in found)
    assert set(done.outputs) == {"exit-code", "verdict", "report", "json", "comment-url"}
    assert forge.comments[0]["body"].count("<!-- perfgate:") == 1
    assert len(forge.comments[0]["body"]) < 65_536


def test_the_gate_of_a_matrix_merges_what_was_downloaded(tmp_path: Path, gate: Job) -> None:
    for part, name in (("one", "a"), ("two", "b")):
        downloaded(tmp_path, measured(name), f"perfgate-data-{part}")
    done = gate.run(command="publish", runs=str(tmp_path / "downloads"))
    assert (done.code, done.outputs["verdict"]) == (0, "pass")
    findings = json.loads(Path(done.outputs["json"]).read_text())["findings"]
    assert [finding["benchmark"] for finding in findings] == ["a", "b"]
    merged = Path(done.steps["decide"].outputs["data"], "measurements.jsonl").read_text()
    assert [json.loads(line)["benchmark"] for line in merged.splitlines()] == ["a"] * 12 + ["b"] * 12


@pytest.mark.parametrize("text", ["", "{}", '{"code":0,"verdict":"error","notices":[],"report":false}', "not json"])
def test_a_broken_outcome_is_never_a_pass(gate: Job, text: str) -> None:
    request = gate.step("prepare").outputs["request"]
    Path(json.loads(request)["folder"], "outcome.json").write_text(text)
    published = gate.step("publish", request=request)
    assert (published.outputs["exit-code"], published.outputs["verdict"]) == ("4", "error")
    assert published.said("error")


def test_a_planted_outcome_does_not_stand(tmp_path: Path, gate: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    request = decided(gate, downloaded(tmp_path, measured("a")))
    assert gate.step("publish", request=request).outputs["exit-code"] == "0"
    # a green outcome lies there, and this time nothing is decided
    monkeypatch.setattr("gate.commands.action.decide.conclude", mock.Mock(side_effect=RuntimeError("a fault")))
    assert gate.step("decide", request=request).code == 4
    assert gate.step("publish", request=request).outputs["exit-code"] == "4"


def test_a_fault_comes_after_the_exit_code(tmp_path: Path, gate: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("gate.report.formats.markdown.summary", "gate.publishing.publish.annotated"):
        monkeypatch.setattr(name, mock.Mock(side_effect=RuntimeError("a fault")))
    done = gate.run(command="publish", runs=downloaded(tmp_path, measured("a", head=1.5)))
    assert (done.code, done.outputs["verdict"]) == (1, "regression")
    assert any("RuntimeError" in message for message in done.said("error") + done.said("warning"))


@pytest.mark.parametrize("uploads", ["failure failure", "skipped skipped", "failure success"])
def test_without_its_upload_no_artifact_is_named(tmp_path: Path, gate: Job, forge: FakeGitHub, uploads: str) -> None:
    request = decided(gate, downloaded(tmp_path, measured("a", head=1.5)))
    published = gate.step("publish", request=request, uploads=uploads)
    assert any("an artifact was not uploaded" in said for said in published.said("warning")) == ("failure" in uploads)
    assert "❌ **perfgate: Regression**" in forge.comments[0]["body"]
    assert "among the artifacts" not in forge.comments[0]["body"]


def test_more_than_can_be_read_is_refused(tmp_path: Path, gate: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gate.publishing.conclusion.LARGEST", 1000)
    done = gate.run(command="publish", runs=downloaded(tmp_path, measured("a")))
    assert (done.code, done.outputs["verdict"]) == (2, "error")
    assert "measurements.jsonl: is larger than " in done.said("error")[0]
