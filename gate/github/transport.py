"""Requests to GitHub: which are repeated, how long they may take, and what answers and failures mean."""

from __future__ import annotations

import logging
import math
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import urlsplit

import msgspec

from gate.writing.units import Duration

if TYPE_CHECKING:
    from requests import Session

T = TypeVar("T")
S = TypeVar("S")
Method = Literal["GET", "POST", "PATCH"]

TRIES = 4
_FIRST_PAUSE = 0.5
# GitHub asks for a minute at least where it does not say how long, and for more each time after
_LIMITED_PAUSE = 60.0
_LEAST_LIMITED = 1.0
_PAGE = 100
# GitHub keeps 2500 comments of a conversation at most
_MOST_PAGES = 30
_HEADERS = {
    "Accept": "application/vnd.github+json, application/json;q=0.9",
    "User-Agent": "perfgate",
    "X-GitHub-Api-Version": "2022-11-28",
}


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """An answer below 400."""

    status: int
    headers: Mapping[str, str]
    """Names in small letters."""
    body: str


class Patience:
    """Seconds that may pass in all while a forge works or is waited for; what else happens takes none of them."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._spent = 0.0

    @property
    def left(self) -> float:
        """The seconds that are left, 0 when all are spent."""
        return max(0.0, self.seconds - self._spent)

    def sleep(self, seconds: float) -> None:
        """Wait, for as long as there is patience."""
        pause = min(seconds, self.left)
        time.sleep(pause)
        self._spent += pause

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count what the block takes."""
        begin = time.monotonic()
        try:
            yield
        finally:
            self._spent += time.monotonic() - begin


class Transport:
    """Speaks to one API with one token, which is in no message.

    timeout: seconds without a byte. patience: seconds for everything that this object ever does.

    It follows no redirection, so that nobody else sees the token.
    """

    def __init__(self, api_url: str, token: str, timeout: float, patience: float) -> None:
        # anything else would be refused further down, in words that hold the token
        if not re.fullmatch(r"[\x21-\x7e]+", token.strip()):
            raise Problem("there is no usable token: give the action `token: ${{ github.token }}`, its default")
        self.api_url = api_url.rstrip("/")
        self.host = urlsplit(api_url).hostname or ""
        self.patience = Patience(patience)
        self.timeout = timeout
        self._token = token.strip()
        self._session: Session | None = None

    def call(
        self, task: Task, method: Method, path: str, *, parameters: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None, repeatable: bool | None = None, redirect: bool = False,
    ) -> HttpAnswer:  # fmt: skip
        """Send a request, again if need be.

        Args:
            path: quoted, below the API's address; or the address of GraphQL.
            repeatable: may be sent again when it is unknown whether it was carried out; by default all but POST.
            redirect: a redirection is the answer wanted.

        Raises:
            Problem: it was refused, or got no answer in time.
        """

        def attempt() -> HttpAnswer | Trouble:
            address = f"{self.api_url}{path}" if path.startswith("/") else path
            got = self._connect().request(
                method, address, params=parameters, json=body, allow_redirects=False, timeout=self.timeout
            )
            status, headers = got.status_code, {name.lower(): value for name, value in got.headers.items()}
            answer = HttpAnswer(status, headers, got.content.decode("utf-8", "replace"))
            if status >= 400:
                return of_status(task, status, answer.headers, answer.body.replace(self._token, "***"))
            if status >= 300 and not redirect:
                return Trouble(task.failed(f"GitHub has moved it ({status}): was it renamed?", status=status))
            return answer

        return self.persist(task, attempt, repeatable=method != "POST" if repeatable is None else repeatable)

    def persist(self, task: Task, attempt: Callable[[], T | Trouble], *, repeatable: bool) -> T:
        """Attempt something until it works, is refused, or took too long; repeatable: as of `call`.

        Raises: Problem: what the last attempt said.
        """
        pause, limited, tries = _FIRST_PAUSE, _LIMITED_PAUSE, 0
        while True:
            result = self._attempt(task, attempt)
            if not isinstance(result, Trouble):
                return result
            # a limit ends, however many requests it refuses until then: only patience bounds them
            tries += 0 if result.limited else 1
            problem = result.problem
            if not result.again or (problem.unsure and not repeatable):
                raise problem
            if tries == TRIES:
                raise Problem(f"{problem.what} ({tries} tries)", status=problem.status, unsure=problem.unsure)
            wait = result.wait
            if wait is None:
                wait = limited if result.limited else pause
            if wait >= self.patience.left:
                if result.wait is None and not result.limited:
                    raise problem
                left, asked = Duration(round(self.patience.left)), Duration(math.ceil(wait))
                what = f"{problem.what}; GitHub allows a retry in {asked}, and perfgate waits {left} at most"
                raise Problem(what, status=problem.status, unsure=problem.unsure)
            if result.limited:
                self.patience.sleep(max(wait, _LEAST_LIMITED))
                limited *= 2
            else:
                self.patience.sleep(wait)
                pause *= 2

    def get(self, task: Task, path: str, shape: type[T], **parameters: str) -> T:
        """Read something of a shape. Raises Problem: it cannot be read, or is something else."""
        return self.decode(task, self.call(task, "GET", path, parameters=parameters), shape)

    def listed(
        self, task: Task, path: str, shape: type[T], items: Callable[[T], list[S]], **parameters: str
    ) -> list[S]:
        """Read all pages of a list, which `items` takes out of a page. Raises Problem: as of `get`."""
        found: list[S] = []
        for page in range(1, _MOST_PAGES + 1):
            asked = {**parameters, "per_page": str(_PAGE), "page": str(page)}
            answer = self.call(task, "GET", path, parameters=asked)
            found += items(self.decode(task, answer, shape))
            if 'rel="next"' not in answer.headers.get("link", ""):
                break
        return found

    def send(
        self, task: Task, method: Method, path: str, body: Mapping[str, Any], shape: type[T], *,
        repeatable: bool | None = None,
    ) -> T:  # fmt: skip
        """Write something; the answer is of a shape. repeatable: as of `call`.

        Raises: Problem: as of `get`; unsure when it may have been written.
        """
        return self.decode(task, self.call(task, method, path, body=body, repeatable=repeatable), shape, written=True)

    def viewer(self, task: Task) -> str:
        """Ask GraphQL whose token it is. Raises: Problem: as of `get`; an API may be without GraphQL."""
        # of github.com /graphql; of an Enterprise Server /api/graphql beside /api/v3
        address = f"{self.api_url.removesuffix('/v3')}/graphql"
        answer = self.call(task, "POST", address, body={"query": "query { viewer { login } }"}, repeatable=True)
        found = self.decode(task, answer, dict[str, dict[str, dict[str, str]]])
        if login := found.get("data", {}).get("viewer", {}).get("login"):
            return login
        raise task.failed(f"the answer of {self.host} is not GitHub's (no viewer)")

    def decode(self, task: Task, answer: HttpAnswer, shape: type[T], *, written: bool = False) -> T:
        """Read an answer as a shape; written: the request was carried out.

        Raises: Problem: it is no JSON, or of another shape.
        """
        try:
            return msgspec.json.decode(answer.body, type=shape)
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            why = f"the answer of {self.host} is not GitHub's ({one_line(str(error))})"
            raise task.failed(why, status=answer.status, unsure=written) from None

    def _attempt(self, task: Task, attempt: Callable[[], T | Trouble]) -> T | Trouble:
        if not self.patience.left:
            total = Duration(self.patience.seconds)
            return Trouble(task.failed(f"perfgate gave up after waiting {total} for GitHub in all"))
        try:
            with self.patience.waiting():
                return attempt()
        except Problem as problem:
            return Trouble(problem)
        except Exception as error:  # noqa: BLE001  # whatever the libraries raise, publishing goes on
            return of_error(task, error, self.host)

    def _connect(self) -> Session:
        if self._session is None:
            from requests import Session  # late: slow to import, and seldom needed

            # keep what the libraries log from stderr; some of it holds addresses that are as good as a token
            for name in ("urllib3", "requests"):
                logger = logging.getLogger(name)
                logger.propagate = False
                if not logger.handlers:
                    logger.addHandler(logging.NullHandler())
            self._session = Session()
            # not what ~/.netrc holds for the host
            self._session.auth = lambda request: request
            self._session.headers.update({**_HEADERS, "Authorization": f"Bearer {self._token}"})
        return self._session


# --- what went wrong: one line each, and whether a retry helps --------------------------------------------------------


_LONGEST_SAID = 200
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
    return line if len(line) <= _LONGEST_SAID else f"{line[: _LONGEST_SAID - 1]}…"


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
