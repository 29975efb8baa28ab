"""The event that started the workflow, and what it permits: measuring, writing the history."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import UNSET, Raw

from gate.github import payload as form
from gate.model import UserError

LABELS = ("labeled", "unlabeled")
"""Actions of a pull request's event after which there is nothing new to measure."""
# what people call it in the inputs of a dispatch, such as "pr", "PR-number", "pullRequest"
_PULL_KEY = re.compile(r"(?:pr|pull(?:[-_ ]?request)?)(?:[-_ ]?(?:number|num|no|id))?", re.IGNORECASE)
_ADDRESS = "an address (https://host)"
_PULL_NUMBER = re.compile(r"#?([1-9][0-9]{0,17})")
MEASURED = (
    "pull_request", "pull_request_review", "pull_request_review_comment", "merge_group", "push", "schedule",
    "workflow_dispatch",
)  # fmt: skip
"""What starts these is the project's own, or a pull request whose token can write nothing if it is a fork's."""


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
class SourceRun:
    """The workflow run that a workflow_run event is about."""

    id: int
    attempt: int
    head_sha: str
    head_branch: str
    """Empty when there is none."""
    head_repository: str
    """Such as "owner/name", "" when that repository was deleted."""
    event: str
    conclusion: str | None
    name: str
    path: str
    """Of the workflow's file, "" where the event does not say."""


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
    name = form.variable(environment, "GITHUB_EVENT_NAME", form.EVENT, "the name of an event")
    repository = form.variable(environment, "GITHUB_REPOSITORY", form.REPOSITORY, "owner/name")
    file = environment.get("GITHUB_EVENT_PATH", "")
    if not file:
        raise UserError("GITHUB_EVENT_PATH is not set: this runs in a GitHub Actions workflow")
    payload = form.decode(form.content(Path(file)), form.Payload)
    own = payload.repository or form.RepositoryPayload()
    ref = environment.get("GITHUB_REF", "")
    if ref and not form.is_ref(ref):
        raise UserError("GITHUB_REF: is not a name that git allows")
    group = _merge_group(payload) if name == "merge_group" else None
    return Event(
        name=name,
        action=payload.action,
        repository=repository,
        default_branch=form.checked_ref(own.default_branch, "repository.default_branch")
        if own.default_branch
        else None,
        ref=ref,
        sha=form.variable(environment, "GITHUB_SHA", form.SHA, "a commit"),
        run_id=int(form.variable(environment, "GITHUB_RUN_ID", form.COUNT, "a number")),
        run_attempt=int(form.variable(environment, "GITHUB_RUN_ATTEMPT", form.COUNT, "a number", "1")),
        server_url=form.variable(environment, "GITHUB_SERVER_URL", form.URL, _ADDRESS, "https://github.com").rstrip(
            "/"
        ),
        api_url=form.variable(environment, "GITHUB_API_URL", form.URL, _ADDRESS, "https://api.github.com").rstrip("/"),
        pull=_pull(payload, repository) if name.startswith("pull_request") else None,
        merge_base=group.base_sha if group else None,
        merge_head=group.head_sha if group else None,
        before=_before(payload) if name == "push" else None,
        source=_source(payload) if name == "workflow_run" else None,
        hosted=environment.get("RUNNER_ENVIRONMENT") == "github-hosted",
        number=_number(payload, name),
    )


def _pull(payload: form.Payload, repository: str) -> Pull:
    if not payload.pull_request:
        raise form.bad("pull_request", "is missing")
    pull = form.decode(payload.pull_request, form.PullPayload, "pull_request")
    own = payload.repository.full_name if payload.repository else UNSET
    return Pull(
        number=form.checked_id(pull.number, "pull_request.number"),
        head_sha=form.checked_sha(pull.head.sha, "pull_request.head.sha"),
        head_ref=form.checked_ref(pull.head.ref, "pull_request.head.ref"),
        base_sha=form.checked_sha(pull.base.sha, "pull_request.base.sha"),
        base_ref=form.checked_ref(pull.base.ref, "pull_request.base.ref"),
        fork=_is_fork(pull, repository if own is UNSET else own),
    )


def _number(payload: form.Payload, name: str) -> int | None:
    """Return the pull request of a comment, or the one that a dispatch names; None: there is none."""
    if name == "issue_comment" and payload.issue:
        issue = form.decode(payload.issue, form.IssuePayload, "issue")
        return form.checked_id(issue.number, "issue.number") if issue.pull_request is not None else None
    given = msgspec.json.decode(payload.inputs) if name == "workflow_dispatch" and payload.inputs else None
    pairs = given.items() if isinstance(given, dict) else ()
    found = {int(n[1]) for k, v in pairs if _PULL_KEY.fullmatch(k) and (n := _PULL_NUMBER.fullmatch(str(v).strip()))}
    return found.pop() if len(found) == 1 else None


def _is_fork(pull: form.PullPayload, own: str) -> bool:
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
    target = base.full_name if isinstance(base, form.RepositoryPayload) and base.full_name is not UNSET else own
    return head.full_name.lower() != target.lower()


def _merge_group(payload: form.Payload) -> form.MergeGroup:
    if not payload.merge_group:
        raise form.bad("merge_group", "is missing")
    group = form.decode(payload.merge_group, form.MergeGroup, "merge_group")
    form.checked_sha(group.base_sha, "merge_group.base_sha")
    form.checked_sha(group.head_sha, "merge_group.head_sha")
    return group


def _before(payload: form.Payload) -> str | None:
    if payload.before in (Raw(), Raw(b"null")):
        return None
    return form.checked_sha(form.decode(payload.before, str, "before"), "before")


def _source(payload: form.Payload) -> SourceRun:
    if not payload.workflow_run:
        raise form.bad("workflow_run", "is missing")
    run = form.decode(payload.workflow_run, form.SourcePayload, "workflow_run")
    head = run.head_repository.full_name if run.head_repository else ""
    if head and not form.REPOSITORY.fullmatch(head):
        raise form.bad("workflow_run.head_repository.full_name", "is not owner/name")
    if not form.EVENT.fullmatch(run.event):
        raise form.bad("workflow_run.event", "is not the name of an event")
    return SourceRun(
        id=form.checked_id(run.id, "workflow_run.id"),
        attempt=form.checked_id(run.run_attempt, "workflow_run.run_attempt"),
        head_sha=form.checked_sha(run.head_sha, "workflow_run.head_sha"),
        head_branch=form.checked_ref(run.head_branch, "workflow_run.head_branch") if run.head_branch else "",
        head_repository=head,
        event=run.event,
        conclusion=run.conclusion,
        name=run.name or "",
        path=(run.path or "").partition("@")[0],
    )


def refusal(event: Event, *, forks: bool, asked: bool = False) -> str | None:
    """Say in one sentence why nothing is measured for an event, and the safe way; None: it may be measured.

    On a machine of GitHub's own a fork's code finds nothing of anybody's.

    Args:
        forks: the maintainer takes the risk of a fork's code here (`forks: measure`); no input allows measuring under
            the events that run with the repository's rights and tell of somebody else's commits.
        asked: a member asked for it, which a job of its own has read (command ask).
    """
    if event.name not in MEASURED and not asked:
        other = (
            "let members ask for it (perfgate init --workflow comment)"
            if event.name == "issue_comment"
            else "measure in a pull_request workflow, and publish by workflow_run (perfgate init --workflow forks)"
        )
        return f"not measured: {event.name} runs with the repository's secrets and write token; {other}"
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
