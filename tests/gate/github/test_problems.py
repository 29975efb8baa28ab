"""What went wrong with a forge, as one line: what it says of each status and of each way to get no answer."""

from __future__ import annotations

import json
import socket
import ssl
import time
from typing import Any

import pytest

from gate.github.problems import Task, of_error, of_status, one_line

TASK = Task("do it", "statuses: write")


def said(message: str, **more: Any) -> str:
    return json.dumps({"message": message, **more})


@pytest.mark.parametrize(
    ("status", "body", "what", "permission"),
    [
        (401, said("Bad credentials"), "GitHub rejects the token (401): it is invalid or has expired; a job's token ends with the job", None),
        (403, said("Resource not accessible by integration"), "the token lacks the permission (403: Resource not accessible by integration)", "statuses: write"),
        (403, said("Resource not accessible by personal access token"), "the token lacks the permission (403: Resource not accessible by personal access token)", "statuses: write"),
        (403, said("Repository was archived so is read-only."), "GitHub refuses it (403: Repository was archived so is read-only.)", None),
        (404, said("Not Found"), "GitHub finds nothing there (404): it does not exist, or the token lacks `statuses: write`", None),
        (404, said("No commit found for the ref x"), "GitHub finds nothing there (404: No commit found for the ref x): it does not exist, or the token lacks `statuses: write`", None),
        (409, "", "GitHub refuses it (409)", None),
        (410, said("Artifact has expired"), "GitHub refuses it (410: Artifact has expired)", None),
        (422, said("Validation Failed", errors=[{"message": "Body is too long (maximum is 65536 characters)"}]), "GitHub refuses it (422: Validation Failed; Body is too long (maximum is 65536 characters))", None),
        (422, said("Validation Failed", errors=["one", {"field": "sha", "code": "invalid"}, 3]), "GitHub refuses it (422: Validation Failed; one; sha invalid)", None),
        (422, said("No", errors={"a": 1}), "GitHub refuses it (422: No)", None),
        (422, "[1]", "GitHub refuses it (422)", None),
        (422, said("a\nb\x1b[31m ::error::\u202e"), "GitHub refuses it (422: a b [31m ::error::)", None),
        (422, "[" * 100_000, "GitHub refuses it (422)", None),
        (502, "<html>", "GitHub answers with 502", None),
        (429, said("slow down"), "GitHub's rate limit is reached (429)", None),
        (403, said("You have exceeded a secondary rate limit."), "GitHub's rate limit is reached (403)", None),
    ],
)  # fmt: skip
def test_what_a_status_means(status: int, body: str, what: str, permission: str | None) -> None:
    trouble = of_status(TASK, status, {}, body)
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
    assert of_status(TASK, 403, headers, said("Forbidden")).again == again
    # a permission that is missing is missing also when the limit is used up
    assert not of_status(TASK, 403, headers, said("Resource not accessible by integration")).again


def test_how_long_to_wait() -> None:
    reset = {"x-ratelimit-reset": str(int(time.time() + 60))}

    def wait(headers: dict[str, str]) -> float | None:
        return of_status(TASK, 429, headers, "").wait

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
    trouble = of_error(TASK, error, "host")
    assert trouble.problem.what == f"cannot do it: {what}"
    assert (trouble.again, trouble.problem.unsure, trouble.problem.status) == (again, unsure, None)


def test_one_line_is_short() -> None:
    assert one_line("x" * 300) == "x" * 199 + "…"
    assert one_line("x" * 200) == "x" * 200
