"""A gate in two jobs: one measures without a token that writes, the other decides over its artifact, whatever came of it."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gate.evidence.records import read
from gate.model import Build, Look
from tests.support.forge.server import FakeGitHub
from tests.support.forge.state import Artifact
from tests.support.project import Project
from tests.support.workflow_job import BENCH, CONFIG, SANDBOXED, Ended, Job, changed, packed, pull_job, pull_payload

pytestmark = pytest.mark.endtoend

QUICK = "plan.executions=1"


@dataclass
class Gate:
    """A workflow of two jobs for pull request 7, on a machine each."""

    folder: Path
    project: Project
    forge: FakeGitHub
    count: int = 0
    run_id: int = 1000
    attempt: int = 1
    measured: list[Ended] = field(default_factory=list)

    def job(self, name: str = "measure") -> Job:
        self.count += 1
        payload = pull_payload(self.project, self.project.sha("main"))
        folder = self.folder / f"job-{self.count}"
        job = Job(self.project, folder, "pull_request", payload, api=self.forge.url, job=name)
        job.run_id, job.attempt = self.run_id, self.attempt
        self.head = payload["pull_request"]["head"]["sha"]
        self.forge.runs.get(self.run_id) or self.forge.add_run(self.run_id, self.head)
        return job

    def measure(self, **inputs: str) -> str:
        """Measure, upload, and return how the job ended."""
        job = self.job()
        done = job.run(command="measure", **({"set": QUICK} | inputs))
        self.measured.append(done)
        decided = done.steps["decide"].outputs
        if decided["data"]:
            self.uploaded(decided["artifact"], packed(Path(decided["data"])))
        return "failure" if done.code else "success"

    def uploaded(self, name: str, data: bytes) -> Artifact:
        """Upload an artifact of the run over one of its name."""
        for one in [one for one in self.forge.artifacts if (one.run_id, one.name) == (self.run_id, name)]:
            self.forge.artifacts.remove(one)
        return self.forge.add_artifact(self.run_id, name, data, self.head)

    def decide(self, result: str, **inputs: str) -> Ended:
        """Decide on a hosted machine, without a checkout."""
        job = self.job("perfgate")
        job.token = self.forge.token
        empty = self.folder / "nothing checked out"
        empty.mkdir(exist_ok=True)
        job.more |= {"GITHUB_WORKSPACE": str(empty), "RUNNER_ENVIRONMENT": "github-hosted"}
        usual = {"command": "publish", "measuring": result, "status": "true", "comment": "always"}
        return job.run(**(usual | inputs))

    def body(self) -> str:
        [comment] = self.forge.comments
        return str(comment["body"])


def gate_of(tmp_path: Path, forge: FakeGitHub, *, head: float, config: str = CONFIG) -> Gate:
    project = changed(tmp_path / "repository", base=0.1, head=head, config=config)
    pull_job(tmp_path, project, forge)
    return Gate(tmp_path, project, forge)


@pytest.fixture
def gate(tmp_path: Path, forge: FakeGitHub) -> Gate:
    return gate_of(tmp_path, forge, head=0.1)


@pytest.fixture
def slower(tmp_path: Path, forge: FakeGitHub) -> Gate:
    return gate_of(tmp_path, forge, head=0.15)


def pushed(gate: Gate, speed: float) -> str:
    """Push another commit to the pull request, and begin the run of it."""
    gate.project.write("bench.sh", BENCH.replace("SPEED", str(speed)))
    head = gate.project.commit(f"speed {speed}")
    gate.forge.pulls[7].head_sha = head
    gate.run_id += 1
    gate.attempt = 1
    return head


def test_the_deciding_job_decides_over_what_the_other_measured(slower: Gate, forge: FakeGitHub) -> None:
    assert slower.measure(set=f"{QUICK}\n{SANDBOXED}") == "success"
    assert forge.comments == forge.statuses == [] and forge.requests == []
    done = slower.decide("success")
    assert (done.code, done.outputs["verdict"]) == (1, "regression")
    assert set(done.steps) == {"prepare", "decide", "publish"}
    marker, shown = slower.body().splitlines()[:2]
    assert f"head={slower.head} run=1000 attempt=1 " in marker and shown.startswith("❌ **perfgate: Regression**")
    assert [(one["state"], one["sha"]) for one in forge.statuses] == [("failure", slower.head)]
    # what only the measuring job knows stands in the report all the same
    assert "base is the merge base with main; head is the commit that was checked out" in slower.body()
    assert Path(done.steps["decide"].outputs["report"]).is_file()
    assert done.steps["decide"].outputs["artifact"] == "perfgate-perfgate-data"


def test_early_stopping_does_not_take_a_job_that_decides(tmp_path: Path, forge: FakeGitHub) -> None:
    config = CONFIG.replace("\nbuilds = 3", "\nbuilds = { min = 4, max = 12 }")
    assert config != CONFIG
    gate = gate_of(tmp_path, forge, head=0.15, config=config)
    gate.measure()
    done = gate.decide("success")
    assert done.code == 1
    data = Path(done.steps["decide"].outputs["data"], "measurements.jsonl").read_bytes()
    records = [located.record for located in read("measurements.jsonl", data).records]
    assert any(isinstance(record, Look) for record in records)
    assert max(record.build for record in records if isinstance(record, Build)) < 11


def test_warnings_of_the_measuring_job_reach_the_comment(gate: Gate) -> None:
    gate.project.write("bench.sh", BENCH.replace("SPEED", "0.1"))
    gate.project.write("leftover", "")
    gate.measure()
    assert gate.decide("success").code == 0
    assert "not in its commit" in gate.body()


def test_what_keeps_a_job_from_measuring_is_told_by_the_other(tmp_path: Path, forge: FakeGitHub) -> None:
    gate = gate_of(tmp_path, forge, head=0.1, config=CONFIG.replace("threshold", "treshold"))
    assert gate.measure() == "failure"
    done = gate.decide("failure")
    assert (done.code, done.outputs["verdict"]) == (2, "error")
    assert "treshold" in gate.body() and "perfgate could not run" in gate.body()


def test_a_failed_benchmark_is_decided_over_although_its_job_failed(gate: Gate, forge: FakeGitHub) -> None:
    gate.project.write("bench.sh", "echo broken >&2; exit 1\n")
    pushed_head = gate.project.commit("broken")
    forge.pulls[7].head_sha = pushed_head
    assert gate.measure() == "failure"
    done = gate.decide("failure")
    assert (done.code, done.outputs["verdict"]) == (4, "error")
    assert "❌ **perfgate: Error**" in gate.body() and "broken" in gate.body()


# --- no measurements --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("result", ["failure", "skipped", "success"])
def test_without_measurements_the_comment_says_so(gate: Gate, forge: FakeGitHub, result: str) -> None:
    done = gate.decide(result)
    assert (done.code, done.outputs["verdict"]) == (4, "error")
    assert gate.body().splitlines()[1] == "### perfgate: nothing was measured"
    assert forge.statuses[-1]["state"] == "error"
    assert forge.statuses[-1]["description"].startswith("perfgate: nothing was measured")


def test_where_measuring_was_cancelled_the_comment_says_so(slower: Gate, forge: FakeGitHub) -> None:
    slower.measure()
    slower.decide("success")
    new = pushed(slower, 0.1)
    done = slower.decide("cancelled")
    assert (done.code, done.outputs["verdict"]) == (4, "error")
    first = "### perfgate: measuring was cancelled"
    assert slower.body().splitlines()[1] == first and "Regression" not in slower.body()
    assert slower.body().startswith(f"<!-- perfgate:perfgate head={new} run=1001 attempt=1 ")
    state = forge.statuses[-1]
    assert (state["state"], state["sha"]) == ("error", new)
    assert state["description"].startswith(first.removeprefix("### "))
    slower.attempt = 2
    slower.measure()
    assert slower.decide("success").code == 0
    assert "cancelled" not in slower.body()


def test_what_an_earlier_attempt_measured_is_not_taken_for_a_lost_runner_s(gate: Gate) -> None:
    gate.measure()
    assert gate.decide("success").code == 0
    gate.attempt = 2
    done = gate.decide("failure")
    assert done.code == 4 and "### perfgate: nothing was measured" in gate.body()
    # only the deciding job was repeated: what was measured before still holds
    gate.attempt = 3
    assert gate.decide("success").code == 0


def test_measurements_that_do_not_count_are_never_green(gate: Gate, forge: FakeGitHub) -> None:
    assert gate.measure() == "success"
    done = gate.decide("failure")
    assert (done.code, done.outputs["verdict"]) == (4, "error")
    assert "another step of it failed" in gate.body()
    # each time the deciding job is repeated
    gate.attempt = 2
    granted = forge.permissions.pop("actions")
    done = gate.decide("success")
    assert (done.code, done.outputs["verdict"]) == (4, "error")
    assert "add `actions: read` below `permissions:`" in done.said("error")[0]
    forge.permissions["actions"] = granted
    # those of another gate, and those that have expired
    gate.attempt = 3
    [artifact] = forge.artifacts
    artifact.expired = True
    gate.uploaded("perfgate-other-data-shard1of1-session0", artifact.data)
    gate.uploaded("perfgate-perfgate-data", artifact.data)
    assert gate.decide("success").code == 4


def test_a_run_that_ends_late_or_for_a_newer_commit_leaves_the_comment_to_that(slower: Gate, forge: FakeGitHub) -> None:
    slower.run_id = 2000
    slower.measure()
    slower.decide("success")
    before, head = slower.body(), slower.head
    slower.run_id = 1999
    slower.decide("cancelled")
    assert slower.body() == before
    # while it ends, the next commit is there
    forge.pulls[7].head_sha = "c" * 40
    slower.run_id = 2001
    done = slower.decide("cancelled")
    assert done.code == 4 and "newer commit" in done.summary
    assert slower.body() == before
    assert (forge.statuses[-1]["state"], forge.statuses[-1]["sha"]) == ("error", head)


# --- inputs -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"measuring": "great"}, "input measuring: 'great' is not one of success, failure, cancelled, skipped"),
        ({"measuring": ""}, "input measuring: is empty"),
        ({"command": "check"}, "input measuring: goes with command publish, not with check"),
    ],
)
def test_a_wrong_result_is_named(gate: Gate, inputs: dict[str, str], said: str) -> None:
    done = gate.decide("success", **inputs)
    assert done.code == 2 and any(said in error for error in done.said("error"))
