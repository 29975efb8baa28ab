"""Requests: what is repeated, how long it takes at most, and that the token is in nothing that is shown."""

from __future__ import annotations

import logging
import socket
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gate.github import transport as module
from gate.github.client import Forge
from gate.github.problems import Problem, Task
from gate.github.transport import TRIES, Transport
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
def test_a_limit_is_waited_for_however_often_it_refuses_until_patience_ends(
    github: FakeGitHub, clock: HurriedClock, what: int | str
) -> None:
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


def test_a_list_without_links_to_its_pages_is_read(github: FakeGitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {"1": list(range(100)), "2": list(range(100, 130))}
    answers: list[str] = []

    def call(self: Transport, task: Task, method: str, path: str, **more: Any) -> module.Answer:
        answers.append(more["parameters"]["page"])
        return module.Answer(200, {}, msgspec.json.encode(pages[answers[-1]]).decode())

    monkeypatch.setattr(Transport, "call", call)
    assert forge(github).transport.listed(TASK, "/x", list[int], list) == list(range(130))
    assert answers == ["1", "2"]


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
