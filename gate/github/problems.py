"""Problems with a forge: one line each, and whether a retry helps."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

_LONGEST = 200
# What the libraries raise before a request has left this machine; by name, since they are imported late.
_BEFORE_SENDING = {
    "NewConnectionError", "NameResolutionError", "ConnectTimeoutError", "ProxyError", "SSLCertVerificationError",
}  # fmt: skip


class Problem(Exception):  # noqa: N818  # it degrades what is published, and never ends a run
    """The forge did not do what was asked; a publishing step warns of it and goes on.

    what: one line, without the token. permission: the line below `permissions:` that is missing ("pull-requests:
    write"), None where something else is the cause. status: of the HTTP answer, None without one. unsure: the request
    may have been carried out all the same. said: the forge's own words.
    """

    def __init__(
        self, what: str, *, permission: str | None = None, status: int | None = None, unsure: bool = False,
        said: str = "",
    ) -> None:  # fmt: skip
        super().__init__(what)
        self.what, self.permission, self.status, self.unsure, self.said = what, permission, status, unsure, said

    def after(self, what: str) -> str:
        """Say what did not happen and why, with the line that gives the permission where that is the cause."""
        add = f"; add `{self.permission}` below `permissions:` of this job" if self.permission else ""
        return f"{what}: {self.what}{add}"


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked of the forge: words that follow "cannot", and the permission that it takes."""

    doing: str
    permission: str

    def failed(
        self, why: str, *, status: int | None = None, permission: str | None = None, unsure: bool = False,
        said: str = "",
    ) -> Problem:  # fmt: skip
        """Say why it cannot be done."""
        return Problem(f"cannot {self.doing}: {why}", status=status, permission=permission, unsure=unsure, said=said)


@dataclass(frozen=True, slots=True)
class Trouble:
    """A failed attempt."""

    problem: Problem
    again: bool = False
    """Asking again may help."""
    wait: float | None = None
    """Seconds that the forge wants to pass before, if it said."""
    limited: bool = False
    """There were too many requests: it was not carried out, and after some time it will be."""


def of_status(task: Task, status: int, headers: Mapping[str, str], body: str) -> Trouble:
    """Say what an answer from 400 means; headers: names in small letters."""
    said = _message(body)
    wait = _wait(headers)
    used_up = "rate limit" in said.lower() or "retry-after" in headers or headers.get("x-ratelimit-remaining") == "0"
    # a permission that is missing is missing also when the limit is used up
    if status == 429 or (status == 403 and used_up and "not accessible by" not in said):
        limit = task.failed(f"GitHub's rate limit is reached ({status})", status=status)
        return Trouble(limit, again=True, wait=wait, limited=True)
    if status >= 500:
        return Trouble(task.failed(f"GitHub answers with {status}", status=status, unsure=True), again=True, wait=wait)
    if status == 401:
        why = "GitHub rejects the token (401): it is invalid or has expired; a job's token ends with the job"
        return Trouble(task.failed(why, status=status))
    if status == 403 and "not accessible by" in said:
        why = f"the token lacks the permission (403: {said})"
        return Trouble(task.failed(why, status=status, permission=task.permission))
    if status == 404:
        words = "" if said.lower() in ("", "not found") else f": {said}"
        why = f"GitHub finds nothing there (404{words}): it does not exist, or the token lacks `{task.permission}`"
        return Trouble(task.failed(why, status=status, said=said))
    return Trouble(task.failed(f"GitHub refuses it ({status}{': ' if said else ''}{said})", status=status))


def of_error(task: Task, error: Exception, host: str) -> Trouble:
    """Say what an exception below HTTP means, in words of our own: those of the libraries may hold addresses."""
    # an exception and all that it came from; some libraries keep the cause among the arguments
    chain: list[BaseException] = [error]
    for one in chain:
        inner = (one.__cause__, one.__context__, getattr(one, "reason", None), *one.args)
        chain += [part for part in inner if isinstance(part, BaseException) and all(part is not old for old in chain)]
    names = {type(one).__name__ for one in chain}
    unsure = not names & _BEFORE_SENDING
    if any(isinstance(one, socket.gaierror) for one in chain):
        return Trouble(task.failed(f"no address is known of {host}: check GITHUB_API_URL and the network"), again=True)
    if any(isinstance(one, ssl.SSLCertVerificationError) for one in chain):
        why = f"the certificate of {host} is not trusted: REQUESTS_CA_BUNDLE names the file of an authority of your own"
        return Trouble(task.failed(why))
    if any(isinstance(one, TimeoutError) for one in chain):
        return Trouble(task.failed(f"no answer from {host} in time", unsure=unsure), again=True)
    if any(isinstance(one, ConnectionRefusedError) for one in chain):
        return Trouble(task.failed(f"{host} refuses the connection"), again=True)
    if any(isinstance(one, OSError) for one in chain):
        return Trouble(task.failed(f"the connection to {host} broke off", unsure=unsure), again=True)
    return Trouble(task.failed(f"no usable answer from {host} ({type(error).__name__})", unsure=unsure))


def one_line(text: str) -> str:
    """Make one line of what somebody else wrote, without control characters and not too long."""
    line = " ".join("".join(one if one.isprintable() else " " for one in text).split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _message(body: str) -> str:
    """Take GitHub's own words out of the answer of a refusal; "" when there are none."""
    try:
        said: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return ""
    if not isinstance(said, dict):
        return ""
    errors = said.get("errors")
    parts = [said.get("message")]
    for each in errors if isinstance(errors, list) else ():
        found = each
        if isinstance(each, dict):
            found = str(each.get("message") or " ".join(str(each[key]) for key in ("field", "code") if key in each))
        parts.append(found)
    return one_line("; ".join(part for part in parts if isinstance(part, str) and part))


def _wait(headers: Mapping[str, str]) -> float | None:
    """Read how many seconds are to pass: Retry-After, or the time at which a used-up limit ends."""
    after = headers.get("retry-after", "").strip()
    if after.isdecimal():
        return float(after[:9])
    reset = headers.get("x-ratelimit-reset", "")
    if headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal():
        # the limit ends somewhere in that second
        return max(0.0, float(reset[:12]) - time.time() + 1)
    return None
