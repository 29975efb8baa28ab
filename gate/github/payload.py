"""The GITHUB_* variables and the event file of a workflow, each checked for its form."""

from __future__ import annotations

import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, Raw, UnsetType

from gate.model import UserError

MOST_BYTES = 32 * 1024 * 1024
"""GitHub sends at most 25 MB."""
SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
REPOSITORY = re.compile(r"(?!\.\.?/)[A-Za-z0-9._-]{1,100}/(?!\.\.?\Z)[A-Za-z0-9._-]{1,100}")
EVENT = re.compile(r"[a-z_]{1,100}")
_REF = re.compile(r"(?!/)[^\x00-\x20\x7f~^:?*\[\\]{1,1000}(?<!/)")
COUNT = re.compile(r"[0-9]{1,18}")
# http or https, without user and query
URL = re.compile(r"https?://(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(?::\d{1,5})?(?:/[A-Za-z0-9._~/-]*)?")
_T = TypeVar("_T")


class RepositoryPayload(msgspec.Struct):
    """A repository, as much of it as is used; act and people write less than GitHub does."""

    full_name: str | UnsetType = UNSET
    default_branch: str | UnsetType | None = UNSET
    fork: bool | UnsetType | None = UNSET


class PullEnd(msgspec.Struct):
    """Head or base of a pull request."""

    ref: str
    sha: str
    repo: RepositoryPayload | UnsetType | None = UNSET
    """Null for one that was deleted."""


class PullPayload(msgspec.Struct):
    """The pull request of an event."""

    number: int
    head: PullEnd
    base: PullEnd


class MergeGroup(msgspec.Struct):
    """What a merge queue tries out."""

    base_sha: str
    head_sha: str


class SourceRepository(msgspec.Struct):
    """Where the commits of another run are from."""

    full_name: str


class SourcePayload(msgspec.Struct):
    """The run that a workflow_run event is about."""

    id: int
    head_sha: str
    event: str
    run_attempt: int = 1
    head_branch: str | None = None
    head_repository: SourceRepository | None = None
    conclusion: str | None = None
    name: str | None = None
    path: str | None = None


class IssuePayload(msgspec.Struct):
    """The issue of a comment; it has this key if it is a pull request."""

    number: int
    pull_request: Any = None


class Payload(msgspec.Struct):
    """The keys that several events have; what belongs to one event is decoded only for that event."""

    action: str | None = None
    repository: RepositoryPayload | None = None
    issue: Raw = Raw()
    inputs: Raw = Raw()
    pull_request: Raw = Raw()
    merge_group: Raw = Raw()
    workflow_run: Raw = Raw()
    before: Raw = Raw()


def content(file: Path) -> bytes:
    """Read the event file. Raises UserError: it is absent, no regular file, or too large."""
    try:
        # stat first: opening a pipe would wait for whoever writes into it
        if not stat.S_ISREG(file.stat().st_mode):
            raise UserError("GITHUB_EVENT_PATH: is not a regular file")
        with file.open("rb") as opened:
            content = opened.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no path"
        raise UserError(f"GITHUB_EVENT_PATH: the event file cannot be read: {reason}") from None
    if len(content) > MOST_BYTES:
        raise UserError(f"GITHUB_EVENT_PATH: the event file is larger than {MOST_BYTES // 1024**2} MB")
    return content


def decode(content: bytes | Raw, kind: type[_T], key: str = "") -> _T:
    """Decode JSON.

    Args:
        key: where it stands in the event file, for messages.

    Raises:
        UserError: it is no JSON, or a key is missing or of another type: names the key.
    """
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.ValidationError as error:
        # msgspec's message has no other form: "Expected `int`, got `str` - at `$.schema`"
        what, _, where = str(error).replace("`", "").partition(" - at $")
        raise bad(f"{key}{where}".strip(".") or "the whole", what.replace("Expected", "expected")) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise UserError("GITHUB_EVENT_PATH: the event file is not JSON") from None


def bad(key: str, why: str) -> UserError:
    """Make the error of a key of the event file."""
    return UserError(f"the event file (GITHUB_EVENT_PATH): {key}: {why}")


def variable(environment: Mapping[str, str], name: str, form: re.Pattern[str], what: str, default: str = "") -> str:
    """Return a variable; what: its form, in words.

    Raises:
        UserError: it is absent without a default, or of another form.
    """
    value = environment.get(name) or default
    if not value:
        raise UserError(f"{name} is not set: this runs in a GitHub Actions workflow")
    if not form.fullmatch(value):
        raise UserError(f"{name}: is not {what}")
    return value


def is_ref(value: str) -> bool:
    """Return whether git would take the name of a ref or branch; anything a shell would mind is allowed."""
    return _REF.fullmatch(value) is not None and ".." not in value and "@{" not in value


def checked_ref(value: str, key: str) -> str:
    """Return the name of a ref or branch that a key holds. Raises UserError: git allows no such name."""
    if not is_ref(value):
        raise bad(key, "is not a name that git allows")
    return value


def checked_sha(value: str, key: str) -> str:
    """Return the commit that a key holds. Raises UserError: it is none."""
    if not SHA.fullmatch(value):
        raise bad(key, "is not a commit (40 or 64 hexadecimal digits)")
    return value


def checked_id(value: int, key: str) -> int:
    """Return the number or id that a key holds. Raises UserError: it is not positive."""
    if not 0 < value < 2**63:
        raise bad(key, "is not a positive number")
    return value
