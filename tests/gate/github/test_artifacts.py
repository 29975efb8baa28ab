"""Downloads: to a file of a limited size, from a host that never sees the token."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gate.github.client import Forge, Place
from gate.github.problems import Problem
from tests.support.forge import FakeGitHub
from tests.support.forge.answers import Answer
from tests.support.forge.clock import hurried

DATA = bytes(range(256)) * 1000


@pytest.fixture
def github(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGitHub]:
    with FakeGitHub("acme/widget") as github:
        hurried(monkeypatch, github)
        yield github
        assert github.violations == []


def download(github: FakeGitHub, file: Path, data: bytes = DATA, limit: int = 10**6, **more: Any) -> None:
    made = github.artifacts[0] if github.artifacts else github.add_artifact(7, "perfgate-data", data)
    forge = Forge(api_url=github.url, token=github.token, repository="acme/widget", **more)
    forge.download(made.id, file, limit)


def refused(github: FakeGitHub, file: Path, **more: Any) -> str:
    with pytest.raises(Problem) as caught:
        download(github, file, **more)
    assert not file.exists()
    # the address is signed, which is as good as a token
    for ticket in github.tickets:
        assert ticket not in caught.value.what
    return caught.value.what


def test_an_artifact_becomes_a_file(github: FakeGitHub, tmp_path: Path) -> None:
    file = tmp_path / "a.zip"
    file.write_bytes(b"what was there before, and longer" * 100_000)
    download(github, file)
    assert file.read_bytes() == DATA
    assert [one.headers.get("authorization") for one in github.downloads] == [None]
    assert github.requests[-1].headers["authorization"].endswith(github.token)
    assert "netrc" not in str(github.downloads[0].headers)


def test_no_password_of_netrc_is_sent(github: FakeGitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(netrc))
    download(github, tmp_path / "a.zip")
    assert "authorization" not in github.downloads[0].headers
    assert github.requests[-1].headers["authorization"].endswith(github.token)


def test_one_of_just_the_limit_and_a_larger_one(github: FakeGitHub, tmp_path: Path) -> None:
    download(github, tmp_path / "a.zip", limit=len(DATA))
    words = refused(github, tmp_path / "b.zip", limit=len(DATA) - 1)
    assert words.endswith(": it has more than 255,999 bytes")


@pytest.mark.parametrize("what", [500, 503, 429, "cut", "cut-half"])
def test_a_storage_that_fails_once(github: FakeGitHub, tmp_path: Path, what: int | str) -> None:
    github.fail("GET", "/artifact.zip", what)
    download(github, tmp_path / "a.zip")
    assert (tmp_path / "a.zip").read_bytes() == DATA


@pytest.mark.parametrize(
    ("what", "words"),
    [
        (500, "the storage 127.0.0.1 answers with 500 (4 tries)"),
        (403, "the storage 127.0.0.1 answers with 403"),
        ("cut", "the connection to 127.0.0.1 broke off (4 tries)"),
        ("cut-half", "the connection to 127.0.0.1 broke off (4 tries)"),
    ],
)
def test_a_storage_that_always_fails(github: FakeGitHub, tmp_path: Path, what: int | str, words: str) -> None:
    github.fail("GET", "/artifact.zip", what, times=None)
    assert refused(github, tmp_path / "a.zip") == f"cannot download artifact {github.artifacts[0].id}: {words}"


def test_one_that_expired_and_one_that_is_not_there(github: FakeGitHub, tmp_path: Path) -> None:
    github.add_artifact(7, "perfgate-data", DATA).expired = True
    assert "410: Artifact has expired" in refused(github, tmp_path / "a.zip")
    github.artifacts[0].id += 1
    github.permissions["actions"] = "none"
    with pytest.raises(Problem) as caught:
        download(github, tmp_path / "a.zip")
    assert caught.value.permission == "actions: read"


def test_a_file_that_cannot_be_written(github: FakeGitHub, tmp_path: Path) -> None:
    words = refused(github, tmp_path / "no folder" / "a.zip")
    assert words.endswith("a.zip cannot be written: No such file or directory")


@pytest.mark.parametrize("body", [None, b"PK"])
def test_an_answer_without_a_place(
    github: FakeGitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: bytes | None
) -> None:
    monkeypatch.setattr("tests.support.forge.server.failure", lambda what: Answer(200, body))
    github.fail("GET", "/zip", 200)
    assert refused(github, tmp_path / "a.zip").endswith("GitHub gives no address for it (200)")


def test_a_place_that_sends_on(github: FakeGitHub, tmp_path: Path) -> None:
    github.add_artifact(7, "perfgate-data", DATA)
    github.tickets["x"] = github.artifacts[0]
    github.fail("GET", "/artifact.zip", 307, headers={"Location": "/artifact.zip?sig=x"})
    download(github, tmp_path / "a.zip")
    assert (tmp_path / "a.zip").read_bytes() == DATA
    github.fail("GET", "/artifact.zip", 307, headers={"Location": "/artifact.zip?sig=x"}, times=None)
    assert refused(github, tmp_path / "b.zip").endswith("127.0.0.1 redirects too often")
    assert all("authorization" not in one.headers for one in github.downloads)


@pytest.mark.parametrize("where", ["http://storage.invalid/x", "ftp://storage.invalid/x", "file:///etc/passwd"])
def test_a_place_that_may_not_be_read(github: FakeGitHub, tmp_path: Path, where: str) -> None:
    for path in ("/zip", "/artifact.zip"):
        github.fail("GET", f"{path}$", 302, headers={"Location": where})
        assert "sends to" in refused(github, tmp_path / "a.zip")


@pytest.mark.parametrize(
    ("address", "api", "allowed"),
    [
        ("https://x.blob.core.windows.net/a?sig=1", "https://api.github.com", True),
        ("http://x.blob.core.windows.net/a?sig=1", "https://api.github.com", False),
        ("http://127.0.0.1:80/a", "http://127.0.0.1:99", True),
        ("http://ghe.local/a", "http://ghe.local/api/v3", True),
        ("http://other.local/a", "http://ghe.local/api/v3", False),
        ("https:///a", "https://api.github.com", False),
    ],
)
def test_which_places_may_be_read(address: str, api: str, allowed: bool) -> None:
    assert Place(address).allowed(api) == allowed


def test_a_size_that_is_a_lie_and_a_file_without_end(github: FakeGitHub, tmp_path: Path) -> None:
    """More bytes than Content-Length says do not count, and without it the limit does."""
    with endless(0.0) as url:
        github.fail("GET", "/zip", 302, headers={"Location": url})
        assert refused(github, tmp_path / "a.zip", limit=10**6).endswith(": it has more than 1,000,000 bytes")


def test_a_download_by_the_drop_ends(github: FakeGitHub, tmp_path: Path) -> None:
    file = tmp_path / "a.zip"

    def dropping() -> None:
        # it is read, and never will be whole
        if file.exists() and not github.held_back._value:
            github.held_back.release()

    with endless(0.01, size=1, after=dropping) as url:
        github.fail("GET", "/zip", 302, headers={"Location": url})
        assert "no end of it within 20 s" in refused(github, file, patience=20)


def test_an_answer_that_comes_too_late_makes_no_file(github: FakeGitHub, tmp_path: Path) -> None:
    before, late = {*threading.enumerate()}, threading.Event()

    def serve() -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(4096)
            github.held_back.release()
            late.wait(10)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nxx")

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, daemon=True).start()
        github.fail("GET", "/zip", 302, headers={"Location": f"http://127.0.0.1:{server.getsockname()[1]}/a"})
        assert "no end of it" in refused(github, tmp_path / "a.zip", patience=20)
        late.set()
        for thread in {*threading.enumerate()} - before:
            thread.join(10)
    assert not (tmp_path / "a.zip").exists()


class endless:  # noqa: N801
    """A server that answers with bytes for ever: size of them after each pause of so many seconds; after: what it does then."""

    def __init__(self, pause: float, size: int = 1 << 16, after: Callable[[], object] = lambda: None) -> None:
        self.pause, self.size, self.after = pause, size, after
        self.stop = threading.Event()
        self.server = socket.create_server(("127.0.0.1", 0))
        self.thread = threading.Thread(target=self.serve, daemon=True)

    def __enter__(self) -> str:
        self.thread.start()
        return f"http://127.0.0.1:{self.server.getsockname()[1]}/endless"

    def __exit__(self, *words: object) -> None:
        self.stop.set()
        self.thread.join(5)
        self.server.close()

    def serve(self) -> None:
        connection, _ = self.server.accept()
        with connection:
            connection.recv(4096)
            try:
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\n\r\n")
                while not self.stop.wait(self.pause):
                    connection.sendall(b"x" * self.size)
                    self.after()
            except OSError:
                pass
