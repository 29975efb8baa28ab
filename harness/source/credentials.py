"""The token for fetching: given to one git process for one server; detects tokens stored in a checkout."""

from __future__ import annotations

import base64
import ipaddress
import os
import re
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from harness.source.git import Git, settings

_QUIET = {
    "GIT_ASKPASS": "",
    # what a partial clone lacks is fetched once and with the token, not file by file and without it
    "GIT_NO_LAZY_FETCH": "1",
    "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never",
    # what a user traces may hold headers and configuration
    "GIT_TRACE_REDACT": "1",
    "GIT_TRACE_CURL": "0",
    "GIT_TRACE2": "0",
    "GIT_TRACE2_EVENT": "0",
    "GIT_TRACE2_PERF": "0",
}
_WITHOUT = {"GITHUB_TOKEN": "", "GH_TOKEN": "", "INPUT_TOKEN": ""}
_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class Access:
    """A token and the one server that it is for ("https://github.com"); never printed."""

    server_url: str
    token: str = field(repr=False)

    def covers(self, url: str) -> bool:
        """Return whether a URL is of that server, over https (over http only on this machine)."""
        server, parts = _split(self.server_url), _split(url)
        if not self.token or server is None or parts is None or _place(server) != _place(parts):
            return False
        host = parts.hostname or ""
        try:
            here = ipaddress.ip_address(host).is_loopback
        except ValueError:
            here = host == "localhost"
        return parts.scheme == "https" or here


def plain(git: Git) -> Git:
    """Give a git that asks nobody anything and sees no token in the variables that hold it in a workflow."""
    return git.seeing(**_QUIET, **_WITHOUT)


def authorised(git: Git, url: str, access: Access) -> Git:
    """Give a git that sends the token to one URL, and to no place that it is sent on to.

    It is in the variables of that process: not in its arguments, nor in a file. What the checkout or the user has for
    that server is left out, since a second header would be refused.
    """
    pair = base64.b64encode(f"x-access-token:{access.token}".encode()).decode()
    header = f"http.{_bare(url)}.extraHeader"
    pairs = (
        ("credential.helper", ""),
        (f"http.{_bare(url)}.followRedirects", "false"),
        (header, ""),
        (header, f"AUTHORIZATION: basic {pair}"),
    )
    return plain(git).seeing(**settings(pairs))


def holds_password(url: str) -> bool:
    """Return whether a URL brings its own password."""
    parts = _split(url)
    return parts is not None and parts.password is not None


def persisted_token(git: Git, server_url: str) -> str | None:
    """Say where a token for a server is that anything run in a checkout can read; None when there is none.

    As actions/checkout leaves it without `persist-credentials: false`: in .git/config, or in a file of its own that
    .git/config includes. Its value is never read.
    """
    server = _split(server_url)
    host = re.escape(server.netloc) if server else "[^/]*"
    for pattern, value in (
        (r"^http\..*extraheader$", "^[Aa][Uu][Tt][Hh][Oo][Rr][Ii][Zz][Aa][Tt][Ii][Oo][Nn]:"),
        (r"^remote\..*\.url$", f"^https?://[^/@]*:[^/@]+@{host}(/|$)"),
    ):
        answer = git.attempt(
            "config", "--includes", "--show-origin", "--name-only", "-z", "--get-regexp", pattern, value
        )
        fields = os.fsdecode(answer.stdout).split("\0") if answer.status == 0 else []
        for origin, key in zip(fields[::2], fields[1::2], strict=False):
            of_url = key.removeprefix("http.").removesuffix("extraheader").removesuffix(".")
            parts = _split(of_url)
            # http.extraHeader without an address is for every server
            same = server is not None and parts is not None and _place(parts) == _place(server)
            if key.startswith("remote.") or not of_url or same:
                place = origin.removeprefix("file:").removeprefix("command line:")
                return place.removeprefix(f"{git.directory}/") or "the environment"
    return None


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        return parts if parts.scheme in _PORTS and parts.hostname and parts.port != 0 else None
    except ValueError:
        return None


def _place(parts: SplitResult) -> str:
    return f"{parts.scheme}://{(parts.hostname or '').lower()}:{parts.port or _PORTS[parts.scheme]}"


def _bare(url: str) -> str:
    """Take user, query and fragment out of a URL, as git matches configuration by it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
