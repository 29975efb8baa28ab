"""The fake as a server on loopback: who asks, what fails, which page; and the storage that downloads are sent to."""

from __future__ import annotations

import atexit
import itertools
import json
import re
import socket
import struct
import sys
import threading
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from gate.github.client import Forge
from tests.support.forge import contract
from tests.support.forge.answers import Answer, Refused, failure, paged
from tests.support.forge.results import SERVICE, Results
from tests.support.forge.routes import ROUTES, Call, allowed
from tests.support.forge.state import GRANTED, Artifact, Identity, Pull, Run, Seen, State

ACTIONS_BOT = "github-actions[bot]"
# Where GitHub Enterprise has its API.
PREFIXES = ("/api/v3", "/api")
DONE_ALL_THE_SAME = ("cut-after", "cut-half")


@dataclass
class Fault:
    """A planned failure; times None: always."""

    method: str
    path: re.Pattern[str]
    what: int | str
    times: int | None
    headers: dict[str, str]


TOKEN = "ghs_made_up_for_tests"


class FakeGitHub:
    """GitHub with one repository; url is its API and token a token of its Actions, which permissions restrict.

    Every request must fit GitHub's description: what does not is in violations and answered 422.
    """

    def __init__(self, repository: str = "acme/widget", *, token: str = TOKEN) -> None:
        self.token = token
        self.permissions = dict(GRANTED)
        self.state = State(repository, tokens={token: Identity(ACTIONS_BOT, self.permissions)})
        self.repository = repository
        # id, issue, body, user (a login), created_at, updated_at
        self.comments = self.state.comments
        # in order: sha, state, description, target_url, context, creator
        self.statuses = self.state.statuses
        # by (ref, path)
        self.files = self.state.files
        self.pulls, self.runs, self.artifacts = self.state.pulls, self.state.runs, self.state.artifacts
        self.requests: list[Seen] = []
        self.downloads: list[Seen] = []
        self.violations: list[str] = []
        self.graphql = True
        self.after: Callable[[], None] | None = None
        self.faults: list[Fault] = []
        self.lock = threading.RLock()
        self.tickets: dict[str, Artifact] = {}
        self.results = Results(self.state)
        self._servers = IDLE.pop() if IDLE else [listener(Api), listener(Storage)]
        for one in self._servers:
            one.fake = self
        self.url, self.storage = (f"http://127.0.0.1:{one.server_address[1]}" for one in self._servers)

    def __enter__(self) -> Self:
        # what loads late would keep the first request waiting
        contract.request_problems("GET", f"/repos/{self.repository}/pulls", (), b"", "application/json")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        IDLE.append(self._servers)

    def client(self, **more: Any) -> Forge:
        """Make the client of the one who has the token."""
        given = {"api_url": self.url, "token": self.token, "repository": self.repository, "patience": 600.0, **more}
        return Forge(**given)

    def add_token(self, token: str, login: str, permissions: dict[str, str] | None = None) -> None:
        """Accept one more token; without permissions it is a person's."""
        self.state.tokens[token] = Identity(login, permissions)

    def add_pull(
        self,
        number: int,
        head_sha: str = "a" * 40,
        base_sha: str = "b" * 40,
        head_ref: str = "topic",
        base_ref: str = "main",
        labels: tuple[str, ...] = (),
        head_repository: str | None = "",
        title: str = "A change",
    ) -> Pull:
        """Open a pull request; head_repository: empty for ours, None when the fork was deleted."""
        owner = self.repository if head_repository == "" else head_repository
        made = Pull(number, head_sha, base_sha, head_ref, base_ref, owner, list(labels), title)
        self.pulls[number] = made
        return made

    def add_comment(self, issue: int, body: str, login: str = "octocat") -> dict[str, Any]:
        """Let somebody comment."""
        with self.lock:
            return self.state.comment(issue, body, login)

    def add_run(self, run_id: int, head_sha: str = "a" * 40, head_branch: str = "topic") -> Run:
        """Let a workflow have run."""
        self.runs[run_id] = Run(run_id, head_sha, head_branch)
        return self.runs[run_id]

    def add_artifact(self, run_id: int, name: str, data: bytes, head_sha: str = "a" * 40) -> Artifact:
        """Let a run have uploaded an artifact; a run that does not exist is made, with head_sha."""
        with self.lock:
            if run_id not in self.runs:
                self.add_run(run_id, head_sha)
            made = Artifact(self.state.new_id(), run_id, name, data, self.state.moment())
            self.artifacts.append(made)
            return made

    def job_token(self, run_id: int, head_sha: str = "a" * 40) -> str:
        """Make the token that a job of a run hands its artifacts in with (ACTIONS_RUNTIME_TOKEN)."""
        self.runs.get(run_id) or self.add_run(run_id, head_sha)
        return self.results.token(run_id)

    def fail(
        self,
        method: str,
        path_regex: str,
        what: int | str,
        times: int | None = 1,
        headers: dict[str, str] | None = None,
    ) -> None:
        """Plan a failure of requests whose path holds the regex, before anything else is looked at.

        what: a status; "secondary" or "primary" (rate limits); "garbage" (no JSON); "cut" (not done, no answer);
        "cut-after" (done, no answer); "cut-half" (done, half an answer).
        times None: always. The storage of downloads fails too: its path is /artifact.zip.
        """
        if what not in ("cut", *DONE_ALL_THE_SAME):
            failure(what)  # a wrong word is the test's mistake
        with self.lock:
            self.faults.append(Fault(method, re.compile(path_regex), what, times, headers or {}))

    def fault(self, method: str, path: str) -> Fault | None:
        """Take the planned failure of a request, if there is one."""
        with self.lock:
            for one in self.faults:
                if one.method in (method, "*") and one.path.search(path) and one.times != 0:
                    one.times = None if one.times is None else one.times - 1
                    return one
        return None

    def identity(self, headers: dict[str, str]) -> Identity:
        """Find out who asks."""
        if "user-agent" not in headers:
            raise Refused(
                403, "Request forbidden by administrative rules. Please make sure your request has a User-Agent header"
            )
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() not in ("bearer", "token"):
            raise Refused(401, "Requires authentication")
        if token not in self.state.tokens:
            raise Refused(401)
        return self.state.tokens[token]

    def serve(self, seen: Seen, path: str) -> Answer:
        """Answer a request that nothing hinders."""
        try:
            who = self.identity(seen.headers)
            if path == "/graphql" and self.graphql and seen.method == "POST":
                return by_graphql(seen, who)
            if path == "/graphql":
                raise Refused(404)
            if seen.violation:
                place = contract.find(path)
                raise Refused(422 if place else 404, None, errors=[seen.violation])
            return self.by_route(seen, path, who)
        except Refused as refused:
            return refused.answer

    def by_route(self, seen: Seen, path: str, who: Identity) -> Answer:
        """Answer at a path of the description."""
        place = contract.find(path)
        assert place is not None
        parameters = {name: urllib.parse.unquote(value) for name, value in place.parameters.items()}
        if "repo" in parameters and f"{parameters['owner']}/{parameters['repo']}".lower() != self.repository.lower():
            raise Refused(404)
        chosen = ROUTES[seen.method, place.template]
        if not allowed(who, chosen):
            accepted = "; ".join(f"{name.replace('-', '_')}={chosen.level}" for name in chosen.permissions)
            body = Refused(403).answer.body
            return Answer(403, body, {"X-Accepted-GitHub-Permissions": accepted})
        call = Call(parameters, seen.query, seen.body, who, self.state, self.url, self.storage, self.tickets)
        return paged(chosen.handler(call), seen.query, f"{self.url}{path}")


def by_graphql(seen: Seen, who: Identity) -> Answer:
    """Answer the one question of GraphQL that REST has no answer to: who am I."""
    query = seen.body.get("query") if isinstance(seen.body, dict) else None
    if not isinstance(query, str):
        return Answer(400, {"message": "A query attribute must be specified and must be a string."})
    if not re.search(r"\bviewer\b", query):
        # GraphQL refuses with status 200
        refused = {"type": "undefinedField", "message": "the fake of GitHub does not know this query"}
        return Answer(200, {"data": None, "errors": [refused]})
    return Answer(200, {"data": {"viewer": {"login": who.login}}})


class Handler(BaseHTTPRequestHandler):
    """Reads a request and sends or cuts an answer."""

    protocol_version = "HTTP/1.1"
    # a body right behind its head would wait 40 ms for the acknowledgement of the head
    disable_nagle_algorithm = True
    server: Listener

    def log_message(self, *words: object) -> None: ...

    def do_GET(self) -> None:
        fake = self.server.fake
        address = urllib.parse.urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        fault = fake.fault(self.command, address.path)
        with fake.lock:
            seen = self.seen(fake, address, headers, body)
            undone = fault is not None and fault.what not in DONE_ALL_THE_SAME
            answer = Answer(500) if undone else self.answer(fake, seen)
            if fake.after:
                fake.after()
        self.finish_with(fake, answer, fault)

    do_POST = do_PATCH = do_PUT = do_DELETE = do_HEAD = do_GET  # noqa: N815

    def seen(self, fake: FakeGitHub, address: urllib.parse.SplitResult, headers: dict[str, str], body: bytes) -> Seen:
        raise NotImplementedError

    def answer(self, fake: FakeGitHub, seen: Seen) -> Answer:
        raise NotImplementedError

    def finish_with(self, fake: FakeGitHub, answer: Answer, fault: Fault | None) -> None:
        """Send the answer, or what a planned failure makes of it."""
        what = fault.what if fault else None
        if what in ("cut", "cut-after"):
            return self.cut()
        if fault and what not in DONE_ALL_THE_SAME:
            planned = failure(fault.what)
            answer = Answer(planned.status, planned.body, {**planned.headers, **fault.headers})
        try:
            self.send(answer, half=what == "cut-half")
        except OSError:
            self.close_connection = True  # a client that has given up
        if what == "cut-half":
            self.cut()
        return None

    def send(self, answer: Answer, half: bool) -> None:
        """Send an answer; half of its body only, if so wanted."""
        data = answer.encoded()
        kind = "text/html" if data.startswith(b"<") else "application/json; charset=utf-8"
        headers = {"Content-Type": kind, "X-GitHub-Media-Type": "github.v3; format=json", **answer.headers}
        self.send_response(answer.status)
        for name, value in headers.items():
            self.send_header(name, value)
        if answer.status != 204:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data[: len(data) // 2] if half else data)
        self.wfile.flush()

    def cut(self) -> None:
        """Reset the connection."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()


class Api(Handler):
    """The API itself."""

    def seen(self, fake: FakeGitHub, address: urllib.parse.SplitResult, headers: dict[str, str], body: bytes) -> Seen:
        path, pairs = bare(address.path), urllib.parse.parse_qsl(address.query, keep_blank_values=True)
        kind = headers.get("content-type", "application/json")
        problems = [] if path == "/graphql" else contract.request_problems(self.command, path, tuple(pairs), body, kind)
        violation = f"{self.command} {path}: {'; '.join(problems)}" if problems else None
        if violation:
            fake.violations.append(violation)
        made = Seen(self.command, path, dict(pairs), headers, read(body), violation)
        fake.requests.append(made)
        return made

    def answer(self, fake: FakeGitHub, seen: Seen) -> Answer:
        return fake.serve(seen, seen.path)


class Storage(Handler):
    """The storage of artifacts: the ticket in the address is the right to read, and a token beside it is refused.

    Running jobs hand their artifacts in here too, as they do to GitHub's results service.
    """

    body = b""

    def seen(self, fake: FakeGitHub, address: urllib.parse.SplitResult, headers: dict[str, str], body: bytes) -> Seen:
        self.body = body
        made = Seen(self.command, address.path, dict(urllib.parse.parse_qsl(address.query)), headers, read(body))
        fake.downloads.append(made)
        return made

    def answer(self, fake: FakeGitHub, seen: Seen) -> Answer:
        if seen.path.startswith(SERVICE):
            return fake.results.answer(seen, self.body)
        if "authorization" in seen.headers:
            return Answer(400, b"<?xml version='1.0'?><Error><Code>InvalidAuthenticationInfo</Code></Error>")
        found = fake.tickets.get(seen.query.get("sig", ""))
        if found is None:
            return Answer(403, b"<?xml version='1.0'?><Error><Code>AuthenticationFailed</Code></Error>")
        return Answer(200, found.data, {"Content-Type": "application/zip"})


def bare(path: str) -> str:
    """Take the prefix of GitHub Enterprise off a path."""
    for prefix in PREFIXES:
        if path.startswith(f"{prefix}/"):
            return path.removeprefix(prefix)
    return path


def read(body: bytes) -> Any:
    """Read the JSON of a request; None where there is none."""
    try:
        return json.loads(body) if body else None
    except ValueError:
        return None


class Listener(ThreadingHTTPServer):
    """A server of one fake after another; its threads end with the process."""

    fake: FakeGitHub
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64  # of a loaded machine's tests that ask twenty times at once

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that has gone; a mistake of ours is a violation, so that a test sees it."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            self.fake.violations.append(f"the fake itself failed: {error!r}")


IDLE: list[list[Listener]] = []
"""Servers whose fake has ended: to shut them down for each test takes longer than most tests."""


@atexit.register
def close() -> None:
    """Close the servers that nobody will use."""
    for one in itertools.chain(*IDLE):
        one.server_close()


def listener(handler: type[Handler]) -> Listener:
    """Serve on a port of loopback."""
    made = Listener(("127.0.0.1", 0), handler)
    threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 3600}, daemon=True).start()
    return made
