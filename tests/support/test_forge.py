"""The fake of GitHub: it answers as GitHub's description says, refuses what that does not know, and fails on request."""

from __future__ import annotations

import http.client
import json
import urllib.parse
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from scripts.openapi_subset import subset
from tests.support.forge import FakeGitHub, contract
from tests.support.forge.results import SERVICE
from tests.support.forge.routes import ROUTES

HEAD, BASE = "a" * 40, "b" * 40
REPO = "/repos/acme/widget"


class Got(NamedTuple):
    status: int
    headers: dict[str, str]
    data: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.data)


def ask(github: FakeGitHub, method: str, path: str, body: Any = None, timeout: float = 10, **headers: str) -> Got:
    """One request as any client would make it, without retries or redirections."""
    address = urllib.parse.urlsplit(github.url if path.startswith("/") else path)
    connection = http.client.HTTPConnection(address.netloc, timeout=timeout)
    sent = {"User_Agent": "test", "Authorization": f"Bearer {github.token}", **headers}
    data = None if body is None else json.dumps(body).encode()
    try:
        target = path if path.startswith("/") else f"{address.path}?{address.query}"
        connection.request(
            method, target, data, {name.replace("_", "-"): value for name, value in sent.items() if value}
        )
        answer = connection.getresponse()
        return Got(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
    finally:
        connection.close()


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub() as made:
        made.add_pull(12, HEAD, BASE, labels=("perf-accepted",))
        yield made


def furnish(github: FakeGitHub) -> dict[str, Any]:
    """Put one of everything there; returns what the parameters of the paths are called."""
    comment = github.add_comment(12, "hello")
    artifact = github.add_artifact(77, "perfgate-data", b"PK", head_sha=HEAD)
    github.files["main", "bench/perfgate.toml"] = "[gate]\n"
    github.state.parents[HEAD] = (BASE,)
    return {
        "owner": "acme", "repo": "widget", "pull_number": 12, "issue_number": 12, "comment_id": comment["id"], "sha": HEAD, "ref": HEAD,
        "commit_sha": HEAD, "path": "bench/perfgate.toml", "run_id": 77, "artifact_id": artifact.id,
        "archive_format": "zip",
    }  # fmt: skip


BODIES = {
    "post comments": {"body": "new"},
    "patch comments": {"body": "other"},
    "post statuses": {"state": "failure", "context": "perfgate/x"},
}


def test_every_path_of_the_description_is_answered_and_nothing_else() -> None:
    described = {
        (method.upper(), path) for path, methods in contract.description()["paths"].items() for method in methods
    }
    assert set(ROUTES) == described


@pytest.mark.parametrize(("method", "template"), sorted(ROUTES))
def test_an_answer_fits_the_description(github: FakeGitHub, method: str, template: str) -> None:
    path = template.format(**furnish(github))
    kind = next((word for word in ("comments", "statuses") if word in path), "")
    got = ask(github, method, path, BODIES.get(f"{method.lower()} {kind}"))
    assert str(got.status) in contract.description()["paths"][template][method.lower()]["responses"]
    assert github.violations == []
    if got.status in (200, 201):
        assert contract.answer_problems(method, path, got.status, got.data) == []


@pytest.mark.parametrize(
    ("method", "path", "body", "complaint"),
    [
        ("POST", f"{REPO}/issues/12/comments", {}, "'body' is a required property"),
        ("POST", f"{REPO}/issues/12/comments", {"body": 3}, "is not of type 'string'"),
        ("POST", f"{REPO}/issues/12/comments", {"body": "x", "minimize": True}, "unknown key 'minimize'"),
        ("POST", f"{REPO}/issues/12/comments", None, "required"),
        ("POST", f"{REPO}/statuses/{HEAD}", {"state": "failed"}, "'failed' is not one of"),
        ("GET", f"{REPO}/issues/twelve/comments", None, "twelve"),
        ("GET", f"{REPO}/pulls?state=merged", None, "'merged' is not one of"),
        ("GET", f"{REPO}/pulls?author=me", None, "unknown query parameter 'author'"),
        ("GET", f"{REPO}/pulls", {"state": "open"}, "a body where none belongs"),
        ("PUT", f"{REPO}/issues/12/comments", {"body": "x"}, "no such path and method"),
        ("GET", f"{REPO}/issues/12/coments", None, "no such path and method"),
    ],
)
def test_what_github_would_not_take_is_refused_and_remembered(
    github: FakeGitHub, method: str, path: str, body: Any, complaint: str
) -> None:
    got = ask(github, method, path, body)
    assert got.status in (404, 422)
    assert [complaint in one for one in github.violations] == [True], github.violations
    assert github.requests[-1].violation == github.violations[0]
    assert github.comments == [] == github.statuses


def test_lists_come_in_pages_of_thirty_that_link_to_each_other(github: FakeGitHub) -> None:
    for number in range(65):
        github.add_comment(12, str(number))
    seen, path = [], f"{REPO}/issues/12/comments"
    while path:
        got = ask(github, "GET", path)
        seen.append([one["body"] for one in got.json])
        links = {kind: url for url, kind in (link.split("; rel=") for link in got.headers["link"].split(", "))}
        path = links.get('"next"', "").strip("<>")
    assert [len(page) for page in seen] == [30, 30, 5]
    assert [body for page in seen for body in page] == [str(number) for number in range(65)]
    assert len(ask(github, "GET", f"{REPO}/issues/12/comments?per_page=500").json) == 65
    assert [one["body"] for one in ask(github, "GET", f"{REPO}/issues/12/comments?per_page=2&page=3").json] == [
        "4",
        "5",
    ]
    assert "link" not in ask(github, "GET", f"{REPO}/issues/12/comments?per_page=65").headers
    for number in range(31):
        github.add_artifact(77, f"a{number}", b"")
    got = ask(github, "GET", f"{REPO}/actions/runs/77/artifacts?page=2")
    assert (got.json["total_count"], [one["name"] for one in got.json["artifacts"]]) == (31, ["a0"])


@pytest.mark.parametrize(("size", "status"), [(65_536, 201), (65_537, 422)])
def test_a_comment_holds_65536_characters(github: FakeGitHub, size: int, status: int) -> None:
    got = ask(github, "POST", f"{REPO}/issues/12/comments", {"body": "ä" * size})
    assert got.status == status
    assert (status == 422) == (b"Body is too long (maximum is 65536 characters)" in got.data)
    assert len(github.comments) == (status == 201)


def test_other_values_that_github_refuses(github: FakeGitHub) -> None:
    assert b"Body cannot be blank" in ask(github, "POST", f"{REPO}/issues/12/comments", {"body": " "}).data
    status = {"state": "success", "description": "x" * 141}
    assert b"description is too long" in ask(github, "POST", f"{REPO}/statuses/{HEAD}", status).data
    assert ask(github, "POST", f"{REPO}/statuses/main", {"state": "success"}).status == 422
    github.pulls[12].locked = True
    assert b"issue is locked" in ask(github, "POST", f"{REPO}/issues/12/comments", {"body": "x"}).data
    assert ask(github, "GET", f"{REPO}/pulls/13").status == 404
    assert ask(github, "GET", "/repos/acme/other/pulls").status == 404
    assert github.comments == [] == github.statuses


@pytest.mark.parametrize(
    ("lacking", "method", "path", "body", "accepted"),
    [
        ("pull-requests", "POST", f"{REPO}/issues/12/comments", {"body": "x"}, "issues=write; pull_requests=write"),
        ("pull-requests", "GET", f"{REPO}/pulls/12", None, "pull_requests=read"),
        ("statuses", "POST", f"{REPO}/statuses/{HEAD}", {"state": "success"}, "statuses=write"),
        ("contents", "GET", f"{REPO}/contents/perfgate.toml", None, "contents=read"),
        ("actions", "GET", f"{REPO}/actions/runs/77/artifacts", None, "actions=read"),
    ],
)  # fmt: skip
def test_a_missing_permission_is_refused_as_github_does(
    github: FakeGitHub, lacking: str, method: str, path: str, body: Any, accepted: str
) -> None:
    del github.permissions[lacking]
    got = ask(github, method, path, body)
    assert (got.status, got.json["message"]) == (403, "Resource not accessible by integration")
    assert got.headers["x-accepted-github-permissions"] == accepted
    assert github.comments == [] == github.statuses


def test_who_asks(github: FakeGitHub) -> None:
    assert ask(github, "GET", f"{REPO}/pulls", Authorization="").status == 401
    assert ask(github, "GET", f"{REPO}/pulls", Authorization="Bearer wrong").json["message"] == "Bad credentials"
    assert ask(github, "GET", f"{REPO}/pulls", User_Agent="").status == 403


def test_a_download_is_elsewhere_and_wants_no_token(github: FakeGitHub) -> None:
    artifact = github.add_artifact(77, "data", b"PK and more")
    got = ask(github, "GET", f"{REPO}/actions/artifacts/{artifact.id}/zip")
    assert (got.status, got.data) == (302, b"")
    place = got.headers["location"]
    assert urllib.parse.urlsplit(place).netloc != urllib.parse.urlsplit(github.url).netloc
    assert ask(github, "GET", place).status == 400
    assert ask(github, "GET", place, Authorization="").data == b"PK and more"
    assert ask(github, "GET", place.replace("sig=", "sig=0"), Authorization="").status == 403
    assert ["authorization" in seen.headers for seen in github.downloads] == [True, False, False]
    artifact.expired = True
    assert ask(github, "GET", f"{REPO}/actions/artifacts/{artifact.id}/zip").status == 410


def test_a_job_hands_its_artifacts_in_and_each_name_once(github: FakeGitHub) -> None:
    service = f"{github.storage}{SERVICE}"
    token: dict[str, Any] = {"Authorization": f"Bearer {github.job_token(77, HEAD)}"}
    ids = {"workflow_run_backend_id": "77", "workflow_job_run_backend_id": "1", "name": "data"}
    assert ask(github, "POST", f"{service}CreateArtifact", ids).status == 401
    assert (
        ask(github, "POST", f"{service}CreateArtifact", {**ids, "workflow_run_backend_id": "78"}, **token).status == 401
    )
    assert ask(github, "POST", f"{service}CreateArtifact", {**ids, "name": "a/b"}, **token).status == 400
    place = ask(github, "POST", f"{service}CreateArtifact", ids, **token).json["signed_upload_url"]
    assert ask(github, "PUT", place, "12345678", **token).status == 400
    assert ask(github, "PUT", place, "12345678", Authorization="").status == 201
    assert github.artifacts == []
    assert ask(github, "POST", f"{service}FinalizeArtifact", {**ids, "size": "9"}, **token).status == 400
    place = ask(github, "POST", f"{service}CreateArtifact", ids, **token).json["signed_upload_url"]
    ask(github, "PUT", place, "12345678", Authorization="")
    made = ask(github, "POST", f"{service}FinalizeArtifact", {**ids, "size": "10"}, **token).json["artifact_id"]
    assert [(str(one.id), one.run_id, one.name, one.data) for one in github.artifacts] == [
        (made, 77, "data", b'"12345678"')
    ]
    assert ask(github, "POST", f"{service}CreateArtifact", ids, **token).status == 409
    assert [one["name"] for one in ask(github, "POST", f"{service}ListArtifacts", ids, **token).json["artifacts"]] == [
        "data"
    ]
    place = ask(github, "POST", f"{service}GetSignedArtifactURL", ids, **token).json["signed_url"]
    assert ask(github, "GET", place, Authorization="").data == b'"12345678"'
    assert [one["name"] for one in ask(github, "GET", f"{REPO}/actions/runs/77/artifacts").json["artifacts"]] == [
        "data"
    ]
    assert ask(github, "POST", f"{service}DeleteArtifact", ids, **token).status == 200
    assert github.artifacts == []


def test_the_description_is_one() -> None:
    """The fake takes it as it is."""
    from openapi_core import OpenAPI

    OpenAPI.from_dict(contract.description())


def test_the_subset_is_made_of_what_is_used_and_no_words() -> None:
    described = contract.description()
    again = {
        **described,
        "paths": {path: {m: {**o} for m, o in methods.items()} for path, methods in described["paths"].items()},
    }
    assert subset(again) == described
    text = contract.DESCRIPTION.read_text()
    assert len(text) < 500_000 and "externalDocs" not in text and "://" not in text
