"""Requests: what is repeated, for how long, what failures mean in a line, and that the token is in nothing that is shown."""

import json
import logging
import socket
import ssl
import time
from pathlib import Path
from typing import Any

import pytest

from gate.github.client import Forge
from gate.github.transport import TRIES, Problem, Task, of_error, of_status, one_line
from tests.support.forge import FakeGitHub
from tests.support.forge.answers import Answer, Refused
from tests.support.forge.clock import HurriedClock

PULL = "/repos/acme/widget/pulls/12"
TASK = Task("read it", "contents: read")


@pytest.fixture
def github(github: FakeGitHub) -> FakeGitHub:
    github.add_pull(12, head_sha="a" * 40)
    return github


def forge(github: FakeGitHub, patience: float = 60.0, **more: Any) -> Forge:
    return github.client(patience=patience, **more)


def problem(one: Forge) -> Problem:
    with pytest.raises(Problem) as caught:
        one.pull(12)
    return caught.value


@pytest.mark.parametrize("what", [500, 502, 503, 429, "primary", "secondary", "cut", "cut-after", "cut-half"])
def test_reading_is_repeated(github: FakeGitHub, what: int | str) -> None:
    github.fail("GET", PULL, what, times=TRIES - 1)
    assert forge(github, patience=600).pull(12).head.sha == "a" * 40
    assert len(github.requests) == TRIES


@pytest.mark.parametrize("what", [429, "secondary", "primary"])
def test_a_limit_is_waited_for_until_patience_ends(github: FakeGitHub, clock: HurriedClock, what: int | str) -> None:
    github.fail("GET", PULL, what, times=2 * TRIES, headers={"Retry-After": "0"})
    assert forge(github).pull(12).number == 12
    assert len(github.requests) == 2 * TRIES + 1
    clock.slept.clear()
    github.fail("GET", PULL, what, times=None)
    words = "GitHub allows a retry in 8m, and perfgate waits 80s at most"
    assert problem(forge(github, patience=500)).what.endswith(words)
    assert (clock.slept, len(github.requests)) == ([60, 120, 240], 2 * TRIES + 1 + 4)


@pytest.mark.parametrize("what", [400, 401, 403, 404, 409, 410, 422, "garbage"])
def test_what_is_refused_is_not_repeated(github: FakeGitHub, what: int | str) -> None:
    github.fail("GET", PULL, what, times=None)
    assert problem(forge(github)).status == (200 if what == "garbage" else what)
    assert len(github.requests) == 1


@pytest.mark.parametrize(
    ("what", "headers", "words"),
    [
        (429, {"Retry-After": "3600"}, "allows a retry in 1h, and perfgate waits 1m at most"),
        ("secondary", {"Retry-After": "120"}, "allows a retry in 2m, and perfgate waits 1m at most"),
        (503, {"Retry-After": "100"}, "allows a retry in 100s, and perfgate waits 1m at most"),
        ("primary", {"X-RateLimit-Reset": "4000000000"}, "allows a retry in"),
    ],
)
def test_what_github_asks_to_wait_is_waited_unless_it_is_too_long(
    github: FakeGitHub, clock: HurriedClock, what: int | str, headers: dict[str, str], words: str
) -> None:
    github.fail("GET", PULL, what, headers=headers)
    assert words in problem(forge(github)).what
    assert (clock.slept, len(github.requests)) == ([], 1)
    github.fail("GET", PULL, what, headers={"Retry-After": "7"})
    forge(github).pull(12)
    assert clock.slept == [7]


def test_all_waiting_together_ends(github: FakeGitHub, clock: HurriedClock) -> None:
    one = forge(github, patience=50)
    one.transport.patience.sleep(60)
    assert "perfgate gave up after waiting 50s for GitHub in all" in problem(one).what
    assert (clock.slept, github.requests) == ([50], [])


def test_a_server_that_does_not_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        one = Forge(api_url=url, token="t", repository="acme/widget", timeout=0.1)
        assert problem(one).what == "cannot read pull request #12: no answer from 127.0.0.1 in time (4 tries)"


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    one = Forge(api_url=f"http://127.0.0.1:{port}", token="t", repository="acme/widget", patience=2)
    assert problem(one).what.startswith("cannot read pull request #12: 127.0.0.1 refuses the connection")


def test_an_enterprise_server_has_its_api_elsewhere(github: FakeGitHub) -> None:
    for suffix in ("/api/v3", "/api/v3/"):
        assert forge(github, api_url=f"{github.url}{suffix}").pull(12).number == 12
    assert forge(github, api_url=f"{github.url}/api/v3").transport.viewer(TASK) == "github-actions[bot]"
    assert github.requests[-1].path in ("/graphql", "/api/graphql")


def test_what_each_request_says(github: FakeGitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    assert forge(github, token=f"{github.token}\n").pull(12).number == 12
    headers = github.requests[0].headers
    assert headers["user-agent"] == "perfgate"
    assert headers["x-github-api-version"] == "2022-11-28"
    assert headers["accept"] == "application/vnd.github+json, application/json;q=0.9"
    assert headers["authorization"] == f"Bearer {github.token}", "no password of netrc, and no line end"


@pytest.mark.parametrize(
    "body", [b"", b"null", b"[]", b"{}", b'{"number": "12"}', b"\xff", b"[" * 100_000, b'{"number": 1e400}', b"NaN"]
)
def test_an_answer_of_another_shape(github: FakeGitHub, monkeypatch: pytest.MonkeyPatch, body: bytes) -> None:
    monkeypatch.setattr("tests.support.forge.server.failure", lambda what: Answer(200, body))
    github.fail("GET", PULL, 200)
    found = problem(forge(github))
    assert found.what.startswith("cannot read pull request #12: the answer of 127.0.0.1 is not GitHub's (")
    assert "\n" not in found.what and len(found.what) < 400


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_other_host_sees_the_token(github: FakeGitHub, status: int) -> None:
    with FakeGitHub("acme/widget") as other:
        other.add_pull(12, head_sha="b" * 40)
        for where in (f"{other.url}{PULL}", f"//127.0.0.1:{other.url.rpartition(':')[2]}{PULL}", f"{github.url}{PULL}"):
            github.fail("GET", PULL, status, headers={"Location": where})
            words = f"cannot read pull request #12: GitHub has moved it ({status}): was it renamed?"
            assert problem(forge(github)).what == words
        assert other.requests == [] and len(github.requests) == 3


def test_a_proxy_is_asked_as_the_environment_says(github: FakeGitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("http_proxy", github.url)
    # the fake takes the whole address that a proxy is asked for
    assert forge(github, api_url="http://github.invalid").pull(12).number == 12
    assert github.requests[0].headers["host"] == "github.invalid"


@pytest.mark.parametrize("token", ["", " \n", "ghs_secret\nmore", "ghs_secr\u00e9t", "ghs secret"])
def test_what_is_no_token(token: str) -> None:
    with pytest.raises(Problem, match="there is no usable token") as caught:
        Forge(api_url="http://127.0.0.1:1", token=token, repository="acme/widget")
    assert "secr" not in str(caught.value)


def test_the_token_is_in_nothing_that_is_shown(
    github: FakeGitHub, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    logging.getLogger().setLevel(logging.DEBUG)
    shown = []
    monkeypatch.setattr(
        "tests.support.forge.server.failure", lambda what: Refused(422, f"who is {github.token}?").answer
    )
    github.fail("GET", PULL, 422)
    one = forge(github)
    shown += [problem(one), one, one.transport, vars(one)]
    assert "who is ***?" in str(shown[0])
    github.fail("GET", PULL, "cut", times=None)
    shown.append(problem(forge(github)))
    text = "".join(f"{part!s} {part!r}" for part in shown)
    assert github.token not in text
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""


# --- what went wrong ----------------------------------------------------------------------------------------------------

WRITE = Task("do it", "statuses: write")


def said(message: str, **more: Any) -> str:
    return json.dumps({"message": message, **more})


@pytest.mark.parametrize(
    ("status", "body", "what", "permission"),
    [
        (401, said("Bad credentials"), "GitHub rejects the token (401): it is invalid or has expired; a job's token ends with the job", None),
        (403, said("Resource not accessible by integration"), "the token lacks the permission (403: Resource not accessible by integration)", "statuses: write"),
        (403, said("Repository was archived so is read-only."), "GitHub refuses it (403: Repository was archived so is read-only.)", None),
        (404, said("Not Found"), "GitHub finds nothing there (404): it does not exist, or the token lacks `statuses: write`", None),
        (404, said("No commit found for the ref x"), "GitHub finds nothing there (404: No commit found for the ref x): it does not exist, or the token lacks `statuses: write`", None),
        (410, said("Artifact has expired"), "GitHub refuses it (410: Artifact has expired)", None),
        (422, said("Validation Failed", errors=[{"message": "Body is too long (maximum is 65536 characters)"}]), "GitHub refuses it (422: Validation Failed; Body is too long (maximum is 65536 characters))", None),
        (422, said("Validation Failed", errors=["one", {"field": "sha", "code": "invalid"}, 3]), "GitHub refuses it (422: Validation Failed; one; sha invalid)", None),
        (422, said("a\nb\x1b[31m ::error::\u202e"), "GitHub refuses it (422: a b [31m ::error::)", None),
        (422, "[" * 100_000, "GitHub refuses it (422)", None),
        (502, "<html>", "GitHub answers with 502", None),
        (429, said("slow down"), "GitHub's rate limit is reached (429)", None),
        (403, said("You have exceeded a secondary rate limit."), "GitHub's rate limit is reached (403)", None),
    ],
)  # fmt: skip
def test_what_a_status_means(status: int, body: str, what: str, permission: str | None) -> None:
    trouble = of_status(WRITE, status, {}, body)
    assert trouble.problem.what == str(trouble.problem) == f"cannot do it: {what}"
    assert trouble.problem.permission == permission
    assert trouble.problem.status == status
    assert trouble.again == (status >= 500 or "rate limit" in what)
    assert trouble.problem.unsure == (status >= 500)


@pytest.mark.parametrize(
    ("headers", "again"),
    [({"retry-after": "5"}, True), ({"x-ratelimit-remaining": "0"}, True), ({"x-ratelimit-remaining": "7"}, False)],
)
def test_a_rate_limit_is_known_by_its_headers_too(headers: dict[str, str], again: bool) -> None:
    assert of_status(WRITE, 403, headers, said("Forbidden")).again == again
    # a permission that is missing is missing also when the limit is used up
    assert not of_status(WRITE, 403, headers, said("Resource not accessible by integration")).again


def test_how_long_to_wait() -> None:
    reset = {"x-ratelimit-reset": str(int(time.time() + 60))}

    def wait(headers: dict[str, str]) -> float | None:
        return of_status(WRITE, 429, headers, "").wait

    assert wait({"retry-after": "7"}) == 7
    assert wait({**reset, "x-ratelimit-remaining": "0"}) == pytest.approx(60, abs=3)
    # the time of a limit that is not used up means nothing
    assert wait({**reset, "x-ratelimit-remaining": "12"}) is None
    for nonsense in ("", "soon", "-5", "1e9", "²", "9" * 400):
        assert wait({"retry-after": nonsense}) in (None, 999_999_999)
        assert wait({"x-ratelimit-reset": nonsense, "x-ratelimit-remaining": "0"}) is None or nonsense == "9" * 400


def chained(outer: Exception, inner: Exception) -> Exception:
    try:
        raise outer from inner
    except type(outer) as error:
        return error


class NewConnectionError(Exception):
    """Named as urllib3's."""


@pytest.mark.parametrize(
    ("error", "what", "again", "unsure"),
    [
        (chained(OSError("https://secret"), socket.gaierror(-2, "x")), "no address is known of host: check GITHUB_API_URL and the network", True, False),
        (OSError(chained(ValueError(), ssl.SSLCertVerificationError())), "the certificate of host is not trusted: REQUESTS_CA_BUNDLE names the file of an authority of your own", False, False),
        (chained(OSError("https://secret"), TimeoutError()), "no answer from host in time", True, True),
        (OSError(chained(NewConnectionError(), TimeoutError())), "no answer from host in time", True, False),
        (chained(NewConnectionError(), ConnectionRefusedError()), "host refuses the connection", True, False),
        (chained(OSError("https://secret"), ConnectionResetError()), "the connection to host broke off", True, True),
        (RuntimeError("redirected to https://secret"), "no usable answer from host (RuntimeError)", False, True),
    ],
)  # fmt: skip
def test_what_an_error_means(error: Exception, what: str, again: bool, unsure: bool) -> None:
    trouble = of_error(WRITE, error, "host")
    assert trouble.problem.what == f"cannot do it: {what}"
    assert (trouble.again, trouble.problem.unsure, trouble.problem.status) == (again, unsure, None)


def test_one_line_is_short() -> None:
    assert one_line("x" * 300) == "x" * 199 + "…"
    assert one_line("x" * 200) == "x" * 200
