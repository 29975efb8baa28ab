"""Which server a token is for, and where a checkout keeps one that the benchmarks could read."""

from pathlib import Path

import pytest

from harness.source.git import Access, authorised, git_of, persisted_token
from tests.harness.conftest import Checkout

SERVER = "https://github.com"
SECRET = "ghs_0123456789"


@pytest.mark.parametrize(
    ("server", "url", "covers"),
    [
        (SERVER, "https://github.com/acme/widget", True),
        (SERVER, "https://GitHub.com:443/acme/widget.git", True),
        (SERVER, "https://me@github.com/acme/widget", True),
        (SERVER, "http://github.com/acme/widget", False),
        (SERVER, "https://github.com.evil.example/acme/widget", False),
        (SERVER, "https://github.com@evil.example/acme/widget", False),
        (SERVER, "https://evil.example/github.com", False),
        (SERVER, "https://github.com:8443/acme/widget", False),
        (SERVER, "git@github.com:acme/widget.git", False),
        (SERVER, "ssh://git@github.com/acme/widget.git", False),
        (SERVER, "ext::sh -c x https://github.com/", False),
        (SERVER, "file:///srv/github.com", False),
        (SERVER, "https://[::1", False),
        (SERVER, "https://github.com:x/", False),
        ("https://ghe.example.org:8443", "https://ghe.example.org:8443/a/b", True),
        # without encryption only on this machine
        ("http://ghe.example.org", "http://ghe.example.org/a/b", False),
        ("http://127.0.0.1:3000", "http://127.0.0.1:3000/a/b", True),
        ("http://localhost", "http://localhost/a/b", True),
        ("http://127.0.0.1.example.org", "http://127.0.0.1.example.org/a/b", False),
    ],
)
def test_which_server_gets_a_token(server: str, url: str, covers: bool) -> None:
    assert Access(server, SECRET).covers(url) is covers
    assert not Access(server, "").covers(url)
    assert SECRET not in repr(Access(server, SECRET))


def test_what_git_tells_of_its_requests_holds_none(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GIT_CURL_VERBOSE", "GIT_TRACE_CURL"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("GIT_TRACE_REDACT", "0")
    url = "http://127.0.0.1:1/acme/widget.git"
    git = authorised(git_of(checkout.path), url, Access("http://127.0.0.1:1", SECRET))
    header = next(value for value in git.environment.values() if value.startswith("AUTHORIZATION"))
    answer = git.attempt("ls-remote", url)
    assert answer.status != 0
    assert header.split()[-1] not in answer.stderr


# --- left in a checkout -----------------------------------------------------------------------------------------------


HEADER = ("config", "http.https://github.com/.extraheader")
ORIGIN = ("remote", "add", "origin")


@pytest.mark.parametrize(
    ("setting", "found"),
    [
        ((*HEADER, f"AUTHORIZATION: basic {SECRET}"), True),
        ((*HEADER, "X-Trace: 1"), False),
        (("config", "http.https://proxy.example.org/.extraheader", f"AUTHORIZATION: basic {SECRET}"), False),
        ((*ORIGIN, f"https://x-access-token:{SECRET}@github.com/acme/widget"), True),
        ((*ORIGIN, "https://github.com/acme/widget"), False),
        ((*ORIGIN, "https://me@github.com/acme/widget"), False),
    ],
)
def test_one_in_the_configuration(checkout: Checkout, setting: tuple[str, ...], found: bool) -> None:
    checkout.git(*setting)
    place = persisted_token(git_of(checkout.path), SERVER)
    assert (place or "").endswith(".git/config") is found
    assert SECRET not in (place or "")
    assert persisted_token(git_of(checkout.path), "https://ghe.example.org") is None


def test_one_in_a_file_that_the_configuration_includes(checkout: Checkout, tmp_path: Path) -> None:
    """As actions/checkout does since version 6."""
    kept = tmp_path / "git-credentials-1234.config"
    kept.write_text(f'[http "https://github.com/"]\n\textraheader = AUTHORIZATION: basic {SECRET}\n')
    checkout.git("config", f"includeIf.gitdir:{checkout.path}/.git.path", str(kept))
    assert persisted_token(git_of(checkout.path), SERVER) == str(kept)


def test_one_for_every_server_and_one_in_the_environment(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "http.extraheader")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", f"Authorization: basic {SECRET}")
    assert persisted_token(git_of(checkout.path), SERVER) == "the environment"
