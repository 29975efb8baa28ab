"""Downloads: to a file of a limited size, from a host that never sees the token."""

import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from gate.github.client import may_read
from gate.github.transport import Problem
from tests.support.forge import FakeGitHub
from tests.support.forge.answers import Answer

DATA = bytes(range(256)) * 1000


def download(github: FakeGitHub, file: Path, limit: int = 10**6, **more: Any) -> None:
    made = github.artifacts[0] if github.artifacts else github.add_artifact(7, "perfgate-data", DATA)
    github.client(**more).download(made.id, file, limit)


def refused(github: FakeGitHub, file: Path, **more: Any) -> str:
    with pytest.raises(Problem) as caught:
        download(github, file, **more)
    assert not file.exists()
    # the address is signed, which is as good as a token
    for ticket in github.tickets:
        assert ticket not in caught.value.what
    return caught.value.what


def test_an_artifact_becomes_a_file(github: FakeGitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its storage sees no token, nor a password that netrc has for it."""
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    file = tmp_path / "a.zip"
    file.write_bytes(b"what was there before, and longer" * 100_000)
    download(github, file, limit=len(DATA))
    assert file.read_bytes() == DATA
    assert [one.headers.get("authorization") for one in github.downloads] == [None]
    assert github.requests[-1].headers["authorization"].endswith(github.token)
    assert refused(github, tmp_path / "b.zip", limit=len(DATA) - 1).endswith(": it has more than 255,999 bytes")
    nowhere = refused(github, tmp_path / "no folder" / "a.zip")
    assert nowhere.endswith("a.zip cannot be written: No such file or directory")


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


@pytest.mark.parametrize("body", [None, b"PK"])
def test_an_answer_without_a_place(
    github: FakeGitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: bytes | None
) -> None:
    monkeypatch.setattr("tests.support.forge.server.failure", lambda what: Answer(200, body))
    github.fail("GET", "/zip", 200)
    assert refused(github, tmp_path / "a.zip").endswith("GitHub gives no address for it (200)")


@pytest.mark.parametrize("where", ["http://storage.invalid/x", "ftp://storage.invalid/x", "file:///etc/passwd"])
def test_a_place_that_may_not_be_read(github: FakeGitHub, tmp_path: Path, where: str) -> None:
    github.fail("GET", "/zip$", 302, headers={"Location": where})
    assert "sends to" in refused(github, tmp_path / "a.zip")
    # nor is it left for another place
    github.fail("GET", "/artifact.zip$", 302, headers={"Location": where})
    assert refused(github, tmp_path / "a.zip").endswith("the storage 127.0.0.1 answers with 302")


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
    assert may_read(address, api) == allowed


def test_a_file_without_end(github: FakeGitHub, tmp_path: Path) -> None:
    """More bytes than Content-Length says do not count, and without it the limit does."""

    def endless() -> None:
        connection, _ = server.accept()
        with connection, suppress(OSError):
            connection.recv(4096)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\n\r\n")
            while True:
                connection.sendall(b"x" * (1 << 16))

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=endless, daemon=True).start()
        github.fail("GET", "/zip", 302, headers={"Location": f"http://127.0.0.1:{server.getsockname()[1]}/a"})
        assert refused(github, tmp_path / "a.zip", limit=10**6).endswith(": it has more than 1,000,000 bytes")
