"""What a member asks for by a comment or a label, such as `/perfgate check`; or the line that refuses it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from hashlib import sha256
from typing import Literal

import msgspec

from gate.checkout import is_sha
from gate.github.client import Forge, Label, PullFacts
from gate.github.comment import Comment, User
from gate.github.event import Event, IssuePayload, Pull, PullPayload, RepositoryPayload, decode_event
from gate.model import UserError
from gate.writing.units import when

LABEL = "perfgate"
WORD = "/perfgate"
SETTINGS = (
    "plan.budget", "plan.builds", "plan.executions", "plan.iterations", "plan.metrics",
    "gate.threshold", "gate.floor", "gate.detectable",
)  # fmt: skip
"""What --set may name: how much is measured and what is looked for, never what is run."""
_MAY = ("OWNER", "MEMBER", "COLLABORATOR")
_REF = re.compile(r"(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._/-]{0,99}")
_VALUE = re.compile(r"[A-Za-z0-9 .,%_+\[\]\"-]{1,100}")
_PATTERN = re.compile(r"[^\s\x00-\x1f\x7f`-][^\x00-\x1f\x7f`]{0,200}")
_MOST = 20
_LONGEST = 2000
Verb = Literal["check", "bisect", "explain"]


class RequestError(UserError):
    """A request that is not carried out; answered: whether who wrote it may have a comment that says so."""

    def __init__(self, why: str, *, answered: bool = True) -> None:
        """Say why."""
        super().__init__(why)
        self.answered = answered


class NothingAskedError(UserError):
    """A comment or a label that is none of ours."""


class Words(msgspec.Struct, frozen=True):
    """A request as it is written."""

    verb: Verb
    good: str | None = None
    """Of bisect: the commit that was still fast."""
    sha: str | None = None
    benchmarks: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        """The request in one form, however it was written."""
        options = [word for each in self.benchmarks for word in ("--benchmark", each)]
        options += [word for each in self.sets for word in ("--set", each)]
        return shlex.join([WORD, self.verb, *([self.good] if self.good else []), *options])


class AskedPull(msgspec.Struct, frozen=True):
    """A request that is carried out: of which pull request, as it was when the request was read."""

    words: Words
    pull: Pull
    key: str
    """What tells it from others of the pull request: the same request of the same head has the same."""

    @classmethod
    def parse(cls, text: str) -> AskedPull:
        """Read the output `request` of the job that asked. Raises ValueError: it is something else."""
        try:
            return msgspec.json.decode(text, type=cls)
        except (msgspec.MsgspecError, UnicodeError) as error:
            raise ValueError(f"is not the output `request` of a job with command ask: {error}") from None


class _Payload(msgspec.Struct):
    action: str = ""
    repository: RepositoryPayload | None = None
    comment: Comment | None = None
    issue: IssuePayload | None = None
    pull_request: PullPayload | None = None
    label: Label | None = None
    sender: User | None = None


def read_words(text: str) -> Words:
    """Read a request; it is one line. Raises RequestError: it is none, or holds what a request may not."""
    if len(text) > _LONGEST or len(text.strip().splitlines()) != 1:
        raise RequestError("a request is one line and nothing else")
    try:
        _, *words = shlex.split(text)
    except ValueError:
        raise RequestError("a quote is not closed") from None
    verb, *rest = words or ["check"]
    verbs: dict[str, Verb] = {"check": "check", "bisect": "bisect", "explain": "explain"}
    if verb not in verbs:
        raise RequestError(f"write {WORD} check, {WORD} bisect GOOD or {WORD} explain")
    plain, benchmarks, sets = _sorted(rest)
    good = plain.pop(0) if verb == "bisect" and plain else None
    if verb == "bisect" and (good is None or not _REF.fullmatch(good)):
        raise RequestError(f"write {WORD} bisect GOOD with the tag, branch or commit that was still fast")
    sha = plain.pop(0) if plain and is_sha(plain[0]) else None
    if plain:
        raise RequestError("only a whole commit id, --benchmark PATTERN and --set KEY=VALUE may follow")
    if len(benchmarks) > _MOST or not all(map(_PATTERN.fullmatch, benchmarks)):
        raise RequestError(f"--benchmark takes patterns of names, {_MOST} at most")
    pairs = [pair.partition("=") for pair in sets]
    if len(sets) > _MOST or not all(key in SETTINGS and _VALUE.fullmatch(value) for key, _, value in pairs):
        raise RequestError(f"--set takes {', '.join(SETTINGS)}")
    return Words(verbs[verb], good, sha, tuple(benchmarks), tuple(sets))


def _sorted(words: list[str]) -> tuple[list[str], list[str], list[str]]:
    """Tell words from the values of --benchmark and of --set, written behind a blank or an equals sign."""
    plain: list[str] = []
    found: dict[str, list[str]] = {"--benchmark": [], "--set": []}
    left = iter(words)
    for word in left:
        name, equals, value = word.partition("=")
        if name not in found:
            plain.append(word)
        elif equals or (value := next(left, "")):
            found[name].append(value)
        else:
            raise RequestError(f"{name} needs a value")
    return plain, found["--benchmark"], found["--set"]


def read_request(event: Event, environment: Mapping[str, str], forge: Forge) -> AskedPull:
    """Read what a comment or a label asks for, and ask the forge for the head that it is about.

    Raises:
        NothingAskedError: nothing is asked.
        RequestError: it is not to be carried out.
        UserError: the event is another one, or its file is not what it must be.
        Problem: the forge cannot be asked.
    """
    payload = decode_event(environment, _Payload)
    comment, pull = payload.comment, payload.pull_request
    if event.name == "issue_comment" and comment is not None and payload.issue is not None:
        words, number = _commented(payload, comment, payload.issue), payload.issue.number
    elif event.name == "pull_request_target" and event.action == "labeled" and pull is not None:
        if payload.label is None or payload.label.name.casefold() != LABEL:
            raise NothingAskedError(f"the label is not {LABEL}")
        _refuse_bots(payload.sender or User("", "Bot"))
        words, number = Words("check", sha=pull.head.sha), pull.number
    else:
        raise UserError(
            f"command ask is for issue_comment (created) and pull_request_target (labeled), and this is {event.name}: "
            "perfgate init --workflow comment writes the workflow"
        )
    own = payload.repository.full_name if payload.repository is not None else ""
    if not isinstance(own, str) or own.casefold() != event.repository.casefold():
        raise RequestError("it is of another repository", answered=False)
    facts = forge.pull(number)
    if facts.base.repository.casefold() != event.repository.casefold():
        raise RequestError("the pull request goes into another repository", answered=False)
    if facts.state != "open":
        raise RequestError("the pull request is closed")
    _require_head(facts, words, comment)
    found = Pull(
        number=number, head_sha=facts.head.sha, head_ref=facts.head.ref, base_sha=facts.base.sha,
        base_ref=facts.base.ref, fork=facts.head.repository.casefold() != event.repository.casefold(),
    )  # fmt: skip
    return AskedPull(words, found, sha256(f"{number} {facts.head.sha} {words.said}".encode()).hexdigest()[:12])


def _commented(payload: _Payload, comment: Comment, issue: IssuePayload) -> Words:
    body = comment.text.strip()
    if not re.match(rf"{WORD}(\s|\Z)", body):
        raise NothingAskedError(f"the comment does not begin with {WORD}")
    if payload.action != "created":
        raise RequestError("only a new comment asks for something, not an edited or deleted one", answered=False)
    if issue.pull_request is None:
        raise RequestError("the comment is on an issue, not on a pull request", answered=False)
    user = comment.user or User("", "Bot")
    _refuse_bots(user, payload.sender)
    if payload.sender is not None and payload.sender.login != user.login:
        raise RequestError("somebody else than the author of the comment sent it", answered=False)
    if comment.author_association not in _MAY:
        raise RequestError("only owners, members and collaborators may ask", answered=False)
    if issue.state != "open":
        raise RequestError("the pull request is closed")
    return read_words(body)


def _refuse_bots(*users: User | None) -> None:
    if any(user is not None and (user.type != "User" or user.login.endswith("[bot]")) for user in users):
        raise RequestError("a bot asks", answered=False)


def _require_head(facts: PullFacts, words: Words, comment: Comment | None) -> None:
    """Refuse a head that who asked cannot have seen; a commit's own dates are its author's word, a push's are not."""
    if words.sha is not None:
        if words.sha != facts.head.sha:
            raise RequestError(f"the head is {facts.head.sha[:10]} by now, not {words.sha[:10]}: read the change again")
        return
    pushed, asked = when(facts.pushed), when(comment.created_at if comment is not None else None)
    if pushed is None or asked is None or pushed >= asked:
        raise RequestError(
            "the head's repository was pushed to after the comment: read the change, then write the request with its "
            f"commit, {facts.head.sha}"
        )
