"""Requests to GitHub through PyGithub: which are repeated, how long they may take, and what their answers hold."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import urlsplit

import msgspec

from gate.github.patience import Overdue, Patience
from gate.github.problems import Problem, Task, Trouble, of_error, of_status, one_line
from gate.units import Duration

if TYPE_CHECKING:
    from github.Requester import Requester

T = TypeVar("T")
S = TypeVar("S")
Method = Literal["GET", "POST", "PATCH"]

TRIES = 4
_FIRST_PAUSE = 0.5
_PAGE = 100
# GitHub keeps 2500 comments of a conversation at most
_MOST_PAGES = 30
_HEADERS = {"Accept": "application/vnd.github+json, application/json;q=0.9"}


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer below 400; headers: names in small letters."""

    status: int
    headers: Mapping[str, str]
    body: str


class _Errors(msgspec.Struct):
    data: Any = None
    errors: list[Any] | None = None


class Transport:
    """Speaks to one API with one token, which is in no message.

    timeout: seconds for one attempt. patience: seconds for everything that this object ever does.

    PyGithub's own repetitions (GithubRetry) are off: they double creations, wait as long as a server wishes, and do not
    end a slow answer.
    """

    def __init__(self, api_url: str, token: str, timeout: float, patience: float) -> None:
        address = urlsplit(api_url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise Problem(f"GITHUB_API_URL is no address of an API: {one_line(api_url)}")
        # anything else would be refused further down, in words that hold the token
        if not re.fullmatch(r"[\x21-\x7e]+", token.strip()):
            raise Problem("there is no usable token: give the action `token: ${{ github.token }}`, its default")
        self.api_url = api_url.rstrip("/")
        self.host = address.hostname
        self.patience = Patience(patience)
        self.timeout = timeout
        self._token = token.strip()
        self._requester: Requester | None = None

    def call(
        self,
        task: Task,
        method: Method,
        path: str,
        *,
        parameters: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        repeatable: bool | None = None,
        redirect: bool = False,
    ) -> Answer:
        """Send a request, again if need be.

        path: below the API's address, quoted; an absolute address of GraphQL. repeatable: may be sent again when it is
        unknown whether it was carried out; by default all but POST. redirect: a redirection is the answer wanted.

        Raises:
            Problem: it was refused, or got no answer in time.
        """

        def attempt() -> Answer | Trouble:
            requester = self._connect()
            status, headers, text = self.patience.within(
                self.timeout, lambda: requester.requestJson(method, path, dict(parameters or {}), dict(_HEADERS), body)
            )
            if status >= 400:
                return of_status(task, status, headers, text.replace(self._token, "***"))
            if status >= 300 and not redirect:
                return Trouble(task.failed(f"GitHub has it elsewhere now ({status}): was it renamed?", status=status))
            return Answer(status, headers, text)

        return self.persist(task, attempt, repeatable=method != "POST" if repeatable is None else repeatable)

    def persist(self, task: Task, attempt: Callable[[], T | Trouble], *, repeatable: bool) -> T:
        """Attempt something until it works, is refused, or took too long; repeatable: as of `call`.

        Raises:
            Problem: what the last attempt said.
        """
        pause = _FIRST_PAUSE
        for tries in range(1, TRIES + 1):
            result = self._attempt(task, attempt)
            if not isinstance(result, Trouble):
                return result
            self._give_up(result, tries, repeatable)
            wait = pause if result.wait is None else result.wait
            if wait >= self.patience.left:
                raise result.problem if result.wait is None else self._too_long(result.problem, wait)
            self.patience.sleep(wait)
            pause *= 2
        raise AssertionError("the last try gives up")

    def get(self, task: Task, path: str, shape: type[T], **parameters: str) -> T:
        """Read something of a shape.

        Raises:
            Problem: it cannot be read, or is something else.
        """
        return self.decode(task, self.call(task, "GET", path, parameters=parameters), shape)

    def listed(
        self, task: Task, path: str, shape: type[T], items: Callable[[T], list[S]], **parameters: str
    ) -> list[S]:
        """Read all pages of a list; items: takes the list out of a page.

        Raises:
            Problem: as of `get`.
        """
        found: list[S] = []
        before: list[S] = []
        for page in range(1, _MOST_PAGES + 1):
            asked = {**parameters, "per_page": str(_PAGE), "page": str(page)}
            answer = self.call(task, "GET", path, parameters=asked)
            part = items(self.decode(task, answer, shape))
            # PyGithub follows a redirection without its parameters: each page is the first then
            if part == before:
                break
            found += part
            before = part
            link = answer.headers.get("link")
            if ('rel="next"' not in link) if link else len(part) < _PAGE:
                break
        return found

    def send(self, task: Task, method: Method, path: str, body: Mapping[str, Any], shape: type[T]) -> T:
        """Write something; the answer is of a shape.

        Raises:
            Problem: as of `get`; unsure when it may have been written.
        """
        return self.decode(task, self.call(task, method, path, body=body), shape, written=True)

    def graphql(self, task: Task, query: str, variables: Mapping[str, Any], shape: type[T]) -> T:
        """Ask GraphQL, where asking twice does no harm; returns its `data`.

        Raises:
            Problem: as of `get`; an API may be without GraphQL.
        """
        address = self._connect().graphql_url
        body = {"query": query, "variables": dict(variables)}
        answer = self.call(task, "POST", address, body=body, repeatable=True)
        said = self.decode(task, answer, _Errors)
        if said.errors:
            refused = any(isinstance(one, dict) and one.get("type") == "FORBIDDEN" for one in said.errors)
            why = "GitHub's GraphQL refuses it"
            raise task.failed(why, status=answer.status, permission=task.permission if refused else None)
        return self.convert(task, said.data, shape)

    def decode(self, task: Task, answer: Answer, shape: type[T], *, written: bool = False) -> T:
        """Read an answer as a shape; written: the request was carried out.

        Raises:
            Problem: it is no JSON, or of another shape.
        """
        try:
            return msgspec.json.decode(answer.body, type=shape)
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            why = f"what {self.host} answers is not GitHub's ({one_line(str(error))})"
            raise task.failed(why, status=answer.status, unsure=written) from None

    def convert(self, task: Task, data: Any, shape: type[T]) -> T:
        """Read what is decoded already as a shape.

        Raises:
            Problem: it is of another shape.
        """
        try:
            return msgspec.convert(data, type=shape)
        except msgspec.ValidationError as error:
            raise task.failed(f"what {self.host} answers is not GitHub's ({one_line(str(error))})") from None

    def _attempt(self, task: Task, attempt: Callable[[], T | Trouble]) -> T | Trouble:
        if not self.patience.left:
            total = Duration(self.patience.seconds)
            return Trouble(task.failed(f"GitHub was waited for {total} in all, which is as long as perfgate waits"))
        try:
            return attempt()
        except Problem as problem:
            return Trouble(problem)
        except Overdue as overdue:
            # the connection is still in use by the thread that was left behind
            self._requester = None
            why = f"no answer from {self.host} within {Duration(max(0.1, round(overdue.seconds, 1)))}"
            return Trouble(task.failed(why, unsure=True), again=True)
        except Exception as error:  # noqa: BLE001  # whatever the libraries raise, publishing goes on
            return of_error(task, error, self.host)

    def _give_up(self, trouble: Trouble, tries: int, repeatable: bool) -> None:
        problem = trouble.problem
        if not trouble.again or (problem.unsure and not repeatable):
            raise problem
        if tries == TRIES:
            raise Problem(f"{problem.what} ({tries} tries)", status=problem.status, unsure=problem.unsure)

    def _too_long(self, problem: Problem, wait: float) -> Problem:
        left, asked = Duration(round(self.patience.left)), Duration(math.ceil(wait))
        what = f"{problem.what}; it may be asked again in {asked}, and perfgate waits {left} at most"
        return Problem(what, status=problem.status, unsure=problem.unsure)

    def _connect(self) -> Requester:
        if self._requester is None:
            from github import Auth, Github  # late: slow to import, and seldom needed

            _silence()
            self._requester = Github(
                auth=Auth.Token(self._token), base_url=self.api_url, timeout=max(1, math.ceil(self.timeout)),
                user_agent="perfgate", retry=None, seconds_between_requests=None, seconds_between_writes=None,
                api_version="2022-11-28",
            ).requester  # fmt: skip
        return self._requester


def _silence() -> None:
    """Keep what the libraries log from stderr; some of it holds addresses that are as good as a token."""
    for name in ("github", "urllib3", "requests"):
        logger = logging.getLogger(name)
        logger.propagate = False
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
