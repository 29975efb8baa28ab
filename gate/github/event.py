"""The event that started the workflow, and what it permits: measuring, writing the history."""

from __future__ import annotations

import re
import stat
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType

from gate.checkout import SHA
from gate.model import UserError

# what people call it in the inputs of a dispatch, such as "pr", "PR-number", "pullRequest"
_PULL_KEY = re.compile(r"(?:pr|pull(?:[-_ ]?request)?)(?:[-_ ]?(?:number|num|no|id))?", re.IGNORECASE)
_PULL_NUMBER = re.compile(r"#?([1-9][0-9]{0,17})")
MEASURED = (
    "pull_request", "pull_request_review", "pull_request_review_comment", "merge_group", "push", "schedule",
    "workflow_dispatch",
)  # fmt: skip
"""What starts these is the project's own, or a pull request whose token can write nothing if it is a fork's."""
MOST_BYTES = 32 * 1024 * 1024
"""GitHub sends at most 25 MB."""
_T = TypeVar("_T")

_SHA = rf"\A{SHA}\Z"
_REPOSITORY = r"\A(?!\.\.?/)[A-Za-z0-9._-]{1,100}/(?!\.\.?\Z)[A-Za-z0-9._-]{1,100}\Z"
_EVENT = r"\A[a-z_]{1,100}\Z"
# as git has it; anything a shell would mind is allowed
_REF = r"\A(?!/)(?!.*(?:\.\.|@\{))[^\x00-\x20\x7f~^:?*\[\\]{1,1000}(?<!/)\Z"
_COUNT = r"\A[0-9]{1,18}\Z"
# http or https, without user and query
_URL = r"\Ahttps?://(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(?::\d{1,5})?(?:/[A-Za-z0-9._~/-]*)?\Z"
_FORMS = {
    _SHA: "a commit (40 or 64 hexadecimal digits)",
    _REPOSITORY: "owner/name",
    _EVENT: "the name of an event",
    _REF: "a name that git allows",
    _COUNT: "a number",
    _URL: "an address (https://host)",
}
Sha = Annotated[str, Meta(pattern=_SHA)]
Ref = Annotated[str, Meta(pattern=_REF)]
Number = Annotated[int, Meta(ge=1, le=2**63 - 1)]


# --- what the event file holds, as much of it as is used --------------------------------------------------------------


class RepositoryPayload(msgspec.Struct):
    """A repository; act and people write less of it than GitHub does."""

    full_name: str | UnsetType = UNSET
    default_branch: Ref | UnsetType | None = UNSET
    fork: bool | UnsetType | None = UNSET


class _End(msgspec.Struct):
    ref: Ref
    sha: Sha
    repo: RepositoryPayload | UnsetType | None = UNSET
    """Null for one that was deleted."""


class PullPayload(msgspec.Struct):
    """The pull request of an event."""

    number: Number
    head: _End
    base: _End


class _Group(msgspec.Struct):
    base_sha: Sha
    head_sha: Sha


class SourceRepository(msgspec.Struct, frozen=True):
    """Where the commits of another run are from."""

    full_name: Annotated[str, Meta(pattern=_REPOSITORY)]


class SourceRun(msgspec.Struct, frozen=True, rename={"attempt": "run_attempt"}):
    """The workflow run that a workflow_run event is about; None where the event does not say, or it is deleted."""

    id: Number
    head_sha: Sha
    event: Annotated[str, Meta(pattern=_EVENT)]
    attempt: Number = 1
    head_branch: Ref | None = None
    head_repository: SourceRepository | None = None
    conclusion: str | None = None
    path: str | None = None
    """Of the workflow's file, maybe with "@" and a ref."""


class IssuePayload(msgspec.Struct):
    """The issue, or pull request, of a comment."""

    number: Number
    state: str = "open"
    pull_request: dict[str, Any] | None = None


class _Payload(msgspec.Struct):
    """The keys that several events have; what belongs to one event is decoded only for that event."""

    action: str | None = None
    repository: RepositoryPayload | None = None
    issue: Raw = Raw()
    inputs: Raw = Raw()
    pull_request: Raw = Raw()
    merge_group: Raw = Raw()
    workflow_run: Raw = Raw()
    before: Raw = Raw()


@dataclass(frozen=True, slots=True)
class Pull:
    """The pull request of an event, as it was when the event happened."""

    number: int
    head_sha: str
    head_ref: str
    base_sha: str
    base_ref: str
    fork: bool
    """Its head is of another repository."""


@dataclass(frozen=True, slots=True)
class Event:
    """What started this workflow, and where it runs."""

    name: str
    action: str | None
    repository: str
    default_branch: str | None
    """None where the event does not say."""
    ref: str
    sha: str
    """ref and sha: GITHUB_REF ("" where an event has none) and GITHUB_SHA."""
    run_id: int
    run_attempt: int
    server_url: str
    api_url: str
    pull: Pull | None
    """Of events named pull_request*; of a request, as it was when it was read."""
    merge_base: str | None
    merge_head: str | None
    """merge_base and merge_head: of a merge_group."""
    before: str | None
    """Of a push, zeros for a new branch."""
    source: SourceRun | None
    """Of a workflow_run."""
    hosted: bool
    """On a machine of GitHub's own, thrown away after the job."""
    number: int | None = None
    """The pull request of a comment, or one that a dispatch names."""


def read_event(environment: Mapping[str, str]) -> Event:
    """Read what started this workflow.

    Args:
        environment: GITHUB_EVENT_NAME, GITHUB_EVENT_PATH, GITHUB_REPOSITORY, GITHUB_SHA and GITHUB_RUN_ID are needed.

    Raises:
        UserError: this is no workflow, or a variable or a key of the event file is not what it must be; names it.
    """

    def variable(name: str, form: str, default: str = "") -> str:
        value = environment.get(name) or default
        if not value:
            raise UserError(f"{name} is not set: this runs in a GitHub Actions workflow")
        if not re.match(form, value):
            raise UserError(f"{name}: is not {_FORMS[form]}")
        return value

    name, repository = variable("GITHUB_EVENT_NAME", _EVENT), variable("GITHUB_REPOSITORY", _REPOSITORY)
    payload = decode_event(environment, _Payload)
    pull = group = before = None
    if name == "merge_group":
        group = _decode(payload.merge_group, _Group, "merge_group")
    elif name == "push" and payload.before not in (Raw(), Raw(b"null")):
        before = _decode(payload.before, Sha, "before")
    elif name.startswith("pull_request"):
        found = _decode(payload.pull_request, PullPayload, "pull_request")
        own = payload.repository.full_name if payload.repository else UNSET
        fork = _is_fork(found, repository if own is UNSET else own)
        pull = Pull(found.number, found.head.sha, found.head.ref, found.base.sha, found.base.ref, fork)
    return Event(
        name=name,
        action=payload.action,
        repository=repository,
        default_branch=(payload.repository.default_branch or None) if payload.repository else None,
        ref=variable("GITHUB_REF", _REF) if environment.get("GITHUB_REF") else "",
        sha=variable("GITHUB_SHA", _SHA),
        run_id=int(variable("GITHUB_RUN_ID", _COUNT)),
        run_attempt=int(variable("GITHUB_RUN_ATTEMPT", _COUNT, "1")),
        server_url=variable("GITHUB_SERVER_URL", _URL, "https://github.com").rstrip("/"),
        api_url=variable("GITHUB_API_URL", _URL, "https://api.github.com").rstrip("/"),
        pull=pull,
        merge_base=group.base_sha if group else None,
        merge_head=group.head_sha if group else None,
        before=before,
        source=_decode(payload.workflow_run, SourceRun, "workflow_run") if name == "workflow_run" else None,
        hosted=environment.get("RUNNER_ENVIRONMENT") == "github-hosted",
        number=_number(payload, name),
    )


def decode_event(environment: Mapping[str, str], kind: type[_T]) -> _T:
    """Read the event file as a type. Raises UserError: it is absent, too large, or not of the type; names the key."""
    name = environment.get("GITHUB_EVENT_PATH", "")
    if not name:
        raise UserError("GITHUB_EVENT_PATH is not set: this runs in a GitHub Actions workflow")
    file = Path(name)
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
    return _decode(content, kind)


def _decode(content: bytes | Raw, kind: type[_T], key: str = "") -> _T:
    """Decode JSON; key: where it stands in the event file."""
    try:
        if content == Raw():
            raise msgspec.ValidationError("is missing")
        return msgspec.json.decode(content, type=kind)
    except msgspec.ValidationError as error:
        # msgspec's message has no other form: "Expected `int`, got `str` - at `$.schema`"
        what, _, where = str(error).partition(" - at `$")
        form = next((words for form, words in _FORMS.items() if repr(form) in what), None)
        why = f"is not {form}" if form else what.replace("`", "").replace("Expected", "expected")
        key = f"{key}{where.removesuffix('`')}".strip(".") or "the whole"
        raise UserError(f"the event file (GITHUB_EVENT_PATH): {key}: {why}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise UserError("GITHUB_EVENT_PATH: the event file is not JSON") from None


def _number(payload: _Payload, name: str) -> int | None:
    """Return the pull request of a comment, or the one that a dispatch names; None: there is none."""
    if name == "issue_comment" and payload.issue:
        issue = _decode(payload.issue, IssuePayload, "issue")
        return issue.number if issue.pull_request is not None else None
    given = msgspec.json.decode(payload.inputs) if name == "workflow_dispatch" and payload.inputs else None
    pairs = given.items() if isinstance(given, dict) else ()
    found = {int(n[1]) for k, v in pairs if _PULL_KEY.fullmatch(k) and (n := _PULL_NUMBER.fullmatch(str(v).strip()))}
    return found.pop() if len(found) == 1 else None


def _is_fork(pull: PullPayload, own: str) -> bool:
    """Return whether the head is of another repository; in doubt it is.

    GitHub always sends both repositories, null for one that was deleted. An event without either key was written by
    hand, to try a workflow out at home: there is nobody else's head in it.

    Args:
        own: the repository that the event is of.
    """
    head, base = pull.head.repo, pull.base.repo
    if head is UNSET:
        return base is not UNSET
    if head is None:
        return True
    if head.full_name is UNSET:
        return head.fork is not False
    target = base.full_name if isinstance(base, RepositoryPayload) and base.full_name is not UNSET else own
    return head.full_name.lower() != target.lower()


def privileged(name: str) -> str:
    """Say why nothing is measured under an event of this name, and the safe way."""
    other = (
        "let members ask for it (perfgate init --workflow comment)"
        if name == "issue_comment"
        else "measure in a pull_request workflow, and publish by workflow_run (perfgate init --workflow forks)"
    )
    return f"not measured: {name} runs with the repository's secrets and write token; {other}"


def refusal(event: Event, *, forks: bool, asked: bool = False) -> str | None:
    """Say in one sentence why nothing is measured for an event, and the safe way; None: it may be measured.

    On a machine of GitHub's own a fork's code finds nothing of anybody's.

    Args:
        forks: the maintainer takes the risk of a fork's code here (`forks: measure`); no input allows measuring under
            the events that run with the repository's rights and tell of somebody else's commits.
        asked: a member asked for it, which a job of its own has read (command ask).
    """
    if event.name not in MEASURED and not asked:
        return privileged(event.name)
    if event.pull is not None and event.pull.fork and not event.hosted and not forks:
        return (
            "not measured: fork on a self-hosted runner; measure forks on a GitHub-hosted runner and publish by "
            "workflow_run (perfgate init --workflow forks), or on an ephemeral runner behind a protected environment "
            "with `forks: measure`"
        )
    return None


def nothing_to_do(event: Event) -> str | None:
    """Say why an event asks for nothing; None: it asks for something."""
    if event.name == "pull_request" and event.action == "closed" and event.pull is not None:
        return f"#{event.pull.number} was closed: nothing is measured, and the comment stays as it is"
    return None


def on_default_branch(event: Event) -> bool:
    """Return whether an event is one of the default branch's own: a scheduled run always is."""
    if event.name == "schedule":
        return True
    return event.default_branch is not None and event.ref == f"refs/heads/{event.default_branch}"


def may_write_history(event: Event) -> bool:
    """Return whether a run may add to what is remembered of a host: a push, schedule or dispatch on the default branch.

    A pull request and a merge queue only read it, also where a dispatch names the pull request: their code is not yet
    the project's.
    """
    own = event.name in ("push", "schedule", "workflow_dispatch") and event.number is None
    return own and on_default_branch(event)


def queued(event: Event) -> int | None:
    """Return the number of the pull request that a merge group is for; None: this is no merge group.

    The queue makes a branch for each pull request, on top of those before it, and names it so.
    """
    found = re.fullmatch(r"refs/heads/gh-readonly-queue/.+/pr-([1-9][0-9]{0,9})-[0-9a-f]{40,64}", event.ref)
    return int(found[1]) if found and event.name == "merge_group" else None


def accepted_by(wanted: str, pull: int, labels: Collection[str]) -> str | None:
    """Say in words that a label accepts; None: the pull request has none of this name, in whatever case."""
    present = wanted and wanted.casefold() in {label.casefold() for label in labels}
    return f"the label {wanted} of #{pull}" if present else None
