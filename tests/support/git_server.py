"""A git server on loopback: git's own http-backend behind a small HTTP server that can ask for a token."""

import base64
import os
import subprocess
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.support.project import environment


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    authorization: list[str]


@dataclass
class GitServer:
    """Serves the repositories of a folder; token: what it asks for (None: nothing), delay: seconds before it answers.

    redirect: another server's address that every request is sent on to. requests: all that came.
    """

    root: Path
    token: str | None = None
    delay: float = 0.0
    redirect: str | None = None
    requests: list[Request] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"owner": self}))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def wants(self) -> str:
        """The header's value that it asks for."""
        return "basic " + base64.b64encode(f"x-access-token:{self.token}".encode()).decode()


class _Handler(BaseHTTPRequestHandler):
    owner: GitServer

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        given = self.headers.get_all("Authorization") or []
        self.owner.requests.append(Request(self.command, self.path, given))
        time.sleep(self.owner.delay)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.owner.redirect:
            self._plain(302, {"Location": self.owner.redirect + self.path})
        elif self.owner.token is not None and len(given) > 1:
            self._plain(400, {})
        elif self.owner.token is not None and (not given or given[0].lower() != self.owner.wants().lower()):
            self._plain(401, {"WWW-Authenticate": 'Basic realm="git"'})
        else:
            self._backend(body)

    def _plain(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": "0"}.items():
            self.send_header(name, value)
        self.end_headers()

    def _backend(self, body: bytes) -> None:
        path, _, query = self.path.partition("?")
        done = subprocess.run(
            ["git", "http-backend"],
            input=body,
            capture_output=True,
            check=False,
            env=environment(
                GIT_PROJECT_ROOT=os.fspath(self.owner.root),
                GIT_HTTP_EXPORT_ALL="1",
                PATH_INFO=path,
                QUERY_STRING=query,
                REQUEST_METHOD=self.command,
                CONTENT_TYPE=self.headers.get("Content-Type", ""),
                CONTENT_LENGTH=str(len(body)),
                HTTP_CONTENT_ENCODING=self.headers.get("Content-Encoding", ""),
                GIT_PROTOCOL=self.headers.get("Git-Protocol", ""),
            ),
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
        self.send_response(int(headers.pop("Status", "200").split()[0]))
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
