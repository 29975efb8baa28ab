"""The fake of GitHub: it answers as GitHub's description says, refuses what that does not know, and fails on request."""

import http.client
import json
import urllib.parse
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from scripts.openapi_subset import subset
from tests.support.forge import FakeGitHub, contract
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
